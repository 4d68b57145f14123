"""Football Strategy as a game: its forms, their tables, wrong parameters, and one game."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reduced_football import (
    CHART,
    CHARTS,
    MIXED,
    NO_CHOICE,
    RULES,
    chart_of,
    reduced,
    reduced_points,
)
from refusals import assert_refused
from written_games import transcript

from solvent.exact import ImproperGameError
from solvent.games import FootballStrategy
from solvent.games.football.chart import SHIPPED, Chart, csv_text, parse_result
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    DEFENCE,
    OFFENCE,
    OVER,
    Position,
    Restart,
    Situation,
    chooser,
    consequences,
    first_down_at,
    kick,
    legal_actions,
    situation_at,
)
from solvent.model import compile_game, make_game, parametrize_with_game_checks

GOLDEN = Path(__file__).parents[2] / "golden" / "football_strategy.txt"

# Another number of plays and of defences than those of the reduced chart, and another choice.
OTHER = chart_of(
    "other",
    [["3", "1"], ["inc", "4 * 1 | int2 * 1"], ["off1/4", "2"], ["1", "fum"]],
    ["punt4", "punt3"],
    ["punt6", "punt5"],
)


def two_charts(form: str) -> FootballStrategy:
    """Reduced football in which player 1 plays from a chart of its own, to it more is worth."""
    ruleset = Ruleset.of(RULES)
    ours, theirs = (reduced_points(chart, ruleset) for chart in (CHART, OTHER))
    more = tuple(value + 0.25 for value in theirs.first_down)
    theirs = replace(theirs, first_down=more, free_kick=theirs.free_kick + 0.25)
    points, start = replace(ours, other=theirs), {} if form == "points" else {"to_goal": 4}
    return FootballStrategy(CHART, form, ruleset, points, other_chart=OTHER, **start)


GAMES = [
    *(reduced(form, chart) for chart in CHARTS for form in ("drive", "points")),
    reduced("drive", down=[1, 2], to_go=[1, 4], to_goal={"3": 1, "7": 2}),
    reduced("drive", down=2, punting=True),
    *(two_charts(form) for form in ("drive", "points")),
]


@parametrize_with_game_checks(GAMES)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


def outcomes(game: FootballStrategy, state: Position, *joint: int) -> list[tuple[Any, ...]]:
    return [(o.probability, o.state, o.reward) for o in game.transition(state, joint)]


def call(down: int, to_go: int, to_goal: int, punting: bool = False, offence: int = 0) -> Position:
    return Position("call", offence, down, to_go, to_goal, punting)


def test_the_forms_go_as_their_rules_say() -> None:
    """The reduced chart's first play is 1, 3 and "off2/2" against A, B and C."""
    drive, points = reduced(), reduced("points")
    backwards, scored = reduced(chart=CHARTS[1]), reduced("points", CHARTS[1])
    both, own = two_charts("drive"), two_charts("points")
    ours, theirs = drive.loaded_points, both.loaded_points.other_side
    kickoff, letter = Fraction(ours.kickoff), scored.actions[0].defence
    waiting = Position("choice", 0, 1, 3, 6, choice="off2/2")
    goal = [
        (Fraction(3, 4), OVER, 3 - kickoff),
        (Fraction(1, 4), OVER, -Fraction(ours.first_down[6 - 1])),
    ]
    for rule, game, state, joint, expected in (
        ("the next down", drive, call(1, 3, 6), (0, 0), [(1, call(2, 2, 5), 0)]),
        ("a first down", drive, call(1, 3, 6), (0, 1), [(1, call(1, 3, 3), 0)]),
        ("lost on downs, five yards away", drive, call(2, 2, 6), (0, 0),
         [(1, OVER, -Fraction(ours.first_down[4 - 1]))]),
        ("a touchdown", drive, call(1, 1, 1), (0, 0),
         [(Fraction(34, 36), OVER, 7 - kickoff), (Fraction(2, 36), OVER, 6 - kickoff)]),
        ("a safety", backwards, call(1, 3, 6), (0, 0), [(1, OVER, -2 - Fraction(ours.free_kick))]),
        *(("a field goal", drive, call(1, 2, 2), (4, d), goal) for d in range(3)),
        *(("declaring a punt", drive, call(2, 2, 8), (5, d), [(1, call(2, 2, 8, True), 0)])
          for d in range(3)),
        ("a punt of six", drive, call(2, 2, 8, True), (5, 0),
         [(1, OVER, -Fraction(ours.first_down[7 - 1]))]),
        ("a choice waits", drive, call(1, 3, 6), (0, 2), [(1, waiting, 0)]),
        ("half the distance to the goal line", drive, waiting, (0, 3), [(1, call(1, 4, 7), 0)]),
        ("the play is taken", drive, waiting, (0, 4), [(1, call(2, 1, 4), 0)]),
        ("an onside kick", points, Position("kickoff", 1), (0, 12),
         [(Fraction(1, 3), call(1, 3, 5, offence=1), 0), (Fraction(2, 3), call(1, 3, 3), 0)]),
        ("a safety of player 0", scored, call(1, 3, 6), (0, letter),
         [(1, Position("free kick", 0), -2)]),
        ("a safety of player 1", scored, call(1, 3, 6, offence=1), (letter, 0),
         [(1, Position("free kick", 1), 2)]),
        ("the other side's values", both, call(2, 2, 6), (0, 0),
         [(1, OVER, -Fraction(theirs.first_down[4 - 1]))]),
        ("the offence's chart", own, call(1, 3, 6), (0, own.actions[1].defence + 2),
         [(1, waiting, 0)]),
        ("player 1's chart", own, call(1, 3, 6, offence=1), (own.actions[0].defence + 1, 0),
         [(1, call(2, 2, 5, offence=1), 0)]),
    ):  # fmt: skip
        assert outcomes(game, state, *joint) == expected, rule


