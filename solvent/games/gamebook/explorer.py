"""A page of a gamebook as ``solvent explore`` shows it: its text, and where it is on the map."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import cast

from solvent.exact import SolvedGame, SolvedTable
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.page_text import fight, heading, hero, prose
from solvent.games.gamebook.report_map import book_map
from solvent.games.gamebook.rules import Gamebook
from solvent.report.sections import Section


def state_sections(solved: SolvedGame, state: Page, hints: bool) -> list[Section]:
    """The text of a page, and the map of the book.

    Args:
        solved: The game.
        state: The page.
        hints: Whether what is optimal may be told, as the map does.
    """
    game = cast(Gamebook, solved.game)
    paragraphs = prose(game.book, state).split("\n\n")
    text = "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in paragraphs if part)
    figures = "\n\n".join(filter(None, (fight(game.book, state), hero(game.book, state))))
    if figures:
        text += f'<pre class="drawing">{escape(figures)}</pre>'
    sections = [Section(heading(game.book, state), text)]
    if hints and isinstance(solved, SolvedTable):
        here = f'[data-section="{state.section}"] {{ stroke: var(--costly); stroke-width: 3 }}'
        sections.append(
            Section(
                "The map",
                "<p>The larger a dot, the likelier an optimal policy gets there; the colour is the "
                "value from there on. The present section is ringed.</p>"
                f"<style>{here}</style>{_map(solved)}",
            )
        )
    return sections


@lru_cache(maxsize=2)
def _map(solved: SolvedTable) -> str:
    return book_map(cast(Gamebook, solved.game), solved.table, solved.solution)
