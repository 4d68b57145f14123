"""Losses of the published agent for Football Strategy in a form with a clock.

Over all games, by time and lead, and in each decision of one game against the optimal player.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from solvent.cli.groups import interruptible
from solvent.cli.layered import layer_bar
from solvent.exact import SolvedGame
from solvent.games.football_clock.agent import AgentLayers, AgentPlayer
from solvent.games.football_clock.evaluation import PairEvaluation, evaluate_pairs
from solvent.games.football_clock.layout import Layer
from solvent.games.football_clock.optimal import OptimalLayers
from solvent.games.football_clock.players import strategy_of
from solvent.games.football_clock.policies import Players
from solvent.games.football_clock.report.sections import (
    SEED,
    LastHalf,
    course,
    filled,
    lines_figure,
)
from solvent.games.football_clock.rules import TimedPosition
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solution import NEGLIGIBLE, TimedSolution
from solvent.games.football_clock.transcript import Line, table_of, transcript
from solvent.model.arrays import Floats
from solvent.report.cell_map import map_script
from solvent.report.panel import Axis, Panel
from solvent.report.sections import Section

OPTIMAL, BEST_RESPONSE = 0, 1
"""The agent's opponents."""
OPPONENTS = ("the optimal player", "a best response")

SIDES = ("the agent has the ball", "the other side has it")
"""The side that has the first down of the maps and lines."""


@dataclass(frozen=True, eq=False)
class AgentScores:
    """The agent's values, chances of winning with half of those of a tie, or points.

    Attributes:
        start: Values from the start against each of :data:`OPPONENTS`, in both seats.
        by_time: [opponents, sides, T, leads] in the last half, from the standard first down, by
            the time left and the agent's lead.
        possible: [sides, T, leads] what an optimal player gets in the agent's place.
    """

    start: tuple[PairEvaluation, ...]
    by_time: Floats
    possible: Floats


def rate_agent(
    solution: TimedSolution,
    *,
    threads: int = 2,
    on_layer: Callable[[Layer], None] | None = None,
) -> AgentScores:
    """Rate the agent exactly, which takes longer than solving did.

    Args:
        solution: Solution of any form.
        threads: Number of threads that work on a layer.
        on_layer: Function called with every layer that is done.
    """
    layout, half = solution.layout, LastHalf(solution)
    row = half.first_down(half.standard)
    by_time = np.full((len(OPPONENTS), 2, *half.shape), np.nan)

    def keep(layer: Layer, values: Floats) -> None:
        if layer.ticks and layer == half.moment(layer.ticks):
            for opponent, value in enumerate(values):
                mine, others = value[:, row, half.columns]
                # The other side's lead is the agent's with the sign changed.
                by_time[opponent, :, layer.ticks - 1] = mine, -others[::-1]
        if on_layer is not None:
            on_layer(layer)

    agent = AgentLayers(layout)
    pairs: list[Players] = [(agent, OptimalLayers(layout, solution.values)), (agent, None)]
    start = evaluate_pairs(layout, solution.start, pairs, threads=threads, on_layer=keep)
    own = half.by_time(row)
    possible = np.stack((own, 2 * half.even - own[:, ::-1]))
    return AgentScores(tuple(start), by_time + half.even, possible)


def paper_agent(solution: SolvedGame) -> list[Section] | None:
    """Rate the published agent in a solved form, with progress, and return the sections about it.

    Args:
        solution: Solution of a form with a clock; for another there are no sections.
    """
    if not isinstance(solution, TimedSolution):
        return None
    layers = solution.layout.layers
    with (
        interruptible("nothing of the published agent's rating is kept"),
        layer_bar(solution.layered, layers, "rating the published agent") as tell,
    ):
        scores = rate_agent(solution, threads=os.cpu_count() or 1, on_layer=tell)
    return paper_agent_sections(solution, scores)


def paper_agent_sections(solution: TimedSolution, agent: AgentScores) -> list[Section]:
    """Return the published agent's losses in a solved form, and a game that it plays.

    Args:
        solution: Solution of the form.
        agent: The agent's values in it.
    """
    return [agent_section(solution, agent), agent_game_section(solution, agent)]


def agent_section(solution: TimedSolution, scores: AgentScores) -> Section:
    """Return the table of the start, and the losses by time and lead."""
    half, for_points = LastHalf(solution), solution.layout.for_points
    unit = "Points, its own less the other side's"
    figures = lost_lines(half, scores) if for_points else lost_maps(half, scores)
    if not for_points:
        unit = "Chances of winning, a tie as half"
    html = filled(
        "agent",
        seats_of(solution, scores),
        OPPONENTS,
        unit,
        half.place_name(half.standard),
        figures,
        for_points,
    )
    title = "What the published agent gives away"
    return Section(title, html, "" if for_points else map_script())


