"""The optimality gap of a policy, and the states in which it arises.

For a player's policy pi, V* the values of the game, Q* its action values and d(s) the expected
number of visits when pi meets a best response b (in a game for one, nobody), the
performance-difference identity (Kakade and Langford 2002, lemma 6.1) reads

    V*(mu) - V^{pi,b}(mu)  =  sum over s of  d(s) * (V*(s) - Q*(s, pi, b)).

So the gap is not only measured but located. In a game for one each term is what the policy loses
in s. In a game for two the term has two parts,

    V*(s) - Q*(s, pi, b)  =  [V*(s) - min over b' of Q*(s, pi, b')]  -  [what b gives up in s].

The first is the policy's own loss, at least 0, and 0 where the policy has no choice. The second is
at least 0 as well: measured by V*, the best response may do less than it could in one state to come
to another where the policy errs. Only the first is charged to the policy; the losses of all states
are the gap and what the response gives up for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from solvent.exact.evaluation import policy_value, row_weights, state_visitation
from solvent.exact.response import (
    against_best_response,
    solution_for,
    starts_that_cost_for_ever,
)
from solvent.exact.solution import CertificateError, ImproperGameError, Solution
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, grouped_sum
from solvent.model.tabular import check_policy

LEARNED = 1e-6
"""Tolerance for the score of a policy that was learned, in units of the largest payoff: a network
may leave the best response long to wait."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a policy; every number is exact, none was sampled.

    All values are to the player whose policy it is. That of a policy under which an episode can go
    on for ever at a cost is minus infinity, and its gap infinity
    (:mod:`solvent.exact.evaluation`); in a game for two, where the other player sees to that.

    Attributes:
        value: Expected return from the start; in a two-player game, against a best response.
        optimum: The game's value.
        optimality_gap: ``optimum - value``, at least 0.
        exploitability: Optimality gap under its usual name in a two-player game, else None.
        normalized: 0 for the uniform policy over legal actions, 1 for the optimum; NaN if the
            uniform policy is optimal or endless, or its value cannot be proved.
        illegal_mass: Average probability of illegal actions over the states visited, before they
            were made legal; NaN if an episode never ends.
        worst_start_gap: Largest gap from a single state of the start distribution.
        worst_start: The start state with that gap.
        discount: The discount of the objective; 1 where rewards are undiscounted.
    """

    value: float
    optimum: float
    optimality_gap: float
    exploitability: float | None
    normalized: float
    illegal_mass: float
    worst_start_gap: float
    worst_start: Any
    discount: float = 1.0

    def __str__(self) -> str:
        """Return the value, the optimum, the gap and the exploitability in one line."""
        said = f"value {self.value:.6g}, optimum {self.optimum:.6g}, gap {self.optimality_gap:.6g}"
        if self.exploitability is not None:
            said += f", exploitability {self.exploitability:.6g}"
        return said


@dataclass(frozen=True, eq=False)
class GapLocation:
    """The optimality gap of a policy, split by state.

    Attributes:
        gap: The optimality gap, computed from values.
        loss: [S] what one move of the policy in state s costs: V*(s) - min over b of Q*(s, pi, b).
        visits: [S] the occupancy measure d(s) against a best response.
        contribution: [S] visits times loss; its sum is `gap` plus `given_up`, up to rounding.
        given_up: The best response's loss on the way, measured by V*; 0 in a game for one.
    """

    gap: float
    loss: Floats
    visits: Floats
    contribution: Floats
    given_up: float

    def ranked(self, most: int = 10) -> list[int]:
        """The states that contribute most, largest first; those that contribute nothing not."""
        order = np.argsort(-self.contribution, kind="stable")[:most]
        return [int(s) for s in order if self.contribution[s] > 0]


def score(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution | None = None,
    *,
    illegal: Floats | None = None,
    tolerance: float = 1e-9,
) -> Score:
    """Score a policy exactly.

    Args:
        game: The game.
        policy: Either player's.
        solution: The solution of `game`, if it is at hand.
        illegal: [S] probability that the policy gave to illegal actions before it was projected,
            if that is known.
        tolerance: Widest bracket accepted of a best response, in units of the largest value or
            reward that can be met from the start, or of 1 if that is larger.

    Raises:
        ValueError: If the policy or the solution is for another game.
        ImproperGameError: If the policy has no value, since rewards cancel for ever, or in a game
            for two none is known.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    solution = solution_for(game, policy, solution)
    sign = 1 - 2 * policy.player
    try:
        values, pair = against_best_response(game, policy, tolerance)
    except ImproperGameError:
        costly = starts_that_cost_for_ever(game, policy)
        if not costly.any():
            raise
        return _without_end(game, policy, solution, -np.inf, costly)
    value, optimum = sign * game.at_start(values), sign * solution.value
    if _is_uniform(game, policy):
        _UNIFORM.setdefault(game, {})[policy.player, tolerance] = game.at_start(values)
    floor = sign * _value_of_uniform(game, policy.player, tolerance)
    span = optimum - floor if np.isfinite(floor) else np.nan

    starts = np.flatnonzero(game.initial > 0)
    gaps = sign * (solution.values - values)[starts]
    worst = int(gaps.argmax())
    mass = 0.0
    if illegal is not None and illegal.any():
        try:
            visits = state_visitation(game, *pair) * ~game.terminal
            mass = float(visits @ illegal / visits.sum())
        except ImproperGameError:
            mass = float("nan")
    return Score(
        value=value,
        optimum=optimum,
        optimality_gap=optimum - value,
        exploitability=optimum - value if game.info.players == 2 else None,
        normalized=(value - floor) / span if span > 1e-12 else float("nan"),
        illegal_mass=mass,
        worst_start_gap=float(gaps[worst]),
        worst_start=game.states[int(starts[worst])],
        discount=float(game.info.discount),
    )


