"""The hold surface of Neller and Presser for Pig, as a map.

Their figure 3 shows, over both scores, the boundary between rolling and holding. Here the surface
is a map of the smallest turn total at which holding is optimal. Holding is not always optimal from
one total on. With a large total that is nearly enough to win it is better to roll for the rest. And
at some scores it pays to roll once more with a larger total: at 41 to 49, to 100, one holds from 22
on, but not at 27 (E. Farmer, "Pig puzzle solution", possiblywrong.wordpress.com, 2014).
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class HoldSurface:
    """Optimal play of the player on turn, by own score, the other's score and the turn total.

    Attributes:
        action: [T, T, T] whether holding is optimal, 0 or 1; -1 in states that play cannot reach,
            or where the turn is already won.
        chance: [T, T] the chance of winning at the beginning of a turn, NaN if it cannot be
            reached.
    """

    action: Ints
    chance: Floats

    @property
    def hold_at(self) -> Ints:
        """[T, T] the smallest total at which holding is optimal.

        0 if it never is, -1 if no turn can begin there.
        """
        holds = self.action == 1
        return np.where(np.isnan(self.chance), -1, holds.argmax(axis=2))

    @property
    def runs(self) -> Ints:
        """[T, T] the number of runs of totals at which holding is optimal."""
        reached = np.where(self.action >= 0, np.arange(len(self.action)), 0)
        # The action at each total, or at the last one before it that play can reach.
        last = np.take_along_axis(self.action, np.maximum.accumulate(reached, axis=2), axis=2)
        return np.asarray(((self.action[:, :, 1:] == 1) & (last[:, :, :-1] != 1)).sum(axis=2))


def hold_surface(table: TabularGame, solution: Solution) -> HoldSurface:
    """Return the surface of a solved game, from the states in which player 0 is on turn."""
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
    return HoldSurface(action, chance)


class PigPages(GamePages):
    """Pig's own sections: the hold surface, and the chances of winning."""

    def sections(self, solved: SolvedTask) -> list[Section]:
        surface = hold_surface(solved.table, solved.solution)
        at, again, low = surface.hold_at, surface.runs > 1, solved.table.info.reward_range[0]
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
            "runs of totals": surface.runs.astype(float),
        }
        won = (surface.chance - low) / (1 - low)
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
