"""One episode under way: what every environment for a single learner is made of.

An :class:`Episode` begins, makes a step and shows what the learner sees.
:class:`solvent.envs.env.Env` makes a Gymnasium environment of it. Episodes over a table are plain
Python, which takes 2 µs a step where a compiled loop would spend more on being called, and which is
what the compiled loops are tested against. Any other game's episode is the only one of a
:class:`~solvent.envs.batch_simulator.BatchSimulator` (:class:`OnlyEpisode`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import BatchSimulator, spread_states
from solvent.envs.opponents import OpponentPool, Opponents, opponent_pool
from solvent.envs.random_stream import DRAWS, RandomStream
from solvent.envs.sampling_table import SamplingTable, sampling_table
from solvent.envs.seat_table import LEARNER, NOBODY, OPPONENT, SeatTable, place_of, seat_table
from solvent.envs.spaces import observation_space
from solvent.model import Game, TabularGame


class Episode(ABC):
    """An episode of one learner.

    Attributes:
        game: The table that is sampled, or None.
        rules: What draws the states, or None.
        over: Whether the end has been reported; True before the first episode.
        observation_space: Of the learner.
        n_actions: A.
    """

    game: TabularGame | None
    rules: Game | None
    over: bool
    observation_space: gym.Space[Any]
    n_actions: int

    @property
    @abstractmethod
    def shared(self) -> tuple[Any, ...]:
        """What copies have in common, since it never changes."""

    @abstractmethod
    def seed(self, first: int) -> None:
        """Begin the stream of random numbers in a state of 64 bits, not 0."""

    @abstractmethod
    def begin(self) -> None:
        """Begin anew, up to the learner's first turn."""

    @abstractmethod
    def step(self, action: int) -> tuple[float, bool]:
        """Play an action within 0..A-1, and what follows up to the learner's next turn.

        Returns:
            The reward, and whether another action was played, the given one being illegal.
        """

    @abstractmethod
    def look(self) -> tuple[Any, NDArray[np.int8]]:
        """The observation and the mask [A] of legal actions; new arrays."""

    @abstractmethod
    def mask(self) -> NDArray[np.int8]:
        """The mask alone; not to be changed."""

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """What else an info tells."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """The state of the rules."""

    @abstractmethod
    def examples(self) -> Iterable[Any]:
        """States of the rules among which the largest drawings are; always the same."""


class _TableEpisode(Episode):
    """What episodes over a table have in common.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        view: The arrays that are sampled.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.
    """

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        view: SamplingTable | SeatTable,
        observation: str,
    ) -> None:
        self.game: TabularGame = game
        self.rules, self.over = rules, True
        self.n_actions: int = view.mask.shape[1]
        self.observation_space = observation_space(view.observation)
        self.observation = observation
        self._index = observation == "index"
        self._stream: RandomStream | None = None
        self._at = -1

    def seed(self, first: int) -> None:
        self._stream = RandomStream(first)

    @property
    def state(self) -> Any:
        return self.game.states[self._at]

    def examples(self) -> Sequence[Any]:
        return spread_states(self.game)


class OnePlayerEpisode(_TableEpisode):
    """An episode of a table in which one player chooses.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        player: The player who chooses.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Attributes:
        table: The arrays that are sampled.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling_table.sampling_table`.
    """

    def __init__(
        self, game: TabularGame, rules: Game | None, player: int, observation: str
    ) -> None:
        self.table = sampling_table(game, player, observation)
        self.player = player
        super().__init__(game, rules, self.table, observation)

    @property
    def shared(self) -> tuple[Any, ...]:
        return self.game, self.rules, self.table

    def begin(self) -> None:
        table, stream = self.table, self._stream
        assert stream is not None
        self._at = table.next_state.item(bisect_right(table.threshold, stream.draw(), table.start))
        self.over = False

    def step(self, action: int) -> tuple[float, bool]:
        table, stream = self.table, self._stream
        assert stream is not None
        span = table.span
        first, last = span.item(self._at, action, 0), span.item(self._at, action, 1)
        illegal = first < 0
        if illegal:
            first = ~first
        outcome = bisect_right(table.threshold, stream.draw(), first, last)
        self._at = at = table.next_state.item(outcome)
        self.over = table.terminal.item(at)
        return table.reward.item(outcome), illegal

    def look(self) -> tuple[Any, NDArray[np.int8]]:
        table, at = self.table, self._at
        return at if self._index else table.observation[at].copy(), table.mask[at].copy()

    def mask(self) -> NDArray[np.int8]:
        mask: NDArray[np.int8] = self.table.mask[self._at]
        return mask

    def told(self) -> dict[str, Any]:
        return {}


class SeatEpisode(_TableEpisode):
    """An episode of a table for two, in which the learner meets an opponent from a pool.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        opponents: See :func:`solvent.envs.opponents.opponent_pool`.
        weights: In proportion to which the opponents are drawn, or None.
        seats: Those that the learner may have, one or both.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Attributes:
        table: The arrays that are sampled.

    Raises:
        ValueError: As :func:`~solvent.envs.seat_table.seat_table` and
            :func:`~solvent.envs.opponents.opponent_pool`.
    """

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        opponents: Opponents,
        weights: Sequence[float] | None,
        seats: tuple[int, ...],
        observation: str,
    ) -> None:
        self.table = seat_table(game, seats, observation)
        self.pool: OpponentPool = opponent_pool(game, self.table, opponents, weights)
        super().__init__(game, rules, self.table, observation)
        self._side = self._opponent = 0
        self._owed = 0.0

    @property
    def shared(self) -> tuple[Any, ...]:
        return self.game, self.rules, self.table, self.pool

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that the learner may take."""
        return self.table.seats

    @property
    def opponents(self) -> tuple[Any, ...]:
        """The opponents in the pool, each a policy against each of the learner's seats."""
        return self.pool.opponents

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None) -> None:
        """Replace the pool; an episode that is under way draws its opponent anew and goes on.

        Args:
            opponents: See :func:`solvent.envs.opponents.opponent_pool`.
            weights: In proportion to which they are drawn, or None.

        Raises:
            ValueError: As :func:`~solvent.envs.opponents.opponent_pool`.
        """
        self.pool = opponent_pool(self.game, self.table, opponents, weights)
        if self._stream is not None:
            self._draw_opponent(self._stream)

    def begin(self) -> None:
        table, stream = self.table, self._stream
        assert stream is not None
        if len(table.seats) > 1:
            self._side = int(stream.draw() >= DRAWS // 2)
        self._draw_opponent(stream)
        at = table.start_state.item(bisect_right(table.start_threshold, stream.draw()))
        self._owed, self.over = 0.0, False
        if table.node.item(self._first + at, 5) == OPPONENT:
            self._owed, at = self._play(stream, at, 0, 0.0)
        self._at = at

    def step(self, action: int) -> tuple[float, bool]:
        table, at, stream = self.table, self._at, self._stream
        assert stream is not None
        reward, self._owed = self._owed, 0.0
        illegal = False
        if table.node.item(self._first + at, 5) == LEARNER:
            rank = table.rank.item(self._first + at, action)
            illegal = rank < 0
            reward, at = self._play(stream, at, max(rank, 0), reward)
            self._at = at
        self.over = table.node.item(self._first + at, 5) == NOBODY
        if self.over:
            reward += table.bonus.item(self._side)
        return reward, illegal

    def _play(self, stream: RandomStream, at: int, rank: int, reward: float) -> tuple[float, int]:
        """Play the learner's legal action number `rank`, then the opponent's while it is on turn.

        Returns:
            `reward` and the rewards since, and the state that follows.
        """
        table, policy = self.table, self.pool.policy[self._opponent]
        base, sign = self._first, table.sign.item(self._side)
        while True:
            first, own, other, choice, choices, _ = table.node[base + at].tolist()
            reply = bisect_right(policy, stream.draw(), choice, choice + choices - 1) - choice
            outcome, cut, places = place_of(table.row.item(first + rank * own + reply * other))
            outcome += bisect_right(table.threshold, stream.draw(), cut, cut + places - 1) - cut
            at, paid = table.outcome(outcome)
            reward += sign * paid
            rank = 0
            if table.node.item(base + at, 5) != OPPONENT:
                return reward, at

    def _draw_opponent(self, stream: RandomStream) -> None:
        several = self.pool.size > 1
        self._opponent = bisect_right(self.pool.weight, stream.draw()) if several else 0

    @property
    def _first(self) -> int:
        """The row of the table that shows state 0 from the learner's seat."""
        return self._side * self.table.n_states

    def look(self) -> tuple[Any, NDArray[np.int8]]:
        table, row = self.table, self._first + self._at
        seen = self._at if self._index else table.observation[row].copy()
        return seen, table.mask[row].copy()

    def mask(self) -> NDArray[np.int8]:
        mask: NDArray[np.int8] = self.table.mask[self._first + self._at]
        return mask

    def told(self) -> dict[str, Any]:
        return {"seat": self.table.seats[self._side], "opponent": self._opponent}


class OnlyEpisode(Episode):
    """The episode of a simulator that has but one.

    Args:
        simulator: With ``num_envs == 1``.
    """

    def __init__(self, simulator: BatchSimulator) -> None:
        self.simulator = simulator
        self.game, self.rules = simulator.game, simulator.rules
        self.observation_space = simulator.observation_space
        self.n_actions = simulator.n_actions
        self.over = True

    @property
    def shared(self) -> tuple[Any, ...]:
        return (self.rules, *self.simulator.shared)

    def seed(self, first: int) -> None:
        self.simulator.arrays["stream"][0] = first

    def begin(self) -> None:
        self.simulator.begin(np.zeros(1, np.int64))
        self._seen, self._mask = self.simulator.look()
        self.over = False

    def step(self, action: int) -> tuple[float, bool]:
        reward, terminated, illegal = np.empty(1), np.empty(1, bool), np.empty(1, bool)
        self._seen, self._mask = np.empty_like(self._seen), np.empty_like(self._mask)
        self.simulator.step(np.array([action]), reward, terminated, illegal, self._mask, self._seen)
        self.over = terminated.item()
        return reward.item(), illegal.item()

    def look(self) -> tuple[Any, NDArray[np.int8]]:
        return self._seen[0].copy(), self._mask[0].copy()

    def mask(self) -> NDArray[np.int8]:
        mask: NDArray[np.int8] = self._mask[0]
        return mask

    def told(self) -> dict[str, Any]:
        return {name: array.item() for name, array in self.simulator.told().items()}

    @property
    def state(self) -> Any:
        return self.simulator.state(0)

    def examples(self) -> Iterable[Any]:
        return self.simulator.examples()
