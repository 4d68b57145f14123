"""Checks of what users pass to games, with errors that name the value and what is allowed."""

import difflib
import inspect
import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, TypeAlias, TypeVar

import numpy as np

_Made = TypeVar("_Made")

Spread: TypeAlias = int | Sequence[int] | Mapping[Any, Any]
"""An integer, a pair ``[low, high]`` for a uniform choice, or a mapping of values to weights."""


LONGEST_SHOWN = 100
"""Characters of a value that an error repeats."""


def shown(value: Any) -> str:
    """A value for an error message: its repr in one line, its middle left out if it is long."""
    try:
        return brief(repr(value))
    except (ValueError, RecursionError):
        # Integers of thousands of digits and objects nested thousands deep have no repr.
        return f"<{type(value).__name__} too large to show>"


def brief(text: str, longest: int = LONGEST_SHOWN) -> str:
    """A text for an error message: in one line, its middle left out if it is long."""
    if len(text) > longest:
        end = longest // 4
        text = f"{text[: longest - end - 1]}…{text[-end:]}"
    return re.sub(r"\s*\n\s*", " ", text)


def printable(text: str, also: str = "") -> str:
    """A text that no terminal takes for commands: what cannot be printed as Python writes it.

    Args:
        text: The text, which may be of somebody else's file.
        also: Further characters that stay.
    """
    return "".join(
        sign
        if sign.isprintable() or sign in also
        else sign.encode("unicode_escape", "replace").decode()
        for sign in text
    )


def is_number(value: Any) -> bool:
    """Return whether a value that was read is a finite number; True and False are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # A whole number beyond all floats.
        return False


def check_integer(value: Any, name: str, low: int, high: int) -> int:
    """Return `value` as an int if it is one within `low`..`high`.

    Raises:
        ValueError: If it is not.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise ValueError(
            f"{name} is {shown(value)}; allowed are whole numbers from {low} to {high}"
        )
    return int(value)


def check_integers(
    value: Any, name: str, low: int, high: int, count: tuple[int, int] = (1, 10_000)
) -> tuple[int, ...]:
    """Return `value` as a tuple if it is a list of whole numbers within `low`..`high`.

    Args:
        value: The list.
        name: Name for the error message.
        low: Least number allowed.
        high: Largest number allowed.
        count: The least and the largest length.

    Raises:
        ValueError: If it is not.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{name} is {shown(value)}; allowed are lists of whole numbers")
    check_integer(len(value), f"the length of {name}", *count)
    return tuple(check_integer(one, f"{name}[{k}]", low, high) for k, one in enumerate(value))


def check_flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False.

    Raises:
        ValueError: If it is neither.
    """
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {shown(value)}; allowed are True and False")
    return value


def check_rational(value: Any, name: str, low: Rational | int, high: Rational | int) -> Fraction:
    """Return `value` as a Fraction if it is a number within `low`..`high`.

    A float is read as the decimal it prints, a text as the number it spells ("0.8", "4/5").

    Raises:
        ValueError: If it is not.
    """
    number = _fraction(plain(value))
    if number is not None and low <= number <= high:
        return number
    raise ValueError(f"{name} is {shown(value)}; allowed are numbers from {low} to {high}")


def plain(value: Any) -> Any:
    """Convert a number of NumPy to Python's, which JSON accepts; return other values unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def check_discount(value: Any, name: str = "discount") -> Fraction:
    """Return `value` as a Fraction if it is a number above 0 and up to 1.

    It is read as by :func:`check_rational`.

    Raises:
        ValueError: If it is not.
    """
    number = _fraction(plain(value))
    if number is not None and 0 < number <= 1:
        return number
    raise ValueError(f"{name} is {shown(value)}; allowed are numbers above 0 and up to 1")


class ChoiceError(ValueError):
    """A name that is not one of those allowed.

    Args:
        message: Sentence that says what is wrong and what is allowed. Gymnasium makes new errors
            of a message alone.
        value: The given value.
        name: The requested name.
        allowed: The names that are allowed, sorted.
    """

    def __init__(
        self, message: str, value: Any = None, name: str = "", allowed: Sequence[str] = ()
    ) -> None:
        self.value, self.name, self.allowed = value, name, tuple(allowed)
        super().__init__(message)


class UnexpectedArgumentError(ChoiceError, TypeError):
    """A keyword argument that a game or an environment does not take.

    It is also a TypeError, worded as Python's. Tools that pass arguments on trial rely on it to
    know which ones to leave out.
    """


def described(
    make: Callable[..., _Made], text: str, own: Iterable[inspect.Parameter]
) -> Callable[..., _Made]:
    """Return a maker of games with a description and the parameters that it passes on.

    Args:
        make: The maker, whose ``**parameters`` are passed on.
        text: Docstring of the maker.
        own: The parameters that ``**parameters`` stands for.
    """
    named = [p for p in inspect.signature(make).parameters.values() if p.kind != p.VAR_KEYWORD]
    make.__doc__, make.__signature__ = text, inspect.Signature([*named, *own])  # type: ignore[attr-defined]
    return make


def nearest(text: str, names: Iterable[str]) -> str | None:
    """Return the name that is nearest to a text, ignoring case, if one is near enough."""
    by_lower = {name.lower(): name for name in names}
    found = difflib.get_close_matches(text[:LONGEST_SHOWN].lower(), by_lower, 1)
    return by_lower[found[0]] if found else None


def check_choice(value: Any, name: str, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of the allowed names.

    Raises:
        ChoiceError: If it is not; the message suggests the nearest name.
    """
    names = sorted(allowed)
    if isinstance(value, str) and value in names:
        return str(value)
    raise ChoiceError(f"{name} is {shown(value)}; {_allowed(value, names)}", value, name, names)


