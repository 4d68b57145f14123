"""Deep Q-learning that knows which actions are legal.

Plain DQN (Mnih et al. 2015) explores all actions and bootstraps from max over all a of Q(s', a),
so that the value of an illegal action can leak into every target. Here both the epsilon-greedy
choice and the maximum range over legal actions only; nothing else differs. The masks of the next
states are kept in the replay buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3 import DQN
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.vec_env import VecNormalize
from torch import Tensor

from solvent.model.parameters import shown

Masks = NDArray[np.bool_]


class MaskedReplayBuffer(ReplayBuffer):
    """A replay buffer that also keeps the legal actions of the next state.

    They are read from ``info["action_mask"]``. At the end of an episode this is the mask of the
    next episode's first state, which does no harm since nothing is bootstrapped there. In a sample,
    ``next_observations`` is the pair of next observations and their masks.

    Attributes:
        next_masks: [size, environments, actions] bool.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        width = int(getattr(self.action_space, "n"))  # noqa: B009  # Discrete, as DQN checks
        self.next_masks = np.ones((self.buffer_size, self.n_envs, width), bool)

    def add(
        self,
        obs: NDArray[Any],
        next_obs: NDArray[Any],
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        self.next_masks[self.pos] = [info["action_mask"] for info in infos]
        super().add(obs, next_obs, action, reward, done, infos)

    def _get_samples(
        self, batch_inds: NDArray[Any], env: VecNormalize | None = None
    ) -> ReplayBufferSamples:
        at = (batch_inds, np.random.randint(0, self.n_envs, len(batch_inds)))  # noqa: NPY002
        over = self.dones[at] * (1 - self.timeouts[at])
        arrays: Any = (
            self._normalize_obs(self.observations[at], env),
            self.actions[at],
            self._normalize_obs(self.next_observations[at], env),
            over[:, None],
            self._normalize_reward(self.rewards[at][:, None], env),
        )
        sample = ReplayBufferSamples(*map(self.to_torch, arrays))
        following: Any = sample.next_observations, self.to_torch(self.next_masks[at])
        return sample._replace(next_observations=following)


class MaskedDQN(DQN):
    """DQN that chooses and bootstraps among legal actions only.

    The environment has to report ``info["action_mask"]`` and have a method ``action_masks``.
    Arguments are those of :class:`stable_baselines3.DQN`, except that ``n_steps`` has to be 1.

    Raises:
        ValueError: If it is not.
    """

    def _setup_model(self) -> None:
        if self.n_steps != 1:
            raise ValueError(f"n_steps is {shown(self.n_steps)}; MaskedDQN allows 1 only")
        if self.replay_buffer_class is None:
            self.replay_buffer_class = MaskedReplayBuffer
        super()._setup_model()

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Fit Q to targets that bootstrap from the best *legal* action."""
        target: Any = self.q_net_target

        def of_legal(following: tuple[Tensor, Tensor]) -> Tensor:
            """Return the target network's values, [n, A], minus infinity where illegal."""
            seen, legal = following
            values: Tensor = target(seen)
            return values.masked_fill(~legal, -torch.inf)

        # DQN takes the maximum of what this network says of the sample's next observations.
        self.q_net_target = of_legal  # type: ignore[assignment]
        try:
            super().train(gradient_steps, batch_size)
        finally:
            self.q_net_target = target

    def predict(
        self,
        observation: NDArray[Any] | dict[str, NDArray[Any]],
        state: tuple[NDArray[Any], ...] | None = None,
        episode_start: NDArray[Any] | None = None,
        deterministic: bool = False,
        action_masks: Masks | None = None,
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], ...] | None]:
        """Return the best legal action, or with the exploration probability a random legal one.

        Args:
            observation: An observation, or a batch of observations.
            state: Not used.
            episode_start: Not used.
            deterministic: Leave out exploration.
            action_masks: Legal actions, [A] or [batch, A]. Default: all actions.
        """
        self.policy.set_training_mode(False)
        tensor, is_batch = self.policy.obs_to_tensor(observation)
        with torch.no_grad():
            q = self.q_net(tensor).cpu().numpy()
        legal = np.ones(q.shape, bool)
        if action_masks is not None:
            legal = np.asarray(action_masks, bool).reshape(q.shape)
        actions = np.where(legal, q, -np.inf).argmax(axis=1)
        if not deterministic and self.exploration_rate > 0:
            explores = _uniform(len(q)) < self.exploration_rate
            actions = np.where(explores, _any_legal(legal), actions)
        return actions if is_batch else actions[0], state

    def _sample_action(
        self,
        learning_starts: int,
        action_noise: ActionNoise | None = None,
        n_envs: int = 1,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        assert self.env is not None
        assert self._last_obs is not None
        legal = get_action_masks(self.env)
        if self.num_timesteps < learning_starts:
            actions = _any_legal(legal)
        else:
            actions, _ = self.predict(self._last_obs, action_masks=legal)
        return actions, actions


def _any_legal(legal: Masks) -> NDArray[np.int64]:
    """Draw a legal action for each row, all equally probable."""
    return np.asarray(np.where(legal, _uniform(*legal.shape), -1.0).argmax(axis=1))


def _uniform(*shape: int) -> NDArray[np.float64]:
    """Draw numbers from the global generator, which Stable-Baselines3 seeds and uses."""
    return np.random.random(shape)  # noqa: NPY002
