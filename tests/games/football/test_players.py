"""Players that need no learning, and the figures that the documentation states of them."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from doc_pages import check_claims, table_rows
from reduced_football import CHARTS, MIXED, RULES, chart_of, random_chart, reduced, reduced_points

from solvent import make_game
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import best_response, policy_value, solve, solve_matrix_game
from solvent.games import FootballStrategy
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
from solvent.games.football.chart import Chart, csv_text, load_chart, parse_result
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import FootballLosses, Strategies, backup_of
from solvent.games.football.solver.points import PointsSolution, solve_points
from solvent.games.football.solver.solved import FootballTable
from solvent.model import TabularPolicy, compile_game
from solvent.model.transforms import against

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

PAGE = Path(__file__).parents[3] / "docs" / "notes" / "football.md"
BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
EXPERIMENTS = PAGE.parents[1] / "experiments.md"
KICK_OFF_LINE = Situation(1, 10, 80)


@cache
def standard() -> PackedRules:
    return pack_rules(load_chart("standard"), Ruleset())


@cache
def solved() -> PointsSolution:
    return solve_points(standard())


@cache
def losses() -> FootballLosses:
    rules = standard()
    return FootballLosses(rules, solved().expected_points(rules), solved().values)


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
    rules = standard()
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
    rules, found = standard(), strategies("tendencies")
    at = [rules.index(Situation(*place)) for place in ((3, 1, 50), (1, 10, 80), (3, 9, 50))]
    runs = run_plays(rules)
    assert found.offence[at][:, :20][:, runs].sum(axis=1) == pytest.approx([0.7, 0.5, 0.1])
    depths = found.defence[at] @ np.arange(10)
    assert depths[0] < depths[1] < depths[2]


@pytest.mark.slow
def test_fitted_constants_are_near_those_of_the_page() -> None:
    [stated] = re.findall(r"fitted: (.*?);", " ".join(PAGE.read_text().split()))
    fitted = fit_constants(standard())
    for constant in stated.split(", "):
        name, value = constant.rsplit(" ", 1)
        digits = len(value.split(".")[1])
        assert round(getattr(fitted, name.replace(" ", "_")), digits) == float(value), name


def test_a_penaltys_two_readings_are_told_apart_by_the_strategies_of_one_situation() -> None:
    fit, rules = script("constants"), standard()
    s = rules.index(fit.TABLES[0])
    readings = [PAPER, replace(PAPER, penalty_alone=True)]
    made = [agent_strategies(rules, reading) for reading in readings]
    apart = sum(np.abs(made[0][side][s] - made[1][side][s]).sum() for side in (0, 1))
    said = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"differ by {100 * apart:.0f} percentage points in the situation of the tables" in said


def rounding_of(table: tuple[float, ...], tenths: int) -> float:
    """By how many points a printed table may miss 100%, some of its entries being in tenths."""
    entries = sum(entry > 0 for entry in table)
    return 0.05 * tenths + 0.005 * (entries - tenths)


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
    stated = " ".join(PAGE.read_text(encoding="utf-8").split())
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
                f"{standard().n_situations} situations without a clock are solved"
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
    found = solved()
    offence, defence = (
        np.where(situations, mine, best)
        for mine, best in zip(
            agent[:2], (found.offence_strategy, found.defence_strategy), strict=True
        )
    )
    return Strategies(offence, defence, agent.choices)


@pytest.mark.slow
def test_the_page_states_what_the_agent_does_in_a_drive() -> None:
    stated = dict(table_rows(PAGE.read_text(encoding="utf-8"), "a drive | points"))
    rules = standard()
    agent = agent_strategies(rules)
    last = on(rules.situation[:, :1] == rules.ruleset.downs, agent)
    formation = on(rules.situation[:, 3:] == 1, agent)
    strategy = FootballStrategy("standard")
    football = FootballTable.of(compile_game(strategy), strategy)
    game, defence = football.game, football.policy(agent, 1)

    def gets(offence: TabularPolicy) -> float:
        return game.at_start(policy_value(game, offence, defence))

    choices = backup_of(rules).results(solved().view)[1]
    found = {
        "the agent loses as offence, if only its last downs are its own": lost(last)[0],
        "as defence, likewise": lost(last)[1],
        "as defence, if only punt formation is its own": lost(formation)[1],
        "a best response gets from its defence": best_response(game, defence).value,
        "the optimal offence gets": gets(
            football.policy(
                Strategies(solved().offence_strategy, solved().defence_strategy, choices), 0
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
    stated = PAGE.read_text().splitlines()
    assert not [row for row in rows if row not in stated], "\n".join(rows)
