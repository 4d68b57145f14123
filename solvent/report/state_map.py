"""Values and policy of any game, as a map over two fields of its states.

The reader chooses the two fields and the values of the others; a script draws the map from embedded
numbers. The fields of a state are those of its named tuple or dataclass, with tuples inside taken
apart, or its :meth:`~solvent.model.game.Words.coordinates`. States with the fields ``row`` and
``column`` are on a board: the map begins with these two and counts rows from the top. Directions
are drawn as arrows only if these two are the rows and the columns of the map.

To keep a page below a few megabytes, only every k-th value of a field with very many values is
shown; then only the best action of each state; then only the slices that optimal play visits most.
The page says which parts are omitted.
"""

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from itertools import chain, takewhile
from typing import Any

import numpy as np

from solvent.exact import state_visitation
from solvent.model import Game, GameInfo, TabularGame, ValueScale
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.game import words
from solvent.model.text import field_text, leaves, state_fields, state_text, written
from solvent.report.panel import ALGORITHMS, CIVIDIS, VIRIDIS, shade
from solvent.report.sections import Section, beside, script_json
from solvent.report.solved import ScoredAgent, SolvedTask

MOST_VALUES = 250
"""The largest number of values of a field; of a larger number only every k-th value is shown."""
# The largest number of actions that are listed for a state; of more, only the best are listed.
_MOST_ACTIONS = 6
MOST_BYTES = 1_500_000
"""The largest size of embedded numbers, in bytes before they are written as text."""
# States that are a single number are wrapped into rows of this many.
_WRAPPED = 20
TIE = 1e-9
"""An action that loses less than this is as good as the best, in units of the largest value if
that is larger than 1."""
NONE = 65535
"""Stands for no action."""
OFF = -1
"""The row or the column of an end that is off the board."""

ACTIONS = (*ALGORITHMS, "#f0e442", "#8c8c8c")
"""Colours of up to eight actions; more have a scale."""

COLUMN, ROW = BOARD = "column", "row"
"""The fields of states on a board: across, and from the top."""

ARROWS = {
    "left": "←", "down": "↓", "right": "→", "up": "↑",
    "west": "←", "south": "↓", "east": "→", "north": "↑",
    "up left": "↖", "up right": "↗", "down left": "↙", "down right": "↘",
}  # fmt: skip
"""The arrows of actions that are directions on a board."""


@dataclass(frozen=True, eq=False)
class Field:
    """One field of the cells of a map.

    Attributes:
        name: The name of the field.
        values: The values in the order of the axis.
        texts: The values in words.
        place: [C] the number of each cell's value.
    """

    name: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    place: Ints

    @property
    def is_number(self) -> bool:
        """Return whether the values are numbers that have no words of their own."""
        numbers = all(isinstance(value, int | float) for value in self.values)
        return numbers and not any(map(str.isalpha, "".join(self.texts)))


@dataclass(frozen=True, eq=False)
class StateMap:
    """The contents of a map.

    A cell is a state in which the episode goes on or, on a board, also one in which it ends.

    Attributes:
        table: The game.
        states: [N] the states in which the episode goes on.
        ends: The other states.
        fields: The fields that take more than one value, or the only field.
        texts: The texts of all states, if their fields are only a way to wrap a long row.
        value: [C] the value of a state, or the reward with which an end is entered, NaN if that
            differs; to player 0.
        start: [C] whether an episode may begin there.
        choices: A policy's choices, of one player or of each of two who act at the same time:
            ``name`` of the player, empty if there is one or the players take turns; ``action``
            [N, K], the policy's most probable one first and then by their values, :data:`NONE`
            where there are fewer than K; ``value`` [N, K] to player 0, NaN where there are fewer;
            ``chance`` [N, K], their probabilities, or nothing if no action is drawn; ``tied`` [N],
            how many of them are as good as the best.
        omitted: A sentence on the omitted parts; empty if there are none.
    """

    table: TabularGame
    states: Ints
    ends: Ints
    fields: tuple[Field, ...]
    texts: tuple[str, ...]
    value: Floats
    start: Bools
    choices: tuple[Mapping[str, Any], ...]
    omitted: str


def state_map_section(solved: SolvedTask) -> Section:
    """Return the values and policy of a solved game, and its agents' choices beside them.

    Args:
        solved: The game with its agents.

    Raises:
        ValueError: If the game puts two states on one place of its board.
    """
    found = state_map(solved)
    meaning = ValueScale(solved.table.info).meaning
    of = f" to {words(solved.game).player_name(0)}" if solved.table.info.players == 2 else ""
    html = (
        beside(__file__, "state_map.html")
        .replace("{{quantity}}", escape(f"value{of}" + (f", {meaning}" if meaning else "")))
        .replace("{{omitted}}", escape(found.omitted))
        .replace("{{data}}", script_json(embedded(found, solved.agents)))
    )
    return Section("Values and policy", html, beside(__file__, "state_map.js"))


