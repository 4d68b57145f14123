"""The cost of solving a game, before it is begun: disk, memory, traffic, and time.

Disk, memory and traffic follow from the shapes of the layers. The time, and how far values can be
compressed, are measured on a *sample*: a few blocks of some layers that the game names
(:meth:`~.game.LayeredGame.samples`) are solved as they will be, one thread at work. The values that
such a layer reads are not known yet, so the game makes them up (:meth:`~.game.LayeredGame.guess`).

Blocks are compressed by themselves, which takes some more room than a layer in one piece.

**What there is.** A solve is refused if the disk or the memory is too small for it
(:func:`check_disk`, :func:`check_memory`).
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import ceil, prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from solvent.exact.layered.game import Layer, LayeredGame, LayerSample, WarmStart
from solvent.exact.layered.store import KEEPS, LayerStore, pack

FILE_OVERHEAD = 512
"""Bytes, about, that a layer takes on disk besides its numbers: its header and its record."""

PACKED = 2.0
"""Bytes that a value in a compact file takes at most, if nothing can be compressed."""

PROGRAM = 200 << 20
"""Bytes, about, of the interpreter and what it has imported."""


class ResourceError(OSError):
    """Too little disk or memory for a solve; the message is one line with figures."""


class Room(NamedTuple):
    """The disk and memory that a solve takes.

    Attributes:
        disk: Bytes of the folder, at most while it is solved.
        memory: Bytes of memory, on the machine that keeps the layers.
    """

    disk: int
    memory: int


@dataclass(frozen=True)
class Plan:
    """The cost of solving a game.

    Attributes:
        states: Number of states, as the game counts them.
        games: Matrix games at most; states in which nothing can change any more need none.
        layers: The last write of each is a point to go on from.
        disk: Bytes of the folder, at most while it is solved.
        memory: Bytes of memory, on the machine that keeps the layers.
        kept: Disk and memory for each of :data:`~.store.KEEPS` that can be chosen.
        traffic: Bytes that each other machine of a cluster gets, and that all of them together
            give back.
        core_seconds: Processor time, estimated from a sample, in seconds.
    """

    states: int
    games: int
    layers: int
    disk: int
    memory: int
    kept: dict[str, Room]
    traffic: int
    core_seconds: float


def make_plan(game: LayeredGame, *, in_folder: bool = True, keep: str = "all") -> Plan:
    """Count, and measure a sample, which takes some seconds.

    Args:
        game: The game to solve.
        in_folder: Whether layers are to be kept in a folder, not in memory.
        keep: The values to keep, one of :data:`~.store.KEEPS`.
    """
    core_seconds, packed = measure(game)
    kept = {
        each: Room(
            disk_bytes(game, keep=each, packed=packed) if in_folder else 0,
            memory_bytes(game, in_folder=in_folder, keep=each),
        )
        for each in KEEPS
        if in_folder or each != "compact"
    }
    return Plan(
        states=game.n_states,
        games=sum(game.states(layer) for layer in game.layers),
        layers=len(game.layers),
        disk=kept[keep].disk,
        memory=kept[keep].memory,
        kept=kept,
        traffic=values_bytes(game) + sum(start_bytes(game, layer) for layer in game.layers),
        core_seconds=core_seconds,
    )


def measure(game: LayeredGame) -> tuple[float, float]:
    """Solve some blocks of some layers, and conclude from them what all will take.

    Returns:
        Seconds of processor time for the whole game, and bytes of a value in a compact file.
    """
    seconds, size, packed = 0.0, 0.0, 0.0
    for sample in game.samples():
        once, of_blocks, of_value = _cost(game, sample)
        values = sample.stands_for * prod(game.shape(sample.layer))
        seconds += sample.stands_for * (once + of_blocks / sample.share)
        size, packed = size + values, packed + values * of_value
    return seconds, packed / size


def _cost(game: LayeredGame, sample: LayerSample) -> tuple[float, float, float]:
    """Measure a layer's blocks when they start from those of the layers before.

    Returns:
        Seconds of processor time, once for the layer and for its blocks; and the bytes of a value
        when it is packed.
    """
    left: list[list[WarmStart | None]] = []  # Of each of those layers, the blocks' parts.
    for before in game.starts_from(sample.layer):
        if before in game.layers:
            warmed = game.problem(before, game.guess)
            near = left[-1] if left else [None] * len(sample.blocks)
            pairs = zip(sample.blocks, near, strict=True)
            left.append([game.solve_block(warmed, *pair).start for pair in pairs])
    starts = [
        game.start_of(sample.layer, [of[i] for of in left]) for i in range(len(sample.blocks))
    ]
    began = time.process_time()
    problem = game.problem(sample.layer, game.guess)
    prepared = time.process_time()
    pairs = zip(sample.blocks, starts, strict=True)
    solved = [game.solve_block(problem, *pair).values for pair in pairs]
    seconds = time.process_time() - prepared
    largest = max(float(np.abs(values).max()) for values in solved)
    packed = sum(len(pack(values, largest)) for values in solved)
    return prepared - began, seconds, packed / sum(values.size for values in solved)


def layer_bytes(game: LayeredGame, layer: Layer) -> int:
    """Return the bytes of the values of one layer."""
    return 8 * prod(game.shape(layer))


def start_bytes(game: LayeredGame, layer: Layer) -> int:
    """Return the bytes that a layer leaves to start others from."""
    shape = game.start_shape(layer)
    return 0 if shape is None else 4 * prod(shape)


def values_bytes(game: LayeredGame) -> int:
    """Return the bytes of the values of all layers."""
    return sum(layer_bytes(game, layer) for layer in game.layers)


def newest_starts_bytes(game: LayeredGame) -> int:
    """Return the most bytes at any time that layers have left to start others from."""
    return _most_at_once(game, start_bytes, game.starts_from, game.layers)


def window_bytes(game: LayeredGame, store: LayerStore | None = None) -> int:
    """Return the most bytes of values at any time, if each goes when none is left to read it.

    Args:
        game: The game to solve.
        store: The store. Those of the layers solved already that are there are not counted
            again.
    """
    left = game.layers if store is None else tuple(store.missing)
    return _most_at_once(game, layer_bytes, game.reads, left, game.opening)


def _most_at_once(
    game: LayeredGame,
    size: Callable[[LayeredGame, Layer], int],
    uses: Callable[[Layer], Sequence[Layer]],
    left: Sequence[Layer],
    stay: Collection[Layer] = (),
) -> int:
    """The most bytes at any time, if those of a layer go when the last that uses it is solved."""
    last = {layer: layer for layer in game.layers}
    last |= {at: layer for layer in game.layers for at in uses(layer) if at in last}
    passed: dict[Layer, list[Layer]] = defaultdict(list)
    for at in {*last} - {*stay}:
        passed[last[at]].append(at)
    now = most = 0
    for layer in left:
        now += size(game, layer)
        most = max(most, now)
        now -= sum(size(game, at) for at in passed[layer])
    return most


def disk_bytes(
    game: LayeredGame,
    store: LayerStore | None = None,
    keep: str = "all",
    packed: float = PACKED,
) -> int:
    """Return the most bytes that a solution's folder takes while it is solved, or takes still.

    Args:
        game: The game to solve.
        store: The store, with the layers that are there already, and what it keeps.
        keep: The values to keep, where there is no store.
        packed: Bytes of a value in a compact file.
    """
    keep = keep if store is None else store.keep
    left = game.layers if store is None else tuple(store.missing)
    if not left:
        return 0
    exact = sum(layer_bytes(game, layer) for layer in left)
    compact = ceil(exact / 8 * packed) if keep == "compact" else 0
    values = exact if keep == "all" else window_bytes(game, store) + compact
    return values + FILE_OVERHEAD * len(left) + newest_starts_bytes(game)


def memory_bytes(game: LayeredGame, *, in_folder: bool, keep: str = "all") -> int:
    """Return the most bytes that a solve takes, without the blocks that are in the air.

    Args:
        game: The game to solve.
        in_folder: Whether layers are kept in a folder, not in memory. What is mapped from it into
            memory counts, though the system can take that back.
        keep: The values to keep, one of :data:`~.store.KEEPS`.
    """
    started = max(2 * start_bytes(game, layer) for layer in game.layers)
    solved = max(layer_bytes(game, layer) for layer in game.layers) + started
    if in_folder:
        values = max(
            sum(layer_bytes(game, read) for read in game.reads(layer)) for layer in game.layers
        )
    else:
        values = values_bytes(game) if keep == "all" else window_bytes(game)
    return PROGRAM + game.problem_bytes + solved + values + newest_starts_bytes(game)


def check_disk(
    game: LayeredGame, folder: Path, store: LayerStore | None = None, packed: float = PACKED
) -> None:
    """Raise unless what is still to be written fits on the disk.

    Args:
        game: The game to solve.
        folder: The folder to write to.
        store: The store with the layers that are there already.
        packed: Bytes of a value in a compact file.

    Raises:
        ResourceError: If it does not.
    """
    needed, free = disk_bytes(game, store, packed=packed), free_disk(folder)
    if needed > free:
        raise ResourceError(
            f"{folder}: the solution takes {gigabytes(needed)} more, and {gigabytes(free)} are free"
        )


def check_memory(needed: int) -> None:
    """Raise unless so much memory is available, as far as the system says.

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
    """Bytes that are free where a folder is or will be."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def free_memory() -> int | None:
    """Bytes that are available to this process; None if the system does not say, as Linux does."""
    found = [_of_control_group()]
    with contextlib.suppress(OSError):
        told = Path("/proc/meminfo").read_text(encoding="ascii")
        found.append(1024 * int(told.partition("MemAvailable:")[2].split()[0]))
    return min((available for available in found if available is not None), default=None)


def _of_control_group(group: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Up to the limit of a container."""
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        counts = dict(
            line.split() for line in (group / "memory.stat").read_text("ascii").splitlines()
        )
        # Files that the system keeps in memory, such as layers just written, make room if asked.
        used -= int(counts.get("inactive_file", 0)) + int(counts.get("active_file", 0))
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)


def gigabytes(size: float) -> str:
    """Bytes as one reads them, such as ``6.2 GB``, ``48 MB`` or ``3 kB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            number = size / unit
            return f"{number:.1f} {name}" if number < 10 else f"{number:,.0f} {name}"
    return f"{size:.0f} bytes"
