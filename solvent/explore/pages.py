"""Pages as HTML, for a browser at the server or as files that need nothing else.

As a file, a map is a page with all that the maps show, for any browser, or one picture (``.svg``)
of the value over the two fields with which the map begins. A replay is a page on one episode.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from solvent import __version__
from solvent import report as report_package
from solvent.exact import SolvedGame, write_atomically
from solvent.explore.cells import drawn, slice_cells, span_of
from solvent.explore.explorer import Explorer, Page, Query, read_episode
from solvent.model import ValueScale
from solvent.model.parameters import shown
from solvent.report import panel
from solvent.report.sections import beside, templates

PAGES = (
    ("state", "State", "s"),
    ("play", "Play", "p"),
    ("maps", "Maps", "m"),
    ("policy", "Compare", "c"),
    ("learn", "Watch", "w"),
)
"""The pages by their words in an address, their names, and their keys."""


def link(page: str, **query: Any) -> str:
    """Return the address of a page on the server.

    Args:
        page: The word for the page.
        query: The parts of the query; those that are None or empty are left out, and of a mapping
            named `fixed` each entry is one of ``o0`` and so on.
    """
    fixed = query.pop("fixed", {})
    said = {name: value for name, value in query.items() if value is not None and value != ""}
    said |= {f"o{number}": value for number, value in fixed.items()}
    return f"/{page}?{urlencode(said)}" if said else f"/{page}"


def render(explorer: Explorer, page: Page, *, nonce: str = "", alone: bool = False) -> str:
    """Return a page as HTML.

    Args:
        explorer: The explorer of the game.
        page: The contents of the page.
        nonce: The nonce of the page's own scripts for the browser, if the page is served.
        alone: Whether to make a file that needs no server.
    """
    solved, info = explorer.solved, explorer.solved.game.info
    scripts = list(dict.fromkeys(one.script for one in page.sections if one.script))
    report = str(report_package.__file__)
    # In a file, charts can be saved as pictures, as in a report.
    scripts.append(beside(report, "save.js") if alone else beside(__file__, "explore.js"))
    parameters = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in info.parameters
        if value is not None and not isinstance(value, bool | dict | list | tuple)
    ]
    values = {
        "title": page.title,
        "kind": page.template.partition(".")[0].replace("map", "maps"),
        "name": info.name,
        "players": info.players,
        "sides": explorer.sides,
        "meaning": ValueScale(info).meaning,
        "rules": explorer.spec.rules if explorer.spec else "",
        "game_text": ", ".join((info.name, *parameters)),
        "value": solved.value,
        "lower": f"{solved.lower:z.15g}",
        "upper": f"{solved.upper:z.15g}",
        "found_by": solved.method,
        "version": __version__,
        "style": beside(report, "page.css") + beside(__file__, "explore.css"),
        "pages": PAGES,
        "sections": page.sections,
        "scripts": scripts,
        "nonce": nonce,
        "alone": alone,
        **page.values,
    }
    environment = templates("solvent.explore")
    environment.globals["link"] = link
    return environment.get_template(page.template).render(values)


def message_page(message: str, status: int) -> Page:
    """Return a page that reports an error.

    Args:
        message: The error, in a sentence.
        status: The HTTP status.
    """
    titles = {403: "Not allowed", 404: "There is no such page", 413: "Too large"}
    title = titles.get(status, "This cannot be shown")
    return Page("message.html.j2", title, {"message": message}, (), status)


def map_page(explorer: Explorer, query: Query) -> str:
    """Return the maps as a self-contained page.

    Args:
        explorer: The explorer of the game.
        query: The query of :meth:`~solvent.explore.explorer.Explorer.maps`.

    Raises:
        ValueError: If a field or a number is not allowed.
    """
    return render(explorer, explorer.maps(query), alone=True)


def replay_page(explorer: Explorer, query: Query) -> str:
    """Return an episode as a self-contained page.

    Args:
        explorer: The explorer of the game.
        query: The query of :meth:`~solvent.explore.explorer.Explorer.episode`.

    Raises:
        ValueError: If the episode is not one of the game.
    """
    return render(explorer, explorer.replay(query), alone=True)


def map_picture(explorer: Explorer) -> str:
    """Return the first map on the page of the maps, as a self-contained SVG.

    Args:
        explorer: The explorer of the game.

    Raises:
        ValueError: If there is no table, and no two fields of a state are numbers.
    """
    meaning = ValueScale(explorer.solved.game.info).meaning
    title = f"{explorer.name}: value" + (f", {meaning}" if meaning else "")
    if explorer.table is None:
        picture = explorer.ranged({}, title)["picture"]
    else:
        found = explorer.state_map
        cells, _ = slice_cells(found, found.value)
        picture = drawn(cells, title, *span_of([found.value[: len(found.states)]]))
    head, _, inside = picture.removesuffix("</svg>").partition(">")
    width, height = head.split('viewBox="0 0 ')[1].split('"')[0].split()
    return panel.alone(inside, int(width), int(height)) + "\n"


def read_export(file: str | Path, episode: str | None = None) -> tuple[Path, Query]:
    """Read the file and the episode to write; refuse all that can be refused before solving.

    Args:
        file: The file, as for :func:`write_map` or :func:`write_replay`.
        episode: The episode, as for :func:`write_replay`; None for the maps.

    Raises:
        ValueError: If one of them is not allowed.
    """
    place, endings = Path(file), (".html",) if episode is not None else (".html", ".svg")
    if place.suffix not in endings:
        raise ValueError(
            f"the file is {shown(str(file))}; allowed are names that end in {' or '.join(endings)}"
        )
    asked = dict(part.partition("=")[::2] for part in (episode or "").split("&") if part)
    unknown = set(asked) - {"player", "seed", "moves"}
    if unknown:
        raise ValueError(
            f"the episode has {shown(sorted(unknown)[0])}; allowed are player, seed and moves"
        )
    read_episode(asked)
    return place, asked


def write_map(solved: SolvedGame, file: str | Path) -> Path:
    """Write the maps of a game.

    Args:
        solved: The game with its optimum.
        file: The file to write, ending in ``.html`` or ``.svg``.

    Returns:
        The file.

    Raises:
        ValueError: If it ends otherwise.
        StoreError: If it cannot be written.
    """
    place, query = read_export(file)
    explorer = Explorer(solved)
    text = map_picture(explorer) if place.suffix == ".svg" else map_page(explorer, query)
    write_atomically(place, text.encode())
    return place


def write_replay(solved: SolvedGame, file: str | Path, episode: str) -> Path:
    """Write a page on an episode.

    Args:
        solved: The game with its optimum.
        file: The file to write, ending in ``.html``.
        episode: The query of the episode's page, such as ``"player=0&seed=3&moves=1,4"``.

    Returns:
        The file.

    Raises:
        ValueError: If the file ends otherwise, or there is no such episode.
        StoreError: If it cannot be written.
    """
    place, query = read_export(file, episode)
    write_atomically(place, replay_page(Explorer(solved), query).encode())
    return place
