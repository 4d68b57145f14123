"""What the sections of a book have in common."""

from __future__ import annotations

from solvent.games.gamebook import book, schema
from solvent.games.gamebook.expressions import evaluate, names
from solvent.games.gamebook.lowering.combat import CombatLowering
from solvent.games.gamebook.lowering.vocabulary import Vocabulary
from solvent.games.gamebook.problems import Path, Problems, similar


class LoweringContext:
    """What a section needs of the rest of its book.

    Args:
        file: The whole file.
        vocabulary: Of the book.
        problems: Where faults are noted.

    Attributes:
        file: The whole file.
        vocabulary: Of the book.
        problems: Where faults are noted.
        combat: What fights use of the hero.
        whenever: The rules that end play at any moment.
        endings_used: The endings to which something leads.
    """

    def __init__(self, file: schema.File, vocabulary: Vocabulary, problems: Problems) -> None:
        self.file = file
        self.vocabulary = vocabulary
        self.problems = problems
        self.combat = CombatLowering(file, vocabulary, problems)
        self.endings_used: set[str] = set()
        self.whenever = tuple(
            book.Whenever(
                vocabulary.formula(rule.when, ("whenever", place, "when")),
                self.ending(rule.ending, ("whenever", place, "ending")),
            )
            for place, rule in enumerate(file.whenever)
        )

    def ending(self, name: str, path: Path) -> str:
        """The name of an ending, which there should be."""
        endings = self.file.endings
        if name not in endings:
            self.problems.add(path, f"there is no ending {name!r}", similar(name, endings))
        self.endings_used.add(name)
        return name

    def ending_of_the_fallen(self, health: str) -> str | None:
        """The ending that ``whenever`` has for a hero whose `health` is 0, whatever else is."""
        for rule in self.whenever:
            if names(rule.condition) == {health} and evaluate(rule.condition, {health: 0}):
                return rule.ending
        return None
