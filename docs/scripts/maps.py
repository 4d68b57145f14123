"""The interactive maps that pages embed, and the gallery of explored games, into ``docs/maps/``.

    python docs/scripts/maps.py

writes the report of some games, ``NAME.html``, beside it ``NAME-map.html``, which has only the part
with the map, for each game of the gallery its report, ``NAME-board.html``, and the live gridworld.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from solvent.explore.explorer import live_grid_page, render

MAPS = Path(__file__).parents[1] / "maps"

GAMES = {
    "football-strategy": ("football-strategy", "Call sheets"),
    "greed": ("greed --limit 50", "Optimal play at every pair of scores"),
    "pig": ("pig --target 40", "When to hold"),
    "football-drive": ("football-drive", "Values and policy"),
    "fighting-fantasy": ("ff-combat", "Strategy maps"),
    "frozen-lake": ("FrozenLake-v1", "Values and policy"),
}
"""The name of each page, what stands behind ``solvent report --game``, and the heading of the map;
what takes longest is first."""


GALLERY = {
    "greed": "greed --limit 20 --sides 4",
    "fighting-fantasy": "ff-combat",
    "pig": "pig --target 20",
    "gridworld": "gridworld",
    "racetrack": "racetrack --track bend",
    "tic-tac-toe": "tic-tac-toe",
    "cliff-walking": "CliffWalking-v1",
    "frozen-lake": "FrozenLake-v1",
}
"""The name of each page of the gallery, and what stands behind ``solvent report --game``."""


def run(*words: str) -> None:
    """Run a command of this package.

    Raises:
        RuntimeError: If it fails, with what it said.
    """
    command = [sys.executable, "-m", "solvent", *words]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stderr}")


def export(page: str) -> None:
    """Write the report of a game of the gallery."""
    run("report", "--game", *GALLERY[page].split(), "--out", str(MAPS / f"{page}-board.html"))


def write(page: str) -> None:
    """Write a report, as the command does, and its map."""
    game, heading = GAMES[page]
    report = MAPS / f"{page}.html"
    run("report", "--game", *game.split(), "--out", str(report))
    text = part(report.read_text(encoding="utf-8"), heading)
    (MAPS / f"{page}-map.html").write_text(text, encoding="utf-8")


def part(report: str, heading: str) -> str:
    """A report without anything but what stands under a heading.

    Raises:
        ValueError: If no heading of the report is that one.
    """
    before, main, after = re.split(r"<main>|</main>", report)
    sections = re.split(r"(?=<h3>)", main.partition("</section>")[0])
    kept = [text for text in sections if text.startswith(f"<h3>{heading}</h3>")]
    if not kept:
        raise ValueError(f"the report has no heading {heading!r}: {re.findall('<h3>(.*?)<', main)}")
    head, scripts = before.partition("<body>")[0], after.partition("</footer>")[2]
    return f"{head}<body>\n<main><section>\n{''.join(kept)}</section></main>{scripts}"


if __name__ == "__main__":
    MAPS.mkdir(exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as processes:
        list(processes.map(write, GAMES))
        list(processes.map(export, GALLERY))
    (MAPS / "gridworld.html").write_text(render(None, live_grid_page()), encoding="utf-8")
