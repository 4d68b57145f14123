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
        chosen: The policy's choice there.
        best: An optimal policy's choice there.
        contribution: Expected loss there in an episode.
        share: The contribution as a share of the policy's total loss.
        visits: Expected number of visits in an episode.
        loss: The loss of one visit.
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
    """The states in which a policy's gap arises.

    Attributes:
        gap: The gap, computed from values.
        total: Sum of the losses in all states; `gap` and `given_up` together, up to rounding.
        given_up: Value that the best response gives up to meet the policy where it errs.
        losing: Number of states in which something is lost.
        field_names: Names of the fields of states.
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
        policy: The policy of either player.
        solution: The solution of `game`.
        location: The location of the policy's gap.
        most: The largest number of worst states to list.
        actions: The largest number of actions to name in a state, all if left out.
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
