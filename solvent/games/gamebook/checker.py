"""Checks of a whole book: that there is always a way on, and never one back.

Sections lead to sections. Where they lead in circles a book has no end, and where nothing leads to
a section it need not have been written. Within a section a branch, or choices, must leave the
player somewhere whatever the state, and a random table must have a row for whatever falls.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from solvent.games.gamebook.book import Block, Book, Cases, Choices, Roll, RollRow
from solvent.games.gamebook.conditions import Conditions
from solvent.games.gamebook.expressions import (
    OPERATORS,
    Dice,
    Expression,
    Name,
    Number,
    Operation,
    bounds,
    distribution,
    names,
    text_of,
)
from solvent.games.gamebook.lowering.combat import range_text
from solvent.games.gamebook.problems import Problems

LONGEST_CYCLE_SHOWN = 12

MOST_PAIRS = 200_000
"""Of values that are combined; where there are more, all whole numbers between the ends count."""


def check_whole(book: Book, problems: Problems) -> None:
    """Note what is wrong with a book beyond its single parts."""
    conditions = Conditions(book)
    # What stands in for faulty conditions and dice would only give rise to more faults.
    faulty = {problem.section for problem in problems.found if problem.severity == "error"}
    for section in book.sections.values():
        for block in section.blocks if section.number not in faulty else ():
            match block.exit:
                case Cases():
                    _check_branch(block, block.exit, conditions, problems)
                case Choices():
                    _check_choices(block, block.exit, conditions, problems)
                case Roll():
                    _check_roll(book, block, block.exit, problems)
    targets = {number: book.targets(number) for number in book.sections}
    leads_to = {
        number: [target for target in there if target in book.sections]
        for number, there in targets.items()
    }
    # While something leads nowhere, what else it should have led to is not known.
    if all(len(leads_to[number]) == len(there) for number, there in targets.items()):
        _check_reachable(book, leads_to, problems)
    _check_cycles(book, leads_to, problems)


def _check_reachable(book: Book, leads_to: Mapping[int, Sequence[int]], problems: Problems) -> None:
    seen = {book.start}
    open_ = [book.start]
    while open_:
        for target in leads_to.get(open_.pop(), ()):
            if target not in seen:
                seen.add(target)
                open_.append(target)
    for number, section in book.sections.items():
        if number not in seen:
            problems.add_at(
                section.line,
                number,
                f"section {number} cannot be reached",
                f"let something lead to it from section {book.start} on, or remove it",
                "warning",
            )


def _check_cycles(book: Book, leads_to: Mapping[int, Sequence[int]], problems: Problems) -> None:
    """Name one shortest circle through each section that begins a group of circles."""
    for component in _components(leads_to):
        first = min(component)
        if len(component) == 1 and first not in leads_to[first]:
            continue
        circle = _circle(first, set(component), leads_to)
        shown = " → ".join(map(str, circle[:LONGEST_CYCLE_SHOWN]))
        if len(circle) > LONGEST_CYCLE_SHOWN:
            shown += f" → ... ({len(circle) - 1} sections)"
        [block, *_] = [
            block
            for block in book.sections[first].blocks
            if getattr(block.exit, "section", None) == circle[1]
        ]
        problems.add_at(
            block.exit_line,
            first,
            f"the sections lead in a circle: {shown}",
            "no section may be read twice; use shop or repeat, or copy what is common",
        )


def _components(leads_to: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The strongly connected components."""
    place = {number: i for i, number in enumerate(leads_to)}
    edges = [(place[number], place[target]) for number in leads_to for target in leads_to[number]]
    start, end = np.array(edges, int).reshape(-1, 2).T
    graph = csr_array((np.ones(len(edges)), (start, end)), shape=(len(place), len(place)))
    count, label = connected_components(graph, connection="strong")
    components: list[list[int]] = [[] for _ in range(count)]
    for number, component in zip(leads_to, label.tolist(), strict=True):
        components[component].append(number)
    return components


def _circle(start: int, inside: set[int], leads_to: Mapping[int, Sequence[int]]) -> list[int]:
    """A shortest way from a section back to itself."""
    came_from: dict[int, int] = {}
    open_ = deque([start])
    while True:
        node = open_.popleft()
        for target in leads_to[node]:
            if target == start:
                way = [start]
                while node != start:
                    way.append(node)
                    node = came_from[node]
                return [start, *way[:0:-1], start]
            if target in inside and target not in came_from:
                came_from[target] = node
                open_.append(target)


