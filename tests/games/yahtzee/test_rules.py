"""The rules of Yahtzee, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from solvent.games.yahtzee.rules import (
    BOXES,
    JOKER_POINTS,
    LOWER,
    OVER,
    UPPER,
    Turn,
    Yahtzee,
    points,
)
from solvent.model import Outcome, check_game

GAME = Yahtzee()
START = Turn((), 3, BOXES, 0, False)
NO_YAHTZEE = tuple(box for box in BOXES if box != "yahtzee")


def box_action(game: Yahtzee, box: str) -> int:
    return game.keeps + game.scorecard.index(box)


def fill(state: Turn, box: str, game: Yahtzee = GAME) -> Outcome:
    [outcome] = game.transition(state, (box_action(game, box),))
    return outcome


def test_a_game_begins_with_an_empty_card_and_a_roll_of_all_dice() -> None:
    assert GAME.initial() == (Outcome(Fraction(1), START),)
    assert GAME.legal_actions(START) == ((0,),)


def test_all_rolls_of_five_dice_are_equally_probable() -> None:
    chances = {one.state.dice: one.probability for one in GAME.transition(START, (0,))}
    counted: dict[tuple[int, ...], int] = {}
    for dice in product(range(1, 7), repeat=5):
        roll = tuple(sorted(dice))
        counted[roll] = counted.get(roll, 0) + 1
    assert chances == {roll: Fraction(ways, 6**5) for roll, ways in counted.items()}
    assert len(chances) == 252


def test_dice_that_are_kept_stay_and_the_others_are_rolled() -> None:
    state = Turn((2, 2, 3, 5, 6), 2, BOXES, 0, False)
    outcomes = GAME.transition(state, (0b10011,))
    assert GAME.kept(state, 0b10011) == (2, 2, 6)
    assert all(one.state.rolls == 1 for one in outcomes)
    pair = {one.state.dice: one.probability for one in outcomes}
    assert pair[2, 2, 2, 4, 6] == Fraction(2, 36)
    assert pair[2, 2, 4, 4, 6] == Fraction(1, 36)
    assert len(pair) == 21


def test_every_keep_is_one_action_and_keeping_all_is_none() -> None:
    [legal] = GAME.legal_actions(Turn((2, 2, 2, 5, 6), 1, BOXES, 0, False))
    keeps = [a for a in legal if a < GAME.keeps]
    kept = [tuple((2, 2, 2, 5, 6)[i] for i in range(5) if a >> i & 1) for a in keeps]
    assert len(set(kept)) == len(kept) == 4 * 2 * 2 - 1
    assert (2, 2, 2, 5, 6) not in kept
    assert [a for a in legal if a >= GAME.keeps] == list(range(31, 44))


@pytest.mark.parametrize(
    ("box", "dice", "scored"),
    [
        ("aces", (1, 1, 3, 4, 5), 2),
        ("sixes", (1, 6, 6, 6, 6), 24),
        ("fours", (1, 1, 3, 5, 5), 0),
        ("three-of-a-kind", (2, 2, 2, 5, 6), 17),
        ("three-of-a-kind", (2, 2, 5, 5, 6), 0),
        ("four-of-a-kind", (3, 5, 5, 5, 5), 23),
        ("four-of-a-kind", (3, 3, 5, 5, 5), 0),
        ("four-of-a-kind", (5, 5, 5, 5, 5), 25),
        ("full-house", (3, 3, 5, 5, 5), 25),
        ("full-house", (3, 3, 3, 3, 5), 0),
        ("full-house", (3, 3, 3, 3, 3), 0),
        ("small-straight", (1, 2, 3, 4, 6), 30),
        ("small-straight", (3, 4, 5, 5, 6), 30),
        ("small-straight", (1, 2, 3, 5, 6), 0),
        ("large-straight", (2, 3, 4, 5, 6), 40),
        ("large-straight", (1, 2, 3, 4, 6), 0),
        ("yahtzee", (4, 4, 4, 4, 4), 50),
        ("yahtzee", (4, 4, 4, 4, 5), 0),
        ("chance", (1, 2, 2, 5, 6), 16),
    ],
)
def test_a_box_scores(box: str, dice: tuple[int, ...], scored: int) -> None:
    assert points(box, dice) == scored
    outcome = fill(Turn(dice, 0, BOXES, 0, False), box)
    assert outcome.reward == scored
    assert box not in outcome.state.open
    assert outcome.state.dice == ()
    assert outcome.state.rolls == 3


def test_the_upper_section_earns_its_bonus_once() -> None:
    state = Turn((6, 6, 6, 6, 6), 0, BOXES, 40, False)
    outcome = fill(state, "sixes")
    assert (outcome.reward, outcome.state.upper) == (30 + 35, 63)
    assert fill(state._replace(upper=32), "sixes").reward == 30
    assert fill(state._replace(upper=33), "sixes").reward == 30 + 35
    assert fill(state._replace(upper=63), "sixes").reward == 30
    # A lower box does not count.
    assert fill(state._replace(upper=62), "chance").state.upper == 62


def test_a_yahtzee_with_50_in_its_box_is_100_more() -> None:
    fives = Turn((5,) * 5, 0, NO_YAHTZEE, 0, True)
    assert fill(Turn((5,) * 5, 0, BOXES, 0, False), "yahtzee").state.bonus
    assert not fill(Turn((5, 5, 5, 5, 6), 0, BOXES, 0, False), "yahtzee").state.bonus
    assert fill(fives, "fives").reward == 25 + 100
    assert fill(fives._replace(bonus=False), "fives").reward == 25
    assert fill(fives._replace(dice=(5, 5, 5, 5, 6)), "fives").reward == 20


@pytest.mark.parametrize("bonus", [False, True])
def test_a_forced_joker_goes_to_its_upper_box_then_any_lower_then_any_upper(bonus: bool) -> None:
    twos = Turn((2,) * 5, 1, NO_YAHTZEE, 0, bonus)
    assert GAME.scores(twos) == {"twos": 10}
    filled = tuple(box for box in NO_YAHTZEE if box != "twos")
    assert GAME.scores(twos._replace(open=filled)) == {
        "three-of-a-kind": 10,
        "four-of-a-kind": 10,
        "full-house": 25,
        "small-straight": 30,
        "large-straight": 40,
        "chance": 10,
    }
    only = tuple(box for box in UPPER if box != "twos")
    assert GAME.scores(twos._replace(open=only)) == dict.fromkeys(only, 0)


def test_verhoeffs_joker_goes_anywhere_and_counts_once_its_upper_box_is_filled() -> None:
    game = Yahtzee(joker="free")
    twos = Turn((2,) * 5, 1, NO_YAHTZEE, 0, True)
    assert game.scores(twos) == {box: points(box, twos.dice) for box in NO_YAHTZEE}
    filled = tuple(box for box in NO_YAHTZEE if box != "twos")
    counted = {box: JOKER_POINTS.get(box, points(box, twos.dice)) for box in filled}
    assert game.scores(twos._replace(open=filled)) == counted


def test_without_jokers_or_before_its_box_is_filled_a_yahtzee_is_a_roll_like_any_other() -> None:
    for joker, boxes in (("none", LOWER[:5]), ("forced", BOXES), ("free", BOXES)):
        twos = Turn((2,) * 5, 1, boxes, 0, boxes != BOXES)
        assert Yahtzee(joker=joker).scores(twos) == {box: points(box, twos.dice) for box in boxes}


def test_the_game_ends_when_all_boxes_are_filled() -> None:
    outcome = fill(Turn((1, 2, 3, 4, 6), 0, ("chance",), 12, True), "chance")
    assert outcome == Outcome(Fraction(1), OVER, 16)
    assert GAME.is_terminal(OVER)
    assert not GAME.is_terminal(START)


def test_the_largest_score_is_1575() -> None:
    """Thirteen Yahtzees: the first in its box, then jokers in the lower and the upper section."""
    state, total, chance = START, 0, Fraction(1)
    faces = [6, *range(1, 7), *([6] * 6)]
    boxes = ["yahtzee", *UPPER, *(box for box in LOWER if box != "yahtzee")]
    for face, box in zip(faces, boxes, strict=True):
        [roll] = [one for one in GAME.transition(state, (0,)) if one.state.dice == (face,) * 5]
        outcome = fill(roll.state, box)
        chance *= roll.probability
        state, total = outcome.state, total + outcome.reward
    assert GAME.is_terminal(state)
    assert total == GAME.info.reward_range[1] == 1575
    assert chance > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"boxes": "aces,ones"}, "a box is 'ones'; allowed are"),
        ({"boxes": []}, r"boxes is \[\]; allowed are 'all' and lists of at least one of aces"),
        ({"boxes": 3}, "boxes is 3; allowed are"),
        ({"boxes": ["chance", "chance"]}, "allowed is every box once"),
        ({"boxes": "sixes", "faces": 5}, "a box is 'sixes'; allowed are"),
        ({"dice": 6}, "dice is 6; allowed are whole numbers from 2 to 5"),
        ({"faces": 7}, "faces is 7"),
        ({"rolls": 0}, "rolls is 0"),
        ({"joker": "wild"}, "joker is 'wild'; allowed are"),
        ({"bonus_at": 64}, "bonus_at is 64"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Yahtzee(**parameters)


@pytest.mark.parametrize(
    "game",
    [
        Yahtzee("aces,twos,yahtzee,chance", dice=2, faces=2, bonus_at=4),
        Yahtzee("full-house,yahtzee", dice=5, faces=2, rolls=2, joker="free"),
        Yahtzee("twos,yahtzee", dice=3, faces=3, bonus_at=0, yahtzee_bonus=0, joker="none"),
    ],
)
def test_small_forms_pass_the_checks_of_all_games(game: Yahtzee) -> None:
    check_game(game)
