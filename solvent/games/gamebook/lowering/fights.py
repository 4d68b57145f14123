"""Fights: from what a section says of one, and the book of combat."""

from __future__ import annotations

from collections.abc import Callable

from solvent.games.gamebook import book, schema
from solvent.games.gamebook.expressions import TRUE, Expression, Number, Operation
from solvent.games.gamebook.lowering.combat import range_text
from solvent.games.gamebook.lowering.context import LoweringContext
from solvent.games.gamebook.problems import Path

RULES = ("fighting-fantasy", "results-table")

TABLE_ONLY = ("dealt", "suffered", "added", "invulnerable")
"""Keys of a fight that belong to results-table combat."""


class FightLowering:
    """Turns fights into what the machine knows.

    Args:
        context: The rest of the book.
        block: Lowers a block that stands at a path, to which a fight leads.
    """

    def __init__(
        self, context: LoweringContext, block: Callable[[schema.BlockEntry, Path], book.Block]
    ) -> None:
        self._book = context
        self._problems = context.problems
        self._formula = context.vocabulary.formula
        self._amount = context.vocabulary.amount
        self._block = block

    def lower(
        self, fight: schema.FightEntry, path: Path
    ) -> book.FightingFantasyFight | book.ResultsTableFight:
        """The fight that stands at a place."""
        combat = self._book.combat
        rules: str | None = fight.rules
        if rules is None and len(combat.skill) == 1:
            [rules] = combat.skill
        if rules is None:
            self._problems.add(
                path, "the fight does not say by which rules", f"add rules: {' or '.join(RULES)}"
            )
        elif rules not in combat.skill:
            self._problems.add(
                path, f"the book does not describe {rules} combat", f"add it under combat: {rules}"
            )
        with_table = rules == "results-table"
        self._check_keys(fight, path, with_table=with_table)
        skill = combat.skill.get(rules or "", Number(0))
        health = combat.health.get(rules or "", "")
        bonuses = tuple(
            self._bonus(bonus, (*path, "bonuses", i)) for i, bonus in enumerate(fight.bonuses)
        )
        escape = None if fight.escape is None else self._escape(fight.escape, (*path, "escape"))
        victory = self._block(fight.victory, (*path, "victory"))
        defeat = self._defeat(fight, health, path)
        enemies = tuple(
            book.Enemy(enemy.name, enemy.skill, enemy.endurance or enemy.stamina or 1)
            for enemy in fight.enemies
        )
        if with_table:
            return book.ResultsTableFight(
                enemies,
                skill,
                health,
                bonuses,
                combat.columns,
                self._amount(fight.dealt or "1", (*path, "dealt"), 1),
                self._amount(fight.suffered or "1", (*path, "suffered"), 0),
                self._amount(fight.added.enemy, (*path, "added", "enemy"), 0),
                self._amount(fight.added.hero, (*path, "added", "hero"), 0),
                self._invulnerable(fight.invulnerable, (*path, "invulnerable")),
                escape,
                victory,
                defeat,
            )
        return book.FightingFantasyFight(
            enemies, skill, health, combat.luck, bonuses, combat.damage, escape, victory, defeat
        )

    def _check_keys(self, fight: schema.FightEntry, path: Path, *, with_table: bool) -> None:
        """Note what the one kind of combat has and the other has not."""
        right, wrong = ("endurance", "stamina") if with_table else ("stamina", "endurance")
        for i, enemy in enumerate(fight.enemies):
            if getattr(enemy, wrong) is not None or getattr(enemy, right) is None:
                self._problems.add(
                    (*path, "enemies", i),
                    f"the enemy {enemy.name!r} is not described by {right}",
                    f"by these rules it has {right}, not {wrong}",
                )
        if with_table:
            return
        absent = (None, schema.AddedEntry())
        foreign = [key for key in TABLE_ONLY if getattr(fight, key) not in absent]
        places: list[Path] = [(*path, key) for key in foreign]
        if fight.escape is not None and fight.escape.parting:
            places.append((*path, "escape", "parting"))
        for i, bonus in enumerate(fight.bonuses):
            if bonus.rounds is not None:
                places.append((*path, "bonuses", i, "rounds"))
        for place in places:
            self._problems.add(place, f"{place[-1]} belongs to results-table combat", "remove it")

    def _bonus(self, bonus: schema.BonusEntry, path: Path) -> book.Bonus:
        size = self._amount(bonus.size, (*path, "size"))
        if bonus.when is not None:
            condition = self._formula(bonus.when, (*path, "when"))
            size = Operation("*", (size, Operation("!=", (condition, Number(0)))))
        return self._counting(bonus.name, size, bonus.rounds or (None, None), path)

    def _counting(
        self, name: str, size: Expression, rounds: schema.Range, path: Path
    ) -> book.Bonus:
        """What counts in certain rounds."""
        low, last = rounds
        first = 1 if low is None else low
        if first < 1 or (last is not None and last < 1):
            self._problems.add(
                (*path, "rounds"),
                f"{name} counts in rounds {range_text(low, last)}",
                "rounds are counted from 1",
            )
        return book.Bonus(name, size, first, last)

    def _invulnerable(
        self, given: schema.InvulnerableEntry | None, path: Path
    ) -> book.Bonus | None:
        if given is None:
            return None
        condition = TRUE if given.when is None else self._formula(given.when, (*path, "when"))
        size = Operation("!=", (condition, Number(0)))
        return self._counting("invulnerable", size, given.rounds, path)

    def _escape(self, escape: schema.EscapeEntry, path: Path) -> book.Escape:
        return book.Escape(
            escape.after,
            escape.parting,
            self._block(escape, path),
            TRUE if escape.when is None else self._formula(escape.when, (*path, "when")),
        )

    def _defeat(self, fight: schema.FightEntry, health: str, path: Path) -> book.Block:
        if fight.defeat is not None:
            return self._block(fight.defeat, (*path, "defeat"))
        ending = self._book.ending_of_the_fallen(health)
        if ending is None:
            self._problems.add(
                path,
                "the fight does not say what happens in defeat",
                f"add defeat, or a rule of whenever such as {{when: {health or 'stamina'} <= 0, "
                "ending: ...}",
            )
            ending = next(iter(self._book.file.endings))
        return self._block(schema.BlockEntry(ending=ending), path)
