"""Games for one in which an episode that never ends is a choice, with the value 0.

Against an opponent who cannot be outwaited a player may do best by never ending. Such an episode
collects no reward, so its value is 0 from where it settles, as :func:`~solvent.exact.policy_value`
has it. It settles in an *end component* made of rows without a reward (de Alfaro 1997, *Formal
Verification of Probabilistic Systems*): a set of states with actions that never leave it.

:func:`with_absorbing_action` gives each state of such a set one more action, which ends the episode
at once without a reward. The extended game can be solved like any other, and its value is that of
the game in which nonterminating episodes count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.exact.components import can_reach, end_components, free_rows, leaving_rows
from solvent.exact.evaluation import long_run_gain
from solvent.exact.linear_program import loops_of_least_reward
from solvent.exact.solution import ImproperGameError, Solution
from solvent.exact.solver import solve_table
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints


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
