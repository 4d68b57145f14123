"""A position of football as ``solvent explore`` shows it: the field, the chart, the last down."""

from __future__ import annotations

from html import escape
from typing import Any

from solvent.exact import SolvedGame
from solvent.games.football.chart import Chart, cell_text
from solvent.games.football.field import BALL, END_ZONE, GRASS, LACES, LINE, TO_GAIN
from solvent.games.football.play import LEGEND, short_text
from solvent.games.football.report.fourth_down import WAYS
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation, ordinal, situation_text
from solvent.model.game import words
from solvent.model.scale import ValueScale
from solvent.model.text import exact, small
from solvent.report.sections import Section

END, HIGH, YARD = 10, 50, 10
"""Yards of an end zone and of the width of the picture, and pixels of a yard."""


def state_sections(solved: SolvedGame, state: Any, hints: bool) -> list[Section]:
    """The sections on a position of any form of the game.

    Args:
        solved: The game.
        state: The position.
        hints: Whether what is optimal may be told.
    """
    game: Any = solved.game
    ruleset: Ruleset = game.loaded_ruleset
    place = words(game).place(state) or _words(ruleset, state)
    parts = [f"<p>{escape(place[:1].upper() + place[1:])}.</p>"]
    if state.down:
        parts.append(field_picture(ruleset, state.situation))
    sections = [Section("The field", "".join(parts))]
    if state.phase != "call":
        return sections
    chart: Chart = game.charts[state.offence] if hasattr(game, "charts") else game.loaded_chart
    if hints and state.down == ruleset.downs and not state.punting:
        sections.append(_last_down(solved, state, chart, ruleset))
    sections.append(Section("The chart", _chart_table(solved, state, chart, hints=hints)))
    return sections


def _words(ruleset: Ruleset, state: Any) -> str:
    if not state.down:
        return "play is over" if state.phase == "over" else f"player {state.offence}: {state.phase}"
    return f"player {state.offence} has {situation_text(ruleset, state.situation)}"


def field_picture(ruleset: Ruleset, situation: Situation) -> str:
    """The field as SVG, the side that has the ball playing from left to right.

    Args:
        ruleset: Has the length of the field.
        situation: Situation with the ball and the line to gain.
    """
    field, own = ruleset.field, ruleset.field - situation.to_goal
    width, height = YARD * (field + 2 * END), YARD * HIGH
    middle = height / 2

    def at(yards: float) -> float:
        return YARD * (END + yards)

    parts = [f'<rect width="{width}" height="{height}" fill="{_rgb(END_ZONE)}"/>']
    for stripe, yards in enumerate(range(0, field, 10)):
        wide = YARD * min(10, field - yards)
        parts.append(
            f'<rect x="{at(yards)}" width="{wide}" height="{height}" '
            f'fill="{_rgb(GRASS[stripe % 2])}"/>'
        )
    for yards in range(0, field + 1, 10):
        thick = 8 if yards in (0, field) else 3
        parts.append(_upright(at(yards), height, LINE, thick))
        if 0 < yards < field:
            parts.append(
                f'<text x="{at(yards)}" y="{height - 24}" text-anchor="middle" font-size="44" '
                f'style="fill: {_rgb(LINE)}">{min(yards, field - yards)}</text>'
            )
    if situation.to_go < situation.to_goal:
        parts.append(_upright(at(own + situation.to_go), height, TO_GAIN, 8))
    parts.append(_upright(at(own), height, BALL, 5))
    parts.append(
        f'<ellipse cx="{at(own)}" cy="{middle}" rx="30" ry="19" fill="{_rgb(BALL)}" '
        f'stroke="{_rgb(LACES)}" stroke-width="4"/>'
        f'<path d="M{at(own) - 14} {middle}h28" stroke="{_rgb(LACES)}" stroke-width="4"/>'
        f'<path d="M{at(own) + 44} {middle}h46m-18 -16l18 16l-18 16" fill="none" '
        f'stroke="{_rgb(LINE)}" stroke-width="7"/>'
    )
    title = escape(situation_text(ruleset, situation))
    return (
        f'<svg class="pitch" viewBox="0 0 {width} {height}" role="img"><title>{title}</title>'
        f"{''.join(parts)}</svg>"
    )


