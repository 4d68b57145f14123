"""The rules as matrices, one backup of all situations at once, and best responses with bounds.

**Views.** A *view* is an array of the values to one side, the viewer, [2 (S + 2)]:

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

with the offence's view: a product of a sparse matrix and the values of successors. Another
product, with the probabilities of results in the cells of the chart, gives the payoffs of all
calls.

**Choices** between a penalty and a play are an array [S, C] with the probability that the penalty
is taken; :data:`BY_VALUE` stands for the option that is better for the side that chooses.

**Best responses.** Against fixed strategies the other, *free* side faces a Markov decision process.
It plays offence and defence by turns until the next score, or only one of the two in a drive.
Policy iteration finds its best response: respond one call ahead in every situation, evaluate the
response, and repeat until nothing improves. The objective is points, or else the number of calls,
which bounds how long play can last.

**The bound.** Fix the strategies of one side and let the free side play anything. Let w be a view
of the free side with

    w(s)  >=  1 + the largest expected w of what follows, over the free side's calls and choices,

and w = 0 where play has ended. Suppose that the residuals of the best-response equations at a view
V are at most e everywhere. Then V + e w is at least the right-hand sides of the equations at
V + e w, so no response gets more than V + e w. The bound e w has its own size in each state. For an
equilibrium, e is the largest gain over V of a response, one call ahead, to either side's
strategies.

**Finding w.** If w >= 0 and its right-hand sides exceed it by at most r < 1 everywhere, then
w / (1 - r) satisfies the inequality above, as division by 1 - r shows. So the policy iteration that
maximizes the number of calls need not converge; it only has to make r small enough. If it cannot, a
side may be able to keep play going for ever, and values until the next score may not exist.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array, vstack

from solvent.exact import CertificateError, ImproperGameError
from solvent.exact.chain import Chain
from solvent.exact.compilation import Transitions
from solvent.exact.matrix_game import MatrixGames, solve_matrix_games
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK, PackedRules
from solvent.games.football.situation import OFFENCE, first_down_at
from solvent.model.arrays import Bools, Floats, Ints

BY_VALUE = -1.0
"""Entry of an array of choices: the side that chooses takes the better option."""

Sparse: TypeAlias = Any
"""A sparse matrix of scipy, by rows."""

Alike: TypeAlias = list[tuple[Ints, Ints]]
"""Lists of rows of matrix games, and the numbers of the games that have each."""


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


@dataclass(frozen=True, eq=False)
class Backup:
    """A chart and a ruleset as matrices, for the side that has the ball.

    Attributes:
        rules: The rules as lists of branches.
        branches: [S R, U] the probability that a result in a situation leads to a successor.
        kicks: [3, U] the same of the kicks; the side that kicks stands in the offence's place.
        places: [U] where the value of a successor stands in the offence's view.
        points: [U] points of a successor, to the offence.
        cells: [R, (A + 1) m] the probability of a result in a cell; the last action is the punt
            from punt formation.
        contested: The distinct lists of legal actions whose payoff depends on the defence's call,
            and the numbers of the situations that have each of them.
        choice: [C] the results that are choices.
    """

    rules: PackedRules
    branches: Sparse
    kicks: Sparse
    places: Ints
    points: Floats
    cells: Floats
    contested: Alike
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

    def following(self, view: Floats, pay: float = 1.0) -> Floats:
        """[U] the values of successors to the offence, from its view; `pay` 0 leaves out points."""
        return np.asarray(pay * self.points + view[self.places])

    def leads(self, situations: Ints) -> Sparse:
        """[n R, U] the probability that a result in some situations leads to a successor."""
        results = self.rules.arrays.results
        rows = situations[:, None] * results + np.arange(results)
        return self.branches[rows.ravel()]

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
        return self.choose(self.branches @ self.following(view, pay), choices)

    def choose(self, values: Floats, choices: Floats | None = None) -> tuple[Floats, Floats]:
        """Fill in the values of results that are choices.

        Args:
            values: The values of the other results, of all situations or of some.
            choices: The probabilities of taking the penalty, all by value if left out.

        Returns:
            The values, [S, R], and the choices as they are made, [S, C].
        """
        values = values.reshape(-1, self.rules.arrays.results)
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
        plays, calls = self.rules.chart.plays, self.calls(results)
        punting = self.rules.situation[:, 3] == 1
        calls[punting, plays + 2] = calls[punting, plays + 3]
        return np.asarray(calls[:, : plays + 3])

    def calls(self, results: Floats) -> Floats:
        """The payoff of every call against each of the defence's, [n, A + 1, m], in n situations.

        Args:
            results: [n, R] the value of every result.
        """
        defences = self.rules.chart.defences
        return np.asarray((results @ self.cells).reshape(len(results), -1, defences))

    def placed(self, ends: Sparse) -> tuple[Sparse, Floats]:
        """Rows of probabilities over successors as such over places, and their expected points."""
        points, columns = np.asarray(ends @ self.points), self.places[ends.indices]
        shape = ends.shape[0], 2 * (self.rules.n_situations + 2)
        rows = csr_array((ends.data, columns, ends.indptr), shape=shape)
        rows.sum_duplicates()
        return rows, points

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
        return self.placed(chosen @ self.branches)

    def equilibria(self, view: Floats, start: Strategies) -> tuple[Strategies, Floats, Floats]:
        """Solve the call in every situation, choices being made by value.

        A field goal and the declaration of punt formation have one value whatever the defence
        calls. The value of a matrix with one more row that is constantly c is max(value, c): the
        game is solved without such rows, and one of them is called for certain if its value is
        larger. The defence keeps to the strategy that it would need if the offence did not: any
        other that holds the offence to c would be optimal too, but it might be one against which
        the offence can go on for ever, taking penalties back to its own goal line.

        Args:
            view: The offence's.
            start: Strategies that may resemble the optimal ones.

        Returns:
            Optimal strategies of both sides; [S] the values to the offence; and [S] the duality gap
            of each matrix game.
        """
        results, choices = self.results(view)
        payoffs = self.payoffs(results)
        found = contests(payoffs, self.contested, start)
        offence, defence = found.row_strategy, found.column_strategy
        certain = np.where(self.rules.legal, payoffs[:, :, 0], -np.inf)
        for rows, here in self.contested:
            certain[np.ix_(here, rows)] = -np.inf
        action, best = certain.argmax(axis=1), certain.max(axis=1)
        called = np.flatnonzero(best > found.value)
        offence[called] = 0.0
        offence[called, action[called]] = 1.0
        value = np.maximum(found.value, best)
        return Strategies(offence, defence, choices), value, found.duality_gap


def contests(payoffs: Floats, alike: Alike, start: Strategies | None = None) -> MatrixGames:
    """Solve matrix games of which only some rows may be called.

    Args:
        payoffs: [n, A, m] to the offence.
        alike: The rows that may be called, by game.
        start: Strategies that may resemble the optimal ones.
    """
    games, actions, defences = payoffs.shape
    offence, defence = np.zeros((games, actions)), np.zeros((games, defences))
    value, gap = np.zeros(games), np.zeros(games)
    for rows, here in alike:
        at, begin = np.ix_(here, rows), None
        if start is not None:
            known = start.offence[at], start.defence[here]
            begin = MatrixGames(value[here], *known, gap[here])
        found = solve_matrix_games(payoffs[at], start=begin)
        offence[at], defence[here] = found.row_strategy, found.column_strategy
        value[here], gap[here] = found.value, found.duality_gap
    return MatrixGames(value, offence, defence, gap)


def alike_in(legal: Bools) -> Alike:
    """The distinct lists of rows that may be called, [n, A], and the games that have each."""
    patterns, which = np.unique(legal, axis=0, return_inverse=True)
    return [
        (np.flatnonzero(pattern), np.flatnonzero(which.reshape(-1) == p))
        for p, pattern in enumerate(patterns)
    ]


@lru_cache(maxsize=8)
def backup_of(rules: PackedRules) -> Backup:
    """The matrices of a chart and a ruleset."""
    plays, arrays, successor = rules.chart.plays, rules.arrays, rules.arrays.successor
    ends = arrays.branch_probability, arrays.branch_successor, arrays.branch_start
    branches = csr_array(ends, shape=(len(arrays.branch_start) - 1, len(successor)))
    mixed = arrays.mixed_probability, arrays.mixed_result, arrays.mixed_start
    shape = len(arrays.mixed_start) - 1, arrays.results
    contents = np.concatenate((np.eye(arrays.results), csr_array(mixed, shape=shape).toarray()))
    contested = rules.legal.copy()
    contested[:, plays + 1] = False
    contested[rules.situation[:, 3] == 0, plays + 2] = False
    return Backup(
        rules=rules,
        branches=branches[:-3],
        kicks=branches[-3:],
        places=successor["row"] + np.where(successor["same_side"], 0, rules.n_situations + 2),
        points=successor["points"].astype(float),
        cells=np.ascontiguousarray(contents[arrays.cell.ravel()].T),
        contested=alike_in(contested),
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
    ends = backup.kicks.indices[start:end]
    values = pay * backup.points[ends] + view[backup.places[ends]]
    return float(backup.kicks.data[start:end] @ values)


def situation_chain(
    backups: Sequence[Backup], strategies: Sequence[Strategies | None]
) -> Callable[..., Floats]:
    """Football under fixed strategies as a Markov chain over the places of a view.

    Places of which the strategies are not fixed are its ends, and so are the kickoffs.

    Args:
        backups: The rules of the viewer, and of the other side.
        strategies: Strategies where the one has the ball, and where the other has it; None for a
            half that is an end. With both, a free kick is a part of the chain.

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
        kick, kicked = end, np.zeros(1)
        if None not in strategies:
            kick, kicked = backup.placed(backup.kicks[[SAFETY_KICK]])
        together = csr_array(vstack((calls, end, kick)))
        if role == 1:
            together.indices = (together.indices + half) % (2 * half)
        rows.append(together)
        points.append((1 - 2 * role) * np.concatenate((paid, (0.0,), kicked)))
    whole = csr_array(vstack(rows))
    inside = np.diff(whole.indptr) > 0
    start = np.append(whole.indptr[:-1][inside], whole.nnz).astype(np.int64)
    outcomes = whole.indices.astype(np.int64), whole.data
    transitions = Transitions(np.append(0, np.cumsum(inside)), start, *outcomes)
    chain = Chain("football", transitions, np.ones(len(start) - 1))

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


