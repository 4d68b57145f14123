"""Best responses to mixes of football, of one drive and until the next score, with error bounds.

How much a player loses to an opponent who sees its mixes is the value of the game less what the
mixes get against a best response. In a drive one side's mixes answer for themselves. Until the
next score a side has mixes as offence and as defence, and the best response plays both sides of
the ball too.

Choices between a penalty and a play are part of the mixes. Where none are given, the side takes
what is worth more to it against this very opponent.
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
    Answer,
    Mixes,
    best_answer,
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
        values: [S] to the offence, when the response meets the mixes.
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
        defending: [S] values where the mixes have it.
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
    offence_mix: Floats | None = None,
    defence_mix: Floats | None = None,
    choices: Floats | None = None,
) -> DriveResponse:
    """The best response to the mixes of one side in a drive.

    Args:
        rules: Chart and ruleset.
        expected_points: The values with which drives end.
        offence_mix: [S, A], if the offence's mixes are answered.
        defence_mix: [S, m], if the defence's are.
        choices: [S, C] the same side's probabilities of taking the penalty, in the order of
            ``chart.results``; entries of the other side's choices are not read.

    Raises:
        ValueError: If not exactly one side's mixes are given, or they are not distributions over
            legal actions.
        ImproperGameError: If the best response can keep the drive going for ever.
    """
    if (offence_mix is None) == (defence_mix is None):
        raise ValueError("give one of the two, offence_mix or defence_mix")
    tables = tables_of(rules)
    view = after_drive(rules, expected_points)
    fixed = _checked(rules, tables, offence_mix, defence_mix, choices)
    role = ATTACK if offence_mix is None else DEFEND
    answer = best_answer(tables, fixed, offence_view(view, role), (role,), tolerance=TOLERANCE)
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
    offence_mix: Floats,
    defence_mix: Floats,
    choices: Floats | None = None,
) -> PointsResponse:
    """The best response, on both sides of the ball, to a player's mixes until the next score.

    Args:
        rules: Chart and ruleset.
        expected_points: Only the value of a kickoff is read. Both sides play from one chart.
        offence_mix: [S, A] of the player that is answered.
        defence_mix: [S, m] of the same.
        choices: [S, C] of the same, as in :func:`best_response_drive`.

    Raises:
        ValueError: If the mixes are not distributions over legal actions, or the expected points
            are of two charts.
        ImproperGameError: If the best response can put off the next score for ever.
    """
    if expected_points.other is not None:
        raise ValueError(
            f"a best response until the next score is for both sides on one chart; these expected "
            f"points are of {expected_points.chart!r} against {expected_points.other.chart!r}"
        )
    tables = tables_of(rules)
    fixed = _checked(rules, tables, offence_mix, defence_mix, choices)
    kickoff = expected_points.kickoff
    half = rules.n_situations + 2
    view = np.zeros(2 * half)
    view[half - 2], view[-2] = -kickoff, kickoff
    answer = best_answer(tables, fixed, view, (ATTACK, DEFEND), tolerance=TOLERANCE)
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


def _error(tables: Tables, fixed: Mixes, answer: Answer, roles: tuple[int, ...]) -> Floats:
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
    offence_mix: Floats | None,
    defence_mix: Floats | None,
    choices: Floats | None,
) -> Mixes:
    """The mixes that are answered, anything legal in the place of those not given.

    Raises:
        ValueError: If they are not distributions over legal actions.
    """
    every_defence = np.ones((rules.n_situations, rules.chart.defences), bool)
    return Mixes(
        _distributions("offence_mix", offence_mix, rules.legal),
        _distributions("defence_mix", defence_mix, every_defence),
        _probabilities("choices", choices, (rules.n_situations, len(tables.option))),
    )


def _distributions(name: str, mix: Floats | None, legal: Bools) -> Floats:
    if mix is None:
        return np.asarray(legal / legal.sum(axis=1, keepdims=True))
    mix = np.ascontiguousarray(mix, float)
    if mix.shape != legal.shape:
        raise ValueError(f"{name} has shape {mix.shape}; expected {legal.shape}")
    wrong = (
        ~(mix >= 0).all(axis=1)
        | (np.abs(mix.sum(axis=1) - 1) > 1e-9)
        | ((mix > 0) & ~legal).any(axis=1)
    )
    if wrong.any():
        situation = int(np.argmax(wrong))
        raise ValueError(
            f"{name} of situation {situation} is no distribution over legal actions: "
            f"{mix[situation].tolist()}"
        )
    return mix


def _probabilities(name: str, choices: Floats | None, shape: tuple[int, int]) -> Floats:
    if choices is None:
        return np.full(shape, BY_VALUE)
    choices = np.ascontiguousarray(choices, float)
    if choices.shape != shape:
        raise ValueError(f"{name} has shape {choices.shape}; expected {shape}")
    if not ((choices >= 0) & (choices <= 1)).all():
        raise ValueError(f"{name} has an entry that is not a probability")
    return choices
