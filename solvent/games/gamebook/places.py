"""Where play can stop in a book, and in which order it gets there.

A *page* is a block on which play stops, so that there is something to read or to decide: the root
of a section, a block with a text of its own, and a block with choices or a shop. Other blocks are
passed through. Inside ``repeat`` play does not stop until it is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from solvent.games.gamebook.book import (
    Again,
    Block,
    Book,
    Cases,
    Chances,
    CheckInContext,
    Choices,
    Exit,
    FightingFantasyFight,
    Repeat,
    ResultsTableFight,
    Roll,
    Shop,
)


def inner_blocks(exit_: Exit) -> tuple[Block, ...]:
    """The blocks of the same section to which an exit leads."""
    match exit_:
        case Choices(options):
            return tuple(option.block for option in options)
        case Cases(cases):
            return tuple(case.block for case in cases)
        case Roll(_, rows):
            return tuple(row.block for row in rows)
        case Chances(chances):
            return tuple(chance.block for chance in chances)
        case CheckInContext():
            return exit_.success, exit_.failure
        case FightingFantasyFight() | ResultsTableFight():
            escape = () if exit_.escape is None else (exit_.escape.block,)
            return *escape, exit_.victory, exit_.defeat
        case Shop():
            return (exit_.leave,)
        case Repeat(block):
            return (block,)
    return ()


def sections_in_order(book: Book) -> tuple[int, ...]:
    """The sections that can be reached, each before all that it leads to.

    Raises:
        ValueError: If sections lead in a circle.
    """
    order: list[int] = []
    done: set[int] = set()
    path = [book.start]
    on_path = {book.start}
    waiting = [iter(book.targets(book.start))]
    while path:
        target = next(waiting[-1], None)
        if target is None:
            order.append(path.pop())
            waiting.pop()
            done.add(order[-1])
            on_path.discard(order[-1])
        elif target in on_path:
            raise ValueError(f"section {target} leads back to itself; see `solvent book check`")
        elif target not in done:
            path.append(target)
            on_path.add(target)
            waiting.append(iter(book.targets(target)))
    return tuple(reversed(order))


def pages(book: Book) -> frozenset[tuple[int, int]]:
    """The blocks on which play stops, by section and index."""
    found: set[tuple[int, int]] = set()
    for section in book.sections.values():
        repeating = {block.index for block in _repeating(section.blocks)}
        found.update(
            (section.number, block.index)
            for block in section.blocks
            if isinstance(block.exit, (Choices, Shop))
            or block.index == 0
            or (block.text and block.index not in repeating)
        )
    return frozenset(found)


def _repeating(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """The blocks between a ``repeat`` and its ``again`` or its end."""
    todo = list(
        chain.from_iterable(
            inner_blocks(block.exit) for block in blocks if isinstance(block.exit, Repeat)
        )
    )
    while todo:
        block = todo.pop()
        if isinstance(block.exit, (Cases, Roll, Chances, CheckInContext, Again)):
            yield block
            todo += inner_blocks(block.exit)
