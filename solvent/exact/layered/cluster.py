"""Blocks of sheets, solved by the processes of a Ray cluster.

::

    with RayWorkers("auto") as workers:
        solve_layout(layout, store, workers=workers)

The driver, which is the process that runs this, holds the store and puts sheets together; the
processes of the cluster, one for each processor, solve blocks and keep nothing that is needed later
but copies.

**Traffic.** The rules go to every machine once. A solved sheet goes into the object store of the
driver's machine once, and from there to every other machine once; it is taken out when no other
sheet will read it. With a block go the supports from which it is started, and its values and
supports come back.

**Failures.** A block whose process or machine dies is solved again elsewhere, up to
:data:`RETRIES` times; machines may join at any time. All that a machine holds besides copies are
the answers that it has not handed over, so its death costs those and no more. What the driver put
into the object store has no other owner: when its machine or the head dies, the work stops, and
what is solved is in the driver's folder, from which it goes on.

**Addresses.** With ``"HOST:PORT"`` of the head, or ``"auto"``, the driver runs on a machine of the
cluster and shares its memory. With ``"ray://HOST:PORT"`` it runs anywhere, and all that it sends
and receives goes through the head by Ray's client.

What is computed does not depend on who computes it, provided that all run the same build: the
driver asks every machine before it begins, and every block is checked again.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from time import monotonic
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np

from solvent.exact.layered.build import Build, difference, this_build
from solvent.exact.layered.store import Supports
from solvent.games.football_clock.solver.layer_kernel import Block, BlockResult, solve_block
from solvent.games.football_clock.solver.layout import Sheet
from solvent.games.football_clock.solver.problem import Moments, SheetProblem
from solvent.games.football_clock.solver.tables import TimedTables
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import shown

RETRIES = 20
"""How often a block is solved again when its process or machine has died."""

TASKS_PER_PROCESSOR = 4
"""Into how many tasks a sheet is cut, so that no processor waits long for the last."""

REACHABLE_WITHIN = 10.0
"""Seconds in which the head has to answer."""

BUSY = "Starting Ray client server failed"
"""What a head says that was too busy to start the process that serves one of Ray's clients."""

ATTEMPTS = 3
"""How often a head that is busy is asked."""

CLIENT = "ray://"
"""With which the address of Ray's client begins."""

PATIENCE = 60.0
"""Seconds for which the cluster may be without a processor before the driver gives up."""


class ClusterError(ConnectionError):
    """A cluster cannot be used, or was lost; the message is one line."""


