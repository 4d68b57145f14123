"""The interactive pages that the documentation embeds: reports of some games, into ``docs/maps/``.

python docs/scripts/maps.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MAPS = Path(__file__).parents[1] / "maps"

GAMES = {
    "fighting-fantasy": "ff-combat",
    "football-drive": "football-drive",
    "football-strategy": "football-strategy",
    "frozen-lake": "FrozenLake-v1",
    "greed": "greed --limit 50",
    "pig": "pig --target 40",
}
"""The name of each page, and what stands behind ``solvent report --game``."""


def write(page: str) -> None:
    """Write a page, as the command does."""
    game = GAMES[page].split()
    out = ["--out", str(MAPS / f"{page}.html")]
    subprocess.run([sys.executable, "-m", "solvent", "report", "--game", *game, *out], check=True)


if __name__ == "__main__":
    MAPS.mkdir(exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as processes:
        list(processes.map(write, GAMES))
