"""``solvent chart``: making, checking and showing the charts of football games."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from solvent.cli.groups import GameCommand
from solvent.cli.parameters import parse_parameters, parse_value

if TYPE_CHECKING:
    from solvent.games.football.chart import Chart
    from solvent.games.football.packed import PackedRules
    from solvent.games.football.solver.points import CallSheet, PointsSolution, Progress

chart_commands = typer.Typer(
    no_args_is_help=True,
    help="Make, check and show charts of football games.",
    rich_markup_mode="rich",
)

ChartArgument = Annotated[
    str,
    typer.Argument(
        metavar="CHART",
        help="A chart of this package (standard, cautious, aerial, dice), or a .csv file.",
    ),
]


RulesetOption = Annotated[
    str | None,
    typer.Option(
        "--ruleset",
        metavar="JSON",
        help="Rules that are not the usual ones, as `solvent solve` takes them: "
        "'{\"fake_punt_penalty\": 10}'.",
    ),
]


OtherChartOption = Annotated[
    str | None,
    typer.Option(
        "--other-chart",
        metavar="CHART",
        help="The other side's own chart, from which it plays when it has the ball.",
    ),
]


@chart_commands.command(
    cls=GameCommand,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Every other option is a parameter of the model: [bold]--risk 80[/], [bold]--dice 2[/].",
)
def make(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The chart's name.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The .csv file to write; NAME.csv if left out."),
    ] = None,
) -> None:
    """Make an original chart from a seed and a few parameters.

    [dim]solvent chart make mine --seed 7 --risk 80[/]
    """
    from solvent.exact.store import write_atomically
    from solvent.games.football.chart_files import check_suffix, csv_text
    from solvent.games.football.chart_model import ChartParameters, make_chart
    from solvent.model.parameters import check_choice

    given = parse_parameters(ctx.args)
    known = [field.name for field in fields(ChartParameters)]
    for parameter in given:
        check_choice(parameter, "parameter of a chart", known)
    path = out or Path(f"{name}.csv")
    check_suffix(path)
    write_atomically(path, csv_text(make_chart(name, ChartParameters(**given))).encode())
    typer.echo(f"chart: {path}")


@chart_commands.command()
def check(
    source: ChartArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it again as .csv, with codes in one form."),
    ] = None,
) -> None:
    """Check a chart; the first thing that is wrong is said with its row and column."""
    from solvent.cli.tables import facts
    from solvent.exact.store import write_atomically
    from solvent.games.football.chart_files import check_suffix, csv_text, load_chart

    loaded = load_chart(source)
    Console().print(
        facts(
            {
                "chart": loaded.name,
                "source": loaded.source or "not stated",
                "size": f"{loaded.plays} plays, {loaded.defences} defences",
                "results": f"{len(loaded.results)} different",
                "hash": loaded.hash,
            }
        )
    )
    if out is not None:
        check_suffix(out)
        write_atomically(out, csv_text(loaded).encode())
        typer.echo(f"chart: {out}")


@chart_commands.command()
def show(source: ChartArgument) -> None:
    """Print a chart: a line per play and a column per defence, then the punts."""
    from solvent.cli.tables import show_blocks, show_rows
    from solvent.games.football.chart import KICK_COLUMNS, cell_text
    from solvent.games.football.chart_files import load_chart

    loaded = load_chart(source)
    console = Console()
    texts = {
        heading: [cell_text(cell) for cell in cells] for heading, cells in loaded.columns.items()
    }
    plays = [(heading, *row) for heading, row in texts.items() if heading not in KICK_COLUMNS]
    show_blocks(console, ("play", *loaded.letters), plays)
    console.print()
    # A punt has many results, so that its cells are wide: a line per defence.
    punts = [texts[heading] for heading in KICK_COLUMNS]
    headings = ("", *(f"punt {heading}" for heading in KICK_COLUMNS))
    show_rows(console, headings, list(zip(loaded.letters, *punts, strict=True)))


@chart_commands.command()
def points(
    source: ChartArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write them, for drives to end with (.json)."),
    ] = None,
    situations: Annotated[
        bool,
        typer.Option("--situations", help="Write the values of all situations, for single calls."),
    ] = False,
    ruleset: RulesetOption = None,
    other_chart: OtherChartOption = None,
) -> None:
    """Expected points: what having the ball is worth on a chart, solved exactly and proved.

    [dim]solvent chart points mine.csv --out mine.json[/]
    """
    from solvent.cli.progress import working
    from solvent.cli.tables import facts, show_rows
    from solvent.exact.store import write_atomically

    rules = _rules(source, ruleset, other_chart)
    with working(f"solving {source}") as tell:
        solutions = _solved(
            rules,
            lambda number, residual, _: tell(
                f"solving {source}: residual {residual:.0e} points, round", number, None
            ),
        )
    solution, other = solutions[0], None
    if other_chart is not None:
        other = solutions[1].expected_points(rules[1], situations=situations)
    values = solution.expected_points(rules[0], situations=situations, other=other)
    console = Console()
    shown = {
        "chart": values.chart,
        "kickoff": f"{values.kickoff:.6f} to the receiver",
        "proved within": f"[{solution.lower:.12f}, {solution.upper:.12f}]",
        "free kick": f"{values.free_kick:.6f} to the receiver",
    }
    if other is not None:
        shown |= {
            "chart": f"{values.chart}, the other side's {other.chart}",
            "kickoff": f"{values.kickoff:.6f} to the receiver, the mean of both sides",
            "free kick": f"{values.free_kick:.6f} to the receiver, {other.free_kick:.6f} to the "
            f"other side",
            "gain": f"{solution.gain:.6f} by each score, to the side of {values.chart}",
        }
    shown["largest error"] = f"{max(side.error.max() for side in solutions):.1e}"
    shown["largest duality gap"] = f"{max(side.duality_gap.max() for side in solutions):.1e}"
    console.print(facts(shown))
    sides = [values] if other is None else [values, other]
    headings = ["first down", "first down of the other side"][: len(sides)]
    rows = [
        (str(yards), *(f"{side.first_down[yards - 1]:.4f}" for side in sides))
        for yards in (1, *range(5, rules[0].ruleset.field, 5))
    ]
    show_rows(console, ("yards to the goal", *headings), rows, numbers=headings)
    if out is not None:
        write_atomically(out, values.json_text().encode())
        typer.echo(f"expected points: {out}")


@chart_commands.command()
def sheet(
    source: ChartArgument,
    down: Annotated[int, typer.Option(metavar="N", help="The down.")] = 1,
    to_go: Annotated[
        int | None,
        typer.Option(metavar="YARDS", help="To the line to gain; as on a first down if left out."),
    ] = None,
    to_goal: Annotated[int, typer.Option(metavar="YARDS", help="To the other's goal line.")] = 80,
    punting: Annotated[
        bool, typer.Option("--punting", help="In punt formation, on the last down.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    ruleset: RulesetOption = None,
    other_chart: OtherChartOption = None,
) -> None:
    """The call sheet of a situation: both sides' optimal strategies, and what every call loses.

    [dim]solvent chart sheet standard --down 3 --to-go 7 --to-goal 34[/]
    """
    from solvent.cli.progress import working
    from solvent.games.football.situation import Situation, situation_text
    from solvent.games.football.solver.points import call_sheet

    sides = _rules(source, ruleset, other_chart)
    rules = sides[0]
    usual = min(rules.ruleset.first_down, to_goal)
    situation = Situation(down, usual if to_go is None else to_go, to_goal, punting)
    rules.index(situation)
    with working(f"solving {source}"):
        found = call_sheet(rules, _solved(sides)[0], situation)
    if as_json:
        typer.echo(_sheet_json(rules.chart, found))
        return
    console = Console()
    console.print(f"{situation_text(rules.ruleset, situation)} on chart {rules.chart.name}")
    console.print(f"[bold]{found.value:.6f}[/] points to the offence\n")
    _show_sheet(console, rules.chart, found)


def _show_sheet(console: Console, chart: Chart, sheet: CallSheet) -> None:
    """Both sides' calls, side by side."""
    from rich.columns import Columns
    from rich.table import Table

    from solvent.games.football.report import both_sides

    tables = []
    for side, calls in zip(("offence", "defence"), both_sides(chart, sheet), strict=True):
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
        table.add_column(side)
        for name in ("probability", "points lost"):
            table.add_column(name, justify="right", no_wrap=True)
        for call in calls:
            figures = f"{100 * call.chance:.2f}%", f"{call.loss:.4f}"
            table.add_row(call.name, *figures, style=None if call.chance > 0 else "dim")
        tables.append(table)
    console.print(Columns(tables, padding=(0, 4)))


