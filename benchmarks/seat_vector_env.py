"""Steps per CPU-second of the native vector environment for one seat of Greed, in one run.

    python benchmarks/seat_vector_env.py [--envs 64 1024 16384] [--rounds 5] [--limit 100]
        [--sides 6] [--json FILE]

The peers are SyncVectorEnv around bare environments of the same table, stepped by the same calls
with the same actions prepared in advance, and Gymnasium's own CartPole in NumPy. The opponent plays
every legal action with equal probability, so that the memory it needs is visited all over; the
learner likewise. Rounds alternate, the median counts, and time is CPU time, as in vector_env.py.
"""

import argparse
import json
import platform
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import SyncVectorEnv
from vector_env import PREPARED, ROUND_SECONDS, calls_in, registered, seconds

from solvent.envs import Env, VectorEnv
from solvent.games import Greed
from solvent.model import TabularGame, TabularPolicy, compile_game

# More single environments than this are not built; their speed does not depend on how many.
SYNC_ENVS = 1024


class Row(NamedTuple):
    """A line of the table: steps per CPU-second, and how many times that the native one does."""

    name: str
    n_envs: int
    steps_per_second: float
    native_ratio: float


def stepper(envs: Any) -> Callable[[int], Any]:
    """Steps the environments with actions of the kind that are legal at the start."""
    n, width = envs.num_envs, envs.single_action_space.n
    choices = np.random.default_rng(0).integers(0, width // 2, (PREPARED, n))
    envs.reset(seed=0)
    return lambda i: envs.step(choices[i % PREPARED])


def measure(game: TabularGame, n_envs: int, rounds: int) -> list[Row]:
    opponent = TabularPolicy.uniform(game, player=1)
    n_sync = min(n_envs, SYNC_ENVS)
    contestants = {
        "native": (n_envs, stepper(VectorEnv(game, n_envs, opponent))),
        "SyncVectorEnv": (
            n_sync,
            stepper(SyncVectorEnv([lambda: Env(game, opponent)] * n_sync)),
        ),
        "Gymnasium CartPole-v1": (n_envs, registered("CartPole-v1")(n_envs)),
    }
    calls = {name: calls_in(step, ROUND_SECONDS) for name, (_, step) in contestants.items()}
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, (n, step) in contestants.items():
            rates[name].append(n * calls[name] / seconds(step, calls[name]))
    medians = {name: statistics.median(rate) for name, rate in rates.items()}
    return [
        Row(name, contestants[name][0], rate, medians["native"] / rate)
        for name, rate in medians.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 1024, 16384])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--sides", type=int, default=6)
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()

    game = compile_game(Greed(arguments.limit, arguments.sides))
    table: list[Row] = []
    print(f"{'':24}{'environments':>13}{'M steps/CPU-s':>15}{'native is':>12}")
    for n_envs in arguments.envs:
        for row in measure(game, n_envs, arguments.rounds):
            table.append(row)
            print(
                f"{row.name:24}{row.n_envs:13}{row.steps_per_second / 1e6:15.3f}"
                f"{row.native_ratio:11.1f}x"
            )
    if arguments.json:
        machine = f"{platform.machine()}, Python {platform.python_version()}"
        result = {"machine": machine, "rows": [row._asdict() for row in table]}
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
