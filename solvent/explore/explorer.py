"""The contents of the pages, by the address that asks for them; no page knows a server.

The address determines everything on a page: a state, an episode's seed and choices, two fields.
The only thing that is kept is the policy that was loaded.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path
from secrets import randbelow
from typing import Any

import numpy as np

from solvent.exact import (
    CertificateError,
    GapLocation,
    ImproperGameError,
    Score,
    SolvedGame,
    SolvedTable,
    StoreError,
    load_policy,
    locate_gap,
    score,
    with_table,
)
from solvent.exact.scoring import LEARNED
from solvent.explore.cells import Cells, drawn, slice_cells, span_of
from solvent.explore.decision import (
    ActionValue,
    Choice,
    choice_in,
    expected,
    joint_action,
    results,
    who_acts,
)
from solvent.explore.episode import Episode, played
from solvent.explore.learning import METHODS, MOST_SWEEPS, course_of
from solvent.explore.states import NearestError, States
from solvent.model import TabularPolicy, ValueScale
from solvent.model.game import words
from solvent.model.parameters import brief, check_choice, shown
from solvent.model.registry import GameSpec, spec_of
from solvent.model.text import action_names
from solvent.report.gap_attribution import LosingState, attribute_gap
from solvent.report.panel import Axis, Panel
from solvent.report.sections import Section
from solvent.report.solved import SolvedTask, game_record
from solvent.report.state_map import (
    BOARD,
    Compared,
    StateMap,
    signs,
    state_map,
    state_map_section,
)
from solvent.report.state_map import action_names as unique_names

Query = Mapping[str, str]
"""The part of an address after its question mark."""

MOST_RESULTS = 60
"""The largest number of outcomes that are all listed; of more, only the most probable are."""

MOST_STARTS = 12
MOST_LOSING = 10
"""States that are listed of a policy."""

LARGEST_SEED = 10**9
MOST_MET = 200
"""States of random episodes by which the fields and the ranges of such a map are chosen."""

MOST_STEPS = 60
"""Values of a field in a map of a game without a table."""

LONGEST_MOVES = 30_000
"""Characters of an episode's choices."""


