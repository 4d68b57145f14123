"""Markov decision processes without discount: policy iteration among proper policies.

**Definition.** In each of n states one player chooses among *rows*. Row k of state s leads to state
t of the component with probability p(t|k), and otherwise to states outside, whose values are known.
Let r(k) be its expected reward plus expected value outside. A *policy* d takes one row in each
state. It is *proper* if play under it leaves the component with certainty from every state; then
its values are the only solution of

    v(s) = r(d(s)) + sum over t of p(t|d(s)) v(t).

The *advantage* of row k of state s, the expected rise of the value along it, is

    a(k) = r(k) + sum over t of p(t|k) v(t) - v(s).

**Theorem** (Howard 1960, *Dynamic Programming and Markov Processes*; Bertsekas and Tsitsiklis 1991,
"An analysis of stochastic shortest path problems"). Let d be proper, and let d' take a row of
largest advantage wherever that is above 0, and the row of d elsewhere. If no advantage is above 0,
d is optimal among proper policies. Otherwise the values of d' are at least as large in every state
and larger in some, or d' gains for ever, and the player does best by never ending.

In the first case d' is proper. Suppose it could stay in a set of states for ever without gain.
Averaged over the stay no value rises, so no row was strictly better there, and d would have stayed
as well. But d is proper.

**Algorithm.** Begin with a proper policy: in each state the first row of the most probable path
out. Evaluate it by linear equations (:mod:`solvent.exact.chain`), improve it, and repeat until no
row is strictly better.

**Rounding.** Rows are compared by their advantages. The rounding error of an advantage is
proportional to the rewards and the differences of values along the row, so a gain of 1e-4 is seen
in a component whose values are 1e9. For that, values are held as two arrays of floats, [2, n], of
which the second is the low-order part.

**Large components** are first solved approximately, by compiled modified policy iteration. Each
round is one greedy sweep of Gauss-Seidel over all rows, then sweeps over the policy's rows alone,
which are a few times cheaper, until values change ten times less than in the greedy sweep (Puterman
and Shin 1978, "Modified Policy Iteration Algorithms for Discounted Markov Decision Problems").
Three things make that quick:

- States are renumbered from the exits backward, so that a sweep carries a value from an exit
  through the whole component; sweeps alternate between up and down.
- Self-loops are removed: each row is divided by its probability of changing the state.
- Where sweeps contract slowly, the policy is evaluated by elimination if an order of the states has
  a small bandwidth (moves lead only to nearby states), otherwise by a Krylov method, whose patience
  doubles each time it fails.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from solvent.exact.chain import (
    ROUNDING,
    Chain,
    bicgstab,
    eliminate,
    likeliest_exits,
    narrow_order,
    solve_eliminated,
)
from solvent.exact.compilation import (
    Transitions,
    inner,
    kernel,
    row_advantages,
)
from solvent.exact.components import lead_to, trace_back
from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum, members

TIE = 1e-13
"""Rows whose advantages differ by less than this, in units of what changes along them, tie."""

EPSILON = float(np.finfo(float).eps)

FIRST, REST = 1e-9, 1e-7
"""Accuracy of the two solves of an evaluation, in units of their right sides. The second corrects
the error of the first."""

GRAIN = 8 * EPSILON
"""Differences below this, in units of the low-order part of a state's value, are rounding."""

NOISE = 4
"""Advantages tie if they differ by less than this, in units of the largest advantage of the
policy's own rows, which would be 0 without rounding. It would swap such rows for ever."""

ROUNDS = 1000
"""Iteration has failed after this many rounds; it rarely takes more than a few dozen."""

APPROACHED = 500
"""Components of more states than this are solved by sweeps before any exact evaluation."""

# Where sweeps contract slowly, policies are evaluated by elimination if an order of the states has
# at most this bandwidth.
_WIDEST = 32

LOOSEN = 50
"""The tolerance for ties doubles after this many rounds: rounding may make iteration cycle."""


