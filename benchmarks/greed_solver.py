"""CPU time to rate every position of Greed, beside two other ways to do it, in one run.

    python benchmarks/greed_solver.py [--quick] [--rounds 5] [--json FILE]

Every contestant rates all positions, last turn and before it, of four rulesets:

    solve_greed            the sliding-window kernel and its certificate
    rate_positions         the kernel alone
    NumPy, anti-diagonals  the same recurrence, a diagonal of positions at a time
    definition, compiled   each roll rated by its sum over all sums of the dice, O(n t) a position

All values are compared before anything is timed. Time is CPU time of the process; rounds alternate
between the contestants and the least counts, after one round to warm up and compile. What takes
more than two seconds is timed once. The definition takes over a minute at (1000, 6); --quick
leaves it out there.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.games import Greed
from solvent.games.greed.kernel import rate_positions, solve_greed, sum_chances

RULESETS = ((100, 6), (200, 20), (500, 20), (1000, 6))
SLOW = 2.0
ACCURACY = 1e-10

Floats: TypeAlias = NDArray[np.float64]
# Ratings before the last turn and in it, [M+1, M+1] each, by own and other score.
Ratings: TypeAlias = tuple[Floats, Floats]


class Row(NamedTuple):
    """A line of the report; `ratio` is to rate_positions."""

    limit: int
    sides: int
    name: str
    milliseconds: float
    ratio: float


def certified(limit: int, sides: int) -> Ratings:
    solution = solve_greed(limit, sides)
    return solution.normal, solution.last


def kernel(limit: int, sides: int) -> Ratings:
    return rate_positions(limit, sides)[:2]


def diagonals(limit: int, sides: int) -> Ratings:
    """With a + q = d fixed, column q holds the windows of row q at a = d - q."""
    most = Greed(limit, sides).most_dice(0)
    last = last_turn(sum_chances(most, sides, limit))
    slots = min(sides, limit) + 1
    ring = np.zeros((slots, limit + 1, most + 1))
    window = np.zeros((limit + 1, most))
    normal = np.empty((limit + 1, limit + 1))
    for d in range(2 * limit, -1, -1):
        q = slice(max(d - limit, 0), min(d, limit) + 1)
        other = np.arange(q.start, q.stop)
        entering, leaving = ring[(d + 1) % slots, q], ring[d % slots, q]
        window[q] += entering[:, :-1]
        window[q] -= leaving[:, :-1]
        np.divide(window[q], sides, out=leaving[:, 1:])
        rated = np.maximum(1 - last[other, d - other], leaving[:, 1:].max(axis=1))
        normal[d - other, other] = rated
        leaving[:, 0] = 1 - rated[::-1]
    return normal, last


def last_turn(chances: Floats) -> Floats:
    limit = chances.shape[1] - 1
    at_most = np.cumsum(chances, axis=1)
    middle = at_most - chances / 2
    last = np.ones((limit + 1, limit + 1))
    for a in range(limit + 1):
        last[a, a:] = (at_most[1:, limit - a, None] - middle[1:, : limit + 1 - a]).max(axis=0)
        last[a, a] = max(last[a, a], 0.5)
    return last


@njit(cache=True)
def rate_by_definition(chances: Floats, sides: int) -> Ratings:
    limit = chances.shape[1] - 1
    last = np.zeros((limit + 1, limit + 1))
    normal = np.zeros((limit + 1, limit + 1))
    for a in range(limit + 1):
        most = -(-2 * (limit - a) // (sides + 1))
        for q in range(limit + 1):
            for n in range(most + 1):
                rating = 0.0
                for t in range(max(n, q - a), min(n * sides, limit - a) + 1):
                    rating += chances[n, t] * (0.5 if a + t == q else 1.0)
                last[a, q] = max(last[a, q], rating)
    for d in range(2 * limit, -1, -1):
        for a in range(max(d - limit, 0), min(d, limit) + 1):
            q = d - a
            most = -(-2 * (limit - a) // (sides + 1))
            normal[a, q] = 1 - last[q, a]
            for n in range(1, most + 1):
                rating = 0.0
                for t in range(n, min(n * sides, limit - a) + 1):
                    rating += chances[n, t] * (1 - normal[q, a + t])
                normal[a, q] = max(normal[a, q], rating)
    return normal, last


def definition(limit: int, sides: int) -> Ratings:
    return rate_by_definition(sum_chances(Greed(limit, sides).most_dice(0), sides, limit), sides)


CONTESTANTS: dict[str, Callable[[int, int], Ratings]] = {
    "rate_positions": kernel,
    "solve_greed": certified,
    "NumPy, anti-diagonals": diagonals,
    "definition, compiled": definition,
}


def measure(limit: int, sides: int, names: list[str], rounds: int) -> Iterator[Row]:
    """Compare and time the named contestants on a ruleset."""
    least: dict[str, float] = {}
    reference = kernel(limit, sides)
    for name in names:
        least[name], ratings = cpu_time(name, limit, sides)
        for ours, theirs in zip(ratings, reference, strict=True):
            error = float(np.abs(ours - theirs).max())
            if not error <= ACCURACY:
                raise SystemExit(f"{name}: ratings differ by {error:.1e} at {limit, sides}")
    for _ in range(rounds):
        for name in names:
            if least[name] < SLOW:
                least[name] = min(least[name], cpu_time(name, limit, sides)[0])
    for name, seconds in least.items():
        yield Row(limit, sides, name, 1e3 * seconds, seconds / least["rate_positions"])


def cpu_time(name: str, limit: int, sides: int) -> tuple[float, Ratings]:
    begun = time.process_time()
    ratings = CONTESTANTS[name](limit, sides)
    return time.process_time() - begun, ratings


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out what takes a minute")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds (default 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as well")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; it has to be at least 1")
    for name in CONTESTANTS:
        cpu_time(name, 10, 6)  # Compile.
    rows: list[Row] = []
    for limit, sides in RULESETS:
        names = list(CONTESTANTS)
        if options.quick and limit == 1000:
            names.remove("definition, compiled")
        print(f"limit {limit}, sides {sides}: {2 * (limit + 1) ** 2:,} positions, ratings equal")
        print(f"  {'':24}{'CPU ms':>12}{'times rate_positions':>24}")
        for row in measure(limit, sides, names, options.rounds):
            rows.append(row)
            print(f"  {row.name:24}{row.milliseconds:12.2f}{row.ratio:24,.1f}")
    if options.json:
        options.json.write_text(
            json.dumps([row._asdict() for row in rows], indent=2) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