@dataclass(frozen=True, eq=False)
class Page:
    """A page to be written.

    Attributes:
        template: The name of the template's file.
        title: The title of the page.
        values: The variables of the template.
        sections: Parts with scripts of their own.
        status: The HTTP status.
    """

    template: str
    title: str
    values: Mapping[str, Any]
    sections: tuple[Section, ...] = ()
    status: int = 200


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
class Explorer:
    """The pages about one game.

    Args:
        solved: The game with its optimum.
        loaded: A policy that is compared with it.
    """

    solved: SolvedGame
    loaded: LoadedPolicy | None = None
    _episodes: dict[tuple[int, int], Episode] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the solution of the table where the game has one, as every page can use it."""
        self.solved = with_table(self.solved) or self.solved

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

    @property
    def table(self) -> SolvedTable | None:
        """The solution, if it is that of a table."""
        return self.solved if isinstance(self.solved, SolvedTable) else None

    def state(self, query: Query) -> Page:
        """A state, the value of each action in it, and why.

        Args:
            query: ``s``, the state, the start if left out; ``f0`` and so on, fields to be set;
                ``why`` and ``reply``, the actions whose outcomes are listed.

        Raises:
            ValueError: If there is no such state.
        """
        message = ""
        first = self.states.starts[0]
        state = self.states.at(query["s"]) if query.get("s") else first
        fields = self.states.fields(state)
        asked = {one.name: query[f"f{n}"] for n, one in enumerate(fields) if f"f{n}" in query}
        try:
            state = self.states.with_fields(state, asked) if asked else state
        except NearestError as error:
            message = str(error)
            state = state if error.state is None else error.state
        except ValueError as error:
            message = str(error)
        choice = choice_in(self.solved, state)
        own = self._own(state, True)
        game = self.solved.game
        starts = [
            self._told(one.state) | {"probability": float(one.probability)}
            for one in sorted(game.initial(), key=lambda one: -one.probability)[:MOST_STARTS]
        ]
        values = {
            "choice": choice,
            **self._told(state),
            "fields": self.states.fields(state),
            "drawing": game.draw(state),
            "message": message,
            "why": self._why(choice, query),
            "at_start": state == first,
            "starts": starts if state == first and len(starts) > 1 else (),
            "scale": ValueScale(game.info, choice.player),
            "scales": tuple(ValueScale(game.info, player) for player in (0, 1)),
            "own": bool(own),
        }
        title = "The start" if state == first else "A state"
        return Page("state.html.j2", title, values, own, 400 if message else 200)

    def _own(self, state: Any, hints: bool) -> tuple[Section, ...]:
        """The game's own sections on a state."""
        found = self.spec and self.spec.ask("explorer", self.solved, state, hints)
        return tuple(found or ())

    def _why(self, choice: Choice, query: Query) -> Mapping[str, Any] | None:
        """The outcomes of an action, or of a pair of actions."""
        if choice.over:
            return None
        action = _asked(choice.actions, query, "why")
        joint = joint_action(self.solved, choice.state, choice.player, action.number)
        name = action.name
        if choice.replies:
            reply = _asked(choice.replies, query, "reply")
            joint, name = (action.number, reply.number), f"{name} against {reply.name}"
        found = results(self.solved, choice.state, joint)
        scale = ValueScale(self.solved.game.info, choice.player)
        return {
            "name": name,
            "action": action.number,
            "joint": joint,
            "results": [(self._told(one.state), one) for one in found[:MOST_RESULTS]],
            "others": max(len(found) - MOST_RESULTS, 0),
            "others_probability": sum(one.probability for one in found[MOST_RESULTS:]),
            "rewarded": any(one.reward for one in found),
            "expected": scale.of(expected(found)),
            "scale": scale,
        }

    def _told(self, state: Any) -> dict[str, Any]:
        """A state as pages have it, with its address."""
        over = self.solved.game.is_terminal(state)
        return {"key": self.states.key(state), "words": self.states.words(state), "over": over}

    def episode(self, query: Query) -> Episode:
        """The episode that an address is about.

        Args:
            query: ``player``, ``seed`` and ``moves``, numbers with commas between them.

        Raises:
            ValueError: If one of them is not allowed.
        """
        player, seed, moves = read_episode(query, self.solved.game.info.players)
        kept = self._episodes.pop((player, seed), None)
        if kept is None or kept.moves != moves[: len(kept.moves)]:
            kept = played(self.solved, player, seed, ())
        for move in moves[len(kept.moves) :]:
            kept.play(move)
        if len(self._episodes) >= 8:
            self._episodes.pop(next(iter(self._episodes)))
        self._episodes[player, seed] = kept
        return kept

    def play(self, query: Query) -> Page:
        """Return an episode as far as it has been played, with the choices that are open now.

        Args:
            query: The query of :meth:`episode`; without ``seed`` a new one is begun. With
                ``hints`` the values of the choices are shown.

        Raises:
            ValueError: If it is not allowed.
        """
        new = {**query, "seed": str(randbelow(1_000_000))} if not query.get("seed") else query
        episode = self.episode(new)
        info = self.solved.game.info
        session = episode.session
        hints = query.get("hints") == "1"
        prices = {}
        if episode.choices and hints:
            prices = session.prices(episode.state, episode.choices)
        state = session.solved_state(episode.state)
        own = () if episode.over else self._own(episode.state, hints)
        values = {
            "episode": episode,
            "moves": ",".join(map(str, episode.moves)),
            "choices": episode.choices,
            "prices": prices,
            "hints": hints,
            "scale": session.scale,
            "drawing": session.game.draw(episode.state),
            "key": self.states.key(state),
            "rules": self.spec.rules if self.spec else "",
            "opening": [line for line in session.opening(episode.state) if line][-2:-1],
            "own": bool(own),
            **self._reviewed(episode),
        }
        return Page("play.html.j2", f"Play {info.name}", values, own)

    def _reviewed(self, episode: Episode) -> Mapping[str, Any]:
        """The bar, the curve, and at the end what cost most."""
        low, high = odds_span(episode)
        share = (episode.odds - low) / (high - low) if high > low else 0.5
        mistakes = [
            (one, self.states.key(episode.session.solved_state(one.decision.state)))
            for one in (episode.mistakes() if episode.over else ())
        ]
        return {
            "share": min(max(share, 0.0), 1.0),
            "curve": odds_curve(episode),
            "mistakes": mistakes,
            "summary": episode.summary() if episode.over else "",
        }

    def replay(self, query: Query) -> Page:
        """Return an episode from its start to its end, as a self-contained page.

        Args:
            query: The query of :meth:`episode`.

        Raises:
            ValueError: If it is not allowed.
        """
        episode = self.episode(query)
        values = {
            "episode": episode,
            "moves": ",".join(map(str, episode.moves)),
            "scale": episode.session.scale,
            "drawing": episode.session.game.draw(episode.state),
            **self._reviewed(episode),
        }
        return Page("replay.html.j2", f"A game of {self.name}", values)

    def maps(self, query: Query) -> Page:
        """Return the values and policy over two fields, and the sections of a report on the game.

        Args:
            query: For a game without a table, ``x`` and ``y``, the numbers of two fields, with
                ``x0``, ``x1``, ``y0`` and ``y1``, the ends of their ranges, and ``s``, the state
                that has the other fields.

        Raises:
            ValueError: If a field or a number is not allowed.
        """
        if self.table is not None:
            own = self.own_sections
            map_ = state_map_section(self.task)
            return Page("map.html.j2", "Maps", {"ranged": None}, (map_, *own))
        ranged = self.ranged(query)
        return Page("map.html.j2", "Maps", {"ranged": ranged}, tuple(self.own_sections))

    @cached_property
    def task(self) -> SolvedTask:
        """The game as a report has it, without baselines; of a table only."""
        table = self._needed("a map of all states")
        record = game_record(table, ())
        return SolvedTask(record, table.game, table.table, table.solution, ())

    @cached_property
    def state_map(self) -> StateMap:
        """The whole map; only for a game with a table."""
        return state_map(self.task)

    @cached_property
    def own_sections(self) -> tuple[Section, ...]:
        """The game's own sections of a report."""
        if self.spec is None:
            return ()
        if self.table is not None:
            return tuple(self.spec.ask("sections", self.task) or ())
        found = self.spec.ask("untabled", self.solved)
        return () if found is None else tuple(found.sections)

    def _compared_map(self, loaded: LoadedPolicy) -> Section:
        """The map with a policy beside the optimum; in the other seat it is optimal."""
        own, location = loaded.policy, loaded.location
        nowhere = np.zeros(self.task.table.n_states)
        seats = range(self.task.table.info.players)
        optimal = self.task.solution.policies
        policies = tuple(own if seat == own.player else optimal[seat] for seat in seats)
        losses = tuple(
            location.loss if location and seat == own.player else nowhere for seat in seats
        )
        return state_map_section(self.task, [Compared(own.name, policies, losses)])

    def _needed(self, what: str) -> SolvedTable:
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
        across, up = _one_of(query, "x", numbers), _one_of(query, "y", numbers)
        across = first if across is None else across
        if up is None or up == across:
            up = second if across == first else first
        spans = {}
        for axis, place in (("x", across), ("y", up)):
            least = _number(query, f"{axis}0", min(met[place]), -(10**9), 10**9)
            most = max(least + 1, *met[place])
            spans[axis] = least, _number(query, f"{axis}1", most, least, 10**9)
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

    def policy(self, query: Query) -> Page:
        """The loaded policy beside the optimum: where it differs, and what that costs.

        Args:
            query: Nothing.
        """
        table = self._needed("comparing a policy")
        loaded = self.loaded
        if loaded is None:
            return Page("policy.html.j2", "Compare a policy", {"loaded": None})
        losing: tuple[LosingState, ...] = ()
        if loaded.location is not None:
            given = table.table, loaded.policy, table.solution, loaded.location
            losing = attribute_gap(*given, MOST_LOSING, 4).worst
        values = {
            "loaded": loaded,
            "losing": [(self._told(one.state), one) for one in losing],
            "scale": ValueScale(table.game.info, loaded.policy.player),
        }
        section = self._compared_map(loaded)
        return Page("policy.html.j2", "Compare a policy", values, (section,))

    def load(self, data: bytes, file: str) -> None:
        """Load a policy from the bytes of a file, such as ``solvent train`` writes.

        Args:
            data: The content of the file.
            file: The file's name, for messages.

        Raises:
            StoreError: If it is no policy, damaged, or for another game.
            ValueError: If the game has no table.
        """
        self._needed("comparing a policy")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "policy.npz"
            path.write_bytes(data)
            try:
                self.load_file(path, brief(file))
            except StoreError as error:
                raise StoreError(str(error).replace(str(path), brief(file))) from None

    def load_file(self, path: Path, name: str | None = None) -> None:
        """Load a policy from a file.

        Args:
            path: The path of the file.
            name: The policy's name on the page; the name of the file, if left out.

        Raises:
            StoreError: If it is no policy, damaged, or for another game.
            ValueError: If the game has no table.
        """
        table = self._needed("comparing a policy")
        policy = load_policy(path, table.table)
        if policy.player >= table.table.info.players:
            raise StoreError(f"{path}: is for player 1, but {self.name} is for one player")
        self.loaded = _compared(table, policy, name or brief(path.name))

    def learn(self, query: Query) -> Page:
        """An algorithm as far as it has come, beside the exact solution.

        Args:
            query: ``method``, one of :data:`METHODS`; ``frame``, a number; ``seed``; ``x`` and
                ``y``, the numbers of two fields, and ``o0`` and so on, the numbers of the values
                of the others.

        Raises:
            ValueError: If one of them is not allowed, or the game is too large.
        """
        table = self._needed("watching an algorithm")
        method = check_choice(query.get("method") or next(iter(METHODS)), "method", METHODS)
        learns = METHODS[method].learn is not None
        seed = _number(query, "seed", 0, 0, LARGEST_SEED) if learns else 0
        asked = _number(query, "frame", 1, 1, MOST_SWEEPS + 1)
        course = course_of(table, method, seed)
        frame = course.frame(asked)
        found = self.state_map
        places = range(len(found.fields))
        across, up = _one_of(query, "x", places), _one_of(query, "y", places)
        fixed = {
            n: _number(query, f"o{n}", 0, 0, len(found.fields[n].values) - 1)
            for n in places
            if f"o{n}" in query
        }
        ends = found.value[len(found.states) :]
        shown_values = np.concatenate((frame.values[found.states], ends))
        cells, chosen = slice_cells(found, shown_values, across, up, fixed)
        exact_cells, _ = slice_cells(found, found.value, across, up, chosen)
        # Both pictures have one scale, which holds the numbers of both.
        low, high = span_of([frame.values[found.states], found.value[: len(found.states)]])
        values = {
            "method": method,
            "methods": METHODS,
            "learns": learns,
            "seed": seed,
            "now": min(asked, len(course.frames)),
            "frame": frame,
            "course": course,
            "finite": isfinite(frame.start),
            "curve": course.curve(frame),
            "pictures": (
                ("estimated value", drawn(cells, "estimated value", low, high)),
                ("exact value", drawn(exact_cells, "exact value", low, high)),
            ),
            "fields": found.fields,
            "across": cells.across,
            "up": cells.up,
            "x": "" if across is None else across,
            "y": "" if up is None else up,
            "chosen": chosen,
            "omitted": found.omitted,
        }
        return Page("learn.html.j2", METHODS[method].name, values)


