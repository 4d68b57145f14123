"""Play at one difficulty the policy learned at another: exact gaps along the dial of one check.

Trains PPO on a Fighting Fantasy combat whose tests of LUCK are as in the book, then puts modifiers
on the test (solvent/model/context.py) and scores at each setting, exactly, against the optimum
of that setting: the policy that is optimal without a modifier, and the most probable actions of
each network. Only the training draws random numbers.

Interrupted and run again with the same --out, it goes on where it was.
"""

import argparse
import statistics
import tempfile
from fractions import Fraction
from pathlib import Path

from rich.console import Console
from rich.table import Table

from solvent import make_game
from solvent.exact import Solution, score, solve
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.training import train

ENV, GAME, CHECK = "solvent/FFCombat-v0", "ff-combat", "luck"
SETTINGS = [Fraction(percent, 100) for percent in range(-30, 31, 5)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--out", type=Path, help="keep the trainings in this folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="solvent-difficulty-") as beside:
        out = arguments.out or Path(beside)
        networks = [
            train(
                ENV,
                "ppo",
                seed=seed,
                timesteps=arguments.timesteps,
                env_kwargs={"modifiers": {CHECK: 0}},
                folder=out / f"ppo-{seed}",
            ).mode
            for seed in range(arguments.seeds)
        ]
    show(networks)


def at(setting: Fraction) -> TabularGame:
    """The combat at a setting of the dial; its states are the same ones at all of them."""
    return compile_game(make_game(GAME, modifiers={CHECK: setting}))


def gap(game: TabularGame, solution: Solution, policy: TabularPolicy) -> float:
    """Return the loss in this game of a policy for another setting."""
    played = TabularPolicy.of(game, policy.probabilities, name=policy.name)
    # Rounding can leave a gap of -1e-16.
    return max(score(game, played, solution).optimality_gap, 0.0)


def show(networks: list[TabularPolicy]) -> None:
    optimal = solve(at(Fraction(0))).policies[0]
    table = Table(title=f"{GAME}: exact gaps of policies for +0% (PPO: median, least, most)")
    for name in ("test of LUCK", "optimum", "optimal at +0%", "PPO at +0%", "least", "most"):
        table.add_column(name, justify="right")
    for setting in SETTINGS:
        game = at(setting)
        solution = solve(game)
        gaps = [gap(game, solution, network) for network in networks]
        numbers = (
            solution.value,
            gap(game, solution, optimal),
            statistics.median(gaps),
            min(gaps),
            max(gaps),
        )
        table.add_row(f"{float(setting):+.0%}", *(f"{number:.5f}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    main()
