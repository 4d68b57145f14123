"""Actions drawn from probabilities by the streams of many episodes, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.tabular import advance, draw_of, pick
from solvent.envs.random_stream import DRAWS
from solvent.model.arrays import Floats, Ints

_NEAR = 2048


@njit(cache=True)
def draw_actions(
    chosen: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    stream: NDArray[np.uint64],
    action: NDArray[np.int64],
) -> None:
    """Draw an action in each of the chosen episodes.

    Args:
        chosen: [k] indices of episodes.
        probabilities: [k, A] weights, at least one of a row positive.
        stream: [n], changed.
        action: [n], changed in the chosen episodes.
    """
    for e in range(len(chosen)):
        i = chosen[e]
        stream[i] = advance(stream[i])
        total = 0.0
        for a in range(probabilities.shape[1]):
            total += probabilities[e, a]
        left = draw_of(stream[i]) * (total / 9007199254740992.0)
        for a in range(probabilities.shape[1]):
            if probabilities[e, a] > 0.0:
                # The last one that is possible, should rounding leave something over.
                action[i] = a
                left -= probabilities[e, a]
                if left < 0.0:
                    break


def action_thresholds(probabilities: Floats) -> Ints:
    """The thresholds with which :func:`pick` draws the very actions of :func:`draw_actions`.

    What is left of a draw falls with each action that is passed, and rises with the draw however
    it is rounded: so there is a least draw that passes an action, which is found by bisection.

    Args:
        probabilities: [K, A] weights, at least one of a row positive; A is some hundred at most.

    Returns:
        [K, A] int64.
    """
    running = np.cumsum(probabilities, axis=1)
    total = running[:, -1:]
    guess = np.floor(running / total * DRAWS).astype(np.int64)
    # Beyond what rounding can do.
    low, high = np.maximum(guess - _NEAR, 0), np.minimum(guess + _NEAR, DRAWS)
    while (low < high).any():
        middle = (low + high) // 2
        left = middle * (total / DRAWS)
        for a in range(probabilities.shape[1]):
            left[:, a:] -= probabilities[:, a : a + 1]
        passed = left >= 0.0
        low, high = (
            np.where(passed, low, np.minimum(middle + 1, high)),
            np.where(passed, middle, high),
        )
    possible = probabilities > 0.0
    last = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
    return np.where(np.arange(possible.shape[1]) >= last[:, None], DRAWS, low)


@njit(cache=True)
def draw_entries(
    chosen: NDArray[np.int64],
    threshold: NDArray[np.int64],
    stream: NDArray[np.uint64],
    entry: NDArray[np.int32],
) -> None:
    """Draw an entry of one distribution for each chosen episode.

    Args:
        chosen: [k] indices of episodes.
        threshold: [K], of :func:`solvent.envs.random_stream.inverse_cdf`; with a single entry
            nothing is drawn.
        stream: [n], changed.
        entry: [n], changed in the chosen episodes.
    """
    for i in chosen:
        entry[i] = 0
        if len(threshold) > 1:
            stream[i] = advance(stream[i])
            entry[i] = pick(draw_of(stream[i]), threshold, 0, len(threshold))
