"""Pictures of states as data, and as text.

A game says what there is to see and which action a click takes
(:meth:`solvent.model.game.Words.scene`). A scene is a tuple of parts, from top to bottom:
:class:`Grid`, :class:`Pieces`, :class:`Gauge`, :class:`Gridiron` and :class:`Prose`. A browser
draws them as it likes; :func:`scene_text` is their drawing in a terminal.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias


class Cell(NamedTuple):
    """A square of a board, a die, a card, or another thing that can be clicked.

    Attributes:
        text: The text on it, a few characters.
        kind: Look of the square: ``"wall"``, ``"goal"``, ``"pit"``, ``"start"``, ``"first"`` or
            ``"second"`` for things of a player; empty for a plain square.
        action: The action that a click takes; None if a click does nothing.
        name: The name for screen readers, where the text is not enough.
    """

    text: str = ""
    kind: str = ""
    action: int | None = None
    name: str = ""


class Grid(NamedTuple):
    """A board of squares.

    Attributes:
        rows: The squares, row by row from the top.
        here: The row and the column of the square that the state is about.
        below: Labels under the columns.
        walls: Pairs of neighbouring squares with a wall between them, each a row and a column.
    """

    rows: tuple[tuple[Cell, ...], ...]
    here: tuple[int, int] | None = None
    below: tuple[str, ...] = ()
    walls: frozenset[tuple[tuple[int, int], tuple[int, int]]] = frozenset()


class Pieces(NamedTuple):
    """A row of dice, cards, tokens or boxes.

    Attributes:
        name: The name of the row; empty if there is none.
        look: ``"dice"``, ``"cards"``, ``"tokens"`` or ``"boxes"``.
        cells: The pieces.
        keeps: In games that keep dice and roll the others again, the action that keeps each set,
            by the numbers of the dice: ascending, with commas between them.
    """

    name: str
    look: str
    cells: tuple[Cell, ...]
    keeps: Mapping[str, int] = MappingProxyType({})


class Gauge(NamedTuple):
    """A bar that is filled as far as a number goes.

    Attributes:
        name: The name of the number.
        value: The number.
        most: The number at which the bar is full.
        more: Number to add that is at risk or still to come, such as the points of a turn.
        kind: The look of the bar, as of a :class:`Cell`.
    """

    name: str
    value: float
    most: float
    more: float = 0
    kind: str = "first"


class Gridiron(NamedTuple):
    """A football field.

    Attributes:
        ball: Yards from the left goal line to the ball; None if it is nowhere.
        gain: Yards from the left goal line to the line to gain; None if there is none.
        field: Length of the field between the goal lines, in yards.
        left: The name of the side whose goal is on the left.
        right: The name of the other side.
        news: Down and distance, or whatever else there is to say.
        forward: 1 if the side with the ball plays to the right, -1 if to the left.
    """

    ball: int | None
    gain: int | None
    field: int = 100
    left: str = ""
    right: str = ""
    news: str = ""
    forward: int = 1


class Prose(NamedTuple):
    """Text.

    Attributes:
        title: The heading; empty if there is none.
        paragraphs: The paragraphs.
        options: Choices, each with the action that a click takes.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    options: tuple[Cell, ...] = ()


Part: TypeAlias = Grid | Pieces | Gauge | Gridiron | Prose
"""A part of a scene."""

Scene: TypeAlias = tuple[Part, ...]
"""The picture of a state, from top to bottom."""

LETTERS: Mapping[str, Cell] = {
    "#": Cell("", "wall", name="wall"),
    ".": Cell(),
    "F": Cell(),
    "S": Cell("S", "start", name="start"),
    "G": Cell("G", "goal", name="goal"),
    "H": Cell("", "pit", name="hole"),
}
"""The squares that letters stand for on most boards."""


def grid(
    rows: Sequence[str],
    here: tuple[int, int] | None,
    letters: Mapping[str, Cell] = MappingProxyType({}),
    **more: Any,
) -> Grid:
    """Return a board that is written as text, a letter for each square.

    Args:
        rows: The letters, row by row from the top.
        here: The row and the column of the state's square.
        letters: The squares that letters stand for, where they differ from :data:`LETTERS`.
        more: Further attributes of the :class:`Grid`.
    """
    known = {**LETTERS, **letters}
    squares = tuple(tuple(known.get(one, Cell(one)) for one in row) for row in rows)
    return Grid(squares, here, **more)


