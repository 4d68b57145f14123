"""Markov decision processes without discount: policy iteration among proper policies.

**Definition.** In each of n states one player chooses among *rows*. Row k of state s leads to state
t of the component with probability p(t|k), and out of it otherwise, to where values are known. Let
r(k) be its expected reward, with the value of where it leaves to. A *policy* d takes one row in
each state. It is *proper* if play under it leaves the component for certain from every state; then
its values are the one solution of

    v(s) = r(d(s)) + sum over t of p(t|d(s)) v(t).

The *advantage* of row k of state s, by how much the value rises along it, is

    a(k) = r(k) + sum over t of p(t|k) v(t) - v(s).

**Theorem** (Howard 1960, *Dynamic Programming and Markov Processes*; Bertsekas and Tsitsiklis 1991,
"An analysis of stochastic shortest path problems"). Let d be proper, and let d' take a row of
largest advantage wherever that is above 0, and the row of d elsewhere. If no advantage is above 0,
d is optimal among proper policies. Otherwise the values of d' are at least as large in every state
and larger in some, or d' gains for ever: then the player does best by never ending.

Strict improvement keeps policies proper otherwise. Suppose d' could go round for ever in a set of
states without gain. Averaged over the stay no value rises, so nothing was strictly better there,
so d would have gone round as well. It did not.

**Algorithm.** Begin with a proper policy: in each state the row with which the most probable path
out begins. Evaluate it by linear equations (:mod:`solvent.exact.chain`), improve it, and repeat
until nothing is strictly better.

**Rounding.** Rows are compared by their advantages. Rounding in an advantage is in proportion to
the rewards and the differences of values beside it, so a gain of 1e-4 is seen in a component whose
values are 1e9. For that, values are held as two arrays of floats, [2, n]: the second has what
floats as large as the first cannot hold.

**Large components** are approached by compiled modified policy iteration. Each round is one greedy
sweep of Gauss-Seidel over all rows, then sweeps over the rows of the policy alone, which are a few
times cheaper, until what the greedy sweep left is ten times smaller (Puterman and Shin 1978,
"Modified Policy Iteration Algorithms for Discounted Markov Decision Problems"). Three things make
that quick:

- States are renumbered from the exits backward, so that a sweep carries a value from an exit
  through the whole component; sweeps run up and down by turns.
- Self-loops are removed: each row is divided by its probability to change the state.
- Where sweeps contract slowly, the policy is evaluated by elimination, if moves can be made to lead
  nowhere far, else by a Krylov method. Its patience doubles each time it fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from solvent.exact.chain import (
    ROUNDING,
    Chain,
    bicgstab,
    eliminate,
    likeliest_exits,
    narrow_order,
    solve_eliminated,
    take_edges,
)
from solvent.exact.compilation import (
    Transitions,
    add_rises,
    inner,
    kernel,
    row_advantages,
)
from solvent.exact.components import lead_to, trace_back
from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges, grouped_sum

TIE = 1e-13
"""Rows whose advantages differ by less than this, in units of what changes along them, tie."""

EPSILON = float(np.finfo(float).eps)

FIRST, REST = 1e-9, 1e-7
"""Accuracy of the two solves of an evaluation, in units of their right sides: the second makes
good what the first leaves."""

GRAIN = 8 * EPSILON
"""Differences below this, in units of the smaller part of a state's value, are its rounding."""

NOISE = 4
"""Advantages that differ by less than this, in units of the largest advantage that the evaluation
leaves to a row of the policy itself, tie: rounding would swap such rows for ever."""

ROUNDS = 1000
"""Rounds of iteration after which it has failed; a few dozen are many."""

APPROACHED = 500
"""States from which on values are approached by sweeps before any exact evaluation."""

WIDEST = 32
"""Policies are evaluated by elimination where sweeps contract slowly, and moves can be made to lead
no farther than this."""

LOOSEN = 50
"""Rounds after which what counts as equal is doubled: rounding may go round in circles."""


