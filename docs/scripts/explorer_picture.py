"""Take the picture of docs/explorer.md anew: FrozenLake on the board, on a desktop.

    python docs/scripts/explorer_picture.py

needs Chromium, as ``chromium`` or the program that ``--browser`` names.
"""

import argparse
import subprocess
from pathlib import Path
from threading import Thread

from solvent import solve
from solvent.explore import Explorer
from solvent.explore.server import make_page_server

PICTURE = Path(__file__).parents[1] / "images" / "explorer.png"

PAGE = "board?line=1:1,1:1,2:1"
"""A line, which is the same whenever it is asked for."""

WIDTH, HEIGHT = 1180, 650


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", default="chromium", help="the program")
    given = parser.parse_args()
    server, address = make_page_server(Explorer(solve("FrozenLake-v1")))
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
