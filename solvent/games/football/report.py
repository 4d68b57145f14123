"""The page of Football Strategy without a clock: call sheets, expected points, the last down.

The table of a drive has more than a hundred thousand states, nearly all with matrices of 20 x 10,
that of the game until the next score twice as many. Football's own solver solves and scores both
without it.

**Call sheets** are Tables 1 and 2 of McCulloch (2015, "A Game-Theoretic Intelligent Agent for the
Board Game Football Strategy") with one more column, what a call loses against the other's mixed
strategy. The page holds those of all downs and lines, and of some distances; ``solvent chart
sheet`` prints any.

**The last down.** The offence has three ways, each with an exact value: a normal call (the chart's
plays and the quick kick, mixed), declaring punt formation (from which some plays are called as
fakes), and a field goal. Maps show the best, how often a declared punt is a fake, and what the
second best would lose.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from statistics import mean
from typing import Any, NamedTuple, cast

import numpy as np

from solvent.benchmark.records import BaselineRecord
from solvent.exact import ImproperGameError, SolvedGame
from solvent.games.football.baselines.players import STRATEGIES
from solvent.games.football.calls import LEGEND, short_text
from solvent.games.football.chart import Chart, cell_text, headings
from solvent.games.football.chart_files import SHIPPED, load_chart
from solvent.games.football.expected_points import ExpectedPointsError, shipped_expected_points
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation, ordinal
from solvent.games.football.solver.backup import backup_of
from solvent.games.football.solver.points import CallSheet
from solvent.games.football.solver.responses import FootballLosses
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.model.arrays import Floats, Ints
from solvent.model.text import ValueScale, brief, exact, small
from solvent.report.cell_map import CellMap, map_script, named_legend, shaded
from solvent.report.colours import ALGORITHMS, CIVIDIS, VIRIDIS
from solvent.report.panel import Axis, Panel
from solvent.report.sections import Section, Untabled, beside, script_json
from solvent.report.solved import SolvedTask

ROUNDING = 1e-9
"""Largest gap that counts as that of an optimum."""

DISTANCES = (1, 2, 3, 5, 7, 10, 15, 20)
"""Yards to go of the sheets in the page, with those of a first down."""

LARGEST = 32767
"""Numbers are given to the script as whole parts of the largest, up to this; below 0, illegal."""

TABLE = (99, 90, 80, 65, 50, 35, 20, 10, 5, 1)
"""Yards to the goal for which expected points are written."""

WAYS = ("go for it", "quick kick", "punt formation", "field goal")
WAY_COLOURS = ("#0072b2", "#56b4e9", "#e69f00", "#009e73")
GO, QUICK_KICK, PUNT, KICK = range(len(WAYS))

MOST_TO_GO = 30
"""Longer distances are not drawn."""


def football_sections(task: SolvedTask) -> list[Section]:
    """The sections of a solved task; none for a single play."""
    solved = _solved(cast(FootballStrategy, task.game))
    return [] if solved is None else list(_sections(solved))


def untabled_football(subject: FootballStrategy | SolvedFootball) -> Untabled | None:
    """The optimum, the baselines and the sections; None for what only a table can solve.

    Args:
        subject: The rules, or their solution.
    """
    solved = subject if isinstance(subject, SolvedFootball) else _solved(subject)
    if solved is None:
        return None
    return Untabled(solved, _sections(solved), scored_baselines(solved))


def _solved(game: FootballStrategy) -> SolvedFootball | None:
    """The solution without a table, if there is one.

    Raises:
        ValueError: If each side plays from a chart of its own until the next score.
    """
    if game.form == "points" and game.two_charts:
        raise ValueError(
            "the report on form 'points' is for both sides on one chart; with other_chart it shows "
            "form 'drive', one side's chart at a time, and `solvent chart points CHART "
            "--other-chart OTHER` prints the values of both"
        )
    return solve_football(game)


def _sections(solved: SolvedFootball) -> tuple[Section, ...]:
    return sheets_section(solved), points_section(solved), fourth_down_section(solved)


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
    starts, chances = solved.starts if solved.game.form == "drive" else (None, np.ones(1))
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
        lost = [0.0 if gap < ROUNDING else gap for gap in lost]
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


class Call(NamedTuple):
    """A call by name, its chance, and the points that it loses against the other's strategy."""

    name: str
    chance: float
    loss: float


