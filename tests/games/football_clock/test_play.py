"""Football with a clock in the terminal, and games told play by play."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from reduced_football import MIXED
from timed_football import tiny

from solvent.games.football.fourth_down import QUICK_KICK, everywhere
from solvent.games.football.situation import Situation
from solvent.games.football_clock.report import (
    LastHalf,
    TimedFootballPages,
)
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.solution import TimedSolution
from solvent.games.football_clock.transcript import table_of, transcript
from solvent.model.text import signed
from solvent.play import play


@cache
def solved(form: str, half: int = 120) -> TimedSolution:
    return TimedSolution.of(tiny(form, half=half, stops=[30], timeouts=1))


@pytest.mark.parametrize("form", ["half", "second-half", "full"])
def test_every_decision_is_priced_and_the_review_adds_up(form: str) -> None:
    solution = solved(form, half=60 if form == "full" else 120)
    even, seen, dice = 0 if form == "half" else 1, 0, random.Random(1)
    for seed in range(8):
        shown: list[str] = []
        record = play(
            solution,
            # What is not on offer is asked again.
            input=lambda prompt: dice.choice(solution.game.actions.names),
            output=shown.append,
            player=seed % 2,
            seed=seed,
        )
        assert record.result is not None
        start = even - solution.value if seed % 2 else solution.value
        assert record.start_value == pytest.approx(start)
        assert all(decision.cost >= 0 for decision in record.decisions)
        chance = record.result - record.start_value + record.cost
        unit = f"{chance:+.4f}" if form == "half" else f"{100 * chance:+.2f}%"
        assert f"chance {signed(unit)}" in shown[-1]
        seen += sum(decision.cost > 0 for decision in record.decisions)
    assert seen > 3


def test_a_transcript_tells_a_whole_game_and_its_odds() -> None:
    solution = solved("full", half=60)
    first, lines = (transcript(solution, (solution.policy,) * 2, seed=3) for _ in range(2))
    assert first == lines
    assert lines[0].position == solution.start
    margin = lines[-1].score[0] - lines[-1].score[1]
    assert lines[-1].value == (margin > 0) + (margin == 0) / 2
    rows = table_of(solution.game, lines)
    assert len(rows) == len(lines) + 3
    text = "\n".join(" ".join(row) for row in rows)
    for part in ("half 1", "half 2", "player B kicks off", "player A kicks off", " v "):
        assert part in text


def always(way: int) -> Any:
    """Dice that always fall in the same way."""
    return SimpleNamespace(choices=lambda ways, chances: [ways[way % len(ways)]])


def told(game: TimedFootball, state: TimedPosition, first: int, second: int) -> set[str]:
    """All that may be told of two actions; a defence counts from A = 0."""
    joint = [first, second]
    if state.phase == "call":
        joint[1 - state.offence] += game.actions.defence
    return {
        game.told(state, tuple(joint), outcome, always(way))[0]
        for outcome in game.transition(state, tuple(joint))
        for way in range(4)
    }


def test_what_is_told() -> None:
    game = tiny(half=120, stops=[], timeouts=1)
    at = TimedPosition("call", 2, 8, down=1, to_go=3, to_goal=6)
    last, kickoff = at._replace(down=2), TimedPosition("kickoff", ticks=8, offence=1)
    asked = at._replace(phase="time-out", follows="call", asked=1, saved=9, timeouts=(0, 1))
    timeout = game.actions.timeout
    for state, first, second, words in (
        (at, 0, 0, {"gain of 1"}),
        (last, 0, 0, {"gain of 1, lost on downs"}),
        (at, 0, 1, {"gain of 3 out of bounds, first down"}),
        (at, 0, 2, {"penalty of 2 on the offence or gain of 2"}),
        (at, 1, 0, {"fumble"}),
        (at, 1, 2, {"incomplete", "gain of 4, first down", "interception, returned 1"}),
        (at, 2, 1, {
            "long gain of 4, first down",
            "long gain, touchdown and extra point for player A",
            "long gain, touchdown, extra point missed for player A",
        }),
        (at._replace(to_goal=7), 3, 1, {"loss of 4, safety for player B"}),
        (last._replace(to_go=2, to_goal=2), 5, 0,
         {"field goal for player A", "field goal missed"}),
        (last, 6, 0, {"punt formation"}),
        (last._replace(punting=True), 6, 1, {"punt of 4, returned 3"}),
        (kickoff, 0, game.actions.kick, {
            "player A has the ball",
            "player B has the ball",
            "run back all the way, touchdown and extra point for player A",
            "run back all the way, touchdown, extra point missed for player A",
        }),
        (asked, 0, timeout, {"player B calls a time-out"}),
        (asked, 0, timeout + 1, {""}),
    ):  # fmt: skip
        assert told(game, state, first, second) == words, (state, first, second)
    assert told(tiny(chart=MIXED), at, 0, 1) == {"no gain"}


# The page's numbers are those of the rules, state by state


@pytest.fixture(scope="module")
def half() -> LastHalf:
    return LastHalf(TimedSolution.of(tiny("second-half", timeouts=1)))


def states(
    half: LastHalf, phase: str, situation: Situation
) -> Iterator[tuple[tuple[int, int], TimedPosition]]:
    """A state at all times and leads, with the place of its number in the maps."""
    timeouts = half.layout.clock.timeouts
    for t, lead in product(range(half.ticks), range(-half.lead, half.lead + 1)):
        at = TimedPosition(phase, 2, t + 1, lead, (timeouts, timeouts))
        yield (t, lead + half.lead), at._replace(**situation._asdict())


@pytest.mark.parametrize("offence", [0, 1])
def test_the_last_down_map_of_a_moment_has_the_values_of_its_positions(
    half: LastHalf, offence: int
) -> None:
    solution, ruleset = half.solution, half.layout.rules.ruleset
    at = TimedPosition("call", 2, 3, 1, (1, 0), offence=offence, down=ruleset.downs)
    at = at._replace(to_go=1, to_goal=4)
    found = everywhere(half.layout.rules, solution.following(at))
    best, places = np.fmax.reduce(found.values), np.argwhere(found.way >= 0).tolist()
    for x, y in places:
        value = solution.value_of(at._replace(to_go=y + 1, to_goal=ruleset.field - 1 - x))
        assert best[x, y] == pytest.approx(value if offence == 0 else 1 - value, abs=1e-9)
    # Going for it is as good as the best kick at the break-even chance.
    kick = np.fmax.reduce(found.values[QUICK_KICK:])
    even = found.needed * found.made + (1 - found.needed) * found.failed
    known = np.isfinite(even)
    np.testing.assert_allclose(even[known], kick[known], atol=1e-12)
    assert known.sum() > len(places) / 2


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

    values, fewer = half.timeout_value(offence=offence), (0, 1) if offence else (1, 0)
    for place, at in states(half, "call", Situation(1, 3, half.standard)):
        at = at._replace(margin=sign * at.margin)
        lost = solution.value_of(at) - solution.value_of(at._replace(timeouts=fewer))
        assert values[place] == pytest.approx(sign * lost, abs=1e-12)
    assert (values > 1e-3).any()


def test_the_sections_of_a_page(half: LastHalf) -> None:
    for solution, *titles in (
        (
            half.solution,
            "Winning by time, score and place",
            "The value of a time-out, and when to call it",
        ),
        (TimedSolution.of(tiny("half", timeouts=1)), "Points by time and place"),
    ):
        known = TimedFootballPages().untabled(solution)
        assert known is not None
        assert [section.title for section in known.sections] == [*titles, "A game, play by play"]
