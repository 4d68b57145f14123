"""A map of a gamebook: its sections from the first on the left to the last on the right.

A section stands one column to the right of the last of those that lead to it. In its column it
stands at about the height of these, which keeps lines short (K. Sugiyama, S. Tagawa and M. Toda,
"Methods for visual understanding of hierarchical system structures", 1981).
"""

from __future__ import annotations

from html import escape
from statistics import mean

from solvent.games.gamebook.book import Book
from solvent.games.gamebook.report_reading import Reading
from solvent.model.text import small
from solvent.report.colours import VIRIDIS, shade

STEP = (26, 26)
"""Distance of columns and of places in them, in pixels."""

MARGIN = 16
SMALLEST, LARGEST = 3.0, 11.0
"""Radii of sections that are never and always reached."""

NUMBER = 8.0
"""Size of the numbers of sections; a dot that is large enough holds its own."""

BOW = 22.0
"""How far a line past one column is bowed, in pixels; past more it grows as the square root."""

SWEEPS = 8
"""How often the columns are put in order."""


def book_map(book: Book, order: tuple[int, ...], best: Reading, uniform: Reading) -> str:
    """The map as SVG.

    Args:
        book: The book.
        order: Its sections, each before all that it leads to.
        best: How an optimal policy reads it; gives size and colour.
        uniform: How the uniform policy reads it; gives the colour of sections that an optimal one
            avoids.
    """
    place = layout(book, order)
    columns = 1 + max(column for column, _ in place.values())
    rows = 1 + max(row for _, row in place.values())
    width, height = 2 * MARGIN + columns * STEP[0], 2 * MARGIN + rows * STEP[1]
    at = {
        n: (MARGIN + (column + 0.5) * STEP[0], MARGIN + (row + 0.5) * STEP[1])
        for n, (column, row) in place.items()
    }
    scores = [float(ending.score) for ending in book.endings.values()]
    low, span = min(scores), max(scores) - min(scores) or 1.0
    lines = [
        _line(at[n], at[t], place[t][0] - place[n][0], min(best.reached[n], best.reached[t]))
        for n in order
        for t in dict.fromkeys(book.targets(n))
    ]
    dots = []
    for n in order:
        reached = best.reached[n]
        avoided = not reached > 0
        value = uniform.value[n] if avoided else best.value[n]
        share = (value - low) / span if value == value else 0.0
        colour = shade(VIRIDIS, share)
        fill = (
            f'style="fill: var(--paper)" stroke="{colour}" stroke-width="2"'
            if avoided
            else f'fill="{colour}"'
        )
        radius = SMALLEST + (LARGEST - SMALLEST) * reached**0.5
        # A hairline around it, as the darkest colours are lost on a dark page.
        dots.append(
            f'<circle cx="{at[n][0]:.1f}" cy="{at[n][1]:.1f}" r="{radius + avoided:.1f}" '
            f'fill="none" style="stroke: var(--dim)" stroke-width="0.8"/>'
        )
        title = f" {book.sections[n].title}" if book.sections[n].title else ""
        dots.append(
            f'<circle cx="{at[n][0]:.1f}" cy="{at[n][1]:.1f}" r="{radius:.1f}" {fill} '
            f'data-section="{n}"><title>{n}{escape(title)}: reached with probability '
            f"{small(reached)}, value {value:z.4f}</title></circle>"
            f"{_number(n, at[n], 0 if avoided else radius, share)}"
        )
    return (
        f'<div class="scroll"><svg class="chart book-map" viewBox="0 0 {width} {height}" '
        f'role="img" style="min-width: {width}px; max-width: {1.6 * width:.0f}px">'
        f"<title>The sections of {escape(book.title)}</title>{''.join(lines)}{''.join(dots)}"
        "</svg></div>"
    )


def _number(section: int, at: tuple[float, float], radius: float, share: float) -> str:
    """A section's number, in its dot or below it."""
    x, y = at
    inside = radius > 0.33 * NUMBER * len(str(section)) + 2
    ink = "#000" if share > 0.5 else "#fff"
    style = (
        f"fill: {ink}"
        if inside
        else "fill: var(--ink); stroke: var(--paper); stroke-width: 2.5px; paint-order: stroke"
    )
    below = NUMBER * 0.36 if inside else max(radius, SMALLEST) + NUMBER + 1
    return (
        f'<text x="{x:.1f}" y="{y + below:.1f}" text-anchor="middle" pointer-events="none" '
        f'style="font-size: {NUMBER:g}px; {style}">{section}</text>'
    )


def _line(begin: tuple[float, float], end: tuple[float, float], columns: int, share: float) -> str:
    """A line to a later section; one past other columns is bowed, so as not to hide behind them."""
    (x, y), (to_x, to_y) = begin, end
    bow = BOW * (columns - 1) ** 0.5
    over_x, over_y = (x + to_x) / 2, (y + to_y) / 2 - bow
    return (
        f'<path d="M{x:.1f},{y:.1f} Q{over_x:.1f},{over_y:.1f} {to_x:.1f},{to_y:.1f}" '
        f'fill="none" stroke="#8f9aa3" stroke-width="{0.5 + 2.5 * share:.2f}"/>'
    )


def layout(book: Book, order: tuple[int, ...]) -> dict[int, tuple[int, int]]:
    """Column and row of each section.

    Args:
        book: The book.
        order: Its sections, each before all that it leads to.
    """
    before: dict[int, list[int]] = {n: [] for n in order}
    column = dict.fromkeys(order, 0)
    for n in order:
        for target in dict.fromkeys(book.targets(n)):
            before[target].append(n)
            column[target] = max(column[target], column[n] + 1)
    members: list[list[int]] = [[] for _ in range(1 + max(column.values()))]
    for n in order:
        members[column[n]].append(n)
    row = {n: i for own in members for i, n in enumerate(own)}
    after = {n: list(dict.fromkeys(book.targets(n))) for n in order}
    for sweep in range(SWEEPS):
        neighbours = after if sweep % 2 else before
        for own in members:
            height = {
                n: mean(row[m] for m in neighbours[n]) if neighbours[n] else row[n] for n in own
            }
            own.sort(key=lambda n: (height[n], n))
            row |= {n: i for i, n in enumerate(own)}
    tallest = max(map(len, members))
    return {n: (column[n], row[n] + (tallest - len(own)) // 2) for own in members for n in own}