ATTACK, DEFEND = 0, 1
"""The halves of a view: its side has the ball, or the other side has it."""

EITHER = (ATTACK, DEFEND)

KICKOFFS = (NORMAL_KICK, ONSIDE_KICK)

# Actions closer than this are equally good: rounding must not make policies change.
_TIE = 1e-13

TOLERANCE = 1e-12
"""Residual at which policy iteration stops; the proved error accounts for what remains."""

# The r of the module's docstring at which policy iteration stops.
_EXCESS = 0.5

ROUNDING = 1e-6
"""Upper bound on the error in r from rounding."""

NEED_NOT_END = (
    "play need not end: no bound was found on how long one side can put off the next score against "
    "the other side's fixed strategies"
)

ROUNDS = 100


@dataclass(frozen=True, eq=False)
class Response:
    """A best response. Values are in points, to the side that responds.

    Attributes:
        view: [2(S+2)] values of all situations and kicks.
        error: [2(S+2)] proved error bounds of `view`.
        receiving: The value of receiving a kickoff, until the next score.
        kicking: The value of kicking off.
    """

    view: Floats
    error: Floats
    receiving: float
    kicking: float

    def values(self, role: int) -> Floats:
        """The values of all situations, [S], where the side is offence or defence."""
        return np.asarray(np.split(self.view, 2)[role][:-2])


