"""Loops over the states of a game, compiled only if the game is large.

Compiling a loop takes 0.1 to 2 s, and importing Numba another 0.5 s. A table of a few hundred
states is solved sooner than that in plain Python, so for such a table nothing is imported or
compiled. Python and the compiled code run the same statements in the same order, so their results
agree to the last bit.

A loop takes the transitions of a game as one argument, a tuple of arrays (:class:`Transitions`).
"""

import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from time import thread_time
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints

_Function = TypeVar("_Function", bound=Callable[..., Any])

LARGEST = 100_000
"""A loop that makes one pass is compiled if its arguments have more entries than this."""

PATIENCE = 0.5
"""Total seconds of loops in Python after which every loop is compiled."""


class Transitions(NamedTuple):
    """Rows of S states, K in all, with N outcomes; named as in :class:`solvent.model.TabularGame`.

    Attributes:
        row_start: [S+1] slices of the rows of each state.
        outcome_start: [K+1] slices of the outcomes of each row.
        next_state: [N] the state to which each outcome leads.
        probability: [N] the probability of each outcome in its row.
    """

    row_start: Ints
    outcome_start: Ints
    next_state: Ints
    probability: Floats


def transitions_of(game: TabularGame) -> Transitions:
    """Return the transitions of a whole game."""
    return Transitions(game.row_start, game.outcome_start, game.next_state, game.probability)


