"""The live gridworld: one page that needs neither a server nor any other file.

Its scripts stand beside this module: the grid (``gridworld_grid.js``), the exact solver, the
learners and the page itself. The page turns each grid into a Python file that defines it as a game,
by the rules of :mod:`solvent.explore.drawn_grid`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solvent import __version__
from solvent.exact import write_atomically
from solvent.model.parameters import shown
from solvent.report.sections import beside, script_json, templates

SCRIPTS = (
    "gridworld_grid.js",
    "gridworld_exact.js",
    "gridworld_learn.js",
    "gridworld.js",
)


def _preset(
    rows: str, rewards: Mapping[str, float], step: int, slip: int, gamma: float, wind: str = ""
) -> dict[str, Any]:
    """Return a grid as the page has it: rewards by cell, slip in sixtieths, wind by column."""
    board = rows.split()
    return {
        "map": board,
        "rewards": rewards,
        "step": step,
        "wind": [int(digit) for digit in wind or "0" * len(board[0])],
        "slip": slip,
        "gamma": gamma,
    }


PRESETS = {
    "Frozen lake": _preset("S... .H.H ...H H..G", {"3,3": 1}, 0, 40, 1),
    "Cliff": _preset(
        "............ ............ ............ SCCCCCCCCCCG",
        {f"3,{column}": -100 for column in range(1, 11)},
        -1,
        0,
        1,
    ),
    "Windy gridworld": _preset(
        ".......... .......... .......... S......G.. .......... .......... ..........",
        {},
        -1,
        0,
        1,
        "0001112210",
    ),
    "Dyna maze": _preset(
        ".......#G ..#....#. S.#....#. ..#...... .....#... .........", {"0,8": 1}, 0, 0, 0.95
    ),
    "Empty": _preset(
        "........ ........ ........ S......G ........ ........", {"3,7": 1}, 0, 0, 0.9
    ),
}
"""The grids to begin with: Gymnasium's FrozenLake and CliffWalking, and Sutton and Barto's Examples
6.5 and 8.1."""

TOOLS = {
    "look": "look",
    "#": "wall",
    ".": "open",
    "S": "start",
    "G": "goal",
    "H": "pit",
    "C": "cliff",
    "wind": "wind",
    "reward": "reward",
}
"""The words for the drawing tools, by their values on the page."""


def gridworld_page(*, nonce: str = "") -> str:
    """Return the page as HTML.

    Args:
        nonce: The nonce of the page's script, if a server with a content security policy sends it.
    """
    values = {
        "style": beside(__file__, "gridworld.css"),
        "script": "\n".join(beside(__file__, name) for name in SCRIPTS),
        "rules": beside(__file__, "drawn_grid.py"),
        "presets": tuple(PRESETS),
        "presets_json": script_json(PRESETS),
        "tools": TOOLS.items(),
        "version": __version__,
        "nonce": nonce,
    }
    return templates("solvent.explore").get_template("gridworld.html.j2").render(values)


def write_gridworld(file: str | Path) -> Path:
    """Write the page as a file.

    Args:
        file: The file to write, ending in ``.html``.

    Returns:
        The file.

    Raises:
        ValueError: If it ends otherwise.
        StoreError: If it cannot be written.
    """
    place = Path(file)
    if place.suffix != ".html":
        raise ValueError(f"the file is {shown(str(file))}; allowed are names that end in .html")
    write_atomically(place, gridworld_page().encode())
    return place