def test_who_may_do_what() -> None:
    drive, points, own = reduced(), reduced("points"), two_charts("points")
    for game, state, legal in (
        # In punt formation neither the quick kick (3) nor the field goal (4) is on offer.
        (drive, call(2, 2, 2, punting=True), ((0, 1, 5), (0, 1, 2))),
        # The offended team alone takes the penalty or the play.
        (drive, Position("choice", 0, 1, 3, 6, choice="off2/2"), ((0,), (3, 4))),
        (drive, Position("choice", 0, 1, 3, 6, choice="def2/4o"), ((6, 7), (0,))),
        (points, Position("kickoff", 1), ((0,), (11, 12))),
        (points, Position("free kick", 1), ((0,), (0,))),
        (own, call(1, 3, 6, offence=1), ((6, 7), (0, 1, 2, 3, 4))),
    ):
        assert game.legal_actions(state) == legal, state
    kicks = ("quick kick", "field goal", "punt")
    assert [actions.names[:11] for actions in own.actions] == [
        ("1", "2", "3", *kicks, "A", "B", "take the penalty", "take the play", "kickoff"),
        ("1", "2", "3", "4", *kicks, "A", "B", "C", "take the penalty"),
    ]


# Tables.


@pytest.mark.slow
def test_the_table_of_the_full_field_says_what_the_rules_say() -> None:
    game = FootballStrategy("standard")
    table = game.tabulate()
    assert len(table.states) > 19_000
    for state in (call(1, 10, 80), call(3, 2, 9), call(4, 14, 38), call(4, 3, 60, punting=True)):
        for joint in product(*game.legal_actions(state)):
            row = table.row(table.index[state], joint)
            branch = slice(table.outcome_start[row], table.outcome_start[row + 1])
            following = [table.states[i] for i in table.next_state[branch].tolist()]
            columns = table.probability[branch].tolist(), table.outcome_reward[branch].tolist()
            assert list(zip(following, *columns, strict=True)) == [
                (after, float(p), float(reward))
                for p, after, reward in outcomes(game, state, *joint)
            ]


# Expected points.


def test_probabilities_too_fine_for_a_table_are_refused() -> None:
    fine = Fraction(1, 2**48)
    cell = ((1 - fine, CHART.cells[0][0][0][1]), (fine, CHART.cells[0][1][0][1]))
    chart = Chart("fine", ((cell,),), NO_CHOICE.quick_kick, NO_CHOICE.punt)
    with pytest.raises(
        ValueError, match="a cell of chart 'fine' has the common denominator 281474976710656"
    ):
        compile_game(reduced(chart=chart))


