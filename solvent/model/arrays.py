"""Array types, and the idioms by which ragged arrays are handled without loops."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


def grouped_sum(group: Ints, terms: Floats, count: int) -> Floats:
    """Sum the terms of each group: ``out[g] = sum(terms[group == g])``, [count] float64.

    Args:
        group: [n] the group of each term, from 0.
        terms: [n] the terms.
        count: Number of groups.
    """
    # NumPy gives integer zeros if there are no terms.
    return np.bincount(group, terms, minlength=count).astype(np.float64, copy=False)


def concatenated_ranges(start: Ints, length: Ints) -> Ints:
    """Return the ranges ``arange(start[i], start[i] + length[i])``, joined, without a loop.

    Args:
        start: [n] the first number of each range.
        length: [n] the number of numbers in each range.
    """
    total = int(length.sum())
    offset = np.cumsum(length) - length
    return np.asarray(np.arange(total) + np.repeat(start - offset, length), np.int64)


def members(start: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Return the members of selected slices, slice after slice, and the slices' lengths.

    Args:
        start: [C+1] where consecutive slices begin.
        which: [G] the selected slices.
    """
    length = start[which + 1] - start[which]
    return concatenated_ranges(start[which], length), length
