"""A gamebook as a policy reads it: the sections it reaches, its endings, and its losses.

A section is read at most once, so the probability of getting there is the sum over all outcomes
that lead into it from elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from solvent.exact import GapLocation, state_visitation
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints, grouped_sum


@dataclass(frozen=True, eq=False)
class Reading:
    """The course of an episode under a policy.

    Attributes:
        reached: The probability of getting to each section, by its number.
        value: The expected score from there on under an optimal policy, over all ways in which the
            policy gets there; NaN for sections that it does not get to.
        endings: The probability of each ending, by its name, in the book's order.
    """

    reached: dict[int, float]
    value: dict[int, float]
    endings: dict[str, float]


def reading(game: Gamebook, table: TabularGame, policy: TabularPolicy, best: Floats) -> Reading:
    """Compute how a policy reads a book.

    Args:
        game: The book.
        table: The same as arrays.
        policy: Any for it.
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


class DecisionLoss(NamedTuple):
    """The loss of a policy at one decision of the book, over all states of the hero.

    Attributes:
        place: The decision, in words.
        chosen: The policy's choices, averaged over what it loses there.
        best: The choices of an optimal policy, in the same average.
        lost: The loss in an episode on average.
        share: The same as a share of the gap.
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
    """The decisions at which a policy loses most, the worst first.

    Args:
        game: The book.
        table: The same as arrays.
        policy: Any for it.
        best: An optimal one.
        location: Where the gap of `policy` is lost.
        most: How many to give.
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
    """Choices with their frequencies, the most frequent first, without those below a percent."""
    frequent = [a for a in np.argsort(-weight, kind="stable").tolist() if weight[a] >= 0.01]
    words = {action: game.story.label(page, action).rstrip(".") for action in frequent}
    if len(frequent) == 1:
        return words[frequent[0]]
    return ", ".join(f"{words[action]} {100 * weight[action]:.0f}%" for action in frequent)