class _Loop:
    """A function that is compiled if its arguments are large or Python has already taken long.

    Args:
        function: The function; in it a division by 0 gives infinity or NaN.
        largest: Python runs it while its arguments have at most this many entries.
        options: Options of Numba's ``njit``.
    """

    spent = 0.0
    """Seconds that all loops together have taken in Python."""

    def __init__(
        self, function: Callable[..., Any], largest: float, options: dict[str, bool]
    ) -> None:
        update_wrapper(self, function)
        self.function, self.largest, self.options = function, largest, options

    def __call__(self, *arguments: Any) -> Any:
        known = "compiled" in vars(self)
        if known or _Loop.spent > PATIENCE or _entries(arguments) > self.largest:
            return self.compiled(*arguments)
        began = thread_time()
        with np.errstate(all="ignore"):
            result = self.function(*arguments)
        _Loop.spent += thread_time() - began
        return result

    @cached_property
    def compiled(self) -> Any:
        """The compiled function; Numba compiles it once for each combination of argument types."""
        from solvent.model.compiled import njit

        options = {"error_model": "numpy", "no_cfunc_wrapper": True, **self.options}
        return njit(**options)(self.function)

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba gives the function where compiled code calls it."""
        return self.compiled._numba_type_


class _Inner(_Loop):
    """A function that loops call; it is compiled if they are."""

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def _entries(arguments: tuple[Any, ...]) -> int:
    """The number of entries of all arrays, including those in tuples."""
    return sum(
        one.size if isinstance(one, np.ndarray) else _entries(one) if isinstance(one, tuple) else 0
        for one in arguments
    )


def kernel(
    *, largest: int = LARGEST, allocates: bool = False, **options: bool
) -> Callable[[_Function], _Function]:
    """Return a decorator for a loop that is compiled when that saves time.

    In the loop a division by 0 gives infinity or NaN.

    Args:
        largest: Python runs the loop while its arguments have at most this many entries; -1 to
            compile it always. A loop that makes many passes needs a smaller number.
        allocates: Whether the loop creates arrays. If not, Numba need not count references to
            arrays. Counting takes half of the time to compile a loop and, if it makes many short
            calls, most of the time to run it.
        options: Further options of Numba's ``njit``.
    """

    def decorate(function: _Function) -> _Function:
        return cast(_Function, _Loop(function, largest, {"_nrt": allocates, **options}))

    return decorate


def inner(function: _Function) -> _Function:
    """Mark a function that only loops call; without a wrapper for Python it compiles twice as fast.

    Args:
        function: The function; in it a division by 0 gives infinity or NaN.
    """
    return cast(_Function, _Inner(function, 0, {"no_cpython_wrapper": True}))


def is_compiling() -> bool:
    """Return whether Numba is compiling a function in another thread."""
    numba = sys.modules.get("numba.core.compiler_lock")
    if numba is None:
        return False
    lock = numba.global_compiler_lock._lock
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True


# Smaller floats lose digits.
_SMALLEST_NORMAL = float(np.finfo(float).tiny)


@kernel()
def induce(
    states: Ints,
    transitions: Transitions,
    outcome_reward: Floats,
    minimizing: Bools,
    values: Floats,
    chosen: Ints,
    tie: float,
) -> None:
    """Set the value of each of the given states, in order, from those of its successors.

    In every state at most one player chooses. If the values of rows differ by at most `tie`,
    relative to the larger, the first of them is chosen, so that rounding does not break ties.

    Args:
        states: The states to solve, each after its successors.
        transitions: The transitions of the game.
        outcome_reward: [N] the reward of each outcome, to player 0.
        minimizing: [S] bool, whether the player who chooses here is player 1.
        values: [S] the value of each state, to player 0; read and written.
        chosen: [S] the row chosen in each state; written.
        tie: Largest relative difference between values that count as equal.
    """
    row_start, outcome_start, next_state, probability = transitions
    for s in states:
        best, row = 0.0, -1
        for k in range(row_start[s], row_start[s + 1]):
            q = 0.0
            for n in range(outcome_start[k], outcome_start[k + 1]):
                q += probability[n] * (outcome_reward[n] + values[next_state[n]])
            near = tie * max(abs(q), abs(best))
            if row < 0 or (q < best - near if minimizing[s] else q > best + near):
                best, row = q, k
        values[s] = best
        chosen[s] = row


@kernel(allocates=True)
def row_advantages(
    transitions: Transitions, outcome_reward: Floats, values: Floats, sign: int
) -> tuple[Floats, Floats]:
    """Return the advantage of each row: the sum of p (r + v(t) - v(s)) over its outcomes.

    Since differences are added, an outcome that stays in its state adds exactly 0, and rounding is
    proportional to the changes instead of to the values.

    Args:
        transitions: The transitions of the game.
        outcome_reward: [N] the reward of each outcome, to player 0.
        values: [S] the value of each state, to player 0.
        sign: The factor of rewards: 1, -1 for those of the other player, or 0.

    Returns:
        The advantages, [K], and the sums of p (|r| + |v(t) - v(s)|), [K], in which each term that
        is not 0 counts as at least the smallest normal float.
    """
    row_start, outcome_start, next_state, probability = transitions
    rows = len(outcome_start) - 1
    advantage, magnitude = np.zeros(rows), np.zeros(rows)
    for s in range(len(row_start) - 1):
        for k in range(row_start[s], row_start[s + 1]):
            for n in range(outcome_start[k], outcome_start[k + 1]):
                rise = values[next_state[n]] - values[s]
                reward = sign * outcome_reward[n]
                change = abs(reward) + abs(rise)
                if change > 0:
                    advantage[k] += probability[n] * (reward + rise)
                    # A product too small for floats is not nothing.
                    magnitude[k] += max(probability[n] * change, _SMALLEST_NORMAL)
    return advantage, magnitude


@kernel()
def substitute(
    states: Ints, transitions: Transitions, weight: Floats, x: Floats, transposed: bool
) -> None:
    """Solve (I - P) x = right, or the transposed system, in place for a chain without cycles.

    Args:
        states: All states, successors first; the transposed system is solved in reverse.
        transitions: The transitions of the game.
        weight: [K] the probability of each row in its state.
        x: [S] the right side, overwritten with the solution.
        transposed: Whether to solve the transposed system.
    """
    row_start, outcome_start, next_state, probability = transitions
    for i in range(len(states)):
        s = states[len(states) - 1 - i if transposed else i]
        for k in range(row_start[s], row_start[s + 1]):
            if weight[k] > 0:
                flow, expected = x[s] * weight[k], 0.0
                for n in range(outcome_start[k], outcome_start[k + 1]):
                    if transposed:
                        x[next_state[n]] += flow * probability[n]
                    else:
                        expected += probability[n] * x[next_state[n]]
                x[s] += weight[k] * expected


@kernel()
def measure_components(
    start: Ints, target: Ints, order: Ints, label: Ints, cyclic: Bools, depth: Ints
) -> bool:
    """Find how far components are from an end, and which of them have cycles.

    Args:
        start: [S+1] the edges of node s are ``target[start[s] : start[s+1]]``.
        target: [E] where each edge leads.
        order: [S] the nodes, component by component.
        label: [S] the component of each node.
        cyclic: [C] whether a component has several nodes; written where a single node leads to
            itself.
        depth: [C] zeros; the number of edges between components on the longest way out is written.

    Returns:
        Whether each component has a larger label than every other to which it leads.
    """
    ascending = True
    for s in order:
        c = label[s]
        for e in range(start[s], start[s + 1]):
            beyond = label[target[e]]
            if beyond != c:
                depth[c] = max(depth[c], depth[beyond] + 1)
                ascending = ascending and beyond < c
            elif target[e] == s:
                cyclic[c] = True
    return ascending


@kernel()
def keep_staying(transitions: Transitions, gone: Bools, kept: Bools) -> None:
    """Find the states within a set where play can go on for ever without leaving the set.

    Args:
        transitions: Transitions of n states; next states from n on are outside.
        gone: [k] whether a row may not be used; rows that lead out of the set are added.
        kept: [n] the set; states that play has to leave are taken out.
    """
    row_start, outcome_start, next_state, _ = transitions
    n = len(row_start) - 1
    changed, forward = True, True
    while changed:
        changed = False
        for number in range(n):
            # In both directions, since play may lead mostly to higher numbers or mostly to lower.
            s = number if forward else n - 1 - number
            if not kept[s]:
                continue
            stays = False
            for k in range(row_start[s], row_start[s + 1]):
                if not gone[k]:
                    for o in range(outcome_start[k], outcome_start[k + 1]):
                        t = next_state[o]
                        if t >= n or not kept[t]:
                            gone[k] = True
                            break
                    stays = stays or not gone[k]
            if not stays:
                kept[s] = False
                changed = True
        forward = not forward
