"""How hard to exploit networks are that learned football by playing themselves, in exact points.

Trains MaskablePPO in both seats of Football Strategy's drive and prints for each seed the
exploitability of offence and defence, in points per possession: of the network as it is sampled,
of its most probable actions, which a deterministic player would call, and of the average of what
it played. A row of uniform play is the measure. All figures are exact; only the seeds differ.

Interrupted and run again with the same --out, it goes on where it was.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from solvent.exact import solve
from solvent.exact.response import response_values
from solvent.model import TabularPolicy
from solvent.training import SelfPlayResult, train_self_play
from solvent.training.environments import table_named

ENV = "solvent/FootballStrategy-v0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--evaluations", type=int, default=4)
    parser.add_argument("--out", type=Path, help="keep the trainings in this folder")
    arguments = parser.parse_args()
    game = table_named(ENV, {})
    solution = solve(game)
    table = Table(title=f"value {solution.value:.4f} points; exploitability of offence, defence")
    for name in ("seed", "sampled", "mode", "average", "timesteps", "CPU s"):
        table.add_column(name, justify="right")
    uniform = [
        abs(game.at_start(response_values(game, policy)) - solution.value)
        for policy in (TabularPolicy.uniform(game, player=p) for p in (0, 1))
    ]
    table.add_row("uniform", pair(uniform), "", "", "0", "")
    with tempfile.TemporaryDirectory(prefix="solvent-football-") as beside:
        for seed in range(arguments.seeds):
            result = train_self_play(
                ENV,
                "maskable_ppo",
                seed=seed,
                timesteps=arguments.timesteps,
                exploring=0.5,
                refresh=200_000,
                evaluations=arguments.evaluations,
                solution=solution,
                folder=(arguments.out or Path(beside)) / f"self-play-{seed}",
            )
            table.add_row(str(seed), *cells(result))
    Console(width=120).print(table)


def cells(result: SelfPlayResult) -> list[str]:
    kinds = (result.scores, result.mode_scores, result.average_scores)
    gaps = [pair([score.optimality_gap for score in scores]) for scores in kinds]
    return [*gaps, f"{result.timesteps:,}", f"{result.cpu_seconds:.0f}"]


def pair(gaps: list[float]) -> str:
    return " ".join(f"{gap:.3f}" for gap in gaps)


if __name__ == "__main__":
    main()
