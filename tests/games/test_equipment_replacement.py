"""The rules of the replacement of equipment, and Puterman's theorem that there is a limit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from solvent import solve
from solvent.games import EquipmentReplacement
from solvent.games.equipment_replacement import OPERATE, REPLACE, Machine
from solvent.model import Outcome, compile_game

GAME = EquipmentReplacement(horizon=3, worst=3, wearing=[1, 2, 1], scrap=2)


def test_going_on_costs_by_the_wear_and_wears() -> None:
    quarter = Fraction(1, 4)
    assert GAME.transition(Machine(3, 1), (OPERATE,)) == (
        Outcome(quarter, Machine(2, 1), 8),
        Outcome(2 * quarter, Machine(2, 2), 8),
        Outcome(quarter, Machine(2, 3), 8),
    )
    # The worst wear is not exceeded.
    assert GAME.transition(Machine(3, 3), (OPERATE,)) == (Outcome(Fraction(1), Machine(2, 3), 4),)


def test_a_new_machine_is_paid_for_and_wears_from_0() -> None:
    quarter = Fraction(1, 4)
    assert GAME.transition(Machine(3, 3), (REPLACE,)) == (
        Outcome(quarter, Machine(2, 0), -2),
        Outcome(2 * quarter, Machine(2, 1), -2),
        Outcome(quarter, Machine(2, 2), -2),
    )


def test_after_the_last_period_the_machine_is_scrapped() -> None:
    quarter = Fraction(1, 4)
    assert GAME.transition(Machine(1, 1), (OPERATE,)) == (
        Outcome(quarter, Machine(0, 1), 8 + 1),
        Outcome(2 * quarter, Machine(0, 2), 8),
        Outcome(quarter, Machine(0, 3), 8),
    )
    assert GAME.is_terminal(Machine(0, 1))


def limits(game: EquipmentReplacement) -> dict[int, list[int]]:
    """The wears at which it is replaced, by the periods that are left."""
    table = compile_game(game)
    found: dict[int, list[int]] = {}
    for state, chances in zip(table.states, solve(table).policies[0].probabilities, strict=True):
        if chances[REPLACE] == 1:
            found.setdefault(state.left, []).append(state.wear)
    return {left: sorted(wears) for left, wears in found.items()}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"horizon": 20, "worst": 30, "price": 30},
        {"horizon": 15, "wearing": [0, 1, 0, 3], "operating": 5, "scrap": 40},
    ],
)
def test_a_control_limit_is_optimal(parameters: dict[str, Any]) -> None:
    """Puterman 1994, section 4.7.5: who replaces at some wear does so at any larger one."""
    game = EquipmentReplacement(**parameters)
    table = compile_game(game)
    met: dict[int, list[int]] = {}
    for state in table.states:
        met.setdefault(state.left, []).append(state.wear)
    replaced = limits(game)
    assert len(replaced) > 3
    for left, wears in replaced.items():
        assert wears == [wear for wear in sorted(met[left]) if wear >= wears[0]]
