"""Rows of every width are copied whole, and nothing beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.rows import copy_rows


@njit
def copied(source: NDArray[Any], row: NDArray[np.int32], to: NDArray[Any]) -> None:
    copy_rows(source, row, to)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_rows_of_every_width(dtype: type) -> None:
    rng = np.random.default_rng(0)
    row = np.array([4, 0, 4, 2, 1], np.int32)
    for width in range(1, 80):
        source = rng.integers(0, 100, (5, width)).astype(dtype)
        # The copy is the middle of a larger array, whose ends must stay as they are.
        around = np.full((7, width), 101, dtype)
        copied(source, row, around[1:-1])
        assert (around[1:-1] == source[row]).all(), width
        assert (around[[0, -1]] == 101).all(), width
