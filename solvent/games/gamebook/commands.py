"""``solvent book``: gamebook files, checked, solved and imported."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solvent.model import WINS

if TYPE_CHECKING:
    from solvent.exact import OptimalOccupancy
    from solvent.games.gamebook.rules import Gamebook

book_commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Check or solve a gamebook file, or make one from a Twine story.",
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
        help="Gamebook file (YAML or JSON), or the name of a gamebook of this package.",
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
        raise ValueError(f"{file} has {_counted(errors, 'error')}")
    if not json:
        found = f"no errors, {_counted(len(problems), 'warning')}" if problems else "no faults"
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
    decisions: Annotated[int, typer.Option(min=0, help="Number of decisions to list.")] = 10,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Solve a gamebook: its value, the endings under best play, and the key decisions."""
    from solvent.benchmark.progress import solving
    from solvent.exact import optimal_occupancy, solve_exactly
    from solvent.exact import solve as solve_table
    from solvent.games.gamebook.loader import load_book
    from solvent.games.gamebook.rules import Gamebook

    game = Gamebook(load_book(file), keep=tuple(by or ()))
    with solving(file.stem) as progress:
        model = game.tabulate_exactly()
        subject: Any = model if exact else model.table
        solution = solve_exactly(model) if exact else solve_table(subject, progress=progress)
        occupancy = optimal_occupancy(subject, solution)
        told = account(game, occupancy, decisions)
    typer.echo(json_module.dumps(told, indent=2) if json else report(game, told))


@book_commands.command("import")
def import_(
    story_file: Annotated[
        Path, typer.Argument(metavar="STORY", help="Story in Twee 3, as Twine exports it.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The gamebook to write (.yaml).")],
) -> None:
    """Make the skeleton of a gamebook from a story of Twine: its graph and its text.

    What a story format would run is not understood and stays in the text.
    """
    from solvent.games.gamebook.loader import check_book
    from solvent.games.gamebook.twee import book_text, read_story
    from solvent.model.files import write_atomically

    if out.exists():
        raise ValueError(f"{out} is there already; it is not overwritten")
    story = read_story(story_file)
    write_atomically(out, book_text(story).encode())
    typer.echo(f"{out}: {_counted(len(story.passages), 'section')}")
    for problem in check_book(out):
        typer.echo(str(problem))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


# Largest number of bits of the denominator of a fraction that is printed in full.
_LONGEST_FRACTION = 6000


def account(game: Gamebook, occupancy: OptimalOccupancy, most: int) -> dict[str, Any]:
    """Return the facts about a solved book, as JSON values.

    Numbers are floats; those that are known exactly are also texts such as ``"2 / 3"``.

    Args:
        game: The book. Final states are distinguished by the fields that it keeps.
        occupancy: Occupancy of an optimal policy of the book.
        most: Largest number of decisions to list.
    """
    return {
        "title": game.book.title,
        "digest": game.book.digest,
        "states": len(occupancy.table.states),
        **_number("value", occupancy.value),
        "ends": [
            {
                "ending": end.ending,
                "section": end.section,
                **({"fields": dict(zip(game.keep, end.values, strict=True))} if game.keep else {}),
                **_number("probability", p),
            }
            for end, p in occupancy.ends(game.final_state)
        ],
        "decisions": [
            {
                "section": decision.group.section,
                "step": decision.group.step,
                "place": game.place(decision.group),
                "stake": float(decision.importance),
                "visits": float(decision.visits),
                "choices": {
                    game.label(decision.group, action): float(taken / decision.visits)
                    for action, taken in decision.actions
                },
            }
            for decision in occupancy.decisions(lambda page: page.decision, most)
        ],
    }


def report(game: Gamebook, told: Mapping[str, Any]) -> str:
    """Return the value, the endings of optimal play, and the most important decisions.

    Args:
        game: The book.
        told: The :func:`account` of the book.
    """
    book = game.book
    exact = f" [{told['value_exact']}]" if "value_exact" in told else ""
    value = "Winning probability" if game.info.unit == WINS else "Expected score"
    lines = [
        f"{book.title}: {told['states']:,} states",
        f"{value}: {told['value']!r}{exact}",
    ]
    for name, ending in book.endings.items():
        here = [end for end in told["ends"] if end["ending"] == name]
        total = sum(end["probability"] for end in here)
        lines.append(f"{total:.4f}  {name} (score {ending.score})")
        lines += [f"    {end['probability']:.4f}  {_end_text(end)}" for end in here]
    if told["decisions"]:
        lines.append("Most important decisions (visits x loss by the second best choice):")
    for decision in told["decisions"]:
        choices = ", ".join(f"{label} {p:.0%}" for label, p in decision["choices"].items())
        visited = f"{decision['place']}, visited {decision['visits']:.4f} times"
        lines.append(f"{decision['stake']:.4f}  {visited}: {choices}")
    return "\n".join(lines)


def _end_text(end: Mapping[str, Any]) -> str:
    """A final state in words, with its probability as a fraction where fields were asked for."""
    if "fields" not in end:
        return f"section {end['section']}"
    fields = ", ".join(f"{name} {value}" for name, value in end["fields"].items())
    exact = f" [{end['probability_exact']}]" if "probability_exact" in end else ""
    return f"section {end['section']}: {fields}{exact}"


def _number(name: str, value: Fraction | float) -> dict[str, Any]:
    if not isinstance(value, Fraction):
        return {name: float(value)}
    bits = value.denominator.bit_length()
    is_long = bits > _LONGEST_FRACTION
    exact = f"a fraction with a denominator of {bits} bits" if is_long else f"{value}"
    return {name: float(value), f"{name}_exact": exact.replace("/", " / ")}
