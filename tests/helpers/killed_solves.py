"""Solves a football with a clock in a folder, and is killed again and again while it does.

    python killed_solves.py FOLDER KILLS SEED

A solver is a forked process, so that each begins at once, with everything compiled. It is killed by
SIGKILL after a random time; the last one is left to finish. Printed is how often a sheet was begun
to be written, and how many solvers were killed before they were done.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from timed_football import SMALL, tiny

from solvent.exact.layered.folder import SheetFolder
from solvent.exact.layered.solve import solve_layout
from solvent.exact.layered.store import SheetStore
from solvent.games.football_clock.solver.layout import Layout
from solvent.games.football_clock.solver.solution import layout_for


def long_half() -> Layout:
    """A half of 60 ticks on the short field, with a time-out each: 241 sheets."""
    return layout_for(tiny("half", SMALL, half=900, stops=[450, 120], timeouts=1))


def solve_and_log(layout: Layout, folder: Path, log: Path) -> None:
    """Solve what is missing; every sheet is logged when it is about to be written."""
    with log.open("a", encoding="utf-8", buffering=1) as lines:

        class Logged(SheetFolder):
            def write(self, sheet, *rest) -> None:  # type: ignore[no-untyped-def]
                lines.write(f"{sheet}\n")
                super().write(sheet, *rest)

        with Logged.create(folder, layout) as store:
            solve_layout(layout, store)


def main(folder: Path, kills: int, seed: int) -> None:
    """See the module."""
    layout = long_half()
    solve_layout(layout, SheetStore(layout))  # Compiles.
    began = time.perf_counter()
    solve_layout(layout, SheetStore(layout))
    duration = time.perf_counter() - began
    log = folder.with_suffix(".log")
    draw = random.Random(seed)
    killed = 0
    for attempt in range(kills + 1):
        child = os.fork()
        if child == 0:
            solve_and_log(layout, folder, log)
            os._exit(0)
        if attempt < kills:
            time.sleep(draw.uniform(0, 2 * duration / kills))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        if attempt == kills and status != 0:
            sys.exit("the last solver failed")
    print(len(log.read_text(encoding="utf-8").splitlines()), killed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
