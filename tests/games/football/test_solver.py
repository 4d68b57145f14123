"""The solver of endless play and drives, baselines and the published agent, on tables and pages."""

import re
import runpy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from doc_pages import DOCS, check_claims, table_rows
from reduced_football import (
    BACKWARDS,
    CHARTS,
    MIXED,
    RULES,
    chart_of,
    random_chart,
    reduced,
    reduced_points,
)
from tree_checks import assert_solved_as_table

from solvent import TabularPolicy, against, compile_game, make_game
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import (
    ImproperGameError,
    SolvedGame,
    best_response,
    nash_conv,
    policy_value,
    solve,
    solve_matrix_game,
)
from solvent.games import FootballStrategy
from solvent.games.football.baselines import (
    FITTED,
    PAPER,
    STRATEGIES,
    Constants,
    agent_strategies,
    optimal_football,
    run_plays,
    suits_football,
    utilities,
)
from solvent.games.football.chart import (
    SHIPPED,
    Chart,
    csv_text,
    load_chart,
    parse_cell,
    parse_result,
)
from solvent.games.football.chart_model import ChartParameters, make_chart
from solvent.games.football.expected_points import shipped_expected_points
from solvent.games.football.packed import NORMAL_KICK, PackedRules, pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import (
    ATTACK,
    FootballLosses,
    Strategies,
    backup_of,
    rate_kick,
    respond,
)
from solvent.games.football.solver.points import (
    PointsSolution,
    call_sheet,
    solve_charts,
    solve_drive,
    solve_points,
)
from solvent.games.football.solver.solved import FootballTable, solve_football
from solvent.model.arrays import Bools, Floats

# The solver: the endless game, two charts, responses, and its faces to tables


PAGE = (DOCS / "games/football-strategy.md").read_text("utf-8")
CHART_PAGE = (DOCS / "games/football-charts.md").read_text("utf-8")
NOTES = (DOCS / "notes/football.md").read_text("utf-8")
# Without the ends of lines, which sentences may hold.
SAID = " ".join(NOTES.split())
RULESET = Ruleset.of(RULES)
# Small charts with every kind of result, on which no side does well to go on for ever.
SOLVABLE = (*(random_chart(seed) for seed in (0, 6, 20)), MIXED)


@cache
def packed(chart: str) -> PackedRules:
    return pack_rules(load_chart(chart), Ruleset())


@cache
def solved(chart: str) -> PointsSolution:
    return solve_points(packed(chart))


@cache
def reduced_rules(chart: Chart) -> PackedRules:
    return pack_rules(chart, RULESET)


@pytest.mark.slow
@pytest.mark.parametrize("chart", SHIPPED)
def test_a_shipped_chart_is_solved_and_proved_and_its_figures_are_the_shipped_ones(
    chart: str,
) -> None:
    rules, solution = packed(chart), solved(chart)
    assert solution.upper - solution.lower <= 1e-8
    assert solution.error.max() <= 1e-8
    assert solution.duality_gap.max() <= 1e-11
    # The ordinary kickoff is as good as any.
    kicked = rate_kick(backup_of(rules), NORMAL_KICK, solution.view)
    assert -kicked == pytest.approx(solution.kickoff_value, abs=1e-12)
    # Both sides' strategies are distributions over what is legal, and every play and defence is
    # called somewhere, in at least one situation of a thousand.
    calls = ((solution.strategies.offence, rules.chart.plays), (solution.strategies.defence, None))
    for strategy, most in calls:
        assert strategy.min() >= 0
        assert strategy.sum(axis=1) == pytest.approx(1)
        assert (strategy[:, :most] > 1e-3).mean(axis=0).min() > 1e-3
    assert not solution.strategies.offence[~rules.legal].any()
    made = solution.expected_points(rules)
    shipped, found = (
        (points.kickoff, points.free_kick, *points.first_down)
        for points in (shipped_expected_points(rules.chart, rules.ruleset), made)
    )
    assert shipped == pytest.approx(found, abs=1e-10)
    figures = (made.kickoff, *(made.first_down[x - 1] for x in (99, 80, 50, 20, 1)))
    row = " | ".join(f"{value:.4f}".replace("-", "−") for value in figures)
    assert f"| `{chart}` | {row} |" in PAGE
    size = f"{rules.chart.plays} × {rules.chart.defences}"
    assert f"| `{chart}` | {size} | {len(rules.chart.results)} |" in CHART_PAGE


