"""Every number on the pages of Greed and Pig is recomputed."""

import re
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb, exp
from typing import Any

import numpy as np
import pytest
from doc_pages import DOCS, check_claims, table_rows

from solvent.baselines import baseline_names, make_baseline
from solvent.exact import Solution, exploitability, solve
from solvent.games import Greed, Pig
from solvent.games.greed.baselines import PLANS, policy_of
from solvent.games.greed.rules import LARGEST_TABLE, Position
from solvent.games.greed.solver import TIE, solve_greed
from solvent.model import Game, TabularGame, TooManyStatesError, compile_game, dice_sum, ways_to_sum

PAGES = {name: (DOCS / "games" / f"{name}.md").read_text("utf-8") for name in ("greed", "pig")}
PAGES["greed"] += (DOCS / "notes" / "greed.md").read_text("utf-8")


def table(page: str, heading: str) -> list[Any]:
    return table_rows(PAGES[page], heading)


def baselines_of_greed() -> list[tuple[str, ...]]:
    """The name of a baseline, a ruleset, and what it loses in each seat."""
    rules = ("(20, 4)", "(100, 6)")
    return [
        (name, ruleset, *lost[2 * n : 2 * n + 2])
        for n, ruleset in enumerate(rules)
        for name, *lost in table("greed", "baseline")
        if lost[2 * n]
    ]


def slow_if(condition: bool) -> Any:
    return pytest.mark.slow if condition else ()


@cache
def solved(rules: Game) -> tuple[TabularGame, Solution]:
    game = compile_game(rules)
    return game, solve(game)


def ruleset(text: str) -> Greed:
    return Greed(*map(int, re.findall(r"\d+", text)))


@pytest.mark.parametrize(
    ("row", "tabled"),
    [
        pytest.param(row, tabled, marks=slow_if(tabled and row[0] == "(100, 6)"))
        for row in table("greed", "ruleset")
        for tabled in (False, True)
    ],
)
def test_values_and_brackets_of_greed(row: tuple[str, ...], tabled: bool) -> None:
    limits, states, value, width, dice = row
    found: Any = solve(ruleset(limits))
    assert found.optimal_rolls(0, 0) == [int(dice)]
    if tabled:
        game, found = solved(ruleset(limits))
        assert game.n_states == int(states)
    assert f"{found.value:.12f}" == value
    assert found.upper - found.lower < float(width)


# A baseline, a game, what it loses in each seat, and whether that takes long.
LOSSES: list[tuple[str, Game, list[str], bool]] = [
    *(
        (name, ruleset(rules), lost, rules == "(100, 6)")
        for name, rules, *lost in baselines_of_greed()
    ),
    # The rule to remember.
    *(
        ("one-in-twenty", ruleset(rules), lost, rules.startswith("(100"))
        for rules, *lost in table("greed", "limit and sides")
    ),
    *((name, Pig(int(target)), lost, False) for name, target, *lost in table("pig", "baseline")),
]


@pytest.mark.parametrize(
    ("name", "rules", "lost"),
    [pytest.param(*row, marks=slow_if(slow), id=f"{row[0]} {row[1]}") for *row, slow in LOSSES],
)
def test_what_baselines_lose(name: str, rules: Game, lost: list[str]) -> None:
    game, solution = solved(rules)
    found = [
        exploitability(game, make_baseline(name, game, player), solution)
        for player in range(len(lost))
    ]
    assert [f"{abs(gap):.6f}" for gap in found] == lost


def test_the_page_has_every_baseline_of_greed() -> None:
    small, usual = (
        {name for name, rules, *_ in baselines_of_greed() if rules == one}
        for one in ("(20, 4)", "(100, 6)")
    )
    assert small == set(baseline_names(compile_game(Greed(20, 4))))
    assert usual == small | {"sample-game"}


def test_other_numbers_of_greed() -> None:
    assert f"{solve_greed().ratings(0, 0)[25]:.6f}" == "0.505256"
    assert (
        "25 dice at (100, 6), as in the sample game of [3], has the value 0.505256"
        in PAGES["greed"]
    )
    assert len(Greed().info.actions[0]) == 30
    assert LARGEST_TABLE == 100_000_000
    with pytest.raises(TooManyStatesError):
        compile_game(Greed(144))


@cache
def by_points_left(sides: int, limit: int = 100) -> tuple[Any, Any]:
    """Ratings and fewest optimal dice before the last turn, [x, y] by points left."""
    ratings = solve_greed(limit, sides)
    return ratings.normal[::-1, ::-1], ratings.normal_roll[::-1, ::-1]


@pytest.mark.parametrize("row", table("greed", "sides"), ids=lambda row: row[0])
def test_the_rating_can_be_read_off_far_from_the_limit(row: tuple[str, ...]) -> None:
    sides = int(row[0])
    ratings, dice = by_points_left(sides)
    x, y = np.indices(ratings.shape)[:, 2 * sides :, 2 * sides :]
    far = ratings[2 * sides :, 2 * sides :]
    # A, B and the errors of A + B ln(y / x), by least squares.
    terms = np.stack((np.ones(far.size), np.log(y / x).ravel()), axis=1)
    (a, b), *_ = np.linalg.lstsq(terms, far.ravel(), rcond=None)
    errors = far.ravel() - terms @ (a, b)
    square, plain = np.sqrt((errors**2).mean()), np.abs(far - far.mean()).max()
    numbers = (a, b, np.abs(errors).max(), square, plain)
    assert row[1:6] == tuple(f"{number:.4f}" for number in numbers)
    common = np.array([[np.bincount(line).argmax()] for line in dice])
    assert row[6] == f"{(dice == common).mean():.1%}"


