"""Make the pictures of the page on algorithms to read anew, into ``docs/``.

python docs/scripts/tabular_pictures.py
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from solvent import compile_game, make_game
from solvent.envs import Env
from solvent.report.panel import write_pictures
from solvent.tabular import (
    Curves,
    Estimate,
    curves,
    fictitious_play,
    mirror_descent,
    q_learning,
    regret_matching,
    regret_matching_plus,
    sample_average,
)

DOCS = Path(__file__).parents[1]

PAYOFFS = np.array([[0, -1, 2], [1, 0, -1], [-1, 1, 0]])
"""Rock, paper, scissors in which rock wins two from scissors."""


def step_sizes() -> Curves:
    """How near Q-learning comes to the value at the start, by its step size."""
    game = compile_game(make_game("ff-combat", stamina=4, opponent_stamina=4, luck=3))

    def run(alpha: float | Callable[[int], float], rng: np.random.Generator) -> Iterator[Estimate]:
        env = Env(game, observation="index")
        return q_learning(env, alpha=alpha, epsilon=1.0, rng=rng)

    sizes = {"0.5": 0.5, "0.1": 0.1, "1/n": sample_average}
    return curves(
        game,
        {name: partial(run, alpha) for name, alpha in sizes.items()},
        "rms",
        until=3000,
        runs=10,
        points=60,
        states=game.initial > 0,
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
    sizes = step_sizes()
    title = "Error of the value at the start, by step size"
    pictures = {
        "tabular-step-sizes.svg": sizes.svg(title, logarithmic=True),
        "tabular-matrix.svg": matrix().svg("Exploitability in a matrix game", logarithmic=True),
    }
    for path in write_pictures(DOCS, pictures):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    print({name: round(mean[-1], 4) for name, mean in sizes.means.items()})


if __name__ == "__main__":
    main()
