"""Scores of policies: best responses, exploitability, and the states in which a gap arises.

Once one player's policy is fixed, the other player faces a one-player game, which is solved with a
certificate like any other.

Terms. The *optimality gap* of a policy is V*(mu) - V^pi(mu). The *exploitability* of one policy
is the value of the game minus its value against a best response. *NashConv* of a pair of policies
is the sum of what both players could gain by a best response (Lanctot et al. 2017).

**Episodes that never end.** A best response may be to let the episode go on for ever. Once such an
episode has settled it collects no rewards, so its value is 0 from there on, as in
:func:`~solvent.exact.policy_value`. It settles in an *end component* of rows without a reward (de
Alfaro 1997, *Formal Verification of Probabilistic Systems*): a set of states with actions that
never leave it. :func:`with_absorbing_action` gives each state of such a set one more action, which
ends the episode at once without a reward. The extended game is solved like any other, and its value
is that of the game in which nonterminating episodes count.

**Loops at a cost.** If an episode can stay in an end component for ever, a linear program finds the
loop of least average reward (:mod:`solvent.exact.linear_program`).

**Where the gap arises.** Let pi be a player's policy, b a best response to it (none in a one-player
game), d(s) the expected number of visits under both, V* the values of the game and Q* its action
values. The performance-difference identity (Kakade and Langford 2002, lemma 6.1) reads

    V*(mu) - V^{pi,b}(mu)  =  sum over s of  d(s) * (V*(s) - Q*(s, pi, b)).

So the gap is not only measured but located. In a one-player game each term is the policy's loss in
s. In a two-player game the term has two parts,

    V*(s) - Q*(s, pi, b)  =  [V*(s) - min over b' of Q*(s, pi, b')]  -  [what b gives up in s].

The first is the policy's own loss, at least 0, and 0 where the policy has no choice. The second is
at least 0 as well: measured by V*, the best response may give up value in one state to reach
another in which the policy errs. Only the first is charged to the policy; the losses of all states
sum to the gap plus all that the response gives up.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solvent.exact.certificate import refuse_cancelling_loops
from solvent.exact.chain import NEAR_ROUNDING
from solvent.exact.components import can_reach, components, free_rows, staying_rows
from solvent.exact.decomposition import solve_values
from solvent.exact.evaluation import long_run_gain, policy_value, row_weights, state_visitation
from solvent.exact.linear_program import loops_of_least_reward
from solvent.exact.solution import CertificateError, ImproperGameError, Solution, check_solution
from solvent.exact.solver import solve_table
from solvent.model import TabularGame, TabularPolicy, against, cached_table
from solvent.model.arrays import Bools, Floats, grouped_sum
from solvent.model.tabular import check_policy, remembered

NEGLIGIBLE = 1e-12
"""Probabilities of a policy below this count as 0 in a best response to it."""


def best_response(game: TabularGame, policy: TabularPolicy, *, tolerance: float = 1e-9) -> Solution:
    """Return the values of a policy against a best response, and the response.

    If the other player can keep an episode from ending without any reward, that is a response like
    any other, with value 0 from there on.

    Probabilities below 1e-12 count as 0. Otherwise the best response to a Boltzmann policy could be
    to wait for an action that has probability 1e-90.

    Args:
        game: A two-player game.
        policy: The policy of either player.
        tolerance: Largest width of the bracket, in units of the largest value or reward that play
            from the start can meet, or of 1 if that is larger. The bracket is wide if the best
            response collects large rewards while it waits for an improbable event.

    Returns:
        The solution of ``against(game, policy)``, with the policies of both players for `game`, of
        which `policy` is without negligible probabilities. Values are to player 0.

    Raises:
        ValueError: If the policy is for another game.
        ImproperGameError: If an episode that collects rewards need not end, or both players can
            stay in a loop whose rewards cancel.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
    """
    check_policy(policy, game)
    other = 1 - policy.player
    policy = without_negligible(policy)
    left = against(game, policy)
    try:
        solution = solve_table(left, tolerance=tolerance)
    except ImproperGameError:
        solution = solve_with_nonterminating_play(left, other, tolerance=tolerance)
    refuse_cancelling_loops(game, policy, left, solution.values)
    response = replace(
        solution.policies[other], model_hash=game.model_hash, name=f"best response to {policy.name}"
    )
    pair = (policy, response) if policy.player == 0 else (response, policy)
    return replace(solution, policies=pair, model_hash=game.model_hash)


def response_values(game: TabularGame, policy: TabularPolicy, *, tolerance: float = 1e-9) -> Floats:
    """Return the values of a policy against a best response, as fast as possible.

    A learning curve of self-play needs them at every point. In a game without cycles one pass over
    the states gives the same values as :func:`best_response`, without a certificate.

    Args:
        game: The game.
        policy: The policy of either player. If the other player has no choice, there is no
            response.
        tolerance: Largest width of the bracket, as for :func:`best_response`.

    Returns:
        [S] values to player 0, those of ``best_response(game, policy)``.

    Raises:
        ValueError: If the policy is for another game.
        ImproperGameError: If an episode that collects rewards need not end.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    check_policy(policy, game)
    if (game.action_count[1 - policy.player] > 1).any() and not components(game).cyclic.any():
        return solve_values(against(game, without_negligible(policy)))
    return against_best_response(game, policy, tolerance)[0]


