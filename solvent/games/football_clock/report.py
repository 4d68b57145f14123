"""The page on football with a clock: values and decisions by time, score and place."""

from collections.abc import Mapping, Sequence

import numpy as np

from solvent.exact import SolvedGame
from solvent.games.football.report import (
    FIELD,
    FootballPages,
    filled,
    line_chart,
    untabled_football,
)
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.situation import Situation, first_down_at, line_name, ordinal
from solvent.games.football.solver.solved import SolvedFootball
from solvent.games.football_clock.layers import Layer
from solvent.games.football_clock.solution import NEGLIGIBLE, TimedSolution
from solvent.games.football_clock.transcript import table_of, transcript
from solvent.model import Game
from solvent.model.arrays import Floats, Ints
from solvent.report.panel import CIVIDIS, VIRIDIS, CellMap, map_script, shaded
from solvent.report.sections import Section, Untabled

# Larger leads are not drawn.
_LARGEST_LEAD = 21

# Yards to the goal of the first downs that have a map, on a field of 100.
_PLACES = (80, 50, 20)

# The leads that have a line, if a lead counts so far.
_LEADS = (-7, -3, 0, 3, 7)

# Down, yards to go and to the goal after a play about which a time-out is asked for.
_NEXT_DOWN = (2, 6, 46)

SEED = 1
"""Seed of the dice and of the actions drawn in a game that is told."""


