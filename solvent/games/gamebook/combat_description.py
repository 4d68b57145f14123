"""The hero in combat, stated once for a book: SKILL and STAMINA, or a table of results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from solvent.games.fighting_fantasy.rules import DAMAGE, Damage
from solvent.games.gamebook.hero import Fixed, Known, Spent
from solvent.games.gamebook.problems import similar
from solvent.games.gamebook.values import Digit, Fault, Interval, Model, range_text

_CELL = re.compile(r"K|\d{1,4}", re.ASCII)


def _damage(value: Any) -> Damage:
    """Return the damage for a name such as ``three``, or for a mapping."""
    if isinstance(value, str) and value in DAMAGE:
        return DAMAGE[value]
    allowed = [field.name for field in fields(Damage)]
    if not isinstance(value, dict):
        raise ValueError(f"should be {' or '.join(DAMAGE)}, or a mapping of {', '.join(allowed)}")
    for name, points in value.items():
        if name not in allowed:
            raise ValueError(f"there is no damage {name!r}; {similar(str(name), allowed)}")
        if type(points) is not int or not 0 <= points <= 10**6:
            raise ValueError(f"damage.{name} is {points!r}; write a whole number of points")
    try:
        return Damage(**value)
    except ValueError as error:
        raise ValueError(f"{error}; choose others") from None


class FightingFantasy(Model):
    """The hero in Fighting Fantasy combat."""

    skill: Fixed
    stamina: Spent
    luck: Spent | None = None
    damage: Annotated[Damage, PlainValidator(_damage)] = DAMAGE["standard"]

    @property
    def spent(self) -> tuple[str, ...]:
        """The fields that change in a fight, starting with the hero's health."""
        return (self.stamina,) if self.luck is None else (self.stamina, self.luck)


@dataclass(frozen=True, slots=True)
class Loss:
    """The losses of both sides in a round; None: that side is killed."""

    enemy: int | None
    hero: int | None


def _loss(cell: Any) -> Loss:
    parts = cell.split("/") if isinstance(cell, str) else []
    if len(parts) == 2 and all(map(_CELL.fullmatch, parts)):
        enemy, hero = (None if part == "K" else int(part) for part in parts)
        return Loss(enemy, hero)
    raise ValueError(
        f"{cell!r} is no result; write what enemy and hero lose, such as 4/2, or K for killed"
    )


@dataclass(frozen=True, slots=True)
class Column:
    """The results for differences of skill up to a limit.

    Attributes:
        high: The largest difference, hero's skill minus the enemy's; None in the last column.
        losses: The losses for each digit from 0 to 9.
    """

    high: int | None
    losses: tuple[Loss, ...]


class Table(Model):
    """A table of results, a row for each digit."""

    columns: Annotated[list[Interval], Field(min_length=1, max_length=100)]
    rows: dict[Digit, list[Annotated[Loss, PlainValidator(_loss)]]]

    @cached_property
    def ascending(self) -> tuple[Column, ...]:
        """The columns from the lowest difference to the highest."""
        return tuple(
            Column(high, tuple(self.rows[digit][i] for digit in range(10)))
            for i, (_, high) in enumerate(self.columns)
        )

    def faults(self, known: Known) -> Iterator[Fault]:
        """Check that the table is complete, and that every column can end a fight."""
        ends = self.columns
        if ends[0][0] is not None:
            yield ("columns",), "the first column has a lowest difference; write ..n"
        if ends[-1][1] is not None:
            yield ("columns",), "the last column has a highest difference; write n.."
        for before, after in pairwise(ends):
            if before[1] is None or after[0] != before[1] + 1:
                yield (
                    ("columns",),
                    f"column {range_text(after)} does not follow {range_text(before)}; columns "
                    "should ascend without gaps",
                )
        missing = [digit for digit in range(10) if digit not in self.rows]
        if missing:
            yield ("rows",), f"the table has no row {missing[0]}; add it, digits are 0 to 9"
        short = [(digit, row) for digit, row in self.rows.items() if len(row) != len(ends)]
        for digit, row in short:
            yield (
                ("rows", digit),
                f"row {digit} has {len(row)} cells; there are {len(ends)} columns",
            )
        if not missing and not short:
            for column, limits in zip(self.ascending, ends, strict=True):
                if all(loss.enemy == 0 for loss in column.losses):
                    yield (
                        ("columns",),
                        f"in column {range_text(limits)} the enemy never loses anything; let some "
                        "digit cost the enemy something, or a fight would never end",
                    )


class ResultsTable(Model):
    """The hero in results-table combat, and the table."""

    skill: Fixed
    endurance: Spent
    table: Table

    @property
    def spent(self) -> tuple[str, ...]:
        """The fields that change in a fight."""
        return (self.endurance,)


class Combat(Model):
    """The kinds of combat in the book."""

    fighting_fantasy: Annotated[FightingFantasy | None, Field(alias="fighting-fantasy")] = None
    results_table: Annotated[ResultsTable | None, Field(alias="results-table")] = None

    def by_rules(self) -> dict[str, FightingFantasy | ResultsTable]:
        """The kinds that the book describes, by the name of their rules."""
        found = {
            "fighting-fantasy": self.fighting_fantasy,
            "results-table": self.results_table,
        }
        return {name: kind for name, kind in found.items() if kind is not None}
