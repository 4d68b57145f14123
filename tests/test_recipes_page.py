"""The recipes of docs/score-your-own.md are files that `make tools` runs, letter by letter."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "score-your-own.md").read_text(encoding="utf-8")
QUOTED = re.findall(r'^```python title="([^"]+)"\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL)


def test_what_the_page_quotes_is_the_file() -> None:
    for path, code in QUOTED:
        assert code == (ROOT / path).read_text(encoding="utf-8"), path


def test_every_recipe_is_on_the_page() -> None:
    recipes = ROOT / "tests" / "tools" / "recipes"
    files = [path.relative_to(ROOT).as_posix() for path in sorted(recipes.glob("*.py"))]
    assert len(files) >= 4
    assert sorted(path for path, _ in QUOTED) == files
