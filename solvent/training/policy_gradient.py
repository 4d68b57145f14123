"""The true policy gradient beside the gradients that an algorithm uses.

For a network with parameters theta, d(s) the expected visits of an episode and A the advantages of
its present policy pi, the gradient of the value at the start is

    grad V(mu)  =  sum over s of d(s)  sum over a of  pi(a|s) A(s, a)  grad log pi(a|s)

(Sutton et al. 2000, *Policy gradient methods for reinforcement learning with function
approximation*, theorem 1). Here d, pi and A are exact, and the chain rule through the network is
that of torch. All estimates of it have the same form with other weights w(s, a) in place of
d(s) pi(a|s) A(s, a), such as the sums of a rollout's estimated advantages.

**The gradient that was used** is found by running the update twice, first on a copy of the learner
with the same random numbers. The copy gets the gradients bit for bit that the learner gets
afterwards. A second copy gets one thing exact in place of its estimate, so that the errors compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from math import nan
from typing import Any, NamedTuple

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from solvent.model.arrays import Bools, Floats, Ints
from solvent.training.learner_values import LearnerValues

POLICY_GRADIENT = (PPO, A2C, MaskablePPO)
"""Algorithms whose policy follows the gradients that its optimizer is given."""

PARTS = 8
"""Largest number of independent parts of a rollout, by which the noise is measured."""

NO_CLIP = 1e9
"""A clip range that clips nothing."""


class GradientReading(NamedTuple):
    """The true policy gradient beside what an update used; NaN for what an algorithm lacks.

    A cosine is that of the angle to the true gradient. An update's gradient is the mean of those
    that its optimizer was given, over all minibatches and epochs.

    Attributes:
        norm: Length of the true gradient of the value at the start.
        cosine: Cosine of the update's gradient.
        first_cosine: Cosine of the gradient of the first minibatch.
        part_cosine: Mean cosine of the estimates from up to eight parts of the rollout, each with
            environments of its own, before the network moves.
        noise: Variance of the rollout's estimate, found from these parts, in units of its squared
            length. Above 1 it is more noise than gradient.
        exact_advantages: Cosine if the update has exact advantages of the sampled actions.
        exact_states: Cosine if each state has its exact share of the visits, not that of the
            rollout.
        unclipped: Cosine if no probability ratio is clipped.
        no_entropy: Cosine if there is no entropy bonus.
    """

    norm: float
    cosine: float
    first_cosine: float
    part_cosine: float
    noise: float
    exact_advantages: float
    exact_states: float
    unclipped: float
    no_entropy: float

    def shares(self) -> dict[str, float]:
        """Return the share of the update's error that goes away with each estimate.

        The error is 1 minus the cosine. Each estimate is replaced alone, so that shares need not
        sum to 1, and a share is negative where the replacement makes the direction worse.
        """
        error = 1 - self.cosine
        found = {
            "advantages": self.exact_advantages,
            "states": self.exact_states,
            "clipping": self.unclipped,
            "entropy": self.no_entropy,
        }
        return {
            name: (cosine - self.cosine) / error if error > 0 else nan
            for name, cosine in found.items()
        }


@torch.enable_grad()
def read_gradient(
    values: LearnerValues, visits: Floats, q: Floats, estimated: Floats
) -> GradientReading | None:
    """Compare the next update of a learner with the true gradient.

    Args:
        values: The learner, between a rollout and its update.
        visits: [S] the policy's expected visits.
        q: [S, A] exact values of actions.
        estimated: [S, A] the same with the learner's own discount.

    Returns:
        None if there is no true gradient, since an episode may never end or it is 0.
    """
    model = values.model
    assert isinstance(model, OnPolicyAlgorithm)
    network = ActorGradient(values)
    advantage = network.advantage(q)
    true = network.of(visits[:, None] * network.probabilities * advantage)
    norm = float(np.linalg.norm(true))
    if not (np.isfinite(norm) and norm > 0):
        return None

    buffer = model.rollout_buffer
    states = values.states(buffer.observations.reshape(-1, *buffer.observations.shape[2:]))
    states = states.reshape(buffer.advantages.shape)
    actions = buffer.actions.reshape(states.shape).astype(np.int64)
    given = buffer.advantages.astype(np.float64)
    if getattr(model, "normalize_advantage", False):
        given = (given - given.mean()) / (given.std() + 1e-8)
    expected = visits[states] / visits.sum()
    sampled = np.bincount(states.ravel(), minlength=len(visits))[states] / states.size
    exact = network.advantage(estimated)[states, actions]

    def cosine(changed: Floats | None = None, **changes: Any) -> float:
        return _cosine(network.used(changed, **changes).mean(axis=0), true)

    used = network.used()
    parts = np.array([
        network.of_samples(states[at], actions[at], given[at]) for at in _parts(states.shape)
    ])  # fmt: skip
    mean = parts.mean(axis=0)
    return GradientReading(
        norm=norm,
        cosine=_cosine(used.mean(axis=0), true),
        first_cosine=_cosine(used[0], true),
        part_cosine=float(np.mean([_cosine(part, true) for part in parts])),
        noise=float(parts.var(axis=0, ddof=1).sum() / len(parts) / (mean @ mean)),
        exact_advantages=cosine(exact),
        exact_states=cosine(given * expected / sampled, normalize_advantage=False),
        unclipped=cosine(clip_range=lambda _: NO_CLIP) if hasattr(model, "clip_range") else nan,
        no_entropy=cosine(ent_coef=0.0),
    )


class ActorGradient:
    """The derivatives of a learner's policy, computed on a copy of its network.

    Args:
        values: The learner.

    Attributes:
        probabilities: [S, A] probabilities of actions, before illegal ones are replaced; 0 in
            states in which the learner does not act.
    """

    def __init__(self, values: LearnerValues) -> None:
        self._model = values.model
        self._at = np.flatnonzero(values.acting)
        policy = deepcopy(self._model.policy)
        self._log_policy = log_policy(policy, values.rows[self._at], values.allowed[self._at])
        parameters = list(policy.parameters())
        found = torch.autograd.grad(
            self._log_policy[:1, 0].sum(), parameters, retain_graph=True, allow_unused=True
        )
        # The critic has parameters of its own, which do not move the policy.
        self._moving = [n for n, gradient in enumerate(found) if gradient is not None]
        self._parameters = [parameters[n] for n in self._moving]
        self.probabilities = np.zeros(values.allowed.shape)
        self.probabilities[self._at] = self._log_policy.detach().exp().cpu().numpy()

    def advantage(self, q: Floats) -> Floats:
        """Return the advantages of actions over the policy, [S, A]; 0 where it never acts.

        Args:
            q: [S, A] values of actions.
        """
        possible = self.probabilities > 0
        known = np.where(possible, q, 0.0)
        mean = (self.probabilities * known).sum(axis=1, keepdims=True)
        return np.where(possible, known - mean, 0.0)

    def of(self, weights: Floats) -> Floats:
        """Return the weighted sum of all gradients of log probabilities, [P].

        Args:
            weights: [S, A] the weights.
        """
        given = torch.from_numpy(weights[self._at]).to(self._log_policy)
        found = torch.autograd.grad(self._log_policy, self._parameters, given, retain_graph=True)
        return _flat(found)

    def of_samples(self, states: Ints, actions: Ints, advantages: Floats) -> Floats:
        """Return the gradient as estimated from samples, the mean of their terms, [P].

        Args:
            states: [...] the states of the samples.
            actions: [...] the chosen actions.
            advantages: [...] the estimated advantages.
        """
        weights = np.zeros(self.probabilities.shape)
        np.add.at(weights, (states, actions), advantages / states.size)
        return self.of(weights)

    def used(self, advantages: Floats | None = None, **changes: Any) -> Floats:
        """Return the gradients that the next update gives to the optimizer, one for each step.

        Args:
            advantages: [steps, environments] advantages in place of those of the rollout.
            changes: Attributes of the learner to change.

        Returns:
            [steps, P] the ascent directions. The learner and all random generators stay as they
            are.
        """
        twin: Any = copy(self._model)
        twin.policy = deepcopy(self._model.policy)
        twin.rollout_buffer = copy(twin.rollout_buffer)
        twin.set_logger(Logger(None, []))
        if advantages is not None:
            twin.rollout_buffer.advantages = advantages.astype(np.float32)
        vars(twin).update(changes)
        # As Stable-Baselines3 does between the rollout and the update.
        twin._update_current_progress_remaining(twin.num_timesteps, twin._total_timesteps)
        parameters, found = list(twin.policy.parameters()), []

        def record(*_: Any) -> None:
            gradients = [parameters[n].grad for n in self._moving]
            found.append(-_flat([g for g in gradients if g is not None]))

        twin.policy.optimizer.register_step_pre_hook(record)
        drawn = np.random.get_state()  # noqa: NPY002  # Stable-Baselines3 draws from this one.
        with torch.random.fork_rng(devices=[]):
            twin.train()
        np.random.set_state(drawn)  # noqa: NPY002
        return np.array(found)


def log_policy(policy: Any, rows: Any, allowed: Bools) -> torch.Tensor:
    """Return a network's log probabilities of all actions, [n, A].

    Args:
        policy: The actor and critic.
        rows: [n, ...] observations.
        allowed: [n, A] the legal actions, where they are masked.
    """
    told = {}
    if isinstance(policy, MaskableActorCriticPolicy):
        told = {"action_masks": allowed}
    seen, _ = policy.obs_to_tensor(rows)
    found: torch.Tensor = policy.get_distribution(seen, **told).distribution.logits
    return found


def _parts(shape: tuple[int, ...]) -> list[Any]:
    """Return the indices of independent parts of a rollout of [steps, environments]."""
    steps, n_envs = shape
    if n_envs > 1:
        count = min(PARTS, n_envs)
        return [(slice(None), slice(part, None, count)) for part in range(count)]
    return [(at,) for at in np.array_split(np.arange(steps), min(PARTS, steps))]


def _cosine(one: Floats, other: Floats) -> float:
    """Return the cosine of the angle between two vectors; NaN if one is 0."""
    size = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other / size) if size > 0 else nan


def _flat(gradients: Sequence[torch.Tensor]) -> Floats:
    """Return gradients as one vector."""
    found: Floats = torch.cat([g.reshape(-1) for g in gradients]).double().cpu().numpy()
    return found
