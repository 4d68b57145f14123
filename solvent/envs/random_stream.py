"""The random numbers of one environment: a stream with 64 bits of state.

Every environment owns a stream, whether it stands alone or is one of thousands in a compiled
loop, so that both give the same play for the same seed. One NumPy generator per environment
could not be advanced at compiled speed.

The generator is xorshift64 (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14),
2003, shifts 13, 7, 17): a linear map of 64 bits that visits every state but 0, so its period is
2^64 - 1. A draw is the upper 53 bits: k of {0, …, 2^53 - 1}, which stands for the number k / 2^53
of [0, 1). Draws stay whole numbers, so that comparing them is exact everywhere. The compiled twin
of :meth:`RandomStream.draw` is in :mod:`solvent.envs.kernels.tabular`.
"""

from __future__ import annotations

import numpy as np

from solvent.model.parameters import shown

DRAWS = 1 << 53
"""How many different draws there are; all are equally likely."""

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
