"""The states of a gamebook, pages at which play has stopped, and how they are drawn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

from solvent.games.gamebook.book import Book, Fight
from solvent.model.scene import Cell, Gauge, Part, Prose, Scene

Values: TypeAlias = tuple[int | None, ...]
"""The value of each field, in the book's order; None where no longer relevant."""

Local: TypeAlias = tuple[int, ...]
"""Numbers that exist only inside a fight or a shop."""


Position: TypeAlias = tuple[int, int, str, str]
"""Section, block, step and ending: pages that share them have the same live fields."""


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
    def decision(self) -> Self:
        """The page without the hero's state, equal for all pages at one decision of the book."""
        return self._replace(values=(), local=())


@dataclass(frozen=True, eq=False)
class PageLayout:
    """The live fields of pages at a position, whose values and local numbers make a row.

    Attributes:
        at: The position.
        fields: [L] indices of the live fields, ascending.
        count: Number of fields of the book.
    """

    at: Position
    fields: tuple[int, ...]
    count: int

    def known(self, values: Values, local: Local) -> Page:
        """The page with those of the values that matter."""
        return self.page([*(values[field] for field in self.fields), *local])

    def page(self, row: Sequence[Any]) -> Page:
        """The page of a row."""
        values: list[int | None] = [None] * self.count
        for field, value in zip(self.fields, row, strict=False):
            values[field] = value
        section, block, step, ending = self.at
        return Page(section, block, step, tuple(values), tuple(row[len(self.fields) :]), ending)

    def row(self, page: Page) -> list[int]:
        """The row of a page; 0 for a field that is not known."""
        return [page.values[field] or 0 for field in self.fields] + list(page.local)


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


IN_FIGHT = {"escape": ", before a round", "won": ", a round won", "lost": ", a round lost"}
"""Decisions of a fight, in words."""


def page_scene(book: Book, page: Page, options: Mapping[int, str]) -> Scene:
    """Return the page as a picture: its text with the options, the fight, and the hero's fields.

    Args:
        book: The book.
        page: The page.
        options: Each legal action in words.
    """
    clicks = tuple(Cell(words, "", action) for action, words in options.items())
    title, text = book.title, ""
    if page.section:
        title = f"{page.section}. {book.sections[page.section].title}".rstrip()
        text = book.nodes[page.section, page.block].block.text
    if page.ending:
        text = f"{text}\n\n{book.endings[page.ending].text}\n\n({page.ending})"
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    parts = [Prose(title, tuple(filter(None, paragraphs)), clicks), *_fight(book, page)]
    carried = []
    for field, value in zip(book.fields.values(), page.values, strict=True):
        if value is not None and field.kind == "variable":
            parts.append(Gauge(field.name, value, max(field.high, 1)))
        elif value:
            carried.append(f"{field.name} × {value}" if field.high > 1 else field.name)
    return (*parts, Prose("", (f"You carry: {', '.join(carried)}.",))) if carried else tuple(parts)


def _fight(book: Book, page: Page) -> Iterator[Part]:
    """The enemies and the state of the fight, if there is one."""
    fight = book.nodes[page.section, page.block].exit if page.section else None
    if page.ending or not isinstance(fight, Fight):
        return
    standing = [(enemy, enemy.health) for enemy in fight.enemies]
    if page.step:
        number, left, *_ = page.local
        standing = [(fight.enemies[number], left)]
    for enemy, left in standing:
        yield Gauge(f"{enemy.name}, skill {enemy.skill}", left, enemy.health, kind="second")
    if page.step in ("won", "lost"):
        yield Prose("", (f"This round is {page.step}.",))
