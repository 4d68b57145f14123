"""The average yards that the side that is behind needs with each of the plays that it has left.

McCulloch's agent manages the clock by it (:mod:`solvent.games.football_clock.baselines.agent`): the
fewer plays are left and the farther there is to go, the more has to be gained with each. Every
result takes time and gains yards, and so changes the average.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from solvent.games.football.baselines.agent import branch_row
from solvent.games.football.packed import PackedRules
from solvent.games.football_clock.clock import ClockRules
from solvent.model.arrays import Floats, Ints, grouped_sum
from solvent.model.parameters import shown


@dataclass(frozen=True)
class ClockManagement:
    """The numbers of the agent's clock management, none of which is published.

    Attributes:
        threshold: Seconds left in the game, or for time-outs in the half, from which on it looks
            at the clock.
        play_seconds: For which a play is counted.
        weight: Of the average yards that a play saves, in yards: half of what a first down counts,
            so that the clock matters beside it.
        punt: Yards after which a side that is behind is to get the ball.
        least_plays: A side is counted as having this many plays at least.
        onside: Seconds left from which on the side that is behind kicks onside.

    Raises:
        ValueError: If one is no number, or a negative one, or a time or count by which the others
            are divided is 0.
    """

    threshold: float = 300.0
    play_seconds: float = 30.0
    weight: float = 26.0
    punt: float = 35.0
    least_plays: float = 0.5
    onside: float = 120.0

    def __post_init__(self) -> None:
        """Check that all are numbers, and which may be 0."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ValueError(f"{item.name} is {shown(value)}; allowed are numbers")
            if not 0 <= value < np.inf:
                raise ValueError(f"{item.name} is {shown(value)}; allowed are numbers from 0 on")
            if value == 0 and item.name in ("play_seconds", "least_plays"):
                raise ValueError(f"{item.name} is 0; allowed are numbers above 0")


class AverageNeeded:
    """How results change the average that the side that is behind needs.

    Args:
        rules: Chart and ruleset.
    """

    def __init__(self, rules: PackedRules) -> None:
        self.rules = rules
        row = branch_row(rules)
        kept = np.flatnonzero((rules.next >= 0) & rules.same_side)
        self.row = row[kept]
        self.probability = rules.probability[kept]
        self.start = self.row // rules.n_results
        self.next = rules.next[kept]
        to_goal = rules.situation[:, 2].astype(float)
        self.gain = to_goal[self.start] - to_goal[self.next]
        self.seconds = rules.seconds[kept].astype(np.int64)

    def change(
        self,
        clock: ClockRules,
        management: ClockManagement,
        ticks: int,
        timeouts: int,
        *,
        has_ball: bool,
        kick: bool,
    ) -> Floats:
        """[S (R + 2)] by how much each result lets the average fall of the side that is behind.

        Args:
            clock: The rules of time.
            management: The agent's numbers.
            ticks: Left before the play.
            timeouts: Of the side that is behind.
            has_ball: Whether it has the ball.
            kick: Whether a field goal is enough.
        """
        rules = self.rules
        after = np.array(
            [
                clock.after(ticks, seconds)
                for seconds in range(0, self.seconds.max() + 1, clock.tick)
            ]
        )
        left = after[self.seconds // clock.tick]
        needed = self._needed(management, has_ball=has_ball, kick=kick)
        if has_ball:
            waits: Floats = np.zeros(rules.n_situations)
            remaining: Floats = np.maximum(needed[self.start] - self.gain, 0)
        else:
            waits = np.asarray(rules.ruleset.downs + 1 - rules.situation[:, 0], float)
            remaining = needed[self.next]

        def average(yards: Floats, ticks_left: Ints, downs: Floats) -> Floats:
            spent = ticks_left * clock.tick + timeouts * clock.timeout_saves
            plays = spent / management.play_seconds - downs
            return yards / np.maximum(plays, management.least_plays)

        before = average(needed, np.full(1, ticks), waits)[self.start]
        falls = before - average(remaining, left, waits[self.next])
        return grouped_sum(self.row, self.probability * falls, rules.n_situations * rules.n_results)

    def _needed(self, management: ClockManagement, *, has_ball: bool, kick: bool) -> Floats:
        """[S] the yards that the side that is behind needs."""
        rules = self.rules.ruleset
        to_goal: Floats = self.rules.situation[:, 2].astype(float)
        if not has_ball:
            own_line = np.maximum(to_goal - management.punt, rules.touchback)
            to_goal = np.asarray(rules.field - own_line)
        if not kick:
            return to_goal
        lines = np.array([0, *(yards for yards, _ in rules.field_goals)], float)
        # The farthest line that is nearer to the goal than the ball.
        return np.asarray(to_goal - lines[np.searchsorted(lines, to_goal) - 1])
