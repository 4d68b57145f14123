"""The results of a bench in ``results.json``, written and read.

The file holds a :class:`BenchRecord` as an object with its fields as keys, and ``"format": 2``. It
has a :class:`TaskRecord` for each task, and this an :class:`AgentRecord` for each agent and a
:class:`BaselineRecord` for each baseline. Entries that are None are left out.

The folder of the bench has a subfolder for every agent (:mod:`solvent.benchmark.algorithms`), with
the files ``policy.npz``, ``policy_mode.npz`` (read by :func:`solvent.exact.load_policy`) and
``curve.csv`` (read by :func:`solvent.exact.learning_curve.read_curve`).

In self-play an agent has learned both seats, and its folder has policies for each,
``policy_0.npz``, ``policy_1.npz``, ``policy_mode_0.npz`` and ``policy_mode_1.npz``.
:func:`figures` describes the figures of such a pair.

The types of all entries are checked on reading, so that later code can rely on them. The figures
are as stated in the file; :mod:`solvent.report.solved` computes them from the policies.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from itertools import zip_longest
from math import inf, isnan
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import numpy as np

from solvent.benchmark.run_folder import named, read_json, saw_solution, validated
from solvent.benchmark.suites import Setting, Task
from solvent.exact.scoring import Score
from solvent.model.files import StoreError, write_atomically
from solvent.model.parameters import shown
from solvent.model.transforms import PARAMETER

FILE = "results.json"
"""The name of the file in the folder of a bench."""

# Version of the file's format.
_FORMAT = 2

# Largest size of a file that is read, in bytes. The objects that it stands for take thirty times
# as much memory. A run takes some two thousand.
_LARGEST_RESULTS = 2**25


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """The result of a run of an algorithm.

    Numbers that begin with ``mode`` are of the greedy policy, which takes the most probable action,
    and the others of the sampled policy. In self-play they are means over both seats, and a gap is
    an exploitability.

    Attributes:
        name: Name in tables, such as ``"ppo 0"``.
        algorithm: Name of the algorithm.
        seed: Seed of the training.
        value: Exact value at the start.
        gap: The optimum minus `value`.
        normalized: Normalized score: 0 for uniform play, 1 for the optimum.
        worst_start_gap: Largest gap from a single start.
        mode_value: Exact value at the start.
        mode_gap: The optimum minus `mode_value`.
        mode_normalized: Normalized score: 0 for uniform play, 1 for the optimum.
        mode_worst_start_gap: Largest gap from a single start.
        timesteps: Environment steps of the training, as recorded.
        cpu_seconds: CPU time of the training, as recorded.
        folder: Folder of its files, relative to that of the results.
        exploitability: Exploitability in seat 0 and in seat 1 for self-play, else None.
        mode_exploitability: Exploitability in seat 0 and in seat 1 for self-play, else None.
        uses_model: Whether the algorithm was given the table of the game.
        masked: Whether the algorithm used action masks.
        hyperparameters: All hyperparameters of the run.
        setting: Values that replaced the algorithm's defaults.
        system: Versions and hardware of the run (:mod:`solvent.benchmark.run_folder`).
    """

    name: str
    algorithm: str
    seed: int
    value: float
    gap: float
    normalized: float
    worst_start_gap: float
    mode_value: float
    mode_gap: float
    mode_normalized: float
    mode_worst_start_gap: float
    timesteps: int
    cpu_seconds: float
    folder: str
    exploitability: tuple[float, float] | None = None
    mode_exploitability: tuple[float, float] | None = None
    uses_model: bool = False
    masked: bool = False
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    setting: Setting = field(default_factory=Setting)
    system: Mapping[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The information that the learner was given, in words."""
        told = "the model" if self.uses_model else "samples"
        told += ", legal actions" * (self.masked and not self.uses_model)
        return told + ", the solution" * saw_solution(self.hyperparameters)


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """The result of a policy that was not learned; the numbers are as for an agent."""

    name: str
    value: float
    gap: float
    normalized: float
    worst_start_gap: float
    exploitability: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A game, the agents trained on it and the baselines.

    Attributes:
        env: Id of the environment.
        game: Name of the game.
        parameters: Parameters of the game; ``make_game(game, **parameters)`` is that game.
        optimum: Optimal value to the learner; against an opponent, the value of a best response to
            it.
        bracket: Certified lower and upper bound of the optimum.
        agents: Records of the agents, in the order of the results.
        baselines: Records of the baselines, in the order of the results.
        constant: Record of the best policy that takes the same action in every state; None if it
            was not computed.
        task: The task (:class:`solvent.benchmark.suites.Task`); None for a game without a training.
        model_hash: Hash of the table on which policies are scored; empty where `task` is None.
    """

    env: str
    game: str
    parameters: Mapping[str, Any]
    optimum: float
    bracket: tuple[float, float]
    agents: tuple[AgentRecord, ...]
    baselines: tuple[BaselineRecord, ...]
    task: Task | None = None
    model_hash: str = ""
    constant: BaselineRecord | None = None

    @property
    def references(self) -> tuple[BaselineRecord, ...]:
        """The baselines, and the best constant policy if it is known."""
        return self.baselines if self.constant is None else (*self.baselines, self.constant)

    @property
    def name(self) -> str:
        """Name of the task, unique in its results."""
        return self.env.rpartition("/")[2] if self.task is None else self.task.name

    @property
    def title(self) -> str:
        """Long name of the task: its environment and distinguishing settings."""
        own = self.task
        if own is None or own.name == Task(environment=self.env).name:
            title = self.env
        elif own.name == Task(environment=self.env, self_play=True).name:
            title = f"{self.env} by self-play"
        else:
            title = f"{self.env} ({own.name})"
        discount = self.parameters.get(PARAMETER, 1)
        return title if discount == 1 else f"{title}, discount {discount}"

    @property
    def for_two(self) -> bool:
        """Return whether its figures are of both seats of a game for two."""
        if self.task is not None:
            return self.task.self_play
        agents = any(agent.exploitability for agent in self.agents)
        return agents or any(baseline.exploitability for baseline in self.baselines)

    @property
    def judged(self) -> str:
        """The policy by which runs are compared: ``"greedy"``, or in self-play ``"sampled"``.

        If both players act at once, an optimal strategy may have to be mixed. A best response would
        then exploit the greedy policy even of the optimum.
        """
        return "sampled" if self.for_two else "greedy"


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """The suite whose unmodified tasks were done, except those without a proved optimum.

    Attributes:
        name: Name of the suite.
        hash: Hash in which results must agree to be compared
            (:func:`solvent.benchmark.suites.suite_hash`).
    """

    name: str
    hash: str


@dataclass(frozen=True, slots=True)
class FailureRecord:
    """A run that ended with an exception.

    Attributes:
        task: Name of the task.
        algorithm: Name of the algorithm.
        seed: Seed of the run.
        error: Type and message of the exception.
    """

    task: str
    algorithm: str
    seed: int
    error: str


Outcome: TypeAlias = AgentRecord | FailureRecord
"""The outcome of a run."""


@dataclass(frozen=True, slots=True)
class BenchRecord:
    """The results of a bench.

    Attributes:
        tasks: Records of the tasks, in the order of the bench.
        suite: Suite of the tasks; None if they were chosen by the user.
        failures: The runs that failed.
    """

    tasks: tuple[TaskRecord, ...]
    suite: SuiteRecord | None = None
    failures: tuple[FailureRecord, ...] = ()


def figures(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the figures of a policy, or of a pair, as in records of agents and baselines.

    For a pair, a gap is an exploitability. A value is the policy's value against a best response,
    so the mean of the two is 0 if both policies are optimal. Figures are means over both seats,
    except `worst_start_gap`, which is the larger of the two.

    Args:
        scores: Score of the policy, or of those in seat 0 and in seat 1.
    """
    count = len(scores)
    gaps = [result.optimality_gap for result in scores]
    return {
        "value": sum(result.value for result in scores) / count,
        "gap": sum(gaps) / count,
        "normalized": sum(result.normalized for result in scores) / count,
        # NaN if that of a seat is not known.
        "worst_start_gap": float(np.max([result.worst_start_gap for result in scores])),
        "exploitability": (gaps[0], gaps[1]) if count == 2 else None,
    }


