"""The hold surface of Neller and Presser for Pig, as a map.

Their figure 3 shows, over both scores, the boundary between rolling and holding. Here the surface
is a map of the smallest turn total at which holding is optimal. Holding is not always optimal from
one total on. With a large total that is nearly enough to win it is better to roll for the rest. And
at some scores it pays to roll once more with a larger total: at 41 to 49, to 100, one holds from 22
on, but not at 27 (E. Farmer, "Pig puzzle solution", possiblywrong.wordpress.com, 2014).
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from solvent.exact import Solution
from solvent.games.pig.rules import HOLD, Turn
from solvent.model import TabularGame
from solvent.model.arrays import Floats, Ints
from solvent.report.panel import CIVIDIS, Axis, CellMap, map_script, numbered, shaded
from solvent.report.sections import GamePages, Section
from solvent.report.solved import SolvedTask

NEVER = "#d55e00"
"""The colour of scores at which rolling on is always optimal."""


def hold_surface(table: TabularGame, solution: Solution) -> tuple[Ints, Floats]:
    """Return optimal play of the player on turn in a solved game, read off player 0's states.

    Returns:
        action: [T, T, T] whether holding is optimal, 0 or 1, by own score, the other's score and
            the turn total; -1 in states that play cannot reach, or where the turn is already won.
        chance: [T, T] the value at the beginning of a turn, NaN if it cannot be reached.
    """
    target = int(dict(table.info.parameters)["target"])
    fields = np.array(
        [(s.player, *s.scores, s.total) for s in cast("Sequence[Turn]", table.states)]
    )
    mine = np.flatnonzero((fields[:, 0] == 0) & ~table.terminal)
    _, own, other, total = fields[mine].T
    action = np.full((target,) * 3, -1)
    action[own, other, total] = solution.policies[0].probabilities[mine].argmax(axis=1) == HOLD
    chance = np.full((target, target), np.nan)
    first = total == 0
    chance[own[first], other[first]] = solution.values[mine[first]]
    return action, chance


class PigPages(GamePages):
    """Pig's own sections: the hold surface, and the chances of winning."""

    def sections(self, solved: SolvedTask) -> list[Section]:
        action, chance = hold_surface(solved.table, solved.solution)
        # 0 where holding is never optimal, -1 where no turn can begin.
        at = np.where(np.isnan(chance), -1, (action == 1).argmax(axis=2))
        # The action at each total, or at the last one before it that play can reach.
        last = np.maximum.accumulate(np.where(action >= 0, np.arange(len(action)), 0), axis=2)
        before = np.take_along_axis(action, last, axis=2)[:, :, :-1]
        runs = ((action[:, :, 1:] == 1) & (before != 1)).sum(axis=2)
        again, low = runs > 1, solved.table.info.reward_range[0]
        pairs, held = int((at >= 0).sum()), int((at > 0).sum())
        told = (
            f"Of {pairs:,} pairs of scores there are {pairs - held:,} at which rolling on is "
            "always optimal, in orange."
        )
        if held:
            most = np.bincount(at[at > 0]).argmax()
            told += f" The most frequent total is {most}, at {int((at == most).sum()):,} pairs."
        if again.any():
            told += (
                f" At {int(again.sum()):,} the totals at which it holds are not one run: between "
                "two of them it rolls."
            )
        scores = range(len(at))
        labels = {int(n): f"{n:g}" for n in Axis(0, max(scores[-1], 1)).ticks() if n in scores}
        frame: dict[str, Any] = {
            "axes": ("own score", "score of the other"),
            "labels": (labels, labels),
            "columns": [f"own score {score}" for score in scores],
            "rows": [f"other's score {score}," for score in scores],
        }
        colours, legend = numbered(max(int(at.max()), 0), NEVER)
        totals = {
            "hold at": np.where(at > 0, at, np.nan),
            "runs of totals": runs.astype(float),
        }
        won = (chance - low) / (1 - low)
        maps = (
            CellMap(
                "smallest total at which to hold",
                at,
                colours,
                legend,
                told=totals,
                digits=0,
                **frame,
            ),
            CellMap(
                "chance of winning",
                *shaded(won, CIVIDIS, 1.0),
                told={"chance": won},
                digits=4,
                **frame,
            ),
        )
        html = (
            "<p>The hold surface of Neller and Presser: the smallest turn total at which it is "
            "optimal to hold, by both scores, and the chance of winning at the beginning of a turn."
            f' {told}</p><div class="panels">{"".join(one.figure() for one in maps)}</div>'
        )
        return [Section("When to hold", html, map_script())]
