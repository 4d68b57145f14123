"""Pig in the terminal: the face that is told is the one that led to the next turn."""

from __future__ import annotations

import random
import re

import pytest

from solvent.games.pig.rules import HOLD, ROLL, Pig, Turn

GAME = Pig(target=10)


@pytest.mark.parametrize("player", [0, 1])
def test_the_die_told_leads_to_the_next_turn(player: int) -> None:
    state = Turn(player, (4, 4), 2)
    seen = set()
    for outcome in GAME.transition(state, (ROLL, ROLL)):
        for seed in range(20):
            told = GAME.tell(state, (ROLL, ROLL), outcome, random.Random(seed))
            face = int(re.match(r"The die shows (\d)", told)[1])
            seen.add(face)
            after = outcome.state
            if GAME.is_terminal(after):
                assert face in (4, 5, 6)
            elif face == 1:
                assert (after.player, after.scores) == (1 - player, (4, 4))
            else:
                assert (after.player, after.total) == (player, 2 + face)
    assert seen == set(range(1, 7))


def test_holding_needs_no_die_and_the_end_has_a_winner() -> None:
    state = Turn(1, (4, 4), 2)
    [outcome] = GAME.transition(state, (ROLL, HOLD))
    assert GAME.tell(state, (ROLL, HOLD), outcome, random.Random(1)) == ""
    assert GAME.draw(Turn(1, (4, 10), 0)).endswith("player B wins.")
