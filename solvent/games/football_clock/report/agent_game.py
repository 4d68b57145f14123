"""A game of the published agent against the optimal player, with what its decisions give away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from solvent.games.football_clock.baselines.agent import AgentLayers
from solvent.games.football_clock.baselines.players import AgentPlayer, strategy_of
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.report.agent import OPTIMAL, AgentScores
from solvent.games.football_clock.report.transcript import SEED, course, table_html
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solver.call_sheet import (
    NEGLIGIBLE,
    action_values,
    optimal_strategy,
)
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.games.football_clock.transcript import Line, table_of, transcript
from solvent.report.sections import Section

AGENT = 0
"""Its seat."""


class PricedGame(NamedTuple):
    """A game with the costs of the agent's decisions.

    Attributes:
        lines: The plays.
        costs: What its action probabilities gave away in each, decisions that are no play of their
            own such as a time-out that is not called counted to the play before.
    """

    lines: tuple[Line, ...]
    costs: tuple[float, ...]


def cost_of_strategy(
    solution: TimedSolution, position: TimedPosition, player: int, strategy: Mapping[int, float]
) -> float:
    """What a player's mixed strategy gives away in a position against the other's optimal one."""
    if len(solution.game.legal_actions(position)[player]) == 1:
        return 0.0
    values = action_values(solution, position, player)
    own = sum(share * values[action] for action, share in strategy.items())
    return max(0.0, max(values.values()) - own)


def priced_game(solution: TimedSolution, *, seed: int = SEED) -> PricedGame:
    """Let the agent play against the optimal player.

    Args:
        solution: Of the game.
        seed: Of the dice and of the actions drawn.
    """
    sampler = TimedFootballSampler(solution.game)
    agent = strategy_of(sampler, AgentPlayer(AgentLayers(solution.layout)))
    priced: list[tuple[TimedPosition, float]] = []

    def watched(position: TimedPosition, player: int) -> dict[int, float]:
        strategy = agent(position, player)
        priced.append((position, cost_of_strategy(solution, position, player, strategy)))
        return strategy

    lines = transcript(solution, (watched, partial(optimal_strategy, solution)), seed=seed)
    return PricedGame(lines, _by_line(lines, priced))


def _by_line(
    lines: Sequence[Line], priced: Sequence[tuple[TimedPosition, float]]
) -> tuple[float, ...]:
    """The costs of positions, which come in the order of the game, added up by plays."""
    costs, begun = [0.0] * len(lines), 0
    for position, cost in priced:
        if begun < len(lines) and position is lines[begun].position:
            begun += 1
        costs[max(begun - 1, 0)] += cost
    return tuple(costs)


def agent_game_section(solution: TimedSolution, scores: AgentScores) -> Section:
    """The course of a game as a line, and its plays as a table with their costs."""
    lines, costs = priced_game(solution)
    head, *rows = table_of(solution.game, lines)
    left = iter(costs)
    # A row that only names a half has no value, and is no play.
    body = [(*row, _text(solution, next(left)) if row[-1] else "") for row in rows]
    unit = " points" if solution.layout.for_points else ""
    given = solution.value - scores.start[OPTIMAL].first
    html = (
        "<p>The agent as player 0 against the optimal player. Beside every play stands what the "
        "agent gave away in it: the value of the position, less that of its own mixed strategy "
        "there against the optimal player's. Whatever else changes the value is luck. In this game "
        f"that adds up to {_text(solution, sum(costs)) or 0}{unit}; over all games it is "
        f"{_text(solution, given) or 0}{unit} on average, as the table above says.</p>"
        f'<div class="panels"><figure>{course(solution, lines).drawn()}</figure></div>'
        f"{table_html((*head, 'given away'), body)}"
    )
    return Section("A game of the published agent", html)


def _text(solution: TimedSolution, cost: float) -> str:
    """Points, or a chance as the transcript writes it; nothing for next to nothing."""
    if cost < NEGLIGIBLE:
        return ""
    return f"{cost:.3f}" if solution.layout.for_points else f"{100 * cost:.2f}%"
