"""The table of a drive or of the game until the next score, built for all situations at once.

:func:`solvent.model.compile_game` walks through the rules state by state, in rationals, which takes
minutes on the full field. Here the outcomes of every cell of a chart in every situation are arrays,
made by the same rules (:class:`solvent.games.football.situation.Situations`), and a row of the
table is a list of such cells. Probabilities are the same floats: weights are whole numbers until
equal outcomes are merged.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.chart import parse_result
from solvent.games.football.packed import interleaved, pack_rules
from solvent.games.football.ruleset import LARGEST_DENOMINATOR
from solvent.games.football.situation import (
    OFFENCE,
    OVER,
    WAIT,
    Branch,
    Position,
    Restart,
    Situations,
    merged_columns,
)
from solvent.model import TabularGame, TooManyStatesError
from solvent.model.arrays import Bools, Ints, members
from solvent.model.transforms import reachable

LARGEST_TABLE = 50_000_000
"""A table with more pairs of calls than this is refused (some 2 GB)."""


# Number of rows whose outcomes are made at a time, so that no intermediate array is large.
_CHUNK = 1 << 20


class _Team:
    """The nodes in which one team has the ball: its situations, then those of each choice there.

    Args:
        game: The game.
        number: The number of the team.
        first: The number of its first node.
        before: Number of pairs of calls and choices in the nodes before.

    Raises:
        TooManyStatesError: If they are more than :data:`LARGEST_TABLE` together with its own.

    Attributes:
        legal: [S, A] its legal actions.
        chooser: The side that takes each of its chart's choices.
        cells: The cells of the chart in the rows of all nodes, numbered as in
            :mod:`solvent.games.football.packed`.
        rows: [nodes] how many rows each has.
        situation: [nodes].
        code: [nodes] the code of the choice, empty for a call.
    """

    def __init__(self, game: Any, number: int, first: int, before: int = 0) -> None:
        self.number, self.first, self.chart = number, first, game.charts[number]
        rules = pack_rules(self.chart, game.loaded_ruleset)
        arrays, size, self.legal = rules.arrays, rules.n_situations, rules.legal
        own = [result.code for result in self.chart.results if result.options]
        self.codes = [code for code in game.choices if code in own]
        choices = np.array([own.index(code) for code in self.codes], np.int64)
        self.chooser = arrays.chooser[choices]
        defences, calls = self.chart.defences, np.diff(arrays.row_start)
        pairs = len(arrays.row_call) * defences
        total = before + pairs + 2 * size * len(choices)
        if total > LARGEST_TABLE:
            raise TooManyStatesError(
                f"football-strategy in the form {game.form!r} on chart {self.chart.name!r} has "
                f"{total:,} pairs of calls, more than a table may have ({LARGEST_TABLE:,}); "
                f"solvent.games.football.solver.solved solves it without one"
            )
        cells = arrays.cell[arrays.row_call]
        call, defence = np.indices(cells.shape)
        order = np.arange(pairs)
        if number == 1:  # Player 0's action comes first in the order of rows: the defence's.
            at = np.repeat(np.arange(size), calls * defences)
            order = np.lexsort((call.ravel(), defence.ravel(), at))
        options = [np.tile(pair, size) for pair in arrays.option[choices]]
        self.cells = np.concatenate((cells.ravel()[order], *options))
        self.rows = np.concatenate((calls * defences, np.full(size * len(choices), 2)))
        self.situation = np.tile(np.arange(size), 1 + len(choices))
        self.code = np.repeat(["", *self.codes], size)


class Nodes:
    """The nodes of a drive or of the game until the next score, and the table of them.

    Args:
        game: A :class:`~solvent.games.football.rules.FootballStrategy`.

    Raises:
        TooManyStatesError: If there are more pairs of calls than :data:`LARGEST_TABLE`.
    """

    def __init__(self, game: Any) -> None:
        self.game, self.every = game, Situations.of(game.loaded_ruleset)
        self.teams = [_Team(game, 0, 0)]
        kicks: tuple[Position, ...] = ()
        if game.form == "points":
            self.teams.append(_Team(game, 1, len(self.teams[0].rows), len(self.teams[0].cells)))
            kicks = Position("free kick", 0), Position("free kick", 1), Position("kickoff", 1)
        # After the teams' nodes: free kicks of both and the kickoff by player 1, then the end.
        self.kicks, self.first_kick = kicks, sum(len(team.rows) for team in self.teams)
        self.end = self.first_kick + len(kicks)
        self.states = self._states()
        self.node = {state: node for node, state in enumerate(self.states)}

    def build(self) -> TabularGame:
        """Put the table together, of what can be reached.

        Raises:
            ValueError: If a cell's probabilities have no common denominator that is small enough.
        """
        seen = [self.game.observations(self.states, player) for player in (0, 1)]
        initial = np.zeros(self.end + 1)
        for outcome in self.game.initial():
            initial[self.node[outcome.state]] = float(outcome.probability)
        kicks = [self._kicks(position) for position in self.kicks]
        parts = [part for team in self.teams for part in self._outcomes(team)]
        parts += (row for rows in kicks for row in rows)
        next_state, probability, reward, lengths = (
            np.concatenate([part[column] for part in parts]) for column in range(4)
        )
        sizes = [team.rows for team in self.teams]
        rows = np.concatenate(([0], *sizes, [len(of_one) for of_one in kicks], [0]))
        table = TabularGame(
            info=self.game.info,
            states=self.states,
            row_start=np.cumsum(rows).astype(np.int64),
            outcome_start=np.concatenate(([0], np.cumsum(lengths))),
            next_state=next_state.astype(np.int32),
            probability=probability,
            outcome_reward=reward,
            mask=(self._mask(0), self._mask(1)),
            initial=initial,
            observation=(seen[0], seen[1]),
        )
        return reachable(table)

    def _outcomes(self, team: _Team) -> Iterator[tuple[NDArray[Any], ...]]:
        """The next node, probability and reward of all outcomes of a team; lengths of rows."""
        start, (probability, node, reward) = self._branching(team)
        cells = (len(start) - 1) // len(self.every.down)
        entries = np.repeat(team.situation * cells, team.rows) + team.cells
        for at in range(0, len(entries), _CHUNK):
            source, length = members(start, entries[at : at + _CHUNK])
            yield node[source], probability[source], reward[source], length

    def _branching(self, team: _Team) -> tuple[Ints, list[Any]]:
        """The branches of each cell in each situation: probability, next node, reward."""
        every, common = self.every, self.game.loaded_ruleset.denominator
        after: dict[Any, list[tuple[Any, ...]]] = {}
        certain: dict[Any, list[Branch]] = {
            **{result: every.after(result) for result in team.chart.results},
            "field goal": every.field_goal(),
            "declaration": every.declaration(),
        }
        for result, branches in certain.items():
            after[result] = [self._follow(team, branch) for branch in branches]
        for code in team.codes:  # A choice leads to its node for certain.
            [waiting] = np.nonzero(team.code == code)
            weight = np.full(len(waiting), common)
            after[parse_result(code)] = [(weight, team.first + waiting, np.zeros(len(waiting)))]
        columns = [_chances(branches, common) for branches in after.values()]
        cells = dict.fromkeys(cell for column in team.chart.columns.values() for cell in column)
        for cell in [cell for cell in cells if len(cell) > 1]:
            total = lcm(*(p.denominator for p, _ in cell))
            if total * common > LARGEST_DENOMINATOR:
                raise ValueError(
                    f"a cell of chart {team.chart.name!r} has the common denominator {total}, and "
                    f"{total * common} with the ruleset; allowed in a table is at most 2^53"
                )
            mixed = [
                (weight * int(p * total), *rest)
                for p, result in cell
                for weight, *rest in after[result]
            ]
            columns.append(_chances(mixed, total * common))
        return interleaved(columns)

    def _follow(self, team: _Team, branch: Branch) -> tuple[Any, ...]:
        """A branch's weight, and its successors and rewards in this form."""
        weight, points, following, same_side, _ = branch
        sign, goes_on = np.where(same_side, 1.0, -1.0), following >= 0
        value = np.where(following == Restart.KICKOFF, -sign * self.game.kickoff, 0.0)
        if len(self.teams) == 2:
            owner = np.where(same_side, team.number, 1 - team.number)
            ball = np.array([one.first for one in self.teams])[owner] + following
            kick = np.where(following == Restart.KICKOFF, self.end, self.first_kick + owner)
            node = np.where(goes_on, ball, kick)
        else:
            own, other = self.game.loaded_points, self.game.loaded_points.other_side
            received = np.where(same_side, other.free_kick, own.free_kick)
            value = np.where(following == Restart.FREE_KICK, -sign * received, value)
            theirs = np.array(other.first_down)[self.every.to_goal[following] - 1]
            value = np.where(goes_on & ~same_side, sign * theirs, value)
            node = np.where(goes_on & same_side, following, self.end)
        reward = points + value
        return weight, node, reward if team.number == 0 else 0.0 - reward

    def _kicks(self, position: Position) -> list[tuple[NDArray[Any], ...]]:
        """The rows of a kick, as :meth:`_outcomes` has them."""
        rows: list[tuple[NDArray[Any], ...]] = []
        for joint in product(*self.game.legal_actions(position)):
            row = self.game.transition(position, joint)
            nodes = np.array([self.node[o.state] for o in row])
            chances, rewards = ([float(o.probability) for o in row], [float(o.reward) for o in row])
            rows.append((nodes, np.array(chances), np.array(rewards), np.array([len(row)])))
        return rows

    def _states(self) -> tuple[Position, ...]:
        own = (
            Position(
                "choice" if code else "call", team.number, down, to_go, to_goal, punting == 1, code
            )
            for team in self.teams
            for (down, to_go, to_goal, punting), code in zip(
                self.every.table[team.situation].tolist(), team.code.tolist(), strict=True
            )
        )
        return (*own, *self.kicks, OVER)

    def _mask(self, player: int) -> Bools:
        """The legal actions of a player; a player without a choice waits."""
        actions = self.game.actions[player]
        mask: Bools = np.zeros((self.end + 1, len(actions.names)), bool)
        for team in self.teams:
            mine, calls = team.number == player, team.first + np.arange(len(team.legal))
            if mine:
                mask[calls, : team.legal.shape[1]] = team.legal
            else:
                mask[calls, actions.defence : actions.defence + team.chart.defences] = True
            for code, side in zip(team.codes, team.chooser.tolist(), strict=True):
                if (side == OFFENCE) == mine:
                    chosen = team.first + np.flatnonzero(team.code == code)
                    mask[chosen, actions.choice : actions.choice + 2] = True
        for row, position in enumerate(self.kicks, self.first_kick):
            mask[row, list(self.game.legal_actions(position)[player])] = True
        mask[np.flatnonzero(~mask[:-1].any(axis=1)), WAIT] = True
        return mask


def _chances(branches: Sequence[tuple[Any, ...]], denominator: int) -> list[tuple[Any, ...]]:
    """Equal branches put together, with probabilities in the place of weights."""
    return [(weight / denominator, *rest) for weight, *rest in merged_columns(branches)]
