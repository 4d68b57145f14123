"""Many episodes of a table in which one player chooses, stepped by one compiled loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Batch, TableSimulator
from solvent.envs.kernels import tabular
from solvent.envs.random_stream import DRAWS
from solvent.envs.sampling_table import sampling_table
from solvent.envs.spaces import observation_space
from solvent.model import Game, TabularGame
from solvent.model.arrays import Bools, Ints


class OnePlayerBatch(TableSimulator):
    """`num_envs` times :class:`solvent.envs.episode.OnePlayerEpisode` at compiled speed.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        num_envs: How many environments.
        player: The player who chooses.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Attributes:
        table: The arrays that are sampled.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling_table.sampling_table`, or if `num_envs` is
            not positive.
    """

    def __init__(
        self, game: TabularGame, rules: Game | None, num_envs: int, player: int, observation: str
    ) -> None:
        self.table = table = sampling_table(game, player, observation)
        super().__init__(game, rules, num_envs)
        self.player, self.observation = player, observation
        self.observation_space = observation_space(table.observation)
        self.n_actions = table.mask.shape[1]
        self._state = np.full(num_envs, -1, np.int32)
        self._stream = np.zeros(num_envs, np.uint64)
        self.arrays = {"state": self._state, "stream": self._stream}
        guide_shift = (DRAWS // len(table.guide)).bit_length() - 1
        packed = table.packed
        self._start = table.threshold, table.next_state, table.guide, guide_shift
        tables = packed.cell, packed.held, packed.to, packed.reward, table.guide
        self._read = *tables, table.mask, table.observation

    def begin(self, chosen: Ints) -> None:
        tabular.restart(chosen, self._state, self._stream, *self._start)

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: NDArray[np.int8],
        observation: Batch,
    ) -> int:
        wrong: int = tabular.step(
            self._state,
            self._stream,
            actions,
            *self._read,
            reward,
            terminated,
            illegal,
            mask,
            observation,
        )
        return wrong

    def look(self, chosen: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        at = self._state if chosen is None else self._state[chosen]
        return self.table.observation[at], self.table.mask[at]

    def over(self) -> Bools:
        over: Bools = self.table.terminal[self._state]
        return over
