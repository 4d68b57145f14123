"""CPU time of fresh processes: how long the first command and the first environment take.

    python benchmarks/cold_start.py [--rounds 3] [--only WORD ...] [--json FILE]

Each line is a program that is started anew in every round, measured with all that it starts (user
and system time). The cache is in a temporary folder, and so are the compiled loops of Numba where a
line says that nothing is compiled:

    peers                    nothing; numpy; gymnasium; gym.make("CartPole-v1")
    command                  import solvent, solvent --help, solvent list
    environments             gym.make of FFCombat, Greed and FootballStrategy: first with nothing
                             compiled and an empty cache, from then on, and with SOLVENT_CACHE=off
    solve                    FrozenLake-v1, ff-combat and pig: first with nothing compiled and an
                             empty cache, from then on, and with SOLVENT_CACHE=off

A first time is measured once, everything else in alternating rounds of which the least counts. The
environments are compared: from the same seed the same observations with and without the cache.
"""

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

SOLVED = ("FrozenLake-v1", "ff-combat", "pig")

PEERS = {
    "python -c pass": "pass",
    "import numpy": "import numpy",
    "import gymnasium": "import gymnasium",
    'gym.make("CartPole-v1")': 'import gymnasium; gymnasium.make("CartPole-v1").reset(seed=3)',
    "import solvent": "import solvent",
}


class Program(NamedTuple):
    """A command, and the way it is started."""

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
    for game in SOLVED:
        for label, environment in (("", kept), (", cache off", off)):
            words = ["-m", "solvent", "solve", game]
            listed.append(Program(f"solvent solve {game}{label}", words, environment))
    return listed


def firsts(scratch: Path) -> list[Program]:
    """The lines that are measured once: nothing is kept yet, and nothing is compiled."""
    started = {f"solvent solve {game}": ["-m", "solvent", "solve", game] for game in SOLVED}
    started |= {f"gym.make {name}": ["-c", MAKE.format(id=id_)] for name, id_ in IDS.items()}
    return [
        Program(
            f"{name}, the first time",
            words,
            {
                "SOLVENT_CACHE": str(scratch / f"kept {number}"),
                "NUMBA_CACHE_DIR": str(scratch / f"compiled {number}"),
            },
        )
        for number, (name, words) in enumerate(started.items())
    ]


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
        once, often = wanted(firsts(Path(scratch))), wanted(programs(Path(scratch) / "cache"))
        # Whatever is compiled in this copy is compiled now, and what is kept is kept.
        for program in often:
            run(program)
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
