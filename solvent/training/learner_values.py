"""The exact values of a learner in training, learners that are given them, and its true gradient.

A learner plays one seat of a game that has a table. Its observations are looked up among those of
all states, so that rollouts and replay buffers become arrays of states and actions.

An illegal action counts as the lowest legal one, which the environment takes instead, so that every
action has a value in every state. A learner that is told the legal actions has only these.

Values are of two kinds. Policies are scored by the objective of the game. A critic or a network of
action values estimates values of the rewards that the environment gives, which adds a constant to
seat 1's at the end if that is a win or a loss; they also have the learner's own discount, `gamma`.

:class:`ExactAdvantages` and :class:`ExactTargets` give a learner exact values instead of its
estimates, to measure the cost of estimation. They are for analysis only. The record of
:func:`solvent.training.train` says that the learner was given exact values.

**The true policy gradient** is compared with the gradients that an algorithm uses. For a network
with parameters theta, with d(s) the expected visits in an episode and A the advantages of its
present policy pi, the gradient of the value at the start is

    grad V(mu)  =  sum over s of d(s)  sum over a of  pi(a|s) A(s, a)  grad log pi(a|s)

(Sutton et al. 2000, *Policy gradient methods for reinforcement learning with function
approximation*, theorem 1). Here d, pi and A are exact, and torch differentiates the network. All
estimates have the same form with other weights w(s, a) instead of d(s) pi(a|s) A(s, a), such as the
sums of a rollout's estimated advantages.

**The gradient that is used** is found by running the update first on a copy of the learner, with
the same random numbers. The copy's gradients equal the learner's later ones bit for bit. In further
copies one estimate is replaced by its exact value, so that their errors can be compared.
"""

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from torch import nn

from solvent.baselines.gate import layers
from solvent.envs.sampling import bonus_of, kind_that_fits
from solvent.exact import ImproperGameError, cached_solution, policy_value, state_visitation
from solvent.model import TabularGame, TabularPolicy, discounted, project
from solvent.model.arrays import Floats, Ints
from solvent.model.transforms import discounted_policy
from solvent.training.algorithms import Watcher
from solvent.training.extract import (
    OF_ACTION_VALUES,
    action_values,
    extract,
    inputs,
    is_masked,
    log_policy,
    mean_values,
)
from solvent.training.learners import keys_of


class Values(NamedTuple):
    """The exact values of a policy to its own player.

    Attributes:
        v: [S] value of each state.
        q: [S, A] value of each action if the policy is followed afterwards; minus infinity where an
            action is not allowed.
    """

    v: Floats
    q: Floats


