"""A network's inputs in each state of a game, and the check that it was trained on them.

A network becomes a table by being evaluated on each row of the game's observations. The table is
right only if the network was trained on these rows, in this game. The wrappers around its
environment must pass :mod:`solvent.baselines.gate`. Under ``VecNormalize`` rows are normalized with
its statistics, as in training. If a network was loaded without an environment, only its last
observations are known, which must be rows of the game.

The file of ``VecNormalize`` itself is a pickle. :class:`Normalization` holds the same statistics as
plain numbers, so that reading them runs no code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecNormalize, unwrap_vec_normalize

from solvent.baselines.gate import check_wrappers, layers
from solvent.envs.sampling import observation_space, observed
from solvent.exact import StoreError
from solvent.exact.archive import ArraySchema, Schema, read_archive, write_archive
from solvent.model import TabularGame
from solvent.model.arrays import Floats
from solvent.model.parameters import is_number

Array = NDArray[Any]

STATISTICS = Schema(
    "normalization",
    {"epsilon": float, "clip": float},
    {"mean": ArraySchema("float64", 1), "var": ArraySchema("float64", 1)},
)
"""Schema of a file with statistics."""


@dataclass(frozen=True, eq=False)
class Normalization:
    """A normalization of observations with D entries.

    Attributes:
        mean: [D] float64 mean of each entry.
        var: [D] float64 variance of each entry, at least 0.
        epsilon: Number added to the variance, so that nothing is divided by 0.
        clip: Largest absolute value of a normalized entry.

    Raises:
        ValueError: If these are not finite numbers of such a form.
    """

    mean: Floats
    var: Floats
    epsilon: float = 1e-8
    clip: float = 10.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        numbers = self.epsilon, self.clip
        if not (
            self.mean.ndim == 1
            and self.mean.shape == self.var.shape
            and np.isfinite([self.mean, self.var]).all()
            and (self.var >= 0).all()
            and all(is_number(number) and number > 0 for number in numbers)
        ):
            raise ValueError(
                f"a normalization is of finite means, as many variances from 0 on, and positive "
                f"epsilon and clip, which are {numbers}"
            )

    @classmethod
    def of(cls, venv: VecEnv) -> Normalization:
        """Return the present statistics of a training's environments.

        Args:
            venv: Environments whose outermost ``VecNormalize`` normalizes observations.

        Raises:
            ValueError: If there is no such wrapper, or its observations are not vectors.
        """
        found = venv if isinstance(venv, VecNormalize) else unwrap_vec_normalize(venv)
        if found is None or not found.norm_obs:
            raise ValueError(f"{type(venv).__name__} has no VecNormalize with norm_obs=True")
        statistics: Any = found.obs_rms
        if not isinstance(statistics, RunningMeanStd):
            raise ValueError("VecNormalize normalizes a dictionary; allowed are vectors")
        mean, var = (np.array(array, np.float64) for array in (statistics.mean, statistics.var))
        return cls(mean, var, float(found.epsilon), float(found.clip_obs))

    def __call__(self, seen: NDArray[Any]) -> NDArray[np.float32]:
        """Normalize observations [..., D], bit for bit as ``VecNormalize`` does."""
        scaled = (seen - self.mean) / np.sqrt(self.var + self.epsilon)
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)

    def save(self, path: str | Path) -> None:
        """Save the statistics.

        Args:
            path: Output file; by custom ending in ``.npz``.

        Raises:
            StoreError: If the file cannot be written.
        """
        header = {"kind": STATISTICS.kind, "epsilon": self.epsilon, "clip": self.clip}
        write_archive(path, header, {"mean": self.mean, "var": self.var})

    @classmethod
    def load(cls, path: str | Path) -> Normalization:
        """Load statistics that :meth:`save` wrote.

        Raises:
            StoreError: If the file is missing, damaged or of another kind.
        """
        header, arrays = read_archive(path, STATISTICS)
        try:
            return cls(arrays["mean"], arrays["var"], header["epsilon"], header["clip"])
        except ValueError as error:
            raise StoreError(f"{path}: not a normalization, or damaged ({error})") from error


def inputs(
    model: BaseAlgorithm,
    game: TabularGame,
    observation: str | Array,
    player: int,
    normalization: Normalization | VecNormalize | None = None,
) -> Array:
    """Return the network's input in each state.

    Args:
        model: The learner.
        game: The game.
        observation: The environment's observation: ``"vector"``, ``"onehot"``, ``"index"``, or
            [S] numbers of the states in a Gymnasium environment, which has no table itself.
        player: The observing player.
        normalization: The statistics with which its observations were normalized. By default,
            those of its own environment, if any.

    Returns:
        [S, D] float32, or [S] int64 for ``"index"``.

    Raises:
        ValueError: If its environment has another game or none with a table, a wrapper may change
            observations or actions, or the last observations of a loaded network are not those of
            the game.
    """
    own = model.get_vec_normalize_env()
    if type(own) is not VecNormalize or not own.norm_obs:
        own = None
    check_wrappers(model.env, own)
    numbered = not isinstance(observation, str)
    rows = rows_of(game, player, observation)
    expected, wanted = model.observation_space, observation_space(rows.reshape(len(rows), -1))
    if expected.shape != rows.shape[1:] or (rows.ndim == 1 and expected != wanted):
        name = "the state number" if numbered else f"observation={observation!r}"
        raise ValueError(
            f"the network takes {expected!s:.60}, but {name} of "
            f"{game.info.name} is {wanted!s:.60}: train on what the game shows"
        )
    if model._last_obs is None and model.num_timesteps > 0:
        raise ValueError(
            "the network has learned, but what it last saw was dropped when it was given another "
            "environment; load it without one (normalization takes what a VecNormalize knows)"
        )
    if model.env is not None and not numbered:
        _check_game(model, game)
    others = [
        rows_of(game, one, observation)
        for one in range(game.info.players)
        if one != player and (rows.ndim == 1 or one < len(game.observation))
    ]
    known, last = [rows, *others], model._last_obs
    if own is not None and normalization in (None, own):
        # Earlier inputs of the learner were normalized with the statistics of that moment.
        last, rows = getattr(own, "old_obs", None), _normalized(own, rows)
    elif normalization is not None:
        known = [_normalized(normalization, shown) for shown in known]
        rows = known[0]
    _check_last(model, last, known, "state number" if numbered else f"observation={observation!r}")
    return rows


def rows_of(game: TabularGame, player: int, observation: str | Array) -> Array:
    """Return the observations of a player in each state, [S, ...].

    Args:
        game: The game.
        player: The player.
        observation: Their kind, or the observations themselves.
    """
    if isinstance(observation, str):
        return observed(game, player, observation)
    return np.asarray(observation)


def _normalized(statistics: Normalization | VecNormalize, rows: Array) -> Array:
    """Return rows normalized as a learner's inputs."""
    if isinstance(statistics, VecNormalize):
        statistics = Normalization.of(statistics)
    if rows.shape[1:] != statistics.mean.shape:
        raise ValueError(
            f"the normalization is of observations of shape {statistics.mean.shape}; they have "
            f"{rows.shape[1:]}"
        )
    return statistics(rows)


def _check_game(model: BaseAlgorithm, game: TabularGame) -> None:
    """Refuse a learner whose environment samples another game or an unknown one.

    Starts may differ, and an opponent may be folded into chance on either side.
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
    """Check whether two tables are the same except for their starts."""
    arrays = (
        (g.row_start, g.outcome_start, g.next_state, g.probability, g.outcome_reward, *g.mask)
        for g in (one, other)
    )
    return all(a is b or np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


def _folded(game: TabularGame) -> bool:
    """Check whether a player of a two-player game never has a choice, as after ``against``."""
    return game.info.players == 2 and not all((n > 1).any() for n in game.action_count)


def _check_last(model: BaseAlgorithm, last: Any, known: Sequence[Array], name: str) -> None:
    """Refuse a network whose last observations, or else whose input space, are not the game's."""
    if last is not None:
        # In the network's precision; adding 0 turns a negative zero into an ordinary one.
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
