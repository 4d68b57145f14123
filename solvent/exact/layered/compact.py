"""Values of a layer in little room: fixed point at two bytes a value, compressed.

A value v of a layer whose largest is L is kept as the whole number nearest to 32767 v / L, so it is
right but for L / 65534 (:func:`rounded_off`), and 0, L and -L are exact. Numbers beside each other
differ by little: along every axis each is replaced by its difference from the one before (modulo
2^16), signs go into the last bit, and the low bytes of all come before the high ones. zlib makes
that a sixth of a byte or so a value. All but the rounding is undone exactly.
"""

from __future__ import annotations

import zlib
from math import prod

import numpy as np

from solvent.model.arrays import Floats

STEPS = 2**15 - 1
"""The number of steps from 0 to the largest value."""


def rounded_off(largest: float) -> float:
    """Return the largest error of the kept values of a layer.

    Args:
        largest: Largest absolute value in the layer.
    """
    # Half a step, and three roundings of float64.
    return largest * (0.5 / STEPS + 4 * float(np.finfo(float).eps))


def pack(values: Floats, largest: float) -> bytes:
    """The values of a layer, rounded and compressed.

    Args:
        values: The values, of any shape.
        largest: The largest of them, whichever its sign.
    """
    scaled = values * (STEPS / largest) if largest else np.zeros_like(values)
    numbers = np.rint(scaled).astype(np.int16)
    for axis in range(numbers.ndim):
        numbers = np.diff(numbers, axis=axis, prepend=np.int16(0))
    signs_last = ((numbers << 1) ^ (numbers >> 15)).astype("<i2")
    low_then_high = signs_last.reshape(-1).view(np.uint8).reshape(-1, 2).T.tobytes()
    compressor = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_RLE)
    return compressor.compress(low_then_high) + compressor.flush()


def unpack(content: bytes, shape: tuple[int, ...], largest: float) -> Floats:
    """The values that were packed, but for the rounding.

    Args:
        content: The result of :func:`pack`.
        shape: The shape of the values.
        largest: Largest value, as given to :func:`pack`.

    Raises:
        ValueError: If the content is not what it should be.
    """
    size = 2 * prod(shape)
    try:
        stream = zlib.decompressobj()
        low_then_high = stream.decompress(content, size + 1)
    except zlib.error as error:
        raise ValueError(f"it cannot be decompressed ({error})") from error
    if len(low_then_high) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"it does not hold {size} bytes")
    pairs = np.frombuffer(low_then_high, np.uint8).reshape(2, -1).T
    signs_last = np.ascontiguousarray(pairs).view("<u2").reshape(shape)
    numbers = ((signs_last >> 1) ^ -(signs_last & 1)).astype(np.int16)
    for axis in range(numbers.ndim):
        numbers = np.cumsum(numbers, axis=axis, dtype=np.int16)
    # In this order, so that the largest comes out as it was.
    return numbers / STEPS * largest
