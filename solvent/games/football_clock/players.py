"""Players of football with a clock: by name, and networks as policies that are scored exactly.

Of a network nothing is sampled: the network is evaluated on what it would see in every state, a
block of a layer at a time. Some entries of what it sees depend on the row of a state, others on the
moment and the column, none on both. The first layer is affine, so it is computed once for every row
and once a layer for every column, and a state's is the sum of two vectors.

Sums are in float32 and in another order than in play, so probabilities agree to six digits, and
the most probable action unless two are that close.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from solvent.baselines.network import NetworkPlayer, times
from solvent.envs.batch_simulator import Player
from solvent.exact.layered.game import Block, WarmStart
from solvent.games.football.situation import OFFENCE
from solvent.games.football_clock.agent import AgentLayers, AgentPlayer
from solvent.games.football_clock.backup import RoleStrategies
from solvent.games.football_clock.episode_kernel import CALL
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import (
    Asked,
    Layer,
    LayerPolicy,
    LayerStrategies,
    block_rows,
)
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.simulation import TimedFootballPlays, TimedFootballSampler
from solvent.games.football_clock.solution import OptimalPlayer, TimedSolution
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import as_options, check_choice

Array = NDArray[np.float32]

AT_ONCE = 2048
"""States that are asked for together, about; what is computed of them stays in the cache."""


class NetworkLayers:
    """A network in both roles.

    Args:
        layout: The form.
        sampler: Sampler of the game, for the observations.
        player: The network and how it chooses.

    Raises:
        ValueError: If it was trained for another game.
    """

    def __init__(
        self, layout: FootballLayers, sampler: TimedFootballSampler, player: NetworkPlayer
    ) -> None:
        self.layout = layout
        self.sampler = sampler
        self.player = player
        self._actions = sampler.rules.actions
        self._results = layout.rules.arrays.chosen_result
        self._chooser = layout.rules.arrays.chooser

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        rows = block_rows(self.layout, block)
        actions = self._actions
        offence = np.arange(actions.plays + 3)
        letters = actions.defence + np.arange(self.layout.rules.chart.defences)
        every = np.ones((len(rows), len(letters)), bool)
        return LayerStrategies(
            self._role(layer, rows, 0, offence, self.layout.rules.legal[rows]),
            self._role(layer, rows, 1, letters, every),
        )

    def _role(self, layer: Layer, rows: Ints, seat: int, own: Ints, legal: Bools) -> RoleStrategies:
        """Return its strategies on offence or on defence, whose actions are `own`."""
        chosen = np.flatnonzero((self._chooser == OFFENCE) == (seat == 0))
        choices = self._actions.choice + np.arange(2)
        # In a call first, then in each of the choices.
        waiting = [-1, *self._results[chosen].tolist()]
        moments = self._moments(layer, seat, waiting)
        columns, states = moments.shape[1], len(rows) * moments.shape[1]
        calls, taken = np.empty((states, len(own))), np.zeros((states, len(self._results)))
        step = max(1, AT_ONCE // columns)
        for first in range(0, len(rows), step):
            of_row = self._rows[seat][rows[first : first + step]][:, None]
            at = slice(first * columns, (first + len(of_row)) * columns)
            for k, moment in enumerate(moments):
                hidden = (of_row + moment).reshape(-1, moments.shape[2])
                if k == 0:
                    allowed = legal[first : first + step].repeat(columns, axis=0)
                    calls[at] = self._chances(hidden, own, allowed)
                else:
                    taken[at, chosen[k - 1]] = self._first_of_two(hidden, choices)
        which = np.arange(states, dtype=np.int32).reshape(len(rows), columns)
        return RoleStrategies(calls, taken, which)

    def onside(self, layer: Layer) -> Floats:
        [moment] = self._moments(layer, 0)
        hidden = self._rows[0][self.layout.kickoff_row] + moment
        return 1 - self._first_of_two(hidden, self._actions.kick + np.arange(2))

    def timeouts(self, asked: Asked) -> Floats:
        columns = asked.column.shape[1]
        found = np.empty((len(asked.row), columns))
        answers = self._actions.timeout + np.arange(2)
        for mine in (True, False):
            seat = 0 if mine else 1
            [of_column] = self._moments(asked.layer, seat, asked=asked)
            members = np.flatnonzero(asked.mine == mine)
            step = max(1, AT_ONCE // columns)
            for first in range(0, len(members), step):
                some = members[first : first + step]
                # Columns of a moment are the offence's; those of `asked` are the asked side's.
                column = asked.column[some]
                column = column if mine else columns - 1 - column
                hidden = self._rows[seat][asked.row[some]][:, None] + of_column[column]
                flat = hidden.reshape(-1, hidden.shape[-1])
                found[some] = self._first_of_two(flat, answers).reshape(len(some), -1)
        return found

    @cached_property
    def _rows(self) -> tuple[Array, Array]:
        """[S + 2, H] for both seats what the first layer gives in each row, at no moment at all."""
        bias = self.player.network.biases[0]
        rows = self.layout.kickoff_row + 2
        plays = self._blank(rows)
        plays.records["row"] = np.arange(rows)
        first, second = (self._first_layer(plays, seat) + bias for seat in (0, 1))
        return first, second

    def _moments(
        self, layer: Layer, seat: int, choices: Sequence[int] = (-1,), asked: Asked | None = None
    ) -> Array:
        """[k, C, H] what time, time-outs and the score add to what the first layer gives in a row.

        Seat 0 has the ball or kicks, seat 1 is the other. Each of the k `choices` is a result that
        waits, or -1 for none.
        """
        layout, columns = self.layout, self.layout.columns(layer.half)
        every = len(choices) * columns
        plays = self._blank(every + 1)
        state, moment = plays.records[:every], slice(every)
        state["half"], state["ticks"] = layer.half, layer.ticks
        state["left0"], state["left1"] = layer.own, layer.other
        state["choice"] = np.repeat(choices, columns)
        state["margin"] = np.tile(layout.margin(layer.half), len(choices))
        if layout.form == "full" and layer.half == 1:
            state["receiver"] = np.tile(1 - layout.receives(1), len(choices))
        if asked is not None:
            state["asked"], state["untimed"] = seat, asked.untimed
            state["ticks"], state["saved"] = asked.after, asked.saved
            state["other_too"] = asked.first and layer.other > 0
            if seat == 1:
                state["left0"], state["left1"] = layer.other, layer.own
        given = self._first_layer(plays, seat)
        added: Array = (given[moment] - given[every]).reshape(len(choices), columns, -1)
        return added

    def _blank(self, n: int) -> TimedFootballPlays:
        """Plays in row 0 in which player 0 has the ball, at a moment that is the same for all."""
        plays = self.sampler.plays(n, self.player.observation)
        blank = {"phase": CALL, "half": 2, "choice": -1, "asked": -1, "receiver": -1}
        for name, value in blank.items():
            plays.records[name] = value
        return plays

    def _first_layer(self, plays: TimedFootballPlays, seat: int) -> Array:
        """[n, H] the first layer, its biases left out."""
        chosen = np.arange(len(plays.records))
        seen = plays.observe(chosen, np.full(len(chosen), seat))
        return times(seen, self.player.network.weights[0])

    def _chances(self, hidden: Array, own: Ints, allowed: Bools) -> Floats:
        """[n, own] the chances of a role's actions, of which `allowed` [n, own] are legal."""
        network, player = self.player.network, self.player
        values = network.before_last(hidden)
        weight, bias = network.weights[-1], network.biases[-1]
        if player.masked:
            outputs = times(values, weight[:, own]) + bias[own]
            return player.choose(outputs, allowed)
        outputs = times(values, weight) + bias
        legal = np.zeros(outputs.shape, bool)
        legal[:, own] = allowed
        return player.choose(outputs, legal)[:, own]

    def _first_of_two(self, hidden: Array, own: Ints) -> Floats:
        """[n] the chance of the first of two actions, both of which are legal."""
        return self._chances(hidden, own, np.ones((len(hidden), 2), bool))[:, 0]


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
    return AgentPlayer(AgentLayers(FootballLayers.of(game)))


PLAYERS: Mapping[str, Callable[[TimedFootball, str | Path | None], OptimalPlayer | AgentPlayer]] = {
    "optimal": optimal_player,
    "paper-agent": lambda game, _: agent_player(game),
}
"""Opponents by name, from the game and the folder of its solution."""

SCORED_AGAINST = tuple(PLAYERS)
"""The players that others are scored against."""


def layers_named(name: str, game: TimedFootball, solution: str | Path | None = None) -> LayerPolicy:
    """A player by name, as a policy on layers.

    Raises:
        ValueError: If the name is unknown, or the optimal player needs a solution.
        StoreError: If the solution is missing, damaged, or of another game.
    """
    layers: LayerPolicy = PLAYERS[check_choice(name, "opponent", PLAYERS)](game, solution).layers
    return layers


def network_layers(game: TimedFootball, player: NetworkPlayer) -> NetworkLayers:
    """A network as a policy on layers of the game that it plays.

    Raises:
        ValueError: If it was trained for another game.
    """
    return NetworkLayers(FootballLayers.of(game), TimedFootballSampler(game), player)
