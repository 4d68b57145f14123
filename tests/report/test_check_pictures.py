"""The pictures of checks: their lines are the function's, and the files need nothing else."""

from __future__ import annotations

import re
import runpy
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest

from solvent.model.context import modified, modifier_between
from solvent.report import panel

SVG = "{http://www.w3.org/2000/svg}"
DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "scripts" / "check_pictures.py"))
WIDE, TALL = panel.WIDTH - panel.LEFT - panel.RIGHT, panel.HEIGHT - panel.TOP - panel.BOTTOM


def curves(picture: str) -> dict[str, list[tuple[float, float]]]:
    """The points of each line, as shares of the width and height of its panel, by its text."""
    found = {}
    for line in ElementTree.fromstring(picture).iter(f"{SVG}polyline"):
        pairs = [tuple(map(float, pair.split(","))) for pair in line.get("points", "").split()]
        found[line[0].text or ""] = [
            ((x - panel.LEFT) / WIDE, (panel.HEIGHT - panel.BOTTOM - y) / TALL) for x, y in pairs
        ]
    return found


def test_every_curve_is_the_function() -> None:
    found = curves(SCRIPT["curves_picture"]())
    assert len(found) == len(SCRIPT["BASES"]) + len(SCRIPT["MODIFIERS"])
    for base in SCRIPT["BASES"]:
        for x, y in found[f"base {base}%"]:
            assert y == pytest.approx(modified(base / 100, 2 * x - 1), abs=0.005)
    for size in SCRIPT["MODIFIERS"]:
        for x, y in found[f"modifier {size:+d}%"]:
            assert y == pytest.approx(modified(min(x, 1.0), size / 100), abs=0.008)


def test_the_pictures_in_the_documentation_are_those_of_the_function(tmp_path: Path) -> None:
    for path in SCRIPT["write_pictures"](tmp_path):
        text = path.read_text()
        assert (DOCS / path.name).read_text() == text
        assert f"]({path.name})" in (DOCS / "checks.md").read_text(encoding="utf-8")
        assert path.stat().st_size < 20_000
        assert set(re.findall(r"https?://[^\s\"'<>]+", text)) == {"http://www.w3.org/2000/svg"}


def test_a_ruler_from_the_base_through_the_modifier_ends_at_the_probability_in_context() -> None:
    """The middle scale is half-way, so that the ends of the ruler average to the modifier."""
    height, from_even = SCRIPT["height"], SCRIPT["from_even"]
    for base, size in product(SCRIPT["MARKS"], [-80, -30, 0, 60]):
        ends = height(-from_even(base)) + height(from_even(100 * modified(base / 100, size / 100)))
        assert ends / 2 == pytest.approx(height(size / 2), abs=1e-9)


def test_the_abacus_is_the_inverse_of_the_function() -> None:
    for x, y in curves(SCRIPT["abacus_picture"]())["the modifier"]:
        assert 2 * y - 1 == pytest.approx(modifier_between(0.5, x), abs=0.03)
