"""The suite's main job: solve, train, score exactly, and keep everything for the report.

:func:`bench` works through tasks, each an environment with the trainings to run on it. It writes

- ``results.json``, and
- for each training a folder ``<task>/<algorithm>-<seed>`` with the files of
  :mod:`solvent.training.train`: among them ``policy.npz``, ``policy_mode.npz`` (read by
  :func:`solvent.exact.load_policy`) and ``curve.csv`` (columns ``timesteps``, ``value``, ``gap``,
  ``mode_value``, ``mode_gap``, ``seconds``).

``results.json`` holds ``{"tasks": [...]}``. A task has these keys:

==============  ===========================================================================
``env``         id of the environment
``game``        name of the game, a key of :data:`solvent.games.GAMES`
``parameters``  the game's own; ``make_game(game, **parameters)`` is that game
``optimum``     its value
``bracket``     certified lower and upper bound of the value
``agents``      a list, see below
``baselines``   a list of ``name``, ``value``, ``gap``, ``normalized``, ``worst_start_gap``
==============  ===========================================================================

An agent has these; "sampled" and "mode" are the network's two policies, as in
:class:`~solvent.training.extract.Extraction`:

===================  ======================================================================
``name``             for tables, such as ``"ppo 0"``
``algorithm``        a key of :data:`solvent.training.ALGORITHMS`
``seed``             an integer
``value``, ``gap``   exact value and optimality gap, sampled
``normalized``       0 for uniform play, 1 for the optimum, sampled
``worst_start_gap``  largest gap from a single start, sampled
``mode_…``           the same four of the mode
``timesteps``        environment steps it was trained for
``cpu_seconds``      CPU time of the training
``folder``           its folder, relative to that of ``results.json``
===================  ======================================================================

Killed at any moment and run again, it reads finished trainings back, goes on with the others
from their last checkpoints, and ends with the same results but for ``cpu_seconds``.
"""

from __future__ import annotations

import json
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

from solvent.baselines import baseline_policies
from solvent.exact import Score, Solution, score, solve, write_atomically
from solvent.model import TabularGame
from solvent.training.algorithms import find_algorithm
from solvent.training.environments import game_of
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
    """

    env: str
    algorithm: str
    seed: int
    timesteps: int | None = None

    @property
    def folder(self) -> str:
        """Where its files are, relative to the results."""
        task = self.env.rpartition("/")[2]
        return f"{task}/{self.algorithm}-{self.seed}"


@dataclass(frozen=True, slots=True)
class Task:
    """An environment and the trainings to run on it.

    Attributes:
        env: Id of the environment.
        runs: The trainings.
    """

    env: str
    runs: tuple[Run, ...]


def task(env: str, timesteps: int | None = None, **seeds: int) -> Task:
    """A task in which each algorithm named is run with so many seeds.

    Args:
        env: Id of the environment.
        timesteps: Of each training; as tuned if left out.
        seeds: How many seeds, by name of the algorithm.
    """
    return Task(
        env,
        tuple(
            Run(env, algorithm, seed, timesteps)
            for algorithm, count in seeds.items()
            for seed in range(count)
        ),
    )


TASKS = (
    task("solvent/FFCombat-v0", ppo=3, dqn=3),
    task("solvent/FFCombatRandom-v0", ppo=1, dqn=1),
)
"""What ``solvent bench`` does."""


def bench(
    out: str | Path,
    *,
    tasks: Sequence[Task] = TASKS,
    processes: int = 2,
    progress: bool = True,
) -> dict[str, Any]:
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
        StoreError: If a file is damaged or cannot be written.
    """
    out = Path(out)
    for item in tasks:
        for run in item.runs:
            find_algorithm(run.algorithm)
    games = {item.env: game_of(item.env) for item in tasks}
    with _trainings(out, tasks, processes, progress) as futures:
        # While the processes train, this one solves the games and scores the baselines.
        solutions = {env: solve(game) for env, game in games.items()}
        baselines = {env: _baselines(game, solutions[env]) for env, game in games.items()}
        for future in as_completed(futures.values()):
            future.result()
        trained = {run: future.result() for run, future in futures.items()}

    results = {
        "tasks": [
            {
                "env": item.env,
                "game": games[item.env].info.name,
                "parameters": dict(games[item.env].info.parameters),
                "optimum": solutions[item.env].value,
                "bracket": [solutions[item.env].lower, solutions[item.env].upper],
                "agents": [_agent(run, trained[run]) for run in item.runs],
                "baselines": baselines[item.env],
            }
            for item in tasks
        ]
    }
    write_atomically(out / "results.json", (json.dumps(results, indent=2) + "\n").encode())
    return results


def _agent(run: Run, result: TrainingResult) -> dict[str, Any]:
    return {
        "name": f"{run.algorithm} {run.seed}",
        "algorithm": run.algorithm,
        "seed": run.seed,
        **_figures(result.score),
        **{f"mode_{name}": figure for name, figure in _figures(result.mode_score).items()},
        "timesteps": result.timesteps,
        "cpu_seconds": round(result.cpu_seconds, 1),
        "folder": run.folder,
    }


def _baselines(game: TabularGame, solution: Solution) -> list[dict[str, Any]]:
    return [
        {"name": name, **_figures(score(game, policy, solution))}
        for name, policy in baseline_policies(game).items()
    ]


def _figures(result: Score) -> dict[str, float]:
    return {
        "value": result.value,
        "gap": result.optimality_gap,
        "normalized": result.normalized,
        "worst_start_gap": result.worst_start_gap,
    }


@contextmanager
def _trainings(
    out: Path, tasks: Sequence[Task], processes: int, progress: bool
) -> Iterator[dict[Run, Future[TrainingResult]]]:
    """Start all trainings in processes of their own, and stop them if something goes wrong."""
    # The last task is the largest; begun first, it does not leave a processor idle at the end.
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
        seed=run.seed,
        timesteps=run.timesteps,
        folder=out / run.folder,
        progress=report,
    )