def test_expected_points_belong_to_a_ruleset_and_to_the_charts_of_both_sides() -> None:
    assert [FootballStrategy(name).loaded_points.chart for name in SHIPPED] == [*SHIPPED]
    both = two_charts("drive").loaded_points
    own, reduced = replace(both, other=None), "expected points of chart 'reduced' are not for chart"
    rows: tuple[tuple[Chart, dict[str, Any], Any, Any, str], ...] = (
        (NO_CHOICE, RULES, own, None, f"{reduced} 'single'"),
        (CHART, {**RULES, "downs": 3}, own, None, f"{reduced} 'reduced' with these rules"),
        (CHART, RULES, None, None, "expected_points is None; .* shipped chart"),
        (CHART, RULES, "points.json", None, "expected_points is 'points.json'; allowed"),
        (CHART, RULES, replace(own, first_down=(1.0,)), None, f"{reduced} 'reduced'"),
        (CHART, RULES, both, NO_CHOICE, "chart 'other' are not for chart 'single' .* leave them"),
        (CHART, RULES, both, None, "chart 'other' are not for chart 'reduced'"),
        (CHART, RULES, own, OTHER, f"{reduced} 'other'"),
        (CHART, RULES, None, OTHER, "expected_points is None; .* make_game solves"),
        (CHART, RULES, None, 5, "other_chart is 5; allowed are names of shipped charts"),
    )
    assert_refused(
        rows,
        lambda chart, rules, points, other: FootballStrategy(
            chart, "drive", rules, points, to_goal=4, other_chart=other
        ),
    )


def test_play_that_need_not_end_has_no_expected_points() -> None:
    with pytest.raises(
        ImproperGameError,
        match=r"chart .* has no expected points: .*play need not end.* Change the",
    ):
        make_game("football-strategy", chart=CHART, ruleset=RULES, to_goal=4)


# Parameters.


WRONG_PARAMETERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"form": "game"}, "form is 'game'; allowed are drive, full, half, points"),
    ({"chart": "standrad"}, "chart is 'standrad'; allowed are FILE.csv, aerial"),
    ({"downs": 3}, "football-strategy got an unexpected keyword argument 'downs'"),
    ({"ruleset": {"dows": 3}}, "Did you mean 'downs'"),
    ({"chart": 5}, "chart is 5; allowed are names of shipped charts"),
    ({"ruleset": 3}, "ruleset is 3; allowed is a mapping"),
    ({"to_goal": 0}, "to_goal is 0; allowed are whole numbers from 1 to 99"),
    ({"to_goal": 100}, "to_goal is 100"),
    ({"down": 5}, "down is 5; allowed are whole numbers from 1 to 4"),
    ({"to_go": [3, 2]}, "to_go is .*upside down"),
    ({"punting": True}, "punting is true on down 1"),
    ({"punting": 1, "down": 4}, "punting is 1; allowed are True and False"),
    ({"kickoff_value": 1.0}, "kickoff_value is for form 'points' only"),
    ({"form": "points", "to_goal": 3}, "form 'points' begins with a kickoff"),
    ({"form": "points", "kickoff_value": float("nan")}, "kickoff_value is nan"),
    ({"form": "points", "kickoff_value": "high"}, "kickoff_value is 'high'"),
)


def test_the_parameters_of_a_game_make_it_again(tmp_path: Path) -> None:
    chart_file = tmp_path / "chart.csv"
    chart_file.write_text(csv_text(MIXED), encoding="utf-8")
    for parameters in (
        {"to_goal": [3, 5]},
        {"form": "points"},
        {"form": "points", "kickoff_value": 0.25},
    ):
        game = make_game("football-strategy", chart=str(chart_file), ruleset=RULES, **parameters)
        again = make_game(game.info.name, **dict(game.info.parameters))
        assert again.info == game.info
        assert compile_game(again).model_hash == compile_game(game).model_hash


# Drawings and one game.


@pytest.mark.parametrize(
    ("state", "drawing"),
    [
        (OVER, "play is over"),
        (Position("kickoff", 1), "player B: kickoff"),
        (
            call(3, 7, 34),
            "player A has 3rd and 7 at the other's 34\n"
            "▒▒▒·····|····|····|····|····|····|····|¦···|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|··●·|¦···|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|¦···|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player A calls 1-3, quick kick, field goal\n"
            "player B calls A-C",
        ),
        (
            call(2, 7, 50),
            "player A has 2nd and 7 at the other's 50\n"
            "▒▒▒·····|····|····|····|····|··¦·|····|····|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····●··¦·|····|····|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|··¦·|····|····|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player A calls 1-3, quick kick\n"
            "player B calls A-C",
        ),
        (
            call(4, 2, 2, punting=True, offence=1),
            "player B has 4th and goal at the other's 2, punt formation\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|···●▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player B calls 1-3, punt\n"
            "player A calls A-C",
        ),
        (
            Position("choice", 0, 1, 10, 99, choice="off10/7"),
            "player A has 1st and 10 at its own 1\n"
            "▒▒▒·····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒●····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒·····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player B takes off10 or 7",
        ),
    ],
)
def test_the_drawing_says_where_the_ball_is(state: Position, drawing: str) -> None:
    assert FootballStrategy(CHART, form="points", kickoff_value=0.9).draw(state) == drawing


