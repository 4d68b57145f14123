"""Tables read from a dictionary ``P``: what is refused, and what probabilities are taken for."""

from fractions import Fraction
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest

import solvent
from solvent.exact import solve
from solvent.model import TabularPolicy, compile_game
from solvent.model.gymnasium_table import Cell, GymnasiumTable

# Gymnasium 1.2, the lowest that the core allows, has version 3 only.
TAXI = max(name for name in gym.registry if name.startswith("Taxi-v"))


def coin(heads: float, tails: float) -> dict[int, Any]:
    return {0: {0: [(heads, 0, 1.0, True), (tails, 0, 0.0, True)]}}


class Undeclared(gym.Env[Any, Any]):
    """An environment that publishes P alone and begins in a state that its caller fixes."""

    P: ClassVar = {s: {0: [(1.0, (s + 1) % 3, 1.0, s == 2)]} for s in range(3)}
    observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(1)
    starts: tuple[int, ...] = (1,)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.s = np.int64(self.np_random.choice(self.starts))
        return self.s, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        [(_, self.s, reward, over)] = self.P[int(self.s)][0]
        return self.s, reward, over, False, {}


@pytest.mark.parametrize(
    ("transitions", "start", "message"),
    [
        (coin(0.5, 0.6), [1], "sum to 1.1"),
        (coin(float("nan"), 0.5), [1], "allowed are numbers from 0 up"),
        (coin(1.5, -0.5), [1], "allowed are numbers from 0 up"),
        (coin(0.5, 0.5), [float("nan")], "start has probabilities"),
        (coin(0.5, 0.5), [0], "start has probabilities"),
        (coin(0.5, 0.5), [1, 0], "start has 2 entries for 1 states"),
        (Undeclared.P, [0.6, 0.3, 0], "start has probabilities that sum to 0.89"),
        ({0: {0: [(1.0, 0, float("nan"), True)]}}, [1], "has the reward nan"),
        ({0: {0: [(1.0, 7, 0.0, True)]}}, [1], "unknown state 7"),
        ({1: {0: [(1.0, 1, 0.0, True)]}}, [1], "expected 0, 1, 2"),
        ({0: {}}, [1], "lists no action"),
        ({}, [], "expected 0, 1, 2"),
    ],
)
def test_a_wrong_dictionary_is_refused(transitions: Any, start: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GymnasiumTable(transitions, start)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"actions": ("wait", "toss")}, "2 names for 1 actions"),
        ({"board": {"row": range(2), "column": range(3)}}, "6 places for 1 states"),
    ],
)
def test_names_that_do_not_fit_are_refused(parts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GymnasiumTable(coin(0.5, 0.5), [1], **parts)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", TAXI])
def test_directions_lead_where_their_names_say(name: str) -> None:
    """On every square some branch of a direction is one square on in it, or a wall is there."""
    game = GymnasiumTable.from_env(gym.make(name))
    rows, columns = (len(game.board[axis]) for axis in ("row", "column"))
    steps = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
    steps |= {"west": (0, -1), "east": (0, 1), "north": (-1, 0), "south": (1, 0)}
    moved = 0
    for number in game.transitions:
        cell = Cell(number, over=False)
        at = game.coordinates(cell)
        for action, label in enumerate(game.info.actions[0]):
            if label not in steps:
                continue
            row, column = at["row"] + steps[label][0], at["column"] + steps[label][1]
            on = {**at, "row": row, "column": column}
            reached = [
                game.coordinates(outcome.state)
                for outcome in game.transition(cell, (action,))
                if outcome.state.number != number
            ]
            inside = 0 <= row < rows and 0 <= column < columns
            moved += on in reached
            # A cliff sends back to the start; Taxi has walls between squares; ends stay ends.
            assert inside or on not in reached
    assert moved > 0.6 * 4 * len(game.transitions) * (name != "FrozenLake-v1")
    assert moved > 0


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
    plain = GymnasiumTable(coin(0.5, 0.5), [1])
    assert plain.info.actions == (("0",),)
    assert plain.draw(Cell(0, over=False)) == "state 0"


def test_a_start_that_is_not_published_is_that_of_the_resets() -> None:
    env = Undeclared()
    assert solve(GymnasiumTable.from_env(env)).value == 2
    uniform = TabularPolicy.uniform(compile_game(GymnasiumTable.from_env(env)))
    assert solvent.score(env, uniform).optimum == 2
    for starts in ((1, 2), (7,)):
        env.starts = starts
        with pytest.raises(ValueError, match=r"64 resets lead to \[.*\]; expected one state of P"):
            GymnasiumTable.from_env(env)
    listed: Any = Undeclared()
    listed.P, listed.initial_state_distrib = [*env.P.values()], [0.0, 1.0, 0.0]
    with pytest.raises(ValueError, match=r"^the table of transitions of .* cannot be read"):
        solve(listed)


def test_rare_branches_are_kept() -> None:
    """A chance of 1e-8 is no simple fraction, and is not rounded to none."""
    table = compile_game(GymnasiumTable(coin(1e-8, 1 - 1e-8), [1]))
    assert solve(table).value == pytest.approx(1e-8, rel=1e-6)


def test_thirds_are_taken_for_thirds() -> None:
    game = GymnasiumTable(coin(1 / 3, 0.6666666666666667), [1])
    (state,) = (outcome.state for outcome in game.initial())
    assert {o.probability for o in game.transition(state, (0,))} == {Fraction(1, 3), Fraction(2, 3)}


def test_a_map_with_a_letter_for_each_state_is_drawn_with_the_place_on_it() -> None:
    lake = GymnasiumTable.from_env(gym.make("FrozenLake-v1"))
    *rows, line = lake.draw(Cell(5, True)).splitlines()
    assert rows == [" S  F  F  F", " F [H] F  H", " F  F  F  H", " H  F  F  G"]
    assert line == "state 5: row 1, column 1 (over)"
    # Taxi's map has letters for streets, not for states.
    assert len(GymnasiumTable.from_env(gym.make(TAXI)).draw(Cell(5, False)).splitlines()) == 1
