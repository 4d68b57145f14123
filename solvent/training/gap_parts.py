"""The final gap of a learner, split by what would close it.

The gap of the greedy policy after training is written as a sum of four parts. All use the solution,
or give a learner what it cannot know, so that they explain a result and do not improve one.

**Approximation** is the exact gap of the best policy found for a network of the same layers: the
learner's own, or one that is fitted to an optimal policy by classification. There a state counts by
how often optimal episodes visit it and by what a choice matters, and a little if none does: where
all actions are equally good, some choices of them never end an episode. It is an upper bound: a
better policy may be representable that the fit does not find.

**Exploration** is the exact gap of the optimum of the *visited model*: in a state in which actions
were taken in training only these are allowed, and in a state that was never met all legal actions
are equally likely. It says what the best use of the experience could be, if every outcome of a
tried action were known. It does not say that a learner generalizes no further; a network may.

**Estimation** is the difference to the same learner, with the same seed, that is given exact values
in place of estimates (:mod:`solvent.training.learner_values`): advantages of its present policy for
methods of policy gradients, expected targets for learners of action values. Such a learner also
explores differently. The difference is that of two runs and may be negative.

**Optimization** is the rest, and negative if the others explain more than the gap.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
import torch

from solvent.benchmark.policies import recorded_score
from solvent.exact import CertificateError, ImproperGameError, Solution
from solvent.exact.solver import solve_table
from solvent.model import TabularGame, TabularPolicy, project
from solvent.model.arrays import Bools
from solvent.training.distinct import ILLEGAL
from solvent.training.extract import OF_ACTION_VALUES, mean_values, value_network
from solvent.training.learner_values import LearnerValues
from solvent.training.policy_gradient import log_policy

STEPS, BATCH, RATE, EVERY = 1000, 2048, 1e-2, 100
"""Steps of a fit, the most states in each, Adam's learning rate, which falls to 0 in a line, and
steps between the policies of which the best is kept."""

LEAST = 0.01
"""Weight of a state in which no choice matters, in units of the largest of a state."""

TIE = 1e-9
"""A gap that counts as none, in units of the value."""


@dataclass(frozen=True, slots=True)
class GapParts:
    """The parts of a learner's final gap, as the module defines them; they sum to `gap`.

    Attributes:
        gap: Exact gap of the greedy policy.
        approximation: The part of the network.
        exploration: The part of the states and actions that were never tried.
        estimation: The part of sampled advantages or targets.
        optimization: The rest.
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


def gap_parts(
    values: LearnerValues,
    solution: Solution,
    visited: Bools,
    gap: float,
    exact_gap: float,
    exact_learner: str,
) -> GapParts:
    """Split the final gap of a learner.

    Args:
        values: The learner after training.
        solution: Solution of its game.
        visited: [S, A] the actions that were taken in each state.
        gap: Exact gap of its greedy policy.
        exact_gap: Final gap of the learner with exact values.
        exact_learner: Name of that learner.
    """
    network = min(approximation(values, solution), gap)
    tried = visited_gap(values.game, visited, solution, values.player)
    return GapParts(
        gap=gap,
        approximation=network,
        exploration=tried,
        estimation=gap - exact_gap,
        optimization=exact_gap - network - tried,
        exact_learner=exact_learner,
        exact_gap=exact_gap,
    )


def visited_gap(game: TabularGame, visited: Bools, solution: Solution, player: int = 0) -> float:
    """Return what the optimum of the visited model loses; NaN if that has no value.

    Args:
        game: The game.
        visited: [S, A] the legal actions that were taken in each state.
        solution: Solution of `game`.
        player: The player whose actions they are.
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
        player: The player whose actions they are.
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
        values: A learner, whose network has the layers.
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
    weight = (visits / visits.sum() + 1 / len(at)) * np.maximum(matters, LEAST * matters.max())
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
    return recorded_score(values.game, found, solution).optimality_gap