def both_sides(chart: Chart, sheet: CallSheet) -> tuple[list[Call], list[Call]]:
    """The legal calls of offence and defence in a situation."""
    names = offence_calls(chart)
    offence_loss = sheet.value - sheet.payoff @ sheet.defence_strategy
    defence_loss = sheet.offence_strategy @ sheet.payoff - sheet.value
    return (
        _calls([names[action] for action in sheet.actions], sheet.offence_strategy, offence_loss),
        _calls(chart.letters, sheet.defence_strategy, defence_loss),
    )


def _calls(names: Iterable[str], strategy: Floats, loss: Floats) -> list[Call]:
    # A call that is mixed loses nothing but rounding.
    lost = np.where(strategy > 0, 0.0, np.maximum(loss, 0.0))
    return [Call(*line) for line in zip(names, strategy.tolist(), lost.tolist(), strict=True)]


def offence_calls(chart: Chart) -> tuple[str, ...]:
    """The names of the offence's actions."""
    return (*headings(chart.plays)[:-2], "quick kick", "field goal", "punt")


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
    distances = sorted({y for y in (*DISTANCES, ruleset.first_down) if y < ruleset.field})
    downs = [(down, False) for down in range(1, ruleset.downs + 1)] + [(ruleset.downs, True)]
    lines = range(1, ruleset.field)
    at = solved.numbers(
        [Situation(d, min(y, x), x, p) for d, p in downs for y in distances for x in lines]
    )
    value = solved.values[at, None]
    losses = value - solved.calls[0][at], solved.calls[1][at] - value
    points = np.concatenate((np.abs(value), *losses), axis=1)
    point, chance = float(np.nanmax(points)) / LARGEST, 1 / LARGEST
    strategies = solved.offence_strategy[at], solved.defence_strategy[at]
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


def points_section(solved: SolvedFootball) -> Section:
    """Both charts of expected points, and a table of some places."""
    pictures = [("by down", points_by_down(solved)), ("of first downs, by chart", by_chart(solved))]
    figures = "".join(
        f"<figure>{panel(name, lines).drawn()}{_legend(lines)}</figure>"
        for name, lines in pictures
        if len(lines) > 1
    )
    places = [to_goal for to_goal in TABLE if to_goal < solved.rules.ruleset.field]
    head = "".join(f'<th class="n">{to_goal}</th>' for to_goal in places)
    rows = ""
    for name, values in points_by_down(solved).items():
        cells = "".join(
            f'<td class="n" data-points="{values[-x]}">{brief(values[-x])}</td>' for x in places
        )
        rows += f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
    return Section(
        "Expected points",
        "<p>The value of having the ball with optimal play on both sides: the points still to "
        "come for the side that has it, less the other side's. With "
        f"{solved.rules.ruleset.first_down} yards to go, or the goal where it is nearer.</p>"
        f'<div class="panels">{figures}</div>'
        '<div class="scroll"><table class="football-points"><thead><tr><th>yards to the goal</th>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>",
    )


def points_by_down(solved: SolvedFootball) -> dict[str, Floats]:
    """The values of each down with the yards of a first down to go."""
    downs, yards = solved.rules.ruleset.downs, solved.rules.ruleset.first_down
    return {f"{ordinal(d)} and {yards}": _values(solved, d) for d in range(1, downs + 1)}


