"""The page on environments: its figures are the registered optima and what is computed."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from solvent import policy_value, solve
from solvent.envs import SeatEnv
from solvent.envs.registration import ENVIRONMENTS, without_table
from solvent.exact import state_visitation
from solvent.model import TabularPolicy, against, reachable
from solvent.registration import register_envs

PAGE = (Path(__file__).parents[2] / "docs" / "envs.md").read_text(encoding="utf-8")
FIGURES = re.findall(
    r"^\| `(solvent/\S+)` \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| (−?[\d.]+) \|$", PAGE, re.MULTILINE
)
TAKES_LONG = {
    "solvent/FFCombatRandom-v0",
    "solvent/FootballAgent-v0",
    "solvent/FootballStrategy-v0",
    "solvent/Greed-v0",
    "solvent/NinthTide-v0",
}


def test_the_optima_are_the_reward_thresholds() -> None:
    register_envs()
    rows = dict(re.findall(r"^\| `(solvent/\S+)` \|.*\[.*\| (−?[\d.]+) \|$", PAGE, re.MULTILINE))
    assert rows.keys() == ENVIRONMENTS.keys() - set(without_table())
    for name, optimum in rows.items():
        assert float(optimum.replace("−", "-")) == pytest.approx(
            gym.spec(name).reward_threshold, abs=5e-10
        )


def test_every_environment_with_a_table_has_figures() -> None:
    assert {name for name, *_ in FIGURES} == ENVIRONMENTS.keys() - set(without_table())


def figures(name: str) -> tuple[int, float, float, float, float]:
    """States, expected steps under uniform and optimal play, and their expected returns."""
    env = gym.make(name).unwrapped
    game = env.game
    seen = env.episode.table.observation[: game.n_states]
    assert len(np.unique(seen, axis=0)) == game.n_states, "two states look alike"
    n_states = game.n_states
    if isinstance(env, SeatEnv):
        [[opponent]] = env.opponents
        game = reachable(against(game, opponent))
    steps, returns = [], []
    for policy in (TabularPolicy.uniform(game), solve(game).policies[0]):
        steps.append(float(state_visitation(game, policy)[game.on_turn(0)].sum()))
        returns.append(game.at_start(policy_value(game, policy)))
    return n_states, *steps, *returns


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row[0], marks=[pytest.mark.slow] if row[0] in TAKES_LONG else [])
        for row in FIGURES
    ],
)
def test_the_figures_are_what_is_computed(row: tuple[str, ...]) -> None:
    name, *shown = row
    states, uniform, optimal, returned, optimum = figures(name)
    assert shown[0] == f"{states:,}"
    assert shown[1:3] == [f"{uniform:.2f}", f"{optimal:.2f}"]
    assert shown[3].replace("−", "-") == f"{returned:.4f}"
    assert optimum == pytest.approx(gym.spec(name).reward_threshold, abs=1e-9)


@pytest.mark.parametrize("name", ["solvent/FFCombat-v0", "solvent/GreedSmall-v0"])
def test_a_step_is_what_the_environment_counts(name: str) -> None:
    env = gym.make(name)
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    lengths, returns, steps, paid = [], [], 0, 0.0
    while len(lengths) < 2000:
        _, reward, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
        steps, paid = steps + 1, paid + reward
        if over:
            lengths.append(steps)
            returns.append(paid)
            steps, paid = 0, 0.0
            _, info = env.reset()
    _, uniform, _, returned, _ = figures(name)
    for drawn, exact in ((lengths, uniform), (returns, returned)):
        assert abs(np.mean(drawn) - exact) < 4 * np.std(drawn) / np.sqrt(len(drawn))