@dataclass(frozen=True, eq=False)
class Component:
    """A set of n states that can lead back to one another, with k rows and N outcomes.

    ==================  ==============  =======================================================
    ``game``            TabularGame     whose states they are, for what errors say
    ``states``          [n] int64       their indices in the game
    ``transitions``     Transitions     all outcomes, as the compiled loops take them; a next state
                                        below n is one of the component, n + b place b outside
    ``reward``          [N] float64     of each outcome, to the player who chooses
    ``boundary``        [m] float64     the values of the places outside, to the same player
    ``players``         pair of str     who chooses, and the other one, for what errors say
    ==================  ==============  =======================================================
    """

    game: TabularGame
    states: Ints
    transitions: Transitions
    reward: Floats
    boundary: Floats
    players: tuple[str, str]

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

    @property
    def r(self) -> Floats:
        """[k] the expected reward of each row, with the value of where it leaves to."""
        return self._edges[0]

    @property
    def leaving(self) -> Floats:
        """[k] the probability with which each row leaves the component."""
        return self._edges[1]

    @property
    def edges(self) -> Transitions:
        """The outcomes that stay in the component, with their probabilities p(t|k)."""
        return self._edges[2]

    @cached_property
    def _edges(self) -> tuple[Floats, Floats, Transitions]:
        r, leaving, edges = take_edges(self.transitions, self.reward, self.boundary)
        return r, leaving, edges

    def name(self, s: int = 0) -> str:
        """The game and a state of it, for what errors say.

        Args:
            s: Index of the state in the component.
        """
        return f"{self.game.info.name}, state {self.game.states[int(self.states[s])]!r}"


