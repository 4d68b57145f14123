"""The published agent for Football Strategy (McCulloch 2015) with its clock management.

Without a clock it is :mod:`solvent.games.football.baselines`. When little time is left it
looks at the side that is behind and at how many yards that side needs on average with each play
that it will still have. The fewer plays are left and the farther there is to go, the more has to be
gained with each:

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
- A result that ends the possession, by points or by the loss of the ball, has the
  same utility as without a clock.
- A side may call a time-out if no more than the threshold would be left with it: the side that is
  behind always does, and if the score is tied the side that has the ball next. So it is in a half
  that is played for points, and in the first half of a game: there the side with the ball tries to
  score once more.
- Shortly before the end the side that is behind kicks onside.

Where the score is tied, or a half does not decide the game, calls are those without a clock.
"""

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np

from solvent.envs.batch_simulator import Simulation
from solvent.exact.layered.game import Block
from solvent.games.football.baselines import (
    PAPER,
    Constants,
    branch_row,
    strategies_of_utilities,
    utilities,
)
from solvent.games.football.solver.backup import Strategies
from solvent.games.football_clock.backup import RoleStrategies
from solvent.games.football_clock.layers import (
    Asked,
    FootballLayers,
    Layer,
    LayerStrategies,
)
from solvent.games.football_clock.simulation import (
    CALL,
    CHOICE,
    KICKOFF,
    TIMEOUT,
    TimedFootballSimulation,
)
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum


@dataclass(frozen=True)
class ClockManagement:
    """The numbers of the agent's clock management, none of which is published.

    Attributes:
        threshold: Seconds left in the game, or for time-outs in the half, from which on it looks
            at the clock.
        play_seconds: Seconds for which a play is counted.
        weight: Weight of the average yards that a play saves, in yards: half of the weight of a
            first down, so that the clock matters beside it.
        punt: Yards after which a side that is behind is to get the ball.
        least_plays: A side is counted as having this many plays at least.
        onside: Seconds left from which on the side that is behind kicks onside.
    """

    threshold: float = 300.0
    play_seconds: float = 30.0
    weight: float = 26.0
    punt: float = 35.0
    least_plays: float = 0.5
    onside: float = 120.0


MANAGEMENT = ClockManagement()


# Strategies of so many times and standings are kept, each in some 7 MB on the full field.
_WAYS_KEPT = 20


CLOCKLESS, FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND, FIELD_GOAL_AHEAD, TOUCHDOWN_AHEAD = range(5)
"""Offence level or early, behind by a field goal or by more, or ahead by either."""


