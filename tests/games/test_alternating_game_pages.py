"""Every number on the pages of Greed and Pig is recomputed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from solvent.baselines import baseline_names, make_baseline
from solvent.exact import Solution, exploitability, solve
from solvent.exact.kernels.greed import solve_greed
from solvent.games import Greed, Pig
from solvent.games.greed import LARGEST_TABLE
from solvent.model import TabularGame, TooManyStatesError, compile_game

FOLDER = Path(__file__).parents[2] / "docs" / "games"
PAGES = {name: (FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in ("greed", "pig")}

HEADINGS = [
    "Description", "Action Space", "Observation Space", "Starting State", "Rewards", "Episode End",
    "Arguments", "Rules and sources", "Exact solution", "References", "Version History",
]  # fmt: skip


def table(page: str, first: str) -> list[Any]:
    """The cells of the table whose first heading is `first`, without backquotes."""
    lines = PAGES[page].splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |")) + 2
    rows = []
    for line in lines[begin:]:
        if not line.startswith("|"):
            break
        rows.append(tuple(cell.strip().strip("`") for cell in line.strip("|").split("|")))
    return rows


def slow_if(condition: bool) -> Any:
    return pytest.mark.slow if condition else ()


@cache
def greed(limit: int, sides: int) -> tuple[TabularGame, Solution]:
    game = compile_game(Greed(limit, sides))
    return game, solve(game)


@cache
def pig(target: int, signed: bool) -> tuple[TabularGame, Solution]:
    game = compile_game(Pig(target, signed=signed))
    return game, solve(game)


def ruleset(text: str) -> tuple[int, int]:
    limit, sides = map(int, re.findall(r"\d+", text))
    return limit, sides


@pytest.mark.parametrize("page", PAGES)
def test_the_headings_are_those_of_every_game(page: str) -> None:
    assert re.findall(r"^## (.*)$", PAGES[page], re.MULTILINE) == HEADINGS


@pytest.mark.parametrize("page", PAGES)
def test_the_code_runs(page: str) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)
    exec(compile(code, f"{page}.md", "exec"), {})


@pytest.mark.parametrize("row", table("greed", "ruleset"), ids=lambda row: row[0])
def test_values_of_greed(row: tuple[str, ...]) -> None:
    limit, sides = ruleset(row[0])
    solution = solve_greed(limit, sides)
    assert f"{solution.value:.12f}" == row[2]
    assert solution.upper - solution.lower < float(row[3])
    assert solution.optimal_rolls(0, 0) == [int(row[4])]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=slow_if(row[0] == "(100, 6)"), id=row[0])
        for row in table("greed", "ruleset")
    ],
)
def test_states_and_brackets_of_greed(row: tuple[str, ...]) -> None:
    game, solution = greed(*ruleset(row[0]))
    assert game.n_states == int(row[1])
    assert f"{solution.value:.12f}" == row[2]
    assert solution.upper - solution.lower < float(row[3])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=slow_if(row[1] == "(100, 6)"), id=" ".join(row[:2]))
        for row in table("greed", "baseline")
    ],
)
def test_baselines_of_greed(row: tuple[str, ...]) -> None:
    check_exploitabilities(row[0], *greed(*ruleset(row[1])), row[2:])


def check_exploitabilities(
    name: str, game: TabularGame, solution: Solution, expected: tuple[str, ...]
) -> None:
    for player, text in enumerate(expected):
        lost = exploitability(game, make_baseline(name, game, player), solution)
        assert f"{abs(lost):.6f}" == text


def test_the_page_has_every_baseline_of_greed() -> None:
    small = {name for name, rules, *_ in table("greed", "baseline") if rules == "(20, 4)"}
    usual = {name for name, rules, *_ in table("greed", "baseline") if rules == "(100, 6)"}
    assert small == set(baseline_names(greed(20, 4)[0]))
    assert usual == small | {"sample-game"}


def test_other_numbers_of_greed() -> None:
    assert f"{solve_greed().ratings(0, 0)[25]:.6f}" == "0.505256"
    assert "25 dice at (100, 6), as in the sample game of [3], is worth 0.505256" in PAGES["greed"]
    assert len(Greed().info.actions[0]) == 30
    assert LARGEST_TABLE == 100_000_000
    with pytest.raises(TooManyStatesError):
        compile_game(Greed(144))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=slow_if(row[0] == "100"), id=" ".join(row[:2]))
        for row in table("pig", "target")
    ],
)
def test_values_of_pig(row: tuple[str, ...]) -> None:
    game, solution = pig(int(row[0]), row[1] == "true")
    assert game.n_states == int(row[2])
    assert solution.value == pytest.approx(float(row[3]), abs=0.51 * 10.0 ** (2 - len(row[3])))
    assert solution.upper - solution.lower < float(row[4])


@pytest.mark.parametrize("row", table("pig", "baseline"), ids=lambda row: row[0])
def test_baselines_of_pig(row: tuple[str, ...]) -> None:
    check_exploitabilities(row[0], *pig(int(row[1]), False), row[2:])
