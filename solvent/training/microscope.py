"""The microscope: exact readings of a learner while it learns, and the parts of its final gap.

A game with a table has an exact value for everything that a learner estimates. A *reading* compares
the two at a moment of the training: the policy's value and gap, the error and the bias of the
critic or of the action values where the policy goes, their Bellman residual, and for methods of
policy gradients the direction of the update beside the true gradient
(:mod:`solvent.training.learner_values`).

Readings do not change the training, and the learner does not see them.

**The parts of the final gap** (:class:`GapParts`). The gap of the greedy policy after training is
written as a sum of four parts. They use the solution, or learners that are given exact values, so
they explain a result and cannot be used to improve one.

**Approximation** is the exact gap of the best policy found for a network of the same layers: the
learner's own, or one that is fitted to an optimal policy by classification. In the fit, the weight
of a state is the number of optimal visits times the importance of the choice. States in which the
choice does not matter have a small weight, since some choices there may never end an episode. The
part is an upper bound: the network may represent a better policy that the fit does not find.

**Exploration** is the exact gap of the optimum of the *visited model*: in a visited state only the
actions taken in training are allowed, and in an unvisited state all legal actions are equally
likely. It is the gap of the best use of the experience, if every outcome of a tried action were
known. A network that generalizes to other states may do better.

**Estimation** is the gap minus that of the same learner, with the same seed, if it is given exact
values instead of estimates (:mod:`solvent.training.learner_values`): advantages of its present
policy for policy gradient methods, expected targets for learners of action values. Such a learner
also explores differently, so the difference of the two runs may be negative.

**Optimization** is the rest, and negative if the others explain more than the gap.
"""

import json
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from math import nan
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from solvent.envs.env import learned_seat
from solvent.exact import CertificateError, ImproperGameError, Solution, cached_solution
from solvent.exact.scoring import comparable_score
from solvent.exact.solver import solve_table
from solvent.model import Game, TabularGame, TabularPolicy, project
from solvent.model.arrays import Bools, Floats
from solvent.model.files import strict_json
from solvent.model.parameters import check_integer
from solvent.training.algorithms import (
    EXPLORING,
    EntropyCallback,
    Learner,
    find_learner,
    prepare,
    requested,
)
from solvent.training.environments import NativeVecEnv, make_vector_env, named_environment
from solvent.training.extract import OF_ACTION_VALUES, log_policy, mean_values, value_network
from solvent.training.learner_values import (
    POLICY_GRADIENT,
    ExactAdvantages,
    ExactTargets,
    GradientReading,
    Informed,
    LearnerValues,
    Values,
    read_gradient,
)
from solvent.training.learners import ILLEGAL
from solvent.training.train import make_model, one_thread

STEPS, BATCH, RATE, EVERY = 1000, 2048, 1e-2, 100
"""Steps of a fit, largest number of states in a step, Adam's initial learning rate, which falls
linearly to 0, and steps between the policies that are scored."""

# Importance of a state in which no choice matters, as a share of the largest importance.
_LEAST = 0.01

TIE = 1e-9
"""Largest gap that counts as 0, in units of the value if that is larger than 1."""


@dataclass(frozen=True, slots=True)
class GapParts:
    """The parts of a learner's final gap, as the module defines them; they sum to `gap`.

    Attributes:
        gap: Exact gap of the greedy policy.
        approximation: Gap of the best policy found for the layers of the network.
        exploration: Gap of the optimum if only tried actions are allowed.
        estimation: Gap that goes away with exact advantages or targets.
        optimization: The rest of the gap.
        exact_learner: Name of the learner with exact values.
        exact_gap: Exact gap of its greedy policy.
    """

    gap: float
    approximation: float
    exploration: float
    estimation: float
    optimization: float
    exact_learner: str
    exact_gap: float


def visited_gap(game: TabularGame, visited: Bools, solution: Solution, player: int = 0) -> float:
    """Return the gap of the optimum of the visited model; NaN if that model has no value.

    Args:
        game: The game.
        visited: [S, A] the legal actions that were taken in each state.
        solution: Solution of `game`.
        player: The player who took them.
    """
    try:
        value = solve_table(visited_model(game, visited, player)).value
    except (CertificateError, ImproperGameError):
        return nan
    return float((1 - 2 * player) * (solution.value - value))


def visited_model(game: TabularGame, visited: Bools, player: int = 0) -> TabularGame:
    """Return a game in which only tried actions are allowed.

    In a state in which none was tried, one action stands for all legal ones, with equal chances.

    Args:
        game: A game in which only this player has a choice.
        visited: [S, A] the actions that were taken in each state.
        player: The player who took them.
    """
    tried = visited & game.mask[player]
    known: Bools = np.asarray(tried.any(axis=1))
    of_known = known[game.row_state]
    kept = tried[game.row_state, game.row_action[player]] | ~of_known
    # The rows of a state follow each other, and so do their outcomes: they merge into the first.
    begins = np.zeros(game.n_rows, bool)
    begins[game.row_start[:-1][~game.terminal]] = True
    rows = kept & (of_known | begins)
    outcomes = kept[game.outcome_row]
    before = np.concatenate(([0], np.cumsum(outcomes)))
    choices = np.where(known, 1, game.action_count[player])[game.row_state[game.outcome_row]]
    lowest = np.zeros_like(tried)
    lowest[np.arange(len(tried)), game.mask[player].argmax(axis=1)] = ~game.terminal
    masks = list(game.mask)
    masks[player] = np.where(known[:, None], tried, lowest)
    count = np.bincount(game.row_state[rows], minlength=game.n_states)
    return replace(
        game,
        mask=(masks[0], masks[1]),
        row_start=np.concatenate(([0], np.cumsum(count))),
        outcome_start=np.append(before[game.outcome_start[:-1][rows]], before[-1]),
        next_state=game.next_state[outcomes],
        probability=(game.probability / choices)[outcomes],
        outcome_reward=game.outcome_reward[outcomes],
    )


