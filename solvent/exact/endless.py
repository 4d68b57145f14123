"""Games for one in which going on for ever is a choice, worth nothing more.

Against an opponent who cannot be outwaited a player may do best by never ending: a football side
whose calls are known can be held where it stands by one penalty after the other. Such play
collects nothing, so it is worth 0 from where it begins, as :func:`~solvent.exact.policy_value`
has it. It is possible just inside an *end component* made of rows that pay nothing (de Alfaro 1997,
*Formal Verification of Probabilistic Systems*): a set of states that can be kept up for ever.

:func:`with_giving_up` gives each state of such a set one more action, which ends play at once with
nothing. The game that results can be solved like any other, and its value is that of the game in
which endless play counts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.exact.components import end_components
from solvent.exact.solution import ImproperGameError, Solution
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints


def solve_with_endless_play(game: TabularGame, player: int, *, tolerance: float = 1e-9) -> Solution:
    """The optimum of a game for one where play that never ends, and pays nothing, is worth 0.

    Args:
        game: A game in which only `player` chooses.
        player: 0 or 1.
        tolerance: As for :func:`solvent.exact.solve`.

    Returns:
        The solution of `game`; where its policy never ends, it stays in an end component.

    Raises:
        ImproperGameError: If the game has no end at all, or endless play would be paid.
        CertificateError: As :func:`solvent.exact.solve`.
    """
    from solvent.exact.solve import solve

    label = end_components(game, _free(game))
    holding = label >= 0
    solution = solve(with_giving_up(game, player, holding), tolerance=tolerance)
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


def with_giving_up(game: TabularGame, player: int, where: Bools) -> TabularGame:
    """The game with one more action in some states: play ends, and nothing is paid.

    Args:
        game: A game in which only `player` chooses.
        player: Whose action it is; its number is the highest.
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


def _free(game: TabularGame) -> Bools:
    """The rows that never pay anything, [K]."""
    free = np.ones(game.n_rows, bool)
    free[game.outcome_row[game.outcome_reward != 0]] = False
    return free


def _stay(game: TabularGame, player: int, label: Ints, probabilities: Floats) -> Floats:
    """A policy of the extended game as one of `game`: giving up becomes staying."""
    policy = probabilities[:, :-1].copy()
    leaves = label[game.row_state[game.outcome_row]] != label[game.next_state]
    stays = _free(game) & (label[game.row_state] >= 0)
    stays[game.outcome_row[leaves]] = False
    rows = np.flatnonzero(stays)[::-1]
    row_of = np.zeros(game.n_states, np.int64)
    row_of[game.row_state[rows]] = rows
    given_up = np.flatnonzero(probabilities[:, -1] > 0)
    policy[given_up] = 0.0
    policy[given_up, game.row_action[player][row_of[given_up]]] = 1.0
    return policy
