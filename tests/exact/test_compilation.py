"""Loops give the same numbers whether Python runs them or Numba compiles them."""

from __future__ import annotations

import numpy as np
import pytest

from solvent import compile_game, discounted, make_game, solve
from solvent.exact import compilation

GAMES = {
    "no cycles": ("ff-combat", {"stamina": 6, "opponent_stamina": 6, "luck": 4}, 1),
    "turns": ("pig", {"target": 4}, 1),
    "one cycle": ("FrozenLake-v1", {}, 1),
    "a discount": ("gridworld", {}, 1),
    "both at once": ("rock-paper-scissors", {}, 1),
}


@pytest.mark.parametrize("name", GAMES)
def test_python_and_compiled_loops_agree_to_the_last_bit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, parameters, discount = GAMES[name]
    table = compile_game(discounted(make_game(game, **parameters), discount))
    found = []
    for way in ("function", "compiled"):
        monkeypatch.setattr(
            compilation._Loop, "__call__", lambda self, *given, way=way: getattr(self, way)(*given)
        )
        with np.errstate(all="ignore"):
            solution = solve(table)
        arrays = (solution.values, *(policy.probabilities for policy in solution.policies))
        found.append((solution.lower, solution.upper, *(array.tobytes() for array in arrays)))
    assert found[0] == found[1]
