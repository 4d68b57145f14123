"""Wall time to solve football with a clock on a Ray cluster, beside threads, in one run.

    python benchmarks/football_cluster.py [--rounds 2]

    threads       two threads of one process
    cluster       two "machines" of one processor each, which are processes of this machine; the
                  second gets all that it reads through Ray's object store

Each form is solved for a number of ticks at its end. Both sides have to give the same bytes.
Connecting and compiling are not counted. The time is the least of some rounds, one side after the
other. Printed are also the bytes that go to each other machine, and those that all give back.
"""

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from solvent.exact.layered.cluster import RayWorkers
from solvent.exact.layered.game import Block, BlockResult, Layer
from solvent.exact.layered.solve import Workers, solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.football.ruleset import ClockRules
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.rules import TimedFootball
from solvent.model.arrays import Floats

# Form, time-outs, and ticks at the end of each half.
SAMPLES = (("half", 0, 120), ("half", 3, 4), ("second-half", 0, 8), ("full", 0, 4))

MACHINES = 2


class Counted(RayWorkers):
    """Workers that count the bytes of values which they send and get."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.sent = self.returned = 0

    def keep(self, layer: Layer, values: Floats) -> None:
        self.sent += values.nbytes
        super().keep(layer, values)

    def solve(self, *task: Any) -> Iterator[tuple[Block, BlockResult]]:
        for block, result in super().solve(*task):
            self.returned += result.values.nbytes
            yield block, result


def layers_of(form: str, timeouts: int, ticks: int) -> FootballLayers:
    """The last ticks of a form on the standard chart."""
    clock = ClockRules(timeouts=timeouts).shortened(ticks)
    return FootballLayers(TimedFootball(form=form, clock=clock))


def solved(layout: FootballLayers, workers: Workers) -> tuple[float, LayerStore]:
    store = LayerStore(layout)
    began = time.perf_counter()
    solve_layers(store.game, store, workers=workers)
    return time.perf_counter() - began, store


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="timed rounds (default 2)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds has to be at least 1")

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    machine = {"num_cpus": 1, "object_store_memory": 500 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**machine, "include_dashboard": False})
    try:
        for _ in range(MACHINES - 1):
            cluster.add_node(**machine)
        cluster.wait_for_nodes()
        with Counted(cluster.address) as workers:
            threads = Workers(MACHINES)
            for columns in ("half", "second-half"):
                tick = layers_of(columns, timeouts=0, ticks=1)
                solved(tick, workers)
                solved(tick, threads)
            for form, timeouts, ticks in SAMPLES:
                layout = layers_of(form, timeouts, ticks)
                compare(layout, threads, workers, options.rounds)
    finally:
        cluster.shutdown()


def compare(layout: FootballLayers, threads: Workers, workers: Counted, rounds: int) -> None:
    """Solve on both sides, and print how long that took."""
    here = there = np.inf
    for _ in range(rounds):
        seconds, local = solved(layout, threads)
        here = min(here, seconds)
        workers.sent = workers.returned = 0
        seconds, remote = solved(layout, workers)
        there = min(there, seconds)
        for layer in layout.layers:
            if local.read(layer).tobytes() != remote.read(layer).tobytes():
                raise SystemExit(f"the values of {layer} differ")
    layers = len(layout.layers)
    print(
        f"{layout.game.form}, {layout.clock.timeouts} time-outs, {layers} layers: threads "
        f"{here:.2f} s, cluster {there:.2f} s ({there / here:.2f} times); to each other machine "
        f"{workers.sent / layers / 1e6:.1f} MB a layer, back {workers.returned / layers / 1e6:.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
