"""Every number and figure on the pages of Puterman's problems and of the games for two."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optimal_ranges import LOST, STEPS, WON, Counts, maximin_corners

from solvent import best_response, make_game, policy_value, solve
from solvent.exact import Solution, state_visitation
from solvent.model import TabularGame, TabularPolicy, compile_game

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "textbook"
PAGES = {name: (FOLDER / f"{name}.md").read_text("utf-8") for name in ("puterman", "games-for-two")}


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the table with a heading, cell by cell."""
    lines = PAGES[page].splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    found = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def number(text: str) -> float:
    """The number with which a cell begins."""
    found = re.match(r"−?[\d./]+", text)
    assert found is not None
    return float(Fraction(found[0].replace("−", "-")))


def table_of(name: str, **parameters: Any) -> TabularGame:
    return compile_game(make_game(name, **parameters))


def against_random(name: str, **parameters: Any) -> Solution:
    table = table_of(name, **parameters)
    return best_response(table, TabularPolicy.uniform(table, player=1))


def solved(name: str, **parameters: Any) -> Solution:
    return solve(table_of(name, **parameters))


SHELF: dict[str, Callable[[], Solution]] = {
    **{
        f"inventory, stock {k}, 3 periods left": lambda k=k: solved("inventory", stock=k)
        for k in range(4)
    },
    "equipment replacement, 12 periods": lambda: solved("equipment-replacement"),
    "tic-tac-toe": lambda: solved("tic-tac-toe"),
    "Nim 3, 4, 5": lambda: solved("nim"),
    "Nim 3, 5, 6": lambda: solved("nim", heaps=[3, 5, 6]),
    "misère Nim 1, 1, 1": lambda: solved("nim", heaps=[1, 1, 1], misere=True),
    "rock-paper-scissors, weights 1, 2, 3": lambda: solved("rock-paper-scissors", wins=[1, 2, 3]),
    "Blotto, 4 regiments against 3 on 2 posts, with spoils": lambda: solved(
        "blotto", soldiers=[4, 3], fields=2, spoils=True
    ),
    "Blotto, 5 soldiers each on 3 fields": lambda: solved("blotto"),
    "Goofspiel, 5 cards, random order": lambda: solved("goofspiel"),
    "Goofspiel, 5 cards, against bids at random": lambda: against_random("goofspiel"),
    "Goofspiel, 4 cards, against bids at random": lambda: against_random("goofspiel", cards=4),
    "Littman's soccer": lambda: solved("soccer"),
}
SHELF_ROWS = [row for page in PAGES for row in rows(page, "problem")]


def test_every_problem_of_the_shelf_is_looked_at() -> None:
    assert [row[0] for row in SHELF_ROWS] == [*SHELF]


@pytest.mark.parametrize("row", SHELF_ROWS, ids=lambda row: row[0])
def test_the_shelf(row: list[str]) -> None:
    problem, _, published, ours, bracket = row
    solution = SHELF[problem]()
    assert f"{round(solution.value, 4) + 0.0:.4f}".replace("-", "−") == ours
    assert solution.upper - solution.lower < float(bracket)
    if published[0] != "a":
        assert solution.value == pytest.approx(number(published), abs=1e-9)


@pytest.mark.parametrize("script", ["puterman", "games_for_two"])
def test_the_figures_are_what_the_script_draws(script: str) -> None:
    page = PAGES[script.replace("_", "-")]
    figures = runpy.run_path(str(DOCS / "scripts" / f"{script}.py"))["figures"]()
    assert set(re.findall(r"\]\(([\w-]+\.svg)\)", page)) == set(figures)
    for name, text in figures.items():
        assert (FOLDER / name).read_text("utf-8") == text
        assert set(re.findall(r"https?://[^\s\"'<>]+", text)) == {"http://www.w3.org/2000/svg"}


def test_the_map_of_orders_shows_an_s_s_policy() -> None:
    script = runpy.run_path(str(DOCS / "scripts" / "puterman.py"))
    shop = script["SHOP"]
    assert f"room for {shop.capacity} and a demand of up to {len(shop.demand) - 1}" in " ".join(
        PAGES["puterman"].split()
    )
    orders = script["decisions"](shop)
    levels = {}
    for left in range(1, shop.horizon + 1):
        row = {stock: order for (periods, stock), order in orders.items() if periods == left}
        ordering = [stock for stock in sorted(row) if row[stock]]
        assert ordering == list(range(len(ordering))), "from some stock on nothing is ordered"
        [levels[left]] = {stock + row[stock] for stock in ordering}
    assert levels[1] < levels[2] < levels[12]


