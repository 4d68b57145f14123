"""The published agent's constants, taken from the exact values of football.

McCulloch 2015 wishes for constants "more rooted in the underlying mathematical principles of the
game". A result's exact value in points, q(s, r), is what the agent's utility stands for: within a
situation only differences matter, and the unit does not. So its constants are the coefficients of
the regression of q on the utility's terms,

    q(s, r)  =  a(s) + b * (yards + sum of constant * term)(s, r),

one intercept for each situation, by least squares over all results of the chart in all situations,
each counted once. (The value of a choice is that of what is taken, so choices are left out.)

A close fit of values does not make a good mix: what a player loses depends on small differences.
:func:`tune_constants` minimizes the loss itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from solvent.baselines.football_agent import (
    PAPER,
    Constants,
    agent_mixes,
    choose_by_utility,
    mixes_of_utilities,
    utility_terms,
)
from solvent.baselines.football_losses import FootballLosses
from solvent.exact import ImproperGameError
from solvent.exact.kernels.football import solve_points
from solvent.exact.kernels.football_answers import Mixes
from solvent.exact.kernels.football_values import tables_of
from solvent.games.football.packed import PackedRules
from solvent.model.arrays import Floats, grouped_sum

TUNED = Constants(first_down=6, touchdown=27, turnover=52, safety=12, last_down=57)
"""What :func:`tune_constants` finds on the standard chart from the fitted ones, rounded."""


def fit_constants(rules: PackedRules) -> Constants:
    """The regression of the module's text, on the values of the endless game."""
    terms = utility_terms(rules)
    values = _result_values(rules, solve_points(rules).view)
    known = np.diff(rules.branch_start) > 0
    situation = np.repeat(np.arange(rules.n_situations), rules.n_results)[known]
    count = np.bincount(situation, minlength=rules.n_situations)
    columns = [*terms[known].T, values[known]]
    *within, target = [
        column - (grouped_sum(situation, column, len(count)) / np.maximum(count, 1))[situation]
        for column in columns
    ]
    per_yard, *others = np.linalg.lstsq(np.stack(within, axis=1), target, rcond=None)[0]
    return Constants(*(float(other / per_yard) for other in others))


def fitted_mixes(rules: PackedRules) -> Mixes:
    """The agent's with fitted constants."""
    return agent_mixes(rules, fit_constants(rules))


def _result_values(rules: PackedRules, view: Floats) -> Floats:
    """What every result is worth to the offence, [S (R + 2)]."""
    tables = tables_of(rules)
    row = np.repeat(np.arange(len(tables.branch_start) - 1), np.diff(tables.branch_start))
    terms = tables.probability * (tables.points + view[tables.target])
    return grouped_sum(row, terms, len(tables.branch_start) - 1)


def tune_constants(
    losses: FootballLosses,
    start: Constants = PAPER,
    *,
    evaluations: int = 100,
    progress: Callable[[Constants, float], None] | None = None,
) -> Constants:
    """Minimize the sum of both exploitabilities, by the simplex method of Nelder and Mead.

    The sum is neither smooth nor convex in the constants: what is found is a local minimum. It
    counts as infinite for mixes against which play need not end.

    Args:
        losses: Of the drive in question.
        start: Where to begin.
        evaluations: How often the losses may be computed, a few seconds each.
        progress: Told of every evaluation.
    """

    def total(point: Floats) -> float:
        constants = Constants(*point.tolist())
        utilities = terms @ constants.weights
        mixes = mixes_of_utilities(losses.rules, *choose_by_utility(losses.rules, utilities))
        try:
            lost = losses.of_offence(mixes) + losses.of_defence(mixes)
        except ImproperGameError:
            lost = np.inf
        seen.append((lost, constants))
        if progress is not None:
            progress(constants, lost)
        return lost

    seen: list[tuple[float, Constants]] = []
    terms = utility_terms(losses.rules)
    first = start.weights[1:]
    simplex = np.vstack((first, first + np.diag(np.maximum(0.4 * np.abs(first), 8.0))))
    options = {"maxfev": evaluations, "initial_simplex": simplex}
    minimize(total, first, method="Nelder-Mead", options=options)
    # When evaluations run out in the middle of a step, the method does not return the best of them.
    return min(seen, key=lambda pair: pair[0])[1]
