"""Rows of a table copied to many environments, compiled once for rows of every width and type.

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

_U32, _U64 = np.uint32, np.uint64


def _copier(size: int) -> Callable[..., None]:
    """A compiled copy of `size` bytes from the second of two addresses to the first."""

    @intrinsic
    def copy(typing: Any, to: Any, source: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            places = [builder.inttoptr(address, build.voidptr_t) for address in arguments]
            build.raw_memcpy(builder, *places, build.intp_t(size), 1)
            return context.get_dummy_value()

        return types.void(types.uint64, types.uint64), generate

    return copy


@intrinsic
def _address(typing: Any, array: Any) -> Any:
    """Return the address at which an array begins."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.uint64))

    return types.uint64(array), generate


# Called from compiled code, without the first parameter.
address: Any = _address
_copy_1, _copy_2, _copy_4 = _copier(1), _copier(2), _copier(4)
_copy_8, _copy_16, _copy_32 = _copier(8), _copier(16), _copier(32)


@njit(cache=True)
def copy_bytes(row: NDArray[np.int32], source: Any, to: Any, width: Any) -> None:
    """The same as :func:`copy_rows` for rows of `width` bytes, in addresses."""
    size = _U64(32)
    while size > width:
        size >>= _U64(1)
    # Where the last piece of a row begins.
    last = width - size
    for i in range(len(row)):
        a, b = to + _U64(i) * width, source + _U64(_U32(row[i])) * width
        if size == 32:
            for k in range(last >> _U64(5)):
                _copy_32(a + _U64(32 * k), b + _U64(32 * k))
            middle = last & _U64(-32)
            _copy_32(a + middle, b + middle)
            _copy_32(a + last, b + last)
        elif size == 16:
            _copy_16(a, b)
            _copy_16(a + last, b + last)
        elif size == 8:
            _copy_8(a, b)
            _copy_8(a + last, b + last)
        elif size == 4:
            _copy_4(a, b)
            _copy_4(a + last, b + last)
        elif size == 2:
            _copy_2(a, b)
            _copy_2(a + last, b + last)
        else:
            _copy_1(a, b)


@njit(cache=True, inline="always")
def copy_rows(source: Any, row: Any, to: Any) -> None:
    """Fill ``to[i]`` with ``source[row[i]]``.

    Args:
        source: [S, D], without gaps.
        row: [n] int32 within 0..S-1.
        to: [n, D], of the same type, without gaps.
    """
    copy_bytes(row, address(source), address(to), _U64(to.shape[1] * to.itemsize))
