"""Greed's solver, baselines and maps, against exact rationals and the generic solver."""

import base64
import json
import re
import runpy
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from doc_pages import DOCS, check_figure
from refusals import assert_refused
from tree_checks import assert_solved_as_table

from solvent.baselines import make_baseline
from solvent.exact import CertificateError, solve, with_table
from solvent.games import Greed
from solvent.games.greed.baselines import PLANS, SAMPLE_GAME
from solvent.games.greed.report import STAND, maps_of
from solvent.games.greed.solver import GreedSolution, error_bound, solve_greed, sum_chances
from solvent.model import compile_game, dice_sum, make_game, probability_at_most, ways_to_sum
from solvent.report.page import render

# Greed's solver against exact rationals and the generic solver, and the baselines of Greed


# Chosen for their edges: dice that always show 1, coins, dice that reach beyond the limit.
RULESETS = [
    (1, 1), (1, 6), (2, 6), (10, 1), (13, 2), (7, 13), (12, 100), (20, 4), (18, 6), (20, 20),
]  # fmt: skip


class Exact(NamedTuple):
    """Ratings before the last turn and in it, in rationals, and all optimal numbers of dice.

    Arrays of objects, [M+1, M+1] by the score of the player on turn and the other one's.
    """

    normal: Any
    last: Any
    normal_rolls: Any
    last_rolls: Any


@cache
def exact_ratings(limit: int, sides: int, extra_dice: int = 0) -> Exact:
    """Rate every position by the definition, with so many more dice than can be of use."""
    game, shape = Greed(limit, sides), (limit + 1, limit + 1)
    found = Exact(*(np.empty(shape, object) for _ in Exact._fields))
    chances = [
        {t: Fraction(ways_to_sum(t, n, sides), sides**n) for t in range(n, limit + 1)}
        for n in range(game.most_dice(0) + extra_dice + 1)
    ]

    def expected(dice: int, score: int, rating: Callable[[int], Fraction]) -> Fraction:
        pairs = chances[dice].items()
        return sum((p * rating(score + t) for t, p in pairs if score + t <= limit), Fraction(0))

    def enter(at: tuple[int, int], values: Any, rolls: Any, rated: list[Fraction]) -> None:
        values[at] = max(rated)
        rolls[at] = tuple(n for n, rating in enumerate(rated) if rating == max(rated))

    positions = sorted(np.ndindex(shape), key=sum, reverse=True)
    for a, q in positions:
        dice = range(game.most_dice(a) + extra_dice + 1)
        rated = [expected(n, a, lambda x, q=q: HALVES[(x > q) - (x < q)]) for n in dice]
        enter((a, q), found.last, found.last_rolls, rated)
    for a, q in positions:
        dice = range(1, game.most_dice(a) + extra_dice + 1)
        rolled = [expected(n, a, lambda x, q=q: 1 - found.normal[q, x]) for n in dice]
        enter((a, q), found.normal, found.normal_rolls, [1 - found.last[q, a], *rolled])
    return found


# The score of a player who is behind, level and ahead at the end.
HALVES = {-1: Fraction(0), 0: Fraction(1, 2), 1: Fraction(1)}


@pytest.mark.parametrize(("limit", "sides"), RULESETS)
def test_ratings_and_optimal_rolls_equal_exact_arithmetic_in_every_position(
    limit: int, sides: int
) -> None:
    own, exact = solve_greed(limit, sides), exact_ratings(limit, sides)
    for ours, theirs in ((own.normal, exact.normal), (own.last, exact.last)):
        assert np.abs(ours - theirs.astype(float)).max() <= min(own.error, 1e-12)
    for last in (False, True):
        rolls = exact.last_rolls if last else exact.normal_rolls
        fewest = own.last_roll if last else own.normal_roll
        for at in np.ndindex(limit + 1, limit + 1):
            assert tuple(own.optimal_rolls(*at, last=last)) == rolls[at]
            assert fewest[at] == rolls[at][0]


@pytest.mark.parametrize(("limit", "sides"), [(1, 6), (6, 1), (8, 2), (13, 2), (12, 6), (9, 20)])
def test_more_dice_than_the_bound_are_never_better(limit: int, sides: int) -> None:
    game = Greed(limit, sides)
    bounded, free = exact_ratings(limit, sides), exact_ratings(limit, sides, 12)
    assert (bounded.normal == free.normal).all()
    assert (bounded.last == free.last).all()
    for at in np.ndindex(limit + 1, limit + 1):
        # Beyond the bound a roll can at most be as bad as everything else.
        for rolls in (free.normal_rolls, free.last_rolls):
            assert rolls[at][0] <= game.most_dice(at[0])


@pytest.mark.parametrize(("most", "sides", "room"), [(29, 6, 100), (10, 1, 12), (3, 50, 20)])
def test_chances_of_sums_are_accurate_to_the_last_digits(most: int, sides: int, room: int) -> None:
    chances = sum_chances(most, sides, room)
    for n in range(most + 1):
        for t in range(room + 1):
            exact = Fraction(ways_to_sum(t, n, sides), sides**n)
            assert abs(Fraction(chances[n, t]) - exact) <= exact * Fraction(1, 10**13)


# The certificate.


