"""The drive: its rules sentence by sentence, its page, and what its source published."""

import random
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from doc_pages import DOCS, table_rows
from refusals import assert_refused

from solvent.baselines import baseline_names, make_baseline
from solvent.exact import Solution, policy_value, score, solve
from solvent.games.football_drive.baselines import DRIVE_RULES, RuleOfThumb, rule_policy
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
    TabularPolicy,
    compile_game,
    make_game,
    parametrize_with_game_checks,
)
from solvent.tabular import policy_iteration

PAGE = (DOCS / "games" / "football-drive.md").read_text("utf-8")

SIX, TWELVE, TEN = ([Fraction(m, 2**48) for m in poisson(mean)] for mean in (6, 12, 10))

SMALL = [
    FootballDrive(start=20, field=20),
    FootballDrive(start="anywhere", field=20, their_ball=1),
]


@parametrize_with_game_checks(SMALL)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


NEXT, FIRST, FUMBLED = Fraction(19, 20), Fraction(9, 20), Fraction(1, 20)
GOOD = Fraction(95, 100) * Fraction(40, 60)
TEN_AT_50 = Drive(50, 10, 1)

# What may follow a play, and how probable it is.
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
    ({"start": [20, 30]}, r"start is \[20, 30\]; allowed are whole numbers from 1 to 100"),
    ({"field": 19}, "field is 19; allowed are whole numbers from 20 to 100"),
    ({"feild": 50}, "Did you mean 'field'"),
    ({"their_ball": 0}, "their_ball is 0; allowed are whole numbers from 1 to 100"),
    ({"their_ball": 61, "field": 60, "start": 9}, "their_ball is 61; allowed are .* 1 to 60"),
    ({"field": 101}, "field is 101; allowed are whole numbers from 20 to 100"),
    ({"start": 101}, "start is 101; allowed are whole numbers from 1 to 100"),
)


def test_a_wrong_parameter_is_named() -> None:
    assert_refused(WRONG_PARAMETERS, lambda parameters: make_game("football-drive", **parameters))


def test_a_drive_begins_with_a_first_down_where_the_parameter_says() -> None:
    assert FootballDrive().initial() == (Outcome(Fraction(1), Drive(80, 10, 1)),)
    assert FootballDrive(start=5).initial() == (Outcome(Fraction(1), Drive(5, 5, 1)),)
    anywhere = FootballDrive(start="anywhere")
    assert {outcome.probability for outcome in anywhere.initial()} == {Fraction(1, 15250)}
    assert make_game("football-drive", **dict(anywhere.info.parameters)).info == anywhere.info


# The page.


@pytest.fixture(scope="module")
def game() -> TabularGame:
    return compile_game(FootballDrive())


@pytest.fixture(scope="module")
def solution(game: TabularGame) -> Solution:
    return solve(game)


@pytest.fixture(scope="module")
def anywhere() -> TabularGame:
    """The drive that begins in any position, which takes seconds to make."""
    return compile_game(FootballDrive(start="anywhere"))


@pytest.fixture(scope="module")
def solved_anywhere(anywhere: TabularGame) -> Solution:
    return solve(anywhere)


rows = partial(table_rows, PAGE)


def test_the_values_of_the_page(
    game: TabularGame, solution: Solution, anywhere: TabularGame, solved_anywhere: Solution
) -> None:
    forms = ("80", game, solution), ('"anywhere"', anywhere, solved_anywhere)
    for row, (start, table, solved) in zip(rows("`start` | states"), forms, strict=True):
        assert row[:2] == (start, str(table.n_states))
        assert float(row[2]) == pytest.approx(solved.value, abs=5e-13)
        assert solved.upper - solved.lower < float(row[3])


def test_the_baselines_of_the_page(game: TabularGame, solution: Solution) -> None:
    table = rows("baseline")
    assert {row[0] for row in table} | {"q-learning"} == set(baseline_names(game))
    for name, _, value, gap, normalized in table:
        rated = score(game, make_baseline(name, game), solution=solution)
        found = rated.value, rated.optimality_gap
        assert found == pytest.approx((float(value), float(gap)), abs=5e-7), name
        assert rated.normalized == pytest.approx(float(normalized), abs=5e-4), name


def test_the_optimal_plays_of_the_page(game: TabularGame, solution: Solution) -> None:
    for yards, play in rows("yards to the goal"):
        first, last = map(int, yards.split(" to "))
        places = {first_down(x) for x in range(first, last + 1)} & game.index.keys()
        chosen = {int(actions(solution)[game.index[place]]) for place in places}
        assert {game.info.actions[0][action] for action in chosen} <= {play}, yards


SECOND, FOURTH = Drive(60, 7, 2), Drive(30, 10, 4)
TOLD = (
    (SECOND, RUN, Drive(28, 0, 0, "lost"), "Fumble at gain of 32."),
    (SECOND, RUN, Drive(28, 10, 1), "Gain of 32, first down."),
    (SECOND, RUN, Drive(58, 5, 3), "Gain of 2."),
    (SECOND, RUN, Drive(60, 7, 3), "No gain."),
    (SECOND, PASS, Drive(61, 8, 3), "Loss of 1."),
    (SECOND, PASS, Drive(14, 0, 0, "lost"), "Interception at gain of 46."),
    (SECOND, PUNT, Drive(6, 0, 0, "lost"), "A punt of 54 yards."),
    (SECOND, KICK, Drive(60, 0, 0, "lost"), "The field goal is missed."),
    (FOURTH, RUN, Drive(31, 0, 0, "lost"), "Loss of 1, lost on downs."),
    (FOURTH, PASS, Drive(1, 1, 1), "Gain of 29, first down."),
    (FOURTH, KICK, Drive(20, 0, 0, "field goal"), "The field goal is good."),
)


