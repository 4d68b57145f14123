"""Algorithms on tasks: run in processes of their own, scored exactly, kept for the report.

:func:`bench` works through tasks, each with the algorithms to run on it. It writes ``results.json``
(:mod:`solvent.benchmark.records` says what is in it) and for each run a folder
(:mod:`solvent.benchmark.run`).

Killed at any moment and called again, it reads finished runs back, resumes the others from
the files of their algorithms, and ends with the same results but for ``cpu_seconds``. A run that
ends with an exception is reported at the end, and does not affect others. A task whose optimum
cannot be proved is left out of the results, and each of its runs is such a failure.
"""

from __future__ import annotations

import multiprocessing
import pickle
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.managers import SyncManager
from pathlib import Path
from queue import Queue
from typing import Any

from solvent.benchmark.algorithms import Algorithm, as_algorithm, find_algorithm, plain_name
from solvent.benchmark.policies import best_constant, score_baselines
from solvent.benchmark.processes import live_with_parent
from solvent.benchmark.progress import BenchProgress, Finished, Moment
from solvent.benchmark.records import (
    FILE,
    AgentRecord,
    BaselineRecord,
    BenchRecord,
    FailureRecord,
    SuiteRecord,
    TaskRecord,
    write_results,
)
from solvent.benchmark.run import OWN, Outcome, Run, Stopped, attempted, end_of
from solvent.benchmark.run_folder import RunFolder
from solvent.benchmark.suites import Setting, Suite, Task, check_tasks, suite_hash, suite_seeds
from solvent.benchmark.task_game import TaskGame, task_game
from solvent.exact import CertificateError, ImproperGameError, StoreError
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.exact.store import locked, remove_temporary
from solvent.model.parameters import check_integer, shown

Event = tuple[str, Moment | Finished]
"""A report of a worker: the name of a run, and its progress or end."""

Source = str | Callable[..., Any] | Algorithm
"""An algorithm, or its name or place."""


def bench(
    out: str | Path,
    tasks: Suite | Sequence[Task],
    algorithms: Mapping[str, Source] | Sequence[str] | None = None,
    *,
    seeds: int | None = None,
    settings: Mapping[str, Setting] | None = None,
    workers: int = 2,
    on: str | None = None,
    progress: bool = True,
) -> BenchRecord:
    """Run algorithms on tasks and score the learned policies; the module lists the files.

    Args:
        out: Folder for the results.
        tasks: A suite, of which each algorithm does the tasks that it can, or tasks that every
            algorithm must be able to do.
        algorithms: Functions by name, as :mod:`solvent.benchmark.algorithms` describes them, or
            their places; or names only. Default: those that the tasks name.
        seeds: Number of seeds of each algorithm on each task. Default: that of the task, or 1 for
            an algorithm that it does not name. Those of a suite follow from its hash
            (:func:`solvent.benchmark.suites.suite_seeds`), others are 0, 1 and so on.
        settings: Settings of algorithms by the algorithm's name, the same on all tasks, in the
            place of those of the suite.
        workers: Number of runs at the same time.
        on: Address of a Ray cluster that does the runs, instead of processes of this machine
            (:mod:`solvent.benchmark.cluster`).
        progress: Whether to show progress: bars on a terminal, lines on the standard output
            elsewhere.

    Returns:
        The content of ``results.json``.

    Raises:
        ValueError: If an environment or algorithm is unknown, an algorithm cannot do a task or
            cannot be sent to another process, or there is nothing to do.
        CertificateError, ImproperGameError: If no task has an optimum that can be proved.
        StoreError: If `out` cannot be written to, or another process is at work in it.
        ClusterError: If the cluster cannot be used, or was lost.
    """
    out = Path(out)
    suite = tasks if isinstance(tasks, Suite) else None
    chosen = check_tasks(suite.tasks if suite else tuple(tasks))  # type: ignore[arg-type]
    check_integer(workers, "workers", 1, 10_000)
    games = {task.name: task_game(task) for task in chosen}
    whole = None
    if suite is not None:
        hashes = [games[task.name].table.model_hash for task in suite.tasks]
        whole = SuiteRecord(suite.name, suite_hash(suite.tasks, hashes))
    settings = {**(suite.algorithms if suite else {}), **(settings or {})}
    runs, left_out = plan(chosen, algorithms, seeds, games, whole, settings)
    with locked(out):
        remove_temporary(out)
        totals = {run.name: run.budget.timesteps for run in runs}
        with BenchProgress(totals, shown=progress) as told:
            for line in left_out:
                told.write(f"left out  {line}")
            for run in runs:
                _keep(out / run.folder, run.name, told)
            with _started(out, runs, workers, on, told) as outcomes:
                # While the runs go on elsewhere, this process solves games and scores baselines.
                baselines = _baselines(games, told)
                ended = outcomes()
            record = BenchRecord(
                tasks=tuple(
                    _task_record(games[name], found, runs, ended)
                    for name, found in baselines.items()
                ),
                suite=whole,
                failures=tuple(
                    one for run in runs if isinstance(one := ended[run.name], FailureRecord)
                ),
            )
            write_results(out, record)
            told.write(f"written   {out / FILE}")
    return record


