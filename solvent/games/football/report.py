"""The page of Football Strategy without a clock: call sheets, expected points, the last down.

The table of a drive has more than a hundred thousand states, nearly all with matrices of 20 x 10,
that of the game until the next score twice as many. Football's own solver solves and scores both
without it.

**Call sheets** are Tables 1 and 2 of McCulloch (2015, "A Game-Theoretic Intelligent Agent for the
Board Game Football Strategy") with one more column, what a call loses against the other's mixed
strategy. The page holds those of all downs and lines, and of some distances; ``solvent chart
sheet`` prints any.

**The last down** is drawn as maps (:mod:`solvent.games.football.fourth_down`).
"""

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import mean
from typing import Any, cast

import numpy as np

from solvent.benchmark.records import BaselineRecord
from solvent.exact import ImproperGameError, SolvedGame
from solvent.games.football.baselines import STRATEGIES
from solvent.games.football.calls import LEGEND, offence_calls, short_text
from solvent.games.football.chart import SHIPPED, Chart, cell_text, load_chart
from solvent.games.football.expected_points import shipped_expected_points
from solvent.games.football.fourth_down import WAYS, everywhere, fourth_downs, maps
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.situation import Situation, ordinal
from solvent.games.football.solver.backup import (
    FootballLosses,
    backup_of,
)
from solvent.games.football.solver.solved import SolvedFootball, solve_football, starts_of
from solvent.model.arrays import Floats
from solvent.model.text import ValueScale, signed
from solvent.report.panel import (
    ALGORITHMS,
    Axis,
    Panel,
    map_script,
)
from solvent.report.sections import GamePages, Section, Untabled, beside, script_json, templates
from solvent.report.solved import SolvedTask

# Largest gap that counts as that of an optimum.
_ROUNDING = 1e-9

# The page has a call sheet for each of these yards to go, and for those of a first down.
_DISTANCES = (1, 2, 3, 5, 7, 10, 15, 20)

# Numbers are given to the script as whole parts of the largest, up to this; below 0, illegal.
_LARGEST = 32767

# Yards to the goal for which expected points are written.
_TABLE = (99, 90, 80, 65, 50, 35, 20, 10, 5, 1)

FIELD = "yards from the own goal line"
"""Name of the axis along the field."""


class FootballPages(GamePages):
    """Football's own sections: the call sheets, the last down, and the chart."""

    def sections(self, solved: SolvedTask) -> list[Section]:
        known = untabled_football(cast(FootballStrategy, solved.game))
        return [] if known is None else list(known.sections)

    def state_sections(self, solved: SolvedGame, state: Any, hints: bool) -> list[Section]:
        if state.phase != "call":
            return []
        game: Any = solved.game
        chart: Chart = game.charts[state.offence]
        sections = [Section("The chart", _chart_table(chart))]
        if hints and state.down == game.loaded_ruleset.downs and not state.punting:
            return [*_last_down(solved, state, chart), *sections]
        return sections


def untabled_football(
    subject: FootballStrategy | SolvedFootball, *, baselines: bool = False
) -> Untabled | None:
    """The optimum and the sections, without a table; None for what only a table can solve.

    Args:
        subject: The rules, or their solution.
        baselines: Whether to score the baselines, too.
    """
    solved = subject if isinstance(subject, SolvedFootball) else solve_football(subject)
    if solved is None:
        return None
    last_downs = fourth_down_section(solved.rules, solved.following())
    sections = sheets_section(solved), points_section(solved), last_downs
    return Untabled(solved, sections, scored_baselines(solved) if baselines else ())


def scored_baselines(solved: SolvedFootball) -> tuple[BaselineRecord, ...]:
    """The uniform policy, the optimum and all baselines of mixed strategies, scored in both seats.

    One against which play need not end, so that no response is best, is left out.

    Until the next score a player is scored with its mixed strategies on both sides of the ball and
    the kickoff that suits it against the response.
    """
    rules, losses = solved.rules, FootballLosses(solved.rules, solved.after, solved.values)
    strategies = {"uniform": backup_of(rules).uniform}
    strategies |= {name: make(rules) for name, make in STRATEGIES.items()}
    strategies["optimal"] = solved.strategies
    starts, chances = None, np.ones(1)
    if solved.game.form == "drive":
        starts, chances = starts_of(solved.game, rules)
    gaps: dict[str, list[Floats]] = {}
    for name, own in strategies.items():
        with suppress(ImproperGameError):
            if starts is None:
                gaps[name] = [np.array([loss]) for loss in losses.until_score(own)]
            else:
                gaps[name] = [losses.of_offence(own)[starts], losses.of_defence(own)[starts]]
    least = [float(chances @ own) for own in gaps["uniform"]]
    records = []
    for name, of_sides in gaps.items():
        lost = [float(chances @ own) for own in of_sides]
        lost = [0.0 if gap < _ROUNDING else gap for gap in lost]
        record = BaselineRecord(
            name=name,
            value=mean((solved.value - lost[0], -solved.value - lost[1])),
            gap=mean(lost),
            normalized=mean(1 - gap / most for gap, most in zip(lost, least, strict=True)),
            worst_start_gap=max(float(own.max()) for own in of_sides),
            exploitability=(lost[0], lost[1]),
        )
        records.append(record)
    return tuple(records)


