"""Many learners in seats of a table for two, stepped by one compiled loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Batch, TableSimulator, check_range
from solvent.envs.kernels import two_player as kernel
from solvent.envs.opponents import OpponentPool, Opponents, opponent_pool
from solvent.envs.seat_table import seat_table
from solvent.envs.spaces import observation_space
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Ints


class SeatBatch(TableSimulator):
    """`num_envs` times :class:`solvent.envs.episode.SeatEpisode` at compiled speed.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        num_envs: How many environments.
        opponents: See :func:`solvent.envs.opponents.opponent_pool`.
        weights: In proportion to which the opponents are drawn, or None.
        seats: Those that the learner may have, one or both.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Attributes:
        table: The arrays that are sampled.
        pool: The opponents.

    Raises:
        ValueError: As :func:`~solvent.envs.seat_table.seat_table` and
            :func:`~solvent.envs.opponents.opponent_pool`, or if `num_envs` is not positive.
    """

    pool: OpponentPool

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        num_envs: int,
        opponents: Opponents,
        weights: Sequence[float] | None,
        seats: tuple[int, ...],
        observation: str,
    ) -> None:
        self.table = table = seat_table(game, seats, observation)
        self._table_arrays = kernel.Table(*(getattr(table, name) for name in kernel.Table._fields))
        self._meet(opponent_pool(game, table, opponents, weights))
        super().__init__(game, rules, num_envs)
        self.observation = observation
        self.observation_space = observation_space(table.observation)
        self.n_actions = table.mask.shape[1]
        self._episodes = kernel.Episodes(
            state=np.full(num_envs, -1, np.int32),
            stream=np.zeros(num_envs, np.uint64),
            side=np.zeros(num_envs, np.int32),
            opponent=np.zeros(num_envs, np.int32),
            owed=np.zeros(num_envs),
            over=np.ones(num_envs, bool),
        )
        self.arrays = self._episodes._asdict()

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that the learner may take."""
        return self.table.seats

    @property
    def opponents(self) -> tuple[tuple[TabularPolicy, ...], ...]:
        """The opponents in the pool, each a policy against each of the learner's seats."""
        return self.pool.opponents

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None) -> None:
        """Replace the pool; episodes that are under way draw their opponents anew and go on.

        Nothing else is built again, and the inverse CDF of a policy that has been in a pool of
        any environment before is remembered for as long as the policy lives.

        Args:
            opponents: See :func:`solvent.envs.opponents.opponent_pool`.
            weights: In proportion to which they are drawn, or None.

        Raises:
            ValueError: As :func:`~solvent.envs.opponents.opponent_pool`.
        """
        self._meet(opponent_pool(self.game, self.table, opponents, weights))
        if self._episodes.stream.any():
            kernel.draw_opponents(self._episodes, self._pool_arrays)

    def _meet(self, pool: OpponentPool) -> None:
        self.pool = pool
        self._pool_arrays = kernel.Pool(pool.weight, pool.policy)
        shown = self.table.mask, self.table.observation
        self._read: tuple[Any, ...] = (*self._table_arrays, *self._pool_arrays, *shown)

    def begin(self, chosen: Ints) -> None:
        rank = np.zeros(self.num_envs, np.int32)
        kernel.begin(chosen.copy(), rank, self._episodes, self._table_arrays, self._pool_arrays)

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: NDArray[np.int8],
        observation: Batch,
    ) -> int:
        filled = reward, terminated, illegal, mask, observation
        arrays: tuple[Any, ...] = (*self._episodes, *self._read, *filled)
        wrong: int = kernel.step(actions, *arrays)
        return wrong

    def look(self, chosen: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        rows = self._rows() if chosen is None else self._rows()[chosen]
        return self.table.observation[rows], self.table.mask[rows]

    def _rows(self) -> NDArray[np.int32]:
        """The row of the table that shows the situation of each environment, [n]."""
        episodes = self._episodes
        rows: NDArray[np.int32] = episodes.side * self.table.n_states + episodes.state
        return rows

    def over(self) -> Bools:
        return self._episodes.over

    def told(self) -> dict[str, Batch]:
        # Most often there is but one of either.
        seats, side = self.table.seats, self._episodes.side
        n, several = self.num_envs, self.pool.size > 1
        return {
            "seat": np.array(seats)[side] if len(seats) > 1 else np.full(n, seats[0]),
            "opponent": self._episodes.opponent.astype(np.int64) if several else np.zeros(n, int),
        }

    def check_values(self, saved: Mapping[str, Batch]) -> None:
        super().check_values(saved)
        check_range("side goes", saved["side"], len(self.table.seats))
        check_range("opponent goes", saved["opponent"], self.pool.size)
