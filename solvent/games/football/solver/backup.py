"""The rules where one side has the ball, as matrices, and one backup of all situations at once.

**Views.** A *view* is what everything is worth to one side, the viewer, [2 (S + 2)]:

===================  ==============================================================================
index                value to the viewer
===================  ==============================================================================
0 .. S-1             of a situation, the viewer having the ball
S                    of being about to kick off
S + 1                of being about to give the ball up by a free kick
S + 2 + i            of the same as i, the other side having the ball or being about to kick
===================  ==============================================================================

The value of a result to the offence is one sum over its branches, whoever gets the ball,

    q(s, r) = sum of probability * (points + view[target])

with the offence's view: a product of a sparse matrix and the view. Another product, with the
probabilities of results in the cells of the chart, gives the payoffs of all calls.

**Choices** between a penalty and a play are an array [S, C] with the probability that the penalty
is taken; :data:`BY_VALUE` stands for the option that is better for the side that chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array, vstack

from solvent.exact.chain import Chain
from solvent.exact.compilation import Transitions
from solvent.exact.matrix_game import MatrixGames, solve_matrix_games
from solvent.games.football.packed import SAFETY_KICK, PackedRules
from solvent.games.football.situation import OFFENCE
from solvent.model.arrays import Floats, Ints, grouped_sum

BY_VALUE = -1.0
"""Entry of an array of choices: the side that chooses takes the better option."""

Sparse: TypeAlias = Any
"""A sparse matrix of scipy, by rows."""


class Strategies(NamedTuple):
    """One side's strategies in every situation.

    Attributes:
        offence: [S, A] probabilities of its actions with the ball.
        defence: [S, m] probabilities of its calls against the ball.
        choices: [S, C] probabilities of taking the penalty.
    """

    offence: Floats
    defence: Floats
    choices: Floats


class Equilibria(NamedTuple):
    """Equilibria of the calls in all situations.

    Attributes:
        offence: [S, A] optimal strategies.
        defence: [S, m] optimal strategies.
        value: [S] to the offence.
        gap: [S] the duality gap of each matrix game.
    """

    offence: Floats
    defence: Floats
    value: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class Backup:
    """A chart and a ruleset as matrices, for the side that has the ball.

    Attributes:
        rules: The rules as lists of branches.
        branches: [S R, 2(S+2)] the probability that a result in a situation leads to a place.
        points: [S R] expected points of a result, to the offence.
        cells: [R, (A + 1) m] the probability of a result in a cell; the last action is the punt
            from punt formation.
        kicks: [3, 2(S+2)] where the kicks lead to, as the side that kicks sees it.
        kick_points: [3] their expected points, to the side that kicks.
        contested: The distinct lists of legal actions whose payoff depends on the defence's call,
            and the numbers of the situations that have each of them.
        choice: [C] the results that are choices.
    """

    rules: PackedRules
    branches: Sparse
    points: Floats
    cells: Floats
    kicks: Sparse
    kick_points: Floats
    contested: list[tuple[Ints, Ints]]
    choice: Ints

    @property
    def uniform(self) -> Strategies:
        """Every legal action and every option with equal probability."""
        rules = self.rules
        return Strategies(
            rules.legal / rules.legal.sum(axis=1, keepdims=True),
            np.full((rules.n_situations, rules.chart.defences), 1 / rules.chart.defences),
            np.full((rules.n_situations, len(self.choice)), 0.5),
        )

    def results(
        self, view: Floats, choices: Floats | None = None, *, pay: float = 1.0
    ) -> tuple[Floats, Floats]:
        """The value of every result to the offence, and the choices as they are made.

        Args:
            view: The offence's.
            choices: [S, C], all by value if left out; of two equal options the play is taken.
            pay: 1 to count points, 0 to leave them out.

        Returns:
            [S, R] and [S, C].
        """
        return self.choose(np.asarray(self.branches @ view + pay * self.points), choices)

    def choose(self, values: Floats, choices: Floats | None = None) -> tuple[Floats, Floats]:
        """Fill in the values of results that are choices.

        Args:
            values: The values of the other results, of all situations or of some.
            choices: The probabilities of taking the penalty, all by value if left out.

        Returns:
            The values, [S, R], and the choices as they are made, [S, C].
        """
        values = values.reshape(-1, self.rules.n_results)
        shape = len(values), len(self.choice)
        taken = np.full(shape, BY_VALUE) if choices is None else choices.copy()
        for c, result in enumerate(self.choice.tolist()):
            penalty, play = values[:, self.rules.arrays.option[c]].T
            offended = self.rules.arrays.chooser[c]
            better = penalty > play if offended == OFFENCE else penalty < play
            taken[:, c] = np.where(taken[:, c] < 0, better, taken[:, c])
            values[:, result] = taken[:, c] * penalty + (1 - taken[:, c]) * play
        return values, taken

    def payoffs(self, results: Floats) -> Floats:
        """The payoff of every action of the offence against every call, [S, A, m].

        Args:
            results: [S, R] the value of every result.
        """
        plays, defences = self.rules.chart.plays, self.rules.chart.defences
        calls = (results @ self.cells).reshape(len(results), -1, defences)
        punting = self.rules.situation[:, 3] == 1
        calls[punting, plays + 2] = calls[punting, plays + 3]
        return np.asarray(calls[:, : plays + 3])

    def rows(self, strategies: Strategies) -> tuple[Sparse, Floats]:
        """Return the rows of fixed strategies: [S, 2(S+2)] probabilities, and [S] expected points.

        Args:
            strategies: The offence's, and the defence's against it, with all choices made.
        """
        rules, plays = self.rules, self.rules.chart.plays
        calls = np.zeros((rules.n_situations, plays + 4))
        calls[:, : plays + 3] = strategies.offence
        punting = rules.situation[:, 3] == 1
        calls[punting, plays + 3] = calls[punting, plays + 2]
        calls[punting, plays + 2] = 0.0
        pairs = calls[:, :, None] * strategies.defence[:, None, :]
        weight = pairs.reshape(len(calls), -1) @ self.cells.T
        for c, result in enumerate(self.choice.tolist()):
            taken = strategies.choices[:, c]
            for option, share in zip(rules.arrays.option[c], (taken, 1 - taken), strict=True):
                weight[:, option] += weight[:, result] * share
            weight[:, result] = 0.0
        at, result = np.nonzero(weight)
        start = np.searchsorted(at, np.arange(len(weight) + 1))
        column = at * weight.shape[1] + result
        chosen = csr_array((weight[at, result], column, start), shape=(len(weight), weight.size))
        return chosen @ self.branches, chosen @ self.points

    def equilibria(self, view: Floats, start: Strategies | Equilibria) -> Equilibria:
        """The equilibrium of the call in every situation, choices being made by value.

        A field goal and the declaration of punt formation have one value whatever the defence
        calls. The value of a matrix with one more row that is constantly c is max(value, c): the
        game is solved without such rows, and one of them is called for certain if its value is
        larger. The defence keeps to the strategy that it would need if the offence did not: any
        other that holds the offence to c would be optimal too, but it might be one against which
        the offence can go on for ever, taking penalties back to its own goal line.

        Args:
            view: The offence's.
            start: Strategies that may resemble the optimal ones.
        """
        payoffs = self.payoffs(self.results(view)[0])
        found = self.contests(payoffs, start)
        certain = np.where(self.rules.legal, payoffs[:, :, 0], -np.inf)
        for rows, here in self.contested:
            certain[np.ix_(here, rows)] = -np.inf
        action, best = certain.argmax(axis=1), certain.max(axis=1)
        called = np.flatnonzero(best > found.value)
        found.offence[called] = 0.0
        found.offence[called, action[called]] = 1.0
        return found._replace(value=np.maximum(found.value, best))

    def contests(self, payoffs: Floats, start: Strategies | Equilibria | None = None) -> Equilibria:
        """Solve the matrix games without the actions that the defence cannot answer.

        Args:
            payoffs: [S, A, m] to the offence.
            start: Strategies that may resemble the optimal ones.
        """
        situations, actions, defences = payoffs.shape
        offence, defence = np.zeros((situations, actions)), np.zeros((situations, defences))
        value, gap = np.zeros(situations), np.zeros(situations)
        begin = start or self.uniform
        for rows, here in self.contested:
            at = np.ix_(here, rows)
            alike = MatrixGames(
                value[here],
                begin.offence[at],
                begin.defence[here],
                gap[here],
                np.zeros(len(here), np.int64),
            )
            games = solve_matrix_games(payoffs[at], start=alike)
            offence[at], defence[here] = games.row_strategy, games.column_strategy
            value[here], gap[here] = games.value, games.duality_gap
        return Equilibria(offence, defence, value, gap)


@lru_cache(maxsize=8)
def backup_of(rules: PackedRules) -> Backup:
    """The matrices of a chart and a ruleset."""
    plays, arrays, half = rules.chart.plays, rules.arrays, rules.n_situations + 2
    start, probability, branch = arrays.branch_start, arrays.branch_probability, rules.branches
    places = branch["row"] + np.where(branch["same_side"], 0, half).astype(np.int64)
    rows = csr_array((probability, places, start), shape=(len(start) - 1, 2 * half))
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    points = grouped_sum(row, probability * branch["points"], len(start) - 1)
    mixed = arrays.mixed_probability, arrays.mixed_result, arrays.mixed_start
    shape = len(arrays.mixed_start) - 1, arrays.results
    contents = np.concatenate((np.eye(arrays.results), csr_array(mixed, shape=shape).toarray()))
    contested = rules.legal.copy()
    contested[:, plays + 1] = False
    contested[rules.situation[:, 3] == 0, plays + 2] = False
    patterns, which = np.unique(contested, axis=0, return_inverse=True)
    return Backup(
        rules=rules,
        branches=rows[:-3],
        points=points[:-3],
        cells=np.ascontiguousarray(contents[arrays.cell.ravel()].T),
        kicks=rows[-3:],
        kick_points=points[-3:],
        contested=[
            (np.flatnonzero(pattern), np.flatnonzero(which.reshape(-1) == p))
            for p, pattern in enumerate(patterns)
        ],
        choice=arrays.chosen_result,
    )


def against_defence(payoffs: Floats, defence: Floats) -> Floats:
    """The payoffs [S, A] of the offence's actions against the defence's strategies."""
    return np.asarray(np.matmul(payoffs, defence[:, :, None])[:, :, 0])


def against_offence(payoffs: Floats, offence: Floats) -> Floats:
    """The payoffs [S, m] of the defence's calls, to the offence, against its strategies."""
    return np.asarray(np.matmul(offence[:, None, :], payoffs)[:, 0])


