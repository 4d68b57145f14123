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
    """A play of 45 seconds takes 15 with a time-out, any other none (Football Strategy)."""
    saved = [CLOCK.left(100, seconds, penalty=False).saved for seconds in (45, 30, 15)]
    assert saved == [99, 100, 100]
    for ticks, seconds, penalty, left in (
        (4, 45, False, (1, 3, False)),
        (1, 15, False, (0, 1, False)),
        (1, 15, True, (0, 1, True)),
        (0, 15, True, (0, 0, False)),  # the untimed down is the last
    ):
        assert CLOCK.left(ticks, seconds, penalty=penalty) == left
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


def after(game: TimedFootball, state: TimedPosition, *joint: int) -> TimedPosition:
    """The only position that can follow, nothing paid."""
    [(probability, following, reward)] = then(game, state, *joint)
    assert (probability, reward) == (1, 0)
    return following


def asked(game: TimedFootball, state: TimedPosition, *, calls: bool) -> TimedPosition:
    """What follows the answer of the player who is asked for a time-out."""
    answer = game.actions.timeout + (not calls)
    return after(game, state, *((answer, 0) if state.asked == 0 else (0, answer)))


LONG = tiny(half=120, stops=[])
STOPS = tiny(half=120, stops=[60, 30])
TIMEOUTS = tiny(half=120, stops=[], timeouts=2)


@pytest.mark.parametrize(
    ("game", "rows"),
    [
        pytest.param(
            LONG,
            [
                (call(8), ONE, A, call(6, 2, 2, 5)),  # 30 seconds
                (call(8), ONE, B, call(7, 1, 3, 3)),  # 30, and 15 less out of bounds
                (call(8, to_go=7, to_goal=7), FOUR, A, call(5, 2, 1, 1)),  # 45
                (call(8), THREE, C, call(7, 1, 3, 5)),  # a penalty: 15
                (call(8), TWO, A, call(7, 1, 2, 2, offence=1)),  # a fumble: 15
                (call(1, 2), PUNT, A, call(1, 2, 3, 6, punting=True)),  # declared: none
            ],
            id="every play takes its time",
        ),
        pytest.param(
            STOPS,
            [
                (call(5), ONE, A, call(4, 2, 2, 5)),  # 75 seconds less 30 pass 60
                (call(4), ONE, A, call(2, 2, 2, 5)),  # from the stop itself the clock runs
                (call(3), ONE, A, call(2, 2, 2, 5)),
                (call(5, to_go=7, to_goal=7), FOUR, A, call(4, 2, 1, 1)),  # not both stops
                (call(6), ONE, A, call(4, 2, 2, 5)),  # it would stand there anyway
            ],
            id="the clock stops at the end of a quarter and at the warning",
        ),
        pytest.param(
            tiny(half=60, stops=[]),
            [(call(4, 1, 3, 7), FOUR, B, TimedPosition("free kick", 2, 2, -2))],
            id="a safety is two points and a free kick",
        ),
        pytest.param(
            tiny(),
            [
                (call(1), THREE, C, call(0, 1, 3, 5)),
                (call(1), TWO, B, call(1)._replace(phase="choice", choice="def2/4o")),
                (call(1), ONE, C, call(1)._replace(phase="choice", choice="off2/2")),
            ],
            id="a half does not end on a penalty of the defence",
        ),
        pytest.param(
            tiny("full", half=45, timeouts=2),
            [
                (
                    call(1, margin=-4, receiver=1, offence=1)._replace(half=1),
                    *(A, ONE, TimedPosition("kickoff", 2, 3, -4, (2, 2), offence=0)),
                )
            ],
            id="the second half is kicked off by who received the first",
        ),
    ],
)
def test_what_follows_a_play(game: TimedFootball, rows: list[tuple[Any, ...]]) -> None:
    for state, first, second, following in rows:
        assert after(game, state, first, second) == following, state


def test_a_long_gain_takes_45_seconds() -> None:
    assert (Fraction(2, 3), call(5, 1, 2, 2), 0) in then(LONG, call(8), THREE, B)


def test_kicks_take_a_tick() -> None:
    game = tiny(half=60, stops=[])
    kickoff = TimedPosition("kickoff", ticks=4, offence=1)
    normal, onside = game.actions.kick, game.actions.kick + 1
    assert game.legal_actions(kickoff) == ((0,), (normal, onside))
    assert then(game, kickoff, 0, onside) == [
        (Fraction(1, 3), call(3, 1, 3, 5, offence=1), 0),
        (Fraction(2, 3), call(3, 1, 2, 2), 0),
    ]
    free = TimedPosition("free kick", ticks=4, offence=1)
    assert (Fraction(3, 4), call(3, 1, 3, 4), 0) in then(game, free, 0, 0)


