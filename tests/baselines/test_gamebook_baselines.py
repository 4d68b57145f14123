"""The reader on a first visit."""

from __future__ import annotations

import numpy as np
from small_mill import small_mill

from solvent.baselines import baseline_names, make_baseline
from solvent.exact import score
from solvent.games import Pig
from solvent.model import compile_game

TABLE = compile_game(small_mill())


def test_a_book_has_the_baseline_and_other_games_do_not() -> None:
    assert "first-visit" in baseline_names(TABLE)
    assert "first-visit" not in baseline_names(compile_game(Pig(target=8)))


def test_options_are_equally_likely_and_fights_are_fought_to_the_end() -> None:
    policy = make_baseline("first-visit", TABLE)
    seen = set()
    for s, page in enumerate(TABLE.states):
        legal = np.flatnonzero(TABLE.mask[0][s])
        if not len(legal):
            continue
        weights = policy.probabilities[s]
        if page.step:
            assert weights[0] == 1
        else:
            assert (weights[legal] == 1 / len(legal)).all()
        seen.add((page.step, len(legal) > 1))
    assert seen >= {("", True), ("escape", True), ("won", True), ("lost", True)}


def test_its_value_lies_below_the_optimum() -> None:
    result = score(TABLE, make_baseline("first-visit", TABLE))
    assert 0 < result.value < result.optimum - 0.05
