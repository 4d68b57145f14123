"""The rules of Pig, one by one, and the page's parameters."""

from __future__ import annotations

from fractions import Fraction

import pytest

from solvent.games import Pig
from solvent.games.pig.rules import HOLD, ROLL, Turn
from solvent.model import Outcome

GAME = Pig(target=10, sides=4)
WAIT = ROLL


def joint(state: Turn, action: int) -> tuple[int, int]:
    return (action, WAIT) if state.player == 0 else (WAIT, action)


def test_player_0_begins_at_nil_nil() -> None:
    assert GAME.initial() == (Outcome(Fraction(1), Turn(0, (0, 0), 0)),)


def test_the_first_roll_of_a_turn_is_compulsory() -> None:
    assert GAME.legal_actions(Turn(0, (3, 5), 0)) == ((ROLL,), (WAIT,))
    assert GAME.legal_actions(Turn(1, (3, 5), 0)) == ((WAIT,), (ROLL,))
    # A turn has 2 points after its first roll, but the rule is about its total.
    for total in (1, 2):
        assert GAME.legal_actions(Turn(0, (3, 5), total)) == ((ROLL, HOLD), (WAIT,))
        assert GAME.legal_actions(Turn(1, (3, 5), total)) == ((WAIT,), (ROLL, HOLD))


@pytest.mark.parametrize("player", [0, 1])
def test_a_1_loses_the_turn_and_anything_else_is_added(player: int) -> None:
    state = Turn(player, (1, 2), 3)
    quarter = Fraction(1, 4)
    assert GAME.transition(state, joint(state, ROLL)) == (
        Outcome(quarter, Turn(1 - player, (1, 2), 0)),
        *(Outcome(quarter, Turn(player, (1, 2), 3 + face)) for face in (2, 3, 4)),
    )


@pytest.mark.parametrize(("player", "scores"), [(0, (5, 2)), (1, (1, 6))])
def test_holding_banks_the_total_and_passes_the_die(player: int, scores: tuple[int, int]) -> None:
    state = Turn(player, (1, 2), 4)
    assert GAME.transition(state, joint(state, HOLD)) == (
        Outcome(Fraction(1), Turn(1 - player, scores, 0)),
    )


@pytest.mark.parametrize(("signed", "loss"), [(False, 0), (True, -1)])
def test_who_reaches_the_target_wins_at_once(signed: bool, loss: int) -> None:
    game = Pig(target=10, sides=4, signed=signed)
    for player, (scores, reward) in enumerate([((10, 5), 1), ((5, 10), loss)]):
        state = Turn(player, (5, 5), 2)
        lost, short, won = game.transition(state, joint(state, ROLL))
        assert lost == Outcome(Fraction(1, 4), Turn(1 - player, (5, 5), 0))
        assert short == Outcome(Fraction(1, 4), Turn(player, (5, 5), 4))
        # A 3 reaches the target, a 4 goes beyond it; both end at the target.
        assert won == Outcome(Fraction(1, 2), Turn(player, scores, 0), reward)
        assert game.is_terminal(won.state)
        assert not game.is_terminal(short.state)
    assert game.info.reward_range == (loss, 1)
