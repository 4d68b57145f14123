"""What the page has on a gamebook: its map, its endings, and the decisions that matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import cast

import numpy as np

from solvent.baselines import make_baseline
from solvent.exact import optimal_occupancy
from solvent.games.gamebook.report_map import book_map
from solvent.games.gamebook.report_reading import choices_text, losses, reading
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularPolicy
from solvent.model.text import exact, small
from solvent.report.sections import Section
from solvent.report.solved import SolvedTask

MOST = 12
"""How many decisions are listed."""


def gamebook_sections(solved: SolvedTask) -> list[Section]:
    """The sections about a book, and about where its agents lose if there are any."""
    game = cast(Gamebook, solved.game)
    sections = [
        Section("The book from left to right", _map(game, solved)),
        Section("How episodes end", _endings(game, solved)),
        Section("The most valuable decisions", _decisions(game, solved)),
    ]
    if solved.agents:
        sections.append(Section("Decisions at which agents lose", _losses(game, solved)))
    return sections


def _map(game: Gamebook, solved: SolvedTask) -> str:
    table, values = solved.table, solved.solution.values
    best = reading(game, table, solved.solution.policies[0], values)
    uniform = reading(game, table, TabularPolicy.uniform(table), values)
    order = tuple(n for n in game.story.liveness.sections if n)
    return (
        "<p>Each dot is a section with its number, a line leads to a later one. The larger a dot, "
        "the likelier an optimal policy gets there; sections that it avoids are rings. The colour "
        "is the optimal value from there on, dark for the lowest score and bright for the highest: "
        "as the optimal policy gets there, or for a ring as the uniform one. Point at a dot for "
        "numbers.</p>" + book_map(game.book, order, best, uniform)
    )


def _endings(game: Gamebook, solved: SolvedTask) -> str:
    values = solved.solution.values
    policies = {
        "optimal": solved.solution.policies[0],
        **{item.agent.name: item.policy for item in solved.agents},
        **{
            name: make_baseline(name, solved.table)
            for name in ("first-visit", "first-legal", "uniform")
        },
    }
    rows = []
    for name, policy in policies.items():
        endings = reading(game, solved.table, policy, values).endings
        rows.append([name, *(f"{probability:.4f}" for probability in endings.values())])
    heads = [f"{name} ({ending.score})" for name, ending in game.book.endings.items()]
    return "<p>The probability of each ending, with its score.</p>" + _table(
        ["policy", *heads], rows, 1
    )


def _decisions(game: Gamebook, solved: SolvedTask) -> str:
    occupancy = optimal_occupancy(solved.table, solved.solution)
    rows = []
    for found in occupancy.decisions(lambda page: page.decision, MOST):
        weight = [0.0] * solved.table.mask[0].shape[1]
        for action, taken in found.actions:
            weight[action] = float(taken / found.visits)
        rows.append(
            [
                game.place(found.group),
                choices_text(game, found.group, np.array(weight)),
                small(float(found.visits)),
                exact(float(found.importance)),
            ]
        )
    return (
        "<p>What an optimal policy would lose in an episode on average if it took the second best "
        "option at a decision, whatever the hero is and carries there.</p>"
        + _table(["decision", "optimal", "visits", "importance"], rows, 2)
    )


def _losses(game: Gamebook, solved: SolvedTask) -> str:
    parts = [
        "<p>The gap of each agent's greedy policy, by decisions of the book.</p>",
    ]
    for item in sorted(solved.agents, key=lambda item: item.agent.mode_gap):
        found = losses(
            game, solved.table, item.policy, solved.solution.policies[0], item.location, MOST
        )
        rows = [
            [loss.place, loss.chosen, loss.best, small(loss.lost), f"{100 * loss.share:.1f}%"]
            for loss in found
        ]
        parts.append(
            f'<details data-losses="{escape(item.agent.name)}"><summary>{escape(item.agent.name)}: '
            f"gap {small(item.location.gap)}</summary>"
            + _table(["decision", "chooses", "optimal", "lost", "share of the gap"], rows, 3)
            + "</details>"
        )
    return "".join(parts)


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
