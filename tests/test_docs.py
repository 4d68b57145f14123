"""The pages of the documentation are all there, and their Python blocks run."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```", re.MULTILINE | re.DOTALL)

TESTS_OF_THEIR_OWN = {
    "envs.md": "envs/test_envs_page.py",
    "quickstart.md": "test_command_pages.py",
    "games/fighting-fantasy.md": "games/fighting_fantasy/test_published.py",
    "games/football-charts.md": "games/football/test_chart_files.py",
    "games/football-drive.md": "games/football_drive/test_rules.py",
    "games/football-strategy.md": "games/football/test_game.py",
    "games/gamebook.md": "games/gamebook/test_shipped_books.py",
    "games/greed.md": "games/test_alternating_game_pages.py",
    "games/pig.md": "games/test_alternating_game_pages.py",
}
"""The pages whose code is run, and its results looked at, in another file."""

SHORTER = {
    "football-clock.md": [],
    "training.md": [
        ('folder="runs/', 'timesteps=4_096, folder="runs/'),
        ("200_000", "16_384"),
        ("20_000", "8_192"),
    ],
}
"""What takes minutes, and how a run of it is made shorter."""


def blocks_of(page: str) -> list[str]:
    return [textwrap.dedent(m[2]) for m in BLOCK.finditer((DOCS / page).read_text("utf-8"))]


PAGES = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
WITH_CODE = [page for page in PAGES if blocks_of(page)]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page in SHORTER else [])
        for page in WITH_CODE
        if page not in TESTS_OF_THEIR_OWN
    ],
)
def test_python_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page == "gamebook-format.md":
        shutil.copy(ROOT / "tests" / "golden" / "mill.yaml", tmp_path)
    code = "\n".join(blocks_of(page))
    for long, short in SHORTER.get(page, []):
        assert long in code
        code = code.replace(long, short)
    exec(compile(code, page, "exec"), {"__name__": "documentation"})


@pytest.mark.parametrize("page", TESTS_OF_THEIR_OWN)
def test_a_page_that_is_run_elsewhere_is(page: str) -> None:
    assert page in WITH_CODE
    test = (ROOT / "tests" / TESTS_OF_THEIR_OWN[page]).read_text(encoding="utf-8")
    assert Path(page).stem in test
    assert "exec(compile(" in test


def test_every_page_of_the_navigation_exists() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    sections = [entry for item in config["nav"] for entry in item.values()]
    pages = [page for entry in sections for page in _pages(entry)]
    assert [page for page in pages if not (DOCS / page).is_file()] == []
    assert sorted(pages) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


def _pages(entry: str | list[dict[str, str]]) -> list[str]:
    return [entry] if isinstance(entry, str) else [page for item in entry for page in item.values()]
