"""Best responses to fixed strategies in football, with proved error bounds.

Against fixed strategies the other, *free* side faces a Markov decision process. It plays offence
and defence by turns until the next score, or only one of the two in a drive. Policy iteration finds
its best response: respond one call ahead in every situation, evaluate the response, and repeat
until nothing improves. The objective is points, or else the number of calls, which bounds how long
play can last.

**The bound.** Fix the strategies of one side and let the free side play anything. A view is an
array of values to one side (:mod:`solvent.games.football.solver.backup`). Let w be a view of the
free side with

    w(s)  >=  1 + the largest expected w of what follows, over the free side's calls and choices,

and w = 0 where play has ended. Suppose that the residuals of the best-response equations at a view
V are at most e everywhere. Then V + e w is at least the right-hand sides of the equations at
V + e w, so no response gets more than V + e w. The bound e w has its own size in each state. For an
equilibrium, e is the largest gain over V of a response, one call ahead, to either side's
strategies.

**Finding w.** If w >= 0 and its right-hand sides exceed it by at most r < 1 everywhere, then
w / (1 - r) satisfies the inequality above, as division by 1 - r shows. So the policy iteration that
maximizes the number of calls need not converge; it only has to make r small enough. If it cannot, a
side may be able to keep play going for ever, and values until the next score may not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from solvent.exact import CertificateError, ImproperGameError
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK, PackedRules
from solvent.games.football.situation import first_down_at
from solvent.games.football.solver.backup import (
    BY_VALUE,
    Backup,
    Equilibria,
    Strategies,
    against_defence,
    against_offence,
    backup_of,
    offence_view,
    opposite,
    rate_kick,
    situation_chain,
)
from solvent.model.arrays import Floats, Ints

ATTACK, DEFEND = 0, 1
"""The halves of a view: its side has the ball, or the other side has it."""

EITHER = (ATTACK, DEFEND)

KICKOFFS = (NORMAL_KICK, ONSIDE_KICK)

TIE = 1e-13
"""Actions closer than this are equally good: rounding must not make policies change."""

TOLERANCE = 1e-12
"""Residual at which policy iteration stops; the proved error accounts for what remains."""

EXCESS = 0.5
"""The r of the module's docstring at which policy iteration stops."""

ROUNDING = 1e-6
"""Upper bound on the error in r from rounding."""

NEED_NOT_END = (
    "play need not end: no bound was found on how long one side can put off the next score against "
    "the other side's fixed strategies"
)

ROUNDS = 100


class Half(NamedTuple):
    """The rules and the fixed strategies in one half of a view.

    Attributes:
        backup: The rules of the side that has the ball there.
        strategies: The strategies that are not free to change.
    """

    backup: Backup
    strategies: Strategies


@dataclass(frozen=True, eq=False)
class Response:
    """A best response. Values are in points, to the side that responds.

    Attributes:
        view: [2(S+2)] values of all situations and kicks.
        error: [2(S+2)] proved error bounds of `view`.
        receiving: The value of receiving a kickoff, until the next score.
        kicking: The value of kicking off.
    """

    view: Floats
    error: Floats
    receiving: float
    kicking: float

    def values(self, role: int) -> Floats:
        """The values of all situations, [S], where the side is offence or defence."""
        return np.asarray(np.split(self.view, 2)[role][:-2])


def respond(
    rules: PackedRules,
    expected_points: ExpectedPoints,
    strategies: Strategies,
    role: int | None = None,
) -> Response:
    """Respond to a player's fixed strategies.

    Args:
        rules: Chart and ruleset.
        expected_points: The values with which drives end; until the next score only that of a
            kickoff is read, and both sides play from one chart.
        strategies: The fixed strategies.
        role: In a drive :data:`ATTACK` to respond to the defence, :data:`DEFEND` to respond to the
            offence; None to respond on both sides of the ball until the next score.

    Raises:
        ImproperGameError: If the best response can keep play going for ever.
    """
    half = Half(backup_of(rules), strategies)
    if role is None:
        return best_response((half, half), after_score(rules, expected_points.kickoff), EITHER)
    view = offence_view(after_drive(rules, expected_points), role)
    return best_response((half, half), view, (role,))


