"""What the published agent for Football Strategy gives away in a form with a clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvent.games.football.report.points import line_colour
from solvent.games.football_clock.baselines.agent import AgentLayers
from solvent.games.football_clock.report.chances import (
    PLACES,
    by_time,
    clock_of,
    first_down,
    names_html,
    place_name,
    scaled,
)
from solvent.games.football_clock.report.clock_map import ClockMap, maps_html, script, shaded_map
from solvent.games.football_clock.solver.evaluation import PairEvaluation, evaluate_pairs
from solvent.games.football_clock.solver.layout import Layer
from solvent.games.football_clock.solver.optimal import OptimalLayers
from solvent.games.football_clock.solver.policies import Players
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.model.arrays import Floats
from solvent.model.text import brief
from solvent.report.colours import CIVIDIS
from solvent.report.panel import Axis, Panel
from solvent.report.sections import Section

OPTIMAL, BEST_RESPONSE = 0, 1
"""The agent's opponents."""
OPPONENTS = ("the optimal player", "a best response")

SIDES = ("the agent has the ball", "the other side has it")
"""Who has the first down of the maps and lines."""

NEGLIGIBLE = 1e-9
"""Less is not drawn as given away."""


@dataclass(frozen=True, eq=False)
class AgentScores:
    """What the agent gets, chances of winning with half of those of a tie, or points.

    Attributes:
        start: From the start against each of :data:`OPPONENTS`, in both seats.
        by_time: [opponents, sides, T, leads] in the last half, from the first down that
            :func:`standard` names, by the time left and the agent's lead; T and leads are those
            of :func:`solvent.games.football_clock.report.chances.by_time`.
    """

    start: tuple[PairEvaluation, ...]
    by_time: Floats


def standard(solution: TimedSolution) -> int:
    """The yards to the goal of the first down that stands for all."""
    return scaled(solution, PLACES[0])


def rate_agent(
    solution: TimedSolution,
    *,
    threads: int = 2,
    on_layer: Callable[[Layer], None] | None = None,
) -> AgentScores:
    """Rate the agent exactly, which takes longer than solving did.

    Args:
        solution: Of any form.
        threads: How many work on a layer.
        on_layer: Is told of every layer that is done.
    """
    layout, clock = solution.layout, clock_of(solution)
    timeouts = layout.clock.timeouts
    row = first_down(solution, standard(solution))
    leads = [layout.column(2, lead) for lead in range(-clock.lead, clock.lead + 1)]
    by_time = np.full((len(OPPONENTS), 2, *clock.shape), np.nan)

    def keep(layer: Layer, values: Floats) -> None:
        if layer.ticks and layer == Layer(2, layer.ticks, timeouts, timeouts):
            for opponent, value in enumerate(values):
                mine, others = value[:, row, leads]
                # The other side's lead is the agent's with the sign changed.
                by_time[opponent, :, layer.ticks - 1] = mine, -others[::-1]
        if on_layer is not None:
            on_layer(layer)

    agent = AgentLayers(layout)
    pairs: list[Players] = [(agent, OptimalLayers(layout, solution.values)), (agent, None)]
    start = evaluate_pairs(layout, solution.start, pairs, threads=threads, on_layer=keep)
    return AgentScores(tuple(start), by_time + (0.0 if layout.for_points else 0.5))


def possible(solution: TimedSolution) -> Floats:
    """[sides, T, leads] what an optimal player gets in the agent's place."""
    own = by_time(solution, first_down(solution, standard(solution)))
    others = -own if solution.layout.for_points else 1 - own[:, ::-1]
    return np.stack((own, others))


def agent_section(solution: TimedSolution, scores: AgentScores) -> Section:
    """The table of the start, and what is given away by time and lead."""
    half = solution.layout.for_points
    unit = "Points, its own less the other side's" if half else "Chances of winning, a tie as half"
    html = (
        "<p>The agent of McCulloch (2015), with constants that match the tables of the paper, and "
        "with its clock management, of which the paper prints no numbers: the defaults stand for "
        "them. Both seats are rated exactly, against the optimal player and against a best "
        "response, which knows the agent's mixed strategies but not what is drawn "
        f"from them.</p>{start_table(solution, scores)}<p class='caption'>{unit}.</p>"
        f"{_lines_html(solution, scores) if half else _maps_html(solution, scores)}"
    )
    return Section("What the published agent gives away", html, "" if half else script())