class LearnerValues:
    """A learner with the table of its game.

    Args:
        model: A learner of Stable-Baselines3 with its environment.
        game: The table that its environment samples.
        player: The player whose policy is learned.
        observation: The network's kind of observation, as for ``extract``.

    Attributes:
        model: The learner.
        game: The table.
        player: The player whose policy is learned.
        acting: [S] whether the learner acts in a state.
        masked: Whether the learner is told the legal actions.
        rows: [S, ...] the network's input in each state.
        allowed: [S, A] the actions that the learner may choose.

    Raises:
        ValueError: If the environment samples another game, normalizes observations, or shows the
            same observation in two states in which the learner acts; or if the learner has a
            discount of its own in a game in turns.
    """

    def __init__(
        self,
        model: BaseAlgorithm,
        game: TabularGame,
        *,
        player: int = 0,
        observation: str | None = None,
    ) -> None:
        if model.get_vec_normalize_env() is not None:
            raise ValueError(
                "the environment is a VecNormalize; states cannot be read off observations whose "
                "normalization changes: train without it"
            )
        self.model, self.game, self.player = model, game, player
        self.observation = observation or kind_that_fits(model.observation_space, game, player)
        self.rows = inputs(model, game, self.observation, player)
        self.acting = game.on_turn(player)
        self.masked = is_masked(model)
        mask = game.mask[player]
        self.allowed = mask if self.masked else np.ones_like(mask)
        self._lowest = mask.argmax(axis=1)
        shown, ended = (
            dict(zip(_keys(self.rows[where]), np.flatnonzero(where).tolist(), strict=True))
            for where in (self.acting, game.terminal)
        )
        # Episodes may end before the learner's first turn.
        self._states = ended | shown
        if len(shown) < self.acting.sum():
            raise ValueError(
                f"{game.info.name}: {self.acting.sum()} states have {len(shown)} observations; the "
                f"microscope needs a game whose observations tell its states apart"
            )
        gamma = float(getattr(model, "gamma", 1.0))
        if gamma < 1 and game.turn is not None:
            raise ValueError(
                f"gamma is {gamma}; {game.info.name} is a game in turns, in which the learner's "
                f"discount does not count the other player's moves: train with gamma=1.0"
            )
        rewarded = _rewarded(game, player, model.env)
        self._estimated = discounted(rewarded, gamma) if gamma < 1 else rewarded

    def states(self, seen: Any) -> Ints:
        """Return the states in which the learner made n observations, [n].

        Args:
            seen: [n, ...] observations.

        Raises:
            ValueError: If an observation is that of no state.
        """
        found = [self._states.get(key, -1) for key in _keys(np.asarray(seen))]
        if -1 in found:
            raise ValueError(f"{self.game.info.name}: the learner made an observation of no state")
        return np.array(found, np.int64)

    def played(self, states: Ints, actions: Ints) -> Ints:
        """Return the actions that the environment took for chosen ones, [n].

        Args:
            states: [n] the states.
            actions: [n] the chosen actions.
        """
        legal = self.game.mask[self.player][states, actions]
        return np.where(legal, actions, self._lowest[states])

    def policies(self, *, gate: bool = False) -> tuple[TabularPolicy, TabularPolicy]:
        """Return the policy that acts in training now, and the greedy one.

        The first is the sampled policy; of a learner of action values the epsilon-greedy one.

        Args:
            gate: Whether to check the network at the gate, as for ``extract``.
        """
        found = extract(
            self.model, self.game, observation=self.observation, player=self.player, gate=gate
        )
        if not isinstance(self.model.policy, OF_ACTION_VALUES):
            return found.sampled, found.mode
        epsilon = float(getattr(self.model, "exploration_rate", 0.0))
        any_action = self.allowed / np.maximum(self.allowed.sum(axis=1, keepdims=True), 1)
        explored = project(any_action, self.game.mask[self.player])
        mixed = (1 - epsilon) * found.mode.probabilities + epsilon * explored
        policy = TabularPolicy.of(self.game, mixed, player=self.player, name=found.sampled.name)
        return policy, found.mode

    def value(self, policy: TabularPolicy, *, estimated: bool = False) -> Values:
        """Return the exact values of a policy.

        Args:
            policy: The policy.
            estimated: Whether to use the environment's rewards and the learner's own discount, as
                its estimates do.

        Raises:
            ImproperGameError: If the policy has no value at the start.
        """
        game = self._estimated if estimated else self.game
        if game.n_states > len(policy.probabilities):
            policy = discounted_policy(policy, game)
        policy = replace(policy, model_hash=game.model_hash)
        values = policy_value(game, policy)
        return Values(self._sign * values[: self.game.n_states], self._by_action(game, values))

    def backed_up(self, values: Floats) -> Floats:
        """Return the expected reward and next value of each action, [S, A], with `gamma`.

        The next value is that of the state in which the learner acts again.

        Args:
            values: [S] values to the learner; only those of states in which it acts are used.
        """
        game = self._estimated
        ahead = np.zeros(game.n_states)
        ahead[: len(values)] = np.where(self.acting, self._sign * values, 0.0)
        waits = np.flatnonzero(~self.acting & ~self.game.terminal)
        rows = game.row_start[waits]  # Where it waits there is one row.
        for _ in range(len(waits)):
            before, ahead[waits] = ahead[waits], game.expectation(ahead)[rows]
            if np.array_equal(before, ahead[waits]):
                break
        return self._by_action(game, ahead)

    @cached_property
    def optimum(self) -> Floats:
        """[S] the optimal values to the learner, with `gamma`."""
        return self._sign * cached_solution(self._estimated).values[: self.game.n_states]

    def visits(self, policy: TabularPolicy) -> Floats:
        """Return the expected number of visits of each state in which the learner acts, [S].

        They are those of the game itself, without `gamma`, and NaN if an episode may never end.
        """
        try:
            return np.where(self.acting, state_visitation(self.game, policy), 0.0)
        except ImproperGameError:
            return np.full(self.game.n_states, np.nan)

    def estimates(self) -> Floats:
        """Return the critic's values, [S], or the network's action values, [S, A]."""
        if isinstance(self.model.policy, OF_ACTION_VALUES):
            return action_values(self.model, self.rows, self.allowed)
        seen, _ = self.model.policy.obs_to_tensor(self.rows)
        with torch.no_grad():
            values = self.model.policy.predict_values(seen)  # type: ignore[operator]
        return np.asarray(values.cpu().numpy()[:, 0], float)

    @property
    def _sign(self) -> int:
        return 1 - 2 * self.player

    def _by_action(self, game: TabularGame, values: Floats) -> Floats:
        """Return the values of all allowed actions to the learner, from values to player 0."""
        q = np.full(self.allowed.shape, -np.inf)
        q[game.row_state, game.row_action[self.player]] = self._sign * game.expectation(values)
        if self.masked:
            return q
        everywhere = np.arange(len(q))
        return np.where(self.game.mask[self.player], q, q[everywhere, self._lowest][:, None])


