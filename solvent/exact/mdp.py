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

**Large components** are first solved approximately, by a form of modified policy iteration
(Puterman and Shin 1978, "Modified Policy Iteration Algorithms for Discounted Markov Decision
Problems"): some compiled greedy sweeps of Gauss-Seidel over all rows improve values and policy, and
a rough solution of the policy's equations carries the values on, until sweeps change nothing. Where
moves lead only to nearby states, so that some order of the states has a small bandwidth, these
equations are solved by elimination. Otherwise states are renumbered from the exits backward, so
that a sweep carries a value from an exit through the whole component, and the Krylov method solves
them. Self-loops are removed: each row is divided by its probability of changing the state.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from solvent.exact.chain import NARROW, PATIENCE, Chain, likeliest_exits, narrow_order
from solvent.exact.compilation import Transitions, kernel, row_advantages
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
    """Approximate the optimum of a large component; return whether greedy sweeps have settled.

    Nothing is proved here: the caller checks the policy, and the certificate checks the values.

    Args:
        c: The component.
        policy: [n] the row of each state to begin with; the best rows are written here.
        values: [n] the values to begin with; the best ones are written here.
    """
    every = np.ones(c.k, bool)
    order = trace_back(c.edges, every, leaves(c, every))
    if len(order) < c.n:
        return False
    start = c.edges.outcome_start[c.edges.row_start]
    narrow = narrow_order(start, c.edges.next_state, NARROW)
    if narrow is not None:
        order, _ = narrow
    rows, row_of, own = _renumbered(c, order, policy)
    v = values[order]
    settled = _settle(c.name(), rows, own, v, narrow is not None)
    policy[order], values[order] = row_of[own], v
    return settled


Rows: TypeAlias = tuple[Transitions, Floats, Floats]
"""Transitions given that a row moves, the reward of each row until it moves, and the probability
that this move leaves the component."""


def _settle(name: str, rows: Rows, policy: Ints, v: Floats, narrow: bool) -> bool:
    """Improve a policy and values, [n], until greedy sweeps change nothing; return whether they do.

    Args:
        name: The name of the component.
        rows: The rows of the component.
        policy: [n] the row of each state; read and written.
        v: [n] the values; read and written.
        narrow: Whether policies are evaluated by elimination, and not by the Krylov method.
    """
    transitions, gain, leaving = rows
    before, patience = np.inf, _STEPS_IN_VAIN
    for _ in range(_MOST_EVALUATIONS):
        left, largest = sweep_greedily(transitions, gain, policy, v, _GREEDY)
        if not np.isfinite(largest):
            return False
        if left <= (_NEAR if left >= 0.5 * before else _SETTLED) * largest:
            return True
        before, weight = left, np.zeros(len(gain))
        weight[policy] = 1.0
        chain = Chain(name, transitions, weight, leaving[policy])
        if narrow:
            found = chain.by_band(gain[policy], NARROW)
        else:
            # What is left at the end stays, times the length of play.
            finer = SMALLER if left <= _LATE * largest else 1.0
            within = np.full(len(v), finer * SMALLER * left)
            found = chain.iterate(gain[policy], within, v, patience=patience)
        # Play under the policy need not end, or lasts long: sweeps look for a better one.
        if found is None or not np.isfinite(found).all():
            patience = min(2 * patience, PATIENCE)
        else:
            v[:] = found
    return False


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


# Greedy sweeps between two evaluations.
_GREEDY = 20

# Steps without progress after which the Krylov method stops at first; later it takes more.
_STEPS_IN_VAIN = 12

# The approach has failed after this many evaluations.
_MOST_EVALUATIONS = 500

# A row replaces the policy's if its value is larger by more than this fraction.
_SWITCH = 1e-15

# Changes of values below this, in units of the largest value, are rounding.
_SETTLED = 4 * EPSILON

# Changes of values below this, in units of the largest value, are taken for rounding if another
# evaluation does not halve them.
_NEAR = 1e-12

# Evaluations are finer once values change by less than this, in units of the largest value.
_LATE = 1e-10

SMALLER = 0.1
"""Accuracy of an evaluation between sweeps, in units of the change by the last greedy sweep."""


@kernel(largest=-1)
def sweep_greedily(
    transitions: Transitions, gain: Floats, policy: Ints, v: Floats, sweeps: int
) -> tuple[float, float]:
    """Make greedy sweeps, alternately up and down; stop when one leaves the policy as it is.

    Args:
        transitions: Rows without self-loops.
        gain: [k] the reward of each row until it moves.
        policy: [n] the row taken in each state; read and written.
        v: [n] the values; read and written.
        sweeps: Largest number of sweeps.

    Returns:
        The largest change of a value in the last sweep, and the largest value.
    """
    row_start, ends, to, chance = transitions
    left, largest, n = 0.0, 0.0, len(v)
    for turn in range(sweeps):
        left, largest, switched = 0.0, 0.0, False
        for i in range(n):
            s = n - 1 - i if turn % 2 else i
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
                        best, policy[s], switched = q, k, True
            left, largest = max(left, abs(best - v[s])), max(largest, abs(best))
            v[s] = best
        if not switched:
            break
    return left, largest
