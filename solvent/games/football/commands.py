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
from solvent.cli.printing import facts, show_rows
from solvent.games.football.chart import KICK_COLUMNS, cell_text, csv_text, load_chart
from solvent.games.football.chart_model import ChartParameters, make_chart
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation, check_situation, situation_text
from solvent.model.files import write_atomically
from solvent.model.parameters import check_choice

if TYPE_CHECKING:
    from solvent.games.football.packed import PackedRules
    from solvent.games.football.solver.points import PointsSolution

# Numeric columns of a call sheet.
_CALL_FIGURES = ("probability", "points lost")

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
        typer.Option(metavar="FILE", help="The .csv file to write. Default: NAME.csv."),
    ] = None,
) -> None:
    """Make an original chart from a seed and a few parameters.

    [dim]solvent chart make mine --seed 7 --risk 80[/]
    """
    given = parse_parameters(ctx.args)
    known = [field.name for field in fields(ChartParameters)]
    for parameter in given:
        check_choice(parameter, "parameter of a chart", known)
    path = out or Path(f"{name}.csv")
    write_atomically(path, csv_text(make_chart(name, ChartParameters(**given))).encode())
    typer.echo(f"chart: {path}")


@chart_commands.command()
def check(source: ChartArgument) -> None:
    """Check a chart, and report the first error with its row and column."""
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


@chart_commands.command()
def show(source: ChartArgument) -> None:
    """Print a chart: a line per play and a column per defence, then the punts."""
    loaded = load_chart(source)
    console = Console()
    texts = {
        heading: [cell_text(cell) for cell in cells] for heading, cells in loaded.columns.items()
    }
    plays = [(heading, *row) for heading, row in texts.items() if heading not in KICK_COLUMNS]
    for at in range(0, loaded.defences, 5):  # Five columns fit any terminal.
        rows = [(heading, *row[at : at + 5]) for heading, *row in plays]
        show_rows(console, ("play", *loaded.letters[at : at + 5]), rows)
        console.print()
    # A punt has many results, so that its cells are wide: a line per defence.
    punts = [texts[heading] for heading in KICK_COLUMNS]
    headings = ("", *(f"punt {heading}" for heading in KICK_COLUMNS))
    show_rows(console, headings, list(zip(loaded.letters, *punts, strict=True)))


@chart_commands.command()
def points(
    source: ChartArgument,
    ruleset: RulesetOption = None,
    other_chart: OtherChartOption = None,
) -> None:
    """Expected points: the value of having the ball on a chart, solved exactly and proved.

    [dim]solvent chart points mine.csv[/]
    """
    from solvent.benchmark.progress import Bar

    with Bar(f"solving {source}"):
        rules, solutions = _solved(source, ruleset, other_chart)
    console = Console()
    for own, solution in zip(rules, solutions, strict=True):
        values = solution.expected_points(own)
        shown = {
            "chart": values.chart,
            "kickoff": f"{values.kickoff:.6f} to the receiver",
            "proved within": f"[{solution.lower:.12f}, {solution.upper:.12f}]",
            "free kick": f"{values.free_kick:.6f} to the receiver",
            "largest error": f"{solution.error.max():.1e}",
            "largest duality gap": f"{solution.duality_gap.max():.1e}",
        }
        if other_chart is not None:
            shown["kickoff"] += ", the mean of both sides"
            shown["gain"] = f"{solution.gain:.6f} by each score"
        console.print(facts(shown))
        places = (1, *range(5, own.ruleset.field, 5))
        rows = [(str(x), f"{values.first_down[x - 1]:.4f}") for x in places]
        show_rows(console, ("yards to the goal", "first down"), rows, numbers=("first down",))


@chart_commands.command()
def sheet(
    source: ChartArgument,
    down: Annotated[int, typer.Option(metavar="N", help="The down.")] = 1,
    to_go: Annotated[
        int | None,
        typer.Option(metavar="YARDS", help="Yards to the line to gain; default: first down."),
    ] = None,
    to_goal: Annotated[int, typer.Option(metavar="YARDS", help="Yards to the goal.")] = 80,
    punting: Annotated[
        bool, typer.Option("--punting", help="In punt formation, on the last down.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    ruleset: RulesetOption = None,
    other_chart: OtherChartOption = None,
) -> None:
    """Print the call sheet of a situation: optimal strategies, and what every call loses.

    [dim]solvent chart sheet standard --down 3 --to-go 7 --to-goal 34[/]
    """
    from solvent.benchmark.progress import Bar
    from solvent.games.football.solver.points import call_sheet

    chart, numbers = load_chart(source), Ruleset.of(ruleset and parse_value(ruleset))
    usual = min(numbers.first_down, to_goal)
    situation = Situation(down, usual if to_go is None else to_go, to_goal, punting)
    check_situation(numbers, situation)
    with Bar(f"solving {source}"):
        rules, solutions = _solved(source, ruleset, other_chart)
        found = call_sheet(rules[0], solutions[0], situation)
    sides = {"offence": found.offence, "defence": found.defence}
    if as_json:
        own = {"situation": situation._asdict(), "payoff": found.payoff.tolist()}
        calls = {side: [call._asdict() for call in of_side] for side, of_side in sides.items()}
        typer.echo(json.dumps({"chart": chart.name, **found._asdict(), **own, **calls}, indent=2))
        return
    console = Console()
    console.print(f"{situation_text(numbers, situation)} on chart {chart.name}")
    console.print(f"[bold]{found.value:.6f}[/] points to the offence")
    for side, of_side in sides.items():
        console.print()
        rows = [(call.name, f"{100 * call.chance:.2f}%", f"{call.loss:.4f}") for call in of_side]
        show_rows(console, (side, *_CALL_FIGURES), rows, numbers=_CALL_FIGURES)


def _solved(
    source: str, ruleset: str | None, other_chart: str | None
) -> tuple[list[PackedRules], list[PointsSolution]]:
    """The rules of each side's chart, with the numbers that a ruleset changes, and the values."""
    from solvent.games.football.packed import pack_rules
    from solvent.games.football.solver.points import solve_charts

    numbers = Ruleset.of(ruleset and parse_value(ruleset))
    charts = [source] if other_chart is None else [source, other_chart]
    rules = [pack_rules(load_chart(chart), numbers) for chart in charts]
    return rules, solve_charts(*rules)