def test_a_drive_is_worth_what_the_endless_game_is_worth() -> None:
    for rules in map(reduced_rules, SOLVABLE):
        points = solve_points(rules)
        drive = solve_drive(rules, points.expected_points(rules))
        assert drive.values == pytest.approx(points.values, abs=1e-10)
        assert drive.error.max() < 1e-9


@pytest.mark.slow
def test_a_call_sheet_is_the_equilibrium_of_its_payoffs() -> None:
    rules, solution = packed("standard"), solved("standard")
    for place in ((1, 10, 80), (4, 2, 40), (4, 8, 70, True), (3, 1, 1)):
        sheet = call_sheet(rules, solution, Situation(*place))
        assert sheet.payoff.shape == (len(sheet.offence), rules.chart.defences)
        assert sheet.value == pytest.approx(solve_matrix_game(sheet.payoff).value, abs=1e-9)
        assert sheet.value == pytest.approx(solution.values[rules.index(Situation(*place))])
        mixed = [[call.chance for call in side] for side in (sheet.offence, sheet.defence)]
        assert mixed[0] @ sheet.payoff @ mixed[1] == pytest.approx(sheet.value)


# Against each defence the first play gains two yards or more, twice so many as a down needs.
GAINS = (
    [["2", "3"], ["20", "-1"]],
    [["4o"]],
    [["3", "2", "5"], ["-3", "fum", "8"], ["int2r1", "20", "0"]],
)

KICKS = (
    {"kickoff": {"3": 1}, "onside": {"6": 1}},
    {"kickoff": {"long+8": 1}, "onside": {"long+8": 1}},
    {"kickoff": {"2": 1}, "onside": {"kicker 5": 1, "6": 2}},
    {"kickoff": {"kicker 5": 1, "3": 3}, "onside": {"kicker 5": 2, "6": 1}},
)


