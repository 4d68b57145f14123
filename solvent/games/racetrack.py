"""The racetrack: drive a car around a turn as fast as possible, but not off the track.

A car is in a cell and has a velocity, in cells up and to the right each step. An action changes
both parts by -1, 0 or 1; with probability 0.1 they stay. Both are within 0..4, and not both are 0
but on the starting line. Each step costs 1. The car then goes in a straight line: where it meets
the finish the episode ends, where it leaves the track it is put back, without velocity, to a random
cell of the starting line.

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018, Exercise 5.12. The book leaves open which cells a straight line meets. Here it goes in as many
equal parts as the larger velocity has, and meets the cell nearest to the end of each part, halves
rounded up and to the right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from numbers import Rational
from typing import Any, NamedTuple

from solvent.model import Cell as Square
from solvent.model import (
    Environment,
    GameInfo,
    GameSpec,
    JointAction,
    Outcome,
    Prose,
    Rules,
    Scene,
    check_choice,
    check_rational,
    grid,
    merged,
    shown,
)

OFF, START, FINISH = "#", "S", "F"
FASTEST = 4

# A short track, not from the book.
_BEND = (
    "##.....F",
    "#......F",
    "......##",
    ".....###",
    "....####",
    "....####",
    "SSSS####",
)

BOOK = (
    "###" + "." * 13 + "F",
    *("##" + "." * 14 + "F",) * 2,
    "#" + "." * 15 + "F",
    *("." * 16 + "F",) * 2,
    "." * 10 + "#" * 7,
    *("." * 9 + "#" * 8,) * 7,
    *("#" + "." * 8 + "#" * 8,) * 8,
    *("##" + "." * 7 + "#" * 8,) * 7,
    *("###" + "." * 6 + "#" * 8,) * 2,
    "###" + "S" * 6 + "#" * 8,
)
"""The left track of Figure 5.5, in its commonly used shape."""

BOOK_RIGHT = (
    "#" * 16 + "." * 15 + "F",
    "#" * 13 + "." * 18 + "F",
    "#" * 12 + "." * 19 + "F",
    *("#" * 11 + "." * 20 + "F",) * 4,
    "#" * 12 + "." * 19 + "F",
    "#" * 13 + "." * 18 + "F",
    *("#" * 14 + "." * (18 - off) + "#" * off for off in (2, 5, 6, 8)),
    *("#" * left + "." * (23 - left) + "#" * 9 for left in range(14, -1, -1)),
    "." * 23 + "#" * 9,
    "S" * 23 + "#" * 9,
)
"""The right track of Figure 5.5."""

TRACKS = {"bend": _BEND, "book": BOOK, "book-right": BOOK_RIGHT}

LARGEST = 2_000
"""The largest number of cells of a track."""

ACTIONS = tuple((up, right) for up in (-1, 0, 1) for right in (-1, 0, 1))
"""The changes of both parts of the velocity."""


class Car(NamedTuple):
    """The car's cell, from the top left, and its velocity."""

    row: int
    column: int
    up: int
    right: int


FINISHED = Car(-1, -1, 0, 0)
"""The car beyond the finish."""


