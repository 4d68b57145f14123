"""Figures 1 and 2 of Johnston 2022: drawn from combats that are fought, beside the equations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from combat_paper import paper

DOCS = Path(__file__).parents[3] / "docs" / "games"


@pytest.mark.parametrize("name", paper.FIGURES)
def test_the_picture_in_the_documentation_is_that_of_the_simulation(name: str) -> None:
    text = paper.picture(name) + "\n"
    assert (DOCS / f"{name}.svg").read_text() == text
    assert len(text) < 20_000
    assert f"](../games/{name}.svg)" in (DOCS.parent / "notes/fighting-fantasy.md").read_text(
        "utf-8"
    )
    assert set(re.findall(r"https?://[^\s\"'<>]+", text)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", paper.FIGURES)
def test_combats_are_won_as_often_as_the_equation_says(name: str) -> None:
    figure, tally = paper.FIGURES[name], paper.simulated(name)
    assert np.mean([found.fought for found in tally.values()]) == 1000
    squares = []
    for start, found in tally.items():
        expected = found.fought * figure.equation(start)
        variance = expected * (1 - figure.equation(start))
        if variance > 5:
            squares.append((found.score - expected) ** 2 / variance)
    # The mean of n squares of standard normal numbers, within four of its standard deviations.
    assert len(squares) > 30
    assert np.mean(squares) == pytest.approx(1, abs=4 * np.sqrt(2 / len(squares)))
    assert max(squares) < 25
