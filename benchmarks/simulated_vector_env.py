"""Steps per CPU-second of football with a clock, which has no table, and of others, in one run.

    python benchmarks/simulated_vector_env.py [--envs 64 1024 16384] [--rounds 5]

Each form is stepped by one environment, by the native vector environment and by ``SyncVectorEnv``
around single ones, against an opponent that plays all legal actions equally often; beside them
Gymnasium's CartPole, of which the vector environment is NumPy. Actions are random and prepared in
advance; an illegal one is remapped. Rounds alternate between the contestants, and the fastest of
each counts, in CPU time of the process.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import SyncVectorEnv

from solvent.registration import register_envs

FORMS = ("solvent/FootballGame-v0", "solvent/FootballHalf-v0")
CARTPOLE = "CartPole-v1"
PREPARED = 64
ROUND_SECONDS = 0.2

# Steps all environments once; takes the number of the step.
Step = Callable[[int], Any]


def single(name: str) -> Step:
    """One environment without wrappers, reset where an episode has ended."""
    env = gym.make(name).unwrapped
    env.reset(seed=0)
    actions = _actions(env.action_space.n, PREPARED).tolist()

    def step(i: int) -> None:
        if env.step(actions[i % PREPARED])[2]:
            env.reset()

    return step


def vector(name: str, n: int) -> Step:
    """The vector environment of an id."""
    return _steps(gym.make_vec(name, num_envs=n, vectorization_mode="vector_entry_point"))


def one_by_one(name: str, n: int) -> Step:
    """Single environments without wrappers, one after the other."""
    return _steps(SyncVectorEnv([lambda: gym.make(name).unwrapped] * n))


def _steps(envs: Any) -> Step:
    envs.reset(seed=0)
    actions = _actions(envs.single_action_space.n, (PREPARED, envs.num_envs))
    return lambda i: envs.step(actions[i % PREPARED])


def _actions(count: int, shape: Any) -> np.ndarray:
    return np.random.default_rng(0).integers(0, count, shape)


def steps_per_second(contestants: dict[str, tuple[Step, int]], rounds: int) -> dict[str, float]:
    """The most steps per CPU-second in any round, by name.

    Args:
        contestants: What steps, and how many environments it has.
        rounds: How many.
    """
    best = dict.fromkeys(contestants, 0.0)
    for step, _ in contestants.values():
        step(0)
    for _ in range(rounds):
        for name, (step, n) in contestants.items():
            made, began = 0, time.process_time()
            while (spent := time.process_time() - began) < ROUND_SECONDS:
                for _ in range(max(1, 2000 // n)):
                    step(made)
                    made += 1
            best[name] = max(best[name], made * n / spent)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 1024, 16384])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    register_envs()
    names = (*FORMS, CARTPOLE)
    found = steps_per_second({name: (single(name), 1) for name in names}, arguments.rounds)
    for name, rate in found.items():
        print(f"{name:24s} a single step: {1e6 / rate:6.2f} microseconds")
    for n in arguments.envs:
        contestants = {name: (vector(name, n), n) for name in names}
        # As many as make a round short.
        few = min(n, 1024)
        contestants |= {f"{name} one by one": (one_by_one(name, few), few) for name in FORMS}
        found = steps_per_second(contestants, arguments.rounds)
        for name in FORMS:
            print(
                f"{name:24s} {n:6d} environments: {found[name] / 1e6:6.2f} M steps/s, "
                f"{found[name] / found[f'{name} one by one']:5.1f} times SyncVectorEnv, "
                f"{found[name] / found[CARTPOLE]:5.2f} times CartPole "
                f"({found[CARTPOLE] / 1e6:.2f} M)"
            )


if __name__ == "__main__":
    main()
