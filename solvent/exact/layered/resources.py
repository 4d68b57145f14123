"""The disk and memory that a solve takes, and checks that there is that much."""

from __future__ import annotations

import shutil
from math import ceil, prod
from pathlib import Path

from solvent.exact.layered.game import Layer, LayeredGame
from solvent.exact.layered.store import LayerStore

FILE_OVERHEAD = 512
"""Bytes, about, that a layer takes on disk besides its numbers: its header and its record."""

PACKED = 2.0
"""Bytes that a value in a compact file takes at most, if nothing can be compressed."""

PROGRAM = 200 << 20
"""Bytes, about, of the interpreter and what it has imported."""


class ResourceError(OSError):
    """There is too little disk or memory for a solve; the message is one line with figures."""


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
    last_started = {at: layer for layer in game.layers for at in game.starts_from(layer)}
    kept: dict[Layer, int] = {}
    most = 0
    for layer in game.layers:
        kept[layer] = start_bytes(game, layer)
        most = max(most, sum(kept.values()))
        for passed in (*game.starts_from(layer), layer):
            if last_started.get(passed, layer) == layer:
                kept.pop(passed, None)
    return most


def window_bytes(game: LayeredGame, store: LayerStore | None = None) -> int:
    """Return the most bytes of values at any time, if each goes when none is left to read it.

    Args:
        game: The game to solve.
        store: The store. Those of the layers solved already that are there are not counted
            again.
    """
    last_reader = {needed: layer for layer in game.layers for needed in game.reads(layer)}
    opening = set(game.opening)
    left = game.layers if store is None else tuple(store.missing)
    now = most = passed = 0
    for layer in left:
        now += layer_bytes(game, layer)
        most = max(most, now)
        now -= passed  # Removed when the disk has the layer after.
        passed = sum(
            layer_bytes(game, at)
            for at in {*game.reads(layer), layer} - opening
            if last_reader.get(at, layer) == layer
        )
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
        most_read = max(
            sum(layer_bytes(game, read) for read in game.reads(layer)) for layer in game.layers
        )
        kept = most_read + newest_starts_bytes(game)
    else:
        values = values_bytes(game) if keep == "all" else window_bytes(game)
        kept = values + newest_starts_bytes(game)
    return PROGRAM + game.problem_bytes + solved + kept


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
    found = [bytes_ for bytes_ in (_of_system(), _of_control_group()) if bytes_ is not None]
    return min(found, default=None)


def _of_system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    [available] = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return int(available) * 1024


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
