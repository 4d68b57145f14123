"""Maps of cells as vectors: equal neighbours of a row are one stroke, so that pages stay small."""

from __future__ import annotations

import numpy as np

from solvent.model.arrays import Ints


def runs(level: Ints) -> dict[int, str]:
    """For each level the path along the middles of its cells; the first index goes along x."""
    paths: dict[int, list[str]] = {}
    for y, row in enumerate(level.T):
        ends = np.flatnonzero(np.append(row[1:] != row[:-1], True)) + 1
        begin = 0
        for end in ends.tolist():
            paths.setdefault(int(row[begin]), []).append(f"M{begin} {y}.5h{end - begin}")
            begin = end
    return {n: "".join(path) for n, path in paths.items()}
