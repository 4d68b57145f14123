"""Grades of answers to exercises: points, the exact gap, and the three states that cost most.

For a policy, the cost of a state is its share of the optimality gap (:func:`solvent.locate_gap`):
the expected number of visits times the loss of a visit. For values it is the error.

**Answers** are files of plain numbers that anybody may have written. An answer is one array, with a
row for each state by its number:

=================  =====================  ====================================================
asked for          shape                  numbers
=================  =====================  ====================================================
``policy``         [S] or [S, A]          the action of each state, or a probability for each
``values``         [S]                    the value of each state
``action_values``  [S, A]                 the value of each action in each state
=================  =====================  ====================================================

It comes as ``.npz`` with one array under any name (``numpy.savez("answer.npz", policy)``), or as
``.csv``: a line for each state with numbers between commas, in the order of the states. The first
line may be a header; if it names the actions, they must be in the order of the game.

Nothing in a file is believed, and nothing in it runs. Only regular files are opened, and no links,
which might lead to somebody else's answer. The size of the answer limits the size of the file
(:func:`largest_file`). Shapes are compared before anything is unpacked. So
the memory that reading takes is bounded by the exercise, whatever the file states.

**Exercises** say what is asked of a student, as small data files that anyone can write. An exercise
is a file of TOML::

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
descending. An answer whose gap is at most the first gets the first points, and so on; beyond the
last there are none. The gap is in the units of the rewards. It is

- for a policy, the optimality gap: the optimum at the start minus its value; in a two-player game
  its value is that against a best response, and the gap its exploitability;
- for values or action values, the largest error in a state, or of a legal action in a state.
"""

import csv
import io
import math
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from math import inf, isnan
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from solvent.benchmark.run_folder import validated
from solvent.benchmark.suites import Task, task_game
from solvent.exact import (
    CertificateError,
    ImproperGameError,
    Solution,
    cached_solution,
    locate_gap,
    policy_value,
)
from solvent.exact.archive import read_array
from solvent.exact.scoring import LEARNED, comparable_score
from solvent.model import Game, TabularGame, TabularPolicy, cached_table
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.files import StoreError, find_data, read_data, read_file, write_atomically
from solvent.model.gymnasium_table import numbers_of
from solvent.model.parameters import brief, check_choice, check_integer, printable, shown
from solvent.model.registry import check_registered, declared_names, make_game
from solvent.model.text import state_text
from solvent.model.transforms import DiscountedGame, discounted
from solvent.report.gap_attribution import losing_states
from solvent.scoring import policy_from

GROUP = "solvent.exercises"
"""The group of entry points under which packages declare their exercises."""

# The kinds of answers that can be asked for.
_ASKS = ("policy", "values", "action_values")

# The policies whose values can be asked for.
_OF = ("optimal", "uniform")

MOST_STEPS = 100
"""Largest number of pairs of a gap and points in an exercise."""


