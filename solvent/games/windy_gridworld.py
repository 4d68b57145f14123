"""The windy gridworld: to the goal through a crosswind.

Each move costs 1. The wind of the column that is left shifts the move upward by as many cells as
the column's number says; nothing leads off the board.

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018: four moves in Example 6.5; the eight of a king, and a ninth that stays, in Exercise 6.9; in
Exercise 6.10 the wind, where there is any, is as stated, one cell stronger or one weaker, a third
of the time each.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

from solvent.model import (
    Environment,
    GameInfo,
    GameSpec,
    JointAction,
    Outcome,
    Rules,
    Scene,
    check_choice,
    check_flag,
    grid,
)
from solvent.model.cells import Cell

WIND = (0, 0, 0, 1, 1, 1, 2, 2, 1, 0)
"""The upward shift of each column, in cells."""

PICTURE = ("..........",) * 3 + ("S......G..",) + ("..........",) * 3
ROWS, COLUMNS = len(PICTURE), len(WIND)

STEPS = {
    "up": (-1, 0),
    "down": (1, 0),
    "right": (0, 1),
    "left": (0, -1),
    "up right": (-1, 1),
    "up left": (-1, -1),
    "down right": (1, 1),
    "down left": (1, -1),
    "stay": (0, 0),
}
"""The rows and columns that each move adds."""

MOVES = {"four": 4, "king": 8, "nine": 9}
"""The number of moves for each value of the parameter `moves`."""


@dataclass(frozen=True)
class WindyGridworld(Rules):
    """The 7 x 10 gridworld with an upward wind.

    Args:
        moves: Moves: ``"four"``, the eight of a ``"king"``, or these and staying, ``"nine"``.
        stochastic: Whether the strength of the wind varies by a cell.
    """

    moves: str = "four"
    stochastic: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(self.moves, "moves", MOVES)
        check_flag(self.stochastic, "stochastic")

    start = Cell(3, 0)
    scale = (ROWS - 1, COLUMNS - 1)

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        return GameInfo(
            name="windy-gridworld",
            players=1,
            actions=(tuple(STEPS)[: MOVES[self.moves]],),
            acyclic=False,
            reward_range=(-inf, -1.0),
            sources=("Sutton and Barto 2018, Example 6.5 and Exercises 6.9 and 6.10",),
            parameters=(("moves", self.moves), ("stochastic", self.stochastic)),
            observation_labels=("row", "column"),
            unit="points",
        )

    def transition(self, state: Cell, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Move with the wind; the edge stops both."""
        down, right = tuple(STEPS.values())[joint_action[0]]
        wind = WIND[state.column]
        winds = (wind - 1, wind, wind + 1) if self.stochastic and wind else (wind,)
        column = min(max(state.column + right, 0), COLUMNS - 1)
        rows = Counter(min(max(state.row + down - blown, 0), ROWS - 1) for blown in winds)
        return tuple(
            Outcome(Fraction(count, len(winds)), Cell(row, column), -1)
            for row, count in sorted(rows.items())
        )

    def is_terminal(self, state: Cell) -> bool:
        """Return whether the goal is reached."""
        return PICTURE[state.row][state.column] == "G"

    def scene(self, state: Cell) -> Scene:
        """Draw the board, with the wind of each column."""
        return (grid(PICTURE, (state.row, state.column), below=tuple(map(str, WIND))),)


SPEC = GameSpec(
    name="windy-gridworld",
    make=WindyGridworld,
    rules=(
        "Reach G while a wind blows upward. Each move costs 1. The wind shifts it by as many\n"
        "cells as the number below the column that you leave says."
    ),
    environments={
        "solvent/WindyGridworld-v0": Environment(
            optimum=-15.0,
            model_hash="de359d29172ef063d4e838e479bfe5048ab244f7be0c483f10172bf93cad212e",
        ),
    },
    choices={"moves": tuple(MOVES)},
)
