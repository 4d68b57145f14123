"""Readable values of games: as a chance of winning where it is one."""

from __future__ import annotations

from dataclasses import dataclass

from solvent.model.game import WINS, WINS_OR_TIES, GameInfo


@dataclass(frozen=True, slots=True)
class ValueScale:
    """The values of a game as one of its players reads them.

    Args:
        info: Description of the game; its unit is what values are counted in.
        player: Whose values they are.
    """

    info: GameInfo
    player: int = 0

    @property
    def is_chance(self) -> bool:
        """Return whether values are chances of winning."""
        return self.info.unit in (WINS, WINS_OR_TIES)

    @property
    def meaning(self) -> str:
        """What a value is, in a few words; empty if the game does not say."""
        chances = {WINS: "chance of winning", WINS_OR_TIES: "chance of winning, a tie counts half"}
        return chances.get(self.info.unit, self.info.unit)

    def of(self, value: float) -> float:
        """A value to player 0 as it looks to the player: what one side wins the other loses."""
        if self.player == 0:
            return value
        return 1 - value if self.is_chance else -value

    def text(self, value: float) -> str:
        """A value to the player."""
        return f"{100 * value:z.2f}%" if self.is_chance else f"{value:z.4f}"

    def signed(self, change: float) -> str:
        """A change of the value, with its sign."""
        return f"{100 * change:+z.2f}%" if self.is_chance else f"{change:+z.4f}"

    def difference(self, cost: float) -> str:
        """A loss, with its unit."""
        if self.is_chance:
            return f"{100 * cost:z.2f}% of a win"
        return f"{cost:z.4f} {self.info.unit or 'points'}"