def _rewarded(game: TabularGame, player: int, env: Any) -> TabularGame:
    """Return a game with the rewards that an environment gives, which adds seat 1's at the end."""
    bonus = player * bonus_of(game.info)
    if not (bonus and any(getattr(layer, "opponents", ()) for layer in layers(env))):
        return game
    ends = game.terminal[game.next_state]
    return replace(game, outcome_reward=game.outcome_reward - bonus * ends)


def _keys(seen: NDArray[Any]) -> list[bytes]:
    """Return a key of each observation; adding 0 makes a negative zero an ordinary one."""
    return keys_of((seen.reshape(len(seen), -1).astype(np.float32) + np.float32(0),))


class Informed(Watcher):
    """A callback with the exact values of its learner.

    Args:
        game: The table that the training environments sample.
        player: The player whose policy is learned.
        observation: The network's kind of observation, as for ``extract``.
    """

    values: LearnerValues

    def __init__(
        self, game: TabularGame, *, player: int = 0, observation: str | None = None
    ) -> None:
        super().__init__()
        self.game, self.player, self.observation = game, player, observation

    def _on_training_start(self) -> None:
        self.values = LearnerValues(
            self.model, self.game, player=self.player, observation=self.observation
        )


class ExactAdvantages(Informed):
    """Gives a method of policy gradients the exact advantages of its present policy.

    They replace the rollout's estimates, and exact values replace its returns. States and actions
    are sampled as before. The learner receives information that it could not have: call it
    "+exact advantages" in results.

    Args:
        game: The table that the training environments sample.
        player: The player whose policy is learned.
        observation: The network's kind of observation, as for ``extract``.
    """

    suffix: ClassVar[str] = "+exact advantages"

    def _on_rollout_end(self) -> None:
        assert isinstance(self.model, OnPolicyAlgorithm)
        buffer = self.model.rollout_buffer
        seen = buffer.observations.reshape(-1, *buffer.observations.shape[2:])
        states = self.values.states(seen).reshape(buffer.advantages.shape)
        actions = buffer.actions.reshape(states.shape).astype(np.int64)
        exact = self.values.value(self.values.policies()[0], estimated=True)
        value = exact.v[states]
        known = np.isfinite(value) & self.values.acting[states]
        buffer.advantages[known] = (exact.q[states, actions] - value)[known]
        buffer.returns[known] = value[known]


