"""Many environments over one table, stepped by one compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from solvent.envs.base_vector_env import BaseVectorEnv
from solvent.envs.kernels import tabular
from solvent.envs.plays_vector_env import Batch
from solvent.envs.random_stream import DRAWS
from solvent.envs.sampling_table import sampling_table
from solvent.model import Game, TabularGame, compile_game
from solvent.model.arrays import Bools, Ints


class TabularVectorEnv(BaseVectorEnv):
    """`num_envs` copies of :class:`solvent.envs.TabularEnv` at compiled speed.

    Equal, bit for bit and in every ``info``, to ``SyncVectorEnv`` around as many single
    environments with the same arguments and seeds, in each of Gymnasium's autoreset modes. Every
    call returns new arrays.

    Args:
        game: As for :class:`~solvent.envs.TabularEnv`, like all arguments that are not below.
        num_envs: How many.
        autoreset_mode: What happens where a play ends: it is begun again by the next step
            (``AutoresetMode.NEXT_STEP``) or by the same one (``SAME_STEP``, with the last
            observation in ``infos["final_obs"]``), or by
            ``reset(options={"reset_mask": …})`` only (``DISABLED``).

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    def __init__(
        self,
        game: Game | TabularGame,
        num_envs: int,
        *,
        rules: Game | None = None,
        player: int = 0,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        if not isinstance(game, TabularGame):
            rules, game = game, compile_game(game)
        self._table = sampling_table(game, player, observation)
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
        self._legal, self._seen = records(self._table.mask), records(self._table.observation)
        self._guide_shift = (DRAWS // len(self._table.guide)).bit_length() - 1

    def _play(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: Batch,
        observation: Batch,
    ) -> int:
        table = self._table
        wrong: int = tabular.step(
            self._state,
            self._stream,
            actions,
            table.span,
            table.threshold,
            table.next_state,
            table.reward,
            table.depth,
            table.guide,
            self._guide_shift,
            table.terminal,
            self._legal,
            self._seen,
            reward,
            terminated,
            illegal,
            np.ndarray(len(mask), self._legal.dtype, mask),
            np.ndarray(len(observation), self._seen.dtype, observation),
        )
        return wrong

    def _begin(self, indices: Ints) -> None:
        table = self._table
        tabular.restart(
            indices,
            self._state,
            self._stream,
            table.threshold,
            table.next_state,
            table.guide,
            self._guide_shift,
        )

    def _rows(self) -> NDArray[np.int32]:
        return self._state

    def _over(self) -> Bools:
        return self._table.terminal[self._state]


def records(rows: NDArray[Any]) -> NDArray[Any]:
    """A view of an array [n, width] as n records, which compiled code copies whole."""
    return np.ndarray(len(rows), [("row", rows.dtype, rows.shape[1:])], rows)
