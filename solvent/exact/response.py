"""Best responses, and the value that a policy secures against one.

Against a fixed policy the other player faces a game for one, which is solved with a certificate
like any other.

Terms. The *optimality gap* of a policy is V*(mu) - V^pi(mu). The *exploitability* of one policy
is the value of the game minus its value against a best response. *NashConv* of a pair of policies
is the sum of what both players could gain by a best response (Lanctot et al. 2017).

**Episodes that never end.** Against an opponent who cannot be outwaited a player may do best by
never ending. Such an episode collects no reward, so its value is 0 from where it settles, as
:func:`~solvent.exact.policy_value` has it. It settles in an *end component* made of rows without a
reward (de Alfaro 1997, *Formal Verification of Probabilistic Systems*): a set of states with
actions that never leave it. :func:`with_absorbing_action` gives each state of such a set one more
action, which ends the episode at once without a reward. The extended game can be solved like any
other, and its value is that of the game in which nonterminating episodes count.

**Loops at a cost.** Where an episode goes round for ever in an end component, a linear program has
the loop whose average reward is least (:mod:`solvent.exact.linear_program`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.exact import kernels
from solvent.exact.certificate import refuse_cancelling_loops
from solvent.exact.compilation import transitions_of
from solvent.exact.components import can_reach, components, end_components, free_rows, leaving_rows
from solvent.exact.evaluation import long_run_gain, policy_value
from solvent.exact.linear_program import loops_of_least_reward
from solvent.exact.solution import ImproperGameError, Solution
from solvent.exact.solver import solve_table
from solvent.model import TabularGame, TabularPolicy, against
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.tabular import check_policy

NEGLIGIBLE = 1e-12
"""Probabilities of a policy below this count as 0 for the player who responds to it."""


def best_response(game: TabularGame, policy: TabularPolicy, *, tolerance: float = 1e-9) -> Solution:
    """The best that the other player can do against a policy, and the policy that does it.

    Where the other player can keep an episode from ending without any reward, that is a response
    like any other, with the value 0 from there on.

    Probabilities below 1e-12 count as 0. Otherwise the best response to a Boltzmann policy could be
    to wait for a blunder of probability 1e-90, which no episode would live to see.

    Args:
        game: A game for two.
        policy: Either player's.
        tolerance: Widest bracket accepted, in units of the largest value or reward that can be met
            from the start, or of 1 if that is larger. The larger the rewards on the way to the luck
            that the best response waits for, the wider is its bracket.

    Returns:
        The solution of ``against(game, policy)``, with both players' policies for `game`, of
        `policy` without what is negligible; values are to player 0 as always.

    Raises:
        ValueError: If the policy is for another game.
        ImproperGameError: If an episode that collects rewards need not end, or both players can
            keep one going in which rewards cancel.
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
    """The values against a best response, for those who ask again and again.

    A learning curve of self-play asks for them at every point. Where no state can come again and at
    most one player chooses in each, one pass over the states gives the same values as
    :func:`best_response`, without the folded game, a policy and a certificate.

    Args:
        game: A game for two.
        policy: Either player's.
        tolerance: Widest bracket accepted of a best response, in units of the largest value or
            reward that can be met from the start, or of 1 if that is larger.

    Returns:
        [S] values to player 0, those of ``best_response(game, policy)``.

    Raises:
        ValueError: If the policy is for another game.
        ImproperGameError: If an episode that collects rewards need not end.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    check_policy(policy, game)
    parts = components(game)
    other = 1 - policy.player
    first, second = (count > 1 for count in game.action_count)
    if parts.cyclic.any() or (first & second).any():
        return best_response(game, policy, tolerance=tolerance).values
    policy = without_negligible(policy)
    return kernels.induction.respond(
        parts.order,
        transitions_of(game),
        game.outcome_reward,
        policy.probabilities[game.row_state, game.row_action[policy.player]],
        (first, second)[other],
        other == 1,
    )


def without_negligible(policy: TabularPolicy) -> TabularPolicy:
    """The policy without its probabilities below 1e-12, the others of such a state scaled to 1."""
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
    """Return the game's value minus a policy's against a best response, at least 0.

    Args:
        game: A game of two players, or of one, where nobody responds (then this is the
            optimality gap).
        policy: Either player's.
        solution: The solution of `game`, if it is at hand.
        tolerance: Widest bracket accepted of a best response, in units of the largest value or
            reward that can be met from the start, or of 1 if that is larger.

    Returns:
        Infinity if an episode can go on for ever at the player's cost.

    Raises:
        ValueError: If the policy or the solution is for another game.
        ImproperGameError: If the policy has no value, since rewards cancel for ever, or in a game
            for two none is known.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    solution = solution_for(game, policy, solution)
    try:
        values, _ = against_best_response(game, policy, tolerance)
    except ImproperGameError:
        if not starts_that_cost_for_ever(game, policy).any():
            raise
        return np.inf
    return (1 - 2 * policy.player) * (solution.value - game.at_start(values))


def solution_for(game: TabularGame, policy: TabularPolicy, solution: Solution | None) -> Solution:
    """The solution that is given, or else one that is found, for the score of a policy.

    Raises:
        ValueError: If the policy or the solution is for another game.
    """
    check_policy(policy, game)
    solution = solution or solve_table(game)
    solution.check_is_for(game)
    return solution


