"""Distributions in the form in which a draw picks from them.

A draw k of :mod:`solvent.envs.random_stream` picks the first entry of a distribution with
k < threshold: the inverse of the distribution function, in units of 2^-53. The last threshold is
2^53, so there always is one.
"""

from __future__ import annotations

import numpy as np

from solvent.envs.random_stream import DRAWS
from solvent.model.arrays import Floats, Ints


def thresholds(probability: Floats, first: Ints) -> Ints:
    """2^53 times the distribution function of each of many distributions, rounded up.

    An entry of probability 0 has the threshold of the one before it (0 if there is none), so no
    draw picks it. From the last positive entry on the threshold is 2^53, however the
    probabilities were rounded.

    Args:
        probability: [N], the entries of all distributions.
        first: [K+1]; distribution k has the entries ``first[k] : first[k+1]``, at least one.

    Returns:
        [N] int64.
    """
    length = np.diff(first)
    threshold = np.empty(len(probability), np.int64)
    # Distributions of one length at a time, so that each is added up by itself: a difference of
    # running totals over the whole array would lose digits.
    for n in np.unique(length):
        entries = first[:-1][length == n, None] + np.arange(n)
        threshold[entries] = row_thresholds(probability[entries])
    return threshold


def row_thresholds(probability: Floats) -> Ints:
    """The same for distributions of equal length, a row each: [K, n] -> [K, n] int64."""
    cumulative = np.cumsum(probability, axis=1)
    complete = cumulative >= cumulative[:, -1:]
    return np.where(complete, DRAWS, np.minimum(np.ceil(cumulative * DRAWS), DRAWS)).astype(
        np.int64
    )
