"""Grading: what a student hands in, a policy or values, scored exactly.

An exercise is a small file of data (:mod:`solvent.grading.exercises`), what is handed in a file of
plain numbers (:mod:`solvent.grading.answers`), and the points follow from the exact gap
(:mod:`solvent.grading.grades`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.grading.answers import read_answer
    from solvent.grading.exercises import Exercise, find_exercise
    from solvent.grading.grades import Grade, Graded, grade, grade_files, write_grades

_HOMES = {
    "Exercise": "solvent.grading.exercises",
    "Grade": "solvent.grading.grades",
    "Graded": "solvent.grading.grades",
    "find_exercise": "solvent.grading.exercises",
    "grade": "solvent.grading.grades",
    "grade_files": "solvent.grading.grades",
    "read_answer": "solvent.grading.answers",
    "write_grades": "solvent.grading.grades",
}

__all__ = [
    "Exercise",
    "Grade",
    "Graded",
    "find_exercise",
    "grade",
    "grade_files",
    "read_answer",
    "write_grades",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES)