@dataclass(eq=False)
class Component:
    """A set of n states that can all reach each other, with k rows and N outcomes.

    ==================  ==============  =======================================================
    ``game``            TabularGame     the game that has the states, for error messages
    ``states``          [n] int64       their indices in the game
    ``transitions``     Transitions     all outcomes, as the compiled loops take them; next states
                                        below n are inside, n + b is state b outside
    ``reward``          [N] float64     of each outcome, to the player who chooses
    ``boundary``        [m] float64     the values of the states outside, to the same player
    ``players``         pair of str     the player who chooses and the other, for error messages
    ``r``               [k] float64     the expected reward of each row plus the expected value
                                        outside
    ``leaving``         [k] float64     the probability with which each row leaves the component
    ``edges``           Transitions     the outcomes that stay inside, with probabilities p(t|k)
    ==================  ==============  =======================================================
    """

    game: TabularGame
    states: Ints
    transitions: Transitions
    reward: Floats
    boundary: Floats
    players: tuple[str, str]
    r: Floats = field(init=False)
    leaving: Floats = field(init=False)
    edges: Transitions = field(init=False)

    @property
    def n(self) -> int:
        """The number of states."""
        return len(self.transitions.row_start) - 1

    @property
    def k(self) -> int:
        """The number of rows."""
        return len(self.transitions.outcome_start) - 1

    @cached_property
    def state(self) -> Ints:
        """[k] the state of each row."""
        return np.repeat(np.arange(self.n), np.diff(self.transitions.row_start))

    @cached_property
    def outcome_row(self) -> Ints:
        """[N] the row of each outcome."""
        return np.repeat(np.arange(self.k), np.diff(self.transitions.outcome_start))

    def __post_init__(self) -> None:
        """Separate the outcomes that stay inside."""
        row_start, outcome_start, next_state, probability = self.transitions
        inside = next_state < self.n
        payoff = self.reward.copy()
        payoff[~inside] += self.boundary[next_state[~inside] - self.n]
        self.r = grouped_sum(self.outcome_row, probability * payoff, self.k)
        self.leaving = grouped_sum(self.outcome_row[~inside], probability[~inside], self.k)
        start = np.concatenate(([0], np.cumsum(inside)))[outcome_start]
        self.edges = Transitions(row_start, start, next_state[inside], probability[inside])

    def name(self, s: int = 0) -> str:
        """Return the name of the game and one of its states, for error messages.

        Args:
            s: Index of the state in the component.
        """
        return f"{self.game.info.name}, state {self.game.states[int(self.states[s])]!r}"