class RayWorkers:
    """Solves blocks on a Ray cluster; to be used in a ``with`` statement.

    Args:
        address: ``"HOST:PORT"`` of the head or ``"auto"`` on a machine of the cluster, or
            ``"ray://HOST:PORT"``.

    Raises:
        ModuleNotFoundError: If Ray is not installed; the message names the extra.
        ClusterError: If the cluster cannot be reached, has no processors, or a machine of it runs
            another build.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._ray = _connected(address)
        try:
            self._check_machines()
        except BaseException:
            self.close()
            raise
        self._solve = self._ray.remote(num_cpus=1, max_retries=RETRIES)(_solve_blocks)
        self._tables: tuple[TimedTables, Any] | None = None
        self._kept: dict[Sheet, Any] = {}
        self._numbers = count()

    @property
    def processors(self) -> int:
        """How many the cluster has at the moment."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def keep(self, sheet: Sheet, values: Floats) -> None:
        """Put a sheet into the object store.

        Raises:
            ClusterError: If the cluster was lost.
        """
        with self._reached():
            self._kept[sheet] = self._ray.put(np.asarray(values))

    def forget(self, sheet: Sheet) -> None:
        """Take a sheet out of the object store."""
        del self._kept[sheet]

    def solve(
        self, problem: SheetProblem, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, BlockResult]]:
        """Solve the blocks of a sheet, those first that are done first.

        Raises:
            ClusterError: If the cluster was lost, or has had no processor for a while.
        """
        with self._reached():
            yield from self._solved(problem, blocks)

    def close(self) -> None:
        """Leave the cluster."""
        self._ray.shutdown()

    def __enter__(self) -> RayWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Say in one line that the cluster was lost, or what went wrong in a process of it."""
        try:
            yield
        except ClusterError:
            raise
        except self._ray.exceptions.RayTaskError as error:
            raise _cause(error) from error
        except Exception as error:
            # When its line is cut, Ray's client raises whatever the libraries below it do.
            by_client = self.address.startswith(CLIENT)
            if not by_client and not isinstance(error, (self._ray.exceptions.RayError, OSError)):
                raise
            raise ClusterError(
                f"the cluster at {self.address} was lost ({_first_line(error)}); the sheets that "
                f"are solved are kept"
            ) from error

    def _solved(
        self, problem: SheetProblem, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, BlockResult]]:
        outline = outline_of(problem, next(self._numbers))
        tables = self._put_tables(problem.tables)
        values = [self._kept[sheet] for sheet in outline.reads]
        size = -(-len(blocks) // (TASKS_PER_PROCESSOR * max(1, self.processors)))
        of_task = {}
        for first in range(0, len(blocks), size):
            part = tuple(blocks[first : first + size])
            supports = supports_of(problem, part)
            task = self._solve.remote(this_build(), outline, part, supports, tables, *values)
            of_task[task] = part
        _ = problem.worth  # The driver needs it for the kicks, and has nothing else to do now.
        while of_task:
            task = self._next_done(list(of_task))
            yield from zip(of_task.pop(task), self._ray.get(task), strict=True)

    def _next_done(self, tasks: list[Any]) -> Any:
        """A task that is done, as soon as there is one."""
        lost = monotonic()
        while True:
            done, _ = self._ray.wait(tasks, timeout=PATIENCE / 10)
            if done:
                return done[0]
            if self.processors:
                lost = monotonic()
            elif monotonic() - lost > PATIENCE:
                raise ClusterError(
                    f"the cluster at {self.address} has had no processor for {PATIENCE:.0f} "
                    f"seconds; the sheets that are solved are kept"
                )

    def _put_tables(self, tables: TimedTables) -> Any:
        """The reference to the rules, which are put into the object store once."""
        if self._tables is None or self._tables[0] is not tables:
            self._tables = tables, self._ray.put(tables)
        return self._tables[1]

    def _check_machines(self) -> None:
        """Raise unless there are processors, and every machine that has some runs this build."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        # It takes no processor, so that it need not wait for another's tasks.
        check = self._ray.remote(num_cpus=0, max_retries=RETRIES)(_check_build)
        asked = [
            check.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote(this_build())
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        ]
        answers = 0
        for answer in asked:
            try:
                self._ray.get(answer)
                answers += 1
            except self._ray.exceptions.RayTaskError as error:
                raise _cause(error) from error
            except self._ray.exceptions.RayError:
                # It has died; the head only learns of that after a while.
                continue
        if not answers:
            raise ClusterError(f"the cluster at {self.address} has no processors")


class Outline(NamedTuple):
    """A problem without its large arrays.

    Attributes:
        number: Another for every problem of a driver.
        sheet: Which is solved.
        moments: See :class:`SheetProblem`.
        final: See there.
        shifted: See there.
        paid: See there.
        reads: The sheets of its values, in their order.
        supports: Shape of those from which it is started; None if there are none.
    """

    number: int
    sheet: Sheet
    moments: tuple[Moments, ...]
    final: Floats
    shifted: Ints
    paid: Floats
    reads: tuple[Sheet, ...]
    supports: tuple[int, ...] | None


def outline_of(problem: SheetProblem, number: int) -> Outline:
    """The outline of a problem."""
    return Outline(
        number,
        problem.sheet,
        problem.moments,
        problem.final,
        problem.shifted,
        problem.paid,
        tuple(problem.values),
        None if problem.supports is None else problem.supports.shape,
    )