def sheets_section(solved: SolvedFootball) -> Section:
    """The sheets, with what sets the situation."""
    html = beside(__file__, "football_sheets.html")
    data = script_json(sheets_data(solved))
    script = beside(__file__, "football_sheets.js")
    return Section("Call sheets", html.replace("{{ data }}", data), script)


def sheets_data(solved: SolvedFootball) -> dict[str, Any]:
    """Return the data that the script reads.

    ``numbers`` holds 16-bit whole numbers, [downs + 1, distances, field - 1, 1 + 2A + 2m]: by
    down, punt formation being the last; by distance; by yards to the goal from 1 on. Each row is
    the value, what the offence's actions lose, the chances of its mixed strategy, and the same of
    the defence. Points are to be multiplied by ``point``, chances by ``chance``.
    """
    ruleset, chart = solved.rules.ruleset, solved.rules.chart
    distances = sorted({y for y in (*_DISTANCES, ruleset.first_down) if y < ruleset.field})
    downs = [(down, False) for down in range(1, ruleset.downs + 1)] + [(ruleset.downs, True)]
    lines = range(1, ruleset.field)
    places = [Situation(d, min(y, x), x, p) for d, p in downs for y in distances for x in lines]
    at = list(map(solved.rules.index, places))
    value = solved.values[at, None]
    losses = value - solved.calls[0][at], solved.calls[1][at] - value
    points = np.concatenate((np.abs(value), *losses), axis=1)
    point, chance = float(np.nanmax(points)) / _LARGEST, 1 / _LARGEST
    strategies = solved.strategies.offence[at], solved.strategies.defence[at]
    rows = [np.round(value / point)]
    for loss, strategy in zip(losses, strategies, strict=True):
        for numbers, unit in ((loss, point), (strategy, chance)):
            # Never below 0; anything that is not a number becomes -1.
            rows.append(np.nan_to_num(np.maximum(np.round(numbers / unit), 0), nan=-1))
    packed = np.concatenate(rows, axis=1).astype("<i2").tobytes()
    return {
        "chart": chart.name,
        "field": ruleset.field,
        "downs": [f"{ordinal(d)} down{', punt formation' if p else ''}" for d, p in downs],
        "ordinals": [ordinal(down) for down, _ in downs],
        "distances": distances,
        "usual": ruleset.first_down,
        "start": ruleset.touchback,
        "offence": offence_calls(chart),
        "defence": list(chart.letters),
        "point": point,
        "chance": chance,
        "numbers": base64.b64encode(packed).decode(),
    }


Lines = Mapping[str, Floats]
"""[field - 1] values by name, from a yard before the own goal line to one before the other's."""


def filled(name: str, *arguments: Any) -> str:
    """Return a macro of `report.html.j2` as text."""
    module = templates(__package__).get_template("report.html.j2").module
    return str(getattr(module, name)(*arguments))


def points_section(solved: SolvedFootball) -> Section:
    """Both charts of expected points, and a table of some places."""
    by_down, ruleset = points_by_down(solved), solved.rules.ruleset
    pictures = [("by down", by_down), ("of first downs, by chart", by_chart(solved))]
    figures = [f"<figure>{panel(*one).drawn()}</figure>" for one in pictures if len(one[1]) > 1]
    places = [to_goal for to_goal in _TABLE if to_goal < ruleset.field]
    html = filled("expected_points", ruleset.first_down, figures, places, by_down)
    return Section("Expected points", html)


def points_by_down(solved: SolvedFootball) -> dict[str, Floats]:
    """The values of each down with the yards of a first down to go."""
    downs, yards = solved.rules.ruleset.downs, solved.rules.ruleset.first_down
    return {f"{ordinal(d)} and {yards}": _values(solved, d) for d in range(1, downs + 1)}