def read_episode(query: Query, players: int = 2) -> tuple[int, int, tuple[int, ...]]:
    """Read the player, the seed and the choices of an episode from an address.

    Args:
        query: The query of :meth:`Explorer.episode`.
        players: The number of players of the game.

    Raises:
        ValueError: If one of them is not allowed.
    """
    player = _number(query, "player", 0, 0, players - 1)
    seed = _number(query, "seed", 0, 0, LARGEST_SEED)
    text = query.get("moves", "")
    if len(text) > LONGEST_MOVES or not all(
        part.isascii() and part.isdecimal() and len(part) < 10 for part in text.split(",") if text
    ):
        raise ValueError(
            f"moves is {shown(text)}; allowed are numbers of actions with commas between them"
        )
    moves = tuple(int(part) for part in text.split(",")) if text else ()
    if "choose" in query:
        moves += (_number(query, "choose", 0, 0, 10**9),)
    return player, seed, moves


def _in_brief(solved: SolvedGame, state: Any, marks: Mapping[str, str]) -> tuple[float, str]:
    """The value of a state to player 0, and a sign for the most probable action."""
    value = solved.value_of(state)
    if solved.game.is_terminal(state):
        return value, ""
    player = who_acts(solved, state)[0]
    strategy = solved.policy(state, player)
    name = action_names(solved.game, state, player)[max(strategy, key=lambda one: strategy[one])]
    return value, marks.get(name, "")