def without_negligible(policy: TabularPolicy) -> TabularPolicy:
    """Return the policy without probabilities below 1e-12, with the others scaled to sum to 1."""
    negligible = (policy.probabilities > 0) & (policy.probabilities < NEGLIGIBLE)
    if not negligible.any():
        return policy
    changed = negligible.any(axis=1)
    kept = np.where(negligible, 0.0, policy.probabilities)
    kept[changed] /= kept[changed].sum(axis=1, keepdims=True)
    return replace(policy, probabilities=kept)


def exploitability(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution | None = None,
    *,
    tolerance: float = 1e-9,
) -> float:
    """Return the game's value minus a policy's value against a best response.

    Args:
        game: A two-player game, or a one-player game, where this is the optimality gap.
        policy: The policy of either player.
        solution: The solution of `game`, if it is at hand.
        tolerance: Largest width of the bracket, as for :func:`best_response`.

    Returns:
        The difference, to the policy's player; at least 0, up to rounding. Infinity if an episode
        can go on for ever at a cost.

    Raises:
        ValueError: If the policy or the solution is for another game.
        ImproperGameError: If the policy has no value because rewards cancel for ever, or none is
            known in a two-player game.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    solution = solution_for(game, policy, solution)
    try:
        values = response_values(game, policy, tolerance=tolerance)
    except ImproperGameError:
        if not starts_that_cost_for_ever(game, policy).any():
            raise
        return np.inf
    return (1 - 2 * policy.player) * (solution.value - game.at_start(values))


def solution_for(game: TabularGame, policy: TabularPolicy, solution: Solution | None) -> Solution:
    """Return the given solution if it fits the game and the policy; without one, solve the game.

    Raises:
        ValueError: If the policy or the solution is for another game.
    """
    check_policy(policy, game)
    solution = solution or solve_table(game)
    check_solution(solution, game)
    return solution


def against_best_response(
    game: TabularGame, policy: TabularPolicy, tolerance: float
) -> tuple[Floats, tuple[TabularPolicy, ...]]:
    """Return the values of a policy, against a best response if the other player has a choice.

    Args:
        game: The game.
        policy: The policy of either player.
        tolerance: Largest width of the bracket, as for :func:`best_response`, which raises the
            same errors.

    Returns:
        [S] values to player 0; and the policy, with the response if there is one.
    """
    if (game.action_count[1 - policy.player] > 1).any():
        response = best_response(game, policy, tolerance=tolerance)
        return response.values, response.policies
    return policy_value(game, policy), (policy,)


def starts_that_cost_for_ever(game: TabularGame, policy: TabularPolicy) -> Bools:
    """Return the initial states from which play can go on for ever at a policy's cost, [S].

    Args:
        game: The game.
        policy: The policy of either player.
    """
    return costs_for_ever(against(game, policy), policy.player) & (game.initial > 0)


def nash_conv(
    game: TabularGame, first: TabularPolicy, second: TabularPolicy, *, tolerance: float = 1e-9
) -> float:
    """Return the sum of what each player could gain by a best response to the other's policy.

    Args:
        game: A two-player game.
        first: A policy of player 0.
        second: A policy of player 1.
        tolerance: Largest width of the bracket, as for :func:`best_response`.

    Raises:
        ValueError: If a policy is for another game or another player.
        ImproperGameError: If an episode that collects rewards need not end.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    responses = [best_response(game, one, tolerance=tolerance).value for one in (first, second)]
    if (first.player, second.player) != (0, 1):
        raise ValueError(
            f"the policies are of player {first.player} and player {second.player}; expected are "
            f"one of player 0 and one of player 1"
        )
    return responses[1] - responses[0]


