"""A page as text for a person."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from solvent.games.gamebook.book import Book, Enemy, Fight
from solvent.games.gamebook.page import Page
from solvent.model.drawing import gauge

WIDEST_GAUGE = 40
"""The largest value that is drawn as a bar."""

WIDTH = 76
"""The longest line of a text, in characters."""

STEPS = {"escape": ", before a round", "won": ", a round won", "lost": ", a round lost"}
"""Decisions of a fight, in words."""


def place_text(page: Page) -> str:
    """The place of a page in the book, in words."""
    if page.section == 0:
        return f"the start, pick {page.block + 1}" if page.block else "the start"
    return f"section {page.section}{STEPS.get(page.step, '')}"


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
