"""The drive: its rules sentence by sentence, its table, its environment, and its page."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent import make_game
from solvent.baselines import baseline_names, make_baseline
from solvent.exact import Solution, score, solve
from solvent.games.football_drive.rules import (
    KICK,
    PASS,
    PUNT,
    RUN,
    Drive,
    FootballDrive,
    first_down,
    payoff,
    poisson,
)
from solvent.model import (
    Outcome,
    TabularGame,
    compile_game,
    parametrize_with_game_checks,
)

PAGE = (Path(__file__).parents[3] / "docs" / "games" / "football-drive.md").read_text("utf-8")

SIX, TWELVE, TEN = ([Fraction(m, 2**48) for m in poisson(mean)] for mean in (6, 12, 10))

SMALL = [
    FootballDrive(start={"3": 1, "20": 2}, field=20),
    FootballDrive(start="anywhere", field=20, their_ball=1),
]


@parametrize_with_game_checks(SMALL)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


NEXT, FIRST, FUMBLED = Fraction(19, 20), Fraction(9, 20), Fraction(1, 20)
GOOD = Fraction(95, 100) * Fraction(40, 60)
TEN_AT_50 = Drive(50, 10, 1)

RULES: tuple[tuple[str, Drive, int, Drive, Fraction], ...] = (
    *(
        ("a run gains a Poisson number of mean 6 less 2", TEN_AT_50, RUN,
         Drive(52 - k, 12 - k, 2), NEXT * SIX[k])
        for k in (0, 1, 6, 11)
    ),
    ("fumbled where it ends", TEN_AT_50, RUN, Drive(46, 0, 0, "lost"), FUMBLED * SIX[6]),
    ("incomplete, for nothing, or a sack at the line", TEN_AT_50, PASS, Drive(50, 10, 2),
     FIRST + FIRST * TWELVE[2] + FUMBLED * SIX[0]),
    ("a pass is complete", TEN_AT_50, PASS, Drive(45, 5, 2), FIRST * TWELVE[7]),
    ("a sack", TEN_AT_50, PASS, Drive(57, 17, 2), FUMBLED * SIX[7]),
    ("intercepted", TEN_AT_50, PASS, Drive(40, 0, 0, "lost"), FUMBLED * TWELVE[12]),
    ("a punt", Drive(100, 10, 1), PUNT, Drive(34, 0, 0, "lost"), TEN[10]),
    ("6 * 16 + 6 is more than 100 yards", Drive(100, 10, 1), PUNT, Drive(20, 0, 0, "lost"),
     sum(TEN[16:], Fraction(0))),
    ("a field goal", Drive(20, 5, 4), KICK, Drive(20, 0, 0, "field goal"), GOOD),
    ("is missed where it was kicked", Drive(20, 5, 4), KICK, Drive(20, 0, 0, "lost"), 1 - GOOD),
    *(("too far", first_down(x), KICK, Drive(x, 0, 0, "lost"), Fraction(1)) for x in (60, 100)),
    ("to the line is a first down", Drive(50, 3, 2), RUN, Drive(47, 10, 1), NEXT * SIX[5]),
    ("less is the next down", Drive(50, 3, 2), RUN, Drive(48, 1, 3), NEXT * SIX[4]),
    ("near the goal it is goal to go", Drive(12, 2, 3), RUN, Drive(8, 8, 1), NEXT * SIX[6]),
    ("on fourth down short of the line it is lost, as by a fumble there", Drive(50, 10, 4), RUN,
     Drive(49, 0, 0, "lost"), SIX[3]),
    ("beyond the goal line", Drive(1, 1, 1), RUN, Drive(20, 0, 0, "touchdown"),
     NEXT * sum(SIX[3:])),
    ("a fumble there is a touchback", Drive(1, 1, 1), RUN, Drive(20, 0, 0, "lost"),
     FUMBLED * sum(SIX[3:])),
    ("beyond its own", first_down(100), RUN, Drive(20, 0, 0, "safety"), NEXT * sum(SIX[:2])),
    ("a fumble there is their touchdown", first_down(100), RUN,
     Drive(20, 0, 0, "other's touchdown"), FUMBLED * sum(SIX[:2])),
)  # fmt: skip
"""What may follow a play, and how probable it is."""


def test_what_follows_a_play() -> None:
    for rule, state, action, following, wanted in RULES:
        chances = {o.state: o.probability for o in FootballDrive().transition(state, (action,))}
        assert chances[following] == wanted, rule


def test_the_end_pays_points_less_what_the_ball_is_worth_to_the_other_team() -> None:
    ball = Fraction(136, 100)
    for ended, to_goal, wanted in (
        ("touchdown", 20, Fraction(68, 10) - ball),
        ("field goal", 20, 3 - ball),
        ("safety", 20, -2 - ball),
        ("other's touchdown", 20, -Fraction(68, 10) - ball),
        ("lost", 50, -Fraction(34, 10)),
    ):
        assert payoff(Drive(to_goal, 0, 0, ended)) == wanted, ended


WRONG_PARAMETERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"start": 0}, "start is 0; allowed are whole numbers from 1 to 100"),
    ({"start": 80, "field": 60}, "start is 80; allowed are whole numbers from 1 to 60"),
    ({"start": "nowhere"}, "start is 'nowhere'; allowed are yards to the goal and 'anywhere'"),
    ({"start": [30, 20]}, "upside down"),
    ({"field": 19}, "field is 19; allowed are whole numbers from 20 to 100"),
    ({"feild": 50}, "Did you mean 'field'"),
    ({"their_ball": 0}, "their_ball is 0; allowed are whole numbers from 1 to 100"),
    ({"their_ball": 61, "field": 60, "start": 9}, "their_ball is 61; allowed are .* 1 to 60"),
    ({"field": 101}, "field is 101; allowed are whole numbers from 20 to 100"),
    ({"start": 101}, "start is 101; allowed are whole numbers from 1 to 100"),
)


def test_a_wrong_parameter_is_named() -> None:
    for parameters, message in WRONG_PARAMETERS:
        with pytest.raises(ValueError, match=message):
            make_game("football-drive", **parameters)


def test_a_drive_begins_with_a_first_down_where_the_parameter_says() -> None:
    assert FootballDrive().initial() == (Outcome(Fraction(1), Drive(80, 10, 1)),)
    starts = FootballDrive(start=[5, 8]).initial()
    assert [o.state for o in starts] == [Drive(x, x, 1) for x in (5, 6, 7, 8)]
    assert {o.probability for o in starts} == {Fraction(1, 4)}


# The page.


@pytest.fixture(scope="module")
def game() -> TabularGame:
    return compile_game(FootballDrive())


@pytest.fixture(scope="module")
def solution(game: TabularGame) -> Solution:
    return solve(game)


def rows(first: str) -> list[list[str]]:
    """The cells of the table of the page whose first heading is `first`."""
    table = PAGE.split(f"| {first} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table]


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_the_values_of_the_page(
    game: TabularGame, solution: Solution, anywhere: TabularGame, solved_anywhere: Solution
) -> None:
    one, other = rows("`start` | states")
    assert one[0] == "80"
    assert int(one[1]) == game.n_states
    assert number(one[2]) == pytest.approx(solution.value, abs=5e-13)
    assert solution.upper - solution.lower < number(one[3])
    assert other[0] == '"anywhere"'
    assert int(other[1]) == anywhere.n_states
    assert number(other[2]) == pytest.approx(solved_anywhere.value, abs=5e-13)
    assert solved_anywhere.upper - solved_anywhere.lower < number(other[3])


def test_the_baselines_of_the_page(game: TabularGame, solution: Solution) -> None:
    table = rows("baseline")
    assert {row[0] for row in table} | {"q-learning"} == set(baseline_names(game))
    for name, _, value, gap, normalized in table:
        rated = score(game, make_baseline(name, game), solution=solution)
        assert rated.value == pytest.approx(number(value), abs=5e-7)
        assert rated.optimality_gap == pytest.approx(number(gap), abs=5e-7)
        assert rated.normalized == pytest.approx(number(normalized), abs=5e-4)


def test_the_optimal_plays_of_the_page(game: TabularGame, solution: Solution) -> None:
    chosen = np.asarray(solution.policies[0].probabilities.argmax(axis=1))
    for yards, play in rows("yards to the goal"):
        first, last = map(int, yards.split(" to "))
        for x in range(first, last + 1):
            action = chosen[game.index[first_down(x)]] if first_down(x) in game.index else None
            assert action is None or game.info.actions[0][action] == play


@pytest.mark.parametrize("action", [RUN, PASS, PUNT, KICK])
def test_the_yards_told_move_the_ball_to_where_it_is(action: int) -> None:
    game = FootballDrive()
    for state in (Drive(60, 7, 2), Drive(30, 10, 4)):
        words = set()
        for outcome in game.transition(state, (action,)):
            told = game.tell(state, (action,), outcome, random.Random(1))
            words.add(re.split(r" of| at|,|\.", told)[0])
            after: Drive = outcome.state
            moved = re.search(r"(gain|loss|punt) of (\d+)|no gain", told, re.IGNORECASE)
            if action == KICK:
                assert (after.ended == "field goal") == ("good" in told)
                continue
            assert moved is not None
            yards = int(moved[2] or 0) * (-1 if (moved[1] or "").lower() == "loss" else 1)
            ended = after.ended not in ("", "lost")
            assert ended or after.to_goal == state.to_goal - yards or after.to_goal == 20
            assert ("first down" in told) == (not after.ended and after.down == 1)
            lost = told.startswith(("Fumble", "Interception")) or action == PUNT
            assert ("lost on downs" in told) == (after.ended == "lost" and not lost)
        if action == RUN:
            assert {"Gain", "Loss", "No gain", "Fumble"} <= words
        if action == PASS and state.down == 2:
            assert {"Gain", "Loss", "No gain", "Interception"} <= words
