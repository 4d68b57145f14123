"""Right answers to the exercises, by the textbooks' algorithms, as a student may find them.

The notebooks do not have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from solvent.exact import solve
from solvent.grading import Exercise
from solvent.model import TabularGame, TabularPolicy, against
from solvent.tabular import policy_evaluation, shapley_iteration, value_iteration

LEAST = 1e-13
"""The change of the largest value with which sweeps end."""


def action_values(table: TabularGame) -> Any:
    """[S, A] the optimal action values; in a game for two, of player 0 against an optimal one."""
    if (table.action_count[1] > 1).any():
        table = against(table, solve(table).policies[1])
    *_, last = value_iteration(table, theta=LEAST)
    return last.Q


def policy(table: TabularGame) -> Any:
    """[S] the best action, the first of those that are equally good."""
    return action_values(table).round(9).argmax(axis=1)


def uniform_values(table: TabularGame) -> Any:
    *_, last = policy_evaluation(table, TabularPolicy.uniform(table), theta=LEAST)
    return last.V


def maximin(table: TabularGame) -> Any:
    *_, last = shapley_iteration(table)
    return last.pi[0]


def toy_text(env_id: str, discount: float = 1.0, choose: Callable[..., Any] = np.max) -> Any:
    """[S, A] the action values in an environment of Gymnasium's, from its `P`.

    Args:
        env_id: The environment.
        discount: Of the next state.
        choose: The value of a state by those of its actions: `np.mean` of uniform play.
    """
    P = gym.make(env_id).unwrapped.P
    Q, before = np.zeros((len(P), len(P[0]))), np.inf
    while np.abs(Q - before).max() > LEAST:
        V, before = choose(Q, axis=1), Q.copy()
        for s, actions in P.items():
            for a, branches in actions.items():
                Q[s, a] = sum(p * (r + discount * V[t] * (not over)) for p, t, r, over in branches)
    return Q


def walk(table: TabularGame, low: float) -> Any:
    """[S] the values of a random walk: a straight line."""
    last = max(state.number for state in table.states)
    return [low + (1 - low) * state.number / last for state in table.states]


def uneven(table: TabularGame) -> Any:
    """[S, A] each throw as often as the victory over the throw that beats it counts."""
    chances = np.full(table.mask[0].shape, 1 / 3)
    chances[np.flatnonzero(table.initial)] = np.array([3, 1, 2]) / 6
    return chances


SOLUTIONS: dict[str, Callable[[TabularGame], Any]] = {
    "beat-the-agent": policy,
    "blotto-policy": maximin,
    "cliff-action-values": lambda table: toy_text("CliffWalking-v1"),
    "cliff-policy": lambda table: toy_text("CliffWalking-v1").argmax(axis=1),
    "drive-policy": policy,
    "drive-uniform-values": uniform_values,
    "fight-action-values": lambda table: np.maximum(action_values(table), 0),
    "fight-policy": policy,
    "fight-values": uniform_values,
    "lake-policy": lambda table: toy_text("FrozenLake-v1").round(9).argmax(axis=1),
    "lake-uniform-values": lambda table: toy_text("FrozenLake-v1", choose=np.mean).mean(axis=1),
    "lake-values": lambda table: toy_text("FrozenLake-v1", 0.99).max(axis=1),
    "long-walk-values": lambda table: walk(table, -1),
    "maze-policy": policy,
    "maze-uniform-values": uniform_values,
    "network-policy": policy,
    "optimal-defence": policy,
    "own-pig-policy": policy,
    "own-pig-values": lambda table: action_values(table).max(axis=1),
    "pig-policy": policy,
    "pig-response": policy,
    "uneven-prizes": uneven,
    "walk-values": lambda table: walk(table, 0),
}


def solution(exercise: Exercise) -> Any:
    """A right answer to an exercise of this package."""
    return SOLUTIONS[exercise.name](exercise.subject.table)
