"""Tuned hyperparameters, in the files and the format of rl-baselines3-zoo.

A file per algorithm maps the id of an environment to keyword arguments of the algorithm, with
three keys of its own: ``n_envs``, ``n_timesteps`` and ``policy``. A learning rate or clip range
such as ``lin_0.002`` falls linearly from that value to 0. ``policy_kwargs`` may be written as
Python, ``dict(activation_fn=nn.ReLU)``; here it is read without being executed. What stands under
``default`` is for environments that are not listed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from torch import nn

from solvent.model.parameters import check_choice, check_integer

SCHEDULED = ("learning_rate", "clip_range", "clip_range_vf")
"""What may be a schedule, as in rl-baselines3-zoo."""

NAMED = {name: getattr(nn, name) for name in ("ReLU", "Tanh", "ELU", "GELU", "SiLU")}
"""What ``nn.`` may stand before."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """How to set an algorithm up.

    Attributes:
        n_envs: How many environments play at once.
        n_timesteps: Steps in all environments together.
        policy: Name of the kind of network.
        arguments: The other keyword arguments of the algorithm.
    """

    n_envs: int
    n_timesteps: int
    policy: str
    arguments: dict[str, Any]


def tuned(file: str, env_id: str | None) -> dict[str, Any]:
    """The hyperparameters for an environment, as they stand in the file.

    Args:
        file: Of the algorithm, such as ``"ppo"``.
        env_id: The environment; None for one without a name.
    """
    path = Path(__file__).with_name(f"{file}.yml")
    entries: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return entries.get(env_id or "default", entries["default"])


def requested(
    file: str,
    env_id: str | None,
    changes: Mapping[str, Any] | None = None,
    timesteps: int | None = None,
) -> dict[str, Any]:
    """The tuned hyperparameters with what a caller wants otherwise.

    Args:
        file: As for :func:`tuned`.
        env_id: As there.
        changes: To use instead of those of the same name.
        timesteps: Steps in all environments together, if not as tuned.

    Raises:
        ValueError: If `timesteps` is not a whole number from 1.
    """
    raw = tuned(file, env_id) | dict(changes or {})
    if timesteps is not None:
        raw["n_timesteps"] = check_integer(timesteps, "timesteps", 1, 10**12)
    return raw


def prepare(raw: Mapping[str, Any], model: type[BaseAlgorithm]) -> Hyperparameters:
    """Check hyperparameters and turn schedules into functions, as rl-baselines3-zoo does.

    Raises:
        ValueError: If an argument is not one of the algorithm's, or a schedule is not of the
            form ``lin_x``, or ``policy_kwargs`` is more than a dictionary of plain values.
    """
    # The class itself takes the network and the environment; these are given by the training.
    own = set(inspect.signature(model).parameters) - {"env", "seed", "device", "tensorboard_log"}
    for name in raw:
        check_choice(name, f"hyperparameter of {model.__name__}", own | {"n_envs", "n_timesteps"})
    arguments = dict(raw)
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
    return Hyperparameters(n_envs, n_timesteps, policy, arguments)


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
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                return {str(k.arg): _value(k.value) for k in keywords if k.arg is not None}
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
