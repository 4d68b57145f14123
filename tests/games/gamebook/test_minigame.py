"""Games that go on until they are over, against formulas and linear algebra."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from solvent.games.gamebook.story import absorption

HALF = Fraction(1, 2)


def test_the_ruin_of_a_gambler() -> None:
    # With odds r = q / p against, ruin from i of n has probability (r^i - r^n) / (1 - r^n).
    p, n = Fraction(2, 5), 7
    q = 1 - p
    transitions = {
        i: {i + step: chance for step, chance in ((1, p), (-1, q)) if 0 < i + step < n}
        for i in range(1, n)
    }
    ends = {
        i: {**({"rich": p} if i == n - 1 else {}), **({"ruin": q} if i == 1 else {})}
        for i in range(1, n)
    }
    found = absorption(transitions, ends)
    r = q / p
    for i in range(1, n):
        assert found[i]["ruin"] == (r**i - r**n) / (1 - r**n)
        assert found[i]["rich"] == 1 - found[i]["ruin"]


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
