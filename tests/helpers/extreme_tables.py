"""Random small tables whose magnitudes differ as much as floats allow, by kinds."""

from __future__ import annotations

import numpy as np
from rational_tables import END, Row

KINDS = ("ordinary", "rewards", "exits", "loops", "zeros", "everything")


def random_rows(seed: int, kind: str, states: int = 3) -> list[list[Row]]:
    """Rows of a random table of one kind; some states may be out of reach of the start.

    Args:
        seed: Same seed, same table.
        kind: ``"ordinary"``: rewards -3..3 and exits of 1/8 and more. ``"rewards"``: rewards from
            2^-50 to 2^30. ``"exits"``: probabilities down to 2^-52. ``"loops"``: rows that lead
            back for certain, free, cancelling or with a small gain or loss. ``"zeros"``: outcomes
            of probability 0. ``"everything"``: all at once.
        states: Besides the end.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])

    def has(what: str) -> bool:
        return kind == what or kind == "everything"

    def reward() -> float:
        if has("rewards") and rng.random() < 0.6:
            return float(rng.choice([-1.0, 1.0]) * 2.0 ** rng.integers(-50, 31))
        return float(rng.integers(-3, 4))

    def split() -> list[float]:
        """Two or three probabilities that sum to 1 in floats exactly."""
        small = (
            2.0 ** -int(rng.integers(1, 53)) if has("exits") else 2.0 ** -int(rng.integers(1, 4))
        )
        if rng.random() < 0.5:
            return [1 - small, small]
        return [1 - small, small / 2, small / 2]

    rows: list[list[Row]] = []
    for _ in range(states):
        own: list[Row] = []
        for _ in range(int(rng.integers(1, 4))):
            if has("loops") and rng.random() < 0.5:
                target = int(rng.integers(0, states))
                pay = float(rng.choice([0.0, 0.0, 1.0, -1.0, 2.0**-13, -(2.0**-13), 2.0**-40]))
                own.append([(1.0, target, pay)])
                continue
            if rng.random() < 0.25:
                own.append([(1.0, END, reward())])
                continue
            chances = split()
            targets = [int(t) for t in rng.integers(-1, states, len(chances))]
            own.append([(p, t, reward()) for p, t in zip(chances, targets, strict=True)])
            if has("zeros") and rng.random() < 0.7:
                own[-1].append((0.0, int(rng.integers(-1, states)), reward()))
        rows.append(own)
    return rows
