"""A task of a bench with its game solved again and its agents' policies scored again.

Nothing that the page draws is taken on trust: the numbers of the results are recomputed from the
files of the policies, and a folder whose numbers and policies disagree is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from solvent.exact import (
    GapLocation,
    Solution,
    load_policy,
    locate_gap,
    score,
    solve,
)
from solvent.games import make_game
from solvent.model import Game, TabularGame, TabularPolicy, compile_game
from solvent.report.results import Agent, CurvePoint, ResultsError, Task, read_curve

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class SolvedAgent:
    """An agent with its most probable actions as a policy.

    Attributes:
        agent: Its record.
        curve: Its exact learning curve.
        policy: Its most probable actions.
        location: Where the gap of `policy` is lost.
    """

    agent: Agent
    curve: tuple[CurvePoint, ...]
    policy: TabularPolicy
    location: GapLocation


@dataclass(frozen=True, eq=False)
class SolvedTask:
    """A task with its game solved.

    Attributes:
        task: Its record.
        game: The rules.
        table: The same as arrays.
        solution: The optimum.
        agents: In the order of the record.
    """

    task: Task
    game: Game
    table: TabularGame
    solution: Solution
    agents: tuple[SolvedAgent, ...]


def solve_task(task: Task, folder: Path) -> SolvedTask:
    """Solve the game of a task and score its agents.

    Args:
        task: The record.
        folder: In which the folders of the agents are.

    Raises:
        ResultsError: If a recorded number is not what the policies give.
        StoreError: If the file of a policy is missing, damaged or for another game.
        ValueError: If there is no such game.
    """
    game = make_game(task.game, **task.parameters)
    table = compile_game(game)
    solution = solve(table)
    _compare("optimum", task.optimum, solution.value, f"{folder}: {task.env}")
    agents = tuple(_solve_agent(agent, folder, table, solution) for agent in task.agents)
    return SolvedTask(task, game, table, solution, agents)


def _solve_agent(agent: Agent, folder: Path, table: TabularGame, solution: Solution) -> SolvedAgent:
    place = folder / agent.folder
    sampled = load_policy(place / "policy.npz", table)
    mode = load_policy(place / "policy_mode.npz", table)
    where = f"{place}: {agent.name}"
    _compare("value", agent.value, score(table, sampled, solution).value, where)
    _compare("mode_value", agent.mode_value, score(table, mode, solution).value, where)
    return SolvedAgent(
        agent=agent,
        curve=read_curve(place / "curve.csv"),
        policy=mode,
        location=locate_gap(table, mode, solution),
    )


def _compare(name: str, stated: float, computed: float, where: str) -> None:
    if not abs(stated - computed) <= TOLERANCE:
        raise ResultsError(f"{where}: {name} is stated as {stated!r}, but computed as {computed!r}")
