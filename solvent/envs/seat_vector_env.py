"""Many learners in seats of a game for two, stepped by one compiled loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from solvent.envs.base_vector_env import BaseVectorEnv
from solvent.envs.kernels import seat as kernel
from solvent.envs.opponents import OpponentPool, Opponents, opponent_pool
from solvent.envs.plays_vector_env import Batch
from solvent.envs.seat_env import Seat, seats_of
from solvent.envs.seat_table import seat_table
from solvent.model import Game, TabularGame, TabularPolicy, compile_game
from solvent.model.arrays import Bools, Ints


class SeatVectorEnv(BaseVectorEnv):
    """`num_envs` copies of :class:`solvent.envs.SeatEnv` at compiled speed.

    Equal to ``SyncVectorEnv`` around as many single environments, like
    :class:`solvent.envs.TabularVectorEnv`, also after :meth:`set_opponents`.

    Args:
        game: As for :class:`~solvent.envs.SeatEnv`, like all arguments that are not below.
        opponents: As there.
        num_envs: As for :class:`~solvent.envs.TabularVectorEnv`, like `autoreset_mode`.
        autoreset_mode: As there.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    def __init__(
        self,
        game: Game | TabularGame,
        opponents: Opponents,
        num_envs: int,
        *,
        weights: Sequence[float] | None = None,
        seat: Seat = 0,
        rules: Game | None = None,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        if not isinstance(game, TabularGame):
            rules, game = game, compile_game(game)
        self._table = seat_table(game, seats_of(seat), observation)
        self._meet(opponent_pool(game, self._table, opponents, weights))
        super().__init__(
            game,
            rules,
            num_envs,
            self._table,
            observation=observation,
            illegal=illegal,
            render_mode=render_mode,
            autoreset_mode=autoreset_mode,
        )
        self._arrays |= {
            "side": np.zeros(num_envs, np.int32),
            "opponent": np.zeros(num_envs, np.int32),
            "owed": np.zeros(num_envs),
            "over": np.ones(num_envs, bool),
        }
        self._plays = kernel.Plays(**self._arrays)
        names = kernel.Table._fields
        self._table_arrays = kernel.Table(*(getattr(self._table, name) for name in names))

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that the learner may take."""
        return self._table.seats

    @property
    def opponents(self) -> tuple[tuple[TabularPolicy, ...], ...]:
        """The opponents in the pool, each a policy against each of the learner's seats."""
        return self._pool.opponents

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None = None) -> None:
        """Replace the pool; plays that are under way draw their opponents anew and go on.

        Nothing else is built again, and the thresholds of a policy that has been in a pool of
        any environment before are remembered for as long as it lives.

        Args:
            opponents: As for the class, like `weights`.
            weights: As there.

        Raises:
            ValueError: As for the class.
        """
        self._meet(opponent_pool(self.game, self._table, opponents, weights))
        if self._begun:
            kernel.draw_opponents(self._plays, self._pool_arrays)

    def _meet(self, pool: OpponentPool) -> None:
        self._pool = pool
        self._pool_arrays = kernel.Pool(pool.weight, pool.policy)

    def _play(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: Batch,
        observation: Batch,
    ) -> int:
        wrong: int = kernel.step(
            actions,
            self._plays,
            self._table_arrays,
            self._pool_arrays,
            reward,
            terminated,
            illegal,
        )
        if not wrong:
            rows = self._rows()
            # Without mode="clip" NumPy would copy once more.
            self._table.mask.take(rows, axis=0, out=mask, mode="clip")
            self._table.observation.take(rows, axis=0, out=observation, mode="clip")
        return wrong

    def _begin(self, indices: Ints) -> None:
        kernel.begin(indices.copy(), self._plays, self._table_arrays, self._pool_arrays)

    def _rows(self) -> NDArray[np.int32]:
        rows: NDArray[np.int32] = self._plays.side * self._table.n_states + self._plays.state
        return rows

    def _over(self) -> Bools:
        return self._plays.over

    def _tell(self) -> dict[str, Batch]:
        return {
            "seat": np.array(self._table.seats)[self._plays.side],
            "opponent": self._plays.opponent.astype(np.int64),
        }

    def _check_saved(self, saved: dict[str, Batch]) -> None:
        super()._check_saved(saved)
        for name, count in (("side", len(self._table.seats)), ("opponent", self._pool.size)):
            array = saved[name]
            if ((array < 0) | (array >= count)).any():
                raise ValueError(
                    f"saved {name} goes from {array.min()} to {array.max()}; "
                    f"allowed are 0 to {count - 1}"
                )