MARKS: Mapping[str, str] = {
    "wall": "#",
    "goal": "G",
    "pit": "H",
    "start": "S",
    "first": "x",
    "second": "o",
}
"""The marks in a drawing for cells without text, by their look; any other is a point."""


# The largest number of pieces in a row that are all drawn as text.
_MOST_DRAWN = 40


def scene_text(scene: Scene) -> str:
    """Return the drawing of a scene as text.

    Args:
        scene: The parts, from top to bottom.
    """
    names = max((len(part.name) for part in scene if isinstance(part, Gauge)), default=0)
    return "\n".join(chain.from_iterable(_lines(part, names) for part in scene))


def _lines(part: Part, names: int) -> Iterator[str]:
    """The lines of a part; `names` is the width of the names of gauges."""
    match part:
        case Grid(rows=rows, here=here, below=below):
            place = -1 if here is None else here[0] * len(rows[0]) + here[1]
            yield board([[_mark(cell) for cell in row] for row in rows], place)
            if below:
                yield "".join(f" {label} " for label in below).rstrip()
        case Pieces(name=name, cells=cells):
            marks = [_mark(cell) for cell in cells[:_MOST_DRAWN]] + ["…"] * (
                len(cells) > _MOST_DRAWN
            )
            yield " ".join([f"{name}:"] * bool(name) + marks)
        case Gauge(name=name, value=value, most=most, more=more):
            yield f"{name:{names}} {gauge(value, most)}" + (f" + {more:g}" if more else "")
        case Gridiron(ball, gain, field, news=news):
            yield news
            if ball is not None:
                yield from pitch(field, ball, gain)
        case Prose(title=title, paragraphs=paragraphs):
            yield from filter(None, (title, *paragraphs))


def _mark(cell: Cell) -> str:
    return cell.text or MARKS.get(cell.kind, ".")


def gauge(value: float, most: float, width: int = 24) -> str:
    """Return a bar of `width` characters, filled in proportion to `value`, and the numbers.

    A value above 0 fills at least one character, a value below 0 none. Environments paint the bar
    in colour.
    """
    filled = int(-(-max(min(value, most), 0) * width // most)) if most else 0
    return f"{'█' * filled}{'░' * (width - filled)} {value:2g}/{most:g}"


def board(rows: Sequence[Sequence[str]], here: int) -> str:
    """A board with a short text for each cell, one of them in brackets.

    Args:
        rows: The board's rows, from the top.
        here: Number of the cell in brackets, counted row by row; negative for none.
    """
    width = max(len(cell) for row in rows for cell in row)
    cells = enumerate(chain.from_iterable(rows))
    drawn = (f"[{cell:{width}}]" if i == here else f" {cell:{width}} " for i, cell in cells)
    return "\n".join("".join(islice(drawn, len(row))).rstrip() for row in rows)


def pitch(length: int, ball: int | None, gain: int | None) -> tuple[str, ...]:
    """A football field, played from left to right, in three lines, and below them yard numbers.

    A character stands for two yards, the first of which is at its left edge. `▒` are the end zones,
    `|` comes every ten yards, `●` is the ball and `¦` the line to gain. Environments paint the
    lines as one field. A field of 10 yards or less has no numbers.

    Args:
        length: Length of the field between the goal lines, in yards.
        ball: Yards from the left goal line; None if there is no ball.
        gain: Column of the line to gain; one at the right goal line is not marked.
    """
    width = -(-length // 2)
    grass = ["|" if cell and cell % 5 == 0 else "·" for cell in range(width)]
    if gain is not None and gain < length:
        grass[max(gain, 0) // 2] = "¦"
    edge = "".join(grass)
    if ball is not None:
        grass[min(max(ball, 0) // 2, width - 1)] = "●"
    numbers = "".join(f"{min(yard, length - yard):5d}" for yard in range(10, length, 10))
    rows = (edge, "".join(grass), edge)
    return (*(f"▒▒▒{cells}▒▒▒" for cells in rows), *(["    " + numbers] if numbers else []))