@dataclass(frozen=True, eq=False)
class ExerciseTables:
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
        check_choice(self.asks, "asks", _ASKS)
        check_choice(self.of, "of", _OF)
        check_integer(self.player, "player", 0, 1)
        for is_wrong, said in (
            (
                bool(self.game) == bool(self.environment),
                f"game is {shown(self.game)} and environment {shown(self.environment)}; expected "
                f"is one of the two",
            ),
            (
                self.asks == "policy" and self.of != "optimal",
                f"of is {shown(self.of)}; it is for values, and the exercise asks for a policy",
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

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes that an answer may have, as the module says.

        Raises:
            ValueError: As for `subject`.
        """
        of_actions = self.subject.rows, self.subject.mask.shape[1]
        allowed = {"policy": (of_actions[:1], of_actions), "values": (of_actions[:1],)}
        return allowed.get(self.asks, (of_actions,))

    @cached_property
    def subject(self) -> ExerciseTables:
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


def _subject(exercise: Exercise) -> ExerciseTables:
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
    table = discounted(table, exercise.discount)
    # A discount has an end of its own, the last state, in which nothing is asked.
    plain: Any = rules.game if isinstance(rules, DiscountedGame) else rules
    numbers = numbers_of(table)
    if numbers is not None:
        row, rows = numbers, len(plain.transitions)
    row = np.pad(row, (0, table.n_states - len(row)))
    subject = ExerciseTables(rules, table, played, player, row, rows)
    expected = None if exercise.asks == "policy" else _expected(subject, exercise)
    return replace(subject, expected=expected)


def _expected(subject: ExerciseTables, exercise: Exercise) -> Floats:
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
        # Only the player chooses, so that each action has one row.
        expected = np.zeros(subject.mask.shape)
        expected[table.row_state, table.row_action[player]] = sign * action_values
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
    return _exercise(*find_data(name, declared_names(GROUP), "exercise"), trust=True)


def _exercise(held: Mapping[str, Any], where: str, *, trust: bool) -> Exercise:
    exercise = validated(Exercise, {key: held[key] for key in held if key != "format"}, where)
    try:
        check_registered(exercise.game, "game", trust=trust)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return exercise


NUMBER = 32
"""Bytes of a file for each number of an answer: more than a float takes in any notation."""

BESIDE = 2**16
"""Bytes of a file for all else: the headers of an archive, the names of columns."""


def largest_file(shapes: tuple[tuple[int, ...], ...]) -> int:
    """Bytes that the file of an answer of these shapes may have."""
    return NUMBER * max(map(math.prod, shapes)) + BESIDE


def read_answer(
    path: str | Path, shapes: tuple[tuple[int, ...], ...], actions: Sequence[str] = ()
) -> NDArray[Any]:
    """Read an answer.

    Args:
        path: A file ``.npz`` or ``.csv``.
        shapes: The shapes that the array may have, as :attr:`Exercise.shapes` gives them.
        actions: The names of actions, by which another order of columns is recognized.

    Returns:
        Plain numbers of one of these shapes; they may be infinite or NaN.

    Raises:
        StoreError: If the file is missing, damaged, no regular file, too large, or holds something
            else.
    """
    path = Path(path)
    largest, kind = largest_file(shapes), path.suffix.lower()
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            raise StoreError(f"{path}: is a link or no regular file")
        if about.st_size > largest:
            raise StoreError(f"{path}: has {about.st_size:,} bytes; at most {largest:,} are read")
        if kind not in (".npz", ".csv"):
            raise StoreError(f"{path}: ends in {shown(path.suffix)}; allowed are .npz and .csv")
        if kind == ".npz":
            return read_array(path, shapes)
        return _read_csv(path, shapes, largest, actions)
    except StoreError:
        raise
    except (OSError, ValueError) as error:  # A path with a null character in it is none.
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"{path}: cannot be read ({why})") from error


def _read_csv(
    path: Path, shapes: tuple[tuple[int, ...], ...], largest: int, actions: Sequence[str]
) -> NDArray[Any]:
    # A spreadsheet may put a mark of the order of bytes before the text.
    text = read_file(path, largest).decode("utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and not lines[0].lstrip('" +-.')[:1].isdigit():
        [names] = csv.reader([lines.pop(0).lstrip("# ")], skipinitialspace=True)
        if len(names) == 1:  # NumPy writes the names of columns with spaces between them.
            names = names[0].split()
        names = [name.strip() for name in names]
        if sorted(names) == sorted(actions) and names != list(actions):
            raise StoreError(
                f"{path}: names the columns {shown(names)}; expected {', '.join(actions)}"
            )
    found = np.loadtxt(lines, delimiter=",", quotechar='"', ndmin=2) if lines else np.empty((0, 0))
    if found.shape[1] == 1 and found.shape[:1] in shapes:
        found = found[:, 0]
    if found.shape not in shapes:
        raise StoreError(
            f"{path}: has {len(lines)} lines of {found.shape[-1]} numbers; expected are numbers "
            f"of shape {' or '.join(map(str, shapes))}, a line for each state"
        )
    return found


# The number of costliest states that are told.
_TOLD = 3

# The number of actions of a mixed strategy that are named.
_NAMED = 4

# Largest number of characters of the reason why a file cannot be graded.
_LONGEST_PROBLEM = 500


@dataclass(frozen=True)
class Grade:
    """The grade of an answer.

    Attributes:
        exercise: The name of the exercise.
        points: The points given.
        out_of: The most that the exercise gives.
        gap: The optimality gap of a policy, or the largest error of values; infinite for a policy
            under which an episode may cost for ever, and NaN if such a policy has no value.
        text: An explanation, in lines.
    """

    exercise: str
    points: float
    out_of: float
    gap: float
    text: str

    def __str__(self) -> str:
        """The explanation."""
        return self.text


@dataclass(frozen=True)
class Graded:
    """A file that was to be graded.

    Attributes:
        file: The path, as it was given.
        grade: The grade of the answer; None if it cannot be graded.
        problem: The reason why it cannot, in a line; empty if it can.
    """

    file: str
    grade: Grade | None
    problem: str = ""


def grade(exercise: str | Path | Exercise, answer: Any, *, trust: bool = False) -> Grade:
    """Grade an answer exactly.

    Args:
        exercise: The name of an exercise, the path of its file, or an
            :class:`~solvent.grading.Exercise`.
        answer: An array with a row for each state, as the exercise numbers them
            (:mod:`solvent.grading.grades`): for a policy [S] actions or [S, A] probabilities, for
            values [S], for action values [S, A]. For a policy also a
            :class:`~solvent.model.TabularPolicy`, which :func:`solvent.policy_from` makes of
            functions and networks. An illegal action counts as the lowest legal one, as the
            environments have it.
        trust: Whether the file of the exercise may name its game by the place of its code, which
            then runs.

    Raises:
        ValueError: If there is no such exercise, or the answer has another shape or is none; the
            message names the state.
    """
    found = find_exercise(exercise, trust=trust)
    subject = found.subject
    if found.asks == "policy":
        return _of_policy(found, subject, _policy(found, subject, answer))
    return _of_values(found, subject, _array(found, subject, answer))


def grade_files(
    exercise: str | Path | Exercise, files: Iterable[str | Path], *, trust: bool = False
) -> Iterator[Graded]:
    """Grade many files, of which none is trusted and none stops the rest.

    One file is read at a time, and no code in it runs.

    Args:
        exercise: The exercise, as for :func:`grade`.
        files: The paths of answers.
        trust: Whether to trust the exercise, as for :func:`grade`; no answer is trusted.

    Yields:
        A line of the result for each file, in their order.

    Raises:
        ValueError: If there is no such exercise, or its game cannot be made.
    """
    found = find_exercise(exercise, trust=trust)
    subject = found.subject
    shapes, actions = found.shapes, subject.table.info.actions[subject.player]
    for file in files:
        try:
            got = grade(found, read_answer(file, shapes, actions))
        except Exception as error:  # Whatever one file does, the others are graded.
            told = str(error).removeprefix(f"{file}: ") or type(error).__name__
            yield Graded(str(file), None, printable(brief(told, _LONGEST_PROBLEM)))
        else:
            yield Graded(str(file), got)


def write_grades(path: str | Path, graded: Sequence[Graded]) -> None:
    """Write the results of many files as one table for a spreadsheet.

    A text that a spreadsheet would take for a formula has ``'`` before it, and what cannot be
    printed is written as Python would.

    Args:
        path: The file of CSV to write.
        graded: The results.

    Raises:
        StoreError: If the file cannot be written.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(["file", "points", "out of", "gap", "problem", "explanation"])
    for one in graded:
        got = one.grade
        figures = ["0", "", ""] if got is None else [got.points, got.out_of, got.gap]
        text = "" if got is None else got.text
        writer.writerow(
            [_cell(one.file), *map(str, figures), _cell(one.problem), _cell(text, lines=True)]
        )
    write_atomically(path, buffer.getvalue().encode())


TOLERANCE = 1e-3
"""The largest allowed difference between 1 and the sum of a state's probabilities."""

# The first characters of a cell that a spreadsheet computes.
_FORMULAS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001


def _cell(text: str, *, lines: bool = False) -> str:
    """A text as a cell of a table that spreadsheets open."""
    plain = printable(text, "\n" if lines else "")
    return f"'{plain}" if plain.lstrip().startswith(_FORMULAS) else plain


def _policy(exercise: Exercise, subject: ExerciseTables, answer: Any) -> TabularPolicy:
    """An answer as a policy for the table on which it is scored."""
    table, player = subject.table, subject.player
    if not isinstance(answer, TabularPolicy):
        rows = _array(exercise, subject, answer)
        _check_policy(subject, rows)
        rows[table.terminal] = 0
        return policy_from(table, rows.astype(int) if rows.ndim == 1 else rows, player=player)
    if answer.player != player:
        raise ValueError(f"the policy is of player {answer.player}; player {player}'s is asked for")
    if answer.model_hash == table.model_hash:
        return answer
    answer.check_is_for(subject.played)
    # A discount has an end of its own, the last state.
    beyond = table.n_states - len(answer.probabilities)
    return replace(
        answer,
        probabilities=np.pad(answer.probabilities, ((0, beyond), (0, 0))),
        model_hash=table.model_hash,
    )


def _check_policy(subject: ExerciseTables, rows: Floats) -> None:
    """Refuse [S] actions or [S, A] probabilities; name the first state with a wrong entry."""
    if rows.ndim == 1:
        actions = subject.table.info.actions[subject.player]
        right = np.isin(rows, np.arange(len(actions)))
        expected = ", ".join(f"{n} {name}" for n, name in enumerate(actions))
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            right = (rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= TOLERANCE)
        expected = f"a probability for each action, and 1 as their sum, within {TOLERANCE:g}"
    wrong = np.flatnonzero(~right & ~subject.table.terminal)
    if wrong.size:
        state = int(wrong[np.argmin(subject.row[wrong])])
        row = rows[state].tolist()
        told = f"{row:g}" if rows.ndim == 1 else f"{shown(row)}, whose sum is {sum(row):g}"
        raise ValueError(f"{_where(subject, state)} has {told}; expected {expected}")


def _array(exercise: Exercise, subject: ExerciseTables, answer: Any) -> Floats:
    """[S, ...] an answer's numbers for each state."""
    array = np.asarray(answer)
    if array.dtype.kind not in "biuf" or array.shape not in exercise.shapes:
        raise ValueError(
            f"the answer is {shown(answer)}, of shape {array.shape}; expected are numbers of shape "
            f"{' or '.join(map(str, exercise.shapes))}, a row for each state"
        )
    return array.astype(np.float64)[subject.row]


def _of_policy(exercise: Exercise, subject: ExerciseTables, policy: TabularPolicy) -> Grade:
    table, solution = subject.table, subject.solution
    score = comparable_score(table, policy, solution)
    gap = score.optimality_gap
    value = "not proved" if isnan(score.value) else f"{score.value:.6g}"
    lines = [f"The value of the policy is {value}, and the optimum {score.optimum:.6g}."]
    try:
        location = locate_gap(table, policy, solution, tolerance=LEARNED)
    except (CertificateError, ImproperGameError) as error:
        state = getattr(error, "state", None)
        told = (
            f"An episode never ends from {_where(subject, table.index[state])}."
            if state in table.index
            else f"Where the value is lost is not known: {brief(str(error))}"
        )
        return _told(exercise, gap, [*lines, told])
    losses = losing_states(table, policy, solution, location, _TOLD, _NAMED)
    if losses and gap > exercise.points[0][0]:
        lines.append("Most is lost in")
        for state, one in zip(location.ranked(_TOLD), losses, strict=True):
            lines.append(
                f"- {_where(subject, state)}: {one.chosen}, where {one.best} is best. "
                f"That costs {one.loss:.4g} each time, {one.contribution:.4g} in an episode, "
                f"{one.share:.0%} of the total."
            )
    return _told(exercise, gap, lines)


def _of_values(exercise: Exercise, subject: ExerciseTables, values: Floats) -> Grade:
    assert subject.expected is not None
    names = subject.table.info.actions[subject.player]
    # An episode that has ended has nothing to come.
    asked = ~subject.table.terminal
    if values.ndim == 2:
        asked = subject.mask & asked[:, None]
    with np.errstate(invalid="ignore"):
        # NaN counts as an infinite error.
        error = np.nan_to_num(
            np.where(asked, np.abs(values - subject.expected), 0.0), nan=np.inf, posinf=np.inf
        )
    gap = float(error.max())
    lines = [f"The largest error is {gap:.6g}."]
    if gap > exercise.points[0][0]:
        lines.append("It is largest in")
        # Values are treated as action values of a single action.
        rows = error.reshape(len(error), -1)
        action = rows.argmax(axis=1)
        for state in np.argsort(-rows.max(axis=1), kind="stable")[:_TOLD].tolist():
            at = (state, action[state])[: values.ndim]
            where = ", ".join([_where(subject, state), *(names[n] for n in at[1:])])
            if error[at] > 0:
                told = f"{values[at]:.6g}, where {subject.expected[at]:.6g} is right."
                lines.append(f"- {where}: {told}")
    return _told(exercise, gap, lines)


def _told(exercise: Exercise, gap: float, lines: Sequence[str]) -> Grade:
    """The grade of a gap, with its explanation."""
    # Rounding may take a gap below 0.
    gap = max(float(gap), 0.0)
    points = exercise.points_for(gap)
    better = [f"{p:g} for at most {most:g}" for most, p in exercise.points if p > points]
    told = "that is not proved" if isnan(gap) else f"of {gap:.4g}"
    head = f"{exercise.name}: {points:g} of {exercise.out_of:g} points, for a gap {told}"
    head += f" ({', '.join(better)})." if better else "."
    return Grade(exercise.name, points, exercise.out_of, gap, "\n".join([head, *lines]))


def _where(subject: ExerciseTables, state: int) -> str:
    """A state by its number in an answer and in words."""
    row = subject.row[state]
    text = state_text(subject.rules, subject.table.states[state])
    return f"state {row}" if text in (f"state {row}", str(row)) else f"state {row} ({text})"
