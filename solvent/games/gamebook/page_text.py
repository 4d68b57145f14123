"""A page as text for a person."""

from __future__ import annotations

from collections.abc import Mapping

from solvent.games.gamebook.book import Book, FightingFantasyFight, ResultsTableFight
from solvent.games.gamebook.page import Page
from solvent.model.drawing import gauge

WIDEST_GAUGE = 40
"""The largest value that is drawn as a bar."""


def draw_page(book: Book, page: Page, options: Mapping[int, str]) -> str:
    """The page with its text, the fight, what the hero is and has, and the options.

    Args:
        book: The book.
        page: Where play is.
        options: Each legal action in words.
    """
    parts = [_heading(book, page), _text(book, page), _fight(book, page), _hero(book, page)]
    parts.append("\n".join(f"{action + 1:3d}. {text}" for action, text in options.items()))
    return "\n\n".join(part for part in parts if part)


def _heading(book: Book, page: Page) -> str:
    if page.section == 0:
        return book.title
    title = book.sections[page.section].title
    return f"{page.section}. {title}" if title else f"{page.section}."


def _text(book: Book, page: Page) -> str:
    if page.section == 0:
        return ""
    texts = [book.block(page.section, page.block).text.strip()]
    if page.ending:
        texts += [book.endings[page.ending].text.strip(), f"({page.ending})"]
    return "\n\n".join(text for text in texts if text)


def _fight(book: Book, page: Page) -> str:
    if page.section == 0 or page.ending:
        return ""
    match book.block(page.section, page.block).exit:
        case FightingFantasyFight(enemies) | ResultsTableFight(enemies):
            if not page.step:
                return "\n".join(f"{e.name}: skill {e.skill}, {e.endurance}" for e in enemies)
            number, left, *_ = page.local
            enemy = enemies[number]
            lines = [f"{enemy.name}: skill {enemy.skill}, {gauge(left, enemy.endurance)}"]
            if page.step in ("won", "lost"):
                lines.append(f"This round is {page.step}.")
            return "\n".join(lines)
    return ""


def _hero(book: Book, page: Page) -> str:
    """What is known of the fields; flags and items only if there are any."""
    lines = []
    carried = []
    for field, value in zip(book.fields, page.values, strict=True):
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
