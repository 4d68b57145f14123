"""Charts: the result of every play against every defence, in CSV files.

**Results** are what one cell can hold. Each has a text code:

======================  ============================  ==========================================
kind                    code                          meaning
======================  ============================  ==========================================
``gain``                ``5`` ``-3`` ``12o``          yards, ``o``: ending out of bounds
``incomplete``          ``inc``                       a pass that nobody caught
``fumble``              ``fum`` ``fum-2`` ``fum6``    lost at the line plus the yards
``interception``        ``int15`` ``int15r10``        caught at the line plus the yards,
                                                      returned (``r``) towards the offence
``offence-penalty``     ``off5``                      yards against the offence, down repeated
``defence-penalty``     ``def5`` ``def15f``           yards against the defence, down repeated
                                                      unless they make the line to gain; ``f``:
                                                      an automatic first down
``choice``              ``off10/7`` ``def5/12``       a penalty and the play it was called on:
                                                      the offended team takes either
``long-gain``           ``long``                      yards drawn from the ruleset's table
``punt``                ``punt40`` ``punt40r8``       kicked so far from the line, returned so far
``fumbled-punt``        ``punt40fum``                 kicked so far, dropped, kept by the kickers
``blocked-punt``        ``block``                     blocked; the ruleset says where it lies
======================  ============================  ==========================================

Codes may be read in any case and with a plus sign (``+5``); :attr:`Result.code` is the canonical
form, and ``parse_result(result.code) == result`` for every result.

What a result *does* in a situation is the business of the rules; nothing here knows of downs.

**Charts.** A chart is a table with a row of *cells* per play; a cell is a distribution over
results, nearly always a single one in the manner of Football Strategy, a few dice in the manner of
Paydirt.

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

**Files** look as one would copy a printed chart: a row per defence, a column per play, then ``Q``
(quick kick) and ``P`` (punt); cells as :func:`parse_cell` reads them. Lines that begin with ``#``
come first; ``name``, ``source`` and ``size`` are read, others are remarks. A chart that is not
20 x 10 must state its size::

    # name: tiny
    # size: 2 x 2
    defence, 1, 2, Q, P
    A, -1, 4, punt33, punt41r5
    B, 3, inc * 3 | 20 * 1, punt36, punt40

The format is exact: a chart written and read again is equal to itself.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib import resources
from math import lcm
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Self, TypeAlias

from solvent.model.files import read_file
from solvent.model.parameters import check_choice, check_integer, shown

# No gain, loss, return, penalty or kick is longer than the field between the goal lines.
_LONGEST = 99

# The pattern of a return.
_BACK = r"(r(?P<back>\d{1,4}))?"

PENALTIES = frozenset({"offence-penalty", "defence-penalty"})
KICKS = frozenset({"punt", "fumbled-punt", "blocked-punt"})

# The word of each kind's code, the pattern of what may follow its yards, and the least and the most
# of these.
_KINDS: dict[str, tuple[str, str, int, int]] = {
    "gain": ("", "(?P<out>o)?", -_LONGEST, _LONGEST),
    "incomplete": ("inc", "", 0, 0),
    "fumble": ("fum", "", -_LONGEST, _LONGEST),
    "interception": ("int", _BACK, -_LONGEST, _LONGEST),
    "offence-penalty": ("off", "", 1, _LONGEST),
    "defence-penalty": ("def", "(?P<first_down>f)?", 1, _LONGEST),
    "choice": ("/", "", 0, 0),
    "long-gain": ("long", "", 0, 0),
    "punt": ("punt", _BACK, 1, _LONGEST),
    "blocked-punt": ("block", "", 0, 0),
    "fumbled-punt": ("punt", "fum", 1, _LONGEST),
}

KINDS = tuple(_KINDS)
"""The kinds of results."""

_CODES = {
    kind: re.compile(
        word
        + (rf"(?P<yards>[+-]?\d{{1,4}}){'?' * (kind == 'fumble')}" if low < high else "")
        + tail,
        re.IGNORECASE | re.ASCII,
    )
    for kind, (word, tail, low, high) in _KINDS.items()
}

# One code of each form, for messages.
_EXAMPLES = "5, -3, 12o, inc, fum, fum6, int15r10, off5, def15f, off10/7, long, punt40r8, block"


@dataclass(frozen=True, order=True)
class Result:
    """One result of a call, hashable and ordered; its ``repr`` round-trips.

    Args:
        kind: One of :data:`KINDS`.
        yards: Gained from the line of scrimmage (negative: lost), or where the ball changed
            hands, or the length of a penalty or kick; 0 for kinds that have none.
        out_of_bounds: Whether a gain ended out of bounds.
        return_yards: Yards that an interception or punt was returned.
        first_down: Whether a penalty on the defence is an automatic first down.
        options: The options of a choice: the penalty and the play, in this order.

    Raises:
        ValueError: If the kind is unknown, a number is out of its range, or a choice is not between
            a penalty and a play.
    """

    kind: str
    yards: int = 0
    out_of_bounds: bool = False
    return_yards: int = 0
    first_down: bool = False
    options: tuple["Result", ...] = ()

    def __post_init__(self) -> None:
        """Check the fields."""
        *_, low, high = _KINDS[check_choice(self.kind, "kind of result", KINDS)]
        check_integer(self.yards, f"yards of {self.kind}", low, high)
        check_integer(self.return_yards, f"return of {self.kind}", 0, _LONGEST)
        if self.kind == "choice":
            kinds = tuple(option.kind for option in self.options)
            if len(kinds) != 2 or kinds[0] not in PENALTIES or kinds[1] in {*PENALTIES, "choice"}:
                raise ValueError(f"a choice is a penalty and a play, in this order; got {kinds}")

    @property
    def code(self) -> str:
        """The canonical text code."""
        if self.options:
            return "/".join(option.code for option in self.options)
        word, _, low, high = _KINDS[self.kind]
        yards = self.yards if low < high else ""
        back = f"r{self.return_yards}" if self.return_yards else ""
        tail = "o" * self.out_of_bounds + "f" * self.first_down + back
        if self.kind == "fumble":
            yards = yards or ""
        elif self.kind == "fumbled-punt":
            tail = "fum"
        return f"{word}{yards}{tail}"


def parse_result(text: str) -> Result:
    """Read one text code (see the module).

    Raises:
        ValueError: If the text is not a code, or its numbers are out of range.
    """
    code = text.strip()
    if code.count("/") == 1:
        penalty, play = code.split("/")
        return Result("choice", options=(parse_result(penalty), parse_result(play)))
    for kind, pattern in _CODES.items():
        if match := pattern.fullmatch(code):
            parts = {name: part for name, part in match.groupdict().items() if part}
            yards, back = (int(parts.get(name, 0)) for name in ("yards", "back"))
            return Result(kind, yards, "out" in parts, back, "first_down" in parts)
    raise ValueError(f"{shown(code)} is not a result; results look like {_EXAMPLES}")


Cell: TypeAlias = tuple[tuple[Fraction, Result], ...]
"""A distribution over results."""

# Characters of a chart's name or source.
_LONGEST_TEXT = 500

# A result of several in a cell, with its weight: at most a million, so that no sum is absurd.
_WEIGHTED = re.compile(r"(?P<code>[^*]*)\*\s*0*(?P<weight>[1-9]\d{0,5}|1000000)\s*", re.ASCII)


KICK_COLUMNS = ("Q", "P")
"""The headings of the columns quick kick and punt."""


class ChartError(ValueError):
    """Error for an impossible chart; the message says where."""


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say in errors where they were found."""
    try:
        yield
    except (ValueError, csv.Error) as error:
        raise ChartError(f"{place}: {error}") from error


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
        for name, text in (("name", self.name), ("source", self.source)):
            if not text.isprintable() or text != text.strip() or len(text) > _LONGEST_TEXT:
                raise ChartError(
                    f"{name} is {shown(text)}; allowed is one printable line of at most "
                    f"{_LONGEST_TEXT} characters without blanks around it"
                )
        with _at(f"chart {self.name!r}"):
            check_integer(self.plays, "the number of plays", 1, _LONGEST)
            check_integer(self.defences, "the number of defences", 1, len(ascii_uppercase))
        checked: list[tuple[Cell, ...]] = []
        for heading, column in self.columns.items():
            place = f"chart {self.name!r}, column {heading}"
            if len(column) != self.defences:
                raise ChartError(f"{place}: {len(column)} cells where P has {self.defences}")
            for letter, cell in zip(self.letters, column, strict=True):
                with _at(f"{place}, row {letter}"):
                    _check_cell(cell, heading)
            checked.append(tuple(map(ordered_cell, column)))
        *cells, quick_kick, punt = checked
        object.__setattr__(self, "cells", tuple(cells))
        object.__setattr__(self, "quick_kick", quick_kick)
        object.__setattr__(self, "punt", punt)

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

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """A chart as solutions of earlier versions hold it, in JSON form.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: If it is not a chart.
        """
        rows = [list(map(_listed, row)) for row in table["rows"].values()]
        *plays, quick_kick, punt = zip(*rows, strict=True)
        return cls(table["name"], tuple(plays), quick_kick, punt, table["source"])

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
    parts = text.split("|")
    if len(parts) == 1 and "*" not in text:
        return ((Fraction(1), parse_result(text)),)
    weighted = []
    for part in parts:
        match = _WEIGHTED.fullmatch(part)
        if match is None:
            raise ValueError(
                f"{shown(part.strip())} has no weight from 1 to 1000000; write '3*4 | fum*1'"
            )
        weighted.append((int(match["weight"]), parse_result(match["code"])))
    total = sum(weight for weight, _ in weighted)
    return ordered_cell((Fraction(weight, total), result) for weight, result in weighted)


