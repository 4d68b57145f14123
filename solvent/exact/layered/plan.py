"""The cost of solving a game, estimated in advance: disk, memory, traffic and time.

Disk, memory and traffic follow from the shapes of the layers. The time, and how far values can be
compressed, are measured on a *sample*: a few blocks of some layers, chosen by the game
(:meth:`~.game.LayeredGame.samples`), are solved as they will be, by one thread. The values that
such a layer reads are not known yet, so the game makes them up (:meth:`~.game.LayeredGame.guess`).
Blocks are compressed separately, which takes somewhat more space than a whole layer would.

A solve is refused if the disk or the memory is too small for it (:func:`check_disk`,
:func:`check_memory`).
"""

import contextlib
import shutil
import time
from collections import defaultdict
from dataclasses import dataclass
from math import ceil, prod
from pathlib import Path

import numpy as np

from solvent.exact.layered.game import Layer, LayeredGame, LayerSample
from solvent.exact.layered.store import KEEPS, LayerStore, pack
from solvent.model.parameters import check_choice

# Approximate bytes of a layer on disk besides its numbers: its header and its record.
_FILE_OVERHEAD = 512

# Largest number of bytes of a value in a compact file, if nothing can be compressed.
_PACKED = 2.0

# Approximate bytes of the interpreter and the modules that it has imported.
_PROGRAM = 200 << 20


class ResourceError(OSError):
    """Too little disk or memory for a solve; the message is one line with figures."""


@dataclass(frozen=True)
class Plan:
    """The cost of solving a game.

    Attributes:
        states: Number of states, as the game counts them.
        games: Largest number of matrix games; states whose value is fixed need none.
        layers: Number of layers. The solve can be resumed after each.
        disk: Largest size of the folder during the solve, in bytes.
        memory: Bytes of memory, on the machine that keeps the layers.
        traffic: Bytes sent to each other machine of a cluster; as many come back from all of them
            together.
        core_seconds: Processor time, estimated from a sample, in seconds.
    """

    states: int
    games: int
    layers: int
    disk: int
    memory: int
    traffic: int
    core_seconds: float


def make_plan(game: LayeredGame, *, in_folder: bool = True, keep: str = "all") -> Plan:
    """Plan a solve; measuring a sample takes some seconds.

    Args:
        game: The game to solve.
        in_folder: Whether layers are to be kept in a folder, not in memory.
        keep: The values to keep, one of :data:`~.store.KEEPS`; ``"compact"`` is for folders.

    Raises:
        ValueError: If those values cannot be kept.
    """
    check_choice(keep, "keep", [each for each in KEEPS if in_folder or each != "compact"])
    core_seconds, packed = estimated_cost(game)
    return Plan(
        states=game.n_states,
        games=sum(game.states(layer) for layer in game.layers),
        layers=len(game.layers),
        disk=disk_bytes(game, keep=keep, packed=packed) if in_folder else 0,
        memory=memory_bytes(game, in_folder=in_folder, keep=keep),
        traffic=values_bytes(game),
        core_seconds=core_seconds,
    )


def estimated_cost(game: LayeredGame) -> tuple[float, float]:
    """Estimate the cost of all layers from a sample of blocks.

    Returns:
        Seconds of processor time for the whole game, and bytes of a value in a compact file.
    """
    seconds, size, packed = 0.0, 0.0, 0.0
    samples = game.samples()
    _cost(game, samples[0]._replace(blocks=samples[0].blocks[:1]))  # Kernels are loaded then.
    for sample in samples:
        preparing, solving, value_bytes = _cost(game, sample)
        values = sample.stands_for * prod(game.shape(sample.layer))
        seconds += sample.stands_for * (preparing + solving / sample.share)
        size, packed = size + values, packed + values * value_bytes
    return seconds, packed / size


def _cost(game: LayeredGame, sample: LayerSample) -> tuple[float, float, float]:
    """Measure the blocks of a sample.

    Returns:
        Seconds of processor time to prepare the layer, and to solve the blocks; and the bytes of a
        value when it is packed.
    """
    began = time.process_time()
    problem = game.problem(sample.layer, game.guess)
    prepared = time.process_time()
    solved = [game.solve_block(problem, block).values for block in sample.blocks]
    seconds = time.process_time() - prepared
    largest = max(float(np.abs(values).max()) for values in solved)
    packed = sum(len(pack(values, largest)) for values in solved)
    return prepared - began, seconds, packed / sum(values.size for values in solved)


def layer_bytes(game: LayeredGame, layer: Layer) -> int:
    """Return the bytes of the values of one layer."""
    return 8 * prod(game.shape(layer))


