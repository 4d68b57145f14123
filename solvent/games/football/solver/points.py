"""Expected points in football: the endless game, solved until the next score, with a proof.

**The game.** Let G(K) be play from some situation until the next touchdown or field goal, which
pays its points and costs the scorer K, what the other side then has from receiving the kickoff.
(A safety pays 2 and play goes on with a free kick.) G(K) is a zero-sum stochastic game, the same
for both sides. F(K) is the value in it of receiving a kickoff, which the kicker makes in the way
that is worse for the receiver. The endless game has K = F(K); its values are the expected points
of Romer (2006, "Do Firms Maximize? Evidence from Professional Football"), where the difference of
points is what counts and time is no object.

**Two charts.** Where each side plays from a chart of its own, the values of receiving, F0(K) and
F1(K), are two. If the scorer is to go on as well as its opponent does, each score has to be made
even: with a toll g on side 0 at each kickoff, F0(K) - g = K = F1(K) + g. So K is the mean of F0 and
F1, and g, half of their difference, is what the better side gains by each score on average: the
*gain* of the endless game, with scores as its steps (Puterman 1994, chapter 8). On one chart g = 0.
Everything else below holds as it stands, with the mean in the place of F.

K only matters once somebody has scored. If all strategies are kept and K rises by h, a value
changes by h times (chance that the other side scores next - chance that the viewer does). So
|F(K) - F(L)| <= |K - L|, F(K) - K does not rise, and there is one solution.

**Iteration.** With all strategies fixed, values are linear in K and K = F(K) is one division, so
Newton's method (:mod:`solvent.games.football.solver.iteration`) finds K along with the values. If
that does not converge, or ends with calls with which play need not end, as it may where every
possession scores, it is tried again with discounts.

**Certificate.** The iteration is not trusted. At a given K the values are right but for e w
(:mod:`solvent.games.football.solver.certificate`), by symmetry for both sides. That bounds F(K).
Solving and bounding at K - h and K + h, with F above the diagonal at the one and below it at the
other, proves that K is right but for h. Values move no more than K does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import fmean
from typing import TypeAlias

import numpy as np

from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, PackedRules
from solvent.games.football.situation import first_down_at
from solvent.games.football.solver.calls import uniform_calls
from solvent.games.football.solver.certificate import decided, equilibrium_miss, most_calls
from solvent.games.football.solver.iteration import (
    FEW_ROUNDS,
    Iteration,
    NotConvergedError,
    Progress,
)
from solvent.games.football.solver.one_drive import DriveSolution
from solvent.games.football.solver.responses import Strategies, offence_view
from solvent.games.football.solver.values import (
    Tables,
    all_by_value,
    rate_kick,
    tables_of,
)
from solvent.model.arrays import Floats

KICKOFFS = (NORMAL_KICK, ONSIDE_KICK)

NEVER = 1e-9
"""A chance that the kickers are not the next to score which is as good as none."""

Moves: TypeAlias = tuple[Floats, Floats]
"""The w of the certificate, [2(S+2)], with each side as the free one and the viewer."""


@dataclass(frozen=True, eq=False)
class PointsSolution(DriveSolution):
    """The expected points where a side has the ball, and both sides' optimal strategies there.

    Its drives are those of that side, and its view is complete.

    Attributes:
        kickoff_value: K, the value of receiving a kickoff; with two charts the mean of both sides'.
        free_kick_value: Of receiving a free kick.
        lower: Proved lower bound of `kickoff_value`.
        upper: Proved upper bound of `kickoff_value`.
        kicks: Values to the receiver of a normal and of an onside kickoff.
        gain: Points by which each score, on average, leaves this side better off than the other; 0
            where both play from one chart. Its error is at most the largest of `error` of either
            side.
    """

    kickoff_value: float
    free_kick_value: float
    lower: float
    upper: float
    kicks: tuple[float, float]
    gain: float

    def __repr__(self) -> str:
        """The kickoff's value and its bracket."""
        return (
            f"<PointsSolution kickoff {self.kickoff_value:.12g} "
            f"in [{self.lower:.15g}, {self.upper:.15g}]>"
        )

    def expected_points(
        self,
        rules: PackedRules,
        *,
        situations: bool = False,
        other: ExpectedPoints | None = None,
    ) -> ExpectedPoints:
        """The values with which a drive of this side ends.

        Args:
            rules: What was solved; this side's, if each has its own.
            situations: Whether to give the values of all situations too.
            other: Those of the other side, if it has its own.
        """
        chart, ruleset = rules.chart, rules.ruleset
        first_downs = [first_down_at(ruleset, x) for x in range(1, ruleset.field)]
        return ExpectedPoints(
            chart=chart.name,
            chart_hash=chart.hash,
            ruleset_hash=ruleset.hash,
            first_down=tuple(self.values[[rules.index(at) for at in first_downs]].tolist()),
            kickoff=self.kickoff_value,
            free_kick=self.free_kick_value,
            situations=tuple(self.values.tolist()) if situations else None,
            other=other,
        )


