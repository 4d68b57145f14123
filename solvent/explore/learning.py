"""Value iteration sweep by sweep, and Q-learning step by step, beside the exact solution.

Value iteration starts from 0 and computes in each sweep the values of all states from those of the
sweep before (Sutton and Barto, *Reinforcement Learning*, second edition, section 4.4): the best
action's expectation of reward and next value, or where both players choose the value of the matrix
game. Q-learning (:mod:`solvent.baselines.q_learning`) is stopped at numbers of moves that grow in
equal ratios; shown is what its greedy policy is then worth exactly, and not what it believes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from solvent.baselines.q_learning import QLearning
from solvent.exact import (
    ImproperGameError,
    SolvedTable,
    policy_value,
    solve_matrix_games,
)
from solvent.exact.evaluation import expectation
from solvent.model import TabularGame, against
from solvent.model.arrays import Bools, Floats, Ints
from solvent.report.numbers import small
from solvent.report.panel import Axis, Panel, gap_axis

MOST_SWEEPS = 200
MOST_NUMBERS = 20_000_000
"""Values that are kept."""
MOST_WORK = 400_000_000
"""Outcomes that are summed in all sweeps together."""
MOST_GAMES = 20_000
"""Matrix games that are solved in all sweeps together."""
SETTLED = 1e-10
"""A sweep that changes less is the last one."""

MOVES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
MOST_STATES = 100_000
"""Of a larger table the greedy policy is not evaluated again and again."""


@dataclass(frozen=True, eq=False)
class Frame:
    """How far a method has come.

    Attributes:
        label: Such as ``"sweep 3"``.
        values: [S] to player 0.
        distance: From the optimum: of value iteration the largest error of a state's value, of
            Q-learning the gap of the greedy policy at the start.
        start: The value of the start, to player 0.
    """

    label: str
    values: Floats
    distance: float
    start: float


@dataclass(frozen=True, eq=False)
class Course:
    """All frames of a method.

    Attributes:
        frames: In order.
        along: What is counted from frame to frame.
        counts: How many of it each frame has.
        distance: What :attr:`Frame.distance` is, in words.
        note: Said beside it; empty if nothing is.
    """

    frames: tuple[Frame, ...]
    along: str
    counts: tuple[float, ...]
    distance: str
    note: str

    def curve(self, now: int) -> str:
        """The distance from the optimum as SVG, the present frame marked.

        Args:
            now: The number of the frame.
        """
        distances = [frame.distance for frame in self.frames]
        by_ratio = self.along == "moves"
        least, most = self.counts[0], self.counts[-1]
        x = Axis(least, max(most, least + 1), logarithmic=by_ratio)
        panel = Panel(self.distance, self.distance, x, gap_axis(distances), self.along)
        shown = [(c, d) for c, d in zip(self.counts, distances, strict=True) if isfinite(d)]
        if shown:
            xs, ys = zip(*shown, strict=True)
            panel.line(xs, ys, "var(--series-0)", self.distance, dashed=False)
            panel.dots(xs, ys, "var(--series-0)")
        if isfinite(distances[now]):
            mark = [self.counts[now]], [distances[now]]
            panel.line(
                *mark,
                "var(--series-1)",
                f"{self.frames[now].label}: {small(distances[now])}",
                dashed=False,
                shape="M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
            )
        return panel.drawn()


def value_iteration(solved: SolvedTable) -> Course:
    """Sweeps of value iteration from 0, until they change nothing any more or are too many.

    Args:
        solved: The game with its table and its optimum.

    Raises:
        ValueError: If the table is too large for a single sweep.
    """
    table, exact = solved.table, solved.solution.values
    both = np.flatnonzero((table.action_count[0] > 1) & (table.action_count[1] > 1))
    most = min(
        MOST_SWEEPS,
        MOST_NUMBERS // table.n_states - 1,
        MOST_WORK // max(len(table.probability), 1),
        MOST_GAMES // len(both) if len(both) else MOST_SWEEPS,
    )
    if most < 1:
        raise ValueError(
            f"value iteration is shown for smaller games; {table.info.name} has "
            f"{table.n_states:,} states and {len(table.probability):,} outcomes"
        )
    values = np.zeros(table.n_states)
    frames = [_sweep_frame(0, values, table, exact)]
    sweep = _Sweep.of(table, both)
    settled = False
    for number in range(1, most + 1):
        following = sweep(values)
        change = float(np.abs(following - values).max(initial=0.0))
        values = following
        frames.append(_sweep_frame(number, values, table, exact))
        if settled := change < SETTLED:
            break
    note = "" if settled else f"The first {len(frames) - 1} sweeps are shown; more would follow."
    counts = tuple(map(float, range(len(frames))))
    return Course(tuple(frames), "sweeps", counts, "largest error of a value", note)


def _sweep_frame(number: int, values: Floats, table: TabularGame, exact: Floats) -> Frame:
    error = float(np.abs(values - exact).max(initial=0.0))
    return Frame(f"sweep {number}", values, error, table.at_start(values))


@dataclass(frozen=True, eq=False)
class _Sweep:
    """One synchronous sweep over a table.

    Attributes:
        table: The game.
        live: [S] where play goes on.
        least: [S'] of those, where the least value is chosen.
        matrices: Where both choose: the rows [G, m, n] of states of one shape, by their numbers.
    """

    table: TabularGame
    live: Bools
    least: Bools
    matrices: tuple[tuple[Ints, Ints], ...]

    @classmethod
    def of(cls, table: TabularGame, both: Ints) -> _Sweep:
        first, second = table.action_count
        shapes: dict[tuple[int, int], list[int]] = {}
        for state in both.tolist():
            shapes.setdefault((int(first[state]), int(second[state])), []).append(state)
        matrices = []
        for (m, n), members in shapes.items():
            states = np.array(members)
            rows = table.row_start[states][:, None] + np.arange(m * n)
            matrices.append((states, rows.reshape(len(states), m, n)))
        live = ~table.terminal
        return cls(table, live, (first <= 1)[live], tuple(matrices))

    def __call__(self, values: Floats) -> Floats:
        of_row = expectation(self.table, values)
        starts = self.table.row_start[:-1][self.live]
        following = np.zeros(self.table.n_states)
        following[self.live] = np.where(
            self.least, np.minimum.reduceat(of_row, starts), np.maximum.reduceat(of_row, starts)
        )
        for states, rows in self.matrices:
            following[states] = solve_matrix_games(of_row[rows]).value
        return following


def q_learning(solved: SolvedTable, seed: int) -> Course:
    """The value of the greedy policy of Q-learning after more and more moves.

    Player 1 of a game for two plays optimally.

    Args:
        solved: The game with its table and its optimum.
        seed: Of the learner.

    Raises:
        ValueError: If the table is too large.
    """
    table, optimum = solved.table, solved.solution.value
    if table.n_states > MOST_STATES:
        raise ValueError(
            f"Q-learning is shown for games of up to {MOST_STATES:,} states; {table.info.name} has "
            f"{table.n_states:,}"
        )
    two = table.info.players == 2
    left = against(table, solved.solution.policies[1]) if two else table
    learner = QLearning(left, seed=seed)
    frames = []
    for moves in MOVES:
        learner.learn(moves - learner.moves)
        try:
            values = policy_value(left, learner.policy())
            start = left.at_start(values)
        except ImproperGameError:
            values, start = np.full(table.n_states, np.nan), -inf
        frames.append(Frame(f"{moves:,} moves", values, max(optimum - start, 0.0), start))
    note = "Player 1 plays optimally. " if two else ""
    if any(not isfinite(frame.start) for frame in frames):
        note += "Where the curve is missing, the greedy policy never ends an episode."
    return Course(
        tuple(frames), "moves", tuple(map(float, MOVES)), "gap of the greedy policy", note.strip()
    )


METHODS: Mapping[str, str] = {
    "value-iteration": "Value iteration",
    "q-learning": "Q-learning",
}
"""What can be watched, by its word in an address."""
