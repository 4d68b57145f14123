"""One seat of a game for two that is sampled without a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from solvent.envs.base_env import ILLEGAL, illegal_action
from solvent.envs.random_stream import first_state
from solvent.envs.rendering import RENDER_MODES, Drawn, Screen, check_render_mode
from solvent.envs.seat_env import Seat, seats_of
from solvent.envs.seat_plays import SeatPlays
from solvent.envs.simulation import Player, Sampler
from solvent.envs.spaces import check_action, check_options
from solvent.model.arrays import Bools
from solvent.model.parameters import check_choice

_ONE = np.zeros(1, np.int64)
"""The only play."""


class SimulatedSeatEnv(Drawn, gym.Env[Any, np.int64]):
    """What :class:`solvent.envs.SeatEnv` is, for a game that has too many states for a table.

    Args:
        sampler: The game.
        opponents: Who takes the other seat.
        weights: As for :class:`~solvent.envs.SeatEnv`, like the next.
        seat: As there.
        observation: What the game's simulations offer.
        illegal: As for :class:`~solvent.envs.TabularEnv`, like the next.
        render_mode: As there.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    _shared = ("sampler", "rules")

    def __init__(
        self,
        sampler: Sampler,
        opponents: Sequence[Player],
        *,
        weights: Sequence[float] | None = None,
        seat: Seat = 0,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
    ) -> None:
        self.sampler = sampler
        self.rules = sampler.rules
        self.render_mode = check_render_mode(render_mode, RENDER_MODES, sampler.rules)
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        simulation = sampler.plays(1, observation)
        self.plays = SeatPlays(simulation, opponents, weights, seats_of(seat))
        self.observation_space = simulation.observation_space
        self.action_space = spaces.Discrete(simulation.n_actions)
        self._begun = False
        self._screen = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new play.

        Args:
            seed: For the stream of random numbers; without one, it goes on.
            options: Allowed are none.

        Raises:
            ValueError: If there are any.
        """
        check_options(options)
        super().reset(seed=seed)
        if seed is not None or not self._begun:
            self.plays.stream[0] = first_state(self.np_random)
        self.plays.begin(_ONE)
        self._begun = True
        if self.render_mode == "human":
            self.render()
        observation, mask = self.plays.look(_ONE)
        return observation[0], self._info(mask[0], illegal=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action, and all that follows up to the learner's next turn.

        Raises:
            ResetNeeded: If play has ended or not begun.
            ValueError: If `action` is not an action, or illegal and ``illegal="raise"``.
        """
        plays = self.plays
        if not self._begun or plays.over[0]:
            raise ResetNeeded("play has ended or not begun; call reset() first")
        action = check_action(action, plays.simulation.n_actions)
        if self._raises:
            mask = plays.look(_ONE)[1][0]
            if not mask[action]:
                raise ValueError(illegal_action(self.state, action, mask))
        reward, terminated, illegal = np.empty(1), np.empty(1, bool), np.empty(1, bool)
        plays.step(np.array([action]), reward, terminated, illegal)
        if self.render_mode == "human":
            self.render()
        observation, mask = plays.look(_ONE)
        return (
            observation[0],
            reward.item(),
            terminated.item(),
            False,
            self._info(mask[0], illegal=illegal.item()),
        )

    def _info(self, mask: Any, *, illegal: bool) -> dict[str, Any]:
        return {
            "illegal_action": illegal,
            "action_mask": mask,
            "seat": self.plays.seat.item(),
            "opponent": self.plays.opponent.item(),
        }

    @property
    def state(self) -> Any:
        """The state of the rules in which play is.

        Raises:
            ResetNeeded: If play has not begun.
        """
        return self._state_of_rules()

    def _state_of_rules(self) -> Any:
        if not self._begun:
            raise ResetNeeded("play has not begun; call reset() first")
        return self.plays.simulation.state(0)

    def _new_screen(self) -> Screen:
        return Screen.for_states(self.sampler.rules, self.sampler.examples())

    def action_masks(self) -> Bools:
        """The legal actions as booleans, under the name that sb3-contrib's MaskablePPO calls.

        Raises:
            ResetNeeded: If play has not begun.
        """
        if not self._begun:
            raise ResetNeeded("play has not begun; call reset() first")
        masks: Bools = self.plays.look(_ONE)[1][0].astype(bool)
        return masks
