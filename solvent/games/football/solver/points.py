"""The equilibrium of a drive, and expected points: the endless game solved until the next score.

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

**Iteration.** With all strategies fixed, values are the solution of a linear system, and linear in
K, so K = F(K) is one division. With all values fixed, every situation is a matrix game. Alternating
the two is Newton's method (Pollatschek and Avi-Itzhak 1969, "Algorithms for Stochastic Games with
Geometrical Interpretation"). It takes a few rounds where it converges, which it need not.

**Certificate.** The iteration is not trusted. At a given K the values are right but for e w
(:mod:`solvent.games.football.solver.backup`). What either side's strategies concede to a best
response at K + h, and what they secure at K - h, bounds F there. With F above the diagonal at the
one and below it at the other, K is right but for h, and values move no more than K does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from solvent.exact import CertificateError, ImproperGameError
from solvent.games.football.calls import offence_calls
from solvent.games.football.chart import Chart
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation, first_down_at
from solvent.games.football.solver.backup import (
    EITHER,
    KICKOFFS,
    Backup,
    Strategies,
    after_drive,
    after_score,
    backup_of,
    best_response,
    equilibrium_miss,
    longest_play,
    offence_view,
    opposite,
    rate_kick,
    situation_chain,
)
from solvent.model.arrays import Floats
from solvent.model.cache import Packed, kept

# Chance that counts as zero, of the kickers not being the next to score.
_NEVER = 1e-9


# Rounds after which Newton's method is left; where it converges it takes ten or so.
_ROUNDS = 40


# A residual, in points, that counts as rounding.
_CONVERGED = 1e-13


# Largest error allowed in the equations of the first rounds' chains.
_ROUGH = 1e-3


# Residual to stop at if a round has not halved it; the certificate decides.
_STALLED = 1e-10


TOLERANCE = 1e-7
"""Largest error accepted of any value, in points."""


@dataclass(frozen=True, eq=False)
class DriveSolution:
    """The value of a drive from every situation, and both sides' optimal strategies.

    Attributes:
        values: [S] to the offence.
        error: [S] proved bound of the error of `values`.
        strategies: Those of both sides, and the choices of penalties, which are made by value.
        duality_gap: [S] of each matrix game, in points.
        view: [2(S+2)] everything, see :mod:`solvent.games.football.solver.backup`; where the other
            side has the ball only its first downs are known, and the rest is 0.
    """

    values: Floats
    error: Floats
    strategies: Strategies
    duality_gap: Floats
    view: Floats


@dataclass(frozen=True, eq=False)
class PointsSolution(DriveSolution):
    """The expected points where a side has the ball, and both sides' optimal strategies there.

    Its drives are those of that side, and its view is complete.

    Attributes:
        kickoff_value: K, the value of receiving a kickoff; with two charts the mean of both sides'.
        free_kick_value: Value of receiving a free kick.
        lower: Proved lower bound of `kickoff_value`.
        upper: Proved upper bound of `kickoff_value`.
        gain: Points by which each score, on average, leaves this side better off than the other; 0
            where both play from one chart. Its error is at most the largest of `error` of either
            side.
    """

    kickoff_value: float
    free_kick_value: float
    lower: float
    upper: float
    gain: float

    def expected_points(self, rules: PackedRules) -> ExpectedPoints:
        """Return the values with which a drive of this side ends.

        Args:
            rules: The rules that were solved; this side's, if each has its own.
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
        )


class Call(NamedTuple):
    """A call by name, its chance, and the points that it loses against the other's strategy."""

    name: str
    chance: float
    loss: float


class CallSheet(NamedTuple):
    """The matrix game of one call.

    Attributes:
        situation: The situation.
        value: Points to the offence.
        duality_gap: Duality gap, in points.
        offence: The offence's legal calls, the rows.
        defence: The defence's calls, the columns.
        payoff: [rows, columns] points to the offence.
    """

    situation: Situation
    value: float
    duality_gap: float
    offence: tuple[Call, ...]
    defence: tuple[Call, ...]
    payoff: Floats


