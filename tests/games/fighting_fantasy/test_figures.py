"""Figures 1 and 2 of Johnston 2022: drawn from combats that are fought, beside the equations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from combat_paper import paper

from solvent.baselines import make_baseline
from solvent.exact import policy_value
from solvent.games import FightingFantasy
from solvent.model import compile_game

DOCS = Path(__file__).parents[3] / "docs" / "games"


@pytest.mark.parametrize("name", paper.FIGURES)
def test_the_picture_in_the_documentation_is_that_of_the_simulation(name: str) -> None:
    text = paper.picture(name) + "\n"
    assert (DOCS / f"{name}.svg").read_text() == text
    assert len(text) < 20_000
    assert f"]({name}.svg)" in (DOCS / "fighting-fantasy.md").read_text(encoding="utf-8")
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


def test_a_simulation_fights_as_many_combats_in_every_environment() -> None:
    # Long combats are lost as often as they are won: stopping early would count the short ones.
    game = FightingFantasy({-2: 1, 1: 3}, 3, {2: 1, 40: 1}, 6, luck_weight="1/10")
    tally = paper.simulate(game, "offensive", 40, seed=5, num_envs=500)
    assert sum(found.fought for found in tally.values()) == 20_000
    shares = {start: found.fought / 20_000 for start, found in tally.items()}
    for start, share in shares.items():
        expected = {-2: 1 / 8, 1: 3 / 8}[start.difference]
        assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / 20_000))
        plain = FightingFantasy(*start, luck_weight="1/10")
        table = compile_game(plain)
        value = float(table.initial @ policy_value(table, make_baseline("offensive", table)))
        assert tally[start].mean == pytest.approx(value, abs=0.05)
    assert paper.simulate(game, "offensive", 40, seed=5, num_envs=500) == tally
