"""The arrays of Football Strategy, built for all situations at once.

The table is put together from two small parts. A *branching* is what may follow from one cell of
the chart, in CSR over situations and cells; a *pattern* is the list of cells in which the rows of a
state lie, in the order of its joint actions. Many states share a pattern: the rows of a state are
those of its pattern, with the branches that its situation has there.

States are the situations with either team in possession, each team's followed by the choices that
wait in them, then the kicks and the end. Those that play cannot reach are dropped at last.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.chart import Cell
from solvent.games.football.packed import interleaved
from solvent.games.football.position import OVER, WAIT, Position
from solvent.games.football.results import Result, parse_result
from solvent.games.football.ruleset import LARGEST_DENOMINATOR
from solvent.games.football.situation import (
    FREE_KICK,
    KICKOFF,
    OFFENCE,
    Branch,
    Situations,
    chooser,
    merged_columns,
    situation_index,
)
from solvent.model import TabularGame, TooManyStatesError, compile_game
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges
from solvent.model.transforms import reachable

LARGEST_TABLE = 50_000_000
"""`tabulate` refuses to list more pairs of calls than this (some 2 GB)."""

END, FREE = -1, -2
"""Successors of a branch that are neither a situation nor a choice."""

CHUNK = 4096
"""Number of states whose rows are made at a time, so that no intermediate array is large."""


class _Branching(NamedTuple):
    """The branches that may follow each of C cells in each of S situations.

    Attributes:
        start: [S*C+1] Branches of cell c in situation s begin at ``start[s * C + c]``.
        probability: [N] Of a branch.
        node: [N] The node that follows if player 0 is on offence, or -1 for the end and -2 for a
            free kick.
        same_side: [N] Whether the team on offence keeps the ball, or kicks.
        reward: [N] To the offence.
    """

    start: Ints
    probability: Floats
    node: Ints
    same_side: Bools
    reward: Floats


def tabulate(game: Any) -> TabularGame:
    """Build the arrays.

    Args:
        game: A :class:`~solvent.games.football.rules.FootballStrategy`.

    Raises:
        TooManyStatesError: If there are more pairs of calls than :data:`LARGEST_TABLE`.
        ValueError: If a cell's probabilities have no common denominator that is small enough.
    """
    if game.form == "play":
        # A single call: walking through the rules takes no time.
        return compile_game(game, reference=True)
    return reachable(_Table(game).build())


class _Table:
    """The parts of a table, and the data from which it is built."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.every = Situations.of(game.loaded_ruleset)
        self.teams = 2 if game.form == "points" else 1
        self.size = len(self.every.down)
        self.block = self.size * (1 + len(game.choices))
        # After the teams' nodes: free kicks of both and the kickoff by player 1, then the end.
        kicks = (Position("free kick", 0), Position("free kick", 1), Position("kickoff", 1))
        self.kicks = kicks if self.teams == 2 else ()
        self.end = self.teams * self.block + len(self.kicks)
        offences = game.charts[: self.teams]
        self.legal = [self.every.legal(chart.plays) for chart in offences]
        calls = [call for c in offences for call in (*c.cells, c.quick_kick, c.punt)]
        options = [_certain(o) for code in game.choices for o in parse_result(code).options]
        self.cells = list(dict.fromkeys([*(cell for call in calls for cell in call), *options]))
        self.patterns, self.pattern = self._patterns()
        self.branching = self._branching()
        # The team, the choice (-1 for a call), the situation and the pattern of each node.
        choices = np.arange(-1, len(game.choices))
        self.team = np.repeat(np.arange(self.teams), self.block)
        self.choice = np.tile(np.repeat(choices, self.size), self.teams)
        self.situation = np.tile(np.arange(self.size), self.teams * len(choices))
        of_calls = self.pattern[self.team, self.situation]
        self.alike = np.where(self.choice < 0, of_calls, self.choice)

    def build(self) -> TabularGame:
        """Put the table together."""
        sizes = np.array([len(pattern) for pattern in self.patterns])[self.alike]
        if sizes.sum() > LARGEST_TABLE:
            raise TooManyStatesError(
                f"football-strategy in the form {self.game.form!r} on chart "
                f"{self.game.loaded_chart.name!r} has {sizes.sum():,} pairs of calls, more than a "
                f"table may have ({LARGEST_TABLE:,}); solvent.games.football.solver.points solves "
                f"it without one"
            )
        initial = np.zeros(self.end + 1)
        for outcome in self.game.initial():
            initial[self._node(outcome.state)] = float(outcome.probability)
        kicks = [self._kicks(position) for position in self.kicks]
        nodes = np.arange(len(self.team))
        parts = [self._outcomes(nodes[at : at + CHUNK]) for at in range(0, len(nodes), CHUNK)]
        parts += (row for rows in kicks for row in rows)
        next_state, probability, reward, lengths = (
            np.concatenate([part[column] for part in parts]) for column in range(4)
        )
        rows = np.concatenate(([0], sizes, [len(of_one) for of_one in kicks], [0]))
        return TabularGame(
            info=self.game.info,
            states=self._states(),
            row_start=np.cumsum(rows).astype(np.int64),
            outcome_start=np.concatenate(([0], np.cumsum(lengths))),
            next_state=next_state.astype(np.int32),
            probability=probability,
            outcome_reward=reward,
            mask=(self._mask(0), self._mask(1)),
            initial=initial,
            observation=(self._observation(0), self._observation(1)),
        )

    def _outcomes(self, nodes: Ints) -> tuple[NDArray[Any], ...]:
        """The next node, probability and reward of all outcomes of some nodes; lengths of rows."""
        branching = self.branching
        cells = [self.patterns[p] for p in self.alike[nodes].tolist()]
        rows = list(map(len, cells))
        first = self.situation[nodes] * ((len(branching.start) - 1) // self.size)
        entry = np.repeat(first, rows) + np.concatenate(cells)
        begin = branching.start[entry]
        length = branching.start[entry + 1] - begin
        source = concatenated_ranges(begin, length)
        side = np.repeat(np.repeat(self.team[nodes], rows), length)
        node, paid = branching.node[source], branching.reward[source]
        owner = np.where(branching.same_side[source] | (self.teams == 1), side, 1 - side)
        special = np.where(node == END, self.end, self.teams * self.block + owner)
        return (
            np.where(node >= 0, owner * self.block + node, special),
            branching.probability[source],
            np.where(side == 0, paid, 0.0 - paid),
            length,
        )

    def _branching(self) -> _Branching:
        """The branches of every cell, then of the field goal and of declaring punt formation."""
        common = self.game.loaded_ruleset.denominator
        columns = []
        for cell in self.cells:
            total = lcm(*(p.denominator for p, _ in cell))
            if total * common > LARGEST_DENOMINATOR:
                raise ValueError(
                    f"a cell of chart {self.game.loaded_chart.name!r} has the common denominator "
                    f"{total}, and {total * common} with the ruleset; allowed in a table is at "
                    f"most 2^53"
                )
            branches = [
                (weight * int(p * total), *rest)
                for p, result in cell
                for weight, *rest in self._relative(result)
            ]
            columns.append(_chances(branches, total * common))
        columns += [
            _chances([self._follow(branch) for branch in of_call], common)
            for of_call in (self.every.field_goal(), self.every.declaration())
        ]
        start, parts = interleaved(columns)
        return _Branching(start, *parts)

    def _relative(self, result: Result) -> list[tuple[Any, ...]]:
        """A result's branches as tuples (weight, node, same_side, reward), as :class:`_Branching`.

        A choice leads to its node for certain.
        """
        if not result.options:
            return [self._follow(branch) for branch in self.every.after(result)]
        first = self.size * (1 + self.game.choices.index(result.code))
        weight = np.full(self.size, self.game.loaded_ruleset.denominator)
        nodes = first + np.arange(self.size)
        return [(weight, nodes, np.ones(self.size, bool), np.zeros(self.size))]

    def _follow(self, branch: Branch) -> tuple[Any, ...]:
        """A branch's weight, and its successors and rewards in this form."""
        weight, points, following, same_side, _ = branch
        sign = np.where(same_side, 1.0, -1.0)
        value = np.where(following == KICKOFF, -sign * self.game.kickoff, 0.0)
        if self.teams == 2:
            node = np.where(following >= 0, following, np.where(following == KICKOFF, END, FREE))
        else:
            own, other = self.game.loaded_points, self.game.loaded_points.other_side
            received = np.where(same_side, other.free_kick, own.free_kick)
            value = np.where(following == FREE_KICK, -sign * received, value)
            lost = (following >= 0) & ~same_side
            theirs = np.array(other.first_down)[self.every.to_goal[following] - 1]
            value = np.where(lost, sign * theirs, value)
            node = np.where((following >= 0) & same_side, following, END)
        return weight, node, same_side | (node == END), points + value

    def _patterns(self) -> tuple[list[Ints], Ints]:
        """The patterns of choices, then of each team's calls; and [teams, S] those of situations.

        There is one of calls for each distinct set of legal actions with the formation. Rows are
        ordered by player 0's action, then by player 1's: by the offence's first if that is player
        0, else by the defence's.
        """
        number = {cell: k for k, cell in enumerate(self.cells)}
        patterns = [
            np.array([number[_certain(o)] for o in parse_result(code).options])
            for code in self.game.choices
        ]
        pattern = []
        for team, legal_there in enumerate(self.legal):
            distinct, which = np.unique(
                np.column_stack((legal_there, self.every.punting)), axis=0, return_inverse=True
            )
            pattern.append(len(patterns) + which.reshape(-1))
            chart = self.game.charts[team]
            constant = [[len(self.cells) + k] * chart.defences for k in (0, 1)]
            calls = [[number[cell] for cell in line] for line in (*chart.cells, chart.quick_kick)]
            normal = np.array([*calls, *constant])
            in_punt_formation = normal.copy()
            in_punt_formation[chart.plays + 2] = [number[cell] for cell in chart.punt]
            for *legal, punting in distinct.tolist():
                matrix = (in_punt_formation if punting else normal)[np.flatnonzero(legal)]
                patterns.append((matrix if team == 0 else matrix.T).ravel())
        return patterns, np.array(pattern)

    def _node(self, position: Position) -> int:
        """The node of a position that is not a choice."""
        if position.phase == "over":
            return self.end
        if position.phase != "call":
            return self.teams * self.block + self.kicks.index(position)
        return position.offence * self.block + situation_index(
            self.game.loaded_ruleset, position.situation
        )

    def _kicks(self, position: Position) -> list[tuple[NDArray[Any], ...]]:
        """The rows of a kick, as :meth:`_outcomes` has them."""
        rows: list[tuple[NDArray[Any], ...]] = []
        for joint in product(*self.game.legal_actions(position)):
            row = self.game.transition(position, joint)
            nodes = np.array([self._node(o.state) for o in row])
            chances, rewards = ([float(o.probability) for o in row], [float(o.reward) for o in row])
            rows.append((nodes, np.array(chances), np.array(rewards), np.array([len(row)])))
        return rows

    def _states(self) -> tuple[Position, ...]:
        names = (*self.game.choices, "")
        columns = self.team, self.choice, *self.every.table[self.situation].T
        states = [
            Position("call" if c < 0 else "choice", t, down, to_go, to_goal, punting == 1, names[c])
            for t, c, down, to_go, to_goal, punting in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]
        return (*states, *self.kicks, OVER)

    def _mask(self, player: int) -> Bools:
        """The legal actions of a player; a player without a choice waits."""
        actions, call, mine = self.game.actions[player], self.choice < 0, self.team == player
        size = len(mine) + len(self.kicks) + 1
        mask: Bools = np.zeros((size, len(actions.names)), bool)
        if player < self.teams:  # In a drive player 1 has no such actions.
            calls = np.flatnonzero(call & mine)
            mask[calls, : self.legal[player].shape[1]] = self.legal[player][self.situation[calls]]
        letters = self.game.charts[1 - player].defences
        mask[np.flatnonzero(call & ~mine), actions.defence : actions.defence + letters] = True
        # Who takes each choice if team 0 is on offence; there may be no choices at all.
        offended = [chooser(parse_result(code)) for code in self.game.choices]
        chosen = (np.array([*offended, OFFENCE])[self.choice] == OFFENCE) == mine
        mask[np.flatnonzero(~call & chosen), actions.choice : actions.choice + 2] = True
        for row, position in enumerate(self.kicks, len(mine)):
            mask[row, list(self.game.legal_actions(position)[player])] = True
        mask[np.flatnonzero(~mask[:-1].any(axis=1)), WAIT] = True
        return mask

    def _observation(self, player: int) -> NDArray[np.float32]:
        """The result of `FootballStrategy.observe` for all states at once."""
        rules = self.game.loaded_ruleset
        down, to_go, to_goal, punting = self.every.table[self.situation].T.astype(np.float64)
        nothing = np.zeros(len(down))
        seen = [down / rules.downs, to_go / rules.field, to_goal / rules.field, punting, nothing]
        if self.teams == 2:
            seen += [self.team == player, nothing, nothing]
        seen += [self.choice == c for c in range(len(self.game.choices))]
        others = [self.game.observe(position, player) for position in (*self.kicks, OVER)]
        return np.concatenate((np.stack(seen, axis=1), others)).astype(np.float32)


def _chances(branches: Sequence[tuple[Any, ...]], denominator: int) -> list[tuple[Any, ...]]:
    """Equal branches put together, with probabilities in the place of weights."""
    return [(weight / denominator, *rest) for weight, *rest in merged_columns(branches)]


def _certain(result: Result) -> Cell:
    """The cell that holds one result."""
    return ((Fraction(1), result),)
