"""A summary of the results of a bench, with the numbers for a paper.

:func:`summarize` makes the rows, with the statistics of :mod:`solvent.benchmark.statistics`.
:func:`write_summary` writes ``summary.csv``, which has a row for each task, algorithm and policy
and then rows over all tasks, and ``summary.json``, which also has the probabilities of improvement.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from solvent import __version__
from solvent.benchmark.records import SuiteRecord, TaskRecord
from solvent.benchmark.statistics import (
    RunStatistic,
    estimate,
    mean_over_tasks,
    median_over_tasks,
    probability_of_improvement,
)
from solvent.model.files import strict_json, write_atomically

# Smallest gap in logarithms; smaller gaps count as this one, since they are not more precise.
_LEAST_GAP = 1e-9

UNTUNED = "default settings"
"""Description of the tuning of an algorithm if nothing else is known."""

PREFIXES = {"greedy": "mode_", "sampled": ""}
"""Prefixes of the names of a policy's figures, by the policy."""

POLICIES = ("judged", *PREFIXES)
"""The policies of a row: the one by which runs are compared, the greedy and the sampled one."""


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """The statistics of an algorithm on a task, or on all tasks.

    Attributes:
        algorithm: Name of the algorithm.
        task: The name of the task; None for all tasks.
        policy: One of :data:`POLICIES`.
        runs: Number of runs.
        told: The information that the learner was given, in words.
        tuning: Description of how its settings were chosen.
        iqm: The interquartile mean of the normalized score.
        iqm_over_tasks: The IQM with an interval that draws tasks, too; None for a single task.
        median: The median over tasks of the mean over runs; None for a single task.
        mean: The mean over tasks of the mean over runs.
        over_constant: The interquartile mean of the score that is 0 for the best policy with the
            same action in every state, and 1 for the optimum; None where that policy is unknown or
            optimal.
        gap: The interquartile mean of the gap; over all tasks None.
        log_gap: IQM of the decimal logarithm of the gap, at least that of 1e-9.
        worst_start_gap: The largest gap of a run from a single start; None over all tasks, and if
            that of a run is not known.
        timesteps: Mean number of environment steps of the runs, as recorded.
        cpu_seconds: Mean CPU time of the runs, in seconds, as recorded.
    """

    algorithm: str
    task: str | None
    policy: str
    runs: int
    told: str
    tuning: str
    iqm: RunStatistic | None
    iqm_over_tasks: RunStatistic | None
    median: RunStatistic | None
    mean: RunStatistic | None
    over_constant: RunStatistic | None
    gap: RunStatistic | None
    log_gap: RunStatistic | None
    worst_start_gap: float | None
    timesteps: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Improvement:
    """The probability that a run of `first` is better than one of `second`, as judged.

    Attributes:
        first: Name of an algorithm.
        second: Name of another one.
        probability: The probability, with an interval that draws runs within each task.
        over_tasks: The probability with an interval that draws tasks, too.
    """

    first: str
    second: str
    probability: RunStatistic
    over_tasks: RunStatistic


@dataclass(frozen=True, slots=True)
class Summary:
    """The statistics of a bench.

    Attributes:
        suite: Suite of the tasks; None if they belong to none.
        rows: The rows of each task, then those over all tasks.
        improvements: One for each ordered pair of algorithms.
    """

    suite: SuiteRecord | None
    rows: tuple[SummaryRow, ...]
    improvements: tuple[Improvement, ...]

    def row(
        self, algorithm: str, task: str | None = None, policy: str = "judged"
    ) -> SummaryRow | None:
        """Return the row of an algorithm, if there is one.

        Args:
            algorithm: Name of the algorithm.
            task: The name of the task; None for all tasks.
            policy: One of :data:`POLICIES`.
        """
        asked = (algorithm, task, policy)
        return next((r for r in self.rows if (r.algorithm, r.task, r.policy) == asked), None)


def algorithms_of(tasks: Sequence[TaskRecord]) -> tuple[str, ...]:
    """Return the algorithms of some tasks in the order of first appearance."""
    return tuple(dict.fromkeys(agent.algorithm for task in tasks for agent in task.agents))


def normalized_scores(
    tasks: Sequence[TaskRecord], algorithm: str, policy: str = "judged"
) -> list[list[float]]:
    """Return the normalized scores of an algorithm's runs, a list for each task.

    The list is empty for a task that has no normalized scores because uniform play is optimal. On
    any other a run whose score could not be proved has the score NaN, and is not left out.

    Args:
        tasks: The tasks.
        algorithm: Name of the algorithm.
        policy: One of :data:`POLICIES`.
    """
    return [
        _figures(task, algorithm, policy, "normalized") if _can_be_normalized(task) else []
        for task in tasks
    ]


def scores_over_constant(
    tasks: Sequence[TaskRecord], algorithm: str, policy: str = "judged"
) -> list[list[float]]:
    """Return the scores of an algorithm's runs in units of the best constant policy's gap.

    The score is 0 for the best policy that takes the same action in every state, and 1 for the
    optimum. A task has none if that policy is not known or is optimal.

    Args:
        tasks: The tasks.
        algorithm: Name of the algorithm.
        policy: One of :data:`POLICIES`.
    """
    return [
        [1 - gap / task.constant.gap for gap in _figures(task, algorithm, policy, "gap")]
        if task.constant is not None and _LEAST_GAP < task.constant.gap < math.inf
        else []
        for task in tasks
    ]


