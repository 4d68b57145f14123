"""``solvent book``: gamebook files, checked, solved and imported."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

book_commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Gamebook files: check one, solve it, or make one from a story of Twine.",
)


def _book(text: str) -> Path:
    """Return the file of a book, given as a path or as the name of a packaged book."""
    from solvent.games.gamebook.library import book_path

    return Path(text) if Path(text).exists() else book_path(text)


BookFile = Annotated[
    Path,
    typer.Argument(
        metavar="BOOK",
        parser=_book,
        help="A gamebook: a file, YAML or JSON, or the name of one that comes with Solvent.",
    ),
]


@book_commands.command()
def check(
    file: BookFile,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Name every fault of a gamebook file, with its line and a cure.

    The exit code is 2 if there is an error, with which the book cannot be used, and else 0.
    """
    from solvent.games.gamebook.loader import check_book

    problems = check_book(file)
    if json:
        typer.echo(json_module.dumps([asdict(problem) for problem in problems], indent=2))
    else:
        for problem in problems:
            typer.echo(str(problem))
    errors = sum(problem.severity == "error" for problem in problems)
    if errors:
        warnings = len(problems) - errors
        also = f" and {_number(warnings, 'warning')}" if warnings else ""
        raise ValueError(f"{file} has {_number(errors, 'error')}{also}")
    if not json:
        found = f"no errors, {_number(len(problems), 'warning')}" if problems else "no faults"
        typer.echo(f"{file}: {found}")


@book_commands.command()
def solve(
    file: BookFile,
    exact: Annotated[
        bool, typer.Option("--exact", help="Calculate in fractions instead of floats.")
    ] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="Tell final states apart by this variable, flag, item or discipline, too; "
            "repeatable.",
        ),
    ] = None,
    decisions: Annotated[int, typer.Option(min=0, help="How many decisions to list.")] = 10,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Solve a gamebook: its value, how best play ends, and which decisions matter most."""
    from solvent.cli.progress import solving
    from solvent.exact import optimal_occupancy, solve_exactly
    from solvent.exact import solve as solve_table
    from solvent.games.gamebook.commands_report import account, report
    from solvent.games.gamebook.loader import load_book
    from solvent.games.gamebook.rules import Gamebook

    game = Gamebook(load_book(file), keep=tuple(by or ()))
    with solving(file.stem) as progress:
        model = game.tabulate_exactly()
        if exact:
            occupancy = optimal_occupancy(model, solve_exactly(model))
        else:
            solution = solve_table(model.table, progress=progress)
            occupancy = optimal_occupancy(model.table, solution)
        told = account(game, occupancy, decisions)
    typer.echo(json_module.dumps(told, indent=2) if json else report(game, told))


@book_commands.command("import")
def import_(
    story_file: Annotated[
        Path, typer.Argument(metavar="STORY", help="Twee 3 (.twee, .tw) or Twine's JSON (.json).")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The gamebook to write (.yaml).")],
) -> None:
    """Make the skeleton of a gamebook from a story of Twine: its graph and its text.

    What a story format would run is not understood and stays in the text.
    """
    from solvent.exact.store import write_atomically
    from solvent.games.gamebook.loader import check_book
    from solvent.games.gamebook.problems import one_line
    from solvent.games.gamebook.twee import book_text, read_story

    if out.exists():
        raise ValueError(f"{out} is there already; it is not overwritten")
    story = read_story(story_file)
    write_atomically(out, book_text(story).encode())
    typer.echo(f"{out}: {_number(len(story.passages), 'section')}")
    with_code = [one_line(p.name) for p in story.passages.values() if p.has_code]
    if with_code:
        typer.echo(f"there seems to be code in the text of: {', '.join(with_code)}")
    for problem in check_book(out):
        typer.echo(str(problem))


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
