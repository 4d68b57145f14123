"""Checks of a whole book: that there is always a way on, and never one back.

Sections lead to sections. Where they lead in circles a book has no end, and where nothing leads to
a section it need not have been written. Within a section a branch, or choices, must leave the
player somewhere whatever the state, and a random table must have a row for whatever falls.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product
from typing import TypeAlias

from solvent.games.gamebook.book import CHANCE, Book, Branch, Chances, Node, Options, Roll
from solvent.games.gamebook.conditions import Verdict, look_at
from solvent.games.gamebook.expressions import (
    OPERATORS,
    Dice,
    Expression,
    bounds,
    distribution,
    names,
)
from solvent.games.gamebook.problems import Severity
from solvent.games.gamebook.values import Path

LONGEST_CYCLE_SHOWN = 12

MOST_PAIRS = 200_000
"""Largest number of combined values; beyond it, all integers between the ends count."""

Found: TypeAlias = tuple[Path, str, Severity]
"""A path in the file, a message with a cure, and the severity."""

Written: TypeAlias = Callable[[Path], object]
"""A function that returns the data in the file at a path."""


def check_whole(book: Book, used: Collection[str], written: Written) -> Iterator[Found]:
    """Find the faults of a book beyond those of its single parts.

    Args:
        book: The book.
        used: The names on which a part of the book depends.
        written: Returns the content of the file at a path.
    """
    yield from _unused(book, used)
    verdict_on = cache(partial(look_at, book))
    for node in book.nodes.values():
        yield from _check_repeat(book, node)
        match node.exit:
            case Options():
                yield from _check_options(node, verdict_on, written)
            case Roll():
                yield from _check_roll(book, node, node.exit)
    yield from _check_order(book)


def _unused(book: Book, used: Collection[str]) -> Iterator[Found]:
    for kind, name, path in book.declared():
        if name not in used:
            yield path, f"nothing depends on the {kind} {name!r}; remove it", "warning"
    for name in book.slots:
        if not book.members[name]:
            message = f"nothing depends on the slot {name!r}; remove it, or let items be carried"
            yield ("slots", name), f"{message} there", "warning"
    for name in book.endings:
        if f"ending {name}" not in used:
            yield ("endings", name), f"nothing leads to the ending {name!r}; remove it", "warning"


def _check_repeat(book: Book, node: Node) -> Iterator[Found]:
    """Check that ``repeat`` and ``again`` match, with only chance between them."""
    path = (*node.path, node.block.way_on)
    if node.block.again and not node.repeated:
        yield (
            path,
            "again has no repeat around it; put it inside one, with nothing between but branch, "
            "roll, chances and check",
            "error",
        )
    if node.block.repeat is None:
        return
    if node.repeated:
        yield path, "a repeat stands in another; use two sections", "error"
    section, index = node.place
    inside = [book.nodes[section, i].block for i in range(index + 1, node.end)]
    if all(block.again or block.way_on in CHANCE for block in inside):
        yield path, "the repeat never ends; let something lead out of it", "error"
    if not any(block.again for block in inside):
        message = "nothing is repeated; say again somewhere, or leave repeat out"
        yield path, message, "warning"


def _check_order(book: Book) -> Iterator[Found]:
    """Check that every section can be reached, and none from itself."""
    for number in book.targets.keys() - set(book.in_order.sections):
        yield (
            ("sections", number),
            f"section {number} cannot be reached; let something lead to it from section "
            f"{book.start} on, or remove it",
            "warning",
        )
    for circle in book.in_order.circles:
        shown = " → ".join(map(str, circle[:LONGEST_CYCLE_SHOWN]))
        if len(circle) > LONGEST_CYCLE_SHOWN:
            shown += f" → ... ({len(circle) - 1} sections)"
        node = next(n for n in book.in_section(circle[-2]) if n.block.goto == circle[-1])
        yield (
            (*node.path, "goto"),
            f"the sections lead in a circle: {shown}; no section may be read twice, so use shop "
            "or repeat, or copy what is common",
            "error",
        )


def _check_options(
    node: Node, verdict_on: Callable[[tuple[Expression, ...]], Verdict | None], written: Written
) -> Iterator[Found]:
    """Check that a case always applies or a choice is always offered, and that each can be."""
    path = (*node.path, node.block.way_on)
    if isinstance(node.exit, Chances):
        return
    is_branch = isinstance(node.exit, Branch)
    verdict = verdict_on(tuple(option.when for option in node.exit.root))
    what, gap, open_ = (
        ("branch", "no case of the branch applies", "end the branch with a case")
        if is_branch
        else ("choices", "there is nothing to choose", "offer one choice")
    )
    if verdict is None:
        message = f"the conditions of the {what} have too many values to look at all"
        yield path, f"{message}; {open_} without when", "warning"
        return
    if verdict.gap is not None:
        yield path, f"{gap}{_with(verdict.gap)}; {open_} without when", "error"
    for place in verdict.never:
        option = written((*path, place, "when" if is_branch else "label"))
        does = "the case {!r} can never apply" if is_branch else "the choice {!r} is never offered"
        yield (*path, place), f"{does.format(option)}; correct it, or remove it", "warning"
    for first, second, example in verdict.overlaps if is_branch else ():
        both = " and ".join(str(written((*path, i, "when"))) for i in (first, second))
        yield (
            (*path, second),
            f"the conditions {both} hold both{_with(example)}, and the first applies; let only one "
            "of them hold, or make the last case the otherwise",
            "warning",
        )


def _with(example: str) -> str:
    return f" with {example}" if example else ""


def _check_roll(book: Book, node: Node, roll: Roll) -> Iterator[Found]:
    """Check that every result is in one row, and every row has a result."""
    path = (*node.path, "roll")
    least, most = -(10**12), 10**12
    rows = sorted(
        (least if low is None else low, most if high is None else high, key)
        for (low, high), key in zip(roll.rows, roll.results, strict=True)
    )
    for (_, end, before), (begin, _, after) in pairwise(rows):
        if begin <= end:
            message = f"the rows {before} and {after} of the table overlap"
            yield (*path, "results", after), f"{message}; let a result stand in one row", "error"
            return
    results = possible_results(roll.dice, book.ranges)
    places = [(bisect_left(results, low), bisect_right(results, high)) for low, high, _ in rows]
    # Where the results of one row end, those of the next should begin.
    gaps = [
        end
        for (_, end), (begin, _) in pairwise([(0, 0), *places, (len(results), 0)])
        if end < begin
    ]
    if gaps:
        message = f"the table has no row for {', '.join(str(results[gap]) for gap in gaps[:8])}"
        if not names(roll.dice):
            falls = distribution(roll.dice).items()
            total = sum((p for result, p in falls if roll.row(result) is not None), Fraction(0))
            message += f": the probabilities of its rows sum to {total}"
        yield path, f"{message}; add rows, or widen one", "error"
    for (begin, end), (_, _, key) in zip(places, rows, strict=True):
        if begin == end:
            message = f"the row {key} can never apply; correct it, or remove it"
            yield (*path, "results", key), message, "warning"


def possible_results(
    expression: Expression, ranges: Mapping[str, tuple[int, int]]
) -> Sequence[int]:
    """Return the possible values of an expression, ascending.

    Parts are treated as independent, so that an expression with a repeated name may yield some
    numbers that are not possible.

    Args:
        expression: The expression, with or without dice.
        ranges: The least and largest value of every name.
    """
    if isinstance(expression, (int, str, Dice)):
        low, high = bounds(expression, ranges)
        return range(low, high + 1)
    apply = OPERATORS[expression.operator]
    results, *others = (possible_results(operand, ranges) for operand in expression.operands)
    if not others:
        return sorted({apply(value) for value in results})
    for other in others:
        if len(results) * len(other) > MOST_PAIRS:
            low, high = bounds(expression, ranges)
            return range(low, high + 1)
        results = sorted({apply(a, b) for a, b in product(results, other)})
    return results