def test_what_is_told_of_a_play() -> None:
    game = FootballDrive()
    for state, action, after, words in TOLD:
        outcomes = [o for o in game.transition(state, (action,)) if o.state == after]
        told = {
            game.tell(state, (action,), o, random.Random(n)) for o in outcomes for n in range(9)
        }
        assert words in told, (state, words)


# The drive of Patek and Bertsekas: their optimum, their policy, their policy iteration


START = Drive(80, 10, 1)


def actions(solved: Solution) -> np.ndarray:
    return solved.policies[0].probabilities.argmax(axis=1)


def test_the_value_of_first_and_ten_at_80_yards_and_the_optimal_play_on_first_down(
    anywhere: TabularGame, solved_anywhere: Solution
) -> None:
    # Published: -.9449; run from 1 to 65, pass from 66 to 94, run on the next five, pass at 100.
    value = solved_anywhere.values[anywhere.index[START]]
    assert value == pytest.approx(-0.944881148277, abs=1e-12)
    chosen = actions(solved_anywhere)
    play = [int(chosen[anywhere.index[first_down(x)]]) for x in range(1, 101)]
    assert play == [RUN] * 65 + [PASS] * 29 + [RUN] * 5 + [PASS]


@pytest.mark.slow
def test_policy_iteration_evaluates_six_policies(
    anywhere: TabularGame, solved_anywhere: Solution
) -> None:
    # Published: six evaluations from "always run". The sixth policy is the fifth again, on which
    # nothing can be improved; that is, five different policies and a sixth evaluation to confirm.
    runs = TabularPolicy.deterministic(anywhere, np.full(anywhere.n_states, RUN))
    found = [estimate.V.copy() for estimate in policy_iteration(anywhere, start=runs)]
    at_start = [round(float(values[anywhere.index[START]]), 6) for values in found]
    assert at_start == [-1.452082, -1.423749, -0.961713, -0.945346, -0.944881, -0.944881]
    assert np.abs(found[-1] - solved_anywhere.values).max() < 1e-9


@pytest.mark.parametrize("mean", [6, 10, 12])
def test_rounded_poisson_variables_are_poisson_variables(mean: int) -> None:
    masses = poisson(mean)
    assert len(masses) < 64
    assert min(masses) > 0
    assert sum(masses) == 2**48
    with localcontext(prec=60):
        mass, reached = Decimal(-mean).exp(), Decimal(0)
        for k in range(len(masses)):
            reached += mass
            assert abs(sum(masses[: k + 1]) - reached * 2**48) <= Decimal("0.5")
            mass = mass * mean / (k + 1)


# The best of their 1,296 rules of thumb; they print -1.26.
BEST = DRIVE_RULES["patek-bertsekas"]


def value_of(rule: RuleOfThumb, anywhere: TabularGame) -> float:
    return float(policy_value(anywhere, rule_policy(rule, anywhere))[anywhere.index[START]])


def test_where_the_ball_is_after_their_touchdown_changes_no_play(
    anywhere: TabularGame, solved_anywhere: Solution
) -> None:
    # The source does not say it. At the other team's 20 it costs 1.36 points, at its 1 .068.
    other = compile_game(FootballDrive(start="anywhere", their_ball=1))
    solved = solve(other)
    live = [state for state in anywhere.states if not state.ended]
    here, there = ([table.index[state] for state in live] for table in (anywhere, other))
    assert (actions(solved)[there] == actions(solved_anywhere)[here]).all()
    gain = solved.values[there] - solved_anywhere.values[here]
    assert (gain >= -1e-12).all()
    differs = [state.to_goal for state, more in zip(live, gain, strict=True) if more > 1e-6]
    assert (len(differs), min(differs), round(gain.max(), 4)) == (287, 98, 0.0012)
    assert solved.values[other.index[START]] == pytest.approx(-0.944881148277, abs=1e-9)


def rules_of_thumb(short: int) -> Iterator[RuleOfThumb]:
    """The 1,296 rules of Patek and Bertsekas.

    Args:
        short: The longest distance that is short, in yards.
    """
    third, near, far = (RUN, PASS), (RUN, PASS, KICK), (RUN, PASS, PUNT)
    for later in product(third, third, third, third, near, near, far, far):
        yield RuleOfThumb((PASS, RUN, PASS, *later), short=short)


@pytest.mark.slow
@pytest.mark.parametrize(("short", "value"), [(3, -1.262774), (2, -1.311276)])
def test_the_best_of_the_1296_rules_of_thumb(short: int, value: float, game: TabularGame) -> None:
    # "Less than 3 yards" is short: only with 3 yards among them the printed -1.26 comes out.
    values = {rule: value_of(rule, game) for rule in rules_of_thumb(short)}
    assert len(values) == 1296
    best = max(values, key=values.__getitem__)
    assert best == BEST._replace(short=short)
    assert values[best] == pytest.approx(value, abs=5e-7)
