"""A recipe is run as a reader would, and what it has scored is what its policy does."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import solvent

COMBAT = "solvent/FFCombat-v0"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """What a recipe has made, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda recipe: runpy.run_path(str(Path(__file__).with_name(f"{recipe}.py")))


@pytest.fixture
def run_scored(run: Callable[[str], dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The same, its score compared with that of a policy that is asked state by state."""

    def run_scored(recipe: str, function: Callable[..., Any], *, greedy: bool = False) -> Any:
        made = run(recipe)
        game = gym.make(COMBAT).unwrapped.game
        p = np.zeros(game.mask[0].shape)
        for s in np.flatnonzero(~game.terminal):
            given = function(made, game.observation[0][s : s + 1], game.mask[0][s : s + 1])
            row = np.asarray(given.detach() if hasattr(given, "detach") else given, float)[0]
            row = np.where(game.mask[0][s], row, -np.inf)
            p[s] = row == row.max() if greedy else np.exp(row - row.max())
            p[s] /= p[s].sum()
        value = game.at_start(solvent.policy_value(game, solvent.TabularPolicy.of(game, p)))
        score = made["score"]
        assert score.value == pytest.approx(value, abs=1e-5)
        assert score.optimum == pytest.approx(gym.spec(COMBAT).reward_threshold)
        assert 0 < score.optimality_gap < score.optimum
        # Every action was legal before it came to the environment.
        assert score.illegal_mass == 0
        return made

    return run_scored
