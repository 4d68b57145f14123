"""Pages as files, which need neither a server nor this package.

A map is a page with all that the maps show, for any browser, or one picture (``.svg``) of the value
over the two fields with which the map begins. A replay is a page on one episode.
"""

from __future__ import annotations

from pathlib import Path

from solvent.exact import SolvedGame, write_atomically
from solvent.explore.cells import drawn, slice_cells, span_of
from solvent.explore.explorer import Explorer, Query, read_episode
from solvent.explore.pages import render
from solvent.model import ValueScale
from solvent.model.parameters import shown
from solvent.report.panel import STYLE


def map_page(explorer: Explorer, query: Query) -> str:
    """The maps as a page that needs nothing else.

    Args:
        explorer: Of the game.
        query: As :meth:`~solvent.explore.explorer.Explorer.maps` takes it.

    Raises:
        ValueError: If a field or a number is not allowed.
    """
    return render(explorer, explorer.maps(query), alone=True)


def replay_page(explorer: Explorer, query: Query) -> str:
    """An episode as a page that needs nothing else.

    Args:
        explorer: Of the game.
        query: As :meth:`~solvent.explore.explorer.Explorer.episode` takes it.

    Raises:
        ValueError: If the episode is not one of the game.
    """
    return render(explorer, explorer.replay(query), alone=True)


def map_picture(explorer: Explorer) -> str:
    """The map with which the page of the maps begins, as an SVG that needs nothing else.

    Args:
        explorer: Of the game.

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
    head, _, rest = picture.partition(">")
    width, height = head.split('viewBox="0 0 ')[1].split('"')[0].split()
    alone = (
        f'{head} xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-size="11" font-family="system-ui, sans-serif"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{rest}'
    )
    return alone + "\n"


def read_export(file: str | Path, episode: str | None = None) -> tuple[Path, Query]:
    """Where to write, and what of an episode; all that can be refused before a game is solved.

    Args:
        file: As :func:`write_map` or :func:`write_replay` takes it.
        episode: As :func:`write_replay` takes it; None for the maps.

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
        file: Where to, ending in ``.html`` or ``.svg``.

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
        file: Where to, ending in ``.html``.
        episode: As the page of an episode says it, ``"player=0&seed=3&moves=1,4"``.

    Returns:
        The file.

    Raises:
        ValueError: If the file ends otherwise, or there is no such episode.
        StoreError: If it cannot be written.
    """
    place, query = read_export(file, episode)
    write_atomically(place, replay_page(Explorer(solved), query).encode())
    return place
