"""Sums of dice against enumeration, what parameters may be, and scenes and values in words."""

import pickle
import random
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused

import solvent
from solvent.games import FightingFantasy, Greed, Pig, TimedFootball
from solvent.model import (
    WINS,
    WINS_OR_TIES,
    Cell,
    Gauge,
    Grid,
    Gridiron,
    Pieces,
    Prose,
    ValueScale,
    dice_sum,
    gauge,
    probability_at_most,
    scene_text,
    ways_to_sum,
)
from solvent.model.dice import dice_showing
from solvent.model.parameters import (
    LONGEST_SHOWN,
    ChoiceError,
    as_options,
    check_arguments,
    check_choice,
    check_integer,
    check_integers,
    check_rational,
    is_number,
    shown,
    spread,
)

# Sums of dice against enumeration, and what parameters may be


@given(st.integers(0, 4), st.integers(1, 6))
def test_dice_sums_equal_enumeration(count: int, sides: int) -> None:
    rolls = [sum(roll) for roll in product(range(1, sides + 1), repeat=count)]
    assert dice_sum(count, sides) == {
        t: Fraction(rolls.count(t), len(rolls)) for t in sorted(set(rolls))
    }
    for bound in range(-1, count * sides + 2):
        assert probability_at_most(bound, count, sides) == Fraction(
            sum(t <= bound for t in rolls), len(rolls)
        )
    for total in range(-2, count * sides + 3):
        assert ways_to_sum(total, count, sides) == rolls.count(total)
    # In 64-bit floats the closed formula gives about -1e-4 for this.
    assert 0 < ways_to_sum(170, 29) < 6**29 / 10**17


@pytest.mark.parametrize("total", [3, 7, 12])
def test_dice_of_a_sum_are_each_roll_with_equal_probability(total: int) -> None:
    chance = random.Random(1)
    every = [roll for roll in product(range(1, 5), repeat=3) if sum(roll) == total]
    seen = Counter(tuple(dice_showing(total, 3, 4, chance)) for _ in range(400 * len(every)))
    assert set(seen) == set(every)
    # Counts of probability p, within five standard errors.
    assert all(abs(count - 400) <= 5 * 400**0.5 for count in seen.values())


NO_DICE = [
    (lambda: dice_showing(2, 3, 6, random.Random(1)), "total is 2; 3 dice with 6 sides cannot"),
    (lambda: dice_showing(19, 3, 6, random.Random(1)), "total is 19; 3 dice with 6 sides cannot"),
    (lambda: dice_sum(-1, 6), "count is -1; a number of dice is at least 0$"),
    (lambda: ways_to_sum(3, -1, 6), "count is -1; a number of dice is at least 0$"),
    (lambda: dice_sum(2, 0), "sides is 0; a die has at least 1 side$"),
    (lambda: ways_to_sum(3, 2, 0), "sides is 0; a die has at least 1 side$"),
]


def test_impossible_dice_are_refused() -> None:
    assert_refused((call, f"^{message}") for call, message in NO_DICE)


ALLOWED: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    *((check_integer, (number, "x", -2, 5), number) for number in (-2, 5, np.int64(3))),
    (check_rational, (0, "x", 0, 1), 0),
    (check_rational, ("1/3", "x", 0, 1), Fraction(1, 3)),
    (check_rational, (0.1, "x", 0, 1), Fraction(1, 10)),
    (spread, (3, "x", 0, 9), {3: 1}),
    (spread, ([0, 9], "x", 0, 9), dict.fromkeys(range(10), Fraction(1, 10))),
    (spread, ([4, 4], "x", 0, 9), {4: 1}),
    (spread, ({"2": 0.3, "-1": 0.1}, "x", -5, 5), {-1: Fraction(1, 4), 2: Fraction(3, 4)}),
    (check_integers, ([-2, 5], "x", -2, 5, (2, 2)), (-2, 5)),
    (check_integers, ([1] * 10_000, "x", 1, 1), (1,) * 10_000),
    (check_choice, ("b", "x", {"a", "b"}), "b"),
]


def test_values_are_read_up_to_the_bounds_and_spreads_are_a_value_a_range_or_weights() -> None:
    for check, arguments, expected in ALLOWED:
        assert check(*arguments) == expected
    assert list(spread({5: 1, 2: "1/2"}, "x", 0, 9)) == [2, 5]


