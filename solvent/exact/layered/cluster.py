"""Blocks of layers, solved by the processes of a Ray cluster.

::

    with RayWorkers("auto") as workers:
        solve_layers(game, store, workers=workers)

The driver, which is the process that runs this code, holds the store and joins layers; the
processes of the cluster, one for each processor, solve blocks and hold only copies.

**Traffic.** The game is sent to every machine once. A solved layer is put into the object store of
the driver's machine, and from there sent to every other machine once; it is removed when no other
layer will read it. The values of a block come back.

**Failures.** If the process or machine of a block dies, the block is solved again elsewhere, up to
:data:`RETRIES` times; machines may join at any time. When a machine dies, only results that it has
not delivered are lost. The driver's objects have no other owner: if the driver's machine or the
head dies, the solve stops, and can be resumed from the driver's folder.

**Addresses.** With ``"HOST:PORT"`` of the head, or ``"auto"``, the driver runs on a machine of the
cluster and shares its memory. With ``"ray://HOST:PORT"`` it runs anywhere, and all traffic goes
through the head by Ray's client.

**Builds.** Results do not depend on the machine, provided that all run the same *build*: the same
source, compiled by the same compiler. Every task checks the build of its process.
"""

from __future__ import annotations

import logging
import platform
import re
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from solvent.exact.layered.game import Block, BlockResult, Layer, LayeredGame, Read
from solvent.exact.layered.solve import Workers
from solvent.model.arrays import Floats
from solvent.model.parameters import shown

RETRIES = 20
"""Number of times a block is solved again when its process or machine has died."""

# Number of tasks into which a layer is cut, so that no processor waits long for the last one.
_TASKS_PER_PROCESSOR = 4

# Seconds within which the head has to answer.
_REACHABLE_WITHIN = 10.0

# The prefix of the address of Ray's client.
_CLIENT = "ray://"

PATIENCE = 60.0
"""Seconds for which the cluster may be without a processor before the driver gives up."""


class ClusterError(ConnectionError):
    """A cluster cannot be used, or was lost; the message is one line."""


