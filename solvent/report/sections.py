"""The sections that a game adds to the page beyond those of every game.

A game's spec names its subclass of :class:`GamePages`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solvent.exact import SolvedGame
from solvent.model import Game
from solvent.model.registry import load, spec_of
from solvent.model.text import exact, facts_text, four_decimals, signed, small, state_text, whole

if TYPE_CHECKING:
    from jinja2 import Environment

    from solvent.benchmark.records import BaselineRecord
    from solvent.report.solved import SolvedTask


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes:
        title: The heading.
        html: The content.
        script: JavaScript that it needs; equal scripts are put into the page once.
    """

    title: str
    html: str
    script: str = ""


@cache
def templates(package: str) -> Environment:
    """Return the templates of a package, with escaping and with filters for numbers.

    Args:
        package: The package whose folder contains them.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = four_decimals, exact, facts_text, signed, small, state_text, whole
    environment.globals |= {one.__name__: one for one in words}
    return environment


def beside(module: str, name: str) -> str:
    """Return the text of a file in the folder of a module.

    Args:
        module: The module's ``__file__``.
        name: The name of the file.
    """
    return Path(module).with_name(name).read_text(encoding="utf-8")


def script_json(data: Any) -> str:
    """Data for a script, as JSON that can stand in the element ``script`` of a page.

    Args:
        data: The data; the numbers of an array become its bytes in base64.
    """
    text = json.dumps(
        data,
        separators=(",", ":"),
        default=lambda array: base64.b64encode(array.tobytes()).decode(),
    )
    return text.replace("<", "\\u003c")


@dataclass(frozen=True, slots=True)
class Untabled:
    """The results of a game of which no table was made.

    Attributes:
        solved: The game with its optimum.
        sections: The game's own sections.
        baselines: The scored baselines; none if they can be scored only with a table.
    """

    solved: SolvedGame
    sections: tuple[Section, ...] = ()
    baselines: tuple[BaselineRecord, ...] = ()


class GamePages:
    """A game's own sections of reports and of the explorer.

    A game has a subclass, with the methods for the sections that it adds.
    """

    def sections(self, solved: SolvedTask) -> Sequence[Section]:
        """Return sections of a report on a solved task.

        Args:
            solved: The task, without a discount.
        """
        return ()

    def untabled(self, subject: Game | SolvedGame) -> Untabled | None:
        """Return the results of a form of which no table is made; None for any other form.

        Args:
            subject: The rules, or the solved game where it has been solved.
        """
        return None

    def state_sections(self, solved: SolvedGame, state: Any, hints: bool) -> Sequence[Section]:
        """Return sections on one state, which the explorer shows.

        Args:
            solved: The game, with a discount or without.
            state: A state of the solution.
            hints: Whether the optimum may be shown.
        """
        return ()


def pages_of(game: Any, *, discounted: bool = False) -> GamePages:
    """Return a game's own pages.

    Args:
        game: The game, its table or its :class:`~solvent.model.GameInfo`.
        discounted: Whether to return those of a discounted game, too. Only its
            :meth:`GamePages.state_sections` are for such a game.
    """
    spec, info = spec_of(game), getattr(game, "info", game)
    if spec is None or spec.pages is None or not (discounted or info.discount == 1):
        return GamePages()
    pages: GamePages = load(spec.pages)()
    return pages
