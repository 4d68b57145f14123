"""What all environments with one learner have in common: a play that is under way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from solvent.envs.random_stream import RandomStream, first_state
from solvent.envs.rendering import RENDER_MODES, Drawn, check_render_mode
from solvent.envs.spaces import action_space, observation_space
from solvent.model import Game, TabularGame
from solvent.model.arrays import Bools
from solvent.model.parameters import check_choice

ILLEGAL = ("remap", "raise")


class View(Protocol):
    """What a table of a sampler tells of what the learner sees, a row for each situation."""

    @property
    def mask(self) -> NDArray[np.int8]:
        """Legal actions, [R, A]."""
        ...

    @property
    def observation(self) -> NDArray[Any]:
        """Observations, [R, D]."""
        ...


class BaseEnv(Drawn, gym.Env[Any, np.int64], ABC):
    """An environment with a state, a stream of random numbers and a picture.

    Args:
        game: The table of the game.
        rules: What draws the states, or None.
        view: What the learner sees.
        observation: See :class:`solvent.envs.TabularEnv`, like the next two.
        illegal: As there.
        render_mode: As there.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    _shared: ClassVar[tuple[str, ...]] = ("game", "rules", "_view")

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        view: View,
        *,
        observation: str,
        illegal: str,
        render_mode: str | None,
    ) -> None:
        self.game = game
        self.rules = rules
        self.render_mode = check_render_mode(render_mode, RENDER_MODES, rules)
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self._index = observation == "index"
        self._view = view
        self.observation_space = observation_space(view.observation)
        self.action_space = action_space(view.mask)
        self._stream: RandomStream | None = None
        self._at: int | None = None
        self._screen = None

    @abstractmethod
    def _row(self) -> int:
        """The row of the view that shows the present situation."""

    def _start_stream(self, seed: int | None) -> RandomStream:
        """The stream for a reset, begun anew if there is a seed or was none before."""
        super().reset(seed=seed)
        if seed is not None or self._stream is None:
            self._stream = RandomStream(first_state(self.np_random))
        return self._stream

    def _observation(self) -> Any:
        return self._at if self._index else self._view.observation[self._row()].copy()

    def _info(self, illegal: bool) -> dict[str, Any]:
        return {"illegal_action": illegal, "action_mask": self._view.mask[self._row()].copy()}

    def _check_legal(self, action: int) -> None:
        mask = self._view.mask[self._row()]
        if self._at is not None and not mask[action]:
            raise ValueError(illegal_action(self.game.states[self._at], action, mask))

    @property
    def state(self) -> Any:
        """The state of the rules in which play is.

        Raises:
            ResetNeeded: If play has not begun.
        """
        return self._state_of_rules()

    def action_masks(self) -> Bools:
        """The legal actions as booleans, under the name that sb3-contrib's MaskablePPO calls."""
        if self._at is None:
            raise ResetNeeded("play has not begun; call reset() first")
        masks: Bools = self._view.mask[self._row()].astype(bool)
        return masks


def illegal_action(state: Any, action: int, mask: NDArray[np.int8]) -> str:
    """The error message for an illegal action in a state of the rules."""
    return (
        f"action {action} is not legal in state {state!r}; "
        f"legal are {np.flatnonzero(mask).tolist()}"
    )
