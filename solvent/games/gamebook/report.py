"""A gamebook in the report and in the explorer: map, endings, and the decisions that matter.

On the map a section stands one column to the right of the last of those that lead to it, and at
about their height, which keeps lines short (K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual
understanding of hierarchical system structures", 1981).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import mean
from typing import Any, cast

import numpy as np

from solvent.baselines import make_baseline
from solvent.exact import SolvedGame, SolvedTable, optimal_occupancy, state_visitation
from solvent.games.gamebook.book import Book
from solvent.games.gamebook.commands import account
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, grouped_sum
from solvent.model.text import exact, small
from solvent.report.panel import VIRIDIS, shade
from solvent.report.sections import GamePages, Section, templates
from solvent.report.solved import SolvedTask

# The number of decisions listed.
_MOST = 12


def _macros() -> Any:
    return templates(__package__).get_template("report.html.j2").module


class GamebookPages(GamePages):
    """A gamebook's own sections: the map of the book, its endings, and its decisions."""

    def sections(self, solved: SolvedTask) -> list[Section]:
        game, table, solution = cast(Gamebook, solved.game), solved.table, solved.solution
        policies = {
            "optimal": solution.policies[0],
            **{item.agent.name: item.policies[0] for item in solved.agents},
            **{
                name: make_baseline(name, table)
                for name in ("first-visit", "first-legal", "uniform")
            },
        }
        heads = [f"{name} ({ending.score})" for name, ending in game.book.endings.items()]
        endings = {
            name: episode_course(game, table, policy, solution.values).endings.values()
            for name, policy in policies.items()
        }
        rows = [[name, *(f"{p:.4f}" for p in chances)] for name, chances in endings.items()]
        told = account(game, optimal_occupancy(table, solution), _MOST)
        decisions = []
        for decision in told["decisions"]:
            shares = ((words.rstrip("."), share) for words, share in decision["choices"].items())
            choices = [words if share == 1 else f"{words} {share:.0%}" for words, share in shares]
            numbers = small(decision["visits"]), exact(decision["stake"])
            decisions.append([decision["place"], ", ".join(choices), *numbers])
        macros = _macros()
        picture = book_map(game, table, solution.policies[0], solution.values)
        return [
            Section("The book from left to right", str(macros.whole_map(picture))),
            Section("How episodes end", str(macros.endings(["policy", *heads], rows))),
            Section("The most valuable decisions", str(macros.decisions(decisions))),
        ]

    def state_sections(self, solved: SolvedGame, state: Page, hints: bool) -> list[Section]:
        if not (hints and isinstance(solved, SolvedTable)):
            return []
        html = str(_macros().place_on_map(state.section, _map(solved)))
        return [Section("The map of the book", html)]


@lru_cache(maxsize=2)
def _map(solved: SolvedTable) -> Any:
    solution = solved.solution
    game = cast(Gamebook, solved.game)
    return book_map(game, solved.table, solution.policies[0], solution.values)


# Distance of columns and of places in them, in pixels.
_STEP = 26

MARGIN = 16
# Radii of sections that are never and always reached.
_SMALLEST, _LARGEST = 3.0, 11.0

# The bow of a line past one column, in pixels; it grows as the square root of the columns.
_BOW = 22.0


def book_map(game: Gamebook, table: TabularGame, policy: TabularPolicy, values: Floats) -> Any:
    """The map as SVG.

    An optimal policy gives size and colour of a section, and sections that it avoids are rings.

    Args:
        game: The book.
        table: The book as arrays.
        policy: An optimal policy.
        values: [S] the optimal values.
    """
    book, place = game.book, layout(game.book)
    best = episode_course(game, table, policy, values)
    scores = [float(ending.score) for ending in book.endings.values()]
    low, span = min(scores), max(scores) - min(scores) or 1.0
    lines, dots = [], []
    for n, (column, row) in place.items():
        x, y = MARGIN + (column + 0.5) * _STEP, MARGIN + (row + 0.5) * _STEP
        reached, value = best.reached[n], best.value[n]
        dots.append(
            {
                "section": n,
                "title": f"{n} {book.sections[n].title}".rstrip(),
                "x": x,
                "y": y,
                "radius": round(_SMALLEST + (_LARGEST - _SMALLEST) * max(reached, 0.0) ** 0.5, 1),
                "colour": shade(VIRIDIS, (value - low) / span if value == value else 0.0),
                "avoided": not reached > 0,
                "reached": small(reached),
                "value": f"{value:z.4f}",
            }
        )
        for target in book.targets[n]:
            across = place[target][0] - column
            end = x + across * _STEP, y + (place[target][1] - row) * _STEP
            # A line bows around the columns between its ends.
            over = (x + end[0]) / 2, round((y + end[1]) / 2 - _BOW * (across - 1) ** 0.5, 1)
            wide = round(0.5 + 2.5 * min(reached, best.reached[target]), 2)
            lines.append({"begin": (x, y), "over": over, "end": end, "wide": wide})
    width, height = (2 * MARGIN + (1 + max(e)) * _STEP for e in zip(*place.values(), strict=True))
    return _macros().book_map(book.title, width, height, lines, dots)


def layout(book: Book) -> dict[int, tuple[int, int]]:
    """The column and the row of each section that can be reached."""
    order, _ = book.in_order
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
    for own in members:
        height = {n: mean(row[m] for m in before[n] or [n]) for n in own}
        own.sort(key=lambda n: (height[n], n))
        row |= {n: i for i, n in enumerate(own)}
    tallest = max(map(len, members))
    return {n: (column[n], row[n] + (tallest - len(own)) // 2) for own in members for n in own}


@dataclass(frozen=True, eq=False)
class EpisodeCourse:
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


def episode_course(
    game: Gamebook, table: TabularGame, policy: TabularPolicy, best: Floats
) -> EpisodeCourse:
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
    return EpisodeCourse(
        {n: float(reached[n]) for n in numbers},
        {n: float(total[n] / reached[n]) if reached[n] > 0 else float("nan") for n in numbers},
        {name: float(sum(p for end, p in over if end == name)) for name in game.book.endings},
    )
