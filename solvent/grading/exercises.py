"""Exercises: what is asked of a student, as small data files that anyone can write.

An exercise is a file of TOML::

    format = 1
    name = "lake-policy"
    title = "Across the frozen lake"
    question = "Which policy reaches the goal most often?"
    environment = "FrozenLake-v1"
    asks = "policy"
    points = [[1e-6, 10], [0.05, 6], [0.2, 3]]

The keys are the attributes of :class:`Exercise`. A package lists its exercises among its entry
points, each with the package in whose folder ``<name>.toml`` is::

    [project.entry-points."solvent.exercises"]
    lake-policy = "my_course.exercises"

**The rule of points.** ``points`` is a list of pairs ``[gap, points]``, gaps ascending and points
descending. Who hands in a gap of at most the first gets the first points, and so on; beyond the
last there are none. The gap is in the units of the rewards. It is

- of a policy, the optimality gap: what it is below the optimum at the start; in a game for two
  against a best response, which is its exploitability;
- of values or action values, the largest error in a state, or in a state with a legal action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from solvent.benchmark.json_files import validated
from solvent.benchmark.suites import Task, task_game
from solvent.exact import Solution, cached_solution, policy_value
from solvent.model import Game, TabularGame, TabularPolicy, cached_table
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.files import find_data, read_data
from solvent.model.gymnasium_table import GymnasiumTable
from solvent.model.parameters import check_choice, check_integer, shown
from solvent.model.registry import check_registered, make_game
from solvent.model.transforms import discounted

GROUP = "solvent.exercises"
"""The group of entry points under which packages declare their exercises."""

ASKS = ("policy", "values", "action_values")
"""The kinds of answers that can be asked for."""

OF = ("optimal", "uniform")
"""The policies whose values can be asked for."""

MOST_STEPS = 100
"""Pairs of a gap and points in an exercise."""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """A question to a student.

    Attributes:
        name: The name of the exercise.
        title: The title, in one line.
        question: The question, in words.
        asks: ``"policy"``, ``"values"`` or ``"action_values"``.
        points: Pairs ``(gap, points)``, as the module says; gaps above 0.
        game: The name of a game, as :func:`solvent.make_game` takes it. In a game for two the
            policy is scored against a best response.
        parameters: The parameters of the game.
        environment: Gymnasium id, instead of `game`, of an environment that has a table,
            one of Gymnasium's own such as ``"FrozenLake-v1"`` included. In a game for two the
            policy is scored against the environment's opponent.
        env_kwargs: Arguments of the environment.
        discount: The factor by which each move discounts later rewards, above 0 and up to 1.
        player: The player whose policy or values are asked for in a two-player `game`, 0 or 1.
        of: The policy whose values are asked for: an ``"optimal"`` policy, or the ``"uniform"``
            one, which takes each legal action with equal probability.

    Raises:
        ValueError: If one is not allowed.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    name: str
    title: str
    asks: str
    points: Sequence[tuple[float, float]]
    question: str = ""
    game: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: str = ""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    discount: float = 1.0
    player: int = 0
    of: str = "optimal"

    def __post_init__(self) -> None:
        """Check the values; their types are checked where a file is read."""
        check_choice(self.asks, "asks", ASKS)
        check_choice(self.of, "of", OF)
        check_integer(self.player, "player", 0, 1)
        for is_wrong, said in (
            (
                bool(self.game) == bool(self.environment),
                f"game is {shown(self.game)} and environment {shown(self.environment)}; expected "
                f"is one of the two",
            ),
            (
                self.asks == "policy" and self.of != "optimal",
                f"of is {shown(self.of)}; a policy is asked for, which is no one's",
            ),
            (
                self.environment and self.player,
                "player is 1; the seat of an environment is in env_kwargs: seat = 1",
            ),
            (
                not 0 < self.discount <= 1,
                f"discount is {shown(self.discount)}; allowed are numbers above 0 and up to 1",
            ),
            (
                not _is_scale(self.points),
                f"points is {shown(self.points)}; expected are 1 to {MOST_STEPS} pairs "
                f"[gap, points], gaps ascending above 0 and points descending above 0",
            ),
        ):
            if is_wrong:
                raise ValueError(said)

    @property
    def out_of(self) -> float:
        """The most points that it gives."""
        return float(self.points[0][1])

    def points_for(self, gap: float) -> float:
        """The points that a gap gets, as the module says.

        Args:
            gap: 0 or above, up to rounding; none are given for infinity and NaN.
        """
        return next((float(points) for most, points in self.points if gap <= most), 0.0)

    @cached_property
    def subject(self) -> Subject:
        """The game and its solution, which are found when they are first asked for.

        Raises:
            ValueError: If there is no such game or environment, a parameter is not allowed, or what
                is asked for is not defined in it; the message names the exercise.
        """
        try:
            return _subject(self)
        except ValueError as error:
            raise ValueError(f"exercise {self.name}: {error}") from error