@pytest.mark.slow
def test_a_penalty_for_certain_at_the_own_goal_line_is_refused_as_the_page_says() -> None:
    [(seed, play, letter, code, instead)] = re.findall(
        r"seed (\d+): its play (\d+)\s+against ([A-Z]) is\s+`(off\d+)`.*?`([^`]*)` in its place",
        CHART_PAGE,
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


# More plays and more defences than the others have.
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

PAIRS = ((random_chart(0), MIXED), (MIXED, WIDE), (random_chart(1), random_chart(2)))


@pytest.mark.parametrize(("chart", "other"), PAIRS, ids=lambda chart: chart.name)
def test_the_values_of_both_sides_are_those_of_the_generic_solver(
    chart: Chart, other: Chart
) -> None:
    ours, theirs = solve_charts(reduced_rules(chart), reduced_rules(other))
    table = compile_game(
        FootballStrategy(
            chart, "points", RULESET, kickoff_value=ours.kickoff_value, other_chart=other
        )
    )
    generic = solve(table)
    # Player 0 receives the kickoff.
    assert generic.value == pytest.approx(ours.kickoff_value + ours.gain, abs=1e-9)
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
    at = [packed("standard").index(Situation(1, 10, to_goal)) for to_goal in (80, 50)]
    for chart, other, figures in rows:
        ours, theirs = solve_charts(packed(chart), packed(other))
        found = [ours.kickoff_value, ours.gain, *ours.values[at], *theirs.values[at]]
        assert figures.replace("−", "-").split(" | ") == [f"{value:.2f}" for value in found]


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


def test_a_response_is_the_generic_one_in_a_drive_and_until_the_next_score() -> None:
    for seed in (0, 6, 20):
        chart = random_chart(seed)
        game, rules = reduced("drive", chart, to_goal=[1, 8]), reduced_rules(chart)
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
            error = np.split(found.error, 2)[role][:-2][index]
            assert 0 < error.min() <= error.max() < 1e-8
        points = solve_points(rules).expected_points(rules)
        found = respond(rules, points, strategies)
        game = FootballStrategy(chart, "points", RULESET, kickoff_value=points.kickoff)
        table = compile_game(game)
        translated = FootballTable.of(table, game)
        # Player 1, who kicks off, keeps to the strategies; then player 0 does, and kicks to its
        # response.
        received = [
            best_response(table, translated.policy(strategies, 1, kick=kick)).value
            for kick in (0, 1)
        ]
        assert min(received) == pytest.approx(found.receiving, abs=1e-8)
        kicked = best_response(table, translated.policy(strategies, 0)).value
        assert -kicked == pytest.approx(found.kicking, abs=1e-8)


def test_a_predictable_defence_that_fouls_at_its_goal_can_be_kept_there_for_ever() -> None:
    chart = chart_of("fouls", [["off1"], ["1"]], ["punt4"], ["punt6"])
    rules, points = reduced_rules(chart), reduced_points(chart, RULESET)
    with pytest.raises(ImproperGameError, match="play need not end"):
        respond(rules, points, backup_of(rules).uniform, ATTACK)


@pytest.mark.parametrize(
    ("form", "chart"), [("drive", BACKWARDS), ("drive", MIXED), ("points", MIXED)]
)
def test_the_kernels_agree_with_the_table_in_every_state(form: str, chart: Chart) -> None:
    game = reduced(form, chart)
    if form == "points":
        kickoff = solve_points(reduced_rules(chart)).kickoff_value
        game = reduced(form, chart, kickoff_value=kickoff)
    solved = solve_football(game)
    assert isinstance(solved, SolvedGame)
    assert_solved_as_table(solved, game, within=1e-8, unique=False)


@pytest.mark.slow
def test_the_whole_drive() -> None:
    """One component of over 100,000 states, five million pairs of calls."""
    table = FootballStrategy(form="drive").tabulate()
    assert table.n_states > 100_000
    solution = solve(table)
    assert solution.upper - solution.lower <= 1e-9
    assert nash_conv(table, *solution.policies) == pytest.approx(0, abs=1e-9)


# Players that need no learning, and the figures that the documentation states of them


CODES = ("4", "5", "8", "10", "-2", "-4", "inc", "fum", "fum-4", "int20", "off5", "def5", "def5f",
         "off10/7", "def5/12", "def5/inc")  # fmt: skip
CODED = chart_of("coded", [[code] for code in CODES], ["punt40"], ["punt45"])


PRORATED = Constants(
    first_down=10, turnover=50, penalty=0, share=1, favourable_share=0.25, favourable_gain=5
)


@cache
def coded() -> PackedRules:
    return pack_rules(CODED, Ruleset())


def utility(at: tuple[Any, ...], code: str, constants: Constants) -> float:
    worth, _ = backup_of(coded()).choose(utilities(coded(), constants))
    return float(worth[coded().index(Situation(*at)), CODED.results.index(parse_result(code))])


FAVOURABLE = replace(PRORATED, favourable_gain=4)
JUMP = replace(PRORATED, share=0.25)
PENALIZED = replace(PRORATED, penalty=-8)
ALONE = replace(PENALIZED, penalty_alone=True)

UTILITIES: tuple[tuple[str, tuple[int, int, int], str, float, Constants], ...] = (
    ("yards and a share of the first down", (1, 10, 80), "4", 4 + 10 * 4 / 10, PRORATED),
    ("a loss takes its share", (1, 10, 80), "-2", -2 - 10 * 2 / 10, PRORATED),
    ("a first down", (2, 7, 80), "8", 8 + 10, PRORATED),
    ("no more than the whole bonus is lost", (2, 1, 80), "-4", -4 - 10, PRORATED),
    ("a touchdown is a first down too", (2, 6, 7), "10", 7 + 10 + 40, PRORATED),
    ("a touchdown of the defence", (2, 6, 97), "fum-4", -3 - 40 - 50, PRORATED),
    ("a fumble", (1, 10, 80), "fum", -50, PRORATED),
    ("an interception", (1, 10, 80), "int20", 20 - 50, PRORATED),
    ("a punt", (1, 10, 80), "punt40", 40 - 50, PRORATED),
    ("a fumble on the last down", (4, 10, 80), "fum", -20, PRORATED),
    ("lost on downs", (4, 10, 80), "8", 8 - 20, PRORATED),
    ("a punt on the last down", (4, 10, 80), "punt40", 40 - 20, PRORATED),
    ("a first down on the last down", (4, 10, 80), "10", 10 + 10, PRORATED),
    ("a safety", (1, 10, 98), "-4", -2 - 30, PRORATED),
    ("a penalty on the offence", (1, 10, 80), "off5", -5 - 10 * 5 / 10, PRORATED),
    ("a penalty on first down makes none", (1, 10, 80), "def5", 5 + 10 * 5 / 10, PRORATED),
    ("an automatic first down", (1, 10, 80), "def5f", 5 + 10, PRORATED),
    ("a penalty to the line to gain", (1, 5, 80), "def5", 5 + 10, PRORATED),
    ("the offended defence takes the worse", (1, 10, 80), "off10/7", -10 - 10, PRORATED),
    ("the offended offence takes the better", (1, 10, 80), "def5/12", 12 + 10, PRORATED),
    ("a gain makes the down favourable", (2, 10, 80), "4", 4 + 4 + 2.5, FAVOURABLE),
    ("a loss does not", (1, 10, 80), "-2", -2 - 2, FAVOURABLE),
    ("a last down is not favourable", (3, 10, 80), "4", 4 + 4, FAVOURABLE),
    ("nor one that a penalty repeats", (2, 10, 80), "def5", 5 + 5, FAVOURABLE),
    ("the rest is a jump", (2, 12, 80), "8", 8 + 10 * 0.25 * 8 / 12 + 2.5, JUMP),
    ("the jump is made", (2, 9, 80), "10", 10 + 10, JUMP),
    ("a penalty's constant", (1, 10, 80), "def5", 5 + 5 - 8, PENALIZED),
    ("it counts in a choice", (1, 10, 80), "off10/7", -10 - 10 - 8, PENALIZED),
    ("it may stand alone", (1, 10, 80), "def5f", -8, ALONE),
    ("also in a choice", (1, 10, 80), "off10/7", -8, ALONE),
)


def test_the_utility_of_a_result_is_as_the_paper_says() -> None:
    for rule, at, code, wanted, constants in UTILITIES:
        assert utility(at, code, constants) == pytest.approx(wanted), rule
    # A field goal gets three sevenths of a touchdown.
    results = coded().arrays.results
    worth = utilities(coded(), PRORATED).reshape(-1, results)
    last = worth[coded().index(Situation(4, 5, 20)), results - 2]
    assert last == pytest.approx(28 / 36 * 3 / 7 * 40 - 8 / 36 * 20)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_the_strategies_are_an_equilibrium_of_the_utilities(chart: Chart) -> None:
    rules = reduced_rules(chart)
    strategies, backup = agent_strategies(rules), backup_of(rules)
    payoffs = backup.payoffs(backup.choose(utilities(rules))[0])
    for s, (down, _, _, punting) in enumerate(rules.situation.tolist()):
        calls = [c for c in np.flatnonzero(rules.legal[s]) if c <= chart.plays]
        if punting:
            calls.append(chart.plays + 2)
        value = solve_matrix_game(payoffs[s, calls]).value
        best = (payoffs[s, calls] @ strategies.defence[s]).max()
        assert best == pytest.approx(value, abs=1e-7)
        assert strategies.offence[s].sum() == pytest.approx(1)
        if down < rules.ruleset.downs or punting:
            secured = (strategies.offence[s, calls] @ payoffs[s, calls]).min()
            assert secured == pytest.approx(value, abs=1e-7)


CHART = random_chart(1)


@cache
def losses() -> FootballLosses:
    rules, found = packed("standard"), solved("standard")
    return FootballLosses(rules, found.expected_points(rules), found.values)


def lost(strategies: Strategies) -> tuple[float, float, float]:
    """What strategies lose in a drive from the usual place, by side, and until the next score."""
    start = losses().rules.index(Situation(1, 10, 80))
    offence, defence = losses().of_offence(strategies), losses().of_defence(strategies)
    return offence[start], defence[start], sum(losses().until_score(strategies)) / 2


@cache
def constants() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(f"{DOCS.parent}/benchmarks/football_constants.py"))


