"""The published agent for Football Strategy (McCulloch 2015) with its clock management.

Without a clock it is :mod:`solvent.games.football.baselines.agent`. When little time is left it
looks at the side that is behind and at how many yards that side needs on average with each play
that it will still have:

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
- A side may call a time-out if no more than the threshold would be left with it: the side that is
  behind always does, and if the score is tied the side that has the ball next. So it is in a half
  that is played for points, and in the first half of a game: there the side with the ball tries to
  score once more.
- Shortly before the end the side that is behind kicks onside.

Where the score is tied, or a half does not decide the game, calls are those without a clock.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from solvent.exact.layered.game import Block, WarmStart
from solvent.games.football.baselines.agent import (
    PAPER,
    Constants,
    choose_by_utility,
    strategies_of_utilities,
    utilities,
)
from solvent.games.football.solver import Strategies
from solvent.games.football_clock.baselines.average import AverageNeeded, ClockManagement
from solvent.games.football_clock.solver.layout import FormLayout, Layer
from solvent.games.football_clock.solver.policies import (
    Asked,
    LayerStrategies,
    RoleStrategies,
    block_rows,
)
from solvent.model.arrays import Floats, Ints

MANAGEMENT = ClockManagement()

CLOCKLESS, FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND, FIELD_GOAL_AHEAD, TOUCHDOWN_AHEAD = range(5)
"""How the offence stands: level or early, behind by a field goal or by more, or ahead likewise."""


class AgentLayers:
    """The agent.

    Args:
        layout: Of the form.
        constants: Of its utilities.
        management: Of the clock.
    """

    def __init__(
        self,
        layout: FormLayout,
        constants: Constants = PAPER,
        management: ClockManagement = MANAGEMENT,
    ) -> None:
        self.layout = layout
        self.constants = constants
        self.management = management
        self._utilities = utilities(layout.rules, constants)
        self._average = AverageNeeded(layout.rules)
        self._lock = Lock()
        self._known: dict[tuple[int, int, int], Strategies] = {}

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        rows = block_rows(self.layout, block)
        standing = self.standing(layer)
        found, of_column = np.unique(standing, return_inverse=True)
        parts = [self.standing_strategies(layer, number) for number in found.tolist()]
        offence, defence, choices = (
            np.concatenate([part[kind][rows] for part in parts]) for kind in range(3)
        )
        number = np.arange(len(rows))[:, None] + of_column.reshape(1, -1) * len(rows)
        which = number.astype(np.int32)
        return LayerStrategies(
            RoleStrategies(offence, choices, which), RoleStrategies(defence, choices, which)
        )

    def onside(self, layer: Layer) -> Floats:
        late = layer.ticks * self.layout.clock.tick <= self.management.onside
        behind = self.layout.margin(layer.half) < 0
        return (behind & late & self._decides(layer)).astype(float)

    def timeouts(self, asked: Asked) -> Floats | float:
        clock = self.layout.clock
        # With a time-out: a play in an environment does not know any more when it began.
        if asked.saved * clock.tick > self.management.threshold:
            return 0.0
        if not self._decides(asked.layer):
            return np.asarray(asked.mine[:, None], float)
        margin = self.layout.margin(asked.layer.half)[asked.column]
        return np.asarray((margin < 0) | ((margin == 0) & asked.mine[:, None]), float)

    def standing(self, layer: Layer) -> Ints:
        """[C] how the offence stands in each column of a layer."""
        margin = self.layout.margin(layer.half)
        late = layer.ticks * self.layout.clock.tick <= self.management.threshold
        if not late or not self._decides(layer):
            return np.full(len(margin), CLOCKLESS)
        near = np.abs(margin) <= self.layout.rules.ruleset.field_goal
        return np.select(
            [margin == 0, (margin < 0) & near, margin < 0, near],
            [CLOCKLESS, FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND, FIELD_GOAL_AHEAD],
            TOUCHDOWN_AHEAD,
        )

    def standing_strategies(self, layer: Layer, standing: int) -> Strategies:
        """Its strategies in all situations, if the offence of a layer stands so."""
        behind = layer.own if standing in (FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND) else layer.other
        key = (0, 0, 0) if standing == CLOCKLESS else (layer.ticks, behind, standing)
        with self._lock:
            if key not in self._known:
                # Layers are asked for in the order of their ticks: others will not be needed.
                for other in [at for at in self._known if at[0] not in (0, layer.ticks)]:
                    del self._known[other]
                adjusted = self._utilities
                if standing != CLOCKLESS:
                    adjusted = adjusted + self._managed(layer.ticks, behind, standing)
                rules = self.layout.rules
                self._known[key] = strategies_of_utilities(
                    rules, *choose_by_utility(rules, adjusted)
                )
            return self._known[key]

    def _managed(self, ticks: int, timeouts: int, standing: int) -> Floats:
        """[S (R + 2)] what the clock adds to utilities."""
        has_ball = standing in (FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND)
        kick = standing in (FIELD_GOAL_BEHIND, FIELD_GOAL_AHEAD)
        change = self._average.change(
            self.layout.clock, self.management, ticks, timeouts, has_ball=has_ball, kick=kick
        )
        return self.management.weight * (change if has_ball else -change)

    def _decides(self, layer: Layer) -> bool:
        """Whether the half decides the game."""
        return not self.layout.for_points and layer.half == 2