def plan(
    tasks: Sequence[Task],
    algorithms: Mapping[str, Source] | Sequence[str] | None,
    seeds: int | None,
    games: Mapping[str, TaskGame],
    suite: SuiteRecord | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> tuple[list[Run], list[str]]:
    """Return the runs to do, and the pairs that are left out.

    Args:
        tasks: The tasks.
        algorithms: The algorithms, as for :func:`bench`.
        seeds: Number of seeds, as for :func:`bench`.
        games: Games of the tasks, by the names of the tasks.
        suite: Suite of the tasks, of which an algorithm does those that it can. Without a suite, a
            task that an algorithm cannot do is refused.
        settings: Settings of algorithms, as for :func:`bench`.

    Returns:
        The runs, and a line for each pair of an algorithm and a task that is left out.

    Raises:
        ValueError: As for :func:`bench`.
    """
    if seeds is not None:
        check_integer(seeds, "seeds", 1, 10**6)
    named: Mapping[str, Source] | None = None
    if algorithms is not None:
        named = (
            algorithms
            if isinstance(algorithms, Mapping)
            else {plain_name(name): name for name in algorithms}
        )
        if len(named) < len(algorithms):
            raise ValueError("two algorithms have the same name; give them others by a mapping")
    found: dict[str, Algorithm] = {}
    own = settings or {}
    runs: list[Run] = []
    left_out: list[str] = []
    for task in tasks:
        for name, source in (named or {name: name for name in task.seeds}).items():
            if name not in found:
                setting = own.get(name, Setting())
                found[name] = _checked(name, source).with_settings(setting.settings)
            reason = found[name].refusal(games[task.name])
            if reason is not None and suite is None:
                raise ValueError(f"{name} cannot do task {task.name}: {reason}")
            if reason is not None:
                left_out.append(f"{task.name} {name}: {reason}")
                continue
            count = seeds or task.seeds.get(name, 1)
            budget = found[name].budget(task)
            numbers = range(count) if suite is None else suite_seeds(suite.hash, count)
            setting = own.get(name, Setting())
            runs += [Run(task, name, source, seed, budget, setting) for seed in numbers]
    if not runs:
        raise ValueError("there is nothing to do: " + ("; ".join(left_out) or "no algorithm"))
    return runs, left_out


def _checked(name: str, source: Source) -> Algorithm:
    """Return an algorithm that can be sent to another process.

    Raises:
        ValueError: If there is none, or it cannot be sent.
    """
    if not re.fullmatch(r"[\w-][\w.-]{0,59}", name):
        raise ValueError(
            f"the name of an algorithm is {shown(name)}; allowed are up to 60 letters, digits, "
            f"'.', '-' and '_'"
        )
    if isinstance(source, str):
        return find_algorithm(source)
    algorithm = as_algorithm(source, name)
    main = sys.modules["__main__"]
    try:
        pickle.dumps(source)
        reachable = algorithm.run.__module__ != "__main__" or hasattr(main, "__file__")
    except Exception:  # What cannot be pickled says so in many ways.
        reachable = False
    if not reachable:
        raise ValueError(
            f"the algorithm {name} cannot be sent to another process; define it at the top of a "
            f"file, and name it there ('file.py:{name}') or import it from there"
        )
    return algorithm


def _baselines(
    games: Mapping[str, TaskGame], told: BenchProgress
) -> dict[str, tuple[BaselineRecord, ...]]:
    """Solve games and score their baselines, the best constant policy last.

    A game without a proved optimum is left out.

    Raises:
        CertificateError, ImproperGameError: If all are left out.
    """
    found, refused = {}, None
    for name, game in games.items():
        try:
            found[name] = (
                *score_baselines(game.table, game.solution, seats=game.seats),
                best_constant(game.table, game.solution, game.seats),
            )
        except (CertificateError, ImproperGameError) as error:
            told.write(f"failed    {name}: no optimum is proved: {error}")
            refused = error
        else:
            told.write(f"solved    {name}: optimum {game.optimum[0]:z.6f}")
    if refused is not None and not found:
        raise refused
    return found


def _task_record(
    game: TaskGame,
    baselines: tuple[BaselineRecord, ...],
    runs: Sequence[Run],
    ended: Mapping[str, Outcome],
) -> TaskRecord:
    ends = [ended[run.name] for run in runs if run.task.name == game.task.name]
    value, lower, upper = game.optimum
    return TaskRecord(
        env=game.task.environment,
        game=game.table.info.name,
        parameters=dict(game.table.info.parameters),
        optimum=value,
        bracket=(lower, upper),
        agents=tuple(one for one in ends if isinstance(one, AgentRecord)),
        baselines=baselines[:-1],
        task=game.task,
        model_hash=game.table.model_hash,
        constant=baselines[-1],
    )


def _keep(folder: Path, name: str, told: BenchProgress) -> None:
    """Report the kept progress of a run from an earlier bench; nothing if its files are damaged.

    Args:
        folder: Folder of the run, which reports its own errors later.
        name: Name of the run.
        told: The display to report to.
    """
    run = RunFolder(folder, {})
    try:
        if run.read()["result"] is not None:
            told.keep(name, read_curve(folder / "curve.csv", Evaluation)[-1])
        elif any((folder / OWN).iterdir()):
            told.resume(name)
    except (StoreError, OSError, IndexError):
        return


@contextmanager
def _started(
    out: Path, runs: Sequence[Run], workers: int, on: str | None, told: BenchProgress
) -> Iterator[Callable[[], dict[str, Outcome]]]:
    """Start all runs; yield a function that waits for their outcomes, by the names of the runs.

    An error stops them.
    """
    told.write(f"training  {len(runs)} runs, {on or workers} at the same time, into {out}")
    # The last tasks are the longest; begun first, they leave no processor idle at the end.
    order = list(reversed(runs))
    if on is not None:
        from solvent.benchmark.cluster import on_cluster

        with on_cluster(on, out, order, told) as outcomes:
            yield lambda: dict(outcomes)
        return
    context = multiprocessing.get_context("spawn")
    # What processes tell each other goes through one of its own: one that dies at any moment takes
    # no lock with it.
    manager = SyncManager(ctx=context)
    manager.start(live_with_parent)
    with manager:
        events, stop = manager.Queue(), manager.Event()

        def processes(number: int) -> ProcessPoolExecutor:
            return ProcessPoolExecutor(
                number, context, initializer=_begin_worker, initargs=(events, stop)
            )

        with _reader(events, told), ThreadPoolExecutor(1) as thread:
            ended = thread.submit(_outcomes, processes, workers, partial(_work, out), order, told)
            try:
                yield ended.result
            except BaseException:
                stop.set()
                raise


def _outcomes(
    processes: Callable[[int], ProcessPoolExecutor],
    workers: int,
    work: Callable[[Run], Outcome],
    runs: Sequence[Run],
    told: BenchProgress,
) -> dict[str, Outcome]:
    """Return the outcome of each run, by its name.

    A process may die, for example if it runs out of memory, without telling in which run. The runs
    under way are then resumed one at a time, and a run whose process dies again has failed.

    Args:
        processes: A function that makes a pool of so many processes.
        workers: Number of runs at the same time.
        work: The function that a process calls with a run.
        runs: The runs.
        told: The display that reports failures.
    """
    ended: dict[str, Outcome] = {}

    def end(run: Run, outcome: Outcome) -> None:
        ended[run.name] = outcome
        if isinstance(outcome, FailureRecord):
            told.write(f"failed    {run.name}: {outcome.error}")

    waiting, suspects = deque(runs), deque[Run]()
    while waiting or suspects:
        queue, size = (suspects, 1) if suspects else (waiting, workers)
        under_way: dict[Future[Outcome], Run] = {}
        with processes(size) as pool:
            try:
                while queue or under_way:
                    while queue and len(under_way) < size:
                        future = pool.submit(work, queue[0])
                        under_way[future] = queue.popleft()
                    for future in wait_for(under_way, return_when=FIRST_COMPLETED).done:
                        end(under_way[future], future.result())
                        del under_way[future]
            except BrokenProcessPool:
                if queue is waiting:
                    suspects.extend(under_way.values())
                    continue
                for run in under_way.values():
                    lost = "its process died, as one does that runs out of memory"
                    end(run, FailureRecord(run.task.name, run.algorithm, run.seed, lost))
                    told.finish(run.name, Finished(None))
    return ended


@contextmanager
def _reader(events: Queue[Event | None], told: BenchProgress) -> Iterator[None]:
    """Run a thread that displays the reports of the workers."""

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


_worker: dict[str, Any] = {}


def _begin_worker(events: Any, stop: Any) -> None:
    """Set a worker up."""
    live_with_parent()
    _worker.update(events=events, stop=stop)


def _work(out: Path, run: Run) -> Outcome:
    """Do a run in a worker."""

    def report(moment: Moment) -> None:
        if _worker["stop"].is_set():
            raise Stopped
        _worker["events"].put((run.name, moment))

    outcome = attempted(out, run, report)
    _worker["events"].put((run.name, end_of(outcome)))
    return outcome
