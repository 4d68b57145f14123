"""Jack's car rental: two locations, and cars that are moved between them overnight.

A state is the number of cars at each location in the evening. Overnight Jack moves up to five
of them for $2 each. The next day customers ask for cars, which earn $10 each while there are some,
and then others are brought back; the numbers are Poisson. A location holds 20 cars at most: what is
more leaves the problem. The task never ends, so only discounted values are finite.

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018, Example 4.2 and Figure 4.2, for a discount of 0.9; Exercise 4.7 adds a shuttle and a second
parking lot. The book names no start; here it is any number of cars at each location.

No tail of a Poisson distribution is cut off. All requests beyond the cars that are there come to
the same, and so do all returns beyond the cars that there is room for: the probability of "as many
or more" belongs to the last number. Poisson probabilities are rounded to multiples of 2**-160, and
each float of the table to the nearest, which is less than a proved bracket allows for. Both
locations are independent, so only the 21 x 21 probabilities of each are computed.

The reward of a day is the expected rent, given the cars in the morning, less the cost of the night:
the number of rented cars is not drawn apart from the number left. Values are the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from math import factorial, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    GameInfo,
    Gauge,
    JointAction,
    Outcome,
    Rules,
    Scene,
    TabularGame,
    check_flag,
    check_integer,
)
from solvent.model.arrays import Floats, Ints

# Income of a rented car, cost of moving one, and cost of a second parking lot.
_RENT, _MOVE, _SECOND_LOT = 10, 2, 4
MOST_MOVED, MOST_PARKED = 5, 10
# Expected numbers of requests and of returns at each location.
_REQUESTS, _RETURNS = (3, 4), (3, 2)

PARTS = 2**160
"""Poisson probabilities are multiples of 1/PARTS."""

# Terms of the series of exp(4) after which less than 2**-500 is left.
_TERMS = 150


class Cars(NamedTuple):
    """The cars at each location in the evening."""

    first: int
    second: int


class Day(NamedTuple):
    """A day at one location, from the morning to the evening, in whole numbers of any size.

    Attributes:
        parts: [m, n] the probability that m cars become n by the evening, in units of 1/PARTS**2.
        rent: [m] the expected income of m cars, in units of 1/PARTS.
    """

    parts: NDArray[np.object_]
    rent: list[int]


@cache
def day(capacity: int, requests: int, returns: int) -> Day:
    """Return a day at a location.

    Args:
        capacity: The largest number of cars at the location.
        requests: The expected number of cars requested.
        returns: The expected number of cars brought back.
    """
    parts = np.zeros((capacity + 1, capacity + 1), object)
    rent = [0] * (capacity + 1)
    for morning in range(capacity + 1):
        for rented, p in enumerate(at_most(morning, requests)):
            rent[morning] += p * _RENT * rented
            left = morning - rented
            for returned, q in enumerate(at_most(capacity - left, returns)):
                parts[morning, left + returned] += p * q
    return Day(parts, rent)


@cache
def at_most(limit: int, mean: int) -> tuple[int, ...]:
    """Return the distribution of a Poisson number capped at the limit, in units of 1/PARTS."""
    exponential = sum(Fraction(mean**n, factorial(n)) for n in range(_TERMS))
    below = [round(PARTS * mean**n / (factorial(n) * exponential)) for n in range(limit)]
    return (*below, PARTS - sum(below))


@dataclass(frozen=True)
class CarRental(Rules):
    """Jack's car rental.

    Args:
        capacity: The cars that a location holds, within 1..30; 20 in the book.
        shuttle: Whether moving one car from the first location to the second is free (Exercise
            4.7).
        parking: Whether a second parking lot costs $4 a night for each location that keeps more
            than 10 cars overnight (Exercise 4.7).
    """

    capacity: int = 20
    shuttle: bool = False
    parking: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.capacity, "capacity", 1, 30)
        check_flag(self.shuttle, "shuttle")
        check_flag(self.parking, "parking")

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        to_first = [f"{n} to the first" for n in range(MOST_MOVED, 0, -1)]
        to_second = [f"{n} to the second" for n in range(1, MOST_MOVED + 1)]
        return GameInfo(
            name="car-rental",
            players=1,
            actions=((*to_first, "move none", *to_second),),
            acyclic=False,
            reward_range=(-inf, inf),
            sources=("Sutton and Barto 2018, Example 4.2 and Exercise 4.7",),
            parameters=(
                ("capacity", self.capacity),
                ("shuttle", self.shuttle),
                ("parking", self.parking),
            ),
            observation_labels=("first location", "second location"),
            unit="dollars",
        )

    @property
    def _days(self) -> list[Day]:
        """Return a day at each location."""
        return [day(self.capacity, *means) for means in zip(_REQUESTS, _RETURNS, strict=True)]

    def _evenings(self) -> Iterator[Cars]:
        """Return all states, ordered by the cars at the first location."""
        return map(Cars._make, product(range(self.capacity + 1), repeat=2))

    def initial(self) -> tuple[Outcome, ...]:
        """Return the uniform distribution over all states."""
        chance = Fraction(1, (self.capacity + 1) ** 2)
        return tuple(Outcome(chance, state) for state in self._evenings())

    def legal_actions(self, state: Cars) -> tuple[tuple[int, ...], ...]:
        """Return the moves of no more cars than a location has."""
        least, most = -min(state.second, MOST_MOVED), min(state.first, MOST_MOVED)
        return (tuple(range(MOST_MOVED + least, MOST_MOVED + most + 1)),)

    def _overnight(self, state: Cars, action: int) -> tuple[int, int, int]:
        """Return the cars at each location in the morning, and the cost of the night."""
        moved = action - MOST_MOVED
        first = min(state.first - moved, self.capacity)
        second = min(state.second + moved, self.capacity)
        cost = _MOVE * (abs(moved) - int(self.shuttle and moved > 0))
        if self.parking:
            cost += _SECOND_LOT * ((first > MOST_PARKED) + (second > MOST_PARKED))
        return first, second, cost

    def transition(self, state: Cars, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Move cars overnight; rent cars and take them back at both locations."""
        first, second, cost = self._overnight(state, joint_action[0])
        one, other = self._days
        reward = Fraction(one.rent[first] + other.rent[second], PARTS) - cost
        chances = np.multiply.outer(one.parts[first], other.parts[second])
        return tuple(
            Outcome(Fraction(chances[after], PARTS**4), after, reward)
            for after in self._evenings()
            if chances[after]
        )

    def is_terminal(self, state: Cars) -> bool:
        """Return False: the task never ends."""
        return False

    @cached_property
    def scale(self) -> Any:
        """The capacity of each location."""
        return self.capacity

    def tabulate(self) -> TabularGame:
        """Return the arrays of the game: an outer product of both locations for each row."""
        states = tuple(self._evenings())
        legal = [self.legal_actions(state)[0] for state in states]
        mask = np.zeros((len(states), 2 * MOST_MOVED + 1), bool)
        for row, actions in zip(mask, legal, strict=True):
            row[list(actions)] = True
        one, other = self._days

        @cache
        def evenings(first: int, second: int) -> tuple[Ints, Floats]:
            """Return the states that can follow a morning, and their probabilities."""
            parts = np.multiply.outer(one.parts[first], other.parts[second]).reshape(-1)
            after = np.flatnonzero(parts)
            # Whole numbers are divided as Python's, each to the nearest float.
            return after, (parts[after] / PARTS**4).astype(float)

        next_state, probability, rewards = [], [], []
        for state, actions in zip(states, legal, strict=True):
            for action in actions:
                first, second, cost = self._overnight(state, action)
                after, chances = evenings(first, second)
                next_state.append(after)
                probability.append(chances)
                rewards.append((one.rent[first] + other.rent[second] - cost * PARTS) / PARTS)
        lengths = [len(after) for after in next_state]
        return TabularGame(
            info=self.info,
            states=states,
            row_start=np.concatenate(([0], np.cumsum(mask.sum(axis=1)))),
            outcome_start=np.concatenate(([0], np.cumsum(lengths))),
            next_state=np.concatenate(next_state),
            probability=np.concatenate(probability),
            outcome_reward=np.repeat(rewards, lengths),
            mask=(mask, np.ones((len(states), 1), bool)),
            initial=np.full(len(states), 1 / len(states)),
            observation=((np.array(states) / self.capacity).astype(np.float32),),
        )

    def scene(self, state: Cars) -> Scene:
        """Draw the cars at each location as bars."""
        return (
            Gauge("cars at the first location", state.first, self.capacity),
            Gauge("cars at the second location", state.second, self.capacity, kind="second"),
        )
