"""Microseconds per 20 x 10 matrix game, beside five other solvers, in one run.

    python benchmarks/matrix_games.py [--games 20000] [--quick] [--json FILE]

Every solver is given the same games of each set:

    random     independent normal payoffs
    football   whole yards with many ties, now and then a touchdown or the ball lost
    ties       payoffs -1, 0 and 1
    blurred    the same, tied up to 1e-12 only, as equal numbers come out of computations

and its mixes are rated by their duality gap max(A y) - min(x A), in units of the payoffs' range;
the largest gap of each solver is in the table. Solvers:

    solve_matrix_games        all games in one call
      warm                    from the solutions of games whose payoffs differ by 1% of the range
    QuantEcon minmax          lp_solve's dense simplex, a call from Python for each game
      own compiled loop       the same function called from a loop compiled by numba
    QuantEcon lemke_howson    on the two payoff matrices
    Nashpy linear_program     HiGHS by way of scipy
    scipy linprog (HiGHS)     solve_matrix_game of this project
    HiGHS, model reused       highspy: one model, whose coefficients change from game to game
      warm                    keeping the basis; every second game is the one before, 1% off
    OpenSpiel                 solve_zero_sum_matrix_game (cvxpy and ECOS)

Time is CPU time of the process; slow solvers get fewer games. The ratio
is to the cold solve_matrix_games of the same set.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import highspy
import nashpy
import numpy as np
import pyspiel
import quantecon.game_theory as qe
from numba import njit
from numpy.typing import NDArray
from open_spiel.python.algorithms.lp_solver import solve_zero_sum_matrix_game
from quantecon.optimize import minmax

from solvent.exact import solve_matrix_game, solve_matrix_games

Floats: TypeAlias = NDArray[np.float64]
Mixes: TypeAlias = tuple[Floats, Floats]

SHAPE = (20, 10)


class Row(NamedTuple):
    """A line of the report; `gap` is the largest, in units of the payoffs' range."""

    games: str
    name: str
    microseconds: float
    ratio: float
    gap: float


def game_sets(count: int) -> dict[str, Floats]:
    rng = np.random.default_rng(0)
    yards = np.rint(rng.normal(4, 6, (count, *SHAPE)))
    luck = rng.random(yards.shape)
    ties = rng.integers(-1, 2, (count, *SHAPE)).astype(float)
    return {
        "random": rng.normal(size=(count, *SHAPE)),
        "football": np.where(luck < 0.03, -40, np.where(luck > 0.97, 45, yards)),
        "ties": ties,
        "blurred": ties + 1e-12 * rng.normal(size=ties.shape),
    }


def moved(payoffs: Floats) -> Floats:
    """Payoffs a little off: the games of a neighbouring state."""
    rng = np.random.default_rng(1)
    spread = np.ptp(payoffs, axis=(1, 2))[:, None, None]
    return payoffs + 0.01 * spread * rng.normal(size=payoffs.shape)


def largest_gap(payoffs: Floats, mixes: Mixes) -> float:
    x, y = mixes
    most = np.einsum("gij,gj->gi", payoffs, y).max(axis=1)
    gap = most - np.einsum("gi,gij->gj", x, payoffs).min(axis=1)
    return float((gap / np.ptp(payoffs, axis=(1, 2))).max())


def one_by_one(solve: Callable[[Floats], tuple[Any, Any]], payoffs: Floats) -> Mixes:
    pairs = [solve(payoff) for payoff in payoffs]
    x, y = (np.array(mixes, float) for mixes in zip(*pairs, strict=True))
    return x, y


@njit
def minmax_in_a_loop(payoffs: Floats) -> Mixes:
    games, m, n = payoffs.shape
    x, y = np.zeros((games, m)), np.zeros((games, n))
    for g in range(games):
        _, x[g], y[g] = minmax(payoffs[g])
    return x, y


def lemke_howson(payoff: Floats) -> tuple[Any, Any]:
    players = [qe.Player(payoff), qe.Player(np.ascontiguousarray(-payoff.T))]
    first, second = qe.lemke_howson(qe.NormalFormGame(players))
    return first, second


def nashpy_program(payoff: Floats) -> tuple[Any, Any]:
    first, second = nashpy.Game(payoff).linear_program()
    return first, second


def openspiel(payoff: Floats) -> tuple[Any, Any]:
    solved = solve_zero_sum_matrix_game(pyspiel.create_matrix_game(payoff, -payoff))
    return np.ravel(solved[0]), np.ravel(solved[1])


