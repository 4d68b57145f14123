"""Football with a clock: each rule of time, score and time-outs, worked by hand on a short field.

Of the tiny chart, against A, B and C: play 1 is ``1``, ``3o`` and ``off2/2``, play 2 ``fum``,
``def2/4o`` and dice, play 3 ``2o``, ``long`` and ``def1f``, play 4 ``6``, ``-4`` and ``fum-4``.
Gains take 30 seconds, over 3 yards 45, and 15 less out of bounds; the rest takes 15.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from timed_football import RULES, SMALL, TINY_FORMS, tiny
from timed_walk import transcript

from solvent import make_game
from solvent.exact import solve
from solvent.games.football.chart import Chart
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TIMED_FORMS, TimedFootball
from solvent.model import (
    Outcome,
    TooManyStatesError,
    compile_game,
    parametrize_with_game_checks,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "football_with_a_clock.txt"

A, B, C = range(3)
ONE, TWO, THREE, FOUR, QUICK_KICK, FIELD_GOAL, PUNT = range(7)

GAMES = [
    tiny("two-minutes", timeouts=1),
    tiny("half", half=30, timeouts=1),
    tiny("half", untimed_down=False),
    tiny("second-half", SMALL, margin=3),
    tiny("second-half", SMALL, half=30, timeouts=1, stops=[], margin=-7),
    tiny("full", SMALL, half=30),
]


@parametrize_with_game_checks(GAMES)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


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


# Time.


def test_every_play_takes_its_time() -> None:
    game = tiny(half=120, stops=[])
    assert after(game, call(8), ONE, A) == call(6, 2, 2, 5)  # 30 seconds
    assert after(game, call(8), ONE, B) == call(7, 1, 3, 3)  # 30, and 15 less out of bounds
    assert after(game, call(8, to_go=7, to_goal=7), FOUR, A) == call(5, 2, 1, 1)  # 45
    assert after(game, call(8), THREE, C) == call(7, 1, 3, 5)  # a penalty: 15
    fumbled = call(7, 1, 2, 2, offence=1)
    assert after(game, call(8), TWO, A) == fumbled  # 15


def test_the_clock_stops_at_the_end_of_a_quarter_and_at_the_warning() -> None:
    game = tiny(half=120, stops=[60, 30])
    assert after(game, call(5), ONE, A).ticks == 4  # 75 seconds less 30 pass 60
    assert after(game, call(4), ONE, A).ticks == 2  # from the stop itself the clock runs
    assert after(game, call(3), ONE, A).ticks == 2
    assert after(game, call(5, to_go=7, to_goal=7), FOUR, A).ticks == 4  # the first stop, not both
    assert after(game, call(6), ONE, A).ticks == 4  # it would stand there anyway


def test_declaring_punt_formation_takes_no_time() -> None:
    game = tiny()
    declared = call(1, 2, 3, 6, punting=True)
    assert after(game, call(1, 2), PUNT, A) == declared
    assert game.legal_actions(declared)[0] == (ONE, TWO, THREE, FOUR, PUNT)


def test_a_kickoff_takes_a_tick_and_the_free_kick_too() -> None:
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


# Points.


def test_points_are_added_and_the_scorer_kicks_off() -> None:
    game = tiny(half=60, stops=[])
    extra = Fraction(34, 36)
    for offence, sign in ((0, 1), (1, -1)):
        near = call(4, 1, 1, 1, margin=1, offence=offence)
        joint = (ONE, A) if offence == 0 else (A, ONE)
        assert then(game, near, *joint) == [
            (extra, TimedPosition("kickoff", 2, 2, 1 + 7 * sign, offence=offence), 0),
            (1 - extra, TimedPosition("kickoff", 2, 2, 1 + 6 * sign, offence=offence), 0),
        ]


def test_a_safety_is_two_points_and_a_free_kick() -> None:
    game = tiny(half=60, stops=[])
    own_goal = call(4, 1, 3, 7)
    assert after(game, own_goal, FOUR, B) == TimedPosition("free kick", 2, 2, -2)


def test_a_lead_counts_up_to_the_largest_margin() -> None:
    game = tiny(half=60, stops=[])
    assert game.loaded_clock.largest_margin == 8
    for margin, ends in ((5, {8}), (8, {8}), (-8, {-1, -2})):
        branches = then(game, call(4, 1, 1, 1, margin=margin), ONE, A)
        assert {state.margin for _, state, _ in branches} == ends
    lost_again = call(4, 1, 1, 1, margin=-7, offence=1)
    assert {state.margin for _, state, _ in then(game, lost_again, A, ONE)} == {-8}


def test_a_half_pays_points_as_they_come_and_keeps_no_score() -> None:
    game = tiny("half", half=60, stops=[])
    touchdown = then(game, call(4, 1, 1, 1, offence=1), A, ONE)
    kickoff = TimedPosition("kickoff", 2, 2, offence=1)
    assert touchdown == [(Fraction(34, 36), kickoff, -7), (Fraction(2, 36), kickoff, -6)]


# The end of a half.


@pytest.mark.parametrize(("margin", "won"), [(-1, 0), (0, Fraction(1, 2)), (1, 1)])
def test_the_game_is_over_when_no_time_is_left(margin: int, won: Fraction) -> None:
    for ticks in (1, 2):
        ended = then(tiny(stops=[]), call(ticks, margin=margin), ONE, A)
        assert ended == [(1, TimedPosition("over", margin=margin), won)]


def test_points_of_the_last_play_count_and_no_kickoff_follows() -> None:
    assert then(tiny(), call(1, 2, 2, 2, margin=-2), FIELD_GOAL, C) == [
        (Fraction(3, 4), TimedPosition("over", margin=1), 1),
        (Fraction(1, 4), TimedPosition("over", margin=-2), 0),
    ]
    half = then(tiny("half"), call(1, 2, 2, 2), FIELD_GOAL, C)
    assert half == [(Fraction(3, 4), TimedPosition("over"), 3), (Fraction(1, 4), *half[1][1:])]


def test_a_half_does_not_end_on_a_penalty_of_the_defence() -> None:
    game = tiny()
    untimed = call(0, 1, 3, 5)
    assert after(game, call(1), THREE, C) == untimed
    without = tiny(untimed_down=False)
    assert without.is_terminal(then(without, call(1), THREE, C)[0][1])


def test_a_penalty_of_the_defence_that_is_taken_gives_an_untimed_down_too() -> None:
    game = tiny()
    waiting = after(game, call(1), TWO, B)
    assert waiting == call(1)._replace(phase="choice", choice="def2/4o")
    assert game.legal_actions(waiting) == ((game.actions.choice, game.actions.choice + 1), (0,))
    assert after(game, waiting, game.actions.choice, 0) == call(0, 1, 1, 4)
    [(_, played, _)] = then(game, waiting, game.actions.choice + 1, 0)
    assert game.is_terminal(played)


def test_a_penalty_of_the_offence_does_not_prolong_a_half() -> None:
    game = tiny()
    waiting = after(game, call(1), ONE, C)
    assert waiting.choice == "off2/2"
    assert game.legal_actions(waiting)[0] == (0,)
    for taken in (game.actions.choice, game.actions.choice + 1):
        [(_, ended, _)] = then(game, waiting, 0, taken)
        assert game.is_terminal(ended)


def test_the_untimed_down_is_one_play_whatever_comes_of_it() -> None:
    game = tiny()
    untimed = call(0, 2, 3, 6, margin=1)
    for play in (ONE, THREE, FOUR, QUICK_KICK):
        for defence in (A, B, C):
            for _, state, _ in then(game, untimed, play, defence):
                assert game.is_terminal(state) or state.phase == "choice"
    # Punt formation is declared within it.
    declared = after(game, untimed, PUNT, A)
    assert declared == untimed._replace(punting=True)
    assert all(game.is_terminal(state) for _, state, _ in then(game, declared, PUNT, A))


def test_the_second_half_is_kicked_off_by_who_received_the_first() -> None:
    game = tiny("full", half=45, timeouts=2)
    last = call(1, margin=-4, timeouts=(0, 0), receiver=1, offence=1)._replace(half=1)
    second = TimedPosition("kickoff", 2, 3, -4, (2, 2), offence=0)
    assert after(game, last, A, ONE) == second
    [first] = game.initial()
    assert first.state == TimedPosition("kickoff", 1, 3, 0, (2, 2), receiver=1, offence=1)


# Time-outs.


def test_the_offence_is_asked_first_then_the_defence() -> None:
    game = tiny(half=120, stops=[], timeouts=2)
    began = call(8, to_go=7, to_goal=7, timeouts=(2, 1))
    first = after(game, began, FOUR, A)
    follows = call(5, 2, 1, 1, timeouts=(2, 1))
    assert first == follows._replace(
        phase="time-out", follows="call", asked=0, other_too=True, saved=7
    )
    calls = game.actions.timeout
    assert game.legal_actions(first) == ((calls, calls + 1), (0,))
    # A play of 45 seconds takes 15 with a time-out.
    assert asked(game, first, calls=True) == follows._replace(ticks=7, timeouts=(1, 1))
    second = asked(game, first, calls=False)
    assert second == first._replace(asked=1, other_too=False)
    assert game.legal_actions(second) == ((0,), (calls, calls + 1))
    assert asked(game, second, calls=True) == follows._replace(ticks=7, timeouts=(2, 0))
    assert asked(game, second, calls=False) == follows


def test_only_who_has_a_time_out_left_is_asked() -> None:
    game = tiny(half=120, stops=[], timeouts=1)
    for left, player in (((1, 0), 0), ((0, 1), 1)):
        question = after(game, call(8, timeouts=left), ONE, A)
        assert (question.asked, question.other_too) == (player, False)
    assert after(game, call(8), ONE, A).phase == "call"


def test_nobody_is_asked_where_a_time_out_would_change_nothing() -> None:
    game = tiny(half=120, stops=[60], timeouts=1)
    # 45 seconds from 1:15 stop at 1:00, and so do 15.
    long = call(5, to_go=7, to_goal=7, timeouts=(1, 1))
    assert after(game, long, FOUR, A).phase == "call"
    assert after(game, long._replace(ticks=6), FOUR, A).phase == "time-out"


def test_after_the_ball_is_lost_the_side_that_lost_it_is_asked_first() -> None:
    game = tiny(half=120, stops=[], timeouts=1)
    question = after(game, call(8, timeouts=(1, 1)), TWO, A)
    assert (question.offence, question.asked) == (1, 0)


def test_after_a_kick_the_kicker_is_asked_first_its_dice_seen() -> None:
    game = tiny(half=120, stops=[], timeouts=1)
    kickoff = TimedPosition("kickoff", ticks=8, timeouts=(1, 1), offence=1)
    branches = then(game, kickoff, 0, game.actions.kick + 1)
    assert {(s.phase, s.asked, s.offence) for _, s, _ in branches} == {
        ("time-out", 1, 0),
        ("time-out", 1, 1),
    }


def test_a_time_out_saves_the_half_from_ending() -> None:
    game = tiny(timeouts=1)
    question = after(game, call(1, timeouts=(0, 1)), ONE, A)
    assert (question.asked, question.ticks, question.saved) == (1, 0, 1)
    assert asked(game, question, calls=True) == call(1, 2, 2, 5)
    [(_, ended, won)] = then(game, question, 0, game.actions.timeout + 1)
    assert (game.is_terminal(ended), won) == (True, Fraction(1, 2))


def test_a_score_on_the_last_play_and_a_time_out_lead_to_a_kickoff() -> None:
    game = tiny(timeouts=1)
    branches = then(game, call(1, 2, 2, 2, timeouts=(1, 0)), FIELD_GOAL, A)
    question = branches[0][1]
    assert (question.margin, question.follows) == (3, "kickoff")
    assert asked(game, question, calls=True) == TimedPosition("kickoff", 2, 1, 3)


def test_a_time_out_may_be_called_instead_of_an_untimed_down() -> None:
    game = tiny(timeouts=1)
    question = after(game, call(1, timeouts=(1, 0)), THREE, C)
    assert (question.untimed, question.ticks, question.saved) == (True, 0, 1)
    assert asked(game, question, calls=True) == call(1, 1, 3, 5)
    # On the untimed down time-outs do not matter, nor in what follows it.
    assert asked(game, question, calls=False) == call(0, 1, 3, 5)


def test_a_penalty_or_the_play_is_taken_before_any_time_out() -> None:
    game = tiny(half=120, stops=[], timeouts=1)
    waiting = after(game, call(8, timeouts=(1, 1)), TWO, B)
    assert waiting.phase == "choice"
    question = after(game, waiting, game.actions.choice + 1, 0)
    # Four yards out of bounds: 45 seconds less 15.
    assert (question.phase, question.ticks, question.saved) == ("time-out", 6, 8)


# Values that can be worked out by hand.

ONE_YARD = Chart.from_codes("one yard", [["1"]], ["punt4"], ["punt6"])


@pytest.mark.parametrize(
    ("timeouts", "chance"),
    [
        # A field goal from three yards: 1/4 of a win, 3/4 of a tie.
        (0, Fraction(5, 8)),
        # A yard and a time-out, then a field goal from two: 3/4. The other side's time-out then
        # saves it a kickoff to its own line, or a ball too far away.
        (1, Fraction(7, 8)),
    ],
)
def test_the_last_play_of_a_tied_game(timeouts: int, chance: Fraction) -> None:
    game = TimedFootball(
        ONE_YARD,
        "two-minutes",
        {**RULES, "kickoff": {"1": 1}},
        {"half": 45, "stops": [15], "timeouts": timeouts, "largest_margin": 8},
        to_goal=3,
    )
    assert float(solve(compile_game(game)).values[0]) == pytest.approx(float(chance), abs=1e-12)


def mirrored(state: TimedPosition) -> TimedPosition:
    """The same with the players' names exchanged."""
    asked_player = 1 - state.asked if state.asked >= 0 else -1
    return state._replace(
        margin=-state.margin,
        timeouts=state.timeouts[::-1],
        receiver=1 - state.receiver if state.receiver >= 0 else -1,
        offence=0 if state.phase == "over" else 1 - state.offence,
        asked=asked_player,
    )


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS[:-1])
def test_exchanging_the_players_exchanges_what_happens_to_them(
    form: str, parameters: dict[str, Any]
) -> None:
    game = tiny(form, **parameters)
    rng = random.Random(8)
    table = compile_game(game)
    for state in rng.sample(table.states, min(300, table.n_states)):
        other = mirrored(state)
        assert (game.observe(state, 0) == game.observe(other, 1)).all()
        if game.is_terminal(state):
            continue
        legal = game.legal_actions(state)
        assert game.legal_actions(other) == legal[::-1]
        joint = tuple(rng.choice(actions) for actions in legal)
        expected = [
            (o.probability, mirrored(o.state), _mirrored_reward(game, o))
            for o in game.transition(state, joint)
        ]
        assert [
            (o.probability, o.state, o.reward) for o in game.transition(other, joint[::-1])
        ] == expected


