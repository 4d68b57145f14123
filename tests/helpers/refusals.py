"""Calls that are refused, each with one line that says why."""

import re
from collections.abc import Callable, Iterable
from typing import Any


def assert_refused(
    rows: Iterable[tuple[Any, ...]],
    call: Callable[..., object] = lambda use: use(),
    error: type[Exception] | tuple[type[Exception], ...] = ValueError,
) -> None:
    """Call with the entries of each row but the last, which the error's one line has to match."""
    for *given, message in rows:
        try:
            call(*given)
        except error as caught:
            told = str(caught)
        else:
            raise AssertionError(f"not refused: {given}")
        assert re.search(message, told), (given, told)
        assert "\n" not in told, told
