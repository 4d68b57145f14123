"""The Dyna maze: from the start to the goal around walls.

Four moves lead from cell to cell; a move into a wall or off the board leads nowhere. Reaching the
goal pays 1 and ends the episode, nothing else pays. Only a discount makes a short way better than a
long one: with 0.95, as in the book, the shortest way of 14 moves has the value 0.95 ** 13.

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018, Example 8.1 and Figure 8.2.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from solvent.model import Environment, GameInfo, GameSpec, JointAction, Outcome, Rules, Scene, grid
from solvent.model.cells import Cell

NAMES = ("up", "down", "right", "left")
MOVES = ((-1, 0), (1, 0), (0, 1), (0, -1))
MAZE = (
    ".......#G",
    "..#....#.",
    "S.#....#.",
    "..#......",
    ".....#...",
    ".........",
)
"""The maze of Figure 8.2: walls #, start S and goal G."""
ROWS, COLUMNS = len(MAZE), len(MAZE[0])


@dataclass(frozen=True)
class DynaMaze(Rules):
    """The 6 x 9 maze."""

    start = Cell(2, 0)
    scale = (ROWS - 1, COLUMNS - 1)

    info: ClassVar[GameInfo] = GameInfo(
        name="dyna-maze",
        players=1,
        actions=(NAMES,),
        acyclic=False,
        reward_range=(0.0, 1.0),
        sources=("Sutton and Barto 2018, Example 8.1",),
        observation_labels=("row", "column"),
    )

    def transition(self, state: Cell, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Move, unless a wall or the edge is in the way."""
        down, right = MOVES[joint_action[0]]
        row, column = state.row + down, state.column + right
        inside = 0 <= row < ROWS and 0 <= column < COLUMNS
        after = Cell(row, column) if inside and MAZE[row][column] != "#" else state
        return (Outcome(Fraction(1), after, int(self.is_terminal(after))),)

    def is_terminal(self, state: Cell) -> bool:
        """Return whether the goal is reached."""
        return MAZE[state.row][state.column] == "G"

    def scene(self, state: Cell) -> Scene:
        """Draw the maze."""
        return (grid(MAZE, (state.row, state.column)),)


SPEC = GameSpec(
    name="dyna-maze",
    make=DynaMaze,
    rules="Go around the walls # to the goal G, which pays 1; the sooner, the better.",
    environments={
        "solvent/DynaMaze-v0": Environment(
            optimum=0.513342083279505,
            model_hash="bfc889516c8e64b81773ce00d50329ad97310889fcff5f7e30047a5baeca8d8c",
        ),
    },
    discount=0.95,
)
