"""What a policy chooses in a state, and what each choice is worth, in words and numbers."""

from __future__ import annotations

import numpy as np

from solvent.exact import Solution
from solvent.model import TabularGame, TabularPolicy


def choice_text(
    game: TabularGame, policy: TabularPolicy, state: int, most: int | None = None
) -> str:
    """The actions that a policy may choose in a state: ``keep``, or ``roll 75%, keep 25%``.

    Of more than `most`, the most probable ones and dots.
    """
    names = game.info.actions[policy.player]
    weights = policy.probabilities[state]
    played = np.flatnonzero(weights >= 5e-4)
    if len(played) == 1:
        return str(names[played[0]])
    texts = [
        f"{names[a]} {100 * weights[a]:.0f}%"
        if weights[a] >= 0.01
        else f"{names[a]} {100 * weights[a]:.1f}%"
        for a in played[np.argsort(-weights[played], kind="stable")]
    ]
    return ", ".join(texts[:most] + (["…"] if most is not None and len(texts) > most else []))


def deciders(game: TabularGame, state: int) -> list[int]:
    """The players who have a choice in a state."""
    return [p for p in range(game.info.players) if game.action_count[p][state] > 1]


def action_worth(game: TabularGame, solution: Solution, state: int) -> dict[str, float]:
    """The value to player 0 of each action, where one player alone has a choice; else nothing."""
    choosing = deciders(game, state)
    if len(choosing) != 1:
        return {}
    names = game.info.actions[choosing[0]]
    rows = range(game.row_start[state], game.row_start[state + 1])
    actions = game.row_action[choosing[0]]
    return {names[actions[row]]: float(solution.action_values[row]) for row in rows}
