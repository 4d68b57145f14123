"""PPO that evaluates each distinct observation once, and DQN with action masks.

**PPO.** Episodes of a game with a table visit the same states again and again. In Fighting Fantasy
combat about 1,300 of the 16,384 samples of a rollout are distinct, and about 650 of the 2,048 in a
minibatch.

PPO's loss on a sample depends on the observation, the action, the advantage and the return. With
the old policy p, the new one x, the ratio r = x(a | s) / p(a | s), the advantage A and the clip
range c, the loss of the policy over n samples is the mean of

    -min(A r, A clip(r, 1 - c, 1 + c)) = -max(A, 0) min(r, 1 + c) - min(A, 0) max(r, 1 - c),

and r is the same for all samples of a pair (s, a), since a rollout has one old policy. So the sum
over samples is a sum over pairs, weighted by the sums of their positive and of their negative
advantages. The entropy needs the number of samples of each state, and the squared error of the
value also the sum of their returns. The terms are those of PPO (Schulman et al. 2017, *Proximal
policy optimization algorithms*): loss and gradient equal those of Stable-Baselines3 up to rounding,
and the random numbers are the same.

A network is saved in the format of Stable-Baselines3, which can load it.

**Deep Q-learning.** Plain DQN (Mnih et al. 2015) explores all actions and bootstraps from max over
all a of Q(s', a), so that the value of an illegal action can leak into every target. Here both the
epsilon-greedy choice and the maximum range over legal actions only; nothing else differs. The masks
of the next states are kept in the replay buffer.
"""

from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecNormalize
from torch import Tensor, nn

from solvent.model.parameters import shown

Array = NDArray[Any]

ILLEGAL = -1e8
"""The logit of an illegal action, as in MaskablePPO."""


