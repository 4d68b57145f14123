"""How much room a solve takes, on disk and in memory, and whether there is that much."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from solvent.exact.layered.store import SheetStore
from solvent.games.football_clock.solver.layout import Layout, Sheet

FILE_OVERHEAD = 512
"""Bytes, about, that a sheet takes on disk besides its numbers: its header and its record."""

PROGRAM = 600 << 20
"""Bytes, about, of the interpreter, the compiled loops and the rules' arrays."""


class NoRoomError(OSError):
    """There is not enough room for what is to be solved; the message is one line with figures."""


def sheet_bytes(layout: Layout, half: int) -> int:
    """Of the values of one sheet."""
    return 8 * layout.rows * layout.columns(half)


def supports_bytes(layout: Layout, half: int) -> int:
    """Of the supports of one sheet."""
    return 8 * layout.rules.n_situations * layout.columns(half)


def newest_supports_bytes(layout: Layout) -> int:
    """Of the supports that are kept: a sheet's for each number of time-outs, and one's more."""
    sizes = [supports_bytes(layout, half) for half in layout.halves]
    return sum(sizes) * (layout.clock.timeouts + 1) ** 2 + max(sizes)


def disk_bytes(layout: Layout, store: SheetStore | None = None) -> int:
    """That a solution's folder takes at most while it is solved, or what it takes still.

    Args:
        layout: Of the form.
        store: With the sheets that are there already.
    """
    left = layout.sheets if store is None else tuple(store.missing)
    sheets = sum(sheet_bytes(layout, sheet.half) + FILE_OVERHEAD for sheet in left)
    return sheets + newest_supports_bytes(layout) if left else 0


def memory_bytes(layout: Layout, successors: int, *, in_folder: bool) -> int:
    """That a solve takes at most, without the blocks that are in the air.

    Args:
        layout: Of the form.
        successors: U, how many the rules have.
        in_folder: Whether sheets are kept in a folder, not in memory. What is mapped from it into
            memory counts, though the system can take that back.
    """
    widest = max(layout.columns(half) for half in layout.halves)
    half = layout.halves[-1]
    # What follows is rated for all successors, and with time-outs beside it for a group of them.
    rated = 8 * successors * widest * (2 if layout.clock.timeouts else 1)
    solved = sheet_bytes(layout, half) + 2 * supports_bytes(layout, half)
    if in_folder:
        kept = _most_read(layout) + 2 * supports_bytes(layout, half)
    else:
        kept = layout.size + newest_supports_bytes(layout)
    return PROGRAM + rated + solved + kept


def _most_read(layout: Layout) -> int:
    """Bytes of the sheets that one sheet reads, the most there are."""
    return max(
        sum(sheet_bytes(layout, read.half) for read in layout.reads(sheet))
        for sheet in _late_sheets(layout)
    )


def _late_sheets(layout: Layout) -> tuple[Sheet, ...]:
    """Sheets of the last moments that are solved, which read as many others as any."""
    return layout.sheets[-4 * (layout.clock.timeouts + 1) ** 2 :]


def check_disk(layout: Layout, folder: Path, store: SheetStore | None = None) -> None:
    """Raise unless what is still to be written fits on the disk.

    Raises:
        NoRoomError: If it does not.
    """
    needed, free = disk_bytes(layout, store), free_disk(folder)
    if needed > free:
        raise NoRoomError(
            f"{folder}: the solution takes {gigabytes(needed)} more, and {gigabytes(free)} are free"
        )


def check_memory(needed: int) -> None:
    """Raise unless so much memory is available, as far as the system says.

    Args:
        needed: Bytes.

    Raises:
        NoRoomError: If it is not.
    """
    free = free_memory()
    if free is not None and needed > free:
        raise NoRoomError(
            f"this takes {gigabytes(needed)} of memory, and {gigabytes(free)} are available"
        )


def free_disk(folder: Path) -> int:
    """Bytes that are free where a folder is or will be."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def free_memory() -> int | None:
    """Bytes that are available to this process; None if the system does not say."""
    found = [bytes_ for bytes_ in (_of_system(), _of_control_group()) if bytes_ is not None]
    return min(found, default=None)


def _of_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_control_group(group: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Up to the limit of a container."""
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        counts = dict(
            line.split() for line in (group / "memory.stat").read_text("ascii").splitlines()
        )
        # Files that the system keeps in memory, such as sheets just written, make room if asked.
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
