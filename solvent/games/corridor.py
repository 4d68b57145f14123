"""A row of rooms with one right door each: a family of problems with a dial for each difficulty.

Each room has the same number of doors. One of them, the right door, is drawn when the corridor is
laid out and leads to the next room; the others lead one room back. The right door of the last room
leads to the goal. After every other move a clock stops the episode with probability
1 / (4 * rooms), so that every policy has a finite value. Without a bait, taking the right doors is
optimal at every setting of the other dials, so that these change only how hard it is to learn. With
a bait, it is optimal as long as the bait is below the value of the right doors.

============  ====================================================================================
``rooms``     horizon: the number of right doors in a row
``reward_every``  sparse reward: the reward of 1 is given in shares, one for this many rooms of
              progress, which is taken back on the way back; 1 gives a share in each room, ``rooms``
              only at the goal
``gap``       action gap: a wrong door leads back with this probability, and forward otherwise
``slip``      noise: with this probability a random door opens instead of the chosen one
``doors``     number of actions
``bait``      a local optimum: a wrong door in the first room gives bait / (4 * rooms), which adds
              up to at most about `bait` for a player who never leaves
============  ====================================================================================

Each door is the right one in equally many rooms, up to one room, so no constant policy is
optimal. The row is related to the combination lock (M. J. Kearns and S. P. Singh, "Near-optimal
reinforcement learning in polynomial time", Machine Learning 49, 2002, pages 209-232) and, with a
bait, to RiverSwim (A. L. Strehl and M. L. Littman, "An analysis of model-based interval estimation
for Markov decision processes", Journal of Computer and System Sciences 74, 2008, pages 1309-1331).
One dial at a time is how bsuite varies a problem (I. Osband et al., "Behaviour suite for
reinforcement learning", ICLR 2020).
"""

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from numbers import Rational
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    Environment,
    GameInfo,
    GameSpec,
    JointAction,
    Outcome,
    Prose,
    Rules,
    Scene,
    check_integer,
    check_rational,
    grid,
)

STOPPED = -1
"""The room of an episode that the clock has ended."""

# Expected number of moves before the clock stops an episode, for each room.
_SLOWNESS = 4


class Place(NamedTuple):
    """A room, numbered from 0; the number after the last room is the goal."""

    room: int


