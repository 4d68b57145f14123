"""Grading: what a student hands in, a policy or values, scored exactly.

An exercise is a small data file, an answer is a file of plain numbers, and the points follow from
the exact gap (:mod:`solvent.grading.grades`).
"""

from solvent.grading.grades import (
    Exercise,
    Grade,
    Graded,
    find_exercise,
    grade,
    grade_files,
    read_answer,
    write_grades,
)

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
