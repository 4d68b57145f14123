"""The published agent's utilities, one test for each sentence, and its strategies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from reduced_football import CHARTS, RULES

from solvent.exact import solve_matrix_game
from solvent.games.football.baselines.agent import (
    Constants,
    agent_strategies,
    field_goal,
    result_utilities,
)
from solvent.games.football.chart import Chart
from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.results import parse_result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import backup_of

CODES = ("4", "5", "8", "10", "-2", "-4", "inc", "fum", "fum-4", "int20", "off5", "def5", "def5f",
         "off10/7", "def5/12", "def5/inc")  # fmt: skip
CODED = Chart.from_codes("coded", [[code] for code in CODES], ["punt40"], ["punt45"])


@cache
def packed(chart: Chart = CODED) -> PackedRules:
    return pack_rules(chart, Ruleset())


PRORATED = Constants(
    first_down=10, turnover=50, penalty=0, share=1, favourable_share=0.25, favourable_gain=5
)


def utility(at: tuple[Any, ...], code: str, constants: Constants = PRORATED) -> float:
    rules = packed()
    worth, _ = result_utilities(rules, constants)
    found = CODED.results.index(parse_result(code))
    return float(worth[rules.index(Situation(*at)), found])


def test_the_constants_are_those_that_match_the_printed_tables() -> None:
    # Fitted to McCulloch 2015, Tables 1 and 2, on the printed game's chart.
    fitted = Constants()
    assert (fitted.first_down, fitted.turnover, fitted.penalty) == (51.8, 261, -8)
    assert (fitted.share, fitted.favourable_share, fitted.favourable_gain) == (0.02, 0.3, 4)
    assert not fitted.penalty_alone


UTILITIES = (
    ("yards and a share of the first down", (1, 10, 80), "4", 4 + 10 * 4 / 10),
    ("a loss takes its share", (1, 10, 80), "-2", -2 - 10 * 2 / 10),
    ("a first down", (2, 7, 80), "8", 8 + 10),
    ("no more than the whole bonus is lost", (2, 1, 80), "-4", -4 - 10),
    ("a touchdown is a first down too", (2, 6, 7), "10", 7 + 10 + 40),
    ("a touchdown of the defence", (2, 6, 97), "fum-4", -3 - 40 - 50),
    ("a fumble", (1, 10, 80), "fum", -50),
    ("an interception", (1, 10, 80), "int20", 20 - 50),
    ("a punt", (1, 10, 80), "punt40", 40 - 50),
    ("a fumble on the last down", (4, 10, 80), "fum", -20),
    ("lost on downs", (4, 10, 80), "8", 8 - 20),
    ("a punt on the last down", (4, 10, 80), "punt40", 40 - 20),
    ("a first down on the last down", (4, 10, 80), "10", 10 + 10),
    ("a safety", (1, 10, 98), "-4", -2 - 30),
    ("a penalty on the offence", (1, 10, 80), "off5", -5 - 10 * 5 / 10),
    ("a penalty on first down makes none", (1, 10, 80), "def5", 5 + 10 * 5 / 10),
    ("an automatic first down", (1, 10, 80), "def5f", 5 + 10),
    ("a penalty to the line to gain", (1, 5, 80), "def5", 5 + 10),
    ("the offended defence takes the worse", (1, 10, 80), "off10/7", -10 - 10),
    ("the offended offence takes the better", (1, 10, 80), "def5/12", 12 + 10),
)


def test_the_utility_of_a_result_is_as_the_paper_says() -> None:
    for rule, at, code, wanted in UTILITIES:
        assert utility(at, code) == pytest.approx(wanted), rule


def test_what_is_not_prorated_is_a_jump_at_the_first_down() -> None:
    jump = replace(PRORATED, share=0.25)
    assert utility((2, 12, 80), "8", jump) == pytest.approx(8 + 10 * 0.25 * 8 / 12 + 2.5)
    assert utility((2, 9, 80), "10", jump) == pytest.approx(10 + 10)
    assert utility((2, 1, 80), "-4", jump) == pytest.approx(-4 - 10 * 0.25)


def test_a_down_is_favourable_after_a_gain() -> None:
    without = replace(PRORATED, favourable_gain=4)
    for at, prorated in (((1, 10, 80), 10 * 4 / 10), ((2, 10, 80), 10 * 4 / 10)):
        assert utility(at, "4", without) == pytest.approx(4 + prorated + 2.5)
    assert utility((1, 10, 80), "-2", without) == pytest.approx(-2 - 2)
    farther = replace(without, favourable_gain=4.5)
    assert utility((1, 10, 80), "4", farther) == pytest.approx(4 + 4)
    assert utility((1, 10, 80), "5", farther) == pytest.approx(5 + 5 + 2.5)
    # Neither a first down nor a last one is favourable, nor one that a penalty repeats.
    assert utility((1, 4, 80), "4", without) == pytest.approx(4 + 10)
    assert utility((3, 10, 80), "4", without) == pytest.approx(4 + 4)
    assert utility((2, 10, 80), "def5", without) == pytest.approx(5 + 5)


def test_a_penalty_has_a_constant_of_its_own() -> None:
    penalized = replace(PRORATED, penalty=-8)
    for code in ("off5", "def5", "def5f"):
        expected = utility((1, 10, 80), code) - 8
        assert utility((1, 10, 80), code, penalized) == pytest.approx(expected)
    assert utility((1, 10, 80), "5", penalized) == utility((1, 10, 80), "5")
    # It counts when a penalty is weighed against a play.
    assert utility((1, 10, 80), "def5/12", penalized) == utility((1, 10, 80), "12")
    assert utility((1, 10, 80), "off10/7", penalized) == pytest.approx(-10 - 10 - 8)


def test_a_penaltys_constant_may_be_all_that_it_counts() -> None:
    alone = replace(PRORATED, penalty=-8, penalty_alone=True)
    for code in ("off5", "def5", "def5f"):
        assert utility((1, 10, 80), code, alone) == -8
    assert utility((1, 10, 80), "5", alone) == utility((1, 10, 80), "5")
    # The offended side takes the penalty where -8 is better for it.
    assert utility((1, 10, 80), "def5/inc", alone) == utility((1, 10, 80), "inc")
    assert utility((1, 10, 80), "off10/7", alone) == -8


def test_a_field_goal_gets_three_sevenths_of_a_touchdown() -> None:
    rules = packed()
    worth, _ = result_utilities(rules, PRORATED)
    last = worth[rules.index(Situation(4, 5, 20)), field_goal(rules)]
    assert last == pytest.approx(28 / 36 * 3 / 7 * 40 - 8 / 36 * 20)


@pytest.mark.parametrize("chart", [*CHARTS, load_chart("dice")], ids=lambda chart: chart.name)
def test_the_strategies_are_an_equilibrium_of_the_utilities(chart: Chart) -> None:
    reduced = chart in CHARTS
    rules = pack_rules(chart, Ruleset.read(RULES if reduced else {}))
    strategies = agent_strategies(rules)
    payoffs = backup_of(rules).payoffs(result_utilities(rules)[0])
    plays, last = chart.plays, rules.ruleset.downs
    step = 1 if reduced else 997
    for s in range(0, rules.n_situations, step):
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


def test_on_the_last_down_it_takes_the_best_of_three() -> None:
    rules = packed(load_chart("standard"))
    strategies = agent_strategies(rules)
    plays = rules.chart.plays

    def offence(at: Situation) -> Any:
        return strategies.offence[rules.index(at)]

    assert offence(Situation(4, 10, 80))[plays + 2] == 1
    assert offence(Situation(4, 10, 15))[plays + 1] == 1
    assert offence(Situation(4, 1, 2))[:plays].sum() == pytest.approx(1)
    # It tries no field goal before.
    early = rules.situation[:, 0] < 4
    assert not strategies.offence[early, plays + 1].any()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "10", True, None])
def test_constants_are_numbers(value: Any) -> None:
    with pytest.raises(ValueError, match=r"turnover is .*; allowed are"):
        Constants(turnover=value)