def by_chart(solved: SolvedFootball) -> dict[str, Floats]:
    """First downs on the chart itself, and on the shipped ones with the same rules."""
    own, other = solved.rules.chart.name, solved.after.other
    found = {own if other is None else f"{own} against {other.chart}": _values(solved, 1)}
    for chart in map(load_chart, SHIPPED):
        with suppress(ExpectedPointsError):  # Those that are shipped are for the usual rules.
            points = shipped_expected_points(chart, solved.rules.ruleset)
            found.setdefault(chart.name, np.array(points.first_down[::-1]))
    return found


def _values(solved: SolvedFootball, down: int) -> Floats:
    """The values of a down, from a yard before the own goal line on."""
    ruleset = solved.rules.ruleset
    lines = range(ruleset.field - 1, 0, -1)
    at = [Situation(down, min(ruleset.first_down, to_goal), to_goal) for to_goal in lines]
    return solved.values[solved.numbers(at)]


def panel(name: str, lines: Lines) -> Panel:
    """A chart of the lines."""
    values = np.concatenate(list(lines.values()))
    low, high = float(values.min()), float(values.max())
    margin = 0.04 * max(high - low, 1e-9)
    field = len(next(iter(lines.values()))) + 1
    x, y = Axis(0.0, float(field)), Axis(low - margin, high + margin)
    title, along = f"Expected points {name}", "yards from the own goal line"
    chart = Panel(title, "expected points", x, y, along)
    if low < 0 < high:
        chart.level(0.0, "", "baseline")
    xs = [float(x) for x in range(1, field)]
    for number, (line, points) in enumerate(lines.items()):
        chart.line(xs, points.tolist(), line_colour(number), line, dashed=False)
    return chart


def line_colour(number: int) -> str:
    """The colour of the line of a number, from 0."""
    return ALGORITHMS[number % len(ALGORITHMS)]


def _legend(lines: Lines) -> str:
    keys = "".join(
        f'<span><i class="key" style="background: {line_colour(number)}"></i> {escape(name)}</span>'
        for number, name in enumerate(lines)
    )
    return f'<p class="legend">{keys}</p>'


class FourthDowns(NamedTuple):
    """The last down everywhere, by yards from the own goal line and yards to go, each from 1.

    Attributes:
        way: [X, Y] the best of :data:`WAYS`, -1 where the goal is nearer than the line to gain;
            a normal call counts as a quick kick where that is at least half of its mixed strategy.
        values: [3, X, Y] of a normal call, punt formation and a field goal; NaN where one is not
            allowed.
        quick_kick: [X, Y] its chance where a normal call is best, else NaN.
        fake: [X, Y] the chance of a fake in punt formation, NaN where that is not best.
        margin: [X, Y] what the second best of the three loses; NaN where there is one way only.
    """

    way: Ints
    values: Floats
    quick_kick: Floats
    fake: Floats
    margin: Floats


def fourth_downs(solved: SolvedFootball) -> FourthDowns:
    """The last down of a solved game."""
    ruleset, plays = solved.rules.ruleset, solved.rules.chart.plays
    field, downs = ruleset.field, ruleset.downs
    shape = field - 1, min(MOST_TO_GO, field - 1)
    places = [(x, y) for x in range(shape[0]) for y in range(min(shape[1], shape[0] - x))]
    normal, punting = (
        solved.numbers([Situation(downs, y + 1, field - 1 - x, declared) for x, y in places])
        for declared in (False, True)
    )
    value = solved.calls[0][normal]
    call = np.nanmax(value[:, : plays + 1], axis=1)
    three = np.stack((call, value[:, plays + 2], value[:, plays + 1]))
    known = np.nan_to_num(three, nan=-np.inf)
    best, ranked = np.argmax(known, axis=0), np.sort(known, axis=0)
    quick = np.where(best == 0, solved.offence_strategy[normal, plays], np.nan)
    fake = solved.offence_strategy[punting, :plays].sum(axis=1)
    margin = ranked[2] - ranked[1]
    way = np.select([best == 1, best == 2, quick >= 0.5], [PUNT, KICK, QUICK_KICK], GO)

    def spread(numbers: Floats) -> Floats:
        filled = np.full(shape, np.nan)
        filled[tuple(np.array(places).T)] = numbers
        return filled

    return FourthDowns(
        way=np.nan_to_num(spread(way.astype(float)), nan=-1).astype(np.int64),
        values=np.stack([spread(numbers) for numbers in three]),
        quick_kick=spread(quick),
        fake=spread(np.where(best == 1, fake, np.nan)),
        margin=spread(np.where(np.isfinite(margin), margin, np.nan)),
    )


