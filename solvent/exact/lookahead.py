"""One step ahead: what actions lead to, where the values of the states that follow are known.

A solution that holds values only says by this what to do in a state in which at most one player
has a choice. Where both choose at once there is a matrix of such values
(:mod:`solvent.exact.matrix_game`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from solvent.model import Game, JointAction

ValueOf: TypeAlias = Callable[[Any], float]
"""From a state to its value to player 0."""


def expected_value(game: Game, value_of: ValueOf, state: Any, actions: JointAction) -> float:
    """The expected reward of a joint action and value of the state that follows.

    Args:
        game: The rules.
        value_of: The values of the states that may follow.
        state: A state in which both act.
        actions: The actions of both players.

    Returns:
        The value to player 0.
    """
    return sum(
        float(outcome.probability) * (float(outcome.reward) + value_of(outcome.state))
        for outcome in game.transition(state, actions)
    )


def who_chooses(game: Game, state: Any) -> int:
    """The player who has a choice; 0 where neither has.

    Args:
        game: The rules.
        state: A state in which at most one has.
    """
    legal = game.legal_actions(state)
    return int(len(legal) > 1 and len(legal[1]) > 1)


def choice_values(game: Game, value_of: ValueOf, state: Any) -> dict[int, float]:
    """Return the value of each legal action of the player who has a choice.

    Args:
        game: The rules.
        value_of: The values of the states that may follow.
        state: A state in which at most one player has a choice.

    Returns:
        Values to player 0, by action.
    """
    legal, chooser = game.legal_actions(state), who_chooses(game, state)
    fixed = [actions[0] for actions in legal]
    return {
        action: expected_value(
            game, value_of, state, (*fixed[:chooser], action, *fixed[chooser + 1 :])
        )
        for action in legal[chooser]
    }


def action_values(game: Game, value_of: ValueOf, state: Any, player: int) -> Mapping[int, float]:
    """Return the value of each legal action of a player if the other then does its best.

    Args:
        game: The rules.
        value_of: The values of the states that may follow.
        state: A state in which at most one player has a choice.
        player: The player who acts, 0 or 1; one who has no choice has one action.

    Returns:
        Values to player 0, by action.
    """
    values, chooser = choice_values(game, value_of, state), who_chooses(game, state)
    if player == chooser:
        return values
    [only] = game.legal_actions(state)[player]
    return {only: best_of(values.values(), chooser)}


def best_of(values: Iterable[float], player: int) -> float:
    """The value that a player prefers.

    Args:
        values: The values to player 0.
        player: 0, who wants much, or 1, who wants little.
    """
    return max(values) if player == 0 else min(values)
