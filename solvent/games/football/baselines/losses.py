"""What football players lose to opponents who see their strategies: exact, per drive or score.

The exploitability of one side's strategies is the value of the game less what they get against a
best response (:mod:`solvent.games.football.solver.response`). In a drive the offence and the
defence are two players. Until the next score a player is both by turns, and may begin by kicking
off or by receiving the kickoff; the loss is the mean of the two.
"""

from __future__ import annotations

from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules
from solvent.games.football.situation import Situation
from solvent.games.football.solver import (
    best_response_drive,
    best_response_points,
    solve_drive,
)
from solvent.games.football.solver.responses import Strategies
from solvent.model.arrays import Floats


def offence_losses(
    rules: PackedRules, expected_points: ExpectedPoints, values: Floats, strategies: Strategies
) -> Floats:
    """What strategies lose on offence in a drive from each situation, [S] points.

    Args:
        rules: Chart and ruleset.
        expected_points: With which the drive ends.
        values: [S] of the drive, to the offence.
        strategies: The offence's are looked at.

    Raises:
        ImproperGameError: If the defence can keep play from ending.
    """
    answer = best_response_drive(
        rules, expected_points, offence_strategy=strategies.offence, choices=strategies.choices
    )
    return values - answer.values


def defence_losses(
    rules: PackedRules, expected_points: ExpectedPoints, values: Floats, strategies: Strategies
) -> Floats:
    """What strategies lose on defence in a drive from each situation, [S] points."""
    answer = best_response_drive(
        rules, expected_points, defence_strategy=strategies.defence, choices=strategies.choices
    )
    return answer.values - values


def losses_until_score(
    rules: PackedRules, expected_points: ExpectedPoints, strategies: Strategies
) -> tuple[float, float]:
    """What a player's strategies lose until the next score, in points.

    Returns:
        From receiving the kickoff, and from kicking off.

    Raises:
        ImproperGameError: If the other side can keep play from ending.
    """
    answer = best_response_points(
        rules,
        expected_points,
        offence_strategy=strategies.offence,
        defence_strategy=strategies.defence,
        choices=strategies.choices,
    )
    value = expected_points.kickoff
    return value + answer.kicking, answer.receiving - value


class FootballLosses:
    """Exploitabilities of strategies in points.

    Args:
        rules: Chart and ruleset.
        expected_points: The game's own, with which drives end.
        start: Where a drive begins.

    Attributes:
        value: Of the drive, to the offence.
    """

    def __init__(
        self, rules: PackedRules, expected_points: ExpectedPoints, start: Situation
    ) -> None:
        self.rules, self._points = rules, expected_points
        self._start = rules.index(start)
        self._values = solve_drive(rules, expected_points).values
        self.value = float(self._values[self._start])

    def of_offence(self, strategies: Strategies) -> float:
        """Per drive, with the ball."""
        return float(
            offence_losses(self.rules, self._points, self._values, strategies)[self._start]
        )

    def of_defence(self, strategies: Strategies) -> float:
        """Per drive, against the ball."""
        return float(
            defence_losses(self.rules, self._points, self._values, strategies)[self._start]
        )

    def until_score(self, strategies: Strategies) -> float:
        """From a kickoff to the next touchdown or field goal."""
        return sum(losses_until_score(self.rules, self._points, strategies)) / 2
