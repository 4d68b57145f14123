"""Checks of a whole book: that there is always a way on, and never one back.

Sections lead to sections. Where they lead in circles a book has no end, and where nothing leads to
a section it need not have been written. Within a section a branch, or choices, must leave the
player somewhere whatever the state, and a random table must have a row for whatever falls.

Conditions are examined for all values that names can have. They look at names through comparisons,
so most values make no difference: where a name is only compared with numbers, one value stands for
all between two of these numbers. The values that are left are combined, and every condition is
evaluated for all combinations at once, without those that no state can have: more items than a
slot holds, and more or fewer disciplines than are picked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, pairwise, product, starmap
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import CHANCE, Book, Branch, Chances, Node, Options, Roll
from solvent.games.gamebook.expressions import (
    LOGICAL,
    OPERATORS,
    Dice,
    Expression,
    Operation,
    bounds,
    distribution,
    evaluate,
    names,
)
from solvent.games.gamebook.hero import Hero
from solvent.games.gamebook.values import Path, Severity

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
        return sorted(set(map(apply, results)))
    for other in others:
        if len(results) * len(other) > MOST_PAIRS:
            low, high = bounds(expression, ranges)
            return range(low, high + 1)
        results = sorted(set(starmap(apply, product(results, other))))
    return results


MOST_COMBINATIONS = 200_000
"""Largest number of combinations of values that are examined; beyond it, there is no verdict."""

MOST_NAMES = 24
"""Largest number of names in the conditions that are examined together."""


class Verdict(NamedTuple):
    """The gaps and overlaps of several conditions.

    Attributes:
        gap: Values for which no condition holds, as text; None if one always does.
        never: Indices of conditions that never hold.
        overlaps: Pairs of conditions that can hold at once, each with values, as text. Conditions
            that always hold are left out.
    """

    gap: str | None
    never: list[int]
    overlaps: list[tuple[int, int, str]]


def look_at(hero: Hero, conditions: Sequence[Expression]) -> Verdict | None:
    """Return the verdict on conditions; None if there are too many values to examine.

    Args:
        hero: The fields that bound the values.
        conditions: The conditions, in their order.
    """
    axes = _axes(hero, conditions)
    if axes is None:
        return None
    shape = tuple(len(values) for values in axes.values())
    values: dict[str, NDArray[np.int64]] = {}
    for place, (name, points) in enumerate(axes.items()):
        values[name] = np.array(points, np.int64).reshape(
            [-1 if place == axis else 1 for axis in range(len(axes))]
        )
    possible = _possible(hero, values, shape)
    holds = [
        np.broadcast_to(np.asarray(evaluate(condition, values)) != 0, shape) & possible
        for condition in conditions
    ]

    def example(where: NDArray[np.bool_]) -> str:
        at = np.unravel_index(int(np.argmax(where)), shape)
        return ", ".join(
            f"{name} = {points[i]}" for (name, points), i in zip(axes.items(), at, strict=True)
        )

    none = possible & ~np.logical_or.reduce(holds)
    some = [i for i, h in enumerate(holds) if not np.array_equal(h, possible)]
    overlaps = [
        (first, second, example(holds[first] & holds[second]))
        for first, second in combinations(some, 2)
        if np.any(holds[first] & holds[second])
    ]
    never = [i for i, h in enumerate(holds) if not np.any(h)]
    return Verdict(example(none) if np.any(none) else None, never, overlaps)


def _axes(hero: Hero, conditions: Sequence[Expression]) -> dict[str, list[int]] | None:
    """Return the values to examine for each name; None if there are too many."""
    axes: dict[str, list[int]] = {}
    for name in sorted(set().union(*map(names, conditions))):
        low, high = hero.ranges[name]
        cuts = [cut for condition in conditions for cut in _cuts(condition, name)]
        if None in cuts:
            if high - low >= MOST_COMBINATIONS:
                return None
            axes[name] = list(range(low, high + 1))
        else:
            # A number, and what lies just above it, begin new classes of values.
            starts = {low, *(c + d for c in cuts if c is not None for d in (0, 1))}
            axes[name] = sorted(point for point in starts if low <= point <= high)
    number = prod(len(points) for points in axes.values())
    if len(axes) > MOST_NAMES or number > MOST_COMBINATIONS:
        return None
    return axes


def _possible(
    hero: Hero, values: Mapping[str, NDArray[np.int64]], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return whether each combination is possible in some state."""
    result = np.ones(shape, np.bool_)
    carried: dict[str, Any] = {}
    for name, numbers in values.items():
        slot = hero.fields[name].slot
        if slot:
            carried[slot] = carried.get(slot, 0) + numbers
    for slot, number in carried.items():
        result &= number <= hero.slots[slot].capacity
    asked = [name for name in hero.picked if name in values]
    if asked:
        picked = sum(values[name] for name in asked)
        count, others = hero.disciplines.pick, len(hero.picked) - len(asked)
        result &= (picked <= count) & (picked >= count - others)
    return result


def _cuts(expression: Expression, name: str) -> Iterator[int | None]:
    """Return the numbers with which a name is compared; None if it has another use."""
    match expression:
        case str() if expression == name:
            yield 0  # Standing alone it is compared with 0.
        case Operation("and" | "or" | "not", operands):
            for operand in operands:
                yield from _cuts(operand, name)
        case Operation(operator, (left, right)) if operator in LOGICAL and left == name:
            yield None if names(right) else bounds(right, {})[0]
        case Operation() if name in names(expression):
            yield None
