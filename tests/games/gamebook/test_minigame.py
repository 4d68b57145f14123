"""Games that go on until they are over, against formulas and linear algebra."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from solvent.games.gamebook.rules import absorption

HALF = Fraction(1, 2)


@pytest.mark.parametrize("seed", range(5))
def test_absorption_is_the_solution_of_the_linear_equations(seed: int) -> None:
    rng = random.Random(seed)
    n, m = 7, 3
    weights = [[rng.choice([0, 0, 1, 3]) for _ in range(n + m)] for _ in range(n)]
    for row in weights:
        row[n + rng.randrange(m)] += 1
    probabilities = [[Fraction(w, sum(row)) for w in row] for row in weights]
    found = absorption(
        {i: {j: p for j, p in enumerate(row[:n]) if p} for i, row in enumerate(probabilities)},
        {i: {j: p for j, p in enumerate(row[n:]) if p} for i, row in enumerate(probabilities)},
    )
    matrix = np.array(probabilities, float)
    expected = np.linalg.solve(np.eye(n) - matrix[:, :n], matrix[:, n:])
    for i in range(n):
        assert sum(found[i].values()) == 1
        assert [float(found[i].get(j, 0)) for j in range(m)] == pytest.approx(expected[i])