def _listed(cell: str | Mapping[str, str]) -> Cell:
    """A cell of a table: a code, or the probabilities of several."""
    if isinstance(cell, str):
        return parse_cell(cell)
    return ordered_cell((Fraction(chance), parse_result(code)) for code, chance in cell.items())


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


SHIPPED = ("standard", "cautious", "aerial", "dice")
"""The names of the charts that come with the package."""

LARGEST_FILE = 1_000_000
"""Bytes; a chart of 99 plays against 26 defences takes far less."""

# Plays and defences of a file that does not state its size.
_USUAL_SIZE = "20 x 10"


def load_chart(chart: object, name: str = "chart") -> Chart:
    """Return the chart of an argument: a chart, the name of a shipped one, or a CSV file's path.

    Args:
        chart: The argument.
        name: The parameter's name, for messages.

    Raises:
        ValueError: If it is none of these, or the file is not a chart; the message names the file
            and the place in it.
        OSError: If there is no such file, it cannot be read, or it is too large.
    """
    if isinstance(chart, Chart):
        return chart
    if not isinstance(chart, (str, Path)):
        raise ValueError(
            f"{name} is {shown(chart)}; allowed are names of shipped charts, paths of files, and "
            f"charts"
        )
    if chart in SHIPPED:
        file = resources.files("solvent.games.football") / "charts" / f"{chart}.csv"
        return read_csv(file.read_bytes(), f"{chart}.csv")
    if isinstance(chart, str) and not Path(chart).suffix:
        check_choice(chart, name, (*SHIPPED, "FILE.csv"))
    return read_csv(read_file(chart, LARGEST_FILE), str(chart))


