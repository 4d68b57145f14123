"""CPU time to solve every Fighting Fantasy combat of a box, beside other solvers, in one run.

    python benchmarks/solver.py [--rounds 5] [--json FILE]

Two boxes, each for all 21 SKILL differences and both outcomes of the round just fought:

    whole   STAMINA to 24 and 24, LUCK to 12: the box of Johnston 2022, 314,496 states
    small   STAMINA to 8 and 8, LUCK to 6: 18,816 states, for what is too slow for the other

In a box all contestants solve the same states, and all values are compared before anything is
timed. Those that work on tables are given them ready made; the memoised recursion starts from the
rules. Time is CPU time of the process with all its threads; rounds alternate between the
contestants and the least counts, after one round to warm up and compile. A slow contestant is
timed once, in its first round.

QuantEcon does not discount where it can do without (`backward_induction` over the 48 rounds that
a combat can last) and discounts by 1 - 1e-12 where it cannot (policy iteration).
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, csr_matrix

from solvent.exact import solve
from solvent.exact.decomposition import solve_values
from solvent.games import FightingFantasy
from solvent.games.fighting_fantasy.rules import Combat, luck_succeeds
from solvent.model import TabularGame, compile_game

DIFFERENCES = range(-10, 11)
SLOW = 2.0
REFERENCE = "solve, values only"


class Box(NamedTuple):
    """The extent of a box, and its table with the places of states in it.

    Attributes:
        name: For the report.
        extent: Largest STAMINA of hero and opponent, largest LUCK.
        table: All states that occur in the box.
        place: [21, H, O, L, 2] index of the state after a round (won, lost); -1 if it cannot be.
        chance: [21, 2] of such a round.
    """

    name: str
    extent: tuple[int, int, int]
    table: TabularGame
    place: np.ndarray
    chance: np.ndarray

    def before_the_round(self, values: np.ndarray) -> np.ndarray:
        """[21, H, O, L] values before the outcome, from values of the table's states."""
        rounds = np.where(self.place >= 0, values[self.place], 0.0)
        return (rounds * self.chance[:, None, None, None, :]).sum(axis=-1)


class Contestant(NamedTuple):
    """A solver of a box: `prepare` is not timed, what it returns is."""

    name: str
    boxes: tuple[str, ...]
    prepare: Callable[[Box], Callable[[], np.ndarray]]
    accuracy: float = 1e-9


class Row(NamedTuple):
    """A line of the report."""

    box: str
    name: str
    milliseconds: float
    ratio: float


def make_box(name: str, hero: int, opponent: int, luck: int) -> Box:
    game = FightingFantasy([DIFFERENCES[0], DIFFERENCES[-1]], [1, hero], [1, opponent], [0, luck])
    table = compile_game(game)
    place = np.full((len(DIFFERENCES), hero, opponent, luck + 1, 2), -1)
    for i, state in enumerate(table.states):
        if isinstance(state, Combat) and state.round != "over":
            at = state.difference - DIFFERENCES[0], state.hero - 1, state.opponent - 1, state.luck
            place[*at, int(state.round == "lost")] = i
    chance = np.array(
        [[float(game.next_round(d).get(r, 0)) for r in ("won", "lost")] for d in DIFFERENCES]
    )
    return Box(name, (hero, opponent, luck), table, place, chance)


def generic(box: Box) -> Callable[[], np.ndarray]:
    return lambda: box.before_the_round(solve_values(box.table))


def certified(box: Box) -> Callable[[], np.ndarray]:
    return lambda: box.before_the_round(solve(box.table).values)


def memoised(box: Box) -> Callable[[], np.ndarray]:
    """The straightforward solver: a recursion over tuples with a cache."""
    success = [float(luck_succeeds(luck)) for luck in range(box.extent[2] + 1)]

    def run() -> np.ndarray:
        values = np.empty(box.place.shape[:-1])
        for d, (p_w, p_l) in enumerate(box.chance.tolist()):

            @cache
            def value(hero: int, opponent: int, luck: int, p_w: float, p_l: float) -> float:
                if hero <= 0 or opponent <= 0:
                    return float(hero > 0)
                won = value(hero, opponent - 2, luck, p_w, p_l)
                lost = value(hero - 2, opponent, luck, p_w, p_l)
                if luck > 0:
                    q, less = success[luck], luck - 1
                    good = value(hero, opponent - 4, less, p_w, p_l)
                    bad = value(hero, opponent - 1, less, p_w, p_l)
                    won = max(won, q * good + (1 - q) * bad)
                    good = value(hero - 1, opponent, less, p_w, p_l)
                    bad = value(hero - 3, opponent, less, p_w, p_l)
                    lost = max(lost, q * good + (1 - q) * bad)
                return p_w * won + p_l * lost

            for hero, opponent, luck in np.ndindex(values.shape[1:]):
                values[d, hero, opponent, luck] = value(hero + 1, opponent + 1, luck, p_w, p_l)
        return values

    return run


