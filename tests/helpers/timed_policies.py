"""Tabular policies of tiny football with a clock in the form that whole layers are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from solvent.exact.layered.game import Block, WarmStart
from solvent.exact.layered.solve import Workers, solve_layers
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.games.football.situation import situation_at
from solvent.games.football_clock.backup import RoleStrategies
from solvent.games.football_clock.layout import (
    Asked,
    FormLayout,
    Layer,
    LayerPolicy,
    LayerStrategies,
    Players,
    block_rows,
)
from solvent.games.football_clock.players import PairEvaluation, PairLayers
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
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
class LayersOfTable:
    """Looks up every state of a layer in a table; what the table does not reach is arbitrary."""

    football: TimedFootball
    game: TabularGame
    policy: TabularPolicy
    layout: FormLayout

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        player = self.policy.player
        return LayerStrategies(
            self._role(layer, block, player), self._role(layer, block, 1 - player)
        )

    def _role(self, layer: Layer, block: Block, offence: int) -> RoleStrategies:
        actions, rules = self.football.actions, self.layout.rules
        rows = block_rows(self.layout, block)
        columns = self.layout.columns(layer.half)
        attacks = offence == self.policy.player
        first = 0 if attacks else actions.defence
        width = rules.legal.shape[1] if attacks else rules.chart.defences
        calls, choices = [], []
        for row in rows.tolist():
            situation = situation_at(rules.ruleset, row)
            for column in range(columns):
                at = self._position(layer, column, offence)
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
        return RoleStrategies(np.array(calls), np.array(choices).reshape(len(calls), -1), which)

    def onside(self, layer: Layer) -> Floats:
        chances = []
        for column in range(self.layout.columns(layer.half)):
            given = self._row(self._position(layer, column, self.policy.player))
            chances.append(0.0 if given is None else given[self.football.actions.kick + 1])
        return np.array(chances)

    def timeouts(self, asked: Asked) -> Floats:
        layout, player = self.layout, self.policy.player
        chances = np.zeros(asked.column.shape)
        for u, (row, mine) in enumerate(zip(asked.row, asked.mine, strict=True)):
            offence = player if mine else 1 - player
            follows: dict[str, Any] = {"follows": "kickoff"}
            if row < layout.kickoff_row:
                follows = {"follows": "call", **situation_at(layout.rules.ruleset, row)._asdict()}
            elif row > layout.kickoff_row:
                follows = {"follows": "free kick"}
            for c, column in enumerate(asked.column[u].tolist()):
                at = self._position(asked.layer, column, player)._replace(
                    phase="time-out",
                    ticks=asked.after,
                    offence=offence,
                    asked=player,
                    other_too=asked.first and asked.layer.other > 0,
                    saved=asked.saved,
                    untimed=asked.untimed,
                    **follows,
                )
                given = self._row(at)
                if given is not None:
                    chances[u, c] = given[self.football.actions.timeout]
        return chances

    def _position(self, layer: Layer, column: int, side: int) -> TimedPosition:
        """A kickoff by a side, whose time-outs and column are given."""
        margin = int(self.layout.margin(layer.half)[column])
        receives = bool(self.layout.receives(layer.half)[column])
        timeouts = (layer.own, layer.other)
        return TimedPosition(
            "kickoff",
            half=layer.half,
            ticks=layer.ticks,
            margin=margin if side == 0 else -margin,
            timeouts=timeouts if side == 0 else timeouts[::-1],
            receiver=-1 if layer.half == 2 else side if receives else 1 - side,
            offence=side,
        )

    def _row(self, at: TimedPosition) -> Floats | None:
        s = self.game.index.get(at)
        return None if s is None else self.policy.probabilities[s]


@dataclass(frozen=True)
class AlikeInRuns:
    """Random strategies of every row, the same in a run of columns, or that have a number in each.

    It counts how often it is asked.
    """

    layout: FormLayout
    seed: int
    run: int
    numbered: bool
    asked: list[Layer] = field(default_factory=list)

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        self.asked.append(layer)
        return LayerStrategies(self._role(layer, block, True), self._role(layer, block, False))

    def _role(self, layer: Layer, block: Block, attacks: bool) -> RoleStrategies:
        rules, rows = self.layout.rules, block_rows(self.layout, block)
        columns = self.layout.columns(layer.half)
        run = np.arange(columns) // self.run
        rng = np.random.default_rng([self.seed, layer.half, layer.ticks, *block, attacks])
        shape = len(rows), int(run[-1]) + 1
        width = rules.legal.shape[1] if attacks else rules.chart.defences
        calls = rng.random((*shape, width)) * (rules.legal[rows][:, None] if attacks else 1)
        calls /= calls.sum(axis=2, keepdims=True)
        choices = rng.random((*shape, len(rules.arrays.chooser)))
        if self.numbered:
            calls, choices = calls[:, run], choices[:, run]
            which = np.arange(len(rows) * columns).reshape(len(rows), columns)
        else:
            which = np.arange(len(rows))[:, None] * shape[1] + run
        strategies = (array.reshape(-1, array.shape[-1]) for array in (calls, choices))
        return RoleStrategies(*strategies, which.astype(np.int32))

    def onside(self, layer: Layer) -> Floats:
        return np.full(self.layout.columns(layer.half), 0.25)

    def timeouts(self, asked: Asked) -> float:
        return 0.5


def evaluate_pairs(
    layout: FormLayout,
    start: TimedPosition,
    pairs: Iterable[Players],
    on_layer: Callable[[Layer, Floats], None] = lambda layer, values: None,
) -> list[PairEvaluation]:
    """The values of X against Y from a position, for some pairs of them."""
    named = {str(k): pair for k, pair in enumerate(pairs)}
    layers = PairLayers.of_pairs(layout, start=start, pairs=named)
    store = LayerStore(layers, "start")

    def tell(layer: Layer, record: LayerRecord) -> None:
        if store.needs(layer):
            on_layer(layer, store.read(layer))

    solve_layers(layers, store, workers=Workers(2), on_layer=tell)
    return [*layers.results(store).values()]


def evaluate(
    layout: FormLayout, start: TimedPosition, x: LayerPolicy | None, y: LayerPolicy | None
) -> PairEvaluation:
    """The values of one pair."""
    [result] = evaluate_pairs(layout, start, [(x, y)])
    return result