class AgentPlayer:
    """The published agent, in environments and on layers.

    Args:
        layout: Layout of the form.
        constants: Constants of its utilities.
        management: Numbers of its clock management.
    """

    name = "paper-agent"

    def __init__(
        self,
        layout: FootballLayers,
        constants: Constants = PAPER,
        management: ClockManagement = MANAGEMENT,
    ) -> None:
        self.layout = layout
        self.constants = constants
        self.management = management
        self._utilities = utilities(layout.rules, constants)
        self._lock = Lock()
        self.strategies_of = lru_cache(maxsize=_WAYS_KEPT)(self._strategies_of)
        # The branches after which the offence goes on.
        rules, branch = layout.rules, layout.rules.branches
        goes_on = (branch["row"] < rules.n_situations) & branch["same_side"]
        kept = np.flatnonzero(goes_on[: rules.arrays.branch_start[-4]])
        self._row = branch_row(rules)[kept]
        self._probability = rules.arrays.branch_probability[kept]
        self._start, self._next = self._row // rules.arrays.results, branch["row"][kept]
        to_goal = rules.situation[:, 2].astype(float)
        self._gain = to_goal[self._start] - to_goal[self._next]
        self._seconds = branch["seconds"][kept].astype(np.int64)

    def strategies(self, layer: Layer, block: Block) -> LayerStrategies:
        rows, (half, ticks, own, other) = self.layout.block_rows(block), layer
        ways = self.ways(half, ticks, own, other, self.layout.margin(half))
        found, of_column = np.unique(ways, axis=1, return_inverse=True)
        with self._lock:  # Threads wait for what one of them computes.
            parts = [self.strategies_of(*way) for way in found.T.tolist()]
        offence, defence, choices = (
            np.concatenate([part[kind][rows] for part in parts]) for kind in range(3)
        )
        number = np.arange(len(rows))[:, None] + of_column.reshape(1, -1) * len(rows)
        which = number.astype(np.int32)
        return LayerStrategies(
            RoleStrategies(offence, choices, which), RoleStrategies(defence, choices, which)
        )

    def onside(self, layer: Layer) -> Floats:
        return self.kicks_onside(layer.half, layer.ticks, self.layout.margin(layer.half))

    def kicks_onside(self, half: Ints | int, ticks: Ints | int, margin: Ints) -> Floats:
        """Return the probabilities of an onside kick, by what the kicker's margin is."""
        late = np.asarray(ticks) * self.layout.clock.tick <= self.management.onside
        return np.asarray((margin < 0) & late & self._decides(half), float)

    def timeouts(self, asked: Asked) -> Floats:
        margin = self.layout.margin(asked.layer.half)[asked.column]
        half, saved = np.array(asked.layer.half), np.array(asked.saved)
        return self.stops_the_clock(half, saved, margin, asked.mine[:, None])

    def stops_the_clock(self, half: Ints, saved: Ints, margin: Ints, mine: Bools) -> Floats:
        """Return the probabilities of a time-out, broadcast from what it depends on.

        Args:
            half: The half.
            saved: Ticks left with a time-out: a play in an environment does not know any more when
                it began.
            margin: The points of the side that is asked less the other side's.
            mine: Whether the side that is asked has the ball next.
        """
        late = saved * self.layout.clock.tick <= self.management.threshold
        level = (margin == 0) | self.layout.game.for_points | (half == 1)
        return np.asarray(late & np.where(level, mine, margin < 0), float)

    def ways(
        self,
        half: Ints | int,
        ticks: Ints | int,
        own: Ints | int,
        other: Ints | int,
        margin: Ints,
    ) -> Ints:
        """Return all that calls depend on: the arguments of :meth:`strategies_of`, [3, ...].

        Args:
            half: The half.
            ticks: Ticks left in it.
            own: Time-outs of the offence.
            other: Time-outs of the other side.
            margin: The points of the offence less the other side's.
        """
        late = np.asarray(ticks) * self.layout.clock.tick <= self.management.threshold
        near = np.abs(margin) <= self.layout.rules.ruleset.field_goal
        standing = np.select(
            [~late | ~self._decides(half) | (margin == 0), (margin < 0) & near, margin < 0, near],
            [CLOCKLESS, FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND, FIELD_GOAL_AHEAD],
            TOUCHDOWN_AHEAD,
        )
        ways = np.stack(np.broadcast_arrays(ticks, np.where(margin < 0, own, other), standing))
        return np.where(standing == CLOCKLESS, 0, ways)

    def _strategies_of(self, ticks: int, behind: int, standing: int) -> Strategies:
        """Return its strategies in all situations; `strategies_of` keeps those asked for last.

        Args:
            ticks: Ticks left.
            behind: Time-outs of the side that is behind.
            standing: Standing of the offence; with :data:`CLOCKLESS` the other arguments are 0.
        """
        adjusted = self._utilities
        if standing != CLOCKLESS:
            adjusted = adjusted + self._managed(ticks, behind, standing)
        return strategies_of_utilities(self.layout.rules, adjusted)

    def _managed(self, ticks: int, timeouts: int, standing: int) -> Floats:
        """[S (R + 2)] what the clock adds to utilities."""
        has_ball = standing in (FIELD_GOAL_BEHIND, TOUCHDOWN_BEHIND)
        kick = standing in (FIELD_GOAL_BEHIND, FIELD_GOAL_AHEAD)
        change = self.average_change(ticks, timeouts, has_ball=has_ball, kick=kick)
        return self.management.weight * (change if has_ball else -change)

    def average_change(self, ticks: int, timeouts: int, *, has_ball: bool, kick: bool) -> Floats:
        """Return [S (R + 2)] by how much each result lowers the average of the side that is behind.

        Args:
            ticks: Ticks left before the play.
            timeouts: Time-outs of the side that is behind.
            has_ball: Whether it has the ball.
            kick: Whether a field goal is enough.
        """
        rules, clock, management = self.layout.rules, self.layout.clock, self.management
        durations = range(0, self._seconds.max() + 1, clock.tick)
        after = np.array([clock.after(ticks, seconds) for seconds in durations])
        left = after[self._seconds // clock.tick]
        needed = self._needed(has_ball=has_ball, kick=kick)
        if has_ball:
            waits: Floats = np.zeros(rules.n_situations)
            remaining: Floats = np.maximum(needed[self._start] - self._gain, 0)
        else:
            waits = np.asarray(rules.ruleset.downs + 1 - rules.situation[:, 0], float)
            remaining = needed[self._next]

        def average(yards: Floats, ticks_left: Ints, downs: Floats) -> Floats:
            spent = ticks_left * clock.tick + timeouts * clock.timeout_saves
            plays = spent / management.play_seconds - downs
            return yards / np.maximum(plays, management.least_plays)

        before = average(needed, np.full(1, ticks), waits)[self._start]
        falls = before - average(remaining, left, waits[self._next])
        size = rules.n_situations * rules.arrays.results
        return grouped_sum(self._row, self._probability * falls, size)

    def _needed(self, *, has_ball: bool, kick: bool) -> Floats:
        """[S] the yards that the side that is behind needs."""
        rules = self.layout.rules.ruleset
        to_goal: Floats = self.layout.rules.situation[:, 2].astype(float)
        if not has_ball:
            own_line = np.maximum(to_goal - self.management.punt, rules.touchback)
            to_goal = np.asarray(rules.field - own_line)
        if not kick:
            return to_goal
        lines = np.array([0, *(yards for yards, _ in rules.field_goals)], float)
        # The farthest line that is nearer to the goal than the ball.
        return np.asarray(to_goal - lines[np.searchsorted(lines, to_goal) - 1])

    def _decides(self, half: Ints | int) -> Bools:
        """Return whether a half decides the game."""
        return np.asarray(np.asarray(half) == 2 * (not self.layout.game.for_points))

    def action_probabilities(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        assert isinstance(simulation, TimedFootballSimulation)
        actions, records = simulation.sampler.rules.actions, simulation.records[chosen]
        phase, offence, half = records["phase"], records["offence"], records["half"]
        mine, ticks, rows = offence == player, records["ticks"], records["row"]
        left = np.stack((records["left0"], records["left1"]))
        own_left, other_left = np.where(offence == 0, left, left[::-1])
        # Of two actions, the probability of the first.
        first = np.zeros(len(chosen))
        strategies = np.zeros((len(chosen), simulation.n_actions))
        margin = np.where(player == 0, records["margin"], -records["margin"])
        lead = np.where(mine, margin, -margin)
        stops = self.stops_the_clock(half, records["saved"], margin, mine)
        onside = self.kicks_onside(half, ticks, lead)
        first[phase == TIMEOUT] = stops[phase == TIMEOUT]
        first[phase == KICKOFF] = 1 - onside[phase == KICKOFF]
        decides = np.flatnonzero((phase == CALL) | (phase == CHOICE))
        ways = self.ways(half, ticks, own_left, other_left, lead)
        for way in np.unique(ways[:, decides], axis=1).T.tolist():
            own, some = self.strategies_of(*way), decides[(ways[:, decides].T == way).all(axis=1)]
            calls = some[phase[some] == CALL]
            row, attacks = rows[calls], mine[calls]
            strategies[calls[attacks], : own.offence.shape[1]] = own.offence[row[attacks]]
            letters = slice(actions.defence, actions.choice)
            strategies[calls[~attacks], letters] = own.defence[row[~attacks]]
            takes = some[phase[some] == CHOICE]
            result = simulation.sampler.arrays.result["number"][records["choice"][takes]]
            first[takes] = own.choices[rows[takes], result]
        for kind, action in (
            (CHOICE, actions.choice),
            (KICKOFF, actions.kick),
            (TIMEOUT, actions.timeout),
        ):
            at = np.flatnonzero(phase == kind)
            strategies[at, action], strategies[at, action + 1] = first[at], 1 - first[at]
        return strategies
