"""Greed solved by its kernel, which needs no table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from solvent.exact import SolvedTable, cached_solution
from solvent.exact.solved_game import BySolution
from solvent.games.greed.kernel import GreedSolution, solve_greed
from solvent.games.greed.rules import STAND, Greed, Position, fits_a_table
from solvent.model import Game, cached_table
from solvent.model.parameters import shown


@dataclass(frozen=True, eq=False)
class SolvedGreed(BySolution):
    """A :class:`solvent.exact.SolvedGame`; ratings are to the player on turn, values to player 0.

    Among tied rolls its policies take the one with the fewest dice.

    Attributes:
        game: The rules.
        solution: The rating of every position.
    """

    game: Greed
    solution: GreedSolution

    @property
    def method(self) -> str:
        """Return the name of the solution method."""
        return "sliding sums over the scores, by the kernel"

    @cached_property
    def tabled(self) -> SolvedTable | None:
        """The solution of the game's table; None if the game is too large for a table."""
        if not fits_a_table(self.game):
            return None
        table = cached_table(self.game)
        return SolvedTable(self.game, table, cached_solution(table))

    def value_of(self, state: Position) -> float:
        """Return the value of a state to player 0."""
        if state.phase == "over":
            return 0.0
        rating = self.solution.last if state.phase == "last" else self.solution.normal
        return _to_first(float(rating[self._scores(state)]), state.player)

    def action_values(self, state: Position, player: int) -> Mapping[int, float]:
        """Return the value to player 0 of each legal action of a player, by action."""
        if player != state.player:
            return {STAND: self.value_of(state)}
        own, other = self._scores(state)
        ratings = self.solution.ratings(own, other, last=state.phase == "last")
        return {dice: _to_first(rating, player) for dice, rating in enumerate(ratings.tolist())}

    def policy(self, state: Position, player: int) -> Mapping[int, float]:
        """Return the probability of every legal action in an optimal strategy of a player."""
        if player != state.player:
            return {STAND: 1.0}
        rolls = self.solution.last_roll if state.phase == "last" else self.solution.normal_roll
        best = int(rolls[self._scores(state)])
        return {dice: float(dice == best) for dice in self.game.legal_actions(state)[player]}

    def _scores(self, state: Position) -> tuple[int, int]:
        """Return the scores of the player on turn and of the other player.

        Raises:
            ValueError: If no player is on turn in the position.
        """
        limit = self.game.limit
        if (
            state.player not in (0, 1)
            or state.phase not in ("play", "last")
            or not all(0 <= score <= limit for score in state.scores)
        ):
            raise ValueError(
                f"{shown(state)} is no position; allowed are players 0 and 1, scores from 0 to "
                f"{limit}, and the phases 'play' and 'last'"
            )
        return state.scores[state.player], state.scores[1 - state.player]


def _to_first(rating: float, player: int) -> float:
    """Return a player's rating from the view of player 0."""
    return rating if player == 0 else 1 - rating


def solved_greed(game: Game) -> SolvedGreed | None:
    """Solve Greed without a table; return None for another game.

    Args:
        game: The rules.

    Raises:
        CertificateError: If the error of the ratings could not be bounded.
    """
    if not isinstance(game, Greed):
        return None
    return SolvedGreed(game, solve_greed(game.limit, game.sides))
