"""A map of a gamebook as a policy reads it, from the first section on the left to the last.

A section stands one column to the right of the last of those that lead to it. In its column it
stands at about the height of these, which keeps lines short (K. Sugiyama, S. Tagawa and M. Toda,
"Methods for visual understanding of hierarchical system structures", 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import mean
from typing import cast

import numpy as np

from solvent.exact import Solution, state_visitation
from solvent.games.gamebook.book import Book
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints, grouped_sum
from solvent.model.text import small
from solvent.report.colours import VIRIDIS, shade

STEP = 26
"""Distance of columns and of places in them, in pixels."""

MARGIN = 16
SMALLEST, LARGEST = 3.0, 11.0
"""Radii of sections that are never and always reached."""

NUMBER = 8.0
"""Size of the numbers of sections; a dot that is large enough holds its own."""

BOW = 22.0
"""The bow of a line past one column, in pixels; it grows as the square root of the columns."""

SWEEPS = 8
"""Number of sweeps that order the columns."""


def book_map(game: Gamebook, table: TabularGame, solution: Solution) -> str:
    """The map as SVG.

    An optimal policy gives size and colour of a section, and the uniform policy the colour of
    sections that it avoids.

    Args:
        game: The book.
        table: The book as arrays.
        solution: The optimum.
    """
    book = game.book
    best = reading(game, table, solution.policies[0], solution.values)
    uniform = reading(game, table, TabularPolicy.uniform(table), solution.values)
    place = layout(book)
    width, height = (
        2 * MARGIN + (1 + max(ends)) * STEP for ends in zip(*place.values(), strict=True)
    )
    at = {
        n: (MARGIN + (column + 0.5) * STEP, MARGIN + (row + 0.5) * STEP)
        for n, (column, row) in place.items()
    }
    scores = [float(ending.score) for ending in book.endings.values()]
    low, span = min(scores), max(scores) - min(scores) or 1.0
    lines = [
        _line(at[n], at[t], place[t][0] - place[n][0], min(best.reached[n], best.reached[t]))
        for n in place
        for t in book.targets[n]
    ]
    dots = []
    for n, reached in best.reached.items():
        avoided = not reached > 0
        value = uniform.value[n] if avoided else best.value[n]
        share = (value - low) / span if value == value else 0.0
        title = f"{n} {book.sections[n].title}".rstrip()
        told = f"{escape(title)}: reached with probability {small(reached)}, value {value:z.4f}"
        dots.append(_dot(n, at[n], 0 if avoided else reached, share, told))
    return (
        f'<div class="scroll"><svg class="chart book-map" viewBox="0 0 {width} {height}" '
        f'role="img" style="min-width: {width}px; max-width: {1.6 * width:.0f}px">'
        f"<title>The sections of {escape(book.title)}</title>{''.join(lines)}{''.join(dots)}"
        "</svg></div>"
    )


def _dot(section: int, at: tuple[float, float], reached: float, share: float, title: str) -> str:
    """A section with its number: a dot, or a ring if it is never reached."""
    x, y = at
    avoided = not reached
    colour = shade(VIRIDIS, share)
    dot = f'fill="{colour}"'
    ring = f'style="fill: var(--paper)" stroke="{colour}" stroke-width="2"'
    radius = SMALLEST + (LARGEST - SMALLEST) * reached**0.5
    inside = not avoided and radius > 0.33 * NUMBER * len(str(section)) + 2
    ink = "#000" if share > 0.5 else "#fff"
    style = (
        f"fill: {ink}"
        if inside
        else "fill: var(--ink); stroke: var(--paper); stroke-width: 2.5px; paint-order: stroke"
    )
    below = NUMBER * 0.36 if inside else radius + NUMBER + 1
    # A hairline around the dot, as the darkest colours are lost on a dark page.
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius + avoided:.1f}" fill="none" '
        f'style="stroke: var(--dim)" stroke-width="0.8"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" '
        f'{ring if avoided else dot} data-section="{section}"><title>{title}</title></circle>'
        f'<text x="{x:.1f}" y="{y + below:.1f}" text-anchor="middle" pointer-events="none" '
        f'style="font-size: {NUMBER:g}px; {style}">{section}</text>'
    )


def _line(begin: tuple[float, float], end: tuple[float, float], columns: int, share: float) -> str:
    """Return a line to a later section, bowed around the columns between them."""
    (x, y), (to_x, to_y) = begin, end
    bow = BOW * (columns - 1) ** 0.5
    over_x, over_y = (x + to_x) / 2, (y + to_y) / 2 - bow
    return (
        f'<path d="M{x:.1f},{y:.1f} Q{over_x:.1f},{over_y:.1f} {to_x:.1f},{to_y:.1f}" '
        f'fill="none" stroke="#8f9aa3" stroke-width="{0.5 + 2.5 * share:.2f}"/>'
    )


def layout(book: Book) -> dict[int, tuple[int, int]]:
    """The column and the row of each section that can be reached."""
    order = book.in_order.sections
    before: dict[int, list[int]] = {n: [] for n in order}
    column = dict.fromkeys(order, 0)
    for n in order:
        for target in book.targets[n]:
            before[target].append(n)
            column[target] = max(column[target], column[n] + 1)
    members: list[list[int]] = [[] for _ in range(1 + max(column.values()))]
    for n in order:
        members[column[n]].append(n)
    row = {n: i for own in members for i, n in enumerate(own)}
    for sweep in range(SWEEPS):
        neighbours: Mapping[int, Sequence[int]] = book.targets if sweep % 2 else before
        for own in members:
            height = {
                n: mean(row[m] for m in neighbours[n]) if neighbours[n] else row[n] for n in own
            }
            own.sort(key=lambda n: (height[n], n))
            row |= {n: i for i, n in enumerate(own)}
    tallest = max(map(len, members))
    return {n: (column[n], row[n] + (tallest - len(own)) // 2) for own in members for n in own}


@dataclass(frozen=True, eq=False)
class Reading:
    """The course of an episode under a policy.

    Attributes:
        reached: The probability of reaching each section, by its number.
        value: The expected score from a section on under an optimal policy, over all ways in which
            the policy reaches it; NaN for sections that it does not reach.
        endings: The probability of each ending, by its name, in the book's order.
    """

    reached: dict[int, float]
    value: dict[int, float]
    endings: dict[str, float]


def reading(game: Gamebook, table: TabularGame, policy: TabularPolicy, best: Floats) -> Reading:
    """Compute the course of an episode under a policy.

    A section is read at most once, so the probability of reaching it is the sum over all outcomes
    that lead into it from elsewhere.

    Args:
        game: The book.
        table: The book as arrays.
        policy: The policy to examine.
        best: [S] the optimal values.
    """
    visits = state_visitation(table, policy)
    section = sections_of_states(table)
    weight = policy.probabilities[table.row_state, table.row_action[0]]
    flow = (visits[table.row_state] * weight)[table.outcome_row] * table.probability
    came_from = section[table.row_state][table.outcome_row]
    arriving = came_from != section[table.next_state]
    target, flow = table.next_state[arriving], flow[arriving]
    value = table.outcome_reward[arriving] + best[target]
    largest = int(section.max()) + 1
    reached = grouped_sum(section[target], flow, largest)
    total = grouped_sum(section[target], flow * value, largest)
    numbers = [number for number in game.story.liveness.sections if number]
    pages = cast(Sequence[Page], table.states)
    over = [(pages[s].ending, visits[s]) for s in np.flatnonzero(table.terminal).tolist()]
    return Reading(
        {n: float(reached[n]) for n in numbers},
        {n: float(total[n] / reached[n]) if reached[n] > 0 else float("nan") for n in numbers},
        {name: float(sum(p for end, p in over if end == name)) for name in game.book.endings},
    )


def sections_of_states(table: TabularGame) -> Ints:
    """The section of each state, [S]."""
    pages = cast(Sequence[Page], table.states)
    return np.fromiter((page.section for page in pages), np.int64, table.n_states)
