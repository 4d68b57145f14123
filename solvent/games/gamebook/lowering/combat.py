"""The part of a file about combat: what fights use of the hero, and the table of results."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

from solvent.games.fighting_fantasy.rules import DAMAGE, Damage
from solvent.games.gamebook import book, schema
from solvent.games.gamebook.expressions import Expression
from solvent.games.gamebook.lowering.vocabulary import Vocabulary
from solvent.games.gamebook.problems import Path, Problems, similar


class CombatLowering:
    """What fights use of the hero.

    Attributes:
        skill: By the kind of combat.
        health: The field of what the hero loses in fights, by the kind of combat.
        luck: The field of LUCK, if there is one.
        damage: Of Fighting Fantasy combat.
        columns: Of results-table combat.
    """

    def __init__(self, file: schema.File, vocabulary: Vocabulary, problems: Problems) -> None:
        self._vocabulary = vocabulary
        self._problems = problems
        self.skill: dict[str, Expression] = {}
        self.health: dict[str, str] = {}
        self.luck: str | None = None
        self.damage = DAMAGE["standard"]
        self.columns: tuple[book.Column, ...] = ()
        path: Path = ("combat", "fighting-fantasy")
        fantasy = file.combat.fighting_fantasy
        if fantasy is not None:
            self._hero("fighting-fantasy", fantasy.skill, fantasy.stamina, "stamina")
            if fantasy.luck is not None and self._spent(fantasy.luck, (*path, "luck")):
                self.luck = fantasy.luck
            self.damage = self._damage(fantasy.damage, (*path, "damage"))
        table = file.combat.results_table
        if table is not None:
            self._hero("results-table", table.skill, table.endurance, "endurance")
            self.columns = self._columns(table.table, ("combat", "results-table", "table"))

    def _hero(self, rules: str, skill: str, health: str, key: str) -> None:
        path = ("combat", rules)
        self.skill[rules] = self._vocabulary.amount(skill, (*path, "skill"))
        self.health[rules] = health
        self._spent(health, (*path, key))

    def _spent(self, name: str, path: Path) -> bool:
        """Whether a name is that of a variable that can be spent down to 0."""
        field = self._vocabulary.field(name, path, "variable")
        if field is None:
            return False
        self._vocabulary.use(name)
        if field.low != 0:
            self._problems.add(path, f"{name} has min {field.low}", "in fights it should be 0")
        return True

    def _damage(self, given: dict[str, int], path: Path) -> Damage:
        allowed = [field.name for field in fields(Damage)]
        for name in given:
            if name not in allowed:
                self._problems.add(
                    (*path, name), f"there is no damage {name!r}", similar(name, allowed)
                )
        try:
            return Damage(**{name: given[name] for name in allowed if name in given})
        except ValueError as error:
            self._problems.add(path, str(error), "choose others")
            return DAMAGE["standard"]

    def _columns(self, table: schema.TableEntry, path: Path) -> tuple[book.Column, ...]:
        ends = table.columns
        self._check_columns(ends, (*path, "columns"))
        rows: list[list[book.Loss]] = []
        for digit in range(10):
            cells = table.rows.get(digit)
            if cells is None:
                self._problems.add(
                    (*path, "rows"), f"the table has no row {digit}", "add it; digits are 0 to 9"
                )
                cells = ["1/0"] * len(ends)
            if len(cells) != len(ends):
                self._problems.add(
                    (*path, "rows", digit),
                    f"row {digit} has {len(cells)} cells",
                    f"there are {len(ends)} columns",
                )
                cells = ["1/0"] * len(ends)
            rows.append([self._loss(cell, (*path, "rows", digit)) for cell in cells])
        for column, (low, high) in enumerate(ends):
            if all(row[column].enemy == 0 for row in rows):
                text = range_text(low, high)
                self._problems.add(
                    (*path, "columns"),
                    f"in column {text} the enemy never loses anything",
                    "a fight there would never end; let some digit cost the enemy something",
                )
        return tuple(
            book.Column(low, high, tuple(row[column] for row in rows))
            for column, (low, high) in enumerate(ends)
        )

    def _check_columns(self, ends: list[schema.Range], path: Path) -> None:
        if ends[0][0] is not None:
            self._problems.add(path, "the first column has a lowest difference", "write ..n")
        if ends[-1][1] is not None:
            self._problems.add(path, "the last column has a highest difference", "write n..")
        for (low, high), (after, beyond) in pairwise(ends):
            if high is None or after is None or after != high + 1:
                self._problems.add(
                    path,
                    f"column {range_text(after, beyond)} does not follow {range_text(low, high)}",
                    "columns should ascend without gaps",
                )

    def _loss(self, cell: str, path: Path) -> book.Loss:
        parts = cell.split("/")
        if len(parts) == 2 and all(_is_loss(part) for part in parts):
            enemy, hero = (None if part == "K" else int(part) for part in parts)
            return book.Loss(enemy, hero)
        self._problems.add(
            path,
            f"{cell!r} is no result",
            "write what enemy and hero lose, such as 4/2, or K for killed",
        )
        return book.Loss(1, 0)


def _is_loss(text: str) -> bool:
    return text == "K" or (text.isascii() and text.isdecimal() and len(text) <= 4)


def range_text(low: int | None, high: int | None) -> str:
    """A range as it is written in a file."""
    if low == high and low is not None:
        return str(low)
    return f"{'' if low is None else low}..{'' if high is None else high}"
