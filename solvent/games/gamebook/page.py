"""The states of a gamebook: pages at which play has stopped, one by one, in arrays and as text."""

from __future__ import annotations

import textwrap
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import Book, Enemy, Fight
from solvent.model.arrays import Ints
from solvent.model.scene import Cell, Gauge, Part, Prose, Scene, gauge

Values: TypeAlias = tuple[int | None, ...]
"""The value of each field, in the book's order; None where no longer relevant."""

Local: TypeAlias = tuple[int, ...]
"""Numbers that exist only inside a fight or a shop."""


class Page(NamedTuple):
    """A place at which the episode waits for the player, and the hero's state.

    Attributes:
        section: The number of the section; 0 before the first one.
        block: The index of the block in the section; in section 0 the disciplines picked so far.
        step: The pending decision: ``""`` to read on, choose or trade, ``"escape"`` to fight on or
            escape, ``"won"`` and ``"lost"`` to test LUCK or not after such a round; ``"over"`` if
            the episode has ended.
        values: The value of every field, in the book's order; None where no longer relevant.
        local: State of a fight, or the number of times of each limited trade in a shop.
        ending: The name of the ending, if the episode has ended.
    """

    section: int
    block: int
    step: str
    values: Values
    local: Local = ()
    ending: str = ""

    @property
    def at(self) -> Position:
        """The position of the page."""
        return self.section, self.block, self.step, self.ending

    @property
    def decision(self) -> Page:
        """The page without the hero's state, equal for all pages at one decision of the book."""
        return self._replace(values=(), local=())


class FinalState(NamedTuple):
    """The end of an episode.

    Attributes:
        ending: The name of the ending.
        section: The number of the section.
        values: The values of the requested fields.
    """

    ending: str
    section: int
    values: Values


STEPS = ("", "escape", "won", "lost", "over")
"""Every :attr:`Page.step`."""

Position: TypeAlias = tuple[int, int, str, str]
"""Section, block, step and ending: pages that share them have the same live fields."""


Columns = NDArray[np.int32]
"""[n, L + K]: the live fields of n pages at one position, then their local numbers."""


@dataclass(frozen=True, eq=False)
class PageLayout:
    """The meaning of the columns of pages at a position.

    Attributes:
        at: The position.
        fields: [L] indices of the live fields, ascending.
        count: Number of fields of the book.
        lows: [L + K] smallest value of each column.
        sizes: [L + K] number of possible values of each column.
    """

    at: Position
    fields: tuple[int, ...]
    count: int
    lows: Ints
    sizes: tuple[int, ...]

    def page(self, row: Sequence[int]) -> Page:
        """The page of a row of columns."""
        values: list[int | None] = [None] * self.count
        for place, value in zip(self.fields, row, strict=False):
            values[place] = value
        section, block, step, ending = self.at
        return Page(section, block, step, tuple(values), tuple(row[len(self.fields) :]), ending)

    def row(self, page: Page) -> list[int]:
        """The columns of a page; 0 for a field that is not known."""
        return [page.values[place] or 0 for place in self.fields] + list(page.local)

    def keys(self, columns: Columns, which: Sequence[int] | None = None) -> Ints:
        """Return keys of rows, a few integers [n, W], that are equal only for equal rows.

        Args:
            columns: Columns of pages.
            which: The columns that count; all if left out.
        """
        words = [np.zeros(len(columns), np.int64)]
        room = 2**62
        for column in range(columns.shape[1]) if which is None else which:
            size = self.sizes[column]
            if size > room:
                words.append(np.zeros(len(columns), np.int64))
                room = 2**62
            words[-1] *= size
            words[-1] += columns[:, column] - self.lows[column]
            room //= size
        return np.stack(words, axis=1)


def grouped(keys: Ints) -> tuple[Ints, Ints]:
    """Group equal rows of keys, in the order in which they first appear.

    Args:
        keys: [n, W].

    Returns:
        first: [G] the rows at which groups first appear, ascending.
        label: [n] the group of each row.
    """
    rows = keys if keys.shape[1] > 1 else keys[:, 0]
    _, first, label = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(first))
    return first[by_appearance], rank[label.reshape(-1)]


