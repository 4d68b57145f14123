"""The arrays of Football Strategy, built for all situations at once.

The table is put together from two small parts. A *branching* is what may follow from one cell of
the chart, in CSR over situations and cells; a *pattern* is the list of cells in which the rows of a
state lie, in the order of its joint actions. Many states share a pattern: the rows of a state are
those of its pattern, with the branches that its situation has there.

States, called *nodes* here before those that play cannot reach are dropped, are the situations
with either team in possession, then the choices that wait in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.calls import Actions
from solvent.games.football.chart import Cell, Chart
from solvent.games.football.columns import (
    FREE_KICK,
    KICKOFF,
    LARGEST_DENOMINATOR,
    Columns,
    interleaved,
    merged_columns,
)
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.position import OVER, WAIT, Position
from solvent.games.football.results import Result, parse_result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import OFFENCE, chooser, situation_index
from solvent.model import Game, TabularGame, TooManyStatesError, compile_game
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges

LARGEST_TABLE = 60_000_000
"""`tabulate` refuses to list more outcomes than this (some 2 GB)."""


class TabulatedFootball(Game, Protocol):
    """The part of :class:`solvent.games.football.rules.FootballStrategy` that the table reads."""

    @property
    def form(self) -> str: ...
    @property
    def charts(self) -> tuple[Chart, Chart]: ...
    @property
    def loaded_chart(self) -> Chart: ...
    @property
    def loaded_ruleset(self) -> Ruleset: ...
    @property
    def loaded_points(self) -> ExpectedPoints: ...
    @property
    def kickoff(self) -> float: ...
    @property
    def actions(self) -> tuple[Actions, Actions]: ...
    @property
    def choices(self) -> tuple[str, ...]: ...


class _Branching(NamedTuple):
    """The branches that may follow each of C cells in each of S situations.

    Attributes:
        start: [S*C+1] Branches of cell c in situation s begin at ``start[s * C + c]``.
        probability: [N] Of a branch.
        node: [N] The node that follows if player 0 is on offence, or -1 for the end and -2 for a
            free kick.
        same_side: [N] Whether the team on offence keeps the ball, or kicks.
        reward: [N] To the offence.
        cells: C.
    """

    start: Ints
    probability: Floats
    node: Ints
    same_side: Bools
    reward: Floats
    cells: int


class _Patterns(NamedTuple):
    """Lists of cells, one after the other: pattern p is ``cell[start[p] : start[p + 1]]``."""

    start: Ints
    cell: Ints


def tabulate(game: TabulatedFootball) -> TabularGame:
    """Build the arrays.

    Raises:
        TooManyStatesError: If there are more outcomes than :data:`LARGEST_TABLE`.
        ValueError: If a cell's probabilities have no common denominator that is small enough.
    """
    if game.form == "play":
        # A single call: walking through the rules takes no time.
        return compile_game(game, reference=True)
    return _Table(game).build()


END, FREE = -1, -2
"""Successors of a branch that are neither a situation nor a choice."""

CHUNK = 4096
"""Number of states whose rows are made at a time, so that no intermediate array is large."""


class _Table:
    """The parts of a table, and the data from which it is built."""

    def __init__(self, game: TabulatedFootball) -> None:
        self.game = game
        self.chart = game.loaded_chart
        self.charts = game.charts
        self.columns = Columns(game.loaded_ruleset)
        self.teams = 2 if game.form == "points" else 1
        self.n_situations = len(self.columns.down)
        self.n_choices = len(game.choices)
        self.block = self.n_situations * (1 + self.n_choices)
        # After the teams' nodes: free kicks of both and the kickoff by player 1, then the end.
        self.specials = self._special_positions()
        self.end = self.teams * self.block + len(self.specials)
        offences = self.charts[: self.teams]
        self.legal = [self.columns.legal(chart.plays) for chart in offences]
        options = [_certain(o) for code in game.choices for o in parse_result(code).options]
        calls = [
            call for chart in offences for call in (*chart.cells, chart.quick_kick, chart.punt)
        ]
        self.cells = list(dict.fromkeys([*(cell for call in calls for cell in call), *options]))
        self.patterns, self.pattern = self._patterns()
        self.branching = self._branching()

    def _special_positions(self) -> tuple[Position, ...]:
        if self.teams == 1:
            return ()
        return (Position("free kick", 0), Position("free kick", 1), Position("kickoff", 1))

    def build(self) -> TabularGame:
        """Put the table together."""
        kept = self._reachable()
        place = np.full(self.end + 1, -1, np.int64)
        place[kept] = np.arange(len(kept))
        regular = kept[kept < self.teams * self.block]
        special = [node - self.teams * self.block for node in kept[len(regular) : -1].tolist()]
        team, choice, situation, pattern = self._parts(regular)

        rows = np.diff(self.patterns.start)[pattern]
        sizes = self._sizes(situation, pattern)
        kicks = [self._kicks(self.specials[k], place) for k in special]
        kick_rows = [len(rows_of_one) for rows_of_one in kicks]
        row_start = np.concatenate(([0], np.cumsum(np.concatenate((rows, kick_rows, [0])))))
        row_start = row_start.astype(np.int64)
        n = int(sizes.sum()) + sum(len(row) for of_one in kicks for row in of_one)
        if n > LARGEST_TABLE:
            raise TooManyStatesError(
                f"football-strategy in the form {self.game.form!r} on chart {self.chart.name!r} "
                f"has {n} outcomes, too many for a table (allowed are {LARGEST_TABLE}); "
                f"solvent.games.football.solver.points solves it without one"
            )
        # Narrow, since there are millions.
        next_state: NDArray[Any] = np.empty(n, np.int32)
        probability, reward, lengths = np.empty(n), np.empty(n), []
        end = 0
        for at, side in _chunks(team):
            source, length = self._sources(self.patterns, situation[at], pattern[at])
            begin, end = end, end + len(source)
            next_state[begin:end] = place[self._targets(side, source)]
            probability[begin:end] = self.branching.probability[source]
            paid = self.branching.reward[source]
            reward[begin:end] = paid if side == 0 else 0.0 - paid
            lengths.append(length)
        for row in (row for rows_of_one in kicks for row in rows_of_one):
            begin, end = end, end + len(row)
            columns = zip(*row, strict=True)
            next_state[begin:end], probability[begin:end], reward[begin:end] = columns
            lengths.append(np.array([len(row)]))

        states = self._states(team, choice, situation, special)
        initial = np.zeros(len(kept))
        for outcome in self.game.initial():
            initial[place[self._node(outcome.state)]] = float(outcome.probability)
        return TabularGame(
            info=self.game.info,
            states=states,
            row_start=row_start,
            outcome_start=np.concatenate(([0], np.cumsum(np.concatenate(lengths)))),
            next_state=next_state,
            probability=probability,
            outcome_reward=reward,
            mask=self._masks(team, choice, situation, special),
            initial=initial,
            observation=self._observations(team, choice, situation, special),
        )

    def _branching(self) -> _Branching:
        """The branches of every cell, then of the field goal and of declaring punt formation."""
        columns = []
        for cell in self.cells:
            total = lcm(*(p.denominator for p, _ in cell))
            denominator = total * self.columns.denominator
            if denominator > LARGEST_DENOMINATOR:
                raise ValueError(
                    f"a cell of chart {self.chart.name!r} has the common denominator {total}, and "
                    f"{denominator} with the ruleset; allowed in a table is at most 2^53"
                )
            branches = [
                (weight * int(p * total), *rest)
                for p, result in cell
                for weight, *rest in self._relative(result)
            ]
            columns.append(self._chances(branches, denominator))
        for of_call in (self.columns.field_goal(), self.columns.declaration()):
            branches = [self._follow(*branch[:4]) for branch in of_call]
            columns.append(self._chances(branches, self.columns.denominator))
        start, (probability, node, same_side, reward) = interleaved(columns)
        return _Branching(start, probability, node, same_side, reward, len(columns))

    def _chances(
        self, branches: Sequence[tuple[Any, ...]], denominator: int
    ) -> list[tuple[Any, ...]]:
        """Equal branches put together, with probabilities in the place of weights."""
        return [(weight / denominator, *rest) for weight, *rest in merged_columns(branches)]

    def _relative(self, result: Result) -> list[tuple[Any, ...]]:
        """A result's branches as tuples (weight, node, same_side, reward), as :class:`_Branching`.

        A choice leads to its node for certain.
        """
        if not result.options:
            return [self._follow(*branch[:4]) for branch in self.columns.of(result)]
        size = self.n_situations
        first = size * (1 + self.game.choices.index(result.code))
        weight = np.full(size, self.columns.denominator)
        return [(weight, first + np.arange(size), np.ones(size, bool), np.zeros(size))]

    def _follow(
        self, weight: Ints, points: Ints, following: Ints, same_side: Bools
    ) -> tuple[Any, ...]:
        """Return a branch's successors in this form, and its rewards."""
        sign = np.where(same_side, 1.0, -1.0)
        worth = np.where(following == KICKOFF, -sign * self.game.kickoff, 0.0)
        if self.teams == 2:
            node = np.where(following >= 0, following, np.where(following == KICKOFF, END, FREE))
        else:
            own, other = self.game.loaded_points, self.game.loaded_points.other_side
            received = np.where(same_side, other.free_kick, own.free_kick)
            worth = np.where(following == FREE_KICK, -sign * received, worth)
            lost = (following >= 0) & ~same_side
            values = np.array(other.first_down)[self.columns.to_goal[following] - 1]
            worth = np.where(lost, sign * values, worth)
            node = np.where((following >= 0) & same_side, following, END)
        return weight, node, same_side | (node == END), points + worth

    def _patterns(self) -> tuple[_Patterns, Ints]:
        """The patterns of choices, then of each team's calls; and [teams, S] those of situations.

        There is one of calls for each distinct set of legal actions with the formation. Rows are
        ordered by player 0's action, then by player 1's: by the offence's first if that is player
        0, else by the defence's.
        """
        number = {cell: k for k, cell in enumerate(self.cells)}
        lists = [
            np.array([number[_certain(o)] for o in parse_result(code).options])
            for code in self.game.choices
        ]
        pattern = []
        for team, legal_there in enumerate(self.legal):
            distinct, which = np.unique(
                np.column_stack((legal_there, self.columns.punting)), axis=0, return_inverse=True
            )
            pattern.append(len(lists) + which.reshape(-1))
            chart = self.charts[team]
            constant = [[len(self.cells) + k] * chart.defences for k in (0, 1)]
            calls = [[number[cell] for cell in line] for line in (*chart.cells, chart.quick_kick)]
            normal = np.array([*calls, *constant])
            in_punt_formation = normal.copy()
            in_punt_formation[chart.plays + 2] = [number[cell] for cell in chart.punt]
            for *legal, punting in distinct.tolist():
                matrix = (in_punt_formation if punting else normal)[np.flatnonzero(legal)]
                lists.append((matrix if team == 0 else matrix.T).ravel())
        start = np.cumsum([0, *map(len, lists)])
        return _Patterns(start, np.concatenate(lists)), np.array(pattern)

    def _parts(self, nodes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the team, the choice or -1, the situation and the pattern of nodes."""
        team, within = np.divmod(nodes, self.block)
        choice, situation = np.divmod(within, self.n_situations)
        choice -= 1
        pattern = np.where(choice < 0, self.pattern[team, situation], choice)
        return team, choice, situation, pattern

    def _sizes(self, situation: Ints, pattern: Ints) -> Ints:
        """Return the number of outcomes in the rows of each node."""
        patterns = self.patterns
        count = np.diff(self.branching.start).reshape(self.n_situations, -1)
        sizes = np.zeros(len(situation), np.int64)
        for p in np.unique(pattern).tolist():
            cells = patterns.cell[patterns.start[p] : patterns.start[p + 1]]
            times = np.bincount(cells, minlength=self.branching.cells)
            there = pattern == p
            sizes[there] = count[situation[there]] @ times
        return sizes

    def _sources(self, patterns: _Patterns, situation: Ints, pattern: Ints) -> tuple[Ints, Ints]:
        """Return the branches of all rows of some nodes, in order, and the number in each row."""
        length = np.diff(patterns.start)[pattern]
        entry = np.repeat(situation, length) * self.branching.cells
        entry += patterns.cell[concatenated_ranges(patterns.start[pattern], length)]
        first = self.branching.start[entry]
        count = self.branching.start[entry + 1] - first
        return concatenated_ranges(first, count), count

    def _targets(self, team: int, branches: Ints) -> Ints:
        """The nodes that branches lead to if `team` is on offence."""
        node, same_side = self.branching.node[branches], self.branching.same_side[branches]
        side = np.where(same_side | (self.teams == 1), team, 1 - team)
        special = np.where(node == END, self.end, self.teams * self.block + side)
        return np.where(node >= 0, side * self.block + node, special)

    def _reachable(self) -> Ints:
        """The nodes that play can come to from its start, ascending; the end is the last."""
        patterns = self.patterns
        # Each cell of a pattern once: what follows does not depend on how often it occurs.
        spans = zip(patterns.start[:-1].tolist(), patterns.start[1:].tolist(), strict=True)
        once = [np.unique(patterns.cell[a:b]) for a, b in spans]
        patterns = _Patterns(np.cumsum([0, *map(len, once)]), np.concatenate(once))
        seen = np.zeros(self.end + 1, bool)
        frontier = np.unique([self._node(outcome.state) for outcome in self.game.initial()])
        while len(frontier):
            seen[frontier] = True
            regular = frontier[frontier < self.teams * self.block]
            team, _, situation, pattern = self._parts(regular)
            reached = np.zeros(self.end + 1, bool)
            for at, side in _chunks(team):
                source, _ = self._sources(patterns, situation[at], pattern[at])
                reached[self._targets(side, source)] = True
            for node in frontier[len(regular) :].tolist():
                if node != self.end:
                    kick = self.specials[node - self.teams * self.block]
                    rows = self._kicks(kick, np.arange(self.end + 1))
                    reached[[target for row in rows for target, _, _ in row]] = True
            frontier = np.flatnonzero(reached & ~seen)
        seen[self.end] = True
        return np.flatnonzero(seen)

    def _node(self, position: Position) -> int:
        """The node of a position that is not a choice."""
        if position.phase == "over":
            return self.end
        if position.phase != "call":
            return self.teams * self.block + self.specials.index(position)
        return position.offence * self.block + situation_index(
            self.game.loaded_ruleset, position.situation
        )

    def _kicks(self, position: Position, place: Ints) -> list[list[tuple[int, float, float]]]:
        """The rows of a kick: next state, probability and reward of each outcome."""
        first, second = self.game.legal_actions(position)
        return [
            [
                (int(place[self._node(o.state)]), float(o.probability), float(o.reward))
                for o in self.game.transition(position, (a, b))
            ]
            for a in first
            for b in second
        ]

    def _states(
        self, team: Ints, choice: Ints, situation: Ints, special: Sequence[int]
    ) -> tuple[Position, ...]:
        names = (*self.game.choices, "")
        states = [
            Position(
                "call" if c < 0 else "choice", t, down, to_go, to_goal, bool(punting), names[c]
            )
            for t, c, (down, to_go, to_goal, punting) in zip(
                team.tolist(),
                choice.tolist(),
                self.columns.situation[situation].tolist(),
                strict=True,
            )
        ]
        return (*states, *(self.specials[k] for k in special), OVER)

    def _masks(
        self, team: Ints, choice: Ints, situation: Ints, special: Sequence[int]
    ) -> tuple[Bools, Bools]:
        """Return the legal actions of both players; a player without a choice waits."""
        size = len(team) + len(special) + 1
        offended = [chooser(parse_result(code)) for code in self.game.choices]
        # Who takes each choice if team 0 is on offence; there may be no choices at all.
        chosen_by = np.array([*offended, OFFENCE])[choice]
        masks: list[Bools] = []
        for player, actions in enumerate(self.game.actions):
            mask: Bools = np.zeros((size, len(actions.names)), bool)
            calls = np.flatnonzero((choice < 0) & (team == player))
            if len(calls):  # In a drive player 1 has no such actions.
                legal = self.legal[player]
                mask[calls, : legal.shape[1]] = legal[situation[calls]]
            answers = np.flatnonzero((choice < 0) & (team != player))
            letters = self.charts[1 - player].defences
            mask[answers, actions.defence : actions.defence + letters] = True
            chosen = (chosen_by == OFFENCE) == (team == player)
            mine = np.flatnonzero((choice >= 0) & chosen)
            mask[mine, actions.choice : actions.choice + 2] = True
            for row, k in enumerate(special, len(team)):
                mask[row, list(self.game.legal_actions(self.specials[k])[player])] = True
            waiting = np.flatnonzero(~mask[:-1].any(axis=1))
            mask[waiting, WAIT] = True
            masks.append(mask)
        return masks[0], masks[1]

    def _observations(
        self, team: Ints, choice: Ints, situation: Ints, special: Sequence[int]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the result of `FootballStrategy.observe` for all states at once."""
        rules = self.game.loaded_ruleset
        down, to_go, to_goal, punting = self.columns.situation[situation].T.astype(np.float64)
        nothing = np.zeros(len(team))
        both = []
        for player in (0, 1):
            seen = [
                down / rules.downs,
                to_go / rules.field,
                to_goal / rules.field,
                punting,
                nothing,
            ]
            if self.teams == 2:
                seen += [team == player, nothing, nothing]
            seen += [choice == c for c in range(self.n_choices)]
            others = [self.game.observe(self.specials[k], player) for k in special]
            others.append(self.game.observe(OVER, player))
            both.append(np.concatenate((np.stack(seen, axis=1), others)).astype(np.float32))
        return both[0], both[1]


def _chunks(team: Ints) -> Iterator[tuple[Ints, int]]:
    """Numbers of nodes, a few thousand at a time and of one team, and the team."""
    for side in np.unique(team).tolist():
        nodes = np.flatnonzero(team == side)
        for first in range(0, len(nodes), CHUNK):
            yield nodes[first : first + CHUNK], side


def _certain(result: Result) -> Cell:
    """The cell that holds one result."""
    return ((Fraction(1), result),)
