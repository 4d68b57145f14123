"""Make the pictures of the page on algorithms to read anew, into ``docs/``.

python docs/scripts/tabular_pictures.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np

from solvent import compile_game
from solvent.envs import TabularEnv
from solvent.model.gymnasium_table import GymnasiumTable
from solvent.report.panel import write_pictures
from solvent.tabular import (
    Curves,
    Estimate,
    curves,
    expected_sarsa,
    fictitious_play,
    mirror_descent,
    q_learning,
    regret_matching,
    regret_matching_plus,
    sarsa,
)

DOCS = Path(__file__).parents[1]

PAYOFFS = np.array([[0, -1, 2], [1, 0, -1], [-1, 1, 0]])
"""Rock, paper, scissors in which rock wins two from scissors."""


def cliff(policy: str) -> Curves:
    """Example 6.6 of Sutton and Barto: exact values of what is done, or of what was learned."""
    game = compile_game(GymnasiumTable.from_env(gym.make("CliffWalking-v1")))

    def run(
        learn: Callable[..., Iterator[Estimate]], rng: np.random.Generator
    ) -> Iterator[Estimate]:
        return learn(TabularEnv(game, observation="index"), alpha=0.5, rng=rng)

    learners = {"Sarsa": sarsa, "expected Sarsa": expected_sarsa, "Q-learning": q_learning}
    return curves(
        game,
        {name: partial(run, learn) for name, learn in learners.items()},
        "value",
        until=500,
        runs=10,
        policy=policy,
    )


def matrix() -> Curves:
    """How much is lost against best responses in a matrix game."""
    learners = {
        "fictitious play": fictitious_play,
        "regret matching": regret_matching,
        "regret matching+": regret_matching_plus,
        "mirror descent": mirror_descent,
    }
    return curves(
        PAYOFFS,
        {name: lambda rng, learn=learn: learn(PAYOFFS) for name, learn in learners.items()},
        "exploitability",
        until=1000,
        points=200,
        along="rounds",
    )


def main() -> None:
    """Write the pictures."""
    acts, learned = cliff("behaviour"), cliff("greedy")
    pictures = {
        "tabular-cliff-acts.svg": acts.svg(
            "Value of the policy that acts", median=True, lowest=-100
        ),
        "tabular-cliff-greedy.svg": learned.svg(
            "Value of the greedy policy", median=True, lowest=-25
        ),
        "tabular-matrix.svg": matrix().svg("Exploitability in a matrix game", logarithmic=True),
    }
    for path in write_pictures(DOCS, pictures):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    for name, drawn in (("acts", acts), ("greedy", learned)):
        print(name, {learner: median[-1].round(2) for learner, median in drawn.medians.items()})


if __name__ == "__main__":
    main()