# The kickoff; a run into a penalty; the play is taken; punt formation; a fake; a pass on which the
# defence is offside; the touchdown is taken, and the extra point is good.
WALK = (
    (("", "kickoff"), 0),
    (("1", "C"), 0),
    (("", "take the play"), 0),
    (("punt", "A"), 0),
    (("1", "B"), 0),
    (("2", "B"), 0),
    (("take the play", ""), 0),
)


def test_a_game_goes_as_written_down() -> None:
    assert transcript(reduced("points"), WALK) == GOLDEN.read_text(encoding="utf-8")


# The rules, sentence by sentence, and the numbers in them


KICK, FREE = Restart.KICKOFF, Restart.FREE_KICK
OURS, THEIRS = True, False
WITH_POINT, WITHOUT_POINT = Fraction(34, 36), Fraction(2, 36)

Row: TypeAlias = tuple[Any, ...]

# A rule, the situation (down, to go, to goal, punting), the result, and what follows for certain:
# points, the situation or kick, whose it is, and the seconds.
CERTAIN: tuple[Row, ...] = (
    ("a gain moves the ball and the next down follows", (1, 10, 80), "4", 0, (2, 6, 76), OURS, 30),
    ("a loss, too", (2, 6, 76), "-3", 0, (3, 9, 79), OURS, 30),
    ("no gain", (2, 6, 76), "0", 0, (3, 6, 76), OURS, 30),
    ("a gain to the line to gain is a first down", (4, 6, 76), "6", 0, (1, 10, 70), OURS, 30),
    ("a yard short it is none", (3, 6, 76), "5", 0, (4, 1, 71), OURS, 30),
    ("inside the ten a first down is goal to go", (3, 2, 11), "3", 0, (1, 8, 8), OURS, 30),
    ("at the ten, too", (3, 2, 12), "2", 0, (1, 10, 10), OURS, 30),
    ("short on the last down it is lost", (4, 6, 76), "5", 0, (1, 10, 29), THEIRS, 30),
    ("incomplete on the last down", (4, 6, 76), "inc", 0, (1, 10, 24), THEIRS, 15),
    ("near the own goal it is goal to go", (4, 6, 96), "-1", 0, (1, 3, 3), THEIRS, 30),
    ("a yard short of the goal line", (2, 6, 8), "7", 0, (1, 1, 1), OURS, 30),
    ("down on its own goal line is a safety", (2, 6, 96), "-4", -2, FREE, OURS, 30),
    ("and behind it", (2, 6, 96), "-9", -2, FREE, OURS, 30),
    ("but not before it", (2, 6, 96), "-3", 0, (3, 9, 99), OURS, 30),
    ("an incomplete pass costs a down", (2, 6, 76), "inc", 0, (3, 6, 76), OURS, 15),
    ("twenty yards are no long play", (1, 10, 60), "20", 0, (1, 10, 40), OURS, 30),
    ("a long play takes longer", (1, 10, 60), "21", 0, (1, 10, 39), OURS, 45),
    ("out of bounds saves time", (1, 10, 60), "20o", 0, (1, 10, 40), OURS, 15),
    ("also of a long play", (1, 10, 60), "21o", 0, (1, 10, 39), OURS, 30),
    ("and of a loss", (1, 10, 60), "-7o", 0, (2, 17, 67), OURS, 15),
    ("a fumble is lost at the line", (1, 10, 80), "fum", 0, (1, 10, 20), THEIRS, 15),
    ("or where it lies", (1, 10, 80), "fum6", 0, (1, 10, 26), THEIRS, 15),
    ("behind the line", (1, 10, 95), "fum-2", 0, (1, 3, 3), THEIRS, 15),
    ("into the other end zone it is a touchback", (1, 5, 5), "fum5", 0, (1, 10, 80), THEIRS, 15),
    ("a yard before it is none", (1, 5, 5), "fum4", 0, (1, 10, 99), THEIRS, 15),
    ("an interception", (1, 10, 60), "int15", 0, (1, 10, 55), THEIRS, 30),
    ("is returned towards the offence's goal", (1, 10, 60), "int15r10", 0, (1, 10, 45), THEIRS, 30),
    ("in the end zone it is a touchback", (1, 10, 15), "int15r60", 0, (1, 10, 80), THEIRS, 30),
    ("a yard before it is returned", (1, 10, 16), "int15r60", 0, (1, 10, 39), THEIRS, 30),
    ("returned to the one", (1, 10, 90), "int5r14", 0, (1, 1, 1), THEIRS, 30),
    ("a penalty on the offence repeats the down", (3, 6, 60), "off5", 0, (3, 11, 65), OURS, 15),
    ("one on the defence, too", (3, 6, 60), "def5", 0, (3, 1, 55), OURS, 15),
    ("also the last", (4, 6, 60), "def5", 0, (4, 1, 55), OURS, 15),
    ("to the line to gain it is a first down", (3, 5, 60), "def5", 0, (1, 10, 55), OURS, 15),
    ("or by itself", (3, 9, 60), "def5f", 0, (1, 10, 55), OURS, 15),
    ("half the distance to the own goal line", (1, 10, 92), "off15", 0, (1, 14, 96), OURS, 15),
    ("and to the other", (1, 9, 9), "def15", 0, (1, 5, 5), OURS, 15),
    ("in whole yards", (1, 1, 1), "def5", 0, (1, 1, 1), OURS, 15),
    ("a punt", (4, 9, 70), "punt40", 0, (1, 10, 70), THEIRS, 15),
    ("is returned where it comes down", (4, 9, 70), "punt40r8", 0, (1, 10, 62), THEIRS, 15),
    ("up to the one", (4, 9, 70), "punt40r69", 0, (1, 1, 1), THEIRS, 15),
    ("a punt to the goal line is a touchback", (4, 9, 40), "punt40r8", 0, (1, 10, 80), THEIRS, 15),
    ("a yard before it is none", (4, 9, 41), "punt40", 0, (1, 10, 99), THEIRS, 15),
    (
        "a dropped punt is the kickers' ball",
        (4, 9, 70),
        "punt40fum",
        0,
        (1, 10, 30),
        OURS,
        15,
    ),
    ("goal to go", (4, 9, 45), "punt40fum", 0, (1, 5, 5), OURS, 15),
    ("unless it is a touchback", (4, 9, 40), "punt40fum", 0, (1, 10, 80), THEIRS, 15),
    ("a blocked punt lies behind the line", (4, 9, 70), "block", 0, (1, 10, 20), THEIRS, 15),
    ("up to the one", (4, 9, 89), "block", 0, (1, 1, 1), THEIRS, 15),
    ("or is a safety", (4, 9, 90), "block", -2, FREE, OURS, 15),
    ("a fake punt loses yards of its gain", (4, 3, 60, True), "8", 0, (1, 10, 57), OURS, 30),
    ("to the line to gain", (4, 3, 60, True), "7", 0, (1, 10, 42), THEIRS, 30),
    ("a loss grows", (4, 3, 60, True), "-2", 0, (1, 10, 33), THEIRS, 30),
    ("up to a safety", (4, 3, 96, True), "-1", -2, FREE, OURS, 30),
    ("a long fake", (4, 3, 60, True), "26", 0, (1, 10, 39), OURS, 45),
    ("what is no gain is as ever", (4, 3, 60, True), "fum2", 0, (1, 10, 42), THEIRS, 15),
    ("after a penalty a punt is declared anew", (4, 3, 60, True), "off5", 0, (4, 8, 65), OURS, 15),
)

