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
from collections.abc import Iterator, Mapping, Sequence
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
        parameters: Names and values of the game's parameters that are not the environment's own.
        stakes: As for :func:`solvent.training.train`.
    """

    env: str
    algorithm: str
    seed: int
    timesteps: int | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    stakes: float = 0.0

    @property
    def folder(self) -> str:
        """Where its files are, relative to the results."""
        task = self.env.rpartition("/")[2]
        return f"{task}/{self.algorithm}-{self.seed}"

    @property
    def table(self) -> TabularGame:
        """The game that is learned."""
        return table_named(self.env, dict(self.parameters))


@dataclass(frozen=True, slots=True)
class BenchTask:
    """An environment and the trainings to run on it.

    Attributes:
        env: Id of the environment; each is in one task only.
        runs: The trainings.
        parameters: As of a :class:`Run`.
    """

    env: str
    runs: tuple[Run, ...]
    parameters: tuple[tuple[str, Any], ...] = ()


def task(
    env: str,
    timesteps: int | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    stakes: float = 0.0,
    **seeds: int,
) -> BenchTask:
    """A task in which each algorithm named is run with so many seeds.

    Args:
        env: Id of the environment.
        timesteps: Of each training; as tuned if left out.
        parameters: The game's, where they are not those of the environment.
        stakes: Of each training, as for :func:`solvent.training.train`.
        seeds: How many seeds, by name of the algorithm.
    """
    own = tuple((parameters or {}).items())
    return BenchTask(
        env,
        tuple(
            Run(env, algorithm, seed, timesteps, own, stakes)
            for algorithm, count in seeds.items()
            for seed in range(count)
        ),
        own,
    )


TASKS = (
    task("solvent/FFCombat-v0", ppo=3, dqn=3),
    task("solvent/FFCombatRandom-v0", stakes=0.5, ppo=1, dqn=1),
    task("solvent/Gamebook-v0", ppo=1, masked_dqn=1),
    task(
        "solvent/Greed-v0", 1_000_000, parameters={"limit": 20, "sides": 4}, ppo=1, maskable_ppo=1
    ),
)
"""What ``solvent bench`` does."""


def bench(
    out: str | Path,
    *,
    tasks: Sequence[BenchTask] = TASKS,
    processes: int = 2,
    progress: bool = True,
) -> tuple[TaskRecord, ...]:
    """Solve, train and score all tasks; the module's text says what is written.

    Args:
        out: The folder for the results.
        tasks: What to do.
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
    for item in tasks:
        for run in item.runs:
            find_algorithm(run.algorithm)
    games = {item.env: table_named(item.env, dict(item.parameters)) for item in tasks}
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
                env=item.env,
                game=games[item.env].info.name,
                parameters=dict(games[item.env].info.parameters),
                optimum=solutions[item.env].value,
                bracket=(solutions[item.env].lower, solutions[item.env].upper),
                agents=tuple(_agent(run, trained[run]) for run in item.runs),
                baselines=baselines[item.env],
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
    runs = [run for item in reversed(tasks) for run in item.runs]
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
        env_kwargs=dict(run.parameters),
        exploring_starts=run.stakes or None,
        progress=report,
    )
