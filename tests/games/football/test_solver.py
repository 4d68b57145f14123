"""The solver: the endless game, two charts, responses, and its faces to tables."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from reduced_football import BACKWARDS, MIXED, RULES, chart_of, random_chart, reduced

from solvent.exact import (
    ImproperGameError,
    SolvedGame,
    SolvedTable,
    best_response,
    nash_conv,
    solve,
)
from solvent.exact.matrix_game import solve_matrix_game
from solvent.games.football.chart import SHIPPED, Chart, load_chart, parse_cell
from solvent.games.football.chart_model import ChartParameters, make_chart
from solvent.games.football.expected_points import shipped_expected_points
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import (
    ATTACK,
    Strategies,
    backup_of,
    respond,
)
from solvent.games.football.solver.points import (
    DriveSolution,
    PointsSolution,
    call_sheet,
    solve_drive,
    solve_points,
    solve_two_charts,
)
from solvent.games.football.solver.solved import FootballTable, solve_football
from solvent.model import compile_game
from solvent.model.arrays import Bools, Floats

PAGE = (Path(__file__).parents[3] / "docs/games/football-strategy.md").read_text("utf-8")
RULESET = Ruleset.of(RULES)
YARDS = (99, 80, 50, 20, 1)
CHARTS = (*(random_chart(seed) for seed in (0, 6, 20)), MIXED)
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
    return pack_rules(chart, RULESET)


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


def test_a_drive_is_worth_what_the_endless_game_is_worth() -> None:
    for chart in CHARTS:
        rules = reduced_rules(chart)
        points = solve_points(rules)
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


def test_a_call_sheet_is_the_equilibrium_of_its_payoffs() -> None:
    rules, solution = packed("standard"), solved("standard")
    for place in ((1, 10, 80), (4, 2, 40), (4, 8, 70, True), (3, 1, 1)):
        sheet = call_sheet(rules, solution, Situation(*place))
        assert sheet.payoff.shape == (len(sheet.offence), rules.chart.defences)
        assert sheet.value == pytest.approx(solve_matrix_game(sheet.payoff).value, abs=1e-9)
        assert sheet.value == pytest.approx(solution.values[rules.index(Situation(*place))])
        mixed = [[call.chance for call in side] for side in (sheet.offence, sheet.defence)]
        assert mixed[0] @ sheet.payoff @ mixed[1] == pytest.approx(sheet.value)


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


@pytest.mark.slow
def test_a_penalty_for_certain_at_the_own_goal_line_is_refused_as_the_page_says() -> None:
    page = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")
    [(seed, play, letter, code, instead)] = re.findall(
        r"seed (\d+): its play (\d+)\s+against ([A-Z]) is `(off\d+)`.*?`([^`]*)` in its place",
        page,
        re.S,
    )
    chart = make_chart("made", ChartParameters(seed=int(seed)))
    assert chart.columns[play][chart.letters.index(letter)] == parse_cell(code)
    with pytest.raises(ImproperGameError, match="play need not end"):
        solve_points(pack_rules(chart, Ruleset()))
    cells = [list(line) for line in chart.cells]
    cells[int(play) - 1][chart.letters.index(letter)] = parse_cell(instead)
    mended = replace(chart, cells=tuple(map(tuple, cells)))
    assert solve_points(pack_rules(mended, Ruleset())).error.max() < 1e-7


def scoring(codes: list[list[str]], **rules: object) -> PackedRules:
    """Rules in which whoever has the ball is sure of a touchdown."""
    width = len(codes[0])
    chart = chart_of("scoring", codes, ["punt4"] * width, ["punt6"] * width)
    return pack_rules(chart, Ruleset.of({**RULES, "barred": [], **rules}))


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


def test_kicks_that_the_kicker_keeps_and_scores_from_have_no_value() -> None:
    rules = scoring(GAINS[0], kickoff={"kicker 5": 1}, onside={"kicker 5": 1})
    with pytest.raises(ImproperGameError, match=r"the side that kicks is always the next to score"):
        solve_points(rules)


CHART_PAGE = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")

WIDE = chart_of(
    "wide",
    [
        ["3", "1", "fum", "off1/3"],
        ["inc", "4 * 1 | int2 * 1", "2", "0"],
        ["5", "-1", "2 * 2 | fum * 1", "def1"],
        ["1", "2", "3", "long"],
    ],
    ["punt4", "punt3", "punt4", "punt5"],
    ["punt6", "punt5", "block * 1 | punt5 * 2", "punt4"],
)
"""More plays and more defences than the others have."""

PAIRS = ((random_chart(0), MIXED), (MIXED, WIDE), (random_chart(1), random_chart(2)))


@cache
def solved_pair(chart: Chart, other: Chart) -> tuple[PointsSolution, PointsSolution]:
    return solve_two_charts(reduced_rules(chart), reduced_rules(other))


def until_score(chart: Chart, other: Chart, kickoff: float) -> FootballStrategy:
    return FootballStrategy(chart, "points", RULESET, kickoff_value=kickoff, other_chart=other)


@pytest.mark.parametrize(("chart", "other"), PAIRS, ids=lambda chart: chart.name)
def test_the_values_of_both_sides_are_those_of_the_generic_solver(
    chart: Chart, other: Chart
) -> None:
    ours, theirs = solved_pair(chart, other)
    table = compile_game(until_score(chart, other, ours.kickoff_value))
    generic = solve(table)
    # Player 0 receives the kickoff.
    assert generic.value == pytest.approx(ours.kickoff_value + ours.gain, abs=1e-9)
    assert min(ours.kicks) == pytest.approx(generic.value, abs=1e-9)
    compared = [0, 0]
    for state, value in zip(table.states, generic.values.tolist(), strict=True):
        if state.phase == "call":
            side = (ours, theirs)[state.offence]
            s = reduced_rules(chart).index(Situation(*state.situation))
            assert side.values[s] * (-1) ** state.offence == pytest.approx(value, abs=1e-9)
            compared[state.offence] += 1
    assert min(compared) > 20
    assert ours.lower < ours.kickoff_value < ours.upper
    assert max(ours.error.max(), theirs.error.max()) < 1e-7


@pytest.mark.slow
def test_the_page_states_what_two_shipped_charts_give() -> None:
    rows = re.findall(r"^\| `(\w+)` against `(\w+)` \| (.+) \|$", CHART_PAGE, re.MULTILINE)
    assert len(rows) == 3
    for chart, other, figures in rows:
        rules = [pack_rules(load_chart(name), Ruleset()) for name in (chart, other)]
        ours, theirs = solve_two_charts(*rules)
        first_and_ten = [rules[0].index(Situation(1, 10, 80)), rules[0].index(Situation(1, 10, 50))]
        found = [
            ours.kickoff_value,
            ours.gain,
            *ours.values[first_and_ten],
            *theirs.values[first_and_ten],
        ]
        assert figures.replace("−", "-").split(" | ") == [f"{value:.2f}" for value in found]


SEEDS = (0, 6, 20)


def random_strategies(rules: PackedRules, seed: int) -> Strategies:
    random = np.random.default_rng(seed)
    uniform = backup_of(rules).uniform
    return Strategies(
        _weighted(random, rules.legal),
        _weighted(random, uniform.defence > 0),
        random.random(uniform.choices.shape),
    )


def _weighted(random: np.random.Generator, legal: Bools) -> Floats:
    weights = legal * random.random(legal.shape)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def test_a_response_in_a_drive_is_the_generic_one() -> None:
    for seed in SEEDS:
        game = reduced("drive", random_chart(seed), to_goal=[1, 8])
        rules = reduced_rules(game.loaded_chart)
        strategies = random_strategies(rules, seed)
        table = compile_game(game)
        calls = [(s, state) for s, state in enumerate(table.states) if state.phase == "call"]
        index = [rules.index(Situation(*state.situation)) for _, state in calls]
        assert len(index) > 30
        for player in (0, 1):
            role = 1 - player
            found = respond(rules, game.loaded_points, strategies, role)
            generic = best_response(table, FootballTable.of(table, game).policy(strategies, player))
            wanted = (1 - 2 * role) * generic.values[[s for s, _ in calls]]
            assert found.values(role)[index] == pytest.approx(wanted, abs=1e-8)
            assert 0 < np.split(found.error, 2)[role][:-2][index].min()
            assert np.split(found.error, 2)[role][:-2][index].max() < 1e-8


def test_a_response_until_the_next_score_is_the_generic_one() -> None:
    for seed in SEEDS:
        chart = random_chart(seed)
        rules = reduced_rules(chart)
        points = solve_points(rules).expected_points(rules)
        strategies = random_strategies(rules, seed)
        found = respond(rules, points, strategies)
        game = FootballStrategy(chart, "points", RULESET, kickoff_value=points.kickoff)
        table = compile_game(game)
        # Player 1, who kicks off, keeps to the strategies; then player 0 does, and kicks to its
        # response.
        translated = FootballTable.of(table, game)
        received = [
            best_response(table, translated.policy(strategies, 1, kick=kick)).value
            for kick in (0, 1)
        ]
        assert min(received) == pytest.approx(found.receiving, abs=1e-8)
        kicked = best_response(table, translated.policy(strategies, 0)).value
        assert -kicked == pytest.approx(found.kicking, abs=1e-8)


def test_a_predictable_defence_that_fouls_at_its_goal_can_be_kept_there_for_ever() -> None:
    chart = chart_of("fouls", [["off1"], ["1"]], ["punt4"], ["punt6"])
    rules = reduced_rules(chart)
    points = reduced("drive", chart).loaded_points
    with pytest.raises(ImproperGameError, match="play need not end"):
        respond(rules, points, backup_of(rules).uniform, ATTACK)


@pytest.mark.parametrize(
    ("form", "chart"), [("drive", BACKWARDS), ("drive", MIXED), ("points", MIXED)]
)
def test_the_kernels_agree_with_the_table_in_every_state(form: str, chart: Chart) -> None:
    game = reduced(form, chart)
    if form == "points":
        rules = pack_rules(game.loaded_chart, game.loaded_ruleset)
        game = reduced(form, chart, kickoff_value=solve_points(rules).kickoff_value)
    solved = solve_football(game)
    assert isinstance(solved, SolvedGame)
    table = compile_game(game)
    other = SolvedTable(game, table, solve(table))
    assert solved.lower <= other.value <= solved.upper
    assert solved.value == pytest.approx(other.value, abs=1e-9)
    for state in table.states:
        assert solved.value_of(state) == pytest.approx(other.value_of(state), abs=1e-8)
        if game.is_terminal(state):
            continue
        for player in (0, 1):
            values, legal = solved.action_values(state, player), game.legal_actions(state)[player]
            policy = solved.policy(state, player)
            assert tuple(values) == tuple(policy) == legal
            assert sum(policy.values()) == pytest.approx(1)
            # What it plays is as good as the best, to 0 or to 1.
            best = max(values.values()) if player == 0 else min(values.values())
            assert best == pytest.approx(other.value_of(state), abs=1e-8)
            own = sum(share * values[action] for action, share in policy.items())
            assert own == pytest.approx(best, abs=1e-8)


@pytest.mark.slow
def test_the_whole_drive() -> None:
    """One component of over 100,000 states, five million pairs of calls."""
    table = FootballStrategy(form="drive").tabulate()
    assert table.n_states > 100_000
    solution = solve(table)
    assert solution.upper - solution.lower <= 1e-9
    assert nash_conv(table, *solution.policies) == pytest.approx(0, abs=1e-9)
