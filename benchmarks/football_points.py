"""CPU time to solve a chart of Football Strategy, beside the generic solver and HiGHS, in one run.

    python benchmarks/football_points.py [--chart standard] [--sample 300] [--rounds 3]

    solve_drive            football's own solver on a drive, with its certificate
    solve                  the generic solver on the same drive's table, with its bracket
    solve_points           football's own solver on the endless game, with its certificate
    HiGHS, one sweep       the matrix game of every situation once by scipy's linprog, from a sample
                           of situations; value iteration needs tens of such sweeps

Values are compared before anything is timed; building the table is not counted. Time is CPU time of
the process, the least of some rounds after one to compile; what takes more than five seconds is
timed once.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from solvent.exact import solve
from solvent.exact.matrix_game import solve_matrix_game
from solvent.games.football.chart import SHIPPED, load_chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import first_down_at, situation_at
from solvent.games.football.solver.points import call_sheet, solve_drive, solve_points
from solvent.model import compile_game

SLOW = 5.0
ACCURACY = 1e-8


def cpu_time(task: Callable[[], object], rounds: int) -> float:
    """The least CPU time of a task, in seconds."""
    least = np.inf
    for _ in range(rounds):
        begun = time.process_time()
        task()
        least = min(least, time.process_time() - begun)
        if least > SLOW:
            break
    return float(least)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chart", choices=SHIPPED, default="standard")
    parser.add_argument("--sample", type=int, default=300, help="situations given to HiGHS")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds (default 3)")
    options = parser.parse_args()
    if min(options.rounds, options.sample) < 1:
        parser.error("--rounds and --sample have to be at least 1")

    rules = pack_rules(load_chart(options.chart), Ruleset())
    points = solve_points(rules)
    expected = points.expected_points(rules)
    table = compile_game(FootballStrategy(options.chart, expected_points=expected))
    drive, generic = solve_drive(rules, expected), solve(table)
    start = rules.index(first_down_at(rules.ruleset, 80))
    error = abs(drive.values[start] - generic.value)
    if not error <= ACCURACY:
        raise SystemExit(f"the values of the drive differ by {error:.1e}")

    random = np.random.default_rng(0)
    sample = random.choice(rules.n_situations, min(options.sample, rules.n_situations), False)
    sheets = [call_sheet(rules, points, situation_at(rules.ruleset, int(s))) for s in sample]
    for sheet in sheets:
        error = abs(solve_matrix_game(sheet.payoff).value - sheet.value)
        if not error <= ACCURACY:
            raise SystemExit(f"HiGHS differs by {error:.1e} at {sheet.situation}")
    sweep = cpu_time(lambda: [solve_matrix_game(sheet.payoff) for sheet in sheets], options.rounds)

    seconds = {
        "solve_drive": cpu_time(lambda: solve_drive(rules, expected), options.rounds),
        "solve": cpu_time(lambda: solve(table), options.rounds),
        "solve_points": cpu_time(lambda: solve_points(rules), options.rounds),
        "HiGHS, one sweep": sweep * rules.n_situations / len(sheets),
    }
    print(f"chart {options.chart}: {rules.n_situations:,} situations, values equal")
    print(f"  {'':20}{'CPU s':>10}{'times solve_drive':>20}")
    for name, taken in seconds.items():
        print(f"  {name:20}{taken:10.2f}{taken / seconds['solve_drive']:20.1f}")


if __name__ == "__main__":
    main()