def _upright(x: float, height: int, colour: tuple[int, int, int], thick: int) -> str:
    return f'<path d="M{x} 0v{height}" stroke="{_rgb(colour)}" stroke-width="{thick}"/>'


def _rgb(colour: tuple[int, int, int]) -> str:
    return f"#{bytes(colour).hex()}"


def _chart_table(solved: SolvedGame, state: Any, chart: Chart, *, hints: bool) -> str:
    """Return the results of every call, with optimal probabilities of both sides if `hints`."""
    rows = [
        *((str(number), row) for number, row in enumerate(chart.cells, 1)),
        ("quick kick", chart.quick_kick),
        ("punt", chart.punt),
    ]
    sides: tuple[dict[int, float], dict[int, float]] = ({}, {})
    if hints:
        own, other = (solved.policy(state, side) for side in (state.offence, 1 - state.offence))
        # A punt that is declared now, or called from the formation, has the number after the kicks.
        place = {**{n: n for n in range(chart.plays + 1)}, chart.plays + 2: chart.plays + 1}
        first = min(other)
        sides = (
            {place[n]: chance for n, chance in own.items() if n in place},
            {n - first: chance for n, chance in other.items()},
        )
    mine, theirs = sides
    heads = "".join(f'<th class="n">{letter}</th>' for letter in chart.letters)
    chances = "".join(
        f'<th class="n dim">{_percent(theirs.get(n, 0.0))}</th>' for n in range(chart.defences)
    )
    second = f"<tr><th></th><th></th>{chances}</tr>" if hints else ""
    body = "".join(
        f'<tr><th scope="row">{name}</th>'
        + (f'<th class="n dim">{_percent(mine.get(n, 0.0))}</th>' if hints else "")
        + "".join(
            f'<td class="n{_played(mine, n, theirs, d)}" title="{escape(cell_text(cell))}">'
            f"{escape(short_text(cell))}</td>"
            for d, cell in enumerate(row)
        )
        + "</tr>"
        for n, (name, row) in enumerate(rows)
    )
    blank = "<th></th>" if hints else ""
    note = (
        "<p>The call sheets of both sides are the percentages; cells that may come up are bold.</p>"
        if hints
        else ""
    )
    return (
        f'{note}<div class="scroll"><table class="matrix"><thead><tr><th></th>{blank}{heads}</tr>'
        f"{second}</thead><tbody>{body}</tbody></table></div>"
        f'<p class="caption">{escape(" ".join(LEGEND.split()))}</p>'
    )


def _played(mine: dict[int, float], row: int, theirs: dict[int, float], column: int) -> str:
    return " played" if mine.get(row, 0.0) > 0 and theirs.get(column, 0.0) > 0 else ""


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f}%" if chance else ""


def _last_down(solved: SolvedGame, state: Any, chart: Chart, ruleset: Ruleset) -> Section:
    """The three ways of the last down and the value of each to the offence."""
    scale = ValueScale(solved.game.info, state.offence)
    values = {
        action: scale.of(value)
        for action, value in solved.action_values(state, state.offence).items()
    }
    calls = {action: value for action, value in values.items() if action < chart.plays}
    ways = {
        WAYS[0]: max(calls.values()) if calls else None,
        WAYS[1]: values.get(chart.plays),
        WAYS[2]: values.get(chart.plays + 2),
        WAYS[3]: values.get(chart.plays + 1),
    }
    allowed = {name: value for name, value in ways.items() if value is not None}
    best = max(allowed.values())
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="n"><data value="{value!r}">{exact(value)}'
        f'</data></td><td class="n">{small(best - value) if value < best else "best"}</td></tr>'
        for name, value in allowed.items()
    )
    title = f"The {ordinal(ruleset.downs)} down"
    return Section(
        title,
        '<div class="scroll"><table class="fourth-down"><thead><tr><th>way</th>'
        '<th class="n">value</th><th class="n">loses</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>",
    )
