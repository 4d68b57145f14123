"""Charts: what comes of every play against every defence.

A chart is a table with a row of *cells* per play; a cell is a distribution over results, nearly
always a single one in the manner of Football Strategy, a few dice in the manner of Paydirt.

==================  ========================  ====================================================
attribute           shape                     content
==================  ========================  ====================================================
``cells``           ``[plays][defences]``     the plays, numbered from 1 (``cells[0]`` is play 1)
``quick_kick``      ``[defences]``            the punt that any formation may call
``punt``            ``[defences]``            the punt from punt formation
``results``         ``[results]``             every distinct result, ascending
``letters``         ``[defences]``            the names of the defences: A, B, ...
==================  ========================  ====================================================

Low plays run and high plays pass; low letters defend the run and high letters the pass. A cell is
a tuple of ``(probability, result)`` with probabilities that are exact, positive and sum to 1, the
results distinct and ascending: equal distributions are equal tuples.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from string import ascii_uppercase
from typing import Any, TypeAlias

from solvent.games.football.results import KICKS, Result, parse_result
from solvent.model.parameters import shown

Cell: TypeAlias = tuple[tuple[Fraction, Result], ...]
"""A distribution over results."""

MOST_PLAYS = 99
MOST_DEFENCES = len(ascii_uppercase)
LARGEST_WEIGHT = 1_000_000
"""Weights in a cell's text are at most this, so that no sum is absurd."""


KICK_COLUMNS = ("Q", "P")
"""The headings of the columns quick kick and punt."""


class ChartError(ValueError):
    """Error for an impossible chart; the message says where."""


def headings(plays: int) -> tuple[str, ...]:
    """The headings of a chart's columns: ``1``, ``2``, ..., ``Q``, ``P``."""
    return (*map(str, range(1, plays + 1)), *KICK_COLUMNS)


