"""Cycles that are solved together have the values that they have one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import random_games
from example_counts import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from solvent.exact import ImproperGameError, decomposition
from solvent.exact.decomposition import optimum, solve_values
from solvent.exact.evaluation import policy_value
from solvent.games import Pig
from solvent.model import TabularGame, TabularPolicy, against, compile_game

one_chooses = st.builds(
    random_games.RandomGame,
    seed=st.integers(0, 10_000),
    kind=st.sampled_from([kind for kind in random_games.KINDS if kind != "simultaneous"]),
    cyclic=st.just(True),
)


def both_ways(game: TabularGame, solve: Any) -> list[Any]:
    """What is found for games of few cycles, and for those of many; or the error."""
    found = []
    for many in (game.n_states + 1, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(decomposition, "MANY", many)
            try:
                found.append(solve(game))
            except ImproperGameError as error:
                found.append(str(error))
    return found


def assert_alike(game: TabularGame) -> None:
    few, many = both_ways(game, optimum)
    if isinstance(few, str):
        assert few == many
        return
    np.testing.assert_allclose(many[0], few[0], rtol=1e-12, atol=1e-12)
    # Of several best actions where both players choose somewhere, Newton's method may take another:
    # either policy has the value against the other way's.
    for pair in ((few[1][0], many[1][1]), (many[1][0], few[1][1])):
        np.testing.assert_allclose(policy_value(game, *pair), few[0], rtol=1e-9, atol=1e-9)
    if not all((count > 1).any() for count in game.action_count):
        for policy, same in zip(many[1], few[1], strict=True):
            np.testing.assert_array_equal(policy.probabilities, same.probabilities)


@settings(max_examples=examples(20), deadline=None)
@given(one_chooses)
@example(random_games.RandomGame(1617, "alternating", cyclic=True))
def test_random_games(game: Any) -> None:
    assert_alike(compile_game(game))


@pytest.mark.parametrize("parameters", [{"target": 12}, {"target": 9, "signed": True}])
def test_pig_and_the_game_that_is_left_of_it(parameters: dict[str, Any]) -> None:
    table = compile_game(Pig(**parameters))
    assert_alike(table)
    for player in (0, 1):
        left = against(table, optimum(table)[1][player])
        assert_alike(left)
        assert_alike(against(table, TabularPolicy.uniform(table, player=player)))
        few, many = both_ways(left, solve_values)
        np.testing.assert_allclose(many, few, rtol=1e-12, atol=1e-12)