# The same with other numbers in the rules, which stand before the situation.
OTHERWISE: tuple[Row, ...] = (
    (
        "the second of two downs",
        {"downs": 2},
        (2, 6, 76),
        "5",
        0,
        (1, 10, 29),
        THEIRS,
        30,
    ),
    ("the extra point may be sure", {"extra_point": 1}, (2, 6, 7), "7", 7, KICK, OURS, 30),
    ("or impossible", {"extra_point": 0}, (2, 6, 7), "7", 6, KICK, OURS, 30),
    (
        "a yard short of it",
        {"half_the_distance": False},
        (1, 10, 92),
        "off15",
        0,
        (1, 17, 99),
        OURS,
        15,
    ),
    ("and of the other", {"half_the_distance": False}, (1, 9, 9), "def15", 0, (1, 1, 1), OURS, 15),
    (
        "by as much",
        {"fake_punt_penalty": 3},
        (4, 3, 60, True),
        "-1",
        0,
        (1, 10, 36),
        THEIRS,
        30,
    ),
    (
        "costs nothing",
        {"fake_punt_penalty": 0},
        (4, 3, 60, True),
        "8",
        0,
        (1, 10, 52),
        OURS,
        30,
    ),
)

SCORES = (
    ("a touchdown", (2, 6, 7), "30", 1, OURS, 30),
    ("exactly to the goal line", (2, 6, 7), "7o", 1, OURS, 15),
    ("the yards that count for time end there", (1, 10, 20), "30", 1, OURS, 30),
    ("a fumble behind its own goal line", (1, 10, 97), "fum-3", -1, THEIRS, 15),
    ("an interception returned to the goal line", (1, 10, 90), "int5r15", -1, THEIRS, 30),
    ("a punt returned to the goal line", (4, 9, 70), "punt40r70", -1, THEIRS, 15),
)


