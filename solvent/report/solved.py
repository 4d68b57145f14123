"""A task of a bench with its game solved again and its agents' policies scored again.

All numbers that the page calls exact are computed here, not read: the optimum, its bracket, and
every figure of agents and baselines. A folder whose figures and policies disagree is refused.
Facts that do not follow from a policy (steps, CPU time, names, learning curves) are shown as
recorded, and the page says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from solvent.benchmark.policies import (
    Learned,
    recomputed,
    run_policies,
    score_baselines,
)
from solvent.benchmark.records import AgentRecord, BaselineRecord, TaskRecord
from solvent.benchmark.suites import TaskGame, task_game
from solvent.exact import (
    CertificateError,
    GapLocation,
    ImproperGameError,
    Solution,
    SolvedGame,
    SolvedTable,
    StoreError,
    locate_gap,
)
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.exact.scoring import LEARNED
from solvent.model import TabularGame, TabularPolicy

TOLERANCE = 1e-9
"""The largest allowed difference between a stated and a computed figure, relative to the computed
figure if that is larger than 1."""


@dataclass(frozen=True, eq=False)
class ScoredAgent:
    """An agent with its greedy policies, one for each seat.

    Attributes:
        agent: The agent's record, with the figures that were computed.
        curve: The agent's learning curve as recorded.
        policies: The agent's greedy policy in each seat.
        locations: The locations of the gaps of `policies`.
    """

    agent: AgentRecord
    curve: tuple[Evaluation, ...]
    policies: tuple[TabularPolicy, ...]
    locations: tuple[GapLocation, ...]


@dataclass(frozen=True, eq=False)
class SolvedTask(SolvedTable):
    """A task with its game solved.

    Attributes:
        task: The task's record, with the figures that were computed.
        agents: The agents in the order of the record.
        seats: The seats that agents have learned, one or both.
    """

    task: TaskRecord
    agents: tuple[ScoredAgent, ...] = ()
    seats: tuple[int, ...] = (0,)


def solve_task(task: TaskRecord, folder: Path) -> SolvedTask:
    """Solve the game of a task and score its agents.

    Args:
        task: The record, as :func:`solvent.benchmark.records.read_bench` returns it.
        folder: The folder that contains the agents' folders.

    Raises:
        StoreError: If a recorded number is not what the policies give, or the file of a policy is
            missing, damaged or for another game.
        ValueError: If there is no such game.
    """
    where = f"{folder}: {task.env}"
    assert task.task is not None, "a record of a file has a task"
    game = task_game(task.task)
    if task.model_hash != game.table.model_hash:
        raise StoreError(
            f"{where}: is of the model {task.model_hash[:12]}, where this version has "
            f"{game.table.model_hash[:12]}; the rules or an opponent have changed"
        )
    for name in ("name", "folder"):
        told = [getattr(agent, name) for agent in task.agents]
        for one in told:
            if told.count(one) > 1:
                raise StoreError(f"{where}: two agents have the {name} {one!r:.80}")
    places = [folder / agent.folder for agent in task.agents]
    runs = [run_policies(place, game) for place in places]
    found = recomputed(task, game, runs, where, TOLERANCE)
    agents = (
        _solved_agent(agent, place, run, game)
        for agent, place, run in zip(found.agents, places, runs, strict=True)
    )
    return SolvedTask(game.rules, game.table, game.solution, found, tuple(agents), game.seats)


def game_task(solved: SolvedTable) -> SolvedTask:
    """Return the task of a solved game, with its baselines scored and no agents.

    Args:
        solved: The game with its table and the optimum.
    """
    task = game_record(solved, score_baselines(solved.table, solved.solution))
    seats = (0, 1)[: solved.table.info.players]
    return SolvedTask(solved.game, solved.table, solved.solution, task, seats=seats)


def game_record(solved: SolvedGame, baselines: Sequence[BaselineRecord]) -> TaskRecord:
    """Return the record of the task of a solved game, without agents."""
    info = solved.game.info
    return TaskRecord(
        env=info.name,
        game=info.name,
        parameters=dict(info.parameters),
        optimum=solved.value,
        bracket=(solved.lower, solved.upper),
        agents=(),
        baselines=tuple(baselines),
    )


def _solved_agent(
    agent: AgentRecord, place: Path, policies: Sequence[Learned], game: TaskGame
) -> ScoredAgent:
    curve: tuple[Evaluation, ...] = tuple(read_curve(place / "curve.csv"))
    if not curve:
        raise StoreError(f"{place / 'curve.csv'}: holds no point")
    modes = tuple(own.mode for own in policies)
    locations = tuple(_located(game.table, policy, game.solution) for policy in modes)
    return ScoredAgent(agent, curve, modes, locations)


def _located(table: TabularGame, policy: TabularPolicy, solution: Solution) -> GapLocation:
    """Locate a gap; assign it to no state if the policy need not end an episode."""
    try:
        return locate_gap(table, policy, solution, tolerance=LEARNED)
    except (CertificateError, ImproperGameError):
        nowhere = np.zeros(table.n_states)
        return GapLocation(inf, nowhere, nowhere, nowhere, 0.0)
