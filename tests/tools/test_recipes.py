"""The recipes of docs/score-your-own.md for programs that only `make tools` installs."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solvent
from solvent.model import legal_action_table

RECIPES = Path(__file__).parent / "recipes"

# For each recipe: the program, the function that the policy is, and what it gives.
FUNCTIONS = {
    "jax_flax": ("flax", "actor", "logits"),
    "rllib": ("ray.rllib", "logits", "logits"),
    "torchrl_actor": ("torchrl", "probabilities", "probabilities"),
    "tianshou_policy": ("tianshou", "probabilities", "probabilities"),
}


def test_every_recipe_is_run() -> None:
    assert set(FUNCTIONS) == {path.stem for path in RECIPES.glob("*.py")}


@pytest.mark.filterwarnings("default")  # Other people's warnings are theirs.
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_scored_is_what_the_policy_plays(name: str) -> None:
    program, function, outputs = FUNCTIONS[name]
    pytest.importorskip(program)
    found = runpy.run_path(str(RECIPES / f"{name}.py"))
    env, f, score = found["env"], found[function], found["score"]
    policy = solvent.policy_from(env, f, outputs=outputs)
    assert score == solvent.score(env, policy, illegal=moved(env, f, outputs))
    assert 0 < score.optimality_gap < score.optimum
    # Along episodes, an observation at a time, as the program itself is asked.
    game, met = env.unwrapped.game, set()
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        over = False
        while not over:
            s = game.index[env.unwrapped.state]
            expected = np.zeros(2)
            for action, chance in enumerate(chances(f(seen[None]), outputs)[0]):
                expected[legal_action_table(game.mask[0])[s, action]] += chance
            np.testing.assert_allclose(policy.probabilities[s], expected, atol=1e-5)
            met.add(s)
            seen, _, over, _, _ = env.step(seed % 2)
    assert len(met) > 50


def chances(given: Any, outputs: str) -> Any:
    rows = np.asarray(given.detach() if hasattr(given, "detach") else given, float)
    if outputs == "logits":
        rows = np.exp(rows - rows.max(axis=1, keepdims=True))
    return rows / rows.sum(axis=1, keepdims=True)


def moved(env: Any, f: Any, outputs: str) -> Any:
    """What it gives to illegal actions in each state."""
    game = env.unwrapped.game
    rows = chances(f(game.observation[0]), outputs)
    return np.where(game.mask[0] | game.terminal[:, None], 0.0, rows).sum(axis=1)
