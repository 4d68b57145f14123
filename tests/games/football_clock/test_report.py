"""The page's numbers of football with a clock are those of the rules, position by position."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import timed_football

from solvent.games.football.report.fourth_down import GO, KICK, PUNT, QUICK_KICK
from solvent.games.football.situation import Situation
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.report import decisions as timed_decisions
from solvent.games.football_clock.report.chances import by_time, clock_of, first_down, scaled
from solvent.games.football_clock.report.page import untabled_timed
from solvent.games.football_clock.solver.call_sheet import call_sheet
from solvent.games.football_clock.solution import TimedSolution
from solvent.games.football_clock.pack import TimedTables, timed_tables


def solved(form: str, **clock: int) -> TimedSolution:
    game = timed_football.tiny(form, **clock)
    return TimedSolution.of(game)


@pytest.fixture(scope="module")
def second_half() -> TimedSolution:
    return solved("second-half", timeouts=1)


@pytest.fixture(scope="module")
def tables(second_half: TimedSolution) -> TimedTables:
    return timed_tables(second_half.layout.rules)


def positions(
    solution: TimedSolution, phase: str, situation: Situation | None = None
) -> Iterator[tuple[int, int, TimedPosition]]:
    """A position at all times and leads, with the place of its number in the maps."""
    clock, timeouts = clock_of(solution), solution.layout.clock.timeouts
    for t in range(clock.ticks):
        for lead in range(-clock.lead, clock.lead + 1):
            at = TimedPosition(phase, 2, t + 1, lead, (timeouts, timeouts))
            yield t, lead + clock.lead, at._replace(**situation._asdict() if situation else {})


def test_chances_are_the_positions_values(second_half: TimedSolution) -> None:
    chances = by_time(second_half, first_down(second_half, 4))
    for t, column, at in positions(second_half, "call", Situation(1, 3, 4)):
        assert chances[t, column] == pytest.approx(second_half.value_of(at), abs=1e-12)
    assert (np.diff(chances, axis=1) >= -1e-12).all()


@pytest.mark.parametrize(("to_goal", "best"), [(4, GO), (2, KICK)])
def test_the_ways_of_the_last_down(
    second_half: TimedSolution, tables: TimedTables, to_goal: int, best: int
) -> None:
    found = timed_decisions.last_down(second_half, tables, 2, to_goal)
    plays = second_half.layout.rules.chart.plays
    seen = set()
    for t, column, at in positions(second_half, "call", Situation(2, 2, to_goal)):
        ways = np.array([array[t, column] for array in (found.call, found.punt, found.kick)])
        assert ways.max() == pytest.approx(second_half.value_of(at), abs=1e-12)
        layer = call_sheet(second_half, at)
        declared = second_half.value_of(at._replace(punting=True))
        assert found.punt[t, column] == pytest.approx(declared, abs=1e-12)
        kick = layer.payoff[layer.actions[0].index(plays + 1), 0]
        assert found.kick[t, column] == pytest.approx(kick, abs=1e-12)
        way = int(found.way[t, column])
        if way != timed_decisions.EQUAL:
            assert {GO: 0, QUICK_KICK: 0, PUNT: 1, KICK: 2}[way] == np.argmax(ways)
        seen.add(way)
    assert {best, timed_decisions.EQUAL} <= seen


@pytest.mark.parametrize("offence", [True, False])
def test_what_a_time_out_gains(second_half: TimedSolution, *, offence: bool) -> None:
    called, declined = timed_decisions.timeout_gain(second_half, offence=offence)
    situation = timed_decisions.next_down(second_half)
    clock = second_half.layout.clock
    seconds = second_half.layout.rules.ruleset.play_seconds
    asked = 0 if offence else 1
    for t, column, at in positions(second_half, "time-out", situation):
        ticks = at.ticks
        waiting = at._replace(
            ticks=clock.after(ticks, seconds),
            margin=at.margin if offence else -at.margin,
            saved=clock.after(ticks, clock.with_timeout(seconds)),
            follows="call",
            asked=asked,
            other_too=offence,
        )
        assert waiting.saved != waiting.ticks
        value = second_half.value_of(waiting)
        best = max(called[t, column], declined[t, column])
        assert best == pytest.approx(value if offence else 1 - value, abs=1e-12)
    assert (called > declined + 1e-3).any()
    assert (called < declined - 1e-3).any()


@pytest.mark.parametrize("offence", [True, False])
def test_what_a_time_out_is_worth(second_half: TimedSolution, *, offence: bool) -> None:
    worth = timed_decisions.timeout_worth(second_half, offence=offence)
    side, sign = (0, 1) if offence else (1, -1)
    place = Situation(1, 3, scaled(second_half, 80))
    for t, column, at in positions(second_half, "call", place):
        at = at._replace(margin=sign * at.margin)
        left = list(at.timeouts)
        left[side] -= 1
        lost = second_half.value_of(at) - second_half.value_of(at._replace(timeouts=tuple(left)))
        assert worth[t, column] == pytest.approx(sign * lost, abs=1e-12)
    assert (worth > 1e-3).any()


def test_what_an_onside_kick_gains(second_half: TimedSolution, tables: TimedTables) -> None:
    drawn = timed_decisions.onside_map(second_half, tables)
    (_, onside), (_, normal) = drawn.told
    for t, column, at in positions(second_half, "kickoff"):
        value = second_half.value_of(at)
        assert max(onside[t, column], normal[t, column]) == pytest.approx(value, abs=1e-12)
    assert ((drawn.level >= 0) == (onside > normal + timed_decisions.NEGLIGIBLE)).all()


def test_the_page_of_a_second_half(second_half: TimedSolution) -> None:
    known = untabled_timed(second_half)
    assert known.solved.lower <= known.solved.value <= known.solved.upper
    assert [section.title for section in known.sections] == [
        "Winning by time, score and place",
        "The 2nd-down map by time and score",
        "The value of a time-out, and when to call it",
        "When to kick onside",
        "A game, play by play",
    ]


def test_the_page_of_a_half_for_points() -> None:
    known = untabled_timed(solved("half"))
    assert [section.title for section in known.sections] == [
        "Points by time and place",
        "A game, play by play",
    ]
