"""What football players lose to opponents who see their mixes: exact, per drive and until a score.

The exploitability of one side's mixes is the value of the game less what they get against a best
response (:mod:`solvent.exact.kernels.football_response`). In a drive the offence and the defence
are two players. Until the next score a player is both by turns, and may begin by kicking off or by
receiving the kickoff; the loss is the mean of the two.
"""

from __future__ import annotations

from solvent.exact.kernels.football import (
    best_response_drive,
    best_response_points,
    solve_drive,
)
from solvent.exact.kernels.football_answers import Mixes
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules
from solvent.games.football.situation import Situation


class FootballLosses:
    """Exploitabilities of mixes in points.

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
        self.value = float(solve_drive(rules, expected_points).values[self._start])

    def of_offence(self, mixes: Mixes) -> float:
        """Per drive, with the ball."""
        answer = best_response_drive(
            self.rules, self._points, offence_mix=mixes.offence, choices=mixes.choices
        )
        return self.value - float(answer.values[self._start])

    def of_defence(self, mixes: Mixes) -> float:
        """Per drive, against the ball."""
        answer = best_response_drive(
            self.rules, self._points, defence_mix=mixes.defence, choices=mixes.choices
        )
        return float(answer.values[self._start]) - self.value

    def until_score(self, mixes: Mixes) -> float:
        """From a kickoff to the next touchdown or field goal."""
        answer = best_response_points(
            self.rules,
            self._points,
            offence_mix=mixes.offence,
            defence_mix=mixes.defence,
            choices=mixes.choices,
        )
        # What the game is worth to who receives, it costs who kicks.
        return (answer.receiving + answer.kicking) / 2
