"""A position of football as ``solvent explore`` shows it: the field, the chart, the last down."""

from __future__ import annotations

from html import escape
from typing import Any

from solvent.exact import SolvedGame
from solvent.games.football.calls import LEGEND, short_text, situation_lines
from solvent.games.football.chart import Chart, cell_text
from solvent.games.football.report import WAYS
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import ordinal
from solvent.model.game import words
from solvent.model.scale import ValueScale
from solvent.model.text import exact, small
from solvent.report.sections import Section


def state_sections(solved: SolvedGame, state: Any, hints: bool) -> list[Section]:
    """The sections on a position of any form of the game.

    Args:
        solved: The game.
        state: The position.
        hints: Whether what is optimal may be told.
    """
    game: Any = solved.game
    ruleset: Ruleset = game.loaded_ruleset
    place, field = "play is over", ""
    if state.down:
        place, *lines = situation_lines(ruleset, state.offence, state.situation)
        field = '<pre class="drawing">{}</pre>'.format("\n".join(lines))
    elif state.phase != "over":
        place = f"player {state.offence}: {state.phase}"
    place = words(game).place(state) or place
    sections = [Section("The field", f"<p>{escape(place[:1].upper() + place[1:])}.</p>{field}")]
    if state.phase != "call":
        return sections
    chart: Chart = game.charts[state.offence] if hasattr(game, "charts") else game.loaded_chart
    if hints and state.down == ruleset.downs and not state.punting:
        title = f"The {ordinal(ruleset.downs)} down"
        sections.append(Section(title, _last_down(solved, state, chart)))
    sections.append(Section("The chart", _chart_table(solved, state, chart, hints=hints)))
    return sections


def _chart_table(solved: SolvedGame, state: Any, chart: Chart, *, hints: bool) -> str:
    """Return the results of every call, with optimal probabilities of both sides if `hints`."""
    mine: dict[int, float] = {}
    theirs: dict[int, float] = {}
    if hints:
        own, other = (solved.policy(state, side) for side in (state.offence, 1 - state.offence))
        # A punt that is declared now, or called from the formation, is the line after the kicks.
        mine = {n: chance for n, chance in own.items() if n <= chart.plays}
        mine[chart.plays + 1] = own.get(chart.plays + 2, 0.0)
        theirs = {n - min(other): chance for n, chance in other.items()}
    names = [*map(str, range(1, chart.plays + 1)), "quick kick", "punt"]
    body = ""
    for n, (name, row) in enumerate(zip(names, chart.columns.values(), strict=True)):
        body += f'<tr><th scope="row">{name}</th>'
        body += f'<th class="n dim">{_percent(mine.get(n, 0.0))}</th>' if hints else ""
        for d, cell in enumerate(row):
            played = " played" if mine.get(n) and theirs.get(d) else ""
            text = escape(short_text(cell))
            body += f'<td class="n{played}" title="{escape(cell_text(cell))}">{text}</td>'
        body += "</tr>"
    blank = "<th></th>" if hints else ""
    head = "".join(f'<th class="n">{letter}</th>' for letter in chart.letters)
    note = second = ""
    if hints:
        note = "<p>Percentages are both sides' call sheets; cells that may come up are bold.</p>"
        second = "".join(f'<th class="n dim">{_percent(share)}</th>' for share in theirs.values())
        second = f"<tr><th></th><th></th>{second}</tr>"
    return (
        f'{note}<div class="scroll"><table class="matrix"><thead><tr><th></th>{blank}{head}</tr>'
        f"{second}</thead><tbody>{body}</tbody></table></div>"
        f'<p class="caption">{escape(" ".join(LEGEND.split()))}</p>'
    )


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f}%" if chance else ""


def _last_down(solved: SolvedGame, state: Any, chart: Chart) -> str:
    """The ways of the last down and the value of each to the offence."""
    scale = ValueScale(solved.game.info, state.offence)
    found = solved.action_values(state, state.offence)
    values = {action: scale.of(value) for action, value in found.items()}
    calls = [value for action, value in values.items() if action < chart.plays]
    kicks = (values.get(chart.plays + way) for way in (0, 2, 1))
    ways = zip(WAYS, (max(calls, default=None), *kicks), strict=True)
    allowed = {name: value for name, value in ways if value is not None}
    best = max(allowed.values())
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="n"><data value="{value!r}">{exact(value)}'
        f'</data></td><td class="n">{small(best - value) if value < best else "best"}</td></tr>'
        for name, value in allowed.items()
    )
    return (
        '<div class="scroll"><table class="fourth-down"><thead><tr><th>way</th>'
        '<th class="n">value</th><th class="n">loses</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
