"""A task of a bench with its game solved again and its agents' policies scored again.

Nothing that the page calls exact is taken on trust: optimum, bracket, and every figure of agents
and baselines are computed here, and take the place of those of the results. A folder whose figures
and policies disagree is refused. What no policy can tell (steps, CPU time, names, learning curves,
of which only the last network is kept) is as recorded, and the page says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from solvent.baselines import baseline_names
from solvent.benchmark.policies import best_constant, recorded_score, score_baselines
from solvent.benchmark.records import AgentRecord, BaselineRecord, TaskRecord, figures
from solvent.benchmark.task_game import task_game
from solvent.exact import (
    CertificateError,
    GapLocation,
    ImproperGameError,
    Solution,
    SolvedGame,
    SolvedTable,
    StoreError,
    cached_solution,
    load_policy,
    locate_gap,
)
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.exact.scoring import LEARNED
from solvent.model import Game, TabularGame, TabularPolicy, cached_table
from solvent.model.registry import make_game

TOLERANCE = 1e-9
"""The largest allowed difference between a stated and a computed figure, in units of the computed
one if that is larger than 1."""

FIGURES = ("value", "gap", "normalized", "worst_start_gap")
"""The figures of a policy."""


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

    @property
    def policy(self) -> TabularPolicy:
        """The agent's greedy policy in seat 0."""
        return self.policies[0]

    @property
    def location(self) -> GapLocation:
        """The location of the gap of `policy`."""
        return self.locations[0]


@dataclass(frozen=True, eq=False)
class SolvedTask:
    """A task with its game solved.

    Attributes:
        task: The task's record, with the figures that were computed.
        game: The rules.
        table: The rules as arrays.
        solution: The optimum.
        agents: The agents in the order of the record.
        seats: The seats that agents have learned, one or both.
    """

    task: TaskRecord
    game: Game
    table: TabularGame
    solution: Solution
    agents: tuple[ScoredAgent, ...]
    seats: tuple[int, ...] = (0,)


def solve_task(task: TaskRecord, folder: Path) -> SolvedTask:
    """Solve the game of a task and score its agents.

    Args:
        task: The record.
        folder: The folder that contains the agents' folders.

    Raises:
        StoreError: If a recorded number is not what the policies give, or the file of a policy is
            missing, damaged or for another game.
        ValueError: If there is no such game.
    """
    where = f"{folder}: {task.env}"
    if task.task is None:
        game = make_game(task.game, **task.parameters)
        table = cached_table(game)
        solution = cached_solution(table)
        seats = (0, 1)[: table.info.players]
        value, *bracket = solution.value, solution.lower, solution.upper
    else:
        asked = task_game(task.task)
        game, table, seats = asked.rules, asked.table, asked.seats
        if task.model_hash != table.model_hash:
            raise StoreError(
                f"{where}: is of the model {task.model_hash[:12]}, where this version has "
                f"{table.model_hash[:12]}; the rules or an opponent have changed"
            )
        solution = asked.solution
        value, *bracket = asked.optimum
    _compare("optimum", task.optimum, value, where)
    for end, computed in zip(task.bracket, bracket, strict=True):
        _compare("bracket", end, computed, where)
    for name in ("name", "folder"):
        told = [getattr(agent, name) for agent in task.agents]
        for one in told:
            if told.count(one) > 1:
                raise StoreError(f"{where}: two agents have the {name} {one!r:.80}")
    agents = tuple(_solve_agent(agent, folder, table, solution, seats) for agent in task.agents)
    names = [baseline.name for baseline in task.baselines]
    for name in names:
        if name not in baseline_names(table, seats[0]):
            raise StoreError(f"{where}: {task.game} has no baseline {name!r:.80}")
    baselines = score_baselines(table, solution, names, seats=seats)
    for stated, found in zip(task.baselines, baselines, strict=True):
        _compare_figures(stated, found, f"{where}: {found.name}")
    constant = None
    if task.constant is not None:
        constant = best_constant(table, solution, seats)
        _compare_figures(task.constant, constant, f"{where}: constant")
    return SolvedTask(
        task=replace(
            task,
            optimum=value,
            bracket=(bracket[0], bracket[1]),
            agents=tuple(item.agent for item in agents),
            baselines=baselines,
            constant=constant,
        ),
        game=game,
        table=table,
        solution=solution,
        agents=agents,
        seats=seats,
    )