def odds_span(episode: Episode) -> tuple[float, float]:
    """The least and the largest odds to draw: 0 and 1, or those so far with room around them."""
    if episode.session.scale.is_chance:
        return 0.0, 1.0
    odds = [step.odds for step in episode.steps]
    room = max((max(odds) - min(odds)) * 0.1, 0.5)
    return min(odds) - room, max(odds) + room


def odds_curve(episode: Episode) -> str:
    """The odds after each choice, as SVG."""
    quantity = episode.session.scale.meaning or "value"
    xs, ys = range(len(episode.steps)), [step.odds for step in episode.steps]
    x = Axis(0, max(len(xs) - 1, 4))
    panel = Panel(quantity, quantity, x, Axis(*odds_span(episode)), "your choices")
    panel.line(xs, ys, "var(--series-0)", quantity, dashed=False, wide=True)
    panel.dots(xs, ys, "var(--series-0)")
    return panel.drawn()


def _compared(solved: SolvedTable, policy: TabularPolicy, file: str) -> LoadedPolicy:
    table, player = solved.table, policy.player
    try:
        scored: Score | None = score(table, policy, solved.solution, tolerance=LEARNED)
        location: GapLocation | None = locate_gap(table, policy, solved.solution, tolerance=LEARNED)
    except (CertificateError, ImproperGameError):
        scored = location = None
    if scored is not None and not isfinite(scored.value):
        scored = location = None
    deciding = table.action_count[player] > 1
    losing = np.zeros(table.n_states) if location is None else location.loss
    return LoadedPolicy(
        file, policy, scored, location, int((losing > LEARNED / 1000).sum()), int(deciding.sum())
    )


