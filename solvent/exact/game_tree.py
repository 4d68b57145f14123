"""Any acyclic game as choices and scores, for :func:`solvent.exact.solve_tree`.

    tree = GameTree(game)
    solve_tree(tree.choices, tree.score, tree.start, player=tree.player)

A state of the tree is a state of the game with the rewards collected on the way, which are its
score at an end. (In a game that rewards only at the end that is 0 everywhere before it.)
Values are to player 0, in Fractions if wanted, which makes this the slow but exact reference for
solvers of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from solvent.model import Game, Outcome


class Reached(NamedTuple):
    """A state of the game and the sum of the rewards on the way to it."""

    state: Any
    collected: Fraction | int = 0


BEFORE_PLAY = Reached(None)
"""Before the initial state has been drawn."""


@dataclass(frozen=True)
class GameTree:
    """The rules of a game in the form that :func:`~solvent.exact.solve_tree` takes.

    Attributes:
        game: A game for one, or for two of whom one is on turn in every state.
        start: The state to solve from.
    """

    game: Game
    start: Reached = BEFORE_PLAY

    def choices(self, at: Reached) -> list[tuple[str, list[tuple[Reached, Fraction]]]]:
        """The legal actions by name, with what follows.

        Raises:
            ValueError: If both players have a choice.
        """
        if at == self.start:
            return [("begin", _following(self.game.initial(), at))]
        legal = self.game.legal_actions(at.state)
        player = self.player(at)
        names = self.game.info.actions[player]
        return [
            (names[joint[player]], _following(self.game.transition(at.state, joint), at))
            for joint in product(*legal)
        ]

    def score(self, at: Reached) -> Fraction | int | None:
        """The rewards collected, at an end."""
        if at == self.start or not self.game.is_terminal(at.state):
            return None
        return at.collected

    def player(self, at: Reached) -> int:
        """The player who has a choice; 0 if nobody has.

        Raises:
            ValueError: If both have.
        """
        if at == self.start:
            return 0
        choosing = [
            p for p, legal in enumerate(self.game.legal_actions(at.state)) if len(legal) > 1
        ]
        if len(choosing) > 1:
            raise ValueError(
                f"both players of {self.game.info.name} have a choice in state {at.state!r}; "
                f"solve it as arrays: solve(compile_game(game))"
            )
        return choosing[0] if choosing else 0


def _following(outcomes: tuple[Outcome, ...], at: Reached) -> list[tuple[Reached, Fraction]]:
    return [(Reached(o.state, at.collected + o.reward), o.probability) for o in outcomes]
