"""A PettingZoo environment for a game that is sampled without a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from solvent.envs.base_env import ILLEGAL, illegal_action
from solvent.envs.pettingzoo_env import AGENTS, check_joint_action
from solvent.envs.random_stream import first_state
from solvent.envs.rendering import RENDER_MODES, Drawn, Screen, check_render_mode
from solvent.envs.simulation import Sampler
from solvent.envs.spaces import PETTINGZOO, check_action, check_options
from solvent.model.parameters import check_choice

_ONE = np.zeros(1, np.int64)
_PLAYER = (np.zeros(1, np.int64), np.ones(1, np.int64))


class SimulatedParallelEnv(Drawn, ParallelEnv[str, Any, Any]):
    """What :class:`solvent.envs.pettingzoo_env.TabularParallelEnv` is, without a table.

    Agents, observations, masks, infos and rewards are as there. Moves of chance alone, such as a
    free kick, are made along with the move before.

    Args:
        sampler: The game.
        observation: What the game's simulations offer.
        illegal: As for :class:`solvent.envs.TabularEnv`, like the next.
        render_mode: As there.

    Raises:
        ValueError: If an argument is none of these.
    """

    _shared = ("sampler", "rules")

    def __init__(
        self,
        sampler: Sampler,
        *,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
    ) -> None:
        self.sampler = sampler
        self.rules = sampler.rules
        self.render_mode = check_render_mode(render_mode, RENDER_MODES, sampler.rules)
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self._plays = sampler.plays(1, observation)
        self.metadata: dict[str, Any] = {
            "name": f"{sampler.rules.info.name}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "is_parallelizable": True,
        }
        low, high = sampler.rules.info.reward_range
        self._bonus = low + high if np.isfinite(low) and np.isfinite(high) else 0.0
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Dict(
                {
                    "observation": self._plays.observation_space,
                    "action_mask": spaces.Box(0, 1, (self._plays.n_actions,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(self._plays.n_actions) for agent in AGENTS
        }
        self._begun = False
        self._screen = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a new play; with a seed, also begin a new stream of random numbers.

        Args:
            seed: For the stream; without one, it goes on.
            options: Allowed are none.

        Raises:
            ValueError: If there are any.
        """
        check_options(options, ignored=PETTINGZOO)
        if seed is not None or not self._begun:
            self._plays.arrays["stream"][0] = first_state(seeding.np_random(seed)[0])
        self._plays.begin(_ONE)
        self._begun = True
        self._make_moves_of_chance(np.zeros(1))
        self.agents = list(AGENTS)
        return self._told((False, False))

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Play an action of each agent.

        Raises:
            ResetNeeded: If play has ended or not begun.
            ValueError: If an agent has no action, or one that is not allowed.
        """
        if not self.agents:
            raise ResetNeeded("play has ended or not begun; call reset() first")
        check_joint_action(actions)
        first, second = (self._legal(player, actions[agent]) for player, agent in enumerate(AGENTS))
        paid = np.zeros(1)
        self._plays.move(_ONE, np.array([first[0]]), np.array([second[0]]), paid)
        self._make_moves_of_chance(paid)
        ended = bool(self._plays.over()[0])
        if ended:
            self.agents = []
        reward = paid.item()
        seen, infos = self._told((first[1], second[1]))
        return (
            seen,
            {AGENTS[0]: reward, AGENTS[1]: -reward + (self._bonus if ended else 0.0)},
            dict.fromkeys(AGENTS, ended),
            dict.fromkeys(AGENTS, False),
            infos,
        )

    def _legal(self, player: int, action: Any) -> tuple[int, bool]:
        """The action that is played, and whether the one that was given is illegal."""
        mask = self._plays.legal(_ONE, _PLAYER[player])[0]
        action = check_action(action, self._plays.n_actions)
        if mask[action]:
            return action, False
        if self._raises:
            raise ValueError(illegal_action(self._state_of_rules(), action, mask))
        return int(mask.argmax()), True

    def _make_moves_of_chance(self, paid: NDArray[np.float64]) -> None:
        """Go on until somebody has a choice or play has ended."""
        plays, nobody = self._plays, np.zeros(1, np.int64)
        while not (plays.over()[0] or any(plays.acts(_ONE, who)[0] for who in _PLAYER)):
            plays.move(_ONE, nobody, nobody, paid)

    def _told(self, illegal: tuple[bool, bool]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Observations and infos of both agents."""
        if self.render_mode == "human":
            self.render()
        seen, infos = {}, {}
        for player, agent in enumerate(AGENTS):
            who = _PLAYER[player]
            acts = self._plays.over()[0] or self._plays.acts(_ONE, who)[0]
            mask = self._plays.legal(_ONE, who)[0] * np.int8(acts)
            observation = self._plays.observe(_ONE, who)[0]
            seen[agent] = {"observation": observation, "action_mask": mask}
            infos[agent] = {"illegal_action": illegal[player], "action_mask": mask.copy()}
        return seen, infos

    @property
    def state_of_rules(self) -> Any:
        """The state of the rules in which play is.

        Raises:
            ResetNeeded: If play has not begun.
        """
        return self._state_of_rules()

    def _state_of_rules(self) -> Any:
        if not self._begun:
            raise ResetNeeded("play has not begun; call reset() first")
        return self._plays.state(0)

    def _new_screen(self) -> Screen:
        return Screen.for_states(self.sampler.rules, self.sampler.examples())
