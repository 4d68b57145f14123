"""Football with a clock: each rule of time, score and time-outs, worked by hand on a short field.

Of the tiny chart, against A, B and C: play 1 is ``1``, ``3o`` and ``off2/2``, play 2 ``fum``,
``def2/4o`` and dice, play 3 ``2o``, ``long`` and ``def1f``, play 4 ``6``, ``-4`` and ``fum-4``.
Gains take 30 seconds, over 3 yards 45, and 15 less out of bounds; the rest takes 15.
"""

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from reduced_football import chart_of
from refusals import assert_refused
from timed_football import RULES, SMALL, TINY_FORMS, tiny
from written_games import transcript

from solvent import make_game, solve
from solvent.games.football.chart import csv_text
from solvent.games.football.ruleset import ClockRules
from solvent.games.football_clock.rules import TIMED_FORMS, TimedFootball, TimedPosition
from solvent.model import (
    Gridiron,
    Outcome,
    Prose,
    TooManyStatesError,
    compile_game,
    parametrize_with_game_checks,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "football_with_a_clock.txt"

A, B, C = range(3)
ONE, TWO, THREE, FOUR, QUICK_KICK, FIELD_GOAL, PUNT = range(7)
CLOCK = ClockRules()
# The chance of an extra point.
EXTRA = Fraction(34, 36)

GAMES = [
    tiny("two-minutes", timeouts=1),
    tiny("half", untimed_down=False),
    tiny("second-half", SMALL, half=30, timeouts=1, stops=[], margin=-7),
    tiny("full", SMALL, half=30),
]


@parametrize_with_game_checks(GAMES)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


# The clock.


def test_a_play_stops_at_the_next_stop() -> None:
    for ticks, seconds, left in (
        (120, 30, 118),
        (62, 45, 60),  # the first quarter ends
        (61, 15, 60),
        (60, 45, 57),
        (9, 45, 8),  # the two-minute warning
        (8, 45, 5),
        (10, 30, 8),
        (2, 45, 0),
        (1, 15, 0),
        (5, 0, 5),
    ):
        assert CLOCK.after(ticks, seconds) == left, (ticks, seconds)


def test_how_the_clock_stands_after_a_play() -> None:
    for ticks, seconds, penalty, left in (
        # A play of 45 seconds takes 15 with a time-out, any other none (Football Strategy).
        (100, 45, False, (97, 99, False)),
        (100, 30, False, (98, 100, False)),
        (100, 15, False, (99, 100, False)),
        (4, 45, False, (1, 3, False)),
        (1, 15, False, (0, 1, False)),
        (1, 15, True, (0, 1, True)),
        (0, 15, True, (0, 0, False)),  # the untimed down is the last
    ):
        assert CLOCK.left(ticks, seconds, penalty=penalty) == left, (ticks, seconds, penalty)
    assert ClockRules(untimed_down=False).left(1, 15, penalty=True) == (0, 1, False)


# The rules.


def call(ticks: int, down: int = 1, to_go: int = 3, to_goal: int = 6, **more: Any) -> TimedPosition:
    return TimedPosition("call", 2, ticks, down=down, to_go=to_go, to_goal=to_goal, **more)


def then(game: TimedFootball, state: TimedPosition, *joint: int) -> list[tuple[Any, ...]]:
    """What follows as plain tuples; a defence counts from A = 0."""
    actions = list(joint)
    if state.phase == "call":
        actions[1 - state.offence] += game.actions.defence
    return [(o.probability, o.state, o.reward) for o in game.transition(state, tuple(actions))]


LONG = tiny(half=120, stops=[])
TIMEOUTS = tiny(half=120, stops=[], timeouts=2)
LAST, SAVED = tiny(), tiny(timeouts=1)
LETTERS = tuple(range(LONG.actions.defence, LONG.actions.defence + 3))
# What is decided between plays, in the order of the actions.
PENALTY, PLAY, NORMAL, ONSIDE, STOP, RUN_ON = range(
    TIMEOUTS.actions.choice, TIMEOUTS.actions.choice + 6
)


def kickoff(ticks: int, margin: int = 0, **more: Any) -> TimedPosition:
    return TimedPosition("kickoff", 2, ticks, margin, **more)


def over(margin: int) -> TimedPosition:
    return TimedPosition("over", margin=margin)


def question(state: TimedPosition, asked: int, saved: int, **more: Any) -> TimedPosition:
    """A player is asked for a time-out, with which so many ticks are left."""
    return state._replace(phase="time-out", follows=state.phase, asked=asked, saved=saved, **more)


BOTH = {"timeouts": (1, 1)}
FIRST = question(call(5, 2, 1, 1, timeouts=(2, 1)), 0, 7, other_too=True)
SECOND = FIRST._replace(asked=1, other_too=False)
# Choices on the last play: of a penalty on the defence, and of one on the offence.
DEFENDED = call(1)._replace(phase="choice", choice="def2/4o")
OFFENDED = call(1)._replace(phase="choice", choice="off2/2")
WON, TIED, LOST = 1, Fraction(1, 2), 0
ENDING = question(call(0, 2, 2, 5, timeouts=(0, 1)), 1, 1)
SCORED = question(kickoff(0, 3, timeouts=(1, 0)), 0, 1)
UNTIMED = question(call(0, 1, 3, 5, timeouts=(1, 0)), 0, 1, untimed=True)

# By rule: the game, a position, what both players do in it (a defence counts from A = 0), and each
# branch that may follow: its probability, the position, and the reward if there is one. A position
# that stands alone follows for certain.
FOLLOWS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "every play takes its time": (
        (LONG, call(8), ONE, A, call(6, 2, 2, 5)),  # 30 seconds
        (LONG, call(8), ONE, B, call(7, 1, 3, 3)),  # 30, and 15 less out of bounds
        (LONG, call(8, to_go=7, to_goal=7), FOUR, A, call(5, 2, 1, 1)),  # 45
        (LONG, call(8), THREE, C, call(7, 1, 3, 5)),  # a penalty: 15
        (LONG, call(8), TWO, A, call(7, 1, 2, 2, offence=1)),  # a fumble: 15
        (LONG, call(1, 2), PUNT, A, call(1, 2, 3, 6, punting=True)),  # declared: none
        # A long gain: 45.
        (LONG, call(8), THREE, B, (Fraction(2, 3), call(5, 1, 2, 2)), (EXTRA / 3, kickoff(5, 7)),
         ((1 - EXTRA) / 3, kickoff(5, 6))),
    ),
    "the clock stops at the end of a quarter and at the warning": tuple(
        (tiny(half=120, stops=[60, 30]), *row)
        for row in (
            (call(5), ONE, A, call(4, 2, 2, 5)),  # 75 seconds less 30 pass 60
            (call(4), ONE, A, call(2, 2, 2, 5)),  # from the stop itself the clock runs
            (call(3), ONE, A, call(2, 2, 2, 5)),
            (call(5, to_go=7, to_goal=7), FOUR, A, call(4, 2, 1, 1)),  # not both stops
            (call(6), ONE, A, call(4, 2, 2, 5)),  # it would stand there anyway
        )
    ),
    "kicks take a tick": (
        (LONG, kickoff(4, offence=1), 0, ONSIDE,
         (Fraction(1, 3), call(3, 1, 3, 5, offence=1)), (Fraction(2, 3), call(3, 1, 2, 2))),
        (LONG, TimedPosition("free kick", ticks=4, offence=1), 0, 0,
         (Fraction(3, 4), call(3, 1, 3, 4)), (Fraction(1, 6), call(3, 1, 3, 3)),
         (EXTRA / 12, kickoff(3, 7)), ((1 - EXTRA) / 12, kickoff(3, 6))),
    ),
    "points are added, and the scorer kicks off": (
        (LONG, call(4, 1, 1, 1, margin=1), ONE, A,
         (EXTRA, kickoff(2, 8)), (1 - EXTRA, kickoff(2, 7))),
        (LONG, call(4, 1, 1, 1, margin=1, offence=1), A, ONE,
         (EXTRA, kickoff(2, -6, offence=1)), (1 - EXTRA, kickoff(2, -5, offence=1))),
        (LONG, call(4, 1, 1, 1, margin=-8), ONE, A,
         (EXTRA, kickoff(2, -1)), (1 - EXTRA, kickoff(2, -2))),
    ),
    "a lead counts up to 8": (
        (LONG, call(4, 1, 1, 1, margin=5), ONE, A, (1, kickoff(2, 8))),
        (LONG, call(4, 1, 1, 1, margin=8), ONE, A, (1, kickoff(2, 8))),
    ),
    "a half pays points and keeps no score": (
        (tiny("half", half=60, stops=[]), call(4, 1, 1, 1, offence=1), A, ONE,
         (EXTRA, kickoff(2, offence=1), -7), (1 - EXTRA, kickoff(2, offence=1), -6)),
    ),
    "a safety is two points and a free kick": (
        (tiny(half=60, stops=[]), call(4, 1, 3, 7), FOUR, B, TimedPosition("free kick", 2, 2, -2)),
    ),
    "the game is over when no time is left": (
        *(
            (tiny(stops=[]), call(ticks, margin=margin), ONE, A, (1, over(margin), won))
            for margin, won in ((-1, LOST), (0, TIED), (1, WON))
            for ticks in (1, 2)
        ),
        # Points of the last play count, and no kickoff follows.
        (LAST, call(1, 2, 2, 2, margin=-2), FIELD_GOAL, C,
         (Fraction(3, 4), over(1), WON), (Fraction(1, 4), over(-2), LOST)),
    ),
    "a half does not end on a penalty of the defence": (
        (LAST, call(1), THREE, C, call(0, 1, 3, 5)),
        (tiny(untimed_down=False), call(1), THREE, C, (1, over(0), TIED)),
        (LAST, call(1), TWO, B, DEFENDED),
        (LAST, DEFENDED, PENALTY, 0, call(0, 1, 1, 4)),
        (LAST, DEFENDED, PLAY, 0, (1, over(0), TIED)),
        (LAST, call(1), ONE, C, OFFENDED),
        (LAST, OFFENDED, 0, PENALTY, (1, over(0), TIED)),
        (LAST, OFFENDED, 0, PLAY, (1, over(0), TIED)),
        # A punt is declared within the untimed down.
        (LAST, call(0, 2, margin=1), PUNT, A, call(0, 2, margin=1, punting=True)),
    ),
    "the second half is kicked off by who received the first": (
        (tiny("full", half=45, timeouts=2),
         call(1, margin=-4, receiver=1, offence=1)._replace(half=1), A, ONE,
         TimedPosition("kickoff", 2, 3, -4, (2, 2), offence=0)),
    ),
    "the offence is asked first for a time-out, then the defence": (
        (TIMEOUTS, call(8, to_go=7, to_goal=7, timeouts=(2, 1)), FOUR, A, FIRST),
        # A play of 45 seconds takes 15 with a time-out.
        (TIMEOUTS, FIRST, STOP, 0, call(7, 2, 1, 1, timeouts=(1, 1))),
        (TIMEOUTS, FIRST, RUN_ON, 0, SECOND),
        (TIMEOUTS, SECOND, 0, STOP, call(7, 2, 1, 1, timeouts=(2, 0))),
        (TIMEOUTS, SECOND, 0, RUN_ON, call(5, 2, 1, 1, timeouts=(2, 1))),
        # The side that lost the ball, and the kicker.
        (TIMEOUTS, call(8, **BOTH), TWO, A,
         question(call(7, 1, 2, 2, offence=1, **BOTH), 0, 8, other_too=True)),
        (TIMEOUTS, kickoff(8, offence=1, **BOTH), 0, ONSIDE, *(
            (chance, question(kicked, 1, 8, other_too=True)) for chance, kicked in (
                (Fraction(1, 3), call(7, 1, 3, 5, offence=1, **BOTH)),
                (Fraction(2, 3), call(7, 1, 2, 2, **BOTH)),
            )
        )),
    ),
    "only a side that has a time-out is asked": (
        (TIMEOUTS, call(8, timeouts=(1, 0)), ONE, A,
         question(call(6, 2, 2, 5, timeouts=(1, 0)), 0, 8)),
        (TIMEOUTS, call(8, timeouts=(0, 1)), ONE, A,
         question(call(6, 2, 2, 5, timeouts=(0, 1)), 1, 8)),
        (TIMEOUTS, call(8), ONE, A, call(6, 2, 2, 5)),
    ),
    "after a choice a time-out can be called": (
        (TIMEOUTS, call(8, **BOTH), TWO, B,
         call(8, **BOTH)._replace(phase="choice", choice="def2/4o")),
        # Four yards out of bounds: 45 seconds less 15.
        (TIMEOUTS, call(8, **BOTH)._replace(phase="choice", choice="def2/4o"), PLAY, 0,
         question(call(6, 1, 2, 2, **BOTH), 0, 8, other_too=True)),
    ),
    # 45 seconds from 1:15 stop at 1:00, and so do 15.
    "nobody is asked where a time-out saves nothing": tuple(
        (tiny(half=120, stops=[60], timeouts=1), call(ticks, to_go=7, to_goal=7, **BOTH), FOUR, A,
         after)
        for ticks, after in (
            (5, call(4, 2, 1, 1, **BOTH)),
            (6, question(call(4, 2, 1, 1, **BOTH), 0, 5, other_too=True)),
        )
    ),
    "a time-out saves the half from ending": (
        (SAVED, call(1, timeouts=(0, 1)), ONE, A, ENDING),
        (SAVED, ENDING, 0, STOP, call(1, 2, 2, 5)),
        (SAVED, ENDING, 0, RUN_ON, (1, over(0), TIED)),
        (SAVED, call(1, 2, 2, 2, timeouts=(1, 0)), FIELD_GOAL, A, (Fraction(3, 4), SCORED),
         (Fraction(1, 4), question(call(0, 1, 3, 5, offence=1, timeouts=(1, 0)), 0, 1))),
        (SAVED, SCORED, STOP, 0, kickoff(1, 3)),
        (SAVED, call(1, timeouts=(1, 0)), THREE, C, UNTIMED),
        (SAVED, UNTIMED, STOP, 0, call(1, 1, 3, 5)),
        # On the untimed down time-outs do not matter, nor in what follows it.
        (SAVED, UNTIMED, RUN_ON, 0, call(0, 1, 3, 5)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rows", FOLLOWS.values(), ids=FOLLOWS)
def test_what_follows(rows: tuple[tuple[Any, ...], ...]) -> None:
    for game, state, first, second, *branches in rows:
        certain = isinstance(branches[0], TimedPosition)
        expected = [(1, branches[0], 0)] if certain else [(*b, 0)[:3] for b in branches]
        assert then(game, state, first, second) == expected, (state, first, second)


def test_who_may_do_what() -> None:
    for game, state, legal in (
        (LONG, kickoff(4, offence=1), ((0,), (NORMAL, ONSIDE))),
        (LAST, DEFENDED, ((PENALTY, PLAY), (0,))),
        (LAST, OFFENDED, ((0,), (PENALTY, PLAY))),
        (LAST, call(0, 2, punting=True), ((ONE, TWO, THREE, FOUR, PUNT), LETTERS)),
        (TIMEOUTS, FIRST, ((STOP, RUN_ON), (0,))),
        (TIMEOUTS, SECOND, ((0,), (STOP, RUN_ON))),
    ):
        assert game.legal_actions(state) == legal, state


def test_the_untimed_down_is_one_play_whatever_comes_of_it() -> None:
    untimed = call(0, 2, margin=1)
    plays = [(untimed._replace(punting=True), PUNT, A)]
    plays += [(untimed, play, letter) for play in (ONE, THREE, FOUR) for letter in (A, B, C)]
    for state, *joint in plays:
        for _, following, _ in then(LAST, state, *joint):
            assert LAST.is_terminal(following) or following.phase == "choice", (state, joint)


# Time-outs.


def test_a_position_is_observed_by_these_entries() -> None:
    state = call(5, 2, 3, 6, margin=-8, timeouts=(2, 1), punting=True)
    expected = {
        "lead": (-8, 8, -8), "lead within a score": (-7, 7, -7), "down": (2, 2, 0),
        "to go": (3, 8, 0), "to goal": (6, 8, 0), "punt formation": (1, 1, 0),
        "my ball": (1, 1, 0), "second half": (1, 1, 0), "time left": (5, 8, 0),
        "time left at the end": (5, 8, 0), "my time-outs": (2, 2, 0), "its time-outs": (1, 2, 0),
    }  # fmt: skip
    found = {entry.label: tuple(entry[1:]) for entry in TIMEOUTS.entries(state, 0) if entry.value}
    assert found == expected
    asked = TimedPosition("time-out", ticks=3, saved=4, asked=1, other_too=True, follows="kickoff")
    told = {entry.label: entry.value for entry in TIMEOUTS.entries(asked, 0)}
    assert (told["I am asked"], told["it is asked"], told["both are asked"]) == (0, 1, 1)
    assert (told["time saved"], told["kickoff"], told["untimed down"]) == (4, 1, 0)


def test_a_position_is_described_with_its_time_outs() -> None:
    game, state = TIMEOUTS, call(8, to_go=7, to_goal=7, timeouts=(2, 1), margin=2)
    score = "player A leads by 2, time-outs 2 and 1"
    assert game.place(FIRST._replace(margin=2)) == f"{score}, a time-out or not"
    assert game.scene(FIRST._replace(margin=2))[0] == Prose("", (score,))
    assert game.place(state) == f"2:00 left, {score}, player A has 1st and goal at its own 1"
    assert game.scene(state) == (
        Prose("", (f"2:00 left, {score}",)),
        Gridiron(1, 8, 8, "player A", "player B", "player A has 1st and goal at its own 1"),
        Prose("", ("player A calls 1-4, quick kick", "player B calls A-C")),
    )


# Values that can be worked out by hand, and symmetry.


def test_the_last_play_of_a_tied_game() -> None:
    one_yard = chart_of("one yard", [["1"]], ["punt4"], ["punt6"])
    rules = {**RULES, "kickoff": {"1": 1}}
    # A field goal from three yards: 1/4 of a win, 3/4 of a tie. With a time-out: a yard, then a
    # field goal from two: 3/4. The other side's time-out then saves it a kickoff to its own line,
    # or a ball too far away.
    for timeouts, chance in ((0, 5 / 8), (1, 7 / 8)):
        clock = {"half": 45, "stops": [15], "timeouts": timeouts, "largest_margin": 8}
        game = TimedFootball(one_yard, "two-minutes", rules, clock, to_goal=3)
        assert solve(compile_game(game)).values[0] == pytest.approx(chance, abs=1e-12)


def mirrored(state: TimedPosition) -> TimedPosition:
    return state._replace(
        margin=-state.margin,
        timeouts=state.timeouts[::-1],
        receiver=1 - state.receiver if state.receiver >= 0 else -1,
        offence=0 if state.phase == "over" else 1 - state.offence,
        asked=1 - state.asked if state.asked >= 0 else -1,
    )


@pytest.mark.parametrize(("form", "parameters"), [TINY_FORMS[n] for n in (0, 1, 4, 5)])
def test_exchanging_the_players_exchanges_what_happens_to_them(
    form: str, parameters: dict[str, Any]
) -> None:
    game, rng = tiny(form, **parameters), random.Random(8)

    def reward(outcome: Outcome) -> Fraction | int:
        if game.for_points:
            return -outcome.reward
        return 1 - outcome.reward if game.is_terminal(outcome.state) else 0

    for state in rng.sample(compile_game(game).states, 200):
        other = mirrored(state)
        assert (game.observe(state, 0) == game.observe(other, 1)).all()
        if not game.is_terminal(state):
            legal = game.legal_actions(state)
            assert game.legal_actions(other) == legal[::-1]
            joint = tuple(rng.choice(actions) for actions in legal)
            expected = game.transition(state, joint)
            found = game.transition(other, joint[::-1])
            assert [(o.probability, o.state, o.reward) for o in found] == [
                (o.probability, mirrored(o.state), reward(o)) for o in expected
            ], (state, joint)


# Forms and parameters.


def test_where_a_form_begins() -> None:
    three = {"timeouts": (3, 3)}
    near = {"form": "two-minutes", "margin": -5, "down": 3, "to_go": 12, "to_goal": 7}
    starts: tuple[tuple[dict[str, Any], TimedPosition], ...] = (
        ({"form": "two-minutes"}, call(8, 1, 10, 80, **three)),
        ({"form": "two-minutes", "to_go": 1}, call(8, 1, 1, 80, **three)),
        ({**near, "timeouts": 1}, call(8, 3, 7, 7, margin=-5, timeouts=(1, 1))),
        ({"form": "half"}, kickoff(120, offence=1, **three)),
        ({"form": "second-half"}, kickoff(120, offence=1, **three)),
        ({"form": "full"}, kickoff(120, offence=1, receiver=1, **three)._replace(half=1)),
    )
    assert {parameters["form"] for parameters, _ in starts} == set(TIMED_FORMS)
    for parameters, state in starts:
        assert make_game("football-strategy", **parameters).initial() == (Outcome(1, state),)


def test_a_half_is_for_points_and_the_other_forms_for_the_game() -> None:
    # Two ticks, a time-out of each side, an untimed down: five plays of 7 points at most.
    for game, rewards, drawn in (
        (tiny("half", half=30, stops=[], timeouts=1), (-35, 35), "play is over"),
        (tiny("second-half"), (0, 1), "play is over; player A has won by 3"),
    ):
        assert (game.info.reward_range, game.draw(over(3))) == (rewards, drawn)


def test_a_shorter_half_has_the_stops_of_its_time() -> None:
    assert ClockRules().shortened(61) == ClockRules(half=915, stops=(900, 120))
    assert ClockRules().shortened(8) == ClockRules(half=120, stops=())


def test_the_parameters_make_the_game_again(tmp_path: Path) -> None:
    assert dict(tiny("half").info.parameters)["chart"] == "tiny"
    file = tmp_path / "chart.csv"
    file.write_text(csv_text(tiny().charts[0]), encoding="utf-8")
    assert ClockRules.of({"stops": [900, 120]}) == ClockRules()
    for parameters in (
        {"form": "half", "chart": str(file)},
        {"form": "full", "timeouts": True, "chart": "aerial"},
        {"form": "second-half", "margin": -7, "clock": {"half": 600, "stops": [120]}},
        {"form": "two-minutes", "to_goal": 30, "ruleset": {"touchback": 25}, "timeouts": False},
        {"form": "two-minutes", "margin": -5, "to_go": 3},
    ):
        game = make_game("football-strategy", **parameters)
        written = json.loads(json.dumps(dict(game.info.parameters)))
        assert make_game("football-strategy", **written).info == game.info, parameters
        assert written.get("margin", 0) == parameters.get("margin", 0)
        assert written.get("to_go", 10) == parameters.get("to_go", 10)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"form": "halves"}, "form is 'halves'; allowed are .*two-minutes"),
        ({"form": "half", "punting": True}, "punting is True, but form is 'half'"),
        ({"form": "half", "kickoff_value": 0.0}, "kickoff_value is 0.0, .* without a clock: drive"),
        ({"form": "drive", "timeouts": 0}, "timeouts is 0, .* with a clock: two-minutes"),
        ({"form": "half", "margin": 3}, "margin is 3; form 'half' begins at 0"),
        ({"form": "full", "margin": 3}, "margin is 3; form 'full' begins at 0"),
        ({"form": "full", "to_goal": 20}, "form 'full' begins with a kickoff"),
        ({"form": "two-minutes", "margin": 29}, "^margin is 29; .* from -28 to 28$"),
        ({"form": "second-half", "margin": 43}, "^margin is 43; .* from -42 to 42$"),
        ({"form": "two-minutes", "down": 5}, "^down is 5; allowed .* 1 to 4$"),
        ({"form": "two-minutes", "to_goal": 100}, "^to_goal is 100; .* from 1 to 99$"),
        ({"form": "two-minutes", "to_go": 0}, "^to_go is 0; .* from 1 to 100$"),
        ({"form": "half", "timeouts": 2, "clock": {"timeouts": 1}}, "timeouts is 2, but clock has"),
        ({"form": "half", "timeouts": 10}, "timeouts is 10; allowed .* 0 to 9"),
        ({"form": "half", "clock": 15}, "clock is 15; allowed is a mapping"),
        ({"form": "half", "clock": {"ticks": 15}}, "parameter of the clock is 'ticks'.*'tick'"),
        ({"form": "half", "clock": {"tick": 20}}, "timeout_saves is 30; .* multiples of the clock"),
        ({"form": "half", "clock": {"half": 1000}}, "half is 1000; allowed are multiples of"),
        ({"form": "half", "clock": {"stops": 120}}, "stops is 120; allowed is a list"),
        ({"form": "half", "clock": {"stops": [120, 900]}}, "stops: .* is 900; .* from 15 to 119$"),
        ({"form": "half", "clock": {"stops": [1800]}}, "^stops: seconds left is 1800; .* 1799$"),
        ({"form": "half", "clock": {"stops": [100]}}, "stops is 100; allowed are multiples"),
        ({"form": "half", "clock": {"untimed_down": 1}}, "untimed_down is 1"),
        ({"form": "two-minutes", "clock": {"stops": []}}, "the last of stops; there are none"),
        ({"form": "half", "ruleset": {"play_seconds": 20}}, "play_seconds is 20; .* multiples"),
        (
            {"form": "half", "ruleset": {"dead_ball_seconds": 0}},
            "ball_seconds is 0; .* one tick",
        ),
        ({"form": "half", "ruleset": {"out_of_bounds_seconds": 30}}, "play_seconds - out_of_bo"),
        ({"form": "half", "chart": "none"}, "chart is 'none'; allowed are"),
        *(
            (
                {"form": "half", "clock": {name: given}},
                f"^{name} is {given}; allowed are whole numbers from {low} to {high}$",
            )
            for name, low, high in (
                ("tick", 1, 900),
                ("half", 15, 7200),
                ("timeouts", 0, 9),
                ("timeout_saves", 15, 900),
                ("largest_margin", 1, 200),
            )
            for given in (low - 1, high + 1)
        ),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, Any], message: str) -> None:
    assert_refused([(parameters, message)], lambda given: make_game("football-strategy", **given))


