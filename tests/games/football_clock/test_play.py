"""Football with a clock in the terminal, and games told play by play."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
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
from solvent.play import Record, play


@cache
def solved(form: str, half: int = 120) -> TimedSolution:
    return TimedSolution.of(tiny(form, half=half, stops=[30], timeouts=1))


def played(
    solution: TimedSolution, answer: Callable[[str, list[str]], str], **arguments: Any
) -> tuple[Record, list[str]]:
    """Play with answers from what is asked and what was shown before; what was shown."""
    shown: list[str] = []
    record = play(
        solution, input=lambda prompt: answer(prompt, shown), output=shown.append, **arguments
    )
    return record, shown


def any_call(seed: int) -> Callable[[str, list[str]], str]:
    """Answer with any of the calls that a prompt offers, such as ``1-4, quick kick``."""
    rng = random.Random(seed)

    def answer(prompt: str, shown: list[str]) -> str:
        names: list[str] = []
        for part in prompt.partition(": ")[2].removesuffix(" > ").split(", "):
            first, dash, last = re.sub(r"^\d+ ", "", part).partition("-")
            if dash and len(first) == len(last) == 1:
                names += [chr(code) for code in range(ord(first), ord(last) + 1)]
            else:
                names.append(first + dash + last)
        return rng.choice(names)

    return answer


@pytest.mark.parametrize("form", ["half", "second-half", "full"])
def test_every_decision_is_priced_and_the_review_adds_up(form: str) -> None:
    solution = solved(form, half=60) if form == "full" else solved(form)
    seen = 0
    for seed in range(8):
        player = seed % 2
        record, shown = played(solution, any_call(seed), player=player, seed=seed)
        assert record.result is not None
        start = solution.value
        if player == 1:
            start = -start if form == "half" else 1 - start
        assert record.start_value == pytest.approx(start)
        assert all(decision.cost >= 0 for decision in record.decisions)
        chance = record.result - record.start_value + record.cost
        unit = f"{chance:+.4f}" if form == "half" else f"{100 * chance:+.2f}%"
        assert f"chance {signed(unit)}" in shown[-1]
        seen += sum(decision.cost > 0 for decision in record.decisions)
    assert seen > 3


def test_a_transcript_tells_a_whole_game_and_its_odds() -> None:
    solution = solved("full", half=60)
    both = solution.policy, solution.policy
    lines = transcript(solution, both, seed=3)
    assert lines == transcript(solution, both, seed=3)
    assert lines[0].position == solution.start
    margin = lines[-1].score[0] - lines[-1].score[1]
    assert lines[-1].value == (margin > 0) + (margin == 0) / 2
    rows = table_of(solution.game, lines)
    assert len(rows) == len(lines) + 3
    text = "\n".join(" ".join(row) for row in rows)
    for part in ("half 1", "half 2", "player B kicks off", "player A kicks off", " v "):
        assert part in text


class Nth(random.Random):
    """Dice that always fall in the same way."""

    def choices(self, population: Sequence[Any], *_: Any, **__: Any) -> list[Any]:
        return [population[self.way % len(population)]]

    way = 0


def told(game: TimedFootball, state: TimedPosition, first: int, second: int) -> set[str]:
    """All that may be told of two actions; a defence counts from A = 0."""
    joint, words, dice = [first, second], set(), Nth()
    if state.phase == "call":
        joint[1 - state.offence] += game.actions.defence
    for outcome in game.transition(state, tuple(joint)):
        for dice.way in range(4):
            words.add(game.told(state, tuple(joint), outcome, dice)[0])
    return words


def test_what_is_told() -> None:
    game = tiny(half=120, stops=[], timeouts=1)
    at = TimedPosition("call", 2, 8, down=1, to_go=3, to_goal=6)
    last, kickoff = at._replace(down=2), TimedPosition("kickoff", ticks=8, offence=1)
    interception = {"incomplete", "gain of 4, first down", "interception, returned 1"}
    long_gain = {
        "long gain of 4, first down",
        "long gain, touchdown and extra point for player A",
        "long gain, touchdown, extra point missed for player A",
    }
    kicked = {
        "player A has the ball",
        "player B has the ball",
        "run back all the way, touchdown and extra point for player A",
        "run back all the way, touchdown, extra point missed for player A",
    }
    asked = at._replace(phase="time-out", follows="call", asked=1, saved=9, timeouts=(0, 1))
    timeout = game.actions.timeout
    near = last._replace(to_go=2, to_goal=2)
    for state, first, second, words in (
        (at, 0, 0, {"gain of 1"}),
        (last, 0, 0, {"gain of 1, lost on downs"}),
        (at, 0, 1, {"gain of 3 out of bounds, first down"}),
        (at, 0, 2, {"penalty of 2 on the offence or gain of 2"}),
        (at, 1, 0, {"fumble"}),
        (at, 1, 2, interception),
        (at, 2, 1, long_gain),
        (at._replace(to_goal=7), 3, 1, {"loss of 4, safety for player B"}),
        (near, 5, 0, {"field goal for player A", "field goal missed"}),
        (last, 6, 0, {"punt formation"}),
        (last._replace(punting=True), 6, 1, {"punt of 4, returned 3"}),
        (kickoff, 0, game.actions.kick, kicked),
        (asked, 0, timeout, {"player B calls a time-out"}),
        (asked, 0, timeout + 1, {""}),
    ):
        assert told(game, state, first, second) == words, (state, first, second)


# The page's numbers are those of the rules, state by state


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


def test_the_sections_of_a_page(half: LastHalf) -> None:
    known = TimedFootballPages().untabled(half.solution)
    assert known is not None
    assert known.solved.lower <= known.solved.value <= known.solved.upper
    assert [section.title for section in known.sections] == [
        "Winning by time, score and place",
        "The value of a time-out, and when to call it",
        "A game, play by play",
    ]
    points = TimedFootballPages().untabled(TimedSolution.of(tiny("half", timeouts=1)))
    assert points is not None
    titles = [section.title for section in points.sections]
    assert titles == ["Points by time and place", "A game, play by play"]
