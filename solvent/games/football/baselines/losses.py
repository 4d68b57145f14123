"""Losses of football players to opponents who see their strategies: exact, per drive or score.

The exploitability of one side's strategies is the value of the game less what they get against a
best response (:mod:`solvent.games.football.solver.responses`). In a drive the offence and the
defence are two players. Until the next score a player is both by turns, and may begin by kicking
off or by receiving the kickoff.
"""

from __future__ import annotations

from dataclasses import dataclass

from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules
from solvent.games.football.solver.backup import Strategies
from solvent.games.football.solver.responses import (
    ATTACK,
    DEFEND,
    best_response_drive,
    best_response_points,
)
from solvent.model.arrays import Floats


@dataclass(frozen=True, eq=False)
class FootballLosses:
    """Exploitabilities of strategies, in points.

    Each method raises :class:`~solvent.exact.ImproperGameError` if the other side can keep play
    from ending.

    Attributes:
        rules: Chart and ruleset.
        expected_points: The game's own, with which drives end.
        values: [S] the values of a drive, to the offence.
    """

    rules: PackedRules
    expected_points: ExpectedPoints
    values: Floats

    def of_offence(self, strategies: Strategies) -> Floats:
        """Return the losses on offence in a drive from each situation, [S]."""
        found = best_response_drive(self.rules, self.expected_points, strategies, DEFEND)
        return self.values + found.values(DEFEND)

    def of_defence(self, strategies: Strategies) -> Floats:
        """Return the losses on defence in a drive from each situation, [S]."""
        found = best_response_drive(self.rules, self.expected_points, strategies, ATTACK)
        return found.values(ATTACK) - self.values

    def until_score(self, strategies: Strategies) -> tuple[float, float]:
        """Return the losses from receiving a kickoff, and from kicking off."""
        found = best_response_points(self.rules, self.expected_points, strategies)
        value = self.expected_points.kickoff
        return value + found.kicking, found.receiving - value
