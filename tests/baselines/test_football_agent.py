"""The published agent's utilities, one test for each sentence, and its mixes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from reduced_football import CHARTS, RULES

from solvent.baselines.football_agent import (
    Constants,
    agent_mixes,
    call_payoffs,
    field_goal,
    result_utilities,
)
from solvent.exact import solve_matrix_game
from solvent.games.football.chart import Chart
from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.results import parse_result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation

CODES = ("4", "5", "8", "10", "-2", "-4", "inc", "fum", "fum-4", "int20", "off5", "def5", "def5f",
         "off10/7", "def5/12", "def5/inc")  # fmt: skip
CODED = Chart.from_codes("coded", [[code] for code in CODES], ["punt40"], ["punt45"])


@cache
def packed(chart: Chart = CODED) -> PackedRules:
    return pack_rules(chart, Ruleset())


def utility(at: tuple[Any, ...], code: str, **constants: float) -> float:
    rules = packed()
    worth, _ = result_utilities(rules, Constants(**constants))
    found = CODED.results.index(parse_result(code))
    return float(worth[rules.index(Situation(*at)), found])


def test_yards_and_a_share_of_the_first_down() -> None:
    assert utility((1, 10, 80), "4") == pytest.approx(4 + 10 * 4 / 10)
    assert utility((1, 10, 80), "-2") == pytest.approx(-2 - 10 * 2 / 10)
    assert utility((1, 10, 80), "4", first_down=20) == pytest.approx(4 + 20 * 4 / 10)
    assert utility((2, 7, 80), "8") == pytest.approx(8 + 10)
    # No more than the whole bonus is lost.
    assert utility((2, 1, 80), "-4") == pytest.approx(-4 - 10)


def test_a_favourable_down_gets_a_fixed_share_more() -> None:
    assert utility((1, 10, 80), "5") == pytest.approx(5 + 5 + 2.5)
    assert utility((2, 6, 80), "4") == pytest.approx(4 + 10 * 4 / 6 + 2.5)
    assert utility((2, 7, 80), "4") == pytest.approx(4 + 10 * 4 / 7)
    # A penalty on second down leaves a second down, which did not become favourable by a play.
    assert utility((2, 6, 80), "def5") == pytest.approx(5 + 10 * 5 / 6)


def test_a_touchdown_is_a_first_down_too() -> None:
    assert utility((2, 6, 7), "10") == pytest.approx(7 + 10 + 40)


def test_a_touchdown_of_the_defence_costs_the_bonus() -> None:
    assert utility((2, 6, 97), "fum-4") == pytest.approx(-3 - 40 - 50)


def test_turnovers() -> None:
    assert utility((1, 10, 80), "fum") == pytest.approx(-50)
    assert utility((1, 10, 80), "int20") == pytest.approx(20 - 50)
    assert utility((1, 10, 80), "punt40") == pytest.approx(40 - 50)


def test_the_last_down_has_a_penalty_of_its_own() -> None:
    assert utility((4, 10, 80), "fum") == pytest.approx(-20)
    assert utility((4, 10, 80), "8") == pytest.approx(8 - 20)
    assert utility((4, 10, 80), "punt40") == pytest.approx(40 - 20)
    assert utility((4, 10, 80), "10") == pytest.approx(10 + 10)


def test_a_safety() -> None:
    assert utility((1, 10, 98), "-4") == pytest.approx(-2 - 30)


def test_a_penalty_on_first_down_is_no_first_down() -> None:
    assert utility((1, 10, 80), "off5") == pytest.approx(-5 - 10 * 5 / 10)
    assert utility((1, 10, 80), "def5") == pytest.approx(5 + 10 * 5 / 10)
    assert utility((1, 10, 80), "def5f") == pytest.approx(5 + 10)
    assert utility((1, 5, 80), "def5") == pytest.approx(5 + 10)
    assert utility((3, 6, 80), "def5f") == pytest.approx(5 + 10)


def test_a_field_goal_gets_three_sevenths_of_a_touchdown() -> None:
    rules = packed()
    worth, _ = result_utilities(rules)
    last = worth[rules.index(Situation(4, 5, 20)), field_goal(rules)]
    assert last == pytest.approx(28 / 36 * 3 / 7 * 40 - 8 / 36 * 20)


@pytest.mark.parametrize(
    ("code", "options", "better"),
    [("off10/7", ("off10", "7"), min), ("def5/12", ("def5", "12"), max)],
)
def test_who_was_offended_takes_what_is_worth_more_to_it(
    code: str, options: tuple[str, str], better: Any
) -> None:
    rules = packed()
    worth, choices = result_utilities(rules)
    number = {result.code: r for r, result in enumerate(CODED.results)}
    penalty, play = (worth[:, number[option]] for option in options)
    assert (
        worth[:, number[code]] == [better(pair) for pair in zip(penalty, play, strict=True)]
    ).all()
    column = [result.code for result in CODED.results if result.options].index(code)
    taken = choices[:, column] == 1
    assert (np.where(taken, penalty, play) == worth[:, number[code]]).all()
    assert 0 < taken.sum() < len(taken)


@pytest.mark.parametrize("chart", [*CHARTS, load_chart("dice")], ids=lambda chart: chart.name)
def test_the_mixes_are_an_equilibrium_of_the_utilities(chart: Chart) -> None:
    reduced = chart in CHARTS
    rules = pack_rules(chart, Ruleset.read(RULES if reduced else {}))
    mixes = agent_mixes(rules)
    payoffs = call_payoffs(rules, result_utilities(rules)[0])
    plays, last = chart.plays, rules.ruleset.downs
    step = 1 if reduced else 997
    for s in range(0, rules.n_situations, step):
        down, _, _, punting = rules.situation[s].tolist()
        calls = [c for c in np.flatnonzero(rules.legal[s]) if c <= plays]
        if punting:
            calls.append(plays + 3)
        game = solve_matrix_game(payoffs[s, calls])
        assert (payoffs[s, calls] @ mixes.defence[s]).max() == pytest.approx(game.value, abs=1e-7)
        actions = [min(c, plays + 2) for c in calls]
        assert mixes.offence[s].sum() == pytest.approx(1)
        if down < last or punting:
            secured = (mixes.offence[s, actions] @ payoffs[s, calls]).min()
            assert secured == pytest.approx(game.value, abs=1e-7)


def test_on_the_last_down_it_takes_the_best_of_three() -> None:
    rules = packed(load_chart("standard"))
    mixes = agent_mixes(rules)
    plays = rules.chart.plays

    def offence(at: Situation) -> Any:
        return mixes.offence[rules.index(at)]

    assert offence(Situation(4, 10, 80))[plays + 2] == 1
    assert offence(Situation(4, 10, 15))[plays + 1] == 1
    assert offence(Situation(4, 1, 2))[:plays].sum() == pytest.approx(1)
    # It tries no field goal before.
    early = rules.situation[:, 0] < 4
    assert not mixes.offence[early, plays + 1].any()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "10", True, None])
def test_constants_are_numbers(value: Any) -> None:
    with pytest.raises(ValueError, match=r"turnover is .*; allowed are"):
        Constants(turnover=value)
