"""The reference results of docs/leaderboard/: every algorithm of the package, on whole suites.

For each suite, every algorithm that can do all of its tasks is run with ten seeds, and what it has
learned is packed into docs/leaderboard/SUITE/ALGORITHM. Then the tables of docs/leaderboard.md are
written anew. That takes long; interrupted and run again, it goes on where it was.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from solvent.benchmark.records import BenchRecord, read_bench
from solvent.benchmark.submissions import pack_submission
from solvent.benchmark.suites import find_suite

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", default=["core", "two-player"], metavar="SUITE")
    parser.add_argument("--algorithm", nargs="*", help="names; all of the package if left out")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("reference-results"))
    arguments = parser.parse_args()
    for name in arguments.suites:
        suite = find_suite(name)
        out = arguments.work / suite.name
        subprocess.run(command(name, arguments, out), check=True)
        bench = read_bench(out)
        for algorithm in complete(bench):
            place = DOCS / "leaderboard" / suite.name / algorithm
            shutil.rmtree(place, ignore_errors=True)
            # The project has no public address yet; with one, `code` is due as well.
            pack_submission(out, algorithm, place, suite, authors="The Solvent authors")
            print(f"packed    {place}")
    subprocess.run([sys.executable, DOCS / "scripts" / "leaderboard.py"], check=True)


def command(suite: str, arguments: argparse.Namespace, out: Path) -> list[str]:
    """The bench of a suite."""
    from solvent.benchmark.algorithms import algorithm_points

    names = arguments.algorithm or list(algorithm_points())
    words = [word for name in names for word in ("--algorithm", name)]
    words += ["--seeds", str(arguments.seeds), "--workers", str(arguments.workers)]
    return [
        *(sys.executable, "-m", "solvent", "bench", "--suite", suite, "--out", str(out)),
        *words,
    ]


def complete(bench: BenchRecord) -> list[str]:
    """The algorithms with runs in every task; of the others it is told what they lack."""
    of_tasks = {task.name: {agent.algorithm for agent in task.agents} for task in bench.tasks}
    found = []
    for algorithm in sorted(set().union(*of_tasks.values())):
        lacking = [name for name, there in of_tasks.items() if algorithm not in there]
        if lacking:
            print(f"left out  {algorithm}: no run in {', '.join(lacking)}")
        else:
            found.append(algorithm)
    return found


if __name__ == "__main__":
    main()
