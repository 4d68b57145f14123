"""The solver of endless play and drives, baselines and the published agent, on tables and pages."""

import re
import runpy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from doc_pages import check_claims, table_rows
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

from solvent import TabularPolicy, compile_game, make_game
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import (
    ImproperGameError,
    SolvedGame,
    SolvedTable,
    best_response,
    nash_conv,
    policy_value,
    solve,
    solve_matrix_game,
)
from solvent.games.football.baselines import (
    PAPER,
    STRATEGIES,
    Constants,
    agent_strategies,
    fit_constants,
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
from solvent.games.football.rules import FootballStrategy
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
    DriveSolution,
    PointsSolution,
    call_sheet,
    solve_drive,
    solve_points,
    solve_two_charts,
)
from solvent.games.football.solver.solved import FootballTable, solve_football
from solvent.model import against
from solvent.model.arrays import Bools, Floats

# The solver: the endless game, two charts, responses, and its faces to tables


PAGE = (Path(__file__).parents[3] / "docs/games/football-strategy.md").read_text("utf-8")
RULESET = Ruleset.of(RULES)
YARDS = (99, 80, 50, 20, 1)
# Small charts with every kind of result, on which no side does well to go on for ever.
SOLVABLE = (*(random_chart(seed) for seed in (0, 6, 20)), MIXED)

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
    # The ordinary kickoff is as good as any.
    kicked = rate_kick(backup_of(rules), NORMAL_KICK, solution.view)
    assert -kicked == pytest.approx(solution.kickoff_value, abs=1e-12)
    # Both sides' strategies are distributions over what is legal.
    for strategy in (solution.offence_strategy, solution.defence_strategy):
        assert strategy.min() >= 0
        assert strategy.sum(axis=1) == pytest.approx(1)
    assert not solution.offence_strategy[~rules.legal].any()


