"""Maps of Greed: the optimal number of dice and the rating of every position.

The pictures are those of C. Addis, "A Guide to Optimization and Optimal Play in Greed" (2023),
figures 1 and 2, for any limit and sides: before the last turn and in it, with the score of the
player on turn from left to right and the other's from bottom to top. A rating is the chance to win
with optimal play, ties counted half.

Beyond 250 cells to a side only every k-th score is drawn.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.exact import SolvedGame
from solvent.games.greed.rules import Greed, fits_a_table
from solvent.games.greed.solver import GreedSolution, solve_greed
from solvent.model import Game
from solvent.model.arrays import Floats
from solvent.report.panel import CIVIDIS, Axis, CellMap, map_script, numbered, shaded
from solvent.report.sections import GamePages, Section, Untabled
from solvent.report.solved import SolvedTask

# The largest number of cells along a side of a map.
_MOST_CELLS = 250
STAND = "#e3e6e8"
"""The colour of rolling no dice, which is on neither scale."""


def maps_of(solution: GreedSolution) -> dict[str, tuple[CellMap, CellMap]]:
    """Return the maps of dice and ratings before the last turn and in it, by the file's name."""
    return {
        "greed-normal": _maps(
            solution, "before the last turn", solution.normal_roll, solution.normal
        ),
        "greed-last-turn": _maps(solution, "in the last turn", solution.last_roll, solution.last),
    }


def _maps(
    solution: GreedSolution, turn: str, dice: NDArray[np.int16], rating: Floats
) -> tuple[CellMap, CellMap]:
    """Return the maps of one kind of turn; arrays are indexed by own score and the other's."""
    step = _step(solution)
    scores = range(0, solution.game.limit + 1, step)
    most = int(max(solution.normal_roll.max(), solution.last_roll.max()))
    ticks = Axis(0, max(scores[-1], 1)).ticks()
    labels = {round(score / step): f"{score:g}" for score in ticks if score == int(score)}
    colours, legend = numbered(most, STAND)
    frame: dict[str, Any] = {
        "axes": ("score of the player on turn", "score of the other"),
        "labels": (labels, labels),
        "columns": [f"own score {score}" for score in scores],
        "rows": [f"other's score {score}," for score in scores],
    }
    rolls, rated = dice[::step, ::step], rating[::step, ::step]
    name, told = f"optimal number of dice, {turn}", {"dice": rolls.astype(float)}
    return (
        CellMap(name, rolls.astype(np.int64), colours, legend, told=told, digits=0, **frame),
        CellMap(
            f"rating, {turn}",
            *shaded(rated, CIVIDIS, 1.0),
            told={"rating": rated},
            digits=4,
            **frame,
        ),
    )


def _step(solution: GreedSolution) -> int:
    """Return the difference between the scores of neighbouring cells."""
    return -(-(solution.game.limit + 1) // _MOST_CELLS)


class GreedPages(GamePages):
    """Greed's own sections: the maps of all scores, also of games too large for a table."""

    def sections(self, solved: SolvedTask) -> list[Section]:
        assert isinstance(solved.game, Greed)
        return [maps_section(solve_greed(solved.game.limit, solved.game.sides))]

    def untabled(self, subject: Game | SolvedGame) -> Untabled | None:
        game = subject.game if isinstance(subject, GreedSolution) else subject
        if not isinstance(game, Greed) or fits_a_table(game):
            return None
        solved = (
            subject if isinstance(subject, GreedSolution) else solve_greed(game.limit, game.sides)
        )
        return Untabled(solved, (maps_section(solved),))


def maps_section(solution: GreedSolution) -> Section:
    """Return the four maps with their explanation."""
    step = _step(solution)
    thinned = f" Only every {step}th score is drawn." if step > 1 else ""
    panels = "".join(
        f'<div class="panels" data-map="{name}">{dice.figure()}{rating.figure()}</div>'
        for name, (dice, rating) in maps_of(solution).items()
    )
    html = (
        "<p>For every pair of scores, reachable or not: how many dice are best, the fewest where "
        "several numbers are tied, and the rating, which is the chance to win with optimal play, "
        f"ties counted half. Grey is a stand.{thinned}</p>{panels}"
    )
    return Section("Optimal play at every pair of scores", html, map_script())
