"""The page on the algorithms: all are on it, with pictures and numbers as they are computed."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

from solvent import tabular

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = (DOCS / "tabular.md").read_text(encoding="utf-8")
LONGEST = 40
"""Lines of a page."""


def algorithms() -> dict[str, int]:
    """All that yield estimates, and the lines of their bodies."""
    found = {}
    for file in sorted((ROOT / "solvent" / "tabular").glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            match node:
                case ast.FunctionDef(name=name, body=[_, first, *rest], returns=returns) if (
                    returns is not None and ast.unparse(returns) == "Iterator[Estimate]"
                ):
                    last = [first, *rest][-1]
                    found[name] = (last.end_lineno or 0) - first.lineno + 1
    return found


def test_the_table_has_every_algorithm() -> None:
    names = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", PAGE.split("## Exact")[0], re.MULTILINE)
    assert sorted(names) == sorted(algorithms())


def test_every_algorithm_is_public_and_at_most_a_page() -> None:
    found = algorithms()
    assert set(found) == set(tabular.ALGORITHMS)
    assert set(found) <= set(tabular.__all__)
    assert max(found.values()) <= LONGEST


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS / "scripts"))
    return importlib.import_module("tabular_pictures")


def stroke_points(svg: str) -> list[float]:
    """The coordinates of all lines of a picture."""
    return [
        float(n) for line in re.findall(r' points="([^"]+)"', svg) for n in re.split("[ ,]", line)
    ]


def test_the_picture_of_a_matrix_game_is_what_the_script_draws(script: ModuleType) -> None:
    drawn = script.matrix().svg("Exploitability in a matrix game", logarithmic=True)
    kept = (DOCS / "tabular-matrix.svg").read_text(encoding="utf-8")
    assert len(stroke_points(kept)) > 1000
    assert stroke_points(drawn) == pytest.approx(stroke_points(kept), abs=0.5)


@pytest.mark.slow
def test_step_sizes_stall_as_the_page_says(script: ModuleType) -> None:
    [sentence] = re.findall(r"After 3,000 episodes the error is (.*)\.$", PAGE, re.MULTILINE)
    stated = [float(number) for number in re.findall(r"0\.\d{3}", sentence)]
    sizes = script.step_sizes()
    assert [line[-1] for line in sizes.means.values()] == pytest.approx(stated, abs=0.0006)
    kept = (DOCS / "tabular-step-sizes.svg").read_text(encoding="utf-8")
    assert stroke_points(sizes.svg(logarithmic=True)) == pytest.approx(stroke_points(kept), abs=0.5)


def test_pictures_need_nothing_else_and_are_on_the_page() -> None:
    pictures = re.findall(r"\]\((tabular-[\w-]+\.svg)\)", PAGE)
    assert len(pictures) == 2
    for name in pictures:
        text = (DOCS / name).read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[^\s\"'<>]+", text)) == {"http://www.w3.org/2000/svg"}
        assert len(text) < 20_000
