"""Pig in the terminal and on its page."""

from __future__ import annotations

import base64
import json
import random
import re
from functools import cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest

from solvent.exact import SolvedTable, solve
from solvent.games import Pig
from solvent.games.pig.report import HoldSurface, hold_surface, pig_sections
from solvent.games.pig.rules import HOLD, ROLL, Turn
from solvent.report.panel import UNKNOWN
from solvent.report.solved import SolvedTask

SMALL = Pig(target=14, sides=3)
"""Where a 1 is so likely that holding pays."""


@cache
def solved(game: Pig) -> SolvedTable:
    return cast(SolvedTable, solve(game))


def surface(game: Pig = SMALL) -> HoldSurface:
    return hold_surface(solved(game).table, solved(game).solution)


def rolls_better(target: int, sides: int) -> tuple[Any, Any]:
    """[own, other, total] what rolling gains over holding by value iteration, and the chances."""
    own, other, total = np.ogrid[:target, :target, :target]
    value = np.full((target,) * 3, 0.5)
    while True:
        passed = 1 - value[:, :, 0].T[:, :, None]
        roll = passed / sides + np.zeros_like(value)
        for face in range(2, sides + 1):
            on = value[own, other, np.minimum(total + face, target - 1)]
            roll += np.where(own + total + face >= target, 1.0, on) / sides
        hold = 1 - value[other, np.minimum(own + total, target - 1), 0]
        best = np.where(total == 0, roll, np.maximum(roll, hold))
        if np.abs(best - value).max() < 1e-13:
            return roll - hold, best[:, :, 0]
        value = best


def test_the_surface_is_that_of_value_iteration() -> None:
    found = surface()
    gain, chance = rolls_better(SMALL.target, SMALL.sides)
    reached = found.action >= 0
    reached[:, :, 0] = False
    clear = reached & (np.abs(gain) > 1e-9)
    assert clear.sum() > 200
    assert ((found.action == 1) == (gain < 0))[clear].all()
    begins = ~np.isnan(found.chance)
    assert found.chance[begins] == pytest.approx(chance[begins], abs=1e-9)
    assert 0 < (found.hold_at > 0).sum() < begins.sum()


@pytest.mark.slow
def test_published_at_41_to_49() -> None:
    """Hold from 22 on, but roll at 27 (E. Farmer 2014); 21 is the most frequent total."""
    found = surface(Pig())
    assert found.action[41, 49, [21, 22, 26, 27, 28]].tolist() == [0, 1, 1, 0, 1]
    assert found.runs[41, 49] > 1
    at = found.hold_at
    assert np.bincount(at[at > 0]).argmax() == 21


# Pig in the terminal: the face that is told is the one that led to the next turn

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
    [held] = GAME.transition(state, (HOLD, HOLD))
    assert GAME.tell(state, (HOLD, HOLD), held, random.Random(1)) == ""


def test_the_page_shows_the_smallest_totals_and_the_runs() -> None:
    found = solved(SMALL)
    task = SolvedTask(cast(Any, None), SMALL, found.table, found.solution, ())
    [section] = pig_sections(task)
    data = json.loads(section.html.split('<script type="application/json">')[1].split("<")[0])
    assert data["names"] == ["hold at", "runs of totals"]
    shown = np.frombuffer(base64.b64decode(data["numbers"]), "<i2").reshape(2, 14, 14)
    for own, other in np.ndindex(14, 14):
        turns = [Turn(0, (own, other), total) for total in range(14 - own)]
        holds = {t.total: found.policy(t, 0).get(HOLD) for t in turns if t in found.table.index}
        first = next((total for total, held in holds.items() if held), UNKNOWN)
        changes = pairwise(holds.values())
        assert shown[0, own, other] == first
        assert shown[1, own, other] == sum(bool(after and not before) for before, after in changes)
    assert "in orange" in section.html
