"""Running algorithms on tasks, in separate processes, with exact scores.

:func:`bench` runs algorithms on each of some tasks. It writes ``results.json``
(:mod:`solvent.benchmark.records`) and a folder for each run (:mod:`solvent.benchmark.algorithms`).

If a bench is killed and called again, it reads finished runs back, resumes the others from the
files of their algorithms, and ends with the same results except ``cpu_seconds``. A run that ends
with an exception, or whose process dies, is reported at the end, and does not affect others. A task
whose optimum cannot be proved is left out of the results, and each of its runs is reported as
failed.

Runs are done by processes of this machine or of a Ray cluster. On a cluster, each run has a folder
on the machine that does it, and its files are copied back when the run is finished.
"""

import multiprocessing
import os
import pickle
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Queue
from typing import Any

from solvent.benchmark.algorithms import (
    Algorithm,
    Run,
    as_algorithm,
    attempted,
    find_algorithm,
    plain_name,
)
from solvent.benchmark.policies import task_record
from solvent.benchmark.progress import BenchProgress, Moment
from solvent.benchmark.records import (
    FILE,
    AgentRecord,
    BenchRecord,
    FailureRecord,
    Outcome,
    SuiteRecord,
    TaskRecord,
    read_bench,
    write_results,
)
from solvent.benchmark.run_folder import RECORD
from solvent.benchmark.suites import (
    Setting,
    Suite,
    Task,
    TaskGame,
    suite_hash,
    suite_seeds,
    task_game,
)
from solvent.exact import CertificateError, ImproperGameError
from solvent.exact.layered.cluster import Build, RayWorkers, check_build, this_build
from solvent.model.files import StoreError, locked, named_folder, remove_temporary, write_atomically
from solvent.model.parameters import check_integer, shown

# The content of the files of a run, by their paths within its folder.
_Files = dict[str, bytes]

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
    """Run algorithms on tasks and score their policies; see the module docstring for the files.

    Args:
        out: Folder for the results.
        tasks: A suite or tasks. An algorithm skips tasks that it does not support.
        algorithms: Functions by name, as :mod:`solvent.benchmark.algorithms` describes them, or
            their places; or names only. Default: the algorithms that the tasks name.
        seeds: Number of seeds of each algorithm on each task. Default: the number in the task, or 1
            for an algorithm that it does not name. The seeds of a suite follow from its hash
            (:func:`solvent.benchmark.suites.suite_seeds`), others are 0, 1 and so on.
        settings: Settings of algorithms by the algorithm's name, the same on all tasks, instead of
            the suite's.
        workers: Number of runs at the same time.
        on: Address of a Ray cluster that does the runs, instead of processes of this machine
            (:mod:`solvent.exact.layered.cluster`).
        progress: Whether to show progress: bars on a terminal, lines on the standard output
            elsewhere.

    Returns:
        The content of ``results.json``.

    Raises:
        ValueError: If an environment or algorithm is unknown, an algorithm cannot be sent to
            another process, a task has no budget, or there is nothing to do.
        CertificateError, ImproperGameError: If no task has an optimum that can be proved.
        StoreError: If `out` cannot be written to, or another process uses it.
        ClusterError: If the cluster cannot be used, or was lost.
    """
    out = named_folder(out)
    # Tasks that belong to no suite are one without a name: a suite checks that their names differ.
    suite = tasks if isinstance(tasks, Suite) else Suite("", "", tuple(tasks))
    check_integer(workers, "workers", 1, 10_000)
    games = {task.name: task_game(task) for task in suite.tasks}
    whole = None
    if suite.name:
        hashes = [games[task.name].table.model_hash for task in suite.tasks]
        whole = SuiteRecord(suite.name, suite_hash(suite.tasks, hashes))
    settings = {**suite.algorithms, **(settings or {})}
    runs, left_out = _plan(suite.tasks, algorithms, seeds, games, whole, settings)
    with locked(out):
        _check_results(out)
        remove_temporary(out)
        totals = {run.name: run.budget.timesteps for run in runs}
        with BenchProgress(totals, shown=progress) as display:
            for line in left_out:
                display.write(f"left out  {line}")
            with _started(out, runs, workers, on, display) as outcomes:
                # Meanwhile this process solves games and scores baselines.
                references = _references(games, display)
                by_name = outcomes()
            ended = [(run.task.name, by_name[run.name]) for run in runs]
            record = BenchRecord(
                tasks=tuple(
                    replace(
                        task,
                        agents=tuple(
                            outcome
                            for name, outcome in ended
                            if name == task.name and isinstance(outcome, AgentRecord)
                        ),
                    )
                    for task in references
                ),
                suite=whole,
                failures=tuple(own for _, own in ended if isinstance(own, FailureRecord)),
            )
            write_results(out, record)
            display.write(f"written   {out / FILE}")
    return record


