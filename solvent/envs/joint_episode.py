"""One episode of a game for two in which both players' actions come from outside.

What PettingZoo's environments are made of, as :mod:`solvent.envs.episode` is of those for one
learner: :class:`TableJointEpisode` samples a table, and :class:`SimulatedJointEpisode` a game
without one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import spread_states
from solvent.envs.random_stream import RandomStream
from solvent.envs.seat_table import LEARNER, NOBODY, bonus_of, place_of, seat_table
from solvent.envs.simulation import Sampler
from solvent.envs.spaces import observation_space
from solvent.model import Game, TabularGame
from solvent.model.game import Alternating


class JointEpisode(ABC):
    """An episode of two players, 0 and 1.

    Attributes:
        game: The table that is sampled, or None.
        rules: What draws the states, or None.
        alternating: Whether the players take turns.
        observation_spaces: Of each player.
        n_actions: Of each player.
    """

    game: TabularGame | None
    rules: Game | None
    alternating: bool
    observation_spaces: tuple[gym.Space[Any], ...]
    n_actions: tuple[int, ...]

    @property
    @abstractmethod
    def shared(self) -> tuple[Any, ...]:
        """What copies have in common, since it never changes."""

    @abstractmethod
    def seed(self, first: int) -> None:
        """Begin the stream of random numbers in a state of 64 bits, not 0."""

    @abstractmethod
    def begin(self) -> None:
        """Begin anew, up to the first choice of a player."""

    @abstractmethod
    def move(self, actions: tuple[int, int]) -> tuple[float, float]:
        """Play legal actions of both players, and what follows up to the next choice.

        Args:
            actions: Of both; that of a player who has no choice is not read.

        Returns:
            The rewards of both.
        """

    @abstractmethod
    def over(self) -> bool:
        """Whether the episode has ended."""

    @abstractmethod
    def acts(self, player: int) -> bool:
        """Whether it is for a player to choose."""

    @abstractmethod
    def mask(self, player: int) -> NDArray[np.int8]:
        """The legal actions [A] of a player; all 1 once the episode has ended. A new array."""

    @abstractmethod
    def observe(self, player: int) -> Any:
        """What a player sees; a new array."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """The state of the rules."""

    @abstractmethod
    def examples(self) -> Iterable[Any]:
        """States of the rules among which the largest drawings are; always the same."""


class TableJointEpisode(JointEpisode):
    """An episode of a table for two; a move draws one number.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: As :func:`~solvent.envs.seat_table.seat_table`.
    """

    def __init__(self, game: TabularGame, rules: Game | None, observation: str) -> None:
        self.game: TabularGame = game
        self.rules = rules
        self.alternating = game.turn is not None
        self._tables = tuple(seat_table(game, (player,), observation) for player in (0, 1))
        self.observation_spaces = tuple(observation_space(t.observation) for t in self._tables)
        self.n_actions = tuple(table.mask.shape[1] for table in self._tables)
        self._index = observation == "index"
        self._stream: RandomStream | None = None
        self._at = -1

    @property
    def shared(self) -> tuple[Any, ...]:
        return self.game, self.rules, self._tables

    def seed(self, first: int) -> None:
        self._stream = RandomStream(first)

    def begin(self) -> None:
        assert self._stream is not None
        table = self._tables[0]
        self._at = table.start_state.item(bisect_right(table.start_threshold, self._stream.draw()))

    def move(self, actions: tuple[int, int]) -> tuple[float, float]:
        assert self._stream is not None
        at, (first, second) = self._at, self._tables
        row, own, other, *_ = first.node[at].tolist()
        # Who waits has one action, whose number is 0, whatever stands there.
        ranks = [max(t.rank.item(at, a), 0) for t, a in zip(self._tables, actions, strict=True)]
        outcome, cut, places = place_of(first.row.item(row + ranks[0] * own + ranks[1] * other))
        outcome += bisect_right(first.threshold, self._stream.draw(), cut, cut + places - 1) - cut
        self._at, reward = first.outcome(outcome)
        return reward, -reward + (second.bonus.item(0) if self.over() else 0.0)

    def over(self) -> bool:
        return self._actor(0) == NOBODY

    def acts(self, player: int) -> bool:
        return self._actor(player) == LEARNER

    def _actor(self, player: int) -> int:
        return self._tables[player].node.item(self._at, 5)

    def mask(self, player: int) -> NDArray[np.int8]:
        mask: NDArray[np.int8] = self._tables[player].mask[self._at].copy()
        return mask

    def observe(self, player: int) -> Any:
        at = self._at
        return np.int64(at) if self._index else self._tables[player].observation[at].copy()

    @property
    def state(self) -> Any:
        return self.game.states[self._at]

    def examples(self) -> Iterable[Any]:
        return spread_states(self.game)


_ONE = np.zeros(1, np.int64)
_PLAYER = (np.zeros(1, np.int64), np.ones(1, np.int64))


class SimulatedJointEpisode(JointEpisode):
    """An episode of a game for two without a table.

    Moves of chance alone are made along with the move before.

    Args:
        sampler: The game.
        observation: What the game's simulations offer.
    """

    def __init__(self, sampler: Sampler, observation: str) -> None:
        self._sampler, self._simulation = sampler, sampler.plays(1, observation)
        self.game, self.rules = None, sampler.rules
        self.alternating = isinstance(sampler.rules, Alternating)
        self.observation_spaces = (self._simulation.observation_space,) * 2
        self.n_actions = (self._simulation.n_actions,) * 2
        self._bonus = bonus_of(sampler.rules.info)

    @property
    def shared(self) -> tuple[Any, ...]:
        return self._sampler, self.rules

    def seed(self, first: int) -> None:
        self._simulation.arrays["stream"][0] = first

    def begin(self) -> None:
        self._simulation.begin(_ONE)
        self._make_moves_of_chance(np.zeros(1))

    def move(self, actions: tuple[int, int]) -> tuple[float, float]:
        earned = np.zeros(1)
        self._simulation.move(_ONE, np.array(actions[:1]), np.array(actions[1:]), earned)
        self._make_moves_of_chance(earned)
        reward = earned.item()
        return reward, -reward + (self._bonus if self.over() else 0.0)

    def _make_moves_of_chance(self, earned: NDArray[np.float64]) -> None:
        """Go on until somebody has a choice or the episode has ended."""
        while not (self.over() or self.acts(0) or self.acts(1)):
            self._simulation.move(_ONE, _ONE, _ONE, earned)

    def over(self) -> bool:
        return bool(self._simulation.over()[0])

    def acts(self, player: int) -> bool:
        return bool(self._simulation.acts(_ONE, _PLAYER[player])[0])

    def mask(self, player: int) -> NDArray[np.int8]:
        mask: NDArray[np.int8] = self._simulation.legal(_ONE, _PLAYER[player])[0]
        return mask

    def observe(self, player: int) -> Any:
        return self._simulation.observe(_ONE, _PLAYER[player])[0]

    @property
    def state(self) -> Any:
        return self._simulation.state(0)

    def examples(self) -> Iterable[Any]:
        return self._sampler.examples()
