"""The commands that judge what others hand in: answers, submissions and leaderboards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from solvent.benchmark.submissions import Submission
    from solvent.benchmark.suites import Suite
    from solvent.grading import Exercise, Graded

submit = typer.Typer(
    no_args_is_help=True,
    help="Pack the policies of an algorithm for a leaderboard, or check a submission.",
    rich_markup_mode="rich",
)

SuiteFile = Annotated[
    Path | None,
    typer.Option("--suite", metavar="FILE", help="File of the suite, if no package declares it."),
]


@submit.command()
def pack(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A folder that `solvent bench` wrote.")
    ],
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="The algorithm whose runs are packed.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the submission.")],
    authors: Annotated[str, typer.Option(metavar="TEXT", help="Authors of the submission.")],
    code: Annotated[
        str, typer.Option(metavar="LINK", help="Address of the code, https://… Default: none.")
    ] = "",
    budget: Annotated[
        str, typer.Option(metavar="TEXT", help="Budget of a run, in words.")
    ] = "as the suite says",
    tuning: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Tuning of its settings, in words. Default: as recorded."
        ),
    ] = None,
    hardware: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Hardware, in words. Default: as recorded."),
    ] = None,
    uses_model: Annotated[
        bool,
        typer.Option("--uses-model", help="Declare that a learner was given the model."),
    ] = False,
    saw_solution: Annotated[
        bool,
        typer.Option("--saw-solution", help="Declare that a learner saw the solution."),
    ] = False,
    suite: SuiteFile = None,
) -> None:
    r"""Make a submission of an algorithm's runs in a bench: its policies, and a card.

    [dim]solvent submit pack runs/core --algorithm ppo --authors "A. Author" \
    --code https://example.org/ppo --out submissions/ppo[/]
    """
    from solvent.benchmark.submissions import pack_submission

    packed = pack_submission(
        results,
        algorithm,
        out,
        _suite(suite),
        authors=authors,
        code=code,
        budget=budget,
        uses_model=uses_model,
        saw_solution=saw_solution,
        **{
            name: word
            for name, word in (("hardware", hardware), ("tuning", tuning))
            if word is not None
        },
    )
    _show(packed)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    typer.echo(f"\nsubmission: {out}, {size / 1e6:.1f} MB")


@submit.command()
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a submission.")],
    suite: SuiteFile = None,
    rerun: Annotated[
        int, typer.Option(metavar="N", min=0, help="Train N of its runs again and compare.")
    ] = 0,
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --rerun: the algorithm to run, module:function or file.py:function. "
            "Default: the installed algorithm named on the card.",
        ),
    ] = None,
) -> None:
    """Score every policy of a submission again, and show its leaderboard entry.

    A false claim is refused, with the file, the task and the seed. This proves the
    scores, not that anything was learned. --rerun trains some of the runs again.

    [dim]solvent submit check submissions/mine --rerun 3 --algorithm my_file.py:mine[/]
    """
    from solvent.benchmark.progress import Bar
    from solvent.benchmark.submissions import check_submission, train_again

    with Bar("scoring"):
        found = _suite(suite)
        checked = check_submission(folder, found)
    _show(checked)
    for doubt in checked.doubts:
        typer.echo(f"note: {doubt}")
    if rerun:
        for task, seed in train_again(checked, rerun, algorithm, found):
            typer.echo(f"trained again: {task}, seed {seed}: the same policies")


def leaderboard(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="The folders of submissions.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")],
    suite: SuiteFile = None,
) -> None:
    """Check submissions and write a self-contained HTML page that compares them."""
    from solvent.benchmark.progress import Bar
    from solvent.report.leaderboard import write_leaderboard

    with Bar("scoring"):
        page = write_leaderboard(folders, out, _suite(suite))
    typer.echo(f"leaderboard: {page}")


def _suite(file: Path | None) -> Suite | None:
    from solvent.benchmark.suites import find_suite

    return None if file is None else find_suite(str(file))


def _show(submission: Submission) -> None:
    """Show a submission as on a leaderboard; nothing in it is taken for markup."""
    from solvent.benchmark.submissions import PROVED, STATED
    from solvent.cli.printing import facts, show_summary

    card, console = submission.card, Console(emoji=False)
    rows = {
        "proved": PROVED,
        "suite": f"{card.suite} {card.suite_hash[:16]}",
        "stated": STATED,
        "algorithm": card.algorithm,
        "seeds": ", ".join(map(str, card.seeds)),
        "authors": card.authors,
        "code": card.code or "–",
        "code source": card.source or "–",
        "budget": card.budget,
        "settings": card.tuning,
        "hardware": card.hardware,
        "uses the model": "yes" if card.uses_model else "no",
        "saw the solution": "yes" if card.saw_solution else "no",
    }
    console.print(facts(rows, style="dim"))

    show_summary(console, submission.tasks)


def grade(
    exercise: Annotated[
        str,
        typer.Argument(
            metavar="EXERCISE",
            help="Name or file (.toml) of an exercise. An unknown name lists all.",
        ),
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
) -> None:
    """Grade policies or values exactly: points by gap, and the three states that cost most.

    Nothing in a file runs, and a file that cannot be graded does not stop the rest.

    [dim]solvent grade lake-policy answer.npz[/]
    [dim]solvent grade lake-policy answers/*.npz --csv grades.csv[/]
    """
    from solvent.benchmark.progress import Bar
    from solvent.grading import find_exercise, grade_files, write_grades
    from solvent.model.files import check_writable

    found = find_exercise(exercise, trust=trust)
    console = Console(emoji=False)
    if not files:
        if table is not None:
            raise ValueError("--csv writes grades; name the files to grade")
        _show_exercise(console, found)
        return
    if table is not None:
        check_writable(table)
    graded = []
    with Bar("grading", total=len(files)) as tell:
        for one in grade_files(found, files):
            graded.append(one)
            tell("grading", len(graded), len(files))
    if table is not None:
        write_grades(table, graded)
    _show_grades(console, graded)
    if any(one.grade is None for one in graded):
        raise typer.Exit(1)


def _show_exercise(console: Console, exercise: Exercise) -> None:
    """Show the question of an exercise, and the way to hand an answer in."""
    from solvent.cli.printing import facts

    subject = exercise.subject
    actions = subject.table.info.actions[subject.player]
    scale = [f"{points:g} for a gap of at most {gap:g}" for gap, points in exercise.points]
    rows = {
        "exercise": f"{exercise.name}: {exercise.title}",
        "question": exercise.question,
        "asked for": exercise.asks.replace("_", " "),
        "discount": "" if exercise.discount == 1 else f"{exercise.discount:g}",
        "array": " or ".join(map(str, exercise.shapes)),
        "actions": ", ".join(f"{number} {name}" for number, name in enumerate(actions)),
        "points": "\n".join(scale),
    }
    console.print(facts({name: text for name, text in rows.items() if text}))


def _show_grades(console: Console, graded: Sequence[Graded]) -> None:
    """Show one grade with its explanation, or a line for each of many."""
    from solvent.cli.printing import show_columns
    from solvent.model.parameters import printable

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