def call_sheet(rules: PackedRules, solution: DriveSolution, situation: Situation) -> CallSheet:
    """Return the equilibrium of the call in one situation.

    Args:
        rules: Chart and ruleset.
        solution: Solution of a drive or of the endless game.
        situation: The situation.
    """
    backup, s = backup_of(rules), rules.index(situation)
    actions, names = np.flatnonzero(rules.legal[s]).tolist(), offence_calls(rules.chart)
    payoff = backup.payoffs(backup.results(solution.view)[0])[s, actions]
    x, y = solution.strategies.offence[s, actions], solution.strategies.defence[s]
    value = float(solution.values[s])

    def calls(names: Iterable[str], strategy: Floats, loss: Floats) -> tuple[Call, ...]:
        # A call that is mixed loses nothing but rounding.
        lost = np.where(strategy > 0, 0.0, np.maximum(loss, 0.0))
        return tuple(map(Call, names, strategy.tolist(), lost.tolist()))

    offence = calls([names[action] for action in actions], x, value - payoff @ y)
    defence = calls(rules.chart.letters, y, x @ payoff - value)
    gap = float(solution.duality_gap[s])
    return CallSheet(situation, value, gap, offence, defence, payoff)


def solve_drive(rules: PackedRules, expected_points: ExpectedPoints) -> DriveSolution:
    """Solve the drive from every situation, and prove the result.

    Args:
        rules: Chart and ruleset.
        expected_points: The values with which drives end.

    Raises:
        ExpectedPointsError: If `expected_points` does not fit the rules.
        ImproperGameError: If a drive need not end.
        CertificateError: If the iteration did not converge, or the error could not be bounded by
            :data:`TOLERANCE`.
    """
    backup = backup_of(rules)
    found = _Iteration((backup,), after_drive(rules, expected_points), None)
    found.run()
    both = (backup,) * 2, found.strategies * 2
    lengths = (np.split(longest_play(*both, (role,)), 2)[role][:-2] for role in EITHER)
    miss = equilibrium_miss(backup, found.view, found.strategies[0], free_kick=False)
    error = miss * np.maximum(*lengths)
    return DriveSolution(**found.of_side(0, _accepted(error)))


def solve_points(rules: PackedRules) -> PointsSolution:
    """Solve the endless game of a chart and a ruleset, and prove the result.

    Args:
        rules: Chart and ruleset.

    Raises:
        ImproperGameError: If play need not end.
        CertificateError: If the iteration did not converge, or the error could not be bounded by
            :data:`TOLERANCE`.
    """
    return solve_charts(rules)[0]


def solve_charts(*rules: PackedRules) -> list[PointsSolution]:
    """Solve the endless game in which each side plays from a chart of its own, and prove it.

    Args:
        rules: Each side's chart, from which it plays when it has the ball, and the ruleset, which
            is the same. One stands for both sides.

    Returns:
        The solution where the one side has the ball, and that where the other has it; a single one
        if they share a chart.

    Raises:
        ImproperGameError: If play need not end.
        CertificateError: If the iteration did not converge, or the error could not be bounded by
            :data:`TOLERANCE`.
    """
    assert len({own.ruleset.hash for own in rules}) == 1, "both sides play by one ruleset"
    nothing = np.zeros(2 * (rules[0].n_situations + 2))
    found = _Iteration(tuple(map(backup_of, rules)), nothing, after_score(rules[0], 1.0))
    found.run()
    half_width, errors = _proof(found)
    return [_points(found, side, error, half_width) for side, error in enumerate(errors)]


@lru_cache(maxsize=8)
def expected_points_of(chart: Chart, ruleset: Ruleset, other_chart: Chart) -> ExpectedPoints:
    """Return the expected points of one side, from the cache or by solving the endless game.

    Args:
        chart: Chart of this side.
        ruleset: The numbers in the rules.
        other_chart: Chart of the other side, which may be the same.

    Raises:
        ImproperGameError: As :func:`solve_points`.
        CertificateError: As :func:`solve_points`.
    """
    charts = (chart,) if chart.hash == other_chart.hash else (chart, other_chart)

    def solved() -> ExpectedPoints:
        rules = [pack_rules(one, ruleset) for one in charts]
        found = [
            own.expected_points(of) for own, of in zip(solve_charts(*rules), rules, strict=True)
        ]
        return replace(found[0], other=found[1] if found[1:] else None)

    return kept(
        {
            "what": "expected points",
            "charts": [(one.name, one.hash) for one in charts],
            "ruleset": ruleset.hash,
        },
        solved,
        lambda points: Packed(asdict(points), {}),
        lambda packed: ExpectedPoints.of(packed.header),
    )