def members(start: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Return the members of some of consecutive slices, slice after slice, and their lengths.

    Args:
        start: [C+1] where slices begin.
        which: [G] the slices wanted.
    """
    length = start[which + 1] - start[which]
    return concatenated_ranges(start[which], length), length


def policy_iteration(
    c: Component, policy: Ints | None = None, *, near: bool = False
) -> tuple[Floats, Ints]:
    """Return the values of the best proper policy, [2, n], and its row in each state, [n].

    Args:
        c: The component.
        policy: [n] the row of each state with which to begin; it is not used if it is not proper.
        near: Whether the result of sweeps over a large component is enough. Its values are those of
            the best proper policy but for rounding and ties, if the sweeps settle on a proper one.

    Raises:
        ImproperGameError: If the player who chooses does best by never ending, or nobody can end.
        CertificateError: If iteration does not settle, or play ends too rarely for floats.
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
        # The policy's own rows have the advantage 0, but for what its evaluation lacks.
        better = a[best] > a[policy] + equal + NOISE * np.abs(a[policy]).max()
        if not better.any():
            return v, policy
        policy = np.where(better, best, policy)
        lost = exitless(c, chosen(c, policy))
        if lost.any():
            raise ImproperGameError(
                f"{c.name(int(np.argmax(lost)))}: {c.players[0]} does best by never ending"
            )
    raise CertificateError(f"{c.name()}: policy iteration did not settle in {ROUNDS} rounds")


def approach(c: Component, policy: Ints, values: Floats) -> bool:
    """Approach the optimum of a large component by sweeps; whether they settled.

    Args:
        c: The component.
        policy: [n] the row of each state with which to begin; the rows found are written here.
        values: [n] the values with which to begin; those found are written here.
    """
    solve, every = approach_optimum, np.ones(c.k, bool)
    order = trace_back(c.edges, every, leaves(c, every))
    if len(order) < c.n:
        return False
    outcome = solve(c.edges, c.leaving, c.r, order, -1, policy, values, ROUNDING)
    if outcome == CONTRACTS_SLOWLY:
        start = c.edges.outcome_start[c.edges.row_start]
        order, width = narrow_order(start, c.edges.next_state, WIDEST) or (order, 0)
        outcome = solve(c.edges, c.leaving, c.r, order, width, policy, values, ROUNDING)
    return bool(outcome == SETTLED_DOWN)


def evaluate(
    c: Component, weight: Floats, guess: Floats | None = None, *, rough: float | None = None
) -> Floats:
    """The values of the component when rows are taken with given probabilities, [2, n].

    Args:
        c: The component.
        weight: [k] the probability of each row in its state; play must leave for certain.
        guess: [n] values with which iteration begins.
        rough: Accuracy that is enough, in units of the largest reward; rounding if left out.

    Raises:
        CertificateError: If play ends too rarely for floats.
    """
    chain, right = chain_of(c, weight)
    within = np.full(c.n, (FIRST if rough is None else rough) * np.abs(right).max())
    v = chain.solve(right, within=within, guess=guess)
    if rough is not None:
        return np.stack((v, 0 * v))
    # What the equations still lack, found by differences, is solved for once more.
    rest = grouped_sum(c.state, weight * advantages(c, np.stack((v, 0 * v)))[0], c.n)
    enough = max(REST * np.abs(rest).max(), EPSILON * np.abs(right).max())
    return np.stack((v, chain.solve(rest, within=np.full(c.n, enough))))


def chain_of(c: Component, weight: Floats) -> tuple[Chain, Floats]:
    """Play in the component when rows are taken with given probabilities, and its rewards, [n].

    Args:
        c: The component.
        weight: [k] the probability of each row in its state.

    Raises:
        CertificateError: If a state is never left, as far as floats can tell.
    """
    chain = Chain(c.name(), c.edges, weight, grouped_sum(c.state, weight * c.leaving, c.n))
    return chain, grouped_sum(c.state, weight * c.r, c.n)


def advantages(c: Component, v: Floats) -> tuple[Floats, Floats]:
    """The advantage of each row, [k], and the sum of what changes along it, [k].

    Args:
        c: The component.
        v: [2, n] values.
    """
    rise, change = row_advantages(c.transitions, c.reward, np.concatenate((v[0], c.boundary)), 1)
    add_rises(c.edges, c.leaving, v[1], rise)
    return rise, change


def tie(v: Floats, change: Floats) -> Floats:
    """Up to which difference advantages are equal in each state, [n].

    Args:
        v: [2, n] values.
        change: [n] the sum of what changes along the rows that are compared.
    """
    equal: Floats = TIE * change + GRAIN * np.abs(v[1]) + np.finfo(float).tiny
    return equal


def best_rows(c: Component, q: Floats) -> Ints:
    """The first row of largest q ([k]) in each state, [n]."""
    best = np.flatnonzero(~(q < np.maximum.reduceat(q, c.transitions.row_start[:-1])[c.state]))
    return best[np.searchsorted(c.state[best], np.arange(c.n))]


def chosen(c: Component, policy: Ints) -> Bools:
    """Return whether a policy ([n] rows) takes each row, [k]."""
    rows = np.zeros(c.k, bool)
    rows[policy] = True
    return rows


def exitless(c: Component, rows: Bools) -> Bools:
    """The states from which the given rows ([k]) never lead out of the component, [n]."""
    return ~lead_to(c.edges, rows, leaves(c, rows))


def leaves(c: Component, rows: Bools) -> Bools:
    """The states of which one of the given rows ([k]) may leave the component at once, [n]."""
    found = np.zeros(c.n, bool)
    found[c.state[rows & (c.leaving > 0)]] = True
    return found


def is_proper(c: Component, rows: Bools) -> bool:
    """Return whether the given rows ([k]) lead out of the component from every state."""
    return not exitless(c, rows).any()


def likeliest_exit(c: Component) -> Ints:
    """A proper policy: in each state the row with which its most probable path out begins, [n].

    The shortest path would do in exact arithmetic; where it depends on luck of 1e-100, no float
    tells play that leaves from play that does not.

    Raises:
        ImproperGameError: If from some state no row leads out: the other player sees to that.
        CertificateError: If the most probable path is too improbable for floats.
    """
    lost = exitless(c, np.ones(c.k, bool))
    if lost.any():
        raise ImproperGameError(
            f"{c.name(int(np.argmax(lost)))}: {c.players[1]} does best by never ending"
        )
    # Never above 1, by rounding either: a path would gain by going round.
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


_inner: Any = inner  # of functions whose arguments have no types

EVALUATIONS = 30
"""Sweeps over a policy between two greedy sweeps, at most."""

MEASURED = 18
"""The last sweeps over a policy, from which the contraction of one is measured."""

MANY_SWEEPS = 400
"""Sweeps still to come, by that contraction, from which on the Krylov method is tried."""

SPENT = 100
"""Sweeps that are made before the Krylov method is tried first."""

STEPS_IN_VAIN = 12
"""Steps of the Krylov method without progress after which it is left, at first."""

MOST = 100_000
"""Sweeps after which the approach has failed; a grid of a million states takes some 5,000."""

SWITCH = 1e-15
"""A row replaces the policy's if its value is larger by more than this, relatively."""

SETTLED = 4 * float(np.finfo(float).eps)
"""Changes of values below this, in units of the largest value, are rounding."""

GREEDY = 20
"""Greedy sweeps between two eliminations, at most."""

ELIMINATIONS = 500
"""Eliminations after which the approach has failed."""

NEAR = 1e-12
"""Changes of values below this, in units of the largest value, are taken for rounding if another
elimination makes them no smaller."""

FAILED, SETTLED_DOWN, CONTRACTS_SLOWLY = 0, 1, 2
"""Outcomes of an approach."""

SMALLER = 0.1
"""The factor by which sweeps over a policy reduce the remainder of the greedy sweep."""


@kernel(largest=-1, allocates=True)
def approach_optimum(
    edges: Transitions,
    leaving: Floats,
    r: Floats,
    order: Ints,
    width: int,
    policy: Ints,
    v: Floats,
    rounding: float,
) -> int:
    """Find values and a policy of a component, in most cases optimal but for rounding.

    Nothing is proved here: the caller checks the policy, and the certificate checks the values.

    Args:
        edges: The outcomes that stay in the component.
        leaving: [k] the probability with which each row leaves.
        r: [k] the expected reward of each row, with the value of where it leaves to.
        order: [n] an order of the states.
        width: The largest number of places in that order that a row leads away, if policies shall
            be evaluated by elimination. 0 for the Krylov method, -1 for an end where sweeps
            contract slowly.
        policy: [n] the row of each state with which to begin; the rows found are written here.
        v: [n] the values with which to begin; those found are written here.
        rounding: Residuals of the Krylov method that are rounding, in units of their terms.

    Returns:
        Whether the values settled, or sweeps contract slowly.
    """
    n = len(v)
    component, row_of, own = _laid_out(order, edges, leaving, r, policy)
    values = np.empty(n)
    for i in range(n):
        values[i] = v[order[i]]
    if width > 0:
        outcome: int = _eliminate(component, own, values, width)
    else:
        outcome = _iterate(component, own, values, rounding, width < 0)
    for i in range(n):
        policy[order[i]], v[order[i]] = row_of[own[i]], values[i]
    return outcome


@_inner
def _laid_out(order, edges, leaving, r, policy):  # type: ignore[no-untyped-def]
    """The component in a new order of states, without self-loops or rows that never move.

    Returns:
        Its transitions, whose probabilities are those of a row that moves, with the reward of each
        row until it moves, and how likely that leaves; the row of the component that each row is;
        and the policy.
    """
    row_start, edge_start, target, flow = edges
    n, rows, size = len(order), 0, 0
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    starts, ends = np.zeros(n + 1, np.int64), np.zeros(len(leaving) + 1, np.int64)
    to, chance = np.empty_like(target), np.empty_like(flow)
    gain, out, row_of = np.empty_like(r), np.empty_like(r), np.empty(len(r), np.int64)
    own = np.zeros(n, np.int64)
    for i in range(n):
        s = order[i]
        own[i] = rows
        for k in range(row_start[s], row_start[s + 1]):
            moving = leaving[k]
            for e in range(edge_start[k], edge_start[k + 1]):
                if target[e] != s:
                    moving += flow[e]
            if not moving > 0:
                continue
            for e in range(edge_start[k], edge_start[k + 1]):
                if target[e] != s:
                    to[size], chance[size] = place[target[e]], flow[e] / moving
                    size += 1
            if k == policy[s]:
                own[i] = rows
            gain[rows], out[rows], row_of[rows] = r[k] / moving, leaving[k] / moving, k
            rows += 1
            ends[rows] = size
        starts[i + 1] = rows
    return (Transitions(starts, ends, to, chance), gain, out), row_of, own


@_inner
def _room(component):  # type: ignore[no-untyped-def]
    """Room for the rows of a policy: where they begin, their targets, probabilities, gains, exits.

    Args:
        component: The component.
    """
    row_start, ends = component[0].row_start, component[0].outcome_start
    n, size = len(row_start) - 1, 0
    for s in range(n):
        most = 0
        for k in range(row_start[s], row_start[s + 1]):
            most = max(most, ends[k + 1] - ends[k])
        size += most
    start = np.zeros(n + 1, np.int64)
    return start, np.empty(size, np.int64), np.empty(size), np.empty(n), np.empty(n)


@_inner
def _eliminate(component, policy, v, width):  # type: ignore[no-untyped-def]
    """Improve values and a policy by greedy sweeps and eliminations, to rounding if they settle."""
    n, chain, before, up = len(v), _room(component), np.inf, True
    moves = np.empty((n, 2 * width + 1))
    for _ in range(ELIMINATIONS):
        left = 0.0
        for _ in range(GREEDY):
            left, largest = _sweep_greedily(component, policy, v, up)
            up = not up
            if not np.isfinite(largest):
                return FAILED
            if left <= SETTLED * largest or (left <= NEAR * largest and left >= 0.5 * before):
                return SETTLED_DOWN
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
        # Where play by the policy need not end, further sweeps look for a better one.
        if proper:
            _copy(right, v)
            solve_eliminated(moves, changing, v, False)
    return FAILED


@_inner
def _iterate(component, policy, v, rounding, impatient):  # type: ignore[no-untyped-def]
    """Improve values and a policy until nothing changes but for rounding."""
    n, chain = len(v), _room(component)
    moves, before, work = np.ones((2, n)), np.empty(n), np.empty((7, n))
    up, sweeps, spent, wait = True, 0, 0, SPENT
    # A literal would compile the Krylov method a second time.
    patience = int(np.int64(STEPS_IN_VAIN))
    while sweeps < MOST:
        left, largest = _sweep_greedily(component, policy, v, up)
        up = not up
        if not np.isfinite(largest):
            return FAILED
        if left <= SETTLED * largest:
            return SETTLED_DOWN
        _take_rows(component, policy, chain)
        change, first, made = 0.0, 0.0, 0
        while made < EVALUATIONS:
            change = _sweep(chain, v, up)
            up, made = not up, made + 1
            if made == EVALUATIONS - MEASURED:
                first = change
            if change <= SMALLER * left:
                break
        sweeps, spent = sweeps + made + 1, spent + made + 1
        if made < EVALUATIONS or spent < wait or not change > 0:
            continue
        decay = np.log(first / change) / MEASURED
        if decay * MANY_SWEEPS < np.log(change / (SETTLED * largest)):
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
    """Copy an array; slices take a second to compile, for the message of an error."""
    for s in range(len(values)):
        to[s] = values[s]


@_inner
def _sweep_greedily(component, policy, v, up):  # type: ignore[no-untyped-def]
    """One greedy sweep: the largest change of a value, and the largest value."""
    (row_start, ends, to, chance), gain, _ = component
    left, largest = 0.0, 0.0
    for i in range(len(v)):
        s = i if up else len(v) - 1 - i
        now = policy[s]
        best = gain[now]
        for e in range(ends[now], ends[now + 1]):
            best += chance[e] * v[to[e]]
        better = SWITCH * abs(best)
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
    """Copy the rows of a policy, which are read more quickly where they lie together."""
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
    """One sweep over the rows of a policy: the largest change of a value."""
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
    """Evaluate a policy by the Krylov method; whether that succeeded."""
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
