"""Steps per CPU-second of the native vector environment and of others, in one run.

    python benchmarks/vector_env.py [--envs 64 1024 16384] [--rounds 7] [--json FILE]

The native environments are FFCombat, its random starts, a gamebook, and one seat of Greed and of
Football Strategy against the default opponents. Every contestant is stepped through its own vector
API with random actions prepared in advance, by one Python loop that throws the results away. Rounds
alternate between the contestants, so that a disturbance meets all of them; the median round counts.
Time is CPU time of the process with all its threads, which on a busy machine says more than the
clock; a contestant with a thread pool pays for each of its threads. Gymnasium's own CartPole is
stepped in NumPy.

SyncVectorEnv holds bare environments: the wrappers that ``gym.make`` adds would make it slower. The
JAX environments draw their keys inside the compiled step, and are compiled before the first round.
A contestant that is not installed is left out, with a line that says so.
"""

import argparse
import json
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Steps all environments once; takes the number of the step.
Step = Callable[[int], Any]

PREPARED = 64
ROUND_SECONDS = 0.2


class Contestant(NamedTuple):
    """Something that steps n environments."""

    name: str
    make: Callable[[int], Step]


class Row(NamedTuple):
    """A line of the table: steps per CPU-second, and how many times that FFCombat-v0 does."""

    name: str
    n_envs: int
    steps_per_second: float
    native_ratio: float


def actions(n_envs: int, n_actions: int, dtype: type = np.int64) -> np.ndarray:
    """Random actions for some steps, [PREPARED, n_envs]."""
    return np.random.default_rng(0).integers(0, n_actions, (PREPARED, n_envs)).astype(dtype)


def registered(env_id: str) -> Callable[[int], Step]:
    """An environment of a registry of Gymnasium that brings its own vector environment."""

    def make(n_envs: int) -> Step:
        import gymnasium as gym

        from solvent.registration import register_envs

        register_envs()
        envs = gym.make_vec(env_id, num_envs=n_envs, vectorization_mode="vector_entry_point")
        envs.reset(seed=0)
        choices = actions(n_envs, int(envs.single_action_space.n))
        return lambda i: envs.step(choices[i % PREPARED])

    return make


def sync(n_envs: int) -> Step:
    from gymnasium.vector import SyncVectorEnv

    from solvent.envs import Env
    from solvent.games import FightingFantasy
    from solvent.model import compile_game

    table = compile_game(FightingFantasy())
    envs: Any = SyncVectorEnv([lambda: Env(table)] * n_envs)
    envs.reset(seed=0)
    choices = actions(n_envs, 2)
    return lambda i: envs.step(choices[i % PREPARED])


def envpool_frozen_lake(n_envs: int) -> Step:
    import envpool

    envs = envpool.make("FrozenLake-v1", env_type="gymnasium", num_envs=n_envs)
    envs.reset()
    choices = actions(n_envs, 4, np.int32)
    return lambda i: envs.step(choices[i % PREPARED])


def gymnax_env(name: str) -> Callable[[int], Step]:
    def make(n_envs: int) -> Step:
        import gymnax
        import jax

        env, parameters = gymnax.make(name)
        keys = jax.random.split(jax.random.key(0), n_envs)
        _, state = jax.vmap(env.reset, in_axes=(0, None))(keys, parameters)

        @jax.jit
        def step(key: Any, state: Any, action: Any) -> Any:
            key, use = jax.random.split(key)
            each = jax.random.split(use, n_envs)
            return key, *jax.vmap(env.step, in_axes=(0, 0, 0, None))(
                each, state, action, parameters
            )

        choices = actions(n_envs, env.num_actions, np.int32)
        held = [jax.random.key(1), state]

        def once(i: int) -> None:
            held[0], _, held[1], *rest = step(*held, choices[i % PREPARED])
            jax.block_until_ready(rest)

        return once

    return make


def pgx_kuhn_poker(n_envs: int) -> Step:
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("kuhn_poker")
    state = jax.vmap(env.init)(jax.random.split(jax.random.key(0), n_envs))

    @jax.jit
    def step(key: Any, state: Any, action: Any) -> Any:
        key, use = jax.random.split(key)
        each = jax.random.split(use, n_envs)
        return key, jax.vmap(auto_reset(env.step, env.init))(state, action, each)

    choices = actions(n_envs, 2, np.int32)
    held = [jax.random.key(1), state]

    def once(i: int) -> None:
        held[:] = step(*held, choices[i % PREPARED])
        jax.block_until_ready(held[1].rewards)

    return once


CONTESTANTS = (
    Contestant("FFCombat-v0", registered("solvent/FFCombat-v0")),
    Contestant("FFCombatRandom-v0", registered("solvent/FFCombatRandom-v0")),
    Contestant("Gamebook-v0", registered("solvent/Gamebook-v0")),
    Contestant("Greed-v0", registered("solvent/Greed-v0")),
    Contestant("FootballStrategy-v0", registered("solvent/FootballStrategy-v0")),
    Contestant("SyncVectorEnv, ff-combat", sync),
    Contestant("Gymnasium CartPole-v1", registered("CartPole-v1")),
    Contestant("EnvPool FrozenLake-v1", envpool_frozen_lake),
    Contestant("pgx kuhn_poker", pgx_kuhn_poker),
    Contestant("gymnax CartPole-v1", gymnax_env("CartPole-v1")),
    Contestant("gymnax DiscountingChain", gymnax_env("DiscountingChain-bsuite")),
)


def measure(n_envs: int, rounds: int) -> list[Row]:
    """Alternating rounds of all contestants that can be made."""
    steps: dict[str, Step] = {}
    for name, make in CONTESTANTS:
        try:
            steps[name] = make(n_envs)
            steps[name](0)
        except ImportError as error:
            print(f"left out: {name} ({error})", file=sys.stderr)
            steps.pop(name, None)
    calls = {name: calls_in(step, ROUND_SECONDS) for name, step in steps.items()}
    rates: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            rates[name].append(n_envs * calls[name] / seconds(step, calls[name]))
    medians = {name: statistics.median(rate) for name, rate in rates.items()}
    ours = medians[CONTESTANTS[0].name]
    return [Row(name, n_envs, rate, ours / rate) for name, rate in medians.items()]


def seconds(step: Step, calls: int) -> float:
    """CPU time of so many calls."""
    begun = time.process_time()
    for i in range(calls):
        step(i)
    return time.process_time() - begun


def calls_in(step: Step, duration: float) -> int:
    """Return a number of calls that takes about so long; the caches are warm afterwards."""
    calls = 1
    while (taken := seconds(step, calls)) < duration / 4:
        calls *= 2
    return max(1, round(calls * duration / taken))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 1024, 16384])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    # What other packages warn of while they are imported is theirs.
    warnings.simplefilter("ignore")

    table: list[Row] = []
    print(f"{'':26}{'environments':>13}{'M steps/CPU-s':>15}{'FFCombat is':>12}")
    for n_envs in arguments.envs:
        for row in measure(n_envs, arguments.rounds):
            table.append(row)
            print(
                f"{row.name:26}{row.n_envs:13}{row.steps_per_second / 1e6:15.3f}"
                f"{row.native_ratio:11.1f}x"
            )
    if arguments.json:
        machine = f"{platform.machine()}, Python {platform.python_version()}"
        result = {"machine": machine, "rows": [row._asdict() for row in table]}
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
