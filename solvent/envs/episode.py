"""One episode under way: what every environment that is stepped alone is made of.

Episodes over a table are plain Python, which takes 2 µs a step where a compiled loop would spend
more on being called, and which is what the compiled loops are tested against. A learner's episode
(:class:`TableEpisode`) goes on to the learner's next turn, a joint one (:class:`JointEpisode`) to
the next choice of either player. Games without a table have a simulator of many episodes, of which
:class:`OnlyEpisode` and :class:`SimulatedJointEpisode` run one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import BatchSimulator, Sampler, spread_states
from solvent.envs.opponents import OpponentPool, Opponents, opponent_pool
from solvent.envs.random_stream import DRAWS, RandomStream
from solvent.envs.sampling_table import (
    LEARNER,
    NOBODY,
    OPPONENT,
    SeatTable,
    bonus_of,
    outcome_table,
    place_of,
    table_for_two,
)
from solvent.envs.spaces import observation_space
from solvent.model import Game, TabularGame
from solvent.model.game import Alternating


class _Position:
    """A state of a table, and the stream of random numbers that decides what follows it.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling_table.outcome_table`.
    """

    def __init__(self, game: TabularGame, rules: Game | None) -> None:
        self.game, self.rules = game, rules
        self._outcomes = outcome_table(game)
        self._stream: RandomStream | None = None
        self._at = -1

    def seed(self, first: int) -> None:
        """Begin the stream of random numbers in a state of 64 bits, not 0."""
        self._stream = RandomStream(first)

    def _follow(self, row: int) -> float:
        """Draw an outcome of a row, go there, and return player 0's reward."""
        outcomes = self._outcomes
        assert self._stream is not None
        entry, cut, places = place_of(outcomes.row.item(row))
        entry += bisect_right(outcomes.threshold, self._stream.draw(), cut, cut + places - 1) - cut
        self._at, reward = outcomes.outcome(entry)
        return reward

    @property
    def state(self) -> Any:
        """The state of the rules."""
        return self.game.states[self._at]

    def examples(self) -> Sequence[Any]:
        """States of the rules among which the largest drawings are; always the same."""
        return spread_states(self.game)


class TableEpisode(_Position):
    """An episode of a learner in a table, alone or against an opponent from a pool.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.
        table: The game as the learner sees it.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.
        pool: The opponents, or None if no other player has a choice.

    Attributes:
        table: The game as the learner sees it.
        seats: The seats that the learner may take.
        over: Whether the end has been reported; True before the first episode.
        observation_space: Observation space of the learner.
        n_actions: A.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling_table.outcome_table`.
    """

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        table: SeatTable,
        observation: str,
        pool: OpponentPool | None = None,
    ) -> None:
        super().__init__(game, rules)
        self.table, self.seats, self.pool, self.over = table, table.seats, pool, True
        self.n_actions: int = table.mask.shape[1]
        self.observation_space = observation_space(table.observation)
        self.observation = observation
        self._index = observation == "index"
        self._side = self._opponent = self._base = 0
        self._owed = 0.0

    @property
    def shared(self) -> tuple[Any, ...]:
        """Immutable data that copies can share."""
        return self.game, self.rules, self._outcomes, self.pool, self.table

    @property
    def opponents(self) -> tuple[Any, ...]:
        """The opponents in the pool, each a policy against each of the learner's seats."""
        return self.pool.opponents if self.pool else ()

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None) -> None:
        """Replace the pool; an episode that is under way draws its opponent anew and goes on.

        Args:
            opponents: See :func:`solvent.envs.opponents.opponent_pool`.
            weights: Weights with which they are drawn; None draws uniformly.

        Raises:
            ValueError: As :func:`~solvent.envs.opponents.opponent_pool`.
        """
        self.pool = opponent_pool(self.game, self.table, opponents, weights)
        if self._stream is not None:
            self._draw_opponent(self.pool, self._stream)

    def begin(self) -> None:
        """Begin anew, up to the learner's first turn."""
        if self.pool is not None:
            assert self._stream is not None
            if len(self.seats) > 1:
                self._side = int(self._stream.draw() >= DRAWS // 2)
                self._base = self._side * self.table.n_states
            self._draw_opponent(self.pool, self._stream)
        self._follow(-1)
        self._owed, self.over = 0.0, False
        if self.pool is not None and self._actor() == OPPONENT:
            self._owed = self._play(0, 0.0)

    def step(self, action: int) -> tuple[float, bool]:
        """Play an action within 0..A-1, and what follows up to the learner's next turn.

        Returns:
            The reward, and whether another action was played, the given one being illegal.
        """
        reward, self._owed = self._owed, 0.0
        illegal = False
        if self._actor() != NOBODY:
            rank = self.table.rank.item(self._base + self._at, action)
            illegal = rank < 0
            reward = self._play(0 if illegal else rank, reward)
        self.over = self._actor() == NOBODY
        if self.over and self.pool is not None:
            reward += self.table.bonus.item(self._side)
        return reward, illegal

    def _play(self, rank: int, reward: float) -> float:
        """Play the learner's legal action number `rank`, then the opponent's while it is on turn.

        Returns:
            `reward` and the rewards since.
        """
        table, pool, stream = self.table, self.pool, self._stream
        base, sign = self._base, table.sign.item(self._side)
        while True:
            first, own, other, choice, choices, _ = table.node[base + self._at].tolist()
            row = first + rank * own
            if pool is None:
                return reward + sign * self._follow(row)
            assert stream is not None
            policy = pool.policy[self._opponent]
            reply = bisect_right(policy, stream.draw(), choice, choice + choices - 1) - choice
            reward += sign * self._follow(row + reply * other)
            if self._actor() != OPPONENT:
                return reward
            rank = 0

    def _actor(self) -> int:
        """The player to act."""
        return self.table.node.item(self._base + self._at, 5)

    def _draw_opponent(self, pool: OpponentPool, stream: RandomStream) -> None:
        self._opponent = bisect_right(pool.weight, stream.draw()) if len(pool.weight) > 1 else 0

    def look(self) -> tuple[Any, NDArray[np.int8]]:
        """The observation and the mask [A] of legal actions; new arrays."""
        table, row = self.table, self._base + self._at
        seen = self._at if self._index else table.observation[row].copy()
        return seen, table.mask[row].copy()

    def told(self) -> dict[str, Any]:
        """Return the further entries of an info."""
        return {"seat": self.seats[self._side], "opponent": self._opponent} if self.pool else {}


class OnlyEpisode:
    """The episode of a simulator that has but one; its methods are those of a table's episode.

    Args:
        simulator: A simulator with ``num_envs == 1``.
    """

    def __init__(self, simulator: BatchSimulator) -> None:
        self.simulator, self.over = simulator, True

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the simulator."""
        if name == "simulator":  # A copy in the making has none yet.
            raise AttributeError(name)
        return getattr(self.simulator, name)

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

    def told(self) -> dict[str, Any]:
        return {name: array.item() for name, array in self.simulator.told().items()}

    @property
    def state(self) -> Any:
        return self.simulator.state(0)


class JointEpisode(_Position):
    """An episode of a table for two in which both players' actions come from outside.

    A move draws one number.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Attributes:
        alternating: Whether the players take turns.
        observation_spaces: Observation space of each player.
        n_actions: Number of actions of each player.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling_table.table_for_two`.
    """

    def __init__(self, game: TabularGame, rules: Game | None, observation: str) -> None:
        self._tables = tuple(table_for_two(game, (player,), observation) for player in (0, 1))
        super().__init__(game, rules)
        self.alternating = game.turn is not None
        self.observation_spaces = tuple(observation_space(t.observation) for t in self._tables)
        self.n_actions = tuple(table.mask.shape[1] for table in self._tables)
        self._index = observation == "index"

    @property
    def shared(self) -> tuple[Any, ...]:
        """Immutable data that copies can share."""
        return self.game, self.rules, self._outcomes, self._tables

    def begin(self) -> None:
        """Begin anew, up to the first choice of a player."""
        self._follow(-1)

    def move(self, actions: tuple[int, int]) -> tuple[float, float]:
        """Play legal actions of both players, and what follows up to the next choice.

        Args:
            actions: Actions of both; that of a player who has no choice is not read.

        Returns:
            The rewards of both.
        """
        first, own, other, *_ = self._tables[0].node[self._at].tolist()
        # Who waits has one action, whose number is 0, whatever stands there.
        one, two = (
            max(table.rank.item(self._at, action), 0)
            for table, action in zip(self._tables, actions, strict=True)
        )
        reward = self._follow(first + one * own + two * other)
        return reward, -reward + (self._tables[1].bonus.item(0) if self.over() else 0.0)

    def over(self) -> bool:
        """Return whether the episode has ended."""
        return self._tables[0].node.item(self._at, 5) == NOBODY

    def acts(self, player: int) -> bool:
        """Return whether it is for a player to choose."""
        return self._tables[player].node.item(self._at, 5) == LEARNER

    def mask(self, player: int) -> NDArray[np.int8]:
        """The legal actions [A] of a player; all 1 once the episode has ended. A new array."""
        mask: NDArray[np.int8] = self._tables[player].mask[self._at].copy()
        return mask

    def observe(self, player: int) -> Any:
        """Return a player's observation; a new array."""
        at = self._at
        return np.int64(at) if self._index else self._tables[player].observation[at].copy()


_ONE = np.zeros(1, np.int64)
_PLAYER = (np.zeros(1, np.int64), np.ones(1, np.int64))


class SimulatedJointEpisode:
    """A joint episode of a game without a table; its methods are those of a table's.

    Moves of chance alone are made along with the move before.

    Args:
        sampler: The game.
        observation: Form of the observations that the game's simulations offer.
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
