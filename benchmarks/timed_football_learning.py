"""Train networks in football with a clock, scored exactly over all states.

MaskablePPO and MaskedDQN learn a half, the second half or the last two minutes, each against the
optimal player, against the published agent and by self-play. A line has what the network then gets
in both seats exactly: against the optimal player, against the agent, and against the best response
to it. In a half these are points, elsewhere chances of winning with half of those of a tie.

    python benchmarks/timed_football_learning.py --form half
    python benchmarks/timed_football_learning.py --form second-half --solution second-half
    python benchmarks/timed_football_learning.py --form two-minutes --timeouts 3 --solution last

The larger ones need their solutions, which

    solvent solve football-strategy --form second-half --timeouts 0 --out second-half
    solvent solve football-strategy --form two-minutes --out last

write; each score there takes about a quarter of an hour of one processor. CPU seconds depend on
the machine, so compare them within one run. Interrupted and run again with the same --out, it goes
on with the training at which it was.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from solvent.games import TimedFootball
from solvent.games.football_clock.players import (
    BEST_RESPONSE,
    SCORED_AGAINST,
    score_player,
)
from solvent.training import train
from solvent.training.train import SELF_PLAY

IDS = {
    "half": "solvent/FootballHalf-v0",
    "second-half": "solvent/FootballSecondHalf-v0",
    "two-minutes": "solvent/FootballTwoMinutes-v0",
}
ALGORITHMS = ("maskable_ppo", "masked_dqn")
OPPONENTS = (*SCORED_AGAINST, SELF_PLAY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--form", choices=IDS, default="half")
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument("--opponents", nargs="+", choices=OPPONENTS, default=OPPONENTS)
    parser.add_argument("--rules", nargs="+", choices=("sampled", "mode"), default=["sampled"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--timeouts", type=int, default=0, help="of each side (default 0)")
    parser.add_argument("--solution", type=Path, help="the folder of the form's solution")
    parser.add_argument("--out", type=Path, help="keep the trainings in this folder")
    arguments = parser.parse_args()
    if arguments.form == "second-half" and arguments.solution is None:
        parser.error("--form second-half needs --solution DIR")
    title = f"{arguments.form}, {arguments.timeouts or 'no'} time-outs; as player 0, as player 1"
    console, table = Console(width=140), Table(title=title)
    for name in ("algorithm", "learned against", "seed", "rule"):
        table.add_column(name)
    for name in (*SCORED_AGAINST, BEST_RESPONSE, "timesteps", "CPU s", "CPU s of the score"):
        table.add_column(name, justify="right")
    with tempfile.TemporaryDirectory(prefix="solvent-football-") as beside:
        for algorithm in arguments.algorithms:
            for opponent in arguments.opponents:
                for seed in arguments.seeds:
                    out = arguments.out or Path(beside)
                    for line in lines(arguments, algorithm, opponent, seed, out):
                        table.add_row(algorithm, opponent, str(seed), *line)
    console.print(table)


def lines(
    arguments: argparse.Namespace, algorithm: str, opponent: str, seed: int, out: Path
) -> list[list[str]]:
    """Train one network, and score it as each of the rules plays it."""
    parameters: dict[str, Any] = {"timeouts": arguments.timeouts, "opponent": opponent}
    if opponent == "optimal" and arguments.solution is not None:
        parameters["solution"] = str(arguments.solution)
    result = train(
        IDS[arguments.form],
        algorithm,
        seed=seed,
        timesteps=arguments.timesteps,
        folder=out / f"{arguments.form}-{arguments.timeouts}-{algorithm}-{opponent}-{seed}",
        env_kwargs=parameters,
    )
    game = TimedFootball(form=arguments.form, timeouts=arguments.timeouts)
    found = []
    # A network of action values has no other rule than its mode.
    for rule in ("mode",) if algorithm == "masked_dqn" else arguments.rules:
        began = time.process_time()
        network = replace(result.networks[0], rule=rule)
        score = score_player(game, network, arguments.solution)
        gets = [f"{seat.first:.4f}, {seat.second:.4f}" for seat in score.against.values()]
        spent = f"{time.process_time() - began:.0f}"
        found.append([rule, *gets, f"{result.timesteps:,}", f"{result.cpu_seconds:.0f}", spent])
    return found


if __name__ == "__main__":
    main()
