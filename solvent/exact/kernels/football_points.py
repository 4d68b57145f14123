"""Expected points in football: the endless game, solved until the next score, with a proof.

**The game.** Let G(K) be play from some situation until the next touchdown or field goal, which
pays its points and costs the scorer K, what the other side then has from receiving the kickoff.
(A safety pays 2 and play goes on with a free kick.) G(K) is a zero-sum stochastic game, the same
for both sides. F(K) is the value in it of receiving a kickoff, which the kicker makes in the way
that is worse for the receiver. The endless game has K = F(K); its values are the expected points
of Romer (2006, "Do Firms Maximize? Evidence from Professional Football"), where the difference of
points is what counts and time is no object.

K only matters once somebody has scored. If all strategies are kept and K rises by h, a value
changes by h times (chance that the other side scores next - chance that the viewer does). So
|F(K) - F(L)| <= |K - L|, F(K) - K does not rise, and there is one solution.

**Iteration.** With all mixes fixed, values are linear in K and K = F(K) is one division, so
Newton's method (:mod:`solvent.exact.kernels.football_iteration`) finds K along with the values. If
that does not converge, or ends with calls with which play need not end, as it may where every
possession scores, it is tried again with discounts.

**Certificate.** The iteration is not trusted. At a given K the values are right but for e w
(:mod:`solvent.exact.kernels.football_certificate`), by symmetry for both sides. That bounds F(K).
Solving and bounding at K - h and K + h, with F above the diagonal at the one and below it at the
other, proves that K is right but for h. Values move no more than K does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from solvent.exact.kernels.football_answers import Mixes
from solvent.exact.kernels.football_calls import uniform_calls
from solvent.exact.kernels.football_certificate import decided, equilibrium_miss, most_calls
from solvent.exact.kernels.football_iteration import (
    FEW_ROUNDS,
    Iteration,
    NotConvergedError,
    Progress,
)
from solvent.exact.kernels.football_values import (
    Tables,
    all_by_value,
    mirrored,
    rate_kick,
    tables_of,
)
from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, PackedRules
from solvent.games.football.situation import first_down_at
from solvent.model.arrays import Floats

KICKOFFS = (NORMAL_KICK, ONSIDE_KICK)

NEVER = 1e-9
"""A chance that the kickers are not the next to score which is as good as none."""


@dataclass(frozen=True, eq=False)
class PointsSolution:
    """The expected points of every situation, and both sides' optimal mixes.

    Attributes:
        values: [S] to the side that has the ball.
        error: [S] proved bound of the error of `values`.
        offence_mix: [S, A].
        defence_mix: [S, m].
        duality_gap: [S] of each matrix game, in points.
        kickoff_value: Of receiving a kickoff.
        free_kick_value: Of receiving a free kick.
        lower: Proved lower bound of `kickoff_value`.
        upper: Proved upper bound of `kickoff_value`.
        kicks: Values to the receiver of a normal and of an onside kickoff.
        rounds: How often all matrix games were solved.
    """

    values: Floats
    error: Floats
    offence_mix: Floats
    defence_mix: Floats
    duality_gap: Floats
    kickoff_value: float
    free_kick_value: float
    lower: float
    upper: float
    kicks: tuple[float, float]
    rounds: int

    def __repr__(self) -> str:
        """The kickoff's value and its bracket."""
        return (
            f"<PointsSolution kickoff {self.kickoff_value:.12g} "
            f"in [{self.lower:.15g}, {self.upper:.15g}]>"
        )

    @property
    def view(self) -> Floats:
        """Everything as the kernels read it (see :mod:`solvent.exact.kernels.football_values`)."""
        return mirrored(np.append(self.values, (-self.kickoff_value, -self.free_kick_value)))

    def expected_points(self, rules: PackedRules, *, situations: bool = False) -> ExpectedPoints:
        """The values with which a drive ends.

        Args:
            rules: What was solved.
            situations: Whether to give the values of all situations too.
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
    tables = tables_of(rules)
    situations = len(tables.order)
    kickoff_from = partial(_kickoff, tables)
    found = _started(tables, rules)
    try:
        found.run(kickoff_from, progress, most=FEW_ROUNDS)
        miss, moves = _bound(found, None)
    except (NotConvergedError, ImproperGameError) as failure:
        found = _started(tables, rules)
        try:
            found.run_discounted(kickoff_from, progress)
            miss, moves = _bound(found, None)
        except (CertificateError, ImproperGameError):
            raise failure from None
    half_width = _bracket_kickoff(found, miss * float(moves.max()), moves, tolerance)
    error = miss * np.maximum(*np.split(moves, 2))[:situations] + half_width
    if not error.max() <= tolerance:
        raise CertificateError(
            f"expected points are proved to within {error.max():.1e} only, which is more than "
            f"{tolerance:.1e}"
        )
    view = found.view
    normal, onside = (rate_kick(tables, kick, 1.0, view) for kick in KICKOFFS)
    return PointsSolution(
        values=view[:situations].copy(),
        error=error,
        offence_mix=found.calls.offence_mix,
        defence_mix=found.calls.defence_mix,
        duality_gap=found.calls.duality_gap,
        kickoff_value=found.kickoff,
        free_kick_value=float(-view[situations + 1]),
        lower=found.kickoff - half_width,
        upper=found.kickoff + half_width,
        kicks=(-normal, -onside),
        rounds=found.rounds,
    )


def _started(tables: Tables, rules: PackedRules) -> Iteration:
    """The iteration before its first round, at uniform calls."""
    situations = len(tables.order)
    pair = np.zeros((2 * (situations + 2), 2))
    pair[[situations, -2], 1] = -1.0, 1.0
    return Iteration(tables, pair, uniform_calls(rules), 0.0, mirror=True)


def _kickoff(tables: Tables, pair: Floats) -> float:
    """The K with K = F(K), as values depend on K in a pair."""
    return min(-c / (1 + slope) for c, slope in _settling(_kicks(tables, pair)))


def _kicks(tables: Tables, pair: Floats) -> list[tuple[float, float]]:
    """Each kickoff's value to the kicker: a constant, and its slope in K."""
    points, slopes = (np.ascontiguousarray(column) for column in pair.T)
    return [
        (rate_kick(tables, kick, 1.0, points), rate_kick(tables, kick, 0.0, slopes))
        for kick in KICKOFFS
    ]


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


def _bound(found: Iteration, start: Floats | None) -> tuple[float, Floats]:
    """The e and the w of the certificate at the iteration's K."""
    tables, view = found.tables, found.view
    mixes = Mixes(found.calls.offence_mix, found.calls.defence_mix, all_by_value(tables))
    miss = equilibrium_miss(tables, view, mixes, free_kick=True)
    return miss, most_calls(tables, decided(tables, view, mixes), start=start)


def _bracket_kickoff(found: Iteration, error: float, moves: Floats, tolerance: float) -> float:
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


def _is_beyond(found: Iteration, shift: float, moves: Floats) -> bool:
    """Whether K + shift is proved to lie on that side of the K with K = F(K)."""
    there = Iteration(
        found.tables, found.pair.copy(), found.calls, found.kickoff + shift, True, found.residual
    )
    there.run()
    miss, moves = _bound(there, moves)
    view = there.view
    value = -max(rate_kick(found.tables, kick, 1.0, view) for kick in KICKOFFS)
    return bool((there.kickoff - value) * np.sign(shift) > miss * float(moves.max()))