def test_what_a_result_leads_to() -> None:
    usual = ((rule, {}, *row) for rule, *row in CERTAIN)
    for rule, numbers, at, code, points, following, side, seconds in (*usual, *OTHERWISE):
        after = following if isinstance(following, Restart) else Situation(*following)
        found = consequences(Ruleset(**numbers), Situation(*at), parse_result(code))
        assert found == ((1, points, after, side, seconds),), rule
    for rule, at, code, sign, side, seconds in SCORES:
        assert consequences(Ruleset(), Situation(*at), parse_result(code)) == (
            (WITH_POINT, 7 * sign, KICK, side, seconds),
            (WITHOUT_POINT, 6 * sign, KICK, side, seconds),
        ), rule


def test_a_long_gain_is_thirty_to_fifty_or_fifty_and_ten_times_a_die() -> None:
    follow = consequences(Ruleset(), Situation(1, 10, 99), parse_result("long"))
    found = {c.next.to_goal: c.probability for c in follow if isinstance(c.next, Situation)}
    assert found == {
        **{99 - yards: Fraction(1, 6) for yards in (30, 35, 40, 45, 50)},
        **{99 - yards: Fraction(1, 36) for yards in (60, 70, 80, 90)},
    }
    # 100 and 110 are touchdowns, and they are one branch with each outcome of the extra point.
    assert [c.probability for c in follow if c.points] == [WITH_POINT / 18, WITHOUT_POINT / 18]


def test_a_field_goal_is_likelier_from_nearer_and_missed_at_the_spot_or_the_twenty() -> None:
    for to_goal, ways, theirs in (
        (5, 32, 80), (12, 32, 80), (13, 28, 80), (14, 28, 79), (22, 28, 71), (23, 18, 70),
        (32, 18, 61), (33, 12, 60), (38, 12, 55), (39, 2, 54), (45, 2, 48),
    ):  # fmt: skip
        chance = Fraction(ways, 36)
        assert consequences(Ruleset(), Situation(4, 5, to_goal), "field_goal") == (
            (chance, 3, KICK, OURS, 15),
            (1 - chance, 0, Situation(1, 10, theirs), THEIRS, 15),
        ), to_goal


def test_kicks_end_where_their_dice_say() -> None:
    dice = [a + b for a in range(1, 7) for b in range(1, 7)]
    expected: dict[tuple[Any, bool], Fraction] = {
        (first_down_at(Ruleset(), 20), OURS): Fraction(1, 36)
    }
    lines = {3: [(10, Fraction(1))], 11: Ruleset().long_gain}
    lines |= {total: [(5 * total - 10, Fraction(1))] for total in range(4, 11)}
    lines[12] = tuple((yards + 5, chance) for yards, chance in Ruleset().long_gain)
    for total, ends in lines.items():
        for line, chance in ends:
            if line < 100:
                key = first_down_at(Ruleset(), 100 - line), THEIRS
                ways = Fraction(dice.count(total), 36) * chance
                expected[key] = expected.get(key, Fraction(0)) + ways
    follow = kick(Ruleset(), "kickoff")
    assert {(c.next, c.same_side): c.probability for c in follow if not c.points} == expected
    # Run back all the way it is a touchdown: 100 or 110 yards.
    run_back = Fraction(3, 36) * Fraction(2, 36)
    assert [c for c in follow if c.points] == [
        (run_back * WITH_POINT, -7, KICK, THEIRS, 15),
        (run_back * WITHOUT_POINT, -6, KICK, THEIRS, 15),
    ]
    assert kick(Ruleset(), "onside") == (
        (Fraction(2, 6), 0, Situation(1, 10, 60), OURS, 15),
        (Fraction(3, 6), 0, Situation(1, 10, 35), THEIRS, 15),
        (Fraction(1, 6), 0, Situation(1, 10, 30), THEIRS, 15),
    )


PLAYS = list(range(20))
QUICK, GOAL, PUNT = 20, 21, 22