def respond(
    rules: PackedRules,
    expected_points: ExpectedPoints,
    strategies: Strategies,
    role: int | None = None,
) -> Response:
    """Respond to a player's fixed strategies.

    Args:
        rules: Chart and ruleset.
        expected_points: The values with which drives end; until the next score only that of a
            kickoff is read, and both sides play from one chart.
        strategies: The fixed strategies.
        role: :data:`ATTACK` to respond to the defence of a drive, :data:`DEFEND` to respond to its
            offence; None to respond on both sides of the ball until the next score.

    Raises:
        ImproperGameError: If the best response can keep play going for ever.
    """
    both = (backup_of(rules),) * 2, (strategies,) * 2
    if role is None:
        return best_response(*both, after_score(rules, expected_points.kickoff), EITHER)
    view = offence_view(after_drive(rules, expected_points), role)
    return best_response(*both, view, (role,))


class FootballLosses(NamedTuple):
    """Exploitabilities of strategies against an opponent who sees them, in points.

    In a drive the offence and the defence are two players. Until the next score a player is both
    by turns, and may begin by kicking off or by receiving the kickoff. Each method raises
    :class:`~solvent.exact.ImproperGameError` if the other side can keep play from ending.

    Attributes:
        rules: Chart and ruleset.
        expected_points: Expected points of the game itself, with which drives end.
        values: [S] the values of a drive, to the offence.
    """

    rules: PackedRules
    expected_points: ExpectedPoints
    values: Floats

    def of_offence(self, strategies: Strategies) -> Floats:
        """Return the losses on offence in a drive from each situation, [S]."""
        found = respond(self.rules, self.expected_points, strategies, DEFEND)
        return self.values + found.values(DEFEND)

    def of_defence(self, strategies: Strategies) -> Floats:
        """Return the losses on defence in a drive from each situation, [S]."""
        found = respond(self.rules, self.expected_points, strategies, ATTACK)
        return found.values(ATTACK) - self.values

    def until_score(self, strategies: Strategies) -> tuple[float, float]:
        """Return the losses from receiving a kickoff, and from kicking off."""
        found = respond(self.rules, self.expected_points, strategies)
        value = self.expected_points.kickoff
        return value + found.kicking, found.receiving - value


