"""The table of all environments: its figures are the registered optima and what is computed."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from solvent import policy_value, solve
from solvent.envs.registration import ENVIRONMENTS, samples_table
from solvent.exact import state_visitation
from solvent.model import TabularPolicy
from solvent.registration import register_envs

PAGE = (Path(__file__).parents[2] / "docs" / "environment-table.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| \[`(solvent/\S+)`\]\S+ \| (−?\d+\.\d{6,}) \| ([\d,]+) "
    r"\| (−?[\d.]+) \| ([\d.]+) \| ([\d.]+|–) \|$",
    PAGE,
    re.MULTILINE,
)
FIGURES = [(name, states, steps, best, mean) for name, _, states, mean, steps, best in ROWS]
TAKES_LONG = {
    "solvent/FootballAgent-v0",
    "solvent/FootballStrategy-v0",
    "solvent/Greed-v0",
    "solvent/NinthTide-v0",
    "solvent/Racetrack-v0",
}


def test_the_optima_are_the_reward_thresholds() -> None:
    register_envs()
    rows = {name: optimum for name, optimum, *_ in ROWS}
    assert rows.keys() == {*filter(samples_table, ENVIRONMENTS)}
    for name, optimum in rows.items():
        assert float(optimum.replace("−", "-")) == pytest.approx(
            gym.spec(name).reward_threshold, abs=5e-10
        )


def figures(name: str) -> tuple[int, float, float, float | None, float | None]:
    """States, expected return and steps of uniform play, and both of optimal play or None."""
    env = gym.make(name).unwrapped
    game, others = env.game, ()
    seen = env.episode.table.observation[: game.n_states]
    # The end of a discount looks like a state in which episodes begin.
    different = game.n_states - (game.info.discount != 1)
    assert len(np.unique(seen, axis=0)) == different, "two states look alike"
    best = None
    if not env.opponents:
        best = solve(game).policies[0]
    else:
        [others] = env.opponents
        if ENVIRONMENTS[name].opponent == "optimal":
            # Who sits opposite the other seat.
            [[best]] = gym.make(name, seat=1).unwrapped.opponents
    found: list[float | None] = []
    for policy in (TabularPolicy.uniform(game), best):
        if policy is None:
            found += [None, None]
        else:
            found.append(game.at_start(policy_value(game, policy, *others)))
            found.append(float(state_visitation(game, policy, *others)[game.on_turn(0)].sum()))
    return game.n_states, *found


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row[0], marks=[pytest.mark.slow] if row[0] in TAKES_LONG else [])
        for row in FIGURES
    ],
)
def test_the_figures_are_what_is_computed(row: tuple[str, ...]) -> None:
    name, *shown = row
    states, returned, steps, optimum, optimal = figures(name)
    assert shown == [
        f"{states:,}",
        f"{steps:.2f}",
        "–" if optimal is None else f"{optimal:.2f}",
        # A mean that is 0 has either sign.
        f"{round(returned, 4) + 0:.4f}".replace("-", "−"),
    ]
    if optimum is not None:
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
    _, returned, mean_length, _, _ = figures(name)
    for drawn, exact in ((lengths, mean_length), (returns, returned)):
        assert abs(np.mean(drawn) - exact) < 4 * np.std(drawn) / np.sqrt(len(drawn))
