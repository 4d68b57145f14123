"""Checks of a whole book: that there is always a way on, and never one back.

Sections lead to sections. Where they lead in circles a book has no end, and where nothing leads to
a section it need not have been written. Within a section a branch, or choices, must leave the
player somewhere whatever the state, and a random table must have a row for each number from the
least to the largest result.

Conditions are examined for all values that names can have; where these are too many, for the
numbers that stand in the conditions, those beside them, and the largest and smallest values. The
values are combined, and every condition is evaluated for all combinations at once, without those
that no state can have: more items than a slot holds, and more or fewer disciplines than are picked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import prod
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import CHANCE, Book, PlacedBlock, Roll
from solvent.games.gamebook.effects import Liveness
from solvent.games.gamebook.expressions import Expression, bounds, evaluate, names, parts_of
from solvent.games.gamebook.hero import Hero, Path

Severity: TypeAlias = Literal["error", "warning"]

Found: TypeAlias = tuple[Path, str, Severity]
"""A path in the file, a message with a cure, and the severity."""

Written: TypeAlias = Callable[[Path], object]
"""A function that returns the data in the file at a path."""


class Verdict(NamedTuple):
    """The gaps and overlaps of several conditions.

    Attributes:
        gap: Values for which no condition holds, such as ``" with gold = 3"``; None if one always
            does.
        never: Indices of conditions that never hold.
        always: Indices of conditions that always hold.
        overlaps: Pairs of conditions that can hold at once, each with values as in `gap`.
    """

    gap: str | None
    never: list[int]
    always: set[int]
    overlaps: list[tuple[int, int, str]]


def check_whole(book: Book, written: Written) -> Iterator[Found]:
    """Find the faults of a book beyond those of its single parts.

    Args:
        book: The book.
        written: Returns the content of the file at a path.
    """
    yield from _unused(book)

    @cache
    def verdict_on(conditions: tuple[Expression, ...]) -> Verdict | None:
        return look_at(book, conditions)

    for node in book.nodes.values():
        yield from _check_repeat(book, node)
        if isinstance(node.exit, Roll):
            yield from _check_rows(book, node)
        elif node.block.way_on in _CASES:
            yield from _check_cases(node, verdict_on, written)
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


# Findings on gaps, on cases that never apply, and on overlaps.
_CASES = {
    "branch": (
        "no case of the branch applies{}; end the branch with a case without when",
        "the case {!r} can never apply; correct it, or remove it",
        "the conditions {} and {} hold both{}, and the first applies; let only one of them hold, "
        "or make the last case the otherwise",
    ),
    "choices": (
        "there is nothing to choose{}; offer one choice without when",
        "the choice {!r} is never offered; correct it, or remove it",
        "",
    ),
}


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


def _check_cases(
    node: PlacedBlock,
    verdict_on: Callable[[tuple[Expression, ...]], Verdict | None],
    written: Written,
) -> Iterator[Found]:
    """Check that a case always applies or a choice is always offered, and that each can be."""
    way = node.block.way_on
    path, (gap, never, overlap) = (*node.path, way), _CASES[way]
    key = "when" if way == "branch" else "label"
    shown = [written((*inner.path, key)) for inner in node.inner]
    verdict = verdict_on(tuple(option.when for option in node.exit))
    if verdict is None:
        message = f"the conditions of the {way} have too many values to look at all"
        yield path, f"{message}; see to it that one always holds", "warning"
        return
    if verdict.gap is not None:
        yield path, gap.format(verdict.gap), "error"
    for i in verdict.never:
        yield node.inner[i].path, never.format(shown[i]), "warning"
    for first, second, example in verdict.overlaps if overlap else ():
        if not verdict.always & {first, second}:
            message = overlap.format(shown[first], shown[second], example)
            yield node.inner[second].path, message, "warning"


# Largest number of combinations of values that are examined; beyond it, there is no verdict.
_MOST_COMBINATIONS = 200_000

# Largest number of names in the conditions that are examined together.
_MOST_NAMES = 24


def look_at(hero: Hero, conditions: Sequence[Expression]) -> Verdict | None:
    """Return the verdict on conditions; None if there are too many values to examine.

    Args:
        hero: The fields that bound the values.
        conditions: The conditions, in their order.
    """
    axes = _axes(hero.ranges, conditions)
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
        each = [f"{name} = {axes[name][int(i)]}" for name, i in zip(axes, at, strict=True)]
        return f" with {', '.join(each)}" if each else ""

    none = possible & ~np.logical_or.reduce(holds)
    always = {i for i, h in enumerate(holds) if np.array_equal(h, possible)}
    several = sum(h.astype(np.int32) for h in holds) > 1
    pairs = combinations(range(len(holds)), 2) if np.any(several) else ()
    overlaps = [
        (first, second, example(holds[first] & holds[second]))
        for first, second in pairs
        if np.any(holds[first] & holds[second])
    ]
    never = [i for i, h in enumerate(holds) if not np.any(h)]
    return Verdict(example(none) if np.any(none) else None, never, always, overlaps)


def _axes(
    ranges: Mapping[str, tuple[int, int]], conditions: Sequence[Expression]
) -> dict[str, Sequence[int]] | None:
    """Return the values to examine for each name; None if there are too many."""
    most = min(_MOST_COMBINATIONS, 100 * _MOST_COMBINATIONS // len(conditions))
    used = sorted(frozenset().union(*map(names, conditions)))
    axes: dict[str, Sequence[int]] = {n: range(ranges[n][0], ranges[n][1] + 1) for n in used}
    if prod(map(len, axes.values())) > most:
        parts = {part for condition in conditions for part in parts_of(condition)}
        near = {n + d for n in parts if isinstance(n, int) for d in (-1, 0, 1)} | {0, 1}
        axes = {n: sorted({a[0], a[-1], *near.intersection(a)}) for n, a in axes.items()}
    return axes if prod(map(len, axes.values())) <= most and len(axes) <= _MOST_NAMES else None


def _possible(
    hero: Hero, values: Mapping[str, NDArray[np.int64]], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return whether each combination is possible in some state."""
    result = np.ones(shape, np.bool_)
    for slot, own in hero.slots.items():
        items = (name for name, field in hero.fields.items() if field.slot == slot)
        result &= sum(values[name] for name in items if name in values) <= own.capacity
    asked = [name for name in hero.picked if name in values]
    if asked:
        picked = sum(values[name] for name in asked)
        count, others = hero.disciplines.pick, len(hero.picked) - len(asked)
        result &= (picked <= count) & (picked >= count - others)
    return result
