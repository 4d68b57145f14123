"""PettingZoo environments for games of two, over the table that the other environments sample.

A game whose players take turns has an AEC environment. Where both act at once the native form is
a parallel environment, which ``pettingzoo.utils.parallel_to_aec`` turns into the other.

Agents are ``player_0`` and ``player_1``. An observation is a dictionary of ``"observation"`` and
``"action_mask"``; the mask is also in the agent's info, beside ``"illegal_action"``, which tells
whether its last action was illegal and another was played in its place, as in
:class:`solvent.envs.TabularEnv`. The mask of an agent that is not to act is all 0, and once play
has ended, when no action counts, all 1. Rewards are those of :class:`solvent.envs.SeatEnv`: what
the two players get in a play has a constant sum, which is 0 if the game's returns are symmetric.

The stream of random numbers is that of the other environments, started by ``reset(seed=…)`` and
continued by later resets. A move draws one number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from solvent.envs.base_env import ILLEGAL, illegal_action
from solvent.envs.random_stream import RandomStream, first_state
from solvent.envs.rendering import RENDER_MODES, Drawn, check_render_mode
from solvent.envs.seat_table import LEARNER, NOBODY, OPPONENT, SeatTable, seat_table
from solvent.envs.spaces import (
    PETTINGZOO,
    action_space,
    check_action,
    check_options,
    observation_space,
)
from solvent.model import Game, TabularGame, compile_game
from solvent.model.parameters import check_choice

AGENTS = ("player_0", "player_1")


class _TwoPlayers(Drawn):
    """A play of a game for two, and what both kinds of environment tell of it."""

    _shared: ClassVar[tuple[str, ...]] = ("game", "rules", "_tables")

    def __init__(
        self,
        game: Game | TabularGame,
        *,
        rules: Game | None = None,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(game, TabularGame):
            rules, game = game, compile_game(game)
        self.game = game
        self.rules = rules
        self.render_mode = check_render_mode(render_mode, RENDER_MODES, rules)
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self._index = observation == "index"
        self._tables = tuple(seat_table(game, (player,), observation) for player in (0, 1))
        self.metadata: dict[str, Any] = {
            "name": f"{game.info.name}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "is_parallelizable": False,
        }
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: _observation_space(table)
            for agent, table in zip(AGENTS, self._tables, strict=True)
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: action_space(table.mask)
            for agent, table in zip(AGENTS, self._tables, strict=True)
        }
        self._stream: RandomStream | None = None
        self._at: int | None = None
        self._screen = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def _begin(self, seed: int | None) -> None:
        """Draw the start."""
        if seed is not None or self._stream is None:
            self._stream = RandomStream(first_state(seeding.np_random(seed)[0]))
        table = self._tables[0]
        start = bisect_right(table.start_threshold, self._stream.draw())
        self._at = table.start_state.item(start)
        self.agents = list(AGENTS)

    def _rank(self, player: int, action: Any) -> tuple[int, bool]:
        """The number of an action among the legal ones, and whether it is illegal itself.

        Raises:
            ValueError: If it is no action, or illegal and ``illegal="raise"``.
        """
        at, table = self._state_index(), self._tables[player]
        action = check_action(action, table.mask.shape[1])
        rank = table.rank.item(at, action)
        if rank < 0 and self._raises:
            raise ValueError(illegal_action(self.game.states[at], action, table.mask[at]))
        return max(rank, 0), rank < 0

    def _move(self, ranks: tuple[int, int]) -> dict[str, float]:
        """Play the players' legal actions of these numbers.

        Returns:
            The rewards of both agents.
        """
        at, (first, second) = self._state_index(), self._tables
        row, own, other, *_ = first.node[at].tolist()
        outcome, count, cut = first.row[row + ranks[0] * own + ranks[1] * other].tolist()
        assert self._stream is not None
        outcome += bisect_right(first.threshold, self._stream.draw(), cut, cut + count - 1) - cut
        reward = first.reward.item(outcome)
        self._at = first.next_state.item(outcome)
        bonus = second.bonus.item(0) if self._ended else 0.0
        return {AGENTS[0]: reward, AGENTS[1]: -reward + bonus}

    @property
    def _ended(self) -> bool:
        return self._actor(0) == NOBODY

    def _actor(self, player: int) -> int:
        return self._tables[player].node.item(self._state_index(), 5)

    def _state_index(self) -> int:
        if self._at is None:
            raise ResetNeeded("play has not begun; call reset() first")
        return self._at

    def _mask(self, player: int) -> NDArray[np.int8]:
        acts = self._ended or self._actor(player) == LEARNER
        mask: NDArray[np.int8] = self._tables[player].mask[self._state_index()] * np.int8(acts)
        return mask

    def _see(self, player: int) -> dict[str, Any]:
        at = self._state_index()
        seen = np.int64(at) if self._index else self._tables[player].observation[at].copy()
        return {"observation": seen, "action_mask": self._mask(player)}


class TabularAECEnv(_TwoPlayers, AECEnv[str, Any, Any]):
    """An AEC environment for any game of two who take turns.

    Args:
        game: The rules, or their table.
        rules: What draws the states, if `game` is a table.
        observation: As for :class:`solvent.envs.TabularEnv`, like the next two.
        illegal: As there.
        render_mode: As there.

    Raises:
        ValueError: If an argument is none of these, or the players act at the same time.
    """

    def __init__(self, game: Game | TabularGame, **arguments: Any) -> None:
        super().__init__(game, **arguments)
        if self.game.turn is None:
            raise ValueError(
                f"the players of {self.game.info.name} act at the same time; "
                f"TabularParallelEnv plays that"
            )

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new play; with a seed, also begin a new stream of random numbers.

        Args:
            seed: For the stream; without one, it goes on.
            options: Allowed are none.

        Raises:
            ValueError: If there are any.
        """
        check_options(options, ignored=PETTINGZOO)
        self._begin(seed)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._illegal = dict.fromkeys(AGENTS, False)
        self._go_on()

    def step(self, action: Any) -> None:
        """Play an action of the agent on turn; None takes an agent leave whose play has ended.

        Raises:
            ResetNeeded: If play has not begun.
            ValueError: If it is not an action, or illegal and ``illegal="raise"``.
        """
        self._state_index()
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        player = AGENTS.index(agent)
        rank, illegal = self._rank(player, action)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = self._move((rank, 0) if player == 0 else (0, rank))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(AGENTS, self._ended)
        self._illegal[agent] = illegal
        self._go_on()

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent sees, on turn or not."""
        return self._see(AGENTS.index(agent))

    def _go_on(self) -> None:
        """Pass the turn to whose it is; at the end the agents take leave in their order."""
        self.agent_selection = AGENTS[self._actor(0) == OPPONENT]
        self.infos = {
            agent: {"illegal_action": self._illegal[agent], "action_mask": self._mask(player)}
            for player, agent in enumerate(AGENTS)
        }
        if self.render_mode == "human":
            self.render()


class TabularParallelEnv(_TwoPlayers, ParallelEnv[str, Any, Any]):
    """A parallel environment for any game of two who act at the same time.

    Args:
        game: As for :class:`TabularAECEnv`, like all arguments.
        rules: As there.
        observation: As there.
        illegal: As there.
        render_mode: As there.

    Raises:
        ValueError: If an argument is none of these, or the players take turns.
    """

    def __init__(self, game: Game | TabularGame, **arguments: Any) -> None:
        super().__init__(game, **arguments)
        if self.game.turn is not None:
            raise ValueError(
                f"the players of {self.game.info.name} take turns; TabularAECEnv plays that"
            )
        self.metadata["is_parallelizable"] = True

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a new play; the arguments are those of :meth:`TabularAECEnv.reset`.

        Args:
            seed: As there.
            options: As there.

        Raises:
            ValueError: As there.
        """
        check_options(options, ignored=PETTINGZOO)
        self._begin(seed)
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
        first, second = (self._rank(p, actions[agent]) for p, agent in enumerate(AGENTS))
        rewards = self._move((first[0], second[0]))
        ended = self._ended
        if ended:
            self.agents = []
        seen, infos = self._told((first[1], second[1]))
        return (
            seen,
            rewards,
            dict.fromkeys(AGENTS, ended),
            dict.fromkeys(AGENTS, False),
            infos,
        )

    def _told(self, illegal: tuple[bool, bool]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Observations and infos of both agents."""
        if self.render_mode == "human":
            self.render()
        return {agent: self._see(p) for p, agent in enumerate(AGENTS)}, {
            agent: {"illegal_action": illegal[p], "action_mask": self._mask(p)}
            for p, agent in enumerate(AGENTS)
        }


def check_joint_action(actions: Mapping[str, Any]) -> None:
    """Raise a ValueError unless there is an action of each agent."""
    if set(actions) != set(AGENTS):
        raise ValueError(
            f"actions are for {', '.join(map(str, actions)) or 'nobody'}; "
            f"needed is one for each of {', '.join(AGENTS)}"
        )


def _observation_space(table: SeatTable) -> spaces.Dict:
    width = table.mask.shape[1]
    return spaces.Dict(
        {
            "observation": observation_space(table.observation),
            "action_mask": spaces.Box(0, 1, (width,), np.int8),
        }
    )
