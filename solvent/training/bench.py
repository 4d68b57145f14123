"""The suite's main job: solve, train, score exactly, and keep everything for the report.

:func:`bench` works through tasks, each an environment with the trainings to run on it. It writes
``results.json`` (:mod:`solvent.benchmark.records` says what is in it) and for each training a
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

from solvent.benchmark.baseline_scores import score_baselines
from solvent.benchmark.bench_progress import BenchProgress, Finished
from solvent.benchmark.progress import Moment
from solvent.benchmark.records import (
    FILE,
    AgentRecord,
    BenchRecord,
    TaskRecord,
    figures,
    write_results,
)
from solvent.exact import cached_solution
from solvent.exact.layered.lock import FolderLock
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.exact.store import StoreError, remove_temporary
from solvent.model import TabularGame
from solvent.model.registry import BenchTask, find_spec, game_specs
from solvent.training.algorithms import find_algorithm
from solvent.training.environments import table_named
from solvent.training.hyperparameters import prepare, requested
from solvent.training.run_folder import RunFolder
from solvent.training.train import TrainingResult, train

Event = tuple[str, Moment | Finished]
"""What a worker reports: the name of a training, and how far it has come."""


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
        return f"{_short(self.env)}/{self.algorithm}-{self.seed}"

    @property
    def name(self) -> str:
        """What it is called while it goes on."""
        return f"{_short(self.env)} {self.algorithm} {self.seed}"

    @property
    def total(self) -> int:
        """Steps to be taken."""
        chosen = find_algorithm(self.algorithm)
        raw = requested(chosen.hyperparameters, self.env, timesteps=self.timesteps)
        return prepare(raw, chosen.model).n_timesteps

    @property
    def table(self) -> TabularGame:
        """The game that is learned."""
        return table_named(self.env, {})


def _short(env: str) -> str:
    """The id of an environment without its namespace."""
    return env.rpartition("/")[2]


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
        progress: Whether to tell how it goes on: bars on a terminal, lines on the standard output
            elsewhere.

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
        with _trainings(out, tasks, processes, progress) as (futures, told):
            # While the processes train, this one solves the games and scores the baselines.
            solutions, baselines = {}, {}
            for env, game in games.items():
                solutions[env] = cached_solution(game)
                baselines[env] = score_baselines(game, solutions[env])
                told.write(f"solved    {_short(env)}: optimum {solutions[env].value:.6f}")
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
        write_results(out, BenchRecord(results))
        told.write(f"written   {out / FILE}")
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
) -> Iterator[tuple[dict[Run, Future[TrainingResult]], BenchProgress]]:
    """Start all trainings in processes of their own, and stop them if something goes wrong."""
    # The last tasks are the longest; begun first, they leave no processor idle at the end.
    runs = [run for item in reversed(tasks) for run in runs_of(item)]
    context = multiprocessing.get_context("spawn")
    events: multiprocessing.Queue[Event | None] = context.Queue()
    stop = context.Event()
    with (
        BenchProgress({run.name: run.total for run in runs}, shown=progress) as told,
        _reader(events, told),
        ProcessPoolExecutor(
            processes, context, initializer=_begin_worker, initargs=(events, stop)
        ) as pool,
    ):
        try:
            told.write(f"training  {len(runs)} networks, {processes} at the same time, into {out}")
            for run in runs:
                _keep(out / run.folder, run.name, told)
            yield {run: pool.submit(_train, out, run) for run in runs}, told
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _keep(folder: Path, name: str, told: BenchProgress) -> None:
    """Tell what is kept of a training; nothing if its files are not as they should be.

    Args:
        folder: Of the training, which says itself what is wrong with it.
        name: Of the training.
        told: Whom to tell.
    """
    run = RunFolder(folder, {})
    try:
        finished = run.read()["result"] is not None
        if finished or run.checkpoint.exists():
            last = read_curve(folder / "curve.csv", Evaluation)[-1]
            if last.timesteps:
                told.keep(name, last, finished=finished)
    except (StoreError, IndexError):
        return


@contextmanager
def _reader(events: multiprocessing.Queue[Event | None], told: BenchProgress) -> Iterator[None]:
    """A thread that tells what the workers report."""

    def tell() -> None:
        while (event := events.get()) is not None:
            name, what = event
            if isinstance(what, Moment):
                told.move(name, what)
            else:
                told.finish(name, what)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        events.put(None)
        thread.join()


class _Stopped(Exception):  # noqa: N818  # Not an error.
    """The bench has been told to stop."""


_worker: dict[str, Any] = {}


def _begin_worker(events: Any, stop: Any) -> None:
    """Set a worker up: Ctrl-C is the parent's to handle, and no worker outlives its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    _worker.update(events=events, stop=stop)


def _train(out: Path, run: Run) -> TrainingResult:
    """Run one training in a worker."""

    def report(moment: Moment) -> None:
        if _worker["stop"].is_set():
            raise _Stopped
        _worker["events"].put((run.name, moment))

    result = train(
        run.env,
        run.algorithm,
        self_play=run.table.info.players == 2,
        seed=run.seed,
        timesteps=run.timesteps,
        folder=out / run.folder,
        exploring_starts=run.stakes or None,
        progress=report,
    )
    end = Finished(figures(result.mode_scores)["gap"], result.cpu_seconds)
    _worker["events"].put((run.name, end))
    return result
