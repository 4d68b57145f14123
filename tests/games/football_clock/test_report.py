"""The page's numbers of football with a clock are those of the rules, state by state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from timed_football import tiny

from solvent.games.football.fourth_down import GO, KICK, PUNT, QUICK_KICK, everywhere
from solvent.games.football.situation import Situation
from solvent.games.football_clock.report import (
    EQUAL,
    LastHalf,
    untabled_timed,
)
from solvent.games.football_clock.rules import TimedPosition
from solvent.games.football_clock.solution import TimedSolution


@pytest.fixture(scope="module")
def half() -> LastHalf:
    return LastHalf(TimedSolution.of(tiny("second-half", timeouts=1)))


def states(
    half: LastHalf, phase: str, situation: Situation | None = None
) -> Iterator[tuple[tuple[int, int], TimedPosition]]:
    """A state at all times and leads, with the place of its number in the maps."""
    timeouts = half.layout.clock.timeouts
    for t in range(half.ticks):
        for lead in range(-half.lead, half.lead + 1):
            at = TimedPosition(phase, 2, t + 1, lead, (timeouts, timeouts))
            place = t, lead + half.lead
            yield place, at._replace(**situation._asdict() if situation else {})


@pytest.mark.parametrize(("to_goal", "best"), [(4, GO), (2, KICK)])
def test_the_ways_of_the_last_down(half: LastHalf, to_goal: int, best: int) -> None:
    (way_of, found), solution, seen = half.last_down(2, to_goal), half.solution, set()
    actions = solution.game.actions
    for place, at in states(half, "call", Situation(2, 2, to_goal)):
        ways = found[:, *place]
        assert np.nanmax(ways) == pytest.approx(solution.value_of(at), abs=1e-12)
        declared = solution.value_of(at._replace(punting=True))
        assert ways[PUNT] == pytest.approx(declared, abs=1e-12)
        kick = sum(
            float(after.probability) * (float(after.reward) + solution.value_of(after.state))
            for after in solution.game.transition(at, (actions.plays + 1, actions.defence))
        )
        assert ways[KICK] == pytest.approx(kick, abs=1e-12)
        way = int(way_of[place])
        if way != EQUAL:
            assert ways[way] == pytest.approx(np.nanmax(ways), abs=1e-12)
        seen.add(way)
    assert {best, EQUAL} <= seen


@pytest.mark.parametrize("offence", [0, 1])
def test_the_last_down_map_of_a_moment_has_the_values_of_its_positions(
    half: LastHalf, offence: int
) -> None:
    solution, ruleset = half.solution, half.layout.rules.ruleset
    at = TimedPosition("call", 2, 3, 1, (1, 0), offence=offence, down=ruleset.downs)
    at = at._replace(to_go=1, to_goal=4)
    found = everywhere(half.layout.rules, solution.following(at))
    best, seen = np.fmax.reduce(found.values), 0
    for x, y in np.argwhere(found.way >= 0).tolist():
        state = at._replace(to_go=y + 1, to_goal=ruleset.field - 1 - x)
        value = solution.value_of(state)
        assert best[x, y] == pytest.approx(value if offence == 0 else 1 - value, abs=1e-9)
        seen += 1
    # Going for it is as good as the best kick at the break-even chance.
    kick = np.fmax.reduce(found.values[QUICK_KICK:])
    even = found.needed * found.made + (1 - found.needed) * found.failed
    known = np.isfinite(even)
    np.testing.assert_allclose(even[known], kick[known], atol=1e-12)
    assert known.sum() > seen / 2


@pytest.mark.parametrize("offence", [True, False])
def test_what_a_time_out_gains_and_its_value(half: LastHalf, *, offence: bool) -> None:
    solution, clock = half.solution, half.layout.clock
    called, declined = half.timeout_gain(offence=offence)
    seconds, sign = half.layout.rules.ruleset.play_seconds, 1 if offence else -1
    for place, at in states(half, "time-out", half.next_down):
        after, saved, _ = clock.left(at.ticks, seconds, penalty=False)
        waiting = at._replace(
            ticks=after,
            saved=saved,
            margin=sign * at.margin,
            follows="call",
            asked=0 if offence else 1,
            other_too=offence,
        )
        value = solution.value_of(waiting)
        best = max(called[place], declined[place])
        assert best == pytest.approx(value if offence else 1 - value, abs=1e-12)
    assert (called > declined + 1e-3).any()
    assert (called < declined - 1e-3).any()

    values = half.timeout_value(offence=offence)
    for place, at in states(half, "call", Situation(1, 3, half.standard)):
        at = at._replace(margin=sign * at.margin)
        fewer = (0, 1) if offence else (1, 0)
        lost = solution.value_of(at) - solution.value_of(at._replace(timeouts=fewer))
        assert values[place] == pytest.approx(sign * lost, abs=1e-12)
    assert (values > 1e-3).any()


def test_what_an_onside_kick_gains(half: LastHalf) -> None:
    normal, onside = half.kicks()
    for place, at in states(half, "kickoff"):
        best = max(onside[place], normal[place])
        assert best == pytest.approx(half.solution.value_of(at), abs=1e-12)
    assert (onside > normal + 1e-3).any()


def test_the_sections_of_a_page(half: LastHalf) -> None:
    known = untabled_timed(half.solution)
    assert known.solved.lower <= known.solved.value <= known.solved.upper
    assert [section.title for section in known.sections] == [
        "Winning by time, score and place",
        "The 2nd-down map by time and score",
        "The value of a time-out, and when to call it",
        "When to kick onside",
        "A game, play by play",
    ]
    points = untabled_timed(TimedSolution.of(tiny("half", timeouts=1)))
    titles = [section.title for section in points.sections]
    assert titles == ["Points by time and place", "A game, play by play"]
