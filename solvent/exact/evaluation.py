"""Policy evaluation: exact values, state visitation and lengths under fixed policies.

With every player's policy fixed a game is a Markov chain with rewards. Its transition matrix P
and expected rewards r give the values as the solution of (I - P) v = r and the expected numbers
of visits as the solution of (I - P)' d = mu, mu being the start distribution (Puterman 1994,
*Markov Decision Processes*, appendix A). No episode is sampled.

**Episodes that never end.** Under a policy an episode may settle in a set of states that it goes
round in for ever. What it collects there decides, by the *gain* of the set, the average reward of
a move (Puterman 1994, section 8.2), to which the sum of rewards is in proportion in the long run:

- no rewards at all: nothing is added any more;
- a gain below 0: the value is minus infinity, as along a wall where each move costs 1;
- a gain above 0: the value is infinity;
- rewards that cancel, a gain of 0: the sum comes to no limit, so that there is no value. Nor is
  there if the sum may go either way to infinity.

A state has the value of what it may come to; only where that is certain to be finite do the linear
equations say it.
"""

from __future__ import annotations

import numpy as np

from solvent.exact.chain import Chain
from solvent.exact.compilation import substitute_back, substitute_forward, transitions_of
from solvent.exact.components import can_reach, components, end_components, leaving_rows
from solvent.exact.solution import ImproperGameError
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.tabular import check_policy

CANCELS = 1e-9
"""Rewards of which no more than this share is left cancel; the rest is rounding."""


def policy_value(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """The value of every state under the given policies.

    Args:
        game: The game.
        policies: One for each player who has a choice.

    Returns:
        [S] values to player 0, for :meth:`~solvent.model.TabularGame.at_start` to weigh. Infinite
        where episodes that never end make them so, and NaN where they leave no value, in states
        that are never visited.

    Raises:
        ValueError: If a policy is for another game, or a player who has a choice has no policy.
        ImproperGameError: If there is no value at the start, since rewards cancel for ever or the
            sum of rewards may go either way to infinity.
    """
    weight = row_weights(game, *policies)
    never_ending = nonterminating(game, weight)
    reward = grouped_sum(game.row_state, weight * game.reward, game.n_states)
    if not never_ending.any():
        return _solve_chain(game, weight, reward, never_ending)

    # Where an episode settles for ever without a reward, nothing is added any more. On the way
    # there rewards count as they do elsewhere.
    label = _settled(game, weight > 0)
    settled = label >= 0
    gain, cancels = _gains(game, weight, reward, label)
    falls, rises = (_may_reach(game, weight, found) for found in (gain < 0, gain > 0))
    undefined = _may_reach(game, weight, cancels) | (falls & rises)
    starts = game.initial > 0
    if (undefined & starts).any() or ((falls & starts).any() and (rises & starts).any()):
        where = cancels if cancels.any() else gain != 0
        _refuse_nonterminating_play(game, np.flatnonzero(where))
    infinite = undefined | falls | rises
    values = _solve_chain(game, weight, np.where(infinite, 0.0, reward), settled | infinite)
    values[falls], values[rises] = -np.inf, np.inf
    values[undefined] = np.nan
    return values


def _may_reach(game: TabularGame, weight: Floats, goal: Bools) -> Bools:
    """From where the weighted rows may lead to some states, [S]."""
    return can_reach(game, weight > 0, goal) if goal.any() else goal


def long_run_gain(game: TabularGame, weight: Floats) -> Floats:
    """Return the gain to player 0 of episodes that have settled for ever.

    Args:
        game: The game.
        weight: [K] the probability of each row in its state.

    Returns:
        [S] a number with the sign of the average reward of a move; 0 where rewards cancel, and
        where an episode has not settled.
    """
    reward = grouped_sum(game.row_state, weight * game.reward, game.n_states)
    gain, _ = _gains(game, weight, reward, _settled(game, weight > 0))
    return gain


def _gains(game: TabularGame, weight: Floats, reward: Floats, label: Ints) -> tuple[Floats, Bools]:
    """Return the gain of episodes that have settled for ever, and where rewards cancel.

    Each set of states has one to which the chain returns again and again. What it collects from
    one visit to the next is the gain of a move but for a factor above 0.

    Args:
        game: The game.
        weight: [K] the probability of each row in its state.
        reward: [S] the expected reward of a move.
        label: [S] a number for each set in which episodes settle, -1 outside of all.

    Returns:
        [S] a number with the sign of the gain, 0 outside of the sets; and [S] whether the state
        is in a set with rewards of which nothing is left.
    """
    inside = np.flatnonzero(label >= 0)
    _, first = np.unique(label[inside], return_index=True)
    base = inside[first]
    cut = label < 0
    cut[base] = True
    sizes = game.probability * np.abs(game.outcome_reward)
    sizes = weight * grouped_sum(game.outcome_row, sizes, game.n_rows)
    size = grouped_sum(game.row_state, sizes, game.n_states)
    collected = []
    for paid in (reward, size):
        until = _solve_chain(game, weight, np.where(cut, 0.0, paid), cut)
        onwards = grouped_sum(
            game.row_state, weight * game.expectation(until, rewarded=False), game.n_states
        )
        of_set = np.zeros(int(label.max(initial=-1)) + 1)
        of_set[label[base]] = (paid + onwards)[base]
        collected.append(np.where(label >= 0, of_set[label], 0.0) if len(of_set) else 0 * paid)
    gain, turnover = collected
    cancels = (turnover > 0) & (np.abs(gain) <= CANCELS * turnover)
    return np.where(cancels, 0.0, gain), cancels


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
    never_ending = nonterminating(game, weight)
    visits = _solve_chain(game, weight, game.initial, never_ending, transpose=True)
    _refuse_nonterminating_play(game, np.flatnonzero(never_ending & (visits > 0)))
    return visits


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
    never_ending: Bools,
    *,
    transpose: bool = False,
) -> Floats:
    """Solve (I - P) x = right, or the transposed system, for the chain of the weighted rows.

    The chain is cut where it enters the `never_ending` states.
    """
    parts = components(game)
    if not parts.cyclic.any():
        # Successors first, the matrix is triangular: substitution is the whole solution.
        result = right.copy()
        substitute = substitute_forward if transpose else substitute_back
        substitute(parts.order, transitions_of(game), weight, result)
        return result

    kept = np.where(never_ending[game.row_state], 0.0, weight)
    chain = Chain(game.info.name, transitions_of(game), kept)
    return chain.solve(right, transposed=transpose)


def nonterminating(game: TabularGame, weight: Floats) -> Bools:
    """The states from which the weighted rows lead to no end, [S]."""
    if not components(game).cyclic.any():
        return np.zeros(game.n_states, bool)
    return ~can_reach(game, weight > 0, game.terminal)


def _settled(game: TabularGame, rows: Bools) -> Ints:
    """The sets that the given rows ([K] bool) never leave, and go round in: labels [S], or -1."""
    label = end_components(game, rows)
    source = label[game.row_state]
    left = np.zeros(game.n_states + 1, bool)
    left[source[rows & leaving_rows(game, label)]] = True
    return np.where(left[label], -1, label)


def _refuse_nonterminating_play(game: TabularGame, states: Ints) -> None:
    if len(states):
        raise ImproperGameError(
            f"{game.info.name}: play from state {game.states[states[0]]!r} never ends"
        )