def approximation(values: LearnerValues, solution: Solution) -> float:
    """Return the least exact gap of a greedy policy that a new network was fitted to.

    Args:
        values: A learner; the new network has the layers of its network.
        solution: Solution of its game.
    """
    at = np.flatnonzero(values.acting)
    q = values.value(solution.policies[values.player]).q[at]
    best = q.max(axis=1, keepdims=True)
    target = solution.policies[values.player].probabilities[at]
    visits = values.visits(solution.policies[values.player])[at]
    matters = best[:, 0] - np.where(np.isfinite(q), q, best).mean(axis=1)
    if not matters.max(initial=0.0) > 0:
        return 0.0
    weight = (visits / visits.sum() + 1 / len(at)) * np.maximum(matters, _LEAST * matters.max())
    weight /= weight.sum()
    least, batch = np.inf, np.arange(len(at))
    share = weight[:, None]
    if len(at) > BATCH:
        drawn = np.random.default_rng(0).choice(len(at), (STEPS, BATCH), p=weight)
        share = np.full((BATCH, 1), 1 / BATCH)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        policy = deepcopy(values.model.policy)
        for module in policy.modules():
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()  # type: ignore[operator]
        optimizer = torch.optim.Adam(policy.parameters(), lr=RATE)
        for step in range(1, STEPS + 1):
            if len(at) > BATCH:
                batch = drawn[step - 1]
            outputs = _outputs(policy, values, at[batch]).log_softmax(dim=1)
            loss = -(torch.from_numpy(share * target[batch]).to(outputs) * outputs).sum()
            optimizer.param_groups[0]["lr"] = RATE * (1 - (step - 1) / STEPS)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if step % EVERY == 0:
                least = min(least, _greedy_gap(policy, values, at, solution))
                if least <= TIE * max(1.0, abs(solution.value)):
                    return 0.0
    return float(least)


def _outputs(policy: Any, values: LearnerValues, at: Any) -> torch.Tensor:
    """Return a network's log probabilities or action values in some states, [n, A]."""
    rows, allowed = values.rows[at], values.allowed[at]
    if not isinstance(policy, OF_ACTION_VALUES):
        return log_policy(policy, rows, allowed)
    found = mean_values(value_network(policy), policy.obs_to_tensor(rows)[0])
    return found.masked_fill(~torch.from_numpy(allowed), ILLEGAL)


def _greedy_gap(policy: Any, values: LearnerValues, at: Any, solution: Solution) -> float:
    with torch.no_grad():
        best = _outputs(policy, values, at).argmax(dim=1).numpy()
    chosen = np.zeros(values.allowed.shape)
    chosen[:, 0] = 1.0
    chosen[at] = 0.0
    chosen[at, best] = 1.0
    mask = values.game.mask[values.player]
    found = TabularPolicy.of(values.game, project(chosen, mask), player=values.player)
    return comparable_score(values.game, found, solution).optimality_gap


@dataclass(frozen=True, eq=False)
class Reading:
    """The exact state of a learner at a moment of its training.

    The policy that acts is the sampled one; of a learner of action values it is the epsilon-greedy
    one of that moment. Means are over the states that it visits, each counted as often as it visits
    it, and over its actions. A number is NaN where it does not exist, as under a policy whose
    episodes may never end.

    The *estimate* is the critic's value, or the largest action value. The value that it estimates
    is of the environment's rewards, with the learner's own discount; it is that of the sampled
    policy, or of the greedy one for a learner of action values.

    Attributes:
        timesteps: Steps taken so far, in all environments together.
        value: Value of the policy that acts.
        gap: Optimality gap of the policy that acts.
        greedy_value: Value of the greedy policy.
        greedy_gap: Optimality gap of the greedy policy.
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
        self.visited[states, actions] = self.values.acting[states]
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
        scores = [comparable_score(self.game, one, self.solution) for one in self.policies]
        visits = self.values.visits(policy)
        optimal = self.values.visits(self.solution.policies[self.player])
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
                overlap=float(np.minimum(visits / visits.sum(), optimal / optimal.sum()).sum()),
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
        found = asdict(replace(self, policies=()))
        for one in (found, *found["readings"]):
            one.pop("policies", None)
            one.pop("occupancy", None)
        return dict(json.loads(strict_json(found)))


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
    learner = find_learner(algorithm) if isinstance(algorithm, str) else algorithm
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
            exact_gap = comparable_score(seat.left, greedy, scope.solution).optimality_gap
            gap = scope.readings[-1].greedy_gap
            network = min(approximation(scope.values, scope.solution), gap)
            tried = visited_gap(seat.left, scope.visited, scope.solution, seat.player)
            found = GapParts(
                gap=gap,
                approximation=network,
                exploration=tried,
                estimation=gap - exact_gap,
                optimization=exact_gap - network - tried,
                exact_learner=f"{told}{kind.suffix}",
                exact_gap=exact_gap,
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