@dataclass(frozen=True)
class Chart:
    """Plays against defences (see the module for the shapes).

    Cells are put into order; nothing else is changed.

    Args:
        name: A short name.
        cells: The plays: ``cells[play - 1][defence]``.
        quick_kick: The punt from any formation, a cell per defence.
        punt: The punt from punt formation, a cell per defence.
        source: Source of the chart, one line.

    Raises:
        ChartError: If the chart has no cell, lines differ in length, a cell's probabilities are
            not positive or do not sum to 1, a result stands in a cell twice, or a play kicks.
    """

    name: str
    cells: tuple[tuple[Cell, ...], ...] = field(repr=False)
    quick_kick: tuple[Cell, ...] = field(repr=False)
    punt: tuple[Cell, ...] = field(repr=False)
    source: str = ""

    def __post_init__(self) -> None:
        """Check the shape and the cells, and put the cells into order."""
        for name, text, most in (("name", self.name, 80), ("source", self.source, 500)):
            if not text.isprintable() or text != text.strip() or len(text) > most:
                raise ChartError(
                    f"{name} is {shown(text)}; allowed is one printable line of at most {most} "
                    "characters without blanks around it"
                )
        plays, defences = len(self.cells), len(self.cells[0]) if self.cells else 0
        if not (1 <= plays <= MOST_PLAYS and 1 <= defences <= MOST_DEFENCES):
            raise ChartError(
                f"chart {self.name!r} has {plays} plays and {defences} defences; allowed are "
                f"1 to {MOST_PLAYS} plays and 1 to {MOST_DEFENCES} defences"
            )
        checked = []
        for heading, column in self.columns.items():
            place = f"chart {self.name!r}, column {heading}"
            if len(column) != defences:
                raise ChartError(f"{place}: {len(column)} cells where column 1 has {defences}")
            for letter, cell in zip(ascii_uppercase, column, strict=False):
                try:
                    _check_cell(cell, heading)
                except ValueError as error:
                    raise ChartError(f"{place}, row {letter}: {error}") from error
            checked.append(tuple(map(ordered_cell, column)))
        *cells, quick_kick, punt = checked
        object.__setattr__(self, "cells", tuple(cells))
        object.__setattr__(self, "quick_kick", quick_kick)
        object.__setattr__(self, "punt", punt)

    @classmethod
    def from_codes(
        cls,
        name: str,
        plays: Sequence[Sequence[str]],
        quick_kick: Sequence[str],
        punt: Sequence[str],
        source: str = "",
    ) -> Chart:
        """A chart from the text of its cells, ``plays[play - 1][defence]``.

        Raises:
            ValueError: If a text is not a cell, or the cells are not a chart.
        """
        return cls(
            name,
            tuple(tuple(map(parse_cell, line)) for line in plays),
            tuple(map(parse_cell, quick_kick)),
            tuple(map(parse_cell, punt)),
            source,
        )

    @property
    def plays(self) -> int:
        """The number of plays, kicks not counted."""
        return len(self.cells)

    @property
    def defences(self) -> int:
        """The number of defences."""
        return len(self.punt)

    @property
    def letters(self) -> str:
        """The defences' letters in order."""
        return ascii_uppercase[: self.defences]

    @property
    def columns(self) -> dict[str, tuple[Cell, ...]]:
        """All columns by heading."""
        lines = (*self.cells, self.quick_kick, self.punt)
        return dict(zip(headings(self.plays), lines, strict=True))

    def cell(self, play: int | str, letter: str) -> Cell:
        """The cell of a play (its number, ``"Q"`` or ``"P"``) and a defence.

        Raises:
            KeyError: If the chart has no such column or row.
        """
        if letter not in tuple(self.letters):
            raise KeyError(f"no defence {letter!r}; chart {self.name!r} has {self.letters}")
        return self.columns[str(play)][self.letters.index(letter)]

    @property
    def table(self) -> dict[str, Any]:
        """The chart in JSON form, as solutions store it; :meth:`from_table` reads it."""
        rows = {
            letter: [
                cell_text(cells[row])
                if len(cells[row]) == 1
                else {result.code: str(probability) for probability, result in cells[row]}
                for cells in self.columns.values()
            ]
            for row, letter in enumerate(self.letters)
        }
        return {
            "format": "solvent-chart",
            "version": 1,
            "name": self.name,
            "source": self.source,
            "plays": self.plays,
            "defences": self.defences,
            "columns": [*self.columns],
            "rows": rows,
        }

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Chart:
        """A chart from :attr:`table`.

        Raises:
            ChartError: If it is not a chart.
        """
        try:
            *plays, quick_kick, punt = zip(
                *([_listed(cell) for cell in row] for row in table["rows"].values()), strict=True
            )
            chart = cls(table["name"], tuple(plays), quick_kick, punt, table["source"])
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise ChartError(f"the table is not a chart: {error}") from error
        if chart.table != table:
            raise ChartError(f"the table would be written otherwise, with the hash {chart.hash}")
        return chart

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """Every distinct result in ascending order; both options of a choice count too."""
        found = {result for line in self.columns.values() for cell in line for _, result in cell}
        return tuple(sorted(found.union(*(result.options for result in found))))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the cells; name and source do not matter."""
        lines = (
            ",".join((heading, *map(cell_text, line))) for heading, line in self.columns.items()
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def parse_cell(text: str) -> Cell:
    """Read the text of a cell: one code, or weighted ones such as ``3*4 | -1*1 | fum*1``.

    Raises:
        ValueError: If a code is unknown, or a weight is not a positive whole number.
    """
    if not text.strip():
        raise ValueError("the cell is empty")
    parts = text.split("|")
    if len(parts) == 1 and "*" not in text:
        return ((Fraction(1), parse_result(text)),)
    weighted = []
    for part in parts:
        code, star, weight = part.partition("*")
        if not star:
            raise ValueError(f"{part.strip()!r} has no weight; write it as in '3*4 | fum*1'")
        weighted.append((_weight(weight.strip()), parse_result(code)))
    total = sum(weight for weight, _ in weighted)
    return ordered_cell((Fraction(weight, total), result) for weight, result in weighted)


def _listed(cell: str | Mapping[str, str]) -> Cell:
    """A cell of a table: a code, or the probabilities of several."""
    if isinstance(cell, str):
        return parse_cell(cell)
    return ordered_cell((Fraction(chance), parse_result(code)) for code, chance in cell.items())


def _weight(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and 0 < int(text) <= LARGEST_WEIGHT:
        return int(text)
    raise ValueError(f"weight {shown(text)}; allowed are whole numbers from 1 to {LARGEST_WEIGHT}")


def cell_text(cell: Cell) -> str:
    """The text of a cell, weights in lowest terms; :func:`parse_cell` reads it back."""
    if len(cell) == 1:
        return cell[0][1].code
    total = lcm(*(probability.denominator for probability, _ in cell))
    return " | ".join(f"{result.code}*{probability * total}" for probability, result in cell)


def ordered_cell(branches: Iterable[tuple[Fraction, Result]]) -> Cell:
    """The branches as a cell, results ascending, each once with all of its probability.

    Raises:
        ValueError: If a probability is not positive, or they do not sum to 1.
    """
    chances: dict[Result, Fraction] = {}
    for probability, result in branches:
        if probability <= 0:
            raise ValueError(f"{result.code!r} has probability {probability}; it must be positive")
        chances[result] = chances.get(result, Fraction(0)) + probability
    cell = tuple((chances[result], result) for result in sorted(chances))
    total = sum(probability for probability, _ in cell)
    if total != 1:
        raise ValueError(f"the probabilities sum to {total}, not to 1")
    return cell


def _check_cell(branches: Cell, heading: str) -> None:
    for _, result in ordered_cell(branches):
        if heading not in KICK_COLUMNS and KICKS & {r.kind for r in (result, *result.options)}:
            raise ValueError(f"{result.code!r} kicks; only the columns Q and P may")