def test_points_are_added_and_the_scorer_kicks_off() -> None:
    game = tiny(half=60, stops=[])
    for offence, sign in ((0, 1), (1, -1)):
        near = call(4, 1, 1, 1, margin=1, offence=offence)
        assert then(game, near, *((ONE, A) if offence == 0 else (A, ONE))) == [
            (EXTRA, TimedPosition("kickoff", 2, 2, 1 + 7 * sign, offence=offence), 0),
            (1 - EXTRA, TimedPosition("kickoff", 2, 2, 1 + 6 * sign, offence=offence), 0),
        ]
    for margin, ends in ((5, {8}), (8, {8}), (-8, {-1, -2})):  # a lead counts up to 8
        branches = then(game, call(4, 1, 1, 1, margin=margin), ONE, A)
        assert {state.margin for _, state, _ in branches} == ends
    kickoff = TimedPosition("kickoff", 2, 2, offence=1)  # a half pays points, keeps no score
    paid = then(tiny("half", half=60, stops=[]), call(4, 1, 1, 1, offence=1), A, ONE)
    assert paid == [(EXTRA, kickoff, -7), (1 - EXTRA, kickoff, -6)]


def test_the_game_is_over_when_no_time_is_left() -> None:
    for margin, won in ((-1, 0), (0, Fraction(1, 2)), (1, 1)):
        for ticks in (1, 2):
            ended = then(tiny(stops=[]), call(ticks, margin=margin), ONE, A)
            assert ended == [(1, TimedPosition("over", margin=margin), won)]
    assert then(tiny(), call(1, 2, 2, 2, margin=-2), FIELD_GOAL, C) == [
        (Fraction(3, 4), TimedPosition("over", margin=1), 1),
        (Fraction(1, 4), TimedPosition("over", margin=-2), 0),
    ], "points of the last play count and no kickoff follows"
    without = tiny(untimed_down=False)
    assert without.is_terminal(then(without, call(1), THREE, C)[0][1])


def test_a_choice_and_the_end_of_a_half() -> None:
    """A penalty of the defence that is taken gives an untimed down, one of the offence does not."""
    game = tiny()
    penalty = game.actions.choice
    waiting = after(game, call(1), TWO, B)
    assert game.legal_actions(waiting) == ((penalty, penalty + 1), (0,))
    assert after(game, waiting, penalty, 0) == call(0, 1, 1, 4)
    assert game.is_terminal(then(game, waiting, penalty + 1, 0)[0][1])
    waiting = after(game, call(1), ONE, C)
    assert game.legal_actions(waiting)[0] == (0,)
    for taken in (penalty, penalty + 1):
        assert game.is_terminal(then(game, waiting, 0, taken)[0][1])


def test_the_untimed_down_is_one_play_whatever_comes_of_it() -> None:
    game = tiny()
    untimed = call(0, 2, 3, 6, margin=1)
    declared = after(game, untimed, PUNT, A)  # within it
    assert declared == untimed._replace(punting=True)
    assert game.legal_actions(declared)[0] == (ONE, TWO, THREE, FOUR, PUNT)
    played = [(declared, PUNT, A)]
    played += [(untimed, play, letter) for play in (ONE, THREE, FOUR) for letter in (A, B, C)]
    for state, play, defence in played:
        for _, following, _ in then(game, state, play, defence):
            assert game.is_terminal(following) or following.phase == "choice"


# Time-outs.


def test_the_offence_is_asked_first_then_the_defence() -> None:
    first = after(TIMEOUTS, call(8, to_go=7, to_goal=7, timeouts=(2, 1)), FOUR, A)
    follows = call(5, 2, 1, 1, timeouts=(2, 1))
    assert first == follows._replace(
        phase="time-out", follows="call", asked=0, other_too=True, saved=7
    )
    calls = TIMEOUTS.actions.timeout
    assert TIMEOUTS.legal_actions(first) == ((calls, calls + 1), (0,))
    # A play of 45 seconds takes 15 with a time-out.
    assert asked(TIMEOUTS, first, calls=True) == follows._replace(ticks=7, timeouts=(1, 1))
    second = asked(TIMEOUTS, first, calls=False)
    assert second == first._replace(asked=1, other_too=False)
    assert TIMEOUTS.legal_actions(second) == ((0,), (calls, calls + 1))
    assert asked(TIMEOUTS, second, calls=True) == follows._replace(ticks=7, timeouts=(2, 0))
    assert asked(TIMEOUTS, second, calls=False) == follows


