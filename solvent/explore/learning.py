"""Algorithms of :mod:`solvent.tabular` step by step, compared with the exact values.

Every algorithm of :data:`solvent.tabular.ALGORITHMS` that fits a game can be watched. Planning is
shown after each sweep, everything else after numbers of sweeps or episodes that grow geometrically.
An algorithm runs only as far as its frames are requested. In a two-player game the second player
plays optimally while a one-player algorithm learns.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from solvent.baselines.q_learning import EPSILON, STEP_SIZE_EXPONENT
from solvent.envs import Env
from solvent.exact import SolvedTable
from solvent.exact.evaluation import policy_value
from solvent.explore.address import Query, number
from solvent.model import TabularGame, TabularPolicy, against
from solvent.model.arrays import Floats, Ints
from solvent.model.game import words
from solvent.model.parameters import check_choice, shown
from solvent.model.text import signed, small
from solvent.report.panel import VIRIDIS, Axis, Panel, bar, gap_axis, keys, shade
from solvent.report.sections import templates
from solvent.report.state_map import BOARD, ROW, StateMap, axes, signs
from solvent.report.state_map import action_names as unique_names
from solvent.tabular import ALGORITHMS, Estimate, TabularAlgorithm, epsilon_greedy, measure
from solvent.tabular.exact_curves import QUANTITIES
from solvent.tabular.registry import BOTH_PLAYERS, TABLE

MOST_SWEEPS = 200
"""Largest number of sweeps that are shown."""

EPISODES = tuple(n * 10**k for k in range(6) for n in (1, 2, 5))
"""Numbers of episodes after which a learning algorithm is shown."""

MOST_STEPS = 200_000
"""Largest number of steps of all episodes together; the episode that reaches it is the last."""

# Number of steps that the update of a matrix game counts as.
_MATRIX_GAME = 3

# The largest seed of an algorithm.
_LARGEST_SEED = 10**9

# Steps after which an episode is cut off, since a bad policy may never end it.
_LONGEST_EPISODE = 10_000

MOST_STATES = 100_000
"""Largest number of states of a table that can be watched."""

# Largest number of columns whose cells have a number beside the arrow.
_WIDEST = 10


class SettingRange(NamedTuple):
    """A setting of an algorithm that can be chosen.

    Attributes:
        name: Name of the setting, in words.
        low: The least value.
        high: The largest value.
        step: The difference of neighbouring values.
        default: The value if none is chosen; None for that of the algorithm.
    """

    name: str
    low: float
    high: float
    step: float
    default: float | None = None


# The setting of the step size that means the falling one of the compiled Q-learning.
_FALLING = 0.0

# The settings that can be chosen, by the parameter of an algorithm.
_SETTINGS: Mapping[str, SettingRange] = {
    "alpha": SettingRange(f"step size α, 0 for 1/n^{STEP_SIZE_EXPONENT}", 0, 1, 0.01, _FALLING),
    "epsilon": SettingRange("exploration ε", 0, 1, 0.01, EPSILON),
    "explore": SettingRange("exploration", 0, 1, 0.01),
    "lambda_": SettingRange("trace decay λ", 0, 1, 0.05),
    "n": SettingRange("steps n", 1, 50, 1),
    "sweeps": SettingRange("sweeps of an evaluation", 0, 50, 1),
    "c": SettingRange("width of the bound c", 0, 5, 0.1),
    "h": SettingRange("time step h", 0.01, 1, 0.01),
    "step": SettingRange("step size", 0.1, 20, 0.1),
}

# The step size of an algorithm that accepts only a constant.
_PLAIN_ALPHA = SettingRange("step size α", 0.01, 1, 0.01)


@cache
def settings_of(method: str) -> dict[str, SettingRange]:
    """Return the settings of an algorithm that can be chosen, with their defaults.

    Args:
        method: One of :data:`~solvent.tabular.ALGORITHMS`.
    """
    algorithm = ALGORITHMS[method]
    found = {}
    for name in algorithm.settings.keys() & _SETTINGS.keys():
        one, own = _SETTINGS[name], algorithm.settings[name]
        if name == "alpha" and algorithm.run.__annotations__["alpha"] is float:
            one = _PLAIN_ALPHA
        found[name] = one if one.default is not None else one._replace(default=own)
    return {name: found[name] for name in _SETTINGS if name in found}


def read_settings(query: Query, method: str) -> dict[str, float]:
    """Read the settings of an algorithm from an address.

    Args:
        query: The part of the address after its question mark.
        method: One of :data:`~solvent.tabular.ALGORITHMS`.

    Raises:
        ValueError: If a setting is not a number within its range.
    """
    chosen = {}
    for name, one in settings_of(method).items():
        text = query.get(name, "").strip()
        plain = text.isascii() and text.replace(".", "", 1).isdecimal() and len(text) < 16
        if text and not (plain and one.low <= float(text) <= one.high):
            raise ValueError(
                f"{name} is {shown(text)}; allowed are numbers from {one.low:g} to {one.high:g}"
            )
        assert one.default is not None
        value = float(text) if text else one.default
        chosen[name] = int(value) if one.step == 1 else value
    return chosen


def methods_for(table: TabularGame) -> dict[str, TabularAlgorithm]:
    """Return the algorithms that fit a game, by name, value iteration first.

    Args:
        table: The game.
    """
    first = [ALGORITHMS["value_iteration"]]
    return {one.name: one for one in (*first, *ALGORITHMS.values()) if one.fits(table)}


@dataclass(frozen=True, eq=False)
class Frame:
    """The progress of an algorithm.

    Attributes:
        count: The number of sweeps or episodes.
        values: [S] the algorithm's estimates, to player 0; of an algorithm without any, the values
            of its policy.
        pi: [S, A] the policy of player 0 that is shown.
        distance: The distance from what is sought, by :attr:`Course.distance`.
        start: The value of the start, by the estimates or of the greedy policy.
    """

    count: int
    values: Floats
    pi: Floats
    distance: float
    start: float


class Course:
    """The course of an algorithm, frame by frame.

    Args:
        solved: The game with its table and its optimum.
        method: One of :data:`~solvent.tabular.ALGORITHMS`.
        seed: The seed of its random numbers.
        settings: Names and values of its settings; the defaults of :func:`settings_of` if empty.

    Attributes:
        algorithm: The algorithm.
        along: The unit that is counted.
        quantity: The meaning of :attr:`Frame.distance`, of
            :data:`~solvent.tabular.exact_curves.QUANTITIES`: for the values of a given policy, and
            for planning, the error of the values; for a game for two the exploitability; otherwise
            the gap of the greedy policy.
        distance: Name of the measured distance, in words.
        exact: [S] the exact values, to player 0.
        exact_start: The exact value of the start.
        frames: The frames computed so far.
        ended: The reason why no more will follow, in a sentence; empty if that is not known.
        note: A remark beside it; empty if there is none.

    Raises:
        ValueError: If the table is too large, or the algorithm does not fit it.
    """

    def __init__(
        self,
        solved: SolvedTable,
        method: str,
        seed: int,
        settings: tuple[tuple[str, float], ...] = (),
    ) -> None:
        table, algorithm = solved.table, ALGORITHMS[method]
        check_choice(method, "method", methods_for(table))
        if table.n_states > MOST_STATES:
            raise ValueError(
                f"algorithms are shown for games of up to {MOST_STATES:,} states; "
                f"{table.info.name} has {table.n_states:,}"
            )
        notes = []
        self.exact = solved.solution.values
        if table.info.players == 2 and algorithm.takes != BOTH_PLAYERS:
            table = against(table, solved.solution.policies[1])
            other = words(solved.game).player_name(1)
            notes.append(f"{other[:1].upper()}{other[1:]} plays optimally.")
        self.given = {"pi": TabularPolicy.uniform(table), "b": TabularPolicy.uniform(table)}
        if "pi" in algorithm.policies and "b" in algorithm.policies:
            self.given["pi"] = solved.solution.policies[0]
            notes.append("It acts at random and evaluates the optimal policy.")
        elif "pi" in algorithm.policies:
            self.exact = policy_value(table, self.given["pi"])
            notes.append("It evaluates the policy that takes each action equally often.")
        self.quantity = "gap"
        if algorithm.takes == TABLE or "pi" in algorithm.policies:
            self.quantity = "rms"
        elif algorithm.takes == BOTH_PLAYERS:
            self.quantity = "exploitability"
        self.table, self.algorithm, self.along = table, algorithm, algorithm.unit
        self.distance = QUANTITIES[self.quantity]
        # The gap is the difference of the value from the optimum.
        measured = self.quantity
        if self.quantity == "gap":
            self.distance, measured = f"{self.distance} of the greedy policy", "value"
        self.note, self.ended = " ".join(notes), ""
        self._measured = measure(table, measured, values=self.exact)
        self._optimum = solved.value
        self.exact_start = float(table.at_start(self.exact))
        self.frames: list[Frame] = []
        self._steps = 0
        self._counts = range(1, MOST_SWEEPS + 1) if algorithm.takes == TABLE else EPISODES
        given = dict(settings or read_settings({}, method).items())
        self._following = self._watched(self._begun(seed, given))

    def frame(self, number: int) -> Frame:
        """Return a frame, or the last one if there are fewer.

        Args:
            number: The number of the frame, from 1.
        """
        self.frames += islice(self._following, max(number - len(self.frames), 0))
        return self.frames[:number][-1]

    def _begun(self, seed: int, settings: dict[str, Any]) -> Iterator[Estimate]:
        """Begin the algorithm, and count the steps that it takes."""
        algorithm = self.algorithm
        if settings.get("alpha") == _FALLING:
            settings["alpha"] = lambda n: n**-STEP_SIZE_EXPONENT
        if algorithm.seeded:
            settings["rng"] = np.random.default_rng(seed)
        policies = [self.given[name] for name in algorithm.policies]
        if algorithm.takes in (TABLE, BOTH_PLAYERS):
            for estimate in algorithm.run(self.table, *policies, **settings):
                # A sweep solves or plays the matrix game of each state.
                self._steps += _MATRIX_GAME * self.table.n_states * (algorithm.takes != TABLE)
                yield estimate
            return
        env = RecordEpisodeStatistics(
            TimeLimit(Env(self.table, observation="index"), _LONGEST_EPISODE)
        )
        for estimate in algorithm.run(env, *policies, **settings):
            self._steps += env.length_queue[-1]
            yield estimate

    def _watched(self, estimates: Iterator[Estimate]) -> Iterator[Frame]:
        """Measure the estimates at the counts that are shown."""
        most = self._counts[-1]
        count = 0
        try:
            for count, estimate in enumerate(islice(estimates, most), 1):
                tired = self._steps >= MOST_STEPS
                if count in self._counts or tired:
                    yield self._frame(count, estimate)
                if tired:
                    self.ended = f"Nothing is shown after {self._steps:,} steps."
                    return
        except ValueError as error:
            self.ended = f"{str(error)[:1].upper()}{str(error)[1:]}."
            if not self.frames:
                raise
            return
        self.ended = f"No more than {most} {self.along} are shown."
        if count < most:
            self.ended = "It has converged."
            if count not in self._counts:
                yield self._frame(count, estimate)

    def _frame(self, count: int, estimate: Estimate) -> Frame:
        """Measure an estimate, and copy what is shown of it."""
        table, pi = self.table, estimate.pi
        first = pi[0] if isinstance(pi, tuple) else pi
        if estimate.Q is not None:
            first = epsilon_greedy(estimate.Q)
        if first is None:
            first = np.zeros(table.mask[0].shape)
        policy = np.array(first.probabilities if isinstance(first, TabularPolicy) else first)
        values = estimate.values
        if values is None:
            values = policy_value(table, TabularPolicy.of(table, policy, player=0))
        if self.quantity == "gap":
            start = self._measured(estimate)
            distance = max(self._optimum - start, 0.0)
        else:
            start, distance = float(table.at_start(values)), self._measured(estimate)
        return Frame(count, np.array(values), policy, distance, start)

    def curve(self, now: Frame) -> str:
        """The distance as SVG, as far as somebody has looked.

        Args:
            now: The frame that is marked.
        """
        counts, distances = zip(*((one.count, one.distance) for one in self.frames), strict=True)
        x = Axis(1, max(counts[-1], 10), logarithmic=self.algorithm.takes != TABLE)
        y = gap_axis(distances, unbounded=True)
        panel = Panel(self.distance, self.distance, x, y, self.along)
        panel.line(counts, distances, "var(--series-0)", self.distance, dashed=False)
        panel.dots(counts, distances, "var(--series-0)")
        text = f"{self.along} {now.count}: {small(now.distance)}"
        ring = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"
        mark = [now.count], [now.distance]
        panel.line(*mark, "var(--series-1)", text, dashed=False, shape=ring)
        return panel.drawn()


course_of = lru_cache(maxsize=4)(Course)
"""Make a course, or return the kept one for the same arguments of `Course`."""


def watched(solved: SolvedTable, found: StateMap, query: Query) -> tuple[str, dict[str, Any]]:
    """Return the title of the page on an algorithm, and the variables of its template.

    Args:
        solved: The game with its table and its optimum.
        found: The map of its states.
        query: The address: ``method``; the settings of :func:`read_settings`, and ``of``, the
            algorithm that they are for; ``seed``; ``frame``, a number; ``o0`` and so on, the
            numbers of the values of the fields that the pictures fix.

    Raises:
        ValueError: If a setting is not allowed, or the game is too large.
    """
    methods = methods_for(solved.table)
    method = check_choice(query.get("method") or next(iter(methods)), "method", methods)
    # Settings of the previously chosen algorithm are ignored.
    own = query.get("of", method) == method
    seed = number(query, "seed", 0, 0, _LARGEST_SEED)
    asked = number(query, "frame", 1, 1, MOST_SWEEPS + 1)
    chosen = {
        n: number(query, f"o{n}", 0, 0, len(one.values) - 1)
        for n, one in enumerate(found.fields)
        if f"o{n}" in query
    }
    chosen_settings = read_settings(query if own else {}, method)
    course = course_of(solved, method, seed, tuple(chosen_settings.items()))
    frame = course.frame(asked)
    best = solved.solution.policies[0].probabilities
    target = course.given["pi"].probabilities if "pi" in course.algorithm.policies else best
    part = slice_of(found, chosen)
    both = np.concatenate((frame.values[found.states], course.exact[found.states]))
    finite = both[np.isfinite(both)]
    scale = float(finite.min()), float(finite.max())  # One scale for both pictures.
    pictures = [
        (caption, part.drawn(found, caption, values, pi, scale))
        for caption, values, pi in (
            ("estimated value", frame.values, frame.pi),
            ("exact value", course.exact, target),
        )
    ]
    return course.algorithm.title, {
        "game": query.get("game", ""),
        "method": method,
        "methods": methods,
        "settings": settings_of(method),
        "chosen_settings": chosen_settings,
        "seed": seed,
        "seeded": course.algorithm.seeded,
        "now": min(asked, len(course.frames)),
        "frame": frame,
        "course": course,
        "finite": isfinite(frame.start),
        "curve": course.curve(frame),
        "pictures": pictures,
        "fixed": {f"o{n}": (found.fields[n], place) for n, place in part.fixed.items()},
        "address": {f"o{n}": place for n, place in part.fixed.items()} | chosen_settings,
        "omitted": found.omitted,
    }


@dataclass(frozen=True, eq=False)
class Slice:
    """The part of a map in which all fields but two have one value each.

    Attributes:
        across: The field along the columns.
        up: The field along the rows; empty if there is one row only.
        columns: The values of `across`.
        rows: The values of `up`, from the bottom, but rows of a board from the top.
        cells: [R, C] the number of a cell of the map, -1 where there is none.
        fixed: The number of the value of each other field.
    """

    across: str
    up: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: Ints
    fixed: Mapping[int, int]

    def drawn(
        self, found: StateMap, title: str, values: Floats, pi: Floats, scale: tuple[float, float]
    ) -> str:
        """Return values and policy as SVG; ends have a colour of their own.

        Args:
            found: The map.
            title: The name of the values.
            values: [S] the value of each state.
            pi: [S, A] the probabilities of player 0's actions.
            scale: The values of the darkest and the brightest colour.
        """
        everything = np.concatenate((values[found.states], found.value[len(found.states) :]))
        template = templates("solvent.explore").get_template("cells.html.j2")
        return template.render(
            slice=self,
            from_top=self.up == ROW,
            title=title,
            scale=scale,
            first_end=len(found.states),
            values=everything,
            texts=self._texts(found, everything, pi),
            drawn=[
                (row, column, at)
                for row, column in np.argwhere(self.cells >= 0).tolist()
                for at in [int(self.cells[row, column])]
                if at >= len(found.states) or isfinite(everything[at])
            ],
            colours=[shade(VIRIDIS, n / 23) for n in range(24)],
            shade=partial(shade, VIRIDIS),
            bar=bar,
            keys=keys,
        ).strip()

    def _texts(self, found: StateMap, values: Floats, pi: Floats) -> dict[int, str]:
        """The text in each cell: the reward of an end, or the value and the best actions."""
        info, legal = found.table.info, found.table.mask[0]
        names = unique_names(info)
        by_name = dict(zip(names, signs(names, (self.across, self.up) == BOARD), strict=True))
        marks = [by_name[name] for name in info.actions[0]]
        texts = {}
        for at in self.cells[self.cells >= 0].tolist():
            if at >= len(found.states):
                text = f"{values[at]:g}" if isfinite(values[at]) else ""
            else:
                state = found.states[at]
                taken = np.flatnonzero(pi[state] > pi[state].max() - 1e-9)
                text = "".join(marks[a] for a in taken) if len(taken) < legal[state].sum() else ""
                if len(self.columns) <= _WIDEST and isfinite(values[at]):
                    text = f"{values[at]:.2f}{text}"
            texts[at] = signed(text)
        return texts


def slice_of(found: StateMap, chosen: Mapping[int, int]) -> Slice:
    """Return a slice over the two fields with which a map begins.

    Args:
        found: The map.
        chosen: The numbers of the values of some other fields; the rest have those of the slice
            with most cells, of the slices with a start if there are any.
    """
    begin, told = axes(found), found.fields
    across, up = begin[0], begin[-1]
    inside = np.ones(len(found.value), bool)
    fixed: dict[int, int] = {}
    others = (n for n in range(len(told)) if n not in (across, up))
    for n in sorted(others, key=lambda n: n not in chosen):
        begins = inside & found.start
        places = told[n].place[begins if begins.any() else inside]
        fixed[n] = chosen.get(n, int(np.bincount(places, minlength=1).argmax()))
        inside &= told[n].place == fixed[n]
    one_row = across == up
    rows, columns = ("",) if one_row else told[up].texts, told[across].texts
    cells = np.full((len(rows), len(columns)), -1)
    at = np.flatnonzero(inside)
    cells[0 if one_row else told[up].place[at], told[across].place[at]] = at
    return Slice(told[across].name, "" if one_row else told[up].name, columns, rows, cells, fixed)