class RayWorkers(Workers, AbstractContextManager["RayWorkers"]):
    """Solves blocks on a Ray cluster; use it in a ``with`` statement.

    Args:
        address: ``"HOST:PORT"`` of the head or ``"auto"`` on a machine of the cluster, or
            ``"ray://HOST:PORT"``.

    Raises:
        ModuleNotFoundError: If Ray is not installed; the message names the extra.
        ClusterError: If the cluster cannot be reached, or has no processors.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._ray = _connected(address)
        if not self.processors:
            self.close()
            raise ClusterError(f"the cluster at {address} has no processors")
        self._solve = self._ray.remote(num_cpus=1, max_retries=RETRIES)(_solve_blocks)
        # The game that every machine has, and in the object store the layers that others will read.
        self._game: LayeredGame | None = None
        self._sent: Any = None
        self._kept: dict[Layer, Any] = {}
        self._last_reader: dict[Layer, Layer] = {}
        self._numbers = count()

    @property
    def processors(self) -> int:
        """The number of processors that the cluster has now."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def keep(self, layer: Layer, values: Floats) -> None:
        """Put a layer into the object store.

        Raises:
            ClusterError: If the cluster was lost.
        """
        with self._reached():
            self._kept[layer] = self._ray.put(np.asarray(values))

    def solve(
        self, game: LayeredGame, layer: Layer, blocks: Sequence[Block], read: Read
    ) -> Iterator[tuple[Block, BlockResult]]:
        """Solve the blocks of a layer; yield them in the order in which they are done.

        Raises:
            ClusterError: If the cluster was lost, has had no processor for a while, or a machine
                runs another build.
        """
        if self._game is not game:
            self._game, self._kept = game, {}
            self._last_reader = {at: reader for reader in game.layers for at in game.reads(reader)}
            with self._reached():
                self._sent = self._ray.put(game)
        reads, number = tuple(game.reads(layer)), next(self._numbers)
        for needed in reads:
            if needed not in self._kept:
                self.keep(needed, read(needed))
        with self._reached():
            arguments = this_build(type(game).__module__), number, layer, reads
            values = [self._kept[needed] for needed in reads]
            size = -(-len(blocks) // (_TASKS_PER_PROCESSOR * max(1, self.processors)))
            tasks = {}
            for first in range(0, len(blocks), size):
                part = blocks[first : first + size]
                tasks[self._solve.remote(*arguments, part, self._sent, *values)] = part
            for done in self._done(list(tasks)):
                yield from zip(tasks[done], self._ray.get(done), strict=True)
        self._kept = {at: put for at, put in self._kept.items() if self._last_reader[at] != layer}

    def run(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Iterator[Any]:
        """Call a function with each of some arguments, one call per processor.

        Args:
            function: A function of this build, which every machine has.
            arguments: The arguments to call it with, one at a time.

        Returns:
            The results, in the order in which they are done. Closing the iterator early cancels the
            other calls.

        Raises:
            ClusterError: If the cluster was lost, or has had no processor for a while.
        """
        call = self._ray.remote(num_cpus=1, max_retries=RETRIES)(function)
        with self._reached():
            for done in self._done([call.remote(argument) for argument in arguments]):
                yield self._ray.get(done)

    def close(self) -> None:
        """Leave the cluster."""
        self._ray.shutdown()

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Turn the loss of the cluster, or an error in one of its processes, into one line."""
        try:
            yield
        except ClusterError:
            raise
        except self._ray.exceptions.RayTaskError as error:
            raise _cause(error) from error
        except Exception as error:
            # When it is disconnected, Ray's client raises whatever the libraries below it do.
            by_client = self.address.startswith(_CLIENT)
            if not by_client and not isinstance(error, (self._ray.exceptions.RayError, OSError)):
                raise
            raise ClusterError(
                f"the cluster at {self.address} was lost ({_first_line(error)}); what is "
                f"finished is kept"
            ) from error

    def _done(self, waiting: list[Any]) -> Iterator[Any]:
        """Yield each task when it is done; closing the iterator early cancels the others."""
        lost = monotonic()
        try:
            while waiting:
                done, waiting = self._ray.wait(waiting, timeout=PATIENCE / 10)
                yield from done
                if done or self.processors:
                    lost = monotonic()
                elif monotonic() - lost > PATIENCE:
                    raise ClusterError(
                        f"the cluster at {self.address} has had no processor for {PATIENCE:.0f} "
                        f"seconds; what is finished is kept"
                    )
        finally:
            for left in waiting:
                self._ray.cancel(left, force=True)


# In a process of the cluster, which serves one driver: the number, game and problem of its latest
# layer. A problem is prepared once for all blocks that the process solves.
_latest: tuple[int, LayeredGame, Any] | None = None


def _solve_blocks(
    build: Build,
    number: int,
    layer: Layer,
    reads: tuple[Layer, ...],
    blocks: Sequence[Block],
    game: LayeredGame,
    *values: Floats,
) -> list[BlockResult]:
    """Solve some blocks in a process of the cluster.

    Args:
        build: The driver's build.
        number: A number that is different for every layer that a driver solves.
        layer: The layer.
        reads: The layers whose values are sent along, in their order.
        blocks: The blocks.
        game: The game.
        values: Values of the layers that are read.
    """
    global _latest
    check_build(build, type(game).__module__)
    if _latest is None or _latest[0] != number:
        read = dict(zip(reads, values, strict=True))
        _latest = number, game, game.problem(layer, read.__getitem__)
    _, game, problem = _latest
    return [game.solve_block(problem, block) for block in blocks]


def check_build(drivers: Build, module: str = __name__) -> None:
    """Raise unless this process runs the driver's build."""
    there = this_build(module)
    for name, here in drivers.items():
        if there.get(name) != here:
            raise ClusterError(
                f"the machine {socket.gethostname()} of the cluster runs another build: {name} is "
                f"{there.get(name)} there and {here} here; install the same on all machines"
            )


def _connected(address: str) -> Any:
    """Connect to a cluster; return the module ``ray``."""
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
    try:
        with catch_warnings():
            simplefilter("ignore")  # Ray warns of what it also raises.
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    # Ray exits the process if what answers at the address is not the head of a cluster.
    except (Exception, SystemExit) as error:
        ray.shutdown()
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
        socket.create_connection((host, port), timeout=_REACHABLE_WITHIN).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"nothing answers at {address} ({error})") from error


def _cause(error: Any) -> Exception:
    """Return the error that the driver raises for an error in a process of the cluster."""
    last = str(error).strip().splitlines()[-1]
    if isinstance(error.cause, ClusterError):
        return ClusterError(str(error.cause))
    # If this package itself is missing, Ray reports that only as text.
    if isinstance(error.cause, ImportError) or "ModuleNotFoundError" in last:
        return ClusterError(
            f"a machine of the cluster cannot run the solver ({last}); install the same on all "
            f"machines"
        )
    return error  # type: ignore[no-any-return]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


Build = dict[str, str]
"""The version of everything that results may depend on, by name."""

PACKAGES = ("numpy", "scipy", "numba", "llvmlite")


@cache
def this_build(module: str = __name__) -> Build:
    """Return the build of this process.

    Args:
        module: The module of a game, whose package is included besides this one.
    """
    sources = {name.partition(".")[0] for name in (__name__, module)}
    return {
        "Python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        # The source of a script is sent with the game.
        **{
            f"the source of {name}": "none" if name == "__main__" else source_hash(name)
            for name in sorted(sources)
        },
    }


@cache
def source_hash(module: str) -> str:
    """Return a short hash of the source of a module's top-level package, or of a lone module.

    Args:
        module: The name of a module that is imported.
    """
    file = getattr(sys.modules[module.partition(".")[0]], "__file__", None)
    path = Path(file or str(sys.modules[module].__file__))
    is_package = path.name == "__init__.py"
    digest = sha256()
    for source in sorted(path.parent.rglob("*.py")) if is_package else [path]:
        digest.update(f"{source.relative_to(path.parent).as_posix()}\0".encode())
        digest.update(source.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
