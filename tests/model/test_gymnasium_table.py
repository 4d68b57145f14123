"""Tables read from a dictionary ``P``: what is refused, and what probabilities are taken for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from solvent.exact import solve
from solvent.games import GymnasiumTable
from solvent.model import compile_game


def coin(heads: float, tails: float) -> dict[int, Any]:
    return {0: {0: [(heads, 0, 1.0, True), (tails, 0, 0.0, True)]}}


@pytest.mark.parametrize(
    ("transitions", "start", "message"),
    [
        (coin(0.5, 0.6), [1], "sum to 1.1"),
        (coin(float("nan"), 0.5), [1], "allowed are positive numbers"),
        (coin(1.5, -0.5), [1], "allowed are positive numbers"),
        (coin(0.5, 0.5), [float("nan")], "start has probabilities"),
        (coin(0.5, 0.5), [0], "start has probabilities"),
        (coin(0.5, 0.5), [1, 0], "start has 2 entries for 1 states"),
        ({0: {0: [(1.0, 7, 0.0, True)]}}, [1], "unknown state 7"),
        ({1: {0: [(1.0, 1, 0.0, True)]}}, [1], "expected 0, 1, 2"),
        ({0: {}}, [1], "lists no action"),
        ({}, [], "expected 0, 1, 2"),
    ],
)
def test_a_wrong_dictionary_is_refused(transitions: Any, start: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GymnasiumTable(transitions, start)


def test_rare_branches_are_kept() -> None:
    """A chance of 1e-8 is no simple fraction, and is not rounded to none."""
    table = compile_game(GymnasiumTable(coin(1e-8, 1 - 1e-8), [1]))
    assert solve(table).value == pytest.approx(1e-8, rel=1e-6)


def test_thirds_are_taken_for_thirds() -> None:
    game = GymnasiumTable(coin(1 / 3, 0.6666666666666667), [1])
    (state,) = (outcome.state for outcome in game.initial())
    assert {o.probability for o in game.transition(state, (0,))} == {Fraction(1, 3), Fraction(2, 3)}
