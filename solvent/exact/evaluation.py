"""Policy evaluation: exact values, state visitation and lengths under fixed policies.

With every player's policy fixed a game is a Markov chain with rewards. Its transition matrix P
and expected rewards r give the values as the solution of (I - P) v = r and the expected numbers
of visits as the solution of (I - P)' d = mu, mu being the start distribution (Puterman 1994,
*Markov Decision Processes*, appendix A). No episode is sampled.
"""

from __future__ import annotations

import numpy as np

from solvent.exact import kernels
from solvent.exact.chain import Chain
from solvent.exact.components import can_reach, cannot_end, components, end_components, leaving_rows
from solvent.exact.solution import ImproperGameError
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.tabular import check_policy


def policy_value(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """The value of every state under the given policies.

    Args:
        game: The game.
        policies: One for each player who has a choice.

    Returns:
        [S] values to player 0, for :meth:`~solvent.model.TabularGame.at_start` to weigh. NaN for
        states that are never visited and from which an episode could go on for ever collecting
        rewards.

    Raises:
        ValueError: If a policy is for another game, or a player who has a choice has no policy.
        ImproperGameError: If an episode can go on for ever collecting rewards.
    """
    weight = row_weights(game, *policies)
    nonterminating = _nonterminating(game, weight)
    reward = expectation(game, np.zeros(game.n_states))
    reward = grouped_sum(game.row_state, weight * reward, game.n_states)
    if not nonterminating.any():
        return _solve_chain(game, weight, reward, nonterminating)

    # Where an episode settles for ever without a reward, the value is 0; where it collects some,
    # there is none. On the way there rewards count as they do elsewhere.
    settled = _settled(game, weight > 0)
    rewarded = (weight > 0) & settled[game.row_state] & (_largest_reward(game) > 0)
    goal = np.zeros(game.n_states, bool)
    goal[game.row_state[rewarded]] = True
    undefined = can_reach(game, weight > 0, goal)
    if (undefined & (game.initial > 0)).any():
        _refuse_nonterminating_play(game, game.row_state[rewarded])
    values = _solve_chain(game, weight, np.where(undefined, 0.0, reward), settled | undefined)
    return np.where(undefined, np.nan, values)


def expectation(game: TabularGame, values: Floats, *, rewarded: bool = True) -> Floats:
    """Action values, [S] -> [K]: what `TabularGame.expectation` returns, compiled.

    Args:
        game: The game.
        values: [S] the value of each state.
        rewarded: Whether rewards count.
    """
    reward = game.outcome_reward if rewarded else np.zeros(len(game.outcome_reward))
    return kernels.induction.expect(
        game.outcome_start, game.next_state, game.probability, reward, values
    )


def state_visitation(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """The occupancy measure: expected number of visits to every state in an episode, [S].

    Args:
        game: The game.
        policies: One for each player who has a choice.

    Raises:
        ValueError: If a policy is for another game, or a player who has a choice has no policy.
        ImproperGameError: If some reachable state is visited for ever.
    """
    weight = row_weights(game, *policies)
    nonterminating = _nonterminating(game, weight)
    visits = _solve_chain(game, weight, game.initial, nonterminating, transpose=True)
    _refuse_nonterminating_play(game, np.flatnonzero(nonterminating & (visits > 0)))
    return visits


def expected_length(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """Expected number of moves from every state to the end under the given policies, [S].

    Args:
        game: The game.
        policies: One for each player who has a choice.

    Returns:
        Infinity for a state from which an episode never ends with positive probability.

    Raises:
        ValueError: If a policy is for another game, or a player who has a choice has no policy.
    """
    weight = row_weights(game, *policies)
    nonterminating = _nonterminating(game, weight)
    length = _solve_chain(game, weight, (~game.terminal).astype(float), nonterminating)
    if not nonterminating.any():
        return length
    return np.where(can_reach(game, weight > 0, nonterminating), np.inf, length)


def row_weights(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """The probability of each row in its state under the given policies, [K].

    Raises:
        ValueError: If a policy is for another game, two are for the same player, or a player who
            has a choice has none.
    """
    for policy in policies:
        check_policy(policy, game)
    given = {policy.player: policy for policy in policies}
    if len(given) < len(policies):
        raise ValueError(f"{len(policies)} policies were given for player(s) {sorted(given)}")
    weight = np.ones(game.n_rows)
    for player in (0, 1):
        if player in given:
            weight *= given[player].normalized()[game.row_state, game.row_action[player]]
        elif (game.action_count[player] > 1).any():
            raise ValueError(f"player {player} has a choice in {game.info.name}, but no policy")
    return weight


def _solve_chain(
    game: TabularGame,
    weight: Floats,
    right: Floats,
    nonterminating: Bools,
    *,
    transpose: bool = False,
) -> Floats:
    """Solve (I - P) x = right, or the transposed system, for the chain of the weighted rows.

    The chain is cut where it enters the `nonterminating` states.
    """
    parts = components(game)
    if not parts.cyclic.any():
        # Successors first, the matrix is triangular: substitution is the whole solution.
        result = right.copy()
        induction = kernels.induction
        substitute = induction.substitute_forward if transpose else induction.substitute_back
        substitute(
            parts.order, game.row_start, game.outcome_start, game.next_state, game.probability,
            weight, result,
        )  # fmt: skip
        return result

    chain = Chain(
        game.info.name, game.row_start, game.outcome_start, game.next_state, game.probability,
        np.where(nonterminating[game.row_state], 0.0, weight), parts=(parts.order, parts.start),
    )  # fmt: skip
    return chain.solve_transposed(right) if transpose else chain.solve(right)


def _nonterminating(game: TabularGame, weight: Floats) -> Bools:
    """The states from which the weighted rows lead to no end, [S]."""
    if not components(game).cyclic.any():
        return np.zeros(game.n_states, bool)
    return cannot_end(game, weight > 0)


def _settled(game: TabularGame, rows: Bools) -> Bools:
    """The states of sets that the given rows ([K] bool) never leave, and go round in, [S]."""
    label = end_components(game, rows)
    source = label[game.row_state]
    left = np.zeros(game.n_states + 1, bool)
    left[source[rows & leaving_rows(game, label)]] = True
    return (label >= 0) & ~left[label]


def _refuse_nonterminating_play(game: TabularGame, states: Ints) -> None:
    if len(states):
        raise ImproperGameError(
            f"{game.info.name}: play from state {game.states[states[0]]!r} never ends"
        )


def _largest_reward(game: TabularGame) -> Floats:
    """The largest absolute reward of an outcome of each row, [K]."""
    largest = np.zeros(game.n_rows)
    np.maximum.at(largest, game.outcome_row, np.abs(game.outcome_reward))
    return largest
