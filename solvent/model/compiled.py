"""Numba's decorator, for machines on which there is no folder to keep compiled code in."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])

cached = True
"""Whether compiled code is cached on disk, so that it is compiled only the first time."""


def njit(**options: Any) -> Callable[[_Function], _Function]:
    """Return Numba's decorator, with a cache on disk unless no folder for it can be written to.

    That is so where the package cannot be written to and the user has no home, as in many
    containers. Numba by itself refuses to compile there.

    Args:
        options: Options of Numba's ``njit``, except ``cache``.
    """
    import numba

    def decorate(function: _Function) -> _Function:
        global cached
        try:
            compiled = cast(Any, numba.njit)(cache=True, **options)(function)
        except RuntimeError:
            cached = False
            compiled = cast(Any, numba.njit)(**options)(function)
        return cast(_Function, compiled)

    return decorate