def check_record(stated: Any, computed: Any, where: str, tolerance: float) -> None:
    """Refuse a record that differs from one with figures computed from the policies.

    Args:
        stated: The record as it was read.
        computed: The record as it should be.
        where: The file, for messages.
        tolerance: The largest difference of figures that is allowed, in units of the computed
            figure if that is larger than 1.

    Raises:
        StoreError: If an entry is missing, or differs by more.
    """
    for at, claim, figure in _differences(stated, computed, tolerance):
        raise StoreError(
            f"{where}: {'.'.join(at)} is stated as {shown(claim)}, but computed as {shown(figure)}"
        )


def _differences(
    stated: Any, computed: Any, tolerance: float, at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Yield the place and both values of each difference between two records."""
    if is_dataclass(computed) and type(stated) is type(computed):
        for one in fields(computed):
            pair = getattr(stated, one.name), getattr(computed, one.name)
            yield from _differences(*pair, tolerance, (*at, one.name))
    elif isinstance(computed, tuple) and isinstance(stated, tuple):
        for number, pair in enumerate(zip_longest(stated, computed)):
            yield from _differences(*pair, tolerance, (*at, str(number)))
    elif isinstance(computed, float) and isinstance(stated, float):
        # Infinite figures have to be equal, and what is not proved is NaN in both.
        close = abs(stated - computed) <= tolerance * max(1.0, abs(computed)) < inf
        if not (close or stated == computed or (isnan(stated) and isnan(computed))):
            yield at, stated, computed
    elif stated != computed:
        yield at, stated, computed


def write_results(folder: str | Path, bench: BenchRecord, *, indent: int = 2) -> None:
    """Write ``results.json``.

    Args:
        folder: Folder of the bench.
        bench: The results to write, in the order of the file.
        indent: Spaces by which nested entries are indented.

    Raises:
        StoreError: If the file cannot be written.
    """
    stated = asdict(bench, dict_factory=lambda items: {k: v for k, v in items if v is not None})
    content = {"format": _FORMAT, **stated}
    write_atomically(Path(folder) / FILE, (json.dumps(content, indent=indent) + "\n").encode())


def read_bench(folder: str | Path) -> BenchRecord:
    """Read ``results.json``.

    Args:
        folder: Folder of the bench.

    Raises:
        StoreError: If it is missing, damaged, incomplete, or of another format.
    """
    path = Path(folder) / FILE
    # A figure that could not be proved is NaN; a policy that never ends may lose without bound.
    content = read_json(path, _LARGEST_RESULTS, nan=True, infinite=True)
    found = content.get("format") if isinstance(content, dict) else None
    if found != _FORMAT:
        written = "none, as in version 0.1" if found is None else shown(found)
        raise StoreError(
            f"{path}: format is {written}; this version reads {_FORMAT}: run the bench again"
        )
    bench = validated(BenchRecord, content, path)
    if not bench.tasks:
        raise StoreError(f"{path}: holds no task")
    tasks = []
    for number, task in enumerate(bench.tasks):
        if task.task is None:
            raise StoreError(f"{path}: lacks tasks.{number}.task")
        agents = []
        for agent in task.agents:
            own = PurePath(agent.folder)
            if own.is_absolute() or own.drive or ".." in own.parts:
                raise StoreError(
                    f"{path}: task {number}: folder is {shown(agent.folder)}; expected one within "
                    f"that of the results"
                )
            # Its name says whether the algorithm saw the solution.
            name = named(agent.algorithm, agent.hyperparameters)
            if name != agent.algorithm:
                agent = replace(agent, algorithm=name, name=f"{name} {agent.seed}")
            agents.append(agent)
        tasks.append(replace(task, agents=tuple(agents)))
    return replace(bench, tasks=tuple(tasks))
