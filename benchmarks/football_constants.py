"""The published agent's constants, from printed strategies, from exact values or from losses.

    python benchmarks/football_constants.py [--chart FILE.csv] [--penalty-alone] [--evaluations N]
    python benchmarks/football_constants.py --values [--chart FILE.csv]
    python benchmarks/football_constants.py --tune [--chart FILE.csv] [--evaluations N]

**From printed strategies.** :func:`fit_to_strategies` asks for the constants by which the agent
makes the strategies that the paper prints in its Tables 1 and 2. Let p and q be the strategies in a
situation and M(w) its payoffs, linear in the weights w. That p and q are an equilibrium of M(w)
with value v says

    (M(w) q)_i <= v,  equal where p_i > 0        (p M(w))_j >= v,  equal where q_j > 0,

which is linear in w and v, so the least sum of violations is a linear program (an inverse
equilibrium problem; Waugh, Ziebart and Bagnell 2011). Rounded strategies, or those of utilities of
another form, violate some. From the program's weights on, the distance of the strategies is
minimized, the sum of the differences of all probabilities. One situation says nothing of constants
that have no part in it; these are kept as they were. Owners of the printed game can enter its chart
and repeat the fit.

**From exact values.** With ``--values`` a regression explains the value in points of every result
by the terms of the agent's utility (:func:`fit_to_values`). On the standard chart these are the
constants of ``fitted-agent``.

**From losses.** With ``--tune`` the sum of both exploitabilities in a drive is minimized. A close
fit of values does not make a good strategy: what a player loses depends on small differences.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog, minimize

from solvent.exact import ImproperGameError
from solvent.exact.matrix_game import solve_matrix_games
from solvent.games.football.baselines import (
    PAPER,
    Constants,
    strategies_of_utilities,
    utility_terms,
)
from solvent.games.football.chart import load_chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import FootballLosses, backup_of
from solvent.games.football.solver.points import solve_points
from solvent.model.arrays import Floats, grouped_sum

# Constants from :func:`tune_constants` on the standard chart in 150 evaluations, rounded.
TUNED = Constants(
    first_down=9.6, touchdown=14.3, turnover=67.3, safety=13.8, last_down=52.8, penalty=6.1,
    share=0.98, favourable_share=0.2,
)  # fmt: skip

# McCulloch 2015, Tables 1 and 2: a situation and how the agent calls plays and defences in it, on
# the printed game's Ball Control chart. The printed probabilities sum to 0.9987 and 1.0046.
TABLES = (
    Situation(1, 10, 80),
    (0, 0.0029, 0.129, 0.5392, 0.123, 0, 0, 0, 0.0204, 0,
     0, 0, 0.1021, 0, 0, 0, 0.0598, 0.0223, 0, 0),
    (0.0024, 0.0341, 0.0594, 0.0772, 0.439, 0.1064, 0.1272, 0.1589, 0, 0),
)  # fmt: skip

# Gains that are tried as the least after which a down is favourable.
GAINS = range(1, 10)


def with_weights(constants: Constants, weights: Floats) -> Constants:
    """Constants with all but the first of :attr:`Constants.weights` given, [8]."""
    bonus, prorated, favourable, *others = weights.tolist()
    names = ("touchdown", "turnover", "safety", "last_down", "penalty")
    return replace(
        constants,
        first_down=bonus,
        share=prorated / bonus,
        favourable_share=favourable / bonus,
        **dict(zip(names, others, strict=True)),
    )


def fit_to_values(rules: PackedRules) -> Constants:
    """Constants from exact values.

    McCulloch 2015 wishes for constants "more rooted in the underlying mathematical principles of
    the game". A result's exact value in points, q(s, r), is what the agent's utility stands for:
    within a situation only differences matter, and the unit does not. So its constants are the
    coefficients of the regression of q on the utility's terms,

        q(s, r)  =  a(s) + b * (yards + sum of weight * term)(s, r),

    one intercept for each situation, by least squares over all results of the chart in all
    situations, each counted once. (The value of a choice is that of what is taken, so choices are
    left out.) What is favourable is kept as it is.

    Args:
        rules: Chart and ruleset; their endless game is solved.
    """
    backup = backup_of(rules)
    values = backup.branches @ backup.following(solve_points(rules).view)
    known = np.diff(rules.arrays.branch_start[:-3]) > 0
    situation = np.repeat(np.arange(rules.n_situations), rules.arrays.results)[known]
    count = np.bincount(situation, minlength=rules.n_situations)
    columns = [*utility_terms(rules)[known].T, values[known]]
    *within, target = [
        column - (grouped_sum(situation, column, len(count)) / np.maximum(count, 1))[situation]
        for column in columns
    ]
    per_yard, *others = np.linalg.lstsq(np.stack(within, axis=1), target, rcond=None)[0]
    return with_weights(PAPER, np.array(others) / per_yard)


# Constants on which utilities depend smoothly.
TUNABLE = (
    "first_down", "touchdown", "turnover", "safety", "last_down", "penalty",
    "share", "favourable_share",
)  # fmt: skip


def tune_constants(
    losses: FootballLosses,
    at: Situation,
    start: Constants = PAPER,
    *,
    evaluations: int = 100,
    progress: Callable[[Constants, float], None] | None = None,
) -> Constants:
    """Minimize the sum of both exploitabilities, by the simplex method of Nelder and Mead.

    The sum is neither smooth nor convex in the constants: what is found is a local minimum. It
    counts as infinite for strategies against which play need not end.

    Args:
        losses: Of drives.
        at: Where the drive in question begins.
        start: Where to begin.
        evaluations: How often the losses may be computed, a few seconds each.
        progress: Told of every evaluation.
    """

    def total(constants: Constants) -> float:
        utilities = terms @ constants.weights
        strategies = strategies_of_utilities(losses.rules, utilities)
        try:
            both = losses.of_offence(strategies) + losses.of_defence(strategies)
            lost = float(both[losses.rules.index(at)])
        except ImproperGameError:
            lost = np.inf
        if progress is not None:
            progress(constants, lost)
        return lost

    terms = utility_terms(losses.rules, start)
    return _least(total, start, TUNABLE, evaluations)[1]


def _least(
    loss: Callable[[Constants], float], start: Constants, names: tuple[str, ...], evaluations: int
) -> tuple[float, Constants]:
    """The least loss that is found from a start, and by which constants."""

    def at(point: Floats) -> float:
        constants = replace(start, **dict(zip(names, point.tolist(), strict=True)))
        lost = loss(constants)
        seen.append((lost, constants))
        return lost

    seen: list[tuple[float, Constants]] = []
    first = np.array([getattr(start, name) for name in names], float)
    steps = [0.2 if name.endswith("share") else 8.0 for name in names]
    simplex = np.vstack((first, first + np.diag(np.maximum(0.4 * np.abs(first), steps))))
    options = {"maxfev": evaluations, "initial_simplex": simplex}
    minimize(at, first, method="Nelder-Mead", options=options)
    # When evaluations run out in the middle of a step, the method does not return the best of them.
    return min(seen, key=lambda pair: pair[0])


# Constants that a first down in the middle of the field tells of, besides the gain.
PRINTED = ("first_down", "turnover", "penalty", "share", "favourable_share")


def fit_to_strategies(
    rules: PackedRules,
    at: Situation,
    offence: ArrayLike,
    defence: ArrayLike,
    start: Constants = PAPER,
    *,
    evaluations: int = 400,
) -> tuple[Constants, float]:
    """The constants by which the agent randomizes most nearly as it is said to, in one situation.

    With the printed game's chart ``fit_to_strategies(rules, *TABLES)`` is the fit to the paper's
    tables.

    Args:
        rules: Chart and ruleset.
        at: A situation before the last down.
        offence: [n] probabilities of the plays; they need not sum to 1, as rounded ones do not.
        defence: [m] probabilities of the defences.
        start: Whose other constants are kept.
        evaluations: How often the distance is computed for each gain in :data:`GAINS`.

    Returns:
        The constants: :data:`PRINTED` and the gain are new. And the distance, the sum of the
        differences of all probabilities of both sides.
    """
    plays, letters = np.asarray(offence, float), np.asarray(defence, float)
    s, cells = rules.index(at), backup_of(rules).cells
    calls = np.flatnonzero(rules.legal[s, : rules.chart.plays + 1])
    wanted = np.append(plays, 0.0)[calls]

    def payoffs(terms: Floats, constants: Constants) -> Floats:
        utilities, _ = backup_of(rules).choose(terms @ constants.weights)
        return np.asarray(call_payoffs(utilities)[0, calls])

    def call_payoffs(utilities: Floats) -> Floats:
        return (utilities @ cells).reshape(len(utilities), -1, rules.chart.defences)

    found = []
    for gain in GAINS:
        begin = replace(start, favourable_gain=gain)
        terms = utility_terms(rules, begin, slice(s, s + 1))

        def distance(constants: Constants, terms: Floats = terms) -> float:
            game = solve_matrix_games(payoffs(terms, constants)[None])
            differences = (game.row_strategy[0] - wanted, game.column_strategy[0] - letters)
            return float(sum(np.abs(one).sum() for one in differences))

        # Which option of a choice is taken depends on the constants, which depend on it.
        rational = begin
        for _ in range(RESOLVED):
            by_term = call_payoffs(_taken(rules, terms, rational).T)[:, calls]
            rational = _rationalized(by_term, wanted, letters, rational)
        found += [_least(distance, one, PRINTED, evaluations) for one in (begin, rational)]
    distance_found, constants = min(found, key=lambda pair: pair[0])
    return constants, distance_found


# Number of times that the linear program is solved again, with the choices of its constants.
RESOLVED = 3


def _taken(rules: PackedRules, terms: Floats, constants: Constants) -> Floats:
    """[R + 2, 9] the terms of a situation, those of a choice being of the option that is taken."""
    taken = terms.copy()
    _, [takes] = backup_of(rules).choose(terms @ constants.weights)
    options = rules.arrays.option
    taken[rules.arrays.chosen_result] = terms[np.where(takes == 1, *options.T)]
    return taken


def _rationalized(
    by_term: Floats, offence: Floats, defence: Floats, others: Constants
) -> Constants:
    """The linear program of the module's text.

    Args:
        by_term: [9, calls, m] the payoffs of each term.
        offence: [calls] the strategy p.
        defence: [m] the strategy q.
        others: Constants, those of :data:`PRINTED` apart.
    """
    p, q = offence / offence.sum(), defence / defence.sum()
    free = [1, 2, 3, 5, 8]  # What PRINTED weighs among the terms.
    fixed = others.weights
    fixed[free] = 0.0
    # Above v is a gain by a deviation, of the offence or with the sign changed of the defence.
    rows = np.concatenate((by_term @ q, -(p @ by_term)), axis=1).T
    sign = np.concatenate((np.ones(len(p)), -np.ones(len(q))))
    used = np.concatenate((p, q)) > 0
    above = np.column_stack((rows[:, free], -sign))
    bounds = -rows @ fixed
    above, bounds = np.vstack((above, -above[used])), np.append(bounds, -bounds[used])
    slack = np.eye(len(bounds))
    solution = linprog(
        np.append(np.zeros(len(free) + 1), np.ones(len(bounds))),
        A_ub=np.hstack((above, -slack)),
        b_ub=bounds,
        bounds=[(None, None)] * (len(free) + 1) + [(0, None)] * len(bounds),
    )
    if not solution.success or abs(solution.x[0]) < 1e-9:
        return others
    fixed[free] = solution.x[: len(free)]
    return with_weights(others, fixed[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chart", default="standard", help="a shipped chart, or a CSV file")
    parser.add_argument("--penalty-alone", action="store_true", help="the other reading of -8")
    parser.add_argument("--values", action="store_true", help="explain exact values instead")
    parser.add_argument("--tune", action="store_true", help="minimize losses in a drive instead")
    parser.add_argument("--evaluations", type=int, help="default 400, or 150 with --tune")
    options = parser.parse_args()
    rules = pack_rules(load_chart(options.chart), Ruleset())
    start = replace(PAPER, penalty_alone=options.penalty_alone)
    if options.values:
        print(fit_to_values(rules))
        return
    if options.tune:
        solution = solve_points(rules)
        losses = FootballLosses(rules, solution.expected_points(rules), solution.values)
        print(tune_constants(losses, TABLES[0], start, evaluations=options.evaluations or 150))
        return
    evaluations = options.evaluations or 400
    constants, distance = fit_to_strategies(rules, *TABLES, start, evaluations=evaluations)
    print(constants)
    print(f"sum of the differences of all probabilities: {distance:.4f}")


if __name__ == "__main__":
    main()
