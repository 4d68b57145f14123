"""CPU time a matrix game of football with a clock, beside QuantEcon and HiGHS, in one run.

    python benchmarks/timed_football.py [--form second-half] [--ticks 24] [--margin 14]
                                        [--timeouts 0] [--sample 2000]

    solve_layers           all layers of the form's last ticks, one thread: what follows, payoffs,
                           games and certificate
    solve_matrix_games     games sampled from the last layer, their payoffs being given
    QuantEcon minmax       the same, called from a loop compiled by numba
    HiGHS                  the same by scipy's linprog, some of them

Values are compared before anything is timed. Time is CPU time of the process after one tick to
compile; the first line counts the states that need no game as well, but divides by the games only.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numba import njit
from quantecon.optimize import minmax

from solvent.exact.layered.solve import Workers, proved_errors, solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.exact.matrix_game import solve_matrix_game, solve_matrix_games
from solvent.games.football.ruleset import ClockRules
from solvent.games.football.solver.backup import backup_of
from solvent.games.football_clock.layers import FootballLayers, Layer
from solvent.games.football_clock.rules import TimedFootball
from solvent.model.arrays import Floats

ACCURACY = 1e-9
# Games for HiGHS.
FEW = 200


def cpu_time(task: Callable[[], object], rounds: int = 3) -> float:
    """The least CPU time of a task, in seconds."""
    least = np.inf
    for _ in range(rounds):
        begun = time.process_time()
        task()
        least = min(least, time.process_time() - begun)
    return float(least)


@njit
def minmax_in_a_loop(payoffs: Floats) -> Floats:
    values = np.zeros(len(payoffs))
    for g in range(len(payoffs)):
        values[g] = minmax(payoffs[g])[0]
    return values


def sampled_games(layout: FootballLayers, store: LayerStore, layer: Layer, count: int) -> Floats:
    """Payoffs [G, m, n] of first downs of a layer in which all plays are allowed."""
    problem = layout.problem(layer, store.read)
    legal = layout.rules.legal[: layout.lines].sum(axis=1)
    rows = np.flatnonzero(legal == legal[-1])
    undecided, backup = np.flatnonzero(~problem.constant), backup_of(layout.rules)
    random = np.random.default_rng(0)
    games = []
    while len(games) < count:
        row = int(random.choice(rows))
        leads = backup.leads(np.array([row]))[:, : len(problem.values)]
        results, _ = backup.choose(leads @ problem.values[:, random.choice(undecided)])
        games.append(backup.calls(results)[0, : layout.rules.chart.plays + 1])
    return np.array(games)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--form", choices=("half", "second-half"), default="second-half")
    parser.add_argument("--ticks", type=int, default=24, help="of the form's end (default 24)")
    parser.add_argument("--margin", type=int, default=14, help="the largest (default 14)")
    parser.add_argument("--timeouts", type=int, default=0)
    parser.add_argument("--sample", type=int, default=2000, help="games given to the peers")
    options = parser.parse_args()

    clock = ClockRules(timeouts=options.timeouts, largest_margin=options.margin)
    tick, layout = (
        FootballLayers(TimedFootball(form=options.form, clock=clock.shortened(ticks)))
        for ticks in (1, options.ticks)
    )
    solve_layers(tick, LayerStore(tick))
    store = LayerStore(layout)
    seconds = cpu_time(lambda: solve_layers(store.game, store, workers=Workers(1)), rounds=1)
    states = sum(map(layout.states, layout.layers))

    payoffs = sampled_games(layout, store, layout.layers[-1], options.sample)
    few = payoffs[:FEW]
    ours = solve_matrix_games(payoffs).value
    for name, values in (
        ("QuantEcon", minmax_in_a_loop(payoffs)),
        ("HiGHS", np.array([solve_matrix_game(payoff).value for payoff in few])),
    ):
        error = np.abs(ours[: len(values)] - values).max()
        if not error <= ACCURACY:
            print(f"  {name} differs by {error:.1e}")
    each = {
        "solve_layers, all in": seconds / store.games,
        "solve_matrix_games": cpu_time(lambda: solve_matrix_games(payoffs)) / len(payoffs),
        "QuantEcon minmax": cpu_time(lambda: minmax_in_a_loop(payoffs)) / len(payoffs),
        "HiGHS": cpu_time(lambda: [solve_matrix_game(one) for one in few], 1) / len(few),
    }
    print(
        f"{options.form}, {options.ticks} ticks, margins to {options.margin}, "
        f"{options.timeouts} time-outs: {states:,} states, {store.games:,} games, "
        f"{states / seconds:,.0f} states a second, largest gap {store.largest_gap:.0e}, "
        f"error {proved_errors(store)[layout.layers[-1]]:.0e}"
    )
    print(f"  {'':24}{'us a game':>12}{'times solve_layers':>20}")
    for name, taken in each.items():
        print(f"  {name:24}{taken * 1e6:12.2f}{taken / each['solve_layers, all in']:20.1f}")


if __name__ == "__main__":
    main()