@pytest.mark.parametrize("size", [1e-2, -1e-2, 1e-7, 1e-12])
def test_the_bracket_holds_the_truth_however_wrong_the_ratings(size: float) -> None:
    """Wrong at one pair of scores, or at all of them."""
    limit, sides = 9, 3
    exact, rng = exact_ratings(limit, sides), np.random.default_rng(0)
    right = np.array([exact.normal.astype(float), exact.last.astype(float)])
    noises = [size * rng.uniform(-1, 1, right.shape) for _ in range(20)]
    noises += [*size * np.eye(right.size).reshape(-1, *right.shape)]
    for noise in noises:
        assert error_bound(*(right + noise), sides) >= np.abs(noise).max()


def test_a_bracket_that_is_too_wide_and_scores_beyond_the_limit_are_refused() -> None:
    beyond = "allowed are whole numbers from 0 to 100"
    rows: tuple[tuple[Any, str], ...] = (
        (lambda: solve_greed(tolerance=1e-15), "greed with limit 100 and sides 6"),
        (lambda: solve_greed().ratings(-1, 0), beyond),
        (lambda: solve_greed().ratings(0, 101), beyond),
    )
    assert_refused(rows, error=(CertificateError, ValueError))


def test_rules_are_solved_by_the_solver_which_agrees_with_the_table_in_every_state() -> None:
    small, large = solve(Greed(9, 4)), solve(Greed(1000, 60))
    assert type(small) is type(large) is GreedSolution
    assert_solved_as_table(small, Greed(9, 4))
    assert large.value == solve_greed(1000, 60).value
    # It has a table on demand if that is small enough.
    tabled = with_table(small)
    assert tabled.game is small.game
    assert small.lower <= tabled.lower <= tabled.upper <= small.upper
    assert with_table(large) is None


# What the policies for Greed do, and what they are worth


def test_one_in_twenty_rolls_the_most_dice_that_go_bust_at_most_once_in_20() -> None:
    rules = Greed(30, 5)
    game = compile_game(rules)
    policy = make_baseline("one-in-twenty", game)
    for index in np.flatnonzero(game.on_turn(0)).tolist():
        _, (own, other), phase = game.states[index]
        if phase != "play":
            continue
        rolled, room = int(policy.probabilities[index].argmax()), 30 - own
        if room <= 3 and own >= other:
            assert rolled == 0
            continue
        risks = [1 - probability_at_most(room, n, 5) for n in range(rules.most_dice(own) + 1)]
        allowed = [n for n, risk in enumerate(risks) if n and risk <= Fraction(1, 20)]
        assert rolled == (max(allowed) if allowed else min(1, rules.most_dice(own)))
    # Two dice of 30 sides show more than 51 in 45 of 900 ways; 1 - 0.95 is no 0.05 in floats.
    assert probability_at_most(51, 2, 30) == Fraction(19, 20)
    assert PLANS["one-in-twenty"](Greed(51, 30))[0][0, 0] == 2


def test_the_published_moves_are_a_game_of_the_rules_and_cost_what_is_published() -> None:
    """74, 89, 90, 95, 100 and 104 are reached by the dice that were rolled."""
    ratings, scores, losses = solve_greed(100, 6), (0, 0), {}
    for (at, rolled), after in zip(SAMPLE_GAME.items(), (74, 89, 90, 95, 100, 104), strict=True):
        assert at == scores
        assert after - at[0] in dice_sum(rolled)
        losses[at] = ratings.normal[at] - ratings.ratings(*at)[rolled]
        scores = (at[1], after)
    assert losses[0, 0] == pytest.approx(0.513841733041 - 0.505256, abs=5e-7)
    assert [at for at, loss in losses.items() if abs(loss) < 1e-12] == [(74, 89), (89, 90)]
    assert max(losses, key=losses.__getitem__) == (90, 95)


# The maps of Greed: what is drawn is what the solver says, and the files need nothing else


def drawn(svg: str, cells: int) -> Any:
    """The colour of every cell, by score of the player on turn and the other's."""
    colours = np.full((cells, cells), "", dtype="<U7")
    for path in ElementTree.fromstring(f"<svg>{svg}</svg>").iter("path"):
        for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", path.get("d") or ""):
            run = colours[int(x) : int(x) + int(length), int(y)]
            assert (run == "").all()
            run[:] = path.get("stroke")
    return colours


@pytest.mark.parametrize(("limit", "sides"), [(20, 4), (7, 13), (1, 1)])
def test_the_colours_are_the_optimal_numbers_of_dice(limit: int, sides: int) -> None:
    solution = solve_greed(limit, sides)
    both = solution.normal_roll, solution.last_roll
    for (item, _), rolls in zip(maps_of(solution).values(), both, strict=True):
        found, palette = drawn(item.svg(), limit + 1), item.colours
        assert len(set(palette)) == len(palette)
        assert found.tolist() == [[palette[n] for n in row] for row in rolls.tolist()]
        assert (found == STAND).any()


def test_the_pictures_in_the_documentation_are_those_of_the_solver() -> None:
    for name, text in runpy.run_path(str(DOCS / "scripts" / "greed.py"))["pictures"]().items():
        check_figure(text, DOCS / "games" / name, 200_000)


def test_the_page_holds_the_numbers_of_every_cell() -> None:
    text = render(make_game("greed", limit=20, sides=4))
    found = re.findall(
        r'class="cell-map".*?<script type="application/json">(.*?)</script>', text, re.DOTALL
    )
    solution = solve_greed(20, 4)
    for content, expected in zip(
        found,
        (solution.normal_roll, solution.normal, solution.last_roll, solution.last),
        strict=True,
    ):
        data = json.loads(content)
        numbers = np.frombuffer(base64.b64decode(data["numbers"]), "<i2").reshape(21, 21)
        assert np.abs(numbers / 10 ** data["digits"] - expected).max() <= 5.001e-5
