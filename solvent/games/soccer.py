"""Littman's soccer: two players and a ball on a grid of four by five.

M. L. Littman, "Markov games as a framework for multi-agent reinforcement learning", ICML 1994. Both
choose at once to move to a neighbouring square or to stand; the moves are made one after the other
in a random order. A player who would move onto the other's square does not move, and the ball goes
to, or stays with, the player who stands there. The player with the ball scores by moving through
the two squares in the middle of the end of the board that it attacks; then the game is over. It
begins with the players diagonally opposite each other, and with the ball at either.

**The discount of the paper** is 0.9. In its trials against opponents the paper has every step end
the game as a draw with probability 0.1 instead, which emulates it; so it is in these rules. The end
comes after the moves, if nobody has scored: the value of a state is then the discounted one with a
discount of 1 less that probability, and the undiscounted return of an episode has it as its mean.

**Directions** are the players' own: forward is toward the goal that a player attacks. What the
paper calls N, S, E and W is so the same to both, and a policy for one seat is one for the other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    Cell,
    Environment,
    GameInfo,
    GameSpec,
    Grid,
    JointAction,
    Outcome,
    Prose,
    Rules,
    Scene,
    check_rational,
)

HEIGHT, WIDTH = 4, 5
GOAL_ROWS = (1, 2)

Square = tuple[int, int]
"""Row from the top and column from the left, from 0."""

ACTIONS = ("forward", "back", "left", "right", "stand")
STEPS: tuple[Square, ...] = ((0, -1), (0, 1), (1, 0), (-1, 0), (0, 0))
"""Steps of player 0, who attacks the left end. Those of player 1 are the opposite."""

STARTS: tuple[Square, Square] = ((1, 3), (2, 1))
OFF: Square = (-1, -1)

PLAYING, DRAWN = -1, 2

HALF = Fraction(1, 2)


class Pitch(NamedTuple):
    """The squares of both players, the player with the ball, and the result.

    The result is -1 during play, then the player who has scored, or 2 for a draw; the pitch is
    empty then.
    """

    first: Square
    second: Square
    ball: int
    result: int


@dataclass(frozen=True)
class Soccer(Rules):
    """One game of soccer, to the first goal.

    Args:
        draw_chance: Probability that a step in which nobody scores ends the game as a draw, from
            1/1000 to 1: 1 less the discount.
    """

    draw_chance: Any = "1/10"

    def __post_init__(self) -> None:
        """Check the parameter."""
        low, high = Fraction(1, 1000), Fraction(1)
        chance = check_rational(self.draw_chance, "draw_chance", low, high)
        object.__setattr__(self, "draw_chance", str(chance))

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        return GameInfo(
            name="soccer",
            players=2,
            actions=(ACTIONS, ACTIONS),
            acyclic=False,
            reward_range=(-1.0, 1.0),
            sources=("Littman 1994, Markov games as a framework for multi-agent learning",),
            parameters=(("draw_chance", self.draw_chance),),
            observation_labels=(
                "my row",
                "my column",
                "other row",
                "other column",
                "my ball",
                "result",
            ),
            unit="goals",
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the two starts, one with each player having the ball."""
        return tuple(Outcome(HALF, Pitch(*STARTS, ball, PLAYING)) for ball in (0, 1))

    def transition(self, state: Pitch, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Move the players in either order, then continue the game or end it as a draw."""
        end = Fraction(self.draw_chance)
        first, second = self._after_moves(state, joint_action)
        chances = {first: Fraction(1)} if first == second else dict.fromkeys((first, second), HALF)
        going = [pitch for pitch in chances if pitch.result == PLAYING]
        if going:
            chances[_over(DRAWN)] = end if len(going) == len(chances) else HALF * end
        for pitch in going:
            chances[pitch] *= 1 - end
        rewards = {PLAYING: 0, DRAWN: 0, 0: 1, 1: -1}
        return tuple(
            Outcome(chance, pitch, rewards[pitch.result])
            for pitch, chance in chances.items()
            if chance > 0
        )

    def _after_moves(self, state: Pitch, joint_action: JointAction) -> Iterator[Pitch]:
        """Return the pitch after both moves, with player 0 first and with player 1 first."""
        for order in ((0, 1), (1, 0)):
            pitch = state
            for player in order:
                if pitch.result == PLAYING:
                    pitch = moved(pitch, player, joint_action[player])
            yield pitch

    def is_terminal(self, state: Pitch) -> bool:
        """Return whether a player has scored, or the game is drawn."""
        return state.result != PLAYING

    def observe(self, state: Pitch, player: int) -> NDArray[np.float32]:
        """Return both squares, seen as if attacking the left end, the ball and the result.

        The result is -1 during play, 0 for a draw, 1/2 for a goal of one's own, 1 for one of
        the other's; squares are 0 then.
        """
        if self.is_terminal(state):
            result = {DRAWN: 0.0, player: 0.5, 1 - player: 1.0}[state.result]
            return np.array([0, 0, 0, 0, 0, result], np.float32)
        seen: list[float] = []
        for row, column in (state.first, state.second)[:: 1 - 2 * player]:
            if player == 1:
                row, column = HEIGHT - 1 - row, WIDTH - 1 - column
            seen += [row / (HEIGHT - 1), column / (WIDTH - 1)]
        return np.array([*seen, state.ball == player, -1.0], np.float32)

    def entry_names(self) -> dict[str, tuple[str, str]]:
        """Return the names of the coordinates of both players."""
        return {
            seat: (f"row of {self.player_name(player)}", f"column of {self.player_name(player)}")
            for player, seat in enumerate(("first", "second"))
        }

    def value_names(self) -> Mapping[str, Mapping[int, str]]:
        """Return the results in words."""
        goals = {player: f"{self.player_name(player)} scores" for player in (0, 1)}
        return {"result": {PLAYING: "none yet", DRAWN: "The game ends as a draw", **goals}}

    def place(self, state: Pitch) -> str:
        """Return the result once there is one."""
        return self.value_names()["result"][state.result] if self.is_terminal(state) else ""

    def explain(self, action: int, player: int) -> str:
        """Return the square that an action leads to."""
        return ("west", "east", "south", "north", "nowhere")[action] if player == 0 else (
            "east", "west", "north", "south", "nowhere"
        )[action]  # fmt: skip

    def scene(self, state: Pitch) -> Scene:
        """Draw the pitch with both players; the one with the ball has a dot."""
        if self.is_terminal(state):
            return (Prose("", (f"{self.place(state)}.",)),)
        rows = []
        for row in range(HEIGHT):
            line = [Cell()] * WIDTH
            for player, square in enumerate((state.first, state.second)):
                if square[0] == row:
                    text = "AB"[player] + "•" * (state.ball == player)
                    line[square[1]] = Cell(text, ("first", "second")[player])
            kind = "goal" if row in GOAL_ROWS else "wall"
            end = Cell("", kind, name=kind)
            rows.append((end, *line, end))
        return (Grid(tuple(rows)),)


def moved(pitch: Pitch, player: int, action: int) -> Pitch:
    """The pitch after one player's move."""
    squares = [pitch.first, pitch.second]
    sign = (1, -1)[player]
    row = squares[player][0] + sign * STEPS[action][0]
    column = squares[player][1] + sign * STEPS[action][1]
    if action == ACTIONS.index("stand"):
        return pitch
    if (row, column) == squares[1 - player]:
        return pitch._replace(ball=1 - player)
    attacked = (-1, WIDTH)[player]
    if pitch.ball == player and row in GOAL_ROWS and column == attacked:
        return _over(player)
    if 0 <= row < HEIGHT and 0 <= column < WIDTH:
        squares[player] = (row, column)
    return pitch._replace(first=squares[0], second=squares[1])


def _over(result: int) -> Pitch:
    return Pitch(OFF, OFF, -1, result)


SPEC = GameSpec(
    name="soccer",
    make=Soccer,
    rules=(
        "Both move a square at once, in a random order, or stand. Walking into the other\n"
        "leaves or loses the ball to it. Carry the ball through the middle of the other's\n"
        "end to score; each step may end the game as a draw."
    ),
    environments={
        "solvent/Soccer-v0": Environment(
            opponent="uniform",
            optimum=0.5536837359270315,
            model_hash="2efdb55884829281e65b716af4026b2363be51527cb6771f2d085163ce042459",
        ),
    },
    pettingzoo={},
    simultaneous=True,
)
