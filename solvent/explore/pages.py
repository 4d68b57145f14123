"""Pages as HTML, for a browser at the server or as files that need nothing else.

As a file, a map is a page with all that the maps show, for any browser, or one picture (``.svg``)
of the value over the two fields with which the map begins. A replay is a page on one episode.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from solvent import __version__
from solvent import report as report_package
from solvent.exact import SolvedGame, write_atomically
from solvent.explore.cells import drawn, slice_cells, span_of
from solvent.explore.explorer import Explorer, Page
from solvent.explore.line import read_moves
from solvent.explore.panels import graded, read_games, summary
from solvent.explore.view import Query, link
from solvent.model import ValueScale
from solvent.model.parameters import shown
from solvent.report import panel
from solvent.report.sections import beside, templates

PAGES = (("board", "Board", "b"), ("learn", "Watch", "w"))
"""The pages by their words in an address, their names, and their keys."""


def render(
    explorer: Explorer | None, page: Page, *, game: str = "", nonce: str = "", alone: bool = False
) -> str:
    """Return a page as HTML.

    Args:
        explorer: The explorer of the game; None for a page about no game.
        page: The contents of the page.
        game: The name of the game in addresses; empty if they need none.
        nonce: The nonce of the page's own scripts for the browser, if the page is served.
        alone: Whether to make a file that needs no server.
    """
    scripts = list(dict.fromkeys(one.script for one in page.sections if one.script))
    report = str(report_package.__file__)
    # In a file, charts can be saved as pictures, as in a report.
    scripts.append(beside(report, "save.js") if alone else beside(__file__, "explore.js"))
    values = {
        "title": page.title,
        "kind": page.template.partition(".")[0],
        "name": "",
        "version": __version__,
        "style": beside(report, "page.css") + beside(__file__, "explore.css"),
        "pages": PAGES,
        "sections": page.sections,
        "scripts": scripts,
        "nonce": nonce,
        "alone": alone,
        "link": partial(link, game=game),
        **({} if explorer is None else _about(explorer)),
        **page.values,
    }
    return templates("solvent.explore").get_template(page.template).render(values)


def _about(explorer: Explorer) -> dict[str, Any]:
    """What every page on a game says of it."""
    solved, info = explorer.solved, explorer.solved.game.info
    parameters = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in info.parameters
        if value is not None and not isinstance(value, bool | dict | list | tuple)
    ]
    return {
        "name": info.name,
        "players": info.players,
        "sides": explorer.sides,
        "meaning": ValueScale(info).meaning,
        "rules": explorer.states.named(explorer.spec.rules) if explorer.spec else "",
        "game_text": ", ".join((info.name, *parameters)),
        "value": solved.value,
        "lower": f"{solved.lower:z.15g}",
        "upper": f"{solved.upper:z.15g}",
        "found_by": solved.method,
    }


def message_page(message: str, status: int, address: str = "") -> Page:
    """Return a page that reports an error, or asks whether to go on.

    Args:
        message: The error or the question, in a sentence.
        status: The HTTP status.
        address: The address to go on to; the start if empty.
    """
    titles = {
        200: "From another page",
        403: "Not allowed",
        404: "There is no such page",
        413: "Too large",
    }
    title = titles.get(status, "This cannot be shown")
    return Page("message.html.j2", title, {"message": message, "address": address}, (), status)


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
    """Return a line as a self-contained page.

    Args:
        explorer: The explorer of the game.
        query: The query of :meth:`~solvent.explore.explorer.Explorer.view`.

    Raises:
        ValueError: If the line is not one of the game.
    """
    return render(explorer, explorer.replay(query), alone=True)


def games_text(explorer: Explorer, query: Query) -> str:
    """Return the finished games as text, one a line, as they can be graded again.

    Args:
        explorer: The explorer of the game.
        query: Nothing.
    """
    lines = []
    for line in explorer.games.values():
        key = explorer.states.key(line.solved_state(line.start)) or ""
        lines.append(f"{key}|{line.text}\n")
    return "".join(lines)


def load_policy(explorer: Explorer, data: bytes, name: str) -> Page:
    """Load a policy, and lead to the panel that compares it.

    Args:
        explorer: The explorer of the game.
        data: The content of the file.
        name: The name of the file.

    Raises:
        StoreError: If it is no policy, damaged, or for another game.
        ValueError: If the game has no table.
    """
    explorer.load(data, name)
    return Page("", "", {}, address=link("board", panel="agent", game=explorer.key))


def grade_games(explorer: Explorer, data: bytes, name: str) -> Page:
    """Grade the games of a file.

    Args:
        explorer: The explorer of the game.
        data: The content of the file, as :func:`~solvent.explore.panels.read_games` reads it.
        name: The name of the file.

    Raises:
        ValueError: If it is no text, or a move is not allowed.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{shown(name)} is no text") from None
    games = [graded(explorer, line, address) for address, line in read_games(explorer, text)]
    return Page("games.html.j2", "Graded games", {"games": games, "all": summary(explorer, games)})


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
    unknown = set(asked) - {"s", "line", "me"}
    if unknown:
        raise ValueError(f"the episode has {shown(sorted(unknown)[0])}; allowed are s, line and me")
    read_moves(asked.get("line", ""))
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
        episode: The query of the episode's page, such as ``"line=1:3,4"``.

    Returns:
        The file.

    Raises:
        ValueError: If the file ends otherwise, or there is no such episode.
        StoreError: If it cannot be written.
    """
    place, query = read_export(file, episode)
    write_atomically(place, replay_page(Explorer(solved), query).encode())
    return place
