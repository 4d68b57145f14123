"""Opponents by name.

An environment for one seat of a game for two (:class:`solvent.envs.SeatEnv`) takes policies or, in
a game without a table, players. Here they are named by a *specification*, which can be written as
JSON and so be part of an environment's id:

- a name: of a baseline that the game has for the other seat; without a table, ``"uniform"`` or a
  name of the ``players`` of the game's spec;
- the path of a file that :func:`solvent.exact.save_policy` wrote; without a table, of a network
  that :func:`solvent.baselines.network.save_network` wrote;
- a mapping of such names and paths to weights: a pool, from which each episode draws its opponent.

Where the learner takes either seat, an opponent is needed in both. A baseline is made for each;
a file holds the policy of one player and does not fit the other seat. From Python a
:class:`~solvent.model.TabularPolicy` or a :class:`solvent.envs.simulation.Player` also works in
place of a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from solvent.baselines import baselines_of, make_baseline
from solvent.baselines.network import load_network
from solvent.envs.env import Seat, seats_of
from solvent.envs.simulation import Player, Sampler, Uniform
from solvent.model import TabularGame, TabularPolicy
from solvent.model.parameters import check_choice, shown
from solvent.model.registry import load, spec_of

Specification: TypeAlias = str | Path | TabularPolicy | Player
"""One opponent: a name, a file, a policy or a player."""


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
        The opponents and their weights, as :class:`solvent.envs.SeatEnv` takes them.

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
    return [tuple(_policy(game, one, player) for player in players) for one, _ in pool], weights


def _player(sampler: Sampler, specification: Specification, solution: str | Path | None) -> Any:
    if not isinstance(specification, (str, Path)):
        return specification
    info = sampler.rules.info
    spec = spec_of(info)
    own = load(spec.players) if spec and spec.players else {}
    if _names_a_file(specification, lambda: {**own, "uniform": None}):
        return load_network(specification)
    check_choice(specification, f"opponent of {info.name}", ["uniform", *own])
    if specification in own:
        return own[specification](sampler.rules, solution)
    return Uniform()


# By what was asked for. Hundreds of environments may ask for the same opponent, and a policy that
# they share is prepared for sampling once.
_made: WeakKeyDictionary[TabularGame, dict[tuple[Any, ...], TabularPolicy]] = WeakKeyDictionary()


def _policy(game: TabularGame, specification: Specification, player: int) -> TabularPolicy:
    if isinstance(specification, TabularPolicy):
        return specification
    if not isinstance(specification, (str, Path)):
        raise ValueError(
            f"opponent is {shown(specification)}; allowed are names of baselines, files of "
            f"policies, and mappings of these to weights"
        )
    made = _made.setdefault(game, {})
    if _names_a_file(specification, lambda: baselines_of(game)):
        path = Path(specification).absolute()
        # A file that was written anew is another policy.
        changed = path.stat().st_mtime_ns if path.is_file() else None
        if (path, changed, player) not in made:
            made[path, changed, player] = _load(game, Path(specification), player)
        return made[path, changed, player]
    if (specification, player) not in made:
        what = f"opponent for player {player} of {game.info.name}"
        made[specification, player] = make_baseline(str(specification), game, player, what)
    return made[specification, player]


def _names_a_file(specification: str | Path, names: Callable[[], Mapping[str, Any]]) -> bool:
    path = Path(specification)
    if isinstance(specification, Path) or path.suffix or len(path.parts) > 1:
        return True
    return path.is_file() and specification not in names()


def _load(game: TabularGame, path: Path, player: int) -> TabularPolicy:
    from solvent.exact import StoreError, load_policy

    policy = load_policy(path, game)
    if policy.player != player:
        raise StoreError(
            f"{path}: is a policy of player {policy.player}, but the opponent has to play for "
            f"player {player}"
        )
    return policy