def policy_iteration(
    c: Component, policy: Ints | None = None, *, near: bool = False
) -> tuple[Floats, Ints]:
    """Return the values of the best proper policy, [2, n], and its row in each state, [n].

    Args:
        c: The component.
        policy: [n] the row of each state to begin with; ignored if it is not proper.
        near: Whether the result of sweeps is enough for a large component, if they converge to a
            proper policy. The values are then optimal up to rounding and ties.

    Raises:
        ImproperGameError: If the player who chooses does best by never ending play, or the other
            player can prevent an end.
        CertificateError: If iteration does not converge, or play ends too rarely for floats.
    """
    guess: Floats | None = None
    if c.n > APPROACHED:
        found, values = best_rows(c, c.r) if policy is None else policy.copy(), np.zeros(c.n)
        if approach(c, found, values) and is_proper(c, chosen(c, found)):
            if near:
                return np.stack((values, 0 * values)), found
            policy, guess = found, values
    if policy is None or not (guess is not None or is_proper(c, chosen(c, policy))):
        policy = likeliest_exit(c)
    for turn in range(ROUNDS):
        v = evaluate(c, chosen(c, policy).astype(float), guess)
        guess = v.sum(axis=0)
        a, change = advantages(c, v)
        best = best_rows(c, a)
        equal = 2.0 ** (turn // LOOSEN) * tie(v, np.maximum(change[best], change[policy]))
        # The policy's own rows have advantage 0, up to the error of its evaluation.
        better = a[best] > a[policy] + equal + NOISE * np.abs(a[policy]).max()
        if not better.any():
            return v, policy
        policy = np.where(better, best, policy)
        lost = exitless(c, chosen(c, policy))
        if lost.any():
            raise ImproperGameError(
                f"{c.name(int(np.argmax(lost)))}: {c.players[0]} does best by never ending"
            )
    raise CertificateError(f"{c.name()}: policy iteration did not converge in {ROUNDS} rounds")


def approach(c: Component, policy: Ints, values: Floats) -> bool:
    """Approximate the optimum of a large component by sweeps; return whether they converged.

    Args:
        c: The component.
        policy: [n] the row of each state to begin with; the best rows are written here.
        values: [n] the values to begin with; the best ones are written here.
    """
    every = np.ones(c.k, bool)
    order = trace_back(c.edges, every, leaves(c, every))
    if len(order) < c.n:
        return False
    outcome = _approached(c, order, -1, policy, values)
    if outcome == CONTRACTS_SLOWLY:
        start = c.edges.outcome_start[c.edges.row_start]
        order, width = narrow_order(start, c.edges.next_state, _WIDEST) or (order, 0)
        outcome = _approached(c, order, width, policy, values)
    return outcome == CONVERGED


def _approached(c: Component, order: Ints, width: int, policy: Ints, values: Floats) -> int:
    """Find values and a policy of a component, in most cases optimal up to rounding.

    Nothing is proved here: the caller checks the policy, and the certificate checks the values.

    Args:
        c: The component.
        order: [n] an order of the states.
        width: Bandwidth of that order, to evaluate policies by elimination. 0 to evaluate them by
            the Krylov method, -1 to return if sweeps contract slowly.
        policy: [n] the row of each state to begin with; the best rows are written here.
        values: [n] the values to begin with; the best ones are written here.

    Returns:
        `FAILED`, `CONVERGED` or `CONTRACTS_SLOWLY`.
    """
    rows, row_of, own = _renumbered(c, order, policy)
    v = values[order]
    longest = np.maximum.reduceat(np.diff(rows[0].outcome_start), rows[0].row_start[:-1])
    size = int(longest.sum())
    start, target = np.zeros(c.n + 1, np.int64), np.empty(size, np.int64)
    chain = start, target, np.empty(size), np.empty(c.n), np.empty(c.n)
    if width > 0:
        outcome = _eliminate(rows, chain, own, v, width)
    else:
        outcome = _iterate(rows, chain, own, v, ROUNDING, width < 0)
    policy[order], values[order] = row_of[own], v
    return outcome


Rows: TypeAlias = tuple[Transitions, Floats, Floats]
"""Transitions given that a row moves, the reward of each row until it moves, and the probability
that this move leaves the component."""

PolicyRows: TypeAlias = tuple[Ints, Ints, Floats, Floats, Floats]
"""A policy's rows, which are faster to read when contiguous: the slice of each state's targets, the
targets, their probabilities, and each state's reward and probability of leaving."""


def _renumbered(c: Component, order: Ints, policy: Ints) -> tuple[Rows, Ints, Ints]:
    """Return a component in a new order of states, without self-loops or rows that never move.

    Args:
        c: The component.
        order: [n] an order of the states.
        policy: [n] a row of each state.

    Returns:
        The rows that move, the former index of each, and the policy's row in each state.
    """
    rows, count = members(c.edges.row_start, order)
    outcomes, length = members(c.edges.outcome_start, rows)
    state = np.repeat(np.arange(c.n), count)
    row = np.repeat(np.arange(len(rows)), length)
    target = np.argsort(order)[c.edges.next_state[outcomes]]
    flow = np.where(target == state[row], 0.0, c.edges.probability[outcomes])
    moving = c.leaving[rows] + grouped_sum(row, flow, len(rows))
    kept, used = moving > 0, flow > 0
    rows, state, moving = rows[kept], state[kept], moving[kept]
    row = (np.cumsum(kept) - 1)[row[used]]
    start = np.searchsorted(state, np.arange(c.n + 1))
    ends = np.searchsorted(row, np.arange(len(rows) + 1))
    own, taken = start[:-1].copy(), np.flatnonzero(rows == policy[order][state])
    own[state[taken]] = taken
    transitions = Transitions(start, ends, target[used], flow[used] / moving[row])
    return (transitions, c.r[rows] / moving, c.leaving[rows] / moving), rows, own


def evaluate(
    c: Component, weight: Floats, guess: Floats | None = None, *, rough: float | None = None
) -> Floats:
    """Return the values of the component when rows have given probabilities, [2, n].

    Args:
        c: The component.
        weight: [k] the probability of each row in its state; play must leave with certainty.
        guess: [n] values to begin iteration with.
        rough: Sufficient accuracy, in units of the largest reward; rounding if left out.

    Raises:
        CertificateError: If play ends too rarely for floats.
    """
    chain, right = chain_of(c, weight)
    within = np.full(c.n, (FIRST if rough is None else rough) * np.abs(right).max())
    v = chain.solve(right, within=within, guess=guess)
    if rough is not None:
        return np.stack((v, 0 * v))
    # Solve again for the residual, which is computed from differences.
    rest = grouped_sum(c.state, weight * advantages(c, np.stack((v, 0 * v)))[0], c.n)
    enough = max(REST * np.abs(rest).max(), EPSILON * np.abs(right).max())
    return np.stack((v, chain.solve(rest, within=np.full(c.n, enough))))


def chain_of(c: Component, weight: Floats) -> tuple[Chain, Floats]:
    """Return the chain of play when rows have given probabilities, and its rewards, [n].

    Args:
        c: The component.
        weight: [k] the probability of each row in its state.

    Raises:
        CertificateError: If a state is never left, as far as floats can tell.
    """
    chain = Chain(c.name(), c.edges, weight, grouped_sum(c.state, weight * c.leaving, c.n))
    return chain, grouped_sum(c.state, weight * c.r, c.n)


def advantages(c: Component, v: Floats) -> tuple[Floats, Floats]:
    """Return the advantage of each row, [k], and the size of the changes along it, [k].

    The size is the expected absolute reward plus absolute change of the value.

    Args:
        c: The component.
        v: [2, n] values.
    """
    rise, change = row_advantages(c.transitions, c.reward, np.concatenate((v[0], c.boundary)), 1)
    low_order = np.concatenate((v[1], np.zeros_like(c.boundary)))
    return rise + row_advantages(c.transitions, c.reward, low_order, 0)[0], change


def tie(v: Floats, change: Floats) -> Floats:
    """Return the difference up to which advantages count as equal in each state, [n].

    Args:
        v: [2, n] values.
        change: [n] size of the changes along the rows that are compared.
    """
    equal: Floats = TIE * change + GRAIN * np.abs(v[1]) + np.finfo(float).tiny
    return equal


def best_rows(c: Component, q: Floats) -> Ints:
    """Return the first row of largest q ([k]) in each state, [n]."""
    best = np.flatnonzero(~(q < np.maximum.reduceat(q, c.transitions.row_start[:-1])[c.state]))
    return best[np.searchsorted(c.state[best], np.arange(c.n))]


def chosen(c: Component, policy: Ints) -> Bools:
    """Return whether a policy ([n] rows) takes each row, [k]."""
    rows = np.zeros(c.k, bool)
    rows[policy] = True
    return rows


def exitless(c: Component, rows: Bools) -> Bools:
    """Return the states from which the given rows ([k]) never lead out of the component, [n]."""
    return ~lead_to(c.edges, rows, leaves(c, rows))


def leaves(c: Component, rows: Bools) -> Bools:
    """Return the states in which one of the given rows ([k]) can leave the component, [n]."""
    found = np.zeros(c.n, bool)
    found[c.state[rows & (c.leaving > 0)]] = True
    return found


def is_proper(c: Component, rows: Bools) -> bool:
    """Return whether the given rows ([k]) lead out of the component from every state."""
    return not exitless(c, rows).any()


def likeliest_exit(c: Component) -> Ints:
    """Return a proper policy: in each state the first row of its most probable path out, [n].

    The shortest path would do in exact arithmetic; but if it has probability 1e-100, floats cannot
    tell play that leaves from play that does not.

    Raises:
        ImproperGameError: If no path leads out of some state: the other player prevents an end.
        CertificateError: If the most probable path is too improbable for floats.
    """
    lost = exitless(c, np.ones(c.k, bool))
    if lost.any():
        raise ImproperGameError(
            f"{c.name(int(np.argmax(lost)))}: {c.players[1]} does best by never ending"
        )
    # If rounding left a probability above 1, a path would gain by going in circles.
    with np.errstate(divide="ignore"):
        chance = np.minimum(np.log(c.edges.probability), 0.0)
        leaving = np.minimum(np.log(c.leaving), 0.0)
    policy = likeliest_exits(c.edges._replace(probability=chance), leaving)
    if (policy < 0).any():
        raise CertificateError(
            f"{c.name(int(np.argmax(policy < 0)))}: play ends so rarely that floats cannot tell it "
            f"from never"
        )
    return policy


_inner: Any = inner  # for functions whose parameters have no types

# Largest number of sweeps over a policy between two greedy sweeps.
_EVALUATIONS = 30

# The contraction of a sweep is measured over this many of the last sweeps over a policy.
_MEASURED = 18

# The Krylov method is tried if, at that contraction, more than this many sweeps remain.
_MANY_SWEEPS = 400

# Sweeps before the Krylov method is first tried.
_SPENT = 100

# Steps without progress after which the Krylov method stops at first; later it takes more.
_STEPS_IN_VAIN = 12

# The approach has failed after this many sweeps; a grid of a million states takes some 5,000.
_MOST = 100_000

# A row replaces the policy's if its value is larger by more than this fraction.
_SWITCH = 1e-15

# Changes of values below this, in units of the largest value, are rounding.
_SETTLED = 4 * float(np.finfo(float).eps)

# Largest number of greedy sweeps between two eliminations.
_GREEDY = 20

# The approach has failed after this many eliminations.
_ELIMINATIONS = 500

# Changes of values below this, in units of the largest value, are taken for rounding if another
# elimination does not halve them.
_NEAR = 1e-12

FAILED, CONVERGED, CONTRACTS_SLOWLY = 0, 1, 2
"""Outcomes of an approach to the optimum."""

SMALLER = 0.1
"""Sweeps over a policy stop once values change by this fraction of the greedy sweep's change."""


@kernel(largest=-1, allocates=True)
def _eliminate(component: Rows, chain: PolicyRows, policy: Ints, v: Floats, width: int) -> int:
    """Improve values and a policy by greedy sweeps and eliminations; return the outcome."""
    n, before, up = len(v), np.inf, True
    moves = np.empty((n, 2 * width + 1))
    for _ in range(_ELIMINATIONS):
        left = 0.0
        for _ in range(_GREEDY):
            left, largest = _sweep_greedily(component, policy, v, up)
            up = not up
            if not np.isfinite(largest):
                return FAILED
            if left <= _SETTLED * largest or (left <= _NEAR * largest and left >= 0.5 * before):
                return CONVERGED
        before = left
        _take_rows(component, policy, chain)
        start, target, flow, right, out = chain
        for s in range(n):
            for j in range(2 * width + 1):
                moves[s, j] = 0.0
            for e in range(start[s], start[s + 1]):
                moves[s, target[e] - s + width] += flow[e]
        changing = eliminate(moves, out)
        proper = True
        for total in changing:
            proper = proper and total > 0
        # If play under the policy need not end, more sweeps look for a better policy.
        if proper:
            _copy(right, v)
            solve_eliminated(moves, changing, v, False)
    return FAILED


@kernel(largest=-1, allocates=True)
def _iterate(
    component: Rows,
    chain: PolicyRows,
    policy: Ints,
    v: Floats,
    rounding: float,
    impatient: bool,
) -> int:
    """Improve values and a policy by sweeps and the Krylov method; return the outcome."""
    n = len(v)
    moves, before, work = np.ones((2, n)), np.empty(n), np.empty((7, n))
    up, sweeps, spent, wait = True, 0, 0, _SPENT
    # A literal would compile the Krylov method a second time.
    patience = int(np.int64(_STEPS_IN_VAIN))
    while sweeps < _MOST:
        left, largest = _sweep_greedily(component, policy, v, up)
        up = not up
        if not np.isfinite(largest):
            return FAILED
        if left <= _SETTLED * largest:
            return CONVERGED
        _take_rows(component, policy, chain)
        change, first, made = 0.0, 0.0, 0
        while made < _EVALUATIONS:
            change = _sweep(chain, v, up)
            up, made = not up, made + 1
            if made == _EVALUATIONS - _MEASURED:
                first = change
            if change <= SMALLER * left:
                break
        sweeps, spent = sweeps + made + 1, spent + made + 1
        if made < _EVALUATIONS or spent < wait or not change > 0:
            continue
        decay = np.log(first / change) / _MEASURED
        if decay * _MANY_SWEEPS < np.log(change / (_SETTLED * largest)):
            if impatient:
                return CONTRACTS_SLOWLY
            _copy(v, before)
            if not _evaluate(chain, v, 0.01 * change, moves, rounding, patience, work):
                _copy(before, v)
                wait, patience = 2 * wait, 2 * patience
            spent = 0
    return FAILED


@_inner
def _copy(values, to):  # type: ignore[no-untyped-def]
    """Copy an array. A slice would take a second to compile, because of its error message."""
    for s in range(len(values)):
        to[s] = values[s]


@_inner
def _sweep_greedily(component, policy, v, up):  # type: ignore[no-untyped-def]
    """Make one greedy sweep; return the largest change of a value, and the largest value."""
    (row_start, ends, to, chance), gain, _ = component
    left, largest = 0.0, 0.0
    for i in range(len(v)):
        s = i if up else len(v) - 1 - i
        now = policy[s]
        best = gain[now]
        for e in range(ends[now], ends[now + 1]):
            best += chance[e] * v[to[e]]
        better = _SWITCH * abs(best)
        for k in range(row_start[s], row_start[s + 1]):
            if k != now:
                q = gain[k]
                for e in range(ends[k], ends[k + 1]):
                    q += chance[e] * v[to[e]]
                if q > best + better:
                    best, policy[s] = q, k
        left, largest = max(left, abs(best - v[s])), max(largest, abs(best))
        v[s] = best
    return left, largest


@_inner
def _take_rows(component, policy, chain):  # type: ignore[no-untyped-def]
    """Copy the rows of a policy, which are faster to read when contiguous."""
    (_, ends, to, chance), gain, leaves = component
    start, target, flow, right, out = chain
    size = 0
    for s in range(len(policy)):
        right[s], out[s] = gain[policy[s]], leaves[policy[s]]
        for e in range(ends[policy[s]], ends[policy[s] + 1]):
            target[size], flow[size] = to[e], chance[e]
            size += 1
        start[s + 1] = size


@_inner
def _sweep(chain, v, up):  # type: ignore[no-untyped-def]
    """Sweep over the rows of a policy once; return the largest change of a value."""
    start, target, flow, right, _ = chain
    left = 0.0
    for i in range(len(v)):
        s = i if up else len(v) - 1 - i
        value = right[s]
        for e in range(start[s], start[s + 1]):
            value += flow[e] * v[target[e]]
        left = max(left, abs(value - v[s]))
        v[s] = value
    return left


@_inner
def _evaluate(chain, v, enough, moves, rounding, patience, work):  # type: ignore[no-untyped-def]
    """Evaluate a policy by the Krylov method; return whether that succeeded."""
    start, target, flow, right, out = chain
    changing, within = moves[0], moves[1]
    within[:] = enough
    residual = bicgstab(
        start, target, flow, changing, out, 1.0, right, v, within, rounding, patience, work
    )
    finite = True
    for value in v:
        finite = finite and np.isfinite(value)
    return finite and residual <= 100 * rounding