def test_a_drive_is_worth_what_the_endless_game_is_worth() -> None:
    for chart in SOLVABLE:
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
    page = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")
    [(seed, play, letter, code, instead)] = re.findall(
        r"seed (\d+): its play (\d+)\s+against ([A-Z]) is\s+`(off\d+)`.*?`([^`]*)` in its place",
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


# Players that need no learning, and the figures that the documentation states of them


CODES = ("4", "5", "8", "10", "-2", "-4", "inc", "fum", "fum-4", "int20", "off5", "def5", "def5f",
         "off10/7", "def5/12", "def5/inc")  # fmt: skip
CODED = chart_of("coded", [[code] for code in CODES], ["punt40"], ["punt45"])


@cache
def coded(chart: Chart = CODED) -> PackedRules:
    return pack_rules(chart, Ruleset())


PRORATED = Constants(
    first_down=10, turnover=50, penalty=0, share=1, favourable_share=0.25, favourable_gain=5
)


def utility(at: tuple[Any, ...], code: str, constants: Constants = PRORATED) -> float:
    rules = coded()
    worth, _ = backup_of(rules).choose(utilities(rules, constants))
    found = CODED.results.index(parse_result(code))
    return float(worth[rules.index(Situation(*at)), found])


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


def test_a_field_goal_gets_three_sevenths_of_a_touchdown() -> None:
    rules = coded()
    worth = utilities(rules, PRORATED).reshape(-1, rules.arrays.results)
    last = worth[rules.index(Situation(4, 5, 20)), rules.arrays.results - 2]
    assert last == pytest.approx(28 / 36 * 3 / 7 * 40 - 8 / 36 * 20)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_the_strategies_are_an_equilibrium_of_the_utilities(chart: Chart) -> None:
    rules = pack_rules(chart, Ruleset.of(RULES))
    strategies = agent_strategies(rules)
    backup = backup_of(rules)
    payoffs = backup.payoffs(backup.choose(utilities(rules))[0])
    plays, last = chart.plays, rules.ruleset.downs
    for s in range(rules.n_situations):
        down, _, _, punting = rules.situation[s].tolist()
        calls = [c for c in np.flatnonzero(rules.legal[s]) if c <= plays]
        if punting:
            calls.append(plays + 2)
        game = solve_matrix_game(payoffs[s, calls])
        assert (payoffs[s, calls] @ strategies.defence[s]).max() == pytest.approx(
            game.value, abs=1e-7
        )
        assert strategies.offence[s].sum() == pytest.approx(1)
        if down < last or punting:
            secured = (strategies.offence[s, calls] @ payoffs[s, calls]).min()
            assert secured == pytest.approx(game.value, abs=1e-7)


CHART = random_chart(1)

NOTES = Path(__file__).parents[3] / "docs" / "notes" / "football.md"
BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
EXPERIMENTS = NOTES.parents[1] / "experiments.md"
KICK_OFF_LINE = Situation(1, 10, 80)


@cache
def losses() -> FootballLosses:
    rules = packed("standard")
    return FootballLosses(
        rules, solved("standard").expected_points(rules), solved("standard").values
    )


def lost(strategies: Strategies) -> tuple[float, float, float]:
    """What strategies lose in a drive from the usual place, by side, and until the next score."""
    start = losses().rules.index(KICK_OFF_LINE)
    offence, defence = losses().of_offence(strategies), losses().of_defence(strategies)
    return offence[start], defence[start], sum(losses().until_score(strategies)) / 2


@cache
def script(name: str) -> SimpleNamespace:
    """What a script of benchmarks/ defines."""
    return SimpleNamespace(**runpy.run_path(str(BENCHMARKS / f"football_{name}.py")))


@cache
def strategies(name: str) -> Strategies:
    rules = packed("standard")
    if name == "uniform":
        return backup_of(rules).uniform
    if name == "tuned":
        return agent_strategies(rules, script("constants").TUNED)
    return STRATEGIES[name](rules)


def test_all_are_legal_and_no_better_than_the_optimum() -> None:
    for chart in (CHART, MIXED):
        strategy = reduced("drive", chart)
        football = FootballTable.of(compile_game(strategy), strategy)
        value = solve(football.game).value
        for name, maker in STRATEGIES.items():
            for player in (0, 1):
                policy = football.policy(maker(football.rules), player, name=name)
                answered = best_response(football.game, policy).value
                assert (value - answered) * (1 - 2 * player) > -1e-9, name


def test_the_optimum_against_one_opponent_is_a_best_response(tmp_path: Path) -> None:
    chart, points = tmp_path / "chart.csv", tmp_path / "points.json"
    chart.write_text(csv_text(CHART), encoding="utf-8")
    points.write_text(reduced_points(CHART, Ruleset.of(RULES)).json_text(), encoding="utf-8")
    files = {"chart": str(chart), "expected_points": str(points)}
    game = compile_game(make_game("football-strategy", ruleset=RULES, to_goal=4, **files))
    assert suits_football(game)
    left = against(game, TabularPolicy.uniform(game, player=1))
    found = solve(left)
    values = policy_value(left, optimal_football(left), optimal_football(left, 1))
    assert left.at_start(values) == pytest.approx(found.value, abs=1e-9)


def test_tendencies_follow_down_and_distance() -> None:
    rules, found = packed("standard"), strategies("tendencies")
    at = [rules.index(Situation(*place)) for place in ((3, 1, 50), (1, 10, 80), (3, 9, 50))]
    runs = run_plays(rules)
    assert found.offence[at][:, :20][:, runs].sum(axis=1) == pytest.approx([0.7, 0.5, 0.1])
    depths = found.defence[at] @ np.arange(10)
    assert depths[0] < depths[1] < depths[2]


@pytest.mark.slow
def test_fitted_constants_are_near_those_of_the_page() -> None:
    [stated] = re.findall(r"fitted: (.*?);", " ".join(NOTES.read_text().split()))
    fitted = fit_constants(packed("standard"))
    for constant in stated.split(", "):
        name, value = constant.rsplit(" ", 1)
        digits = len(value.split(".")[1])
        assert round(getattr(fitted, name.replace(" ", "_")), digits) == float(value), name


def test_a_penaltys_two_readings_are_told_apart_by_the_strategies_of_one_situation() -> None:
    fit, rules = script("constants"), packed("standard")
    s = rules.index(fit.TABLES[0])
    readings = [PAPER, replace(PAPER, penalty_alone=True)]
    made = [agent_strategies(rules, reading) for reading in readings]
    apart = sum(np.abs(made[0][side][s] - made[1][side][s]).sum() for side in (0, 1))
    said = " ".join(NOTES.read_text(encoding="utf-8").split())
    assert f"differ by {100 * apart:.0f} percentage points in the situation of the tables" in said


def rounding_of(table: tuple[float, ...], tenths: int) -> float:
    """By how many points a printed table may miss 100%, some of its entries being in tenths."""
    return 0.05 * tenths + 0.005 * (sum(entry > 0 for entry in table) - tenths)


def called(chart: Chart) -> tuple[str, str]:
    """How many of a chart's plays and defences the agent calls in some situation."""
    found = agent_strategies(pack_rules(chart, Ruleset()))
    plays = (found.offence[:, : chart.plays] > 0).any(axis=0).sum()
    defences = (found.defence > 0).any(axis=0).sum()
    return f"{plays} of {chart.plays}", f"{defences} of {chart.defences}"


def test_the_page_judges_the_claims_of_the_paper() -> None:
    charts = {name: load_chart(name) for name in ("standard", "cautious", "aerial", "dice")}
    outcomes = [str(len(chart.results)) for chart in charts.values()]
    # The other two charts take four seconds more.
    (plays, defences), (few, fewer) = called(charts["standard"]), called(charts["dice"])
    _, offence, defence = script("constants").TABLES
    play, letter = int(np.argmax(offence)) + 1, "ABCDEFGHIJ"[int(np.argmax(defence))]
    yards = charts["standard"].columns[str(play)]["ABCDEFGHIJ".index(letter)][0][1].yards
    stated = " ".join(NOTES.read_text(encoding="utf-8").split())
    [(touchdown, turnover)] = re.findall(
        r"touchdown ([\d.]+), turnover ([\d.]+), safety 16", stated
    )
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
    offence, defence = (
        np.where(situations, mine, best)
        for mine, best in zip(
            agent[:2], (found.offence_strategy, found.defence_strategy), strict=True
        )
    )
    return Strategies(offence, defence, agent.choices)


@pytest.mark.slow
def test_the_page_states_what_the_agent_does_in_a_drive() -> None:
    stated = dict(table_rows(NOTES.read_text(encoding="utf-8"), "a drive | points"))
    rules = packed("standard")
    agent = agent_strategies(rules)
    last = on(rules.situation[:, :1] == rules.ruleset.downs, agent)
    formation = on(rules.situation[:, 3:] == 1, agent)
    strategy = FootballStrategy("standard")
    football = FootballTable.of(compile_game(strategy), strategy)
    game, defence = football.game, football.policy(agent, 1)

    def gets(offence: TabularPolicy) -> float:
        return game.at_start(policy_value(game, offence, defence))

    choices = backup_of(rules).results(solved("standard").view)[1]
    found = {
        "the agent loses as offence, if only its last downs are its own": lost(last)[0],
        "as defence, likewise": lost(last)[1],
        "as defence, if only punt formation is its own": lost(formation)[1],
        "a best response gets from its defence": best_response(game, defence).value,
        "the optimal offence gets": gets(
            football.policy(
                Strategies(
                    solved("standard").offence_strategy,
                    solved("standard").defence_strategy,
                    choices,
                ),
                0,
            )
        ),
        "uniform play gets": gets(TabularPolicy.uniform(game)),
    }
    for figure, number in found.items():
        text = stated.pop(figure).replace("\N{MINUS SIGN}", "-")
        last_digit = 10 ** -len(text.split(".")[1])
        assert float(text) == pytest.approx(number, abs=0.5 * last_digit), figure
    assert not stated
    best = found["a best response gets from its defence"]
    optimal, uniform = found["the optimal offence gets"], found["uniform play gets"]
    experiments = " ".join(EXPERIMENTS.read_text(encoding="utf-8").split())
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
    names = ("paper-agent", "fitted-agent", "tuned", "uniform")
    habits = ("pass-heavy", "run-heavy", "tendencies")
    rows = [
        "| `{}` | {:.3f} | {:.3f} | {:.2f} |".format(name, *lost(strategies(name)))
        for name in (*names, *habits)
    ]
    stated = NOTES.read_text().splitlines()
    assert not [row for row in rows if row not in stated], "\n".join(rows)
