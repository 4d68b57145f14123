"""Football Strategy as a game: its forms, their tables, wrong parameters, and one game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from reduced_football import CHART, CHARTS, NO_CHOICE, RULES, chart_of, reduced, reduced_points

from solvent import make_game
from solvent.games.football.chart import SHIPPED, Chart, csv_text, load_chart
from solvent.games.football.expected_points import (
    ExpectedPoints,
    ExpectedPointsError,
    read_expected_points,
    shipped_expected_points,
)
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import OVER, Position
from solvent.model import (
    compile_game,
    parametrize_with_game_checks,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "football_strategy.txt"

GAMES = [
    *(reduced(form, chart) for chart in CHARTS for form in ("drive", "points")),
    reduced("drive", down=[1, 2], to_go=[1, 4], to_goal={"3": 1, "7": 2}),
    reduced("drive", down=2, punting=True),
]

OTHER = chart_of(
    "other",
    [["3", "1"], ["inc", "4 * 1 | int2 * 1"], ["off1/4", "2"], ["1", "fum"]],
    ["punt4", "punt3"],
    ["punt6", "punt5"],
)
"""Another number of plays and of defences than those of the reduced chart, and another choice."""


def two_charts(form: str, **parameters: Any) -> FootballStrategy:
    """Reduced football in which player 1 plays from a chart of its own, to it more is worth."""
    ruleset = Ruleset.of(RULES)
    ours, theirs = (reduced_points(chart, ruleset) for chart in (CHART, OTHER))
    more = tuple(value + 0.25 for value in theirs.first_down)
    theirs = replace(theirs, first_down=more, free_kick=theirs.free_kick + 0.25)
    if form != "points":
        parameters = {"to_goal": 4, **parameters}
    points = replace(ours, other=theirs)
    return FootballStrategy(CHART, form, ruleset, points, other_chart=OTHER, **parameters)


GAMES += [two_charts(form) for form in ("drive", "points")]


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
    first, second = own.actions
    kicks = ("quick kick", "field goal", "punt")
    assert first.names[:9] == ("1", "2", "3", *kicks, "A", "B", "take the penalty")
    assert second.names[:11] == ("1", "2", "3", "4", *kicks, "A", "B", "C", "take the penalty")
    assert "choice off1/4" in own.info.observation_labels
    assert "choice off1/4" not in two_charts("drive").info.observation_labels


def test_expected_points_are_of_both_charts(tmp_path: Path) -> None:
    points = two_charts("drive").loaded_points
    file = tmp_path / "points.json"
    file.write_text(points.json_text(), encoding="utf-8")
    assert read_expected_points(file) == points
    make = (
        "`solvent chart points CHART --out FILE`, with the game's own --ruleset and --other-chart"
    )
    for other, message in (
        (NO_CHOICE, rf"'reduced against other' are not for the other side's .*'single': .*{make}"),
        (None, "'reduced against other' are not for the other side's chart 'reduced'"),
    ):
        with pytest.raises(ExpectedPointsError, match=message):
            FootballStrategy(CHART, "drive", RULES, points, to_goal=4, other_chart=other)
    own = replace(points, other=None)
    with pytest.raises(ExpectedPointsError, match="points of 'reduced' are not for the other side"):
        FootballStrategy(CHART, "drive", RULES, own, to_goal=4, other_chart=OTHER)
    with pytest.raises(
        ExpectedPointsError, match=rf"chart 'reduced' against chart 'other' .*{make}"
    ):
        FootballStrategy(CHART, "drive", RULES, to_goal=4, other_chart=OTHER)
    with pytest.raises(ValueError, match="other_chart is 5; allowed are names of shipped charts"):
        FootballStrategy(CHART, "drive", RULES, to_goal=4, other_chart=5)  # type: ignore[arg-type]


# Tables.


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


def test_every_shipped_chart_has_expected_points() -> None:
    for name in SHIPPED:
        points = shipped_expected_points(load_chart(name), Ruleset())
        points.check_is_for(load_chart(name), Ruleset())
        assert FootballStrategy(name).loaded_points == points


def test_expected_points_belong_to_a_chart_and_a_ruleset() -> None:
    ruleset = Ruleset.of(RULES)
    points = reduced_points(CHART, ruleset)
    short = ExpectedPoints(CHART.name, CHART.hash, ruleset.hash, (1.0,), 0.0, 0.0)
    for chart, rules, given, message in (
        (NO_CHOICE, RULES, points, "not for the chart 'single'"),
        (CHART, {**RULES, "downs": 3}, points, "'reduced' are not for the ruleset"),
        (CHART, RULES, None, "no expected points are shipped for chart"),
        (CHART, RULES, short, "first_down has 1 values; expected 8"),
    ):
        with pytest.raises(ExpectedPointsError, match=message):
            FootballStrategy(chart, ruleset=rules, expected_points=given, to_goal=4)


# Parameters.


WRONG_PARAMETERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"form": "game"}, "form is 'game'; allowed are drive, full, half, points"),
    ({"chart": "standrad"}, "no chart 'standrad'"),
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


def test_a_wrong_parameter_is_named() -> None:
    for parameters, message in WRONG_PARAMETERS:
        with pytest.raises(ValueError, match=message):
            make_game("football-strategy", **parameters)


def test_the_parameters_of_a_game_make_it_again(tmp_path: Path) -> None:
    chart_file, points_file = tmp_path / "chart.csv", tmp_path / "points.json"
    chart_file.write_text(csv_text(CHART), encoding="utf-8")
    points = reduced_points(CHART, Ruleset.of(RULES))
    points_file.write_text(points.json_text(), encoding="utf-8")
    for parameters in (
        {"to_goal": [3, 5]},
        {"form": "points"},
        {"form": "points", "kickoff_value": 0.25},
    ):
        game = make_game(
            "football-strategy",
            chart=str(chart_file),
            ruleset=RULES,
            expected_points=str(points_file),
            **parameters,
        )
        again = make_game(game.info.name, **dict(game.info.parameters))
        assert again.info == game.info
        assert compile_game(again).model_hash == compile_game(game).model_hash


# Drawings and one game.


@pytest.mark.parametrize(
    ("state", "drawing"),
    [
        (OVER, "play is over"),
        (Position("kickoff", 1), "player B is to kick: kickoff"),
        (
            call(3, 7, 34),
            "player A has the ball: 3rd and 7 at the other's 34\n"
            "▒▒▒·····|····|····|····|····|····|····|¦···|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|··●·|¦···|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|¦···|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player A calls 1-3, quick kick, field goal\n"
            "player B calls A-C",
        ),
        (
            call(4, 2, 2, punting=True, offence=1),
            "player B has the ball: 4th and goal at the other's 2, punt formation\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|···●▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player B calls 1-3, punt\n"
            "player A calls A-C",
        ),
        (
            Position("choice", 0, 1, 10, 99, choice="off10/7"),
            "player A has the ball: 1st and 10 at its own 1\n"
            "▒▒▒·····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒●····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒·····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player B takes off10 or 7",
        ),
    ],
)
def test_the_drawing_says_where_the_ball_is(state: Position, drawing: str) -> None:
    game = FootballStrategy(CHART, form="points", kickoff_value=0.9)
    assert game.draw(state) == drawing


# The kickoff; a run into a penalty; the play is taken; punt formation; a fake; a pass on which the
# defence is offside; the touchdown is taken, and the extra point is good.


# One game, written down.

WALK = [
    ((0, 11), 0),
    ((0, 8), 0),
    ((0, 10), 0),
    ((5, 6), 0),
    ((0, 7), 0),
    ((1, 7), 0),
    ((10, 0), 0),
]


def transcript() -> str:
    """A game from the kickoff to the score, with every branch that could have been."""
    game = reduced("points")
    state = game.initial()[0].state
    lines: list[str] = []
    for joint, branch in WALK:
        lines += [repr(state), *(f"    | {line}" for line in game.draw(state).splitlines())]
        for player, action in enumerate(joint):
            if len(game.legal_actions(state)[player]) > 1:
                assert action in game.legal_actions(state)[player]
                lines.append(f"player {player}: {game.info.actions[player][action]}")
        branches = game.transition(state, joint)
        for i, o in enumerate(branches):
            mark = ">" if i == branch else " "
            lines.append(f"  {mark} {o.probability!s:>8}  {o.state}  reward {float(o.reward):g}")
        lines.append("")
        state = branches[branch].state
    lines += [repr(state), *(f"    | {line}" for line in game.draw(state).splitlines())]
    return "\n".join(lines) + "\n"


def test_a_game_goes_as_written_down() -> None:
    assert transcript() == GOLDEN.read_text(encoding="utf-8")
