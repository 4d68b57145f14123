"""What a network is given in each state of a game, and whether it was trained on that.

A network becomes a table by being asked about each row of the game's observations. That is the
network only if it was trained on these rows, in this game. The wrappers around its environment have
to pass :mod:`solvent.baselines.gate`. ``VecNormalize`` is followed: rows are normalized with its
statistics, as the learner's are. Of a network that was loaded without an environment no more is
known than the last observations that it saw, which have to be rows of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from solvent.baselines.gate import check_wrappers, layers
from solvent.envs.spaces import observation_space, observed
from solvent.model import TabularGame
from solvent.training.normalization import Normalization

Array = NDArray[Any]


def inputs(
    model: BaseAlgorithm,
    game: TabularGame,
    observation: str,
    player: int,
    normalization: Normalization | VecNormalize | None = None,
) -> Array:
    """Return what a network is given in each state.

    Args:
        model: The learner.
        game: The game.
        observation: What its environment shows: ``"vector"``, ``"onehot"`` or ``"index"``.
        player: Who sees it.
        normalization: The statistics with which its observations were normalized. If left out,
            those of its own environment, where there is one.

    Returns:
        [S, D] float32, or [S] int64 for ``"index"``.

    Raises:
        ValueError: If its environment has another game or none with a table, a wrapper may show
            or play something else, or what a loaded network last saw are no observations of the
            game.
    """
    own = model.get_vec_normalize_env()
    if type(own) is not VecNormalize or not own.norm_obs:
        own = None
    check_wrappers(model.env, own)
    rows = observed(game, player, observation)
    expected, wanted = model.observation_space, observation_space(rows.reshape(len(rows), -1))
    if expected.shape != rows.shape[1:] or (observation == "index" and expected != wanted):
        raise ValueError(
            f"the network takes {expected!s:.60}, but observation={observation!r} of "
            f"{game.info.name} is {wanted!s:.60}: train on what the game shows"
        )
    if model._last_obs is None and model.num_timesteps > 0:
        raise ValueError(
            "the network has learned, but what it last saw was dropped when it was given another "
            "environment; load it without one (normalization takes what a VecNormalize knows)"
        )
    if model.env is not None:
        _check_game(model, game)
    others = [
        observed(game, one, observation)
        for one in range(game.info.players)
        if one != player and (observation == "index" or one < len(game.observation))
    ]
    known, last = [rows, *others], model._last_obs
    if own is not None and normalization in (None, own):
        # What the learner was given before was normalized with the statistics of that moment.
        last, rows = getattr(own, "old_obs", None), _normalized(own, rows)
    elif normalization is not None:
        known = [_normalized(normalization, shown) for shown in known]
        rows = known[0]
    _check_last(model, last, known, f"observation={observation!r}")
    return rows


def _normalized(statistics: Normalization | VecNormalize, rows: Array) -> Array:
    """Rows as a learner is given them."""
    if isinstance(statistics, VecNormalize):
        statistics = Normalization.of(statistics)
    if rows.shape[1:] != statistics.mean.shape:
        raise ValueError(
            f"the normalization is of observations of shape {statistics.mean.shape}; they have "
            f"{rows.shape[1:]}"
        )
    return statistics(rows)


def _check_game(model: BaseAlgorithm, game: TabularGame) -> None:
    """Refuse a learner whose environment samples another game, or one that is not known.

    Episodes may begin elsewhere, and an opponent may be folded into chance on either side.
    """
    tables = [getattr(layer, "__dict__", {}).get("game") for layer in layers(model.env)]
    found = {id(table): table for table in tables if isinstance(table, TabularGame)}
    if not found:
        raise ValueError(
            f"{type([*layers(model.env)][-1]).__name__} does not say which table it samples, or "
            f"hides the environments inside; train on an environment of solvent's in this "
            f"process, or pass a function: lambda seen: model.predict(seen, deterministic=True)[0]"
        )
    for other in found.values():
        if other is game or _same_rules(other, game):
            continue
        game.info.check_same(other.info, "the network")
        if other.n_states != game.n_states or not (_folded(other) or _folded(game)):
            raise ValueError(
                f"the network is for another {game.info.name}: it was trained on the model "
                f"{other.model_hash[:12]}, not {game.model_hash[:12]}"
            )


def _same_rules(one: TabularGame, other: TabularGame) -> bool:
    """Whether two tables are the same, but for their starts."""
    arrays = (
        (g.row_start, g.outcome_start, g.next_state, g.probability, g.outcome_reward, *g.mask)
        for g in (one, other)
    )
    return all(a is b or np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


def _folded(game: TabularGame) -> bool:
    """Whether a player of a game for two has no choice anywhere, as after ``against``."""
    return game.info.players == 2 and not all((n > 1).any() for n in game.action_count)


def _check_last(model: BaseAlgorithm, last: Any, known: Sequence[Array], name: str) -> None:
    """Refuse a network that last saw, or if that is not known takes, no rows of the game."""
    if last is not None:
        # As the network takes them; adding 0 makes a negative zero like any other.
        seen, *tables = (np.asarray(a, np.float32) + np.float32(0) for a in (last, *known))
        missing = {row.tobytes() for row in seen}
        for table in tables:
            missing -= {row.tobytes() for row in table}
        if missing:
            raise ValueError(
                f"the network last saw observations that are no {name} of the game; if it was "
                f"trained under VecNormalize: give its statistics as of the end of the training, "
                f"as normalization"
            )
    elif model.env is None:
        joint = [np.concatenate(known)] if len({k.shape[1:] for k in known}) == 1 else []
        spaces = [observation_space(k.reshape(len(k), -1)) for k in (*known, *joint)]
        if model.observation_space not in spaces:
            raise ValueError(
                f"the network takes {model.observation_space!s:.60}, which is not the space of "
                f"{name}: train on what the game shows"
            )
