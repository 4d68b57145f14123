"""The difficulty dial: the rules it makes, and known optima along it."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from typing import Any

import gymnasium as gym
import pytest

import solvent  # noqa: F401 (registers the environments)
from solvent import make_game
from solvent.exact import score, solve
from solvent.games import FightingFantasy, Pig
from solvent.games.fighting_fantasy.rules import TEST, Combat, luck_succeeds
from solvent.model import (
    Outcome,
    TabularGame,
    TabularPolicy,
    compile_game,
    parametrize_with_game_checks,
)
from solvent.model.context import GameInContext, modified_exactly, with_modifier

SMALL = FightingFantasy(stamina=5, opponent_stamina=6, luck=7)


def rolls_a_one(state: Any, joint_action: tuple[int, ...], outcome: Outcome) -> bool | None:
    """Pig's disaster as a check of one's own: the die passes, with nothing scored."""
    if joint_action[state.player] != 0:
        return None
    return bool(outcome.state.scores == state.scores and outcome.state.total == 0)


HARDER_PIG = with_modifier(Pig(target=4), "one", -0.2, success=rolls_a_one)


@parametrize_with_game_checks(
    [with_modifier(SMALL, "luck", -0.3), with_modifier(SMALL, "luck", "3/10"), HARDER_PIG]
)
def test_a_game_in_context_is_a_game(game: GameInContext, check: Any) -> None:
    check(game)


@pytest.mark.parametrize("luck", range(1, 8))
@pytest.mark.parametrize("result", ["won", "lost"])
def test_a_test_of_luck_succeeds_with_the_modified_probability(luck: int, result: str) -> None:
    game = with_modifier(SMALL, "luck", -0.15)
    outcomes = game.transition(Combat(0, 5, 6, luck, result), (TEST,))
    after = {"won": ("opponent", 2), "lost": ("hero", 4)}[result]
    held = sum(o.probability for o in outcomes if getattr(o.state, after[0]) == after[1])
    assert held == modified_exactly(luck_succeeds(luck), -0.15)


def test_what_follows_success_and_failure_keeps_its_proportions() -> None:
    state = Combat(0, 5, 6, 5, "won")
    game = with_modifier(FightingFantasy(skill_difference=2, luck=7), "luck", 0.2)
    before = game.game.transition(state, (TEST,))
    after = game.transition(state, (TEST,))
    ratio = [b.probability / a.probability for a, b in zip(before, after, strict=True)]
    assert [(o.state, o.reward) for o in before] == [(o.state, o.reward) for o in after]
    assert len(ratio) == 4
    assert ratio[0] == ratio[1] > 1 > ratio[2] == ratio[3]
    assert sum(o.probability for o in after) == 1


def test_modifiers_of_one_check_add_before_anything_is_rounded() -> None:
    twice = with_modifier(with_modifier(SMALL, "luck", -0.1), "luck", -0.2)
    assert twice == with_modifier(SMALL, "luck", -0.3)
    back = with_modifier(twice, "luck", 0.3)
    assert compile_game(back).model_hash == compile_game(SMALL, reference=True).model_hash


def test_the_model_hash_and_the_parameters_know_the_modifier() -> None:
    games = [make_game("ff-combat", modifiers={"luck": m}) for m in (-0.15, 0, 0.15)]
    assert len({compile_game(game).model_hash for game in games}) == 3
    parameters = json.loads(json.dumps(dict(games[0].info.parameters)))
    assert parameters["modifiers"] == {"luck": "-3/20"}
    again = make_game("ff-combat", modifiers=parameters["modifiers"])
    assert compile_game(again).model_hash == compile_game(games[0]).model_hash


def test_an_environment_takes_modifiers() -> None:
    env = gym.make("solvent/FFCombat-v0", modifiers={"luck": -0.15})
    table = env.unwrapped.game  # type: ignore[attr-defined]
    assert solve(table).value == pytest.approx(0.658914481, abs=1e-9)
    env.close()


@cache
def combat(percent: int) -> TabularGame:
    modifier = Fraction(percent, 100)
    return compile_game(make_game("ff-combat", modifiers={"luck": modifier}))


# Percent: the optimum there, and the gap of the policy that is optimal at 0.
KNOWN = {
    -30: (0.593770400, 0.036381276),
    -15: (0.658914481, 0.008692529),
    0: (0.737292603, 0.0),
    15: (0.809011819, 0.004150790),
    30: (0.856611619, 0.007843747),
}


def test_known_optima_and_gaps_along_the_dial() -> None:
    optimal = solve(combat(0)).policies[0]
    for percent, (optimum, gap) in KNOWN.items():
        game = combat(percent)
        played = TabularPolicy.of(game, optimal.probabilities)
        result = score(game, played)
        assert result.optimum == pytest.approx(optimum, abs=1e-9)
        assert result.optimality_gap == pytest.approx(gap, abs=1e-9)


def test_an_unknown_check_is_named() -> None:
    with pytest.raises(ValueError, match=r"check of ff-combat is 'lukc'.*Did you mean 'luck'"):
        make_game("ff-combat", modifiers={"lukc": 0.1})


def test_a_check_is_about_all_outcomes_of_an_action_or_none() -> None:
    game = with_modifier(
        SMALL, "half", 0.1, success=lambda s, a, o: True if o.state.round == "won" else None
    )
    with pytest.raises(ValueError, match="the check 'half' of ff-combat is about some outcomes"):
        compile_game(game)
