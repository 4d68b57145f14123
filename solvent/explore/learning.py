"""Algorithms of :mod:`solvent.tabular` as they go, beside the exact values.

Every algorithm of :data:`solvent.tabular.ALGORITHMS` that fits a game can be watched: planning is
shown after each sweep, everything else after numbers of sweeps or episodes that grow in equal
ratios. An algorithm goes on only as far as somebody looks. In a game for two the second player
plays optimally while an algorithm for one player learns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from solvent.baselines.q_learning import EPSILON, STEP_SIZE_EXPONENT
from solvent.envs import Env
from solvent.exact import SolvedTable
from solvent.exact.evaluation import policy_value
from solvent.explore.line import Query, number, one_of
from solvent.explore.subject import Cells, drawn, slice_cells, span_of
from solvent.model import TabularGame, TabularPolicy, against
from solvent.model.arrays import Floats
from solvent.model.game import words
from solvent.model.parameters import check_choice, shown
from solvent.model.text import small
from solvent.report.panel import Axis, Panel, gap_axis
from solvent.report.state_map import BOARD, StateMap, signs
from solvent.report.state_map import action_names as unique_names
from solvent.tabular import ALGORITHMS, Estimate, TabularAlgorithm, epsilon_greedy, measure
from solvent.tabular.exact_curves import QUANTITIES
from solvent.tabular.registry import BOTH_PLAYERS, TABLE

MOST_SWEEPS = 200
MOST_NUMBERS = 20_000_000
"""Values that are kept."""

EPISODES = tuple(n * 10**k for k in range(6) for n in (1, 2, 5))
"""After how many episodes what learns from them is shown."""

MOST_STEPS = 200_000
"""The most steps of all episodes together; the one that reaches them is shown last."""

MATRIX_GAME = 3
"""The steps for which an update of a matrix game counts."""

LARGEST_SEED = 10**9
"""The largest seed of an algorithm."""

LONGEST_EPISODE = 10_000
"""Steps after which an episode is broken off: a bad policy may go on for ever."""

MOST_STATES = 100_000
"""The most states of a table on which policies are evaluated again and again."""

WIDEST = 10
"""The most columns in whose cells a number is written beside the arrow."""


class Setting(NamedTuple):
    """A setting of an algorithm that can be chosen.

    Attributes:
        name: Its name in words.
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


FALLING = 0.0
"""The step size that stands for the falling one of the compiled Q-learning."""

SETTINGS: Mapping[str, Setting] = {
    "alpha": Setting(f"step size α, 0 for 1/n^{STEP_SIZE_EXPONENT}", 0, 1, 0.01, FALLING),
    "epsilon": Setting("exploration ε", 0, 1, 0.01, EPSILON),
    "explore": Setting("exploration", 0, 1, 0.01),
    "lambda_": Setting("trace decay λ", 0, 1, 0.05),
    "n": Setting("steps n", 1, 50, 1),
    "sweeps": Setting("sweeps of an evaluation", 0, 50, 1),
    "c": Setting("width of the bound c", 0, 5, 0.1),
    "h": Setting("time step h", 0.01, 1, 0.01),
    "step": Setting("step size", 0.1, 20, 0.1),
}
"""The settings that can be chosen, by the parameter of an algorithm."""

PLAIN_ALPHA = Setting("step size α", 0.01, 1, 0.01)
"""The step size of an algorithm that takes a constant only."""