def _accepted(error: Floats) -> Floats:
    """The proved errors of all values.

    Raises:
        CertificateError: If one is more than :data:`TOLERANCE`.
    """
    if not error.max() <= TOLERANCE:
        raise CertificateError(
            f"the values are proved to within {error.max():.1e} points only, which is more than "
            f"{TOLERANCE:.1e}"
        )
    return error


class _Iteration:
    """The state of the iteration.

    Args:
        backups: The rules where the viewer has the ball and, if they are others, those where the
            other side has it.
        ends: [2(S+2)] what play ends with, at K = 0.
        slope: [2(S+2)] by how much that rises with K; None in a drive, which has no K.

    Attributes:
        view: [2(S+2)] the viewer's.
        strategies: Equilibria of the calls at the view, for each of the backups.
        gap: [S] the duality gaps of their matrix games, likewise.
        kickoff: The value K of receiving a kickoff.
        kicks: Each kickoff's value to the kicker: a constant, and its slope in K.
        residual: The largest difference between the calls' values and the view.
    """

    def __init__(self, backups: tuple[Backup, ...], ends: Floats, slope: Floats | None) -> None:
        self.backups = backups
        self.view, self.slope = ends, slope
        self.kickoff, self.residual = 0.0, np.inf
        self.gap = [np.zeros(0)] * len(backups)
        self.strategies = [
            backup.uniform._replace(choices=backup.results(offence_view(ends, side))[1])
            for side, backup in enumerate(backups)
        ]
        self._points = ends
        self.kicks: list[tuple[float, float]] = []

    def run(self) -> None:
        """Iterate until nothing changes.

        Raises:
            CertificateError: If the iteration does not converge.
            ImproperGameError: If the kickoff has no value.
        """
        for _ in range(_ROUNDS):
            self.evaluate()
            before, self.residual = self.residual, 0.0
            for side, backup in enumerate(self.backups):
                view = offence_view(self.view, side)
                own = backup.equilibria(view, self.strategies[side])
                self.strategies[side], value, self.gap[side] = own
                missed = np.abs(value - view[: backup.rules.n_situations])
                self.residual = max(self.residual, float(missed.max()))
            # The first small residual may be luck: the chain before it was solved roughly.
            settled = self.residual <= _CONVERGED or self.residual >= before / 2
            if settled and max(before, self.residual) <= _STALLED:
                return
        raise CertificateError(
            f"the iteration did not converge: after {_ROUNDS} rounds the residual is "
            f"{self.residual:.1e} points"
        )

    def of_side(self, side: int, error: Floats) -> dict[str, Any]:
        """The entries of the solution where a side has the ball, with a bound of their errors."""
        view = offence_view(self.view, side)
        return {
            "values": view[: len(error)].copy(),
            "error": error,
            "strategies": self.strategies[side],
            "duality_gap": self.gap[side],
            "view": view,
        }

    def evaluate(self) -> None:
        """Find the values of the calls that are at hand, and K."""
        both = (*self.strategies, *self.strategies)[:2]
        ends = self.slope is None
        chain = situation_chain((self.backups * 2)[:2], (both[0], None) if ends else both)
        within = float(np.clip(self.residual / 100, _CONVERGED / 100, _ROUGH))
        if self.slope is None:
            self.view = chain(self.view, 1.0, within=within)
            return
        self._points = chain(self._points, 1.0, within=within)
        self.slope = chain(self.slope, 0.0, within=within)
        if len(self.backups) == 1:
            # Both sides see the opposite of each other, but for rounding.
            self._points, self.slope = (
                (seen + opposite(seen)) / 2 for seen in (self._points, self.slope)
            )
        self.kicks = _kicks(self.backups, self._points, self.slope)
        self.kickoff = min(-c / (1 + slope) for c, slope in _settling(self.kicks))
        self.view = self._points + self.kickoff * self.slope


