"""Games that are sampled without a table, because they have too many states for one.

A game for one is sampled by a :class:`~solvent.envs.batch_simulator.BatchSimulator` of its own,
which its :class:`OnePlayerSampler` makes.

In a game for two a :class:`Simulation` is a number of episodes under way. It makes their moves, and
says who has a choice, what is legal, and what a player sees. The environments over it are those
over a table: :class:`solvent.envs.Env`, :class:`solvent.envs.VectorEnv` and
:class:`solvent.envs.pettingzoo_env.TabularParallelEnv`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.envs.batch_simulator import BatchSimulator
from solvent.model import Game
from solvent.model.arrays import Bools, Floats, Ints


class Simulation(ABC):
    """Episodes of a game for two, in both seats of which actions and observations have one form.

    Attributes:
        rules: The game.
        arrays: All that what follows depends on, arrays [n] by name, changed in place; ``"stream"``
            is uint64 and holds the random numbers (:mod:`solvent.envs.random_stream`).
        observation_space: Observation space of one player of one episode.
        n_actions: A, of either player.
    """

    rules: Game
    arrays: Mapping[str, NDArray[Any]]
    observation_space: spaces.Box
    n_actions: int

    @abstractmethod
    def begin(self, chosen: Ints) -> None:
        """Begin the chosen episodes."""

    @abstractmethod
    def move(self, chosen: Ints, first: Ints, second: Ints, reward: Floats) -> None:
        """Make a move in each of the chosen episodes, none of which is over.

        Args:
            chosen: [k] indices of episodes.
            first: [n] legal actions of player 0, not read where that player has no choice.
            second: [n] of player 1.
            reward: [n], to which player 0's rewards are added.
        """

    @abstractmethod
    def acts(self, chosen: Ints, player: Ints) -> Bools:
        """[k] whether a player of each of the chosen episodes has a choice.

        Nobody has one where chance alone is to move.
        """

    @abstractmethod
    def over(self) -> Bools:
        """[n] whether the episode has ended."""

    @abstractmethod
    def observe(
        self, chosen: Ints, player: Ints, observation: str | None = None
    ) -> NDArray[np.float32]:
        """The observations of the players.

        Args:
            chosen: [k] indices of episodes.
            player: [k] which player of each.
            observation: Form of the observation; by default the simulation's.

        Returns:
            [k, D].
        """

    @abstractmethod
    def legal(self, chosen: Ints, player: Ints) -> NDArray[np.int8]:
        """[k, A] 1 for a legal action of a player of each of the chosen episodes.

        Who has no choice has the action 0, and where the episode has ended all are legal.
        """

    @abstractmethod
    def state(self, i: int) -> Any:
        """The state of the rules in which an episode is."""


@runtime_checkable
class Sampler(Protocol):
    """A game from which simulations are made."""

    @property
    def rules(self) -> Game:
        """The game."""

    def plays(self, n: int, observation: str = "vector") -> Simulation:
        """Episodes that have not begun."""

    def learners(
        self,
        n: int,
        opponents: Sequence[Player],
        weights: Sequence[float] | None,
        seats: tuple[int, ...],
        observation: str,
    ) -> BatchSimulator:
        """Learners in seats against opponents, each in an episode.

        A :class:`solvent.envs.simulated_seat.SimulatedSeatBatch`, whose arguments these are, or
        what does the same faster.
        """

    def examples(self) -> Sequence[Any]:
        """States of the rules among which the largest drawings are; always the same."""


@runtime_checkable
class OnePlayerSampler(Protocol):
    """A game for one from which episodes are made."""

    @property
    def rules(self) -> Game:
        """The game."""

    def episodes(self, n: int, observation: str = "vector") -> BatchSimulator:
        """Episodes that have not begun.

        Args:
            n: Number of episodes.
            observation: Form of the observations, one that the game offers.

        Raises:
            ValueError: If it offers no such form.
        """

    def examples(self) -> Sequence[Any]:
        """States of the rules among which the largest drawings are; always the same."""


class Player(Protocol):
    """Somebody who plays a seat of a simulation."""

    @property
    def name(self) -> str:
        """The name of the player."""

    def mixes(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        """[k, A] the probabilities of its actions in episodes in which it has a choice.

        Args:
            simulation: The episodes.
            chosen: [k] indices of episodes.
            player: [k] the seat that it has in each.
        """


class Uniform:
    """Plays all legal actions equally often."""

    name = "uniform"

    def mixes(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        legal = simulation.legal(chosen, player)
        mixes: Floats = legal / legal.sum(axis=1, keepdims=True)
        return mixes
