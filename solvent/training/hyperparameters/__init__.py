"""Tuned hyperparameters, in the files and the format of rl-baselines3-zoo.

A game's folder has a file per algorithm, ``hyperparameters/ppo.yml``, which its spec names
(:class:`solvent.model.registry.GameSpec`). It maps the id of an environment to keyword arguments of
the algorithm, with three keys of its own: ``n_envs``, ``n_timesteps`` and ``policy``. A learning
rate or clip range such as ``lin_0.002`` falls linearly from that value to 0. ``policy_kwargs`` may
be written as Python, ``dict(activation_fn=nn.ReLU)``; here it is read without being executed. An
environment without an entry has the settings of ``default.yml``, which is in the folder of this
module and has an entry for each algorithm.

``exploring_starts`` is a setting of :func:`~solvent.training.train.train` itself, given for
environments that are not learned without it. The file has a key of that name that maps environments
to shares; rl-baselines3-zoo looks up environments only and does not see it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from torch import nn

from solvent.model.parameters import check_choice, check_integer
from solvent.model.registry import game_specs

SCHEDULED = ("learning_rate", "clip_range", "clip_range_vf")
"""Hyperparameters that may be a schedule, as in rl-baselines3-zoo."""

NAMED = {name: getattr(nn, name) for name in ("ReLU", "Tanh", "ELU", "GELU", "SiLU")}
"""Classes of ``torch.nn`` that ``policy_kwargs`` may name, as in ``nn.ReLU``."""

EXPLORING = "exploring_starts"
"""The setting that belongs to the training, not to the algorithm, and its key in a file."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """The settings of an algorithm.

    Attributes:
        n_envs: Number of environments that run in parallel.
        n_timesteps: Steps in all environments together.
        policy: Name of the kind of network.
        arguments: The other keyword arguments of the algorithm.
        exploring_starts: Default share of exploring starts; None if it is not tuned.
    """

    n_envs: int
    n_timesteps: int
    policy: str
    arguments: dict[str, Any]
    exploring_starts: float | None = None


def tuned(file: str, env_id: str | None) -> dict[str, Any]:
    """Return the hyperparameters for an environment, as written in a file.

    Args:
        file: Name of the algorithm's file, such as ``"ppo"``.
        env_id: Id of the environment; None for one without an id.
    """
    own = {} if env_id is None else _entries_of_game(file, env_id)
    if env_id in own:
        shares = own.get(EXPLORING, {})
        return own[env_id] | ({EXPLORING: shares[env_id]} if env_id in shares else {})
    return _entries(files(__name__) / "default.yml")[file]


def _entries_of_game(file: str, env_id: str) -> dict[str, dict[str, Any]]:
    """Return the entries in the file of an environment's game; none if there is no such file."""
    for spec in game_specs().values():
        if env_id in spec.environments and spec.hyperparameters is not None:
            path = files(spec.hyperparameters) / "hyperparameters" / f"{file}.yml"
            return _entries(path) if path.is_file() else {}
    return {}


def _entries(path: Traversable) -> dict[str, dict[str, Any]]:
    """Return the entries of a file."""
    entries: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return entries


def requested(
    file: str,
    env_id: str | None,
    changes: Mapping[str, Any] | None = None,
    timesteps: int | None = None,
) -> dict[str, Any]:
    """Return the tuned hyperparameters with the caller's changes.

    Args:
        file: Name of the algorithm's file, such as ``"ppo"``.
        env_id: Id of the environment; None for one without an id.
        changes: Values that replace the tuned ones of the same name.
        timesteps: Steps in all environments together. Default: the tuned number.

    Raises:
        ValueError: If `timesteps` is not a whole number from 1.
    """
    raw = tuned(file, env_id) | dict(changes or {})
    if timesteps is not None:
        raw["n_timesteps"] = check_integer(timesteps, "timesteps", 1, 10**12)
    return raw


def prepare(raw: Mapping[str, Any], model: type[BaseAlgorithm]) -> Hyperparameters:
    """Check hyperparameters and turn schedules into functions, as rl-baselines3-zoo does.

    Args:
        raw: The hyperparameters as :func:`requested` returns them.
        model: The class of the algorithm.

    Raises:
        ValueError: If an argument is not one of the algorithm's, or a schedule is not of the
            form ``lin_x``, or ``policy_kwargs`` is more than a dictionary of plain values.
    """
    # The class itself takes the network and the environment; these are given by the training.
    own = set(inspect.signature(model).parameters) - {"env", "seed", "device", "tensorboard_log"}
    of_training = {"n_envs", "n_timesteps", EXPLORING}
    for name in raw:
        check_choice(name, f"hyperparameter of {model.__name__}", own | of_training)
    arguments = dict(raw)
    share = arguments.pop(EXPLORING, None)
    n_envs = check_integer(arguments.pop("n_envs", 1), "n_envs", 1, 2**20)
    if "n_timesteps" not in arguments:
        raise ValueError("hyperparameters lack n_timesteps")
    # YAML reads 1e6 as text, and rl-baselines3-zoo therefore takes numbers of any kind.
    n_timesteps = int(float(arguments.pop("n_timesteps")))
    policy = str(arguments.pop("policy", "MlpPolicy"))
    for name in SCHEDULED:
        if isinstance(arguments.get(name), str):
            arguments[name] = _schedule(name, arguments[name])
    if isinstance(arguments.get("policy_kwargs"), str):
        arguments["policy_kwargs"] = _dictionary("policy_kwargs", arguments["policy_kwargs"])
    return Hyperparameters(n_envs, n_timesteps, policy, arguments, share)


def _schedule(name: str, text: str) -> LinearSchedule:
    kind, _, start = text.partition("_")
    try:
        if kind != "lin":
            raise ValueError
        return LinearSchedule(float(start), 0.0, 1.0)
    except ValueError:
        raise ValueError(f"{name} is {text!r}; allowed are numbers and lin_<number>") from None


def _dictionary(name: str, text: str) -> dict[str, Any]:
    """Read ``dict(key=value, ...)`` whose values are literals or classes of :data:`NAMED`."""
    try:
        match ast.parse(text, mode="eval").body:
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words) if all(
                word.arg for word in words
            ):
                return {str(word.arg): _value(word.value) for word in words}
            case _:
                raise ValueError
    except (SyntaxError, ValueError, KeyError):
        raise ValueError(
            f"{name} is {text!r}; allowed is dict(key=value, ...) with plain values, "
            f"dict(...) or nn.{', nn.'.join(NAMED)}"
        ) from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Attribute(value=ast.Name(id="nn"), attr=name):
            return NAMED[name]
        case ast.Call():
            return _dictionary("value", ast.unparse(node))
        case _:
            return ast.literal_eval(node)
