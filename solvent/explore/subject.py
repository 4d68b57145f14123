"""A solved game as it is explored: its states, lines and maps, and whatever else is kept of it.

Work that takes longer than a request has a thread of its own, and its result is kept.

**Maps** of numbers over two fields are drawn here and not by a script in the page. A game without a
table has a map over two ranges of whole numbers. Maps that take long are kept on disk
(:mod:`solvent.model.cache`), so that they are there at once when the explorer starts again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from functools import cached_property, partial
from math import isfinite
from threading import Lock, Thread
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np

from solvent.exact import GapLocation, Score, SolvedGame, SolvedTable, with_table
from solvent.explore.decision import who_acts
from solvent.explore.line import QUIZZES, Line, Query, View, number, one_of, read_moves
from solvent.explore.states import States
from solvent.model import TabularPolicy, cache, text
from solvent.model.arrays import Bools, Floats
from solvent.model.cache import OnProgress, Progress
from solvent.model.game import words
from solvent.model.parameters import check_choice
from solvent.model.registry import GameSpec, spec_of
from solvent.model.table_cache import game_identity
from solvent.report.panel import VIRIDIS, bar, hatching, keys, shade
from solvent.report.sections import Section, templates
from solvent.report.solved import SolvedTask, game_record
from solvent.report.state_map import (
    BOARD,
    ROW,
    StateMap,
    action_names,
    axes,
    field_text,
    signs,
    state_map,
    state_map_section,
)

WIDE, HIGH = 440, 360
"""Most room for the cells, in pixels of the picture."""

LARGEST, SIGNED = 44.0, 13.0
"""The largest cell, and the smallest in which a sign can be read."""

MOST_MET = 200
"""States of random episodes by which the fields and the ranges of a map are chosen."""

MOST_STEPS = 40
"""Values of a field in a map of a game without a table."""

T = TypeVar("T")

LETTER = 7
TOP, BELOW, LEGEND = 6, 40, 40

END_COLOUR = "#d3d9de"
"""The colour of a state in which the episode ends, which has no value; no quantity has it."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The contents of a map.

    Attributes:
        across: The field along the columns.
        up: The field along the rows; empty if there is one row only.
        columns: The values of `across`.
        rows: The values of `up`, from the bottom, but rows of a board from the top.
        value: [R, C] the numbers, NaN where there is none.
        ends: [R, C] whether the episode ends there; the number is then the reward for it.
        signs: Short texts on the cells, by row and column.
    """

    across: str
    up: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    value: Floats
    ends: Bools
    signs: Mapping[tuple[int, int], str]


def slice_cells(
    found: StateMap,
    value: Floats,
    across: int | None = None,
    up: int | None = None,
    fixed: Mapping[int, int] = MappingProxyType({}),
) -> tuple[Cells, dict[int, int]]:
    """Return a slice of a map: two fields vary, the others are fixed.

    Args:
        found: The map.
        value: [C] the number of each of its cells.
        across: The field along the columns; the map's first choice, if left out.
        up: The field along the rows; the map's first choice, if left out.
        fixed: The number of the value of some of the others; in the rest it is that of the slice
            with most cells.

    Returns:
        The slice, and the numbers of the values of all fields that are fixed.
    """
    begin = axes(found)
    across = begin[0] if across is None else across
    up = begin[-1] if up is None else up
    told = found.fields
    others = [n for n in range(len(told)) if n not in (across, up)]
    inside = np.ones(len(found.value), bool)
    chosen: dict[int, int] = {}
    for n in sorted(others, key=lambda n: n not in fixed):
        if n in fixed:
            chosen[n] = fixed[n]
        elif inside.any():
            # The value that most of the cells have, of those with a start if there are any.
            begins = inside & found.start
            places = told[n].place[begins if begins.any() else inside]
            chosen[n] = int(np.bincount(places).argmax())
        inside &= told[n].place == chosen.get(n, 0)
    one_row = across == up
    rows = ("",) if one_row else tuple(map(field_text, told[up].values))
    columns = tuple(map(field_text, told[across].values))
    grid = np.full((len(rows), len(columns)), np.nan)
    ends = np.zeros(grid.shape, bool)
    at = np.flatnonzero(inside)
    where = 0 if one_row else told[up].place[at], told[across].place[at]
    grid[where], ends[where] = value[at], at >= len(found.states)
    cells = Cells(
        told[across].name,
        "" if one_row else told[up].name,
        columns,
        rows,
        grid,
        ends,
        {},
    )
    return cells, chosen


def drawn(cells: Cells, title: str, low: float, high: float) -> str:
    """Return the map as SVG.

    Args:
        cells: The contents of the map; ends have a colour apart from the scale.
        title: The name of the numbers.
        low: The number with the darkest colour.
        high: The number with the brightest colour.
    """
    rows, columns = cells.value.shape
    left = 30 + LETTER * max(len(one[:16]) for one in cells.rows) if cells.up else 12
    wide = min(LARGEST, (WIDE - left) / columns)
    tall = min(LARGEST, HIGH / rows, 4 * wide)
    wide = min(wide, 4 * tall)
    height = TOP + rows * tall + BELOW + LEGEND
    ends = {low: 0.0, high: 120.0} if high > low else {low: 0.0}
    scale = [shade(VIRIDIS, n / 23) for n in range(24)]
    legend = bar(scale, ends, left + max(columns * wide, 120) / 2 - 60, height - LEGEND, 120)
    if cells.ends.any():
        key = "the end, with its reward"
        legend += keys([key], [END_COLOUR], left, height, LETTER * len(key))
        height += 18
    share = (cells.value - low) / (high - low or 1.0)
    places = np.argwhere(np.isfinite(cells.value) | cells.ends).tolist()
    names = LETTER * max(len(one[:16]) for one in cells.columns) + 8
    template = templates("solvent.explore").get_template("cells.html.j2")
    return template.render(
        cells=cells,
        from_top=cells.up == ROW,
        title=title,
        left=left,
        top=TOP,
        wide=wide,
        tall=tall,
        width=max(left + columns * wide + 14, left + 180),
        height=height,
        drawn=[(row, column, float(share[row, column])) for row, column in places],
        every=(_step(wide, names), _step(tall, 15)),
        legend=legend,
        shade=partial(shade, VIRIDIS),
        hatching=hatching,
        isfinite=isfinite,
        END_COLOUR=END_COLOUR,
        SIGNED=SIGNED,
    ).strip()


def _step(size: float, room: float) -> int:
    """Every how many-th value of an axis is written, for each to have room."""
    return next((k for k in (1, 2, 5, 10, 20, 25, 50, 100) if k * size >= room), 200)


def span_of(values: Sequence[Floats]) -> tuple[float, float]:
    """Return the least and the largest finite number of several maps, for comparable colours.

    Args:
        values: The numbers of each map.
    """
    all_of = np.concatenate([np.ravel(one) for one in values])
    finite = all_of[np.isfinite(all_of)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def ranged(states: States, query: Query, title: str = "", tell: OnProgress = lambda _: None) -> Any:
    """Return a map of a game without a table: two fields over ranges of whole numbers.

    Args:
        states: The states of the solved game.
        query: ``s``, the state that has the other fields, the start if left out; ``x`` and ``y``,
            the numbers of the two fields; ``x0``, ``x1``, ``y0`` and ``y1``, their ranges.
        title: The title of the picture; the value, if left out.
        tell: Called after each row.

    Raises:
        ValueError: If fewer than two fields are numbers, or a field or a number is not allowed.
    """
    solved, game = states.solved, states.solved.game
    state = states.at(query["s"]) if query.get("s") else states.starts[0]
    fields = states.fields(state)
    numbers = [n for n, one in enumerate(fields) if one.is_number]
    if len(numbers) < 2:
        raise ValueError("no two fields of a state are numbers, so there is no map of it")
    # Those that vary most are shown first, over what some episodes come through.
    known = _met(states)
    met = {n: {int(fields[n].text), *known.get(fields[n].name, ())} for n in numbers}
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
    value = np.full((len(rows), len(columns)), np.nan)
    ends = np.zeros(value.shape, bool)
    names = action_names(game.info)
    axes_names = fields[across].name, fields[up].name
    marks = dict(zip(names, signs(names, arrows=axes_names == BOARD), strict=True))
    written = {}
    for r, row in enumerate(rows):
        tell(Progress(r, len(rows), "the map"))
        for c, column in enumerate(columns):
            texts = dict(zip(axes_names, (str(column), str(row)), strict=True))
            with suppress(ValueError):
                here = states.with_fields(state, texts)
                ends[r, c] = game.is_terminal(here)
                if not ends[r, c]:  # The reward of an end is not known.
                    value[r, c], written[r, c] = _in_brief(solved, here, marks)
    cells = Cells(
        *axes_names, tuple(map(str, columns)), tuple(map(str, rows)), value, ends, written
    )
    of = f" to {words(game).player_name(0)}" if game.info.players == 2 else ""
    return {
        "fields": [(n, states.label(fields[n].name)) for n in numbers],
        "across": across,
        "up": up,
        "spans": spans,
        "key": states.key(state),
        "words": states.words(state),
        "picture": drawn(cells, title or f"value{of}", *span_of([value])),
        "empty": not np.isfinite(value).any(),
    }


def _met(states: States) -> Mapping[str, set[int]]:
    """The whole numbers that random episodes come through, by the field."""
    game, dice = states.solved.game, random.Random(0)
    found: dict[str, set[int]] = {}
    state = states.starts[0]
    for _ in range(MOST_MET):
        if game.is_terminal(state):
            state = dice.choice(game.initial()).state
        for one in states.fields(state):
            if one.is_number:
                found.setdefault(one.name, set()).add(int(one.text))
        joint = tuple(dice.choice(own) for own in game.legal_actions(state))
        state = dice.choice(game.transition(state, joint)).state
    return found


def _in_brief(solved: SolvedGame, state: Any, marks: Mapping[str, str]) -> tuple[float, str]:
    """The value of a state to player 0, and a sign for the most probable action."""
    player = who_acts(solved.game, state)[0]
    strategy = solved.policy(state, player)
    best = max(strategy, key=lambda one: strategy[one])
    name = text.action_names(solved.game, state, player)[best]
    return solved.value_of(state), marks.get(name, "")


def _steps(low: int, high: int) -> list[int]:
    """Whole numbers from one to another, at most :data:`MOST_STEPS` of them."""
    step = -(-(high - low + 1) // MOST_STEPS)
    return list(range(low, high + 1, step))


def kept_on_disk(solved: SolvedGame, what: Mapping[str, Any], make: Callable[[], T]) -> T:
    """Return what was made of a solved game before, or else make it now.

    Args:
        solved: The game; what is made of another package's is not kept.
        what: The maps that are meant, as JSON-able data.
        make: Makes sections of a report, or JSON-able data.
    """
    identity = game_identity(solved.game)
    if identity is None:
        return make()

    def pack(made: Any) -> cache.Packed:
        plain = [astuple(one) for one in made] if isinstance(made, tuple) else made
        return cache.Packed({"made": plain}, {})

    def unpack(packed: cache.Packed) -> Any:
        found = packed.header["made"]
        return tuple(Section(*one) for one in found) if isinstance(found, list) else found

    # The same game may be solved in a folder that keeps rounded values.
    return cast(T, cache.kept({**what, "solved": solved.method, **identity}, make, pack, unpack))


LONGEST_LINE = 30_000
"""Characters of a line."""

MOST_LINES = 300
"""Lines that are kept for quick answers."""


PATIENCE = 0.1
"""Seconds that a request waits for a result."""

MOST_KEPT = 200
"""Results that are kept."""

MOST_RUNNING = 8
"""Jobs that run at the same time."""

Work = Callable[[OnProgress], Any]
"""Work that tells its progress and returns a result."""


class Job:
    """Work in a thread of its own.

    Attributes:
        result: The result; None until there is one.
        error: The reason why there will be none.
        now: The progress so far, in words.
        share: The progress so far, from 0 to 1.
    """

    def __init__(self, work: Work) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        self.now, self.share = "starting", 0.0
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def done(self, patience: float = PATIENCE) -> bool:
        """Wait for the end, and return whether it has come.

        Args:
            patience: The most seconds to wait.
        """
        self._thread.join(patience)
        return not self._thread.is_alive()

    def found(self) -> Any:
        """Return the result, once the work has ended.

        Raises:
            Exception: Whatever the work has raised.
        """
        if self.error is not None:
            # Raised again and again, it would otherwise keep the frames of every request.
            raise self.error.with_traceback(None)
        return self.result

    def _run(self, work: Work) -> None:
        try:
            self.result = work(self._told)
        except Exception as error:  # It is told on the page that waits for the result.
            self.error = error

    def _told(self, progress: Progress) -> None:
        self.now = progress.what
        self.share = progress.done / progress.total if progress.total else 0.0


class Jobs:
    """Jobs by what they are about."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, Job] = {}
        self._lock = Lock()

    def of(self, key: Hashable, work: Work) -> Job:
        """Return the job on a subject, which is started if there is none.

        Args:
            key: The subject.
            work: The work.

        Raises:
            ValueError: If too many others are running.
        """
        with self._lock:
            if key not in self._jobs:
                ended = [one for one, job in self._jobs.items() if job.done(0)]
                if len(self._jobs) - len(ended) >= MOST_RUNNING:
                    raise ValueError(
                        f"{MOST_RUNNING} computations are running; load this page again when one "
                        f"of them has ended"
                    )
                if len(self._jobs) >= MOST_KEPT:
                    self._jobs.pop(ended[0])
                self._jobs[key] = Job(work)
            return self._jobs[key]


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

    def map_sections(self, tell: OnProgress = lambda _: None) -> tuple[Section, ...]:
        """Return the maps of value and policy, and the game's own sections of a report.

        Those that took long are kept on disk (:mod:`solvent.model.cache`).

        Args:
            tell: Called before each of the two.
        """
        what = {"what": "sections", "table": self.table is not None}
        return kept_on_disk(self.solved, what, lambda: self._sections(tell))

    def _sections(self, tell: OnProgress) -> tuple[Section, ...]:
        found: tuple[Section, ...] = ()
        if self.table is not None:
            tell(Progress(0, 2, "the map of all states"))
            found = (state_map_section(self.task),)
        tell(Progress(1, 2, "what else a report on this game shows"))
        if self.spec is None:
            return found
        if self.table is not None:
            return (*found, *(self.spec.ask("sections", self.task) or ()))
        untabled = self.spec.ask("untabled", self.solved)
        return () if untabled is None else tuple(untabled.sections)

    def ranged(
        self, query: Query, title: str = "", tell: OnProgress = lambda _: None
    ) -> dict[str, Any]:
        """Return a map of two fields of a game without a table (:func:`~.maps.ranged`).

        Args:
            query: The query of the page, with the fields and their ranges.
            title: The title of the picture.
            tell: Called after each row.

        Raises:
            ValueError: If an entry of the query is not allowed.
        """
        what = {"what": "ranged", "query": dict(query), "title": title}
        found = kept_on_disk(self.solved, what, lambda: ranged(self.states, query, title, tell))
        return dict(found)

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
