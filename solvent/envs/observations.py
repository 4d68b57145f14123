"""What a player sees in every state of a game, in each of the forms that are offered."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from solvent.model import TabularGame, one_hot
from solvent.model.parameters import check_choice, check_integer

OBSERVATIONS = ("vector", "onehot", "index")

_encoded: WeakKeyDictionary[TabularGame, tuple[NDArray[np.float32], ...]] = WeakKeyDictionary()


def observations(game: TabularGame, player: int, observation: str) -> NDArray[Any]:
    """The observations of a player, a row for each state.

    Args:
        game: The game.
        player: 0 or 1.
        observation: ``"vector"`` as the rules give it, ``"onehot"`` as
            :func:`solvent.model.one_hot` does, or ``"index"``, the number of the state.

    Returns:
        [S, D] float32, or [S, 1] int64 for ``"index"``.

    Raises:
        ValueError: If an argument is none of these, or the game brings no observations although
            they are asked for.
    """
    check_integer(player, "player", 0, 1)
    check_choice(observation, "observation", OBSERVATIONS)
    if observation == "index":
        return np.arange(game.n_states, dtype=np.int64)[:, None]
    if len(game.observation) <= player:
        raise ValueError(
            f"{game.info.name} has no observations for player {player}; "
            f"observation='index' needs none"
        )
    if observation == "vector":
        return np.ascontiguousarray(game.observation[player])
    if game not in _encoded:
        _encoded[game] = one_hot(game).observation
    return _encoded[game][player]