@dataclass(frozen=True)
class Corridor(Rules):
    """A row of rooms, in each of which one door leads to the next room.

    Args:
        rooms: Number of rooms, within 2..1000.
        doors: Number of doors of a room, within 2..100.
        reward_every: Number of rooms of progress for each share of the reward, within 1..1000.
            None gives the whole reward at the goal.
        gap: Probability that a wrong door leads back, above 0 and up to 1.
        slip: Probability that a random door opens instead, at least 0 and below 1.
        bait: Expected reward of staying in the first room until the clock stops, within 0..1.
        layout: Seed that draws the right doors, a whole number from 0.
    """

    rooms: int = 8
    doors: int = 3
    reward_every: int | None = None
    gap: float | str | Rational = 1
    slip: float | str | Rational = 0
    bait: float | str | Rational = 0
    layout: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.rooms, "rooms", 2, 1000)
        check_integer(self.doors, "doors", 2, 100)
        check_integer(self.layout, "layout", 0, 2**32 - 1)
        if self.reward_every is not None:
            check_integer(self.reward_every, "reward_every", 1, 1000)
        if check_rational(self.gap, "gap", 0, 1) == 0:
            raise ValueError(f"gap is {self.gap}; allowed are numbers above 0 and up to 1")
        if check_rational(self.slip, "slip", 0, 1) == 1:
            raise ValueError(f"slip is {self.slip}; allowed are numbers from 0 and below 1")
        check_rational(self.bait, "bait", 0, 1)

    start = Place(0)

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        plain = {
            name: value if isinstance(value, (int, float)) else str(value)
            for name, value in (("gap", self.gap), ("slip", self.slip), ("bait", self.bait))
        }
        return GameInfo(
            name="corridor",
            players=1,
            actions=(tuple(f"door {number}" for number in range(1, self.doors + 1)),),
            acyclic=False,
            reward_range=(0.0, 1.0 if self._numbers[3] == 0 else inf),
            sources=("Kearns and Singh 2002", "Strehl and Littman 2008", "Osband et al. 2020"),
            parameters=(
                ("rooms", self.rooms),
                ("doors", self.doors),
                ("reward_every", self.reward_every),
                *plain.items(),
                ("layout", self.layout),
            ),
            observation_labels=tuple(f"room {number}" for number in range(self.rooms)),
        )

    @cached_property
    def right_doors(self) -> tuple[int, ...]:
        """The right door of each room."""
        dice = random.Random(self.layout)
        numbers = list(range(self.doors))
        dice.shuffle(numbers)
        right = [numbers[room % self.doors] for room in range(self.rooms)]
        dice.shuffle(right)
        return tuple(right)

    @cached_property
    def _numbers(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """The probabilities of progress by a right and a wrong door and of stopping; the bait."""
        gap, slip, bait = (
            check_rational(value, name, 0, 1)
            for name, value in (("gap", self.gap), ("slip", self.slip), ("bait", self.bait))
        )
        at_random = slip * (1 - gap * Fraction(self.doors - 1, self.doors))
        stop = Fraction(1, _SLOWNESS * self.rooms)
        return (1 - slip) + at_random, (1 - slip) * (1 - gap) + at_random, stop, bait * stop

    def reward_until(self, room: int) -> Fraction:
        """Return the part of the reward that has been received when a room is reached."""
        every = self.rooms if self.reward_every is None else self.reward_every
        return Fraction(room if room == self.rooms else room // every * every, self.rooms)

    def transition(self, state: Place, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Move one room forward or back; except at the goal, the clock may stop the episode."""
        right, wrong, stop, bait = self._numbers
        is_right = joint_action[0] == self.right_doors[state.room]
        on = right if is_right else wrong
        extra = bait if state.room == 0 and not is_right else Fraction(0)
        outcomes = []
        for chance, room in ((on, state.room + 1), (1 - on, max(state.room - 1, 0))):
            reward = self.reward_until(room) - self.reward_until(state.room) + extra
            stops = Fraction(0) if room == self.rooms else stop
            outcomes += [
                Outcome(chance * (1 - stops), Place(room), reward),
                Outcome(chance * stops, Place(STOPPED), reward),
            ]
        return tuple(outcome for outcome in outcomes if outcome.probability > 0)

    def is_terminal(self, state: Place) -> bool:
        """Return whether the goal is reached or the clock has stopped the episode."""
        return state.room in (STOPPED, self.rooms)

    def observe(self, state: Place, player: int) -> NDArray[np.float32]:
        """Return an indicator for each room; at the goal all are set, after the clock none."""
        indicators = np.arange(self.rooms) == state.room
        return np.asarray(indicators | (state.room == self.rooms), np.float32)

    def place(self, state: Place) -> str:
        """Return how the episode has ended before the goal."""
        return "The clock has stopped the episode" if state.room == STOPPED else ""

    def scene(self, state: Place) -> Scene:
        """Draw the row with its goal."""
        if stopped := self.place(state):
            return (Prose("", (f"{stopped}.",)),)
        return (grid([f"{'.' * self.rooms}G"], (0, state.room)),)


SPEC = GameSpec(
    name="corridor",
    make=Corridor,
    rules=(
        "In each room one door leads on and the others lead back. Get through all rooms\n"
        "before the clock stops you, as it may after any move."
    ),
    environments={
        "solvent/FamilySparse-v0": Environment(
            optimum=0.8007224565080833,
            model_hash="aeff5d78621cbe3e6001703669e9e8b7d2c64a5f17443b8bb42fc71394689954",
        ),
        "solvent/FamilyHorizon-v0": Environment(
            parameters={"rooms": 16, "doors": 2, "bait": 0.3},
            optimum=0.7896027133393401,
            model_hash="0722e1f403a16e0c4e16af168dcbe4fc966fead36bdd1aa839bed4c0b94f36cc",
        ),
        "solvent/FamilyGap-v0": Environment(
            parameters={"gap": 0.2},
            optimum=0.8007224565080833,
            model_hash="d934ce6c6c29bc423bc9227458849c2492704c34c90ca917424f4130feb2c1e8",
        ),
        "solvent/FamilyNoise-v0": Environment(
            parameters={"slip": 0.5, "reward_every": 2},
            optimum=0.696448484346307,
            model_hash="9f1cb994ef83631bec5e6944ed7e4e56a082d9b395c852d68f9e41c3027b5229",
        ),
        "solvent/FamilyActions-v0": Environment(
            parameters={"doors": 10, "reward_every": 1},
            optimum=0.8972004810311773,
            model_hash="38331c504b66acb93e3f354ab5f8e846a099cea6c02550c1b00322abefefe243",
        ),
    },
)
