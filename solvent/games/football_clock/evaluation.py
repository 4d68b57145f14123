"""Exact values of policies of football with a clock, layer by layer.

Two players, X and Y, differ, so a layer has two arrays of values: W[0] where X has the ball and
W[1] where Y has it, each to the side that has the ball. Changing sides goes from one to the other::

    value to the other side of column c  =  -W[other][.., C - 1 - c]

A layer is rated like one that is solved: first the values of everything that may follow a play,
with the time-outs that the players call, and then the states, each the expectation over both
strategies.

**Best responses.** In the place of a policy may stand None: that player answers the other one's in
the best way, with calls, choices, kicks and time-outs. It knows the strategies, not what is drawn
from them. Backward in time the answer in one state is a maximum of sums, since states of a layer
lead to other layers only.

**Several at once.** Asking a policy for its strategies may cost far more than what is done with
them, as with a network. So pairs of players are rated side by side, and each policy is asked once.

**Layer by layer.** Pairs are rated as a layered game is solved (:class:`PairLayers`), in memory or
in a folder, in which an interrupted score goes on. Memory: the layers that others still need, for
every pair twice as many as for solving.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from solvent.exact.layered.game import Block, BlockResult, Place, Read, WarmStart, changes
from solvent.exact.layered.solve import Workers
from solvent.exact.layered.store import LayerStore
from solvent.games.football_clock.backup import backup, blocks_of
from solvent.games.football_clock.layers import Answers, FootballLayers, Moment
from solvent.games.football_clock.layout import FormLayout, Layer, Players
from solvent.games.football_clock.rules import TimedPosition
from solvent.model.arrays import Floats

STATES_AT_ONCE = 100_000
"""Approximate maximum of states per block; each state may have strategies of its own."""

LINES_AT_ONCE = 1024
"""Most lines per block, so that there is work for all threads."""


@dataclass(frozen=True, eq=False)
class PairEvaluation:
    """Values of X against Y: chances of winning with half of those of a tie, or points.

    Attributes:
        first: Value if X is player 0, who in most forms receives the opening kickoff.
        second: Value if X is player 1.
    """

    first: float
    second: float

    @property
    def average(self) -> float:
        """Over both seats."""
        return (self.first + self.second) / 2


PairProblem = tuple[Layer, Sequence[Sequence[Floats]], Floats]
"""The data that the blocks of a layer share: the layer; [U, C] the values of the successors, by
pair and by the side that was on offence or kicked; and [pairs, 2, 2, C] those of being about to
kick off, and to kick freely."""


@dataclass(frozen=True, eq=False)
class PairLayers(FootballLayers):
    """Values of X against Y, for some pairs of them, as a game that is layered in time.

    The values of a layer are an array [pairs, 2, S + 2, C].

    Args:
        start: Start position, with a call or a kick to come.
        pairs: X and Y of each, by name; None stands for a best response. A policy that is in
            several is asked once.
        players: Description of the policies, JSON-able, to tell a folder from others.

    Raises:
        ValueError: If neither of a pair is given, or the position has no call and no kick to come.
    """

    start: TimedPosition = field(kw_only=True)
    pairs: Mapping[str, Players] = field(kw_only=True)
    players: Mapping[str, Any] = field(kw_only=True, default_factory=dict)

    kind = "solvent score in football with a clock"

    @classmethod
    def of_pairs(cls, layout: FormLayout, **given: Any) -> PairLayers:
        """The layers of pairs of players in a form; the other arguments are by name."""
        return cls(layout.rules, layout.clock, layout.form, layout.ticks, **given)

    def __post_init__(self) -> None:
        """Check the pairs and the start."""
        if (None, None) in self.pairs.values():
            raise ValueError("a best response needs a policy to respond to; both are None")
        if self.place(self.start) is None:
            raise ValueError(f"phase is {self.start.phase!r}; layers hold calls and kicks only")

    @cached_property
    def _begins(self) -> Place:
        place = self.place(self.start)
        assert place is not None
        return place

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """Return all layers up to that of the start."""
        every = super().layers
        return every[: every.index(self._begins.layer) + 1]

    def shape(self, layer: Layer) -> tuple[int, ...]:
        return len(self.pairs), 2, *super().shape(layer)

    def states(self, layer: Layer) -> int:
        return 2 * len(self.pairs) * super().states(layer)

    def state_at(self, place: Place) -> None:
        """The value of two given players in a state does not follow from the rules alone."""

    def problem(self, layer: Layer, read: Read) -> PairProblem:
        known: dict[Layer, Floats] = {at: read(at) for at in self.reads(layer)}
        answers: Answers = {}

        def values_of(k: int, at: Layer, side: int) -> Floats:
            values: Floats = known[at][k, side]
            return values

        moments = [
            Moment(self, layer, partial(values_of, k), players, answers)
            for k, players in enumerate(self.pairs.values())
        ]
        values = [[moment.values(side) for side in (0, 1)] for moment in moments]
        kicks = [
            [moment.kicks(own[side], side) for side in (0, 1)]
            for moment, own in zip(moments, values, strict=True)
        ]
        return layer, values, np.array(kicks)

    def blocks(self, layer: Layer) -> Sequence[Block]:
        states = self.columns(layer.half) * (self.rules.ruleset.downs + 1)
        size = max(1, min(STATES_AT_ONCE // states, LINES_AT_ONCE))
        return [*blocks_of(self.lines, size), self._kicks]

    def solve_block(
        self, problem: Any, block: Block, start: WarmStart | None = None
    ) -> BlockResult:
        layer, following, kicks = problem
        if block == self._kicks:
            return BlockResult(kicks)
        pairs = list(self.pairs.values())
        every = {id(player): player for pair in pairs for player in pair if player is not None}
        asked = {at: player.strategies(layer, block, start) for at, player in every.items()}
        found = []
        for pair, values in zip(pairs, following, strict=True):
            for side in (0, 1):
                attack, defend = asked.get(id(pair[side])), asked.get(id(pair[1 - side]))
                result = backup(
                    self.rules,
                    values[side],
                    block,
                    attack and attack.attack,
                    defend and defend.defend,
                )
                found.append(result.values)
        values = np.stack(found)
        return BlockResult(
            values,
            next((found.start for found in asked.values() if found.start is not None), None),
            max(found.gap for found in asked.values()),
            games=values.size,
        )

    @property
    def identity(self) -> Mapping[str, Any]:
        scored = {"start": list(self.start), "pairs": [*self.pairs], "players": dict(self.players)}
        return {**super().identity, "scored": json.loads(json.dumps(scored))}

    def differences(self, found: Mapping[str, Any]) -> list[str]:
        """Return the differences from another score."""
        return super().differences(found) or [
            *changes({"scored": found.get("scored")}, {"scored": self.identity["scored"]})
        ]

    def results(self, store: LayerStore) -> dict[str, PairEvaluation]:
        """Return the values of X against Y in each pair, once all layers are rated.

        Args:
            store: The store with the layers.
        """
        even, begins = 0.0 if self.for_points else 0.5, self._begins
        row, column = begins.at
        values = store.read(begins.layer)[:, :, row, column].tolist()
        found = {}
        # To the side that has the ball or kicks in the beginning, if it is X and if it is Y.
        for name, (of_x, of_y) in zip(self.pairs, values, strict=True):
            if self.start.offence == 1:
                of_x, of_y = -of_y, -of_x
            found[name] = PairEvaluation(first=even + of_x, second=even - of_y)
        return found


def all_threads() -> Workers:
    """Return workers on all processors of this machine."""
    return Workers(os.cpu_count() or 1)