def start_table(solution: TimedSolution, scores: AgentScores) -> str:
    """What is possible from the start, and what the agent gets, in both seats."""
    even = 0.0 if solution.layout.for_points else 1.0
    seats = (
        (0, solution.value, [score.first for score in scores.start]),
        (1, even - solution.value, [score.second for score in scores.start]),
    )
    body = "".join(
        f'<tr><th scope="row">{_seat(solution, player)}</th>'
        + "".join(f'<td class="n" data-value="{n!r}">{brief(n)}</td>' for n in (value, *own))
        + "</tr>"
        for player, value, own in seats
    )
    head = "".join(f'<th class="n">against {name}</th>' for name in OPPONENTS)
    return (
        '<div class="scroll"><table class="paper-agent"><thead><tr><th>the agent</th>'
        f'<th class="n">possible</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def given_away_maps(solution: TimedSolution, scores: AgentScores) -> list[ClockMap]:
    """What the agent gives away against the optimal player, with the ball and without it."""
    clock, best = clock_of(solution), possible(solution)
    lost = best - scores.by_time[OPTIMAL]
    lost[lost <= NEGLIGIBLE] = np.nan
    ends = (0.0, max(float(np.nanmax(lost, initial=0.0)), 1e-6))
    return [
        shaded_map(
            title,
            clock,
            lost[side],
            CIVIDIS,
            ends,
            [
                ("possible", best[side]),
                *(
                    (f"against {name}", scores.by_time[opponent, side])
                    for opponent, name in enumerate(OPPONENTS)
                ),
            ],
        )
        for side, title in enumerate(SIDES)
    ]


def given_away_panel(solution: TimedSolution, scores: AgentScores, opponent: int) -> Panel:
    """The points that the agent gives away to an opponent from there to the end, by time."""
    clock = clock_of(solution)
    lost = (possible(solution) - scores.by_time[opponent])[..., 0]
    minutes = (np.arange(1, clock.ticks + 1) * clock.tick / 60).tolist()
    panel = Panel(
        f"points given away to {OPPONENTS[opponent]}",
        f"points given away to {OPPONENTS[opponent]}",
        Axis(0.0, max(minutes)),
        Axis(0.0, 1.05 * max(float(lost.max()), 0.1)),
        "minutes left",
    )
    for side, name in enumerate(SIDES):
        panel.line(minutes, lost[side].tolist(), line_colour(side), name, dashed=False)
    return panel


def _maps_html(solution: TimedSolution, scores: AgentScores) -> str:
    return (
        "<p>What it gives away against the optimal player, by the time left and the agent's lead: "
        "the chance of winning that is possible, less its own. It is first down at "
        f"{place_name(solution, standard(solution))} of the side that has the ball. Where it is "
        "white, nothing is given away. Both sides have all their time-outs.</p>"
        f"{maps_html(given_away_maps(solution, scores))}"
    )


def _lines_html(solution: TimedSolution, scores: AgentScores) -> str:
    figures = "".join(
        f"<figure>{given_away_panel(solution, scores, opponent).drawn()}"
        f"{names_html(SIDES)}</figure>"
        for opponent in range(len(OPPONENTS))
    )
    return (
        "<p>The points that it gives away until the end of the half, by the time left, from a "
        f"first down at {place_name(solution, standard(solution))} of the side that has the ball. "
        f'Both sides have all their time-outs.</p><div class="panels">{figures}</div>'
    )


def _seat(solution: TimedSolution, player: int) -> str:
    """How a player begins."""
    start = solution.start
    if start.phase == "call":
        return "with the ball" if player == start.offence else "without the ball"
    return "kicks off" if player == start.offence else "receives the kickoff"
