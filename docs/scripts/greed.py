"""The maps on the page on Greed, into ``docs/games/``.

    python docs/scripts/greed.py

writes ``greed-normal.svg`` and ``greed-last-turn.svg``, each with dice and rating.
"""

from pathlib import Path

from rows_of_two import side_by_side

from solvent.games.greed.report import maps_of
from solvent.games.greed.solver import solve_greed
from solvent.report.panel import MAP_HEIGHT, MAP_WIDTH, write_pictures

FOLDER = Path(__file__).parents[1] / "games"


def pictures() -> dict[str, str]:
    """The text of each picture by the name of its file."""
    return {
        f"{name}.svg": side_by_side(
            "Greed to 100 with 6-sided dice", [one.svg() for one in both], MAP_WIDTH, MAP_HEIGHT
        )
        for name, both in maps_of(solve_greed()).items()
    }


if __name__ == "__main__":
    write_pictures(FOLDER, pictures())
