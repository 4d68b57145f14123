"""The rules of the gambler's problem, one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from solvent.exact import solve
from solvent.games import Gambler
from solvent.games.gambler import Capital
from solvent.model import Outcome, compile_game

GAME = Gambler(goal=10)


def test_the_capital_at_the_beginning_is_half_the_goal_or_what_is_said() -> None:
    assert GAME.initial() == (Outcome(Fraction(1), Capital(5)),)
    assert Gambler(goal=7).initial()[0].state == Capital(3)
    assert Gambler(capital=99).initial()[0].state == Capital(99)


def test_a_stake_is_at_most_what_there_is_or_what_is_missing() -> None:
    for dollars, most in ((1, 1), (4, 4), (5, 5), (6, 4), (9, 1)):
        assert GAME.legal_actions(Capital(dollars)) == (tuple(range(most)),)
    assert GAME.info.actions[0][0] == "stake 1"
    assert GAME.info.actions[0][-1] == "stake 5"


def test_heads_pays_the_stake_and_tails_loses_it() -> None:
    assert GAME.transition(Capital(4), (2,)) == (
        Outcome(Fraction(2, 5), Capital(7)),
        Outcome(Fraction(3, 5), Capital(1)),
    )


@pytest.mark.parametrize("heads", [0.1, 0.25, 0.4])
def test_bold_play_is_optimal_against_the_odds(heads: float) -> None:
    """Dubins and Savage 1965: of s < 1/2 the value is heads x that of 2 s, and so on."""
    table = compile_game(Gambler(heads=heads, goal=16))
    value = dict(zip(table.states, solve(table).values, strict=True))

    def bold(dollars: int) -> float:
        if dollars in (0, 16):
            return float(dollars == 16)
        if dollars <= 8:
            return heads * bold(2 * dollars)
        return heads + (1 - heads) * bold(2 * dollars - 16)

    for dollars in range(1, 16):
        assert value[Capital(dollars)] == pytest.approx(bold(dollars), abs=1e-12)