@cache
def strategies(name: str) -> Strategies:
    if name == "uniform":
        return backup_of(packed("standard")).uniform
    if name == "tuned":
        return agent_strategies(packed("standard"), constants().TUNED)
    return STRATEGIES[name](packed("standard"))


def test_all_are_legal_and_no_better_than_the_optimum() -> None:
    for game in (reduced("drive", CHART), reduced("drive", MIXED)):
        football = FootballTable.of(compile_game(game), game)
        value = solve(football.game).value
        for (name, maker), player in product(STRATEGIES.items(), (0, 1)):
            policy = football.policy(maker(football.rules), player, name=name)
            answered = best_response(football.game, policy).value
            assert (value - answered) * (1 - 2 * player) > -1e-9, name


def test_the_optimum_against_one_opponent_is_a_best_response(tmp_path: Path) -> None:
    chart = tmp_path / "chart.csv"
    chart.write_text(csv_text(MIXED), encoding="utf-8")
    game = compile_game(make_game("football-strategy", chart=str(chart), ruleset=RULES, to_goal=4))
    assert suits_football(game)
    left = against(game, TabularPolicy.uniform(game, player=1))
    values = policy_value(left, optimal_football(left), optimal_football(left, 1))
    assert left.at_start(values) == pytest.approx(solve(left).value, abs=1e-9)