class ExactTargets(Informed):
    """Gives a learner of action values expected targets instead of sampled ones.

    The target of a transition is the expected reward plus the expected largest action value of the
    next state by the target network. The states and actions of the replay buffer stay. All
    quantiles of QR-DQN get the same target, its mean. The learner receives information that it
    could not have: call it "+exact targets" in results.

    Args:
        game: The table that the training environments sample.
        player: The player whose policy is learned.
        observation: The network's kind of observation, as for ``extract``.
    """

    suffix: ClassVar[str] = "+exact targets"

    def _on_training_start(self) -> None:
        super()._on_training_start()
        model: Any = self.model
        quantiles = isinstance(model.policy, QRDQNPolicy)
        target = model.quantile_net_target if quantiles else model.q_net_target
        plain, known = model.replay_buffer.sample, [torch.empty(0), torch.empty(0)]

        def sample(batch_size: int, env: Any = None) -> Any:
            batch = plain(batch_size, env=env)
            present = torch.nn.utils.parameters_to_vector(target.parameters())
            if not torch.equal(known[0], present):
                known[:] = present, torch.from_numpy(self.targets(target))
            states = torch.from_numpy(self.values.states(batch.observations.cpu().numpy()))
            exact = known[1][states, batch.actions[:, 0].cpu()].to(batch.rewards)
            # An episode that ended before the learner's first turn has its own reward.
            acting = torch.from_numpy(self.values.acting)[states][:, None]
            exact = torch.where(acting.to(exact.device), exact[:, None], batch.rewards)
            return batch._replace(rewards=exact, dones=torch.ones_like(batch.dones))

        model.replay_buffer.sample = sample

    @torch.no_grad()
    def targets(self, network: nn.Module) -> Floats:
        """Return the expected target of each action by a target network, [S, A].

        Args:
            network: The target network.
        """
        seen, _ = self.model.policy.obs_to_tensor(self.values.rows)
        found = np.asarray(mean_values(network, seen).cpu().numpy(), float)
        return self.values.backed_up(np.where(self.values.allowed, found, -np.inf).max(axis=1))


POLICY_GRADIENT = (PPO, A2C, MaskablePPO)
"""Algorithms whose policy follows the gradients that its optimizer is given."""

PARTS = 8
"""Largest number of independent parts of a rollout, by which the noise is measured."""

# A clip range that clips nothing.
_NO_CLIP = 1e9


@dataclass(frozen=True, slots=True)
class GradientReading:
    """The true policy gradient compared with an update's; NaN where an algorithm has no such part.

    Cosines are of the angle to the true gradient. An update's gradient is the mean of the gradients
    that its optimizer was given, over all minibatches and epochs.

    Attributes:
        norm: Length of the true gradient of the value at the start.
        cosine: Cosine of the update's gradient.
        first_cosine: Cosine of the gradient of the first minibatch.
        part_cosine: Mean cosine of the estimates from up to eight parts of the rollout, each with
            environments of its own, before the network moves.
        noise: Variance of the rollout's estimate, computed from these parts, in units of its
            squared length. Above 1 the estimate is more noise than gradient.
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
    estimates = []
    for at in _parts(states.shape):
        weights = np.zeros(q.shape)
        np.add.at(weights, (states[at], actions[at]), given[at] / states[at].size)
        estimates.append(network.of(weights))
    parts = np.array(estimates)
    mean = parts.mean(axis=0)
    return GradientReading(
        norm=norm,
        cosine=_cosine(used.mean(axis=0), true),
        first_cosine=_cosine(used[0], true),
        part_cosine=float(np.mean([_cosine(part, true) for part in parts])),
        noise=float(parts.var(axis=0, ddof=1).sum() / len(parts) / (mean @ mean)),
        exact_advantages=cosine(exact),
        exact_states=cosine(given * expected / sampled, normalize_advantage=False),
        unclipped=cosine(clip_range=lambda _: _NO_CLIP) if hasattr(model, "clip_range") else nan,
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
