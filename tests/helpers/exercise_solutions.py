"""Right answers to the exercises, found as a student may find them: by sweeps and equations.

The notebooks do not have them. Nothing here asks the project's solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from scipy.optimize import linprog

from solvent.grading import Exercise
from solvent.model import TabularGame

SWEEPS = 100_000
LEAST = 1e-13
"""The change of the largest value with which sweeps end."""


def sweep(table: TabularGame, values: np.ndarray) -> np.ndarray:
    """[S] the value of each state if the next ones have `values`: who is on turn chooses."""
    rows = table.expectation(values)
    new = np.zeros(table.n_states)
    live = np.flatnonzero(~table.terminal)
    first = table.row_start[live]
    best, least = np.maximum.reduceat(rows, first), np.minimum.reduceat(rows, first)
    second = table.action_count[1][live] > 1
    new[live] = np.where(second, least, best)
    return new


def sweeps(table: TabularGame) -> np.ndarray:
    """[S] the optimal values to player 0, where never two choose at once."""
    values = np.zeros(table.n_states)
    for _ in range(SWEEPS):
        values, before = sweep(table, values), values
        if np.abs(values - before).max() < LEAST:
            return values
    raise AssertionError("the sweeps do not converge")


def greedy(table: TabularGame, values: np.ndarray) -> np.ndarray:
    """[S] the best action of player 0, the first of those that are equally good."""
    rows = np.round(table.expectation(values), 9)
    actions = np.zeros(table.n_states, int)
    for state in np.flatnonzero(~table.terminal):
        own = slice(table.row_start[state], table.row_start[state + 1])
        actions[state] = table.row_action[0][own][rows[own].argmax()]
    return actions


def by_action(table: TabularGame, values: np.ndarray) -> np.ndarray:
    """[S, A] action values."""
    found = np.zeros(table.mask[0].shape)
    found[table.row_state, table.row_action[0]] = table.expectation(values)
    return found


def uniform_values(table: TabularGame) -> np.ndarray:
    """[S] the values of the uniform policy, by sweeps."""
    values = np.zeros(table.n_states)
    for _ in range(SWEEPS):
        rows, new = table.expectation(values), np.zeros(table.n_states)
        np.add.at(new, table.row_state, rows)
        new /= np.maximum(np.diff(table.row_start), 1)
        values, before = new, values
        if np.abs(values - before).max() < LEAST:
            return values
    raise AssertionError("the sweeps do not converge")


def toy_text(env_id: str, discount: float = 1.0) -> np.ndarray:
    """[S, A] the optimal action values of an environment of Gymnasium's, from its `P`."""
    P = gym.make(env_id).unwrapped.P
    Q = np.zeros((len(P), len(P[0])))
    for _ in range(SWEEPS):
        V, before = Q.max(axis=1), Q.copy()
        for s, actions in P.items():
            for a, branches in actions.items():
                Q[s, a] = sum(p * (r + discount * V[t] * (not over)) for p, t, r, over in branches)
        if np.abs(Q - before).max() < 1e-12:
            return Q
    raise AssertionError("the sweeps do not converge")


def wandering() -> np.ndarray:
    """[16] the values of walking at random on the lake, from linear equations."""
    P = gym.make("FrozenLake-v1").unwrapped.P
    A, b = np.eye(16), np.zeros(16)
    for s, actions in P.items():
        for branches in actions.values():
            for p, t, r, over in branches:
                b[s] += p * r / 4
                A[s, t] -= p / 4 * (not over)
    return np.linalg.lstsq(A, b, rcond=None)[0]


def walk(table: TabularGame, low: float) -> np.ndarray:
    """[S] the values of a random walk: a straight line."""
    last = max(state.number for state in table.states)
    return np.array([low + (1 - low) * state.number / last for state in table.states])


def maximin(table: TabularGame) -> np.ndarray:
    """[S, A] the mixed strategy of player 0 where both choose once: a linear program."""
    [start] = np.flatnonzero(table.initial)
    m, n = (count[start] for count in table.action_count)
    rows = slice(table.row_start[start], table.row_start[start + 1])
    matrix = table.reward[rows].reshape(m, n)
    # Maximize v where each column of the matrix gives the mixture at least v.
    found = linprog(
        np.r_[np.zeros(m), -1.0],
        A_ub=np.c_[-matrix.T, np.ones(n)],
        b_ub=np.zeros(n),
        A_eq=np.r_[np.ones(m), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, 1)] * m + [(None, None)],
    )
    policy = table.mask[0] / np.maximum(table.mask[0].sum(axis=1, keepdims=True), 1)
    mixture = np.maximum(found.x[:m], 0)
    policy[start, table.mask[0][start]] = mixture / mixture.sum()
    return policy


def uneven(table: TabularGame) -> np.ndarray:
    """[S, A] each throw as often as the victory over the throw that beats it counts."""
    policy = np.full(table.mask[0].shape, 1 / 3)
    policy[np.flatnonzero(table.initial)] = np.array([3, 1, 2]) / 6
    return policy


def optimal_policy(table: TabularGame) -> np.ndarray:
    return greedy(table, sweeps(table))


def optimal_action_values(table: TabularGame) -> np.ndarray:
    return by_action(table, sweeps(table))


SOLUTIONS: dict[str, Callable[[TabularGame], Any]] = {
    "beat-the-agent": optimal_policy,
    "blotto-policy": maximin,
    "cliff-action-values": lambda table: toy_text("CliffWalking-v1"),
    "cliff-policy": lambda table: toy_text("CliffWalking-v1").argmax(axis=1),
    "drive-policy": optimal_policy,
    "drive-uniform-values": uniform_values,
    "fight-action-values": optimal_action_values,
    "fight-policy": optimal_policy,
    "fight-values": uniform_values,
    "lake-policy": lambda table: toy_text("FrozenLake-v1").round(9).argmax(axis=1),
    "lake-uniform-values": lambda table: wandering(),
    "lake-values": lambda table: toy_text("FrozenLake-v1", 0.99).max(axis=1),
    "long-walk-values": lambda table: walk(table, -1),
    "maze-policy": optimal_policy,
    "maze-uniform-values": uniform_values,
    "network-policy": optimal_policy,
    "optimal-defence": optimal_policy,
    "own-pig-policy": optimal_policy,
    "own-pig-values": sweeps,
    "pig-policy": optimal_policy,
    "pig-response": optimal_policy,
    "uneven-prizes": uneven,
    "walk-values": lambda table: walk(table, 0),
}


def solution(exercise: Exercise) -> Any:
    """A right answer to an exercise of this package."""
    return SOLUTIONS[exercise.name](exercise.subject.table)
