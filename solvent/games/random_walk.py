"""The random walk of Sutton and Barto: nothing to choose, only values to predict.

From the middle of a row of states a walker goes one to the left or to the right with equal
probability, until it leaves the row. Leaving on the right pays 1, on the left 0 or -1. The value of
the i-th of n states is so left + (1 - left) i / (n + 1).

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018: five states in Example 6.2, where the left pays 0; nineteen in Example 7.1 and in chapter 12,
where it pays -1.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    Environment,
    GameInfo,
    GameSpec,
    JointAction,
    Outcome,
    Rules,
    Scene,
    check_integer,
    grid,
    shown,
)


class Place(NamedTuple):
    """The states in the row are 1, 2 and so on; 0 and the number after the last are its ends."""

    number: int


@dataclass(frozen=True)
class RandomWalk(Rules):
    """A walk along a row of states, from its middle.

    Args:
        states: Number of states in the row, an odd number within 1..999.
        left: Reward for leaving on the left, -1 or 0.
    """

    states: int = 5
    left: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.states, "states", 1, 999)
        check_integer(self.left, "left", -1, 0)
        if self.states % 2 == 0:
            raise ValueError(f"states is {shown(self.states)}; allowed are odd numbers")

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        return GameInfo(
            name="random-walk",
            players=1,
            actions=(("go on",),),
            acyclic=self.states == 1,
            reward_range=(float(self.left), 1.0),
            sources=("Sutton and Barto 2018, Examples 6.2 and 7.1",),
            parameters=(("states", self.states), ("left", self.left)),
            observation_labels=("place",),
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the middle state."""
        return (Outcome(Fraction(1), Place((self.states + 1) // 2)),)

    def transition(self, state: Place, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Step to the left or to the right."""
        half, before, after = Fraction(1, 2), state.number - 1, state.number + 1
        return (
            Outcome(half, Place(before), self.left if before == 0 else 0),
            Outcome(half, Place(after), int(after > self.states)),
        )

    def is_terminal(self, state: Place) -> bool:
        """Return whether the walker has left the row."""
        return not 1 <= state.number <= self.states

    def observe(self, state: Place, player: int) -> NDArray[np.float32]:
        """Return the place, as a fraction of the right end."""
        return np.array([state.number / (self.states + 1)], np.float32)

    def scene(self, state: Place) -> Scene:
        """Draw the row."""
        return (grid([f"#{'.' * self.states}#"], (0, state.number)),)


SPEC = GameSpec(
    name="random-walk",
    make=RandomWalk,
    rules=(
        "A walker goes left or right by chance until it leaves the row: on the right for\n"
        "1, on the left for nothing, or for −1. There is nothing to choose."
    ),
    environments={
        "solvent/RandomWalk-v0": Environment(
            optimum=0.5,
            model_hash="5b4a967302f04c9033f8d4e6ebbc3e4ef73e6064da9b2ed931b5ff7477dfe5fa",
        ),
        "solvent/RandomWalk19-v0": Environment(
            parameters={"states": 19, "left": -1},
            optimum=0.0,
            model_hash="d179dbf0f7c175ddef4fb1dd51ea790c4931f67eb33760b08efc8ccbce7c141a",
        ),
    },
)