def after_drive(rules: PackedRules, expected_points: ExpectedPoints) -> Floats:
    """Return the offence's view after a drive, [2(S+2)]; 0 for what is still in the drive.

    Raises:
        ExpectedPointsError: If `expected_points` does not fit the rules.
    """
    expected_points.check_is_for(rules.chart, rules.ruleset)
    half = rules.n_situations + 2
    view = np.zeros(2 * half)
    first_downs = [first_down_at(rules.ruleset, x) for x in range(1, rules.ruleset.field)]
    other = expected_points.other_side
    view[[half + rules.index(at) for at in first_downs]] = -np.array(other.first_down)
    view[half - 2 : half] = -other.kickoff, -other.free_kick
    view[-2:] = expected_points.kickoff, expected_points.free_kick
    return view


def after_score(rules: PackedRules, kickoff: float) -> Floats:
    """Return a view that is 0 except at the kickoffs that follow a score, [2(S+2)]."""
    view = np.zeros(2 * (rules.n_situations + 2))
    view[rules.n_situations], view[-2] = -kickoff, kickoff
    return view


def best_response(
    backups: Sequence[Backup],
    fixed: Sequence[Strategies],
    view: Floats,
    roles: Sequence[int],
    *,
    length: Floats | None = None,
) -> Response:
    """Respond to fixed strategies, and bound the error.

    Args:
        backups: The rules where the free side has the ball, and where the other side has it.
        fixed: The strategies of the other side there, likewise.
        view: [2(S+2)] view of the free side: a first guess, and the values with which play ends.
        roles: The halves in which the side is free. With both, play goes on until the next score;
            with one, until the ball or the right to kick goes to the other side.
        length: [2(S+2)] the w of the module's docstring; computed if left out.

    Raises:
        ImproperGameError: If the free side can keep play going for ever.
    """
    found, residual = _iterate(backups, fixed, view, roles)
    if length is None:
        made = [
            own._replace(choices=backups[role].results(offence_view(found, role), own.choices)[1])
            for role, own in enumerate(fixed)
        ]
        length = longest_play(backups, made, roles)
    terms = max(rounding(backup, found) for backup in backups)
    theirs = opposite(found)
    return Response(
        view=found,
        error=(residual + terms) * length,
        receiving=-max(rate_kick(backups[DEFEND], kick, theirs) for kick in KICKOFFS),
        kicking=max(rate_kick(backups[ATTACK], kick, found) for kick in KICKOFFS),
    )


def longest_play(
    backups: Sequence[Backup],
    fixed: Sequence[Strategies],
    roles: Sequence[int] = EITHER,
) -> Floats:
    """Return a w of the module's docstring, with proof, [2(S+2)].

    Args:
        backups: The rules where the free side has the ball, and where the other side has it.
        fixed: The strategies of the other side there, in which all choices are already made.
        roles: The halves in which the side is free.

    Raises:
        ImproperGameError: If no bound was found.
    """
    view = np.zeros(2 * (backups[0].rules.n_situations + 2))
    view, residual = _iterate(backups, fixed, view, roles, count=True)
    if not residual <= _EXCESS:
        raise ImproperGameError(NEED_NOT_END)
    return np.asarray(view / (1 - residual - ROUNDING))