def game_task(solved: SolvedTable) -> SolvedTask:
    """A task of a game that is solved, with its baselines scored and no agents.

    Args:
        solved: The game with its table and the optimum.
    """
    task = game_record(solved, score_baselines(solved.table, solved.solution))
    seats = (0, 1)[: solved.table.info.players]
    return SolvedTask(task, solved.game, solved.table, solved.solution, (), seats)


def game_record(solved: SolvedGame, baselines: Sequence[BaselineRecord]) -> TaskRecord:
    """The record of a task of a game that is solved, without agents."""
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


def _solve_agent(
    agent: AgentRecord,
    folder: Path,
    table: TabularGame,
    solution: Solution,
    seats: tuple[int, ...],
) -> ScoredAgent:
    place = folder / agent.folder
    where = f"{place}: {agent.name}"
    endings = ("_0", "_1") if len(seats) == 2 else ("",)
    sampled, mode = (
        tuple(load_policy(place / f"{name}{end}.npz", table) for end in endings)
        for name in ("policy", "policy_mode")
    )
    for own, most_probable in zip(sampled, mode, strict=True):
        _check_mode(table, own, most_probable, where)
    computed: dict[str, Any] = {}
    for prefix, policies in (("", sampled), ("mode_", mode)):
        scores = [recorded_score(table, policy, solution) for policy in policies]
        computed |= {f"{prefix}{name}": figure for name, figure in figures(scores).items()}
    found = replace(agent, **computed)
    _compare_figures(agent, found, where)
    curve: tuple[Evaluation, ...] = tuple(read_curve(place / "curve.csv"))
    if not curve:
        raise StoreError(f"{place / 'curve.csv'}: holds no point")
    _check_sums(curve, found.value + found.gap, str(place / "curve.csv"))
    return ScoredAgent(
        agent=found,
        curve=curve,
        policies=mode,
        locations=tuple(_located(table, policy, solution) for policy in mode),
    )


def _located(table: TabularGame, policy: TabularPolicy, solution: Solution) -> GapLocation:
    """Locate a gap; nowhere in particular, if a policy never ends an episode."""
    try:
        return locate_gap(table, policy, solution, tolerance=LEARNED)
    except (CertificateError, ImproperGameError):
        nowhere = np.zeros(table.n_states)
        return GapLocation(inf, nowhere, nowhere, nowhere, 0.0)


def _check_mode(
    table: TabularGame, sampled: TabularPolicy, mode: TabularPolicy, where: str
) -> None:
    """Refuse a policy that does not take the most probable actions of another.

    An illegal choice counts as the lowest legal action. Where that has weight, the network's own
    most probable action may therefore be any of the others' most probable one.
    """
    chances, live = sampled.probabilities, ~table.terminal
    rows = np.arange(len(live))
    chosen = mode.probabilities.argmax(axis=1)
    lowest = table.mask[mode.player].argmax(axis=1)
    others = chances.copy()
    others[rows, lowest] = -1.0
    largest = np.where(chosen == lowest, chances.max(axis=1), others.max(axis=1))
    wrong = live & ((mode.probabilities[rows, chosen] != 1) | (chances[rows, chosen] < largest))
    if wrong.any():
        state = table.states[int(np.argmax(wrong))]
        raise StoreError(
            f"{where}: the mode of player {mode.player} is not the most probable action of the "
            f"policy in state {state!r}"
        )


def _check_sums(curve: Sequence[Evaluation], optimum: float, where: str) -> None:
    """Refuse a curve of which a value and its gap are not the optimum together."""
    for point in curve:
        for value, gap in ((point.value, point.gap), (point.mode_value, point.mode_gap)):
            if isfinite(value + gap):
                _compare(f"value + gap at {point.timesteps} steps", value + gap, optimum, where)


def _compare_figures(stated: Any, computed: Any, where: str) -> None:
    """Refuse a record of which any figure is not what was computed."""
    for item in fields(computed):
        name = item.name.removeprefix("mode_")
        said, found = getattr(stated, item.name), getattr(computed, item.name)
        if name in FIGURES:
            _compare(item.name, said, found, where)
        elif name == "exploitability":
            if found is not None and said is None:
                raise StoreError(f"{where}: {item.name} is missing")
            for one, other in zip(said or (), found or (), strict=False):
                _compare(item.name, one, other, where)


def _compare(name: str, stated: float, computed: float, where: str) -> None:
    if stated == computed or (stated != stated and computed != computed):
        return
    near = abs(stated - computed) <= TOLERANCE * max(1.0, abs(computed))
    if not near or not isfinite(computed):
        raise StoreError(f"{where}: {name} is stated as {stated!r}, but computed as {computed!r}")
