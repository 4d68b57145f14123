"""What every call and every other decision is worth in one position of a solved game.

Solutions hold values only. What a position's calls are worth is computed from the values of what
may follow, and the strategies are those of the matrix game of its calls, solved again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from solvent.exact.layered.solution import LayeredSolution
from solvent.exact.matrix_game import MatrixGameSolution, solve_matrix_games
from solvent.games.football.calls import cell_of_call, what_follows_call
from solvent.games.football.results import Result
from solvent.games.football.situation import Consequence, consequences
from solvent.games.football_clock.position import TimedPosition
from solvent.model.arrays import Floats
from solvent.model.parameters import shown


@dataclass(frozen=True, eq=False)
class TimedCallSheet:
    """The matrix game of a position.

    Attributes:
        position: In which both sides call.
        actions: The legal actions of the offence, [m], and of the defence, [n].
        payoff: [m, n] what is still to come is worth to the offence, as
            :meth:`TimedSolution.value_of` counts it.
        strategies: The value and both sides' optimal strategies.
    """

    position: TimedPosition
    actions: tuple[tuple[int, ...], tuple[int, ...]]
    payoff: Floats
    strategies: MatrixGameSolution

    @property
    def offence(self) -> Floats:
        """[m] what each action is worth to the offence against the defence's strategy."""
        return np.asarray(self.payoff @ self.strategies.column_strategy)

    @property
    def defence(self) -> Floats:
        """[n] what the offence has against each call of the defence with its strategy."""
        return np.asarray(self.strategies.row_strategy @ self.payoff)


def call_sheet(solution: LayeredSolution, position: TimedPosition) -> TimedCallSheet:
    """Rate all calls of a position.

    Args:
        solution: Of the game.
        position: In the phase ``"call"``.

    Raises:
        ValueError: If it has another phase.
    """
    if position.phase != "call":
        raise ValueError(
            f"phase is {shown(position.phase)}; both sides call in the phase 'call' only"
        )
    game = solution.game
    chart, rules = game.loaded_chart, game.loaded_ruleset
    situation, side = position.situation, position.offence

    def expected(branches: tuple[Consequence, ...], result: Result | None) -> float:
        total = 0.0
        for branch in branches:
            outcome = game.flow.after_play(position, branch, result)
            worth = float(outcome.reward) + solution.value_of(outcome.state)
            total += float(outcome.probability) * worth
        return total

    @cache
    def rated(result: Result) -> float:
        if result.options:
            return solution.value_of(position._replace(phase="choice", choice=result.code))
        return expected(consequences(rules, situation, result), result)

    legal = game.legal_actions(position)
    defences = range(chart.defences)
    payoff = np.empty((len(legal[side]), chart.defences))
    for row, action in enumerate(legal[side]):
        if action < chart.plays + 1 or situation.punting:
            cells = (cell_of_call(chart, action, defence) for defence in defences)
            payoff[row] = [sum(float(p) * rated(result) for p, result in cell) for cell in cells]
        else:
            # A field goal and the declaration of punt formation are the same against all.
            [(_, _, branches)] = what_follows_call(chart, rules, situation, action, 0)
            payoff[row] = expected(branches, None)
    if side == 1:
        payoff = -payoff if game.for_points else 1 - payoff
    return TimedCallSheet(
        position, (legal[side], legal[1 - side]), payoff, solve_matrix_games(payoff[None])[0]
    )


NEGLIGIBLE = 1e-9
"""Decisions that differ by less are as good as each other."""


def action_values(
    solution: LayeredSolution, position: TimedPosition, player: int
) -> dict[int, float]:
    """The value of each legal action of a player against the other side's optimal strategy.

    Args:
        solution: Of the game.
        position: In which play goes on.
        player: 0 or 1; one who has no choice has one action.
    """
    if position.phase == "call":
        sheet = call_sheet(solution, position)
        attacks = player == position.offence
        if attacks:
            worth = sheet.offence
        else:
            worth = np.array([to_other(solution, value) for value in sheet.defence])
        return dict(zip(sheet.actions[0 if attacks else 1], worth.tolist(), strict=True))
    # At most one player has a choice; where it is the other one, it takes what is best for itself.
    legal = solution.game.legal_actions(position)
    decider = 0 if len(legal[0]) > 1 else 1
    values = {}
    for action in legal[decider]:
        joint = (action, legal[1][0]) if decider == 0 else (legal[0][0], action)
        value = sum(
            float(outcome.probability) * (float(outcome.reward) + solution.value_of(outcome.state))
            for outcome in solution.game.transition(position, joint)
        )
        values[action] = value if decider == 0 else to_other(solution, value)
    if decider == player:
        return values
    return {legal[player][0]: to_other(solution, max(values.values()))}


def optimal_strategy(
    solution: LayeredSolution, position: TimedPosition, player: int
) -> dict[int, float]:
    """What a player does in an equilibrium: its actions with positive probability.

    Of decisions that are equally good it takes the plain one: no time-out, the ordinary kickoff.

    Args:
        solution: Of the game.
        position: In which play goes on.
        player: 0 or 1.
    """
    if position.phase == "call":
        sheet = call_sheet(solution, position)
        attacks = player == position.offence
        strategy = sheet.strategies.row_strategy if attacks else sheet.strategies.column_strategy
        actions = sheet.actions[0 if attacks else 1]
        return {action: p for action, p in zip(actions, strategy.tolist(), strict=True) if p > 0}
    values = action_values(solution, position, player)
    best = max(values.values())
    good = [action for action, value in values.items() if value > best - NEGLIGIBLE]
    return {good[-1 if position.phase == "time-out" else 0]: 1.0}


def to_other(solution: LayeredSolution, value: float) -> float:
    """A value to one player as it is to the other."""
    return -value if solution.game.for_points else 1 - value
