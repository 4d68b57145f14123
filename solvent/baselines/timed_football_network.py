"""A network that plays football with a clock, as a policy that is scored exactly.

Nothing is sampled: the network is evaluated on what it would see in every state, a block of a sheet
at a time. What it sees depends on the row of a state in some entries and on its column, the lead,
in others. The first layer is affine, so it is computed for all rows and for all columns, and a
state's is the sum of two vectors.

Sums are in float32 and in another order than in play, so probabilities agree to six digits, and
the most probable action unless two are that close.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvent.baselines.network import NetworkPlayer
from solvent.envs.kernels.timed_football import CALL, CHOICE, KICKOFF, TIMEOUT
from solvent.envs.kernels.timed_football_plays import TimedFootballPlays, TimedFootballSampler
from solvent.exact.kernels.timed_football.layout import Layout, Sheet
from solvent.exact.kernels.timed_football.policies import (
    Asked,
    Block,
    RoleMixes,
    SheetMixes,
    block_rows,
)
from solvent.games.football.situation import OFFENCE
from solvent.model.arrays import Bools, Floats, Ints

Array = NDArray[np.float32]

AT_ONCE = 200_000
"""States that are asked for together."""


class NetworkSheets:
    """A network in both roles.

    Args:
        layout: Of the form.
        sampler: Of the game, for what a player sees.
        player: The network and how it chooses.

    Raises:
        ValueError: If it was trained for another game.
    """

    def __init__(
        self, layout: Layout, sampler: TimedFootballSampler, player: NetworkPlayer
    ) -> None:
        self.layout = layout
        self.sampler = sampler
        self.player = player
        self._actions = sampler.rules.actions
        chooser = layout.rules.chooser
        self._results = np.flatnonzero(chooser >= 0)
        self._chooser = chooser[self._results]

    def mixes(self, sheet: Sheet, block: Block) -> SheetMixes:
        """What it does in the states of a block of a sheet."""
        rows = block_rows(self.layout, block)
        columns = self.layout.columns(sheet.half)
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
            calls = self._chances(self._hidden(sheet, rows, CALL, seat), own, allowed)
            choices = np.zeros((which.size, len(self._results)))
            both = actions.choice + np.arange(2)
            for k, result in enumerate(self._results.tolist()):
                if (self._chooser[k] == OFFENCE) == (seat == 0):
                    hidden = self._hidden(sheet, rows, CHOICE, seat, choice=result)
                    chances = self._chances(hidden, both, np.ones((1, 2), bool))
                    choices[:, k] = chances[:, 0]
            roles.append(RoleMixes(calls, choices, which))
        return SheetMixes(*roles)

    def onside(self, sheet: Sheet) -> Floats:
        """[C] the chance that it kicks off with an onside kick."""
        rows = np.array([self.layout.kickoff_row])
        hidden = self._hidden(sheet, rows, KICKOFF, 0)
        kicks = self._actions.kick + np.arange(2)
        return self._chances(hidden, kicks, np.ones((1, 2), bool))[:, 1]

    def timeouts(self, asked: Asked) -> Floats:
        """[U, C] the chance that it calls a time-out."""
        columns = asked.column.shape[1]
        found = np.empty((len(asked.row), columns))
        answers = self._actions.timeout + np.arange(2)
        rows = np.arange(self.layout.rows)
        for mine in (True, False):
            parts = self._parts(asked.sheet, rows, TIMEOUT, 0 if mine else 1, asked=asked)
            members = np.flatnonzero(asked.mine == mine)
            step = max(1, AT_ONCE // columns)
            for first in range(0, len(members), step):
                some = members[first : first + step]
                # Columns of a play are the offence's; those of `asked` are the asked side's.
                column = asked.column[some]
                column = column if mine else columns - 1 - column
                hidden = parts[0][asked.row[some]][:, None] + parts[1][column]
                flat = hidden.reshape(-1, hidden.shape[-1])
                chances = self._chances(flat, answers, np.ones((1, 2), bool))
                found[some] = chances[:, 0].reshape(len(some), -1)
        return found

    def _hidden(self, sheet: Sheet, rows: Ints, phase: int, seat: int, choice: int = -1) -> Array:
        """[rows * C, H] what the first layer gives in states of one phase."""
        of_row, of_column = self._parts(sheet, rows, phase, seat, choice=choice)
        both = of_row[:, None] + of_column
        return both.reshape(-1, both.shape[-1])

    def _parts(
        self,
        sheet: Sheet,
        rows: Ints,
        phase: int,
        seat: int,
        *,
        choice: int = -1,
        asked: Asked | None = None,
    ) -> tuple[Array, Array]:
        """[rows, H] and [C, H], of which the first layer is the sum.

        Seat 0 has the ball or kicks here, seat 1 is the other.
        """
        columns = self.layout.columns(sheet.half)
        plays = self.sampler.plays(len(rows) + columns, self.player.observation)
        state = plays.plays
        state.phase[:] = phase
        state.half[:] = sheet.half
        state.ticks[:] = sheet.ticks
        state.left0[:], state.left1[:] = sheet.own, sheet.other
        state.choice[:] = choice
        state.asked[:] = -1
        state.receiver[:] = -1
        state.row[: len(rows)], state.row[len(rows) :] = rows, rows[0]
        if asked is not None:
            state.asked[:] = seat
            state.ticks[:], state.saved[:] = asked.after, asked.saved
            state.untimed[:] = asked.untimed
            state.other_too[:] = asked.first and sheet.other > 0
            if seat == 1:
                state.left0[:], state.left1[:] = sheet.other, sheet.own
        self._set_columns(plays, sheet.half, len(rows))
        weight, bias = self.player.network.weights[0], self.player.network.biases[0]
        chosen = np.arange(len(rows) + columns)
        seen = plays.observe(chosen, np.full(len(chosen), seat))
        first = seen @ weight
        return first[: len(rows)] + bias, first[len(rows) :] - first[len(rows)]

    def _set_columns(self, plays: TimedFootballPlays, half: int, rows: int) -> None:
        """Give the plays after the first `rows` the leads of all columns, and those the first."""
        state, layout = plays.plays, self.layout
        margin = layout.margin(half)
        state.margin[:rows], state.margin[rows:] = margin[0], margin
        if layout.form == "full" and half == 1:
            receiver = 1 - layout.receives(half)
            state.receiver[:rows], state.receiver[rows:] = receiver[0], receiver

    def _chances(self, hidden: Array, own: Ints, allowed: Bools) -> Floats:
        """[n, own] the chances of a role's actions, of which `allowed` [n or 1, own] are legal."""
        network, player = self.player.network, self.player
        values = network.before_last(hidden)
        weight, bias = network.weights[-1], network.biases[-1]
        if player.masked:
            outputs = values @ weight[:, own] + bias[own]
            return player.choose(outputs, np.broadcast_to(allowed, outputs.shape))
        outputs = values @ weight + bias
        legal = np.zeros(outputs.shape, bool)
        legal[:, own] = allowed
        return player.choose(outputs, legal)[:, own]
