"""A matrix of payoffs as a game of one move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.model import GameInfo, TabularGame


def matrix_game(
    payoffs: NDArray[Any] | Sequence[Sequence[float]], *, name: str = "matrix-game"
) -> TabularGame:
    """Return a game in which both players choose once, at the same time.

    Args:
        payoffs: [m, n] payoffs to player 0, who chooses the row; player 1 chooses the column.
        name: Name of the game.

    Returns:
        A table in which state 0 is the choice and state 1 the end.

    Raises:
        ValueError: If `payoffs` is empty or not a matrix of finite numbers.
    """
    matrix = np.asarray(payoffs, float)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"payoffs has shape {matrix.shape}; allowed is (m, n), both from 1 on")
    m, n = matrix.shape
    info = GameInfo(
        name=name,
        players=2,
        actions=(tuple(f"row {i}" for i in range(m)), tuple(f"column {j}" for j in range(n))),
        acyclic=True,
        reward_range=(float(matrix.min()), float(matrix.max())),
        sources=(),
    )
    return TabularGame(
        info=info,
        states=("choice", "end"),
        row_start=np.array([0, m * n, m * n]),
        outcome_start=np.arange(m * n + 1),
        next_state=np.ones(m * n, np.int64),
        probability=np.ones(m * n),
        outcome_reward=matrix.ravel(),
        mask=(np.array([[True], [False]]).repeat(m, 1), np.array([[True], [False]]).repeat(n, 1)),
        initial=np.array([1.0, 0.0]),
    )