def solve_points(
    rules: PackedRules, *, tolerance: float = 1e-7, progress: Progress | None = None
) -> PointsSolution:
    """Solve the endless game of a chart and a ruleset, and prove the result.

    Args:
        rules: Chart and ruleset.
        tolerance: Largest error accepted, in points.
        progress: Called after each round.

    Raises:
        ImproperGameError: If play need not end.
        CertificateError: If the iteration did not converge, or the error could not be bounded by
            `tolerance`.
    """
    return _solve((rules,), tolerance, progress)[0]


def solve_two_charts(
    rules: PackedRules,
    other: PackedRules,
    *,
    tolerance: float = 1e-7,
    progress: Progress | None = None,
) -> tuple[PointsSolution, PointsSolution]:
    """Solve the endless game in which each side plays from a chart of its own, and prove it.

    Args:
        rules: One side's chart, from which it plays when it has the ball, and the ruleset.
        other: The other side's chart, and the same ruleset.
        tolerance: Largest error accepted, in points.
        progress: Called after each round.

    Returns:
        The solution where the one side has the ball, and that where the other has it.

    Raises:
        ValueError: If the rulesets differ.
        ImproperGameError: If play need not end.
        CertificateError: If the iteration did not converge, or the error could not be bounded by
            `tolerance`.
    """
    if rules.ruleset != other.ruleset:
        raise ValueError(
            f"both sides play by one ruleset; these are {rules.ruleset.parameters} and "
            f"{other.ruleset.parameters}"
        )
    first, second = _solve((rules, other), tolerance, progress)
    return first, second


def _solve(
    rules: Sequence[PackedRules], tolerance: float, progress: Progress | None
) -> list[PointsSolution]:
    """The solution where each side has the ball; one that is for both if they share a chart."""
    found = _started(rules)
    kickoff_from = partial(_kickoff, found.tables)
    try:
        found.run(kickoff_from, progress, most=FEW_ROUNDS)
        miss, moves = _bound(found, None)
    except (NotConvergedError, ImproperGameError) as failure:
        found = _started(rules)
        try:
            found.run_discounted(kickoff_from, progress)
            miss, moves = _bound(found, None)
        except (CertificateError, ImproperGameError):
            raise failure from None
    half_width = _bracket_kickoff(found, miss * float(np.max(moves)), moves, tolerance)
    sides = range(len(rules))
    errors = [miss * _longest(moves, side) + half_width for side in sides]
    largest = max(float(error.max()) for error in errors)
    if not largest <= tolerance:
        raise CertificateError(
            f"expected points are proved to within {largest:.1e} only, which is more than "
            f"{tolerance:.1e}"
        )
    return [_of_side(found, side, errors[side], half_width) for side in sides]


def _longest(moves: Moves, side: int) -> Floats:
    """The larger w, [S], where a side has the ball: of its own, or of the other side's."""
    return np.maximum(np.split(moves[side], 2)[0], np.split(moves[1 - side], 2)[1])[:-2]


def _of_side(found: Iteration, side: int, error: Floats, half_width: float) -> PointsSolution:
    """The solution where a side has the ball."""
    view, calls = offence_view(found.view, side), found.calls[side]
    situations = len(error)
    receiving = _receiving(found)
    return PointsSolution(
        values=view[:situations].copy(),
        error=error,
        offence_strategy=calls.offence_strategy,
        defence_strategy=calls.defence_strategy,
        duality_gap=calls.duality_gap,
        view=view,
        kickoff_value=found.kickoff,
        free_kick_value=float(view[-1]),
        lower=found.kickoff - half_width,
        upper=found.kickoff + half_width,
        kicks=receiving[side],
        gain=(min(receiving[side]) - min(receiving[side - 1])) / 2,
        rounds=found.rounds,
    )