def rate_kick(backup: Backup, kick: int, view: Floats, pay: float = 1.0) -> float:
    """The value of a kick to the side that kicks, whose view is given."""
    start, end = backup.kicks.indptr[[kick, kick + 1]]
    places = backup.kicks.indices[start:end]
    return float(backup.kicks.data[start:end] @ view[places] + pay * backup.kick_points[kick])


def situation_chain(
    backups: Sequence[Backup], strategies: Sequence[Strategies | None], discount: float = 0.0
) -> Callable[..., Floats]:
    """Football under fixed strategies as a Markov chain over the places of a view.

    Places of which the strategies are not fixed are its ends, and so are the kickoffs.

    Args:
        backups: The rules of the viewer, and of the other side.
        strategies: Strategies where the one has the ball, and where the other has it; None for a
            half that is an end. With both, a free kick is a part of the chain.
        discount: Share by which the value of everything after a call is reduced.

    Returns:
        A function that solves the chain.

    Raises:
        CertificateError: If play need not end, as far as floats can tell.
    """
    half = backups[0].rules.n_situations + 2
    end = csr_array((1, 2 * half))
    rows, points = [], []
    for role, (backup, own) in enumerate(zip(backups, strategies, strict=True)):
        if own is None:
            rows.append(csr_array((half, 2 * half)))
            points.append(np.zeros(half))
            continue
        if role == 0 or own is not strategies[0]:
            calls, paid = backup.rows(own)
        kick = backup.kicks[[SAFETY_KICK]] if None not in strategies else end
        together = csr_array(vstack((calls, end, kick)))
        if role == 1:
            together.indices = (together.indices + half) % (2 * half)
        rows.append(together)
        free_kick = backup.kick_points[SAFETY_KICK] if kick is not end else 0.0
        points.append((1 - 2 * role) * np.concatenate((paid, (0.0, free_kick))))
    whole = csr_array(vstack(rows)) * (1 - discount)
    inside = np.diff(whole.indptr) > 0
    start = np.append(whole.indptr[:-1][inside], whole.nnz).astype(np.int64)
    outcomes = whole.indices.astype(np.int64), whole.data
    transitions = Transitions(np.append(0, np.cumsum(inside)), start, *outcomes)
    chain = Chain("football", transitions, np.ones(len(start) - 1), np.full(2 * half, discount))

    def values(view: Floats, pay: float, toll: float = 0.0, *, within: float = 0.0) -> Floats:
        """Return the view under these strategies, [2(S+2)].

        Args:
            view: The values of the ends, and a guess of all others.
            pay: 1 to count points, 0 to leave them out.
            toll: Reward of every call.
            within: Largest error allowed in the equations, apart from rounding.

        Raises:
            CertificateError: If play need not end, as far as floats can tell.
        """
        right = np.where(inside, pay * np.concatenate(points) + toll, view)
        return chain.solve(right, guess=view, within=np.full(len(view), within))

    return values


def opposite(view: Floats) -> Floats:
    """The other side's view."""
    return -np.roll(view, len(view) // 2)


def offence_view(view: Floats, side: int) -> Floats:
    """The view of side 0 or 1, from the view of side 0."""
    return view if side == 0 else opposite(view)
