"""Single values of a gamebook file: texts, names, numbers, ranges; and the base of all its models.

A validator's message has two parts, what is wrong and what to do, with ``"; "`` between them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from solvent.games.gamebook.expressions import LARGEST_NUMBER, NAME, RESERVED

Severity: TypeAlias = Literal["error", "warning"]

MOST_SUGGESTIONS = 200
"""Largest number of names searched for a similar one, as a file may have many unknown names."""

LONGEST_MESSAGE = 300
"""Largest number of characters of a message; of a longer one both ends are kept."""


def one_line(message: str) -> str:
    """Return a message without line breaks, cut in the middle if it is long."""
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE // 2]}...{message[3 - LONGEST_MESSAGE // 2 :]}"
    return "".join(sign if sign.isprintable() else " " for sign in message)


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault.

    Attributes:
        file: Name of the file.
        line: Line in the file, counted from 1.
        section: Number of the section, or None outside of sections.
        message: Description of the fault, in one line.
        cure: Advice on how to correct the fault.
        severity: An error prevents the use of the book; a warning does not.
    """

    file: str
    line: int
    section: int | None
    message: str
    cure: str
    severity: Severity = "error"

    def __post_init__(self) -> None:
        """Shorten texts of the file in the message."""
        object.__setattr__(self, "message", one_line(self.message))

    def __str__(self) -> str:
        place = f", section {self.section}" if self.section is not None else ""
        return f"{self.file}:{self.line}{place}: {self.severity}: {self.message}; {self.cure}"


class BookError(ValueError):
    """A file is not a gamebook that can be used.

    Attributes:
        problems: All faults, in the order of lines, including at least one error.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [p for p in self.problems if p.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}")


def similar(name: str, names: Collection[str]) -> str:
    """Return a cure for an unknown name: the nearest known name, or all of them."""
    near = difflib.get_close_matches(name, names, 1) if len(names) <= MOST_SUGGESTIONS else []
    if near:
        return f"did you mean {near[0]!r}?"
    if not names:
        return "there are none in this book"
    shown = sorted(names)[:12]
    more = ", ..." if len(names) > len(shown) else ""
    return f"there are {', '.join(shown)}{more}"


LARGEST_SECTION = 99_999
"""The largest number of a section."""

MOST_DIGITS = 100
"""Largest number of digits of a numerator, of a denominator, and on each side of a point."""

_DIGITS = rf"\d{{1,{MOST_DIGITS}}}"
_RATIONAL = re.compile(
    rf"[+-]?({_DIGITS}(/{_DIGITS})?|({_DIGITS})?\.{_DIGITS})(?P<percent>%?)", re.ASCII
)
_KEY = re.compile(r"0|[1-9]\d{0,6}", re.ASCII)
_RANGE = re.compile(r"(-?\d{1,7})?(\.\.)?(-?\d{1,7})?", re.ASCII)

Path: TypeAlias = tuple[Any, ...]
"""The keys and indices that lead to a place in a file."""

Fault: TypeAlias = tuple[Path, str]
"""A fault inside a model: the path from the model to it, and a message with a cure."""


class ModelError(ValueError):
    """The faults of one model."""

    def __init__(self, found: list[Fault]) -> None:
        super().__init__("; ".join(message for _, message in found))
        self.found = found


class Model(BaseModel):
    """The base of all models: no unknown keys, no values of another type."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    def faults(self, known: Any) -> Iterator[Fault]:
        """Yield the faults of the model beyond the types of its values.

        Args:
            known: The parts of the book known so far, a
                :class:`~solvent.games.gamebook.hero.Known`.
        """
        yield from ()

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Any:
        keys = [field.alias or name for name, field in type(self).model_fields.items()]
        found: list[Fault] = [
            ((key,), f"is an unknown key; {similar(key, keys)}") for key in self.model_extra or ()
        ]
        found = found or list(self.faults(info.context))
        if found:
            raise ModelError(found)
        return self


def read_rational(value: Any) -> Fraction:
    """Read a rational number such as ``1/3``, ``0.35``, ``35%`` or ``+20%``, exactly.

    Raises:
        ValueError: If the text is not a rational number, or has too many digits.
    """
    match = _RATIONAL.fullmatch("" if isinstance(value, bool) else str(value))
    if match is None:
        raise ValueError(
            f"should be a number such as 1, 1/3, 0.35 or 35%, of at most {MOST_DIGITS} digits on "
            f"each side of / or ."
        )
    try:
        number = Fraction(match[0].removesuffix("%"))
    except ZeroDivisionError:
        raise ValueError("should not be divided by 0") from None
    return number / 100 if match["percent"] else number


Range: TypeAlias = tuple[int | None, int | None]
"""The ends of a range; None for no limit."""


def read_range(value: Any) -> Range:
    """Read a range such as ``3``, ``1..3``, ``..3`` or ``4..``.

    Raises:
        ValueError: If the text is not a range, or its ends are in descending order.
    """
    match = None if isinstance(value, bool) else _RANGE.fullmatch(str(value))
    if match is None or (match[1] is None and match[3] is None) or (match[3] and not match[2]):
        raise ValueError("should be a range such as 3, 1..3, ..3 or 4..")
    low = None if match[1] is None else int(match[1])
    high = None if match[3] is None else int(match[3])
    if not match[2]:
        high = low
    if low is not None and high is not None and low > high:
        raise ValueError("should be a range whose ends are in order")
    return low, high


def range_text(ends: Range) -> str:
    """A range as it is written in a file."""
    low, high = ("" if end is None else str(end) for end in ends)
    return low if low == high else f"{low}..{high}"


def _name(value: Any) -> Any:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ValueError("should be a name: letters, digits and _, at most 40")
    if value in RESERVED:
        raise ValueError("should be another name; this is a word of expressions")
    return value


def _integer_key(value: Any) -> Any:
    """Convert a text to an integer, as keys of JSON are text."""
    is_number = isinstance(value, str) and _KEY.fullmatch(value)
    return int(value) if is_number else value


def text(value: Any) -> Any:
    """Return a number or a boolean as the text that was written, and None as an empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


Text = Annotated[str, BeforeValidator(text)]
Label = Annotated[str, BeforeValidator(text), Field(min_length=1)]
Name = Annotated[str, BeforeValidator(_name)]
Whole = Annotated[int, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Positive = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Rational = Annotated[Fraction, BeforeValidator(read_rational)]
Interval = Annotated[Range, BeforeValidator(read_range)]
Digit = Annotated[int, BeforeValidator(_integer_key), Field(ge=0, le=9)]
SectionKey = Annotated[int, BeforeValidator(_integer_key), Field(ge=1, le=LARGEST_SECTION)]
