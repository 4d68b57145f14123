"""From a file's models to a :class:`~solvent.games.gamebook.book.Book`, with every name looked up.

What the format offers for convenience (several kinds of effects, ``count`` and ``room``, shops)
is put here in terms of what the machine knows.
"""

from __future__ import annotations

from solvent.games.gamebook import book, schema
from solvent.games.gamebook.lowering.blocks import SectionLowering
from solvent.games.gamebook.lowering.context import LoweringContext
from solvent.games.gamebook.lowering.vocabulary import Vocabulary
from solvent.games.gamebook.problems import Problems


def lower(file: schema.File, problems: Problems, digest: str) -> book.Book:
    """The book that a file describes; faults are noted and leave something harmless behind.

    Args:
        file: What the file says.
        problems: Where faults are noted.
        digest: Of the file's content.
    """
    vocabulary = Vocabulary(file, problems)
    context = LoweringContext(file, vocabulary, problems)
    sections = {
        number: SectionLowering(number, context).lower(section)
        for number, section in sorted(file.sections.items())
    }
    if file.start not in file.sections:
        problems.add(("start",), f"there is no section {file.start}", "start in one there is")
    if not 0 <= file.checks.c <= 100:
        problems.add(("checks", "c"), f"c is {file.checks.c}", "it should be within 0..100")
    for kind, name, path in vocabulary.unused():
        cure = "remove it" if kind != "slot" else "remove it, or let items be carried there"
        problems.add(path, f"nothing depends on the {kind} {name!r}", cure, "warning")
    for name in file.endings:
        if name not in context.endings_used:
            problems.add(
                ("endings", name), f"nothing leads to the ending {name!r}", "remove it", "warning"
            )
    return book.Book(
        title=file.title,
        author=file.author,
        start=file.start,
        fields=tuple(vocabulary.fields.values()),
        slots=vocabulary.slots,
        picks=vocabulary.picks,
        whenever=context.whenever,
        endings={
            name: book.Ending(name, ending.score, ending.text)
            for name, ending in file.endings.items()
        },
        sections=sections,
        c=file.checks.c,
        denominator=file.checks.denominator,
        digest=digest,
    )
