"""A Gymnasium environment that samples the table of a game."""

from __future__ import annotations

from bisect import bisect_right
from copy import deepcopy
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from solvent.envs.random_stream import RandomStream, first_state
from solvent.envs.rendering import RENDER_MODES, Screen, check_render_mode
from solvent.envs.sampling_table import sampling_table
from solvent.envs.spaces import action_space, check_action, observation_space
from solvent.envs.transition_dict import TransitionDict
from solvent.model import Game, TabularGame, compile_game
from solvent.model.arrays import Bools, Floats
from solvent.model.parameters import check_choice

ILLEGAL = ("remap", "raise")


class TabularEnv(gym.Env[Any, np.int64]):
    """One player's game as a Gymnasium environment.

    A step draws one number and picks the outcome at which the distribution function of the
    table's row first exceeds it; :meth:`reset` draws the start in the same way. The environment
    thus samples the very table that a solver takes the expectation of.

    An illegal action is not punished: the lowest legal action is played in its place and
    ``info["illegal_action"]`` says so. Every ``info`` also has ``"action_mask"``, an int8 array
    as ``action_space.sample(mask)`` takes it (all 1 once play has ended, when no action counts).
    Episodes end by the rules and are never truncated.

    Args:
        game: The rules, or their table. In a game for two, the other player must be folded into
            chance by :func:`solvent.model.against`.
        rules: What draws the states, if `game` is a table.
        player: The player who chooses; player 1 receives the negative rewards.
        observation: ``"vector"`` as :meth:`solvent.model.Game.observe` gives it, ``"onehot"``
            as :func:`solvent.model.one_hot` does, or ``"index"``, the number of the state.
        illegal: ``"remap"`` as above, or ``"raise"``: a ValueError, for finding mistakes.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.

    Attributes:
        game: The table, whose ``states[i]`` is what ``observation="index"`` calls i.
        rules: The rules, or None.

    Raises:
        ValueError: If an argument is none of these, or the other player still has a choice.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        game: Game | TabularGame,
        *,
        rules: Game | None = None,
        player: int = 0,
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
        self._table = sampling_table(game, player, observation)
        self.observation_space = observation_space(self._table)
        self.action_space = action_space(self._table)
        self._stream: RandomStream | None = None
        self._at: int | None = None
        self._screen: Screen | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new play; with a seed, also begin a new stream of random numbers.

        Args:
            seed: For ``np_random``, from which the stream is started; without one, the stream
                goes on (or is started from an arbitrary seed the first time).
            options: Not used.
        """
        super().reset(seed=seed)
        if seed is not None or self._stream is None:
            self._stream = RandomStream(first_state(self.np_random))
        table = self._table
        outcome = bisect_right(table.threshold, self._stream.draw(), table.start)
        self._at = table.next_state.item(outcome)
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info(illegal=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action.

        Raises:
            ResetNeeded: If play has ended or not begun.
            ValueError: If `action` is not an action, or illegal and ``illegal="raise"``.
        """
        table = self._table
        if self._stream is None or self._at is None or table.terminal[self._at]:
            raise ResetNeeded("play has ended or not begun; call reset() first")
        action = check_action(action, table.mask.shape[1])
        first, last = table.span.item(self._at, action, 0), table.span.item(self._at, action, 1)
        illegal = first < 0
        if illegal:
            if self._raises:
                raise ValueError(illegal_action(self.game, self._at, action, table.mask[self._at]))
            first = ~first
        outcome = bisect_right(table.threshold, self._stream.draw(), first, last)
        self._at = table.next_state.item(outcome)
        if self.render_mode == "human":
            self.render()
        reward, terminated = table.reward.item(outcome), table.terminal.item(self._at)
        return self._observation(), reward, terminated, False, self._info(illegal)

    def _observation(self) -> Any:
        return self._at if self._index else self._table.observation[self._at].copy()

    def _info(self, illegal: bool) -> dict[str, Any]:
        return {"illegal_action": illegal, "action_mask": self._table.mask[self._at].copy()}

    @property
    def state(self) -> Any:
        """The state of the rules in which play is.

        Raises:
            ResetNeeded: If play has not begun.
        """
        if self._at is None:
            raise ResetNeeded("play has not begun; call reset() first")
        return self.game.states[self._at]

    def action_masks(self) -> Bools:
        """The legal actions as booleans, under the name that sb3-contrib's MaskablePPO calls."""
        if self._at is None:
            raise ResetNeeded("play has not begun; call reset() first")
        masks: Bools = self._table.mask[self._at].astype(bool)
        return masks

    @cached_property
    def P(self) -> TransitionDict:  # noqa: N802
        """The model as toy-text environments publish it, ``P[s][a]``."""
        return TransitionDict(self._table)

    @property
    def initial_state_distrib(self) -> Floats:
        """The probability of each state at the start, [S], as toy-text environments name it."""
        return self.game.initial

    def render(self) -> Any:
        """Draw the state: text, an RGB array [height, width, 3] of uint8, or a window.

        Raises:
            ResetNeeded: If play has not begun.
        """
        if self.render_mode is None or self.rules is None:
            gym.logger.warn("render() was called, but no render_mode was given to the environment")
            return None
        text = self.rules.draw(self.state)
        if self.render_mode == "ansi":
            return text
        if self._screen is None:
            self._screen = Screen.for_game(self.rules, self.game)
        if self.render_mode == "rgb_array":
            return self._screen.picture(text)
        self._screen.show(text, self.metadata["render_fps"])
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def __deepcopy__(self, memo: dict[int, Any]) -> TabularEnv:
        """A copy that plays on by itself; what never changes is shared, a window is not."""
        for shared in (self.game, self.rules, self._table):
            memo[id(shared)] = shared
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(deepcopy(self.__getstate__(), memo))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the window."""
        return {**self.__dict__, "_screen": None}


def illegal_action(game: TabularGame, state: int, action: int, mask: NDArray[np.int8]) -> str:
    """The error message for an illegal action."""
    return (
        f"action {action} is not legal in state {game.states[state]!r}; "
        f"legal are {np.flatnonzero(mask).tolist()}"
    )
