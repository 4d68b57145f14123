"""All combats of the paper's box: what holds of them whatever the numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from combat_paper import paper
from linear_program import least_excessive

from solvent.exact import solve
from solvent.games import FightingFantasy
from solvent.model import compile_game


@pytest.fixture(scope="module")
def value() -> Any:
    """[21, 24, 24, 13] by difference, STAMINAs from 1, and LUCK."""
    return paper.box().value


def test_more_skill_stamina_or_luck_never_hurts(value: Any) -> None:
    # Play by the paper's rule gives up a relative 1e-10 where victory is all but certain.
    for axis, sign in enumerate((1, 1, -1, 1)):
        assert (sign * np.diff(value, axis=axis) >= -1e-9).all()


def test_without_luck_one_side_wins_as_often_as_the_other_loses(value: Any) -> None:
    without = value[..., 0]
    mirrored = without[::-1].swapaxes(1, 2)
    np.testing.assert_allclose(without + mirrored, 1, rtol=0, atol=1e-13)


def test_linear_program_agrees() -> None:
    table = compile_game(FightingFantasy(stamina=8, opponent_stamina=8, luck=6))
    values = least_excessive(table)
    np.testing.assert_allclose(values, solve(table).values, rtol=0, atol=1e-9)