def _started(rules: Sequence[PackedRules]) -> Iteration:
    """The iteration before its first round, at uniform calls."""
    situations = rules[0].n_situations
    pair = np.zeros((2 * (situations + 2), 2))
    pair[[situations, -2], 1] = -1.0, 1.0
    tables = tuple(map(tables_of, rules))
    return Iteration(tables, pair, tuple(map(uniform_calls, rules)), 0.0, mirror=len(rules) == 1)


def _kickoff(tables: Sequence[Tables], pair: Floats) -> float:
    """The K with K = F(K), as values depend on K in a pair."""
    return min(-c / (1 + slope) for c, slope in _settling(_kicks(tables, pair)))


def _kicks(tables: Sequence[Tables], pair: Floats) -> list[tuple[float, float]]:
    """Each kickoff's value to the kicker: a constant, and its slope in K.

    With two charts, the mean of both sides' for each pair of kickoffs.
    """
    of_sides = []
    for side in range(len(tables)):
        points, slopes = (offence_view(np.ascontiguousarray(column), side) for column in pair.T)
        of_sides.append(
            [
                (
                    rate_kick(tables[side], kick, 1.0, points),
                    rate_kick(tables[side], kick, 0.0, slopes),
                )
                for kick in KICKOFFS
            ]
        )
    return [
        (fmean(c for c, _ in kicks), fmean(slope for _, slope in kicks))
        for kicks in product(*of_sides)
    ]


def _receiving(found: Iteration) -> list[tuple[float, float]]:
    """What each side has from receiving each kickoff; the other side kicks."""
    kicking = [offence_view(found.view, side) for side in range(len(found.tables))]
    receiving = []
    for side, tables in enumerate(found.tables):
        normal, onside = (rate_kick(tables, kick, 1.0, kicking[side - 1]) for kick in KICKOFFS)
        receiving.append((-normal, -onside))
    return receiving


def _settling(kicks: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The kicks that can be what K = F(K) says, as K falls by less than K when it is kicked.

    A kick from which the kickers are sure to score next gives them c - K. If c is not negative
    they would do it again and again, and no K is low enough; else it is never made.

    Raises:
        ImproperGameError: If there is such a kick, or no other.
    """
    settling = [(c, slope) for c, slope in kicks if 1 + slope > NEVER]
    if not settling or any(c >= 0 for c, slope in kicks if 1 + slope <= NEVER):
        raise ImproperGameError(
            "the value of a kickoff is not determined: the side that kicks is always the next to "
            "score, and kicks again for ever"
        )
    return settling


def _bound(found: Iteration, start: Moves | None) -> tuple[float, Moves]:
    """The e of the certificate at the iteration's K, and the w of each side."""
    miss, fixed = 0.0, []
    for side, (tables, calls) in enumerate(zip(found.tables, found.calls, strict=True)):
        view = offence_view(found.view, side)
        strategies = Strategies(
            calls.offence_strategy, calls.defence_strategy, all_by_value(tables)
        )
        miss = max(miss, equilibrium_miss(tables, view, strategies, free_kick=True))
        fixed.append((tables, decided(tables, view, strategies)))
    moves = [
        most_calls(*fixed[side], other=fixed[side - 1], start=start and start[side])
        for side in range(len(fixed))
    ]
    return miss, (moves[0], moves[-1])


def _bracket_kickoff(found: Iteration, error: float, moves: Moves, tolerance: float) -> float:
    """The h of the module's text, from the error of F(K).

    Raises:
        CertificateError: If there is none up to `tolerance`.
    """
    slope = min(slope for _, slope in _settling(_kicks(found.tables, found.pair)))
    half_width = 8 * error / (1 + slope)
    while half_width <= tolerance:
        if all(_is_beyond(found, sign * half_width, moves) for sign in (-1, 1)):
            return half_width
        half_width *= 4
    raise CertificateError(
        f"the value of a kickoff, {found.kickoff:.9f}, is not proved to within {tolerance:.1e}"
    )


def _is_beyond(found: Iteration, shift: float, moves: Moves) -> bool:
    """Whether K + shift is proved to lie on that side of the K with K = F(K)."""
    there = Iteration(
        found.tables,
        found.pair.copy(),
        found.calls,
        found.kickoff + shift,
        found.mirror,
        found.residual,
    )
    there.run()
    miss, moves = _bound(there, moves)
    value = fmean(map(min, _receiving(there)))
    return bool((there.kickoff - value) * np.sign(shift) > miss * float(np.max(moves)))
