"""Compilation by Numba: the first call of a kernel takes seconds, which later ones do not.

Numba keeps on disk what it has compiled, and tells of every compilation that begins and ends, but
not of what it only reads from the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.event import Event, Listener, install_listener

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function, **options: bool) -> _Function:
    """A compiled function in which nothing is allocated.

    Numba then need not count references to arrays, which is half of the time to compile a loop, and
    in loops of many short calls most of the time to run it. A division by 0 is infinite or NaN.

    Args:
        function: The function to compile.
        options: Options of Numba's ``njit``; the code is kept on disk unless some are given.
    """
    options = options or {"cache": True}
    made: _Function = cast(Any, njit)(
        _nrt=False, error_model="numpy", no_cfunc_wrapper=True, **options
    )(function)
    return made


def inner(function: _Function) -> _Function:
    """A compiled function that only compiled ones call: wrappers for Python take as long again.

    Args:
        function: The function to compile; a division by 0 is infinite or NaN.
    """
    made: _Function = cast(Any, njit)(
        cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return made


def while_compiling(told: Callable[[bool], None]) -> AbstractContextManager[object]:
    """Tell of every compilation as long as the context is open.

    Args:
        told: Called with whether Numba compiles now, whenever a compilation has begun or ended.
    """
    return install_listener("numba:compile", _Compilations(told))


class _Compilations(Listener):
    """Counts the compilations that are under way: one kernel may need another.

    Args:
        told: Called with whether there is any.
    """

    def __init__(self, told: Callable[[bool], None]) -> None:
        self.told = told
        self.depth = 0

    def on_start(self, event: Event) -> None:
        """A compilation begins."""
        self.depth += 1
        self.told(True)

    def on_end(self, event: Event) -> None:
        """A compilation ends; the one that needed it may go on."""
        self.depth -= 1
        self.told(self.depth > 0)