def values_bytes(game: LayeredGame) -> int:
    """Return the bytes of the values of all layers."""
    return sum(layer_bytes(game, layer) for layer in game.layers)


def window_bytes(game: LayeredGame, store: LayerStore | None = None) -> int:
    """Return the largest number of bytes of values that are needed at the same time.

    Args:
        game: The game to solve.
        store: The store, whose solved layers are not counted.
    """
    left = game.layers if store is None else tuple(store.missing)
    last = {layer: layer for layer in game.layers}
    last |= {at: layer for layer in game.layers for at in game.reads(layer)}
    passed: dict[Layer, list[Layer]] = defaultdict(list)
    for at in {*last} - {*game.opening}:
        passed[last[at]].append(at)
    now = most = 0
    for layer in left:
        now += layer_bytes(game, layer)
        most = max(most, now)
        now -= sum(layer_bytes(game, at) for at in passed[layer])
    return most


def disk_bytes(
    game: LayeredGame,
    store: LayerStore | None = None,
    keep: str = "all",
    packed: float = _PACKED,
) -> int:
    """Return the largest number of bytes that a solve still adds to its folder.

    Args:
        game: The game to solve.
        store: The store, with the layers that are solved already.
        keep: The values to keep, if there is no store.
        packed: Bytes of a value in a compact file.
    """
    keep = keep if store is None else store.keep
    left = game.layers if store is None else tuple(store.missing)
    if not left:
        return 0
    exact = sum(layer_bytes(game, layer) for layer in left)
    compact = ceil(exact / 8 * packed) if keep == "compact" else 0
    values = exact if keep == "all" else window_bytes(game, store) + compact
    return values + _FILE_OVERHEAD * len(left)


def memory_bytes(game: LayeredGame, *, in_folder: bool, keep: str = "all") -> int:
    """Return the largest number of bytes of memory that a solve takes, without blocks in progress.

    Args:
        game: The game to solve.
        in_folder: Whether layers are kept in a folder, not in memory. Layers mapped into memory
            count, though the system can reclaim that.
        keep: The values to keep, one of :data:`~.store.KEEPS`.
    """
    solved = max(layer_bytes(game, layer) for layer in game.layers)
    if in_folder:
        values = max(
            sum(layer_bytes(game, read) for read in game.reads(layer)) for layer in game.layers
        )
    else:
        values = values_bytes(game) if keep == "all" else window_bytes(game)
    return _PROGRAM + game.problem_bytes + solved + values


def check_disk(
    game: LayeredGame, folder: Path, store: LayerStore | None = None, packed: float = _PACKED
) -> None:
    """Raise unless the layers still to be written fit on the disk.

    Args:
        game: The game to solve.
        folder: The folder to write to.
        store: The store with the layers that are solved already.
        packed: Bytes of a value in a compact file.

    Raises:
        ResourceError: If they do not.
    """
    needed, free = disk_bytes(game, store, packed=packed), free_disk(folder)
    if needed > free:
        raise ResourceError(
            f"{folder}: the solution takes {gigabytes(needed)} more, and {gigabytes(free)} are free"
        )


def check_memory(needed: int) -> None:
    """Raise unless enough memory is available, as far as the system says.

    Args:
        needed: Bytes.

    Raises:
        ResourceError: If it is not.
    """
    free = free_memory()
    if free is not None and needed > free:
        raise ResourceError(
            f"this takes {gigabytes(needed)} of memory, and {gigabytes(free)} are available"
        )


def free_disk(folder: Path) -> int:
    """Return the free bytes on the disk of a folder, which need not exist yet."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def free_memory() -> int | None:
    """Return the bytes available to this process; None if the system does not say (Linux does)."""
    found = [_container_memory()]
    with contextlib.suppress(OSError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        found.append(1024 * int(text.partition("MemAvailable:")[2].split()[0]))
    return min((available for available in found if available is not None), default=None)


def _container_memory(group: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the bytes left up to a container's memory limit; None if there is no limit."""
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        counts = dict(
            line.split() for line in (group / "memory.stat").read_text("ascii").splitlines()
        )
        # Files that the system caches, such as layers just written, are released on demand.
        used -= int(counts.get("inactive_file", 0)) + int(counts.get("active_file", 0))
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)


def gigabytes(size: float) -> str:
    """Return a number of bytes in words, such as ``6.2 GB``, ``48 MB`` or ``3 kB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            number = size / unit
            return f"{number:.1f} {name}" if number < 10 else f"{number:,.0f} {name}"
    return f"{size:.0f} bytes"
