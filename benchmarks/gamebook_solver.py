"""CPU time to solve a long gamebook, beside the same rules under the solver of trees, in one run.

    python benchmarks/gamebook_solver.py [--sections 350] [--seed 0] [--quick] [--json FILE]

The book is made by chance in the manner of a printed one, both kinds of combat included
(tests/helpers/generated_books.py). Contestants, each from the book to its value:

    arrays, floats        tabulate and solve, with certificate
    arrays, rationals     tabulate_exactly and solve_exactly
    tree, floats          solve_tree: the rules asked state by state, memoised
    tree, rationals       the same in Fractions

All values are compared: rationals are equal, floats agree with them. Each contestant is timed once,
in CPU time of the process, after all of them have solved a small book to warm up and compile. The
largest memory of the process is noted after each. --quick leaves the trees out.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from solvent.exact import GameTree, solve, solve_exactly, solve_tree
from solvent.games.gamebook.book import Book
from solvent.games.gamebook.rules import Gamebook

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from generated_books import generated_book

ACCURACY = 1e-10


class Answer(NamedTuple):
    """The result of a contestant; `states` is the number that it visits."""

    value: Fraction | float
    states: int


class Row(NamedTuple):
    """A line of the report; `ratio` is to the arrays in floats, `megabytes` the peak so far."""

    name: str
    states: int
    seconds: float
    ratio: float
    megabytes: float | None


def arrays(book: Book) -> Answer:
    table = Gamebook(book).tabulate()
    return Answer(solve(table).value, table.n_states)


def rationals(book: Book) -> Answer:
    model = Gamebook(book).tabulate_exactly()
    return Answer(solve_exactly(model).value, model.table.n_states)


def tree(book: Book, *, exact: bool) -> Answer:
    game = GameTree(Gamebook(book))
    solution = solve_tree(game.choices, game.score, game.start, exact=exact)
    return Answer(solution.value, len(solution))


CONTESTANTS: dict[str, Callable[[Book], Answer]] = {
    "arrays, floats": arrays,
    "arrays, rationals": rationals,
    "tree, floats": lambda book: tree(book, exact=False),
    "tree, rationals": lambda book: tree(book, exact=True),
}


def megabytes() -> float | None:
    """The largest memory of the process so far, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def measure(book: Book, names: list[str]) -> list[Row]:
    """Compare and time the named contestants on a book."""
    rows: list[Row] = []
    answers: dict[str, Answer] = {}
    for name in names:
        begun = time.process_time()
        answers[name] = CONTESTANTS[name](book)
        seconds = time.process_time() - begun
        first = rows[0].seconds if rows else seconds
        rows.append(Row(name, answers[name].states, seconds, seconds / first, megabytes()))
    exact = [a.value for a in answers.values() if isinstance(a.value, Fraction)]
    if len(set(exact)) > 1:
        raise SystemExit(f"the rationals differ: {[float(value) for value in exact]}")
    for name, answer in answers.items():
        if abs(float(answer.value) - float(exact[0])) > ACCURACY:
            raise SystemExit(f"{name} finds {float(answer.value)!r}, not {float(exact[0])!r}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sections", type=int, default=350, help="of the book (default 350)")
    parser.add_argument("--seed", type=int, default=0, help="of the book (default 0)")
    parser.add_argument("--quick", action="store_true", help="leave the trees out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as well")
    options = parser.parse_args()
    names = [name for name in CONTESTANTS if not (options.quick and name.startswith("tree"))]
    measure(generated_book(10, seed=3, endurance=3), names)
    rows = measure(generated_book(options.sections, options.seed), names)
    print(f"{options.sections} sections, seed {options.seed}: values agree")
    print(f"{'':20}{'states':>12}{'CPU s':>10}{'times as long':>16}{'peak MB so far':>18}")
    for row in rows:
        peak = "" if row.megabytes is None else f"{row.megabytes:,.0f}"
        print(f"{row.name:20}{row.states:12,}{row.seconds:10.1f}{row.ratio:16.1f}{peak:>18}")
    if options.json:
        options.json.write_text(
            json.dumps([row._asdict() for row in rows], indent=2) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
