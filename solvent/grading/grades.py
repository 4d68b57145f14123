"""Grades: the points of an answer, its exact gap, and the three states that cost most.

Of a policy, what a state costs is its share of the optimality gap (:func:`solvent.locate_gap`): how
often it is come to times what is lost there each time. Of values it is the error.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact import ImproperGameError, locate_gap
from solvent.exact.scoring import LEARNED, comparable_score
from solvent.grading.answers import read_answer, shapes_of
from solvent.grading.exercises import Exercise, Subject, find_exercise
from solvent.model import TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.files import write_atomically
from solvent.model.parameters import brief, shown
from solvent.model.text import state_text
from solvent.report.gap_attribution import attribute_gap
from solvent.scoring import policy_from

TOLD = 3
"""The number of costliest states that are told."""

NAMED = 4
"""The number of actions of a mixed strategy that are named."""

LONGEST_PROBLEM = 500
"""Characters of what is said of a file that cannot be graded."""


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

    def as_dict(self) -> dict[str, Any]:
        """Return the grade as a dictionary for JSON; a gap that is not finite is None."""
        return {**asdict(self), "gap": self.gap if isfinite(self.gap) else None}

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
            (:mod:`solvent.grading.answers`): for a policy [S] actions or [S, A] probabilities, for
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

    One file is read at a time. No code of theirs runs (:mod:`solvent.grading.answers`).

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
    shapes, actions = _shapes(found, subject), subject.table.info.actions[subject.player]
    for file in files:
        try:
            got = grade(found, read_answer(file, shapes, actions))
        except Exception as error:  # Whatever one file does, the others are graded.
            told = str(error).removeprefix(f"{file}: ") or type(error).__name__
            yield Graded(str(file), None, printable(brief(told, LONGEST_PROBLEM)))
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


def printable(text: str) -> str:
    """A text that no terminal takes for commands: what cannot be printed as Python writes it."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape", "replace").decode()
        for sign in text
    )


TOLERANCE = 1e-3
"""The largest allowed difference between 1 and the sum of a state's probabilities."""

FORMULAS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001
"""The first characters of a cell that a spreadsheet computes."""


def _cell(text: str, *, lines: bool = False) -> str:
    """A text as a cell of a table that spreadsheets open."""
    plain = "\n".join(map(printable, text.split("\n"))) if lines else printable(text)
    return f"'{plain}" if plain.lstrip().startswith(FORMULAS) else plain


def _shapes(exercise: Exercise, subject: Subject) -> tuple[tuple[int, ...], ...]:
    return shapes_of(exercise.asks, subject.rows, subject.mask.shape[1])


def _policy(exercise: Exercise, subject: Subject, answer: Any) -> TabularPolicy:
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
    probabilities = np.pad(answer.probabilities, ((0, beyond), (0, 0)))
    return replace(answer, probabilities=probabilities, model_hash=table.model_hash)


def _check_policy(subject: Subject, rows: Floats) -> None:
    """Name the first state in which [S] actions or [S, A] probabilities are none."""
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


def _array(exercise: Exercise, subject: Subject, answer: Any) -> Floats:
    """[S, ...] an answer's numbers for each state."""
    array = np.asarray(answer)
    shapes = _shapes(exercise, subject)
    if array.dtype.kind not in "biuf" or array.shape not in shapes:
        raise ValueError(
            f"the answer is {shown(answer)}, of shape {array.shape}; expected are numbers of shape "
            f"{' or '.join(map(str, shapes))}, a row for each state"
        )
    return array.astype(np.float64)[subject.row]


def _of_policy(exercise: Exercise, subject: Subject, policy: TabularPolicy) -> Grade:
    table, solution = subject.table, subject.solution
    score = comparable_score(table, policy, solution, tolerance=LEARNED)
    gap = score.optimality_gap
    lines = [f"The value of the policy is {score.value:.6g}, and the optimum {score.optimum:.6g}."]
    try:
        location = locate_gap(table, policy, solution, tolerance=LEARNED)
    except ImproperGameError as error:
        return _told(exercise, gap, [*lines, f"An episode may never end: {brief(str(error))}"])
    losses = attribute_gap(table, policy, solution, location, TOLD, NAMED)
    if losses.worst and gap > exercise.points[0][0]:
        lines.append("Most is lost in")
        for state, one in zip(location.ranked(TOLD), losses.worst, strict=True):
            lines.append(
                f"- {_where(subject, state)}: {one.chosen}, where {one.best} is best. "
                f"That costs {one.loss:.4g} each time, {one.contribution:.4g} in an episode, "
                f"{one.share:.0%} of the total."
            )
    return _told(exercise, gap, lines)


def _of_values(exercise: Exercise, subject: Subject, values: Floats) -> Grade:
    assert subject.expected is not None
    names = subject.table.info.actions[subject.player]
    # An episode that has ended has nothing to come.
    asked = ~subject.table.terminal
    if values.ndim == 2:
        asked = subject.mask & asked[:, None]
    with np.errstate(invalid="ignore"):
        error = np.where(asked, np.abs(values - subject.expected), 0.0)
    # What is no number is as wrong as can be.
    error = np.where(np.isnan(error), np.inf, error)
    gap = float(error.max())
    lines = [f"The largest error is {gap:.6g}."]
    if gap > exercise.points[0][0]:
        lines.append("It is largest in")
        # As action values of a single action each.
        rows = error.reshape(len(error), -1)
        action = rows.argmax(axis=1)
        for state in np.argsort(-rows.max(axis=1), kind="stable")[:TOLD].tolist():
            at = (state, action[state])[: values.ndim]
            where = ", ".join([_where(subject, state), *(names[n] for n in at[1:])])
            if error[at] > 0:
                told = f"{values[at]:.6g}, where {subject.expected[at]:.6g} is right."
                lines.append(f"- {where}: {told}")
    return _told(exercise, gap, lines)


def _told(exercise: Exercise, gap: float, lines: Sequence[str]) -> Grade:
    """The grade of a gap, with what is to be said of it."""
    # Rounding may take a gap below 0.
    gap = max(float(gap), 0.0)
    points = exercise.points_for(gap)
    better = [f"{p:g} for at most {most:g}" for most, p in exercise.points if p > points]
    head = f"{exercise.name}: {points:g} of {exercise.out_of:g} points, for a gap of {gap:.4g}"
    head += f" ({', '.join(better)})." if better else "."
    return Grade(exercise.name, points, exercise.out_of, gap, "\n".join([head, *lines]))


def _where(subject: Subject, state: int) -> str:
    """A state by its number in an answer and in words."""
    row = subject.row[state]
    text = state_text(subject.rules, subject.table.states[state])
    return f"state {row}" if text in (f"state {row}", str(row)) else f"state {row} ({text})"