def state_map(solved: SolvedTask, most_bytes: int = MOST_BYTES) -> StateMap:
    """Return the map of a solved game.

    Args:
        solved: The game; its agents are ignored.
        most_bytes: The largest size of embedded numbers, in bytes.
    """
    table = solved.table
    states = np.flatnonzero(~table.terminal)
    rows, ends = _rows(solved, states)
    told, texts = _fields(solved.game, rows)
    kept, omitted = _every_kth(told)
    width = max(mask.shape[1] for mask in table.mask)
    seats = 1 if table.info.players == 1 or table.turn is not None else 2
    each = 4 + 2 * len(told) + 5 * len(solved.agents) * seats
    for actions in (min(_MOST_ACTIONS, width), 1):
        size = each + seats * (1 + 10 * actions)
        if kept.sum() * size <= most_bytes:
            break
    else:
        kept, more = _most_visited(solved, told, kept, most_bytes // size)
        omitted = f"{omitted} {more}".strip()
    cells = np.concatenate((states, ends))[kept]
    states = states[kept[: len(states)]]
    return StateMap(
        table=table,
        states=states,
        ends=cells[len(states) :],
        fields=_compact(told, kept),
        texts=texts,
        value=np.concatenate(
            (solved.solution.values[states], _entering_reward(table)[cells[len(states) :]])
        ),
        start=table.initial[cells] > 0,
        choices=tuple(
            _choices(solved, states, player, actions) for player in ((None,), (0, 1))[seats - 1]
        ),
        omitted=omitted,
    )


def embedded(found: StateMap, agents: Sequence[ScoredAgent]) -> dict[str, Any]:
    """Return the data that the script reads."""
    names = action_names(found.table.info)
    compared = [_agent(agent, found) for agent in agents]
    used = [choice["action"][:, 0] for choice in found.choices]
    used += [seat["chosen"] for agent in compared for seat in agent["seats"]]
    return {
        "fields": [
            {
                "name": field.name,
                "values": field.texts,
                "number": field.is_number,
                "place": field.place.astype("<u2"),
            }
            for field in found.fields
        ],
        "axes": axes(found),
        "left_out": bool(found.omitted),
        "texts": found.texts,
        "cells": len(found.value),
        "states": len(found.states),
        "value": found.value.astype("<f4"),
        "start": np.flatnonzero(found.start).tolist() if found.start.sum() <= 100 else [],
        "actions": names,
        "signs": signs(names),
        "arrows": signs(names, arrows=True),
        "colours": action_colours(used, len(names)),
        "scale": VIRIDIS,
        "players": found.table.info.players,
        "choices": found.choices,
        "agents": compared,
    }


def action_names(info: GameInfo) -> list[str]:
    """The actions of both players, each name once; a map has them by their places here."""
    return list(dict.fromkeys(chain.from_iterable(info.actions)))


def signs(names: Sequence[str], arrows: bool = False) -> list[str]:
    """A sign for each action: as many letters as tell it apart.

    What all names begin with is left out, as in ``order 1`` and ``order 2``; of names with equally
    many words, every word that all have at that place.

    Args:
        names: The names of the actions.
        arrows: Whether directions are arrows, since the signs stand on a board.
    """
    words = [name.split() for name in names]
    if len({len(own) for own in words}) > 1:
        before = zip(*(own[:-1] for own in words), strict=False)
        common = len(list(takewhile(lambda at: len(set(at)) == 1, before)))
        words = [[" ".join(own[common:])] for own in words]
    columns = list(zip(*words, strict=True))
    columns = [column for column in columns if len(set(column)) > 1] or columns[-1:]
    parts = [[_shortest(part, set(column)) for part in column] for column in columns]
    letters = [" ".join(own) for own in zip(*parts, strict=True)]
    if arrows:
        return [ARROWS.get(name.lower(), own) for name, own in zip(names, letters, strict=True)]
    return letters


def _shortest(name: str, names: Set[str]) -> str:
    """The fewest letters with which no other name begins; all if another begins with the name."""
    beginnings = (name[:letters] for letters in range(1, len(name)))
    alone = (b for b in beginnings if sum(other.startswith(b) for other in names) == 1)
    return next(alone, name).strip()


def action_colours(used: Sequence[Ints], count: int) -> list[str]:
    """Return a colour for each action that is chosen anywhere; the others have none.

    Args:
        used: The actions that are chosen, by their numbers.
        count: The number of actions.
    """
    chosen = sorted(set(np.unique(np.concatenate(used)).tolist()) - {NONE})
    colours = [""] * count
    for place, action in enumerate(chosen):
        share = place / max(len(chosen) - 1, 1)
        colours[action] = ACTIONS[place] if len(chosen) <= len(ACTIONS) else shade(CIVIDIS, share)
    return colours


def _rows(solved: SolvedTask, states: Ints) -> tuple[list[Mapping[str, Any]], Ints]:
    """The fields of each state by their names, and the ends on the board, whose fields come last.

    If states have different fields, or there is one, the only field is the state itself. Ends are
    left out that are off the board, or at the place of a state in which play goes on.
    """
    game, table = solved.game, solved.table
    entries, coordinates = words(game).entry_names(), words(game).coordinates

    def fields_of(state: Any) -> Mapping[str, Any]:
        return coordinates(state) or dict(leaves(state, entries))

    live = [table.states[s] for s in states.tolist()]
    rows = [fields_of(state) for state in live]
    if not rows:
        raise ValueError(f"{table.info.name} has no start from which an episode goes on")
    names = rows[0].keys()
    if any(row.keys() != names for row in rows):
        # Of hands of cards that differ in size, each is one field.
        rows = [state_fields(game, state) for state in live]
        names = rows[0].keys()
    on_board = names >= set(BOARD)
    if any(row.keys() != names for row in rows) or (len(rows) == 1 and not on_board):
        return [{"state": state_text(game, state)} for state in live], states[:0]
    if not on_board:
        return rows, states[:0]
    taken = {tuple(row.values()) for row in rows}
    if len(taken) < len(rows):
        raise ValueError(f"{table.info.name} puts two states on one place of its board")
    ends = {
        s: row
        for s in np.flatnonzero(table.terminal).tolist()
        if (row := fields_of(table.states[s])).keys() == names
        and tuple(row.values()) not in taken
        and OFF not in (row[ROW], row[COLUMN])
    }
    return [*rows, *ends.values()], np.array(list(ends), np.int64)


def _fields(
    game: Game, rows: Sequence[Mapping[str, Any]]
) -> tuple[tuple[Field, ...], tuple[str, ...]]:
    """The fields that vary, both of a board, and the texts of states whose one row is wrapped."""
    told = []
    for name in rows[0]:
        column = [row[name] for row in rows]
        values = ordered(set(column))
        number = {value: i for i, value in enumerate(values)}
        place = np.array([number[value] for value in column], np.int64)
        texts = tuple(field_text(game, name, value) for value in values)
        told.append(Field(name, values, texts, place))
    board = BOARD if rows[0].keys() >= set(BOARD) else ()
    varying = tuple(one for one in told if len(one.values) > 1 or one.name in board) or (told[0],)
    if len(varying) > 1 or len(varying[0].values) <= _WRAPPED:
        return varying, ()
    [only] = varying
    firsts, steps = only.texts[::_WRAPPED], tuple(f"+{n}" for n in range(_WRAPPED))
    return (
        Field(f"{only.name} from", firsts, firsts, only.place // _WRAPPED),
        Field("and", steps, steps, only.place % _WRAPPED),
    ), only.texts


def ordered(values: set[Any]) -> tuple[Any, ...]:
    """Sort values in ascending order, or by their texts if they have no order, as sets."""
    if not any(isinstance(value, Set) for value in values):
        with suppress(TypeError):
            return tuple(sorted(values))
    return tuple(sorted(values, key=lambda value: (type(value).__name__, written(value))))


def _every_kth(told: Sequence[Field]) -> tuple[Bools, str]:
    """Return the cells on every k-th value of each field, and a sentence about the others.

    Each field then has at most :data:`MOST_VALUES` values.
    """
    kept = np.ones(len(told[0].place), bool)
    sentences = []
    for one in told:
        step = -(-len(one.values) // MOST_VALUES)
        if step > 1:
            kept &= one.place % step == 0
            sentences.append(f"Of {one.name} one value in {step} is shown.")
    return kept, " ".join(sentences)


def _most_visited(
    solved: SolvedTask, told: Sequence[Field], kept: Bools, most: int
) -> tuple[Bools, str]:
    """Whole slices, the most visited first, until there are `most` cells.

    A slice is all cells that agree in every field but the two that the map begins with.
    """
    table = solved.table
    both = solved.solution.policies[: table.info.players]
    visits = state_visitation(table, *both)[np.flatnonzero(~table.terminal)]
    visits = np.pad(visits, (0, len(kept) - len(visits)))
    shown = first_two(told)
    group = np.zeros(len(kept), np.int64)
    for one in (one for n, one in enumerate(told) if n not in shown):
        _, group = np.unique(group * len(one.values) + one.place, return_inverse=True)
    size = np.bincount(group, weights=kept)
    weight = grouped_sum(group, visits, len(size))
    order = np.argsort(-weight, kind="stable")
    fits = order[np.cumsum(size[order]) <= most]
    chosen = kept & np.isin(group, fits if len(fits) else order[:1])
    sentence = (
        f"Of {len(kept):,} cells {int(chosen.sum()):,} are shown: the slices that optimal play "
        "visits most."
    )
    return chosen, sentence


def first_two(told: Sequence[Field]) -> tuple[int, ...]:
    """The fields with which the map begins, across and up.

    They are the column and the row of a board, else the two with most values, in their order.
    """
    places = {one.name: n for n, one in enumerate(told)}
    if places.keys() >= set(BOARD):
        return places[COLUMN], places[ROW]
    most = sorted(range(len(told)), key=lambda n: -len(told[n].values))[:2]
    return tuple(sorted(most))


def axes(found: StateMap) -> tuple[int, ...]:
    """The fields that a map begins with, across and up; a wrapped row goes on in the next."""
    return (1, 0) if found.texts else first_two(found.fields)


def _compact(told: Sequence[Field], kept: Bools) -> tuple[Field, ...]:
    """Return the same fields with only the values of the kept cells."""
    found = [(one, *np.unique(one.place[kept], return_inverse=True)) for one in told]
    return tuple(
        Field(
            one.name,
            tuple(one.values[n] for n in used.tolist()),
            tuple(one.texts[n] for n in used.tolist()),
            place,
        )
        for one, used, place in found
    )


def _entering_reward(table: TabularGame) -> Floats:
    """[S] the reward with which a state is entered; NaN if it differs or there is none."""
    least, most = np.full(table.n_states, np.inf), np.full(table.n_states, -np.inf)
    np.minimum.at(least, table.next_state, table.outcome_reward)
    np.maximum.at(most, table.next_state, table.outcome_reward)
    return np.where(least == most, least, np.nan)


def _choices(solved: SolvedTask, states: Ints, player: int | None, most: int) -> dict[str, Any]:
    """The best actions of a player, or where that is None of whoever is on turn."""
    table = solved.table
    info = table.info
    turn = np.zeros(table.n_states, np.int64) if table.turn is None else table.turn
    names = action_names(info)
    shape = len(states), most
    action = np.full(shape, NONE, np.int64)
    value, chance = np.full(shape, np.nan), np.zeros(shape)
    tied = np.zeros(len(states), np.int64)
    for me in (0, 1)[: info.players] if player is None else (player,):
        own = np.flatnonzero(turn[states] == me) if player is None else np.arange(len(states))
        at = states[own]
        values = _action_values(solved, me)[at]
        sign = 1 if me == 0 else -1
        gain = np.where(np.isnan(values), -np.inf, sign * values)
        probable = solved.solution.policies[me].probabilities[at]
        order = np.lexsort((-gain, -probable), axis=1)[:, :most]
        best = gain.max(axis=1, keepdims=True)
        number = np.array([names.index(name) for name in info.actions[me]])
        count = order.shape[1]
        legal = np.isfinite(np.take_along_axis(gain, order, axis=1))
        action[own, :count] = np.where(legal, number[order], NONE)
        value[own, :count] = np.take_along_axis(values, order, axis=1)
        chance[own, :count] = np.take_along_axis(probable, order, axis=1)
        tied[own] = (gain >= best - TIE * np.maximum(np.abs(best), 1)).sum(axis=1)
    mixes = ((chance > TIE) & (chance < 1 - TIE)).any()
    return {
        "name": "" if player is None else words(solved.game).player_name(player),
        "action": action.astype("<u2"),
        "value": value.astype("<f4"),
        "chance": chance.astype("<f4") if mixes else "",
        "tied": np.minimum(tied, most).astype("<u2"),
    }


def _action_values(solved: SolvedTask, player: int) -> Floats:
    """[S, A] what each action leads to against the other's optimal strategy, NaN if not legal."""
    table, solution = solved.table, solved.solution
    other = 1 - player
    shape = table.mask[player].shape
    weight = solution.policies[other].probabilities[table.row_state, table.row_action[other]]
    cell = table.row_state * shape[1] + table.row_action[player]
    summed = grouped_sum(cell, weight * solution.action_values, shape[0] * shape[1])
    return np.where(table.mask[player], summed.reshape(shape), np.nan)


def _agent(agent: ScoredAgent, found: StateMap) -> dict[str, Any]:
    """Return an agent's greedy actions in the states of a map, and their losses."""
    table, states = found.table, found.states
    names, seats = action_names(table.info), []
    for policy, location in zip(agent.policies, agent.locations, strict=True):
        number = np.array([names.index(name) for name in table.info.actions[policy.player]], "<u2")
        chosen = number[policy.probabilities[states].argmax(axis=1)]
        seats.append({"chosen": chosen, "loss": location.loss[states].astype("<f4")})
    if table.turn is not None and len(seats) == 2:
        first = table.turn[states] == 0
        seats = [{key: np.where(first, seats[0][key], seats[1][key]) for key in seats[0]}]
    return {"name": agent.agent.name, "seats": seats}
