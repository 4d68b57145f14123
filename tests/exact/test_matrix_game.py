"""Matrix games against known values and an outside solver."""

from __future__ import annotations

import numpy as np
import pytest

from solvent.exact import solve_matrix_game


@pytest.mark.parametrize(
    ("payoff", "value"),
    [
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0),  # rock, paper, scissors
        ([[1, -1], [-1, 1]], 0),  # matching pennies
        ([[3, 1], [4, 2]], 2),  # a saddle point
        ([[2, 0], [-1, 3]], 1),  # 2x2 by the formula (ad - bc) / (a + d - b - c)
        ([[5]], 5),
        ([[2, 2], [2, 2]], 2),
        ([[1e8, -1e8], [-1e8, 1e8]], 0),
        ([[1, 2, 3]], 1),
    ],
)
def test_known_games(payoff: list[list[float]], value: float) -> None:
    solution = solve_matrix_game(np.array(payoff))
    scale = max(1, np.abs(payoff).max())
    assert solution.value == pytest.approx(value, abs=1e-9 * scale)
    assert 0 <= solution.duality_gap <= 1e-9 * scale


def test_nashpy_agrees() -> None:
    nashpy = pytest.importorskip("nashpy")
    rng = np.random.default_rng(0)
    for _ in range(50):
        payoff = rng.integers(-5, 6, size=rng.integers(1, 6, size=2)).astype(float)
        ours = solve_matrix_game(payoff)
        x, y = nashpy.Game(payoff).linear_program()
        assert ours.value == pytest.approx(float(x @ payoff @ y), abs=1e-7)
        assert ours.duality_gap <= 1e-9
        for mix in (ours.row_strategy, ours.column_strategy):
            assert mix.sum() == pytest.approx(1)
            assert (mix >= 0).all()