def test_who_is_asked_and_when() -> None:
    for left, player in (((1, 0), 0), ((0, 1), 1), ((0, 0), -1)):
        question = after(TIMEOUTS, call(8, timeouts=left), ONE, A)
        assert (question.asked, question.other_too) == (player, False)
    both = (1, 1)
    lost = after(TIMEOUTS, call(8, timeouts=both), TWO, A)
    assert (lost.offence, lost.asked) == (1, 0), "the side that lost the ball"
    kickoff = TimedPosition("kickoff", ticks=8, timeouts=both, offence=1)
    kicked = then(TIMEOUTS, kickoff, 0, TIMEOUTS.actions.kick + 1)
    assert {(s.asked, s.offence) for _, s, _ in kicked} == {(1, 0), (1, 1)}, "the kicker"
    waiting = after(TIMEOUTS, call(8, timeouts=both), TWO, B)
    question = after(TIMEOUTS, waiting, TIMEOUTS.actions.choice + 1, 0)
    assert waiting.phase == "choice"
    # Four yards out of bounds: 45 seconds less 15.
    assert (question.phase, question.ticks, question.saved) == ("time-out", 6, 8)
    game = tiny(half=120, stops=[60], timeouts=1)
    # 45 seconds from 1:15 stop at 1:00, and so do 15.
    long = call(5, to_go=7, to_goal=7, timeouts=both)
    assert after(game, long, FOUR, A).phase == "call"
    assert after(game, long._replace(ticks=6), FOUR, A).phase == "time-out"


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
    mirrored = {entry.label: entry.value for entry in TIMEOUTS.entries(state, 1)}
    assert mirrored["lead"] == 8
    assert mirrored["lead within a score"] == 7
    assert (mirrored["my ball"], mirrored["my time-outs"]) == (0, 1)
    asked = TimedPosition("time-out", ticks=3, saved=4, asked=1, other_too=True, follows="kickoff")
    told = {entry.label: entry.value for entry in TIMEOUTS.entries(asked, 0)}
    assert (told["I am asked"], told["it is asked"], told["both are asked"]) == (0, 1, 1)
    assert (told["time saved"], told["kickoff"], told["untimed down"]) == (4, 1, 0)


def test_a_time_out_that_is_called_is_told_and_one_that_is_not_is_not_worth_a_word() -> None:
    game, calls = TIMEOUTS, TIMEOUTS.actions.timeout
    state = call(8, to_go=7, to_goal=7, timeouts=(2, 1), margin=2)
    first = after(game, state, FOUR, A)
    second = asked(game, first, calls=False)
    for before, joint, told in (
        (state, (FOUR, A + game.actions.defence), "gain of 6"),
        (first, (calls, 0), "player A calls a time-out"),
        (first, (calls + 1, 0), ""),
        (second, (0, calls), "player B calls a time-out"),
        (second, (0, calls + 1), ""),
    ):
        [outcome] = game.transition(before, joint)
        assert game.told(before, joint, outcome, random.Random(0)) == (told, 0), joint
    score = "player A leads by 2, time-outs 2 and 1"
    assert game.place(first) == f"{score}, a time-out or not"
    assert game.place(state) == f"2:00 left, {score}, player A has 1st and goal at its own 1"
    assert game.scene(first)[0] == Prose("", (score,))
    assert game.scene(state) == (
        Prose("", (f"2:00 left, {score}",)),
        Gridiron(1, 8, 8, "player A", "player B", "player A has 1st and goal at its own 1"),
    )


def test_a_time_out_saves_the_half_from_ending() -> None:
    game = tiny(timeouts=1)
    question = after(game, call(1, timeouts=(0, 1)), ONE, A)
    assert (question.asked, question.ticks, question.saved) == (1, 0, 1)
    assert asked(game, question, calls=True) == call(1, 2, 2, 5)
    [(_, ended, won)] = then(game, question, 0, game.actions.timeout + 1)
    assert (game.is_terminal(ended), won) == (True, Fraction(1, 2))
    scored = then(game, call(1, 2, 2, 2, timeouts=(1, 0)), FIELD_GOAL, A)[0][1]
    assert (scored.margin, scored.follows) == (3, "kickoff")
    assert asked(game, scored, calls=True) == TimedPosition("kickoff", 2, 1, 3)
    question = after(game, call(1, timeouts=(1, 0)), THREE, C)
    assert (question.untimed, question.ticks, question.saved) == (True, 0, 1)
    assert asked(game, question, calls=True) == call(1, 1, 3, 5)
    # On the untimed down time-outs do not matter, nor in what follows it.
    assert asked(game, question, calls=False) == call(0, 1, 3, 5)


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
    """The same with the players' names exchanged."""
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
    expected = {
        "two-minutes": TimedPosition("call", 2, 8, down=1, to_go=10, to_goal=80, **three),
        "half": TimedPosition("kickoff", 2, 120, offence=1, **three),
        "second-half": TimedPosition("kickoff", 2, 120, offence=1, **three),
        "full": TimedPosition("kickoff", 1, 120, receiver=1, offence=1, **three),
    }
    assert [*expected] == [*TIMED_FORMS]
    for form, state in expected.items():
        assert make_game("football-strategy", form=form).initial() == (Outcome(1, state),), form
    [start] = make_game("football-strategy", form="two-minutes", to_go=1).initial()
    assert start.state == TimedPosition("call", 2, 8, down=1, to_go=1, to_goal=80, **three)
    own = {"margin": -5, "down": 3, "to_go": 12, "to_goal": 7, "timeouts": 1}
    [start] = make_game("football-strategy", form="two-minutes", **own).initial()
    assert start.state == TimedPosition("call", 2, 8, -5, (1, 1), down=3, to_go=7, to_goal=7)