REFUSED: list[tuple[Callable[..., Any], Any, str]] = [
    (check_integer, -3, "x is -3; allowed are whole numbers from -2 to 5"),
    (check_integer, 6, "x is 6; allowed are whole numbers from -2 to 5"),
    (check_integer, True, "x is True; allowed are whole numbers from -2 to 5"),
    (check_integer, 1.0, "x is 1.0; allowed are whole numbers from -2 to 5"),
    (check_integers, "12", "x is '12'; allowed are lists of whole numbers"),
    (check_integers, 3, "x is 3; allowed are lists of whole numbers"),
    (check_integers, [1, 6], "x[1] is 6; allowed are whole numbers from -2 to 5"),
    (check_integers, [], "the length of x is 0; allowed are whole numbers from 1 to 10000"),
    (
        check_integers,
        [1] * 10_001,
        "the length of x is 10001; allowed are whole numbers from 1 to 10000",
    ),
    (check_rational, "11/2", "x is '11/2'; allowed are numbers from -2 to 5"),
    (check_rational, -2.5, "x is -2.5; allowed are numbers from -2 to 5"),
    (check_rational, True, "x is True; allowed are numbers from -2 to 5"),
    (check_rational, float("nan"), "x is nan; allowed are numbers from -2 to 5"),
    (check_rational, "1/0", "x is '1/0'; allowed are numbers from -2 to 5"),
    (check_rational, None, "x is None; allowed are numbers from -2 to 5"),
    (spread, {}, "x is empty; a distribution needs at least one value"),
    (spread, {3: 1, "3": 2}, "x gives the value 3 twice"),
    (spread, {3: 0}, "x[3] has weight 0; allowed are positive numbers"),
    (spread, {"3": True}, "x['3'] has weight True; allowed are positive numbers"),
    (spread, {3: "1/0"}, "x[3] has weight '1/0'; allowed are positive numbers"),
    (spread, {6: 1}, "x is 6; allowed are whole numbers from -2 to 5"),
    (spread, {"--3": 1}, "x is '--3'; allowed are whole numbers from -2 to 5"),
    (spread, {-3: 1}, "x is -3; allowed are whole numbers from -2 to 5"),
    (spread, [1], "x is [1]; a range is a pair [low, high]"),
    (spread, "12", "x is '12'; allowed are whole numbers from -2 to 5"),
    (spread, [4, 3], "x is [4, 3]; the range is upside down"),
    (spread, [-3, 5], "x is -3; allowed are whole numbers from -2 to 5"),
    (spread, [0, 6], "x is 6; allowed are whole numbers from -2 to 5"),
    (spread, 6, "x is 6; allowed are whole numbers from -2 to 5"),
    (spread, -3, "x is -3; allowed are whole numbers from -2 to 5"),
    (spread, 2.5, "x is 2.5; allowed are whole numbers from -2 to 5"),
    (spread, float("nan"), "x is nan; allowed are whole numbers from -2 to 5"),
    (spread, True, "x is True; allowed are whole numbers from -2 to 5"),
    (spread, None, "x is None; allowed are whole numbers from -2 to 5"),
    (spread, [1, 2, 3], "x is [1, 2, 3]; a range is a pair [low, high]"),
    (spread, {1: -1}, "x[1] has weight -1; allowed are positive numbers"),
    (spread, {1: float("nan")}, "x[1] has weight nan; allowed are positive numbers"),
    (spread, {1: float("inf")}, "x[1] has weight inf; allowed are positive numbers"),
    (spread, {"a": 1}, "x is 'a'; allowed are whole numbers from -2 to 5"),
]
UNKNOWN = [
    ("zzz", {"b", "a"}, r"^x is 'zzz'; allowed are a, b\.$"),
    ("heavz", ["heavily", "heavy"], r"^x is 'heavz'; allowed are .*\. Did you mean 'heavy'\?$"),
    ("hel-demon", ["hell-demon", "dragon"], r"x is 'hel-demon'.*Did you mean 'hell-demon'"),
]


def test_what_is_refused_and_what_is_allowed_are_named() -> None:
    rows = ((check, value, f"^{re.escape(message)}$") for check, value, message in REFUSED)
    assert_refused(rows, lambda check, value: check(value, "x", -2, 5))
    assert_refused(UNKNOWN, lambda name, names: check_choice(name, "x", names))


DEEP: Any = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**6,
        list(range(10**5)),
        10**5000,
        -(10**5000),
        DEEP,
        np.zeros((9, 9)),
        {1: "y" * 500},
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_repeats_a_line_of_a_value_at_most(value: Any) -> None:
    assert len(shown(value)) <= LONGEST_SHOWN
    assert "\n" not in shown(value)
    line = rf"^(?=.*luck).{{,{LONGEST_SHOWN + 79}}}$"
    assert_refused((
        (lambda: check_integer(value, "luck", 0, 9), line),
        (lambda: check_rational(value, "luck", 0, 9), line),
        (lambda: check_choice(value, "luck", ["high", "low"]), line),
        (lambda: spread(value, "luck", 0, 9), line),
        (lambda: spread({1: value}, "luck", 0, 9), line),
    ))  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "1e999999999",
        "1e-999999999",
        "-1E+999999999",
        "1e0000999999999",
        "1e1_000_000_000",
        "1e0_9_9_9_9",
    ],
)
def test_a_number_that_nobody_could_write_out_is_refused_at_once(text: str) -> None:
    assert check_rational("1e-400", "luck", 0, 1) == Fraction(1, 10**400)
    rows = (
        (check_rational, "1e-401", "luck is '1e-401'"),
        (check_rational, text, "luck is '"),
        (spread, {1: text}, "has weight '"),
    )
    assert_refused(rows, lambda read, value: read(value, "luck", 0, 1))


