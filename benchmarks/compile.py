"""CPU time and memory to compile the rules of games, beside the time that the rules take alone.

    python benchmarks/compile.py [--side 150] [--vectorized 300 1000] [--rounds 3]

"Rules alone" calls what the compiler has to call, once for every state and action: `is_terminal`,
`legal_actions`, `transition`, `observe` and, where there is one, `turn`; it looks at nothing that
they return. CPU time of the process, the least of alternating rounds. "Arrays" are the bytes of the
table's arrays for each state, "peak" the most memory that Python held while compiling, by
tracemalloc in a run of its own, divided by the number of states; it includes the states themselves.

The slippery grid is written twice, for single states and for arrays of them; its moves are those of
FrozenLake, a third each as meant and to either side, on a square without holes.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from solvent.model import (
    Expansion,
    Game,
    GameInfo,
    Outcome,
    TabularGame,
    VectorizedGame,
    compile_game,
    make_game,
)

THIRD = Fraction(1, 3)
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))


class Cell(NamedTuple):
    """A cell of the grid."""

    row: int
    column: int


class Grid:
    """The slippery grid, for single states; a move costs 1, and the last corner ends the episode.

    Args:
        side: Number of rows and of columns.
    """

    def __init__(self, side: int) -> None:
        self.side = side
        self.info = GameInfo(
            name="slippery-grid",
            players=1,
            actions=(("left", "down", "right", "up"),),
            acyclic=False,
            reward_range=(-np.inf, 0.0),
            sources=("Gymnasium's FrozenLake, without holes",),
            observation_labels=("row", "column"),
        )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), Cell(0, 0)),)

    def is_terminal(self, state: Cell) -> bool:
        return state == (self.side - 1, self.side - 1)

    def legal_actions(self, state: Cell) -> tuple[tuple[int, ...], ...]:
        return ((0, 1, 2, 3),)

    def transition(self, state: Cell, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        [action] = joint_action
        row, column = state
        last = self.side - 1
        outcomes = []
        for turned in (-1, 0, 1):
            down, right = MOVES[(action + turned) % 4]
            cell = Cell(min(max(row + down, 0), last), min(max(column + right, 0), last))
            outcomes.append(Outcome(THIRD, cell, -1))
        return tuple(outcomes)

    def observe(self, state: Cell, player: int) -> Any:
        return np.array(state, np.float32) / np.float32(max(self.side - 1, 1))

    def draw(self, state: Cell) -> str:
        return f"row {state.row}, column {state.column}"


class VectorizedGrid(VectorizedGame):
    """The slippery grid, for arrays of states.

    Args:
        side: Number of rows and of columns.
    """

    state_type = Cell
    total = 3

    def __init__(self, side: int) -> None:
        self.info, self.sizes = Grid(side).info, (side, side)

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), Cell(0, 0)),)

    def terminal(self, states: Any) -> Any:
        last = self.sizes[0] - 1
        return (states.row == last) & (states.column == last)

    def expand(self, states: Any, joint_action: tuple[int, ...]) -> Expansion:
        moves = np.array([MOVES[(joint_action[0] + turned) % 4] for turned in (-1, 0, 1)])
        last = self.sizes[0] - 1
        row = np.clip(states.row[:, None] + moves[:, 0], 0, last)
        column = np.clip(states.column[:, None] + moves[:, 1], 0, last)
        return Expansion(True, 1, Cell(row, column), -1)


def rules_alone(game: Game, states: Any) -> None:
    """Call the rules for every state and action."""
    turn = getattr(game, "turn", None)
    for state in states:
        for player in range(game.info.players):
            game.observe(state, player)
        if turn is not None:
            turn(state)
        if not game.is_terminal(state):
            for joint in product(*game.legal_actions(state)):
                game.transition(state, joint)


def seconds(run: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def array_bytes(table: TabularGame) -> int:
    """Return the bytes of a table's arrays."""
    turn = () if table.turn is None else (table.turn,)
    arrays = (table.row_start, table.outcome_start, table.next_state, table.probability)
    own = (*arrays, table.outcome_reward, *table.mask, table.initial, *table.observation, *turn)
    return sum(array.nbytes for array in own)


def peak_bytes(run: Callable[[], Any]) -> int:
    """Return the most bytes that a call holds."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    """Print a row for each game."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=150, help="rows of the slippery grid")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vectorized", type=int, nargs="*", default=[300, 1000])
    arguments = parser.parse_args()
    games: dict[str, Game] = {
        f"slippery grid {arguments.side}²": Grid(arguments.side),
        "goofspiel": make_game("goofspiel"),
        "greed to 20": make_game("greed", limit=20),
        "pig to 20": make_game("pig", target=20),
        "racetrack": make_game("racetrack"),
        "tic-tac-toe": make_game("tic-tac-toe"),
    }
    print("| game | states | rules alone, states/s | compiled, states/s | ratio | arrays | peak |")
    print("|---|---|---|---|---|---|---|")
    for name, game in games.items():
        table = compile_game(game, reference=True)
        alone, compiled = [], []
        for _ in range(arguments.rounds):
            alone.append(seconds(lambda game=game, table=table: rules_alone(game, table.states)))
            compiled.append(seconds(lambda game=game: compile_game(game, reference=True)))
        states, ratio = table.n_states, min(compiled) / min(alone)
        peak = peak_bytes(lambda game=game: compile_game(game, reference=True))
        print(
            f"| {name} | {states:,} | {states / min(alone):,.0f} | {states / min(compiled):,.0f} "
            f"| {ratio:.2f} | {array_bytes(table) / states:,.0f} | {peak / states:,.0f} |",
            flush=True,
        )
    for side in arguments.vectorized:
        grid = VectorizedGrid(side)
        states = side * side
        best = min(seconds(lambda grid=grid: compile_game(grid)) for _ in range(arguments.rounds))
        peak = peak_bytes(lambda grid=grid: compile_game(grid))
        arrays = array_bytes(compile_game(grid))
        print(
            f"| slippery grid {side}², vectorized | {states:,} | | {states / best:,.0f} | "
            f"| {arrays / states:,.0f} | {peak / states:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
