"""Tabular policies of tiny football with a clock in the form that whole sheets are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.games.football_clock.solver.policies import (
    Asked,
    Block,
    RoleMixes,
    SheetMixes,
    block_rows,
)
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats


def random_policy(game: TabularGame, player: int, seed: int) -> TabularPolicy:
    """Random probabilities, a third of them 0 where that leaves any."""
    rng = np.random.default_rng(seed)
    mask = game.mask[player]
    weights = rng.random(mask.shape) * mask
    some = weights * (rng.random(mask.shape) < 2 / 3)
    weights = np.where(some.any(axis=1, keepdims=True), some, weights)
    total = weights.sum(axis=1, keepdims=True)
    return TabularPolicy.of(
        game, np.divide(weights, total, where=total > 0, out=weights), player=player
    )


@dataclass(frozen=True)
class SheetsOfTable:
    """Looks up every state of a sheet in a table; what the table does not reach is arbitrary."""

    football: TimedFootball
    game: TabularGame
    policy: TabularPolicy
    layout: Layout

    def mixes(self, sheet: Sheet, block: Block) -> SheetMixes:
        player = self.policy.player
        return SheetMixes(self._role(sheet, block, player), self._role(sheet, block, 1 - player))

    def _role(self, sheet: Sheet, block: Block, offence: int) -> RoleMixes:
        actions, rules = self.football.actions, self.layout.rules
        rows = block_rows(self.layout, block)
        columns = self.layout.columns(sheet.half)
        attacks = offence == self.policy.player
        first = 0 if attacks else actions.defence
        width = rules.legal.shape[1] if attacks else rules.chart.defences
        calls, choices = [], []
        for row in rows.tolist():
            situation = rules.situation_at(row)
            for column in range(columns):
                at = self._position(sheet, column, offence)
                at = at._replace(phase="call", **situation._asdict())
                legal = rules.legal[row] if attacks else np.ones(width, bool)
                given = self._row(at)
                calls.append(legal / legal.sum() if given is None else given[first : first + width])
                taken = []
                for code in self.football.choices:
                    given = self._row(at._replace(phase="choice", choice=code))
                    taken.append(0.0 if given is None else given[actions.choice])
                choices.append(taken)
        which = np.arange(len(calls), dtype=np.int32).reshape(len(rows), columns)
        return RoleMixes(np.array(calls), np.array(choices).reshape(len(calls), -1), which)

    def onside(self, sheet: Sheet) -> Floats:
        chances = []
        for column in range(self.layout.columns(sheet.half)):
            given = self._row(self._position(sheet, column, self.policy.player))
            chances.append(0.0 if given is None else given[self.football.actions.kick + 1])
        return np.array(chances)

    def timeouts(self, asked: Asked) -> Floats:
        layout, player = self.layout, self.policy.player
        chances = np.zeros(asked.column.shape)
        for u, (row, mine) in enumerate(zip(asked.row, asked.mine, strict=True)):
            offence = player if mine else 1 - player
            follows: dict[str, Any] = {"follows": "kickoff"}
            if row < layout.kickoff_row:
                follows = {"follows": "call", **layout.rules.situation_at(row)._asdict()}
            elif row > layout.kickoff_row:
                follows = {"follows": "free kick"}
            for c, column in enumerate(asked.column[u].tolist()):
                at = self._position(asked.sheet, column, player)._replace(
                    phase="time-out",
                    ticks=asked.after,
                    offence=offence,
                    asked=player,
                    other_too=asked.first and asked.sheet.other > 0,
                    saved=asked.saved,
                    untimed=asked.untimed,
                    **follows,
                )
                given = self._row(at)
                if given is not None:
                    chances[u, c] = given[self.football.actions.timeout]
        return chances

    def _position(self, sheet: Sheet, column: int, side: int) -> TimedPosition:
        """A kickoff by a side, whose time-outs and column are given."""
        margin = int(self.layout.margin(sheet.half)[column])
        receives = bool(self.layout.receives(sheet.half)[column])
        timeouts = (sheet.own, sheet.other)
        return TimedPosition(
            "kickoff",
            half=sheet.half,
            ticks=sheet.ticks,
            margin=margin if side == 0 else -margin,
            timeouts=timeouts if side == 0 else timeouts[::-1],
            receiver=-1 if sheet.half == 2 else side if receives else 1 - side,
            offence=side,
        )

    def _row(self, at: TimedPosition) -> Floats | None:
        s = self.game.index.get(at)
        return None if s is None else self.policy.probabilities[s]


@dataclass(frozen=True)
class AlikeInRuns:
    """Random mixes of every row, the same in a run of columns, or that have a number in each.

    It counts how often it is asked.
    """

    layout: Layout
    seed: int
    run: int
    numbered: bool
    asked: list[Sheet] = field(default_factory=list)

    def mixes(self, sheet: Sheet, block: Block) -> SheetMixes:
        self.asked.append(sheet)
        return SheetMixes(self._role(sheet, block, True), self._role(sheet, block, False))

    def _role(self, sheet: Sheet, block: Block, attacks: bool) -> RoleMixes:
        rules, rows = self.layout.rules, block_rows(self.layout, block)
        columns = self.layout.columns(sheet.half)
        run = np.arange(columns) // self.run
        rng = np.random.default_rng([self.seed, sheet.half, sheet.ticks, *block, attacks])
        shape = len(rows), int(run[-1]) + 1
        width = rules.legal.shape[1] if attacks else rules.chart.defences
        calls = rng.random((*shape, width)) * (rules.legal[rows][:, None] if attacks else 1)
        calls /= calls.sum(axis=2, keepdims=True)
        choices = rng.random((*shape, int((rules.chooser >= 0).sum())))
        if self.numbered:
            calls, choices = calls[:, run], choices[:, run]
            which = np.arange(len(rows) * columns).reshape(len(rows), columns)
        else:
            which = np.arange(len(rows))[:, None] * shape[1] + run
        mixes = (array.reshape(-1, array.shape[-1]) for array in (calls, choices))
        return RoleMixes(*mixes, which.astype(np.int32))

    def onside(self, sheet: Sheet) -> Floats:
        return np.full(self.layout.columns(sheet.half), 0.25)

    def timeouts(self, asked: Asked) -> float:
        return 0.5
