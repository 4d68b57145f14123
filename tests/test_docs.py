"""The pages of the documentation are all there, and their Python blocks run."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
import yaml

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", ["adding-a-game.md", "checks.md", "football-clock.md", "simple-solver.md"]
)
def test_python_blocks_run(page: str) -> None:
    blocks = [textwrap.dedent(m[2]) for m in BLOCK.finditer((DOCS / page).read_text("utf-8"))]
    assert blocks
    namespace = {"__name__": "documentation"}
    for block in blocks:
        exec(compile(block, page, "exec"), namespace)


def test_every_page_of_the_navigation_exists() -> None:
    config = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text("utf-8"))
    sections = [entry for item in config["nav"] for entry in item.values()]
    pages = [page for entry in sections for page in _pages(entry)]
    assert [page for page in pages if not (DOCS / page).is_file()] == []
    assert sorted(pages) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


def _pages(entry: str | list[dict[str, str]]) -> list[str]:
    return [entry] if isinstance(entry, str) else [page for item in entry for page in item.values()]
