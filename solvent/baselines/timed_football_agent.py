"""The published agent for Football Strategy (McCulloch 2015) with its clock management.

Without a clock it is :mod:`solvent.baselines.football_agent`. When little time is left it looks at
the side that is behind and at how many yards that side needs on average with each play that it will
still have:

- If it has the ball, it will have as many *plays* as the time allows, its time-outs counted in. If
  not, the downs must pass first after which it gets the ball at the soonest.
- The yards *needed* are those to the next line from which a field goal is more likely, if a field
  goal makes up for the lead, else those to the goal line.
- A result changes both, by the time it takes and the yards it gains, and with them the *average*,
  needed / plays. By how much it falls, times a weight, is added to the result's utility if the
  side that is behind has the ball, and taken from it if the other has.

So far the paper. It leaves open how plays are counted, the threshold, the weight, and what is
needed by a side that does not have the ball; and it says that time-outs are called "using a set of
pre-defined rules" without printing them. What stands here for that is ours:

- A play is counted as :attr:`ClockManagement.play_seconds`; each time-out of the side that is
  behind saves one play's time, as far as it can. The leader keeps its own.
- A side that waits for the ball will have it after a punt of :attr:`ClockManagement.punt` yards.
- A result that ends the possession, by points or by the loss of the ball, is worth what it is worth
  without a clock.
- Below the threshold, the side that is behind calls a time-out whenever it may, and if the score is
  tied the side that has the ball next. So it is in a half that is played for points, and in the
  first half of a game: there the side with the ball tries to score once more.
- Shortly before the end the side that is behind kicks onside.

Where the score is tied, or a half does not decide the game, calls are those without a clock.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from threading import Lock

import numpy as np

from solvent.baselines.football_agent import (
    PAPER,
    Constants,
    branch_row,
    choose_by_utility,
    mixes_of_utilities,
    utility_terms,
)
from solvent.exact.kernels.football_answers import Mixes
from solvent.exact.kernels.timed_football.layout import Layout, Sheet
from solvent.exact.kernels.timed_football.policies import (
    Asked,
    Block,
    RoleMixes,
    SheetMixes,
    block_rows,
)
from solvent.games.football.clock import ClockRules
from solvent.games.football.packed import PackedRules
from solvent.model.arrays import Floats, Ints, grouped_sum


@dataclass(frozen=True)
class ClockManagement:
    """The numbers of the agent's clock management, none of which is published.

    Attributes:
        threshold: Seconds left in the game, or for time-outs in the half, from which on it looks
            at the clock.
        play_seconds: For which a play is counted.
        weight: Of the average yards that a play saves, in yards.
        punt: Yards after which a side that is behind is to get the ball.
        least_plays: A side is counted as having this many plays at least.
        onside: Seconds left from which on the side that is behind kicks onside.

    Raises:
        ValueError: If one is no number, or a negative one, or a time or count by which the others
            are divided is 0.
    """

    threshold: float = 300.0
    play_seconds: float = 30.0
    weight: float = 5.0
    punt: float = 35.0
    least_plays: float = 0.5
    onside: float = 120.0

    def __post_init__(self) -> None:
        """Check that all are numbers, and which may be 0."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ValueError(f"{item.name} is {value!r}; allowed are numbers")
            if not 0 <= value < np.inf:
                raise ValueError(f"{item.name} is {value!r}; allowed are numbers from 0 on")
            if value == 0 and item.name in ("play_seconds", "least_plays"):
                raise ValueError(f"{item.name} is 0; allowed are numbers above 0")


MANAGEMENT = ClockManagement()

CLOCKLESS, FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND, FIELD_GOAL_AHEAD, TOUCHDOWN_AHEAD = range(5)
"""How the offence stands: level or early, behind by a field goal or by more, or ahead likewise."""