def _points(found: _Iteration, side: int, error: Floats, half_width: float) -> PointsSolution:
    """The solution where a side has the ball."""
    # The other side kicks.
    receiving = [
        min(-rate_kick(backup, kick, offence_view(found.view, number)) for kick in KICKOFFS)
        for number, backup in enumerate(found.backups)
    ]
    return PointsSolution(
        **found.of_side(side, error),
        kickoff_value=found.kickoff,
        free_kick_value=float(offence_view(found.view, side)[-1]),
        lower=found.kickoff - half_width,
        upper=found.kickoff + half_width,
        gain=(receiving[side - 1] - receiving[side]) / 2,
    )


def _kicks(backups: Sequence[Backup], points: Floats, slopes: Floats) -> list[tuple[float, float]]:
    """Each kickoff's value to the kicker: a constant, and its slope in K.

    With two charts, the mean of both sides' for each pair of kickoffs.
    """
    of_sides = [
        [
            (
                rate_kick(backup, kick, offence_view(points, side)),
                rate_kick(backup, kick, offence_view(slopes, side), 0.0),
            )
            for kick in KICKOFFS
        ]
        for side, backup in enumerate(backups)
    ]
    return [
        (fmean(c for c, _ in kicks), fmean(slope for _, slope in kicks))
        for kicks in product(*of_sides)
    ]


def _settling(kicks: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The kicks that can be what K = F(K) says, as K falls by less than K when it is kicked.

    A kick from which the kickers are sure to score next gives them c - K. If c is not negative
    they would do it again and again, and no K is low enough; else it is never made.

    Raises:
        ImproperGameError: If there is such a kick, or no other.
    """
    settling = [(c, slope) for c, slope in kicks if 1 + slope > _NEVER]
    if not settling or any(c >= 0 for c, slope in kicks if 1 + slope <= _NEVER):
        raise ImproperGameError(
            "the value of a kickoff is not determined: the side that kicks is always the next to "
            "score, and kicks again for ever"
        )
    return settling


def _proof(found: _Iteration) -> tuple[float, list[Floats]]:
    """The certificate of the module's text, for a given K and for K itself.

    Args:
        found: The iteration's last state.

    Returns:
        The h of the module's text, and the error of the values where each side has the ball, [S].

    Raises:
        ImproperGameError: If play need not end.
        CertificateError: If the error could not be bounded by :data:`TOLERANCE`.
    """
    sides = list(zip(found.backups, found.strategies, strict=True))
    miss = max(
        equilibrium_miss(backup, offence_view(found.view, side), strategies, free_kick=True)
        for side, (backup, strategies) in enumerate(sides)
    )
    # Each side as the free one: first where it has the ball, then where the other has it.
    free = [
        ((backup, sides[side - 1][0]), (own, sides[side - 1][1]))
        for side, (backup, own) in enumerate(sides)
    ]
    lengths = [longest_play(*both) for both in free]

    def is_beyond(shift: float) -> bool:
        """Return True if K + shift is proved to lie on that side of the K with K = F(K)."""
        assert found.slope is not None
        view = found.view + shift * found.slope
        responses = [
            best_response(*both, offence_view(view, side), EITHER, length=length)
            for side, (both, length) in enumerate(zip(free, lengths, strict=True))
        ]
        error = max(float(response.error.max()) for response in responses)
        if shift > 0:
            return found.kickoff + shift > fmean(r.receiving for r in responses) + error
        return found.kickoff + shift < fmean(-r.kicking for r in responses) - error

    slope = min(slope for _, slope in _settling(found.kicks))
    half_width = 16 * miss * float(np.max(lengths)) / (1 + slope)
    while half_width <= TOLERANCE and not (is_beyond(half_width) and is_beyond(-half_width)):
        half_width *= 4
    # The larger w where a side has the ball: of its own, or of the other side's.
    errors = [
        miss * np.maximum(np.split(own, 2)[0], np.split(lengths[side - 1], 2)[1])[:-2] + half_width
        for side, own in enumerate(lengths)
    ]
    return half_width, [_accepted(error) for error in errors]
