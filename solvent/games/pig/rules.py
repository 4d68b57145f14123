"""Pig, the jeopardy dice game for two.

On a turn the player rolls a die again and again. A 1 ends the turn and the turn's total is lost;
holding adds the total to the score and passes the die. The first to reach the target wins. The
rules and the recursion are in T. W. Neller and C. G. M. Presser, "Optimal play of the dice game
Pig", The UMAP Journal 25(1), 2004.

The game has cycles: two players who keep rolling 1s return to the same scores. It is the suite's
reference for solving games that are not acyclic.

The first roll of a turn is compulsory, as in the usual statement of the rules. Neller and
Presser's equations also allow holding at 0, which is never better than rolling.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    WINS,
    Cell,
    GameInfo,
    Gauge,
    JointAction,
    Outcome,
    Pieces,
    Prose,
    Rules,
    Scene,
    check_flag,
    check_integer,
)

ROLL, HOLD = 0, 1


class Turn(NamedTuple):
    """The player on turn, both scores, and the total of the turn so far."""

    player: int
    scores: tuple[int, int]
    total: int


@dataclass(frozen=True)
class Pig(Rules):
    """Pig, dice for two: roll on or hold, to a target score.

    Args:
        target: Score that wins, within 1..1000. The usual game is to 100.
        sides: Sides of the die, within 2..100; a 1 always ends the turn.
        signed: Pay -1 instead of 0 for a loss. The value is then player 0's probability of winning
            minus that of losing.
    """

    target: int = 100
    sides: int = 6
    signed: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.target, "target", 1, 1000)
        check_integer(self.sides, "sides", 2, 100)
        check_flag(self.signed, "signed")

    start = Turn(0, (0, 0), 0)

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        return GameInfo(
            name="pig",
            players=2,
            actions=(("roll", "hold"),) * 2,
            acyclic=False,
            reward_range=(-1.0 if self.signed else 0.0, 1.0),
            sources=("Neller and Presser 2004, Optimal play of the dice game Pig, UMAP J. 25(1)",),
            parameters=(("target", self.target), ("sides", self.sides), ("signed", self.signed)),
            observation_labels=("my turn", "my score", "other score", "turn total"),
            unit="" if self.signed else WINS,
        )

    def turn(self, state: Turn) -> int:
        """Return the player on turn."""
        return state.player

    def legal_actions(self, state: Turn) -> tuple[tuple[int, ...], ...]:
        """Return rolling and, after the first roll, holding; the other player waits."""
        mine = (ROLL, HOLD) if state.total > 0 else (ROLL,)
        return (mine, (ROLL,)) if state.player == 0 else ((ROLL,), mine)

    def transition(self, state: Turn, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Roll the die, or bank the total and pass it."""
        if joint_action[state.player] == HOLD:
            return (Outcome(Fraction(1), self._pass(state, state.total)),)
        chance = Fraction(1, self.sides)
        outcomes = [Outcome(chance, self._pass(state, 0))]
        winning = 0
        for face in range(2, self.sides + 1):
            total = state.total + face
            if state.scores[state.player] + total >= self.target:
                winning += 1
            else:
                outcomes.append(Outcome(chance, state._replace(total=total)))
        if winning:
            loss = -1 if self.signed else 0
            won = Turn(state.player, self._bank(state, self.target), 0)
            outcomes.append(Outcome(chance * winning, won, 1 if state.player == 0 else loss))
        return tuple(outcomes)

    def _bank(self, state: Turn, points: int) -> tuple[int, int]:
        """Return the scores after the player on turn adds points, capped at the target."""
        mine = min(state.scores[state.player] + points, self.target)
        other = state.scores[1 - state.player]
        return (mine, other) if state.player == 0 else (other, mine)

    def _pass(self, state: Turn, points: int) -> Turn:
        return Turn(1 - state.player, self._bank(state, points), 0)

    def is_terminal(self, state: Turn) -> bool:
        """Return whether a player has reached the target."""
        return max(state.scores) >= self.target

    def observe(self, state: Turn, player: int) -> NDArray[np.float32]:
        """Return the player on turn, both scores and the total, as fractions of the target."""
        mine, other = state.scores[player], state.scores[1 - player]
        return np.array(
            [
                float(state.player == player),
                mine / self.target,
                other / self.target,
                state.total / self.target,
            ],
            np.float32,
        )

    def explain(self, action: int, player: int) -> str:
        """Return a short description of an action."""
        return ("roll the die; a 1 ends the turn with nothing", "bank the turn's points")[action]

    def tell(
        self, state: Turn | None, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        """Return the face that the die shows."""
        if state is None or joint_action[state.player] == HOLD:
            return ""
        after: Turn = outcome.state
        if self.is_terminal(after):
            needed = self.target - state.scores[state.player] - state.total
            return f"The die shows {dice.randint(max(needed, 2), self.sides)}."
        if after.player == state.player:
            return f"The die shows {after.total - state.total}."
        return "The die shows 1: the turn is over, and its points are lost."

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of both scores."""
        return {"scores": tuple(f"score of {self.player_name(player)}" for player in (0, 1))}

    def scene(self, state: Turn) -> Scene:
        """Draw both scores and the turn's points as bars, and the actions as cards."""
        gauges = (
            Gauge(
                self.player_name(player),
                score,
                self.target,
                state.total if player == state.player else 0,
                ("first", "second")[player],
            )
            for player, score in enumerate(state.scores)
        )
        if self.is_terminal(state):
            return (*gauges, Prose("", (f"{self.player_name(state.player)} wins.",)))
        free = self.legal_actions(state)[state.player]
        choices = tuple(Cell(self.info.actions[0][k], "", k) for k in free)
        return (*gauges, Pieces(f"{state.total} points in this turn", "cards", choices))
