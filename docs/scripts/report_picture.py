"""Make the picture of the README anew: the first screen of a report, and a strategy map of it.

    python docs/scripts/report_picture.py bench-results/report.html

needs Chromium, as ``chromium`` or the program that ``--browser`` names.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "images" / "report.png"

WIDTH, HEIGHT = 1240, 900
"""Of each of the two views of the report, in its own pixels; the picture has half as many."""

SCROLL = """<script>
addEventListener("load", () =>
  [...document.querySelectorAll("h3")].find((h) => h.textContent === "{heading}").scrollIntoView());
</script>"""

FRAMES = """<!doctype html>
<style>
  body {{ margin: 0; display: flex; gap: 4px; background: #888 }}
  iframe {{ width: {width}px; height: {height}px; border: 0; background: white }}
</style>
<iframe scrolling="no" src="{first}"></iframe><iframe scrolling="no" src="{second}"></iframe>"""


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="a page that `solvent bench` wrote")
    parser.add_argument("--heading", default="Strategy maps", help="of the part on the right")
    parser.add_argument("--browser", default="chromium", help="the program")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scrolled, frames = Path(folder) / "scrolled.html", Path(folder) / "frames.html"
        page = given.report.read_text(encoding="utf-8")
        scrolled.write_text(page + SCROLL.format(heading=given.heading), encoding="utf-8")
        views = {"first": given.report.resolve().as_uri(), "second": scrolled.as_uri()}
        frames.write_text(FRAMES.format(width=WIDTH, height=HEIGHT, **views), encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            "--blink-settings=preferredColorScheme=1",
            "--force-device-scale-factor=0.5",
            "--virtual-time-budget=10000",
            f"--window-size={2 * WIDTH + 4},{HEIGHT}",
            f"--screenshot={PICTURE}",
        ]
        subprocess.run([given.browser, *options, frames.as_uri()], check=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