def _mirrored_reward(game: TimedFootball, outcome: Outcome) -> Fraction | int:
    if game.for_points:
        return -outcome.reward
    return 1 - outcome.reward if game.is_terminal(outcome.state) else 0


# Forms and parameters.


@pytest.mark.parametrize("form", TIMED_FORMS)
def test_where_a_form_begins(form: str) -> None:
    game = make_game("football-strategy", form=form)
    [(first, state)] = [(o.probability, o.state) for o in game.initial()]
    three = {"timeouts": (3, 3)}
    expected = {
        "two-minutes": TimedPosition("call", 2, 8, down=1, to_go=10, to_goal=80, **three),
        "half": TimedPosition("kickoff", 2, 120, offence=1, **three),
        "second-half": TimedPosition("kickoff", 2, 120, offence=1, **three),
        "full": TimedPosition("kickoff", 1, 120, receiver=1, offence=1, **three),
    }
    assert (first, state) == (1, expected[form])


@pytest.mark.parametrize(
    "parameters",
    [
        {"form": "half", "timeouts": 0},
        {"form": "full", "timeouts": True, "chart": "aerial"},
        {"form": "second-half", "margin": -7, "clock": {"half": 600, "stops": [120]}},
        {"form": "two-minutes", "to_goal": 30, "ruleset": {"touchback": 25}, "timeouts": False},
    ],
)
def test_the_parameters_make_the_game_again(parameters: dict[str, Any]) -> None:
    game = make_game("football-strategy", **parameters)
    written = json.loads(json.dumps(dict(game.info.parameters)))
    assert make_game("football-strategy", **written).info == game.info


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"form": "halves"}, "form is 'halves'; allowed are .*two-minutes"),
        ({"form": "half", "punting": True}, "punting is True, but form is 'half'"),
        ({"form": "half", "kickoff_value": 0.0}, "kickoff_value is 0.0, .* without a clock: drive"),
        ({"form": "full", "expected_points": "x.json"}, "expected_points is 'x.json'"),
        ({"form": "drive", "timeouts": 0}, "timeouts is 0, .* with a clock: two-minutes"),
        ({"form": "points", "clock": {}}, "clock is {}"),
        ({"form": "half", "margin": 3}, "margin is 3; form 'half' begins at 0"),
        ({"form": "full", "to_goal": 20}, "form 'full' begins with a kickoff"),
        ({"form": "two-minutes", "margin": 29}, "margin is 29; .* from -28 to 28"),
        ({"form": "second-half", "margin": 43}, "margin is 43; .* from -42 to 42"),
        ({"form": "two-minutes", "down": 5}, "down is 5; allowed .* 1 to 4"),
        ({"form": "two-minutes", "to_goal": [1, 99]}, r"to_goal is \[1, 99\]"),
        ({"form": "half", "timeouts": 2, "clock": {"timeouts": 1}}, "timeouts is 2, but clock has"),
        ({"form": "half", "timeouts": 10}, "timeouts is 10; allowed .* 0 to 9"),
        ({"form": "half", "timeouts": "two"}, "timeouts is 'two'"),
        ({"form": "half", "clock": 15}, "clock is 15; allowed is a mapping"),
        ({"form": "half", "clock": {"ticks": 15}}, "parameter of the clock is 'ticks'.*'tick'"),
        ({"form": "half", "clock": {"tick": 20}}, "timeout_saves is 30; .* multiples of the tick"),
        ({"form": "half", "clock": {"stops": 120}}, "stops is 120; allowed is a list"),
        ({"form": "half", "clock": {"stops": [120, 900]}}, "stops: seconds left is 900"),
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


@pytest.mark.parametrize(
    ("form", "timeouts", "positions"),
    [("half", 0, "2,376,000"), ("full", 3, "9,694,080,000"), ("two-minutes", 3, "144,460,800")],
)
def test_a_game_that_is_too_large_for_a_table_says_so_at_once(
    form: str, timeouts: int, positions: str
) -> None:
    game = make_game("football-strategy", form=form, timeouts=timeouts)
    with pytest.raises(TooManyStatesError, match=f"{positions} positions.*--form {form}"):
        compile_game(game)


def test_a_game_goes_as_written_down() -> None:
    assert transcript() == GOLDEN.read_text(encoding="utf-8")
