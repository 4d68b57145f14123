"""A task of a bench with its game solved again and its agents' policies scored again.

Nothing that the page draws is taken on trust: the numbers of the results are recomputed from the
files of the policies, and a folder whose numbers and policies disagree is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from solvent.baselines import baseline_policies
from solvent.exact import (
    GapLocation,
    Solution,
    load_policy,
    locate_gap,
    score,
    solve,
)
from solvent.exact.scoring import LEARNED
from solvent.games import make_game
from solvent.model import Game, TabularGame, TabularPolicy, compile_game
from solvent.report.results import Agent, Baseline, CurvePoint, ResultsError, Task, read_curve

TOLERANCE = 1e-9
"""How far a stated figure may be from the computed one."""


@dataclass(frozen=True, eq=False)
class SolvedAgent:
    """An agent with its most probable actions as policies, one for each seat.

    Attributes:
        agent: Its record.
        curve: Its exact learning curve.
        policies: Its most probable actions in each seat.
        locations: Where the gaps of `policies` are lost.
    """

    agent: Agent
    curve: tuple[CurvePoint, ...]
    policies: tuple[TabularPolicy, ...]
    locations: tuple[GapLocation, ...]

    @property
    def policy(self) -> TabularPolicy:
        """Its most probable actions in seat 0."""
        return self.policies[0]

    @property
    def location(self) -> GapLocation:
        """Where the gap of `policy` is lost."""
        return self.locations[0]


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


def solve_game(game: Game) -> SolvedTask:
    """Solve a game and score the baselines, with no agents.

    Raises:
        TooManyStatesError: If the game is too large for a table.
        ValueError: If the game cannot be solved.
    """
    table = compile_game(game)
    solution = solve(table)
    seats = [baseline_policies(table, player=p) for p in range(table.info.players)]
    baselines = []
    for name in seats[0]:
        scores = [score(table, policies[name], solution) for policies in seats]
        gaps = tuple(result.optimality_gap for result in scores)
        baselines.append(
            Baseline(
                name,
                mean(result.value for result in scores),
                mean(gaps),
                mean(result.normalized for result in scores),
                max(result.worst_start_gap for result in scores),
                (gaps[0], gaps[1]) if len(gaps) == 2 else None,
            )
        )
    info = game.info
    task = Task(
        env=info.name,
        game=info.name,
        parameters=dict(info.parameters),
        optimum=solution.value,
        bracket=(solution.lower, solution.upper),
        agents=(),
        baselines=tuple(baselines),
    )
    return SolvedTask(task, game, table, solution, ())


def _solve_agent(agent: Agent, folder: Path, table: TabularGame, solution: Solution) -> SolvedAgent:
    place = folder / agent.folder
    where = f"{place}: {agent.name}"
    seats = ("_0", "_1") if table.info.players == 2 else ("",)
    sampled = tuple(load_policy(place / f"policy{seat}.npz", table) for seat in seats)
    mode = tuple(load_policy(place / f"policy_mode{seat}.npz", table) for seat in seats)
    for prefix, policies, pair in (
        ("", sampled, agent.exploitability),
        ("mode_", mode, agent.mode_exploitability),
    ):
        scores = [score(table, policy, solution, tolerance=LEARNED) for policy in policies]
        value = mean(result.value for result in scores)
        _compare(f"{prefix}value", getattr(agent, f"{prefix}value"), value, where)
        if table.info.players == 2:
            if pair is None:
                raise ResultsError(f"{where}: {prefix}exploitability is missing")
            for stated, result in zip(pair, scores, strict=True):
                _compare(f"{prefix}exploitability", stated, result.optimality_gap, where)
    return SolvedAgent(
        agent=agent,
        curve=read_curve(place / "curve.csv"),
        policies=mode,
        locations=tuple(locate_gap(table, policy, solution, tolerance=LEARNED) for policy in mode),
    )


def _compare(name: str, stated: float, computed: float, where: str) -> None:
    if not abs(stated - computed) <= TOLERANCE:
        raise ResultsError(f"{where}: {name} is stated as {stated!r}, but computed as {computed!r}")