def _is_scale(points: Sequence[tuple[float, float]]) -> bool:
    """Return whether gaps ascend and points descend, all of them finite and above 0."""
    falling = [(-gap, own) for gap, own in points]
    ordered = all(b < a for one, two in pairwise(falling) for a, b in zip(one, two, strict=True))
    above = all(0 < x < inf for pair in points for x in pair)
    return 0 < len(points) <= MOST_STEPS and ordered and above


@dataclass(frozen=True, eq=False)
class Subject:
    """The subject of an exercise, as tables.

    An answer has a row for each state by the number under which the environment shows it with
    ``observation="index"``: its place in the table, or in an environment of Gymnasium's own the
    number there.

    Attributes:
        rules: The rules of the game that is played.
        table: The table on which an answer is scored, S states; an opponent is folded into chance,
            and a discount into the end of episodes.
        played: The table of the game that is played, whose policies are accepted too.
        player: The player whose policy or values are asked for.
        row: [S] the row of an answer that belongs to each state; of a state in which the episode
            has ended, any.
        rows: The number of rows of an answer.
        expected: The correct values, [S] values or [S, A] action values; None for a policy.
    """

    rules: Game
    table: TabularGame
    played: TabularGame
    player: int
    row: Ints
    rows: int
    expected: Floats | None = None

    @cached_property
    def solution(self) -> Solution:
        """The optimum of `table`."""
        return cached_solution(self.table)

    @property
    def mask(self) -> Bools:
        """[S, A] the legal actions of the player."""
        return self.table.mask[self.player]


def _subject(exercise: Exercise) -> Subject:
    player = exercise.player
    if exercise.game:
        rules = make_game(exercise.game, **exercise.parameters)
        table = played = cached_table(rules)
    else:
        task = task_game(Task(environment=exercise.environment, env_kwargs=exercise.env_kwargs))
        rules, table, played = task.rules, task.table, task.played
        [player] = task.seats
    if player >= rules.info.players:
        raise ValueError(f"player is {player}; {rules.info.name} is a game for one")
    row, rows = np.arange(table.n_states), table.n_states
    if isinstance(rules, GymnasiumTable):
        row = np.array([state.number for state in table.states])  # type: ignore[attr-defined]
        rows = len(rules.transitions)
    table = discounted(table, exercise.discount)
    # A discount has an end of its own, the last state, in which nothing is asked.
    row = np.pad(row, (0, table.n_states - len(row)))
    subject = Subject(rules, table, played, player, row, rows)
    if exercise.asks == "policy":
        return subject
    return replace(subject, expected=_expected(subject, exercise))


def _expected(subject: Subject, exercise: Exercise) -> Floats:
    """[S] the values, or [S, A] the action values, that are asked for, to the player."""
    table, player = subject.table, subject.player
    for_two = (table.action_count[1 - player] > 1).any()
    if for_two and (exercise.of == "uniform" or exercise.asks == "action_values"):
        raise ValueError(
            f"asks for {exercise.asks} of {exercise.of} play; in a game for two, where the other "
            f"player chooses too, only optimal values are defined"
        )
    sign = 1 if player == 0 else -1
    if exercise.of == "uniform":
        values = policy_value(table, TabularPolicy.uniform(table, player=player))
        action_values = table.expectation(values)
    else:
        values, action_values = subject.solution.values, subject.solution.action_values
    if exercise.asks == "values":
        expected = sign * values
    else:
        width = subject.mask.shape[1]
        place = table.row_state * width + table.row_action[player]
        flat = grouped_sum(place, sign * action_values, table.n_states * width)
        expected = flat.reshape(table.n_states, width)
    if not np.isfinite(expected[~table.terminal]).all():
        raise ValueError(f"the {exercise.asks} of the {exercise.of} policy are not all finite")
    return np.asarray(expected)


def find_exercise(name: str | Path | Exercise, *, trust: bool = False) -> Exercise:
    """An exercise by its name, or from a file.

    Args:
        name: One that a package declares, or a path that ends in ``.toml``; an exercise is
            returned as it is.
        trust: Whether a file may name its game by the place of its code, which then runs.

    Raises:
        ValueError: If there is no such exercise, its file is not one of an exercise, or names such
            a game without `trust`; the message names the file.
    """
    if isinstance(name, Exercise):
        return name
    if not isinstance(name, (str, Path)):
        raise ValueError(f"exercise is {shown(name)}; allowed are a name, a path and an Exercise")
    if str(name).endswith(".toml"):
        return _exercise(read_data(Path(name)), str(name), trust=trust)
    return _declared(str(name))


@cache
def _declared(name: str) -> Exercise:
    """An exercise of a package, whose game is then solved once in a process."""
    return _exercise(*find_data(name, GROUP, "exercise"), trust=True)


def _exercise(held: Mapping[str, Any], where: str, *, trust: bool) -> Exercise:
    exercise = validated(Exercise, {key: held[key] for key in held if key != "format"}, where)
    try:
        check_registered(exercise.game, "game", trust=trust)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return exercise