def fourth_down_section(solved: SolvedFootball) -> Section:
    """The three maps, with the numbers of the cell that is pointed at."""
    last = ordinal(solved.rules.ruleset.downs)
    figures = "".join(one.figure() for one in maps(fourth_downs(solved), last))
    html = (
        f"<p>On {last} down the offence has three ways, each with an exact value: a normal call, "
        "mixed from the chart's plays and the quick kick; declaring punt formation, from which "
        "some plays are called as fakes; a field goal. The first map shows the best (a normal "
        "call counts as a quick kick where that is at least half of it), the second how often "
        "punt formation is a fake, the third what the second best would lose. Cells without a "
        "colour: the goal is nearer than the line to gain, or, in the second map, punt formation "
        f'is not best.</p><div class="panels">{figures}</div>'
    )
    return Section(f"The {last}-down map", html, map_script())


def maps(found: FourthDowns, last: str) -> list[CellMap]:
    """The maps of the last down; those that would be of one colour are left out.

    Args:
        found: The numbers.
        last: The last down as it is called.
    """
    wide, high = found.way.shape
    names = dict(zip(("normal call", "punt formation", "field goal"), found.values, strict=True))
    names["share of quick kicks"] = found.quick_kick
    drawn: list[tuple[str, Ints, Sequence[str], str, Mapping[str, Floats]]] = [
        ("best way", found.way, WAY_COLOURS, named_legend(WAYS, WAY_COLOURS), names)
    ]
    for name, numbers, scale in (
        ("chance of a fake where punt formation is best", found.fake, VIRIDIS),
        ("points lost by the second best way", found.margin, CIVIDIS),
    ):
        most = float(np.nanmax(numbers, initial=0.0))
        if most > 0:
            drawn.append((name, *shaded(numbers, scale, most), {name: numbers}))
    labels = [
        {round(n) - 1: f"{n:g}" for n in Axis(1, size).ticks() if n == int(n)}
        for size in (wide, high)
    ]
    lines = [
        f"its own {x}" if 2 * x <= wide else f"the other's {wide + 1 - x}"
        for x in range(1, wide + 1)
    ]
    return [
        CellMap(
            name,
            level,
            colours,
            legend,
            axes=("yards from the own goal line", "yards to go"),
            labels=(labels[0], labels[1]),
            columns=[f"at {line}" for line in lines],
            rows=[f"{last} and {y}" for y in range(1, high + 1)],
            told=told,
        )
        for name, level, colours, legend, told in drawn
    ]


def state_sections(solved: SolvedGame, state: Any, hints: bool) -> list[Section]:
    """The sections on a position of any form of the game: the last down, and the chart.

    Args:
        solved: The game.
        state: The position.
        hints: Whether what is optimal may be told.
    """
    if state.phase != "call":
        return []
    game: Any = solved.game
    ruleset: Ruleset = game.loaded_ruleset
    chart: Chart = game.charts[state.offence] if hasattr(game, "charts") else game.loaded_chart
    sections = []
    if hints and state.down == ruleset.downs and not state.punting:
        title = f"The {ordinal(ruleset.downs)} down"
        sections.append(Section(title, _last_down(solved, state, chart)))
    return [*sections, Section("The chart", _chart_table(solved, state, chart, hints=hints))]


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
