"""What a learner is given in each state of a game, and whether the game's table says so.

A network becomes a table by being asked about each row of the game's observations. That is the
network only if it was trained on these rows. Wrappers of its environment may have changed them on
the way: then the actions for the rows themselves mean nothing, although they have the right shape.

Three things are checked. What stands between the learner and its game has to be known. What depends
on the past (a recurrent network, stacked frames) is no function of a state and is refused by its
kind, as is what gives actions another meaning; so is any wrapper of which it is not known that it
leaves observations as they are, since it may show another row of the game in the place of one.
What is known to transform observations by a function has to leave every row as it is. And what the
learner last saw has to be rows of the game: of a network that was loaded without its environment
nothing else is known. ``VecNormalize`` alone is followed: the rows are normalized with its
statistics, as the learner's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import wrappers
from gymnasium.vector import (
    AsyncVectorEnv,
    VectorActionWrapper,
    VectorRewardWrapper,
    VectorWrapper,
)
from gymnasium.wrappers import TransformObservation, vector
from numpy.typing import NDArray
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    SubprocVecEnv,
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
    VecVideoRecorder,
)

from solvent.envs.spaces import observation_space, observed
from solvent.model import TabularGame
from solvent.training.normalization import Normalization

Array = NDArray[Any]

OF_THE_PAST: tuple[type, ...] = (
    VecFrameStack,
    wrappers.FrameStackObservation,
    wrappers.DelayObservation,
    wrappers.TimeAwareObservation,
    wrappers.MaxAndSkipObservation,
)
"""Wrappers that show more than the present state, or another one."""

OF_ACTIONS: tuple[type, ...] = (
    gym.ActionWrapper,
    VectorActionWrapper,
    wrappers.StickyAction,
    # Gymnasium 1.2 has none.
    getattr(wrappers, "RepeatAction", wrappers.StickyAction),
)
"""Wrappers that play another action than the one that was chosen."""

WRAPPERS: tuple[type, ...] = (gym.Wrapper, VectorWrapper, VecEnvWrapper)
"""All that can stand between a network and its game."""

TRANSPARENT: tuple[type, ...] = (
    *WRAPPERS,  # Those that do nothing.
    ActionMasker,
    Monitor,
    VecCheckNan,
    VecMonitor,
    VecVideoRecorder,
    VectorRewardWrapper,
    gym.RewardWrapper,
    vector.DictInfoToList,
    vector.NormalizeReward,
    vector.RecordEpisodeStatistics,
    wrappers.Autoreset,
    wrappers.HumanRendering,
    wrappers.NormalizeReward,
    wrappers.OrderEnforcing,
    wrappers.PassiveEnvChecker,
    wrappers.RecordEpisodeStatistics,
    wrappers.RecordVideo,
    wrappers.RenderCollection,
    wrappers.TimeLimit,
)
"""Those that are known to leave actions and what is seen as they are."""

PASSING_ON = ("reset", "step", "step_async", "step_wait", "observation")
"""Methods in which a wrapper may change these; one of its own makes a subclass unknown."""


def inputs(
    model: BaseAlgorithm,
    game: TabularGame,
    observation: str,
    player: int,
    normalization: Normalization | VecNormalize | None = None,
) -> Array:
    """What a network is given in each state.

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
        ValueError: If the network depends on the past, its environment has another game, a wrapper
            of it may play other actions or show other observations, or what it last saw are no
            observations of the game.
    """
    _check_wrappers(model)
    rows = observed(game, player, observation)
    expected = model.observation_space.shape
    wanted = observation_space(rows.reshape(len(rows), -1))
    if expected != rows.shape[1:]:
        raise ValueError(
            f"the network takes observations of shape {expected}, but observation={observation!r} "
            f"has shape {rows.shape[1:]}{_trained_on(model)}"
        )
    if observation == "index" and model.observation_space != wanted:
        raise ValueError(f"the network takes {model.observation_space}, the game has {wanted}")
    _check_game(model, game, observation)
    _check_functions(model, rows)

    own = model.get_vec_normalize_env()
    if own is not None and not own.norm_obs:
        own = None
    others = [
        observed(game, one, observation)
        for one in range(game.info.players)
        if one != player and (observation == "index" or one < len(game.observation))
    ]
    known = [rows, *others]
    shown = f"observation={observation!r} of {game.info.name}"
    if model._last_obs is None:
        _check_unseen(model, known, shown)
    if own is not None and normalization in (None, own):
        # What was seen before this moment was normalized with other statistics.
        before = getattr(own, "old_obs", rows[:0])
        if (stranger := _stranger(before, known)) is not None:
            raise ValueError(
                f"the network last saw {_short(stranger)}, before it was normalized, which is no "
                f"{shown}{_trained_on(model)}"
            )
        return _normalized(own, rows)

    given = known if normalization is None else [_normalized(normalization, k) for k in known]
    if model._last_obs is None:
        return given[0]
    stranger = _stranger(model._last_obs, given)
    if stranger is not None:
        reason, original = _trained_on(model), model._last_original_obs
        if normalization is not None:
            reason = " normalized like this; it was trained with other statistics"
        elif original is not None and _stranger(original, known) is None:
            reason = (
                "; it was trained under VecNormalize: give its statistics as normalization, or "
                "train without it"
            )
        raise ValueError(f"the network last saw {_short(stranger)}, which is no {shown}{reason}")
    return given[0]


def refuse_changes(model: BaseAlgorithm) -> None:
    """Refuse a learner whose observations are not those of its game, where nothing follows them.

    Args:
        model: The learner.

    Raises:
        ValueError: If its network depends on the past, or a wrapper of its environment may play
            other actions, or change or normalize observations.
    """
    _check_wrappers(model)
    own = model.get_vec_normalize_env()
    name = "VecNormalize" if own is not None and own.norm_obs else ""
    if name := name or _wrapped_in(model.env, (TransformObservation,)):
        raise ValueError(
            f"{name} around the environment changes what the network sees; train without it"
        )


def _check_wrappers(model: BaseAlgorithm) -> None:
    """Refuse a learner that is no function of what it sees now, or may see no row of its game."""
    if isinstance(model.policy, RecurrentActorCriticPolicy):
        raise ValueError(
            f"the network is a {type(model.policy).__name__}, which depends on what it saw before, "
            f"so that it is no table of the game's states; train one without memory"
        )
    for kinds, reason in (
        ((AsyncVectorEnv, SubprocVecEnv), "hides what its environments are wrapped in"),
        (OF_THE_PAST, "shows the past, so that the network is no table of the game's states"),
        (OF_ACTIONS, "plays other actions than the network chooses"),
    ):
        if name := _wrapped_in(model.env, kinds):
            raise ValueError(f"{name} around the environment {reason}; train without it")
    own = model.get_vec_normalize_env()
    for layer in _layers(model.env):
        twice = isinstance(layer, VecNormalize) and layer is not own and layer.norm_obs
        if isinstance(layer, WRAPPERS) and (twice or not _is_known(layer)):
            raise ValueError(
                f"{type(layer).__name__} around the environment may change what the network sees; "
                f"train without it"
            )


def _normalized(normalization: Normalization | VecNormalize, rows: Array) -> Array:
    """Rows as a learner is given them."""
    normalize: Callable[[Array], Any]
    if isinstance(normalization, VecNormalize):
        shape, normalize = normalization.observation_space.shape, normalization.normalize_obs
    else:
        shape, normalize = normalization.mean.shape, normalization
    if rows.shape[1:] != shape:
        raise ValueError(
            f"the normalization is of observations of shape {shape}; they have {rows.shape[1:]}"
        )
    return np.asarray(normalize(rows))


def _layers(env: Any) -> Iterator[Any]:
    """An environment (None has no layers) and all that it is wrapped around, outermost first."""
    while env is not None:
        yield env
        held = getattr(env, "__dict__", {})
        for one in held.get("envs", ()):
            yield from _layers(one)
        env = held.get("venv", held.get("env"))


def _wrapped_in(env: VecEnv | None, kinds: tuple[type, ...]) -> str:
    """The name of the first wrapper of some kinds around an environment, or nothing."""
    return next((type(one).__name__ for one in _layers(env) if isinstance(one, kinds)), "")


def _is_known(layer: Any) -> bool:
    """Whether a wrapper passes on observations and actions by the methods of a known one."""
    # RL Zoo puts a time limit of its own in the place of Gymnasium's, which only ends
    # episodes too.
    if isinstance(layer, wrappers.TimeLimit) and type(layer).__module__ == "rl_zoo3.gym_patches":
        return True
    return any(
        isinstance(layer, kind)
        and all(getattr(type(layer), n, None) is getattr(kind, n, None) for n in PASSING_ON)
        for kind in (*TRANSPARENT, TransformObservation, VecNormalize)
    )


def _trained_on(model: BaseAlgorithm) -> str:
    """What a network was made for, for the end of a sentence."""
    return f"; its space is {model.observation_space!s:.60}: train on what the game shows"


def _check_game(model: BaseAlgorithm, game: TabularGame, observation: str) -> None:
    """Refuse a learner whose environment has another game, as far as that can be known.

    Plays may begin elsewhere, and an opponent may be folded into chance on either side.
    """
    found: dict[int, Any] = {}
    for layer in _layers(model.env):
        table = getattr(layer, "__dict__", {}).get("game")
        if isinstance(table, TabularGame):
            found[id(table)] = table
    if model.env is not None and not found and observation == "index":
        raise ValueError(
            "the network sees numbers of states, but its environment does not say of which table; "
            "train it on an environment of solvent's"
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


def _check_functions(model: BaseAlgorithm, rows: Array) -> None:
    """Refuse a function of observations that does not leave every row as it is."""
    for layer in _layers(model.env):
        if not isinstance(layer, TransformObservation):
            continue
        for row in rows:
            shown = np.asarray(layer.func(row.copy()))
            if shown.shape != row.shape or (shown.astype(row.dtype) != row).any():
                raise ValueError(
                    f"{type(layer).__name__} around the environment shows the observation "
                    f"{_short(row)} as {_short(shown)}; train without it (of all that changes "
                    f"observations VecNormalize alone is followed)"
                )


def _check_unseen(model: BaseAlgorithm, known: Sequence[Array], shown: str) -> None:
    """Refuse a learner of which it is not known what it saw, if it may have been something else."""
    if model.num_timesteps > 0:
        raise ValueError(
            "the network has learned, but what it last saw was dropped when it was given another "
            "environment; load it without one (normalization takes what a VecNormalize knows)"
        )
    if model.env is not None:
        return
    joint = [*known, np.concatenate(known)] if len({k.shape[1:] for k in known}) == 1 else known
    if model.observation_space not in [observation_space(k.reshape(len(k), -1)) for k in joint]:
        raise ValueError(f"the network takes no {shown}{_trained_on(model)}")


def _stranger(seen: Any, known: Sequence[Array]) -> Any:
    """The first of some observations that is a row of none of the known arrays, or None."""
    array = np.asarray(seen)
    if array.shape[1:] != known[0].shape[1:]:
        return array
    if array.ndim == 1:
        wrong = array[(array < 0) | (array >= len(known[0])) | (array != np.floor(array))]
        return wrong[0] if len(wrong) else None
    # As the network takes them; adding 0 makes a negative zero like any other.
    missing = {row.tobytes(): row for row in array.astype(np.float32) + np.float32(0)}
    if not missing:
        return None
    for table in known:
        for row in table + np.float32(0):
            if missing.pop(row.tobytes(), None) is not None and not missing:
                return None
    return next(iter(missing.values()))


def _short(row: Array) -> str:
    """An observation, its first numbers only."""
    numbers = np.asarray(row).ravel().tolist()
    text = ", ".join(f"{number:g}" for number in numbers[:6])
    return f"[{text}{', …' if len(numbers) > 6 else ''}]" if np.ndim(row) else text
