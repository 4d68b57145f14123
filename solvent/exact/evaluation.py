"""Policy evaluation: exact values, state visitation and lengths under fixed policies.

With every player's policy fixed, a game is a Markov chain with rewards. Given its transition matrix
P, expected rewards r and start distribution mu, the values solve (I - P) v = r and the expected
numbers of visits solve (I - P)' d = mu (Puterman 1994, *Markov Decision Processes*, appendix A). No
episode is sampled.

**Episodes that never end.** Under a policy, an episode may settle in a set of states and stay there
for ever. Its value then depends on the *gain* of the set, the average reward of a move (Puterman
1994, section 8.2), to which the sum of rewards is proportional in the long run:

- no rewards at all: nothing more is added;
- a gain below 0: the value is minus infinity, as along a wall where each move costs 1;
- a gain above 0: the value is infinity;
- a gain of 0 because rewards cancel: the sum has no limit, so there is no value. Nor is there one
  if the sum may go to infinity in both directions.

A state from which an episode may reach such sets has their value; all other values are finite, and
the linear equations give them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from solvent.exact.chain import Chain
from solvent.exact.compilation import substitute, transitions_of
from solvent.exact.components import can_reach, components, end_components, leaving_rows
from solvent.exact.solution import ImproperGameError
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.tabular import check_policy

# Rewards cancel if their sum is at most this share of the sum of their sizes: that is rounding.
_CANCELS = 1e-9


def policy_value(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """Return the value of every state under the given policies.

    Args:
        game: The game.
        policies: The policies, one for each player who has a choice.

    Returns:
        [S] values to player 0, whose mean at the start is
        :meth:`~solvent.model.TabularGame.at_start`. They are infinite or, in states that are never
        visited, NaN if episodes that never end make them so.

    Raises:
        ValueError: If a policy is for another game, or a player who has a choice has no policy.
        ImproperGameError: If there is no value at the start, because rewards cancel for ever or
            their sum may go to infinity in both directions.
    """
    weight = row_weights(game, *policies)
    never_ending = nonterminating(game, weight)
    reward = grouped_sum(game.row_state, weight * game.reward, game.n_states)
    if not never_ending.any():
        return _solve_chain(game, weight, reward, never_ending)

    # Rewards on the way to a set in which episodes settle count as they do elsewhere.
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
    values = _solve_chain(game, weight, reward, settled | infinite)
    values[falls], values[rises] = -np.inf, np.inf
    values[undefined] = np.nan
    return values


def _may_reach(game: TabularGame, weight: Floats, goal: Bools) -> Bools:
    """Return the states from which the weighted rows may lead to the goal ([S]), [S]."""
    return can_reach(game, weight > 0, goal) if goal.any() else goal


def long_run_gain(game: TabularGame, weight: Floats) -> Floats:
    """Return the gain to player 0 in the sets of states where episodes settle.

    Args:
        game: The game.
        weight: [K] the probability of each row in its state.

    Returns:
        [S] a number with the sign of the average reward of a move; 0 where rewards cancel, and
        outside the sets.
    """
    reward = grouped_sum(game.row_state, weight * game.reward, game.n_states)
    return _gains(game, weight, reward, _settled(game, weight > 0))[0]


def _gains(game: TabularGame, weight: Floats, reward: Floats, label: Ints) -> tuple[Floats, Bools]:
    """Return the gain in the sets of states where episodes settle, and whether rewards cancel.

    The chain returns to the first state of a set again and again. The expected sum of rewards from
    one visit to the next is a positive multiple of the average reward of a move.

    Args:
        game: The game.
        weight: [K] the probability of each row in its state.
        reward: [S] the expected reward of a move.
        label: [S] a number for each set in which episodes settle, -1 outside all of them.

    Returns:
        gain: [S] a number with the sign of the gain, 0 outside the sets.
        cancels: [S] whether the state is in a set whose rewards cancel.
    """
    inside = np.flatnonzero(label >= 0)
    _, first, own_set = np.unique(label[inside], return_index=True, return_inverse=True)
    base = inside[first]
    cut = label < 0
    cut[base] = True
    sizes = game.probability * np.abs(game.outcome_reward)
    sizes = weight * grouped_sum(game.outcome_row, sizes, game.n_rows)
    size = grouped_sum(game.row_state, sizes, game.n_states)
    collected = np.zeros((2, game.n_states))
    for i, rewards in enumerate((reward, size)):
        until = _solve_chain(game, weight, np.where(cut, 0.0, rewards), cut)
        onwards = grouped_sum(
            game.row_state, weight * game.expectation(until, rewarded=False), game.n_states
        )
        collected[i, inside] = (rewards + onwards)[base][own_set]
    gain, turnover = collected
    cancels = (turnover > 0) & (np.abs(gain) <= _CANCELS * turnover)
    return np.where(cancels, 0.0, gain), cancels


def state_visitation(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """Return the occupancy measure: expected number of visits to each state in an episode, [S].

    Args:
        game: The game.
        policies: The policies, one for each player who has a choice.

    Raises:
        ValueError: If a policy is for another game, or a player who has a choice has no policy.
        ImproperGameError: If some state is visited for ever.
    """
    weight = row_weights(game, *policies)
    never_ending = nonterminating(game, weight)
    visits = _solve_chain(game, weight, game.initial, never_ending, transpose=True)
    _refuse_nonterminating_play(game, np.flatnonzero(never_ending & (visits > 0)))
    return visits


def row_weights(game: TabularGame, *policies: TabularPolicy) -> Floats:
    """Return the probability of each row in its state under the given policies, [K].

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


def chain_solver(game: TabularGame, weight: Floats) -> Callable[..., Floats]:
    """Return a function that solves (I - P) x = right for the chain of the weighted rows ([K]).

    Its arguments are those of :meth:`solvent.exact.chain.Chain.solve`.
    """
    parts, transitions = components(game), transitions_of(game)
    if parts.cyclic.any():
        return Chain(game.info.name, transitions, weight).solve

    def solve(right: Floats, *, within: Any = None, transposed: bool = False) -> Floats:
        # With successors first the matrix is triangular, and substitution solves the system.
        result = right.copy()
        substitute(parts.order, transitions, weight, result, transposed)
        return result

    return solve


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
    kept = np.where(never_ending[game.row_state], 0.0, weight)
    return chain_solver(game, kept)(right, transposed=transpose)


def nonterminating(game: TabularGame, weight: Floats) -> Bools:
    """Return the states from which the weighted rows lead to no end, [S]."""
    if not components(game).cyclic.any():
        return np.zeros(game.n_states, bool)
    return ~can_reach(game, weight > 0, game.terminal)


def _settled(game: TabularGame, rows: Bools) -> Ints:
    """Label the sets that the given rows ([K]) never leave once inside, [S]; -1 outside them."""
    label = end_components(game, rows)
    source = label[game.row_state]
    left = np.zeros(game.n_states + 1, bool)
    left[source[rows & leaving_rows(game, label)]] = True
    return np.where(left[label], -1, label)


def _refuse_nonterminating_play(game: TabularGame, states: Ints) -> None:
    if len(states):
        state = game.states[states[0]]
        raise ImproperGameError(f"{game.info.name}: play from state {state!r} never ends", state)
