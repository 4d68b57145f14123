"""The gridworld of Sutton and Barto, a task without an end.

Four moves lead from cell to cell of a 5 x 5 board. A move off the board costs 1 and leads nowhere.
From the cell A every move pays 10 and leads to A', from B it pays 5 and leads to B'. Nothing else
pays, and the task never ends: only discounted values are finite.

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018, Example 3.5 (the values of the random policy, Figure 3.2) and Example 3.8 (the optimum, Figure
3.5), both for a discount of 0.9. The book names no start; here it is any cell.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar

from solvent.model import Cell as Square
from solvent.model import Environment, GameInfo, GameSpec, JointAction, Outcome, Rules, Scene, grid
from solvent.model.cells import Cell

SIDE = 5
NAMES = ("north", "south", "east", "west")
MOVES = ((-1, 0), (1, 0), (0, 1), (0, -1))
PICTURE = (".A.B.", ".....", "...b.", ".....", ".a...")
"""The special cells, and in small letters their targets."""

LOOKS = {
    **{one: Square(one, "goal") for one in "AB"},
    **{one: Square(one, "start") for one in "ab"},
}


JUMPS = {Cell(0, 1): (Cell(4, 1), 10), Cell(0, 3): (Cell(2, 3), 5)}
"""The target and the reward of every move from A and from B."""


@dataclass(frozen=True)
class Gridworld(Rules):
    """The 5 x 5 gridworld with the special cells A and B."""

    scale = SIDE - 1

    info: ClassVar[GameInfo] = GameInfo(
        name="gridworld",
        players=1,
        actions=(NAMES,),
        acyclic=False,
        reward_range=(-inf, inf),
        sources=("Sutton and Barto 2018, Examples 3.5 and 3.8",),
        observation_labels=("row", "column"),
    )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the uniform distribution over all cells."""
        cells = [Cell(row, column) for row in range(SIDE) for column in range(SIDE)]
        return tuple(Outcome(Fraction(1, len(cells)), cell) for cell in cells)

    def transition(self, state: Cell, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Jump from A or B, move, or bump into the edge."""
        if state in JUMPS:
            return (Outcome(Fraction(1), *JUMPS[state]),)
        down, right = MOVES[joint_action[0]]
        row, column = state.row + down, state.column + right
        if 0 <= row < SIDE and 0 <= column < SIDE:
            return (Outcome(Fraction(1), Cell(row, column)),)
        return (Outcome(Fraction(1), state, -1),)

    def is_terminal(self, state: Cell) -> bool:
        """Return False: the task never ends."""
        return False

    def scene(self, state: Cell) -> Scene:
        """Draw the board."""
        return (grid(PICTURE, (state.row, state.column), LOOKS),)


SPEC = GameSpec(
    name="gridworld",
    make=Gridworld,
    rules=(
        "Go from cell to cell for ever; bumping into the edge costs 1. Every move from A\n"
        "pays 10 and leads to a, from B it pays 5 and leads to b."
    ),
    environments={
        "solvent/Gridworld-v0": Environment(
            optimum=17.328616541720592,
            model_hash="0703c44c171dcba3927942354d0eb8e0f8ad54588620a517fbe25f4cc90a941b",
        ),
    },
    discount=0.9,
)
