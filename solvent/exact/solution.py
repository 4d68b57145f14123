"""The result of a solver, and the errors with which it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats

WAY_OUT = "solve it with a discount (solvent.discounted), under which play ends for certain"
"""Advice for a game in which play need not end."""


FIGURES = ("value", "lower", "upper", "method", "model_hash")
"""The attributes of a solution that are numbers or text."""


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

    def packed(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return what is kept of the solution in a file: JSON-able figures, and arrays by name."""
        figures = {name: getattr(self, name) for name in FIGURES}
        of_players = {f"policy_{player}": p.probabilities for player, p in enumerate(self.policies)}
        return figures, {"values": self.values, "action_values": self.action_values, **of_players}

    @classmethod
    def unpacked(cls, figures: Mapping[str, Any], arrays: Mapping[str, Any]) -> Solution:
        """Make a solution of what :meth:`packed` has returned.

        Args:
            figures: The figures; others are ignored.
            arrays: The arrays by name.
        """
        first, second = (
            TabularPolicy(arrays[f"policy_{player}"], figures["model_hash"], player, "optimal")
            for player in (0, 1)
        )
        return cls(
            **{name: figures[name] for name in FIGURES},
            values=arrays["values"],
            action_values=arrays["action_values"],
            policies=(first, second),
        )

    def __repr__(self) -> str:
        """The value and its bracket."""
        return f"<Solution {self.value:.12g} in [{self.lower:.15g}, {self.upper:.15g}]>"
