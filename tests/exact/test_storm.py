"""Storm, which shares no code and no method with the solver here, on games of this project.

Of Storm's brackets, those of interval iteration and of optimistic value iteration are asked for.
Its sound value iteration is left out: on Pig against a uniform opponent its bracket lies 5e-9 below
the value that its own policy iteration finds, which is ours.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from random_games import RandomGame

import solvent
from solvent.games import FightingFantasy, Pig
from solvent.model import (
    GymnasiumTable,
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    to_storm,
)

stormpy = pytest.importorskip("stormpy")


def pig_against_uniform() -> TabularGame:
    table = compile_game(Pig(target=10))
    return against(table, TabularPolicy.uniform(table, player=1))


TABLES = {
    "FrozenLake": lambda: compile_game(GymnasiumTable.from_env(gym.make("FrozenLake-v1"))),
    "combat": lambda: compile_game(FightingFantasy(luck=5)),
    "pig": pig_against_uniform,
}


@pytest.mark.parametrize("method", ["INTERVAL_ITERATION", "OPTIMISTIC_VALUE_ITERATION"])
@pytest.mark.parametrize("name", TABLES)
def test_brackets_of_storm_and_ours_meet(name: str, method: str) -> None:
    from stormpy import environments

    table = TABLES[name]()
    model = to_storm(table)
    environment = environments.Environment()
    solver: Any = environment.solver().min_max()
    solver.method = getattr(environments.MinMaxMethod, method)
    solver.precision = stormpy.Rational(1e-9)
    solver.relative_termination_criterion = False
    wanted = stormpy.parse_property('R{"reward"}max=? [C]')
    result = stormpy.model_checking(model, wanted, environment=environment)
    [start] = model.initial_states
    low, high = result.get_lower_bound(start), result.get_upper_bound(start)
    ours = solvent.solve(table)
    assert high - low < 1e-8
    assert low - 1e-14 <= ours.value <= high + 1e-14
    assert max(low, ours.lower) <= min(high, ours.upper) + 1e-14


def test_only_games_for_one() -> None:
    table = compile_game(RandomGame(1, "simultaneous", False, 3))
    with pytest.raises(ValueError, match="player 1 has a choice"):
        to_storm(table)
    model = to_storm(against(table, TabularPolicy.uniform(table, player=1)))
    assert model.nr_states == table.n_states + int((table.initial > 0).sum() > 1)
