"""Measure the exact exploitability of networks that learned Greed by self-play.

Trains PPO and MaskablePPO by self-play, and all four algorithms against the optimal opponent, with
the tuned hyperparameters, and prints a row for each training and the medians over seeds. All
figures are exact; only the seeds differ. CPU seconds include the exact evaluations and depend on
the machine, so compare them within one run. Below each game stand the states in which the network
of the median training loses most.

Interrupted and run again with the same --out, it goes on where it was.
"""

import argparse
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from solvent.exact import Solution, locate_gap, solve
from solvent.games.greed.rules import Greed
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.training import train

ENV = "solvent/Greed-v0"


@dataclass(frozen=True)
class Row:
    """One training: exploitability or gap of the mode and as sampled, and the mode of each seat."""

    seed: int
    mode: float
    sampled: float
    modes: tuple[TabularPolicy, ...]
    timesteps: int
    cpu_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--games", nargs="+", default=["20,4", "100,6"], help="limit,sides")
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--self-play", nargs="*", default=["ppo", "maskable_ppo"])
    parser.add_argument(
        "--fixed", nargs="*", default=["ppo", "maskable_ppo", "dqn", "masked_dqn"],
        help="algorithms to train against the optimal opponent",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="keep the trainings in this folder")
    arguments = parser.parse_args()
    console = Console(width=120)
    with tempfile.TemporaryDirectory(prefix="solvent-self-play-") as beside:
        out = arguments.out or Path(beside)
        for text in arguments.games:
            limit, sides = map(int, text.split(","))
            game = compile_game(Greed(limit, sides))
            solution = solve(game)
            for algorithm in arguments.self_play:
                rows = [
                    self_play(game, algorithm, seed, out, arguments.timesteps)
                    for seed in range(arguments.seeds)
                ]
                show(console, f"{text} {algorithm}, self-play: exploitability", rows)
                show_losses(console, game, solution, rows)
            for algorithm in arguments.fixed:
                rows = [
                    fixed(game, algorithm, seed, out, arguments.timesteps)
                    for seed in range(arguments.seeds)
                ]
                show(console, f"{text} {algorithm} against the optimum: gap", rows)


def self_play(game: TabularGame, algorithm: str, seed: int, out: Path, steps: int | None) -> Row:
    parameters = dict(game.info.parameters)
    result = train(
        ENV,
        algorithm,
        self_play=True,
        seed=seed,
        timesteps=steps,
        env_kwargs=parameters,
        folder=out / f"{parameters['limit']}-{parameters['sides']}" / f"{algorithm}-{seed}",
    )
    return Row(
        seed,
        result.curve[-1].mode_gap,
        result.curve[-1].gap,
        result.modes,
        result.timesteps,
        result.cpu_seconds,
    )


def fixed(game: TabularGame, algorithm: str, seed: int, out: Path, steps: int | None) -> Row:
    parameters = dict(game.info.parameters)
    result = train(
        ENV,
        algorithm,
        seed=seed,
        timesteps=steps,
        env_kwargs={**parameters, "opponent": "optimal"},
        evaluations=10,
        folder=out / f"{parameters['limit']}-{parameters['sides']}" / f"{algorithm}-fixed-{seed}",
    )
    return Row(
        seed,
        result.mode_score.optimality_gap,
        result.score.optimality_gap,
        (result.mode,),
        result.timesteps,
        result.cpu_seconds,
    )


def show(console: Console, title: str, rows: list[Row]) -> None:
    table = Table(title=title)
    for name in ("seed", "mode", "sampled", "timesteps", "CPU s"):
        table.add_column(name, justify="right")
    for row in rows:
        cells = (f"{row.mode:.5f}", f"{row.sampled:.5f}", f"{row.timesteps:,}")
        table.add_row(str(row.seed), *cells, f"{row.cpu_seconds:.0f}")
    medians = (statistics.median(values) for values in zip(*((r.mode, r.sampled) for r in rows)))  # noqa: B905
    table.add_row("median", *(f"{median:.5f}" for median in medians))
    console.print(table)


def show_losses(console: Console, game: TabularGame, solution: Solution, rows: list[Row]) -> None:
    """The states in which the mode of the median training loses most, in either seat."""
    row = sorted(rows, key=lambda row: row.mode)[len(rows) // 2]
    for policy in row.modes:
        location = locate_gap(game, policy, solution)
        last = sum(location.contribution[s] for s, x in enumerate(game.states) if x.phase == "last")  # type: ignore[attr-defined]
        console.print(
            f"seed {row.seed}, seat {policy.player}: {location.gap:.5f}, "
            f"of it {last:.5f} in last turns; most in"
        )
        for s in location.ranked(5):
            chosen = int(policy.probabilities[s].argmax())
            console.print(
                f"  {game.states[s]}: {location.contribution[s]:.5f} = {location.visits[s]:.4f} "
                f"visits x {location.loss[s]:.4f} lost by action {chosen}"
            )


if __name__ == "__main__":
    main()