OFFERED: tuple[tuple[str, tuple[Any, ...], dict[str, Any], list[int]], ...] = (
    ("the quick kick on any down", (1, 10, 80), {}, [*PLAYS, QUICK]),
    ("a field goal from 45 yards", (3, 10, 45), {}, [*PLAYS, QUICK, GOAL]),
    ("but not from 46", (3, 10, 46), {}, [*PLAYS, QUICK]),
    ("nor early", (3, 10, 45), {"early_field_goals": False}, [*PLAYS, QUICK]),
    ("punt formation on the last down", (4, 10, 45), {}, [*PLAYS, QUICK, GOAL, PUNT]),
    ("late field goals", (4, 10, 45), {"early_field_goals": False}, [*PLAYS, QUICK, GOAL, PUNT]),
    ("too far for a field goal", (4, 10, 80), {}, [*PLAYS, QUICK, PUNT]),
    ("fakes in punt formation", (4, 10, 45, True), {}, [*PLAYS, PUNT]),
    ("the last of two downs", (2, 10, 80), {"downs": 2}, [*PLAYS, QUICK, PUNT]),
    ("plays 17 to 20 are barred inside the twenty", (1, 1, 20), {}, [*PLAYS[:16], QUICK, GOAL]),
    ("but not at 21", (1, 1, 21), {}, [*PLAYS, QUICK, GOAL]),
    ("still allowed at 11", (1, 1, 11), {}, [*PLAYS[:16], QUICK, GOAL]),
    ("plays 13 to 20 are barred inside the ten", (1, 1, 10), {}, [*PLAYS[:12], QUICK, GOAL]),
)


def test_what_the_offence_may_call() -> None:
    for rule, at, numbers, legal in OFFERED:
        assert list(legal_actions(Ruleset(**numbers), 20, Situation(*at))) == legal, rule
    declared = (1, 0, Situation(4, 10, 80, True), OURS, 0)
    assert consequences(Ruleset(), Situation(4, 10, 80), "declaration") == (declared,)
    assert [chooser(parse_result(code)) for code in ("off10/7", "def5/12")] == [DEFENCE, OFFENCE]


CODES = st.one_of(
    st.integers(-99, 99).map(str),
    st.integers(-99, 99).map("{}o".format),
    st.integers(-99, 99).map("fum{}".format),
    st.builds("int{}r{}".format, st.integers(-99, 99), st.integers(0, 99)),
    st.integers(1, 99).map("off{}".format),
    st.builds("def{}{}".format, st.integers(1, 99), st.sampled_from(["", "f"])),
    st.builds("punt{}{}".format, st.integers(1, 99), st.sampled_from(["", "r7", "r99", "fum"])),
    st.sampled_from(["inc", "long", "block"]),
)


@settings(max_examples=examples(300))
@given(data=st.data(), code=CODES, punting=st.booleans())
def test_whatever_happens_a_situation_on_the_field_or_a_kick_follows(
    data: st.DataObject, code: str, punting: bool
) -> None:
    to_goal = data.draw(st.integers(1, 99))
    to_go = data.draw(st.integers(1, to_goal))
    down = 4 if punting else data.draw(st.integers(1, 4))
    follow = consequences(Ruleset(), Situation(down, to_go, to_goal, punting), parse_result(code))
    assert sum(c.probability for c in follow) == 1
    assert len({c[1:] for c in follow}) == len(follow)
    for consequence in follow:
        assert consequence.probability > 0
        assert consequence.seconds in (15, 30, 45)
        if isinstance(consequence.next, Situation):
            assert consequence.points == 0
            assert 1 <= consequence.next.to_go <= consequence.next.to_goal <= 99
            assert 1 <= consequence.next.down <= 4
            assert not consequence.next.punting
            if not consequence.same_side:
                assert consequence.next.down == 1
        else:
            # Who scored kicks off; who gave up the safety has the free kick.
            assert consequence.next is (
                Restart.FREE_KICK if consequence.points == -2 else Restart.KICKOFF
            )
            assert consequence.same_side == (consequence.points in (6, 7, -2))


def test_a_ruleset_goes_through_json() -> None:
    for ruleset in (Ruleset(), Ruleset.of(RULES), Ruleset(field_goals=(), barred=())):
        assert Ruleset.of(ruleset.parameters) == ruleset
        assert eval(repr(ruleset), {"Ruleset": Ruleset, "Fraction": Fraction}) == ruleset
    assert Ruleset().parameters == {}
    assert Ruleset(downs=3).hash != Ruleset().hash


