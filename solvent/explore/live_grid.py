"""The live gridworld: one page that needs neither a server nor any other file.

Its scripts stand beside this module: the grid (``live_grid_model.js``), the exact solver, the
learners and the page itself. The page turns each grid into a Python file that defines it as a game,
by the rules of :mod:`solvent.explore.drawn_grid`.
"""

from __future__ import annotations

import json
from pathlib import Path

from solvent import __version__
from solvent.exact import write_atomically
from solvent.model.parameters import shown
from solvent.report.sections import beside, script_json, templates

SCRIPTS = (
    "live_grid_model.js",
    "live_grid_exact.js",
    "live_grid_learn.js",
    "live_grid.js",
)


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


def live_grid_page(*, nonce: str = "") -> str:
    """Return the page as HTML.

    Args:
        nonce: The nonce of the page's script, if a server with a content security policy sends it.
    """
    values = {
        "style": beside(__file__, "live_grid.css"),
        "script": "\n".join(beside(__file__, name) for name in SCRIPTS),
        "rules": beside(__file__, "drawn_grid.py"),
        "presets": json.loads(beside(__file__, "live_grid_presets.json")),
        "tools": TOOLS.items(),
        "version": __version__,
        "nonce": nonce,
        "script_json": script_json,
    }
    return templates("solvent.explore").get_template("live_grid.html.j2").render(values)


def write_live_grid(file: str | Path) -> Path:
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
    write_atomically(place, live_grid_page().encode())
    return place
