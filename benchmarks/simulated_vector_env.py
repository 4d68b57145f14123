"""How fast football with a clock is sampled, as ratios measured in one run.

    python benchmarks/simulated_vector_env.py [--form half] [--timeouts 0] [--envs 64 1024]

Steps per CPU-second of the native vector environment over those of ``SyncVectorEnv`` around as many
single environments, and of single environments over the same plays moved through the rules in exact
fractions. All calls are random among the legal ones, and so are the opponent's.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from solvent.envs import SeatEnv, SeatVectorEnv
from solvent.envs.registration import sampled_game
from solvent.envs.simulation import Uniform
from solvent.games import make_game

MODE = AutoresetMode.SAME_STEP


def steps_per_second(env: Any, steps: int) -> float:
    """Of random legal play, in CPU time."""
    rng = np.random.default_rng(0)
    _, infos = env.reset(seed=0)

    def play() -> None:
        nonlocal infos
        mask = np.stack(infos["action_mask"])
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        *_, infos = env.step(actions)

    play()
    began = time.process_time()
    for _ in range(steps):
        play()
    return float(env.num_envs * steps / (time.process_time() - began))


def rules_per_second(form: str, timeouts: int, moves: int) -> float:
    """Moves per CPU-second of the rules."""
    game: Any = make_game("football-strategy", form=form, timeouts=timeouts)
    rng = np.random.default_rng(0)
    state, made, began = None, 0, time.process_time()
    while made < moves:
        if state is None or game.is_terminal(state):
            state = game.initial()[0].state
        legal = game.legal_actions(state)
        joint = (int(rng.choice(legal[0])), int(rng.choice(legal[1])))
        branches = game.transition(state, joint)
        chances = np.cumsum([float(branch.probability) for branch in branches])
        pick = int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))
        state = branches[min(pick, len(branches) - 1)].state
        made += 1
    return moves / (time.process_time() - began)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", default="half")
    parser.add_argument("--timeouts", type=int, default=0)
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 1024])
    arguments = parser.parse_args()
    sampler = sampled_game(
        "football-strategy", {"form": arguments.form, "timeouts": arguments.timeouts}
    )
    rules = rules_per_second(arguments.form, arguments.timeouts, 300)
    for n in arguments.envs:
        native = steps_per_second(
            SeatVectorEnv(sampler, [Uniform()], n, autoreset_mode=MODE), 20_000 // n + 5
        )
        single: Any = SyncVectorEnv(
            [lambda: SeatEnv(sampler, [Uniform()])] * n, autoreset_mode=MODE
        )
        one_by_one = steps_per_second(single, 2_000 // n + 2)
        print(
            f"{n:6d} environments: {native / one_by_one:6.1f} times SyncVectorEnv, "
            f"{native / rules:7.0f} times the rules"
        )


if __name__ == "__main__":
    main()