def summarize(
    tasks: Sequence[TaskRecord],
    suite: SuiteRecord | None = None,
    *,
    policies: Sequence[str] = POLICIES,
    compare: bool = True,
) -> Summary:
    """Return the statistics of a bench.

    Args:
        tasks: Records of the tasks.
        suite: Suite of the tasks; None if they belong to none.
        policies: The policies that have rows.
        compare: Whether each two algorithms are compared.
    """
    algorithms = algorithms_of(tasks)
    rows = [
        _row(some, name, algorithm, policy)
        for some, name in (*(([task], task.name) for task in tasks), (tasks, None))
        for algorithm in algorithms_of(some)
        for policy in policies
    ]
    scores = {name: normalized_scores(tasks, name) for name in algorithms}
    improvements = []
    for pair in permutations(algorithms, 2) if compare else ():
        both = [scores[name] for name in pair]
        found, wider = (probability_of_improvement(*both, over_tasks=o) for o in (False, True))
        if found is not None and wider is not None:
            improvements.append(Improvement(*pair, found, wider))
    return Summary(suite, tuple(rows), tuple(improvements))


def write_summary(folder: str | Path, summary: Summary) -> None:
    """Write the files of a summary.

    Args:
        folder: Output folder.
        summary: The summary to write.

    Raises:
        StoreError: If one cannot be written.
    """
    for name, text in (("summary.csv", as_csv(summary)), ("summary.json", as_json(summary))):
        write_atomically(Path(folder) / name, text.encode())


def as_csv(summary: Summary) -> str:
    """Return the rows as CSV; unknown values are empty, and an empty task stands for all."""
    records = [_cells(row) for row in summary.rows]
    names = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_json(summary: Summary) -> str:
    """Return everything as JSON; unknown or infinite values are null."""
    content = {"format": 1, "solvent": __version__, **asdict(summary)}
    return strict_json(content) + "\n"


def _row(tasks: Sequence[TaskRecord], name: str | None, algorithm: str, policy: str) -> SummaryRow:
    scores = normalized_scores(tasks, algorithm, policy)
    agents = [agent for task in tasks for agent in task.agents if agent.algorithm == algorithm]
    gaps = [_figures(task, algorithm, policy, "gap") for task in tasks]
    starts = _figures(tasks[0], algorithm, policy, "worst_start_gap")
    logarithms = [[math.log10(max(gap, _LEAST_GAP)) for gap in own] for own in gaps]
    return SummaryRow(
        algorithm=algorithm,
        task=name,
        policy=policy,
        runs=len(agents),
        told=all_of(agent.told for agent in agents),
        tuning=all_of(agent.setting.tuning or UNTUNED for agent in agents),
        iqm=estimate(scores),
        iqm_over_tasks=estimate(scores, over_tasks=True) if name is None else None,
        median=estimate(scores, median_over_tasks) if name is None else None,
        mean=estimate(scores, mean_over_tasks),
        over_constant=estimate(scores_over_constant(tasks, algorithm, policy)),
        gap=None if name is None else estimate(gaps),
        log_gap=estimate(logarithms),
        worst_start_gap=None if name is None or any(map(math.isnan, starts)) else max(starts),
        timesteps=sum(agent.timesteps for agent in agents) / len(agents),
        cpu_seconds=sum(agent.cpu_seconds for agent in agents) / len(agents),
    )


def all_of(texts: Iterable[str]) -> str:
    """Join texts, leaving out repetitions."""
    return "; ".join(dict.fromkeys(texts))


def _can_be_normalized(task: TaskRecord) -> bool:
    """Return whether a task has normalized scores; all are NaN where uniform is optimal."""
    every = [baseline.normalized for baseline in task.baselines]
    every += [own for one in task.agents for own in (one.normalized, one.mode_normalized)]
    # Minus infinity is known without the score of uniform play.
    return any(map(math.isfinite, every)) or not any(map(math.isnan, every))


def _figures(task: TaskRecord, algorithm: str, policy: str, name: str) -> list[float]:
    attribute = PREFIXES[task.judged if policy == "judged" else policy] + name
    return [getattr(agent, attribute) for agent in task.agents if agent.algorithm == algorithm]


def _cells(row: SummaryRow) -> dict[str, Any]:
    """Return a row by its columns; None is an empty cell."""
    names = ("task", "algorithm", "policy", "told", "tuning", "runs")
    cells = {name: getattr(row, name) for name in names}
    for name in ("iqm", "iqm_over_tasks", "median", "mean", "over_constant", "gap", "log_gap"):
        found: RunStatistic | None = getattr(row, name)
        columns = (name, f"{name}_low", f"{name}_high", f"{name}_ends")
        ends = found and ("interval" if found.is_interval else "range")
        told = (None,) * 4 if found is None else (found.mean, found.low, found.high, ends)
        cells |= zip(columns, told, strict=True)
    cells |= {name: getattr(row, name) for name in ("worst_start_gap", "timesteps", "cpu_seconds")}
    return cells