NO_PARAMETERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"dows": 3}, "Did you mean 'downs'"),
    ({"extra_point": 1.5}, "extra_point is 1.5; allowed are numbers from 0 to 1$"),
    ({"early_field_goals": 1}, "^early_field_goals is 1; allowed are True and False"),
    ({"half_the_distance": 1}, "^half_the_distance is 1; allowed are True and False"),
    ({"field_goals": {"95": "1/2"}}, "^a line of field_goals is 95; .* from 1 to 92$"),
    ({"field_goals": {"12": 2}}, r"^field_goals\[12\] is 2; allowed are numbers from 0 to 1$"),
    ({"field_goals": {"near": "1/2"}}, "a line of field_goals is 'near'"),
    ({"field_goals": 3}, "field_goals is 3; allowed is a mapping"),
    ({"barred": [[201, 1, 2]]}, r"^an entry of barred\[0\] is 201; .* from 1 to 200$"),
    ({"barred": [[10, 0, 2]]}, r"^an entry of barred\[1\] is 0; .* from 1 to 200$"),
    ({"barred": [[10, 20, 13]]}, "^last play of barred is 13; .* from 20 to 99$"),
    ({"barred": [[10, 13]]}, "^the length of an entry of barred is 2; .* from 3 to 3$"),
    ({"long_gain": {}}, "long_gain is {}; it needs an entry"),
    ({"long_gain": {"0": 1}}, "long_gain is 0; allowed are whole numbers from 1 to 200"),
    ({"kickoff": {"kicker": 1}}, "kickoff has the entry 'kicker'; allowed are such as '25'"),
    ({"kickoff": {25: 1}}, "kickoff has the entry 25; allowed are such as '25'"),
    ({"kickoff": {"0": 1}}, "^yards of '0' in kickoff is 0; .* from 1 to 99$"),
    ({"onside": {"long+300": 1}}, r"^yards of 'long\+300' in onside is 300; .* from 0 to 100$"),
    ({"onside": (("20", 1), ("20", 2))}, "onside is .* none twice"),
    ({"free_kick": {"20": -1}}, r"^free_kick\['20'\] is -1; .* from 0 to 1000000$"),
    ({"free_kick": {"20": 0}}, "free_kick has weight 0"),
    ({"field": 40}, "a line of field_goals is 38; .* from 1 to 32"),
    ({"play_seconds": 40, "out_of_bounds_seconds": 41}, "out_of_bounds_seconds is 41; .* 0 to 40$"),
)


# The whole numbers that a ruleset may have.
RANGES = {
    "field": (2, 200),
    "downs": (1, 9),
    "first_down": (1, 100),
    "touchdown": (1, 100),
    "field_goal": (0, 100),
    "safety": (0, 100),
    "field_goal_spot": (0, 98),
    "touchback": (1, 99),
    "fake_punt_penalty": (0, 100),
    "blocked_punt_loss": (0, 100),
    "long_play": (0, 100),
    "play_seconds": (0, 900),
    "long_play_seconds": (0, 900),
    "out_of_bounds_seconds": (0, 30),
    "dead_ball_seconds": (0, 900),
    "interception_seconds": (0, 900),
}


def test_a_wrong_parameter_is_named() -> None:
    numbers = (
        ({name: given}, f"^{name} is {given}; allowed are whole numbers from {low} to {high}$")
        for name, (low, high) in RANGES.items()
        for given in (low - 1, high + 1)
    )
    rules = (({"ruleset": given}, message) for given, message in (*NO_PARAMETERS, *numbers))
    assert_refused(
        (*WRONG_PARAMETERS, *rules),
        lambda parameters: make_game("football-strategy", **parameters),
    )


def test_the_arrays_of_all_situations_say_what_a_single_one_says() -> None:
    ruleset = Ruleset.of(RULES)
    for chart in CHARTS:
        packed = pack_rules(chart, ruleset)
        columns = (
            packed.arrays.branch_probability,
            *(packed.branches[name] for name in ("points", "row", "same_side", "seconds")),
        )
        end = packed.n_situations
        for s in range(packed.n_situations):
            situation = situation_at(packed.ruleset, s)
            assert packed.index(situation) == s
            for r, result in enumerate(chart.results):
                k = s * packed.arrays.results + r
                branches = slice(packed.arrays.branch_start[k], packed.arrays.branch_start[k + 1])
                found = zip(*(column[branches].tolist() for column in columns), strict=True)
                follow = () if result.options else consequences(ruleset, situation, result)
                assert [*found] == [
                    (
                        float(c.probability),
                        c.points,
                        end + (c.next is Restart.FREE_KICK)
                        if isinstance(c.next, Restart)
                        else packed.index(c.next),
                        c.same_side,
                        c.seconds,
                    )
                    for c in follow
                ]