def test_the_limits_of_the_machine_are_those_of_the_page() -> None:
    script = runpy.run_path(str(DOCS / "scripts" / "puterman.py"))
    replaced = script["decisions"](script["MACHINE"])
    limit = {
        left: min(
            wear for (periods, wear), action in replaced.items() if action and periods == left
        )
        for left in range(1, 12)
    }
    assert limit == {1: 5} | dict.fromkeys(range(2, 12), 3)
    assert "3 steps of wear, and 5 in the last period" in PAGES["puterman"]


def test_the_bids_of_the_page() -> None:
    script = runpy.run_path(str(DOCS / "scripts" / "games_for_two.py"))
    for_three = script["first_bids"](5)[3]
    assert int(np.argmax(for_three)) + 1 == 4
    assert for_three[2] == pytest.approx(0, abs=1e-9)


def odds(game: TabularGame, first: TabularPolicy, second: TabularPolicy) -> tuple[float, float]:
    """The share of decided games that are won, and how many are decided in 100,000 steps."""
    chances = []
    for sign in (1, -1):
        counted = replace(game, outcome_reward=1.0 * (game.outcome_reward * sign > 0))
        both = [
            TabularPolicy.of(counted, policy.probabilities, player=k)
            for k, policy in enumerate((first, second))
        ]
        chances.append(counted.at_start(policy_value(counted, *both)))
    steps = float(state_visitation(game, first, second)[~game.terminal].sum())
    return chances[0] / sum(chances), 1e5 * sum(chances) / steps


def test_the_trials_of_soccer() -> None:
    table = table_of("soccer")
    solution = solve(table)
    random = TabularPolicy.uniform(table, player=1)
    response = best_response(table, random)
    episodes, live = Counts(table, random), ~table.terminal
    played = WON + LOST
    matrices = solution.action_values.reshape(-1, 5, 5)
    optimal = list(map(maximin_corners, matrices, solution.values[live]))
    after = np.zeros((table.n_states, 3))
    after[live] = episodes.totals(response.policies[0].probabilities[live])
    goals = (episodes.counted + episodes.next @ after[live]) @ (WON - LOST)
    tied = [np.eye(5)[values >= values.max() - 1e-9] for values in goals]

    def printed(corners: list[Any]) -> list[str]:
        shares = [episodes.extreme(corners, WON, played, sign) for sign in (-1, 1)]
        counts = [episodes.extreme(corners, 1e5 * played, STEPS, sign) for sign in (-1, 1)]
        texts = [f"{share:.2%}" for share in shares], [f"{count:,.0f}" for count in counts]
        return [" to ".join(dict.fromkeys(pair)) for pair in texts]

    first, second = rows("games-for-two", "games against a random player")
    # The published numbers of the optimal policy are within the range over all of them.
    assert first[3:] == printed(optimal)
    for cell, bounds in zip(first[1:3], first[3:], strict=True):
        low, high = (number(bound.replace(",", "")) for bound in bounds.split(" to "))
        assert low < number(cell.replace(",", "")) < high
    # The corners are optimal: none loses more than the value to a best response.
    corner = np.zeros((table.n_states, 5))
    corner[live], corner[~live, 0] = [one[-1] for one in optimal], 1
    policy = TabularPolicy.of(table, corner / corner.sum(axis=1, keepdims=True))
    assert best_response(table, policy).value == pytest.approx(0, abs=1e-8)
    # All best responses win as often, and as soon.
    assert second[3:] == printed(tied)
    published = [number(cell.replace(",", "")) for cell in second[1:3]]
    # Within four standard deviations of so many games, and its length of 2%.
    won, decided = odds(table, response.policies[0], random)
    spread = 100 * np.sqrt(won * (1 - won) / published[1])
    assert abs(100 * won - published[0]) < 4 * spread
    assert decided == pytest.approx(published[1], rel=0.02)
    [challenged] = rows("games-for-two", "games against the best response")
    optimum = solution.policies[0]
    won, _ = odds(table, optimum, best_response(table, optimum).policies[1])
    assert challenged[2] == f"{won:.2%}"
