"""The leaderboard: submissions in, one HTML file out that needs nothing else.

Every figure on it was computed from the policies of a submission just before. Whatever is only the
word of its authors (names, links, budgets, steps, CPU time) is called *stated* there, and escaped.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from solvent.benchmark.records import SuiteRecord
from solvent.benchmark.statistics import RunStatistic
from solvent.benchmark.submissions import PROVED, STATED, Submission, check_submission
from solvent.benchmark.suites import Suite
from solvent.benchmark.summary import SummaryRow, summarize
from solvent.model.files import check_writable, write_atomically
from solvent.report.charts import profile_panel, tasks_chart
from solvent.report.page import template
from solvent.report.panel import algorithm_marks

KINDS = {
    False: "Learned from samples",
    True: "Given the model, or with sight of the solution",
}
"""The headings of the two tables, by whether more than samples was given."""


class RankedSubmission(NamedTuple):
    """A submission on the board.

    Attributes:
        name: The name on the page: the algorithm, and a number if several have that name.
        submission: The submission.
        row: The row over all tasks.
    """

    name: str
    submission: Submission
    row: SummaryRow


def write_leaderboard(
    folders: Sequence[str | Path], out: str | Path, suite: Suite | None = None
) -> Path:
    """Check submissions and write the page.

    Args:
        folders: The folders of the submissions.
        out: The page to write.
        suite: The suite of the submissions; the installed suites named on the cards if left out.

    Returns:
        `out`.

    Raises:
        StoreError: If a submission is refused, or the page cannot be written.
        ValueError: If there is no submission, or no such suite.
    """
    check_writable(out)
    submissions = [check_submission(folder, suite) for folder in folders]
    write_atomically(out, render_leaderboard(submissions).encode())
    return Path(out)


def render_leaderboard(submissions: Sequence[Submission]) -> str:
    """The page of some submissions that were checked.

    Args:
        submissions: The submissions, in any order.

    Raises:
        ValueError: If there is none.
    """
    return template(
        "leaderboard.html.j2",
        boards=boards_of(submissions),
        proved=PROVED,
        stated=STATED,
    )


def boards_of(submissions: Sequence[Submission], *, whole: bool = True) -> list[dict[str, Any]]:
    """A board for each suite; of suites whose hashes differ, nothing is compared.

    Args:
        submissions: Submissions with the figures that are to be shown.
        whole: Whether there are charts and comparisons.

    Returns:
        Of each board the ``suite``, the ``tables`` with the places under each heading, the best
        first, the ``names`` in that order, the ``tasks``, each with the row of every place, the
        ``improvements`` of every two submissions, the charts ``chart`` of all tasks and
        ``profiles``, and the ``marks``.

    Raises:
        ValueError: If there is none.
    """
    suites: dict[tuple[str, str], list[Submission]] = {}
    for one in submissions:
        suites.setdefault((one.card.suite, one.card.suite_hash), []).append(one)
    return [_board(SuiteRecord(*suite), suites[suite], whole) for suite in sorted(suites)]


def _board(suite: SuiteRecord, submissions: Sequence[Submission], whole: bool) -> dict[str, Any]:
    named = dict(zip(_names(submissions), submissions, strict=True))
    tasks = [
        replace(
            task,
            agents=tuple(
                replace(agent, algorithm=name)
                for name, one in named.items()
                for agent in one.tasks[number].agents
            ),
        )
        for number, task in enumerate(submissions[0].tasks)
    ]
    summary = summarize(tasks, suite, policies=("judged",), compare=whole)
    rows = {(row.algorithm, row.task): row for row in summary.rows}
    places = [RankedSubmission(name, one, rows[name, None]) for name, one in named.items()]
    tables: dict[str, list[RankedSubmission]] = {heading: [] for heading in KINDS.values()}
    for place in sorted(places, key=lambda place: (_largest_first(place.row.iqm), place.name)):
        card = place.submission.card
        tables[KINDS[card.uses_model or card.saw_solution]].append(place)
    names = [place.name for own in tables.values() for place in own]
    marks = algorithm_marks(named)
    panel = profile_panel(tasks, marks) if whole else None
    return {
        "suite": suite,
        "tables": [(heading, own) for heading, own in tables.items() if own],
        "names": names,
        "tasks": [(task, [rows[name, task.name] for name in names]) for task in tasks],
        "chart": tasks_chart(tasks, marks) if whole else "",
        "improvements": {(one.first, one.second): one for one in summary.improvements},
        "profiles": "" if panel is None else panel.drawn(),
        "marks": marks,
    }


def _names(submissions: Sequence[Submission]) -> list[str]:
    """The algorithms, with a number after those that are there more than once."""
    names: list[str] = []
    for one in submissions:
        name, number = one.card.algorithm, 2
        while name in names:
            name, number = f"{one.card.algorithm} ({number})", number + 1
        names.append(name)
    return names


def _largest_first(found: RunStatistic | None) -> float:
    """A key to sort by; an unknown number comes last."""
    return -found.mean if found is not None and isfinite(found.mean) else inf
