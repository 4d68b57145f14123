"""Bounds of the error of football's values that do not trust the iteration that found them.

Let a side keep to its strategies (as offence, as defence and in choices) while the other, the
*free* side, does as it likes. Write w for a view of the free side with

    w(s)  >=  1 + the largest expected w of what follows, over the free side's calls and choices,

and w = 0 at kickoffs, where play until the next score has ended. If a view V misses the equations
of a best response by at most e everywhere, then V + e w is at least the right-hand sides taken at
V + e w, so no answer gets more than V + e w. Errors are bounded state by state.

For an equilibrium, e is the most by which an answer to either side's strategies, one call ahead,
beats V. Both sides' strategies then confine the value, from above and from below.

**Finding w.** From any w >= 0 whose right-hand sides exceed it by at most r < 1 everywhere,
w / (1 - r) will do: divide the inequality by 1 - r. So the policy iteration that maximizes the
number of calls need not converge, it only has to come that near. If it does not, a side can keep
play going, and values until the next score may not exist.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvent.exact.solution import ImproperGameError
from solvent.games.football.packed import SAFETY_KICK
from solvent.games.football.solver.responses import (
    ATTACK,
    DEFEND,
    Strategies,
    best_response_view,
    respond_to_defence,
    respond_to_offence,
)
from solvent.games.football.solver.values import (
    Tables,
    choices_by_value,
    rate_kick,
)
from solvent.model.arrays import Floats

EXCESS = 0.5
"""The r at which to stop."""

ROUNDING = 1e-6
"""More than rounding adds to r."""


def most_calls(
    tables: Tables,
    fixed: Strategies,
    roles: Sequence[int] = (ATTACK, DEFEND),
    *,
    start: Floats | None = None,
    other: tuple[Tables, Strategies] | None = None,
) -> Floats:
    """A proved w, [2(S+2)], with the free side as the viewer.

    Args:
        tables: The rules.
        fixed: What the side does that keeps to its strategies; no choices by value.
        roles: In which the other side is free, see :func:`best_response_view`.
        start: A guess, such as the w of similar strategies.
        other: The rules where that side has the ball, and what it does there; `tables` and `fixed`
            if left out.

    Raises:
        ImproperGameError: If no bound was found.
    """
    view = np.zeros(2 * (len(tables.order) + 2)) if start is None else start
    answer = best_response_view(
        tables, fixed, view, roles, other=other, count_calls=True, tolerance=EXCESS
    )
    if not answer.residual <= EXCESS:
        raise ImproperGameError(
            "play need not end: against fixed strategies the other side can put off the next score "
            "without a bound that could be found"
        )
    return np.asarray(answer.view / (1 - answer.residual - ROUNDING))


def equilibrium_miss(
    tables: Tables, view: Floats, strategies: Strategies, *, free_kick: bool
) -> float:
    """The e of the module's text, rounding included, where one side has the ball.

    Args:
        tables: The rules.
        view: [2(S+2)] of the offence.
        strategies: Of both sides; choices by value.
        free_kick: Whether the free kick's equation counts.
    """
    situations, defences = strategies.defence.shape
    values = view[:situations]
    nothing = np.full(situations, -1)
    most, _ = respond_to_defence(tables, view, 1.0, strategies.choices, strategies.defence, nothing)
    least, _ = respond_to_offence(
        tables, view, 1.0, strategies.choices, strategies.offence, nothing, defences
    )
    miss = max(float((most - values).max()), float((values - least).max()))
    if free_kick:
        after = rate_kick(tables, SAFETY_KICK, 1.0, view)
        miss = max(miss, abs(after - float(view[situations + 1])))
    return miss + rounding(tables, view, strategies)


def rounding(tables: Tables, view: Floats, strategies: Strategies) -> float:
    """A bound of the rounding error of what a call is worth against a strategy."""
    terms = (
        int(np.diff(tables.branch_start).max())
        + int(np.diff(tables.cell_start).max())
        + strategies.offence.shape[1]
        + strategies.defence.shape[1]
        + 8
    )
    largest = float(np.abs(view).max()) + float(np.abs(tables.points).max())
    return float(terms * np.finfo(float).eps * largest)


def decided(tables: Tables, view: Floats, strategies: Strategies) -> Strategies:
    """The strategies with choices by value made, at the offence's view."""
    return strategies._replace(choices=choices_by_value(tables, view, 1.0, strategies.choices))
