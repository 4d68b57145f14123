"""A network that plays football with a clock, as a policy that is scored exactly.

Nothing is sampled: the network is evaluated on what it would see in every state, a block of a layer
at a time. Some entries of what it sees depend on the row of a state, others on the moment and the
column, none on both. The first layer is affine, so it is computed once for every row and once a
layer for every column, and a state's is the sum of two vectors.

Sums are in float32 and in another order than in play, so probabilities agree to six digits, and
the most probable action unless two are that close.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solvent.baselines.network import NetworkPlayer, times
from solvent.games.football.situation import OFFENCE
from solvent.games.football_clock.episode_kernel import CALL
from solvent.games.football_clock.simulation import TimedFootballPlays, TimedFootballSampler
from solvent.games.football_clock.solver.layout import FormLayout, Layer
from solvent.games.football_clock.solver.policies import (
    Asked,
    Block,
    LayerStrategies,
    RoleStrategies,
    block_rows,
)
from solvent.model.arrays import Bools, Floats, Ints

Array = NDArray[np.float32]

AT_ONCE = 200_000
"""States that are asked for together."""


class NetworkLayers:
    """A network in both roles.

    Args:
        layout: Of the form.
        sampler: Of the game, for what a player sees.
        player: The network and how it chooses.

    Raises:
        ValueError: If it was trained for another game.
    """

    def __init__(
        self, layout: FormLayout, sampler: TimedFootballSampler, player: NetworkPlayer
    ) -> None:
        self.layout = layout
        self.sampler = sampler
        self.player = player
        self._actions = sampler.rules.actions
        chooser = layout.rules.chooser
        self._results = np.flatnonzero(chooser >= 0)
        self._chooser = chooser[self._results]

    def strategies(self, layer: Layer, block: Block) -> LayerStrategies:
        """What it does in the states of a block of a layer."""
        rows = block_rows(self.layout, block)
        columns = self.layout.columns(layer.half)
        which = np.arange(len(rows) * columns, dtype=np.int32).reshape(len(rows), columns)
        legal = self.layout.rules.legal[rows].repeat(columns, axis=0)
        actions = self._actions
        offence = np.arange(actions.plays + 3)
        letters = actions.defence + np.arange(self.layout.rules.chart.defences)
        roles = []
        for seat, own, allowed in (
            (0, offence, legal),
            (1, letters, np.ones((1, len(letters)), bool)),
        ):
            calls = self._chances(self._hidden(layer, rows, seat), own, allowed)
            choices = np.zeros((which.size, len(self._results)))
            both = actions.choice + np.arange(2)
            for k, result in enumerate(self._results.tolist()):
                if (self._chooser[k] == OFFENCE) == (seat == 0):
                    hidden = self._hidden(layer, rows, seat, result)
                    chances = self._chances(hidden, both, np.ones((1, 2), bool))
                    choices[:, k] = chances[:, 0]
            roles.append(RoleStrategies(calls, choices, which))
        return LayerStrategies(*roles)

    def onside(self, layer: Layer) -> Floats:
        """[C] the chance that it kicks off with an onside kick."""
        rows = np.array([self.layout.kickoff_row])
        hidden = self._hidden(layer, rows, 0)
        kicks = self._actions.kick + np.arange(2)
        return self._chances(hidden, kicks, np.ones((1, 2), bool))[:, 1]

    def timeouts(self, asked: Asked) -> Floats:
        """[U, C] the chance that it calls a time-out."""
        columns = asked.column.shape[1]
        found = np.empty((len(asked.row), columns))
        answers = self._actions.timeout + np.arange(2)
        for mine in (True, False):
            seat = 0 if mine else 1
            of_row, of_column = self._rows[seat], self._moment(asked.layer, seat, asked=asked)
            members = np.flatnonzero(asked.mine == mine)
            step = max(1, AT_ONCE // columns)
            for first in range(0, len(members), step):
                some = members[first : first + step]
                # Columns of a moment are the offence's; those of `asked` are the asked side's.
                column = asked.column[some]
                column = column if mine else columns - 1 - column
                hidden = of_row[asked.row[some]][:, None] + of_column[column]
                flat = hidden.reshape(-1, hidden.shape[-1])
                chances = self._chances(flat, answers, np.ones((1, 2), bool))
                found[some] = chances[:, 0].reshape(len(some), -1)
        return found

    def _hidden(self, layer: Layer, rows: Ints, seat: int, choice: int = -1) -> Array:
        """[rows * C, H] what the first layer gives in states of one moment.

        Seat 0 has the ball or kicks, seat 1 is the other. A `choice` is a result that waits.
        """
        both = self._rows[seat][rows][:, None] + self._moment(layer, seat, choice=choice)
        return both.reshape(-1, both.shape[-1])

    @cached_property
    def _rows(self) -> tuple[Array, Array]:
        """[S + 2, H] for both seats what the first layer gives in each row, at no moment at all."""
        bias = self.player.network.biases[0]
        plays = self._blank(self.layout.rows)
        plays.plays.row[:] = np.arange(self.layout.rows)
        first, second = (self._first_layer(plays, seat) + bias for seat in (0, 1))
        return first, second

    def _moment(
        self, layer: Layer, seat: int, *, choice: int = -1, asked: Asked | None = None
    ) -> Array:
        """[C, H] what time, time-outs and the score add to what the first layer gives in a row."""
        layout, columns = self.layout, self.layout.columns(layer.half)
        plays = self._blank(columns + 1)
        state, moment = plays.plays, slice(columns)
        state.half[moment], state.ticks[moment] = layer.half, layer.ticks
        state.left0[moment], state.left1[moment] = layer.own, layer.other
        state.choice[moment] = choice
        state.margin[moment] = layout.margin(layer.half)
        if layout.form == "full" and layer.half == 1:
            state.receiver[moment] = 1 - layout.receives(1)
        if asked is not None:
            state.asked[moment] = seat
            state.ticks[moment], state.saved[moment] = asked.after, asked.saved
            state.untimed[moment] = asked.untimed
            state.other_too[moment] = asked.first and layer.other > 0
            if seat == 1:
                state.left0[moment], state.left1[moment] = layer.other, layer.own
        given = self._first_layer(plays, seat)
        added: Array = given[moment] - given[columns]
        return added

    def _blank(self, n: int) -> TimedFootballPlays:
        """Plays in row 0 in which player 0 has the ball, at a moment that is the same for all."""
        plays = self.sampler.plays(n, self.player.observation)
        for name, value in {"phase": CALL, "half": 2, "choice": -1, "asked": -1}.items():
            plays.arrays[name][:] = value
        plays.plays.receiver[:] = -1
        return plays

    def _first_layer(self, plays: TimedFootballPlays, seat: int) -> Array:
        """[n, H] the first layer, its biases left out."""
        chosen = np.arange(len(plays.plays.phase))
        seen = plays.observe(chosen, np.full(len(chosen), seat))
        given: Array = seen @ self.player.network.weights[0]
        return given

    def _chances(self, hidden: Array, own: Ints, allowed: Bools) -> Floats:
        """[n, own] the chances of a role's actions, of which `allowed` [n or 1, own] are legal."""
        network, player = self.player.network, self.player
        values = network.before_last(hidden)
        weight, bias = network.weights[-1], network.biases[-1]
        if player.masked:
            outputs = times(values, weight[:, own]) + bias[own]
            return player.choose(outputs, np.broadcast_to(allowed, outputs.shape))
        outputs = times(values, weight) + bias
        legal = np.zeros(outputs.shape, bool)
        legal[:, own] = allowed
        return player.choose(outputs, legal)[:, own]
