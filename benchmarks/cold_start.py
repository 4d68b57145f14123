"""CPU time of fresh processes: how long the first command and the first environment take.

    python benchmarks/cold_start.py [--rounds 3] [--only WORD ...] [--json FILE]

Each line is a program that is started anew in every round, measured with all that it starts (user
and system time). The cache is in a temporary folder, and so are the compiled loops of Numba where a
line says that they are cold:

    peers                    nothing; numpy; gymnasium; gym.make("CartPole-v1")
    command                  import solvent, solvent --help, solvent list
    environments             gym.make of FFCombat, Greed and FootballStrategy: first with an empty
                             cache, from then on, and with SOLVENT_CACHE=off
    solve ff-combat          with nothing compiled, from then on, and with SOLVENT_CACHE=off

A first time is measured once, everything else in alternating rounds of which the least counts. The
environments are compared: from the same seed the same observations with and without the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]

MAKE = """
import gymnasium, solvent
env = gymnasium.make("{id}")
seen = [env.reset(seed=3)[0].tolist()]
for k in range(20):
    observation, reward, over, _, info = env.step(int(info["action_mask"].argmax()) if k else 0)
    seen.append([observation.tolist(), reward])
    if over:
        break
print(seen)
"""

IDS = {
    "FFCombat": "solvent/FFCombat-v0",
    "Greed": "solvent/Greed-v0",
    "FootballStrategy": "solvent/FootballStrategy-v0",
}

PEERS = {
    "python -c pass": "pass",
    "import numpy": "import numpy",
    "import gymnasium": "import gymnasium",
    'gym.make("CartPole-v1")': 'import gymnasium; gymnasium.make("CartPole-v1").reset(seed=3)',
    "import solvent": "import solvent",
}


class Program(NamedTuple):
    """What is started."""

    name: str
    words: list[str]
    environment: dict[str, str]


def programs(cache: Path) -> list[Program]:
    """All lines that are measured in rounds; those with a cache find what the first has kept."""
    kept, off = {"SOLVENT_CACHE": str(cache)}, {"SOLVENT_CACHE": "off"}
    listed = [Program(name, ["-c", code], kept) for name, code in PEERS.items()]
    for word in ("--help", "list"):
        listed += [Program(f"solvent {word}", ["-m", "solvent", word], kept)]
    for name, env_id in IDS.items():
        for label, environment in (("", kept), (", cache off", off)):
            code = MAKE.format(id=env_id)
            listed.append(Program(f"gym.make {name}{label}", ["-c", code], environment))
    for label, environment in (("", kept), (", cache off", off)):
        words = ["-m", "solvent", "solve", "ff-combat"]
        listed.append(Program(f"solvent solve ff-combat{label}", words, environment))
    return listed


def firsts(cache: Path, compiled: Path) -> list[Program]:
    """The lines that are measured once: nothing is kept yet, and for one nothing is compiled."""
    kept = {"SOLVENT_CACHE": str(cache)}
    cold = {**kept, "NUMBA_CACHE_DIR": str(compiled)}
    words = ["-m", "solvent", "solve", "ff-combat"]
    listed = [Program("solvent solve ff-combat, nothing compiled", words, cold)]
    for name, env_id in IDS.items():
        code = MAKE.format(id=env_id)
        listed.append(Program(f"gym.make {name}, nothing kept", ["-c", code], kept))
    return listed


def run(program: Program) -> tuple[float, str]:
    """CPU seconds of a program, and what it printed."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, **program.environment}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *program.words], capture_output=True, text=True, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program.name}:\n{done.stderr}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, done.stdout


def measure(rounds: int, only: list[str]) -> dict[str, float]:
    """The CPU seconds of every line; raises if the cache changes what an environment shows."""

    def wanted(listed: list[Program]) -> list[Program]:
        return [one for one in listed if not only or any(word in one.name for word in only)]

    seconds: dict[str, float] = {}
    printed: dict[tuple[str, ...], str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        cache, compiled = Path(scratch) / "cache", Path(scratch) / "compiled"
        once, often = wanted(firsts(cache, compiled)), wanted(programs(cache))
        # Whatever is compiled in this copy is compiled now, or a first time would be that as well.
        for program in often:
            run(program._replace(environment={"SOLVENT_CACHE": "off"}))
        for program in [*once, *(one for _ in range(rounds) for one in often)]:
            spent, text = run(program)
            seconds[program.name] = min(spent, seconds.get(program.name, spent))
            if "gym.make" in program.name:
                assert printed.setdefault(tuple(program.words), text) == text, program.name
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], help="lines with one of these words")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    seconds = measure(asked.rounds, asked.only)
    print(f"{'CPU seconds of a fresh process':<46}")
    for name, spent in seconds.items():
        print(f"{name:<46}{spent:7.2f}")
    if asked.json:
        figures: dict[str, Any] = {"cpu_seconds": seconds}
        asked.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
