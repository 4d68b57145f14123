"""Shops: from goods with prices to trades with conditions and effects."""

from __future__ import annotations

from solvent.games.gamebook import book, schema
from solvent.games.gamebook.expressions import Expression, Name, Number, Operation
from solvent.games.gamebook.lowering.vocabulary import Vocabulary
from solvent.games.gamebook.problems import Path, Problems


class ShopLowering:
    """Turns shops into what the machine knows.

    Args:
        vocabulary: Of the book.
        problems: Where faults are noted.
    """

    def __init__(self, vocabulary: Vocabulary, problems: Problems) -> None:
        self._vocabulary = vocabulary
        self._problems = problems

    def lower(self, shop: schema.ShopEntry, path: Path, leave: book.Block) -> book.Shop:
        """The shop that stands at a place.

        Args:
            shop: What the file says of it.
            path: Where it stands.
            leave: Where the player goes on from it.
        """
        money = self._vocabulary.field(shop.money, (*path, "money"), "variable")
        trades: list[book.Trade] = []
        traded: set[str] = set()
        for i, good in enumerate(shop.goods):
            at = (*path, "goods", i)
            item = self._vocabulary.field(good.item, (*at, "item"), "item")
            if good.item in traded:
                self._problems.add(at, f"{good.item} is traded twice here", "keep one of the two")
            traded.add(good.item)
            if item is None or money is None:
                continue
            self._vocabulary.use(money.name)
            if good.buy is not None and item.slot:
                trades.append(self._purchase(item, good, good.buy, money, at))
            if good.sell is not None:
                self._vocabulary.use(item.name)
                trades.append(self._sale(item, good.sell, money, at))
        return book.Shop(tuple(trades), leave)

    def _purchase(
        self, item: book.Field, good: schema.GoodEntry, price: int, money: book.Field, path: Path
    ) -> book.Trade:
        left = Operation("-", (Name(money.name), Number(price)))
        affordable = Operation(">=", (left, Number(money.low)))
        fitting = Operation(">=", (self._vocabulary.room(item.slot), Number(1)))
        below = Operation("<", (Name(item.name), Number(item.high)))
        text = f"buy {item.name} for {price} {money.name}" if price else f"take {item.name}"
        return book.Trade(
            text,
            Operation("and", (affordable, Operation("and", (fitting, below)))),
            self._exchange(item, "+", left, money, path),
            good.quantity,
        )

    def _sale(self, item: book.Field, price: int, money: book.Field, path: Path) -> book.Trade:
        more = Operation("+", (Name(money.name), Number(price)))
        text = f"sell {item.name} for {price} {money.name}" if price else f"leave {item.name}"
        return book.Trade(
            text,
            Operation(">=", (Name(item.name), Number(1))),
            self._exchange(item, "-", more, money, path),
            None,
        )

    def _exchange(
        self, item: book.Field, sign: str, purse: Expression, money: book.Field, path: Path
    ) -> tuple[book.Assign, ...]:
        line = self._problems.line(path)
        number = Operation(sign, (Name(item.name), Number(1)))
        return (book.Assign(money.name, purse, line), book.Assign(item.name, number, line))
