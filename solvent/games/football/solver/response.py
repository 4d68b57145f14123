"""Best responses to strategies of football, in a drive and until the next score, with error bounds.

How much a player loses to an opponent who sees its strategies is the value of the game less what
the strategies get against a best response. In a drive one side's strategies answer for themselves.
Until the next score a side has strategies as offence and as defence, and the best response plays
both sides of the ball too.

Choices between a penalty and a play are part of the strategies. Where none are given, the side
takes what is worth more to it against this very opponent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, PackedRules
from solvent.games.football.solver.certificate import most_calls, rounding
from solvent.games.football.solver.one_drive import after_drive
from solvent.games.football.solver.responses import (
    ATTACK,
    DEFEND,
    ResponseView,
    Strategies,
    best_response_view,
    offence_view,
    opposite,
)
from solvent.games.football.solver.values import (
    BY_VALUE,
    Tables,
    all_by_value,
    choices_by_value,
    rate_kick,
    tables_of,
)
from solvent.model.arrays import Bools, Floats, Ints

TOLERANCE = 1e-11
"""Residual at which a response counts as best; `error` says what that leaves open."""


@dataclass(frozen=True, eq=False)
class DriveResponse:
    """A best response in a drive.

    Attributes:
        values: [S] to the offence, when the response meets the strategies.
        actions: [S] of the side that responds.
        choices: [S, C] probability, here 0 or 1, with which it takes the penalty.
        error: [S] proved bound of the error of `values`.
    """

    values: Floats
    actions: Ints
    choices: Floats
    error: Floats


@dataclass(frozen=True, eq=False)
class PointsResponse:
    """A best response until the next score; values are points to the side that responds.

    Attributes:
        attacking: [S] values where it has the ball.
        defending: [S] values where the strategies have it.
        receiving: Of receiving a kickoff.
        kicking: Of kicking off.
        offence_actions: [S].
        defence_actions: [S].
        error: Proved bound of the error of all values.
    """

    attacking: Floats
    defending: Floats
    receiving: float
    kicking: float
    offence_actions: Ints
    defence_actions: Ints
    error: float


def best_response_drive(
    rules: PackedRules,
    expected_points: ExpectedPoints,
    *,
    offence_strategy: Floats | None = None,
    defence_strategy: Floats | None = None,
    choices: Floats | None = None,
) -> DriveResponse:
    """The best response to the strategies of one side in a drive.

    Args:
        rules: Chart and ruleset.
        expected_points: The values with which drives end.
        offence_strategy: [S, A], if the offence's strategies are answered.
        defence_strategy: [S, m], if the defence's are.
        choices: [S, C] the same side's probabilities of taking the penalty, in the order of
            ``chart.results``; entries of the other side's choices are not read.

    Raises:
        ValueError: If not exactly one side's strategies are given, or they are not distributions
            over legal actions.
        ImproperGameError: If the best response can keep the drive going for ever.
    """
    if (offence_strategy is None) == (defence_strategy is None):
        raise ValueError("give one of the two, offence_strategy or defence_strategy")
    tables = tables_of(rules)
    view = after_drive(rules, expected_points)
    fixed = _checked(rules, tables, offence_strategy, defence_strategy, choices)
    role = ATTACK if offence_strategy is None else DEFEND
    answer = best_response_view(
        tables, fixed, offence_view(view, role), (role,), tolerance=TOLERANCE
    )
    error = _error(tables, fixed, answer, (role,))
    seen = offence_view(answer.view, role)
    own = role * (rules.n_situations + 2)
    return DriveResponse(
        values=seen[: rules.n_situations].copy(),
        actions=answer.actions[role],
        choices=choices_by_value(tables, seen, 1.0, all_by_value(tables)),
        error=error[own : own + rules.n_situations],
    )


def best_response_points(
    rules: PackedRules,
    expected_points: ExpectedPoints,
    *,
    offence_strategy: Floats,
    defence_strategy: Floats,
    choices: Floats | None = None,
) -> PointsResponse:
    """The best response, on both sides of the ball, to a player's strategies until the next score.

    Args:
        rules: Chart and ruleset.
        expected_points: Only the value of a kickoff is read. Both sides play from one chart.
        offence_strategy: [S, A] of the player that is answered.
        defence_strategy: [S, m] of the same.
        choices: [S, C] of the same, as in :func:`best_response_drive`.

    Raises:
        ValueError: If the strategies are not distributions over legal actions, or the expected
            points are of two charts.
        ImproperGameError: If the best response can put off the next score for ever.
    """
    if expected_points.other is not None:
        raise ValueError(
            f"a best response until the next score is for both sides on one chart; these expected "
            f"points are of {expected_points.chart!r} against {expected_points.other.chart!r}"
        )
    tables = tables_of(rules)
    fixed = _checked(rules, tables, offence_strategy, defence_strategy, choices)
    kickoff = expected_points.kickoff
    half = rules.n_situations + 2
    view = np.zeros(2 * half)
    view[half - 2], view[-2] = -kickoff, kickoff
    answer = best_response_view(tables, fixed, view, (ATTACK, DEFEND), tolerance=TOLERANCE)
    error = _error(tables, fixed, answer, (ATTACK, DEFEND))
    theirs = opposite(answer.view)
    kicks = (NORMAL_KICK, ONSIDE_KICK)
    return PointsResponse(
        attacking=answer.view[: half - 2].copy(),
        defending=answer.view[half:-2].copy(),
        receiving=-max(rate_kick(tables, kick, 1.0, theirs) for kick in kicks),
        kicking=max(rate_kick(tables, kick, 1.0, answer.view) for kick in kicks),
        offence_actions=answer.actions[ATTACK],
        defence_actions=answer.actions[DEFEND],
        error=float(error.max()),
    )


def _error(
    tables: Tables, fixed: Strategies, answer: ResponseView, roles: tuple[int, ...]
) -> Floats:
    """A bound of the error of an answer's view, [2(S+2)]."""
    residual = answer.residual + rounding(tables, answer.view, fixed)
    choices = fixed.choices.copy()
    for role in roles:
        made = choices_by_value(tables, offence_view(answer.view, role), 1.0, fixed.choices)
        theirs = tables.chooser != role
        choices[:, theirs] = made[:, theirs]
    return residual * most_calls(tables, fixed._replace(choices=choices), roles)


