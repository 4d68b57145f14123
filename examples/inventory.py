"""An inventory over a number of periods: a game for one that is solved layer by layer.

Every period a shopkeeper sees the stock, orders up to the capacity, and sells what is demanded as
far as the goods last. The problem is that of Puterman, *Markov Decision Processes* (1994), section
3.2; the numbers unless others are given are those of his section 4.6.1.

The states with the same number of periods left are a layer. It reads the layer with one period
less, so that only two are in memory, however many periods there are::

    solvent solve examples/inventory.py --horizon 1000 --out inventory
    solvent solve examples/inventory.py --horizon 1000 --capacity 400 --plan
    solvent play examples/inventory.py --solution inventory
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Block, BlockResult, LayeredGame, Place, Read, WarmStart
from solvent.exact.layered.solution import LayeredSolution
from solvent.model import GameInfo, Outcome
from solvent.model.arrays import Floats
from solvent.model.registry import GameSpec

LEVELS_IN_BLOCK = 64
"""Levels of the stock that are solved in one piece."""


class Shop(NamedTuple):
    """The beginning of a period: how many are left, this one included, and the stock."""

    left: int
    stock: int


@dataclass(frozen=True)
class Inventory:
    """A shopkeeper orders goods at the start of every period, then sells what is demanded.

    Args:
        horizon: Periods.
        capacity: The most that can be in stock.
        demand: Weights of a demand of 0, 1, 2, ... in a period.
        price: Received for each piece that is sold.
        fixed_cost: Of an order, whatever it is of.
        cost: Of each piece that is ordered.
        holding: Cost of a period for each piece, before any is sold.
        stock: At the start.
    """

    horizon: int = 3
    capacity: int = 3
    demand: Sequence[int] = (1, 2, 1)
    price: int = 8
    fixed_cost: int = 4
    cost: int = 2
    holding: int = 1
    stock: int = 0

    @property
    def info(self) -> GameInfo:
        """The orders, and where the problem comes from."""
        most = self.horizon * float(self.largest_reward)
        return GameInfo(
            name="inventory",
            players=1,
            actions=(tuple(f"order {pieces}" for pieces in range(self.capacity + 1)),),
            acyclic=True,
            reward_range=(-most, most),
            sources=("Puterman 1994, sections 3.2 and 4.6.1",),
            parameters=tuple({**vars(self), "demand": list(self.demand)}.items()),
            observation_labels=("periods left", "stock"),
            unit="units of profit",
        )

    @property
    def largest_reward(self) -> int:
        """Of a period, whichever its sign."""
        costs = self.fixed_cost + (self.cost + self.holding) * self.capacity
        return max(costs, self.price * self.capacity)

    def initial(self) -> tuple[Outcome, ...]:
        """The first period."""
        return (Outcome(Fraction(1), Shop(self.horizon, self.stock)),)

    def legal_actions(self, state: Shop) -> tuple[tuple[int, ...], ...]:
        """As many as there is room for."""
        return (tuple(range(self.capacity - state.stock + 1)),)

    def transition(self, state: Shop, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        """Pay for the order and for holding the goods, then sell."""
        [order] = joint_action
        goods = state.stock + order
        paid = self.holding * goods + (self.fixed_cost + self.cost * order if order else 0)
        branches: dict[int, Fraction] = {}
        for demanded, weight in enumerate(self.demand):
            sold = min(demanded, goods)
            branches[sold] = branches.get(sold, Fraction(0)) + Fraction(weight, sum(self.demand))
        return tuple(
            Outcome(probability, Shop(state.left - 1, goods - sold), self.price * sold - paid)
            for sold, probability in branches.items()
            if probability > 0
        )

    def is_terminal(self, state: Shop) -> bool:
        """Whether no period is left; what is in stock then is worth nothing."""
        return state.left == 0

    def observe(self, state: Shop, player: int) -> NDArray[np.float32]:
        """Periods left and stock, as shares of the most there can be."""
        return np.array([state.left / self.horizon, state.stock / self.capacity], np.float32)

    def draw(self, state: Shop) -> str:
        """One line."""
        return f"{state.left} periods left, {state.stock} of {self.capacity} in stock"


class InventoryLayers(LayeredGame):
    """The same as layers: the values [capacity + 1] of all stocks, by the periods left.

    Args:
        game: The rules.
    """

    kind = "inventory"

    def __init__(self, game: Inventory) -> None:
        self.game = game

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
        """[goods] what a period with so many goods brings, and all later ones, orders unpaid."""
        after = read(layer - 1) if layer > 1 else np.zeros(self.game.capacity + 1)
        goods = np.arange(len(after))
        total = -float(self.game.holding) * goods
        for demanded, probability in enumerate(self._demand):
            sold = np.minimum(demanded, goods)
            total = total + probability * (self.game.price * sold + after[goods - sold])
        return total

    def solve_block(
        self, problem: Floats, block: Block, start: WarmStart | None = None
    ) -> BlockResult:
        """The best order for some levels of the stock."""
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

    def place(self, state: Shop) -> Place:
        return Place(state.left, (state.stock,))

    def rounding(self, layer: int, largest: Callable[[int], float]) -> float:
        """A sum of n products is right but for 2 n + 6 roundings of the largest number met."""
        met = 2 * self.game.largest_reward + max(map(largest, self.reads(layer)), default=0.0)
        return (2 * len(self._demand) + 6) * float(np.finfo(float).eps) / 2 * met

    @property
    def identity(self) -> Mapping[str, Any]:
        """The parameters, but for the last, which is the stock at the start."""
        return dict(self.game.info.parameters[:-1])

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> InventoryLayers:
        return cls(Inventory(**{at.name: identity[at.name] for at in fields(Inventory)[:-1]}))

    @cached_property
    def _demand(self) -> list[float]:
        weights = self.game.demand
        return [weight / sum(weights) for weight in weights]


def opened(folder: Path, parameters: Mapping[str, Any]) -> LayeredSolution:
    """The solution in a folder, with the stock at the start that is asked for."""
    solved = LayerFolder.open(folder, InventoryLayers)
    game = Inventory(**{**solved.game.identity, **parameters})
    return LayeredSolution(LayerFolder.open(folder, InventoryLayers(game)), game)


SPEC = GameSpec(
    name="inventory",
    make=Inventory,
    layered=f"{__name__}:InventoryLayers",
    opened=f"{__name__}:opened",
)
