"""The result of a solver, and the errors with which it refuses."""

from __future__ import annotations

from dataclasses import dataclass

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats

WAY_OUT = "solve it with a discount (solvent.discounted), under which play ends for certain"
"""Advice for a game in which play need not end."""


class ImproperGameError(ValueError):
    """An episode need not end: a state's value is not defined, or only by never ending."""


class CertificateError(ArithmeticError):
    """A solution was found but its error could not be bounded tightly enough."""


@dataclass(frozen=True, eq=False)
class Solution:
    """An optimum, with a bracket that was obtained independently of the solver's iteration.

    Attributes:
        value: The value to player 0, at the start distribution.
        values: [S] value of every state to player 0.
        action_values: [K] expected value of every row.
        policies: An optimal policy of each player (a single action where there is no choice).
        lower: Proved lower bound of the value at the start.
        upper: Proved upper bound of the value at the start.
        method: The method by which it was found.
        model_hash: The hash of the game that was solved.
    """

    value: float
    values: Floats
    action_values: Floats
    policies: tuple[TabularPolicy, TabularPolicy]
    lower: float
    upper: float
    method: str
    model_hash: str

    def check_is_for(self, game: TabularGame) -> None:
        """Raise unless this is a solution of `game`.

        Raises:
            ValueError: If the model hashes differ.
        """
        if self.model_hash != game.model_hash:
            raise ValueError(
                f"the solution is of the model {self.model_hash[:12]}, but this {game.info.name} "
                f"is the model {game.model_hash[:12]}"
            )

    def __repr__(self) -> str:
        """The value and its bracket."""
        return f"<Solution {self.value:.12g} in [{self.lower:.15g}, {self.upper:.15g}]>"
