"""The suite's main job: solve, train, score exactly, and keep everything for the report.

:func:`bench` works through tasks, each an environment with the trainings to run on it. It writes
``results.json`` (:mod:`solvent.exact.bench_records` says what is in it) and for each training a
folder ``<task>/<algorithm>-<seed>`` with the files of :mod:`solvent.training.train`. In a
game for two the training is self-play.

Killed at any moment and run again, it reads finished trainings back, goes on with the others
from their last checkpoints, and ends with the same results but for ``cpu_seconds``.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID

from solvent.baselines.scored import score_baselines
from solvent.exact import solve
from solvent.exact.bench_records import AgentRecord, TaskRecord, figures, write_results
from solvent.exact.layered.lock import FolderLock
from solvent.exact.store import remove_temporary
from solvent.model import TabularGame
from solvent.model.registry import BenchTask, find_spec, game_specs
from solvent.training.algorithms import find_algorithm
from solvent.training.environments import table_named
from solvent.training.progress import Moment, gap_text, progress_bars
from solvent.training.train import TrainingResult, train


@dataclass(frozen=True, slots=True)
class Run:
    """One training.

    Attributes:
        env: Id of the environment.
        algorithm: Its name.
        seed: Its seed.
        timesteps: Environment steps; as tuned if None.
        stakes: As for :func:`solvent.training.train`.
    """

    env: str
    algorithm: str
    seed: int
    timesteps: int | None = None
    stakes: float = 0.0

    @property
    def folder(self) -> str:
        """Where its files are, relative to the results."""
        task = self.env.rpartition("/")[2]
        return f"{task}/{self.algorithm}-{self.seed}"

    @property
    def table(self) -> TabularGame:
        """The game that is learned."""
        return table_named(self.env, {})


def runs_of(task: BenchTask) -> tuple[Run, ...]:
    """The trainings of a task."""
    return tuple(
        Run(task.environment, algorithm, seed, task.timesteps, task.exploring_starts)
        for algorithm, count in task.seeds.items()
        for seed in range(count)
    )


def tasks_of(games: Sequence[str] = ()) -> tuple[BenchTask, ...]:
    """What ``solvent bench`` does, as the specs of games say.

    Args:
        games: Names of those that are wanted; all of this package if there is none.

    Raises:
        ValueError: If there is no such game, or its spec names no task.
    """
    own = [name for name, spec in game_specs().items() if spec.make_is_in("solvent")]
    specs = [find_spec(name) for name in games or own]
    for spec in specs:
        if games and not spec.bench:
            raise ValueError(f"the spec of the game {spec.name} names no task for a bench")
    return tuple(task for spec in specs for task in spec.bench)


def bench(
    out: str | Path,
    *,
    tasks: Sequence[BenchTask] | None = None,
    processes: int = 2,
    progress: bool = True,
) -> tuple[TaskRecord, ...]:
    """Solve, train and score all tasks; the module's text says what is written.

    Args:
        out: The folder for the results.
        tasks: What to do, each environment in one task only; what :func:`tasks_of` says if left
            out.
        processes: How many trainings run at the same time.
        progress: Whether to show bars.

    Returns:
        What was written to ``results.json``.

    Raises:
        ValueError: If an environment or algorithm is unknown, or `out` holds other trainings.
        StoreError: If a file is damaged or cannot be written, or another process is at work in
            `out`.
    """
    out = Path(out)
    tasks = tasks_of() if tasks is None else tasks
    for item in tasks:
        for run in runs_of(item):
            find_algorithm(run.algorithm)
    games = {item.environment: table_named(item.environment, {}) for item in tasks}
    with FolderLock(out):
        remove_temporary(out)
        with _trainings(out, tasks, processes, progress) as futures:
            # While the processes train, this one solves the games and scores the baselines.
            solutions = {env: solve(game) for env, game in games.items()}
            baselines = {env: score_baselines(game, solutions[env]) for env, game in games.items()}
            for future in as_completed(futures.values()):
                future.result()
            trained = {run: future.result() for run, future in futures.items()}

        results = tuple(
            TaskRecord(
                env=item.environment,
                game=games[item.environment].info.name,
                parameters=dict(games[item.environment].info.parameters),
                optimum=solutions[item.environment].value,
                bracket=(solutions[item.environment].lower, solutions[item.environment].upper),
                agents=tuple(_agent(run, trained[run]) for run in runs_of(item)),
                baselines=baselines[item.environment],
            )
            for item in tasks
        )
        write_results(out, results)
    return results


def _agent(run: Run, result: TrainingResult) -> AgentRecord:
    return AgentRecord(
        name=f"{run.algorithm} {run.seed}",
        algorithm=run.algorithm,
        seed=run.seed,
        **figures(result.scores),
        **{f"mode_{name}": figure for name, figure in figures(result.mode_scores).items()},
        timesteps=result.timesteps,
        cpu_seconds=round(result.cpu_seconds, 1),
        folder=run.folder,
    )


@contextmanager
def _trainings(
    out: Path, tasks: Sequence[BenchTask], processes: int, progress: bool
) -> Iterator[dict[Run, Future[TrainingResult]]]:
    """Start all trainings in processes of their own, and stop them if something goes wrong."""
    # The last tasks are the longest; begun first, they leave no processor idle at the end.
    runs = [run for item in reversed(tasks) for run in runs_of(item)]
    context = multiprocessing.get_context("spawn")
    moments: multiprocessing.Queue[tuple[Run, Moment] | None] = context.Queue()
    stop = context.Event()
    with (
        _bars(runs, moments, progress),
        ProcessPoolExecutor(
            processes, context, initializer=_begin_worker, initargs=(moments, stop)
        ) as pool,
    ):
        try:
            yield {run: pool.submit(_train, out, run) for run in runs}
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _bars(
    runs: Sequence[Run], moments: multiprocessing.Queue[tuple[Run, Moment] | None], progress: bool
) -> Iterator[None]:
    """A thread that shows what the workers report."""
    with progress_bars(disable=not progress) as bars:
        rows = {
            run: bars.add_task(f"{run.env.rpartition('/')[2]} {run.algorithm} {run.seed}", gap="")
            for run in runs
        }
        thread = threading.Thread(target=_show, args=(bars, rows, moments), daemon=True)
        thread.start()
        try:
            yield
        finally:
            moments.put(None)
            thread.join()


def _show(
    bars: Progress,
    rows: dict[Run, TaskID],
    moments: multiprocessing.Queue[tuple[Run, Moment] | None],
) -> None:
    while (item := moments.get()) is not None:
        run, moment = item
        bars.update(
            rows[run],
            completed=moment.timesteps,
            total=moment.total,
            gap=gap_text(moment.evaluation),
        )


class _Stopped(Exception):  # noqa: N818  # Not an error.
    """The bench has been told to stop."""


_worker: dict[str, Any] = {}


def _begin_worker(moments: Any, stop: Any) -> None:
    """Set a worker up: Ctrl-C is the parent's to handle, and no worker outlives its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    _worker.update(moments=moments, stop=stop)


def _train(out: Path, run: Run) -> TrainingResult:
    """Run one training in a worker."""

    def report(moment: Moment) -> None:
        if _worker["stop"].is_set():
            raise _Stopped
        _worker["moments"].put((run, moment))

    return train(
        run.env,
        run.algorithm,
        self_play=run.table.info.players == 2,
        seed=run.seed,
        timesteps=run.timesteps,
        folder=out / run.folder,
        exploring_starts=run.stakes or None,
        progress=report,
    )
