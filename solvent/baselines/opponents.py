"""Opponents by name, and the environments in which one meets them.

An environment for one seat of a game for two (:class:`solvent.envs.SeatEnv`) takes policies. Here
they are asked for by a *specification*, which can be written as JSON and so be part of an
environment's id:

- a name of :func:`solvent.baselines.all_baselines` that the game has for the other seat;
- the path of a file written by :func:`solvent.exact.save_policy`;
- a mapping of such names and paths to weights: a pool, from which each play draws its opponent.

Where the learner takes either seat, an opponent is needed in both. A baseline is made for each;
a file holds the policy of one player and does not fit the other seat. From Python a
:class:`~solvent.model.TabularPolicy` will do in place of a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from solvent.baselines import all_baselines, baseline_names, make_baseline
from solvent.envs.opponents import Opponent
from solvent.envs.registration import compiled_game
from solvent.envs.seat_env import Seat, SeatEnv, seats_of
from solvent.model import TabularGame, TabularPolicy
from solvent.model.parameters import check_choice, shown

if TYPE_CHECKING:
    from solvent.envs.seat_vector_env import SeatVectorEnv

Specification: TypeAlias = str | Path | TabularPolicy
"""One opponent: a name, a file, or a policy."""


def make_opponents(
    game: TabularGame,
    specification: Specification | Mapping[Specification, float],
    seat: Seat = 0,
) -> tuple[list[Opponent], list[float]]:
    """The opponents that a specification stands for.

    Args:
        game: The game they are to play.
        specification: See the module.
        seat: The learner's.

    Returns:
        The opponents and their weights, as :class:`solvent.envs.SeatEnv` takes them.

    Raises:
        ValueError: If a name is unknown or the game has no such baseline for a seat that the
            opponent has to take, a file is missing, damaged, for another game or for another
            seat, or there is no opponent at all.
    """
    pool = (
        list(specification.items())
        if isinstance(specification, Mapping)
        else [(specification, 1.0)]
    )
    if not pool:
        raise ValueError("opponent is empty; a pool needs at least one name, file or policy")
    players = [1 - taken for taken in seats_of(seat)]
    opponents = [tuple(_policy(game, one, player) for player in players) for one, _ in pool]
    return list(opponents), [weight for _, weight in pool]


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
    if _names_a_file(specification):
        path = Path(specification).absolute()
        # A file that was written anew is another policy.
        changed = path.stat().st_mtime_ns if path.is_file() else None
        if (path, changed, player) not in made:
            made[path, changed, player] = _load(game, Path(specification), player)
        return made[path, changed, player]
    if (specification, player) not in made:
        names = baseline_names(game, player)
        check_choice(specification, f"opponent for player {player} of {game.info.name}", names)
        made[specification, player] = make_baseline(str(specification), game, player)
    return made[specification, player]


def _names_a_file(specification: str | Path) -> bool:
    path = Path(specification)
    if isinstance(specification, Path) or path.suffix or len(path.parts) > 1:
        return True
    return specification not in all_baselines() and path.is_file()


def _load(game: TabularGame, path: Path, player: int) -> TabularPolicy:
    from solvent.exact import StoreError, load_policy

    policy = load_policy(path, game)
    if policy.player != player:
        raise StoreError(
            f"{path}: is a policy of player {policy.player}, but the opponent has to play for "
            f"player {player}"
        )
    return policy


class GameSeatEnv(SeatEnv):
    """One seat of a listed game for two: what ``gym.make`` makes of an id.

    Args:
        game: A name of :data:`solvent.games.GAMES`.
        opponent: A specification, see the module.
        seat: The learner's: 0, 1, or ``"random"`` for one that is drawn at each reset.
        observation: As for :class:`~solvent.envs.SeatEnv`, like the next two.
        illegal: As there.
        render_mode: As there.
        parameters: The game's own.

    Raises:
        ValueError: If a name or a parameter is unknown, a value is not allowed, or an opponent
            does not fit.
    """

    def __init__(
        self,
        game: str,
        *,
        opponent: Specification | Mapping[Specification, float] = "optimal",
        seat: Seat = 0,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        rules, table = compiled_game(game, parameters)
        opponents, weights = make_opponents(table, opponent, seat)
        super().__init__(
            table,
            opponents,
            weights=weights,
            seat=seat,
            rules=rules,
            observation=observation,
            illegal=illegal,
            render_mode=render_mode,
        )


def seat_vector_env(
    game: str,
    num_envs: int = 1,
    *,
    opponent: Specification | Mapping[Specification, float] = "optimal",
    seat: Seat = 0,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    autoreset_mode: str = "NextStep",
    **parameters: Any,
) -> SeatVectorEnv:
    """Many seats of a listed game for two: what ``gym.make_vec`` makes of an id.

    The arguments are those of :class:`GameSeatEnv` and :class:`solvent.envs.SeatVectorEnv`.
    """
    from solvent.envs.seat_vector_env import SeatVectorEnv

    rules, table = compiled_game(game, parameters)
    opponents, weights = make_opponents(table, opponent, seat)
    return SeatVectorEnv(
        table,
        opponents,
        num_envs,
        weights=weights,
        seat=seat,
        rules=rules,
        observation=observation,
        illegal=illegal,
        render_mode=render_mode,
        autoreset_mode=autoreset_mode,
    )
