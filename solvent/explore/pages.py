"""Pages as HTML, for a browser at the server or as files that need nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from solvent import __version__
from solvent import report as report_package
from solvent.explore.explorer import Explorer, Page
from solvent.model import ValueScale
from solvent.model.text import brief, exact, small
from solvent.report.sections import beside

PAGES = (
    ("state", "State", "s"),
    ("play", "Play", "p"),
    ("maps", "Maps", "m"),
    ("policy", "Compare", "c"),
    ("learn", "Watch", "w"),
)
"""The pages by their words in an address, their names, and their keys."""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("solvent.explore", "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"brief": brief, "exact": exact, "small": small, "link": link}
    return environment


@cache
def _style() -> str:
    return beside(str(report_package.__file__), "page.css") + beside(__file__, "explore.css")


def link(page: str, **query: Any) -> str:
    """The address of a page on the server.

    Args:
        page: Its word.
        query: What its address says; what is None or empty is left out, and of a mapping named
            `fixed` each entry is one of ``o0`` and so on.
    """
    fixed = query.pop("fixed", {})
    said = {name: value for name, value in query.items() if value is not None and value != ""}
    said |= {f"o{number}": value for number, value in fixed.items()}
    return f"/{page}?{urlencode(said)}" if said else f"/{page}"


def render(explorer: Explorer, page: Page, *, nonce: str = "", alone: bool = False) -> str:
    """A page as HTML.

    Args:
        explorer: Of the game.
        page: What it shows.
        nonce: By which the browser knows the page's own scripts, if it is served.
        alone: Whether it is to be a file that needs no server.
    """
    solved, info = explorer.solved, explorer.solved.game.info
    scripts = list(dict.fromkeys(one.script for one in page.sections if one.script))
    if alone:
        # Charts can be saved as pictures, as in a report.
        scripts.append(beside(str(report_package.__file__), "save.js"))
    else:
        scripts.append(beside(__file__, "explore.js"))
    shown = {
        "title": page.title,
        "kind": page.template.partition(".")[0].replace("map", "maps"),
        "name": info.name,
        "players": info.players,
        "meaning": ValueScale(info).meaning,
        "rules": explorer.spec.rules if explorer.spec else "",
        "game_text": ", ".join((info.name, *_parameters(info.parameters))),
        "value": solved.value,
        "lower": f"{solved.lower:z.15g}",
        "upper": f"{solved.upper:z.15g}",
        "found_by": solved.method,
        "version": __version__,
        "style": _style(),
        "pages": PAGES,
        "sections": page.sections,
        "scripts": scripts,
        "nonce": nonce,
        "alone": alone,
        **page.values,
    }
    return _environment().get_template(page.template).render(shown)


def _parameters(parameters: tuple[tuple[str, Any], ...]) -> Iterator[str]:
    """What makes the game what it is, in words."""
    for name, value in parameters:
        if value is not None and not isinstance(value, bool | dict | list | tuple):
            yield f"{name.replace('_', ' ')} {value}"


def message_page(message: str, status: int) -> Page:
    """A page that says what is wrong.

    Args:
        message: In a sentence.
        status: Of HTTP.
    """
    titles = {403: "Not allowed", 404: "There is no such page", 413: "Too large"}
    title = titles.get(status, "This cannot be shown")
    return Page("message.html.j2", title, {"message": message}, (), status)