class AgentSheets:
    """The agent.

    Args:
        layout: Of the form.
        constants: Of its utilities.
        management: Of the clock.
    """

    def __init__(
        self,
        layout: Layout,
        constants: Constants = PAPER,
        management: ClockManagement = MANAGEMENT,
    ) -> None:
        self.layout = layout
        self.management = management
        self._utilities = constants.weights @ utility_terms(layout.rules).T
        self._branches = _Branches(layout.rules)
        self._lock = Lock()
        self._known: dict[tuple[int, int, int], Mixes] = {}

    def mixes(self, sheet: Sheet, block: Block) -> SheetMixes:
        """What it does in the states of a block of a sheet."""
        rows = block_rows(self.layout, block)
        standing = self.standing(sheet)
        found, of_column = np.unique(standing, return_inverse=True)
        parts = [self.standing_mixes(sheet, number) for number in found.tolist()]
        offence, defence, choices = (
            np.concatenate([part[kind][rows] for part in parts]) for kind in range(3)
        )
        number = np.arange(len(rows))[:, None] + of_column.reshape(1, -1) * len(rows)
        which = number.astype(np.int32)
        return SheetMixes(RoleMixes(offence, choices, which), RoleMixes(defence, choices, which))

    def onside(self, sheet: Sheet) -> Floats:
        """[C] 1 where it kicks off with an onside kick."""
        late = sheet.ticks * self.layout.clock.tick <= self.management.onside
        behind = self.layout.margin(sheet.half) < 0
        return (behind & late & self._decides(sheet)).astype(float)

    def timeouts(self, asked: Asked) -> Floats | float:
        """1 where it calls a time-out."""
        clock = self.layout.clock
        if asked.sheet.ticks * clock.tick > self.management.threshold:
            return 0.0
        if not self._decides(asked.sheet):
            return asked.mine[:, None].astype(float)
        margin = self.layout.margin(asked.sheet.half)[asked.column]
        return ((margin < 0) | ((margin == 0) & asked.mine[:, None])).astype(float)

    def standing(self, sheet: Sheet) -> Ints:
        """[C] how the offence stands in each column of a sheet."""
        margin = self.layout.margin(sheet.half)
        late = sheet.ticks * self.layout.clock.tick <= self.management.threshold
        if not late or not self._decides(sheet):
            return np.full(len(margin), CLOCKLESS)
        near = np.abs(margin) <= self.layout.rules.ruleset.field_goal
        return np.select(
            [margin == 0, (margin < 0) & near, margin < 0, near],
            [CLOCKLESS, FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND, FIELD_GOAL_AHEAD],
            TOUCHDOWN_AHEAD,
        )

    def standing_mixes(self, sheet: Sheet, standing: int) -> Mixes:
        """Its mixes in all situations, if the offence of a sheet stands so."""
        behind = sheet.own if standing in (FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND) else sheet.other
        key = (0, 0, 0) if standing == CLOCKLESS else (sheet.ticks, behind, standing)
        with self._lock:
            if key not in self._known:
                # Sheets are asked for in the order of their ticks: others will not be needed.
                for other in [at for at in self._known if at[0] not in (0, sheet.ticks)]:
                    del self._known[other]
                utilities = self._utilities
                if standing != CLOCKLESS:
                    utilities = utilities + self._managed(sheet.ticks, behind, standing)
                rules = self.layout.rules
                self._known[key] = mixes_of_utilities(rules, *choose_by_utility(rules, utilities))
            return self._known[key]

    def _managed(self, ticks: int, timeouts: int, standing: int) -> Floats:
        """[S (R + 2)] what the clock adds to utilities."""
        has_ball = standing in (FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND)
        kick = standing in (FIELD_GOAL_BEHIND, FIELD_GOAL_AHEAD)
        change = self._branches.change(
            self.layout.clock, self.management, ticks, timeouts, has_ball=has_ball, kick=kick
        )
        return self.management.weight * (change if has_ball else -change)

    def _decides(self, sheet: Sheet) -> bool:
        """Whether the half decides the game."""
        return not self.layout.for_points and sheet.half == 2


class _Branches:
    """The branches of results on which the offence keeps the ball."""

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
            waits = np.zeros(rules.n_situations)
            remaining = np.maximum(needed[self.start] - self.gain, 0)
        else:
            waits = rules.ruleset.downs + 1.0 - rules.situation[:, 0]
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
        to_goal = self.rules.situation[:, 2].astype(float)
        if not has_ball:
            own_line = np.maximum(to_goal - management.punt, rules.touchback)
            to_goal = rules.field - own_line
        if not kick:
            return to_goal
        lines = np.array([0, *(yards for yards, _ in rules.field_goals)], float)
        # The farthest line that is nearer to the goal than the ball.
        return to_goal - lines[np.searchsorted(lines, to_goal) - 1]
