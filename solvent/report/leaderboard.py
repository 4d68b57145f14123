"""The leaderboard: submissions in, one HTML file out that needs nothing else.

Every figure on it was computed from the policies of a submission just before. Whatever is only the
word of its authors (names, links, budgets, steps, CPU time) is called *stated* there, and escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from solvent import __version__
from solvent.benchmark.card import PROVED, STATED
from solvent.benchmark.records import AgentRecord, SuiteRecord, TaskRecord
from solvent.benchmark.statistics import LEAST_SEEDS, RunStatistic
from solvent.benchmark.submissions import Submission, check_submission
from solvent.benchmark.suites import Suite
from solvent.benchmark.summary import POLICIES, Improvement, Summary, SummaryRow, bibtex, summarize
from solvent.exact import write_atomically
from solvent.report.colours import Mark, algorithm_marks
from solvent.report.numbers import brief, exact, small, whole
from solvent.report.sections import beside
from solvent.report.seeds import profile_panel

KINDS = {
    False: "Learned from samples",
    True: "Given the model, or with sight of the solution",
}
"""The headings of the two tables, by whether more than samples was given."""


@dataclass(frozen=True, slots=True)
class Place:
    """A submission on the board.

    Attributes:
        name: Its name on the page: the algorithm, and a number if several have that name.
        submission: The submission.
        judged: Over all tasks, by the policies that runs are compared by.
        greedy: Over all tasks, by the greedy policies.
        sampled: Over all tasks, by the policies as sampled.
    """

    name: str
    submission: Submission
    judged: SummaryRow
    greedy: SummaryRow
    sampled: SummaryRow

    @property
    def agents(self) -> list[AgentRecord]:
        """The runs on all tasks."""
        return [agent for task in self.submission.tasks for agent in task.agents]

    @property
    def given_more(self) -> bool:
        """Whether more than samples was given to the learner."""
        return self.submission.card.uses_model or self.submission.card.saw_solution


@dataclass(frozen=True, slots=True)
class Board:
    """The submissions to a suite.

    Attributes:
        suite: The suite.
        tables: The places under each heading, the best first.
        tasks: The tasks in the order of the suite. With each come the rows of every place, of its
            judged, greedy and sampled policies.
        improvements: Of every two submissions.
        profiles: The chart of the performance profiles, or empty.
        marks: Of each name.
    """

    suite: SuiteRecord
    tables: tuple[tuple[str, tuple[Place, ...]], ...]
    tasks: tuple[tuple[TaskRecord, tuple[tuple[SummaryRow, ...], ...]], ...]
    improvements: dict[tuple[str, str], Improvement]
    profiles: str
    marks: dict[str, Mark]

    @property
    def names(self) -> list[str]:
        """The names of all places, in their order."""
        return [place.name for _, places in self.tables for place in places]


def write_leaderboard(
    folders: Sequence[str | Path], out: str | Path, suite: Suite | None = None
) -> Path:
    """Check submissions and write the page.

    Args:
        folders: Of the submissions.
        out: The page.
        suite: That they are for; the installed ones of the names on the cards if left out.

    Returns:
        `out`.

    Raises:
        StoreError: If a submission is refused, or the page cannot be written.
        ValueError: If there is no submission, or no such suite.
    """
    out = Path(out)
    text = render_leaderboard([check_submission(folder, suite) for folder in folders])
    write_atomically(out, text.encode())
    return out


def render_leaderboard(submissions: Sequence[Submission]) -> str:
    """The page of some submissions that were checked.

    Args:
        submissions: In any order.

    Raises:
        ValueError: If there is none.
    """
    environment = Environment(
        loader=PackageLoader("solvent.report", "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"brief": brief, "exact": exact, "small": small, "whole": whole}
    environment.globals |= {"two_digits": "{:.2f}".format, "bibtex": bibtex}
    return environment.get_template("leaderboard.html.j2").render(
        boards=boards_of(submissions),
        least_seeds=LEAST_SEEDS,
        proved=PROVED,
        stated=STATED,
        scripts=[beside(__file__, "save.js")],
        style=beside(__file__, "page.css"),
        version=__version__,
    )


def boards_of(submissions: Sequence[Submission]) -> list[Board]:
    """A board for each suite; of suites whose hashes differ, nothing is compared.

    Args:
        submissions: With the figures that are to be shown.

    Raises:
        ValueError: If there is none.
    """
    if not submissions:
        raise ValueError("a leaderboard needs submissions; there are none")
    suites = sorted({(one.card.suite, one.card.suite_hash) for one in submissions})
    return [
        _board(
            SuiteRecord(*suite),
            [one for one in submissions if (one.card.suite, one.card.suite_hash) == suite],
        )
        for suite in suites
    ]


def _board(suite: SuiteRecord, submissions: Sequence[Submission]) -> Board:
    names = _names(submissions)
    tasks = [
        replace(
            task,
            agents=tuple(
                replace(agent, algorithm=name)
                for name, one in zip(names, submissions, strict=True)
                for agent in one.tasks[number].agents
            ),
        )
        for number, task in enumerate(submissions[0].tasks)
    ]
    summary = summarize(tasks, suite)
    places = sorted(
        (
            Place(name, one, *_rows(summary, name, None))
            for name, one in zip(names, submissions, strict=True)
        ),
        key=lambda place: (_largest_first(place.judged.iqm), place.name),
    )
    tables = [
        (heading, tuple(place for place in places if place.given_more == more))
        for more, heading in KINDS.items()
    ]
    in_order = [place.name for _, own in tables for place in own]
    marks = algorithm_marks(names)
    panel = profile_panel(tasks, marks)
    return Board(
        suite=suite,
        tables=tuple(table for table in tables if table[1]),
        tasks=tuple(
            (task, tuple(_rows(summary, name, task.name) for name in in_order)) for task in tasks
        ),
        improvements={(one.first, one.second): one for one in summary.improvements},
        profiles="" if panel is None else panel.drawn(),
        marks=marks,
    )


def _names(submissions: Sequence[Submission]) -> list[str]:
    """The algorithms, with a number after those that are there more than once."""
    names: list[str] = []
    for one in submissions:
        name, number = one.card.algorithm, 2
        while name in names:
            name, number = f"{one.card.algorithm} ({number})", number + 1
        names.append(name)
    return names


def _rows(summary: Summary, name: str, task: str | None) -> tuple[SummaryRow, ...]:
    """The judged, the greedy and the sampled row of a name."""
    found = (summary.row(name, task, policy) for policy in POLICIES)
    return tuple(row for row in found if row is not None)


def _largest_first(found: RunStatistic | None) -> float:
    """A key to sort by; what nobody can tell comes last."""
    if found is None or isnan(found.mean):
        return float("inf")
    return -found.mean if isfinite(found.mean) else float("inf")