class DistinctObservations:
    """The distinct observations of a rollout, numbered in order of appearance.

    Where actions are masked, an observation includes its legal actions.

    Args:
        policy: The policy that collects the rollout.

    Attributes:
        log_probabilities: [U, A] log probability of each action, for each of the U observations so
            far.
        probabilities: [U, A] probability of each action.
        values: [U, 1] critic's value of each observation.
        steps: [n] numbers of the observations in each step of the rollout.
    """

    def __init__(self, policy: ActorCriticPolicy) -> None:
        self._policy = policy
        self._numbers: dict[bytes, int] = {}
        self._seen: list[tuple[Tensor, ...]] = []
        self.steps: list[Tensor] = []
        self.log_probabilities = self.probabilities = self.values = torch.empty(0)

    def act(self, seen: Tensor, **told: Array | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return actions, values and log probabilities of a step, as the policy's ``forward`` does.

        Args:
            seen: [n, D] observations.
            told: The legal actions, if actions are masked.
        """
        masks = (legal for legal in told.values() if legal is not None)
        which = self.find(seen.numpy(), *masks)
        self.steps.append(which)
        chosen = torch.multinomial(self.probabilities[which], 1, replacement=True)
        log_policy = self.log_probabilities[which].gather(1, chosen)
        return chosen[:, 0], self.values[which], log_policy[:, 0]

    def find(self, *seen: Array) -> Tensor:
        """Return the numbers of observations, [n]; new ones are added and evaluated.

        Args:
            seen: [n, D] observations and, where actions are masked, [n, A] legal actions.
        """
        keys = keys_of(seen)
        numbers = list(map(self._numbers.get, keys))
        if None in numbers:
            first = {key: i for i, key in enumerate(keys) if numbers[i] is None}
            self._numbers.update(zip(first, count(len(self._numbers))))
            at = list(first.values())
            self._add(*(torch.from_numpy(array[at]) for array in seen))
            numbers = list(map(self._numbers.get, keys))
        return torch.tensor(numbers)

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """All observations, [U, D], and with masking their legal actions, [U, A]."""
        return tuple(map(torch.cat, zip(*self._seen, strict=True)))

    def _add(self, seen: Tensor, *legal: Tensor) -> None:
        log_policy, value = network_outputs(self._policy, seen.float(), *legal)
        found = (log_policy, log_policy.exp(), value)
        if self._seen:
            known = (self.log_probabilities, self.probabilities, self.values)
            found = tuple(map(torch.cat, zip(known, found, strict=True)))  # type: ignore[assignment]
        self.log_probabilities, self.probabilities, self.values = found
        self._seen.append((seen.float(), *legal))


def network_outputs(
    policy: ActorCriticPolicy, seen: Tensor, legal: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the logarithms of the probabilities of all actions, [U, A], and the values, [U, 1].

    Args:
        policy: The network.
        seen: [U, D] observations.
        legal: [U, A] the legal actions, where actions are masked.
    """
    actor, critic = policy.mlp_extractor(policy.extract_features(seen))
    logits = policy.action_net(actor)
    if legal is not None:
        logits = logits.masked_fill(~legal, ILLEGAL)
    return torch.log_softmax(logits, dim=1), policy.value_net(critic)


def keys_of(arrays: tuple[Array, ...]) -> list[bytes]:
    """Return the bytes of each row of some arrays of n rows, without trailing zeros."""
    rows = [np.ascontiguousarray(a).reshape(len(a), -1).view(np.uint8) for a in arrays]
    joint = rows[0] if len(rows) == 1 else np.hstack(rows)
    keys: list[bytes] = joint.view(f"S{joint.shape[1]}")[:, 0].tolist()
    return keys


def losses(
    policy: ActorCriticPolicy,
    found: DistinctObservations,
    which: Array,
    action: Array,
    advantage: Array,
    returns: Array,
    clip: float,
) -> tuple[Tensor, ...]:
    """Return the means over a minibatch of n samples that PPO weighs and logs.

    Args:
        policy: The network that learns.
        found: The distinct observations of the rollout, with the policy that collected it.
        which: [n] numbers of the observations.
        action: [n] int64 actions.
        advantage: [n] float64 advantages.
        returns: [n] float64 returns.
        clip: The clip range.

    Returns:
        The clipped gain, the squared error of the value, the entropy, the share of samples whose
        ratio is outside the clip range, and the approximate divergence from the old policy.
    """
    counted = np.bincount(which)
    used = np.flatnonzero(counted)
    place = np.empty(len(counted), np.int64)
    place[used] = np.arange(len(used))
    local = place[which]
    total_return = np.bincount(local, returns)
    mean = total_return / counted[used]
    spread = float(returns @ returns - mean @ total_return)
    old = found.log_probabilities[used]
    pair = local * old.shape[1] + action
    of_pairs = [
        np.bincount(pair, weights, old.numel()).reshape(old.shape)
        for weights in (None, np.maximum(advantage, 0), np.minimum(advantage, 0))
    ]
    samples, mean_return, pairs, gains, costs = (
        torch.from_numpy(array.astype(np.float32)) for array in (counted[used], mean, *of_pairs)
    )

    log_policy, value = network_outputs(policy, *(tensor[used] for tensor in found.tensors))
    log_ratio = log_policy - old
    ratio = log_ratio.exp()
    gained = gains * ratio.clamp(max=1 + clip) + costs * ratio.clamp(min=1 - clip)
    error = samples * (value[:, 0] - mean_return) ** 2
    entropy = -samples[:, None] * log_policy.exp() * log_policy
    outside = pairs * ((ratio - 1).abs() > clip)
    divergence = pairs * (ratio - 1 - log_ratio)
    sums = gained.sum(), error.sum() + spread, entropy.sum(), outside.sum(), divergence.sum()
    return tuple(one / len(which) for one in sums)


class _OncePerObservation(OnPolicyAlgorithm):
    """The rollouts and updates of :class:`DistinctPPO` and :class:`DistinctMaskablePPO`."""

    batch_size: Any
    n_epochs: int
    clip_range: Any
    clip_range_vf: Any
    normalize_advantage: bool
    target_kl: float | None

    _rollout: DistinctObservations | None = None
    """The distinct observations of the last rollout."""

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_rollout"]

    def _is_plain(self) -> bool:
        """Check whether this module covers the loss and the networks."""
        return (
            self.device.type == "cpu"
            and type(self.policy) in (ActorCriticPolicy, MaskableActorCriticPolicy)
            and self.policy.share_features_extractor
            and type(self.policy.features_extractor) is FlattenExtractor
            and isinstance(self.observation_space, spaces.Box)
            and len(self.observation_space.shape) == 1
            and isinstance(self.action_space, spaces.Discrete)
            and self.clip_range_vf is None
            and self.target_kl is None
        )

    def collect_rollouts(self, *arguments: Any, **others: Any) -> bool:
        """Collect a rollout; the network is evaluated once for each distinct observation in it.

        Args:
            arguments: Positional arguments of Stable-Baselines3's method.
            others: Keyword arguments of Stable-Baselines3's method.

        Returns:
            Whether to go on, as the callback says.
        """
        if not self._is_plain():
            return super().collect_rollouts(*arguments, **others)
        self._rollout = DistinctObservations(self.policy)
        # Stable-Baselines3 calls the policy once a step, and a module its attribute of this name.
        self.policy.forward = self._rollout.act  # type: ignore[assignment, method-assign]
        try:
            return super().collect_rollouts(*arguments, **others)
        finally:
            del self.policy.forward

    def train(self) -> None:
        """Update the network by the last rollout, as :meth:`stable_baselines3.PPO.train` does.

        Logged figures are means over the last epoch.
        """
        if self._rollout is None:
            super().train()
            return
        found, self._rollout = self._rollout, None
        buffer = self.rollout_buffer
        self._update_learning_rate(self.policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)
        # In the order of Stable-Baselines3, so that the minibatches are the same.
        which, action, advantage, returns = (
            buffer.swap_and_flatten(array)[:, 0]
            for array in (
                torch.stack(found.steps).numpy(),
                buffer.actions.astype(np.int64),
                buffer.advantages.astype(np.float64),
                buffer.returns.astype(np.float64),
            )
        )
        figures: list[list[float]] = []
        for epoch in range(self.n_epochs):
            order = np.random.permutation(len(which))  # noqa: NPY002  # Its generator, too.
            for start in range(0, len(order), self.batch_size):
                at = order[start : start + self.batch_size]
                gain = advantage[at]
                if self.normalize_advantage and len(at) > 1:
                    gain = (gain - gain.mean()) / (gain.std(ddof=1) + 1e-8)
                means = losses(self.policy, found, which[at], action[at], gain, returns[at], clip)
                gained, error, entropy = means[:3]
                loss = -gained - self.ent_coef * entropy + self.vf_coef * error
                self.policy.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                if epoch == self.n_epochs - 1:
                    figures.append([figure.item() for figure in (*means, loss)])
            self._n_updates += 1

        averages = np.mean(figures, axis=0) * (-1, 1, -1, 1, 1, 1)
        names = "policy_gradient_loss value_loss entropy_loss clip_fraction approx_kl loss"
        explained = explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        for name, figure in zip(
            (*names.split(), "explained_variance", "clip_range"),
            (*averages, explained, clip),
            strict=True,
        ):
            self.logger.record(f"train/{name}", figure)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")


class DistinctPPO(_OncePerObservation, PPO):
    """:class:`stable_baselines3.PPO` for a network that treats each observation by itself."""


class DistinctMaskablePPO(_OncePerObservation, MaskablePPO):
    """:class:`sb3_contrib.MaskablePPO` for a network that treats each observation by itself."""


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
        ValueError: If ``n_steps`` is not 1.
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
