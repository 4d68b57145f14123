"""Arrays that hold only zeros and ones, in one bit for each entry.

Most of a replay buffer is one-hot observations in float32. As bits they take a thirty-second of
the memory, and a checkpoint of them is written in a fraction of the time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_binary(array: NDArray[Any]) -> bool:
    """Whether every entry is exactly 0 or 1 (a negative zero is neither)."""
    if array.dtype == np.bool_:
        return True
    return bool(((array == 0) | (array == 1)).all() and not np.signbit(array).any())


def pack(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bits of a binary array of any shape, eight to a byte."""
    return np.packbits(array.astype(bool, copy=False))


def unpack(bits: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """A binary array from its bits."""
    return np.unpackbits(bits, count=math.prod(shape)).reshape(shape)
