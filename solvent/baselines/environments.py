"""Environments of games by name, as ``gym.make`` makes them from an id, and opponents by name.

An environment for one seat of a game for two (:class:`solvent.envs.Env`) takes policies or, in
a game without a table, players. Here they are named by a *specification*. As JSON it can be part of
an environment's id:

- a name: of a baseline that the game has for the other seat; without a table, ``"uniform"`` or a
  name of the ``players`` of the game's spec;
- the path of a file that :func:`solvent.exact.save_policy` wrote; without a table, of a network
  that :func:`solvent.baselines.network.save_network` wrote;
- a mapping of such names and paths to weights: a pool, from which each episode draws its opponent.

Where the learner takes either seat, an opponent has to play both. A baseline is made for each seat,
but a file holds the policy of one player only. In Python a :class:`~solvent.model.TabularPolicy` or
a :class:`solvent.envs.batch_simulator.Player` may replace a name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from solvent.baselines.named import baselines_of, make_baseline
from solvent.envs.batch_simulator import Player, Sampler, Uniform
from solvent.envs.env import Env, Seat, seats_of
from solvent.envs.registration import rules_and_source
from solvent.model import TabularGame, TabularPolicy
from solvent.model.parameters import check_arguments, check_choice, shown
from solvent.model.registry import find_spec, load, spec_of

if TYPE_CHECKING:
    from solvent.envs.vector_env import VectorEnv

Specification: TypeAlias = str | Path | TabularPolicy | Player
"""One opponent: a name, a file, a policy or a player."""

# Arguments of an environment for two, unless the game has a parameter of that name.
_OF_A_SEAT = ("opponent", "seat", "solution")


def make_env(
    game: str,
    *,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    **arguments: Any,
) -> Env:
    """Make the environment of a game, or of one seat in a game for two.

    Args:
        game: Name of the game, as for :func:`solvent.make_game`.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for
            :class:`solvent.envs.Env`; without a table, those of the game's simulations.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one instead,
            ``"raise"`` raises a ValueError.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.
        arguments: The game's own parameters, and in a game for two those of :func:`_seat`.

    Raises:
        UnexpectedArgumentError: If an argument is unknown; a ValueError and a TypeError.
        ValueError: If a name is unknown, a value is not allowed, or an opponent does not fit.
    """
    source = _source(game, arguments)
    return Env(**source, observation=observation, illegal=illegal, render_mode=render_mode)


# Gymnasium reads here which render modes are native, as it would of a class.
make_env.metadata = Env.metadata  # type: ignore[attr-defined]


def make_vector_env(
    game: str,
    num_envs: int = 1,
    *,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    autoreset_mode: str = "NextStep",
    **arguments: Any,
) -> VectorEnv:
    """Make a vector environment of a game.

    Args:
        game: Name of the game, as for :func:`solvent.make_game`.
        num_envs: Number of environments.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for
            :class:`solvent.envs.Env`; without a table, those of the game's simulations.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one instead,
            ``"raise"`` raises a ValueError.
        render_mode: None, ``"ansi"`` or ``"rgb_array"``.
        autoreset_mode: Behavior at the end of an episode, see
            :class:`solvent.envs.vector_env.VectorEnv`.
        arguments: The game's own parameters, and in a game for two those of :func:`_seat`.

    Raises:
        UnexpectedArgumentError: If an argument is unknown; a ValueError and a TypeError.
        ValueError: If a name is unknown, a value is not allowed, or an opponent does not fit.
    """
    # Compiled loops take a while to import.
    from solvent.envs.vector_env import VectorEnv

    return VectorEnv(
        **_source(game, arguments),
        num_envs=num_envs,
        observation=observation,
        illegal=illegal,
        render_mode=render_mode,
        autoreset_mode=autoreset_mode,
    )


def _source(game: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an environment for its game, opponents and seat."""
    own = inspect.signature(find_spec(game).maker()).parameters
    seat = {name: arguments[name] for name in _OF_A_SEAT if name in arguments and name not in own}
    parameters = {name: value for name, value in arguments.items() if name not in seat}
    rules, source = rules_and_source(game, parameters)
    if rules.info.players == 2:
        return {"game": source, "rules": rules, **_seat(source, **seat)}
    check_arguments(seat, f"{game}, a game for one,", own)
    return {"game": source, "rules": rules}


