"""Solves a shop in a folder, and is killed again and again while it does.

    python killed_solves.py FOLDER KILLS SEED [KEEP]

A solver is a forked process, so that each begins at once, with everything compiled. It is killed by
SIGKILL after a random time; the last one is left to finish. Printed is how often a layer was begun
to be written, and how many solvers were killed before they were done.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from layered_games import StartedLayers, shop

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import LayerStore


def long_shop() -> StartedLayers:
    """A shop of 240 periods with a large stock."""
    return shop(horizon=240, capacity=400)


def solve_and_log(layers: StartedLayers, folder: Path, log: Path, keep: str) -> None:
    """Solve what is missing; every layer is logged when it is about to be written."""
    with log.open("a", encoding="utf-8", buffering=1) as lines:

        class Logged(LayerFolder):
            def write(self, layer, *rest) -> None:  # type: ignore[no-untyped-def]
                lines.write(f"{layer}\n")
                super().write(layer, *rest)

        with Logged.create(folder, layers, keep) as store:
            solve_layers(layers, store)


def main(folder: Path, kills: int, seed: int, keep: str) -> None:
    """See the module."""
    layers = long_shop()
    solve_layers(layers, LayerStore(layers))  # Compiles.
    began = time.perf_counter()
    solve_layers(layers, LayerStore(layers))
    duration = time.perf_counter() - began
    log = folder.with_suffix(".log")
    draw = random.Random(seed)
    killed = 0
    for attempt in range(kills + 1):
        child = os.fork()
        if child == 0:
            solve_and_log(layers, folder, log, keep)
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
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), (*sys.argv[4:], "all")[0])
