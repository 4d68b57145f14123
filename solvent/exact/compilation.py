"""Loops that Python runs while they are small and Numba compiles once they are not.

To compile a loop takes a tenth of a second to two seconds, and importing Numba another half. A
table of some hundred states is solved sooner than that, so nothing is imported or compiled for it.
Python and the compiled code run the same statements in the same order, so the results are equal to
the last bit.

A loop takes the transitions of a game as one argument, a tuple of arrays (:class:`Transitions`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from time import thread_time
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from solvent.model import TabularGame
from solvent.model.arrays import Floats, Ints

_Function = TypeVar("_Function", bound=Callable[..., Any])

LARGEST = 100_000
"""Entries of all arguments up to which a loop that passes over them once is run by Python."""

PATIENCE = 0.5
"""Seconds of all loops in Python after which they are compiled."""


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
    """A function that is compiled once its arguments are large, or Python has taken long.

    Args:
        function: The function; a division by 0 is infinite or NaN in it.
        largest: The number of entries of all arguments up to which Python runs it.
        options: Options of Numba's ``njit``.
    """

    spent = 0.0
    """Seconds that all loops have taken in Python."""

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
        """The function as Numba compiles it, once for each combination of argument types."""
        from numba import njit

        options = {"cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        return cast(Any, njit)(**options, **self.options)(self.function)

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba gives the function where compiled code calls it."""
        return self.compiled._numba_type_


class _Inner(_Loop):
    """A function that loops call, run as they are: by Python, or as a part of compiled code."""

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def _entries(arguments: tuple[Any, ...]) -> int:
    """The number of entries of all arrays, those in tuples included."""
    return sum(
        one.size if isinstance(one, np.ndarray) else _entries(one) if isinstance(one, tuple) else 0
        for one in arguments
    )


def kernel(
    *, largest: int = LARGEST, allocates: bool = False, **options: bool
) -> Callable[[_Function], _Function]:
    """A decorator for a loop that is compiled once that is worth it.

    In the loop a division by 0 is infinite or NaN.

    Args:
        largest: The number of entries of all arguments up to which Python runs it; -1 to compile it
            in any case. A loop that passes over them many times needs a smaller number.
        allocates: Whether it makes arrays. If not, Numba need not count references to arrays, which
            is half of the time to compile a loop, and in loops of many short calls most of the time
            to run it.
        options: Further options of Numba's ``njit``.
    """

    def decorate(function: _Function) -> _Function:
        return cast(_Function, _Loop(function, largest, {"_nrt": allocates, **options}))

    return decorate


def inner(function: _Function) -> _Function:
    """A function that only loops call: wrappers for Python take as long again to compile.

    Args:
        function: The function; a division by 0 is infinite or NaN in it.
    """
    return cast(_Function, _Inner(function, 0, {"no_cpython_wrapper": True}))


def is_compiling() -> bool:
    """Return whether Numba compiles a function now, in another thread than this one."""
    numba = sys.modules.get("numba.core.compiler_lock")
    if numba is None:
        return False
    lock = numba.global_compiler_lock._lock
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True
