"""The tables of ``docs/leaderboard.md``, from the submissions in ``docs/leaderboard/``.

    python docs/scripts/leaderboard.py

writes them into the page, between the lines that say so. The figures are those that the submissions
claim; ``tests/benchmark/test_reference.py`` scores the policies again.
"""

from __future__ import annotations

import re
from pathlib import Path

from solvent.benchmark.submissions import read_submission
from solvent.report.leaderboard import boards_of, markdown

PAGE = Path(__file__).parents[1] / "leaderboard.md"
FOLDER = PAGE.with_suffix("")
PART = re.compile(r"(<!-- leaderboard -->\n).*?(<!-- end -->)", re.DOTALL)


def submissions() -> list[Path]:
    """The folders of all submissions."""
    return sorted(card.parent for card in FOLDER.glob("*/*/card.json"))


def tables() -> str:
    """The tables of all suites."""
    return "\n".join(
        f"### {board.suite.name}\n\nSuite hash `{board.suite.hash[:16]}`.\n\n{markdown(board)}"
        for board in boards_of([read_submission(folder) for folder in submissions()])
    )


def filled(page: str) -> str:
    """The page with the tables as they are now."""
    return PART.sub(lambda found: f"{found[1]}\n{tables()}\n{found[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
