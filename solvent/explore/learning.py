"""Algorithms of :mod:`solvent.tabular` as they go, beside the exact solution.

Value iteration is shown after each sweep, and what learns from episodes after numbers of them that
grow in equal ratios. An algorithm goes on only as far as somebody looks. In a game for two player 1
plays optimally, so that there is one player left who learns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from solvent.baselines.q_learning import EPSILON, STEP_SIZE_EXPONENT
from solvent.envs import TabularEnv
from solvent.exact import SolvedTable
from solvent.model import TabularGame, against
from solvent.model.arrays import Floats
from solvent.model.text import small
from solvent.report.panel import Axis, Panel, gap_axis
from solvent.tabular import Estimate, measure, q_learning, sarsa, value_iteration
from solvent.tabular.exact_curves import QUANTITIES

MOST_SWEEPS = 200
MOST_NUMBERS = 20_000_000
"""Values that are kept."""

EPISODES = tuple(n * 10**k for k in range(6) for n in (1, 2, 5))
"""After how many episodes what learns from them is shown."""

MOST_STEPS = 200_000
"""The most steps of all episodes together; the episode that reaches them is shown last."""

LONGEST_EPISODE = 10_000
"""Steps after which an episode is broken off: a bad policy may go on for ever."""

MOST_STATES = 100_000
"""The most states of a table on which the greedy policy is evaluated again and again."""

LEARNING: dict[str, Any] = {"alpha": lambda n: n**-STEP_SIZE_EXPONENT, "epsilon": EPSILON}
"""The settings of what learns, which are those of the compiled Q-learning."""


Learner: TypeAlias = Callable[..., Iterator[Estimate]]


class Method(NamedTuple):
    """An algorithm that can be watched.

    Attributes:
        name: The name of the algorithm.
        learn: The function that begins it in an environment; None for value iteration.
    """

    name: str
    learn: Learner | None = None


METHODS: Mapping[str, Method] = {
    "value-iteration": Method("Value iteration"),
    "q-learning": Method("Q-learning", q_learning),
    "sarsa": Method("Sarsa", sarsa),
}
"""The algorithms by their words in an address."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The progress of an algorithm.

    Attributes:
        count: The number of sweeps or episodes.
        values: [S] the algorithm's estimates, to player 0.
        distance: The distance from the optimum: for value iteration the error of its values, for a
            learner the gap of its greedy policy.
        start: The value of the start, by the estimates or of the greedy policy.
    """

    count: int
    values: Floats
    distance: float
    start: float


class Course:
    """The course of an algorithm, frame by frame.

    Args:
        solved: The game with its table and its optimum.
        method: One of :data:`METHODS`.
        seed: The seed of a learner.

    Attributes:
        along: The unit that is counted.
        distance: The meaning of :attr:`Frame.distance`, in words.
        frames: The frames computed so far.
        ended: The reason why no more will follow, in a sentence; empty if that is not known.
        note: A remark beside it; empty if there is none.

    Raises:
        ValueError: If the table is too large.
    """

    def __init__(self, solved: SolvedTable, method: str, seed: int) -> None:
        table, learn = solved.table, METHODS[method].learn
        most = MOST_STATES if learn else MOST_NUMBERS
        if table.n_states > most:
            raise ValueError(
                f"{METHODS[method].name} is shown for games of up to {most:,} states; "
                f"{table.info.name} has {table.n_states:,}"
            )
        self.note = ""
        if table.info.players == 2:
            table = against(table, solved.solution.policies[1])
            self.note = "Player 1 plays optimally."
        self.along, self.distance = "sweeps", QUANTITIES["rms"]
        if learn:
            self.along, self.distance = "episodes", f"{QUANTITIES['gap']} of the greedy policy"
        self.frames: list[Frame] = []
        self.ended = ""
        self._following = (
            self._learned(table, learn, seed, solved.value)
            if learn
            else self._planned(table, solved.solution.values)
        )

    def frame(self, number: int) -> Frame:
        """Return a frame, or the last one if there are fewer.

        Args:
            number: The number of the frame, from 1.
        """
        self.frames += islice(self._following, max(number - len(self.frames), 0))
        return self.frames[:number][-1]

    def _planned(self, table: TabularGame, exact: Floats) -> Iterator[Frame]:
        error = measure(table, "rms", values=exact)
        most = min(MOST_SWEEPS, MOST_NUMBERS // table.n_states)
        for count, estimate in enumerate(islice(value_iteration(table), most), 1):
            values = np.array(estimate.V)
            yield Frame(count, values, error(estimate), table.at_start(values))
        self.ended = (
            f"No more than {most} sweeps are shown." if count == most else "It has converged."
        )

    def _learned(
        self, table: TabularGame, learn: Learner, seed: int, optimum: float
    ) -> Iterator[Frame]:
        env = RecordEpisodeStatistics(
            TimeLimit(TabularEnv(table, observation="index"), LONGEST_EPISODE)
        )
        value, steps = measure(table, "value"), 0
        estimates = learn(env, rng=np.random.default_rng(seed), **LEARNING)
        for count, estimate in enumerate(islice(estimates, EPISODES[-1]), 1):
            steps += env.length_queue[-1]
            if count in EPISODES or steps >= MOST_STEPS:
                start = value(estimate)
                yield Frame(count, np.array(estimate.values), max(optimum - start, 0.0), start)
            if steps >= MOST_STEPS:
                break
        self.ended = f"After {steps:,} steps no more is shown."

    def curve(self, now: Frame) -> str:
        """The distance from the optimum as SVG, as far as somebody has looked.

        Args:
            now: The frame that is marked.
        """
        counts, distances = zip(*((one.count, one.distance) for one in self.frames), strict=True)
        x = Axis(1, max(counts[-1], 10), logarithmic=self.along == "episodes")
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
