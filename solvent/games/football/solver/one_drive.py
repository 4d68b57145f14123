"""One drive of football, given what everything is worth that can follow it.

The offence and the defence play until the ball, or the right to kick it, changes hands or somebody
scores; points count, and then the values with which drives end. With those of the endless game
(:mod:`solvent.games.football.solver.points`) the drive is worth what the endless game is worth in
the same situation, and the strategies are optimal there too. Any others will do as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvent.exact.solution import CertificateError
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules
from solvent.games.football.situation import first_down_at
from solvent.games.football.solver.calls import uniform_calls
from solvent.games.football.solver.certificate import decided, equilibrium_miss, most_calls
from solvent.games.football.solver.iteration import Iteration, Progress
from solvent.games.football.solver.responses import ATTACK, DEFEND, Strategies
from solvent.games.football.solver.values import all_by_value, tables_of
from solvent.model.arrays import Floats


@dataclass(frozen=True, eq=False)
class DriveSolution:
    """What a drive is worth from every situation, and both sides' optimal strategies.

    Attributes:
        values: [S] to the offence.
        error: [S] proved bound of the error of `values`.
        offence_strategy: [S, A].
        defence_strategy: [S, m].
        duality_gap: [S] of each matrix game, in points.
        view: [2(S+2)] everything as the kernels read it, see
            :mod:`solvent.games.football.solver.values`; where the other side has the ball only
            its first downs are known, and the rest is 0.
        rounds: How often all matrix games were solved.
    """

    values: Floats
    error: Floats
    offence_strategy: Floats
    defence_strategy: Floats
    duality_gap: Floats
    view: Floats
    rounds: int


def solve_drive(
    rules: PackedRules,
    expected_points: ExpectedPoints,
    *,
    tolerance: float = 1e-7,
    progress: Progress | None = None,
) -> DriveSolution:
    """Solve the drive from every situation, and prove the result.

    Args:
        rules: Chart and ruleset.
        expected_points: The values with which drives end.
        tolerance: Largest error accepted, in points.
        progress: Called after each round.

    Raises:
        ExpectedPointsError: If `expected_points` does not fit the rules.
        ImproperGameError: If a drive need not end.
        CertificateError: If the iteration did not converge, or the error could not be bounded by
            `tolerance`.
    """
    tables = tables_of(rules)
    view = after_drive(rules, expected_points)
    pair = np.stack((view, np.zeros_like(view)), axis=1)
    calls = uniform_calls(rules)
    found = Iteration((tables,), pair, (calls,), expected_points.kickoff, mirror=False)
    found.run(progress=progress)
    (calls,), view = found.calls, found.view
    strategies = Strategies(calls.offence_strategy, calls.defence_strategy, all_by_value(tables))
    miss = equilibrium_miss(tables, view, strategies, free_kick=False)
    fixed = decided(tables, view, strategies)
    attacking = most_calls(tables, fixed, (ATTACK,))[: rules.n_situations]
    defending = most_calls(tables, fixed, (DEFEND,))[rules.n_situations + 2 : -2]
    error = miss * np.maximum(attacking, defending)
    if not error.max() <= tolerance:
        raise CertificateError(
            f"the drive's values are proved to within {error.max():.1e} only, which is more than "
            f"{tolerance:.1e}"
        )
    return DriveSolution(
        values=view[: rules.n_situations].copy(),
        error=error,
        offence_strategy=calls.offence_strategy,
        defence_strategy=calls.defence_strategy,
        duality_gap=calls.duality_gap,
        view=view,
        rounds=found.rounds,
    )


def after_drive(rules: PackedRules, expected_points: ExpectedPoints) -> Floats:
    """The offence's view of all that can follow a drive, 0 within the drive; [2(S+2)].

    Raises:
        ExpectedPointsError: If `expected_points` does not fit the rules.
    """
    expected_points.check_is_for(rules.chart, rules.ruleset)
    half = rules.n_situations + 2
    view = np.zeros(2 * half)
    first_downs = [first_down_at(rules.ruleset, x) for x in range(1, rules.ruleset.field)]
    places = [half + rules.index(situation) for situation in first_downs]
    other = expected_points.other_side
    view[places] = -np.array(other.first_down)
    view[half - 2 : half] = -other.kickoff, -other.free_kick
    view[-2:] = expected_points.kickoff, expected_points.free_kick
    return view
