"""Baselines by name, and those that any game has."""

from __future__ import annotations

import numpy as np
import pytest

from solvent.baselines import all_baselines, baseline_names, baseline_policies, make_baseline
from solvent.exact import exploitability, solve
from solvent.games import FightingFantasy, Pig
from solvent.games.fighting_fantasy.baselines import RULES
from solvent.model import compile_game

PIG = compile_game(Pig(target=8))
COMBAT = compile_game(FightingFantasy(stamina=4, opponent_stamina=5, luck=3))


def test_all_baselines_of_a_game_are_policies_for_it() -> None:
    policies = baseline_policies(COMBAT)
    assert tuple(policies) == baseline_names(COMBAT)
    assert set(policies) == {"optimal", "uniform", "first-legal", "q-learning", *RULES}
    for name, policy in policies.items():
        policy.check_is_for(COMBAT)
        assert policy.name == name
        assert policy.player == 0
        assert not policy.probabilities[~COMBAT.mask[0]].any()


@pytest.mark.parametrize("player", [0, 1])
def test_either_player_has_baselines(player: int) -> None:
    policies = baseline_policies(PIG, player=player)
    assert set(policies) == {"optimal", "uniform", "first-legal"}
    assert all(policy.player == player for policy in policies.values())
    solution = solve(PIG)
    losses = {n: exploitability(PIG, p, solution) for n, p in policies.items()}
    assert losses["optimal"] == pytest.approx(0, abs=1e-9)
    assert losses["uniform"] > 0.1
    # Rolling for ever is the best there is on the way to so low a target.
    assert losses["first-legal"] == pytest.approx(0, abs=1e-9)


def test_every_baseline_says_in_a_line_what_it_does() -> None:
    """The report and the list of a game explain a baseline where they name it."""
    for name, baseline in all_baselines().items():
        assert 10 < len(baseline.description) <= 90, name
        assert baseline.description.endswith("."), name
        assert "\n" not in baseline.description, name


def test_uniform_and_first_legal_are_what_their_names_say() -> None:
    for game, player in ((COMBAT, 0), (PIG, 1)):
        uniform, first = (
            make_baseline(name, game, player).probabilities for name in ("uniform", "first-legal")
        )
        for s in np.flatnonzero(~game.terminal):
            legal = game.mask[player][s]
            assert (uniform[s] == np.where(legal, 1 / legal.sum(), 0)).all()
            assert first[s].argmax() == np.flatnonzero(legal)[0]


def test_names_are_those_of_the_game() -> None:
    assert list(baseline_policies(COMBAT, ["never", "optimal"])) == ["never", "optimal"]
    for game, name, message in (
        (COMBAT, "unifrom", r"baseline of ff-combat is 'unifrom'; allowed are .*'uniform'"),
        # Only one who plays alone learns by Q-learning.
        (PIG, "q-learning", "baseline of pig is 'q-learning'"),
    ):
        with pytest.raises(ValueError, match=message):
            make_baseline(name, game)
