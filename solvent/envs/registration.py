"""The meaning of the ids of environments, and games and their tables by name.

The ids stand in the specs of the games (:mod:`solvent.model.registry`);
:mod:`solvent.registration` puts them into the registries of Gymnasium and PettingZoo.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from solvent.model.parameters import plain, shown
from solvent.model.registry import Environment, find_spec, game_specs, make_game

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from solvent.envs.batch_simulator import Sampler
    from solvent.envs.pettingzoo_env import TabularAECEnv, TabularParallelEnv
    from solvent.model import Game, TabularGame


@dataclass(frozen=True, kw_only=True)
class Entry(Environment):
    """The meaning of a Gymnasium id, and its game.

    Attributes:
        game: The name of the game.
    """

    game: str

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments with which :mod:`solvent.baselines.environments` makes it."""
        opponent = {} if self.opponent is None else {"opponent": self.opponent}
        return {"game": self.game, **self.parameters, **opponent}


class _Environments(Mapping[str, Entry]):
    """The entries of all known games, read from their specs at each access."""

    def _all(self) -> dict[str, Entry]:
        return {
            env_id: Entry(
                game=game, **{at.name: getattr(one, at.name) for at in fields(Environment)}
            )
            for game, spec in game_specs().items()
            for env_id, one in spec.environments.items()
        }

    def __getitem__(self, env_id: str) -> Entry:
        return self._all()[env_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


ENVIRONMENTS: Mapping[str, Entry] = _Environments()
"""The meaning of every Gymnasium id of a known game."""


def aec_env(game: str, **arguments: Any) -> AECEnv[str, Any, Any]:
    """Make a PettingZoo environment in which one agent acts after the other.

    If both players act at once, neither agent sees the other's action before choosing its own.

    Args:
        game: The game, as for :func:`solvent.make_game`.
        arguments: Arguments of :func:`parallel_env`.

    Raises:
        UnexpectedArgumentError: If an argument is unknown; a ValueError and a TypeError.
        ValueError: If the name is unknown, or a value is not allowed.
    """
    from pettingzoo.utils.conversions import parallel_to_aec
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper

    if find_spec(game).simultaneous:
        return parallel_to_aec(parallel_env(game, **arguments))
    return OrderEnforcingWrapper(raw_aec_env(game, **arguments))


def parallel_env(game: str, **arguments: Any) -> TabularParallelEnv:
    """Make a PettingZoo environment of a game whose players act at the same time.

    Args:
        game: The game, as for :func:`solvent.make_game`.
        arguments: Parameters of the game, and `observation`, `illegal`, `mask` and
            `render_mode`, as for :class:`solvent.envs.pettingzoo_env.TabularParallelEnv`.

    Raises:
        UnexpectedArgumentError: If an argument is unknown; a ValueError and a TypeError.
        ValueError: If the name is unknown, or a value is not allowed.
    """
    from solvent.envs.pettingzoo_env import TabularParallelEnv

    return TabularParallelEnv(**_for_two(game, arguments))


def raw_aec_env(game: str, **arguments: Any) -> TabularAECEnv:
    """Make the environment of :func:`aec_env` without its wrapper, for players who take turns.

    The wrapper reports calls before ``reset`` in PettingZoo's words.

    Args:
        game: The game, as for :func:`solvent.make_game`.
        arguments: Arguments of :func:`parallel_env`.

    Raises:
        UnexpectedArgumentError: If an argument is unknown; a ValueError and a TypeError.
        ValueError: If the name is unknown, or a value is not allowed.
    """
    from solvent.envs.pettingzoo_env import TabularAECEnv

    return TabularAECEnv(**_for_two(game, arguments))


# Arguments of a PettingZoo environment; all others are parameters of the game.
_OF_AN_ENVIRONMENT = ("observation", "illegal", "mask", "render_mode")


def _for_two(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an environment for two agents, with the game and its source.

    Raises:
        ValueError: If the game is for one player and has no table, the name is unknown, or a value
            is not allowed.
    """
    own = {key: arguments[key] for key in _OF_AN_ENVIRONMENT if key in arguments}
    parameters = {key: value for key, value in arguments.items() if key not in own}
    rules, source = rules_and_source(name, parameters)
    if rules.info.players == 1:
        raise ValueError(f"{name} is a game for one; PettingZoo needs a game for two")
    return {"game": source, "rules": rules, **own}


def samples_table(env_id: str) -> bool:
    """Return whether an environment samples a table; the others have too many states for one.

    Args:
        env_id: A key of :data:`ENVIRONMENTS`.
    """
    entry = ENVIRONMENTS[env_id]
    return _sampler(entry.game, _as_text(entry.game, entry.parameters)) is None


def rules_and_source(
    name: str, parameters: Mapping[str, Any]
) -> tuple[Game, TabularGame | Sampler]:
    """Return a game, and the source of its episodes: the sampler of its spec, or else its table.

    Environments with equal parameters share both.

    Args:
        name: Name of the game, as for :func:`solvent.make_game`.
        parameters: Parameters of the game.

    Raises:
        ValueError: If the name or a parameter is unknown, or a value is not allowed.
    """
    text = _as_text(name, parameters)
    sampler = _sampler(name, text)
    return _compile(name, text) if sampler is None else (sampler.rules, sampler)


def compiled_game(name: str, parameters: Mapping[str, Any]) -> tuple[Game, TabularGame]:
    """Return a game and its table, which environments with equal parameters share.

    Args:
        name: Name of the game, as for :func:`solvent.make_game`.
        parameters: Parameters of the game.

    Raises:
        ValueError: If the name or a parameter is unknown, or a value is not allowed.
    """
    return _compile(name, _as_text(name, parameters))


def _as_text(name: str, parameters: Mapping[str, Any]) -> str:
    try:
        return json.dumps({k: plain(v) for k, v in parameters.items()}, sort_keys=True)
    except TypeError as error:
        raise ValueError(f"parameters of {name} are {shown(parameters)}: {error}") from None


@lru_cache(maxsize=8)
def _make(name: str, parameters: str) -> Game:
    return make_game(name, **json.loads(parameters))


@lru_cache(maxsize=8)
def _compile(name: str, parameters: str) -> tuple[Game, TabularGame]:
    from solvent.model import cached_table

    game = _make(name, parameters)
    return game, cached_table(game)


@lru_cache(maxsize=8)
def _sampler(name: str, parameters: str) -> Sampler | None:
    spec = find_spec(name)
    if spec.simulator is None:
        return None
    game = _make(name, parameters)
    sampler: Sampler | None = spec.for_objective(game.info).ask("simulator", game)
    return sampler
