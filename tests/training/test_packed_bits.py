"""Bits are kept exactly, and only where nothing but bits would be lost."""

from __future__ import annotations

import numpy as np
import pytest

from solvent.training.checkpoint import is_binary, pack, unpack


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
@pytest.mark.parametrize("shape", [(3, 5, 7), (8,), (0, 4), (1, 1)])
def test_binary_arrays_come_back(shape: tuple[int, ...], dtype: type) -> None:
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    assert is_binary(array)
    bits = pack(array)
    assert bits.nbytes == -(-array.size // 8)
    np.testing.assert_array_equal(unpack(bits, shape).astype(dtype), array)


@pytest.mark.parametrize("odd", [0.5, 2.0, -1.0, np.nan, np.inf, -0.0])
def test_any_other_entry_is_noticed(odd: float) -> None:
    assert not is_binary(np.array([0.0, 1.0, odd], np.float32))
