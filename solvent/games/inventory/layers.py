"""The inventory solved layer by layer: the smallest game of that kind.

The states with the same number of periods left are a layer. It reads the layer with one period
less, so that only two are in memory, however many periods there are::

    solvent solve inventory --horizon 1000 --out inventory
    solvent solve inventory --horizon 1000 --capacity 400 --plan
    solvent play inventory --solution inventory
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from solvent.exact.layered.game import Block, BlockResult, LayeredGame, LayerPlace, Read
from solvent.exact.layered.solve import LayeredSolution
from solvent.games.inventory.rules import Inventory, Shop
from solvent.model.arrays import Floats

LEVELS_IN_BLOCK = 64
"""Levels of the stock that are solved in one piece."""


class InventoryLayers(LayeredGame):
    """The layers of an inventory game: values [capacity + 1] of all stocks, by periods left.

    Args:
        game: The rules.
    """

    kind = "inventory"

    def __init__(self, game: Inventory) -> None:
        self.game: Inventory = game

    @property
    def layers(self) -> Sequence[int]:
        return range(1, self.game.horizon + 1)

    def reads(self, layer: int) -> Sequence[int]:
        return [layer - 1] if layer > 1 else []

    def shape(self, layer: int) -> tuple[int, ...]:
        return (self.game.capacity + 1,)

    def bound(self, layer: int) -> float:
        return float(layer * self.game.largest_reward)

    def problem(self, layer: int, read: Read) -> Floats:
        """Return [goods] the return of this and all later periods, before paying for the order."""
        after = read(layer - 1) if layer > 1 else np.zeros(self.game.capacity + 1)
        goods = np.arange(len(after))
        total = -float(self.game.holding) * goods
        for demanded, probability in enumerate(self._demand):
            sold = np.minimum(demanded, goods)
            total = total + probability * (self.game.price * sold + after[goods - sold])
        return np.asarray(total, np.float64)

    def solve_block(self, problem: Floats, block: Block) -> BlockResult:
        """Return the best order for some levels of the stock."""
        cost, fixed = float(self.game.cost), float(self.game.fixed_cost)
        values = []
        for stock in range(*block):
            ordered = np.arange(len(problem) - stock)
            values.append(
                np.max(problem[stock:] - np.where(ordered > 0, fixed + cost * ordered, 0))
            )
        return BlockResult(np.array(values), games=len(values))

    def blocks(self, layer: int) -> Sequence[Block]:
        levels, size = self.game.capacity + 1, LEVELS_IN_BLOCK
        return [(first, min(first + size, levels)) for first in range(0, levels, size)]

    def place(self, state: Shop) -> LayerPlace:
        return LayerPlace(state.left, (state.stock,))

    def state_at(self, place: LayerPlace) -> Shop:
        """Return the state with the given stock and number of periods left."""
        return Shop(place.layer, *place.at)

    def rounding(self, layer: int, largest: Callable[[int], float]) -> float:
        """Bound the rounding error: 2 n + 6 roundings of the largest number, for n products."""
        met = 2 * self.game.largest_reward + max(map(largest, self.reads(layer)), default=0.0)
        return (2 * len(self._demand) + 6) * float(np.finfo(float).eps) / 2 * met

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return the parameters except the last, the initial stock."""
        return dict(self.game.info.parameters[:-1])

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> InventoryLayers:
        return cls(Inventory(**{at.name: identity[at.name] for at in fields(Inventory)[:-1]}))

    @cached_property
    def _demand(self) -> list[float]:
        weights = self.game.demand
        return [weight / sum(weights) for weight in weights]


class InventorySolution(LayeredSolution):
    """A solved inventory."""

    layered_game = InventoryLayers
