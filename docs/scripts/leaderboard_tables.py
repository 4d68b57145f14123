"""Write the tables of docs/leaderboard.md anew, from the packed entries.

python docs/scripts/leaderboard_tables.py
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from solvent.benchmark.statistics import LEAST_SEEDS, RunStatistic
from solvent.benchmark.submissions import Submission, check_submission
from solvent.report.leaderboard import boards_of

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"

HEADS = (
    "algorithm", "told", "settings", "seeds", "IQM", "IQM, tasks drawn", "over constant", "steps",
    "CPU s",
)  # fmt: skip
"""The columns of the table over all tasks."""


def as_markdown(submissions: Sequence[Submission]) -> str:
    """Tables of some submissions for a page of documentation, tasks first.

    Args:
        submissions: Submissions with the figures that are to be shown.
    """
    parts = []
    for board in boards_of(submissions, whole=False) if submissions else ():
        places = [place for _, own in board["tables"] for place in own]
        by_task = [
            [f"`{task.name}`", *(_cell(own.iqm) for own in rows)] for task, rows in board["tasks"]
        ]
        gaps = [
            [f"`{task.name}`", *(_cell(own.log_gap, "{:z.2f}") for own in rows)]
            for task, rows in board["tasks"]
        ]
        overall = [
            (
                place.name, row.told, row.tuning, str(len(place.submission.card.seeds)),
                _cell(row.iqm), _cell(row.iqm_over_tasks), _cell(row.over_constant),
                f"{row.timesteps:,.0f}", f"{row.cpu_seconds:.1f}",
            )
            for place in places
            for row in (place.row,)
        ]  # fmt: skip
        seeds = {len(place.submission.card.seeds) for place in places}
        ends = (
            "95% bootstrap intervals over runs" if min(seeds) >= LEAST_SEEDS else "ranges of runs"
        )
        parts += [
            f"## {board['suite'].name}",
            f"Suite `{board['suite'].hash[:16]}`. Interquartile means over seeds, with {ends}.",
            "**Normalized score by task**: 0 is uniform play, 1 is the optimum.",
            _table(["task", *board["names"]], by_task),
            "**Decimal logarithm of the gap by task**: −2 is a gap of 0.01.",
            _table(["task", *board["names"]], gaps),
            "**Over all tasks.** The interval of *IQM* is about these tasks; for *tasks drawn* the "
            "bootstrap draws tasks, too. *Over constant*: 0 is the best policy that takes the same "
            "action in every state. Steps and CPU seconds are means over runs, as stated.",
            _table(HEADS, overall),
        ]
    return "\n\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # Texts of a card are nothing but text.
    safe = [[escape(cell).replace("|", "&#124;") for cell in row] for row in (heads, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in (safe[0], ["---"] * len(heads), *safe[1:])]
    return "\n".join(lines)


def _cell(found: RunStatistic | None, form: str = "{:z.3f}") -> str:
    if found is None:
        return "–"
    mean, low, high = (
        form.format(n).replace("-", "−") for n in (found.mean, found.low, found.high)
    )
    return mean if low == high else f"{mean} [{low}, {high}]"


def main() -> None:
    """Check the packed entries and write the tables."""
    folders = sorted(card.parent for card in RESULTS.glob("*/*/card.json"))
    text = as_markdown([check_submission(folder) for folder in folders])
    (RESULTS / "tables.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