@dataclass(frozen=True, eq=False)
class Pages(Sequence[Page]):
    """The states of a book, created on demand.

    Attributes:
        start: [B+1] state i is in batch b if ``start[b] <= i < start[b + 1]``.
        batches: [B] pages at one position each, as columns.
    """

    start: list[int]
    batches: list[tuple[PageLayout, Columns]]

    def __len__(self) -> int:
        """The number of states."""
        return self.start[-1]

    @overload
    def __getitem__(self, index: int) -> Page: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Page, ...]: ...

    def __getitem__(self, index: int | slice) -> Page | tuple[Page, ...]:
        """A state by its index."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no state {index}; there are {len(self)}")
        place = int(index) % len(self)
        batch = bisect_right(self.start, place) - 1
        layout, columns = self.batches[batch]
        return layout.page(columns[place - self.start[batch]].tolist())


WIDEST_GAUGE = 40
"""The largest value that is drawn as a bar."""

WIDTH = 76
"""The longest line of a text, in characters."""

IN_FIGHT = {"escape": ", before a round", "won": ", a round won", "lost": ", a round lost"}
"""Decisions of a fight, in words."""


def place_text(page: Page) -> str:
    """The place of a page in the book, in words."""
    if page.section == 0:
        return f"the start, pick {page.block + 1}" if page.block else "the start"
    return f"section {page.section}{IN_FIGHT.get(page.step, '')}"


def draw_page(book: Book, page: Page, options: Mapping[int, str]) -> str:
    """Return the page with its text, the fight, the hero's sheet, and the options.

    Args:
        book: The book.
        page: The page to draw.
        options: Each legal action in words, numbered from 0 like the actions.
    """
    parts = [heading(book, page), prose(book, page), fight(book, page), hero(book, page)]
    parts.append("\n".join(map(_option, options.items())))
    return "\n\n".join(part for part in parts if part)


def page_scene(book: Book, page: Page, options: Mapping[int, str]) -> Scene:
    """Return the page as a picture.

    Args:
        book: The book.
        page: The page.
        options: Each legal action in words.
    """
    text = tuple(" ".join(part.split()) for part in prose(book, page).split("\n\n") if part)
    clicks = tuple(Cell(words, "", action) for action, words in options.items())
    parts: list[Part] = [Prose(heading(book, page), text, clicks)]
    if fight_text := fight(book, page):
        news = [line.replace("█", "").replace("░", "").split() for line in fight_text.splitlines()]
        parts.append(Prose("", tuple(" ".join(line) for line in news)))
    carried = []
    for field, value in zip(book.fields.values(), page.values, strict=True):
        if value is not None and field.kind == "variable":
            parts.append(Gauge(field.name, value, max(field.high, 1)))
        elif value:
            carried.append(f"{field.name} × {value}" if field.high > 1 else field.name)
    return (*parts, Prose("", (f"You carry: {', '.join(carried)}.",))) if carried else tuple(parts)


def _option(numbered: tuple[int, str]) -> str:
    action, text = numbered
    return _filled(text, initial_indent=f"{action:3d}. ", subsequent_indent=" " * 5)


def _wrapped(text: str) -> str:
    """Return a text whose paragraphs, separated by empty lines, are broken into lines."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(_filled(part) for part in paragraphs)


def _filled(text: str, **indents: Any) -> str:
    """A text in lines of :data:`WIDTH`."""
    # Cut beforehand, since textwrap copies the whole rest of a long word for each line of it.
    pieces = (w[i : i + WIDTH] for w in text.split() for i in range(0, len(w), WIDTH))
    return textwrap.fill(" ".join(pieces), WIDTH, **indents)


def heading(book: Book, page: Page) -> str:
    """The number and the title of the section; the title of the book before the first."""
    if page.section == 0:
        return book.title
    title = book.sections[page.section].title
    return f"{page.section}. {title}" if title else f"{page.section}."


def prose(book: Book, page: Page) -> str:
    """Return the text of the page, or of the ending, with empty lines between paragraphs."""
    if page.section == 0:
        return ""
    texts = [_wrapped(book.nodes[page.section, page.block].block.text)]
    if page.ending:
        texts += [_wrapped(book.endings[page.ending].text), f"({page.ending})"]
    return "\n\n".join(text for text in texts if text)


def fight(book: Book, page: Page) -> str:
    """Return the enemies and the state of the fight; empty if there is no fight."""
    if page.section == 0 or page.ending:
        return ""
    there = book.nodes[page.section, page.block].exit
    if not isinstance(there, Fight):
        return ""
    if not page.step:
        return "\n".join(_enemy(enemy, enemy.health) for enemy in there.enemies)
    number, left, *_ = page.local
    lines = [_enemy(there.enemies[number], left)]
    if page.step in ("won", "lost"):
        lines.append(f"This round is {page.step}.")
    return "\n".join(lines)


def _enemy(enemy: Enemy, left: int) -> str:
    return f"{enemy.name}: skill {enemy.skill}, {gauge(left, enemy.health)}"


def hero(book: Book, page: Page) -> str:
    """The known values of the fields; flags and items only if there are any."""
    lines = []
    carried = []
    for field, value in zip(book.fields.values(), page.values, strict=True):
        if value is None:
            continue
        if field.kind == "variable":
            bar = field.low == 0 and field.high <= WIDEST_GAUGE
            lines.append(f"{field.name:12s} {gauge(value, field.high) if bar else value}")
        elif value:
            carried.append(f"{field.name} x {value}" if field.high > 1 else field.name)
    if carried:
        lines.append(", ".join(carried))
    return "\n".join(lines)
