"""Scenes as HTML with SVG: squares, dice, cards, bars, a football field and text.

A game says what there is to see as data (:mod:`solvent.model.scene`). Whatever can be done next is
a link, which a keyboard reaches, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

from solvent.model.scene import Cell, Gauge, Grid, Part, Pieces, Pitch, Prose, Scene

WIDE = 480.0
"""Width of every picture, in its own units."""

LARGEST_SQUARE = 120.0
SMALLEST_TEXT = 30.0
"""The smallest square in which a value is written."""

DIE, CARD, TOKEN, BOX = (46.0, 46.0), (62.0, 82.0), (34.0, 34.0), (150.0, 34.0)
SIZES = {"dice": DIE, "cards": CARD, "tokens": TOKEN, "boxes": BOX}
GAP = 8.0
LETTER = 8.5

PIPS = {
    1: (4,), 2: (0, 8), 3: (0, 4, 8), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8),
}  # fmt: skip
"""The dots of a die, by their places in three rows of three."""


class Overlay(NamedTuple):
    """Value, sign and other facts about a square of a board.

    Attributes:
        share: The value from 0 to 1, for the colour.
        text: The value in words.
        sign: The best action, as an arrow.
        href: The address of the state.
    """

    share: float
    text: str
    sign: str
    href: str


@dataclass(frozen=True)
class Clicks:
    """The targets of clicks, and their tooltips.

    Attributes:
        href: Makes the address of an action; None where nothing can be done.
        names: The actions that can be taken now, in words.
        best: The actions that are marked as optimal.
        values: The values of actions in words, for the squares that they fill.
        squares: Facts about the squares of a board, by row and column.
        moves: The action that leads to a square, by row and column.
    """

    href: Callable[[int], str] | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    best: frozenset[int] = frozenset()
    values: Mapping[int, str] = field(default_factory=dict)
    squares: Mapping[tuple[int, int], Overlay] = field(default_factory=dict)
    moves: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def linked(self, action: int | None, inside: str, name: str = "") -> str:
        """Return a piece of a picture as a link, if its action can be taken now."""
        if action is None or self.href is None or action not in self.names:
            return inside
        kind = "act best" if action in self.best else "act"
        label = escape(name or self.names[action])
        return (
            f'<a class="{kind}" href="{escape(self.href(action))}" data-action="{action}" '
            f'aria-label="{label}"><title>{label}</title>{inside}</a>'
        )


def drawn(scene: Scene, clicks: Clicks | None = None) -> str:
    """Return a scene as HTML.

    Args:
        scene: The scene.
        clicks: Targets of clicks; none if left out.
    """
    clicks = clicks or Clicks()
    return "".join(DRAWERS[type(part)](part, clicks) for part in scene)


def _svg(kind: str, width: float, height: float, inside: str, label: str = "") -> str:
    named = f' role="img" aria-label="{escape(label)}"' if label else ""
    return (
        f'<svg class="scene {kind}" viewBox="0 0 {width:.4g} {height:.4g}" '
        f'style="max-width: {width:.4g}px"{named}>{inside}</svg>'
    )


def _rect(x: float, y: float, wide: float, high: float, kind: str, round_: float = 0) -> str:
    rounded = f' rx="{round_:g}"' if round_ else ""
    return (
        f'<rect class="{kind}" x="{x:.4g}" y="{y:.4g}" width="{wide:.4g}" height="{high:.4g}"'
        f"{rounded}/>"
    )


def _text(x: float, y: float, text: str, size: float, kind: str = "", anchor: str = "") -> str:
    placed = f' text-anchor="{anchor}"' if anchor else ""
    return (
        f'<text class="{kind}" x="{x:.4g}" y="{y:.4g}" style="font-size: {size:.3g}px"{placed}>'
        f"{escape(text)}</text>"
    )


def _grid(part: Grid, clicks: Clicks) -> str:
    columns = max(map(len, part.rows))
    size = min(LARGEST_SQUARE, WIDE / columns, 560 / len(part.rows))
    width, height = columns * size, len(part.rows) * size
    found = []
    for r, row in enumerate(part.rows):
        for c, cell in enumerate(row):
            found.append(_square(cell, (r, c), (r, c) == part.here, size, clicks))
    for (r0, c0), (r1, c1) in part.walls:
        x, y = max(c0, c1) * size, max(r0, r1) * size
        line = f"M{x:.4g} {y:.4g}" + (f"v{size:.4g}" if r0 == r1 else f"h{size:.4g}")
        found.append(f'<path class="between" d="{line}"/>')
    for c, label in enumerate(part.below):
        found.append(_text((c + 0.5) * size, height + 16, label, 14, "label", "middle"))
    below = 22 if part.below else 2
    return _svg("grid", width + 2, height + below, "".join(found), "the board")


def _square(cell: Cell, at: tuple[int, int], here: bool, size: float, clicks: Clicks) -> str:
    x, y = at[1] * size + 1, at[0] * size + 1
    known = clicks.squares.get(at)
    plain = "" if known is None or cell.kind in ("wall", "pit", "goal") else " known"
    parts = [_rect(x, y, size, size, f"square {cell.kind}{plain}")]
    if plain and known is not None:
        parts[0] = parts[0].replace("<rect", f'<rect style="--share: {known.share:.3f}"', 1)
    middle, kind = (x + size / 2, y + size / 2), "square-value"
    if cell.text and plain:
        parts.append(_text(x + size * 0.06, y + size * 0.2, cell.text, size * 0.18, "label"))
    elif cell.text:
        big = size * (0.62 if cell.kind in ("first", "second") else 0.42)
        parts.append(_text(middle[0], middle[1] + big * 0.36, cell.text, big, "on", "middle"))
    if here:
        place = f'cx="{middle[0]:.4g}" cy="{y + size * 0.45:.4g}" r="{size * 0.3:.4g}"'
        parts.append(f'<circle class="here" {place}/>')
    if plain and known is not None and size >= SMALLEST_TEXT / 1.6:
        if known.sign:
            parts.append(
                _text(middle[0], middle[1] + size * 0.1, known.sign, size * 0.36, "sign", "middle")
            )
        if size >= SMALLEST_TEXT:
            parts.append(_text(middle[0], y + size * 0.9, known.text, size * 0.24, kind, "middle"))
    action = clicks.moves.get(at, cell.action)
    if cell.action is not None and cell.action in clicks.values:
        value = clicks.values[cell.action]
        parts.append(_text(middle[0], middle[1] + 5, value, size * 0.15, kind, "middle"))
    inside = "".join(parts)
    linked = clicks.linked(action, inside)
    if linked == inside and known is not None and known.href and not here:
        label = escape(f"show the state here, value {known.text}")
        return (
            f'<a class="go" href="{escape(known.href)}" tabindex="-1" aria-label="{label}">'
            f"<title>{label}</title>{inside}</a>"
        )
    return linked


def _pieces(part: Pieces, clicks: Clicks) -> str:
    wide, high = SIZES[part.look]
    if part.look in ("cards", "boxes"):
        wide = max(wide, *(LETTER * len(cell.text) + 16 for cell in part.cells), 0)
    per_row = max(int((WIDE + GAP) // (wide + GAP)), 1)
    top = 24 if part.name else 2
    found = [_text(2, 15, part.name, 15, "label")] if part.name else []
    best = next((kept for kept, action in part.keeps.items() if action in clicks.best), "")
    for number, cell in enumerate(part.cells):
        x = 2 + (number % per_row) * (wide + GAP)
        y = top + (number // per_row) * (high + GAP)
        inside = _piece(part.look, cell, x, y, wide, high)
        if part.keeps:
            label = escape(f"keep the {cell.text}")
            look = "keep best" if str(number) in best.split(",") else "keep"
            inside = (
                f'<g class="{look}" role="checkbox" aria-checked="false" tabindex="0" '
                f'data-die="{number}" aria-label="{label}">{inside}</g>'
            )
        found.append(clicks.linked(cell.action, inside, cell.name))
    rows = -(-len(part.cells) // per_row)
    used = min(len(part.cells), per_row) * (wide + GAP)
    width = max(used, LETTER * len(part.name) + 10, 60)
    svg = _svg(f"pieces {part.look}", width, top + rows * (high + GAP), "".join(found), part.name)
    if not part.keeps or clicks.href is None:
        return svg
    links = {kept: clicks.href(a) for kept, a in part.keeps.items() if a in clicks.names}
    data = escape(json.dumps(links, separators=(",", ":")))
    return (
        f'<div class="keeps" data-keeps="{data}">{svg}<p class="keeping">Click the dice to keep. '
        f'<a class="button" href="#" hidden data-roll>Roll the others</a></p></div>'
    )


def _piece(look: str, cell: Cell, x: float, y: float, wide: float, high: float) -> str:
    if look == "tokens":
        at = f'cx="{x + wide / 2:.4g}" cy="{y + high / 2:.4g}" r="{wide / 2 - 2:.4g}"'
        return f'<circle class="piece {cell.kind}" {at}/>'
    parts = [_rect(x, y, wide, high, f"piece {cell.kind}", 7 if look != "boxes" else 4)]
    if look == "dice" and cell.text.isdecimal() and int(cell.text) in PIPS:
        for place in PIPS[int(cell.text)]:
            column, row = place % 3, place // 3
            left, top = x + wide * (0.24 + 0.26 * column), y + high * (0.24 + 0.26 * row)
            dot = f'cx="{left:.4g}" cy="{top:.4g}" r="{wide / 12:.3g}"'
            parts.append(f'<circle class="pip" {dot}/>')
        return "".join(parts)
    size = min(high * 0.5, 1.5 * wide / max(len(cell.text), 1), 26 if look != "boxes" else 14)
    parts.append(_text(x + wide / 2, y + high / 2 + size * 0.36, cell.text, size, "on", "middle"))
    return "".join(parts)


def _gauge(part: Gauge, clicks: Clicks) -> str:
    most = max(part.most, 1e-9)
    share = min(max(part.value / most, 0), 1)
    more = min(max(part.more / most, 0), 1 - share)
    numbers = f"{part.value:g}{f' + {part.more:g}' if part.more else ''} of {part.most:g}"
    bar = WIDE - 4
    inside = [
        _text(2, 15, part.name, 15, "label"),
        _text(WIDE - 2, 15, numbers, 15, "label", "end"),
        _rect(2, 22, bar, 18, "trough", 4),
    ]
    if share > 0:
        inside.append(_rect(2, 22, bar * share, 18, f"filled {part.kind}", 4))
    if more > 0:
        inside.append(_rect(2 + bar * share, 22, bar * more, 18, f"filled more {part.kind}", 4))
    return _svg("gauge", WIDE, 48, "".join(inside), f"{part.name}: {numbers}")


def _pitch(part: Pitch, clicks: Clicks) -> str:
    unit = WIDE * 1.4 / (part.field + 20)
    width, high = (part.field + 20) * unit, 180.0

    def at(mark: float) -> float:
        return (10 + mark) * unit

    parts = [_rect(0, 0, width, high, "endzone")]
    for mark in range(0, part.field, 10):
        wide = min(10, part.field - mark) * unit
        parts.append(_rect(at(mark), 0, wide, high, f"grass{mark // 10 % 2}"))
        if mark:
            number = str(min(mark, part.field - mark))
            parts.append(f'<path class="chalk" d="M{at(mark):.4g} 0v{high:g}"/>')
            parts.append(_text(at(mark), high - 10, number, 15, "chalk", "middle"))
    parts += [f'<path class="goalline" d="M{at(x):.4g} 0v{high:g}"/>' for x in (0, part.field)]
    for name, x, turn in ((part.left, 5 * unit, -90), (part.right, width - 5 * unit, 90)):
        place = f'transform="translate({x:.4g} {high / 2:g}) rotate({turn})"'
        parts.append(
            f'<text class="chalk" {place} text-anchor="middle" dy="6" style="font-size: 17px">'
            f"{escape(name)}</text>"
        )
    if part.gain is not None and 0 < part.gain < part.field:
        parts.append(f'<path class="gain" d="M{at(part.gain):.4g} 0v{high:g}"/>')
    if part.ball is not None:
        x, y = at(part.ball), high / 2
        ahead = 22 * part.forward
        tip = 0.4 * ahead
        parts.append(
            f'<path class="scrimmage" d="M{x:.4g} 0v{high:g}"/>'
            f'<path class="ahead" d="M{x + ahead * 0.8:.4g} {y:g}h{1.3 * ahead:g}m{-tip:g} -8'
            f'l{tip:g} 8l{-tip:g} 8"/>'
            f'<ellipse class="ball" cx="{x:.4g}" cy="{y:g}" rx="14" ry="9"/>'
            f'<path class="laces" d="M{x - 6:.4g} {y:g}h12m-9 -3v6m3 -6v6m3 -6v6"/>'
        )
    news = f'<p class="news">{escape(_begun(part.news))}</p>' if part.news else ""
    return news + _svg("pitch", width, high, "".join(parts), part.news)


def _prose(part: Prose, clicks: Clicks) -> str:
    parts = [f"<h2>{escape(part.title)}</h2>" if part.title else ""]
    parts += [f"<p>{escape(text)}</p>" for text in part.paragraphs]
    options = []
    for cell in part.options:
        linked = clicks.linked(cell.action, escape(cell.text))
        options.append(f"<li>{linked.replace(f'<title>{escape(cell.text)}</title>', '')}</li>")
    listed = f'<ul class="options">{"".join(options)}</ul>' if options else ""
    kind = "prose page" if part.title else "prose"
    return f'<div class="{kind}">{"".join(parts)}{listed}</div>'


DRAWERS: Mapping[type[Part], Callable[[Any, Clicks], str]] = {
    Grid: _grid,
    Pieces: _pieces,
    Gauge: _gauge,
    Pitch: _pitch,
    Prose: _prose,
}


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]
