"""Learning curves as CSV files: a row for each evaluation, a column for each figure."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from solvent.model.files import StoreError, read_file, reporting, write_atomically
from solvent.model.parameters import is_number, shown


class CurvePoint(Protocol):
    """A point of a learning curve: a dataclass of numbers, the first of which is `timesteps`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def timesteps(self) -> int:
        """Steps taken so far, in all environments together."""

    @property
    def seconds(self) -> float:
        """CPU time spent so far, evaluations included."""

    @property
    def summary(self) -> str:
        """The most important figure, for a progress bar."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One point of a learning curve.

    Attributes:
        timesteps: Steps taken so far, in all environments together.
        value: Exact value of the policy's action probabilities.
        gap: Exact optimality gap of the policy's action probabilities.
        mode_value: Exact value of the most probable actions.
        mode_gap: Exact optimality gap of the most probable actions.
        seconds: CPU time spent so far, evaluations included.
    """

    timesteps: int
    value: float
    gap: float
    mode_value: float
    mode_gap: float
    seconds: float

    @property
    def summary(self) -> str:
        """The exact gap of the most probable actions."""
        return f"gap {self.mode_gap:.4f}"


Point = TypeVar("Point", bound=CurvePoint)


def columns(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of a point's figures, in the order of the columns of a file."""
    return tuple(item.name for item in fields(kind))


def write_curve(
    path: str | Path,
    curve: Sequence[Point],
    kind: type[Point] = Evaluation,  # type: ignore[assignment]
    *,
    saw: bool = False,
) -> None:
    """Write a learning curve as CSV.

    Args:
        path: The file to write.
        curve: Points of the curve.
        kind: Class of the points; there is a column for each of its fields.
        saw: Whether the learner used anything from the solution of its game. If so, the file has a
            column ``saw_solution`` of ones.

    Raises:
        StoreError: If the file cannot be written.
    """
    header, mark = (("saw_solution",), (1,)) if saw else ((), ())
    rows = [[repr(figure) for figure in (*astuple(point), *mark)] for point in curve]
    lines = [",".join(row) for row in ([*columns(kind), *header], *rows)]
    write_atomically(path, "\n".join([*lines, ""]).encode())


# Largest size of a learning curve that is read, in bytes; its points take thirty times as much.
_LARGEST_CURVE = 2**24


def read_curve(path: str | Path, kind: type[Point] = Evaluation) -> list[Point]:  # type: ignore[assignment]
    """Read a learning curve.

    Args:
        path: A file written by :func:`write_curve`.
        kind: The class of its points. Other columns are ignored, so the curve of any training can
            be read with the figures that all trainings have.

    Raises:
        StoreError: If the file is missing or not a learning curve.
    """
    own = columns(kind)
    with reporting(path):
        content = read_file(path, _LARGEST_CURVE)
    try:
        header, *lines = content.decode().splitlines()
        names = header.split(",")
        if not set(own) <= set(names):
            raise ValueError
        rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]
        return [
            read_point(kind, [int(row[own[0]]), *(float(row[name]) for name in own[1:])])
            for row in rows
        ]
    except ValueError as error:
        raise StoreError(f"{path}: not a learning curve, or damaged") from error


def read_point(kind: type[Point], figures: Sequence[Any]) -> Point:
    """Make a point of a curve from figures that were read.

    Args:
        kind: Class of the point.
        figures: Figures in the order of :func:`columns`. Steps are an integer and time is finite;
            the others may be NaN, since not all can be proved. If a policy need not end, its value
            may be minus infinity, and its gap infinity.

    Raises:
        ValueError: If a figure is not of this form.
    """
    by_name = dict(zip(columns(kind), figures, strict=True))
    if type(by_name["timesteps"]) is not int or by_name["timesteps"] < 0:
        raise ValueError(f"timesteps is {shown(by_name['timesteps'])}")
    for name, figure in by_name.items():
        worst = math.inf if "gap" in name or "exploitability" in name else -math.inf
        may_be_infinite = name != "seconds" and isinstance(figure, float)
        allowed = may_be_infinite and (math.isnan(figure) or figure == worst)
        if not (allowed or is_number(figure)):
            raise ValueError(f"{name} is {shown(figure)}")
    return kind(**by_name)
