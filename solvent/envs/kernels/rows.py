"""Rows of a table copied to many environments, compiled once for rows of every width.

A row is copied in two pieces that may overlap, each as large as a power of two, as `memcpy` does
for small sizes; a long one in as many pieces as it takes. Copies of a fixed size are single
instructions, where a loop over the entries of a short row would cost more than all else in a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

# Numba's own module for building code has no types.
build: Any = cgutils

_I64, _U32, _U64 = np.int64, np.uint32, np.uint64


def _copier(size: int) -> Callable[..., None]:
    """A compiled copy of `size` bytes between two arrays, from one place in bytes to another."""

    @intrinsic
    def copy(typing: Any, to: Any, to_byte: Any, source: Any, byte: Any) -> Any:
        signature = types.void(to, types.uint64, source, types.uint64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def place(i: int) -> Any:
                array = context.make_array(signature.args[i])(context, builder, arguments[i])
                return build.pointer_add(builder, array.data, arguments[i + 1], build.voidptr_t)

            build.raw_memcpy(builder, place(0), place(2), build.intp_t(size), 1)
            return context.get_dummy_value()

        return signature, generate

    return copy


_copy_1, _copy_2, _copy_4 = _copier(1), _copier(2), _copier(4)
_copy_8, _copy_16, _copy_32 = _copier(8), _copier(16), _copier(32)


@njit(cache=True)
def copy_rows(source: NDArray[Any], row: NDArray[np.int32], to: NDArray[Any]) -> None:
    """Fill ``to[i]`` with ``source[row[i]]``.

    Args:
        source: [S, D].
        row: [n] within 0..S-1.
        to: [n, D], of the same type.
    """
    n, width = len(row), _U64(source.shape[1] * source.itemsize)
    if width >= 32:
        last = width - _U64(32)
        for i in range(n):
            a, b = _U64(i) * width, _U64(_U32(row[i])) * width
            for k in range(_I64(last) >> 5):
                _copy_32(to, a + _U64(32 * k), source, b + _U64(32 * k))
            _copy_32(to, a + (last & _U64(-32)), source, b + (last & _U64(-32)))
            _copy_32(to, a + last, source, b + last)
    elif width >= 16:
        last = width - _U64(16)
        for i in range(n):
            a, b = _U64(i) * width, _U64(_U32(row[i])) * width
            _copy_16(to, a, source, b)
            if last > 0:
                _copy_16(to, a + last, source, b + last)
    elif width >= 8:
        last = width - _U64(8)
        for i in range(n):
            a, b = _U64(i) * width, _U64(_U32(row[i])) * width
            _copy_8(to, a, source, b)
            if last > 0:
                _copy_8(to, a + last, source, b + last)
    elif width >= 4:
        last = width - _U64(4)
        for i in range(n):
            a, b = _U64(i) * width, _U64(_U32(row[i])) * width
            _copy_4(to, a, source, b)
            if last > 0:
                _copy_4(to, a + last, source, b + last)
    elif width >= 2:
        last = width - _U64(2)
        for i in range(n):
            a, b = _U64(i) * width, _U64(_U32(row[i])) * width
            _copy_2(to, a, source, b)
            if last > 0:
                _copy_2(to, a + last, source, b + last)
    else:
        for i in range(n):
            _copy_1(to, _U64(i) * width, source, _U64(_U32(row[i])) * width)
