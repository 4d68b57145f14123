"""Checks of a whole book: that there is always a way on, and never one back.

Sections lead to sections. Where they lead in circles a book has no end, and where nothing leads to
a section it need not have been written. Within a section a random table must have a row for each
number from the least to the largest result, and the conditions of a branch should not overlap.

Conditions are examined for all combinations of the values that names can have, if these are not
too many, without those that no state can have: more items than a slot holds, and more or fewer
disciplines than are picked.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import CHANCE, Book, PlacedBlock, Roll
from solvent.games.gamebook.effects import Liveness
from solvent.games.gamebook.expressions import Expression, bounds, evaluate, names
from solvent.games.gamebook.hero import Hero, Path

Severity: TypeAlias = Literal["error", "warning"]

Found: TypeAlias = tuple[Path, str, Severity]
"""A path in the file, a message with a cure, and the severity."""


def check_whole(book: Book) -> Iterator[Found]:
    """Find the faults of a book beyond those of its single parts."""
    yield from _unused(book)
    for node in book.nodes.values():
        yield from _check_repeat(book, node)
        if isinstance(node.exit, Roll):
            yield from _check_rows(book, node)
        elif node.block.branch:
            yield from _check_branch(book, node)
    yield from _check_order(book)


def _unused(book: Book) -> Iterator[Found]:
    if not book.in_order[1]:
        live = frozenset().union(*Liveness(book).before.values())
        for name, field in book.fields.items():
            if name not in live:
                message = f"nothing depends on the {field.kind} {name!r}; remove it"
                yield field.path, message, "warning"
    reached = {node.block.ending for node in book.nodes.values()}
    for name in book.endings.keys() - reached - {rule.ending for rule in book.whenever}:
        yield ("endings", name), f"nothing leads to the ending {name!r}; remove it", "warning"


def _check_repeat(book: Book, node: PlacedBlock) -> Iterator[Found]:
    """Check that ``repeat`` and ``again`` match, with only chance between them."""
    path = (*node.path, node.block.way_on)
    if node.block.again and not node.repeated:
        cure = f"put it inside one, with nothing between but {', '.join(CHANCE)}"
        yield path, f"again has no repeat around it; {cure}", "error"
    if node.block.repeat is None:
        return
    if node.repeated:
        yield path, "a repeat stands in another; use two sections", "error"
    section, index = node.place
    inside = [book.nodes[section, i].block for i in range(index + 1, node.end)]
    if all(block.again or block.way_on in CHANCE for block in inside):
        yield path, "the repeat never ends; let something lead out of it", "error"


def _check_order(book: Book) -> Iterator[Found]:
    """Check that every section can be reached, and none from itself."""
    sections, circles = book.in_order
    for number in book.targets.keys() - set(sections):
        message = f"section {number} cannot be reached; let something lead to it, or remove it"
        yield ("sections", number), message, "warning"
    for circle in circles:
        shown = " → ".join(map(str, circle))
        node = next(n for n in book.in_section(circle[-2]) if n.block.goto == circle[-1])
        cure = "no section may be read twice, so use shop or repeat, or copy what is common"
        message = f"the sections lead in a circle: {shown}; {cure}"
        yield (*node.path, "goto"), message, "error"


def _check_rows(book: Book, node: PlacedBlock) -> Iterator[Found]:
    """Check that the rows of a random table contain each number that can result, and once only."""
    least, most = bounds(node.exit.dice, book.ranges)
    path = (*node.path, "roll")
    rows = sorted(
        (least if low is None else low, most if high is None else high, inner.path)
        for (low, high), inner in zip(node.exit.results, node.inner, strict=True)
    )
    following, before = least, path
    for low, high, row in [*rows, (most + 1, most + 1, path)]:
        if row is not path and (high < least or low > most):
            yield row, f"the row {row[-1]} can never apply; correct it, or remove it", "warning"
            continue
        if low > following:
            yield path, f"the table has no row for {following}; add rows, or widen one", "error"
        elif low < following:
            message = f"the rows {before[-1]} and {row[-1]} of the table overlap at {low}"
            yield row, f"{message}; let a result stand in one row", "error"
        following, before = max(following, high + 1), row


def _check_branch(book: Book, node: PlacedBlock) -> Iterator[Found]:
    """Check that at most one condition of a branch holds."""
    found = overlap(book, [case.when for case in node.exit[:-1]])
    if found is not None:
        first, second, example = found
        message = f"the conditions of cases {first} and {second} both hold{example}"
        cure = "and the first applies; let only one of them hold"
        yield node.inner[second].path, f"{message}, {cure}", "warning"


# Largest number of combinations of values, times conditions, that are examined.
_MOST_EVALUATED = 2_000_000

# Largest number of names in the conditions that are examined together.
_MOST_NAMES = 24


def overlap(hero: Hero, conditions: Sequence[Expression]) -> tuple[int, int, str] | None:
    """Find two conditions that can hold at once; None if there are none, or too many values.

    Args:
        hero: The fields that bound the values.
        conditions: The conditions, in their order.

    Returns:
        The indices of two conditions, and values for which both hold, as ``" with gold = 3"``.
    """
    used = sorted(frozenset().union(*map(names, conditions)))
    ranges = [range(hero.ranges[name][0], hero.ranges[name][1] + 1) for name in used]
    size = prod(map(len, ranges))
    if not 0 < len(conditions) * size <= _MOST_EVALUATED or len(used) > _MOST_NAMES:
        return None
    grids = np.meshgrid(*ranges, indexing="ij")
    values = {name: grid.ravel() for name, grid in zip(used, grids, strict=True)}
    found = [np.broadcast_to(evaluate(c, values) != 0, size) for c in conditions]
    holds = np.array(found) & _possible(hero, values)
    several = holds.sum(axis=0) > 1
    if not several.any():
        return None
    at = int(several.argmax())
    first, second, *_ = np.flatnonzero(holds[:, at]).tolist()
    told = ", ".join(f"{name} = {numbers[at]}" for name, numbers in values.items())
    return first, second, f" with {told}" if told else ""


def _possible(hero: Hero, values: Mapping[str, NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Return whether each combination is possible in some state."""
    result = np.ones(1, np.bool_)
    for slot, own in hero.slots.items():
        carried = sum(values[item] for item in hero.members[slot] if item in values)
        result = result & (carried <= own.capacity)
    asked = [values[name] for name in hero.picked if name in values]
    most = hero.disciplines.pick
    return result & (sum(asked) <= most) & (sum(asked) >= most - len(hero.picked) + len(asked))
