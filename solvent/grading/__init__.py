"""Grading: what a student hands in, a policy or values, scored exactly.

An exercise is a small file of data (:mod:`solvent.grading.grades`), what is handed in a file of
plain numbers (:mod:`solvent.grading.grades`), and the points follow from the exact gap
(:mod:`solvent.grading.grades`).
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