def by_chart(solved: SolvedFootball) -> dict[str, Floats]:
    """First downs on the chart itself, and on the shipped ones with the same rules."""
    own, other = solved.rules.chart.name, solved.after.other
    found = {own if other is None else f"{own} against {other.chart}": _values(solved, 1)}
    for chart in map(load_chart, SHIPPED):
        points = shipped_expected_points(chart, solved.rules.ruleset)
        if points is not None:  # Shipped points are for the usual rules.
            found.setdefault(chart.name, np.array(points.first_down[::-1]))
    return found


def _values(solved: SolvedFootball, down: int) -> Floats:
    """The values of a down, from a yard before the own goal line on."""
    ruleset = solved.rules.ruleset
    lines = range(ruleset.field - 1, 0, -1)
    at = [Situation(down, min(ruleset.first_down, to_goal), to_goal) for to_goal in lines]
    return solved.values[list(map(solved.rules.index, at))]


def panel(name: str, lines: Lines) -> Panel:
    """A chart of expected points along the field."""
    xs = range(1, len(next(iter(lines.values()))) + 1)
    return line_chart(f"Expected points {name}", "expected points", xs, lines, FIELD)


def line_chart(
    title: str,
    quantity: str,
    xs: Sequence[float],
    lines: Lines,
    along: str,
    ends: tuple[float, float] | None = None,
    level: float = 0.0,
) -> Panel:
    """Return a chart of some lines with their names below it.

    Args:
        title: Title of the chart.
        quantity: Name of the vertical axis.
        xs: Horizontal coordinates. On a field the axis goes on for a yard after the last.
        lines: Vertical coordinates by the name of the line.
        along: Name of the horizontal axis.
        ends: Ends of the vertical axis; around all values if None.
        level: A number that has a line across the chart, if it is within it.
    """
    values = np.concatenate(list(lines.values()))
    margin = 0.04 * max(float(np.ptp(values)), 1e-9)
    low, high = ends or (float(values.min()) - margin, float(values.max()) + margin)
    x = Axis(0.0, float(xs[-1] + (along == FIELD)))
    chart = Panel(title, quantity, x, Axis(low, high), along)
    if low < level < high:
        chart.level(level, "", "baseline")
    for number, (name, line) in enumerate(lines.items()):
        chart.line([float(x) for x in xs], line.tolist(), line_colour(number), name, dashed=False)
        chart.key(name, line_colour(number), "M-7-1.5h14v3h-14z")
    return chart


def line_colour(number: int) -> str:
    """The colour of the line of a number, from 0."""
    return ALGORITHMS[number % len(ALGORITHMS)]


def fourth_down_section(rules: PackedRules, following: Floats, when: str = "") -> Section:
    """The maps of the last down, with the numbers of the cell that is pointed at.

    Args:
        rules: The chart and the ruleset.
        following: [U] the values of successors to the offence.
        when: The moment that they are for, in a few words; empty if there is one only.
    """
    last = ordinal(rules.ruleset.downs)
    figures = [one.figure() for one in maps(everywhere(rules, following), last)]
    html = filled("last_downs", last, figures)
    return Section(f"The {last}-down map{when}", html, map_script())


def _chart_table(chart: Chart) -> str:
    """Return the results of every call."""
    names = [*map(str, range(1, chart.plays + 1)), "quick kick", "punt"]
    rows = {
        name: [(short_text(cell), signed(cell_text(cell))) for cell in row]
        for name, row in zip(names, chart.columns.values(), strict=True)
    }
    return filled("chart", chart.letters, rows, " ".join(LEGEND.split()))


def _last_down(solved: SolvedGame, state: Any, chart: Chart) -> list[Section]:
    """The ways of the last down, the value of each to the offence, and the map at this moment."""
    game: Any = solved.game
    scale = ValueScale(game.info, state.offence)
    found = solved.action_values(state, state.offence)
    values = {action: scale.of(value) for action, value in found.items()}
    calls = [value for action, value in values.items() if action < chart.plays]
    kicks = (values.get(chart.plays + way) for way in (0, 2, 1))
    ways = zip(WAYS, (max(calls, default=None), *kicks), strict=True)
    allowed = {name: value for name, value in ways if value is not None}
    title = f"The {ordinal(state.down)} down"
    following = getattr(solved, "following", None)
    if following is None:  # A table of the whole game has no map.
        return [Section(title, filled("last_down_ways", allowed, max(allowed.values())))]
    rules, after = pack_rules(chart, game.loaded_ruleset), following(state)
    here = fourth_downs(rules, after, [state.situation])
    needed, chance = float(here.needed[0]), float(here.chance[0])
    html = filled("last_down_ways", allowed, max(allowed.values()), chance, needed)
    when = " at this time and score" if hasattr(state, "ticks") else ""
    return [Section(title, html), fourth_down_section(rules, after, when)]
