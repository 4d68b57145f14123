"""Tables read from a dictionary ``P``: what is refused, and what probabilities are taken for."""

from fractions import Fraction
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from refusals import assert_refused

import solvent
from solvent import TabularPolicy, compile_game, solve
from solvent.model.gymnasium_table import Cell, GymnasiumTable

# Gymnasium 1.2, the lowest that the core allows, has version 3 only.
TAXI = max(name for name in gym.registry if name.startswith("Taxi-v"))


def coin(heads: float, tails: float) -> dict[int, Any]:
    return {0: {0: [(heads, 0, 1.0, True), (tails, 0, 0.0, True)]}}


class Undeclared(gym.Env[Any, Any]):
    """An environment that publishes P and a start, and is no toy text of Gymnasium's."""

    P: ClassVar = {s: {0: [(1.0, (s + 1) % 3, 1.0, s == 2)]} for s in range(3)}
    initial_state_distrib: Any = (0.0, 1.0, 0.0)
    observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.s = np.int64(1)
        return self.s, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        [(_, self.s, reward, over)] = self.P[int(self.s)][0]
        return self.s, reward, over, False, {}


HALVES = coin(0.5, 0.5)
REFUSED: list[tuple[Any, Any, dict[str, Any], str]] = [
    (coin(0.5, 0.6), [1], {}, "sum to 1.1"),
    (coin(float("nan"), 0.5), [1], {}, "allowed are numbers from 0 up"),
    (coin(1.5, -0.5), [1], {}, "allowed are numbers from 0 up"),
    (HALVES, [float("nan")], {}, "start has probabilities"),
    (HALVES, [0], {}, "start has probabilities"),
    (HALVES, [1, 0], {}, "start has 2 entries for 1 states"),
    (Undeclared.P, [0.6, 0.3, 0], {}, "start has probabilities that sum to 0.89"),
    ({0: {0: [(1.0, 0, float("nan"), True)]}}, [1], {}, "has the reward nan"),
    ({0: {0: [(1.0, 7, 0.0, True)]}}, [1], {}, "unknown state 7"),
    ({1: {0: [(1.0, 1, 0.0, True)]}}, [1], {}, "expected 0, 1, 2"),
    ({0: {}}, [1], {}, "lists no action"),
    ({}, [], {}, "expected 0, 1, 2"),
    (HALVES, [1], {"actions": ("wait", "toss")}, "2 names for 1 actions"),
    (HALVES, [1], {"board": {"row": range(2), "column": range(3)}}, "6 places for 1 states"),
]


def test_a_wrong_dictionary_is_refused() -> None:
    assert_refused(
        REFUSED, lambda transitions, start, parts: GymnasiumTable(transitions, start, **parts)
    )


def test_the_board_is_that_of_the_environment() -> None:
    """Taxi says itself what its numbers stand for."""
    taxi = gym.make(TAXI)
    game = GymnasiumTable.from_env(taxi)
    parts: Any = taxi.unwrapped
    for number in (0, 123, 499):
        row, column, passenger, destination = parts.decode(number)
        assert game.coordinates(Cell(number, over=False)) == {
            "row": row,
            "column": column,
            "passenger": ("red", "green", "yellow", "blue", "in the taxi")[passenger],
            "destination": ("red", "green", "yellow", "blue")[destination],
        }
    assert game.draw(Cell(123, over=True)).startswith("state 123: row 1, column 1, passenger")
    small = GymnasiumTable.from_env(gym.make("FrozenLake-v1", desc=["SFF", "FFG"]))
    assert {axis: len(values) for axis, values in small.board.items()} == {"row": 2, "column": 3}


def test_an_environment_has_to_publish_its_start() -> None:
    env = Undeclared()
    assert solve(GymnasiumTable.from_env(env)).value == 2
    uniform = TabularPolicy.uniform(compile_game(GymnasiumTable.from_env(env)))
    assert solvent.score(env, uniform).optimum == 2
    rows: list[tuple[dict[str, Any], str]] = [
        ({"initial_state_distrib": None}, "Undeclared has no initial_state_distrib"),
        (
            {"P": [*env.P.values()], "initial_state_distrib": [0.0, 1.0, 0.0]},
            "^the table of transitions of .* cannot be read",
        ),
    ]

    def changed(parts: dict[str, Any]) -> None:
        other = Undeclared()
        vars(other).update(parts)
        solve(other)

    assert_refused(rows, changed)


def test_thirds_are_taken_for_thirds_and_rare_branches_are_kept() -> None:
    """A chance of 1e-8 is no simple fraction, and is not rounded to none."""
    game = GymnasiumTable(coin(1 / 3, 0.6666666666666667), [1])
    [outcome] = game.initial()
    assert {one.probability for one in game.transition(outcome.state, (0,))} == {
        Fraction(1, 3),
        Fraction(2, 3),
    }
    rare = GymnasiumTable(coin(1e-8, 1 - 1e-8), [1])
    assert solve(rare).value == pytest.approx(1e-8, rel=1e-6)


def test_a_map_with_a_letter_for_each_state_is_drawn_with_the_place_on_it() -> None:
    lake = GymnasiumTable.from_env(gym.make("FrozenLake-v1"))
    *rows, line = lake.draw(Cell(5, True)).splitlines()
    assert rows == [" S  F  F  F", " F [H] F  H", " F  F  F  H", " H  F  F  G"]
    assert line == "state 5: row 1, column 1 (over)"
    # Taxi's map has letters for streets, not for states.
    assert len(GymnasiumTable.from_env(gym.make(TAXI)).draw(Cell(5, False)).splitlines()) == 1
