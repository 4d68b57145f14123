"""A gamebook in the report and in the explorer: map, endings, and the decisions that matter.

On the map a section stands one column to the right of the last of those that lead to it, and at
about their height, which keeps lines short (K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual
understanding of hierarchical system structures", 1981).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from statistics import mean
from typing import cast

import numpy as np

from solvent.baselines import make_baseline
from solvent.exact import (
    Solution,
    SolvedGame,
    SolvedTable,
    optimal_occupancy,
    state_visitation,
)
from solvent.games.gamebook.book import Book
from solvent.games.gamebook.commands import account
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, grouped_sum
from solvent.model.text import exact, small
from solvent.report.colours import VIRIDIS, shade
from solvent.report.sections import Section
from solvent.report.solved import SolvedTask

MOST = 12
"""The number of decisions listed."""


MAP_TEXT = (
    "<p>Each dot is a section with its number, a line leads to a later one. The larger a dot, the "
    "likelier an optimal policy gets there; sections that it avoids are rings. The colour is the "
    "optimal value from there on, dark for the lowest score and bright for the highest: as the "
    "optimal policy gets there, or for a ring as the uniform one. Point at a dot for numbers.</p>"
)


def gamebook_sections(solved: SolvedTask) -> list[Section]:
    """Return the map of a book, its endings, and the decisions that matter."""
    game = cast(Gamebook, solved.game)
    return [
        Section(
            "The book from left to right",
            MAP_TEXT + book_map(game, solved.table, solved.solution),
        ),
        Section("How episodes end", _endings(game, solved)),
        Section("The most valuable decisions", _decisions(game, solved)),
    ]


def _endings(game: Gamebook, solved: SolvedTask) -> str:
    policies = {
        "optimal": solved.solution.policies[0],
        **{item.agent.name: item.policy for item in solved.agents},
        **{
            name: make_baseline(name, solved.table)
            for name in ("first-visit", "first-legal", "uniform")
        },
    }
    read = {
        name: reading(game, solved.table, policy, solved.solution.values).endings.values()
        for name, policy in policies.items()
    }
    rows = [[name, *(f"{p:.4f}" for p in endings)] for name, endings in read.items()]
    heads = [f"{name} ({ending.score})" for name, ending in game.book.endings.items()]
    return "<p>The probability of each ending, with its score.</p>" + _table(
        ["policy", *heads], rows, 1
    )


def _decisions(game: Gamebook, solved: SolvedTask) -> str:
    told = account(game, optimal_occupancy(solved.table, solved.solution), MOST)
    rows = []
    for decision in told["decisions"]:
        shares = ((words.rstrip("."), share) for words, share in decision["choices"].items())
        choices = [words if share == 1 else f"{words} {share:.0%}" for words, share in shares]
        numbers = small(decision["visits"]), exact(decision["stake"])
        rows.append([decision["place"], ", ".join(choices), *numbers])
    return (
        "<p>What an optimal policy would lose in an episode on average if it took the second best "
        "option at a decision, whatever the hero is and carries there.</p>"
        + _table(["decision", "optimal", "visits", "importance"], rows, 2)
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """A table whose first columns are texts and the others numbers."""
    kinds = [""] * texts + [' class="n"'] * (len(heads) - texts)

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="book"><thead><tr>{cells(heads, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def state_sections(solved: SolvedGame, state: Page, hints: bool) -> list[Section]:
    """The map of the book with the present section, if there is a table.

    Args:
        solved: The game.
        state: The page.
        hints: Whether optimal choices may be shown, as on the map.
    """
    if not (hints and isinstance(solved, SolvedTable)):
        return []
    here = f'[data-section="{state.section}"] {{ stroke: var(--costly); stroke-width: 3 }}'
    return [
        Section(
            "The map of the book",
            "<p>The larger a dot, the likelier an optimal policy gets there; the colour is the "
            "value from there on. The present section is ringed.</p>"
            f"<style>{here}</style>{_map(solved)}",
        )
    ]


@lru_cache(maxsize=2)
def _map(solved: SolvedTable) -> str:
    return book_map(cast(Gamebook, solved.game), solved.table, solved.solution)


STEP = 26
"""Distance of columns and of places in them, in pixels."""

MARGIN = 16
SMALLEST, LARGEST = 3.0, 11.0
"""Radii of sections that are never and always reached."""

NUMBER = 8.0
"""Size of the numbers of sections."""

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
    """A section with its number below: a dot, or a ring if it is never reached."""
    x, y = at
    colour = shade(VIRIDIS, share)
    radius = SMALLEST + (LARGEST - SMALLEST) * reached**0.5
    filled = f'fill="{colour}"' if reached else 'style="fill: var(--paper)"'
    # A hairline around the dot, as the darkest colours are lost on a dark page.
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius + 1:.1f}" fill="none" '
        f'style="stroke: var(--dim)" stroke-width="0.8"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {filled} stroke="{colour}" '
        f'stroke-width="2" data-section="{section}"><title>{title}</title></circle>'
        f'<text x="{x:.1f}" y="{y + radius + NUMBER + 1:.1f}" text-anchor="middle" '
        f'pointer-events="none" style="font-size: {NUMBER:g}px; fill: var(--ink); '
        f'stroke: var(--paper); stroke-width: 2.5px; paint-order: stroke">{section}</text>'
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
    pages = cast(Sequence[Page], table.states)
    section = np.fromiter((page.section for page in pages), np.int64, table.n_states)
    weight = policy.probabilities[table.row_state, table.row_action[0]]
    flow = (visits[table.row_state] * weight)[table.outcome_row] * table.probability
    came_from = section[table.row_state][table.outcome_row]
    arriving = came_from != section[table.next_state]
    target, flow = table.next_state[arriving], flow[arriving]
    value = table.outcome_reward[arriving] + best[target]
    largest = int(section.max()) + 1
    reached = grouped_sum(section[target], flow, largest)
    total = grouped_sum(section[target], flow * value, largest)
    numbers = [number for number in game.liveness.sections if number]
    over = [(pages[s].ending, visits[s]) for s in np.flatnonzero(table.terminal).tolist()]
    return Reading(
        {n: float(reached[n]) for n in numbers},
        {n: float(total[n] / reached[n]) if reached[n] > 0 else float("nan") for n in numbers},
        {name: float(sum(p for end, p in over if end == name)) for name in game.book.endings},
    )
