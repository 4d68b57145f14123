"""Check a built site: every link, picture and frame leads to a file that is there, and its anchor.

    python docs/scripts/links.py site

prints what leads nowhere and fails if anything does. Zensical checks only links between pages.
"""

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)


def broken(site: Path) -> Iterator[str]:
    """A line for each link that leads nowhere; links to other sites are not followed."""
    read = cache(_Page)
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":  # its links count from the root of a server
            continue
        for link in dict.fromkeys(read(page).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            where = f"{page.relative_to(site)}: {link}"
            if not target.is_file():
                yield f"{where}: no such file"
            elif target.suffix == ".html" and parts.fragment:
                anchors = read(target).anchors
                if unquote(parts.fragment) not in anchors:
                    yield f"{where}: no such anchor"


if __name__ == "__main__":
    lines = list(broken(Path(sys.argv[1])))
    sys.exit("\n".join(lines) or 0)
