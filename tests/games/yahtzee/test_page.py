"""The page on Yahtzee: every number of its tables is computed, and its figure is the script's."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent.games.yahtzee.layers import YahtzeeSolution, solved_yahtzee
from solvent.games.yahtzee.rules import Turn, Yahtzee
from solvent.games.yahtzee.scores import YahtzeeScore, score_policy

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "textbook" / "yahtzee.md").read_text(encoding="utf-8")
FACTS = {
    cells[0]: tuple(cells[1:])
    for line in re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE)
    if len(cells := line.split(" | ")) == 5
}


def ours(fact: str) -> float:
    return float(FACTS[fact][2].replace(",", ""))


def published(fact: str) -> float:
    return float(FACTS[fact][1])


def bounds(fact: str) -> list[float]:
    """The least and the largest of a number that is printed as a range."""
    return [float(text) for text in FACTS[fact][2].split(" to ")]


@pytest.fixture(scope="module")
def free() -> YahtzeeSolution:
    return solved_yahtzee(Yahtzee(joker="free"))


def check_value(fact: str, solution: YahtzeeSolution, digits: int) -> None:
    assert ours(fact) == pytest.approx(solution.value, abs=5e-10)
    # The published number has so many digits after the point, not rounded in one of the sources.
    assert abs(solution.value - published(fact)) < 10.0**-digits
    assert solution.upper - solution.lower < float(FACTS[fact][3])


def test_the_official_game(official: YahtzeeSolution) -> None:
    check_value("expected score, official rules", official, 4)
    assert ours("cards that can be reached, full ones included") == official.layers.cards
    assert ours("largest score") == published("largest score") == official.game.most
    rules = official.layers.rules
    said = FACTS["rolls of five dice, and dice that may be kept of them"][2]
    assert said == f"{len(rules.dice) - rules.base}, {len(rules.dice)}"
    assert f"{official.layers.n_states:,} *cards*" in PAGE
    assert 756 * official.layers.n_states // 10**6 == 405
    assert "405 million" in PAGE


@pytest.mark.slow
def test_the_games_of_others(free: YahtzeeSolution) -> None:
    check_value("expected score, jokers go anywhere", free, 4)
    plain = solved_yahtzee(Yahtzee(joker="none", yahtzee_bonus=0))
    fact = "expected score, no jokers, no bonus for a further Yahtzee"
    check_value(fact, plain, 2)


@pytest.fixture(scope="module")
def found(official: YahtzeeSolution) -> dict[str, YahtzeeScore]:
    return {name: score_policy(official, name, scores=True) for name in ("optimal", "greedy")}


@pytest.mark.slow
def test_the_distribution_of_the_score(
    found: dict[str, YahtzeeScore], free: YahtzeeSolution
) -> None:
    least = bounds("standard deviation, official rules")[0]
    assert least == round(found["optimal"].deviation, 5)
    greedy = found["greedy"]
    fact = "expected score of greedy play, official rules"
    assert ours(fact) == pytest.approx(greedy.value, abs=5e-10)
    assert greedy.error < float(FACTS[fact][3])
    of_verhoeff = score_policy(free, "optimal", scores=True)
    deviation = "standard deviation, jokers go anywhere"
    assert bounds(deviation)[0] == round(of_verhoeff.deviation, 5)
    assert round(bounds(deviation)[1], 4) == published(deviation)
    median = "median, jokers go anywhere"
    assert ours(median) == published(median) == of_verhoeff.quantile(0.5)


@cache
def script() -> dict[str, Any]:
    """What the script of the page has."""
    return runpy.run_path(str(DOCS / "scripts" / "yahtzee.py"))


def points_of(svg: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    lines = re.findall(r'<polyline[^>]* points="([^"]+)"', svg)
    return np.array([[*map(float, pair.split(","))] for line in lines for pair in line.split()])


def test_the_range_of_the_deviation_is_that_of_all_tied_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a form that is small enough, by every way to break its ties."""
    # Compiling takes longer than a form so small.
    names = script()["deviations"].__globals__
    monkeypatch.setitem(names, "moments_of_turn", names["moments_of_turn"].py_func)
    solution = solved_yahtzee(Yahtzee(boxes="full-house,chance", dice=3, faces=3, rolls=2))
    game = solution.game

    @cache
    def moments(state: Turn, sign: int) -> float:
        """The largest or least second moment of the points to come."""
        if game.is_terminal(state):
            return 0.0
        values = solution.action_values(state, 0)
        best = max(values.values()) - 1e-9
        tied = []
        for action in (action for action, value in values.items() if value >= best):
            total = 0.0
            for outcome in game.transition(state, (action,)):
                points, after = float(outcome.reward), outcome.state
                later = 0.0 if game.is_terminal(after) else solution.value_of(after)
                moment = points**2 + 2 * points * later + moments(after, sign)
                total += float(outcome.probability) * moment
            tied.append(sign * total)
        return sign * max(tied)

    [start] = game.initial()
    own = [(moments(start.state, sign) - solution.value**2) ** 0.5 for sign in (-1, 1)]
    assert script()["deviations"](solution) == pytest.approx(own)
    assert own[1] - own[0] > 0.3


@pytest.mark.slow
def test_the_deviations_are_those_of_all_optimal_policies(
    official: YahtzeeSolution, free: YahtzeeSolution
) -> None:
    for rules, solution in (("official rules", official), ("jokers go anywhere", free)):
        found = script()["deviations"](solution)
        assert bounds(f"standard deviation, {rules}") == [round(one, 5) for one in found]


@pytest.mark.slow
def test_the_figure_is_that_of_the_script(found: dict[str, YahtzeeScore]) -> None:
    drawn = (DOCS / "textbook" / "yahtzee-scores.svg").read_text(encoding="utf-8")
    # A unit in the last place may be rounded otherwise elsewhere.
    np.testing.assert_allclose(points_of(script()["picture"](found)), points_of(drawn), atol=0.11)
    assert len(points_of(drawn)) == 2 * 501
