"""The microscope: exact readings of a learner while it learns, and the parts of its final gap.

A game with a table has an exact value for everything that a learner estimates. A *reading* compares
the two at a moment of the training: the policy's value and gap, the error and the bias of the
critic or of the action values where the policy goes, their Bellman residual, and for methods of
policy gradients the direction of the update beside the true gradient
(:mod:`solvent.training.policy_gradient`).

Readings change nothing in what is learned, and the learner is told nothing. The parts of the gap
(:mod:`solvent.training.gap_parts`) use the solution and learners that are given exact values: they
are an analysis after training.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite, nan
from typing import Any

import numpy as np
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from solvent.benchmark.policies import recorded_score
from solvent.envs.env import learned_seat
from solvent.exact import ImproperGameError, Solution, cached_solution
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats
from solvent.model.parameters import check_integer
from solvent.training.algorithms import EntropyCallback, Learner, find_algorithm
from solvent.training.environments import NativeVecEnv, make_vector_env, named_environment
from solvent.training.extract import OF_ACTION_VALUES
from solvent.training.gap_parts import GapParts, gap_parts
from solvent.training.hyperparameters import EXPLORING, prepare, requested
from solvent.training.learner_values import ExactAdvantages, ExactTargets, Informed, Values
from solvent.training.policy_gradient import POLICY_GRADIENT, GradientReading, read_gradient
from solvent.training.train import make_model, one_thread


@dataclass(frozen=True, eq=False)
class Reading:
    """The exact state of a learner at a moment of its training.

    The policy that acts is the sampled one; of a learner of action values it is the epsilon-greedy
    one of that moment. Means are over the states that it visits, each counted as often as it visits
    it, and over its actions. A number is NaN where it does not exist, as under a policy whose
    episodes may never end.

    The *estimate* is the critic's value, or the largest action value. The value that it estimates
    has the learner's own discount; it is that of the sampled policy, or of the greedy one for a
    learner of action values.

    Attributes:
        timesteps: Steps taken so far, in all environments together.
        value: Value of the policy that acts.
        gap: Its optimality gap.
        greedy_value: Value of the greedy policy.
        greedy_gap: Its optimality gap.
        length: Expected number of the learner's moves in an episode of the policy that acts.
        overlap: Share of the visits that the policy that acts has in common with an optimal one, in
            0..1.
        bias: Mean estimate minus the true value: the overestimation.
        optimal_bias: Mean estimate minus the optimal value, for learners of action values.
        value_error: Root mean square of critic, or action value, minus its true value.
        bellman_residual: Root mean square of expected reward and next estimate minus the estimate.
        spread: Standard deviation of the true values, to compare errors with.
        gradient: The policy gradient at this update, for PPO, A2C and MaskablePPO; None otherwise,
            and after the last update.
        occupancy: [S] expected visits of the policy that acts, where the learner acts.
    """

    timesteps: int
    value: float
    gap: float
    greedy_value: float
    greedy_gap: float
    length: float
    overlap: float
    bias: float
    optimal_bias: float
    value_error: float
    bellman_residual: float
    spread: float
    gradient: GradientReading | None
    occupancy: Floats

    def row(self) -> dict[str, Any]:
        """Return all numbers by name, for JSON: None where one is not finite."""
        found = {name: value for name, value in vars(self).items() if name != "occupancy"}
        found["gradient"] = self.gradient and _plain(self.gradient._asdict())
        return _plain(found)


class Microscope(Informed):
    """Reads a learner at regular intervals; a callback for ``learn`` of Stable-Baselines3.

    The first reading is at the end of the first rollout, the last after training. All others are at
    the ends of rollouts, before the update that follows. They draw no random numbers.

    Args:
        game: The table that the training environments sample.
        every: Steps between readings.
        player: The player whose policy is learned.
        observation: The network's kind of observation, as for ``extract``.
        solution: Solution of `game`, if available; otherwise the game is solved once.

    Attributes:
        readings: All readings so far.
        visited: [S, A] whether an action was taken in a state in training.
        policies: The policy that acts and the greedy policy at the last reading.
        seconds: CPU time spent on readings.
    """

    def __init__(
        self,
        game: TabularGame,
        *,
        every: int,
        player: int = 0,
        observation: str | None = None,
        solution: Solution | None = None,
    ) -> None:
        super().__init__(game, player=player, observation=observation)
        self.every = check_integer(every, "every", 1, 10**12)
        self.solution = solution or cached_solution(game)
        self.readings: list[Reading] = []
        self.visited: Bools = np.zeros(game.mask[player].shape, bool)
        self.policies: tuple[TabularPolicy, ...] = ()
        self.seconds = 0.0

    def _on_step(self) -> bool:
        states = self.values.states(self.model._last_obs)
        actions = self.values.played(states, self.locals["actions"].reshape(-1))
        self.visited[states, actions] = True
        return True

    def _on_rollout_end(self) -> None:
        last = self.readings[-1].timesteps if self.readings else None
        over = self.num_timesteps >= self.model._total_timesteps
        if last is None or over or self.num_timesteps // self.every > last // self.every:
            self._read(between=True)

    def _on_training_end(self) -> None:
        self._read(between=False)

    def _read(self, *, between: bool) -> None:
        begun = time.process_time()
        self.policies = self.values.policies(gate=not self.readings)
        policy, greedy = self.policies
        scores = [recorded_score(self.game, one, self.solution) for one in self.policies]
        visits = self.values.visits(policy)
        found = self._estimates(policy, greedy, visits)
        gradient = None
        if between and isinstance(self.model, POLICY_GRADIENT) and np.isfinite(visits).all():
            exact = self.values.value(policy).q
            estimated = self.values.value(policy, estimated=True).q
            gradient = read_gradient(self.values, visits, exact, estimated)
        self.readings.append(
            Reading(
                timesteps=self.num_timesteps,
                value=scores[0].value,
                gap=scores[0].optimality_gap,
                greedy_value=scores[1].value,
                greedy_gap=scores[1].optimality_gap,
                length=float(visits.sum()),
                overlap=self._overlap(visits),
                **found,
                gradient=gradient,
                occupancy=visits,
            )
        )
        self.seconds += time.process_time() - begun

    def _estimates(
        self, policy: TabularPolicy, greedy: TabularPolicy, visits: Floats
    ) -> dict[str, float]:
        """Return the errors of the critic, or of the network of action values."""
        values, of_actions = self.values, isinstance(self.model.policy, OF_ACTION_VALUES)
        try:
            true = values.value(greedy if of_actions else policy, estimated=True)
        except ImproperGameError:
            true = Values(*(np.full(shape, nan) for shape in (visits.shape, self.visited.shape)))
        estimate, optimal_bias = values.estimates(), nan
        if of_actions:
            weights = visits[:, None] * policy.probabilities
            best = estimate.max(axis=1)
            error, residual = (
                np.subtract(one, two, out=np.zeros(weights.shape), where=values.allowed)
                for one, two in ((estimate, true.q), (values.backed_up(best), estimate))
            )
            optimal_bias = _mean(best - values.optimum, visits)
        else:
            weights, best = visits, estimate
            error = estimate - true.v
            ahead = np.where(policy.probabilities > 0, values.backed_up(estimate), 0.0)
            residual = (policy.probabilities * ahead).sum(axis=1) - estimate
        return {
            "bias": _mean(best - true.v, visits),
            "optimal_bias": optimal_bias,
            "value_error": _mean(error**2, weights) ** 0.5,
            "bellman_residual": _mean(residual**2, weights) ** 0.5,
            "spread": _mean((true.v - _mean(true.v, visits)) ** 2, visits) ** 0.5,
        }

    def _overlap(self, visits: Floats) -> float:
        """Return the share of visits in common with an optimal policy."""
        optimal = self.values.visits(self.solution.policies[self.player])
        shares = visits / visits.sum(), optimal / optimal.sum()
        return float(np.minimum(*shares).sum())


@dataclass(frozen=True, eq=False)
class Microscopy:
    """A training as the microscope saw it.

    Attributes:
        game: Name of the game.
        algorithm: Name of the algorithm.
        seed: Seed of everything random in the training.
        optimum: Value of the game to the learner.
        readings: The readings, the last one after training.
        parts: The parts of the greedy policy's final gap; None if they were not asked for.
        policies: The policy that acts and the greedy policy after training.
        cpu_seconds: CPU time of training, readings and parts together.
        reading_seconds: CPU time of the readings.
    """

    game: str
    algorithm: str
    seed: int
    optimum: float
    readings: tuple[Reading, ...]
    parts: GapParts | None
    policies: tuple[TabularPolicy, ...]
    cpu_seconds: float
    reading_seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, without occupancies and policies, for JSON."""
        found = {name: value for name, value in vars(self).items() if name != "policies"}
        found["readings"] = [reading.row() for reading in self.readings]
        found["parts"] = self.parts and _plain(asdict(self.parts))
        return _plain(found)