def test_numbers_are_finite_and_no_truth_values() -> None:
    assert all(map(is_number, (0, -3, 0.5, 10**300)))
    assert not any(map(is_number, (True, "1", None, float("nan"), float("inf"), 10**400, [1])))


def test_parameters_are_written_as_a_shell_takes_them() -> None:
    given = {"form": "half", "largest_margin": 7, "clock": {"timeouts": 0}, "chart": "my chart"}
    assert as_options(given) == (
        """--form half --largest-margin 7 --clock '{"timeouts": 0}' --chart 'my chart'"""
    )
    assert as_options({}) == ""


def test_errors_of_choices_go_from_process_to_process() -> None:
    # Workers pickle what they raise; Gymnasium makes an error of the same class and a message.
    for check in (check_choice, lambda *given: check_arguments([given[0]], *given[1:])):
        with pytest.raises(ChoiceError) as raised:
            check("stamin", "hero", ["stamina", "luck"])
        copied = pickle.loads(pickle.dumps(raised.value))  # noqa: S301
        assert (vars(copied), str(copied)) == (vars(raised.value), str(raised.value))
        assert copied.allowed == ("luck", "stamina")
        assert "Did you mean 'stamina'?" in str(type(copied)(f"{copied} in a worker"))


# Scenes as text


def test_a_gauge_is_filled_as_far_as_its_value_goes() -> None:
    for value, most, drawn in (
        (3, 12, "█░░░  3/12"),
        (12, 12, "████ 12/12"),
        (14, 12, "████ 14/12"),
        (-3, 12, "░░░░ -3/12"),
        (0.01, 12, "█░░░ 0.01/12"),
        (0, 0, "░░░░  0/0"),
    ):
        assert gauge(value, most, 4) == drawn


def test_a_scene_is_written_part_by_part() -> None:
    rows = ((Cell("", "wall"), Cell("A•")), (Cell(), Cell("", "goal")))
    many = Pieces("dice", "dice", (Cell("6"),) * 50)
    parts = (Grid(rows, (1, 1), below=("1", "2")), Prose("Title", ("Text.",)))
    assert scene_text(parts) == " #   A•\n .  [G ]\n 1  2\nTitle\nText."
    assert scene_text((many,)) == f"dice:{' 6' * 40} …"
    assert scene_text((many._replace(cells=many.cells[:40]),)) == f"dice:{' 6' * 40}"
    bars = Gauge("LUCK", 12, 12), Gauge("HP", 0, 12, more=2.5)
    parts = (
        *bars,
        Gridiron(None, None, news="4th and 1"),
        Pieces("", "boxes", (Cell(kind="start"),)),
    )
    assert scene_text(parts) == f"LUCK {'█' * 24} 12/12\nHP   {'░' * 24}  0/12 + 2.5\n4th and 1\nS"


# Values in the unit of a game


@pytest.mark.parametrize(
    ("game", "unit"),
    [
        (Pig(target=4), WINS),
        (Pig(target=4, signed=True), ""),
        (FightingFantasy(stamina=2, opponent_stamina=2, luck=0), WINS),
        (FightingFantasy(stamina=2, opponent_stamina=2, luck=0, stamina_weight=1), "points"),
        (Greed(limit=3, sides=2), WINS_OR_TIES),
        (TimedFootball(form="half"), "points"),
        (TimedFootball(form="full"), WINS_OR_TIES),
        (solvent.make_game("FrozenLake-v1"), WINS),
        (solvent.make_game("CliffWalking-v1"), ""),
    ],
    ids=lambda one: one.info.name if hasattr(one, "info") else one,
)
def test_the_unit_of_a_game(game: Any, unit: str) -> None:
    assert game.info.unit == unit


def test_what_one_side_wins_the_other_loses() -> None:
    won, paid = Greed(limit=3, sides=2).info, solvent.make_game("football-drive").info
    assert (ValueScale(won, 1).of(0.25), ValueScale(paid, 1).of(0.25)) == (0.75, -0.25)
    assert ValueScale(won, 0).of(0.25) == ValueScale(paid, 0).of(0.25) == 0.25
