"""``solvent chart``: making, checking and showing the charts of football games."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from solvent.cli.parameters import parse_parameters

chart_commands = typer.Typer(
    no_args_is_help=True,
    help="Make, check and show charts of football games.",
    rich_markup_mode="rich",
)

ChartArgument = Annotated[
    str,
    typer.Argument(
        metavar="CHART",
        help="A chart of this package (standard, cautious, aerial, dice), or a .csv or .json file.",
    ),
]


@chart_commands.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Every other option is a parameter of the model: [bold]--risk 80[/], [bold]--dice 2[/].",
)
def make(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The chart's name.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write it, .csv or .json; NAME.csv if left out."
        ),
    ] = None,
) -> None:
    """Make an original chart from a seed and a few parameters.

    [dim]solvent chart make mine --seed 7 --risk 80[/]
    """
    from solvent.exact.store import write_atomically
    from solvent.games.football.chart_files import chart_bytes
    from solvent.games.football.chart_model import ChartParameters, make_chart
    from solvent.model.parameters import check_choice

    given = parse_parameters(ctx.args)
    known = [field.name for field in fields(ChartParameters)]
    for parameter in given:
        check_choice(parameter, "parameter of a chart", known)
    path = out or Path(f"{name}.csv")
    write_atomically(path, chart_bytes(make_chart(name, ChartParameters(**given)), path))
    typer.echo(f"chart: {path}")


@chart_commands.command()
def check(
    source: ChartArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it again, .csv or .json, codes in one form."),
    ] = None,
) -> None:
    """Check a chart; the first thing that is wrong is said with its row and column."""
    from solvent.cli.printing import facts
    from solvent.exact.store import write_atomically
    from solvent.games.football.chart_files import chart_bytes, load_chart

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
        write_atomically(out, chart_bytes(loaded, out))
        typer.echo(f"chart: {out}")


@chart_commands.command()
def show(source: ChartArgument) -> None:
    """Print a chart, a line per play and a column per defence."""
    from solvent.cli.printing import columns
    from solvent.games.football.chart import cell_text
    from solvent.games.football.chart_files import load_chart

    loaded = load_chart(source)
    console = Console()
    table = columns(console, "play", *loaded.letters)
    for heading, cells in loaded.columns.items():
        table.add_row(heading, *(escape(cell_text(cell)) for cell in cells))
    console.print(table)