def comparable_score(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    *,
    illegal: Floats | None = None,
    tolerance: float = 1e-9,
) -> Score:
    """The score of a policy among others, none of which is refused.

    Where :func:`score` says that there is no value, since rewards cancel for ever, it is NaN.

    Args:
        game: The game.
        policy: Either player's.
        solution: The solution of `game`.
        illegal: Probability of illegal actions, as for :func:`score`.
        tolerance: Largest width of a bracket, as for :func:`score`.

    Raises:
        ValueError: If the policy or the solution is for another game.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    try:
        return score(game, policy, solution, illegal=illegal, tolerance=tolerance)
    except ImproperGameError:
        return without_value(game, policy, solution)


def without_value(game: TabularGame, policy: TabularPolicy, solution: Solution) -> Score:
    """The score of a policy that has no value, or of which none could be proved: NaN.

    Args:
        game: The game.
        policy: Either player's.
        solution: The solution of `game`.
    """
    return _without_end(game, policy, solution, np.nan, game.initial > 0)


def _without_end(
    game: TabularGame, policy: TabularPolicy, solution: Solution, value: float, where: Bools
) -> Score:
    """The score of a policy that has the value from the states that `where` ([S]) says."""
    optimum = (1 - 2 * policy.player) * solution.value
    return Score(
        value=value,
        optimum=optimum,
        optimality_gap=optimum - value,
        exploitability=optimum - value if game.info.players == 2 else None,
        normalized=value,
        illegal_mass=np.nan,
        worst_start_gap=optimum - value,
        worst_start=game.states[int(np.argmax(where))],
        discount=float(game.info.discount),
    )


def locate_gap(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution | None = None,
    *,
    tolerance: float = 1e-9,
) -> GapLocation:
    """Split a policy's optimality gap into what the policy loses in each state.

    A policy is charged with its own states only: where it has no choice, nothing is lost.

    Args:
        game: The game.
        policy: Either player's.
        solution: The solution of `game`, if it is at hand.
        tolerance: Widest bracket accepted of a best response, in units of the largest value or
            reward that can be met from the start, or of 1 if that is larger.

    Raises:
        ValueError: If the policy or the solution is for another game.
        ImproperGameError: If an episode under the policy need not end: visits have no number, so
            that nothing is counted by state.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    solution = solution_for(game, policy, solution)
    sign = 1 - 2 * policy.player
    values, pair = against_best_response(game, policy, tolerance)
    row_values = sign * solution.action_values
    met = grouped_sum(game.row_state, row_weights(game, *pair) * row_values, game.n_states)
    worst = _worst_response(game, policy, row_values)
    choosing = game.action_count[policy.player] > 1
    visits = state_visitation(game, *pair)
    loss = np.where(choosing, sign * solution.values - worst, 0.0)
    given_up = np.where(game.terminal, 0.0, met - np.where(choosing, worst, sign * solution.values))
    return GapLocation(
        gap=sign * (solution.value - game.at_start(values)),
        loss=loss,
        visits=visits,
        contribution=visits * loss,
        given_up=float(visits @ given_up),
    )


