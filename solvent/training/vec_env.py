"""Native Gymnasium vector environments for Stable-Baselines3.

Stable-Baselines3 has its own vector interface, older than Gymnasium's. It resets an environment in
the step that ends its episode, which is Gymnasium's ``SAME_STEP`` mode. It expects one dictionary
of infos for each environment, which holds the last observation of an episode that has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import (
    VecEnvIndices,
    VecEnvObs,
    VecEnvStepReturn,
)

from solvent.envs.spaces import check_options
from solvent.model.parameters import shown


class NativeVecEnv(VecEnv):
    """A Gymnasium vector environment behind the interface of Stable-Baselines3.

    If the environment reports ``info["action_mask"]``, each environment's info holds its row as
    a bool array, and ``env_method("action_masks")`` returns all of them, as sb3-contrib's
    MaskablePPO and :class:`~solvent.training.masked_dqn.MaskedDQN` ask for.

    Args:
        env: The environment.

    Raises:
        ValueError: If it does not reset itself in the step that ends an episode.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        mode = env.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(
                f"autoreset_mode is {mode}; Stable-Baselines3 needs AutoresetMode.SAME_STEP"
            )
        self.env = env
        self._actions: NDArray[Any] | None = None
        self._masks: NDArray[np.bool_] | None = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> VecEnvObs:
        """Begin new episodes, with the seeds of :meth:`seed` if it was called since the last time.

        Raises:
            ValueError: If :meth:`set_options` has set any.
        """
        for options in self._options:
            check_options(options)
        # Typed for one seed, but Gymnasium's vector environments take one per environment, or None.
        observation, infos = self.env.reset(seed=self._seeds)  # type: ignore[arg-type]
        self._reset_seeds()
        self._reset_options()
        self._remember_masks(infos)
        seen: VecEnvObs = observation
        return seen

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        observation, reward, terminated, truncated, infos = self.env.step(self._actions)
        self._remember_masks(infos)
        each: list[dict[str, Any]]
        if self._masks is None:
            each = [{} for _ in range(self.num_envs)]
        else:
            each = [{"action_mask": mask} for mask in self._masks]
        done = terminated | truncated
        for i in np.flatnonzero(done).tolist():
            each[i]["terminal_observation"] = infos["final_obs"][i]
            each[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
        return observation, reward.astype(np.float32), done, each

    def _remember_masks(self, infos: dict[str, Any]) -> None:
        if "action_mask" in infos:
            self._masks = infos["action_mask"].astype(bool)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Return the environment's complete state, if it supports this.

        Returns:
            Arrays by name; see :meth:`solvent.envs.TabularVectorEnv.get_state`.
        """
        state: dict[str, NDArray[Any]] = self._native.get_state()
        return state

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore a state that :meth:`get_state` returned."""
        self._native.set_state(state)
        if hasattr(self._native, "action_masks"):
            self._masks = self._native.action_masks()

    @property
    def _native(self) -> Any:
        """The environment itself, without wrappers."""
        return self.env.unwrapped

    def close(self) -> None:
        self.env.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return the same value for each environment, since they are one object."""
        if attr_name == "action_masks":
            if self._masks is None:
                raise AttributeError("the environment reports no action masks")
            value: Any = self.env_method
        else:
            value = getattr(self._native, attr_name)
        return [value] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of all environments at once.

        Raises:
            ValueError: If `indices` is given.
        """
        if indices is not None:
            raise ValueError(f"indices is {shown(indices)}; a native environment is set as a whole")
        setattr(self._native, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method; only ``action_masks`` is supported.

        Raises:
            AttributeError: If the method is another, or no masks are known.
        """
        if method_name != "action_masks" or self._masks is None:
            raise AttributeError(f"a native vector environment has no method {method_name!r} each")
        return [self._masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        pictures: Sequence[NDArray[np.uint8] | None] = self._native.render() or ()
        return pictures