def _number(query: Query, name: str, default: int, low: int, high: int) -> int:
    """A whole number of an address.

    Raises:
        ValueError: If it is none, or out of range.
    """
    text = query.get(name, "").strip()
    if not text:
        return default
    digits = text.removeprefix("-").removeprefix("−")
    if digits.isascii() and digits.isdecimal() and len(digits) < 16:
        number = int(digits) if digits == text else -int(digits)
        if low <= number <= high:
            return number
    raise ValueError(f"{name} is {shown(text)}; allowed are whole numbers from {low} to {high}")


def _one_of(query: Query, name: str, allowed: Iterable[int]) -> int | None:
    """A number of an address that has to be one of several; None if it is left out.

    Raises:
        ValueError: If it is another.
    """
    text = query.get(name, "").strip()
    if not text:
        return None
    numbers = {str(number): number for number in allowed}
    if text not in numbers:
        listed = ", ".join(list(numbers)[:20])
        raise ValueError(f"{name} is {shown(text)}; allowed are {listed}")
    return numbers[text]


def _steps(low: int, high: int) -> list[int]:
    """Whole numbers from one to another, at most :data:`MOST_STEPS` of them."""
    step = -(-(high - low + 1) // MOST_STEPS)
    return list(range(low, high + 1, step))


def _asked(actions: Sequence[ActionValue], query: Query, word: str) -> ActionValue:
    """The action that an address names, or the most probable one."""
    number = _one_of(query, word, [one.number for one in actions])
    probable = max(actions, key=lambda one: (one.chance, -one.number))
    return next((one for one in actions if one.number == number), probable)
