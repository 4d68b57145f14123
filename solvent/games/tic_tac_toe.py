"""Tic-tac-toe: three marks in a row win.

Two players set marks in turns on a board of three by three, player 0 a cross, player 1 a nought.
Three of one's own in a row, a column or a diagonal win at once; a full board without them is a
draw. It has 5,478 positions that can be reached, 765 of them different but for turning and
mirroring the board, and is a draw when both play well (R. Sutton and A. Barto, "Reinforcement
Learning", 2nd edition, 2018, begin with it in section 1.5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

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
)

EMPTY, CROSS, NOUGHT = 0, 1, 2

ROWS = ((0, 1, 2), (3, 4, 5), (6, 7, 8))
COLUMNS = ((0, 3, 6), (1, 4, 7), (2, 5, 8))
DIAGONALS = ((0, 4, 8), (2, 4, 6))
LINES = ROWS + COLUMNS + DIAGONALS
"""The squares of each row, column and diagonal, which are numbered row by row."""

SQUARES = (
    "top left", "top", "top right",
    "left", "centre", "right",
    "bottom left", "bottom", "bottom right",
)  # fmt: skip

WAIT = 0
"""The action of the player who is not on turn."""


class Board(NamedTuple):
    """The content of the nine squares, row by row: nothing, a cross or a nought."""

    squares: tuple[int, ...]


def winner(board: Board) -> int | None:
    """The player with three marks in a row, or None."""
    for line in LINES:
        first, second, third = (board.squares[square] for square in line)
        if first == second == third != EMPTY:
            return first - CROSS
    return None


@dataclass(frozen=True)
class TicTacToe(Rules):
    """Tic-tac-toe, noughts and crosses."""

    start = Board((EMPTY,) * 9)

    info: ClassVar[GameInfo] = GameInfo(
        name="tic-tac-toe",
        players=2,
        actions=(SQUARES, SQUARES),
        acyclic=True,
        reward_range=(-1.0, 1.0),
        sources=("Sutton and Barto 2018, Reinforcement Learning, 2nd edition, section 1.5",),
        observation_labels=(*SQUARES, "my turn"),
    )

    def turn(self, state: Board) -> int:
        """Return the player on turn; crosses begin."""
        return (9 - state.squares.count(EMPTY)) % 2

    def legal_actions(self, state: Board) -> tuple[tuple[int, ...], ...]:
        """Return the empty squares for the player on turn; the other player waits."""
        free = tuple(k for k, mark in enumerate(state.squares) if mark == EMPTY)
        return (free, (WAIT,)) if self.turn(state) == 0 else ((WAIT,), free)

    def transition(self, state: Board, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Place a mark."""
        player = self.turn(state)
        square = joint_action[player]
        marked = (*state.squares[:square], CROSS + player, *state.squares[square + 1 :])
        after = Board(marked)
        reward = 0 if winner(after) is None else (1, -1)[player]
        return (Outcome(Fraction(1), after, reward),)

    def is_terminal(self, state: Board) -> bool:
        """Return whether a player has three in a row, or the board is full."""
        return EMPTY not in state.squares or winner(state) is not None

    def observe(self, state: Board, player: int) -> NDArray[np.float32]:
        """Return each square, 1 for an own mark, -1 for the other's, and whose turn it is."""
        sign = {EMPTY: 0, CROSS + player: 1, NOUGHT - player: -1}
        mine = not self.is_terminal(state) and self.turn(state) == player
        return np.array([*(sign[mark] for mark in state.squares), mine], np.float32)

    def place(self, state: Board) -> str:
        """Return the squares of each mark."""
        taken = {
            player: [name for name, mark in zip(SQUARES, state.squares, strict=True) if mark == own]
            for player, own in enumerate((CROSS, NOUGHT))
        }
        told = (f"{self.player_name(p)} {', '.join(own)}" for p, own in taken.items() if own)
        return "; ".join(told) or "the empty board"

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the squares."""
        return {"squares": SQUARES}

    def value_names(self) -> Mapping[str, Mapping[int, str]]:
        """Return the names of the marks."""
        marks = {EMPTY: "empty", CROSS: "cross", NOUGHT: "nought"}
        return dict.fromkeys(SQUARES, marks)

    def scene(self, state: Board) -> Scene:
        """Draw the board, on which a click sets a mark."""
        free = () if self.is_terminal(state) else self.legal_actions(state)[self.turn(state)]
        names = self.info.actions[0]
        cells = [
            Cell(
                " XO"[mark].strip(),
                ("", "first", "second")[mark],
                k if k in free else None,
                names[k],
            )
            for k, mark in enumerate(state.squares)
        ]
        won = winner(state)
        news = "" if won is None else f"{self.player_name(won)} win."
        grid = Grid(tuple(tuple(cells[k] for k in row) for row in ROWS))
        return (grid, Prose("", (news.capitalize(),))) if news else (grid,)

    def player_name(self, player: int) -> str:
        """The name of a side: its mark."""
        return ("crosses", "noughts")[player]


SPEC = GameSpec(
    name="tic-tac-toe",
    make=TicTacToe,
    rules=(
        "Set a mark on one of nine squares in turns, crosses first. Three in a row, a\n"
        "column or a diagonal win; a full board without them is a draw."
    ),
    environments={
        "solvent/TicTacToe-v0": Environment(
            opponent="optimal",
            optimum=0.0,
            model_hash="631e065829e629f38482c348dba41e85c1d6508d5dceccc974a811998dd6dcfe",
        ),
    },
    pettingzoo={},
)
