"""What an environment makes of actions in a table, and tables with other numbers in them."""

from typing import Any

import numpy as np

from solvent.model import TabularGame, TabularPolicy


def legal_actions_played(mask: np.ndarray) -> np.ndarray:
    """[S, A] the action played when one is chosen: itself if legal, else the lowest legal; -1."""
    lowest = np.where(mask.any(axis=1), mask.argmax(axis=1), -1)
    return np.where(mask, np.arange(mask.shape[1]), lowest[:, None])


def predicted(model: Any, game: TabularGame, seen: np.ndarray, *, masked: bool) -> TabularPolicy:
    """What `predict` answers in each state, played as the environment plays it.

    Args:
        model: A model of Stable-Baselines3.
        game: Of it.
        seen: [S, D] what the model is shown in each state.
        masked: Whether it is told the legal actions.
    """
    played = legal_actions_played(game.mask[0])
    actions = np.zeros(game.n_states, np.int64)
    for s in np.flatnonzero(~game.terminal).tolist():
        kwargs = {"action_masks": game.mask[0][s]} if masked else {}
        actions[s] = played[s, int(model.predict(seen[s], deterministic=True, **kwargs)[0])]
    return TabularPolicy.deterministic(game, actions)


def put(array: Any, place: Any, value: Any) -> Any:
    copy = np.array(array)
    copy[place] = value
    return copy
