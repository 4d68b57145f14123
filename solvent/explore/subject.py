"""A solved game as it is explored: its states, lines and maps, and whatever else is kept of it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from solvent.exact import GapLocation, Score, SolvedGame, SolvedTable, with_table
from solvent.explore.cells import Cells, drawn, span_of
from solvent.explore.decision import who_acts
from solvent.explore.jobs import Jobs
from solvent.explore.line import Line, read_moves
from solvent.explore.states import States
from solvent.explore.view import QUIZZES, Query, View, number, one_of
from solvent.model import TabularPolicy
from solvent.model.game import words
from solvent.model.parameters import check_choice
from solvent.model.registry import GameSpec, spec_of
from solvent.model.text import action_names
from solvent.report.sections import Section
from solvent.report.solved import SolvedTask, game_record
from solvent.report.state_map import (
    BOARD,
    StateMap,
    signs,
    state_map,
    state_map_section,
)
from solvent.report.state_map import action_names as unique_names

MOST_MET = 200
"""States of random episodes by which the fields and the ranges of such a map are chosen."""

MOST_STEPS = 60
"""Values of a field in a map of a game without a table."""

LONGEST_LINE = 30_000
"""Characters of a line."""

MOST_LINES = 300
"""Lines that are kept for quick answers."""


@dataclass(frozen=True, eq=False)
class LoadedPolicy:
    """A policy from a file, beside the optimum.

    Attributes:
        file: The name of the file.
        policy: The policy.
        score: The exact score; None if the policy never ends an episode.
        location: The location of its gap; None if the policy never ends an episode.
        differs: Number of states in which it gives a probability to an action that is not optimal.
        states: Number of states in which its player has a choice.
    """

    file: str
    policy: TabularPolicy
    score: Score | None
    location: GapLocation | None
    differs: int
    states: int

    def chances(self, table: SolvedTable, state: Any) -> dict[int, float]:
        """The probability of each action in a state.

        Args:
            table: The solution of the game's table.
            state: The state.
        """
        return dict(enumerate(self.policy.probabilities[table.table.index[state]].tolist()))


@dataclass
class Subject:
    """A solved game, and what is kept while it is explored.

    Args:
        solved: The game with its optimum.
        loaded: A policy that is compared with it.
        key: The name of the game in addresses; empty if they need none.
        dice: Draws whatever is left to chance.
        jobs: Work under way and its results.
        games: The finished games, by the addresses of their boards.
    """

    solved: SolvedGame
    loaded: LoadedPolicy | None = None
    key: str = ""
    dice: random.Random = field(default_factory=random.SystemRandom)
    jobs: Jobs = field(default_factory=Jobs)
    games: dict[str, Line] = field(default_factory=dict)
    _lines: dict[tuple[str, str], Line] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.solved.game.info.name

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the players."""
        name = words(self.solved.game).player_name
        return name(0), name(1)

    @cached_property
    def states(self) -> States:
        """The states by their fields."""
        return States(self.solved)

    @cached_property
    def spec(self) -> GameSpec | None:
        """The spec of the game, if it has one."""
        return spec_of(self.solved.game)

    @cached_property
    def table(self) -> SolvedTable | None:
        """The solution of the table; None if the game is too large for one."""
        return with_table(self.solved)

    @cached_property
    def has_choices(self) -> bool:
        """Return whether anybody ever has a choice."""
        return max(map(len, self.solved.game.info.actions)) > 1

    @cached_property
    def span(self) -> tuple[float, float]:
        """The least and the largest value to draw."""
        low, high = self.solved.game.info.reward_range
        if isinstance(self.solved, SolvedTable) and not (isfinite(low) and isfinite(high)):
            values = self.solved.solution.values
            low, high = float(values.min()), float(values.max())
        if not (isfinite(low) and isfinite(high) and low < high):
            room = max(abs(self.solved.value), 1.0)
            low, high = self.solved.value - room, self.solved.value + room
        return low, high

    def view(self, query: Query) -> View:
        """Read the address of the board.

        Args:
            query: ``s``, the state in which the line begins, the start if left out; ``line``, its
                moves; ``at``, how many of them are shown, all if left out; ``me``, the person's
                side; ``hide``, whether values are hidden; ``panel``; ``quiz``.

        Raises:
            ValueError: If one of them is not allowed.
        """
        players = self.solved.game.info.players
        line = self.line(query.get("s", ""), query.get("line", ""))
        at = number(query, "at", len(line.plies), 0, len(line.plies))
        if quiz := query.get("quiz"):
            check_choice(quiz, "quiz", QUIZZES)
        return View(query, line, at, one_of(query, "me", range(players)))

    def line(self, key: str, text: str) -> Line:
        """Return a line of play.

        Args:
            key: The state in which it begins, as an address names it; empty for the start.
            text: Its moves.

        Raises:
            ValueError: If there is no such state, or a move is not allowed.
        """
        if len(text) > LONGEST_LINE:
            raise ValueError(f"the line has {len(text):,} characters; allowed are {LONGEST_LINE:,}")
        moves = read_moves(text)
        known = text
        while known and (key, known) not in self._lines:
            known = known.rpartition(",")[0]
        found = self._lines.get((key, known))
        if found is None:
            found = Line(self.solved, self.states.at(key) if key else self.states.starts[0])
        for joint, outcome in moves[known.count(",") + 1 if known else 0 :]:
            found = found.moved(joint, outcome, None)
        return self.kept(key, text, found)

    def kept(self, key: str, text: str, line: Line) -> Line:
        """Return a line, and keep it for the next request of it.

        Args:
            key: The state in which it begins, as an address names it; empty for the start.
            text: Its moves.
            line: The line.
        """
        if len(self._lines) >= MOST_LINES:
            self._lines.pop(next(iter(self._lines)))
        self._lines[key, text] = line
        return line

    @cached_property
    def own_sections(self) -> tuple[Section, ...]:
        """The game's own sections of a report."""
        if self.spec is None:
            return ()
        if self.table is not None:
            return tuple(self.spec.ask("sections", self.task) or ())
        found = self.spec.ask("untabled", self.solved)
        return () if found is None else tuple(found.sections)

    @cached_property
    def map_sections(self) -> tuple[Section, ...]:
        """The maps of value and policy, and the game's own sections of a report."""
        if self.table is None:
            return self.own_sections
        return state_map_section(self.task), *self.own_sections

    @cached_property
    def task(self) -> SolvedTask:
        """The game as a report has it, without baselines; of a table only."""
        table = self.tabled("a map of all states")
        record = game_record(table, ())
        return SolvedTask(record, table.game, table.table, table.solution, ())

    @cached_property
    def state_map(self) -> StateMap:
        """The whole map; only for a game with a table."""
        return state_map(self.task)

    def tabled(self, what: str) -> SolvedTable:
        """The table's solution.

        Raises:
            ValueError: If there is no table.
        """
        if self.table is None:
            scored = self.spec is not None and self.spec.scorer is not None
            raise ValueError(
                f"{what} needs a table of all states, and this form of {self.name} is solved "
                f"without one; a form that is small enough has one"
                + ("; solvent score scores a policy without it" if scored else "")
            )
        return self.table

    @cached_property
    def _met(self) -> Mapping[str, set[int]]:
        """The whole numbers that random episodes come through, by the field."""
        game, dice = self.solved.game, random.Random(0)
        found: dict[str, set[int]] = {}
        state = self.states.starts[0]
        for _ in range(MOST_MET):
            if game.is_terminal(state):
                state = dice.choice(game.initial()).state
            for one in self.states.fields(state):
                if one.is_number:
                    found.setdefault(one.name, set()).add(int(one.text))
            joint = tuple(dice.choice(own) for own in game.legal_actions(state))
            state = dice.choice(game.transition(state, joint)).state
        return found

    def ranged(self, query: Query, title: str = "") -> Mapping[str, Any]:
        """Return a map of a game without a table: two fields over ranges of whole numbers.

        Args:
            query: The query of :meth:`maps`.
            title: The title of the picture; the value, if left out.

        Raises:
            ValueError: If fewer than two fields are numbers, or a field or a number is not allowed.
        """
        state = self.states.at(query["s"]) if query.get("s") else self.states.starts[0]
        fields = self.states.fields(state)
        numbers = [n for n, one in enumerate(fields) if one.is_number]
        if len(numbers) < 2:
            raise ValueError("no two fields of a state are numbers, so there is no map of it")
        # Those that vary most are shown first, over what some episodes come through.
        met = {n: {int(fields[n].text), *self._met.get(fields[n].name, ())} for n in numbers}
        first, second = sorted(sorted(numbers, key=lambda n: -len(met[n]))[:2])
        across, up = one_of(query, "x", numbers), one_of(query, "y", numbers)
        across = first if across is None else across
        if up is None or up == across:
            up = second if across == first else first
        spans = {}
        for axis, place in (("x", across), ("y", up)):
            least = number(query, f"{axis}0", min(met[place]), -(10**9), 10**9)
            most = max(least + 1, *met[place])
            spans[axis] = least, number(query, f"{axis}1", most, least, 10**9)
        columns, rows = (_steps(*spans[axis]) for axis in ("x", "y"))
        grid = np.full((len(rows), len(columns)), np.nan)
        ends = np.zeros(grid.shape, bool)
        names = unique_names(self.solved.game.info)
        axes = fields[across].name, fields[up].name
        marks = dict(zip(names, signs(names, arrows=axes == BOARD), strict=True))
        written = {}
        for r, row in enumerate(rows):
            for c, column in enumerate(columns):
                texts = {fields[across].name: str(column), fields[up].name: str(row)}
                try:
                    here_state = self.states.with_fields(state, texts)
                except ValueError:
                    continue
                grid[r, c], written[r, c] = _in_brief(self.solved, here_state, marks)
                ends[r, c] = self.solved.game.is_terminal(here_state)
        grid[ends] = np.nan  # Their rewards are not known.
        cells = Cells(*axes, tuple(map(str, columns)), tuple(map(str, rows)), grid, ends, written)
        low, high = span_of([grid])
        of = f" to {self.sides[0]}" if self.solved.game.info.players == 2 else ""
        return {
            "fields": [(n, fields[n].name) for n in numbers],
            "across": across,
            "up": up,
            "spans": spans,
            "key": self.states.key(state),
            "words": self.states.words(state),
            "picture": drawn(cells, title or f"value{of}", low, high),
            "empty": not np.isfinite(grid).any(),
        }


def _in_brief(solved: SolvedGame, state: Any, marks: Mapping[str, str]) -> tuple[float, str]:
    """The value of a state to player 0, and a sign for the most probable action."""
    value = solved.value_of(state)
    if solved.game.is_terminal(state):
        return value, ""
    player = who_acts(solved.game, state)[0]
    strategy = solved.policy(state, player)
    name = action_names(solved.game, state, player)[max(strategy, key=lambda one: strategy[one])]
    return value, marks.get(name, "")


def _steps(low: int, high: int) -> list[int]:
    """Whole numbers from one to another, at most :data:`MOST_STEPS` of them."""
    step = -(-(high - low + 1) // MOST_STEPS)
    return list(range(low, high + 1, step))
