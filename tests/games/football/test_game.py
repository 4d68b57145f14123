"""Football Strategy as a game: its forms, their tables, wrong parameters, and one game."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium as gym
import pettingzoo
import pytest
from reduced_football import CHART, CHARTS, NO_CHOICE, RULES, reduced, reduced_points

from solvent import make_game
from solvent.games.football.chart import Chart
from solvent.games.football.chart_files import SHIPPED, csv_text, load_chart
from solvent.games.football.expected_points import (
    ExpectedPoints,
    ExpectedPointsError,
    read_expected_points,
    shipped_expected_points,
)
from solvent.games.football.position import OVER, Position
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.model import (
    compile_game,
    parametrize_with_game_checks,
)
from solvent.registration import register_envs

GOLDEN = Path(__file__).parents[2] / "golden" / "football_strategy.txt"

GAMES = [
    *(reduced(form, chart) for chart in CHARTS for form in ("drive", "points", "play")),
    reduced("drive", down=[1, 2], to_go=[1, 4], to_goal={"3": 1, "7": 2}),
    reduced("play", down=2, punting=True),
]

OTHER = Chart.from_codes(
    "other",
    [["3", "1"], ["inc", "4 * 1 | int2 * 1"], ["off1/4", "2"], ["1", "fum"]],
    ["punt4", "punt3"],
    ["punt6", "punt5"],
)
"""Another number of plays and of defences than those of the reduced chart, and another choice."""


def two_charts(form: str, **parameters: Any) -> FootballStrategy:
    """Reduced football in which player 1 plays from a chart of its own, to it more is worth."""
    ruleset = Ruleset.read(RULES)
    ours, theirs = (
        reduced_points(chart, ruleset, situations=form == "play") for chart in (CHART, OTHER)
    )
    more = tuple(value + 0.25 for value in theirs.first_down)
    theirs = replace(theirs, first_down=more, free_kick=theirs.free_kick + 0.25)
    if form != "points":
        parameters = {"to_goal": 4, **parameters}
    points = replace(ours, other=theirs)
    return FootballStrategy(CHART, form, ruleset, points, other_chart=OTHER, **parameters)


GAMES += [two_charts(form) for form in ("drive", "points", "play")]


@parametrize_with_game_checks(GAMES)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


def outcomes(game: FootballStrategy, state: Position, *joint: int) -> list[tuple[Any, ...]]:
    return [(o.probability, o.state, o.reward) for o in game.transition(state, joint)]


def call(down: int, to_go: int, to_goal: int, punting: bool = False, offence: int = 0) -> Position:
    return Position("call", offence, down, to_go, to_goal, punting)


# What a drive pays. The reduced chart's first play is 1, 3 and "off2/2" against A, B and C.


def test_a_drive_goes_on_while_the_offence_has_the_ball() -> None:
    assert outcomes(reduced(), call(1, 3, 6), 0, 0) == [(1, call(2, 2, 5), 0)]
    assert outcomes(reduced(), call(1, 3, 6), 0, 1) == [(1, call(1, 3, 3), 0)]


def test_a_drive_pays_points_and_the_negative_of_the_others_ball() -> None:
    game = reduced()
    points = game.loaded_points
    # Play 1 against A on the last down: lost on downs five yards from the goal, four for them.
    lost = -Fraction(points.first_down[4 - 1])
    assert outcomes(game, call(2, 2, 6), 0, 0) == [(1, OVER, lost)]
    touchdown = [
        (Fraction(34, 36), OVER, 7 - Fraction(points.kickoff)),
        (Fraction(2, 36), OVER, 6 - Fraction(points.kickoff)),
    ]
    assert outcomes(game, call(1, 1, 1), 0, 0) == touchdown
    backwards = reduced(chart=CHARTS[1])
    safety = -2 - Fraction(backwards.loaded_points.free_kick)
    assert outcomes(backwards, call(1, 3, 6), 0, 0) == [(1, OVER, safety)]
    # A fumble seven yards behind the line is the defence's touchdown, an interception run back
    # nine yards too; both are the same branch.
    scored = outcomes(backwards, call(1, 2, 2), 1, 1)
    assert (Fraction(34, 108), OVER, Fraction(points.kickoff) - 7) in scored


def test_a_field_goal_does_not_depend_on_the_defence() -> None:
    game = reduced()
    kickoff = Fraction(game.loaded_points.kickoff)
    missed = -Fraction(game.loaded_points.first_down[6 - 1])
    for defence in range(3):
        assert outcomes(game, call(1, 2, 2), 4, defence) == [
            (Fraction(3, 4), OVER, 3 - kickoff),
            (Fraction(1, 4), OVER, missed),
        ]


def test_declaring_punt_formation_leads_to_it_and_the_next_call_punts() -> None:
    game = reduced()
    for defence in range(3):
        declared = outcomes(game, call(2, 2, 8), 5, defence)
        assert declared == [(1, call(2, 2, 8, punting=True), 0)]
    # "punt6" from eight yards; theirs is seven yards from the other goal.
    theirs = -Fraction(game.loaded_points.first_down[7 - 1])
    assert outcomes(game, call(2, 2, 8, punting=True), 5, 0) == [(1, OVER, theirs)]
    # In punt formation neither the quick kick (3) nor the field goal (4) is on offer.
    assert game.legal_actions(call(2, 2, 2, punting=True))[0] == (0, 1, 5)


def test_a_choice_is_a_state_in_which_the_offended_team_alone_has_a_choice() -> None:
    game = reduced()
    waiting = Position("choice", 0, 1, 3, 6, choice="off2/2")
    assert outcomes(game, call(1, 3, 6), 0, 2) == [(1, waiting, 0)]
    # The defence takes the penalty (half the three yards to the goal line, so one) or the play.
    assert game.legal_actions(waiting) == ((0,), (3, 4))
    assert outcomes(game, waiting, 0, 3) == [(1, call(1, 4, 7), 0)]
    assert outcomes(game, waiting, 0, 4) == [(1, call(2, 1, 4), 0)]
    other = Position("choice", 0, 1, 3, 6, choice="def2/4o")
    assert game.legal_actions(other) == ((6, 7), (0,))


def test_the_points_form_begins_with_a_kickoff_that_the_kicker_chooses() -> None:
    game = reduced("points")
    [start] = game.initial()
    assert start.state == Position("kickoff", 1)
    assert game.legal_actions(start.state) == ((0,), (11, 12))
    onside = outcomes(game, start.state, 0, 12)
    assert onside == [
        (Fraction(1, 3), call(1, 3, 5, offence=1), 0),
        (Fraction(2, 3), call(1, 3, 3, offence=0), 0),
    ]


def test_in_the_points_form_a_safety_is_paid_and_a_free_kick_follows() -> None:
    game = reduced("points", chart=CHARTS[1])
    first_letter = game.actions[0].defence
    for offence in (0, 1):
        joint = (0, first_letter) if offence == 0 else (first_letter, 0)
        free_kick = Position("free kick", offence)
        paid = -2 if offence == 0 else 2
        assert outcomes(game, call(1, 3, 6, offence=offence), *joint) == [(1, free_kick, paid)]
        assert game.legal_actions(free_kick) == ((0,), (0,))
        received = outcomes(game, free_kick, 0, 0)
        assert {s.offence for _, s, _ in received if s != OVER} == {1 - offence}


def test_a_play_pays_what_the_situation_is_worth() -> None:
    game = reduced("play")
    worth = game.loaded_points.situations
    assert worth is not None
    # Situations are numbered by down, yards to the goal and yards to go; 36 for each down.
    assert outcomes(game, call(1, 3, 4), 0, 0) == [(1, OVER, Fraction(worth[36 + 3 + 1]))]
    assert outcomes(game, call(2, 3, 4), 0, 0) == [(1, OVER, -Fraction(worth[15 + 2]))]
    assert outcomes(game, call(2, 3, 4), 5, 0) == [(1, OVER, Fraction(worth[72 + 6 + 2]))]


# A chart for each side.


def test_a_call_is_looked_up_in_the_chart_of_the_side_that_has_the_ball() -> None:
    game = two_charts("points")
    first, second = game.actions
    kicks = ("quick kick", "field goal", "punt")
    assert first.names[:9] == ("1", "2", "3", *kicks, "A", "B", "take the penalty")
    assert second.names[:11] == ("1", "2", "3", "4", *kicks, "A", "B", "C", "take the penalty")
    # Player 0's first play is "off2/2" against C; player 1's is "1" against B.
    waiting = Position("choice", 0, 1, 3, 6, choice="off2/2")
    assert outcomes(game, call(1, 3, 6), 0, second.defence + 2) == [(1, waiting, 0)]
    theirs = call(1, 3, 6, offence=1)
    assert outcomes(game, theirs, first.defence + 1, 0) == [(1, call(2, 2, 5, offence=1), 0)]
    assert game.legal_actions(theirs) == ((6, 7), (0, 1, 2, 3, 4))
    assert game.draw(theirs).splitlines()[-2:] == [
        "player 1 calls 1-4, quick kick",
        "player 0 calls A-B",
    ]
    assert "choice off1/4" in game.info.observation_labels
    assert "choice off1/4" not in two_charts("drive").info.observation_labels


def test_a_drive_ends_with_what_the_other_side_has_from_its_own_chart() -> None:
    game = two_charts("drive")
    ours, theirs = game.loaded_points, game.loaded_points.other_side
    assert outcomes(game, call(2, 2, 6), 0, 0) == [(1, OVER, -Fraction(theirs.first_down[4 - 1]))]
    assert theirs.first_down != ours.first_down
    # "punt6" blocked behind the goal line cannot be here; a loss of nine yards is a safety.
    backwards = FootballStrategy(
        CHARTS[1],
        ruleset=Ruleset.read(RULES),
        expected_points=replace(reduced_points(CHARTS[1], Ruleset.read(RULES)), other=theirs),
        to_goal=4,
        other_chart=OTHER,
    )
    safety = -2 - Fraction(theirs.free_kick)
    assert outcomes(backwards, call(1, 3, 6), 0, 0) == [(1, OVER, safety)]
    assert theirs.free_kick != ours.free_kick


def test_expected_points_are_of_both_charts(tmp_path: Path) -> None:
    points = two_charts("play").loaded_points
    file = tmp_path / "points.json"
    file.write_text(points.json_text(), encoding="utf-8")
    assert read_expected_points(file) == points
    make = r"`solvent chart points CHART --other-chart OTHER --ruleset '\{.*--out FILE`"
    for other, message in (
        (NO_CHOICE, rf"'reduced against other' are not for the other side's .*'single': .*{make}"),
        (None, "'reduced against other' are not for the other side's chart 'reduced'"),
    ):
        with pytest.raises(ExpectedPointsError, match=message):
            FootballStrategy(CHART, "play", RULES, points, to_goal=4, other_chart=other)
    own = replace(points, other=None)
    with pytest.raises(ExpectedPointsError, match="points of 'reduced' are not for the other side"):
        FootballStrategy(CHART, "play", RULES, own, to_goal=4, other_chart=OTHER)
    with pytest.raises(
        ExpectedPointsError, match=rf"chart 'reduced' against chart 'other' .*{make}"
    ):
        FootballStrategy(CHART, "drive", RULES, to_goal=4, other_chart=OTHER)
    with pytest.raises(ValueError, match="other_chart is 5; allowed are names of shipped charts"):
        FootballStrategy(CHART, "drive", RULES, to_goal=4, other_chart=5)  # type: ignore[arg-type]


def test_the_forms_with_a_clock_are_for_one_chart() -> None:
    with pytest.raises(ValueError, match="other_chart is for the forms without a clock: drive, po"):
        make_game("football-strategy", form="half", other_chart="dice")


# Values, by the general solver.


# Tables.


def test_the_table_of_the_full_field_says_what_the_rules_say() -> None:
    game = FootballStrategy("standard")
    table = game.tabulate()
    assert len(table.states) > 19_000
    letters = range(game.loaded_chart.defences)
    for state in (call(1, 10, 80), call(3, 2, 9), call(4, 14, 38), call(4, 3, 60, punting=True)):
        for action in game.legal_actions(state)[0]:
            for letter in letters:
                row = table.row(table.index[state], (action, letter))
                branch = slice(table.outcome_start[row], table.outcome_start[row + 1])
                found = zip(
                    table.probability[branch].tolist(),
                    [table.states[i] for i in table.next_state[branch].tolist()],
                    table.outcome_reward[branch].tolist(),
                    strict=True,
                )
                assert list(found) == [
                    (float(p), following, float(reward))
                    for p, following, reward in outcomes(game, state, action, letter)
                ]


def test_probabilities_too_fine_for_a_table_are_refused() -> None:
    fine = Fraction(1, 2**48)
    cell = ((1 - fine, CHART.cells[0][0][0][1]), (fine, CHART.cells[0][1][0][1]))
    chart = Chart("fine", ((cell,),), NO_CHOICE.quick_kick, NO_CHOICE.punt)
    with pytest.raises(ValueError, match="chart 'fine' has the common denominator 281474976710656"):
        compile_game(reduced(chart=chart))


# Expected points.


def test_expected_points_go_through_their_file(tmp_path: Path) -> None:
    for situations in (False, True):
        points = reduced_points(CHART, Ruleset.read(RULES), situations=situations)
        file = tmp_path / "points.json"
        file.write_text(points.json_text(), encoding="utf-8")
        assert read_expected_points(file) == points


def test_every_shipped_chart_has_expected_points() -> None:
    for name in SHIPPED:
        points = shipped_expected_points(load_chart(name), Ruleset())
        points.check_is_for(load_chart(name), Ruleset())
        assert FootballStrategy(name).loaded_points == points


def test_expected_points_belong_to_a_chart_and_a_ruleset() -> None:
    ruleset = Ruleset.read(RULES)
    points = reduced_points(CHART, ruleset)
    with pytest.raises(ExpectedPointsError, match="not for the chart 'single'"):
        FootballStrategy(NO_CHOICE, ruleset=ruleset, expected_points=points, to_goal=4)
    with pytest.raises(ExpectedPointsError, match="'reduced' are not for the ruleset"):
        FootballStrategy(CHART, ruleset={**RULES, "downs": 3}, expected_points=points, to_goal=4)
    with pytest.raises(ExpectedPointsError, match="no expected points are shipped for chart"):
        FootballStrategy(CHART, ruleset=ruleset, to_goal=4)
    short = ExpectedPoints(CHART.name, CHART.hash, ruleset.hash, (1.0,), 0.0, 0.0)
    with pytest.raises(ExpectedPointsError, match="first_down has 1 values; expected 8"):
        FootballStrategy(CHART, ruleset=ruleset, expected_points=short, to_goal=4)


# Parameters.


WRONG_PARAMETERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"form": "game"}, "form is 'game'; allowed are drive, full, half, play, points"),
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
    ({"punting": 1, "down": 4}, "punting is 1; allowed are true and false"),
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
    points = reduced_points(CHART, Ruleset.read(RULES))
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


# Environments.


def test_the_environments_have_their_names(tmp_path: Path) -> None:
    register_envs()
    chart_file, points_file = tmp_path / "chart.csv", tmp_path / "points.json"
    chart_file.write_text(csv_text(CHART), encoding="utf-8")
    points = reduced_points(CHART, Ruleset.read(RULES))
    points_file.write_text(points.json_text(), encoding="utf-8")
    parameters: dict[str, Any] = {
        "chart": str(chart_file),
        "ruleset": RULES,
        "expected_points": str(points_file),
        "to_goal": 4,
    }
    env = gym.make("solvent/FootballStrategy-v0", opponent="uniform", **parameters)
    assert env.spec is not None
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert (again.reset(seed=3)[0] == env.reset(seed=3)[0]).all()
    vector = gym.make_vec(
        "solvent/FootballStrategy-v0", num_envs=3, opponent="uniform", seat=1, **parameters
    )
    assert vector.reset(seed=1)[0].shape == (3, len(reduced().info.observation_labels))
    both = pettingzoo.make("parallel", "solvent/football-strategy", **parameters)
    assert set(both.reset(seed=1)[0]) == {"player_0", "player_1"}

    from solvent.envs.pettingzoo_games import football_strategy

    turns = football_strategy.env(**parameters)
    turns.reset(seed=1)
    assert turns.agent_selection == "player_0"
    alike = football_strategy.parallel_env(**parameters)
    assert alike.game is both.game


# Drawings and one game.


@pytest.mark.parametrize(
    ("state", "drawing"),
    [
        (OVER, "play is over"),
        (Position("kickoff", 1), "player 1 is to kick: kickoff"),
        (
            call(3, 7, 34),
            "player 0 has the ball: 3rd and 7 at the other's 34\n"
            "▒▒▒·····|····|····|····|····|····|····|¦···|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|··●·|¦···|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|¦···|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player 0 calls 1-3, quick kick, field goal\n"
            "player 1 calls A-C",
        ),
        (
            call(4, 2, 2, punting=True, offence=1),
            "player 1 has the ball: 4th and goal at the other's 2, punt formation\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|···●▒▒▒\n"
            "▒▒▒·····|····|····|····|····|····|····|····|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player 1 calls 1-3, punt\n"
            "player 0 calls A-C",
        ),
        (
            Position("choice", 0, 1, 10, 99, choice="off10/7"),
            "player 0 has the ball: 1st and 10 at its own 1\n"
            "▒▒▒·····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒●····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "▒▒▒·····¦····|····|····|····|····|····|····|····|····▒▒▒\n"
            "       10   20   30   40   50   40   30   20   10\n"
            "player 1 takes off10 or 7",
        ),
    ],
)
def test_the_drawing_says_where_the_ball_is(state: Position, drawing: str) -> None:
    game = FootballStrategy(CHART, form="points", kickoff_value=0.9)
    assert game.draw(state) == drawing


# The kickoff; a run into a penalty; the play is taken; punt formation; a fake; a pass on which the
# defence is offside; the touchdown is taken, and the extra point is good.
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


# The page.

PAGE = Path(__file__).parents[3] / "docs" / "games" / "football-strategy.md"


def test_the_page_lists_every_parameter_and_its_default() -> None:
    _, arguments, *_ = re.split(r"^## Arguments$|^## Rules", PAGE.read_text("utf-8"), flags=re.M)
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", arguments, re.MULTILINE))
    expected = {field.name for cls in (FootballStrategy, Ruleset) for field in fields(cls)}
    assert rows.keys() == expected
    for field in fields(Ruleset):
        if isinstance(field.default, (bool, int)):
            assert rows[field.name] == str(field.default).lower()
    assert Fraction(rows["extra_point"]) == Ruleset().extra_point
    chances = re.findall(r"(\d+): (\d+/\d+)", rows["field_goals"])
    assert tuple((int(line), Fraction(p)) for line, p in chances) == Ruleset().field_goals
