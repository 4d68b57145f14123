"""Gap attribution: the states in which a gap arises, and its shares by each field of a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from solvent.exact import GapLocation, Solution
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import grouped_sum
from solvent.model.text import choice_text, field_names, field_values

MOST_VALUES = 40
"""A field that takes more values than this has no split of its own."""


@dataclass(frozen=True, slots=True)
class LosingState:
    """A state in which a policy loses value.

    Attributes:
        state: The state.
        fields: The values of its fields.
        chosen: What the policy does there.
        best: What an optimal policy does there.
        contribution: What is lost there in an episode on average.
        share: The same as a share of all that the policy loses.
        visits: Expected number of visits in an episode.
        loss: What one visit costs.
    """

    state: Any
    fields: tuple[Any, ...]
    chosen: str
    best: str
    contribution: float
    share: float
    visits: float
    loss: float


class Marginal(NamedTuple):
    """The gap split by the value of one field: pairs of a value and what is lost at it."""

    field: str
    parts: tuple[tuple[Any, float], ...]


@dataclass(frozen=True, slots=True)
class GapAttribution:
    """Where a policy's gap arises.

    Attributes:
        gap: Computed from values.
        total: The sum of what is lost in each state; `gap` and `given_up` up to rounding.
        given_up: What the best response gives up to meet the policy where it errs.
        losing: In how many states something is lost.
        field_names: Of the states.
        worst: The states in which most is lost.
        marginals: The gap split by each field, unless states have no named fields.
    """

    gap: float
    total: float
    given_up: float
    losing: int
    field_names: tuple[str, ...]
    worst: tuple[LosingState, ...]
    marginals: tuple[Marginal, ...]


def attribute_gap(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    location: GapLocation,
    most: int = 10,
    actions: int | None = None,
) -> GapAttribution:
    """Attribute a policy's gap to the states in which it arises.

    Args:
        game: The game.
        policy: Either player's.
        solution: Of `game`.
        location: Of the policy's gap.
        most: How many of the worst states are told at most.
        actions: How many of a state's actions are named at most, all if left out.
    """
    optimal = solution.policies[policy.player]
    total = float(location.contribution.sum())
    worst = tuple(
        LosingState(
            state=game.states[state],
            fields=field_values(game, game.states[state]),
            chosen=choice_text(game, policy, state, actions),
            best=choice_text(game, optimal, state, actions),
            contribution=float(location.contribution[state]),
            share=float(location.contribution[state]) / total,
            visits=float(location.visits[state]),
            loss=float(location.loss[state]),
        )
        for state in location.ranked(most)
    )
    names = field_names(game)
    return GapAttribution(
        gap=location.gap,
        total=total,
        given_up=location.given_up,
        losing=int((location.contribution > 0).sum()),
        field_names=names,
        worst=worst,
        marginals=() if names == ("state",) else _marginals(game, location, names),
    )


def _marginals(
    game: TabularGame, location: GapLocation, names: tuple[str, ...]
) -> tuple[Marginal, ...]:
    """The gap by each field that takes more than one value where the game goes on."""
    live = np.flatnonzero(~game.terminal)
    columns = zip(*(field_values(game, game.states[s]) for s in live.tolist()), strict=True)
    marginals = []
    for name, column in zip(names, columns, strict=True):
        distinct = set(column)
        if not 1 < len(distinct) <= MOST_VALUES:
            continue
        values = sorted(distinct, key=_order)
        place = {value: i for i, value in enumerate(values)}
        group = np.array([place[value] for value in column])
        parts = grouped_sum(group, location.contribution[live], len(values))
        marginals.append(Marginal(name, tuple(zip(values, parts.tolist(), strict=True))))
    return tuple(marginals)


def _order(value: Any) -> Any:
    """A key to sort values of a field by; None, for what matters no more, comes first."""
    if isinstance(value, tuple):
        return tuple(map(_order, value))
    return (value is not None, value)
