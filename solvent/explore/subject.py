"""A solved game in the explorer: its states, lines and maps, and the results computed for it.

Work that takes longer than a request runs in a thread, and its result is stored. Maps that take
long are cached on disk (:mod:`solvent.model.cache`), so that they are available at once when the
explorer starts again.
"""

import random
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from functools import cached_property, partial
from math import isfinite
from threading import Thread
from typing import Any

from solvent.exact import GapLocation, Score, SolvedGame, SolvedTable, with_table
from solvent.explore.address import QUIZZES, Query, View, number, one_of
from solvent.explore.states import States
from solvent.model import TabularPolicy, cache
from solvent.model.game import words
from solvent.model.parameters import check_choice
from solvent.model.progress import OnProgress, Progress
from solvent.model.registry import GameSpec, spec_of
from solvent.model.table_cache import game_identity
from solvent.model.text import state_fields
from solvent.play.line import Line
from solvent.report.sections import Section, pages_of
from solvent.report.solved import SolvedTask, game_record
from solvent.report.state_map import BOARD, StateMap, state_map, state_map_section

# The largest table for which a board shows the values of squares.
_MOST_SQUARES = 100_000

# Lines that are kept for quick answers.
_MOST_LINES = 300

PATIENCE = 0.1
"""Seconds that a request waits for a result."""

MOST_RUNNING = 8
"""Jobs that run at the same time."""

Work = Callable[[OnProgress], Any]
"""Work that reports its progress and returns a result."""


class Job(Thread):
    """Work in a thread of its own.

    Attributes:
        result: The result; None until there is one.
        error: The reason why there will be none.
        progress: The progress so far.
    """

    def __init__(self, work: Work) -> None:
        super().__init__(daemon=True)
        self.work, self.result = work, None
        self.error: Exception | None = None
        self.progress = Progress(0, None, "starting")
        self.start()

    def run(self) -> None:
        """Do the work, and keep its result or its error."""
        try:
            self.result = self.work(partial(setattr, self, "progress"))
        except Exception as error:  # The page that waits for the result shows it.
            self.error = error

    def done(self, patience: float = PATIENCE) -> bool:
        """Wait for the end, and return whether it has come.

        Args:
            patience: The most seconds to wait.
        """
        self.join(patience)
        return not self.is_alive()

    def found(self) -> Any:
        """Return the result, once the work has ended.

        Raises:
            Exception: Whatever the work has raised.
        """
        if self.error is not None:
            # Otherwise an error that is raised again would keep the frames of every request.
            raise self.error.with_traceback(None)
        return self.result


class Jobs(dict[Hashable, Job]):
    """Jobs by their subjects."""

    def of(self, key: Hashable, work: Work) -> Job:
        """Return the job on a subject, which is started if there is none.

        Args:
            key: The subject.
            work: The work.

        Raises:
            ValueError: If too many others are running.
        """
        if key not in self:
            if sum(not job.done(0) for job in self.values()) >= MOST_RUNNING:
                raise ValueError(
                    f"{MOST_RUNNING} computations are running; load this page again when one of "
                    f"them has ended"
                )
            self[key] = Job(work)
        return self[key]


@dataclass(frozen=True, eq=False)
class LoadedPolicy:
    """A policy from a file, compared with the optimum.

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


def place_of(solved: SolvedGame, state: Any) -> dict[str, Any]:
    """Return the fields of a state on a board, row and column among them; none of any other.

    Args:
        solved: The game.
        state: A state of the game.
    """
    found = state_fields(solved.game, state)
    return found if found.keys() >= set(BOARD) else {}


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
            text: The moves, as an address has them.

        Raises:
            ValueError: If there is no such state, or a move is not allowed.
        """
        known = text
        while known and (key, known) not in self._lines:
            known = known.rpartition(",")[0]
        found = self._lines.get((key, known))
        if found is None:
            found = Line(self.solved, self.states.at(key) if key else self.states.starts[0])
        rest = text.removeprefix(known).removeprefix(",")
        for move in rest.split(",") if rest else ():
            found = found.read(move)
        return self.kept(key, text, found)

    def kept(self, key: str, text: str, line: Line) -> Line:
        """Return a line, and keep it for the next request of it.

        Args:
            key: The state in which it begins, as an address names it; empty for the start.
            text: The moves, as an address has them.
            line: The line.
        """
        if len(self._lines) >= _MOST_LINES:
            self._lines.pop(next(iter(self._lines)))
        self._lines[key, text] = line
        return line

    def map_sections(self, tell: OnProgress = lambda _: None) -> tuple[Section, ...]:
        """Return the maps of value and policy, and the game's own sections of a report.

        Those that took long are kept on disk (:mod:`solvent.model.cache`), unless the game is
        another package's.

        Args:
            tell: Called before each of the two.

        Raises:
            ValueError: If there are none, since the game has no table.
        """
        identity = game_identity(self.solved.game)
        if identity is None:
            return self._sections(tell)
        # The same game may be solved in a folder that keeps rounded values.
        what = {"what": "sections", "table": self.table is not None, "solved": self.solved.method}
        return cache.kept(
            {**what, **identity},
            lambda: self._sections(tell),
            lambda sections: cache.Packed({"sections": [astuple(one) for one in sections]}, {}),
            lambda packed: tuple(Section(*one) for one in packed.header["sections"]),
        )

    def _sections(self, tell: OnProgress) -> tuple[Section, ...]:
        pages = pages_of(self.solved.game)
        if self.table is None:
            untabled = pages.untabled(self.solved)
            if untabled is not None and untabled.sections:
                return tuple(untabled.sections)
        tell(Progress(0, 2, "the map of all states"))
        found = state_map_section(self.task)
        tell(Progress(1, 2, "what else a report on this game shows"))
        return (found, *pages.sections(self.task))

    @cached_property
    def task(self) -> SolvedTask:
        """The game as a report has it, without baselines; of a table only."""
        table = self.tabled("a map")
        return SolvedTask(table.game, table.table, table.solution, game_record(table, ()))

    @cached_property
    def state_map(self) -> StateMap:
        """The whole map; only for a game with a table."""
        return state_map(self.task)

    @cached_property
    def board_map(self) -> StateMap | None:
        """The whole map of a game on a board; None if it is on none, or too large."""
        small = self.table is not None and self.table.table.n_states <= _MOST_SQUARES
        if small and place_of(self.solved, self.states.starts[0]):
            with suppress(ValueError):  # Two states may be on one place.
                return self.state_map
        return None

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