def test_a_half_is_for_points_and_the_other_forms_for_the_game() -> None:
    over = TimedPosition("over", margin=3)
    # Two ticks, a time-out of each side, an untimed down: five plays of 7 points at most.
    half, won = tiny("half", half=30, stops=[], timeouts=1), tiny("second-half")
    assert (half.info.reward_range, half.draw(over)) == ((-35, 35), "play is over")
    assert won.info.reward_range == (0, 1)
    assert won.draw(over) == "play is over; player A has won by 3"


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
    ):
        game = make_game("football-strategy", **parameters)
        written = json.loads(json.dumps(dict(game.info.parameters)))
        assert make_game("football-strategy", **written).info == game.info, parameters
        assert written.get("margin", 0) == parameters.get("margin", 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"form": "halves"}, "form is 'halves'; allowed are .*two-minutes"),
        ({"form": "half", "punting": True}, "punting is True, but form is 'half'"),
        ({"form": "half", "kickoff_value": 0.0}, "kickoff_value is 0.0, .* without a clock: drive"),
        ({"form": "drive", "timeouts": 0}, "timeouts is 0, .* with a clock: two-minutes"),
        ({"form": "half", "margin": 3}, "margin is 3; form 'half' begins at 0"),
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
        ({"form": "half", "clock": {"tick": 20}}, "timeout_saves is 30; .* multiples of the tick"),
        ({"form": "half", "clock": {"half": 1000}}, "half is 1000; allowed are multiples of"),
        ({"form": "half", "clock": {"stops": 120}}, "stops is 120; allowed is a list"),
        ({"form": "half", "clock": {"stops": [120, 900]}}, "stops: .* is 900; .* from 15 to 119$"),
        ({"form": "half", "clock": {"stops": [1800]}}, "^stops: seconds left is 1800; .* 1799$"),
        ({"form": "half", "clock": {"stops": [100]}}, "stops is 100; allowed are multiples"),
        ({"form": "half", "clock": {"untimed_down": 1}}, "untimed_down is 1"),
        ({"form": "two-minutes", "clock": {"stops": []}}, "the last of stops; there are none"),
        ({"form": "half", "ruleset": {"play_seconds": 20}}, "play_seconds is 20; .* multiples"),
        ({"form": "half", "ruleset": {"dead_ball_seconds": 0}}, "dead_ball_seconds is 0; with a"),
        ({"form": "half", "ruleset": {"out_of_bounds_seconds": 30}}, "play_seconds - out_of_bo"),
        ({"form": "half", "chart": "none"}, "no chart 'none'"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_game("football-strategy", **parameters)


def test_whole_numbers_of_the_clock_beyond_their_ends_are_refused() -> None:
    for name, low, high in (
        ("tick", 1, 900),
        ("half", 15, 7200),
        ("timeouts", 0, 9),
        ("timeout_saves", 15, 900),
        ("largest_margin", 1, 200),
    ):
        for refused in (low - 1, high + 1):
            message = f"^{name} is {refused}; allowed are whole numbers from {low} to {high}$"
            with pytest.raises(ValueError, match=message):
                ClockRules.of({name: refused})


def test_a_game_that_is_too_large_for_a_table_says_so_at_once() -> None:
    for form, timeouts, positions in (("half", 0, "2,376,000"), ("full", 3, "9,694,080,000")):
        game = make_game("football-strategy", form=form, timeouts=timeouts)
        with pytest.raises(TooManyStatesError, match=f"{positions} positions.*--form {form}"):
            compile_game(game)


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
