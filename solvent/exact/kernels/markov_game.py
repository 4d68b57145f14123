"""Compiled loops of zero-sum Markov games: all matrix games of a component, and fixed strategies.

A component is as in :mod:`solvent.exact.markov_game`: state s has a row for each pair (i, j) of
actions, row by row. Mixed strategies of all states stand one after the other: ``x`` [X] of player
0, those of state s from ``x_start[s]`` on, and ``y`` [Y] of player 1 in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvent.exact.compilation import Transitions, inner, kernel
from solvent.exact.kernels.induction import SMALLEST_NORMAL
from solvent.exact.kernels.matrix_game import solve_in, work_for
from solvent.model.arrays import Bools, Floats, Ints


class Followed(NamedTuple):
    """The outcomes in each of n states under fixed strategies, those with the same end together.

    ===============  ==============  =============================================================
    ``start``        [n+1] int64     slices of outcomes
    ``target``       [..] int64      the state or place that follows, distinct within a state
    ``probability``  [..] float64    of each outcome
    ``reward``       [..] float64    its mean
    ===============  ==============  =============================================================

    The arrays may be longer than ``start`` says.
    """

    start: Ints
    target: Ints
    probability: Floats
    reward: Floats


STEADY = 1e-13
"""The smallest advantage for which a row replaces the one chosen in a sweep, in units of what
changes along either."""

EVALUATIONS = 30
"""Sweeps over fixed strategies between two sweeps of matrix games, at most."""

SMALLER = 0.1
"""The factor by which they reduce what the sweep of matrix games left."""


@kernel(largest=2000, allocates=True)
def solve_stages(
    x_start: Ints,
    y_start: Ints,
    transitions: Transitions,
    reward: Floats,
    values: Floats,
    rest: Floats,
    x: Floats,
    y: Floats,
    largest_game: tuple[int, int],
    accepted: float,
    rounding: float,
    update: bool,
) -> tuple[Floats, Floats, Floats, Bools, Followed]:
    """Solve the matrix game of advantages in every state.

    Args:
        x_start: [n+1] slices of player 0's actions.
        y_start: [n+1] slices of player 1's actions.
        transitions: Transitions of the component; next states from n on are places outside.
        reward: [N] to player 0.
        values: [n+m] of states and of places outside.
        rest: [n+m] what floats as large as `values` cannot hold, to be added.
        x: [X] strategies whose supports are tried first; optimal ones are written.
        y: [Y] the same for player 1.
        largest_game: The most actions that player 0 has in a state, and player 1.
        accepted: Largest duality gap accepted, in units of the range of a game's payoffs.
        rounding: Duality gap accepted beyond that, in units of the largest payoff.
        update: Whether the value of each game is added to that of its state at once, divided by
            the probability that the state changes: a sweep of Gauss-Seidel.

    Returns:
        The value of each game, [n]; the sum of what changes along the best row, or the largest such
        sum where both choose, [n]; the largest of all rows, [n]; whether the duality gap is
        accepted, [n]; and what follows under the strategies that were found.
    """
    n = len(x_start) - 1
    work = work_for(*largest_game)
    most = largest_game[0] * largest_game[1]
    payoff, changes, weight = np.zeros(most), np.zeros(most), np.zeros(most)
    seen, followed = np.full(len(values), -1), no_outcomes(n)
    value, change, largest = np.zeros(n), np.zeros(n), np.zeros(n)
    solved = np.ones(n, np.bool_)
    for s in range(n):
        low, high = _find_advantages(s, transitions, reward, values, rest, payoff, changes)
        own, other = x[x_start[s] : x_start[s + 1]], y[y_start[s] : y_start[s + 1]]
        size = len(own) * len(other)
        largest[s] = changes[:size].max()
        if len(own) > 1 and len(other) > 1:
            a = payoff[:size].reshape((len(own), len(other)))
            value[s], gap, _ = solve_in(work, a, own, other)
            solved[s] = gap <= accepted * (high - low) + rounding * max(abs(low), abs(high))
            change[s] = largest[s]
        else:
            chooser, sign = (own, 1) if len(own) > 1 else (other, -1)
            best = _choose(chooser, sign, payoff, changes, STEADY if update else 0.0)
            own[:] = 0.0
            other[:] = 0.0
            own[0] = other[0] = 1.0
            chooser[0] = 0.0
            chooser[best] = 1.0
            value[s], change[s] = payoff[best], changes[best]
        pairs = weight[:size].reshape((len(own), len(other)))
        for i in range(len(own)):
            for j in range(len(other)):
                pairs[i, j] = own[i] * other[j]
        # Here, where the rows of the state have just been read, this takes a fraction of the time.
        followed = _follow(s, pairs, transitions, reward, seen, followed)
        if update:
            begin, end = followed.start[s], followed.start[s + 1]
            moving = 0.0
            for o in range(begin, end):
                if followed.target[o] != s:
                    moving += followed.probability[o]
            value[s] /= moving if moving > 0 else 1.0
            values[s] += value[s]
    return value, change, largest, solved, followed


@inner
def _find_advantages(
    s: int,
    transitions: Transitions,
    reward: Floats,
    values: Floats,
    rest: Floats,
    payoff: Floats,
    changes: Floats,
) -> tuple[float, float]:
    """Write the advantages of a state's rows and the sums of what changes along them.

    Returns:
        The least advantage and the largest.
    """
    row_start, outcome_start, next_state, probability = transitions
    low, high, first = np.inf, -np.inf, row_start[s]
    for k in range(row_start[s + 1] - first):
        rise, magnitude = 0.0, 0.0
        for o in range(outcome_start[first + k], outcome_start[first + k + 1]):
            t = next_state[o]
            if t == s and reward[o] == 0:
                continue
            step = values[t] - values[s]
            rise += probability[o] * (reward[o] + step)
            rise += probability[o] * (rest[t] - rest[s])
            size_of_step = abs(reward[o]) + abs(step)
            if size_of_step > 0:
                magnitude += max(probability[o] * size_of_step, SMALLEST_NORMAL)
        payoff[k], changes[k] = rise, magnitude
        low, high = min(low, rise), max(high, rise)
    return low, high


@inner
def _choose(chooser: Floats, sign: int, payoff: Floats, changes: Floats, steady: float) -> int:
    """Return the best action of the one who chooses, or the one chosen so far if it is as good."""
    best = now = 0
    for k in range(len(chooser)):
        best = k if sign * payoff[k] > sign * payoff[best] else best
        now = k if chooser[k] > chooser[now] else now
    equal = steady * max(changes[best], changes[now])
    return best if sign * (payoff[best] - payoff[now]) > equal else now


@kernel(largest=500, allocates=True)
def approach(
    x_start: Ints,
    y_start: Ints,
    transitions: Transitions,
    reward: Floats,
    values: Floats,
    x: Floats,
    y: Floats,
    largest_game: tuple[int, int],
    rounds: int,
) -> Followed:
    """Bring values nearer to a component's by sweeps of matrix games, and of what they lead to.

    Each sweep that solves all matrix games is followed by cheaper ones under the strategies found
    (van der Wal 1978, "Discounted Markov Games: Generalized Policy Iteration Method").

    Args:
        x_start: [n+1] slices of player 0's actions.
        y_start: [n+1] slices of player 1's actions.
        transitions: Transitions of the component; next states from n on are places outside.
        reward: [N] to player 0.
        values: [n+m] of states and of places outside, written.
        x: [X] strategies whose supports are tried first; the last ones found are written.
        y: [Y] the same for player 1.
        largest_game: The most actions that player 0 has in a state, and player 1.
        rounds: Number of sweeps of matrix games.

    Returns:
        What follows under the last strategies.
    """
    rest = np.zeros(len(values))
    # A literal would compile the loop below a second time.
    update = bool(np.bool_(True))
    for _ in range(rounds):
        steps, _, _, _, followed = solve_stages(
            x_start,
            y_start,
            transitions,
            reward,
            values,
            rest,
            x,
            y,
            largest_game,
            1.0,
            0.0,
            update,
        )
        _sweep(followed, values, SMALLER * np.abs(steps).max())
    return followed


@inner
def _sweep(followed: Followed, values: Floats, enough: float) -> None:
    """Sweep over fixed strategies, down and up by turns, until no value changes by more."""
    start, target, probability, reward = followed
    n = len(start) - 1
    moving, gain = np.zeros(n), np.zeros(n)
    for s in range(n):
        for o in range(start[s], start[s + 1]):
            gain[s] += probability[o] * reward[o]
            moving[s] += probability[o] if target[o] != s else 0.0
    for turn in range(EVALUATIONS):
        largest = 0.0
        for i in range(n):
            s = i if turn % 2 else n - 1 - i
            if moving[s] > 0:
                total = gain[s]
                for o in range(start[s], start[s + 1]):
                    total += probability[o] * values[target[o]] if target[o] != s else 0.0
                total /= moving[s]
                largest = max(largest, abs(total - values[s]))
                values[s] = total
        if largest <= enough:
            break


@inner
def no_outcomes(n: int) -> Followed:
    """Memory for the outcomes of n states, of which there are none yet."""
    length = 4 * n + 64
    start = np.zeros(n + 1, np.int64)
    return Followed(start, np.zeros(length, np.int64), np.zeros(length), np.zeros(length))


@inner
def _follow(
    s: int,
    weight: Floats,
    transitions: Transitions,
    reward: Floats,
    seen: Ints,
    followed: Followed,
) -> Followed:
    """Add the outcomes of state s, after those of all states before it.

    Args:
        s: The state.
        weight: [m, n] the probability of each pair of actions.
        transitions: Transitions of the component; next states from n on are places outside.
        reward: [N] to player 0.
        seen: [n+m] where the outcome that leads to each place stands; anything below the first of
            this state if there is none.
        followed: The outcomes found so far.

    Returns:
        The same, in larger arrays if need be.
    """
    row_start, outcome_start, next_state, probability = transitions
    first = row_start[s]
    begin = end = followed.start[s]
    target, chance, gain = followed.target, followed.probability, followed.reward
    rows, columns = weight.shape
    most = end + outcome_start[first + rows * columns] - outcome_start[first]
    if most > len(target):
        target = np.concatenate((target, np.zeros(most, np.int64)))
        chance = np.concatenate((chance, np.zeros(most)))
        gain = np.concatenate((gain, np.zeros(most)))
        followed = Followed(followed.start, target, chance, gain)
    for i in range(rows):
        for j in range(columns):
            if weight[i, j] > 0:
                k = first + i * columns + j
                for o in range(outcome_start[k], outcome_start[k + 1]):
                    t = next_state[o]
                    if seen[t] < begin:
                        seen[t] = end
                        target[end], chance[end], gain[end] = t, 0.0, 0.0
                        end += 1
                    p = weight[i, j] * probability[o]
                    chance[seen[t]] += p
                    gain[seen[t]] += p * reward[o]
    for o in range(begin, end):
        if chance[o] > 0:
            gain[o] /= chance[o]
    followed.start[s + 1] = end
    return followed