def discrete_dp(box: Box, discount: float):  # type: ignore[no-untyped-def]
    """The table for QuantEcon; where the episode has ended one action stays there for nothing."""
    from quantecon.markov import DiscreteDP

    table = box.table
    ended = np.flatnonzero(table.terminal)
    state = np.concatenate((table.row_state, ended))
    order = np.argsort(state, kind="stable")
    action = np.concatenate((table.row_action[0], np.zeros(len(ended), int)))
    row = np.concatenate((table.outcome_row, table.n_rows + np.arange(len(ended))))
    transition = csr_matrix(
        (
            np.concatenate((table.probability, np.ones(len(ended)))),
            (row, np.concatenate((table.next_state, ended))),
        ),
        shape=(len(state), table.n_states),
    )
    reward = np.concatenate((table.reward, np.zeros(len(ended))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of a discount of 1.
        return DiscreteDP(reward[order], transition[order], discount, state[order], action[order])


def quantecon_induction(box: Box) -> Callable[[], np.ndarray]:
    from quantecon.markov import backward_induction

    problem = discrete_dp(box, 1.0)
    longest = box.extent[0] + box.extent[1]
    return lambda: box.before_the_round(backward_induction(problem, longest)[0][0])


def quantecon_policy_iteration(box: Box) -> Callable[[], np.ndarray]:
    problem = discrete_dp(box, 1 - 1e-12)
    return lambda: box.before_the_round(problem.solve(method="policy_iteration").v)


def highs(box: Box) -> Callable[[], np.ndarray]:
    """min sum of v subject to v >= r + P v, over the states in which play goes on."""
    table = box.table
    live = np.flatnonzero(~table.terminal)
    place = np.full(table.n_states, -1)
    place[live] = np.arange(len(live))
    inner = place[table.next_state] >= 0
    shape = (table.n_rows, len(live))
    entries = (table.outcome_row[inner], place[table.next_state[inner]])
    transition = csr_array((table.probability[inner], entries), shape=shape)
    own = csr_array(
        (np.ones(table.n_rows), (np.arange(table.n_rows), place[table.row_state])), shape
    )
    values = np.zeros(table.n_states)

    def run() -> np.ndarray:
        program = linprog(
            np.ones(len(live)),
            A_ub=transition - own,
            b_ub=-table.reward,
            bounds=(None, None),
            options={"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10},
        )
        values[live] = program.x
        return box.before_the_round(values)

    return run


CONTESTANTS = (
    Contestant(REFERENCE, ("whole", "small"), generic),
    Contestant("solve, with certificate", ("whole", "small"), certified),
    Contestant("memoised recursion in Python", ("whole", "small"), memoised),
    Contestant("QuantEcon backward_induction", ("whole", "small"), quantecon_induction),
    Contestant("QuantEcon policy iteration", ("small",), quantecon_policy_iteration),
    Contestant("HiGHS on the linear program", ("whole", "small"), highs, accuracy=1e-7),
)


def measure(box: Box, rounds: int) -> Iterator[Row]:
    """Prepare, compare and time all contestants of a box."""
    runs: dict[str, Callable[[], np.ndarray]] = {}
    least: dict[str, float] = {}
    reference = generic(box)()
    for name, boxes, prepare, accuracy in CONTESTANTS:
        if box.name not in boxes:
            continue
        try:
            runs[name] = prepare(box)
        except ImportError as error:
            print(f"left out: {name} ({error})", file=sys.stderr)
            continue
        least[name], values = cpu_time(runs[name])
        error = float(np.abs(values - reference).max())
        if not error <= accuracy:
            raise SystemExit(f"{name}: values differ by {error:.1e} on the {box.name} box")
    for _ in range(rounds):
        for name, run in runs.items():
            if least[name] < SLOW:
                least[name] = min(least[name], cpu_time(run)[0])
    for name, seconds in least.items():
        yield Row(box.name, name, 1e3 * seconds, seconds / least[REFERENCE])


def cpu_time(run: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    begun = time.process_time()
    values = run()
    return time.process_time() - begun, values


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds (default 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as well")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; it has to be at least 1")
    rows: list[Row] = []
    for box in (make_box("small", 8, 8, 6), make_box("whole", 24, 24, 12)):
        print(f"{box.name} box: {box.place.size:,} states, values equal")
        print(f"  {'':34}{'CPU ms':>10}{'times the first':>18}")
        for row in measure(box, options.rounds):
            rows.append(row)
            print(f"  {row.name:34}{row.milliseconds:10.2f}{row.ratio:18,.1f}")
    if options.json:
        options.json.write_text(
            json.dumps([row._asdict() for row in rows], indent=2) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
