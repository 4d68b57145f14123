"""Scores of what was learned: those of `solvent.exact`, and NaN where there is no proof."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from solvent.benchmark import policies as module
from solvent.benchmark.policies import learned_exploitability, recorded_score
from solvent.exact import score, solve
from solvent.games import Pig
from solvent.model import TabularGame, TabularPolicy, compile_game


@pytest.fixture(scope="module")
def pig() -> TabularGame:
    return compile_game(Pig(8))


@pytest.mark.parametrize("player", [0, 1])
def test_without_a_proof_they_are_not_numbers(
    pig: TabularGame, player: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No bracket is as narrow as this.
    monkeypatch.setattr(module, "LEARNED", -1.0)
    policy, solution = TabularPolicy.uniform(pig, player=player), solve(pig)
    illegal = np.zeros(pig.n_states)
    found = recorded_score(pig, policy, solution, illegal=illegal, tolerance=-1.0)
    assert isnan(found.value)
    assert isnan(found.optimality_gap)
    assert found.optimum == score(pig, policy, solution).optimum
    assert isnan(learned_exploitability(pig, policy, solution))