def against_best_response(
    game: TabularGame, policy: TabularPolicy, tolerance: float
) -> tuple[Floats, tuple[TabularPolicy, ...]]:
    """Return values [S] to player 0 under a policy and, if somebody can respond, a best response.

    Args:
        game: The game.
        policy: Either player's.
        tolerance: Largest width of the bracket, as in :func:`best_response`, which raises the
            same errors.

    Returns:
        The values, and the policy with the response to it.
    """
    if (game.action_count[1 - policy.player] > 1).any():
        response = best_response(game, policy, tolerance=tolerance)
        return response.values, response.policies
    return policy_value(game, policy), (policy,)


def starts_that_cost_for_ever(game: TabularGame, policy: TabularPolicy) -> Bools:
    """The states in which play begins and can go on for ever at the cost of a policy's player, [S].

    Args:
        game: The game.
        policy: Either player's.
    """
    return costs_for_ever(against(game, policy), policy.player) & (game.initial > 0)


def nash_conv(
    game: TabularGame, first: TabularPolicy, second: TabularPolicy, *, tolerance: float = 1e-9
) -> float:
    """The sum of what each player could gain by a best response to the other's policy.

    Args:
        game: A game for two.
        first: A policy of player 0.
        second: A policy of player 1.
        tolerance: Widest bracket accepted of a best response, in units of the largest value or
            reward that can be met from the start, or of 1 if that is larger.

    Raises:
        ValueError: If a policy is for another game.
        ImproperGameError: If an episode that collects rewards need not end.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    gain_of_second = best_response(game, first, tolerance=tolerance).value
    gain_of_first = best_response(game, second, tolerance=tolerance).value
    return gain_of_first - gain_of_second


def solve_with_nonterminating_play(
    game: TabularGame, player: int, *, tolerance: float = 1e-9
) -> Solution:
    """The optimum of a game for one where episodes without end or reward have the value 0.

    Args:
        game: A game in which only `player` chooses.
        player: 0 or 1.
        tolerance: Widest bracket accepted, in units of the largest value or reward that can be
            met, or of 1 if that is larger.

    Returns:
        The solution of `game`; where its policy never ends, it stays in an end component.

    Raises:
        ImproperGameError: If the game has no end at all, or never ending would collect rewards.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
    """
    label = end_components(game, free_rows(game))
    holding = label >= 0
    solution = solve_table(with_absorbing_action(game, player, holding), tolerance=tolerance)
    probabilities = solution.policies[player].probabilities
    policies = list(solution.policies)
    policies[player] = replace(
        solution.policies[player],
        probabilities=_stay(game, player, label, probabilities),
        model_hash=game.model_hash,
    )
    policies[1 - player] = replace(solution.policies[1 - player], model_hash=game.model_hash)
    kept = np.ones(len(solution.action_values), bool)
    kept[np.cumsum(np.diff(game.row_start) + holding)[holding] - 1] = False
    return replace(
        solution,
        action_values=solution.action_values[kept],
        policies=(policies[0], policies[1]),
        model_hash=game.model_hash,
    )


def costs_for_ever(game: TabularGame, player: int) -> Bools:
    """The states from which an episode can go on for ever at a player's cost, [S].

    It settles in an end component in which rewards to that player are at most 0, and some are
    below; or in one with gains, too, where it can go round in a loop whose rewards are a cost on
    the average. There the value of the player's policy is minus infinity.

    Args:
        game: The result of :func:`~solvent.model.against`: `player` has no choice in it.
        player: 0 or 1.

    Raises:
        ArithmeticError: If HiGHS does not find the loops of least reward.
    """
    sign = 1 - 2 * player
    reward = sign * game.outcome_reward
    gains, costs = np.zeros(game.n_rows, bool), np.zeros(game.n_rows, bool)
    gains[game.outcome_row[reward > 0]] = True
    costs[game.outcome_row[reward < 0]] = True
    label = end_components(game, ~gains)
    kept = ~gains & (label[game.row_state] >= 0) & ~leaving_rows(game, label)
    goal = np.zeros(game.n_states, bool)
    goal[game.row_state[kept & costs]] = True
    label = end_components(game, np.ones(game.n_rows, bool))
    kept = (label[game.row_state] >= 0) & ~leaving_rows(game, label)
    gaining, costing = (label[game.row_state[kept & rows]] for rows in (gains, costs))
    inside = kept & np.isin(label[game.row_state], np.intersect1d(gaining, costing))
    if inside.any():
        loops = loops_of_least_reward(game, np.flatnonzero(inside), label, sign)
        goal |= sign * long_run_gain(game, loops) < 0
    return can_reach(game, np.ones(game.n_rows, bool), goal)


def with_absorbing_action(game: TabularGame, player: int, where: Bools) -> TabularGame:
    """The game with one more action in some states, which ends the episode without a reward.

    Args:
        game: A game in which only `player` chooses.
        player: The player whose action it is; its number is the highest.
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
    # The rows of a state end with the new one, which has one outcome.
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


def _stay(game: TabularGame, player: int, label: Ints, probabilities: Floats) -> Floats:
    """A policy of the extended game as one of `game`: absorbing becomes staying."""
    policy = probabilities[:, :-1].copy()
    stays = free_rows(game) & (label[game.row_state] >= 0) & ~leaving_rows(game, label)
    rows = np.flatnonzero(stays)[::-1]
    row_of = np.zeros(game.n_states, np.int64)
    row_of[game.row_state[rows]] = rows
    absorbed = np.flatnonzero(probabilities[:, -1] > 0)
    policy[absorbed] = 0.0
    policy[absorbed, game.row_action[player][row_of[absorbed]]] = 1.0
    return policy