class FootballLosses(NamedTuple):
    """Exploitabilities of strategies against an opponent who sees them, in points.

    In a drive the offence and the defence are two players. Until the next score a player is both
    by turns, and may begin by kicking off or by receiving the kickoff. Each method raises
    :class:`~solvent.exact.ImproperGameError` if the other side can keep play from ending.

    Attributes:
        rules: Chart and ruleset.
        expected_points: Expected points of the game itself, with which drives end.
        values: [S] the values of a drive, to the offence.
    """

    rules: PackedRules
    expected_points: ExpectedPoints
    values: Floats

    def of_offence(self, strategies: Strategies) -> Floats:
        """Return the losses on offence in a drive from each situation, [S]."""
        found = respond(self.rules, self.expected_points, strategies, DEFEND)
        return self.values + found.values(DEFEND)

    def of_defence(self, strategies: Strategies) -> Floats:
        """Return the losses on defence in a drive from each situation, [S]."""
        found = respond(self.rules, self.expected_points, strategies, ATTACK)
        return found.values(ATTACK) - self.values

    def until_score(self, strategies: Strategies) -> tuple[float, float]:
        """Return the losses from receiving a kickoff, and from kicking off."""
        found = respond(self.rules, self.expected_points, strategies)
        value = self.expected_points.kickoff
        return value + found.kicking, found.receiving - value


def after_drive(rules: PackedRules, expected_points: ExpectedPoints) -> Floats:
    """Return the offence's view after a drive, [2(S+2)]; 0 for what is still in the drive.

    Raises:
        ExpectedPointsError: If `expected_points` does not fit the rules.
    """
    expected_points.check_is_for(rules.chart, rules.ruleset)
    half = rules.n_situations + 2
    view = np.zeros(2 * half)
    first_downs = [first_down_at(rules.ruleset, x) for x in range(1, rules.ruleset.field)]
    other = expected_points.other_side
    view[[half + rules.index(at) for at in first_downs]] = -np.array(other.first_down)
    view[half - 2 : half] = -other.kickoff, -other.free_kick
    view[-2:] = expected_points.kickoff, expected_points.free_kick
    return view


def after_score(rules: PackedRules, kickoff: float) -> Floats:
    """Return a view that is 0 except at the kickoffs that follow a score, [2(S+2)]."""
    view = np.zeros(2 * (rules.n_situations + 2))
    view[rules.n_situations], view[-2] = -kickoff, kickoff
    return view


def best_response(
    halves: tuple[Half, Half],
    view: Floats,
    roles: Sequence[int],
    *,
    length: Floats | None = None,
) -> Response:
    """Respond to fixed strategies, and bound the error.

    Args:
        halves: The fixed parts where the free side has the ball, and where the other side has it.
        view: [2(S+2)] view of the free side: a first guess, and the values with which play ends.
        roles: The halves in which the side is free. With both, play goes on until the next score;
            with one, until the ball or the right to kick goes to the other side.
        length: [2(S+2)] the w of the module's docstring; computed if left out.

    Raises:
        ImproperGameError: If the free side can keep play going for ever.
    """
    found, residual = _iterate(halves, view, roles)
    if length is None:
        decided = []
        for role, (backup, fixed) in enumerate(halves):
            made = backup.results(offence_view(found, role), fixed.choices)[1]
            decided.append(Half(backup, fixed._replace(choices=made)))
        length = longest_play((decided[0], decided[1]), roles)
    terms = max(rounding(half.backup, found) for half in halves)
    theirs = opposite(found)
    return Response(
        view=found,
        error=(residual + terms) * length,
        receiving=-max(rate_kick(halves[DEFEND].backup, kick, theirs) for kick in KICKOFFS),
        kicking=max(rate_kick(halves[ATTACK].backup, kick, found) for kick in KICKOFFS),
    )


def longest_play(
    halves: tuple[Half, Half], roles: Sequence[int] = EITHER, start: Floats | None = None
) -> Floats:
    """Return a w of the module's docstring, with proof, [2(S+2)].

    Args:
        halves: The fixed parts, in which all choices are already made.
        roles: The halves in which the side is free.
        start: A guess.

    Raises:
        ImproperGameError: If no bound was found.
    """
    view = np.zeros(halves[0].backup.branches.shape[1]) if start is None else start
    view, residual = _iterate(halves, view, roles, count=True)
    if not residual <= EXCESS:
        raise ImproperGameError(NEED_NOT_END)
    return np.asarray(view / (1 - residual - ROUNDING))


