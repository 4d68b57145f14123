"""A drive in the terminal: the yards that are told are those that the ball has moved."""

from __future__ import annotations

import random
import re

import pytest

from solvent.games.football_drive.rules import KICK, PASS, PUNT, RUN, Drive, FootballDrive

GAME = FootballDrive()


@pytest.mark.parametrize("action", [RUN, PASS, PUNT, KICK])
def test_the_yards_told_move_the_ball_to_where_it_is(action: int) -> None:
    for state in (Drive(60, 7, 2), Drive(30, 10, 4)):
        words = set()
        for outcome in GAME.transition(state, (action,)):
            told = GAME.tell(state, (action,), outcome, random.Random(1))
            words.add(re.split(r" of| at|,|\.", told)[0])
            after: Drive = outcome.state
            moved = re.search(r"(gain|loss|punt) of (\d+)|no gain", told, re.IGNORECASE)
            if action == KICK:
                assert (after.ended == "field goal") == ("good" in told)
                continue
            assert moved is not None
            yards = int(moved[2] or 0) * (-1 if (moved[1] or "").lower() == "loss" else 1)
            ended = after.ended not in ("", "lost")
            assert ended or after.to_goal == state.to_goal - yards or after.to_goal == 20
            assert ("first down" in told) == (not after.ended and after.down == 1)
            lost = told.startswith(("Fumble", "Interception")) or action == PUNT
            assert ("lost on downs" in told) == (after.ended == "lost" and not lost)
        if action == RUN:
            assert {"Gain", "Loss", "No gain", "Fumble"} <= words
        if action == PASS and state.down == 2:
            assert {"Gain", "Loss", "No gain", "Interception"} <= words