def test_a_game_that_is_too_large_for_a_table_says_so_at_once() -> None:
    for form, timeouts, positions in (("half", 0, "2,376,000"), ("full", 3, "9,694,080,000")):
        game = make_game("football-strategy", form=form, timeouts=timeouts)
        rows = [(game, f"{positions} positions.*--form {form}")]
        assert_refused(rows, compile_game, TooManyStatesError)


# From the opening kickoff to the whistle: a field goal, a time-out that leaves time to kick off, a
# penalty that is taken and gives an untimed down, a touchdown in it, the kickoff of the second half
# by who received the first, an onside kick that works, a time-out after a penalty, a touchdown as
# the clock stops, and no time-out when the time runs out. A lead counts up to three points.
WALK = [
    (("", "kickoff"), 0),
    (("", "no time-out"), 0),
    (("no time-out", ""), 0),
    (("1", "B"), 0),
    (("no time-out", ""), 0),
    (("", "no time-out"), 0),
    (("1", "A"), 0),
    (("time-out", ""), 0),
    (("field goal", "A"), 0),
    (("", "time-out"), 0),
    (("kickoff", ""), 0),
    (("B", "2"), 0),
    (("", "take the penalty"), 0),
    (("B", "3"), 0),
    (("onside", ""), 0),
    (("no time-out", ""), 0),
    (("", "no time-out"), 0),
    (("1", "C"), 0),
    (("", "take the penalty"), 0),
    (("time-out", ""), 0),
    (("4", "A"), 0),
    (("kickoff", ""), 0),
    (("", "no time-out"), 0),
    (("A", "1"), 0),
    (("", "no time-out"), 0),
]


def test_a_game_goes_as_written_down() -> None:
    game = tiny("full", half=60, stops=[30], timeouts=1, largest_margin=3)
    assert transcript(game, WALK) == GOLDEN.read_text(encoding="utf-8")