@cache
def settings_of(method: str) -> dict[str, Setting]:
    """Return the settings of an algorithm that can be chosen, with their defaults.

    Args:
        method: One of :data:`~solvent.tabular.ALGORITHMS`.
    """
    algorithm = ALGORITHMS[method]
    found = {}
    for name in algorithm.settings.keys() & SETTINGS.keys():
        one, own = SETTINGS[name], algorithm.settings[name]
        if name == "alpha" and algorithm.run.__annotations__["alpha"] == "float":
            one = PLAIN_ALPHA
        found[name] = one if one.default is not None else one._replace(default=own)
    return {name: found[name] for name in SETTINGS if name in found}


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
        plans = algorithm.takes == TABLE and not algorithm.policies
        most = MOST_NUMBERS if plans else MOST_STATES
        if table.n_states > most:
            raise ValueError(
                f"{algorithm.title} is shown for games of up to {most:,} states; "
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
            notes.append("Acting at random, it evaluates the optimal policy.")
        elif "pi" in algorithm.policies:
            self.exact = policy_value(table, self.given["pi"])
            notes.append("It evaluates the policy that takes each action equally often.")
        self.quantity = "gap"
        if plans or "pi" in algorithm.policies:
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
        if settings.get("alpha") == FALLING:
            settings["alpha"] = lambda n: n**-STEP_SIZE_EXPONENT
        if algorithm.seeded:
            settings["rng"] = np.random.default_rng(seed)
        policies = [self.given[name] for name in algorithm.policies]
        if algorithm.takes in (TABLE, BOTH_PLAYERS):
            for estimate in algorithm.run(self.table, *policies, **settings):
                # A sweep solves or plays the matrix game of each state.
                self._steps += MATRIX_GAME * self.table.n_states * (algorithm.takes != TABLE)
                yield estimate
            return
        env = RecordEpisodeStatistics(
            TimeLimit(Env(self.table, observation="index"), LONGEST_EPISODE)
        )
        for estimate in algorithm.run(env, *policies, **settings):
            self._steps += env.length_queue[-1]
            yield estimate

    def _watched(self, estimates: Iterator[Estimate]) -> Iterator[Frame]:
        """Measure the estimates at the counts that are shown."""
        most = min(self._counts[-1], max(MOST_NUMBERS // self.table.n_states, 1))
        count = 0
        try:
            for count, estimate in enumerate(islice(estimates, most), 1):
                tired = self._steps >= MOST_STEPS
                if count in self._counts or tired:
                    yield self._frame(count, estimate)
                if tired:
                    self.ended = f"After {self._steps:,} steps no more is shown."
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


def watched(
    solved: SolvedTable,
    found: StateMap,
    query: Query,
) -> tuple[str, dict[str, Any]]:
    """Return the title of the page on an algorithm, and the variables of its template.

    Args:
        solved: The game with its table and its optimum.
        found: The map of its states.
        query: The address: ``method``; the settings of :func:`read_settings`, and ``of``, the
            algorithm that they are for; ``seed``; ``frame``, a number; ``x`` and ``y``, the numbers
            of two fields, and ``o0`` and so on, the numbers of the values of the others.

    Raises:
        ValueError: If a setting is not allowed, or the game is too large.
    """
    methods = methods_for(solved.table)
    method = check_choice(query.get("method") or next(iter(methods)), "method", methods)
    # Settings of another algorithm, which was chosen before, say nothing of this one.
    own = query.get("of", method) == method
    seed = number(query, "seed", 0, 0, LARGEST_SEED)
    asked = number(query, "frame", 1, 1, MOST_SWEEPS + 1)
    fields = range(len(found.fields))
    places = one_of(query, "x", fields), one_of(query, "y", fields)
    chosen = {
        n: number(query, f"o{n}", 0, 0, len(found.fields[n].values) - 1)
        for n in fields
        if f"o{n}" in query
    }
    chosen_settings = read_settings(query if own else {}, method)
    course = course_of(solved, method, seed, tuple(chosen_settings.items()))
    frame = course.frame(asked)
    live = found.states
    best = solved.solution.policies[0].probabilities
    target = course.given["pi"].probabilities if "pi" in course.algorithm.policies else best
    pictures = []
    low, high = span_of([frame.values[live], course.exact[live]])  # One scale for both pictures.
    for caption, values, pi in (
        ("estimated value", frame.values, frame.pi),
        ("exact value", course.exact, target),
    ):
        everything = np.concatenate((values[live], found.value[len(live) :]))
        cells, chosen = slice_cells(found, everything, *places, chosen)
        order = np.arange(len(everything), dtype=float)
        states, _ = slice_cells(found, order, *places, chosen)
        signed = replace(cells, signs=_signs(found, cells, states.value, pi))
        pictures.append((caption, drawn(signed, caption, low, high)))
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
        "fields": found.fields,
        "across": cells.across,
        "up": cells.up,
        "x": "" if places[0] is None else places[0],
        "y": "" if places[1] is None else places[1],
        "chosen": chosen,
        "omitted": found.omitted,
    }


def _signs(found: StateMap, cells: Cells, order: Floats, pi: Floats) -> dict[tuple[int, int], str]:
    """The most probable actions in the cells, and the numbers if there is room."""
    info = found.table.info
    names = unique_names(info)
    by_name = dict(zip(names, signs(names, (cells.across, cells.up) == BOARD), strict=True))
    marks = [by_name[name] for name in info.actions[0]]
    legal = found.table.mask[0]
    written = {}
    for row, column in np.argwhere(np.isfinite(order)).tolist():
        at = int(order[row, column])
        if at >= len(found.states):
            continue
        state = found.states[at]
        taken = np.flatnonzero(pi[state] > pi[state].max() - 1e-9)
        text = "".join(marks[a] for a in taken) if len(taken) < legal[state].sum() else ""
        value = cells.value[row, column]
        if len(cells.columns) <= WIDEST and isfinite(value):
            text = f"{value:.2f}{text}".replace("-", "−")
        written[row, column] = text
    return written