def _sheet_json(chart: Chart, sheet: CallSheet) -> str:
    """The same for programs, with the matrix of payoffs: a row for each call of the offence."""
    from solvent.games.football.report import both_sides

    offence, defence = both_sides(chart, sheet)
    content = {
        "chart": chart.name,
        "situation": sheet.situation._asdict(),
        "value": sheet.value,
        "duality_gap": sheet.duality_gap,
        "offence": [call._asdict() for call in offence],
        "defence": [call._asdict() for call in defence],
        "payoff": sheet.payoff.tolist(),
    }
    return json.dumps(content, indent=2)


def _rules(source: str, ruleset: str | None, other_chart: str | None) -> tuple[PackedRules, ...]:
    """The rules of each chart, with the numbers that a ruleset changes."""
    from solvent.games.football.chart_files import load_chart
    from solvent.games.football.packed import pack_rules
    from solvent.games.football.ruleset import Ruleset

    numbers = Ruleset.of(ruleset and parse_value(ruleset))
    charts = [source] if other_chart is None else [source, other_chart]
    return tuple(pack_rules(load_chart(chart), numbers) for chart in charts)


def _solved(
    rules: tuple[PackedRules, ...], progress: Progress | None = None
) -> tuple[PointsSolution, ...]:
    """The solution of the endless game for each chart."""
    from solvent.games.football.solver.points import solve_points, solve_two_charts

    if len(rules) == 1:
        return (solve_points(rules[0], progress=progress),)
    return solve_two_charts(*rules, progress=progress)
