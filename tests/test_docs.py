"""The pages of the documentation are all there, and each Python block runs when pasted alone."""

from __future__ import annotations

import doctest
import re
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
PAGES = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]

CONTINUES = "# continues the block above\n"
"""The first line of a block that needs the names or files of the one before it."""

FILES = {"gamebook-format.md": "tests/golden/mill.yaml"}
"""What lies beside the reader of a page: a file of the page."""

SLOW = {"python.md": (0,), "football-clock.md": (0, 1), "games/football-charts.md": (0,)}
"""Blocks that take minutes."""

SHORTER = {
    "training.md": [
        ('folder="runs/', 'timesteps=4_096, folder="runs/'),
        ("200_000", "16_384"),
        ("20_000", "8_192"),
    ],
    "microscope.md": [("50_000", "8_192"), ("20_000", "2_048")],
}
"""Pages that train, and how their trainings are made shorter."""

GUIDES = (
    "index.md", "quickstart.md", "score-your-own.md", "training.md", "games.md", "explorer.md",
    "teaching.md", "adding-a-game.md", "concepts.md", "cli.md", "microscope.md", "hardness.md",
)  # fmt: skip
"""What a newcomer reads: at most 800 words a page."""

NEEDED = {
    "other-formats.md": ("minigrid", "pyspiel", "stormpy"),
    "textbook/outside-the-model.md": ("pyspiel",),
}
"""What a page needs besides, which is not there for every platform."""


def blocks_of(page: str) -> list[str]:
    """The page's Python blocks, but those of files, which have a title."""
    return [textwrap.dedent(m[2]) for m in BLOCK.finditer((DOCS / page).read_text("utf-8"))]


BLOCKS = {(page, n): block for page in PAGES for n, block in enumerate(blocks_of(page))}


def pasted(page: str, n: int) -> str:
    """What a reader pastes to run a block: the block, after those that it says it continues."""
    block = BLOCKS[page, n]
    return pasted(page, n - 1) + block if block.startswith(CONTINUES) else block


@pytest.mark.parametrize(
    ("page", "n"),
    [
        pytest.param(
            page, n, marks=[pytest.mark.slow] if page in SHORTER or n in SLOW.get(page, ()) else []
        )
        for page, n in BLOCKS
    ],
)
def test_every_block_runs_alone(
    page: str, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in NEEDED.get(page, ()):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    if page in FILES:
        (tmp_path / Path(FILES[page]).name).symlink_to(ROOT / FILES[page])
    code = pasted(page, n)
    # A fresh interpreter knows the environments only after this; here another test has done it.
    assert re.search(r"^(import|from) solvent\b", code, re.MULTILINE)
    for long, short in SHORTER.get(page, []):
        code = code.replace(long, short)
    exec(compile(code, page, "exec"), {"__name__": "documentation"})


@pytest.mark.parametrize(("page", "n"), [("matrix-games.md", 2), ("simple-solver.md", 1)])
def test_a_block_prints_what_the_page_shows(
    page: str, n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(pasted(page, n), page, "exec"), {"__name__": "documentation"})
    text = (DOCS / page).read_text("utf-8")
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    shown += [textwrap.dedent(block) for block in re.findall(r"^(?: {4}.*\n)+", outside, re.M)]
    assert capsys.readouterr().out == "".join(shown)


@pytest.mark.parametrize("page", SHORTER)
def test_what_is_made_shorter_is_on_the_page(page: str) -> None:
    code = "\n".join(blocks_of(page))
    assert [long for long, _ in SHORTER[page] if long not in code] == []


def test_the_lines_of_the_page_on_python_give_what_it_shows() -> None:
    text = (DOCS / "python.md").read_text("utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", None, 0)
    if find_spec("pandas") is None:
        test.examples = [one for one in test.examples if "to_frame" not in one.source]
    results = doctest.DocTestRunner().run(test)
    assert results.attempted >= 20
    assert results.failed == 0


def test_the_guides_are_short() -> None:
    for page in GUIDES:
        assert len((DOCS / page).read_text("utf-8").split()) <= 800, page


def test_few_blocks_continue_another() -> None:
    assert sum(block.startswith(CONTINUES) for block in BLOCKS.values()) < 5


def test_every_page_of_the_navigation_exists() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    sections = [entry for item in config["nav"] for entry in item.values()]
    pages = [page for entry in sections for page in _pages(entry)]
    assert [page for page in pages if not (DOCS / page).is_file()] == []
    assert sorted(pages) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


def _pages(entry: str | list[dict[str, str]]) -> list[str]:
    return [entry] if isinstance(entry, str) else [page for item in entry for page in item.values()]