def last_turn_follows(dice: int) -> bool:
    outcomes = Greed().transition(Position(0, (50, 50), "play"), (dice, 0))
    return {o.state.phase for o in outcomes} == {"last"}


def mirrored_sums() -> float:
    """How far the values of a position to the two players are from a sum of 1, at most."""
    game, solution = solved(Greed(20, 4))
    value = dict(zip(game.states, solution.values.tolist(), strict=True))
    return max(
        abs(value[state] + value.get(Position(1 - state.player, state.scores[::-1], state.phase),
                                     1 - value[state]) - 1)
        for state in game.states
        if state.phase != "over"
    )  # fmt: skip


def modes_are_several(at: tuple[int, int]) -> bool:
    """Whether the ratings of the numbers of dice fall and rise again, at (13, 2)."""
    steps = np.diff(solve_greed(13, 2).ratings(*at))
    steps = steps[np.abs(steps) > TIE]
    return any(before < 0 < after for before, after in pairwise(steps))


def floating_closed_form(total: int, count: int, sides: int = 6) -> float:
    """The source's formula for the pmf, term by term in floats."""
    return sum(
        (-1) ** k * float(comb(count, k)) * float(comb(total - sides * k - 1, count - 1))
        / float(sides) ** count
        for k in range((total - count) // sides + 1)
    )  # fmt: skip


def test_the_page_judges_every_claim_of_the_source() -> None:
    sixth = Fraction(1, 6)
    first = [o.state.scores[::-1] for o in
             Greed(100, 2).transition(Position(0, (2, 6), "play"), (2, 0))]  # fmt: skip
    printed = sum(1 - rating for rating in solve_greed().normal[0, 24:])
    ratings, dice = by_points_left(6)
    x, y = np.indices(ratings.shape)[:, 12:, 12:]
    off = np.abs(ratings[12:, 12:] - 0.515 - 0.02 * np.log(y / x))
    assert f"off by {off.mean():.3f} on\naverage and by {off.max():.3f} at" in PAGES["greed"]
    # Who has few points left stands, if the other one has no fewer; nobody else does.
    assert all(((dice[n] == 0) == (np.arange(101) >= n)).all() for n in range(4))
    assert dice[10:].all()
    at_one = (sum(exp(face) for face in range(1, 7)) / 6) ** 2
    assert mirrored_sums() < 1e-12
    check_claims(
        "notes/greed.md",
        {
            "T is the sum D_1(d_1) + … + D_n(d_n) of probability functions": (
                f"dice that show 3 and 4: {sixth} + {sixth} = {sixth + sixth}; "
                f"P(T = 7) = {dice_sum(2)[7]}"
            ),
            "for t = 1, P(X = x) is the coefficient of e^x": (
                f"the coefficient of z^7 in ((z + … + z^6) / 6)^2 is "
                f"{Fraction(ways_to_sum(7, 2), 36)}; at t = 1 that is the number {at_one:.1f}"
            ),
            "the closed formula of the pmf": (
                f"29 dice show 170 with {ways_to_sum(170, 29) / 6**29:.3g}; 64-bit floats give "
                f"{floating_closed_form(170, 29):.2e}"
            ),
            "the rating of a roll, a sum of 1 - rating": (
                f"{printed:.2f} for the first 24 dice, up to the limit"
            ),
            "the last-turn rating sums p_T(t - s_p) from t = s_o + 1": (
                f"ahead by 2, it asks for p_T(-1), which is {ways_to_sum(-1, 2)}"
            ),
            "{0 if n=1 else 0} flags the last turn": (
                f"the last turn follows 0 dice: {last_turn_follows(0)}; 1 die: "
                f"{last_turn_follows(1)}"
            ),
            "two dice lead from (2, 6) to (6, 4), (6, 5), (6, 6), (6, 7)": (
                f"two-sided dice: {', '.join(map(str, first))}"
            ),
            "both ratings of a position sum to 1": "to within 1e-12 at (20, 4)",
            "ratings are unimodal in the number of dice [2]": (
                f"not in {sum(map(modes_are_several, np.ndindex(14, 14)))} positions at (13, 2)"
            ),
            "whether ratings follow a pattern is open": (
                f"0.515 + 0.02 · ln(y / x), off by {off.max():.3f} at most"
            ),
        },
    )


@pytest.mark.parametrize("limit", [50, pytest.param(100, marks=pytest.mark.slow)])
def test_what_the_rule_of_a_quarter_loses(limit: int) -> None:
    game, solution = solved(Greed(limit, 6))
    own, other = np.indices((limit + 1, limit + 1))
    x = limit - own
    plan = PLANS["one-in-twenty"](Greed(limit, 6))
    plan[0] = np.minimum(np.maximum(x // 4 - 1, 1), -(-2 * x // 7))
    plan[0][(x <= 3) & (own >= other)] = 0
    lost = [
        f"{exploitability(game, policy_of(plan, game, player, 'quarter'), solution):.6f}"
        for player in (0, 1)
    ]
    assert re.search(rf"{lost[0]} and\s+{lost[1]} at \({limit}, 6\)", PAGES["greed"])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=slow_if(row[0] == "100"), id=" ".join(row[:2]))
        for row in table("pig", "target")
    ],
)
def test_values_of_pig(row: tuple[str, ...]) -> None:
    game, solution = solved(Pig(int(row[0]), signed=row[1] == "true"))
    assert game.n_states == int(row[2])
    assert solution.value == pytest.approx(float(row[3]), abs=0.51 * 10.0 ** (2 - len(row[3])))
    assert solution.upper - solution.lower < float(row[4])
