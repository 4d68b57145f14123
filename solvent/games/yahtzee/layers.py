"""Yahtzee as a game that is layered in time: a layer has all cards with the same number of boxes.

The values of layer n are an array [sets, U, 2]: which n boxes are filled, the points of the upper
section up to those of the bonus, and whether another Yahtzee has one. Cards that cannot be reached
have the value 0. A layer reads the one with a box more. Within a turn nothing is kept: its values
follow from those of the next cards (:mod:`~.turn_kernel`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.exact.layered.game import Block, BlockResult, LayeredGame, Place, Read, WarmStart
from solvent.games.yahtzee.arrays import (
    TRACKS,
    YAHTZEE_BOX,
    Rules,
    reachable_totals,
    rules_arrays,
)
from solvent.games.yahtzee.rules import LARGEST_POINTS, YAHTZEE, Turn, Yahtzee
from solvent.games.yahtzee.turn_kernel import solve_sets
from solvent.model.arrays import Floats
from solvent.model.parameters import shown

SETS_IN_BLOCK = 64
"""Sets of filled boxes that are solved in one piece."""


class LayerProblem(NamedTuple):
    """What the blocks of a layer have in common.

    Attributes:
        sets: [n] bit masks of the filled boxes.
        after: [m, U, 2] values of the layer with a box more.
        place: [2^B] which set of that layer a bit mask is; -1 for the full card.
    """

    sets: NDArray[np.int32]
    after: Floats
    place: NDArray[np.int32]


class YahtzeeLayers(LayeredGame):
    """The layers of a form of Yahtzee, by the number of filled boxes.

    Args:
        game: The rules.
    """

    kind = "yahtzee"

    def __init__(self, game: Yahtzee) -> None:
        self.game: Yahtzee = game

    @cached_property
    def rules(self) -> Rules:
        """The rules as arrays."""
        return rules_arrays(self.game)

    @cached_property
    def reach(self) -> NDArray[np.bool_]:
        """[2^B, U] which points in the upper section go with which filled boxes."""
        return reachable_totals(self.game)

    @property
    def layers(self) -> Sequence[int]:
        return range(len(self.game.scorecard) - 1, -1, -1)

    def reads(self, layer: int) -> Sequence[int]:
        return [layer + 1] if layer + 1 < len(self.game.scorecard) else []

    def shape(self, layer: int) -> tuple[int, ...]:
        return comb(len(self.game.scorecard), layer), self.game.bonus_at + 1, 2

    def bound(self, layer: int) -> float:
        return float(self.game.most)

    def states(self, layer: int) -> int:
        """The cards that can be reached."""
        return self._cards(self.sets[layer])

    def _cards(self, sets: NDArray[np.int32]) -> int:
        """The cards with some sets of filled boxes."""
        totals = self.reach[sets].sum(axis=1)
        if not self.rules.number[TRACKS]:
            return int(totals.sum())
        return int((totals * (1 + (sets >> self.rules.number[YAHTZEE_BOX] & 1))).sum())

    @property
    def cards(self) -> int:
        """All cards that can be reached, the full ones included, from which no turn starts."""
        return self.n_states + self.states(len(self.game.scorecard))

    def name(self, layer: int) -> str:
        return f"filled{layer:02}"

    def label(self, layer: int) -> str:
        return f"{layer} boxes filled"

    @cached_property
    def sets(self) -> list[NDArray[np.int32]]:
        """For each number of filled boxes the bit masks of all sets of them."""
        boxes = range(len(self.game.scorecard))
        return [
            np.array([sum(1 << b for b in chosen) for chosen in combinations(boxes, n)], np.int32)
            for n in range(len(boxes) + 1)
        ]

    @cached_property
    def position(self) -> NDArray[np.int32]:
        """[2^B] which set of its layer a bit mask is; -1 for the full card."""
        position = np.full(1 << len(self.game.scorecard), -1, np.int32)
        for sets in self.sets[:-1]:
            position[sets] = np.arange(len(sets))
        return position

    def problem(self, layer: int, read: Read) -> LayerProblem:
        last = layer + 1 == len(self.game.scorecard)
        after = np.zeros((1, *self.shape(0)[1:])) if last else read(layer + 1)
        return LayerProblem(self.sets[layer], np.ascontiguousarray(after), self.position)

    def solve_block(
        self, problem: LayerProblem, block: Block, start: WarmStart | None = None
    ) -> BlockResult:
        """The best choices in all turns from some sets of filled boxes."""
        sets = problem.sets[slice(*block)]
        out = np.zeros((len(sets), *self.shape(0)[1:]))
        solve_sets(self.rules, sets, self.reach, problem.after, problem.place, out)
        return BlockResult(out, games=self._cards(sets))

    def blocks(self, layer: int) -> Sequence[Block]:
        sets, size = self.shape(layer)[0], SETS_IN_BLOCK
        return [(first, min(first + size, sets)) for first in range(0, sets, size)]

    def place(self, state: Turn) -> Place | None:
        """Where a card stands; None once dice lie on the table.

        Raises:
            ValueError: If it is no card that can be reached.
        """
        if state.dice or not state.open:
            return None
        if not self.is_card(state):
            raise ValueError(f"{shown(state)} is no state of {self.game.info.name}")
        filled = self.filled(state)
        at = int(self.position[filled]), state.upper, int(state.bonus)
        return Place(filled.bit_count(), at)

    def is_card(self, state: Turn) -> bool:
        """Whether a state is a card that can be reached, from which a turn starts.

        Others have no value, though there is room for one.
        """
        game = self.game
        boxes = tuple(box for box in game.scorecard if box in state.open)
        if (state.open, state.rolls) != (
            boxes,
            game.rolls,
        ) or not 0 <= state.upper <= game.bonus_at:
            return False
        again = bool(self.rules.number[TRACKS]) and YAHTZEE not in boxes
        return bool(self.reach[self.filled(state), state.upper]) and (again or not state.bonus)

    def filled(self, state: Turn) -> int:
        """The filled boxes of a state as a bit mask."""
        return sum(1 << b for b, box in enumerate(self.game.scorecard) if box not in state.open)

    def rounding(self, layer: int, largest: Callable[[int], float]) -> float:
        """All numbers are sums of three terms, or means over the faces, one for each die rolled.

        A mean of F numbers is F - 1 additions and a division. No number that is met is larger than
        the largest value of the next layer and what a box and its bonuses bring.
        """
        game = self.game
        after = max(map(largest, self.reads(layer)), default=0.0)
        met = after + LARGEST_POINTS + game.yahtzee_bonus + game.upper_bonus
        roundings = 3 + game.rolls * game.dice * game.faces
        # Numbers that have been rounded may be a little larger.
        return 1.01 * roundings * float(np.finfo(float).eps) / 2 * met

    @property
    def identity(self) -> Mapping[str, Any]:
        return dict(self.game.info.parameters)

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> YahtzeeLayers:
        return cls(Yahtzee(**{field.name: identity[field.name] for field in fields(Yahtzee)}))


def yahtzee_layers(game: Yahtzee) -> YahtzeeLayers:
    """The layers of a form of Yahtzee."""
    return YahtzeeLayers(game)
