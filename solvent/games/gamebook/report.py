"""A gamebook in the report and in the explorer: map, endings, and the decisions that matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from typing import NamedTuple, cast

import numpy as np

from solvent.baselines import make_baseline
from solvent.exact import GapLocation, SolvedGame, SolvedTable, optimal_occupancy
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.page_text import fight, heading, hero, prose
from solvent.games.gamebook.report_map import book_map, reading
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.text import exact, small
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
    """Return the sections about a book, and about the losses of its agents if it has any."""
    game = cast(Gamebook, solved.game)
    sections = [
        Section(
            "The book from left to right",
            MAP_TEXT + book_map(game, solved.table, solved.solution),
        ),
        Section("How episodes end", _endings(game, solved)),
        Section("The most valuable decisions", _decisions(game, solved)),
    ]
    if solved.agents:
        sections.append(Section("Decisions at which agents lose", _losses(game, solved)))
    return sections


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
        rows = [[*texts, small(lost), f"{100 * share:.1f}%"] for *texts, lost, share in found]
        parts.append(
            f'<details data-losses="{escape(item.agent.name)}"><summary>{escape(item.agent.name)}: '
            f"gap {small(item.location.gap)}</summary>"
            + _table(["decision", "chooses", "optimal", "lost", "share of the gap"], rows, 3)
            + "</details>"
        )
    return "".join(parts)


class DecisionLoss(NamedTuple):
    """The loss of a policy at one decision of the book, over all states of the hero.

    Attributes:
        place: The decision, in words.
        chosen: The policy's choices, averaged with its losses there as weights.
        best: The choices of an optimal policy, in the same average.
        lost: Expected loss per episode.
        share: The loss as a fraction of the gap.
    """

    place: str
    chosen: str
    best: str
    lost: float
    share: float


def losses(
    game: Gamebook,
    table: TabularGame,
    policy: TabularPolicy,
    best: TabularPolicy,
    location: GapLocation,
    most: int = 10,
) -> list[DecisionLoss]:
    """Return the decisions at which a policy loses most, the worst first.

    Args:
        game: The book.
        table: The book as arrays.
        policy: The policy to examine.
        best: An optimal policy.
        location: The gap attribution of `policy`.
        most: Largest number of decisions to return.
    """
    groups: dict[Page, list[int]] = defaultdict(list)
    pages = cast(Sequence[Page], table.states)
    for s in np.flatnonzero(location.contribution > 0).tolist():
        groups[pages[s].decision].append(s)
    lost = {page: float(location.contribution[group].sum()) for page, group in groups.items()}
    worst = sorted(lost, key=lambda page: -lost[page])[:most]

    def choices(of: TabularPolicy, page: Page) -> str:
        weight = location.contribution[groups[page]] / lost[page]
        return choices_text(game, page, weight @ of.probabilities[groups[page]])

    return [
        DecisionLoss(
            game.place(page),
            choices(policy, page),
            choices(best, page),
            lost[page],
            lost[page] / location.gap,
        )
        for page in worst
    ]


def choices_text(game: Gamebook, page: Page, weight: Floats) -> str:
    """Return choices with frequencies of at least a percent, the most frequent first."""
    frequent = [a for a in np.argsort(-weight, kind="stable").tolist() if weight[a] >= 0.01]
    words = {action: game.story.label(page, action).rstrip(".") for action in frequent}
    if len(frequent) == 1:
        return words[frequent[0]]
    return ", ".join(f"{words[action]} {100 * weight[action]:.0f}%" for action in frequent)


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
    """The text of a page, and the map of the book.

    Args:
        solved: The game.
        state: The page.
        hints: Whether optimal choices may be shown, as on the map.
    """
    game = cast(Gamebook, solved.game)
    paragraphs = prose(game.book, state).split("\n\n")
    text = "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in paragraphs if part)
    figures = "\n\n".join(filter(None, (fight(game.book, state), hero(game.book, state))))
    if figures:
        text += f'<pre class="drawing">{escape(figures)}</pre>'
    sections = [Section(heading(game.book, state), text)]
    if hints and isinstance(solved, SolvedTable):
        here = f'[data-section="{state.section}"] {{ stroke: var(--costly); stroke-width: 3 }}'
        sections.append(
            Section(
                "The map",
                "<p>The larger a dot, the likelier an optimal policy gets there; the colour is the "
                "value from there on. The present section is ringed.</p>"
                f"<style>{here}</style>{_map(solved)}",
            )
        )
    return sections


@lru_cache(maxsize=2)
def _map(solved: SolvedTable) -> str:
    return book_map(cast(Gamebook, solved.game), solved.table, solved.solution)
