"""Exact numbers about policies: values, best responses, exploitability, visits.

With every player's policy fixed a game is a Markov chain with rewards. Its transition matrix P
and expected rewards r give the values as the solution of (I - P) v = r and the expected numbers
of visits as the solution of (I - P)' d = mu, mu being the start distribution (Puterman 1994,
*Markov Decision Processes*, appendix A). No play is sampled.

Terms. The *optimality gap* of a policy is V*(mu) - V^pi(mu). The *exploitability* of one policy
is the value of the game minus its value against a best response. *NashConv* of a pair of policies
is the sum of what both players could gain by a best response (Lanctot et al. 2017).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.exact.chain import Chain
from solvent.exact.components import can_reach, cannot_end, components, end_components
from solvent.exact.solution import ImproperGameError, Solution
from solvent.model import TabularGame, TabularPolicy, against
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum

NEGLIGIBLE = 1e-12
"""Probabilities of a policy below this count as 0 for who answers it."""


def policy_value(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """The value of every state when all play by the given policies.

    Args:
        game: The game.
        policies: One for each player who has a choice.

    Returns:
        [S] values to player 0, for :meth:`~solvent.model.TabularGame.at_start` to weigh. NaN for
        states that such play never comes to and from which it could go on for ever collecting
        rewards.

    Raises:
        ValueError: If a policy is for another game, or a player who has a choice has no policy.
        ImproperGameError: If play from the start can go on for ever collecting rewards.
    """
    weight = row_weights(game, *policies)
    endless = _endless(game, weight)
    reward = expectation(game, np.zeros(game.n_states))
    reward = grouped_sum(game.row_state, weight * reward, game.n_states)
    if not endless.any():
        return _solve_chain(game, weight, reward, endless)

    # Where play settles for ever without a reward it is worth 0; where it collects some, it has no
    # value. On the way there rewards count as they do elsewhere.
    settled = _settled(game, weight > 0)
    rewarded = (weight > 0) & settled[game.row_state] & (_largest_reward(game) > 0)
    goal = np.zeros(game.n_states, bool)
    goal[game.row_state[rewarded]] = True
    undefined = can_reach(game, weight > 0, goal)
    if (undefined & (game.initial > 0)).any():
        _refuse_endless_play(game, game.row_state[rewarded])
    values = _solve_chain(game, weight, np.where(undefined, 0.0, reward), settled | undefined)
    return np.where(undefined, np.nan, values)


def expectation(game: TabularGame, values: Floats, *, paid: bool = True) -> Floats:
    """Action values, [S] -> [K]: what `TabularGame.expectation` returns, compiled.

    Args:
        game: The game.
        values: [S].
        paid: Whether rewards count.
    """
    from solvent.exact.kernels.induction import expect

    reward = game.outcome_reward if paid else np.zeros(len(game.outcome_reward))
    return expect(game.outcome_start, game.next_state, game.probability, reward, values)


def state_visitation(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """Expected number of visits to every state in a play from the start, [S].

    Raises:
        ValueError: As for :func:`policy_value`.
        ImproperGameError: If some reachable state is visited for ever.
    """
    weight = row_weights(game, *policies)
    endless = _endless(game, weight)
    visits = _solve_chain(game, weight, game.initial, endless, transpose=True)
    _refuse_endless_play(game, np.flatnonzero(endless & (visits > 0)))
    return visits


def expected_length(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """Expected number of moves from every state to the end under the given policies, [S].

    Returns:
        Infinity for a state from which play goes on for ever with positive probability.

    Raises:
        ValueError: As for :func:`policy_value`.
    """
    weight = row_weights(game, *policies)
    endless = _endless(game, weight)
    length = _solve_chain(game, weight, (~game.terminal).astype(float), endless)
    if not endless.any():
        return length
    return np.where(can_reach(game, weight > 0, endless), np.inf, length)


def best_response(game: TabularGame, policy: TabularPolicy, *, tolerance: float = 1e-9) -> Solution:
    """The best that the other player can do against a policy, and the policy that does it.

    Where the other player can keep play from ending and nothing is paid meanwhile, that is an
    answer like any other, worth 0 from there on (:mod:`solvent.exact.endless`).

    Probabilities below 1e-12 count as 0. Otherwise the best answer to a Boltzmann policy could be
    to hold play up until it makes a blunder of probability 1e-90, which no play would live to see.

    Args:
        game: A game for two.
        policy: Either player's.
        tolerance: As for :func:`solvent.exact.solve`. The more is paid on the way to the luck that
            the best answer waits for, the wider is its bracket.

    Returns:
        The solution of ``against(game, policy)``, with both players' policies for `game`, of
        `policy` without what is negligible; values are to player 0 as always.

    Raises:
        ValueError: If the policy is for another game.
        ImproperGameError: If play that is paid on the way need not end.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
    """
    from solvent.exact.endless import solve_with_endless_play
    from solvent.exact.solve import solve

    other = 1 - policy.player
    policy = without_negligible(policy)
    left = against(game, policy)
    try:
        solution = solve(left, tolerance=tolerance)
    except ImproperGameError:
        solution = solve_with_endless_play(left, other, tolerance=tolerance)
    response = replace(
        solution.policies[other], model_hash=game.model_hash, name=f"best response to {policy.name}"
    )
    pair = (policy, response) if policy.player == 0 else (response, policy)
    return replace(solution, policies=pair, model_hash=game.model_hash)


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
    """How much less than the game's value a policy gets against a best response, at least 0.

    Args:
        game: A game of two players, or of one, where nobody responds (then this is the
            optimality gap).
        policy: Either player's.
        solution: Of `game`, if it is at hand.
        tolerance: As for :func:`best_response`.

    Raises:
        ValueError: If the policy or the solution is for another game.
        ImproperGameError: If play that is paid on the way need not end.
        CertificateError: As :func:`best_response`.
    """
    from solvent.exact.solve import solve

    solution = solution or solve(game)
    solution.check_is_for(game)
    sign = 1 if policy.player == 0 else -1
    if not (game.action_count[1 - policy.player] > 1).any():
        return sign * (solution.value - game.at_start(policy_value(game, policy)))
    return sign * (solution.value - best_response(game, policy, tolerance=tolerance).value)


def nash_conv(
    game: TabularGame, first: TabularPolicy, second: TabularPolicy, *, tolerance: float = 1e-9
) -> float:
    """The sum of what each player could gain by a best response to the other's policy.

    Args:
        game: A game for two.
        first: A policy of player 0.
        second: A policy of player 1.
        tolerance: As for :func:`best_response`.

    Raises:
        ValueError: If a policy is for another game.
        ImproperGameError: If play that is paid on the way need not end.
        CertificateError: As :func:`best_response`.
    """
    gain_of_second = best_response(game, first, tolerance=tolerance).value
    gain_of_first = best_response(game, second, tolerance=tolerance).value
    return gain_of_first - gain_of_second


def row_weights(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """The probability of each row in its state under the given policies, [K].

    Raises:
        ValueError: If a policy is for another game, two are for the same player, or a player who
            has a choice has none.
    """
    given = {policy.player: policy for policy in policies}
    if len(given) < len(policies):
        raise ValueError(f"{len(policies)} policies were given for player(s) {sorted(given)}")
    weight = np.ones(game.n_rows)
    for player in (0, 1):
        if player in given:
            given[player].check_is_for(game)
            weight *= given[player].normalized()[game.row_state, game.row_action[player]]
        elif (game.action_count[player] > 1).any():
            raise ValueError(f"player {player} has a choice in {game.info.name}, but no policy")
    return weight


def _solve_chain(
    game: TabularGame, weight: Floats, right: Floats, endless: Bools, *, transpose: bool = False
) -> Floats:
    """Solve (I - P) x = right, or the transposed system, for the chain of the weighted rows.

    The chain is cut where it enters the `endless` states.
    """
    from solvent.exact.kernels.induction import substitute_back, substitute_forward

    parts = components(game)
    if not parts.cyclic.any():
        # Successors first, the matrix is triangular: substitution is the whole solution.
        result = right.copy()
        substitute = substitute_forward if transpose else substitute_back
        substitute(
            parts.order, game.row_start, game.outcome_start, game.next_state, game.probability,
            weight, result,
        )  # fmt: skip
        return result

    chain = Chain(
        game.info.name, game.row_start, game.outcome_start, game.next_state, game.probability,
        np.where(endless[game.row_state], 0.0, weight),
    )  # fmt: skip
    return chain.solve_transposed(right) if transpose else chain.solve(right)


def _endless(game: TabularGame, weight: Floats) -> Bools:
    """The states from which the weighted rows lead to no end, [S]."""
    if not components(game).cyclic.any():
        return np.zeros(game.n_states, bool)
    return cannot_end(game, weight > 0)


def _settled(game: TabularGame, rows: Bools) -> Bools:
    """The states of sets that the given rows ([K] bool) never leave, and go round in, [S]."""
    label = end_components(game, rows)
    source = label[game.row_state]
    leaves = label[game.row_state[game.outcome_row]] != label[game.next_state]
    left = np.zeros(game.n_states + 1, bool)
    left[source[rows & (np.bincount(game.outcome_row[leaves], minlength=game.n_rows) > 0)]] = True
    return (label >= 0) & ~left[label]


def _refuse_endless_play(game: TabularGame, states: Ints) -> None:
    if len(states):
        raise ImproperGameError(
            f"{game.info.name}: play from state {game.states[states[0]]!r} never ends"
        )


def _largest_reward(game: TabularGame) -> Floats:
    """The largest absolute reward of an outcome of each row, [K]."""
    largest = np.zeros(game.n_rows)
    np.maximum.at(largest, game.outcome_row, np.abs(game.outcome_reward))
    return largest
