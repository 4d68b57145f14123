"""Many environments over one table, stepped by one compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from solvent.envs.kernels import tabular
from solvent.envs.random_stream import DRAWS, first_state
from solvent.envs.rendering import RENDER_MODES, Screen, check_render_mode
from solvent.envs.sampling_table import sampling_table
from solvent.envs.spaces import action_space, check_actions, observation_space
from solvent.envs.tabular_env import ILLEGAL, TabularEnv, illegal_action
from solvent.model import Game, TabularGame, compile_game
from solvent.model.arrays import Bools, Ints
from solvent.model.parameters import check_choice, check_integer

VECTOR_RENDER_MODES = tuple(mode for mode in RENDER_MODES if mode != "human")

Batch = NDArray[Any]


class TabularVectorEnv(VectorEnv[Batch, Batch, Batch]):
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
        self.game = game
        self.rules = rules
        self.num_envs = check_integer(num_envs, "num_envs", 1, 2**31 - 1)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode, VECTOR_RENDER_MODES, rules)
        self.metadata = {
            **TabularEnv.metadata,
            "render_modes": list(VECTOR_RENDER_MODES),
            "autoreset_mode": self.autoreset_mode,
        }
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self._index = observation == "index"
        self._table = table = sampling_table(game, player, observation)
        self.single_observation_space = observation_space(table)
        self.single_action_space = action_space(table)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seen, self._legal = records(table.observation), records(table.mask)
        self._guide_shift = (DRAWS // len(table.guide)).bit_length() - 1
        self._all = np.ones(num_envs, bool)
        self._state = np.full(num_envs, -1, np.int32)
        self._stream = np.zeros(num_envs, np.uint64)
        self._screen: Screen | None = None

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Batch, dict[str, Any]]:
        """Begin new plays.

        Args:
            seed: An int for the seeds ``seed + i``, or one seed or None per environment. An
                environment without a seed goes on with its stream.
            options: ``{"reset_mask": …}``, a bool array [num_envs] with at least one True,
                resets only those environments; the others' observations are returned as they
                are.

        Raises:
            ValueError: If there are not as many seeds as environments, or the mask is not such
                an array.
            ResetNeeded: If a mask leaves an environment out that has never been reset.
        """
        chosen = self._chosen(options)
        if self._state[0] < 0 and not chosen.all():
            raise ResetNeeded("no play has begun yet; reset all environments first")
        self._seed(seed, chosen)
        indices = np.flatnonzero(chosen)
        self._restart(indices)
        mask = np.zeros((self.num_envs, self._table.mask.shape[1]), np.int8)
        mask[indices] = self._table.mask[self._state[indices]]
        infos = {
            "illegal_action": np.zeros(self.num_envs, bool),
            "_illegal_action": chosen.copy(),
            "action_mask": mask,
            "_action_mask": chosen,
        }
        return self._observe(self._state), infos

    def step(self, actions: Any) -> tuple[Batch, Batch, Batch, Batch, dict[str, Any]]:
        """Play an action in every environment.

        Raises:
            ResetNeeded: If an environment has never been reset, or with autoreset disabled if a
                play has ended.
            ValueError: If there is not one action for each environment, one is out of range, or
                one is illegal and ``illegal="raise"``.
        """
        table, n = self._table, self.num_envs
        actions = check_actions(actions, n)
        self._check_begun()
        if self.autoreset_mode is AutoresetMode.DISABLED and table.terminal[self._state].any():
            raise ResetNeeded("some plays have ended; reset them with options={'reset_mask': …}")
        if self._raises:
            self._check_legal(actions)

        observation = np.empty((n, table.observation.shape[1]), table.observation.dtype)
        reward = np.empty(n)
        terminated = np.empty(n, bool)
        illegal = np.empty(n, bool)
        mask = np.empty((n, table.mask.shape[1]), np.int8)
        wrong = tabular.step(
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
            np.ndarray(n, self._legal.dtype, mask),
            np.ndarray(n, self._seen.dtype, observation),
        )
        if wrong:
            width = table.mask.shape[1]
            i = int(np.argmax((actions < 0) | (actions >= width)))
            raise ValueError(
                f"action of environment {i} is {actions[i]}; "
                f"allowed are whole numbers from 0 to {width - 1}"
            )
        infos: dict[str, Any] = {
            "illegal_action": illegal,
            "_illegal_action": self._all.copy(),
            "action_mask": mask,
            "_action_mask": self._all.copy(),
        }
        if self._index:
            observation = observation[:, 0]
        if self.autoreset_mode is AutoresetMode.SAME_STEP and terminated.any():
            infos |= self._begin_again(terminated, observation, illegal, mask)
        return observation, reward, terminated, np.zeros(n, bool), infos

    def _begin_again(
        self,
        ended: Bools,
        observation: Batch,
        illegal: Bools,
        mask: NDArray[np.int8],
    ) -> dict[str, Any]:
        """Reset the plays that have just ended; the given arrays are brought up to date.

        Returns:
            The entries of ``infos`` that tell how they ended.
        """
        indices = np.flatnonzero(ended)
        final_obs = np.full(self.num_envs, None, object)
        last = observation[indices]
        for i, seen in zip(indices.tolist(), last.tolist() if self._index else last, strict=True):
            final_obs[i] = seen
        final_mask = np.zeros_like(mask)
        final_mask[indices] = mask[indices]
        final_info = {
            "illegal_action": illegal & ended,
            "_illegal_action": ended.copy(),
            "action_mask": final_mask,
            "_action_mask": ended.copy(),
        }
        self._restart(indices)
        state = self._state[indices]
        observation[indices] = self._observe(state)
        illegal[indices] = False
        mask[indices] = self._table.mask[state]
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": final_info,
            "_final_info": ended.copy(),
        }

    def _check_begun(self) -> None:
        if self._state[0] < 0:
            raise ResetNeeded("play has not begun; call reset() first")

    def _restart(self, indices: Ints) -> None:
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

    def _observe(self, state: NDArray[np.int32]) -> Batch:
        seen = self._table.observation[state]
        return seen[:, 0] if self._index else seen

    def _chosen(self, options: dict[str, Any] | None) -> Bools:
        """Which environments a reset is for."""
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(options["reset_mask"])
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask has shape {mask.shape}, type {mask.dtype} and {np.sum(mask)} True; "
                f"allowed are bool arrays of shape ({self.num_envs},) with at least one True"
            )
        return mask.copy()

    def _seed(self, seed: int | Sequence[int | None] | None, chosen: Bools) -> None:
        """Start the streams of the chosen environments that get a seed or have no stream yet."""
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
            seeds: Sequence[int | None] = range(int(seed), int(seed) + self.num_envs)
        else:
            seeds = [None] * self.num_envs if seed is None else seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds were given for {self.num_envs} environments")
        for i in np.flatnonzero(chosen).tolist():
            own = seeds[i]
            if own is not None:
                self._stream[i] = first_state(seeding.np_random(int(own))[0])
            elif self._stream[i] == 0:
                self._stream[i] = first_state(self.np_random)

    def _check_legal(self, actions: Ints) -> None:
        # An action out of range is reported by the step itself.
        within = np.clip(actions, 0, self._table.mask.shape[1] - 1)
        illegal = self._table.span[self._state, within, 0] < 0
        if illegal.any():
            i = int(np.argmax(illegal))
            state = int(self._state[i])
            message = illegal_action(self.game, state, int(actions[i]), self._table.mask[state])
            raise ValueError(f"environment {i}: {message}")

    def action_masks(self) -> Bools:
        """The legal actions of every environment, [num_envs, A].

        Raises:
            ResetNeeded: If play has not begun.
        """
        self._check_begun()
        masks: Bools = self._table.mask[self._state].astype(bool)
        return masks

    def get_state(self) -> dict[str, Batch]:
        """Everything that a later step depends on.

        Returns:
            Copies of ``"state"`` [num_envs] int32 and ``"stream"`` [num_envs] uint64.

        Raises:
            ResetNeeded: If play has not begun.
        """
        self._check_begun()
        return {"state": self._state.copy(), "stream": self._stream.copy()}

    def set_state(self, saved: dict[str, Batch]) -> None:
        """Go on from where :meth:`get_state` was called, on an environment with equal arguments.

        Raises:
            ValueError: If `saved` is not of that form, or of another number of environments or
                states.
        """
        try:
            state, stream = np.asarray(saved["state"]), np.asarray(saved["stream"])
        except (KeyError, TypeError, IndexError):
            raise ValueError("the saved state needs the arrays 'state' and 'stream'") from None
        for name, array, dtype in (("state", state, np.int32), ("stream", stream, np.uint64)):
            if array.shape != (self.num_envs,) or array.dtype != dtype:
                raise ValueError(
                    f"saved {name} has shape {array.shape} and type {array.dtype}; "
                    f"expected ({self.num_envs},) and {np.dtype(dtype)}"
                )
        n_states = self.game.n_states
        if ((state < 0) | (state >= n_states)).any() or (stream == 0).any():
            raise ValueError(
                f"saved states go from {state.min()} to {state.max()} and streams begin at "
                f"{stream.min()}; allowed are states from 0 to {n_states - 1} and streams from 1"
            )
        self._state[:] = state
        self._stream[:] = stream

    def render(self) -> tuple[Any, ...] | None:
        """Draw every environment: text, or RGB arrays [height, width, 3] of uint8.

        Raises:
            ResetNeeded: If play has not begun.
        """
        if self.render_mode is None or self.rules is None:
            gym.logger.warn("render() was called, but no render_mode was given to the environment")
            return None
        self._check_begun()
        texts = [self.rules.draw(self.game.states[s]) for s in self._state.tolist()]
        if self.render_mode == "ansi":
            return tuple(texts)
        if self._screen is None:
            self._screen = Screen.for_game(self.rules, self.game)
        return tuple(self._screen.picture(text) for text in texts)


def records(rows: NDArray[Any]) -> NDArray[Any]:
    """A view of an array [n, width] as n records, which compiled code copies whole."""
    return np.ndarray(len(rows), [("row", rows.dtype, rows.shape[1:])], rows)
