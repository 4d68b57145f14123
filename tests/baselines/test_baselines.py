"""Baselines by name, and those that any game has."""

from __future__ import annotations

from unittest import mock

import gymnasium as gym
import numpy as np
import pytest

from solvent.baselines import all_baselines, baseline_names, baseline_policies, make_baseline
from solvent.baselines.scored import score_baselines
from solvent.exact import ImproperGameError, exploitability, solve
from solvent.games import FightingFantasy, GymnasiumTable, Pig
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


def test_uniform_gives_legal_actions_equal_weight() -> None:
    probabilities = make_baseline("uniform", COMBAT).probabilities
    for s in np.flatnonzero(~COMBAT.terminal):
        legal = COMBAT.mask[0][s]
        assert (probabilities[s] == np.where(legal, 1 / legal.sum(), 0)).all()


def test_first_legal_plays_the_lowest_legal_action() -> None:
    probabilities = make_baseline("first-legal", PIG, 1).probabilities
    for s in np.flatnonzero(~PIG.terminal):
        assert probabilities[s].argmax() == np.flatnonzero(PIG.mask[1][s])[0]


def test_names_can_be_chosen() -> None:
    assert list(baseline_policies(COMBAT, ["never", "optimal"])) == ["never", "optimal"]


def test_unknown_names_are_refused_with_the_nearest_one() -> None:
    with pytest.raises(
        ValueError, match=r"baseline of ff-combat is 'unifrom'; allowed are .*'uniform'"
    ):
        make_baseline("unifrom", COMBAT)


def test_only_one_who_plays_alone_learns_by_q_learning() -> None:
    with pytest.raises(ValueError, match="baseline of pig is 'q-learning'"):
        make_baseline("q-learning", PIG)


def test_every_baseline_says_in_a_line_what_it_does() -> None:
    """The report and the list of a game explain a baseline where they name it."""
    for name, baseline in all_baselines().items():
        assert 10 < len(baseline.description) <= 90, name
        assert baseline.description.endswith("."), name
        assert "\n" not in baseline.description, name


def test_a_baseline_that_never_ends_is_left_out_or_refused_by_name() -> None:
    """Up, for ever against the wall of the cliff, at a cost of 1 a step."""
    cliff = compile_game(GymnasiumTable.from_env(gym.make("CliffWalking-v1")))
    solution = solve(cliff)
    with pytest.raises(ImproperGameError, match="never ends"):
        score_baselines(cliff, solution, ["optimal", "first-legal"])
    three = baseline_policies(cliff, ["optimal", "first-legal", "uniform"])
    with mock.patch("solvent.baselines.scored.baseline_policies", return_value=three):
        scored = score_baselines(cliff, solution)
    assert [one.name for one in scored] == ["optimal", "uniform"]
    assert scored[0].gap == 0 < scored[1].gap
