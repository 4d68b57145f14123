"""Take the picture of docs/explorer.md anew: a game of Greed against the optimum, on a desktop.

    python docs/scripts/explorer_picture.py

needs Chromium, as ``chromium`` or the program that ``--browser`` names.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from threading import Thread

from solvent import make_game, solve
from solvent.explore import Explorer
from solvent.explore.server import make_page_server

PICTURE = Path(__file__).parents[1] / "images" / "explorer.png"

PAGE = "play?player=0&seed=3&moves=2,3&hints=1"
"""An episode, which is the same whenever it is asked for."""

WIDTH, HEIGHT = 1180, 600


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", default="chromium", help="the program")
    given = parser.parse_args()
    server, address = make_page_server(Explorer(solve(make_game("greed", limit=20, sides=4))))
    Thread(target=server.serve_forever, daemon=True).start()
    options = [
        "--headless",
        "--no-sandbox",
        "--no-proxy-server",
        "--hide-scrollbars",
        "--blink-settings=preferredColorScheme=1",
        f"--window-size={WIDTH},{HEIGHT}",
        f"--screenshot={PICTURE}",
    ]
    subprocess.run([given.browser, *options, address + PAGE], check=True)
    server.shutdown()
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