def _plan(
    tasks: Sequence[Task],
    algorithms: Mapping[str, Source] | Sequence[str] | None,
    seeds: int | None,
    games: Mapping[str, TaskGame],
    suite: SuiteRecord | None,
    settings: Mapping[str, Setting],
) -> tuple[list[Run], list[str]]:
    """Return the runs to do, and a line for each pair of algorithm and task that is left out.

    Raises:
        ValueError: If an algorithm is unknown, a task has no budget, or there is nothing to do.
    """
    if seeds is not None:
        check_integer(seeds, "seeds", 1, 10**6)
    named: Mapping[str, Source] = (
        algorithms
        if isinstance(algorithms, Mapping)
        else {plain_name(name): name for name in algorithms or ()}
    )
    if len(named) < len(algorithms or ()):
        raise ValueError("two algorithms have the same name; give them others by a mapping")
    found: dict[str, Algorithm] = {}
    runs: list[Run] = []
    left_out: list[str] = []
    for task in tasks:
        for name, source in (named or {name: name for name in task.seeds}).items():
            setting = settings.get(name, Setting())
            if name not in found:
                found[name] = _checked(name, source).with_settings(setting.settings)
            if reason := found[name].refusal(games[task.name]):
                left_out.append(f"{task.name} {name}: {reason}")
                continue
            if task.timesteps is None:
                raise ValueError(f"task {task.name} has no budget; say how many timesteps")
            count = seeds or task.seeds.get(name, 1)
            numbers = range(count) if suite is None else suite_seeds(suite.hash, count)
            runs += [Run(task, name, source, seed, setting) for seed in numbers]
    if not runs:
        raise ValueError("there is nothing to do: " + ("; ".join(left_out) or "no algorithm"))
    return runs, left_out


def _check_results(out: Path) -> None:
    """Refuse a folder with results that cannot be read, which would be replaced."""
    if os.path.lexists(out / FILE):
        try:
            read_bench(out)
        except StoreError as error:
            raise StoreError(f"{error}; remove it, or name another folder") from error


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
    except Exception:  # Pickle raises many kinds of errors.
        reachable = False
    if not reachable:
        raise ValueError(
            f"the algorithm {name} cannot be sent to another process; define it at the top of a "
            f"file, and name it there ('file.py:{name}') or import it from there"
        )
    return algorithm


def _references(games: Mapping[str, TaskGame], display: BenchProgress) -> list[TaskRecord]:
    """Solve games and score their baselines; a game without a proved optimum is left out.

    Raises:
        CertificateError, ImproperGameError: If all are left out.
    """
    found, refused = [], None
    for name, game in games.items():
        try:
            found.append(task_record(game))
        except (CertificateError, ImproperGameError) as error:
            display.write(f"failed    {name}: no optimum is proved: {error}")
            refused = error
        else:
            display.write(f"solved    {name}: optimum {game.optimum[0]:z.6f}")
    if refused is not None and not found:
        raise refused
    return found