def _iterate(
    backups: Sequence[Backup],
    fixed: Sequence[Strategies],
    view: Floats,
    roles: Sequence[int],
    *,
    count: bool = False,
) -> tuple[Floats, float]:
    """Run policy iteration; return the view and the largest residual.

    Args:
        backups: The rules where the free side has the ball, and where the other side has it.
        fixed: The strategies of the other side there.
        view: The view to begin with, and the values with which play ends.
        roles: The halves in which the side is free.
        count: Whether to maximize the number of calls instead of points.

    Raises:
        ImproperGameError: If the free side can keep play going for ever.
    """
    situations = backups[0].rules.n_situations
    actions = np.full((2, situations), -1)
    pay, toll, enough = (0.0, 1.0, _EXCESS) if count else (1.0, 0.0, TOLERANCE)
    for _ in range(ROUNDS):
        residual = 0.0
        used: list[Strategies | None] = [None, None]
        for role in roles:
            values, actions[role], used[role] = _respond(
                backups[role], fixed[role], view, role, pay, actions[role]
            )
            known = np.split(view, 2)[role][:situations]
            residual = max(residual, float(np.abs(values + toll - known).max()))
        if len(roles) == 2:
            for role in roles:
                sign, own = 1 - 2 * role, np.split(view, 2)[role]
                kicked = rate_kick(backups[role], SAFETY_KICK, offence_view(view, role), pay)
                residual = max(residual, abs(sign * kicked + toll - float(own[-1])))
        if residual <= enough:
            break
        try:
            view = situation_chain(backups, used)(view, pay, toll, within=enough / 10)
        except CertificateError as error:
            raise ImproperGameError(NEED_NOT_END) from error
    return view, residual


def equilibrium_miss(
    backup: Backup, view: Floats, strategies: Strategies, *, free_kick: bool
) -> float:
    """Return the e of the module's docstring, plus rounding, where one side has the ball.

    Args:
        backup: The rules of that side.
        view: [2(S+2)] of the offence.
        strategies: The strategies of both sides.
        free_kick: Whether to include the equation of the free kick.
    """
    rules = backup.rules
    values = view[: rules.n_situations]
    payoffs = backup.payoffs(backup.results(view)[0])
    most = against_defence(payoffs, strategies.defence)[rules.legal]
    of_legal = np.broadcast_to(values[:, None], rules.legal.shape)[rules.legal]
    least = against_offence(payoffs, strategies.offence).min(axis=1)
    miss = max(float((most - of_legal).max()), float((values - least).max()))
    if free_kick:
        after = rate_kick(backup, SAFETY_KICK, view)
        miss = max(miss, abs(after - float(view[rules.n_situations + 1])))
    return miss + rounding(backup, view)


def rounding(backup: Backup, view: Floats) -> float:
    """Return a bound on the rounding error in the payoff of a call against a strategy."""
    largest = float(np.abs(view).max()) + backup.rules.most_points
    return backup.rules.roundings * float(np.finfo(float).eps) / 2 * largest


def _respond(
    backup: Backup, fixed: Strategies, view: Floats, role: int, pay: float, usual: Ints
) -> tuple[Floats, Ints, Strategies]:
    """Respond one call ahead; return the values, the actions and the strategies then in use."""
    seen = offence_view(view, role)
    own = backup.rules.arrays.chooser == role
    choices = np.where(own, BY_VALUE, fixed.choices)
    results, made = backup.results(seen, choices, pay=pay)
    payoffs = backup.payoffs(results)
    if role == ATTACK:
        values = np.where(backup.rules.legal, against_defence(payoffs, fixed.defence), -np.inf)
    else:
        values = -against_offence(payoffs, fixed.offence)
    at = np.arange(len(values))
    actions = values.argmax(axis=1)
    stays = (usual >= 0) & (values[at, usual] >= values[at, actions] - _TIE)
    actions = np.where(stays, usual, actions)
    chosen = np.zeros(values.shape)
    chosen[at, actions] = 1.0
    calls = {"offence" if role == ATTACK else "defence": chosen}
    return values.max(axis=1), actions, fixed._replace(choices=made, **calls)
