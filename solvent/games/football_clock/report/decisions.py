"""Three decisions that depend on time and score: the last down, time-outs, the onside kick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvent.exact.matrix_game import solve_matrix_games
from solvent.games.football.report.fourth_down import GO, KICK, PUNT, QUICK_KICK, WAY_COLOURS, WAYS
from solvent.games.football.situation import Situation, ordinal
from solvent.games.football_clock.report.chances import (
    PLACES,
    by_time,
    clock_of,
    first_down,
    place_name,
    scaled,
)
from solvent.games.football_clock.report.clock_map import (
    ClockMap,
    Named,
    maps_html,
    script,
    shaded_map,
    ways_map,
)
from solvent.games.football_clock.solver.block_kernel import kick_values
from solvent.games.football_clock.solver.layout import Layer
from solvent.games.football_clock.solver.problem import moments_after
from solvent.games.football_clock.solver.row_calls import row_calls, solved_problem
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.games.football_clock.solver.tables import TimedTables
from solvent.model.arrays import Floats, Ints
from solvent.report.colours import CIVIDIS
from solvent.report.sections import Section

LAST_DOWNS = ((2, 65), (2, 45), (6, 33), (1, 2))
"""Yards to go and to the goal of the last downs that have a map, the latter on a field of 100."""

NEXT_DOWN = (2, 6, 46)
"""The same after a play about which a time-out is asked for, the down first."""

NEGLIGIBLE = 1e-9
"""Two ways whose chances differ by less are the same."""

EQUAL = len(WAYS)
NAMES = ("go for it", "quick kick", "punt", "field goal", "the same")
COLOURS = (*WAY_COLOURS, "#e3e6e8")


@dataclass(frozen=True, eq=False)
class LastDown:
    """The three ways of a last down over time and lead, [T, leads] each.

    Attributes:
        way: The best of the fourth-down map's ways; :data:`EQUAL` where the two best have the
            same.
        call: The chance of winning with a normal call.
        punt: With punt formation declared.
        kick: With a field goal; NaN where none is allowed.
    """

    way: Ints
    call: Floats
    punt: Floats
    kick: Floats


def last_down(solution: TimedSolution, tables: TimedTables, to_go: int, to_goal: int) -> LastDown:
    """Solve a last down at all times and leads of the last half, both with all time-outs."""
    layout, clock = solution.layout, clock_of(solution)
    rules, timeouts = layout.rules, layout.clock.timeouts
    plays, downs = rules.chart.plays, rules.ruleset.downs
    at = rules.index(Situation(downs, to_go, to_goal))
    declared = rules.index(Situation(downs, to_go, to_goal, punting=True))
    columns = [layout.column(2, lead) for lead in range(-clock.lead, clock.lead + 1)]
    worth, quick = np.full((3, *clock.shape), np.nan), np.zeros(clock.shape)
    legal = np.flatnonzero(rules.legal[at])
    for t in range(clock.ticks):
        layer = layout.moment(2, t + 1, timeouts, timeouts)
        problem = solved_problem(solution, tables, layer)
        calls = row_calls(layout, problem, at, solution.values(layer)[declared])
        games = solve_matrix_games(calls.contested[columns])
        others = legal[calls.contested.shape[1] :].tolist()
        worth[0, t], quick[t] = games.value, games.row_strategy[:, legal.tolist().index(plays)]
        for action, certain in zip(others, calls.certain[columns].T, strict=True):
            worth[2 if action == plays + 1 else 1, t] = certain
    known = np.nan_to_num(worth, nan=-np.inf)
    best, ranked = np.argmax(known, axis=0), np.sort(known, axis=0)
    way = np.select([best == 1, best == 2, quick >= 0.5], [PUNT, KICK, QUICK_KICK], GO)
    way[ranked[2] - ranked[1] < NEGLIGIBLE] = EQUAL
    return LastDown(way, *(worth + 0.5))


def last_down_maps(solution: TimedSolution, tables: TimedTables) -> list[ClockMap]:
    """The best way at some places."""
    clock = clock_of(solution)
    maps = []
    for yards_to_go, yards in LAST_DOWNS:
        to_goal = scaled(solution, yards)
        to_go = min(yards_to_go, to_goal)
        found = last_down(solution, tables, to_go, to_goal)
        title = f"{ordinal(solution.layout.rules.ruleset.downs)} and " + (
            "goal" if to_go == to_goal else f"{to_go}"
        )
        told: list[Named] = [
            ("normal call", found.call),
            ("punt formation", found.punt),
            ("field goal", found.kick),
        ]
        maps.append(
            ways_map(
                f"{title} at {place_name(solution, to_goal)}",
                clock,
                found.way,
                NAMES,
                COLOURS,
                told,
            )
        )
    return maps


def last_down_section(solution: TimedSolution, tables: TimedTables) -> Section:
    """When to go for it, to punt and to kick."""
    last = ordinal(solution.layout.rules.ruleset.downs)
    html = (
        f"<p>What to do on {last} down, by the time left and the lead: a normal call, the "
        "declaration of punt formation, or a field goal, each with the exact chance of winning. "
        "Grey is where two of them have the same value, as when the game is decided.</p>"
        f"{maps_html(last_down_maps(solution, tables))}"
    )
    return Section(f"The {last}-down map by time and score", html, script())


def next_down(solution: TimedSolution) -> Situation:
    """The situation after a play about which a time-out is asked for."""
    down, to_go, yards = NEXT_DOWN
    to_goal = scaled(solution, yards)
    return Situation(min(down, solution.layout.rules.ruleset.downs), min(to_go, to_goal), to_goal)


def timeout_gain(solution: TimedSolution, *, offence: bool) -> tuple[Floats, Floats]:
    """The value after a play in bounds, [T, leads] with it and without it.

    The side that was on offence still has the ball. Whoever is asked has all time-outs, the other
    side too; if the offence is asked, the other one may still call.

    Args:
        solution: With time-outs.
        offence: Whether the offence is asked, else the defence after the offence has declined.
            The lead is that of who is asked, NaN where a time-out would not change the clock.
    """
    layout, clock = solution.layout, clock_of(solution)
    timeouts = layout.clock.timeouts
    row, seconds = layout.rules.index(next_down(solution)), layout.rules.ruleset.play_seconds
    sign = 1 if offence else -1
    leads = [layout.column(2, sign * lead) for lead in range(-clock.lead, clock.lead + 1)]
    called, declined = np.full((2, *clock.shape), np.nan)

    def offence_has(moment: Layer | None) -> Floats:
        if moment is None:
            return layout.final(2)[leads]
        return solution.values(moment)[row, leads]

    for t in range(clock.ticks):
        layer = layout.moment(2, t + 1, timeouts, timeouts)
        plain, own, other = moments_after(layout, layer, seconds, untimed=False)
        if own is None or other is None:
            continue
        if offence:
            called[t] = offence_has(own)
            declined[t] = np.minimum(offence_has(other), offence_has(plain))
        else:
            called[t], declined[t] = -offence_has(other), -offence_has(plain)
    return called + 0.5, declined + 0.5


def timeout_worth(solution: TimedSolution, *, offence: bool) -> Floats:
    """[T, leads] what the first of a side's time-outs adds to its chance of winning.

    The offence has a first down at the first of :data:`PLACES`, and the other side has all its
    time-outs.

    Args:
        solution: With time-outs.
        offence: Whether the time-out and the lead are the offence's, else the defence's.
    """
    row = first_down(solution, scaled(solution, PLACES[0]))
    all_left = by_time(solution, row)
    if offence:
        return all_left - by_time(solution, row, spent=(1, 0))
    return (by_time(solution, row, spent=(0, 1)) - all_left)[:, ::-1]


def timeouts_section(solution: TimedSolution) -> Section:
    """The value of a time-out, and when to call it."""
    clock, maps, worths = clock_of(solution), [], []
    at = next_down(solution)
    for offence in (True, False):
        called, declined = timeout_gain(solution, offence=offence)
        gain = np.where(called > declined + NEGLIGIBLE, called - declined, np.nan)
        side = "offence" if offence else "defence"
        maps.append(
            shaded_map(
                f"gained by a time-out of the {side}",
                clock,
                gain,
                CIVIDIS,
                (0.0, max(float(np.nanmax(gain, initial=0.0)), 1e-6)),
                [("with a time-out", called), ("without", declined)],
            )
        )
        worth = timeout_worth(solution, offence=offence)
        worths.append(
            shaded_map(
                f"worth of a time-out of the {side}",
                clock,
                np.where(worth > NEGLIGIBLE, worth, np.nan),
                CIVIDIS,
                (0.0, max(float(worth.max()), 1e-6)),
                [("a time-out", worth)],
            )
        )
    seconds = solution.layout.rules.ruleset.play_seconds
    html = (
        f"<p>After a play of {seconds} seconds that leads to {ordinal(at.down)} and "
        f"{at.to_go} at {place_name(solution, at.to_goal)}: what calling a time-out adds to the "
        "chance of winning, by the time left before the play and the lead of the side that is "
        "asked. Where it is white, it adds nothing. "
        f"Both sides have all their time-outs.</p>{maps_html(maps)}"
        "<p>What having all time-outs and not one fewer adds to a side's chance of winning, by the "
        "time left and its lead. The offence has a first down at "
        f"{place_name(solution, scaled(solution, PLACES[0]))}; the other side has all its "
        f"time-outs.</p>{maps_html(worths)}"
    )
    return Section("The value of a time-out, and when to call it", html, script())


def onside_map(solution: TimedSolution, tables: TimedTables) -> ClockMap:
    """What an onside kick adds to the chance of winning, by the lead of the side that kicks."""
    layout, clock = solution.layout, clock_of(solution)
    timeouts = layout.clock.timeouts
    columns = [layout.column(2, lead) for lead in range(-clock.lead, clock.lead + 1)]
    moments = (layout.moment(2, t + 1, timeouts, timeouts) for t in range(clock.ticks))
    problems = (solved_problem(solution, tables, moment) for moment in moments)
    kicks = np.stack([kick_values(tables.loops, p.worth)[:, columns] for p in problems], axis=1)
    normal, onside, _ = kicks + 0.5
    gain = np.where(onside > normal + NEGLIGIBLE, onside - normal, np.nan)
    return shaded_map(
        "gained by an onside kick",
        clock,
        gain,
        CIVIDIS,
        (0.0, max(float(np.nanmax(gain, initial=0.0)), 1e-6)),
        [("onside", onside), ("kickoff", normal)],
    )


def onside_section(solution: TimedSolution, tables: TimedTables) -> Section:
    """When to kick onside."""
    html = (
        "<p>What an onside kick adds to the chance of winning of the side that kicks off, by the "
        "time left and its lead. Where it is white, the ordinary kickoff is as good or better."
        f"</p>{maps_html([onside_map(solution, tables)])}"
    )
    return Section("When to kick onside", html, script())
