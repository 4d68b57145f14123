"""Players of football with a clock for environments, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from solvent.baselines.network import NetworkPlayer
from solvent.envs.simulation import Player
from solvent.games.football_clock.agent import AgentLayers, AgentPlayer
from solvent.games.football_clock.layout import layout_for
from solvent.games.football_clock.network import NetworkLayers
from solvent.games.football_clock.optimal import OptimalLayers, OptimalPlayer
from solvent.games.football_clock.policies import LayerPolicy
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solution import TimedSolution
from solvent.model.parameters import as_options, check_choice

SCORED_AGAINST = ("optimal", "paper-agent")
"""Players that are known by name, with a policy on layers."""

SOLVED_ON_THE_SPOT = 5_000_000
"""The most states of a form that is solved when its optimal player is asked for."""


def strategy_of(
    sampler: TimedFootballSampler, player: Player
) -> Callable[[TimedPosition, int], dict[int, float]]:
    """Return a player as a function of one position, for transcripts.

    When it is asked for a time-out the play is over, and neither its length nor the time before it
    is known any more; a player goes by what is left with a time-out and without it.

    Args:
        sampler: Sampler of the game.
        player: The player to ask.

    Returns:
        From a position and a seat to the actions taken there, with their probabilities.
    """
    episode, only = sampler.plays(1), np.zeros(1, np.int64)

    def strategy(position: TimedPosition, seat: int) -> dict[int, float]:
        legal = sampler.rules.legal_actions(position)[seat]
        if len(legal) == 1:
            return {legal[0]: 1.0}
        sampler.write(episode.records, 0, position)
        [chances] = player.mixes(episode, only, only + seat)
        return {action: float(chances[action]) for action in legal if chances[action] > 0}

    return strategy


def solution_of(game: TimedFootball, folder: str | Path | None = None) -> TimedSolution:
    """Return the solution of a game.

    Args:
        game: The game.
        folder: Folder of the solution; without one the game is solved, if it is small.

    Raises:
        ValueError: If it is not.
        StoreError: If there is no solution in the folder, or it is one of another game.
    """
    if folder is not None:
        return TimedSolution.open(folder, game)
    if game.positions > SOLVED_ON_THE_SPOT:
        raise ValueError(
            f"form {game.form!r} has {game.positions:,} states, too many to be solved on the spot "
            f"for an optimal player (at most {SOLVED_ON_THE_SPOT:,}); solve it with "
            f"`solvent solve football-strategy {as_options(dict(game.info.parameters))} --out DIR` "
            f"and give solution=DIR"
        )
    return _solved(game)


@lru_cache(maxsize=2)
def _solved(game: TimedFootball) -> TimedSolution:
    return TimedSolution.of(game)


@lru_cache(maxsize=2)
def optimal_player(game: TimedFootball, solution: str | Path | None = None) -> OptimalPlayer:
    """The optimal player of a game; the arguments are those of :func:`solution_of`."""
    return OptimalPlayer(solution_of(game, solution))


@lru_cache(maxsize=2)
def agent_player(game: TimedFootball) -> AgentPlayer:
    """The paper's agent in a game."""
    return AgentPlayer(AgentLayers(layout_for(game)))


PLAYERS: Mapping[str, Callable[[TimedFootball, str | Path | None], Player]] = {
    "optimal": optimal_player,
    "paper-agent": lambda game, _: agent_player(game),
}
"""Opponents by name, from the game and the folder of its solution."""


def layers_named(name: str, game: TimedFootball, solution: str | Path | None = None) -> LayerPolicy:
    """A player by name, as a policy on layers.

    Raises:
        ValueError: If the name is unknown, or the optimal player needs a solution.
        StoreError: If the solution is missing, damaged, or of another game.
    """
    check_choice(name, f"opponent of {game.info.name}", SCORED_AGAINST)
    if name == "paper-agent":
        return AgentLayers(layout_for(game))
    return OptimalLayers(layout_for(game), solution_of(game, solution).values)


def network_layers(game: TimedFootball, player: NetworkPlayer) -> NetworkLayers:
    """A network as a policy on layers of the game that it plays.

    Raises:
        ValueError: If it was trained for another game.
    """
    return NetworkLayers(layout_for(game), TimedFootballSampler(game), player)
