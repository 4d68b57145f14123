"""A gridworld drawn on Solvent's live page, as a game.

Each move goes up, right, down or left. With the probability SLIP it goes to one of the two sides
instead, half of the time each. A wall (#) or the edge stops it. The wind of the column that is left
blows the move upward by as many cells. The reward is that of the cell in which the move ends, STEP
if it has none of its own. A goal (G) and a pit (H) end the episode; a cliff (C) leads back to the
start (S). Without an S the episode starts in any open cell.
"""

from fractions import Fraction
from math import inf
from typing import ClassVar

from solvent.model import GameInfo, GameSpec, JointAction, Outcome, Rules, Scene, grid
from solvent.model.cells import Cell
from solvent.model.game import merged

# The grid, which the live page reads back.
MAP = (
    "S...",
    ".H.H",
    "...H",
    "H..G",
)
REWARDS: dict[tuple[int, int], float] = {(3, 3): 1}
STEP = 0
WIND = (0, 0, 0, 0)
SLIP = Fraction(40, 60)
DISCOUNT = 1
# The rules.

MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
ROWS, COLUMNS = len(MAP), len(MAP[0])


CELLS = [Cell(row, column) for row in range(ROWS) for column in range(COLUMNS)]


def kind(cell: Cell) -> str:
    """Return the character of a cell on the map."""
    return MAP[cell.row][cell.column]


STARTS = [c for c in CELLS if kind(c) == "S"] or [c for c in CELLS if kind(c) == "."]


def slide(cell: Cell, down: int, right: int) -> Cell:
    """Go to the next cell, unless a wall or the edge is in the way."""
    row, column = cell.row + down, cell.column + right
    inside = 0 <= row < ROWS and 0 <= column < COLUMNS
    return Cell(row, column) if inside and MAP[row][column] != "#" else cell


def moved(cell: Cell, direction: int) -> Cell:
    """Move in a direction, with the wind of the column that is left."""
    down, right = tuple(MOVES.values())[direction % 4]
    down -= WIND[cell.column]
    cell = slide(cell, 0, right)
    for _ in range(abs(down)):
        cell = slide(cell, 1 if down > 0 else -1, 0)
    return cell


class DrawnGrid(Rules):
    """The gridworld of this file."""

    # Observations are the row and the column as fractions of the last.
    scale = max(ROWS - 1, 1), max(COLUMNS - 1, 1)

    info: ClassVar[GameInfo] = GameInfo(
        name="drawn-grid",
        players=1,
        actions=(tuple(MOVES),),
        acyclic=False,
        reward_range=(-inf, inf),
        sources=("Drawn on Solvent's live page",),
        parameters=(("map", list(MAP)),),
        observation_labels=("row", "column"),
    )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the start, or any open cell."""
        return tuple(Outcome(Fraction(1, len(STARTS)), cell) for cell in STARTS)

    def transition(self, state: Cell, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Move straight on, or slip to a side."""
        ahead, outcomes = joint_action[0], []
        for direction, p in ((ahead, 1 - SLIP), (ahead + 1, SLIP / 2), (ahead + 3, SLIP / 2)):
            after = moved(state, direction)
            reward = Fraction(str(REWARDS.get(after, STEP)))
            cells = STARTS if kind(after) == "C" else [after]
            outcomes += [Outcome(p / len(cells), cell, reward) for cell in cells if p]
        return merged(outcomes)

    def is_terminal(self, state: Cell) -> bool:
        """Return whether a goal or a pit is reached."""
        return kind(state) in "GH"

    def scene(self, state: Cell) -> Scene:
        """Show the map with the cell."""
        return (grid(MAP, (state.row, state.column)),)


SPEC = GameSpec(
    name="drawn-grid",
    make=DrawnGrid,
    rules="Move from S to G around the walls #; H ends the episode, C leads back to S.",
    discount=DISCOUNT,
)
