"""What all native vector environments have in common: streams, autoreset and infos."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from solvent.envs.base_env import ILLEGAL, illegal_action
from solvent.envs.random_stream import first_state
from solvent.envs.rendering import RENDER_MODES, Screen, check_render_mode
from solvent.envs.spaces import check_actions, check_options
from solvent.model import Game
from solvent.model.arrays import Bools, Ints
from solvent.model.parameters import check_choice, check_integer, shown

VECTOR_RENDER_MODES = tuple(mode for mode in RENDER_MODES if mode != "human")

Batch = NDArray[Any]


class PlaysVectorEnv(VectorEnv[Batch, Batch, Batch]):
    """Many environments that are stepped together.

    A subclass plays and begins plays with compiled loops over its arrays; those it registers in
    `_arrays`, by name, are what a step depends on. One is always ``"stream"`` [n] uint64.

    Args:
        rules: What draws the states, or None.
        num_envs: How many.
        observation_space: Of one environment.
        action_space: Of one environment.
        illegal: See :class:`solvent.envs.TabularEnv`, like the next.
        render_mode: As there.
        autoreset_mode: See :class:`solvent.envs.TabularVectorEnv`.
    """

    def __init__(
        self,
        rules: Game | None,
        num_envs: int,
        observation_space: gym.Space[Any],
        action_space: spaces.Discrete,
        *,
        illegal: str,
        render_mode: str | None,
        autoreset_mode: AutoresetMode | str,
    ) -> None:
        self.rules = rules
        self.num_envs = check_integer(num_envs, "num_envs", 1, 2**31 - 1)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode, VECTOR_RENDER_MODES, rules)
        self.metadata = {
            "render_modes": list(VECTOR_RENDER_MODES),
            "render_fps": 4,
            "autoreset_mode": self.autoreset_mode,
        }
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self.single_observation_space = observation_space
        self.single_action_space = action_space
        self.observation_space = batch_space(observation_space, num_envs)
        self.action_space = batch_space(action_space, num_envs)
        self._n_actions = int(action_space.n)
        self._all = np.ones(num_envs, bool)
        self._stream = np.zeros(num_envs, np.uint64)
        self._arrays: dict[str, Batch] = {"stream": self._stream}
        self._begun = False
        self._screen: Screen | None = None

    @abstractmethod
    def _play(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: Batch,
        observation: Batch,
    ) -> int:
        """Play in each environment, or begin a new play where the last is over; fill the arrays.

        Returns:
            How many actions are out of range; unless it is 0, nothing has been changed.
        """

    @abstractmethod
    def _begin(self, indices: Ints) -> None:
        """Begin new plays in some environments."""

    @abstractmethod
    def _look(self, indices: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        """Observations and masks of some environments, or of all; new arrays."""

    @abstractmethod
    def _empty(self) -> tuple[Batch, NDArray[np.int8]]:
        """Arrays for the observations and masks of all environments, to be filled by a step."""

    @abstractmethod
    def _state_of_rules(self, i: int) -> Any:
        """The state of the rules in which an environment is."""

    @abstractmethod
    def _new_screen(self) -> Screen:
        """A screen that is large enough for every drawing."""

    def _shown(self, observation: Batch) -> Batch:
        """Observations as the step has filled them, in the form in which they are returned."""
        return observation

    @abstractmethod
    def _over(self) -> Bools:
        """Whether an environment has reported the end of its play, [n]."""

    def _tell(self) -> dict[str, Batch]:
        """What else is told of each environment, arrays [n] by their names in an info."""
        return {}

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
            ValueError: If there are not as many seeds as environments, the mask is not such an
                array, or there is another option.
            ResetNeeded: If a mask leaves an environment out that has never been reset.
        """
        chosen = self._chosen(options)
        if not self._begun and not chosen.all():
            raise ResetNeeded("no play has begun yet; reset all environments first")
        self._seed(seed, chosen)
        self._begin(np.flatnonzero(chosen))
        self._begun = True
        observation, mask = self._look()
        infos = _infos(chosen, np.zeros(self.num_envs, bool), mask, self._tell())
        return observation, infos

    def step(self, actions: Any) -> tuple[Batch, Batch, Batch, Batch, dict[str, Any]]:
        """Play an action in every environment.

        Raises:
            ResetNeeded: If an environment has never been reset, or with autoreset disabled if a
                play has ended.
            ValueError: If there is not one action for each environment, one is out of range, or
                one is illegal and ``illegal="raise"``.
        """
        n = self.num_envs
        actions = check_actions(actions, n)
        self._check_begun()
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over().any():
            raise ResetNeeded("some plays have ended; reset them with options={'reset_mask': …}")
        if self._raises:
            self._check_legal(actions)

        observation, mask = self._empty()
        reward = np.empty(n)
        terminated = np.empty(n, bool)
        illegal = np.empty(n, bool)
        wrong = self._play(
            actions,
            reward,
            terminated,
            illegal,
            mask,
            observation,
        )
        if wrong:
            width = self._n_actions
            i = int(np.argmax((actions < 0) | (actions >= width)))
            raise ValueError(
                f"action of environment {i} is {actions[i]}; "
                f"allowed are whole numbers from 0 to {width - 1}"
            )
        observation = self._shown(observation)
        ended: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and terminated.any():
            ended = self._begin_again(terminated, observation, illegal, mask)
        infos: dict[str, Any] = {
            "illegal_action": illegal,
            "_illegal_action": self._all.copy(),
            "action_mask": mask,
            "_action_mask": self._all.copy(),
        }
        for name, told in self._tell().items():
            infos |= {name: told, f"_{name}": self._all.copy()}
        return observation, reward, terminated, np.zeros(n, bool), infos | ended

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
        for i, seen in zip(
            indices.tolist(), last.tolist() if last.ndim == 1 else last, strict=True
        ):
            final_obs[i] = seen
        final_info = _infos(ended, illegal, mask, self._tell())
        self._begin(indices)
        observation[indices], mask[indices] = self._look(indices)
        illegal[indices] = False
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": final_info,
            "_final_info": ended.copy(),
        }

    def _check_begun(self) -> None:
        if not self._begun:
            raise ResetNeeded("play has not begun; call reset() first")

    def _chosen(self, options: Mapping[str, Any] | None) -> Bools:
        """Which environments a reset is for."""
        options = check_options(options, ("reset_mask",))
        if "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        mask = options["reset_mask"]
        if (
            not isinstance(mask, np.ndarray)
            or mask.shape != (self.num_envs,)
            or mask.dtype != np.bool_
            or not mask.any()
        ):
            raise ValueError(
                f"reset_mask is {shown(mask)}; allowed are bool arrays of shape ({self.num_envs},) "
                f"with at least one True"
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
        within = np.clip(actions, 0, self._n_actions - 1)
        mask = self._look()[1]
        illegal = mask[np.arange(self.num_envs), within] == 0
        if illegal.any():
            i = int(np.argmax(illegal))
            message = illegal_action(self._state_of_rules(i), int(actions[i]), mask[i])
            raise ValueError(f"environment {i}: {message}")

    def action_masks(self) -> Bools:
        """The legal actions of every environment, [num_envs, A].

        Raises:
            ResetNeeded: If play has not begun.
        """
        self._check_begun()
        return self._look()[1].astype(bool)

    def get_state(self) -> dict[str, Batch]:
        """Everything that a later step depends on.

        Returns:
            Copies of arrays [num_envs], among them ``"stream"`` uint64.

        Raises:
            ResetNeeded: If play has not begun.
        """
        self._check_begun()
        return {name: array.copy() for name, array in self._arrays.items()}

    def set_state(self, saved: dict[str, Batch]) -> None:
        """Go on from where :meth:`get_state` was called, on an environment with equal arguments.

        Raises:
            ValueError: If `saved` is not of that form, or of another number of environments or
                states.
        """
        try:
            given = {name: np.asarray(saved[name]) for name in self._arrays}
        except (KeyError, TypeError, IndexError):
            names = [repr(name) for name in self._arrays]
            raise ValueError(
                f"the saved state needs the arrays {', '.join(names[:-1])} and {names[-1]}"
            ) from None
        for name, array in given.items():
            dtype = self._arrays[name].dtype
            if array.shape != (self.num_envs,) or array.dtype != dtype:
                raise ValueError(
                    f"saved {name} has shape {array.shape} and type {array.dtype}; "
                    f"expected ({self.num_envs},) and {dtype}"
                )
        if (given["stream"] == 0).any():
            raise ValueError(
                f"saved streams begin at {given['stream'].min()}; allowed are streams from 1"
            )
        self._check_saved(given)
        for name, array in given.items():
            self._arrays[name][:] = array
        self._begun = True

    def _check_saved(self, saved: dict[str, Batch]) -> None:
        """Raise a ValueError if an array that only the subclass knows has a value out of range."""

    def render(self) -> tuple[Any, ...] | None:
        """Draw every environment: text, or RGB arrays [height, width, 3] of uint8.

        Raises:
            ResetNeeded: If play has not begun.
        """
        if self.render_mode is None or self.rules is None:
            gym.logger.warn("render() was called, but no render_mode was given to the environment")
            return None
        self._check_begun()
        texts = [self.rules.draw(self._state_of_rules(i)) for i in range(self.num_envs)]
        if self.render_mode == "ansi":
            return tuple(texts)
        if self._screen is None:
            self._screen = self._new_screen()
        return tuple(self._screen.picture(text) for text in texts)


def _infos(
    chosen: Bools, illegal: Bools, mask: NDArray[np.int8], told: dict[str, Batch]
) -> dict[str, Any]:
    """New arrays with the infos of the chosen environments, and zeros for the others."""
    infos = {"illegal_action": illegal, "action_mask": mask, **told}
    result: dict[str, Any] = {}
    for name, array in infos.items():
        result[name] = np.zeros_like(array)
        result[name][chosen] = array[chosen]
        result[f"_{name}"] = chosen.copy()
    return result