class LastHalf:
    """The last half of a solved form, as maps over time and lead show it.

    Args:
        solution: Solution of the form.

    Attributes:
        layout: The layout of the states.
        ticks: T, the number of columns of a map.
        lead: The largest that is drawn; entry l of an array has the lead l less this.
        shape: [T, leads]; entry t has t + 1 ticks left.
        columns: The columns of the leads that are drawn.
        even: The number added to a stored value to make it a chance of winning; 0 for points.
        standard: The yards to the goal of the first down that stands for all.
        next_down: The situation after a play about which a time-out is asked for.
    """

    def __init__(self, solution: TimedSolution) -> None:
        self.solution = solution
        self.layout = layout = solution.layout
        self.ticks = layout.game.start_ticks
        self.lead = 0 if layout.game.for_points else min(_LARGEST_LEAD, layout.clock.largest_margin)
        self.shape = self.ticks, 2 * self.lead + 1
        self.columns = [layout.column(2, lead) for lead in range(-self.lead, self.lead + 1)]
        self.even = 0.0 if layout.game.for_points else 0.5
        self.standard = self.scaled(_PLACES[0])
        down, to_go, yards = _NEXT_DOWN
        to_goal, downs = self.scaled(yards), layout.rules.ruleset.downs
        self.next_down = Situation(min(down, downs), min(to_go, to_goal), to_goal)

    def moment(self, ticks: int, spent: tuple[int, int] = (0, 0)) -> Layer:
        """The layer with a time left, some time-outs of the offence and the defence being spent."""
        own, other = (self.layout.clock.timeouts - called for called in spent)
        return self.layout.moment(2, ticks, own, other)

    def by_time(self, row: int, spent: tuple[int, int] = (0, 0)) -> Floats:
        """[T, leads] the value of a row: the chance of winning with half that of a tie, or points.

        Args:
            row: Row of the layers.
            spent: Number of time-outs that the side with the ball and the other one have called.
        """
        read, ticks = self.solution.values, range(1, self.ticks + 1)
        return np.stack([read(self.moment(t, spent))[row, self.columns] for t in ticks]) + self.even

    def first_down(self, to_goal: int) -> int:
        """The row of a first down."""
        rules = self.layout.rules
        return rules.index(first_down_at(rules.ruleset, to_goal))

    def scaled(self, yards: int) -> int:
        """The yards to the goal on this field that are so many of a hundred."""
        return max(1, yards * self.layout.rules.ruleset.field // 100)

    def place_name(self, to_goal: int) -> str:
        """A line of the field."""
        return line_name(self.layout.rules.ruleset, to_goal)

    def timeout_gain(self, *, offence: bool) -> tuple[Floats, Floats]:
        """The value after a play in bounds, [T, leads] with a time-out and without it.

        The side that was on offence still has the ball. The side that is asked has all time-outs,
        the other side too; if the offence is asked, the other one may still call.

        Args:
            offence: Whether the offence is asked, else the defence after the offence has declined.
                The lead is that of the side asked, NaN where a time-out would not change the clock.
        """
        layout = self.layout
        row, seconds = layout.rules.index(self.next_down), layout.rules.ruleset.play_seconds
        leads = self.columns if offence else self.columns[::-1]
        called, declined = np.full((2, *self.shape), np.nan)

        def offence_has(moment: Layer | None) -> Floats:
            ends = np.sign(layout.margin(2))[leads] / 2
            return ends if moment is None else self.solution.values(moment)[row, leads]

        for t in range(self.ticks):
            plain, own, other = layout.moments_after(self.moment(t + 1), (seconds, False))
            if own is None or other is None:
                continue
            if offence:
                called[t] = offence_has(own)
                declined[t] = np.minimum(offence_has(other), offence_has(plain))
            else:
                called[t], declined[t] = -offence_has(other), -offence_has(plain)
        return called + self.even, declined + self.even

    def timeout_value(self, *, offence: bool) -> Floats:
        """[T, leads] what the first of a side's time-outs adds to its chance of winning.

        The offence has the standard first down, and the other side has all its time-outs.

        Args:
            offence: Whether the time-out and the lead are the offence's, else the defence's.
        """
        row = self.first_down(self.standard)
        all_left = self.by_time(row)
        if offence:
            return all_left - self.by_time(row, spent=(1, 0))
        return (self.by_time(row, spent=(0, 1)) - all_left)[:, ::-1]

    def map(
        self, title: str, drawn: tuple[Ints, Sequence[str], str], told: Mapping[str, Floats]
    ) -> str:
        """Return a map: the time left from left to right, the lead from bottom to top.

        Args:
            title: Title of the map.
            drawn: [T, leads] the number of the colour of a cell, -1 for none, the colours, and the
                legend.
            told: [T, leads] chances by name, NaN where unknown, shown for the cell pointed at.
        """
        clock, (level, colours, legend) = self.layout.clock, drawn
        leads = [*range(-self.lead, self.lead + 1)]
        signed = {n: f"{lead:+d}" if lead else "0" for n, lead in enumerate(leads) if lead % 7 == 0}
        # Some six round times.
        steps, rough = (15, 30, 60, 120, 300, 600), self.ticks * clock.tick / 6
        step = max(1, min(steps, key=lambda step: abs(step - rough)) // clock.tick)
        times = {self.ticks - t: clock.text(t) for t in range(step, self.ticks + 1, step)}
        return CellMap(
            title,
            level[::-1],
            colours,
            legend,
            axes=("time left", "lead"),
            labels=(times, signed),
            columns=[f"{clock.text(ticks)} left" for ticks in range(self.ticks, 0, -1)],
            rows=[f"{_lead(lead)}," for lead in leads],
            told={name: numbers[::-1] for name, numbers in told.items()},
            digits=4,
        ).figure()

    def gain_map(self, title: str, gain: Floats, told: Mapping[str, Floats]) -> str:
        """Return a map of gains, white where nothing is gained or nothing is known.

        Args:
            title: Title of the map.
            gain: [T, leads] what is drawn.
            told: Values shown for the cell that is pointed at.
        """
        shown = np.where(gain > NEGLIGIBLE, gain, np.nan)
        end = float(np.nanmax(shown, initial=0.0))
        return self.map(title, shaded(shown, CIVIDIS, max(end, 1e-6)), told)


class TimedFootballPages(FootballPages):
    """Football's own sections in every form, with a clock and without."""

    def untabled(self, subject: Game | SolvedGame) -> Untabled | None:
        if isinstance(subject, (FootballStrategy, SolvedFootball)):
            return untabled_football(subject, baselines=True)
        if not isinstance(subject, TimedSolution):
            return None
        half = LastHalf(subject)
        if subject.layout.game.for_points:
            sections = [points_section(half)]
        else:
            sections = [chances_section(half)]
            if subject.layout.clock.timeouts:
                sections.append(timeouts_section(half))
        return Untabled(subject, (*sections, transcript_section(subject)))


def chances_section(half: LastHalf) -> Section:
    """The chance of winning by time and lead at three places, and along the field."""
    maps, charts = [], []
    for to_goal in map(half.scaled, _PLACES):
        chance = half.by_time(half.first_down(to_goal))
        title = f"first down at {half.place_name(to_goal)}"
        maps.append(half.map(title, shaded(chance, VIRIDIS, 1.0), {"win": chance}))
    most = half.layout.clock.largest_margin
    leads = [lead for lead in _LEADS if abs(lead) <= most]
    for ticks in dict.fromkeys((half.ticks // 2, 8)):
        if 0 < ticks <= half.ticks:
            values = half.solution.values(half.moment(ticks)) + half.even
            left = f"{half.layout.clock.text(ticks)} left"
            lines = {_lead(lead): values[:, half.layout.column(2, lead)] for lead in leads}
            charts.append(along_the_field(half, f"chance of winning, {left}", lines, (0.0, 1.0)))
    html = filled("chances", maps, charts)
    return Section("Winning by time, score and place", html, map_script())


def points_section(half: LastHalf) -> Section:
    """The points that the side with the ball has still to come along the field, by time left."""
    times = [t for t in (half.ticks, 20, 8, 4, 2, 1) if t <= half.ticks]
    lines = {
        f"{half.layout.clock.text(ticks)} left": half.solution.values(half.moment(ticks))[:, 0]
        for ticks in dict.fromkeys(times)
    }
    chart = along_the_field(half, "points still to come", lines)
    return Section("Points by time and place", filled("points", chart))


def along_the_field(
    half: LastHalf,
    quantity: str,
    lines: Mapping[str, Floats],
    ends: tuple[float, float] | None = None,
) -> str:
    """Return a figure of the values of first downs along the field.

    Args:
        half: The form.
        quantity: Name of the values.
        lines: The values of all rows, by the name of the line.
        ends: Ends of the axis; those of the values if None.
    """
    field = half.layout.rules.ruleset.field
    rows = [half.first_down(to_goal) for to_goal in range(field - 1, 0, -1)]
    drawn = {name: line[rows] for name, line in lines.items()}
    chart = line_chart(quantity, quantity, range(1, field), drawn, FIELD, ends, half.even)
    return f"<figure>{chart.drawn()}</figure>"


def timeouts_section(half: LastHalf) -> Section:
    """The value of a time-out, and when to call it."""
    at, gains, values = half.next_down, [], []
    for offence in (True, False):
        called, declined = half.timeout_gain(offence=offence)
        value = half.timeout_value(offence=offence)
        side = "offence" if offence else "defence"
        told = {"with a time-out": called, "without": declined}
        title = f"gained by a time-out of the {side}"
        gains.append(half.gain_map(title, called - declined, told))
        title = f"value of a time-out of the {side}"
        values.append(half.gain_map(title, value, {"a time-out": value}))
    seconds = half.layout.rules.ruleset.play_seconds
    leads_to = f"{ordinal(at.down)} and {at.to_go} at {half.place_name(at.to_goal)}"
    standard = half.place_name(half.standard)
    html = filled("timeouts", seconds, leads_to, standard, gains, values)
    return Section("The value of a time-out, and when to call it", html, map_script())


def transcript_section(solution: TimedSolution) -> Section:
    """A game between two optimal players as a table of its plays, with the value after each."""
    lines = transcript(solution, (solution.policy, solution.policy), seed=SEED)
    head, *rows = table_of(solution.game, lines)
    html = filled("transcript", head, rows)
    return Section("A game, play by play", html)


def _lead(lead: int) -> str:
    return f"{abs(lead)} {'ahead' if lead > 0 else 'behind'}" if lead else "tied"