def solve_with_nonterminating_play(
    game: TabularGame, player: int, *, tolerance: float = 1e-9
) -> Solution:
    """Solve a one-player game in which episodes without end or reward have value 0.

    Args:
        game: A game in which only `player` chooses.
        player: 0 or 1.
        tolerance: Largest width of the bracket, as for :func:`best_response`.

    Returns:
        The solution of `game`. Where its policy never ends play, it stays in an end component.

    Raises:
        ImproperGameError: If no state is terminal, or a player does best by never ending play that
            has rewards.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
    """
    label, stays = staying_rows(game, free_rows(game))
    solution = solve_table(with_absorbing_action(game, player, label >= 0), tolerance=tolerance)
    staying = _stay(game, player, stays, solution.policies[player].probabilities)
    first, second = (
        replace(
            policy,
            probabilities=staying if policy.player == player else policy.probabilities,
            model_hash=game.model_hash,
        )
        for policy in solution.policies
    )
    return replace(
        solution,
        action_values=game.expectation(solution.values),
        policies=(first, second),
        model_hash=game.model_hash,
    )


def costs_for_ever(game: TabularGame, player: int) -> Bools:
    """Return the states from which an episode can go on for ever at a player's cost, [S].

    It can settle in an end component in which rewards to that player are at most 0, and some below;
    or in one that has gains as well, in a loop whose average reward is below 0. The value of the
    player's policy is minus infinity there.

    Args:
        game: The result of :func:`~solvent.model.against`, in which `player` has no choice.
        player: 0 or 1.

    Raises:
        ArithmeticError: If HiGHS does not find the loops of least reward.
    """
    sign = 1 - 2 * player
    reward = sign * game.outcome_reward
    gains, costs = np.zeros(game.n_rows, bool), np.zeros(game.n_rows, bool)
    gains[game.outcome_row[reward > 0]] = True
    costs[game.outcome_row[reward < 0]] = True
    _, kept = staying_rows(game, ~gains)
    goal = np.zeros(game.n_states, bool)
    goal[game.row_state[kept & costs]] = True
    label, kept = staying_rows(game, np.ones(game.n_rows, bool))
    gaining, costing = (label[game.row_state[kept & rows]] for rows in (gains, costs))
    inside = kept & np.isin(label[game.row_state], np.intersect1d(gaining, costing))
    if inside.any():
        loops = loops_of_least_reward(game, np.flatnonzero(inside), label, sign)
        goal |= sign * long_run_gain(game, loops) < 0
    return can_reach(game, np.ones(game.n_rows, bool), goal)


def with_absorbing_action(game: TabularGame, player: int, where: Bools) -> TabularGame:
    """Return a game with one more action in some states, which ends the episode without a reward.

    Args:
        game: A game in which only `player` chooses.
        player: The player who has the action, as the one with the highest number.
        where: [S] bool, no terminal states among them.

    Raises:
        ImproperGameError: If no state is terminal.
    """
    if not game.terminal.any():
        raise ImproperGameError(f"{game.info.name}: no state ends play")
    end = int(np.argmax(game.terminal))
    states = np.flatnonzero(where)
    rows = game.row_start[states + 1]
    outcomes = game.outcome_start[rows]
    added = np.concatenate(([0], np.cumsum(where)))
    mask = np.column_stack((game.mask[player], where))
    masks = (mask, game.mask[1]) if player == 0 else (game.mask[0], mask)
    # The new row is the last one of its state, and has one outcome.
    counts = np.insert(np.diff(game.outcome_start), rows, 1)
    return replace(
        game,
        row_start=game.row_start + added,
        outcome_start=np.concatenate(([0], np.cumsum(counts))),
        next_state=np.insert(game.next_state, outcomes, end),
        probability=np.insert(game.probability, outcomes, 1.0),
        outcome_reward=np.insert(game.outcome_reward, outcomes, 0.0),
        mask=masks,
    )