def cross_play_matrix(
    game: TabularGame, first: Sequence[TabularPolicy], second: Sequence[TabularPolicy]
) -> Floats:
    """The cross-play matrix: the value of a game for two under every pair of policies.

    An optimal policy's row is nowhere below the game's value, and its column nowhere above it.

    Args:
        game: The game.
        first: Policies of player 0.
        second: Policies of player 1.

    Returns:
        [n, m] values at the start to player 0. Where an episode can go on for ever collecting
        rewards, infinite if one player pays for that in the long run, and NaN if rewards cancel.

    Raises:
        ValueError: If the game is not one for two, or a policy is for another game or player.
    """
    if game.info.players != 2:
        raise ValueError(f"{game.info.name} is a game for one; cross-play needs two players")
    for player, policies in enumerate((first, second)):
        for policy in policies:
            check_policy(policy, game)
            if policy.player != player:
                raise ValueError(
                    f"{policy.name} is a policy of player {policy.player}; "
                    f"player {player}'s are expected here"
                )
    values = [[_pair_value(game, row, column) for column in second] for row in first]
    return np.array(values, dtype=float).reshape(len(first), len(second))


def _pair_value(game: TabularGame, first: TabularPolicy, second: TabularPolicy) -> float:
    """The value of a pair at the start to player 0; NaN where rewards cancel for ever."""
    try:
        return game.at_start(policy_value(game, first, second))
    except ImproperGameError:
        return np.nan


def _worst_response(game: TabularGame, policy: TabularPolicy, row_values: Floats) -> Floats:
    """The least that the other player's actions leave a policy in each state, [S]."""
    other = game.row_action[1 - policy.player]
    width = game.mask[1 - policy.player].shape[1]
    pair = game.row_state * width + other
    weight = policy.normalized()[game.row_state, game.row_action[policy.player]]
    left = grouped_sum(pair, weight * row_values, game.n_states * width).reshape(-1, width)
    return np.asarray(np.where(game.mask[1 - policy.player], left, np.inf).min(axis=1))


_UNIFORM: WeakKeyDictionary[TabularGame, dict[tuple[int, float], float]] = WeakKeyDictionary()
"""The values of uniform policies in the games in use: every score of a policy asks for one."""


def _is_uniform(game: TabularGame, policy: TabularPolicy) -> bool:
    uniform = TabularPolicy.uniform(game, player=policy.player)
    return np.array_equal(policy.probabilities, uniform.probabilities)


def _value_of_uniform(game: TabularGame, player: int, tolerance: float) -> float:
    """The value at the start of a player's uniform policy against a best response, or NaN."""
    known = _UNIFORM.setdefault(game, {})
    if (player, tolerance) not in known:
        uniform = TabularPolicy.uniform(game, player=player)
        try:
            values, _ = against_best_response(game, uniform, tolerance)
            known[player, tolerance] = game.at_start(values)
        except (CertificateError, ImproperGameError):
            known[player, tolerance] = float("nan")
    return known[player, tolerance]