def linprog_highs(payoff: Floats) -> tuple[Any, Any]:
    solution = solve_matrix_game(payoff)
    return solution.row_strategy, solution.column_strategy


class ReusedModel:
    """max v subject to (x A)_j >= v, sum x = 1, in one HiGHS model."""

    def __init__(self, *, warm: bool) -> None:
        m, n = SHAPE
        self.warm = warm
        self.model = highspy.Highs()
        self.model.silent()
        for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self.model.setOptionValue(tolerance, 1e-10)
        self.model.setOptionValue("presolve", "off")
        for _ in range(m):
            self.model.addVar(0, highspy.kHighsInf)
        self.model.addVar(-highspy.kHighsInf, highspy.kHighsInf)
        self.model.changeColCost(m, 1.0)
        self.model.changeObjectiveSense(highspy.ObjSense.kMaximize)
        columns = np.arange(m + 1, dtype=np.int32)
        for _ in range(n):
            self.model.addRow(0, highspy.kHighsInf, m + 1, columns, np.append(np.ones(m), -1.0))
        self.model.addRow(1, 1, m, columns[:m], np.ones(m))

    def __call__(self, payoff: Floats) -> tuple[Any, Any]:
        m, n = SHAPE
        low = payoff.min()
        unit = (payoff - low) / (payoff.max() - low)
        for j in range(n):
            for i in range(m):
                self.model.changeCoeff(j, i, unit[i, j])
        if not self.warm:
            self.model.clearSolver()
        self.model.run()
        solution = self.model.getSolution()
        x = np.maximum(solution.col_value[:m], 0)
        y = np.maximum(-np.array(solution.row_dual[:n]), 0)
        return x / x.sum(), y / y.sum()


def ours(payoffs: Floats, **options: Any) -> Mixes:
    solved = solve_matrix_games(payoffs, **options)
    return solved.row_strategy, solved.column_strategy


def measure(name: str, payoffs: Floats, slow: int, rounds: int) -> list[Row]:
    """Time all solvers on one set, `slow` games for the slow ones."""
    rows: list[Row] = []

    def add(what: str, solve: Callable[[Floats], Mixes], games: Floats) -> None:
        solve(games)
        best = np.inf
        for _ in range(rounds):
            begin = time.process_time()
            mixes = solve(games)
            best = min(best, time.process_time() - begin)
        each = best / len(games) * 1e6
        ratio = each / rows[0].microseconds if rows else 1.0
        rows.append(Row(name, what, each, ratio, largest_gap(games, mixes)))

    near = moved(payoffs)
    start = solve_matrix_games(payoffs)
    add("solve_matrix_games", ours, payoffs)
    add("  warm", lambda games: ours(games, start=start), near)
    some, few = payoffs[: 10 * slow], payoffs[:slow]
    add("QuantEcon minmax", lambda games: one_by_one(lambda a: minmax(a)[1:], games), some)
    add("  own compiled loop", minmax_in_a_loop, some)
    for what, solver in (
        ("QuantEcon lemke_howson", lemke_howson),
        ("Nashpy linear_program", nashpy_program),
        ("scipy linprog (HiGHS)", linprog_highs),
        ("HiGHS, model reused", ReusedModel(warm=False)),
        ("OpenSpiel", openspiel),
    ):
        add(what, partial(one_by_one, solver), few)
    # From game to game of two neighbouring states in turn, as in a table of states.
    pairs = np.stack((few, near[:slow]), axis=1).reshape(-1, *SHAPE)
    add("HiGHS, model reused, warm", partial(one_by_one, ReusedModel(warm=True)), pairs)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--games", type=int, default=20_000, help="games of each set")
    parser.add_argument("--quick", action="store_true", help="a tenth of the games, one round")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    arguments = parser.parse_args()
    count = max(arguments.games // (10 if arguments.quick else 1), 200)
    rows: list[Row] = []
    for name, payoffs in game_sets(count).items():
        print(f"\n{name:28} {'us a game':>11} {'ratio':>8} {'largest gap':>12}")
        for row in measure(name, payoffs, count // 100, 1 if arguments.quick else 3):
            print(f"  {row.name:26} {row.microseconds:11.2f} {row.ratio:8.1f} {row.gap:12.1e}")
            rows.append(row)
    if arguments.json:
        arguments.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
