"""CPU seconds to solve a game of one cyclic component, beside Storm and QuantEcon, in one run.

    python benchmarks/cycles.py [--random 1000 3000 10000 100000] [--grid 100 316] [--rounds 2]

Two families, whose discount is an exit taken with probability 1 - gamma:

    random    4 actions, each to 5 states drawn at random, normal rewards; gamma .99
    grid      FrozenLake's slippery moves (a third each: as meant, and to either side) on a square
              without holes, from one corner to the opposite one, reward 1; gamma .999

What is timed, once the model is in memory:

    solvent.solve             the whole of it: components, iteration, certificate, action values
    Storm optimistic          optimistic value iteration, a bracket of 1e-9 around every value
    Storm policy iteration    without a bracket; random family only (on grids it takes long)
    QuantEcon                 modified policy iteration, epsilon 1e-9, without a bracket

Storm is stormpy 2.0 (``pip install stormpy``); what is not installed is skipped, and said so. All
have to agree at the start before their times are printed: to 1e-8 of the largest value, and all but
`solve` itself lie within that of its bracket. Storm wants rewards that are not negative, so each of
them is raised by the same amount, which raises every value by that over 1 - gamma. CPU time of the
process, the least of alternating rounds; the ratio is to `solvent.solve`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import solvent
from solvent.model import GameInfo, TabularGame, to_storm
from solvent.model.arrays import Floats, Ints

AGREE = 1e-8
"""How far values at the start may be apart, in units of the largest value."""

PRECISION = 1e-9


@dataclass(frozen=True)
class Problem:
    """A discounted decision process in which every one of n states has as many actions.

    ==================  =============  ========================================================
    ``target``          [n A, B] int   where each action leads, n for the end
    ``probability``     [n A, B]       how likely, without the discount
    ``reward``          [n A]          expected
    ``gamma``           float          the discount
    ==================  =============  ========================================================
    """

    name: str
    n: int
    target: Ints
    probability: Floats
    reward: Floats
    gamma: float

    def table(self) -> TabularGame:
        """The game: each action ends it with probability 1 - gamma."""
        rows, outcomes = self.target.shape[0], self.target.shape[1] + 1
        actions = rows // self.n
        target = np.column_stack((self.target, np.full(rows, self.n)))
        chance = np.column_stack((self.gamma * self.probability, np.full(rows, 1 - self.gamma)))
        masks = [np.ones((self.n + 1, count), bool) for count in (actions, 1)]
        for mask in masks:
            mask[self.n] = False
        initial = np.zeros(self.n + 1)
        initial[0] = 1.0
        names = tuple(str(a) for a in range(actions))
        return TabularGame(
            info=GameInfo(self.name, 1, (names,), False, (-np.inf, np.inf), ()),
            states=range(self.n + 1),
            row_start=np.append(np.arange(self.n + 1) * actions, rows),
            outcome_start=np.arange(rows + 1) * outcomes,
            next_state=target.ravel(),
            probability=chance.ravel(),
            outcome_reward=np.repeat(self.reward, outcomes),
            mask=(masks[0], masks[1]),
            initial=initial,
        )

    def moves(self) -> Any:
        """The probabilities of the next state without the discount, a sparse matrix [n A, n+1]."""
        rows, outcomes = self.target.shape
        where = (np.repeat(np.arange(rows), outcomes), self.target.ravel())
        return csr_array((self.probability.ravel(), where), shape=(rows, self.n + 1))


def random_problem(n: int) -> Problem:
    rng = np.random.default_rng(0)
    target = rng.integers(0, n, (4 * n, 5))
    chance = rng.dirichlet(np.ones(5), 4 * n)
    return Problem(f"random {n}", n, target, chance, rng.normal(size=4 * n), 0.99)


def grid_problem(m: int) -> Problem:
    y, x = np.divmod(np.arange(m * m), m)
    steps = [(0, -1), (1, 0), (0, 1), (-1, 0)]
    place = [np.clip(y + b, 0, m - 1) * m + np.clip(x + a, 0, m - 1) for a, b in steps]
    target = np.stack([np.stack([place[d % 4] for d in (a - 1, a, a + 1)], 1) for a in range(4)], 1)
    target = target.reshape(-1, 3)
    # The last place is the end. No move begins there, but the game is one state short without it.
    goal = target == m * m - 1
    target[goal] = m * m
    target[-4:] = m * m
    gamma = 0.999
    reward = goal.sum(axis=1) * gamma / 3
    return Problem(f"grid {m} x {m}", m * m, target, np.full(target.shape, 1 / 3), reward, gamma)


def storm(problem: Problem, method: str) -> Callable[[], float]:
    """What computes the value at the start with Storm, the model being built here."""
    import stormpy
    from stormpy import environments

    raised = max(0.0, -float(problem.reward.min()))
    table = problem.table()
    model = to_storm(replace(table, outcome_reward=table.outcome_reward + raised))
    environment = environments.Environment()
    solver = environment.solver().min_max()
    solver.method = getattr(environments.MinMaxMethod, method)
    solver.precision = stormpy.Rational(PRECISION)
    solver.relative_termination_criterion = False
    wanted = stormpy.parse_property('R{"reward"}max=? [F "end"]')

    def run() -> float:
        result = stormpy.model_checking(model, wanted, environment=environment)
        return float(result.get_value(0)) - raised / (1 - problem.gamma)

    return run


def quantecon(problem: Problem) -> Callable[[], float]:
    """What computes the value at the start with QuantEcon."""
    from quantecon.markov import DiscreteDP

    n, rows = problem.n, problem.target.shape[0]
    actions = rows // n
    end = csr_array(([1.0], ([0], [n])), shape=(1, n + 1))
    from scipy.sparse import csr_matrix, vstack

    process = DiscreteDP(
        np.append(problem.reward, 0.0),
        csr_matrix(vstack((problem.moves(), end))),
        problem.gamma,
        np.append(np.repeat(np.arange(n), actions), n),
        np.append(np.tile(np.arange(actions), n), 0),
    )

    def run() -> float:
        found = process.solve(method="mpi", epsilon=PRECISION, max_iter=100_000)
        return float(found.v[0])

    return run


def measure(problem: Problem, rounds: int) -> None:
    table = problem.table()
    found: list[Any] = []

    def run() -> float:
        # A table remembers what was computed about it, so each run has a new one.
        found[:] = [solvent.solve(table_of.pop())]
        return float(found[0].value)

    table_of: list[TabularGame] = []
    solvers: dict[str, Callable[[], float]] = {"solvent.solve": run}
    peers = {
        "Storm optimistic": partial(storm, problem, "OPTIMISTIC_VALUE_ITERATION"),
        "Storm policy iteration": partial(storm, problem, "POLICY_ITERATION"),
        "QuantEcon": partial(quantecon, problem),
    }
    if problem.name.startswith("grid"):
        del peers["Storm policy iteration"]
    for name, make in peers.items():
        try:
            solvers[name] = make()
        except ImportError as error:
            print(f"SKIPPED {name}: {error}")
    least, value = dict.fromkeys(solvers, np.inf), {}
    for _ in range(rounds):
        for name, solve in solvers.items():
            table_of[:] = [problem.table()]
            begin = time.process_time()
            value[name] = solve()
            least[name] = min(least[name], time.process_time() - begin)
    scale = max(1.0, float(np.abs(found[0].values).max()))
    for name, v in value.items():
        if not found[0].lower - AGREE * scale <= v <= found[0].upper + AGREE * scale:
            raise SystemExit(f"{problem.name}: {name} finds {v!r}, not in {found[0]!r}")
    width = found[0].upper - found[0].lower
    print(f"{problem.name}: {table.n_rows} rows, value {found[0].value:.9f}, bracket {width:.1e}")
    for name, seconds in least.items():
        print(f"    {name:<24} {seconds:8.3f} s {seconds / least['solvent.solve']:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random", type=int, nargs="*", default=[1000, 3000, 10_000, 100_000])
    parser.add_argument("--grid", type=int, nargs="*", default=[100, 316])
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    for warm in (random_problem(600), grid_problem(30)):
        solvent.solve(warm.table())
    for n in arguments.random:
        measure(random_problem(n), arguments.rounds)
    for m in arguments.grid:
        measure(grid_problem(m), arguments.rounds)


if __name__ == "__main__":
    main()
