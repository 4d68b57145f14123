"""The tables of the command fit the terminal: at 80 columns no number or word is broken or cut."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from solvent import GAMES, make_game
from solvent.benchmark.records import AgentRecord, BaselineRecord, TaskRecord
from solvent.cli.app import app
from solvent.cli.parameters import parse_parameters
from solvent.cli.printing import show_results, show_solution
from solvent.cli.tables import show_blocks, show_rows
from solvent.exact import save_policy, solve
from solvent.games.football.chart import SHIPPED
from solvent.model import GameInfo, Outcome, TabularPolicy, compile_game
from solvent.model.registry import game_specs

WIDTH = 80


def check_fits(output: Callable[[int], str], width: int = WIDTH) -> None:
    """What is printed has no line too long, and every word that it has with room enough."""
    narrow, wide = output(width), output(1000)
    assert max(map(len, narrow.splitlines())) <= width
    lost = set(wide.split()) - set(narrow.split())
    assert not lost


def command(*words: str) -> Callable[[int], str]:
    """A command's output at a width."""

    def output(width: int) -> str:
        result = CliRunner().invoke(
            app, list(words), prog_name="solvent", env={"COLUMNS": str(width)}
        )
        assert result.exit_code == 0, result.output
        return result.stdout

    return output


def printed(show: Callable[..., None], *arguments: Any) -> Callable[[int], str]:
    """What a function prints at a width."""

    def output(width: int) -> str:
        console = Console(file=io.StringIO(), width=width)
        show(console, *arguments)
        file = console.file
        assert isinstance(file, io.StringIO)
        return file.getvalue()

    return output


@pytest.mark.parametrize("width", [WIDTH, 60])
def test_the_list_fits(width: int) -> None:
    check_fits(command("list"), width)


@pytest.mark.parametrize("game", [*sorted(GAMES), "football", "FrozenLake-v1"])
def test_the_list_of_a_game_fits(game: str) -> None:
    check_fits(command("list", game))


SOLVED = {
    "blackjack": "",
    "car-rental": "--capacity 3",
    "corridor": "",
    "dyna-maze": "",
    "blotto": "",
    "equipment-replacement": "",
    "ff-combat": "--stamina 4 --opponent-stamina 4 --luck 2:3",
    "football-drive": "--field 20 --start 15",
    "football-strategy": "--chart dice",
    "gambler": "",
    "gamebook": "",
    "goofspiel": "--cards 3",
    "greed": "--limit 8 --sides 4",
    "gridworld": "",
    "pig": "--target 8",
    "racetrack": "--track bend",
    "random-walk": "",
    "windy-gridworld": "",
    "inventory": "",
    "nim": "",
    "rock-paper-scissors": "",
    "soccer": "",
    "tic-tac-toe": "",
    "yahtzee": "--boxes aces,chance --dice 2 --faces 3",
}
"""Parameters with which a game is solved at once."""


def test_every_game_is_looked_at() -> None:
    ours = {name for name, spec in game_specs().items() if spec.make_is_in("solvent")}
    assert set(SOLVED) == ours


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, marks=pytest.mark.slow if game == "football-strategy" else [])
        for game in sorted(SOLVED)
    ],
)
def test_a_solution_fits(game: str) -> None:
    solved = solve(make_game(game, **parse_parameters(SOLVED[game].split())))
    check_fits(printed(show_solution, solved))


@pytest.mark.slow
def test_the_solution_of_the_large_book_fits() -> None:
    check_fits(command("solve", "book", "ninth-tide"))


class Wide(NamedTuple):
    """A state of many fields, in one column of a table that would be broken."""

    turn: int
    values: tuple[int, ...]


