"""The learning algorithms by name, loading of saved networks, and tuned hyperparameters.

**Tuned hyperparameters** have the files and the format of rl-baselines3-zoo. The package of a
game's rules has a file per algorithm, ``hyperparameters/ppo.yml``. It maps the id of an environment
to keyword arguments of the algorithm, with three keys of its own: ``n_envs``, ``n_timesteps`` and
``policy``. A learning rate or clip range such as ``lin_0.002`` falls linearly from that value to 0.
``policy_kwargs`` may be written as Python, ``dict(activation_fn=nn.ReLU)``; here it is read without
being executed. An environment without an entry has the settings of ``hyperparameters/default.yml``
in this package, which has an entry for each algorithm.

``exploring_starts`` is a setting of :func:`~solvent.training.train.train` itself, for environments
that are hardly learned without it. The file has a key of that name that maps environments to
shares. rl-baselines3-zoo ignores it, since it looks up environments only.
"""

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sb3_contrib import QRDQN, TRPO, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule
from torch import nn

from solvent.model.parameters import check_choice, check_integer, check_rational
from solvent.model.registry import game_specs
from solvent.training.learners import DistinctMaskablePPO, DistinctPPO, MaskedDQN
from solvent.training.mirror_descent import MirrorDescent


@dataclass(frozen=True, slots=True)
class Learner:
    """A learning algorithm.

    Attributes:
        model: Class of the algorithm.
        hyperparameters: Name of its file of tuned hyperparameters, without the ending.
        masked: Whether the algorithm uses action masks.
        seats_apart: Whether the algorithm distinguishes the seats of a two-player game. The seats
            then have roles even if the players' actions are the same
            (:mod:`solvent.training.environments`), and both are learned in every episode.
    """

    model: type[BaseAlgorithm]
    hyperparameters: str
    masked: bool
    seats_apart: bool = False


ALGORITHMS: Mapping[str, Learner] = {
    "ppo": Learner(DistinctPPO, "ppo", masked=False),
    "a2c": Learner(A2C, "a2c", masked=False),
    "trpo": Learner(TRPO, "trpo", masked=False),
    "dqn": Learner(DQN, "dqn", masked=False),
    "qr_dqn": Learner(QRDQN, "qr_dqn", masked=False),
    "maskable_ppo": Learner(DistinctMaskablePPO, "ppo", masked=True),
    "masked_dqn": Learner(MaskedDQN, "dqn", masked=True),
}
"""The algorithms that train one learner, by name."""

SELF_PLAY_ALGORITHMS: Mapping[str, Learner] = {
    **ALGORITHMS,
    "mirror_descent": Learner(MirrorDescent, "mirror_descent", masked=True, seats_apart=True),
}
"""All algorithms; those not in ``ALGORITHMS`` learn both seats of a two-player game at once."""


def find_learner(name: str, among: Mapping[str, Learner] = ALGORITHMS) -> Learner:
    """Return an algorithm by name.

    Args:
        name: Name of the algorithm.
        among: The allowed algorithms.

    Raises:
        ValueError: If there is none of that name.
    """
    return among[check_choice(name, "algorithm", among)]


class Watcher(BaseCallback):
    """A callback that never stops a training."""

    def _on_step(self) -> bool:
        return True


class EntropyCallback(Watcher):
    """Lets the entropy bonus fall linearly to 0, for learners that have one, in two-player games.

    The best action there depends on replies and later moves that are poor at first. A large bonus
    (`ent_coef`, of PPO, A2C and MaskablePPO) keeps all actions in use meanwhile; with a small one
    the policy commits too early. At the end the bonus is 0, so that the final policy is not
    rewarded for randomness.
    """

    def _init_callback(self) -> None:
        self._begin = getattr(self.model, "ent_coef", 0.0)

    def _on_rollout_start(self) -> None:
        if isinstance(self.model, (PPO, A2C, MaskablePPO)):
            self.model.ent_coef = self._begin * self.model._current_progress_remaining


# Hyperparameters that may be a schedule, as in rl-baselines3-zoo.
_SCHEDULED = ("learning_rate", "clip_range", "clip_range_vf")

# Classes of ``torch.nn`` that ``policy_kwargs`` may name, as in ``nn.ReLU``.
_NAMED = {name: getattr(nn, name) for name in ("ReLU", "Tanh", "ELU", "GELU", "SiLU")}

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
    import yaml

    entries: dict[str, dict[str, Any]] = {}
    for spec in game_specs().values():
        # A module that is in no package has no folder of its own.
        if env_id in spec.environments and (package := spec.maker().__module__.rpartition(".")[0]):
            path = files(package) / "hyperparameters" / f"{file}.yml"
            entries = yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}
    if env_id in entries:
        shares = entries.get(EXPLORING, {})
        return entries[env_id] | ({EXPLORING: shares[env_id]} if env_id in shares else {})
    default = files("solvent.training") / "hyperparameters" / "default.yml"
    found: dict[str, Any] = yaml.safe_load(default.read_text("utf-8"))[file]
    return found


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
        ValueError: If an argument is not one of the algorithm's, ``n_timesteps`` is below 1 or
            no number, a schedule is not of the form ``lin_x``, or ``policy_kwargs`` is more than a
            dictionary of plain values.
    """
    # The class itself takes the network and the environment; these are given by the training.
    own = set(inspect.signature(model).parameters) - {"env", "seed", "device", "tensorboard_log"}
    of_training = {"n_envs", "n_timesteps", EXPLORING}
    for name in raw:
        check_choice(
            name,
            f"hyperparameter of {model.__name__.removeprefix('Distinct')}",
            own | of_training,
        )
    arguments = dict(raw)
    share = arguments.pop(EXPLORING, None)
    n_envs = check_integer(arguments.pop("n_envs", 1), "n_envs", 1, 2**20)
    # YAML reads 1e6 as text, and rl-baselines3-zoo therefore takes numbers of any kind.
    n_timesteps = int(check_rational(arguments.pop("n_timesteps"), "n_timesteps", 1, 10**12))
    policy = str(arguments.pop("policy", "MlpPolicy"))
    for name in _SCHEDULED:
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
    """Read ``dict(key=value, ...)`` whose values are literals or classes of ``torch.nn``."""
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
            f"dict(...) or nn.{', nn.'.join(_NAMED)}"
        ) from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Attribute(value=ast.Name(id="nn"), attr=name):
            return _NAMED[name]
        case ast.Call():
            return _dictionary("value", ast.unparse(node))
        case _:
            return ast.literal_eval(node)