def check_arguments(given: Iterable[str], owner: str, allowed: Iterable[str]) -> None:
    """Check the names of keyword arguments.

    Args:
        given: The names.
        owner: Name of what takes the arguments, for the error message.
        allowed: The names that it takes.

    Raises:
        UnexpectedArgumentError: If a name is not allowed; the message suggests the nearest one.
    """
    names = sorted(allowed)
    for argument in given:
        if argument not in names:
            what = f"{owner} got an unexpected keyword argument {shown(argument)}"
            raise UnexpectedArgumentError(
                f"{what}; {_allowed(argument, names)}", argument, f"parameter of {owner}", names
            )


def _allowed(value: Any, names: Sequence[str]) -> str:
    """Return an error's list of the allowed names and a guess of the one that was meant."""
    near = nearest(value, names) if isinstance(value, str) else None
    hint = f" Did you mean {near!r}?" if near else ""
    return f"allowed are {', '.join(filter(None, names)) or 'none'}.{hint}"


def spread(value: Spread, name: str, low: int, high: int) -> dict[int, Fraction]:
    """The distribution that a parameter describes, values ascending.

    Args:
        value: See :data:`Spread`. Weights are positive rationals (floats are read as the decimal
            they print); they are divided by their sum.
        name: Name for the error message.
        low: Least value allowed.
        high: Largest value allowed.

    Raises:
        ValueError: If `value` has another form, or a value or weight is not allowed.
    """
    if isinstance(value, Mapping):
        if not value:
            raise ValueError(f"{name} is empty; a distribution needs at least one value")
        weights: dict[int, Fraction] = {}
        for key, weight in value.items():
            # The keys of a JSON object are text.
            whole = isinstance(key, str) and key.removeprefix("-").isdecimal()
            point = check_integer(int(key) if whole else key, name, low, high)
            if point in weights:
                raise ValueError(f"{name} gives the value {point} twice")
            number = _fraction(weight)
            if number is None or number <= 0:
                raise ValueError(
                    f"{name}[{shown(key)}] has weight {shown(weight)}; allowed are positive numbers"
                )
            weights[point] = number
        total = sum(weights.values())
        return {point: weights[point] / total for point in sorted(weights)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != 2:
            raise ValueError(f"{name} is {shown(value)}; a range is a pair [low, high]")
        first, last = (check_integer(v, name, low, high) for v in value)
        if first > last:
            raise ValueError(f"{name} is {shown(value)}; the range is upside down")
        count = last - first + 1
        return {point: Fraction(1, count) for point in range(first, last + 1)}
    return {check_integer(value, name, low, high): Fraction(1)}


_EXPONENT = re.compile(r"[eE][+-]?0*(\d+)")


def _fraction(value: Any) -> Fraction | None:
    """Return a number, or a text that spells one, as a Fraction; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (Rational, float, str)):
        return None
    try:
        # Through str, so that 0.1 means one tenth; "nan" and "inf" are refused here too.
        text = str(value)
        exponent = _EXPONENT.search(text.replace("_", ""))
        # Fraction("1e999999999") would try to be that number; no float goes so far.
        if exponent is not None and (len(exponent[1]) > 3 or int(exponent[1]) > 400):
            return None
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def as_options(parameters: Mapping[str, Any]) -> str:
    """Parameters as they are written on a command line.

    Args:
        parameters: JSON-able values by name.

    Returns:
        Such as ``--form half --luck 2:12 --clock '{"timeouts": 0}'``.
    """
    words = ((as_option(name), as_value(value)) for name, value in parameters.items())
    return shlex.join(word for pair in words for word in pair)


def as_option(name: str) -> str:
    """The name of a parameter as it is written on a command line."""
    return "--" + name.replace("_", "-")


def as_value(value: Any) -> str:
    """A value as it is written on a command line, without quotes for a shell."""
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(type(v) is int for v in value):
        return f"{value[0]}:{value[1]}"
    return value if isinstance(value, str) else json.dumps(value, default=str)