def seats_of(solution: TimedSolution, scores: AgentScores) -> dict[str, list[float]]:
    """Return the optimal values from the start, and the agent's, in both seats."""
    even, start = 0.0 if solution.layout.for_points else 1.0, scores.start
    return {
        _seat(solution.start, 0): [solution.value, *(score.first for score in start)],
        _seat(solution.start, 1): [even - solution.value, *(score.second for score in start)],
    }


def lost_maps(half: LastHalf, scores: AgentScores) -> list[str]:
    """Return maps of the agent's losses against the optimal player, with and without the ball."""
    lost, maps = scores.possible - scores.by_time[OPTIMAL], []
    for side, title in enumerate(SIDES):
        told = {"possible": scores.possible[side]}
        for name, values in zip(OPPONENTS, scores.by_time, strict=True):
            told[f"against {name}"] = values[side]
        maps.append(half.gain_map(title, lost[side], told, float(lost.max())))
    return maps


def lost_lines(half: LastHalf, scores: AgentScores) -> list[str]:
    """Return charts of the points that the agent gives away, by the time left."""
    figures: list[str] = []
    minutes = (np.arange(1, half.ticks + 1) * half.layout.clock.tick / 60).tolist()
    for name, values in zip(OPPONENTS, scores.by_time, strict=True):
        lost = (scores.possible - values)[..., 0]
        title, high = f"points given away to {name}", 1.05 * max(float(lost.max()), 0.1)
        panel = Panel(title, title, Axis(0.0, max(minutes)), Axis(0.0, high), "minutes left")
        lines = dict(zip(SIDES, lost, strict=True))
        figures.append(lines_figure(panel, minutes, lines))
    return figures


def _seat(start: TimedPosition, player: int) -> str:
    """Describe how a player begins."""
    if start.phase == "call":
        return "with the ball" if player == start.offence else "without the ball"
    return "kicks off" if player == start.offence else "receives the kickoff"


# One game


def cost_of_strategy(
    solution: TimedSolution, position: TimedPosition, player: int, strategy: Mapping[int, float]
) -> float:
    """Return the loss of a player's mixed strategy in a position against the optimal opponent."""
    sign = 1 if player == 0 else -1
    values = {a: sign * v for a, v in solution.action_values(position, player).items()}
    own = sum(share * values[action] for action, share in strategy.items())
    return max(0.0, max(values.values()) - own)


def priced_game(
    solution: TimedSolution, *, seed: int = SEED
) -> tuple[tuple[Line, ...], tuple[float, ...]]:
    """Let the agent play as player 0 against the optimal player.

    Args:
        solution: Solution of the game.
        seed: Seed of the dice and of the actions drawn.

    Returns:
        The plays, and what the agent's action probabilities gave away in each; decisions that are
        no play of their own, such as a time-out that is not called, count to the play before.
    """
    player = AgentPlayer(AgentLayers(solution.layout))
    agent = strategy_of(TimedFootballSampler(solution.game), player)
    priced: list[tuple[TimedPosition, float]] = []

    def watched(position: TimedPosition, seat: int) -> Mapping[int, float]:
        if seat == 1:
            return solution.policy(position, 1)
        strategy = agent(position, seat)
        priced.append((position, cost_of_strategy(solution, position, seat, strategy)))
        return strategy

    lines = transcript(solution, (watched, watched), seed=seed)
    costs, begun = [0.0] * len(lines), 0
    for position, cost in priced:
        if begun < len(lines) and position is lines[begun].position:
            begun += 1
        costs[max(begun - 1, 0)] += cost
    return lines, tuple(costs)


def agent_game_section(solution: TimedSolution, scores: AgentScores) -> Section:
    """The course of a game as a line, and its plays as a table with their costs."""
    lines, costs = priced_game(solution)
    head, *rows = table_of(solution.game, lines)
    left = iter(costs)
    # A row that only names a half has no value, and is no play.
    body = [(*row, _text(solution, next(left)) if row[-1] else "") for row in rows]
    unit = " points" if solution.layout.for_points else ""
    given = solution.value - scores.start[OPTIMAL].first
    amounts = (_text(solution, amount) or "0" for amount in (sum(costs), given))
    figure = course(solution, lines)
    html = filled("agent_game", *amounts, unit, figure, (*head, "given away"), body)
    return Section("A game of the published agent", html)


def _text(solution: TimedSolution, cost: float) -> str:
    """Points, or a chance as the transcript writes it; nothing for next to nothing."""
    if cost < NEGLIGIBLE:
        return ""
    return f"{cost:.3f}" if solution.layout.for_points else f"{100 * cost:.2f}%"
