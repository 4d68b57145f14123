"""The figure of the page on Yahtzee, ``docs/textbook/yahtzee-scores.svg``.

    python docs/scripts/yahtzee.py

draws how probable every final score is, computed exactly, which takes a minute and 3 GB of memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from solvent.games.yahtzee.evaluation import Evaluation
from solvent.games.yahtzee.rules import Yahtzee
from solvent.games.yahtzee.scores import score_policy
from solvent.games.yahtzee.solution import solved_yahtzee
from solvent.report.colours import ALGORITHMS
from solvent.report.panel import Axis, Panel, write_pictures

FOLDER = Path(__file__).parents[1] / "textbook"
LARGEST = 500
"""The largest score that is drawn."""


def evaluations() -> Mapping[str, Evaluation]:
    """What the policies get that are known without learning, with their distributions."""
    solution = solved_yahtzee(Yahtzee())
    return {
        name: score_policy(solution, name, scores=True).evaluation for name in ("optimal", "greedy")
    }


def picture(found: Mapping[str, Evaluation]) -> str:
    """The distributions of the final score as one SVG.

    Args:
        found: By the policy's name.
    """
    highest = max(100 * one.scores.max() for one in found.values())
    panel = Panel(
        "Final scores of Yahtzee for one",
        "probability (%)",
        Axis(0.0, LARGEST),
        Axis(0.0, 1.05 * highest),
        "points",
    )
    for (name, one), colour in zip(found.items(), ALGORITHMS, strict=False):
        scores = 100 * one.scores[: LARGEST + 1]
        text = f"{name}: {one.value:.2f} on average"
        panel.line(np.arange(len(scores)).tolist(), scores.tolist(), colour, text, dashed=False)
        panel.key(text, colour, "M-8-1h16v2h-16z")
    return panel.alone()


if __name__ == "__main__":
    write_pictures(FOLDER, {"yahtzee-scores.svg": picture(evaluations())})