def microscope(
    game: str | Game | TabularGame,
    algorithm: str | Learner = "ppo",
    *,
    seed: int = 0,
    timesteps: int | None = None,
    readings: int = 5,
    env_kwargs: Mapping[str, Any] | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    parts: bool = True,
    name: str = "",
) -> Microscopy:
    """Train a network under the microscope, and split its final gap by cause.

    The training is that of :func:`solvent.training.train` for one seat, with all episodes from the
    game's own start. Nothing is written to disk.

    Args:
        game: The game or the id of an environment, as for :func:`solvent.training.train`.
        algorithm: A key of :data:`~solvent.training.algorithms.ALGORITHMS`, or a learner of one's
            own.
        seed: Seed of networks, exploration and environments.
        timesteps: Steps in all environments together. Default: the tuned number.
        readings: Number of readings between the first and the last one.
        env_kwargs: Arguments of the environment. ``observation`` is ``"onehot"`` by default.
        hyperparameters: Values that replace the tuned ones of the same name.
        parts: Whether to split the final gap, for which the learner is trained a second time, with
            exact advantages or targets.
        name: Name of the algorithm in the results. Default: that of the algorithm.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """
    begun = time.process_time()
    check_integer(readings, "readings", 1, 10**6)
    check_integer(seed, "seed", 0, 2**31 - 1)
    learner = find_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
    told = name or (algorithm if isinstance(algorithm, str) else learner.model.__name__)
    env_id, kwargs = named_environment(game, env_kwargs)
    raw = requested(learner.hyperparameters, env_id, hyperparameters, timesteps)
    raw.pop(EXPLORING, None)
    setup = prepare(raw, learner.model)
    seat = learned_seat(make_vector_env(env_id or game, 1, kwargs))
    of_seat = {"player": seat.player, "observation": kwargs["observation"]}

    def train(callback: Any) -> Any:
        env = NativeVecEnv(make_vector_env(env_id or game, setup.n_envs, kwargs))
        model = make_model(learner, setup, env, seed)
        bonus = [EntropyCallback()] if seat.game.info.players == 2 else []
        model.learn(
            setup.n_timesteps,
            callback=[*bonus, callback],
            log_interval=None,  # type: ignore[arg-type]
        )
        return callback

    with one_thread():
        every = max(setup.n_timesteps // readings, 1)
        scope: Microscope = train(Microscope(seat.left, every=every, **of_seat))
        found = None
        if parts:
            of_values = issubclass(learner.model, OffPolicyAlgorithm)
            kind = ExactTargets if of_values else ExactAdvantages
            exact = train(kind(seat.left, **of_seat))
            _, greedy = exact.values.policies()
            found = gap_parts(
                scope.values,
                scope.solution,
                scope.visited,
                scope.readings[-1].greedy_gap,
                recorded_score(seat.left, greedy, scope.solution).optimality_gap,
                f"{told}{kind.suffix}",
            )
    return Microscopy(
        game=env_id or seat.left.info.name,
        algorithm=told,
        seed=seed,
        optimum=(1 - 2 * seat.player) * scope.solution.value,
        readings=tuple(scope.readings),
        parts=found,
        policies=scope.policies,
        cpu_seconds=time.process_time() - begun,
        reading_seconds=scope.seconds,
    )


def _mean(numbers: Floats, weights: Floats) -> float:
    """Return a weighted mean; NaN if a number with a weight is not finite."""
    used = weights != 0
    if not (used.any() and np.isfinite(numbers[used]).all()):
        return nan
    return float(numbers[used] @ weights[used] / weights[used].sum())


def _plain(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return entries for JSON: None for numbers that are not finite."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in found.items()
    }
