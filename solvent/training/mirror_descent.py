"""Mirror descent for two players who learn from the same episodes, with a critic of joint actions.

If both players act at once, the value of an action depends on the other's action, which the player
does not see. Policy gradients have to average it out: the return after an action depends on the
other's random action, with a spread many times the differences that matter. But the learner sees
both actions. So the *critic* estimates Q(s, a, b) for every pair of actions from transitions,

    Q(s, a, b)  <-  r + sum over a', b' of x(a' | s') y(b' | s') Q(s', a', b'),

with x and y the policies of seat 0 and seat 1, and a player's action values are its mean over the
other's policy, q(s, a) = sum over b of y(b | s) Q(s, a, b): for every action, also for those that
were not taken, and without the other's luck.

The *actor* follows magnetic mirror descent (Sokota et al. 2023, *A unified approach to
reinforcement learning, quantal response equilibria, and two-player zero-sum games*) with the
uniform policy as its magnet. A step of size e at the temperature t, in points, leads from x to the
policy proportional to

    (x(a | s) exp(e q(s, a)))^(1 / (1 + e t)),

to which the network is then fitted. If both players took this step at once, they would circle
around the equilibrium, ever wider unless e is far smaller than t. So they take turns within an
update: seat 1 responds to seat 0's new policy. This takes no more episodes, since the critic
estimates the values against it.

Even so both would circle, each responding to an outdated policy of the other. Three things keep the
circles small:

- Actors follow their targets closely, by many small minibatches.
- The responding player looks ahead: it responds to the other's policy after one more step of its
  own, a longer one. The critic estimates the values against that policy too (an extragradient
  method: Korpelevich 1976).
- No legal action falls below a floor, and none that is better than the policy falls below a higher
  floor. At a low temperature a bad action soon becomes so rare that it takes hundreds of updates to
  return when it becomes good, and meanwhile the other player need not fear it: a step multiplies
  probabilities, and the cross-entropy by which a network is fitted hardly changes when 0.0006
  becomes 0.0007. Cutting off negative regrets does the same for regret matching (Tammelin 2014).
  The higher floor costs no more than the critic's error, since it only adds better actions.

The temperature falls geometrically over the first three tenths of training and then stays constant.
The steps get shorter as the learning rate falls.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.type_aliases import GymEnv, PyTorchObs, Schedule
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor, nn

from solvent.envs import VectorEnv
from solvent.envs.batches import BothSeats
from solvent.training.extract import SEATS

# Final learning rate and step size, as a share of the initial ones.
_LEFT = 0.1

# The share of training in which the temperature falls.
_COOLING = 0.3

ILLEGAL = -1e9
"""The logit of an illegal action; its probability is 0 in floats."""


class JointTransitions(NamedTuple):
    """Transitions of both seats of the same episodes.

    Attributes:
        seen: [2, n, D] observations of each seat.
        legal: [2, n, A] legal actions of each seat.
        action: [2, n] actions of each seat.
        reward: [n] rewards of seat 0.
        over: [n] True where the transition ended the episode.
        log_policy: [n, own actions] log policy of each seat when it acted.
        seen_next: [2, n, D] next observations of each seat; of another episode where `over`.
        log_policy_next: [n, own actions] log policy of each seat in the next state.
    """

    seen: Tensor
    legal: Tensor
    action: Tensor
    reward: Tensor
    over: Tensor
    log_policy: tuple[Tensor, ...]
    seen_next: Tensor
    log_policy_next: tuple[Tensor, ...]


class JointCriticPolicy(MaskableActorCriticPolicy):
    """An actor for each seat, and a critic of pairs of actions.

    The actors share nothing: an update of one must not move the other, which responds to it.

    Args:
        arguments: Positional arguments of sb3-contrib's policy.
        seat_actions: All actions of seat 0 and all actions of seat 1.
        others: Keyword arguments of sb3-contrib's policy.
    """

    def __init__(
        self, *arguments: Any, seat_actions: tuple[list[int], list[int]], **others: Any
    ) -> None:
        self.seat_actions = seat_actions
        super().__init__(*arguments, **others)

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        self.actors = nn.ModuleList(self._actor(len(own)) for own in self.seat_actions)
        self.mlp_extractor.policy_net = nn.Identity()  # type: ignore[assignment]
        self.action_net = nn.Identity()
        first, second = self.seat_actions
        self.value_net = nn.Linear(self.mlp_extractor.latent_dim_vf, len(first) * len(second))
        # Pairs that have not been visited yet have about the same value.
        self.init_weights(self.value_net, 0.1)
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]  # Every optimizer that can be chosen has it.
            **self.optimizer_kwargs,
        )

    def _actor(self, n_actions: int) -> nn.Sequential:
        """Make a network from features to the logits of a seat's own actions."""
        hidden = MlpExtractor(self.features_dim, self.net_arch, self.activation_fn, self.device)
        last = nn.Linear(hidden.latent_dim_pi, n_actions)
        # As in Stable-Baselines3, so that actors begin close to uniform.
        hidden.policy_net.apply(partial(self.init_weights, gain=float(np.sqrt(2))))
        self.init_weights(last, 0.01)
        return nn.Sequential(hidden.policy_net, last)

    def log_policy(self, seen: Tensor, legal: Tensor, seat: int) -> Tensor:
        """Return a seat's log policy over its own actions, [n, own actions]."""
        logits: Tensor = self.actors[seat](self._features(seen))
        allowed = legal[:, self.seat_actions[seat]]
        return torch.log_softmax(logits.masked_fill(~allowed, ILLEGAL), dim=1)

    def joint_values(self, seen: Tensor) -> Tensor:
        """Return Q of all pairs of own actions, [n, A_0, A_1], from seat 0's observations."""
        values: Tensor = self.value_net(self.mlp_extractor.forward_critic(self._features(seen)))
        return values.view(-1, *map(len, self.seat_actions))

    def get_distribution(
        self, obs: PyTorchObs, action_masks: NDArray[Any] | None = None
    ) -> MaskableDistribution:
        """Return the policy of the seat that has the legal actions."""
        assert isinstance(obs, Tensor)
        features = self._features(obs)
        assert isinstance(self.action_space, spaces.Discrete)
        logits = features.new_full((len(obs), int(self.action_space.n)), ILLEGAL)
        for own, actor in zip(self.seat_actions, self.actors, strict=True):
            logits[:, own] = actor(features)
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def _features(self, seen: Tensor) -> Tensor:
        features = self.extract_features(seen, self.features_extractor)
        assert isinstance(features, Tensor)
        return features

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"seat_actions": self.seat_actions}