@dataclass(frozen=True)
class Racetrack(Rules):
    """A car on a racetrack.

    Args:
        track: ``"bend"``, ``"book"``, ``"book-right"``, or the rows of a track from the top, of
            equal length, at most 2000 cells: off the track ``#``, starting line ``S``, finish
            ``F``, any other cell ``.``.
        noise: The probability that an action changes nothing, at least 0 and less than 1.
    """

    track: str | Sequence[str] = "book"
    noise: float | str | Rational = 0.1

    def __post_init__(self) -> None:
        """Check the parameters."""
        if isinstance(self.track, str):
            check_choice(self.track, "track", TRACKS)
        else:
            _check_rows(self.track)
        if self._chance == 1:
            raise ValueError(f"noise is {self.noise}; allowed are numbers from 0, less than 1")

    @cached_property
    def _chance(self) -> Fraction:
        """The probability that an action changes nothing."""
        return check_rational(self.noise, "noise", 0, 1)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The rows of the track."""
        return TRACKS[self.track] if isinstance(self.track, str) else tuple(self.track)

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        words = {-1: "slower", 0: "same", 1: "faster"}
        return GameInfo(
            name="racetrack",
            players=1,
            actions=(tuple(f"up {words[u]}, right {words[r]}" for u, r in ACTIONS),),
            acyclic=False,
            reward_range=(-inf, -1.0),
            sources=("Sutton and Barto 2018, Exercise 5.12",),
            parameters=(
                ("track", self.track if isinstance(self.track, str) else list(self.track)),
                ("noise", self.noise if isinstance(self.noise, (int, float)) else str(self.noise)),
            ),
            observation_labels=("row", "column", "velocity up", "velocity right"),
            unit="points",
        )

    @cached_property
    def _line(self) -> tuple[Outcome, ...]:
        """Return the uniform distribution over the cells of the starting line."""
        cells = [
            (row, column)
            for row, cells in enumerate(self.rows)
            for column, cell in enumerate(cells)
            if cell == START
        ]
        return tuple(Outcome(Fraction(1, len(cells)), Car(*cell, 0, 0)) for cell in cells)

    def initial(self) -> tuple[Outcome, ...]:
        """Return the distribution of starts: any cell of the starting line, at velocity 0."""
        return self._line

    def legal_actions(self, state: Car) -> tuple[tuple[int, ...], ...]:
        """Return the actions that keep the velocity within its bounds."""
        at_start = self.rows[state.row][state.column] == START
        return (
            tuple(
                action
                for action, (up, right) in enumerate(ACTIONS)
                if 0 <= state.up + up <= FASTEST
                and 0 <= state.right + right <= FASTEST
                and (at_start or state.up + up or state.right + right)
            ),
        )

    def transition(self, state: Car, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Change the velocity, unless noise prevents it, and drive."""
        up, right = ACTIONS[joint_action[0]]
        faster = state._replace(up=state.up + up, right=state.right + right)
        chances = ((faster, 1 - self._chance), (state, self._chance))
        return merged(
            [Outcome(p * q, after, -1) for car, p in chances if p for after, q in self._drive(car)]
        )

    def _drive(self, car: Car) -> list[tuple[Car, Fraction]]:
        """Return the car after moving with its velocity."""
        parts = max(car.up, car.right)
        for part in range(1, parts + 1):
            # Halves are rounded up and to the right.
            row = car.row - (2 * car.up * part + parts) // (2 * parts)
            column = car.column + (2 * car.right * part + parts) // (2 * parts)
            outside = row < 0 or column >= len(self.rows[0])
            cell = OFF if outside else self.rows[row][column]
            if cell == FINISH:
                return [(FINISHED, Fraction(1))]
            if cell == OFF:
                return [(start.state, start.probability) for start in self._line]
        return [(car._replace(row=car.row - car.up, column=car.column + car.right), Fraction(1))]

    def is_terminal(self, state: Car) -> bool:
        """Return whether the car is beyond the finish."""
        return state == FINISHED

    @cached_property
    def scale(self) -> Any:
        """The numbers of rows and columns, and the largest velocities."""
        return len(self.rows), len(self.rows[0]), FASTEST, FASTEST

    def place(self, state: Car) -> str:
        """Return where the race has ended."""
        return "The car is over the finish" if self.is_terminal(state) else ""

    def scene(self, state: Car) -> Scene:
        """Draw the track, and the velocity or the end of the race."""
        here = None if self.is_terminal(state) else (state.row, state.column)
        track = grid(self.rows, here, {FINISH: Square("", "goal", name="finish")})
        velocity = f"Velocity: {state.up} up, {state.right} to the right."
        return track, Prose("", (velocity if here else f"{self.place(state)}.",))


def _check_rows(rows: Sequence[str]) -> None:
    """Check the rows of a track.

    Raises:
        ValueError: If they are not of one length, too many, or of other characters, or there is
            no starting line or no finish.
    """
    allowed = f"{OFF}.{START}{FINISH}"
    right = (
        isinstance(rows, Sequence)
        and all(isinstance(row, str) and row and set(row) <= set(allowed) for row in rows)
        and len({len(row) for row in rows}) == 1
        and len(rows) * len(rows[0]) <= LARGEST
    )
    if not right or not all(any(cell in row for row in rows) for cell in (START, FINISH)):
        raise ValueError(
            f"track is {shown(rows)}; allowed are {', '.join(TRACKS)} and rows of equal length, "
            f"of at most {LARGEST} cells together, each {', '.join(allowed)}, with a starting line "
            f"{START} and a finish {FINISH}"
        )


SPEC = GameSpec(
    name="racetrack",
    make=Racetrack,
    rules=(
        "Change your velocity up and to the right by at most 1 each step; sometimes that\n"
        "fails. Each step costs 1. Cross the finish F; off the track you start anew."
    ),
    environments={
        "solvent/Racetrack-v0": Environment(
            optimum=-11.694577426507943,
            model_hash="26652929e2fc4a415acaab545060cb10f997e2390bcfc3b8c488b250dc915293",
        ),
        "solvent/RacetrackBend-v0": Environment(
            parameters={"track": "bend"},
            optimum=-4.260179147195957,
            model_hash="647129a6a6e226965e9b9dafc726cb553f819e15d715fc9aa6168f57a45448ed",
        ),
    },
    choices={"track": tuple(TRACKS)},
)
