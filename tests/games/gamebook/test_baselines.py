"""The reader on a first visit."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from small_mill import small_mill

from solvent.baselines import make_baseline
from solvent.exact import score, solve
from solvent.games import open_book
from solvent.model import TabularGame, compile_game

PAGE = (Path(__file__).parents[3] / "docs" / "games" / "gamebook.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table() -> TabularGame:
    return compile_game(small_mill())


def test_options_are_equally_likely_and_fights_are_fought_to_the_end(table: TabularGame) -> None:
    policy = make_baseline("first-visit", table)
    seen = set()
    for s, page in enumerate(table.states):
        legal = np.flatnonzero(table.mask[0][s])
        if not len(legal):
            continue
        weights = policy.probabilities[s]
        if page.step:
            assert weights[0] == 1
        else:
            assert (weights[legal] == 1 / len(legal)).all()
        seen.add((page.step, len(legal) > 1))
    assert seen >= {("", True), ("escape", True), ("won", True), ("lost", True)}


@pytest.mark.parametrize("book", ["red-lamp", pytest.param("ninth-tide", marks=pytest.mark.slow)])
def test_the_page_has_the_values_of_the_baselines(book: str) -> None:
    section = PAGE[PAGE.index("## Baselines") : PAGE.index("## Learners")]
    rows = re.findall(
        r"^\| `([\w-]+)` \| [^|]+ \| ([\d.]+) \| (\S+) \| ([\d.]+) \| (\S+) \|$", section, re.M
    )
    assert len(rows) == 4
    table = compile_game(open_book(book))
    solution = solve(table)
    for name, *figures in rows:
        value, normalized = figures[:2] if book == "red-lamp" else figures[2:]
        result = score(table, make_baseline(name, table), solution)
        assert result.value == pytest.approx(float(value), abs=1e-6)
        assert result.normalized == pytest.approx(float(normalized.replace("−", "-")), abs=1e-4)