class MirrorDescent(MaskablePPO):
    """Magnetic mirror descent for both seats of a game in which both act at once.

    It plays, is extracted and is saved like sb3-contrib's MaskablePPO. Learning needs the
    environment of self-play with ``snapshots=0``.

    Args:
        policy: ``"MlpPolicy"``.
        env: The environment.
        learning_rate: Initial learning rate of the actor's and the critic's Adam; it falls linearly
            to a tenth.
        n_steps: Steps in each environment between two updates.
        batch_size: Transitions in a minibatch.
        n_epochs: Passes over the transitions at an update, of critic and of actor.
        step_size: Initial step size of mirror descent, e above. It falls with the learning rate.
        lookahead: Size of the expected step of the other player to which a player responds. With 0
            it responds to the other's present policy.
        floor: Least probability of a legal action in an actor's target and in the other's expected
            policy, before all are scaled to sum to 1.
        better_floor: Least probability there of a legal action whose value is above the policy's.
        temperature: Initial temperature, t above, in points.
        last_temperature: Temperature after three tenths of training.
        max_grad_norm: Largest norm of the critic's gradient.
        policy_kwargs: Arguments of the networks.
        tensorboard_log: Folder of TensorBoard's logs; None to write no logs.
        verbose: 0 prints nothing, 1 prints information, 2 debugging messages too.
        seed: Seed of the random numbers.
        device: Device of the networks; ``"auto"`` takes a GPU if there is one.
        _init_setup_model: Whether networks are built at once; loading builds them later.

    Raises:
        ValueError: If the learning rate is not a number, or the floors are not in order.
    """

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"MlpPolicy": JointCriticPolicy}
    policy: JointCriticPolicy
    _transitions: JointTransitions

    def __init__(
        self,
        policy: str | type[JointCriticPolicy],
        env: GymEnv | str,
        learning_rate: float = 2e-3,
        n_steps: int = 4,
        batch_size: int = 128,
        n_epochs: int = 1,
        step_size: float = 0.3,
        lookahead: float = 1.0,
        floor: float = 3e-4,
        better_floor: float = 1e-2,
        temperature: float = 0.2,
        last_temperature: float = 0.015,
        max_grad_norm: float = 5.0,
        policy_kwargs: dict[str, Any] | None = None,
        tensorboard_log: str | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: torch.device | str = "auto",
        _init_setup_model: bool = True,
    ) -> None:
        if not isinstance(learning_rate, (int, float)):
            raise ValueError(
                f"learning_rate of {type(self).__name__} is a schedule, {learning_rate!r}; allowed "
                f"are numbers, from which it falls by a schedule of its own"
            )
        if not 0 <= floor <= better_floor < 1:
            raise ValueError(
                f"floor and better_floor are {floor} and {better_floor}; allowed are "
                f"0 <= floor <= better_floor < 1"
            )
        self.step_size, self.lookahead = step_size, lookahead
        self.floor, self.better_floor = floor, better_floor
        self.temperature, self.last_temperature = temperature, last_temperature
        super().__init__(
            policy,
            env,
            learning_rate=LinearSchedule(learning_rate, _LEFT * learning_rate, 1.0),
            n_steps=n_steps,
            batch_size=batch_size,
            n_epochs=n_epochs,
            gamma=1.0,
            # The entropy bonus belongs to policy gradients, which are not used here.
            ent_coef=0.0,
            max_grad_norm=max_grad_norm,
            policy_kwargs=policy_kwargs,
            tensorboard_log=tensorboard_log,
            verbose=verbose,
            seed=seed,
            device=device,
            _init_setup_model=_init_setup_model,
        )

    def _setup_model(self) -> None:
        # Without an environment the learner is being loaded, and has had one.
        if self.env is not None:
            masks = self.env.get_attr("game")[0].mask
            first, second = (np.flatnonzero(mask.any(axis=0)).tolist() for mask in masks)
            self.policy_kwargs = self.policy_kwargs | {"seat_actions": (first, second)}
        super()._setup_model()

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Collect a rollout; the buffer is not used, since it does not separate the seats."""
        native = env.get_attr("unwrapped")[0]
        if not (isinstance(native, VectorEnv) and isinstance(native.simulator, BothSeats)):
            raise ValueError(
                f"{type(self).__name__} learns from both seats of the same episodes; allowed is "
                f"self-play with snapshots=0"
            )
        first, second = self.policy.seat_actions
        if set(first) & set(second):
            raise ValueError(
                f"{type(self).__name__} needs players with actions of their own; in this game "
                f"both have action {min(set(first) & set(second))}, and "
                f"solvent.training.environments.with_roles(game, apart=True) is the same game "
                f"with other ones"
            )
        callback.on_rollout_start()
        steps: list[JointTransitions] = []
        here = self._shown(env, self._last_obs)
        for _ in range(n_rollout_steps):
            action = self._sampled(here[2])
            self._last_obs, reward, done, _ = env.step(action)  # type: ignore[assignment]
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            ahead = self._shown(env, self._last_obs)
            seen, legal, log_policy = here
            # Environment i is seat 0 of an episode whose seat 1 is environment i + n_envs / 2.
            actions, rewards, over = (self._by_seat(array) for array in (action, reward, done))
            steps.append(
                JointTransitions(
                    seen, legal, actions, rewards[0], over[0], log_policy, ahead[0], ahead[2]
                )
            )
            here = ahead
        self._transitions = JointTransitions(*map(_joined, zip(*steps, strict=True)))
        callback.on_rollout_end()
        return True

    def _shown(self, env: VecEnv, observation: Any) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """Return each seat's observations, legal actions and log policy of the moment."""
        seen, legal = map(self._by_seat, (observation, get_action_masks(env).astype(bool)))
        with torch.no_grad():
            played = tuple(self.policy.log_policy(seen[k], legal[k], k) for k in SEATS)
        return seen, legal, played

    def _by_seat(self, array: NDArray[Any]) -> Tensor:
        """Return an array of all environments as a tensor of each seat's, [2, episodes, ...]."""
        halves = array.reshape(2, len(array) // 2, *array.shape[1:])
        return torch.as_tensor(halves, device=self.device)

    def _sampled(self, log_policies: tuple[Tensor, ...]) -> NDArray[np.int64]:
        """Draw an action for each environment, [n_envs]."""
        drawn = []
        for own, log_policy in zip(self.policy.seat_actions, log_policies, strict=True):
            chances = log_policy.exp()
            # The first of exponential clocks whose rates are the probabilities.
            at = (chances / torch.empty_like(chances).exponential_()).argmax(dim=1)
            drawn.append(np.array(own)[at.cpu().numpy()])
        return np.concatenate(drawn)

    def train(self) -> None:
        """Learn from the transitions of a rollout: first the critic, then each actor in turn."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        transitions = self._transitions
        loss = self._fit_critic(transitions)
        with torch.no_grad():
            values = self.policy.joint_values(transitions.seen[0])
        for seat in SEATS:
            self._fit_actor(transitions, seat, self._target(transitions, seat, values))
        self._n_updates += self.n_epochs
        self.logger.record("train/critic_loss", loss)
        step, temperature = self._step()
        self.logger.record("train/step_size", step)
        self.logger.record("train/temperature", temperature)

    def _step(self) -> tuple[float, float]:
        """Return the present step size of mirror descent, and its temperature."""
        remaining = self._current_progress_remaining
        size = self.step_size * (_LEFT + (1 - _LEFT) * remaining)
        warm = max(0.0, 1 - (1 - remaining) / _COOLING)
        return size, self.temperature**warm * self.last_temperature ** (1 - warm)

    def _fit_critic(self, transitions: JointTransitions) -> float:
        """Fit Q to the reward plus the next value, and return the mean squared error."""
        with torch.no_grad():
            x, y = (log_policy.exp() for log_policy in transitions.log_policy_next)
            ahead = self.policy.joint_values(transitions.seen_next[0])
            following = torch.einsum("na,nab,nb->n", x, ahead, y)
            target = transitions.reward + torch.where(transitions.over, 0.0, following)
        first, second = (self._number(transitions.action[seat], seat) for seat in SEATS)
        optimizer, losses = self.policy.optimizer, []
        for batch in self._batches(torch.arange(len(target))):
            values = self.policy.joint_values(transitions.seen[0, batch])
            met = values[torch.arange(len(batch)), first[batch], second[batch]]
            loss = (met - target[batch]).square().mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            optimizer.step()
            losses.append(loss.item())
        return float(np.mean(losses))

    def _target(self, transitions: JointTransitions, seat: int, values: Tensor) -> Tensor:
        """Return a seat's policy after a step of mirror descent, [n, own actions]."""
        size, temperature = self._step()
        legal = [transitions.legal[k][:, own] for k, own in enumerate(self.policy.seat_actions)]
        with torch.no_grad():
            now = list(transitions.log_policy)
            if seat == 1:
                # Seat 0 has moved since.
                now[0] = self.policy.log_policy(transitions.seen[0], transitions.legal[0], 0)

            def moved(k: int, other: Tensor, size: float) -> Tensor:
                """Return seat k's policy after a step, while the other's policy is `other`."""
                sign = 1 if k == 0 else -1
                action_value = sign * torch.einsum(("nab,nb->na", "nab,na->nb")[k], values, other)
                logits = (now[k] + size * action_value) / (1 + size * temperature)
                target = torch.softmax(logits.masked_fill(~legal[k], ILLEGAL), dim=1)
                better = action_value > (now[k].exp() * action_value).sum(dim=1, keepdim=True)
                least = torch.where(better, self.better_floor, self.floor)
                target = target.maximum(least) * legal[k]
                return target / target.sum(dim=1, keepdim=True)

            ahead = moved(1 - seat, now[seat].exp(), self.lookahead)
            return moved(seat, ahead, size)

    def _fit_actor(self, transitions: JointTransitions, seat: int, target: Tensor) -> None:
        """Fit a seat's policy to a target, by cross-entropy, where the seat has a choice."""
        choosing = (transitions.legal[seat].sum(dim=1) > 1).nonzero()[:, 0]
        optimizer = self.policy.optimizer
        for batch in self._batches(choosing):
            chances = self.policy.log_policy(
                transitions.seen[seat, batch], transitions.legal[seat, batch], seat
            )
            loss = -(target[batch] * chances).sum(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    def _batches(self, numbers: Tensor) -> Iterator[Tensor]:
        """Yield minibatches of some transitions in a random order, for each epoch."""
        for _ in range(self.n_epochs):
            order = numbers[torch.randperm(len(numbers))]
            yield from torch.split(order, self.batch_size or len(order))

    def _number(self, action: Tensor, seat: int) -> Tensor:
        """Return the numbers of some actions among the seat's own actions."""
        return torch.searchsorted(torch.tensor(self.policy.seat_actions[seat]), action)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_transitions"]


def _joined(parts: tuple[Any, ...]) -> Any:
    """Return a part of the transitions of all steps as one; a pair seat by seat."""
    if isinstance(parts[0], tuple):
        return tuple(map(torch.cat, zip(*parts, strict=True)))
    # Where there is a row for each seat, the transitions are the second dimension.
    return torch.cat(parts, dim=int(parts[0].dim() > 1))