def _seat(
    source: TabularGame | Sampler,
    *,
    opponent: Specification | Mapping[Specification, float] | None = None,
    seat: Seat = 0,
    solution: str | Path | None = None,
) -> dict[str, Any]:
    """Return arguments of a :class:`~solvent.envs.Env`.

    Args:
        source: The table or sampler of the game.
        opponent: A specification of the opponents, see the module. Default:
            ``"optimal"``, or ``"uniform"`` in a game without a table.
        seat: The learner's seat: 0, 1, or ``"random"`` for one that is drawn for each episode.
        solution: The folder of the solution of a game without a table, which an optimal opponent
            may need.

    Raises:
        ValueError: If a name is unknown, a value is not allowed, or an opponent does not fit.
    """
    if opponent is None:
        opponent = "optimal" if isinstance(source, TabularGame) else "uniform"
    opponents, weights = make_opponents(source, opponent, seat, solution)
    return {"opponents": opponents, "weights": weights, "seat": seat}


def make_opponents(
    game: TabularGame | Sampler,
    specification: Specification | Mapping[Specification, float],
    seat: Seat = 0,
    solution: str | Path | None = None,
) -> tuple[list[Any], list[float]]:
    """Make the opponents of a specification.

    Args:
        game: The game to play: its table, or the sampler of a game without one.
        specification: The specification of the opponents, see the module.
        seat: The learner's seat.
        solution: The folder of the solution of a game without a table, which an optimal opponent
            may need.

    Returns:
        The opponents and their weights, as :class:`solvent.envs.Env` takes them.

    Raises:
        ValueError: If a name is unknown or the game has no such opponent for a seat that the
            opponent has to take, a file is missing, damaged, for another game or for another
            seat, a solution is needed, or there is no opponent at all.
    """
    pool = (
        list(specification.items())
        if isinstance(specification, Mapping)
        else [(specification, 1.0)]
    )
    if not pool:
        raise ValueError("opponent is empty; a pool needs at least one name, file or policy")
    weights = [weight for _, weight in pool]
    if not isinstance(game, TabularGame):
        return [_player(game, one, solution) for one, _ in pool], weights
    if solution is not None:
        raise ValueError(
            f"solution is {shown(solution)}; it is for games without a table, and "
            f"{game.info.name} has one"
        )
    players = [1 - taken for taken in seats_of(seat)]
    return [
        tuple(opponent_policy(game, one, player) for player in players) for one, _ in pool
    ], weights


def _player(sampler: Sampler, specification: Specification, solution: str | Path | None) -> Any:
    if not isinstance(specification, (str, Path)):
        return specification
    info = sampler.rules.info
    spec = spec_of(info)
    own = load(spec.players) if spec and spec.players else {}
    players = {"uniform": lambda *_: Uniform(), **own}
    if _names_a_file(specification, lambda: players):
        from solvent.baselines.network import load_network

        return load_network(specification)
    name = check_choice(specification, f"opponent of {info.name}", players)
    return players[name](sampler.rules, solution)


def opponent_policy(game: TabularGame, specification: Specification, player: int) -> TabularPolicy:
    """Return the policy of one opponent by its specification, see the module.

    Args:
        game: The table of the game.
        specification: A name, a file or the policy.
        player: The player that the opponent takes.

    Raises:
        ValueError: As for :func:`make_opponents`.
    """
    if isinstance(specification, TabularPolicy):
        return specification
    if not isinstance(specification, (str, Path)):
        raise ValueError(
            f"opponent is {shown(specification)}; allowed are names of baselines, files of "
            f"policies, and mappings of these to weights"
        )
    if not _names_a_file(specification, lambda: baselines_of(game)):
        return _baseline(game, str(specification), player)
    path = Path(specification).absolute()
    # A file that was written anew is another policy.
    return _loaded(game, path, player, path.stat().st_mtime_ns if path.is_file() else None)


# Hundreds of environments may ask for the same opponent, and a policy that they share is prepared
# for sampling once.
@lru_cache(maxsize=16)
def _baseline(game: TabularGame, name: str, player: int) -> TabularPolicy:
    return make_baseline(name, game, player, f"opponent for player {player} of {game.info.name}")


@lru_cache(maxsize=16)
def _loaded(game: TabularGame, path: Path, player: int, written: int | None) -> TabularPolicy:
    # Only files of policies need the solver, whose libraries take a while to import.
    from solvent.exact import load_policy

    return load_policy(path, game, player)


def _names_a_file(specification: str | Path, names: Callable[[], Mapping[str, Any]]) -> bool:
    path = Path(specification)
    if isinstance(specification, Path) or path.suffix or len(path.parts) > 1:
        return True
    # Path.is_file raises on a name that is too long for a path.
    return isfile(specification) and specification not in names()  # noqa: PTH113