def test_tendencies_follow_down_and_distance() -> None:
    rules, found = packed("standard"), strategies("tendencies")
    at = [rules.index(Situation(*place)) for place in ((3, 1, 50), (1, 10, 80), (3, 9, 50))]
    runs = run_plays(rules)
    assert found.offence[at][:, :20][:, runs].sum(axis=1) == pytest.approx([0.7, 0.5, 0.1])
    depths = found.defence[at] @ np.arange(10)
    assert depths[0] < depths[1] < depths[2]


@pytest.mark.slow
def test_the_fitted_agent_has_the_constants_of_the_regression_and_of_the_page() -> None:
    [stated] = re.findall(r"fitted: (.*?);", SAID)
    fitted = constants().fit_to_values(packed("standard"))
    assert vars(fitted) == pytest.approx(vars(FITTED), abs=5e-4)
    for constant in stated.split(", "):
        name, value = constant.rsplit(" ", 1)
        digits = len(value.split(".")[1])
        assert round(getattr(fitted, name.replace(" ", "_")), digits) == float(value), name


def test_a_penaltys_two_readings_are_told_apart_by_the_strategies_of_one_situation() -> None:
    s = packed("standard").index(constants().TABLES[0])
    readings = (PAPER, replace(PAPER, penalty_alone=True))
    first, second = (agent_strategies(packed("standard"), reading) for reading in readings)
    apart = sum(np.abs(first[side][s] - second[side][s]).sum() for side in (0, 1))
    assert f"differ by {100 * apart:.0f} percentage points in the situation of the tables" in SAID


def rounding_of(table: tuple[float, ...], tenths: int) -> float:
    """By how many points a printed table may miss 100%, some of its entries being in tenths."""
    return 0.05 * tenths + 0.005 * (sum(entry > 0 for entry in table) - tenths)


def called(chart: Chart) -> tuple[str, ...]:
    """How many of a chart's plays and defences the agent calls in some situation."""
    found = agent_strategies(pack_rules(chart, Ruleset()))
    sides = found.offence[:, : chart.plays], found.defence
    return tuple(f"{(side > 0).any(axis=0).sum()} of {side.shape[1]}" for side in sides)