def supports_of(problem: SheetProblem, blocks: Sequence[Block]) -> list[Supports] | None:
    """The supports from which some blocks are started."""
    if problem.supports is None:
        return None
    return [np.ascontiguousarray(problem.supports[:, first:last]) for first, last in blocks]


_latest: tuple[int, SheetProblem] | None = None
"""In a process of the cluster, which serves one driver: the problem at which it was last, with its
number. What follows a play is rated once for all the blocks that come to the process."""


def _solve_blocks(
    build: Build,
    outline: Outline,
    blocks: Sequence[Block],
    supports: Sequence[Supports] | None,
    tables: TimedTables,
    *values: Floats,
) -> list[BlockResult]:
    """Solve some blocks in a process of the cluster."""
    global _latest
    _check_build(build)
    if _latest is None or _latest[0] != outline.number:
        _latest = outline.number, _problem(outline, tables, values)
    problem = _latest[1]
    if supports is not None and problem.supports is not None:
        for (first, last), block in zip(blocks, supports, strict=True):
            problem.supports[:, first:last] = block
    return [solve_block(problem, *block) for block in blocks]


def _problem(outline: Outline, tables: TimedTables, values: Sequence[Floats]) -> SheetProblem:
    """The problem of an outline; its supports are still to be written."""
    # Of these only the lines of the blocks that come to this process will ever take up memory.
    supports = None if outline.supports is None else np.zeros(outline.supports, np.uint32)
    return SheetProblem(
        sheet=outline.sheet,
        tables=tables,
        moments=outline.moments,
        values=dict(zip(outline.reads, values, strict=True)),
        final=outline.final,
        shifted=outline.shifted.copy(),
        paid=outline.paid.copy(),
        supports=supports,
    )


def _check_build(drivers: Build) -> None:
    """Raise unless this process runs the driver's build."""
    other = difference(drivers, this_build())
    if other is not None:
        raise ClusterError(
            f"the machine {socket.gethostname()} of the cluster runs another build: {other}; "
            f"install the same on all machines"
        )


def _connected(address: str) -> Any:
    """Ray, connected to a cluster."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "solving on a cluster needs Ray: pip install 'solvent[cluster]'", name="ray"
        ) from error
    if ray.is_initialized():
        raise ClusterError("this process is connected to a Ray cluster already; leave it first")
    if address != "auto":
        _check_reachable(address)
    for left in reversed(range(ATTEMPTS)):
        try:
            with catch_warnings():
                simplefilter("ignore")  # Of what is raised as an error anyway.
                ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
            break
        # Ray leaves the process when what answers at the address is no cluster's head.
        except (Exception, SystemExit) as error:
            ray.shutdown()
            if left and BUSY in str(error):
                continue
            raise ClusterError(
                f"cannot connect to a cluster at {address}: {_first_line(error)}"
            ) from error
    return ray


def _check_reachable(address: str) -> None:
    """Raise if nothing answers at an address; Ray itself would try for two minutes."""
    parts = re.fullmatch(r"(?:ray://)?\[?([^\s/]+?)\]?:(\d+)", address)
    if parts is None:
        raise ClusterError(
            f"the cluster's address is {shown(address)}; allowed are HOST:PORT, ray://HOST:PORT "
            f"and auto"
        )
    host, port = parts[1], int(parts[2])
    try:
        socket.create_connection((host, port), timeout=REACHABLE_WITHIN).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"nothing answers at {address} ({error})") from error


def _cause(error: Any) -> Exception:
    """What went wrong in a process of the cluster, as the driver has to say it."""
    last = str(error).strip().splitlines()[-1]
    if isinstance(error.cause, ClusterError):
        return ClusterError(str(error.cause))
    # Where this package itself is missing, Ray cannot say it but in words.
    if isinstance(error.cause, ImportError) or "ModuleNotFoundError" in last:
        return ClusterError(
            f"a machine of the cluster cannot run the solver ({last}); install the same on all "
            f"machines"
        )
    return error  # type: ignore[no-any-return]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
