"""The maps of Greed: what is drawn is what the kernel says, and the files need nothing else."""

from __future__ import annotations

import base64
import json
import re
import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from solvent import make_game
from solvent.games.greed.kernel import solve_greed
from solvent.games.greed.report import STAND, maps_of
from solvent.report.page import render


def drawn(svg: str, cells: int) -> Any:
    """The colour of every cell, by score of the player on turn and the other's."""
    colours = np.full((cells, cells), "", dtype="<U7")
    for path in ElementTree.fromstring(f"<svg>{svg}</svg>").iter("path"):
        for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", path.get("d") or ""):
            run = colours[int(x) : int(x) + int(length), int(y)]
            assert (run == "").all()
            run[:] = path.get("stroke")
    return colours


@pytest.mark.parametrize(("limit", "sides"), [(20, 4), (7, 13), (1, 1)])
def test_the_colours_are_the_optimal_numbers_of_dice(limit: int, sides: int) -> None:
    solution = solve_greed(limit, sides)
    both = solution.normal_roll, solution.last_roll
    for (item, _), rolls in zip(maps_of(solution).values(), both, strict=True):
        found, palette = drawn(item.svg(), limit + 1), item.colours
        assert len(set(palette)) == len(palette)
        assert found.tolist() == [[palette[n] for n in row] for row in rolls.tolist()]
        assert (found == STAND).any()


def test_the_pictures_in_the_documentation_are_those_of_the_solver() -> None:
    docs = Path(__file__).parents[3] / "docs"
    for name, text in runpy.run_path(str(docs / "scripts" / "greed.py"))["pictures"]().items():
        assert (docs / "games" / name).read_text() == f"{text}\n"
        assert len(text) < 200_000
        assert set(re.findall(r"https?://[^\s\"'<>]+", text)) == {"http://www.w3.org/2000/svg"}


def test_the_page_holds_the_numbers_of_every_cell() -> None:
    text = render(make_game("greed", limit=20, sides=4))
    found = re.findall(
        r'class="cell-map".*?<script type="application/json">(.*?)</script>', text, re.DOTALL
    )
    solution = solve_greed(20, 4)
    for content, expected in zip(
        found,
        (solution.normal_roll, solution.normal, solution.last_roll, solution.last),
        strict=True,
    ):
        data = json.loads(content)
        numbers = np.frombuffer(base64.b64decode(data["numbers"]), "<i2").reshape(21, 21)
        assert np.abs(numbers / 10 ** data["digits"] - expected).max() <= 5.001e-5


def test_too_large_a_game_has_its_maps_alone() -> None:
    text = render(make_game("greed", limit=150))
    assert f"{solve_greed(150).value:.6f}" in text
    assert "too large for a table of its outcomes, so baselines are not scored" in text
    assert "<h3>Baselines</h3>" not in text
    assert text.count("data-map=") == 2
