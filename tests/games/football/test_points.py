"""Expected points: against the generic solver on reduced football, and what charts are worth."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from reduced_football import MIXED, RULES, random_chart, reduced

from solvent.exact import CertificateError, ImproperGameError, solve
from solvent.exact.matrix_game import solve_matrix_game
from solvent.games.football.chart import Chart, parse_cell
from solvent.games.football.chart_files import SHIPPED, load_chart
from solvent.games.football.chart_model import ChartParameters, make_chart
from solvent.games.football.expected_points import shipped_expected_points
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import Strategies, backup_of
from solvent.games.football.solver.points import (
    DriveSolution,
    PointsSolution,
    call_sheet,
    solve_drive,
    solve_points,
)
from solvent.games.football.solver.responses import Half, equilibrium_miss, longest_play
from solvent.model import compile_game

PAGE = (Path(__file__).parents[3] / "docs/games/football-strategy.md").read_text("utf-8")
YARDS = (99, 90, 80, 65, 50, 35, 20, 10, 5, 1)
CHARTS = (*(random_chart(seed) for seed in (0, 1, 2, 6, 13, 20)), MIXED)
"""Small charts with every kind of result, on which no side does well to go on for ever."""

BY_SPEED = [
    pytest.param(name, marks=() if name == "standard" else pytest.mark.slow) for name in SHIPPED
]


@cache
def packed(chart: str) -> PackedRules:
    return pack_rules(load_chart(chart), Ruleset())


@cache
def solved(chart: str) -> PointsSolution:
    return solve_points(packed(chart))


@cache
def reduced_rules(chart: Chart) -> PackedRules:
    return pack_rules(chart, Ruleset.read(RULES))


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_the_kickoff_is_worth_what_the_generic_solver_says(chart: Chart) -> None:
    solution = solve_points(reduced_rules(chart))
    game = FootballStrategy(
        chart, "points", Ruleset.read(RULES), kickoff_value=solution.kickoff_value
    )
    # Player 0 receives the kickoff. At K* the game is worth K*, at any other K it is not.
    assert solve(compile_game(game)).value == pytest.approx(solution.kickoff_value, abs=1e-9)
    assert solution.upper - solution.lower < 1e-9
    assert solution.lower < solution.kickoff_value < solution.upper


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_a_reduced_drive_is_worth_what_the_generic_solver_says(chart: Chart) -> None:
    game = reduced("drive", chart, to_goal=[1, 8])
    rules = reduced_rules(chart)
    solution = solve_drive(rules, game.loaded_points)
    table = compile_game(game)
    generic = solve(table)
    compared = 0
    for state, value in zip(table.states, generic.values, strict=True):
        if state.phase == "call":
            index = rules.index(Situation(*state.situation))
            assert solution.values[index] == pytest.approx(value, abs=1e-9)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("chart", BY_SPEED)
def test_a_shipped_chart_is_solved_and_proved(chart: str) -> None:
    rules, solution = packed(chart), solved(chart)
    assert solution.upper - solution.lower <= 1e-8
    assert solution.error.max() <= 1e-8
    assert solution.duality_gap.max() <= 1e-11
    assert solution.kicks[0] == pytest.approx(solution.kickoff_value, abs=1e-12)
    # Both sides' strategies are distributions over what is legal.
    for strategy in (solution.offence_strategy, solution.defence_strategy):
        assert strategy.min() >= 0
        assert strategy.sum(axis=1) == pytest.approx(1)
    assert not solution.offence_strategy[~rules.legal].any()


@pytest.mark.parametrize("chart", BY_SPEED)
def test_a_drive_is_worth_what_the_endless_game_is_worth(chart: str) -> None:
    rules, points = packed(chart), solved(chart)
    drive = solve_drive(rules, points.expected_points(rules))
    assert isinstance(drive, DriveSolution)
    assert drive.values == pytest.approx(points.values, abs=1e-10)
    assert drive.error.max() < 1e-9


@pytest.mark.parametrize("chart", BY_SPEED)
def test_the_shipped_expected_points_are_the_solvers(chart: str) -> None:
    rules = packed(chart)
    found = solved(chart).expected_points(rules)
    shipped = shipped_expected_points(rules.chart, rules.ruleset)
    assert shipped.kickoff == pytest.approx(found.kickoff, abs=1e-10)
    assert shipped.free_kick == pytest.approx(found.free_kick, abs=1e-10)
    assert shipped.first_down == pytest.approx(found.first_down, abs=1e-10)


@pytest.mark.parametrize(
    "situation",
    [Situation(1, 10, 80), Situation(4, 2, 40), Situation(4, 8, 70, True), Situation(3, 1, 1)],
    ids=str,
)
def test_a_call_sheet_is_the_equilibrium_of_its_payoffs(situation: Situation) -> None:
    rules, solution = packed("standard"), solved("standard")
    sheet = call_sheet(rules, solution, situation)
    assert sheet.payoff.shape == (len(sheet.actions), rules.chart.defences)
    assert sheet.value == pytest.approx(solve_matrix_game(sheet.payoff).value, abs=1e-9)
    assert sheet.value == pytest.approx(solution.values[rules.index(situation)], abs=1e-9)
    assert sheet.offence_strategy @ sheet.payoff @ sheet.defence_strategy == pytest.approx(
        sheet.value
    )


def test_the_defence_prepares_for_a_play_where_the_offence_should_kick() -> None:
    # Any defence holds the offence to the worth of a declared punt only if no play is worth more.
    rules, solution = packed("standard"), solved("standard")
    sheet = call_sheet(rules, solution, Situation(4, 30, 75))
    punt = sheet.actions.index(rules.chart.plays + 2)
    assert sheet.offence_strategy[punt] == 1
    plays = np.delete(sheet.payoff, punt, axis=0)
    assert (plays @ sheet.defence_strategy).max() == pytest.approx(
        solve_matrix_game(plays).value, abs=1e-9
    )


def test_without_a_way_to_score_there_is_no_value() -> None:
    rules = pack_rules(
        Chart.from_codes("still", [["0"]], ["punt1"], ["punt1"]),
        Ruleset.read({**RULES, "field_goals": {"1": 0}}),
    )
    with pytest.raises((ImproperGameError, CertificateError)):
        solve_points(rules)


@pytest.mark.slow
def test_a_penalty_for_certain_at_the_own_goal_line_is_refused_as_the_page_says() -> None:
    page = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")
    [(seed, play, letter, code, instead)] = re.findall(
        r"seed (\d+): play (\d+) against ([A-Z]) is `(off\d+)`.*?`([^`]*)` in its place", page, re.S
    )
    chart = make_chart("made", ChartParameters(seed=int(seed)))
    assert chart.cell(int(play), letter) == parse_cell(code)
    with pytest.raises(ImproperGameError, match="play need not end"):
        solve_points(pack_rules(chart, Ruleset()))
    cells = [list(line) for line in chart.cells]
    cells[int(play) - 1][chart.letters.index(letter)] = parse_cell(instead)
    mended = replace(chart, cells=tuple(map(tuple, cells)))
    assert solve_points(pack_rules(mended, Ruleset())).error.max() < 1e-7


def test_progress_is_told_after_each_round() -> None:
    told: list[tuple[int, float, float]] = []
    solution = solve_points(
        reduced_rules(CHARTS[0]), progress=lambda *progress: told.append(progress)
    )
    assert [number for number, _, _ in told] == list(range(1, solution.rounds + 1))
    assert told[-1][1] < 1e-10 < told[0][1]
    assert told[-1][2] == solution.kickoff_value


def test_the_error_bound_holds_for_values_that_are_off() -> None:
    rules = reduced_rules(CHARTS[0])
    right, backup = solve_points(rules), backup_of(rules)
    shaken = right.view.copy()
    noise = np.random.default_rng(0).normal(0, 1e-3, rules.n_situations)
    shaken[: rules.n_situations] += noise
    shaken[rules.n_situations + 2 : -2] -= noise
    strategies = Strategies(
        right.offence_strategy, right.defence_strategy, backup.results(shaken)[1]
    )
    miss = equilibrium_miss(backup, shaken, strategies, free_kick=True)
    half = Half(backup, strategies)
    bound = miss * np.maximum(*np.split(longest_play((half, half)), 2))[:-2]
    assert (np.abs(noise) <= bound).all()
    assert miss > 1e-4


@pytest.mark.parametrize("chart", BY_SPEED)
def test_the_page_states_what_the_solver_finds(chart: str) -> None:
    rules, solution = packed(chart), solved(chart)
    first_down = solution.expected_points(rules).first_down
    row = " | ".join(
        f"{value:.4f}".replace("-", "−")
        for value in (solution.kickoff_value, *(first_down[x - 1] for x in YARDS))
    )
    assert f"| `{chart}` | {row} |" in PAGE


GAINS = (
    [["2", "3"], ["20", "-1"]],
    [["4o"]],
    [["3", "2", "5"], ["-3", "fum", "8"], ["int2r1", "20", "0"]],
)
"""Against each defence the first play gains two yards or more, twice so many as a down needs."""

KICKS = (
    {"kickoff": {"3": 1}, "onside": {"6": 1}},
    {"kickoff": {"long+8": 1}, "onside": {"long+8": 1}},
    {"kickoff": {"2": 1}, "onside": {"kicker 5": 1, "6": 2}},
    {"kickoff": {"kicker 5": 1, "3": 3}, "onside": {"kicker 5": 2, "6": 1}},
)


def scoring(codes: list[list[str]], **rules: object) -> PackedRules:
    """Rules in which whoever has the ball is sure of a touchdown."""
    width = len(codes[0])
    chart = Chart.from_codes("scoring", codes, ["punt4"] * width, ["punt6"] * width)
    return pack_rules(chart, Ruleset.read({**RULES, "barred": [], **rules}))


def touchdown_kickoff(ruleset: Ruleset) -> Fraction:
    """K where every possession ends with a touchdown and a kickoff that the other side receives.

    With T points a touchdown and a chance r that the receiver gets the kicked ball, receiving it is
    worth r (T - K) - (1 - r) (T - K). The kicker chooses the kick with the smaller r.
    """
    chances = [
        sum(p for end, p in getattr(ruleset, name) if not end.startswith("kicker"))
        for name in ("kickoff", "onside")
    ]
    share = 2 * min(chances) - 1
    return (ruleset.touchdown + ruleset.extra_point) * share / (1 + share)


@pytest.mark.parametrize("kicks", KICKS, ids=["all", "run back", "onside", "often lost"])
@pytest.mark.parametrize("codes", GAINS, ids=["two by two", "one", "three by three"])
def test_where_every_possession_scores_a_kickoff_is_worth_what_kicks_say(
    codes: list[list[str]], kicks: dict[str, object]
) -> None:
    rules = scoring(codes, **kicks)
    solution = solve_points(rules)
    wanted = touchdown_kickoff(rules.ruleset)
    assert Fraction(solution.lower) <= wanted <= Fraction(solution.upper)
    assert solution.upper - solution.lower < 1e-9


@pytest.mark.parametrize("first_down", [3, 5])
def test_where_all_calls_are_as_good_those_are_found_that_score(first_down: int) -> None:
    """Newton's method goes round in circles: every call is as good as any, on all of the field."""
    rules = scoring([["5", "12", "-5"], ["9", "4", "3"]], field=30, downs=4, first_down=first_down)
    solution = solve_points(rules)
    wanted = touchdown_kickoff(rules.ruleset)
    assert Fraction(solution.lower) <= wanted <= Fraction(solution.upper)
    after = rules.ruleset.touchdown + rules.ruleset.extra_point - wanted
    first_downs = solution.expected_points(rules).first_down
    assert first_downs == pytest.approx([float(after)] * len(first_downs), abs=1e-9)


def test_kicks_that_the_kicker_keeps_and_scores_from_have_no_value() -> None:
    rules = scoring(GAINS[0], kickoff={"kicker 5": 1}, onside={"kicker 5": 1})
    with pytest.raises(ImproperGameError, match=r"the side that kicks is always the next to score"):
        solve_points(rules)


def test_a_game_of_safeties_is_worth_what_the_generic_solver_says() -> None:
    """Newton's method does not converge on it."""
    chart = Chart.from_codes("safety", [["-9"]], ["block"], ["block"])
    solution = solve_points(reduced_rules(chart))
    game = FootballStrategy(
        chart, "points", Ruleset.read(RULES), kickoff_value=solution.kickoff_value
    )
    assert solve(compile_game(game)).value == pytest.approx(solution.kickoff_value, abs=1e-9)
