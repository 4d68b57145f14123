"""CPU seconds to solve a game of one cyclic component, beside Storm and QuantEcon, in one run.

    python benchmarks/cycles.py [--families random grid walk ...] [--rounds 2] [--small]

The families; a discount is an exit taken with probability 1 - gamma:

    random    4 actions, each to 5 states drawn at random, normal rewards; gamma .99 and .9999
    grid      FrozenLake's slippery moves (a third each: as meant, and to either side) on a square
              without holes, from one corner to the opposite one, reward 1; gamma .999
    walk      the same moves and a cost of 1 each, without a discount
    chain     a birth-death chain: two actions push one way or the other (.6 against .4), normal
              rewards by state; gamma .9999
    river     RiverSwim (Strehl and Littman 2008): .005 for resting at one end, 1 for reaching the
              other against the current; gamma .9999

What is timed, once the model is in memory:

    solvent.solve             the whole of it: components, iteration, certificate, action values
    Storm optimistic          optimistic value iteration, a bracket of 1e-9 around every value;
                              not at gamma .9999, where it is stuck for minutes; for consensus
                              it reads the program itself
    Storm policy iteration    without a bracket; random family at .99 only (elsewhere it takes long)
    QuantEcon                 modified policy iteration, epsilon 1e-9, without a bracket; random and
                              grid
    SuperLU                   policy iteration with SciPy's factorization, without a bracket; chain
                              and river (elsewhere factors fill in)

Storm is stormpy 2.0 (``pip install stormpy``); what is not installed is skipped, and said so. All
have to agree at the start before their times are printed: to 1e-8 of the largest value, and all but
`solve` itself lie within that of its bracket. A program that does not finish its policy iteration
in 500 rounds is reported as such. Storm wants rewards that are not negative: costs are minimized,
and discounted rewards are raised by the same amount, which raises every value by that over
1 - gamma. CPU time of the process, the least of alternating rounds; the ratio is to
`solvent.solve`.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu
from storm_model import to_storm

import solvent
from solvent.model import GameInfo, TabularGame, compile_game, game_from_prism
from solvent.model.arrays import Floats, Ints

# Largest difference allowed between values at the start, in units of the largest value.
AGREE = 1e-8

PRECISION = 1e-9


@dataclass(frozen=True)
class Problem:
    """A decision process in which every one of n states has as many actions.

    ==================  =============  ========================================================
    ``target``          [n A, B] int   where each action leads; n for the end
    ``probability``     [n A, B]       how likely, without the discount
    ``reward``          [n A]          expected; every one is negative if gamma is 1
    ``gamma``           float          the discount, 1 for none
    ``start``           int            the state in which episodes begin
    ==================  =============  ========================================================
    """

    name: str
    n: int
    target: Ints
    probability: Floats
    reward: Floats
    gamma: float
    start: int = 0

    def table(self) -> TabularGame:
        """The game: each action ends it with probability 1 - gamma."""
        rows, one = self.target.shape[0], np.ones(self.n, np.int64)
        count = rows // self.n * one, one
        target = np.column_stack((self.target, np.full(rows, self.n)))
        chance = np.column_stack((self.gamma * self.probability, np.full(rows, 1 - self.gamma)))
        possible = chance > 0
        outcomes = possible.sum(axis=1)
        first, second = (np.arange(own.max()) < np.append(own, 0)[:, None] for own in count)
        names = tuple(tuple(map(str, range(mask.shape[1]))) for mask in (first, second))
        initial = np.zeros(self.n + 1)
        initial[self.start] = 1.0
        return TabularGame(
            info=GameInfo(
                self.name, 1, names[:1], False,
                (-np.inf, np.inf), (),
            ),
            states=range(self.n + 1),
            row_start=np.concatenate(([0], np.cumsum(count[0] * count[1]), [rows])),
            outcome_start=np.concatenate(([0], np.cumsum(outcomes))),
            next_state=target[possible],
            probability=chance[possible],
            outcome_reward=np.repeat(self.reward, outcomes),
            mask=(first, second),
            initial=initial,
        )  # fmt: skip

    def moves(self) -> Any:
        """The probabilities of the next state without the discount, a sparse matrix [n A, n+1]."""
        rows, outcomes = self.target.shape
        where = (np.repeat(np.arange(rows), outcomes), self.target.ravel())
        return csr_array((self.probability.ravel(), where), shape=(rows, self.n + 1))


def random_problem(n: int, gamma: float = 0.99) -> Problem:
    rng = np.random.default_rng(0)
    target = rng.integers(0, n, (4 * n, 5))
    chance = rng.dirichlet(np.ones(5), 4 * n)
    return Problem(f"random {n}, {gamma}", n, target, chance, rng.normal(size=4 * n), gamma)


def slippery_moves(m: int) -> Ints:
    """Where FrozenLake's four moves lead on a square of m x m places, [4 (m^2 - 1), 3].

    The last place is the end, and no move begins there.
    """
    y, x = np.divmod(np.arange(m * m - 1), m)
    steps = [(0, -1), (1, 0), (0, 1), (-1, 0)]
    place = [np.clip(y + b, 0, m - 1) * m + np.clip(x + a, 0, m - 1) for a, b in steps]
    target = np.stack([np.stack([place[d % 4] for d in (a - 1, a, a + 1)], 1) for a in range(4)], 1)
    return target.reshape(-1, 3)


def grid_problem(m: int) -> Problem:
    target, gamma = slippery_moves(m), 0.999
    reward = (target == m * m - 1).sum(axis=1) * gamma / 3
    chance = np.full(target.shape, 1 / 3)
    return Problem(f"grid {m} x {m}", m * m - 1, target, chance, reward, gamma)


def walk_problem(m: int) -> Problem:
    target = slippery_moves(m)
    chance, cost = np.full(target.shape, 1 / 3), np.full(len(target), -1.0)
    return Problem(f"walk {m} x {m}", m * m - 1, target, chance, cost, 1.0)


def chain_problem(n: int) -> Problem:
    place = np.arange(n)
    ways = np.stack((np.minimum(place + 1, n - 1), np.maximum(place - 1, 0)), 1)
    chance = np.tile([[0.6, 0.4], [0.4, 0.6]], (n, 1))
    reward = np.repeat(np.random.default_rng(1).normal(size=n), 2) - np.tile([0.1, 0.0], n)
    return Problem(f"chain {n}", n, np.repeat(ways, 2, axis=0), chance, reward, 0.9999, n // 2)


def river_problem(n: int) -> Problem:
    place = np.arange(n)
    up, down = np.minimum(place + 1, n - 1), np.maximum(place - 1, 0)
    target = np.stack((np.stack((down, down, down), 1), np.stack((up, place, down), 1)), 1)
    chance = np.tile([[1.0, 0.0, 0.0], [0.35, 0.6, 0.05]], (n, 1))
    chance[1], chance[-1] = [0.6, 0.4, 0.0], [0.6, 0.0, 0.4]
    reward = np.zeros(2 * n)
    reward[0], reward[-1] = 0.005, 1.0
    return Problem(f"river {n}", n, target.reshape(-1, 3), chance, reward, 0.9999)


def by_storm(method: str) -> Any:
    """The settings with which Storm uses a method."""
    import stormpy
    from stormpy import environments

    environment = environments.Environment()
    solver = environment.solver().min_max()
    solver.method = getattr(environments.MinMaxMethod, method)
    solver.precision = stormpy.Rational(PRECISION)
    solver.relative_termination_criterion = False
    return environment


def storm(problem: Problem, method: str) -> Callable[[], float]:
    """Return a function that computes the value at the start with Storm; builds the model first."""
    import stormpy

    costs = problem.gamma == 1
    raised = 0.0 if costs else max(0.0, -float(problem.reward.min()))
    table = problem.table()
    given = -table.outcome_reward if costs else table.outcome_reward + raised
    model = to_storm(replace(table, outcome_reward=given))
    environment = by_storm(method)
    wanted = stormpy.parse_property(f'R{{"reward"}}{"min" if costs else "max"}=? [F "end"]')

    def run() -> float:
        result = stormpy.model_checking(model, wanted, environment=environment)
        found = float(result.get_value(problem.start))
        return -found if costs else found - raised / (1 - problem.gamma)

    return run


CONSENSUS = Path(__file__).parents[1] / "tests/data/prism/consensus.prism"
SMALLEST = 'Pmin=? [F "finished" & "ones"]'


def storm_consensus(k: int) -> Callable[[], float]:
    """Return a function that computes the probability with Storm, negative as it is a cost here."""
    import stormpy

    program = stormpy.parse_prism_program(str(CONSENSUS))
    asked = stormpy.parse_property(SMALLEST, program)
    program, [asked] = stormpy.instantiate_constants(program, f"K={k}", [asked])
    model = stormpy.build_model[float](program, [asked])
    environment = by_storm("OPTIMISTIC_VALUE_ITERATION")

    def run() -> float:
        result = stormpy.model_checking(model, asked, environment=environment)
        return -float(result.get_value(model.initial_states[0]))

    return run


def quantecon(problem: Problem) -> Callable[[], float]:
    """Return a function that computes the value at the start with QuantEcon."""
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
        return float(found.v[problem.start])

    return run


def superlu(problem: Problem) -> Callable[[], float]:
    """Return a function that computes the value by policy iteration with sparse factors."""
    moves, n = problem.moves()[:, :-1], problem.n
    actions = problem.target.shape[0] // n

    def run() -> float:
        policy = np.arange(n) * actions
        for _ in range(500):
            matrix = eye_array(n, format="csc") - problem.gamma * csc_array(moves[policy])
            v = splu(matrix).solve(problem.reward[policy])
            q = (problem.reward + problem.gamma * (moves @ v)).reshape(n, actions)
            now = q[np.arange(n), policy % actions]
            better = q.max(axis=1) > now + 1e-12 * np.abs(now)
            if not better.any():
                return float(v[problem.start])
            policy = np.where(better, np.arange(n) * actions + q.argmax(axis=1), policy)
        return float("nan")

    return run


@dataclass(frozen=True)
class Task:
    """A table to solve, and by which other programs: what sets them up returns what is timed."""

    name: str
    table: Callable[[], TabularGame]
    peers: dict[str, Callable[[], Callable[[], float]]]


def task(problem: Problem) -> Task:
    """A problem with the programs that solve its family in a bearable time."""
    peers: dict[str, Callable[[], Callable[[], float]]] = {
        "Storm optimistic": partial(storm, problem, "OPTIMISTIC_VALUE_ITERATION"),
        "Storm policy iteration": partial(storm, problem, "POLICY_ITERATION"),
        "QuantEcon": partial(quantecon, problem),
        "SuperLU": partial(superlu, problem),
    }
    long = problem.gamma == 0.9999
    wanted = {
        "random": ["QuantEcon"]
        if long
        else ["Storm optimistic", "QuantEcon", "Storm policy iteration"],
        "grid": ["Storm optimistic", "QuantEcon"],
        "walk": ["Storm optimistic"],
    }.get(problem.name.split()[0], ["SuperLU"])
    return Task(problem.name, problem.table, {name: peers[name] for name in wanted})


def consensus_task(k: int) -> Task:
    game = game_from_prism(CONSENSUS, property=SMALLEST, constants=f"K={k}")
    table = compile_game(game)
    return Task(
        f"consensus {k}",
        lambda: replace(table),
        {"Storm optimistic": partial(storm_consensus, k)},
    )


def measure(task: Task, rounds: int) -> None:
    found: list[Any] = []
    table_of: list[TabularGame] = []

    def run() -> float:
        # A table remembers what was computed about it, so each run has a new one.
        found[:] = [solvent.solve(table_of.pop())]
        return float(found[0].value)

    solvers: dict[str, Callable[[], float]] = {"solvent.solve": run}
    for name, make in task.peers.items():
        try:
            solvers[name] = make()
        except ImportError as error:
            print(f"SKIPPED {name}: {error}")
    least, value = dict.fromkeys(solvers, np.inf), {}
    for _ in range(rounds):
        for name, solve in solvers.items():
            table_of[:] = [task.table()]
            begin = time.process_time()
            try:
                value[name] = solve()
            except solvent.exact.CertificateError as error:
                print(f"{task.name}: FAILED in {time.process_time() - begin:.1f} s: {error}")
                return
            least[name] = min(least[name], time.process_time() - begin)
    scale = max(1.0, float(np.abs(found[0].values).max()))
    for name, v in value.items():
        if np.isnan(v):
            print(f"    {name} did not settle in 500 rounds")
        elif not found[0].lower - AGREE * scale <= v <= found[0].upper + AGREE * scale:
            raise SystemExit(f"{task.name}: {name} finds {v!r}, not in {found[0]!r}")
    width = found[0].upper - found[0].lower
    print(
        f"{task.name}: {task.table().n_rows} rows, value {found[0].value:.9f}, bracket {width:.1e}"
    )
    for name, seconds in least.items():
        print(f"    {name:<24} {seconds:8.3f} s {seconds / least['solvent.solve']:8.2f}")


def tasks(make: Callable[..., Problem], *sizes: tuple[Any, ...]) -> list[Callable[[], Task]]:
    """Return functions that make the tasks of a family, one for the arguments of each problem."""
    return [partial(lambda size: task(make(*size)), size) for size in sizes]


# The problems of each family, from small to large.
FAMILIES: dict[str, list[Callable[[], Task]]] = {
    "random": tasks(random_problem, (1000,), (3000,), (10_000,), (100_000,), (10_000, 0.9999)),
    "grid": tasks(grid_problem, (100,), (316,)),
    "walk": tasks(walk_problem, (50,), (100,), (200,), (316,)),
    "chain": tasks(chain_problem, (3000,), (10_000,)),
    "river": tasks(river_problem, (3000,), (10_000,)),
    "consensus": [partial(consensus_task, k) for k in (2, 12, 36, 48)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--small", action="store_true", help="only the smallest of each family")
    arguments = parser.parse_args()
    for warm in (random_problem(10_000), grid_problem(100), walk_problem(100), chain_problem(9000)):
        for _ in range(2):
            solvent.solve(warm.table())
    for family in arguments.families:
        for make in FAMILIES[family][: 1 if arguments.small else None]:
            measure(make(), arguments.rounds)


if __name__ == "__main__":
    main()