@pytest.mark.slow
def test_the_page_judges_the_claims_of_the_paper() -> None:
    charts = {name: load_chart(name) for name in ("standard", "cautious", "aerial", "dice")}
    outcomes = [str(len(chart.results)) for chart in charts.values()]
    # The other two charts take four seconds more.
    (plays, defences), (few, fewer) = called(charts["standard"]), called(charts["dice"])
    _, offence, defence = constants().TABLES
    play, letter = int(np.argmax(offence)) + 1, "ABCDEFGHIJ"[int(np.argmax(defence))]
    yards = charts["standard"].columns[str(play)]["ABCDEFGHIJ".index(letter)][0][1].yards
    [(touchdown, turnover)] = re.findall(r"touchdown ([\d.]+), turnover ([\d.]+), safety 16", SAID)
    check_claims(
        "notes/football.md",
        {
            "the chart has over 60 unique outcomes": (
                f"our charts have {', '.join(outcomes[:-1])} and {outcomes[-1]}"
            ),
            "so many that traditional methods fail": (
                f"{packed('standard').n_situations} situations without a clock are solved"
            ),
            "Table 1 is a distribution": (
                f"its entries sum to {sum(offence):.2%}; rounding explains up to "
                f"{rounding_of(offence, 2):.2f}"
            ),
            "Table 2 is a distribution": (
                f"its entries sum to {sum(defence):.2%}; rounding explains up to "
                f"{rounding_of(defence, 1):.3f}"
            ),
            "the likeliest calls meet in 4E, a gain of 5 yards": (
                f"{play} with {max(offence):.2%} and {letter} with {max(defence):.2%}; "
                f"{play}{letter} is {yards} on our chart"
            ),
            "every play and defence is called somewhere": (
                f"{plays} plays and {defences} defences by our agent on `standard`, `cautious` and "
                f"`aerial`; {few} and {fewer} on `dice`"
            ),
            "the turnover's constant should exceed the touchdown's": (
                f"{turnover} and {touchdown} when fitted to exact values"
            ),
            'three games lost, each by less than a touchdown, show a level "competitive with the '
            "world's top players\"": (
                f"a player who wins {1 - 0.05 ** (1 / 3):.1%} of its games loses three in a row "
                "with probability 5%"
            ),
        },
    )


def on(situations: np.ndarray, agent: Strategies) -> Strategies:
    """The agent's strategies in some situations, and the equilibrium's in all others."""
    found = solved("standard")
    best = found.strategies.offence, found.strategies.defence
    calls = (np.where(situations, *sides) for sides in zip(agent[:2], best, strict=True))
    return Strategies(*calls, agent.choices)


@pytest.mark.slow
def test_the_page_states_what_the_agent_does_in_a_drive() -> None:
    stated = dict(table_rows(NOTES, "a drive | points"))
    rules, optimum = packed("standard"), solved("standard")
    agent, choices = agent_strategies(rules), backup_of(rules).results(optimum.view)[1]
    last = on(rules.situation[:, :1] == rules.ruleset.downs, agent)
    formation = on(rules.situation[:, 3:] == 1, agent)
    strategy = FootballStrategy("standard")
    football = FootballTable.of(compile_game(strategy), strategy)
    game, defence = football.game, football.policy(agent, 1)
    offence = Strategies(optimum.strategies.offence, optimum.strategies.defence, choices)
    best = best_response(game, defence).value
    optimal, uniform = (
        game.at_start(policy_value(game, policy, defence))
        for policy in (football.policy(offence, 0), TabularPolicy.uniform(game))
    )
    found = {
        "the agent loses as offence, if only its last downs are its own": lost(last)[0],
        "as defence, likewise": lost(last)[1],
        "as defence, if only punt formation is its own": lost(formation)[1],
        "a best response gets from its defence": best,
        "the optimal offence gets": optimal,
        "uniform play gets": uniform,
    }
    assert stated.keys() == found.keys()
    for figure, text in stated.items():
        last_digit = 10 ** -len(text.split(".")[1])
        assert float(text) == pytest.approx(found[figure], abs=0.5 * last_digit), figure
    experiments = " ".join((DOCS / "experiments.md").read_text("utf-8").split())
    assert (
        f"A best response gets {best:.3f} from it, the optimal offence {optimal:.3f}, "
        f"the uniform policy {uniform:.3f}.".replace("-", "\N{MINUS SIGN}")
    ) in experiments


@pytest.mark.slow
def test_the_environment_states_what_a_best_response_gets_from_the_agent() -> None:
    drive, against_agent = (
        ENVIRONMENTS[f"solvent/Football{name}-v0"] for name in ("Strategy", "Agent")
    )
    assert against_agent.opponent == "paper-agent"
    best = drive.optimum + lost(strategies("paper-agent"))[1]
    assert against_agent.optimum == pytest.approx(best, abs=1e-8)


@pytest.mark.slow
def test_the_page_states_what_every_baseline_loses() -> None:
    players = ("paper-agent", "fitted-agent", "tuned", "uniform")
    rows = [
        "| `{}` | {:.3f} | {:.3f} | {:.2f} |".format(name, *lost(strategies(name)))
        for name in (*players, "pass-heavy", "run-heavy", "tendencies")
    ]
    assert not set(rows) - set(NOTES.splitlines()), "\n".join(rows)
