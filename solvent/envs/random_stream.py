"""The random numbers of one environment: a stream with 64 bits of state.

Every environment owns a stream, whether it stands alone or is one of thousands in a compiled
loop, so that both give the same episode for the same seed. One NumPy generator per environment
could not be advanced at compiled speed.

The generator is xorshift64 (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14),
2003, shifts 13, 7, 17): a linear map of 64 bits that visits every state but 0, so its period is
2^64 - 1. A draw is the upper 53 bits: k of {0, …, 2^53 - 1}, which stands for the number k / 2^53
of [0, 1). Draws stay whole numbers, so that comparing them is exact everywhere. The compiled twin
of :meth:`RandomStream.draw` is in :mod:`solvent.envs.kernels`.

A draw picks from a distribution by its inverse CDF: the first entry whose *threshold*, the
distribution function in units of 2^-53 (:func:`inverse_cdf`), is larger than the draw. The last
threshold is 2^53, so there always is one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import shown

DRAWS = 1 << 53
"""The number of different draws; all are equally likely."""

_64_BITS = (1 << 64) - 1


def first_state(generator: np.random.Generator) -> int:
    """The state in which a stream begins, drawn from an environment's ``np_random``.

    Never 0, which the generator could not leave.
    """
    return int(generator.integers(1, 1 << 64, dtype=np.uint64))


class RandomStream:
    """A stream of draws.

    Attributes:
        state: 64 bits, not 0.
    """

    __slots__ = ("state",)

    def __init__(self, state: int) -> None:
        if not 0 < state <= _64_BITS:
            raise ValueError(
                f"state is {shown(state)}; allowed are whole numbers from 1 to 2^64 - 1"
            )
        self.state = state

    def draw(self) -> int:
        """The next draw, within 0..2^53 - 1."""
        x = self.state
        x ^= (x << 13) & _64_BITS
        x ^= x >> 7
        x ^= (x << 17) & _64_BITS
        self.state = x
        return x >> 11


def inverse_cdf(probability: Floats, first: Ints) -> Ints:
    """2^53 times the distribution function of each of many distributions, rounded up.

    An entry of probability 0 has the threshold of the one before it (0 if there is none), so no
    draw picks it. From the last positive entry on the threshold is 2^53, however the
    probabilities were rounded.

    Args:
        probability: [N], the entries of all distributions.
        first: [K+1]; distribution k has the entries ``first[k] : first[k+1]``, at least one.

    Returns:
        The thresholds, [N] int64.
    """
    length = np.diff(first)
    threshold = np.empty(len(probability), np.int64)
    # Distributions of one length at a time, so that each is added up by itself: a difference of
    # running totals over the whole array would lose digits.
    for n in np.unique(length):
        entries = first[:-1][length == n, None] + np.arange(n)
        threshold[entries] = inverse_cdf_rows(probability[entries])
    return threshold


def inverse_cdf_rows(probability: Floats) -> Ints:
    """The same for distributions of equal length, a row each: [K, n] -> [K, n] int64."""
    cumulative = np.cumsum(probability, axis=1)
    complete = cumulative >= cumulative[:, -1:]
    return np.where(complete, DRAWS, np.minimum(np.ceil(cumulative * DRAWS), DRAWS)).astype(
        np.int64
    )


FIRST_BITS, CUT_BITS = 31, 27
"""The numbers of bits of a packed row for the start of its outcomes and of its thresholds."""


def packed_rows(probability: Floats, first: Ints) -> tuple[Ints, NDArray[np.uint64]]:
    """Many distributions in the form in which compiled loops read them.

    Equal distributions share their thresholds: a dice game has far fewer distributions than rows,
    few enough to stay in a processor's first cache. The thresholds of a distribution of n entries
    fill a power of two of places, at least n and at least 4; those that are left over are 2^53,
    which no draw reaches. So a search takes the same steps for every draw.

    A row is one number: from bit 0 on `first`, bit 31 is free, from bit 32 on where its thresholds
    begin, from bit 59 on the binary logarithm of how many places they fill.

    Args:
        probability: [N], the entries of all distributions.
        first: [K+1]; distribution k has the entries ``first[k] : first[k+1]``, at least one.

    Returns:
        The thresholds, and the rows [K].

    Raises:
        ValueError: If there are too many entries to be numbered in these bits.
    """
    length = np.diff(first)
    row = np.empty(len(length), np.uint64)
    # Place 0 belongs to nobody, so that a row whose thresholds begin there can be told from others.
    threshold, end = [np.full(1, DRAWS)], 1
    for n in np.unique(length).tolist():
        level = max(2, (n - 1).bit_length())
        rows = np.flatnonzero(length == n)
        example, which = _distinct(probability[first[rows, None] + np.arange(n)])
        cuts = np.full((len(example), 1 << level), DRAWS)
        cuts[:, :n] = inverse_cdf_rows(example)
        row[rows] = first[rows] | (end + (which << level) << FIRST_BITS + 1)
        row[rows] |= np.uint64(level << 59)
        threshold.append(cuts.ravel())
        end += cuts.size
    if first[-1] >= 1 << FIRST_BITS or end >= 1 << CUT_BITS:
        raise ValueError(
            f"the table has {first[-1]} outcomes and {end} thresholds; "
            f"allowed are up to 2^{FIRST_BITS} and 2^{CUT_BITS}"
        )
    return np.concatenate(threshold), row


def _distinct(rows: Floats) -> tuple[Floats, Ints]:
    """The different rows of an array [K, n], and which of them each row is, [K]."""
    words = rows.view(np.uint64)
    # Sorting one number for each row is much faster than sorting rows.
    odd = np.random.default_rng(0).integers(1 << 63, size=words.shape[1], dtype=np.uint64) * 2 + 1
    digest = ((words ^ (words >> np.uint64(29))) * odd).sum(axis=1, dtype=np.uint64)
    _, example, which = np.unique(digest, return_index=True, return_inverse=True)
    if not (words[example][which] == words).all():
        _, example, which = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return rows[example], which.ravel()