def csv_text(chart: Chart) -> str:
    """The chart as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([f"# name: {chart.name}"])
    if chart.source:
        writer.writerow([f"# source: {chart.source}"])
    writer.writerow([f"# size: {chart.plays} x {chart.defences}"])
    writer.writerow(["defence", *headings(chart.plays)])
    columns = chart.columns.values()
    for row, letter in enumerate(chart.letters):
        writer.writerow([letter, *(cell_text(column[row]) for column in columns)])
    return text.getvalue()


def read_csv(content: bytes, file: str) -> Chart:
    """Read a chart from the bytes of a CSV file; `file` names it in messages.

    Raises:
        ChartError: If it is not a chart.
    """
    with _at(f"{file}: not UTF-8 text; save it as such"):
        lines = content.decode("utf-8-sig").splitlines()
    with _at(file):
        return _chart_of(lines, Path(file).stem)


def _chart_of(lines: list[str], name: str) -> Chart:
    """The chart in a file's lines; `name` is for one that has none."""
    remarks: dict[str, str] = {}
    table: list[list[str]] = []
    for line in csv.reader(lines):
        if line and line[0].startswith("#"):
            # A spreadsheet pads remarks to the width of the table.
            key, _, value = ",".join(filter(None, line))[1:].partition(":")
            remarks[key.strip().lower()] = value.strip()
        elif any(map(str.strip, line)):
            table.append([field.strip() for field in line])
    (corner, *found), *rows = table or [["", "", ""]]
    size, wanted = f"{len(found) - 2}x{len(rows)}", remarks.get("size", _USUAL_SIZE)
    if corner.lower() != "defence" or headings(len(found) - 2) != tuple(map(str.upper, found)):
        raise ValueError("the first line is not 'defence,1,2,...,Q,P'")
    if size != wanted.replace(" ", "").replace("×", "x"):
        raise ValueError(
            f"{size} plays x defences, but the size is {shown(wanted)}; state another size than "
            f"20 x 10 as in '# size: 9 x 6'"
        )
    letters = "".join(row[0].upper() for row in rows)
    if letters != ascii_uppercase[: len(rows)]:
        raise ValueError(f"the rows are {shown(letters)}; expected A, B, C and so on")
    cells = []
    for letter, *row in rows:
        if len(row) != len(found):
            raise ValueError(
                f"row {letter.upper()}: {len(row)} cells where {len(found)} are expected"
            )
        cells.append([_read_cell(cell, letter, at) for cell, at in zip(row, found, strict=True)])
    *columns, quick_kick, punt = zip(*cells, strict=True)
    name, source = remarks.get("name") or name, remarks.get("source", "")
    return Chart(name, tuple(columns), quick_kick, punt, source)


def _read_cell(text: str, row: str, column: str) -> Cell:
    with _at(f"row {row.upper()}, column {column}"):
        return parse_cell(text)
