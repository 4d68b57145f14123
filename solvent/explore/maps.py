"""Maps of numbers over two fields, drawn here and not by a script in the page.

A game without a table has a map over two ranges of whole numbers. Maps that take long are kept on
disk (:mod:`solvent.model.cache`), so that they are there at once when the explorer starts again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from html import escape
from math import isfinite
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from solvent.exact import SolvedGame
from solvent.explore.decision import who_acts
from solvent.explore.line import Query, number, one_of
from solvent.explore.states import States
from solvent.model import cache, text
from solvent.model.arrays import Bools, Floats
from solvent.model.cache import OnProgress, Progress
from solvent.model.game import words
from solvent.model.table_cache import game_identity
from solvent.report.colours import VIRIDIS, shade
from solvent.report.panel import bar, hatching, keys
from solvent.report.sections import Section
from solvent.report.state_map import (
    BOARD,
    ROW,
    StateMap,
    action_names,
    axes,
    field_text,
    signs,
)

WIDE, HIGH = 440, 360
"""Most room for the cells, in pixels of the picture."""

LARGEST, SIGNED = 44.0, 13.0
"""The largest cell, and the smallest in which a sign can be read."""

MOST_MET = 200
"""States of random episodes by which the fields and the ranges of a map are chosen."""

MOST_STEPS = 40
"""Values of a field in a map of a game without a table."""

T = TypeVar("T")

LETTER = 7
BELOW, LEGEND = 40, 40

END_COLOUR = "#d3d9de"
"""The colour of a state in which the episode ends, which has no value; no quantity has it."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The contents of a map.

    Attributes:
        across: The field along the columns.
        up: The field along the rows; empty if there is one row only.
        columns: The values of `across`.
        rows: The values of `up`, from the bottom, but rows of a board from the top.
        value: [R, C] the numbers, NaN where there is none.
        ends: [R, C] whether the episode ends there; the number is then the reward for it.
        signs: Short texts on the cells, by row and column.
    """

    across: str
    up: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    value: Floats
    ends: Bools
    signs: Mapping[tuple[int, int], str]

    @property
    def from_top(self) -> bool:
        """Return whether the first row is the top one, as on a board."""
        return self.up == ROW


def slice_cells(
    found: StateMap,
    value: Floats,
    across: int | None = None,
    up: int | None = None,
    fixed: Mapping[int, int] = MappingProxyType({}),
) -> tuple[Cells, dict[int, int]]:
    """Return a slice of a map: two fields vary, the others are fixed.

    Args:
        found: The map.
        value: [C] the number of each of its cells.
        across: The field along the columns; the map's first choice, if left out.
        up: The field along the rows; the map's first choice, if left out.
        fixed: The number of the value of some of the others; in the rest it is that of the slice
            with most cells.

    Returns:
        The slice, and the numbers of the values of all fields that are fixed.
    """
    begin = axes(found)
    across = begin[0] if across is None else across
    up = begin[-1] if up is None else up
    told = found.fields
    others = [n for n in range(len(told)) if n not in (across, up)]
    inside = np.ones(len(found.value), bool)
    chosen: dict[int, int] = {}
    for n in sorted(others, key=lambda n: n not in fixed):
        if n in fixed:
            chosen[n] = fixed[n]
        elif inside.any():
            # The value that most of the cells have, of those with a start if there are any.
            begins = inside & found.start
            places = told[n].place[begins if begins.any() else inside]
            chosen[n] = int(np.bincount(places).argmax())
        inside &= told[n].place == chosen.get(n, 0)
    one_row = across == up
    rows = ("",) if one_row else tuple(map(field_text, told[up].values))
    columns = tuple(map(field_text, told[across].values))
    grid = np.full((len(rows), len(columns)), np.nan)
    ends = np.zeros(grid.shape, bool)
    at = np.flatnonzero(inside)
    where = 0 if one_row else told[up].place[at], told[across].place[at]
    grid[where], ends[where] = value[at], at >= len(found.states)
    cells = Cells(
        told[across].name,
        "" if one_row else told[up].name,
        columns,
        rows,
        grid,
        ends,
        {},
    )
    return cells, chosen


def drawn(cells: Cells, title: str, low: float, high: float) -> str:
    """Return the map as SVG.

    Args:
        cells: The contents of the map; ends have a colour apart from the scale.
        title: The name of the numbers.
        low: The number with the darkest colour.
        high: The number with the brightest colour.
    """
    rows, columns = cells.value.shape
    longest = max(len(one[:16]) for one in cells.rows)
    left = 12 if not cells.up else 30 + LETTER * longest
    wide = min(LARGEST, (WIDE - left) / columns)
    tall = min(LARGEST, HIGH / rows, 4 * wide)
    wide = min(wide, 4 * tall)
    top, room, depth = 6, columns * wide, rows * tall
    width, height = left + room + 14, top + depth + BELOW + LEGEND
    width = max(width, left + 180)
    parts = [f'<g transform="translate({left} {top})">{hatching(0, 0, room, depth)}</g>']
    for row, column in np.argwhere(np.isfinite(cells.value) | cells.ends).tolist():
        line = row if cells.from_top else rows - 1 - row
        share = (cells.value[row, column] - low) / (high - low or 1.0)
        corner = left + column * wide, top + line * tall
        parts.append(_cell_drawn(cells, (row, column), share, corner, (wide, tall)))
    parts += _axis_texts(cells, left, top, wide, tall)
    middle = left + max(room, 120) / 2
    ends = {low: 0.0, high: 120.0} if high > low else {low: 0.0}
    parts.append(
        bar(
            [shade(VIRIDIS, n / 23) for n in range(24)], ends, middle - 60, top + depth + BELOW, 120
        )
    )
    if cells.ends.any():
        key = "the end, with its reward"
        parts.append(keys([key], [END_COLOUR], left, height, LETTER * len(key)))
        height += 18
    return (
        f'<svg class="chart map cells" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'style="max-width: {width:.0f}px"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _cell_drawn(
    cells: Cells,
    place: tuple[int, int],
    share: float,
    corner: tuple[float, float],
    size: tuple[float, float],
) -> str:
    """A cell with its sign: its colour is that of the share on the scale, unless it is an end."""
    (row, column), (x, y), (wide, tall) = place, corner, size
    number = float(cells.value[place])
    sign, colour = cells.signs.get(place, ""), shade(VIRIDIS, share)
    ink, told = "#000" if share > 0.55 else "#fff", text.exact(number)
    if cells.ends[place]:
        sign = f"{number:g}".replace("-", "−") if isfinite(number) else ""
        colour, ink, told = END_COLOUR, "#000", f"the end{sign and ', reward '}{sign}"
    where = f"{cells.across} {cells.columns[column]}"
    where += f", {cells.up} {cells.rows[row]}" if cells.up else ""
    rect = (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide + 0.2:.2f}" height="{tall + 0.2:.2f}" '
        f'fill="{colour}"><title>{escape(where)}: {told}</title></rect>'
    )
    if not sign or min(size) < SIGNED:
        return rect
    tall_as = min(min(size) * 0.6, 20, 1.5 * wide / len(sign))
    return rect + (
        f'<text x="{x + wide / 2:.1f}" y="{y + tall / 2 + tall_as * 0.35:.1f}" '
        f'text-anchor="middle" pointer-events="none" '
        f'style="fill: {ink}; font-size: {tall_as:.1f}px">{escape(sign)}</text>'
    )


def _axis_texts(cells: Cells, left: float, top: float, wide: float, tall: float) -> list[str]:
    """The names and some of the values of both fields."""
    rows, columns = cells.value.shape
    bottom = top + rows * tall
    every = _step(wide, LETTER * max(len(one[:16]) for one in cells.columns) + 8)
    texts = [
        f'<text x="{left + (n + 0.5) * wide:.1f}" y="{bottom + 14:.1f}" text-anchor="middle">'
        f"{escape(cells.columns[n][:16])}</text>"
        for n in range(0, columns, every)
    ]
    texts.append(
        f'<text x="{left + columns * wide / 2:.1f}" y="{bottom + 30:.1f}" text-anchor="middle">'
        f"{escape(cells.across)}</text>"
    )
    if cells.up:
        for n in range(0, rows, _step(tall, 15)):
            line = n if cells.from_top else rows - 1 - n
            texts.append(
                f'<text x="{left - 5}" y="{top + (line + 0.5) * tall + 4:.1f}" text-anchor="end">'
                f"{escape(cells.rows[n][:16])}</text>"
            )
        texts.append(
            f'<text transform="translate(12 {top + rows * tall / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(cells.up)}</text>'
        )
    return texts


def _step(size: float, room: float) -> int:
    """Every how many-th value of an axis is written, for each to have room."""
    return next((k for k in (1, 2, 5, 10, 20, 25, 50, 100) if k * size >= room), 200)


def span_of(values: Sequence[Floats]) -> tuple[float, float]:
    """Return the least and the largest finite number of several maps, for comparable colours.

    Args:
        values: The numbers of each map.
    """
    all_of = np.concatenate([np.ravel(one) for one in values])
    finite = all_of[np.isfinite(all_of)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def ranged(states: States, query: Query, title: str = "", tell: OnProgress = lambda _: None) -> Any:
    """Return a map of a game without a table: two fields over ranges of whole numbers.

    Args:
        states: The states of the solved game.
        query: ``s``, the state that has the other fields, the start if left out; ``x`` and ``y``,
            the numbers of the two fields; ``x0``, ``x1``, ``y0`` and ``y1``, their ranges.
        title: The title of the picture; the value, if left out.
        tell: Called after each row.

    Raises:
        ValueError: If fewer than two fields are numbers, or a field or a number is not allowed.
    """
    solved, game = states.solved, states.solved.game
    state = states.at(query["s"]) if query.get("s") else states.starts[0]
    fields = states.fields(state)
    numbers = [n for n, one in enumerate(fields) if one.is_number]
    if len(numbers) < 2:
        raise ValueError("no two fields of a state are numbers, so there is no map of it")
    # Those that vary most are shown first, over what some episodes come through.
    known = _met(states)
    met = {n: {int(fields[n].text), *known.get(fields[n].name, ())} for n in numbers}
    first, second = sorted(sorted(numbers, key=lambda n: -len(met[n]))[:2])
    across, up = one_of(query, "x", numbers), one_of(query, "y", numbers)
    across = first if across is None else across
    if up is None or up == across:
        up = second if across == first else first
    spans = {}
    for axis, place in (("x", across), ("y", up)):
        least = number(query, f"{axis}0", min(met[place]), -(10**9), 10**9)
        most = max(least + 1, *met[place])
        spans[axis] = least, number(query, f"{axis}1", most, least, 10**9)
    columns, rows = (_steps(*spans[axis]) for axis in ("x", "y"))
    value = np.full((len(rows), len(columns)), np.nan)
    ends = np.zeros(value.shape, bool)
    names = action_names(game.info)
    axes_names = fields[across].name, fields[up].name
    marks = dict(zip(names, signs(names, arrows=axes_names == BOARD), strict=True))
    written = {}
    for r, row in enumerate(rows):
        tell(Progress(r, len(rows), "the map"))
        for c, column in enumerate(columns):
            texts = dict(zip(axes_names, (str(column), str(row)), strict=True))
            with suppress(ValueError):
                here = states.with_fields(state, texts)
                ends[r, c] = game.is_terminal(here)
                if not ends[r, c]:  # The reward of an end is not known.
                    value[r, c], written[r, c] = _in_brief(solved, here, marks)
    cells = Cells(
        *axes_names, tuple(map(str, columns)), tuple(map(str, rows)), value, ends, written
    )
    of = f" to {words(game).player_name(0)}" if game.info.players == 2 else ""
    return {
        "fields": [(n, states.label(fields[n].name)) for n in numbers],
        "across": across,
        "up": up,
        "spans": spans,
        "key": states.key(state),
        "words": states.words(state),
        "picture": drawn(cells, title or f"value{of}", *span_of([value])),
        "empty": not np.isfinite(value).any(),
    }


def _met(states: States) -> Mapping[str, set[int]]:
    """The whole numbers that random episodes come through, by the field."""
    game, dice = states.solved.game, random.Random(0)
    found: dict[str, set[int]] = {}
    state = states.starts[0]
    for _ in range(MOST_MET):
        if game.is_terminal(state):
            state = dice.choice(game.initial()).state
        for one in states.fields(state):
            if one.is_number:
                found.setdefault(one.name, set()).add(int(one.text))
        joint = tuple(dice.choice(own) for own in game.legal_actions(state))
        state = dice.choice(game.transition(state, joint)).state
    return found


def _in_brief(solved: SolvedGame, state: Any, marks: Mapping[str, str]) -> tuple[float, str]:
    """The value of a state to player 0, and a sign for the most probable action."""
    player = who_acts(solved.game, state)[0]
    strategy = solved.policy(state, player)
    best = max(strategy, key=lambda one: strategy[one])
    name = text.action_names(solved.game, state, player)[best]
    return solved.value_of(state), marks.get(name, "")


def _steps(low: int, high: int) -> list[int]:
    """Whole numbers from one to another, at most :data:`MOST_STEPS` of them."""
    step = -(-(high - low + 1) // MOST_STEPS)
    return list(range(low, high + 1, step))


def kept_on_disk(solved: SolvedGame, what: Mapping[str, Any], make: Callable[[], T]) -> T:
    """Return what was made of a solved game before, or else make it now.

    Args:
        solved: The game; what is made of another package's is not kept.
        what: The maps that are meant, as JSON-able data.
        make: Makes sections of a report, or JSON-able data.
    """
    identity = game_identity(solved.game)
    if identity is None:
        return make()

    def pack(made: Any) -> cache.Packed:
        plain = [astuple(one) for one in made] if isinstance(made, tuple) else made
        return cache.Packed({"made": plain}, {})

    def unpack(packed: cache.Packed) -> Any:
        found = packed.header["made"]
        return tuple(Section(*one) for one in found) if isinstance(found, list) else found

    # The same game may be solved in a folder that keeps rounded values.
    found: T = cache.kept({**what, "solved": solved.method, **identity}, make, pack, unpack)
    return found
