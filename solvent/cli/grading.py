"""The command that grades what students hand in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from solvent.cli.tables import facts, show_columns

if TYPE_CHECKING:
    from solvent.grading import Exercise, Graded


def grade(
    exercise: Annotated[
        str,
        typer.Argument(metavar="EXERCISE", help="Name or file (.toml) of an exercise."),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="Answers, .npz or .csv. Without any, the exercise is shown.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write a line for each file as CSV."),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Run the code of a game that the exercise names by its file."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Grade policies or values exactly: points by gap, and the three states that cost most.

    Nothing in a file runs, and a file that cannot be graded does not stop the rest.

    [dim]solvent grade lake-policy answer.npz[/]
    [dim]solvent grade lake-policy answers/*.npz --csv grades.csv[/]
    """
    from solvent.cli.progress import working
    from solvent.grading import find_exercise, grade_files, write_grades

    found = find_exercise(exercise, trust=trust)
    console = Console(emoji=False)
    if not files:
        _show_exercise(console, found)
        return
    graded = []
    with working("grading", total=len(files)) as tell:
        for one in grade_files(found, files):
            graded.append(one)
            tell("grading", len(graded), len(files))
    if table is not None:
        write_grades(table, graded)
    if as_json:
        contents = [vars(one) | {"grade": one.grade and one.grade.as_dict()} for one in graded]
        typer.echo(json.dumps(contents, indent=2))
    else:
        _show_grades(console, graded)
    if any(one.grade is None for one in graded):
        raise typer.Exit(1)


def _show_exercise(console: Console, exercise: Exercise) -> None:
    """Show the question of an exercise, and the way to hand an answer in."""
    from solvent.grading.answers import shapes_of

    subject = exercise.subject
    actions = subject.table.info.actions[subject.player]
    shapes = shapes_of(exercise.asks, subject.rows, len(actions))
    scale = [f"{points:g} for a gap of at most {gap:g}" for gap, points in exercise.points]
    rows = {
        "exercise": f"{exercise.name}: {exercise.title}",
        "question": exercise.question,
        "asked for": exercise.asks.replace("_", " "),
        "discount": "" if exercise.discount == 1 else f"{exercise.discount:g}",
        "array": " or ".join(map(str, shapes)),
        "actions": ", ".join(f"{number} {name}" for number, name in enumerate(actions)),
        "points": "\n".join(scale),
    }
    console.print(facts({name: text for name, text in rows.items() if text}))


def _show_grades(console: Console, graded: Sequence[Graded]) -> None:
    """Show one grade with its explanation, or a line for each of many."""
    from solvent.grading.grades import printable

    if len(graded) == 1 and graded[0].grade is not None:
        console.print(graded[0].grade.text, markup=False, highlight=False)
        return
    columns = {
        "file": [printable(one.file) for one in graded],
        "points": [f"{one.grade.points:g}" if one.grade else "0" for one in graded],
        "gap": [f"{one.grade.gap:.4g}" if one.grade else "" for one in graded],
        "problem": [one.problem for one in graded],
    }
    show_columns(console, columns, numbers={"points", "gap"})
