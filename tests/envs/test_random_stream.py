"""The stream: the recursion, its full period, its uniformity, and its compiled twin."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import stats

from solvent.envs import kernels
from solvent.envs.sampling import DRAWS, RandomStream, first_state


def test_the_first_states_from_1() -> None:
    # By hand: 1 -> 1 + 2^13 -> that xor 2^6 -> that xor itself times 2^17.
    stream = RandomStream(1)
    assert stream.draw() == 1082269761 >> 11
    assert stream.state == (2**13 + 2**6 + 1) ^ ((2**13 + 2**6 + 1) << 17) == 1082269761


def test_the_compiled_twin_draws_the_same() -> None:
    @njit
    def draws(state: np.uint64, count: int) -> np.ndarray:
        out = np.empty(count, np.int64)
        for i in range(count):
            state = kernels.advance(state)
            out[i] = kernels.draw_of(state)
        return out

    for seed in range(5):
        state = first_state(np.random.default_rng(seed))
        stream = RandomStream(state)
        assert draws(np.uint64(state), 2000).tolist() == [stream.draw() for _ in range(2000)]


def test_draws_are_uniform_across_neighbouring_seeds() -> None:
    streams = [RandomStream(first_state(np.random.default_rng(seed))) for seed in range(8000)]
    for _ in range(3):
        cells = np.array([stream.draw() * 50 // DRAWS for stream in streams])
        assert stats.chisquare(np.bincount(cells, minlength=50)).pvalue > 1e-3
        pairs = cells[:-1] // 5 * 10 + cells[1:] // 5
        assert stats.chisquare(np.bincount(pairs, minlength=100)).pvalue > 1e-3
