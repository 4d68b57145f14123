"""Games that are too large for a table, by name, and who plays in them.

What :mod:`solvent.baselines.opponents` is for games that have a table. An opponent is

- the name of a player of the game: ``"uniform"``, ``"optimal"`` and others of its own;
- the path of a network that :func:`solvent.baselines.network.save_network` saved;
- a mapping of such names and paths to weights: a pool, from which each play draws one.

From Python a :class:`solvent.envs.simulation.Player` will do in place of a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from solvent.baselines.network import load_network
from solvent.envs.registration import sampled_game
from solvent.envs.seat_env import Seat
from solvent.envs.simulated_seat_env import SimulatedSeatEnv
from solvent.envs.simulation import Player, Sampler, Uniform
from solvent.games import TimedFootball
from solvent.model.parameters import check_choice

if TYPE_CHECKING:
    from solvent.envs.simulated_vector_env import SimulatedSeatVectorEnv

Specification: TypeAlias = str | Path | Player

PLAYERS = ("optimal", "paper-agent", "uniform")
"""The names of players of football with a clock."""


def make_players(
    sampler: Sampler,
    specification: Specification | Mapping[Specification, float],
    solution: str | Path | None = None,
) -> tuple[list[Player], list[float]]:
    """The players that a specification stands for.

    Args:
        sampler: The game they are to play.
        specification: See the module.
        solution: The folder of the game's solution, for the optimal player.

    Returns:
        The players and their weights.

    Raises:
        ValueError: If a name is unknown, a file is missing, damaged or of another kind, the
            optimal player needs a solution, or there is no player at all.
    """
    pool = specification if isinstance(specification, Mapping) else {specification: 1.0}
    if not pool:
        raise ValueError("opponent is empty; a pool needs at least one name, file or player")
    return [_player(sampler, one, solution) for one in pool], list(pool.values())


def _player(sampler: Sampler, specification: Specification, solution: str | Path | None) -> Player:
    if not isinstance(specification, (str, Path)):
        return specification
    path = Path(specification)
    if isinstance(specification, Path) or path.suffix or len(path.parts) > 1:
        return load_network(path)
    check_choice(specification, f"opponent of {sampler.rules.info.name}", PLAYERS)
    if specification == "uniform":
        return Uniform()
    from solvent.games.football_clock.baselines.players import agent_player, optimal_player

    assert isinstance(sampler.rules, TimedFootball)
    if specification == "paper-agent":
        return agent_player(sampler.rules)
    return optimal_player(sampler.rules, solution)


class SimulatedGameEnv(SimulatedSeatEnv):
    """One seat of a listed game without a table: what ``gym.make`` makes of an id.

    Args:
        game: A name of :data:`solvent.games.GAMES`.
        opponent: A specification, see the module.
        solution: The folder of the game's solution, which an optimal opponent of a large form
            needs.
        seat: The learner's: 0, 1, or ``"random"`` for one that is drawn at each reset.
        observation: ``"vector"`` or ``"onehot"``.
        illegal: As for :class:`~solvent.envs.TabularEnv`, like the next.
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
        opponent: Specification | Mapping[Specification, float] = "uniform",
        solution: str | Path | None = None,
        seat: Seat = 0,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        sampler = sampled_game(game, parameters)
        players, weights = make_players(sampler, opponent, solution)
        super().__init__(
            sampler,
            players,
            weights=weights,
            seat=seat,
            observation=observation,
            illegal=illegal,
            render_mode=render_mode,
        )


def simulated_vector_env(
    game: str,
    num_envs: int = 1,
    *,
    opponent: Specification | Mapping[Specification, float] = "uniform",
    solution: str | Path | None = None,
    seat: Seat = 0,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    autoreset_mode: str = "NextStep",
    **parameters: Any,
) -> SimulatedSeatVectorEnv:
    """Many seats of a listed game without a table: what ``gym.make_vec`` makes of an id.

    The arguments are those of :class:`SimulatedGameEnv` and
    :class:`solvent.envs.simulated_vector_env.SimulatedSeatVectorEnv`.
    """
    from solvent.envs.simulated_vector_env import SimulatedSeatVectorEnv

    sampler = sampled_game(game, parameters)
    players, weights = make_players(sampler, opponent, solution)
    return SimulatedSeatVectorEnv(
        sampler,
        players,
        num_envs,
        weights=weights,
        seat=seat,
        observation=observation,
        illegal=illegal,
        render_mode=render_mode,
        autoreset_mode=autoreset_mode,
    )
