"""An inventory over a number of periods: when to order, and how much.

Every period a shopkeeper sees the stock, orders up to the capacity, and sells what is demanded as
far as the goods last. The problem is that of M. L. Puterman, "Markov Decision Processes", 1994,
section 3.2; the numbers unless others are given are those of its sections 3.2.2 and 4.6.1. What is
left at the end has no value.

An order has a fixed cost, so that it is best to wait until the stock is low and then to order much:
an optimal policy orders up to a level S whenever there are less than s (H. Scarf, "The optimality
of (S, s) policies in the dynamic inventory problem", 1960, where demand waits instead of being
lost).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from solvent.model import (
    Cell,
    GameInfo,
    Gauge,
    Outcome,
    Pieces,
    Rules,
    Scene,
    check_integer,
    check_integers,
    merged,
)


class Shop(NamedTuple):
    """The beginning of a period: the periods left, including this one, and the stock."""

    left: int
    stock: int


@dataclass(frozen=True)
class Inventory(Rules):
    """A shopkeeper orders goods at the start of every period, then sells what is demanded.

    Args:
        horizon: Periods.
        capacity: The most that can be in stock.
        demand: Weights of a demand of 0, 1, 2, ... in a period.
        price: Received for each piece that is sold.
        fixed_cost: Cost of an order of any size.
        cost: Cost of each piece that is ordered.
        holding: Cost of a period for each piece, before any is sold.
        stock: Stock at the start.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    horizon: int = 3
    capacity: int = 3
    demand: Sequence[int] = (1, 2, 1)
    price: int = 8
    fixed_cost: int = 4
    cost: int = 2
    holding: int = 1
    stock: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.horizon, "horizon", 1, 100_000)
        check_integer(self.capacity, "capacity", 1, 10_000)
        for name in ("price", "fixed_cost", "cost", "holding"):
            check_integer(getattr(self, name), name, 0, 10**6)
        check_integer(self.stock, "stock", 0, self.capacity)
        demand = check_integers(self.demand, "demand", 0, 10**6)
        check_integer(sum(demand), "the sum of demand", 1, 10**12)

    @property
    def info(self) -> GameInfo:
        """Return the actions and sources."""
        most = self.horizon * float(self.largest_reward)
        return GameInfo(
            name="inventory",
            players=1,
            actions=(tuple(f"order {pieces}" for pieces in range(self.capacity + 1)),),
            acyclic=True,
            reward_range=(-most, most),
            sources=("Puterman 1994, Markov Decision Processes, sections 3.2 and 4.6.1",),
            parameters=tuple({**vars(self), "demand": list(self.demand)}.items()),
            observation_labels=("periods left", "stock"),
            unit="units of profit",
        )

    @property
    def largest_reward(self) -> int:
        """Return the largest absolute reward of a period."""
        costs = self.fixed_cost + (self.cost + self.holding) * self.capacity
        return max(costs, self.price * self.capacity)

    def initial(self) -> tuple[Outcome, ...]:
        """Return the state at the beginning of the first period."""
        return (Outcome(Fraction(1), Shop(self.horizon, self.stock)),)

    def legal_actions(self, state: Shop) -> tuple[tuple[int, ...], ...]:
        """Return all orders that fit into the stock."""
        return (tuple(range(self.capacity - state.stock + 1)),)

    def transition(self, state: Shop, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        """Pay for the order and for holding the goods, then sell."""
        [order] = joint_action
        goods = state.stock + order
        paid = self.holding * goods + (self.fixed_cost + self.cost * order if order else 0)
        parts, sales = sum(self.demand), [min(n, goods) for n in range(len(self.demand))]
        return merged(
            [
                Outcome(
                    Fraction(weight, parts),
                    Shop(state.left - 1, goods - sold),
                    self.price * sold - paid,
                )
                for sold, weight in zip(sales, self.demand, strict=True)
                if weight
            ]
        )

    def is_terminal(self, state: Shop) -> bool:
        """Return whether no period is left; the remaining stock has no value."""
        return state.left == 0

    @cached_property
    def scale(self) -> Any:
        """The largest numbers of periods left and of goods in stock."""
        return self.horizon, self.capacity

    def scene(self, state: Shop) -> Scene:
        """Draw the periods left as a bar and the stock as boxes."""
        boxes = (Cell("", "first" if n < state.stock else "") for n in range(self.capacity))
        return (
            Gauge("periods left", state.left, self.horizon),
            Pieces(f"{state.stock} in stock", "boxes", tuple(boxes)),
        )
