"""What the native vector environments over a table have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from solvent.envs.base_env import View
from solvent.envs.plays_vector_env import Batch, PlaysVectorEnv
from solvent.envs.rendering import Screen
from solvent.envs.spaces import action_space, observation_space
from solvent.model import Game, TabularGame
from solvent.model.arrays import Ints


class BaseVectorEnv(PlaysVectorEnv):
    """Many environments over one table.

    The first two of the arrays on which a step depends are ``"state"`` [n] int32 and ``"stream"``.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        num_envs: How many.
        view: What the learner sees.
        observation: See :class:`solvent.envs.TabularEnv`, like the next two.
        illegal: As there.
        render_mode: As there.
        autoreset_mode: See :class:`solvent.envs.TabularVectorEnv`.
    """

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        num_envs: int,
        view: View,
        *,
        observation: str,
        illegal: str,
        render_mode: str | None,
        autoreset_mode: AutoresetMode | str,
    ) -> None:
        super().__init__(
            rules,
            num_envs,
            observation_space(view.observation),
            action_space(view.mask),
            illegal=illegal,
            render_mode=render_mode,
            autoreset_mode=autoreset_mode,
        )
        self.game = game
        self._index = observation == "index"
        self._view = view
        self._state = np.full(num_envs, -1, np.int32)
        self._arrays = {"state": self._state, **self._arrays}

    @abstractmethod
    def _rows(self) -> NDArray[np.int32]:
        """The row of the view that shows the situation of each environment, [n]."""

    def _look(self, indices: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        rows = self._rows() if indices is None else self._rows()[indices]
        return self._shown(self._view.observation[rows]), self._view.mask[rows]

    def _empty(self) -> tuple[Batch, NDArray[np.int8]]:
        seen = self._view.observation
        return (
            np.empty((self.num_envs, seen.shape[1]), seen.dtype),
            np.empty((self.num_envs, self._view.mask.shape[1]), np.int8),
        )

    def _shown(self, observation: Batch) -> Batch:
        return observation[:, 0] if self._index else observation

    def _state_of_rules(self, i: int) -> Any:
        return self.game.states[self._state.item(i)]

    def _new_screen(self) -> Screen:
        assert self.rules is not None
        return Screen.for_game(self.rules, self.game)

    def _check_saved(self, saved: dict[str, Batch]) -> None:
        state = saved["state"]
        if ((state < 0) | (state >= self.game.n_states)).any():
            raise ValueError(
                f"saved states go from {state.min()} to {state.max()}; "
                f"allowed are 0 to {self.game.n_states - 1}"
            )