class Choice:
    """One choice between two coins, in a state of twenty numbers."""

    info = GameInfo(
        "choice", 1, (("the fair coin", "the other coin"),), True, (0, 1), (), unit="wins"
    )

    def initial(self) -> tuple[Outcome, ...]:
        starts = [Wide(0, (n, *range(100, 120))) for n in (1, 2)]
        return tuple(Outcome(Fraction(1, 2), state) for state in starts)

    def is_terminal(self, state: Wide) -> bool:
        return state.turn == 1

    def legal_actions(self, state: Wide) -> tuple[tuple[int, ...], ...]:
        return ((0, 1),)

    def transition(self, state: Wide, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        won = Fraction(1, 2 + joint_action[0])
        return (
            Outcome(won, Wide(1, (1, state.values[0])), 1),
            Outcome(1 - won, Wide(1, (0, state.values[0]))),
        )

    def observe(self, state: Wide, player: int) -> Any:
        return np.array([*state.values, *[0] * 21][:21], np.float32)

    def draw(self, state: Wide) -> str:
        return str(state)


def test_a_state_that_is_too_wide_for_a_table_is_listed() -> None:
    solved = solve(Choice())
    output = printed(show_solution, solved)
    check_fits(output)
    assert re.search(r"^values +\(1, 100, 101, .*\n.* 119\)", output(WIDTH), re.MULTILINE)
    assert re.search(r"^best +the fair coin *$", output(WIDTH), re.MULTILINE)


@pytest.mark.parametrize("game", ["ff-combat", "gamebook", "greed", "pig"])
def test_a_score_fits(game: str, tmp_path: Path) -> None:
    words = SOLVED[game].split()
    table = compile_game(make_game(game, **parse_parameters(words)))
    save_policy(tmp_path / "policy.npz", TabularPolicy.uniform(table))
    check_fits(command("score", str(tmp_path / "policy.npz"), game, *words))


@pytest.mark.parametrize("chart", SHIPPED)
@pytest.mark.parametrize("width", [WIDTH, 60])
def test_a_chart_fits(chart: str, width: int) -> None:
    check_fits(command("chart", "show", chart), width)


def test_a_table_that_is_too_wide_is_laid_out_in_another_way() -> None:
    names = [f"column-{n}" for n in range(8)]
    rows = [[f"{n}.123456789" for n in range(8)] for _ in range(2)]
    check_fits(printed(show_blocks, names, rows), 40)
    output = printed(lambda console: show_rows(console, names, rows, numbers=names))
    check_fits(output, 40)
    assert output(40).count("column-7  7.123456789") == 2


OPTIMUM = 0.5138417330406193


def agent(name: str, lost: tuple[float, float] | None) -> AgentRecord:
    numbers: dict[str, Any] = dict.fromkeys(
        ("value", "gap", "normalized", "worst_start_gap"), -0.012345678
    )
    numbers |= {f"mode_{key}": value for key, value in numbers.items()}
    return AgentRecord(
        name=name, algorithm="ppo", seed=0, timesteps=1, cpu_seconds=1.0, folder=name,
        exploitability=lost, mode_exploitability=lost, **numbers,
    )  # fmt: skip


def test_the_results_of_a_bench_fit_and_give_a_value_to_each_seat() -> None:
    for_two = TaskRecord(
        env="solvent/Greed-v0",
        game="greed",
        parameters={"limit": 100, "sides": 6},
        optimum=OPTIMUM,
        bracket=(OPTIMUM, OPTIMUM),
        agents=(agent("maskable_ppo 0", (0.1, 0.2)),),
        baselines=(BaselineRecord("optimal", 0.0, 0.0, 1.0, 0.0, (0.0, 0.0)),),
    )
    for_one = TaskRecord(
        env="solvent/FFCombatRandom-v0",
        game="ff-combat",
        parameters={},
        optimum=0.7372926032646748,
        bracket=(0.7372926, 0.7372927),
        agents=(agent("maskable_ppo 0", None),),
        baselines=(
            BaselineRecord("one-step-lookahead", 0.7, 0.037, 0.9, 0.05),
            BaselineRecord("never-ends", -math.inf, math.inf, -math.inf, math.inf),
        ),
    )
    output = printed(show_results, [for_two, for_one])
    check_fits(output)
    told = output(WIDTH)
    # One scale in both seats, on which the optimal player is at the optimum.
    assert re.search(r"^optimal +0\.513842 +0\.486158 ", told, re.MULTILINE)
    assert re.search(r"^maskable_ppo 0 +0\.413842 +0\.286158 ", told, re.MULTILINE)
    assert re.search(r"^never-ends +−∞ +unbounded +−∞ +unbounded", told, re.MULTILINE)
    assert "optimum 0.513842 (chance of winning, a tie counts half)" in told
    assert "optimum 0.737293 (chance of winning)" in told
