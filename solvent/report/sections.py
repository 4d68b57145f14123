"""The sections that a game adds to the page beyond those of every game.

A game's spec names the functions: `sections` makes a list of :class:`Section` from a
:class:`~solvent.report.solved.SolvedTask`, `untabled` an :class:`Untabled` from a game, or from its
:class:`~solvent.exact.SolvedGame` where it has been solved.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from solvent.exact import SolvedGame
from solvent.model.text import brief, exact, facts_text, signed, small, state_text, whole

if TYPE_CHECKING:
    from jinja2 import Environment

    from solvent.benchmark.records import BaselineRecord


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
    words = brief, exact, facts_text, signed, small, state_text, whole
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

    def packed(array: NDArray[Any]) -> str:
        return base64.b64encode(array.tobytes()).decode()

    return json.dumps(data, separators=(",", ":"), default=packed).replace("<", "\\u003c")


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