def _checked(
    rules: PackedRules,
    tables: Tables,
    offence_strategy: Floats | None,
    defence_strategy: Floats | None,
    choices: Floats | None,
) -> Strategies:
    """The strategies that are answered, anything legal in the place of those not given.

    Raises:
        ValueError: If they are not distributions over legal actions.
    """
    every_defence = np.ones((rules.n_situations, rules.chart.defences), bool)
    return Strategies(
        _distributions("offence_strategy", offence_strategy, rules.legal),
        _distributions("defence_strategy", defence_strategy, every_defence),
        _probabilities("choices", choices, (rules.n_situations, len(tables.option))),
    )


def _distributions(name: str, strategy: Floats | None, legal: Bools) -> Floats:
    if strategy is None:
        return np.asarray(legal / legal.sum(axis=1, keepdims=True))
    strategy = np.ascontiguousarray(strategy, float)
    if strategy.shape != legal.shape:
        raise ValueError(f"{name} has shape {strategy.shape}; expected {legal.shape}")
    wrong = (
        ~(strategy >= 0).all(axis=1)
        | (np.abs(strategy.sum(axis=1) - 1) > 1e-9)
        | ((strategy > 0) & ~legal).any(axis=1)
    )
    if wrong.any():
        situation = int(np.argmax(wrong))
        raise ValueError(
            f"{name} of situation {situation} is no distribution over legal actions: "
            f"{strategy[situation].tolist()}"
        )
    return strategy


def _probabilities(name: str, choices: Floats | None, shape: tuple[int, int]) -> Floats:
    if choices is None:
        return np.full(shape, BY_VALUE)
    choices = np.ascontiguousarray(choices, float)
    if choices.shape != shape:
        raise ValueError(f"{name} has shape {choices.shape}; expected {shape}")
    if not ((choices >= 0) & (choices <= 1)).all():
        raise ValueError(f"{name} has an entry that is not a probability")
    return choices