def _check_branch(block: Block, branch: Cases, conditions: Conditions, problems: Problems) -> None:
    cases = branch.cases
    verdict = conditions.look_at([case.condition for case in cases])
    if not verdict.decided:
        problems.add_at(
            block.exit_line,
            block.section,
            "the conditions of the branch have too many values to look at all",
            "end the branch with a case without when",
            "warning",
        )
        return
    if verdict.gap is not None:
        problems.add_at(
            block.exit_line,
            block.section,
            f"no case of the branch applies{_with(verdict.gap)}",
            "end the branch with a case without when",
        )
    for place in verdict.never:
        problems.add_at(
            cases[place].block.line,
            block.section,
            f"the case {text_of(cases[place].condition)} can never apply",
            "correct it, or remove it",
            "warning",
        )
    for first, second, example in verdict.overlaps:
        problems.add_at(
            cases[second].block.line,
            block.section,
            f"the conditions {text_of(cases[first].condition)} and "
            f"{text_of(cases[second].condition)} hold both{_with(example)}, and the first applies",
            "let only one of them hold, or make the last case the otherwise",
            "warning",
        )


def _check_choices(
    block: Block, choices: Choices, conditions: Conditions, problems: Problems
) -> None:
    options = choices.options
    verdict = conditions.look_at([option.condition for option in options])
    if not verdict.decided:
        problems.add_at(
            block.exit_line,
            block.section,
            "the conditions of the choices have too many values to look at all",
            "offer one choice without when",
            "warning",
        )
    elif verdict.gap is not None:
        problems.add_at(
            block.exit_line,
            block.section,
            f"there is nothing to choose{_with(verdict.gap)}",
            "offer one choice without when, or branch before",
        )
    for place in verdict.never:
        problems.add_at(
            options[place].block.line,
            block.section,
            f"the choice {options[place].text!r} is never offered",
            "correct its when, or remove it",
            "warning",
        )


def _with(example: str) -> str:
    return f" with {example}" if example else ""


def _check_roll(book: Book, block: Block, roll: Roll, problems: Problems) -> None:
    rows = sorted(roll.rows, key=lambda row: (row.low is not None, row.low or 0))
    for row, following in pairwise(rows):
        if row.high is None or following.low is None or following.low <= row.high:
            problems.add_at(
                following.block.line,
                block.section,
                f"the rows {range_text(row.low, row.high)} and "
                f"{range_text(following.low, following.high)} of the table overlap",
                "let every result stand in one row only",
            )
            return
    ranges = {field.name: (field.low, field.high) for field in book.fields}
    results = possible_results(roll.dice, ranges)
    missing = _missing(rows, results)
    if missing:
        message = f"the table has no row for {_some(missing)}"
        if not names(roll.dice):
            falls = distribution(roll.dice, {})
            total = 1 - sum((falls[result] for result in missing), Fraction(0))
            message += f": the probabilities of its rows sum to {total}"
        problems.add_at(block.exit_line, block.section, message, "add rows, or widen one")
    for row in rows:
        if not _within(results, row.low, row.high):
            problems.add_at(
                row.block.line,
                block.section,
                f"the row {range_text(row.low, row.high)} can never apply",
                "correct it, or remove it",
                "warning",
            )


def _missing(rows: Sequence[RollRow], results: Sequence[int]) -> list[int]:
    """The results, ascending, that stand in none of the rows, which ascend too."""
    if not rows:
        return list(results[:1])
    # Between the rows, before the first, and after the last; None: without limit.
    gaps = [(row.high, after.low) for row, after in pairwise(rows)]
    gaps = [(None, rows[0].low), *gaps, (rows[-1].high, None)]
    if rows[0].low is None:
        del gaps[0]
    if rows[-1].high is None:
        del gaps[-1]
    return [
        result
        for low, high in gaps
        for result in _within(
            results, None if low is None else low + 1, None if high is None else high - 1
        )
    ]


def _within(results: Sequence[int], low: int | None, high: int | None) -> Sequence[int]:
    """Those of ascending numbers that are in a range."""
    first = 0 if low is None else bisect_left(results, low)
    last = len(results) if high is None else bisect_right(results, high)
    return results[first:last]


def _some(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"


def possible_results(
    expression: Expression, ranges: Mapping[str, tuple[int, int]]
) -> Sequence[int]:
    """The numbers that can come out, ascending.

    Parts are taken to be independent, so that of an expression in which a name stands twice some
    numbers may be given that it cannot be.

    Args:
        expression: With or without dice.
        ranges: Least and largest value of every name.
    """
    match expression:
        case Number(value):
            return (value,)
        case Name(name):
            low, high = ranges[name]
            return range(low, high + 1)
        case Dice(count, sides, first):
            return range(count * first, count * (first + sides - 1) + 1)
    assert isinstance(expression, Operation)
    parts = [possible_results(operand, ranges) for operand in expression.operands]
    pairs = 1
    for part in parts:
        pairs *= len(part)
    if pairs > MOST_PAIRS:
        low, high = bounds(expression, ranges)
        return range(low, high + 1)
    apply = OPERATORS[expression.operator]
    return sorted({apply(*values) for values in product(*parts)})
