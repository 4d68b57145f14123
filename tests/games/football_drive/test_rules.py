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
from solvent.games.football_drive import rules as football_drive
from solvent.games.football_drive.rules import (
    KICK,
    PASS,
    PUNT,
    RUN,
    Drive,
    FootballDrive,
    first_down,
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


def after(state: Drive, action: int) -> dict[Drive, Outcome]:
    return {o.state: o for o in FootballDrive().transition(state, (action,))}


def chance(state: Drive, action: int, ended: str) -> Fraction:
    return sum(
        (o.probability for s, o in after(state, action).items() if s.ended == ended), Fraction(0)
    )


# The rules that follow are checked here, and again with an error planted in them.


def check_a_run_gains_a_poisson_number_of_mean_6_less_2() -> None:
    branches = after(Drive(50, 10, 1), RUN)
    for k in (0, 1, 6, 11):
        assert branches[Drive(52 - k, 12 - k, 2)].probability == Fraction(19, 20) * SIX[k]


def check_a_run_is_fumbled_in_one_case_of_20_where_it_ends() -> None:
    branches = after(Drive(50, 10, 1), RUN)
    assert chance(Drive(50, 10, 1), RUN, "lost") == Fraction(1, 20)
    assert branches[Drive(46, 0, 0, "lost")].probability == Fraction(1, 20) * SIX[6]


def check_a_pass_is_incomplete_complete_intercepted_or_a_sack() -> None:
    branches = after(Drive(50, 10, 1), PASS)
    # The down costs nothing by an incomplete pass, a completion for nothing or a sack at the line.
    still = Fraction(9, 20) + Fraction(9, 20) * TWELVE[2] + Fraction(1, 20) * SIX[0]
    assert branches[Drive(50, 10, 2)].probability == still
    assert branches[Drive(45, 5, 2)].probability == Fraction(9, 20) * TWELVE[7]
    assert branches[Drive(57, 17, 2)].probability == Fraction(1, 20) * SIX[7]
    assert branches[Drive(40, 0, 0, "lost")].probability == Fraction(1, 20) * TWELVE[12]


def check_a_punt_goes_6_yards_and_6_times_a_poisson_number_of_mean_10() -> None:
    branches = after(Drive(100, 10, 1), PUNT)
    assert branches[Drive(34, 0, 0, "lost")].probability == TEN[10]
    # 6 * 16 + 6 is more than 100 yards.
    touchback = branches[Drive(20, 0, 0, "lost")].probability
    assert touchback == sum(TEN[16:])


def check_a_field_goal_is_less_likely_the_farther_away() -> None:
    assert chance(Drive(20, 5, 4), KICK, "field goal") == Fraction(95, 100) * Fraction(40, 60)
    assert chance(Drive(20, 5, 4), KICK, "lost") == 1 - Fraction(95, 100) * Fraction(40, 60)
    assert after(Drive(20, 5, 4), KICK)[Drive(20, 0, 0, "lost")].reward == -Fraction(68, 50)
    for x in (60, 61, 100):
        assert after(first_down(x), KICK).keys() == {Drive(x, 0, 0, "lost")}


def check_a_gain_to_the_line_is_a_first_down_and_less_is_the_next_down() -> None:
    branches = after(Drive(50, 3, 2), RUN)
    assert Drive(47, 10, 1) in branches
    assert Drive(48, 1, 3) in branches
    assert Drive(8, 8, 1) in after(Drive(12, 2, 3), RUN)


def check_the_ball_is_lost_short_of_the_line_on_fourth_down() -> None:
    branches = after(Drive(50, 10, 4), RUN)
    assert branches[Drive(49, 0, 0, "lost")].probability == SIX[3]
    assert all(s.ended or s.down == 1 for s in branches)


def check_beyond_the_goal_line_is_a_touchdown_and_a_touchback_if_the_ball_is_lost() -> None:
    branches = after(Drive(1, 1, 1), RUN)
    assert branches[Drive(20, 0, 0, "touchdown")].probability == Fraction(19, 20) * sum(SIX[3:])
    assert branches[Drive(20, 0, 0, "lost")].probability == Fraction(1, 20) * sum(SIX[3:])


def check_beyond_the_own_goal_line_is_a_safety_and_their_touchdown_if_the_ball_is_lost() -> None:
    branches = after(first_down(100), RUN)
    assert branches[Drive(20, 0, 0, "safety")].probability == Fraction(19, 20) * (SIX[0] + SIX[1])
    lost = branches[Drive(20, 0, 0, "other's touchdown")]
    assert lost.probability == Fraction(1, 20) * (SIX[0] + SIX[1])
    assert Drive(20, 0, 0, "safety") in after(Drive(95, 5, 4), PASS)


def check_the_end_pays_points_less_what_the_ball_is_worth_to_the_other_team() -> None:
    def paid(ended: str, to_goal: int = 20) -> Fraction:
        return football_drive.payoff(Drive(to_goal, 0, 0, ended))

    ball = Fraction(136, 100)
    assert paid("touchdown") == Fraction(68, 10) - ball
    assert paid("field goal") == 3 - ball
    assert paid("safety") == -2 - ball
    assert paid("other's touchdown") == -Fraction(68, 10) - ball
    assert paid("lost", 50) == -Fraction(34, 10)


RULES = (
    check_a_run_gains_a_poisson_number_of_mean_6_less_2,
    check_a_run_is_fumbled_in_one_case_of_20_where_it_ends,
    check_a_pass_is_incomplete_complete_intercepted_or_a_sack,
    check_a_punt_goes_6_yards_and_6_times_a_poisson_number_of_mean_10,
    check_a_field_goal_is_less_likely_the_farther_away,
    check_a_gain_to_the_line_is_a_first_down_and_less_is_the_next_down,
    check_the_ball_is_lost_short_of_the_line_on_fourth_down,
    check_beyond_the_goal_line_is_a_touchdown_and_a_touchback_if_the_ball_is_lost,
    check_beyond_the_own_goal_line_is_a_safety_and_their_touchdown_if_the_ball_is_lost,
    check_the_end_pays_points_less_what_the_ball_is_worth_to_the_other_team,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__.removeprefix("check_"))
def test_rule(rule: Callable[[], None]) -> None:
    rule()


# Parameters and drawings.


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