@contextmanager
def _started(
    out: Path, runs: Sequence[Run], workers: int, on: str | None, display: BenchProgress
) -> Iterator[Callable[[], dict[str, Outcome]]]:
    """Start all runs; yield a function that waits for their outcomes, by the names of the runs.

    An error stops them.
    """
    display.write(f"training  {len(runs)} runs, {on or workers} at the same time, into {out}")
    # The last tasks take longest. Started first, they leave no processor idle at the end.
    order = list(reversed(runs))
    if on is not None:
        with RayWorkers(on) as machines:
            yield partial(_on_cluster, machines, out, order, display)
        return
    context = multiprocessing.get_context("spawn")
    stop, processes = threading.Event(), list[BaseProcess]()
    idle: Queue[Connection] = Queue()

    def begin() -> None:
        line, far_end = context.Pipe()
        process = context.Process(target=_serve, args=(far_end,))
        process.start()
        # The process now holds the only far end, so that its death closes the line.
        far_end.close()
        processes.append(process)
        idle.put(line)

    def do(run: Run) -> Outcome:
        line = idle.get()
        told: Moment | Outcome
        try:
            line.send((out, run))
            while isinstance(told := line.recv(), Moment):
                display.move(run.name, told)
            idle.put(line)
        except (EOFError, OSError):
            if stop.is_set():
                raise
            begin()
            lost = "its process died, as one does that runs out of memory"
            told = FailureRecord(run.task.name, run.algorithm, run.seed, lost)
        display.finish(run.name, told)
        return told

    for _ in range(workers):
        begin()
    with ThreadPoolExecutor(workers) as threads:
        begun = {run.name: threads.submit(do, run) for run in order}
        try:
            yield lambda: {name: one.result() for name, one in begun.items()}
        except BaseException:
            stop.set()
            threads.shutdown(wait=False, cancel_futures=True)
            # A run goes on from its files, as after a kill of the bench itself.
            for process in processes:
                process.kill()
            for process in processes:
                process.join()
            raise
        finally:
            while not idle.empty():
                idle.get().close()


def _serve(line: Connection) -> None:
    """Do the runs that the bench sends, and send back their progress and their outcomes.

    The process leaves Ctrl-C to the bench, and ends with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bench = multiprocessing.parent_process()
    assert bench is not None
    threading.Thread(target=_leave_with, args=(bench.sentinel,), daemon=True).start()
    with suppress(EOFError):
        while True:
            out, run = line.recv()
            line.send(attempted(out, run, line.send))


def _leave_with(sentinel: int) -> None:
    """End this process when the one with the sentinel has ended."""
    wait([sentinel])
    os._exit(1)


def _on_cluster(
    workers: RayWorkers, out: Path, runs: Sequence[Run], display: BenchProgress
) -> dict[str, Outcome]:
    """Return the outcome of each run on a Ray cluster, by its name.

    Each run has a folder on the machine that does it, and its files are copied to the bench's
    folder when it is finished. The files of an unfinished run are not copied, so after an
    interruption it starts again. An algorithm given as a file has to have the same path on every
    machine.
    """
    build, ended = this_build(), {}
    asked = [(n, build, run, _files_in(out / run.folder)) for n, run in enumerate(runs)]
    for _, _, run, files in asked:
        if RECORD not in files:
            display.move(run.name, Moment(0, run.budget.timesteps, None))
    for number, outcome, files in workers.run(_work_on_cluster, asked):
        run = runs[number]
        # The record comes last: with it a run is finished.
        for name in sorted(files, key=lambda name: name == RECORD):
            path = out / run.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, files[name])
        display.finish(run.name, outcome)
        ended[run.name] = outcome
    return ended


def _work_on_cluster(asked: tuple[int, Build, Run, _Files]) -> tuple[int, Outcome, _Files]:
    """Do a run in a process of the cluster."""
    number, build, run, files = asked
    check_build(build)
    with tempfile.TemporaryDirectory(prefix="solvent-bench-") as place:
        folder = Path(place) / run.folder
        # Without its record, the files are part of a copy that was interrupted.
        for name, content in files.items() if RECORD in files else ():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        outcome = attempted(Path(place), run)
        finished = not isinstance(outcome, FailureRecord)
        return number, outcome, _files_in(folder) if finished else {}


def _files_in(folder: Path) -> _Files:
    """Return the files in a folder and below it, except hidden ones, such as its lock."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
