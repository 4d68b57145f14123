"""The rules of the racetrack, one by one."""

from __future__ import annotations

from fractions import Fraction

from solvent.games import Racetrack
from solvent.games.racetrack import ACTIONS, BOOK, BOOK_RIGHT, FINISHED, Car
from solvent.model import Outcome

GAME = Racetrack("bend")
NINE, ONE = Fraction(9, 10), Fraction(1, 10)
ROOM = ("......F", "......F", "......F", "S.....F")


def step(up: int, right: int) -> tuple[int]:
    return (ACTIONS.index((up, right)),)


def sure(track: tuple[str, ...], car: Car, up: int = 0, right: int = 0) -> tuple[Outcome, ...]:
    return Racetrack(track, noise=0).transition(car, step(up, right))


def test_an_episode_begins_on_the_line_without_velocity() -> None:
    quarter = Fraction(1, 4)
    line = tuple(Outcome(quarter, Car(6, column, 0, 0)) for column in range(4))
    assert GAME.initial() == line


def test_there_are_nine_changes_of_velocity() -> None:
    assert set(ACTIONS) == {(u, r) for u in (-1, 0, 1) for r in (-1, 0, 1)}
    assert GAME.info.actions[0][ACTIONS.index((1, -1))] == "up faster, right slower"


def legal(car: Car) -> set[tuple[int, int]]:
    return {ACTIONS[action] for action in GAME.legal_actions(car)[0]}


def test_a_velocity_is_within_0_and_4_and_not_0_but_on_the_line() -> None:
    assert legal(Car(6, 0, 0, 0)) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert legal(Car(3, 1, 2, 2)) == set(ACTIONS)
    assert legal(Car(3, 1, 4, 2)) == {(u, r) for u, r in ACTIONS if u < 1}
    assert legal(Car(3, 1, 1, 4)) == {(u, r) for u, r in ACTIONS if r < 1}
    assert legal(Car(3, 1, 1, 0)) == {(0, 0), (0, 1), (1, 0), (1, 1), (-1, 1)}
    assert legal(Car(6, 1, 0, 1)) == {(0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1)}


def test_an_action_changes_nothing_with_the_probability_of_the_noise() -> None:
    game = Racetrack(ROOM)
    assert game.transition(Car(3, 0, 1, 0), step(0, 1)) == (
        Outcome(NINE, Car(2, 1, 1, 1), -1),
        Outcome(ONE, Car(2, 0, 1, 0), -1),
    )
    assert game.transition(Car(3, 0, 0, 0), step(0, 0)) == (
        Outcome(Fraction(1), Car(3, 0, 0, 0), -1),
    )


def test_over_the_finish_the_episode_ends() -> None:
    for car in (Car(1, 5, 0, 1), Car(1, 4, 0, 4), Car(2, 4, 2, 3)):
        assert sure(ROOM, car) == (Outcome(Fraction(1), FINISHED, -1),)
    assert GAME.is_terminal(FINISHED)
    assert not GAME.is_terminal(Car(6, 0, 0, 0))


def test_off_the_track_the_car_begins_anew() -> None:
    again = (Outcome(Fraction(1), Car(3, 0, 0, 0), -1),)
    assert sure(ROOM, Car(1, 1, 2, 0)) == again
    assert sure(ROOM, Car(0, 1, 1, 1)) == again
    two = ("S.#F", "S..F")
    assert sure(two, Car(0, 1, 0, 1)) == tuple(
        Outcome(Fraction(1, 2), Car(row, 0, 0, 0), -1) for row in (0, 1)
    )


def test_what_is_on_the_way_counts_too() -> None:
    # One off the track between two that are on it; a finish before the edge of the board.
    assert sure(("..F", "#..", "S.."), Car(2, 0, 2, 0))[0].state == Car(2, 0, 0, 0)
    assert sure((".F#", "...", "S.."), Car(0, 0, 0, 2))[0].state == FINISHED
    # With 1 up and 2 to the right the car is half a cell up after the first part, so one.
    assert sure(("..#F", "#..F", "S..F"), Car(2, 0, 1, 2))[0].state == Car(1, 2, 1, 2)
    assert sure(("...F", "...F", "S.#F"), Car(2, 0, 1, 2))[0].state == Car(1, 2, 1, 2)
    assert sure(("...F", ".#.F", "S..F"), Car(2, 0, 1, 2))[0].state == Car(2, 0, 0, 0)


def test_the_tracks_of_the_book_have_the_size_of_the_figure() -> None:
    assert (len(BOOK), {len(row) for row in BOOK}) == (32, {17})
    assert [row.count("F") for row in BOOK] == [1] * 6 + [0] * 26
    assert BOOK[-1] == "###SSSSSS########"
    assert sum(row.count("S") for row in BOOK) == 6
    assert (len(BOOK_RIGHT), {len(row) for row in BOOK_RIGHT}) == (30, {32})
    assert [row.count("F") for row in BOOK_RIGHT] == [1] * 9 + [0] * 21
    assert BOOK_RIGHT[-1] == "S" * 23 + "#" * 9
    # From the narrowest row on the track widens by a cell in each row, down to the line.
    assert [row.index(".") for row in BOOK_RIGHT[13:28]] == [*range(14, -1, -1)]