def _iterate(
    halves: tuple[Half, Half], view: Floats, roles: Sequence[int], *, count: bool = False
) -> tuple[Floats, float]:
    """Run policy iteration; return the view and the largest residual.

    Args:
        halves: The fixed parts.
        view: The view to begin with, and the values with which play ends.
        roles: The halves in which the side is free.
        count: Whether to maximize the number of calls instead of points.

    Raises:
        ImproperGameError: If the free side can keep play going for ever.
    """
    situations = halves[0].backup.rules.n_situations
    actions = np.full((2, situations), -1)
    pay, toll, enough = (0.0, 1.0, EXCESS) if count else (1.0, 0.0, TOLERANCE)
    for _ in range(ROUNDS):
        residual = 0.0
        fixed: list[Strategies | None] = [None, None]
        for role in roles:
            values, actions[role], fixed[role] = _respond(halves, view, role, pay, actions[role])
            known = np.split(view, 2)[role][:situations]
            residual = max(residual, float(np.abs(values + toll - known).max()))
        if len(roles) == 2:
            for role in roles:
                sign, own = 1 - 2 * role, np.split(view, 2)[role]
                kicked = rate_kick(halves[role].backup, SAFETY_KICK, offence_view(view, role), pay)
                residual = max(residual, abs(sign * kicked + toll - float(own[-1])))
        if residual <= enough:
            break
        try:
            chain = situation_chain([half.backup for half in halves], fixed)
            view = chain(view, pay, toll, within=enough / 10)
        except CertificateError as error:
            raise ImproperGameError(NEED_NOT_END) from error
    return view, residual


def equilibrium_miss(
    backup: Backup, view: Floats, strategies: Strategies | Equilibria, *, free_kick: bool
) -> float:
    """Return the e of the module's docstring, plus rounding, where one side has the ball.

    Args:
        backup: The rules of that side.
        view: [2(S+2)] of the offence.
        strategies: The strategies of both sides; choices are made by value.
        free_kick: Whether to include the equation of the free kick.
    """
    rules = backup.rules
    values = view[: rules.n_situations]
    payoffs = backup.payoffs(backup.results(view)[0])
    most = against_defence(payoffs, strategies.defence)[rules.legal]
    of_legal = np.broadcast_to(values[:, None], rules.legal.shape)[rules.legal]
    least = against_offence(payoffs, strategies.offence).min(axis=1)
    miss = max(float((most - of_legal).max()), float((values - least).max()))
    if free_kick:
        after = rate_kick(backup, SAFETY_KICK, view)
        miss = max(miss, abs(after - float(view[rules.n_situations + 1])))
    return miss + rounding(backup, view)


def rounding(backup: Backup, view: Floats) -> float:
    """Return a bound on the rounding error in the payoff of a call against a strategy."""
    rules = backup.rules
    terms = (
        int(np.diff(rules.arrays.branch_start).max())
        + int(np.diff(rules.arrays.mixed_start).max(initial=1))
        + rules.legal.shape[1]
        + rules.chart.defences
        + 8
    )
    largest = float(np.abs(view).max()) + rules.most_points
    return float(terms * np.finfo(float).eps * largest)


def _respond(
    halves: tuple[Half, Half], view: Floats, role: int, pay: float, usual: Ints
) -> tuple[Floats, Ints, Strategies]:
    """Respond one call ahead; return the values, the actions and the strategies then in use."""
    backup, fixed = halves[role]
    seen = offence_view(view, role)
    own = backup.rules.arrays.chooser == role
    choices = np.where(own, BY_VALUE, fixed.choices)
    results, made = backup.results(seen, choices, pay=pay)
    payoffs = backup.payoffs(results)
    if role == ATTACK:
        values = np.where(backup.rules.legal, against_defence(payoffs, fixed.defence), -np.inf)
    else:
        values = -against_offence(payoffs, fixed.offence)
    at = np.arange(len(values))
    actions = values.argmax(axis=1)
    stays = (usual >= 0) & (values[at, usual] >= values[at, actions] - TIE)
    actions = np.where(stays, usual, actions)
    chosen = np.zeros(values.shape)
    chosen[at, actions] = 1.0
    calls = {"offence" if role == ATTACK else "defence": chosen}
    return values.max(axis=1), actions, fixed._replace(choices=made, **calls)