def _stay(game: TabularGame, player: int, stays: Bools, probabilities: Floats) -> Floats:
    """Turn a policy of the extended game into one of `game`: absorbing becomes a row that stays."""
    policy = probabilities[:, :-1].copy()
    rows = np.flatnonzero(stays)[::-1]
    row_of = np.zeros(game.n_states, np.int64)
    row_of[game.row_state[rows]] = rows
    absorbed = np.flatnonzero(probabilities[:, -1] > 0)
    policy[absorbed] = 0.0
    policy[absorbed, game.row_action[player][row_of[absorbed]]] = 1.0
    return policy


LEARNED = 1e-6
"""Tolerance for the score of a learned policy, in units of the largest payoff: the best response to
a network may have to wait for long."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a policy; every number is exact, none is sampled.

    All values are to the policy's player. If an episode can go on for ever at a cost, in a
    two-player game by the other player's choice, the value is minus infinity and the gap infinity
    (:mod:`solvent.exact.evaluation`).

    Attributes:
        value: Expected return from the start; in a two-player game, against a best response.
        optimum: The game's value.
        optimality_gap: ``optimum - value``, at least 0 up to rounding.
        exploitability: Optimality gap under its usual name in a two-player game, else None.
        normalized: 0 for the uniform policy over legal actions, 1 for the optimum; NaN if the
            uniform policy is optimal or need not end, or its value cannot be proved.
        illegal_mass: Average probability of illegal actions over the states visited in which the
            player acts, before they were made legal; NaN if an episode need not end.
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
        line = f"value {self.value:z.6g}, optimum {self.optimum:z.6g}, "
        line += f"gap {self.optimality_gap:z.6g}"
        if self.exploitability is not None:
            line += f", exploitability {self.exploitability:.6g}"
        return line


@dataclass(frozen=True, eq=False)
class GapLocation:
    """The optimality gap of a policy, split by state.

    Attributes:
        gap: The optimality gap, computed from values.
        loss: [S] the policy's loss in a visit to state s: V*(s) - min over b of Q*(s, pi, b).
        visits: [S] the occupancy measure d(s) against a best response.
        contribution: [S] visits times loss; its sum is `gap` plus `given_up`, up to rounding.
        given_up: The best response's loss on the way, measured by V*; 0 in a one-player game.
    """

    gap: float
    loss: Floats
    visits: Floats
    contribution: Floats
    given_up: float

    def ranked(self, most: int = 10) -> list[int]:
        """Return the states that contribute most, largest first, without those at 0."""
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
        policy: The policy of either player.
        solution: The solution of `game`, if it is at hand.
        illegal: [S] probability of illegal actions before the policy was projected to legal ones,
            if that is known.
        tolerance: Largest width of the bracket, as for :func:`best_response`.

    Raises:
        ValueError: If the policy or the solution is for another game.
        ImproperGameError: If the policy has no value because rewards cancel for ever, or none is
            known in a two-player game.
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
    floor = sign * _value_of_uniform(game, policy.player, tolerance)
    span = optimum - floor if np.isfinite(floor) else np.nan
    # A span below this is rounding.
    sizes = (np.abs(numbers).max(initial=1) for numbers in (solution.values, game.outcome_reward))
    rounding = 1e-12 * max(sizes)

    starts = np.flatnonzero(game.initial > 0)
    gaps = sign * (solution.values - values)[starts]
    worst = int(gaps.argmax())
    mass = 0.0
    if illegal is not None and illegal.any():
        try:
            visits = state_visitation(game, *pair) * game.on_turn(policy.player)
            mass = float(visits @ illegal / visits.sum())
        except ImproperGameError:
            mass = np.nan
    return Score(
        value=value,
        optimum=optimum,
        optimality_gap=optimum - value,
        exploitability=optimum - value if game.info.players == 2 else None,
        normalized=(value - floor) / span if span > rounding else np.nan,
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
    tolerance: float = LEARNED,
) -> Score:
    """Return the score of a policy among others, which is never refused.

    Unlike in :func:`score`, the figures are NaN if rewards cancel for ever under the policy, or if
    none can be proved.

    Args:
        game: The game.
        policy: The policy of either player.
        solution: The solution of `game`.
        illegal: Probability of illegal actions, as for :func:`score`.
        tolerance: Largest width of a bracket, as for :func:`score`.

    Raises:
        ValueError: If the policy or the solution is for another game.
    """
    try:
        return score(game, policy, solution, illegal=illegal, tolerance=tolerance)
    except (CertificateError, ImproperGameError):
        return without_value(game, policy, solution)


def learned_exploitability(game: TabularGame, policy: TabularPolicy, solution: Solution) -> float:
    """Return the exploitability of a learned policy; NaN if it has none, or none can be proved.

    A policy can be so close to the optimum that a best response waits a million moves for a
    blunder, which widens the bracket of its value. A training does not fail because of that.
    Infinite exploitability means that an episode never ends and costs reward for ever. This takes a
    fraction of the time of a full score.

    Args:
        game: A game for two.
        policy: A policy of either player.
        solution: Solution of `game`.
    """
    try:
        return exploitability(game, policy, solution, tolerance=LEARNED)
    except (CertificateError, ImproperGameError):
        return np.nan


def without_value(game: TabularGame, policy: TabularPolicy, solution: Solution) -> Score:
    """Return the score of a policy without a value, or without one that could be proved: NaN.

    Args:
        game: The game.
        policy: The policy of either player.
        solution: The solution of `game`.
    """
    return _without_end(game, policy, solution, np.nan, game.initial > 0)


def _without_end(
    game: TabularGame, policy: TabularPolicy, solution: Solution, value: float, where: Bools
) -> Score:
    """Return the score of a policy with an infinite or NaN value from the states `where` ([S])."""
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
    game: TabularGame | Any,
    policy: TabularPolicy,
    solution: Solution | None = None,
    *,
    tolerance: float = 1e-9,
) -> GapLocation:
    """Split a policy's optimality gap into the policy's loss in each state.

    A policy is charged only for states in which it has a choice.

    Args:
        game: The game as a table, or in any other form that :func:`solvent.solve` takes.
        policy: The policy of either player.
        solution: The solution of `game`, if it is at hand.
        tolerance: Largest width of the bracket, as for :func:`best_response`.

    Raises:
        ValueError: If `game` is not a game, or the policy or the solution is for another one.
        ImproperGameError: If an episode under the policy need not end, so that its visits cannot be
            counted.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    game = cached_table(game)
    solution = solution_for(game, policy, solution)
    sign = 1 - 2 * policy.player
    values, pair = against_best_response(game, policy, tolerance)
    row_values = sign * solution.action_values
    mean = grouped_sum(game.row_state, row_weights(game, *pair) * row_values, game.n_states)
    worst = _worst_response(game, policy, row_values)
    choosing = game.action_count[policy.player] > 1
    visits = state_visitation(game, *pair)
    lost = sign * solution.values - worst
    # Smaller differences are rounding.
    real = lost > NEAR_ROUNDING * (np.abs(solution.values) + np.abs(worst))
    loss = np.where(choosing & real, lost, 0.0)
    least = np.where(choosing, worst, sign * solution.values)
    given_up = np.where(game.terminal, 0.0, mean - least)
    return GapLocation(
        gap=sign * (solution.value - game.at_start(values)),
        loss=loss,
        visits=visits,
        contribution=visits * loss,
        given_up=float(visits @ given_up),
    )


def _worst_response(game: TabularGame, policy: TabularPolicy, row_values: Floats) -> Floats:
    """Return a policy's value against the other player's worst action for it, by state, [S]."""
    other = game.row_action[1 - policy.player]
    width = game.mask[1 - policy.player].shape[1]
    pair = game.row_state * width + other
    weight = policy.normalized()[game.row_state, game.row_action[policy.player]]
    left = grouped_sum(pair, weight * row_values, game.n_states * width).reshape(-1, width)
    return np.asarray(np.where(game.mask[1 - policy.player], left, np.inf).min(axis=1))


@remembered
def _value_of_uniform(game: TabularGame, player: int, tolerance: float) -> float:
    """Return the value of a player's uniform policy against a best response; NaN if unknown."""
    uniform = TabularPolicy.uniform(game, player=player)
    try:
        return game.at_start(against_best_response(game, uniform, tolerance)[0])
    except (CertificateError, ImproperGameError):
        return np.nan
