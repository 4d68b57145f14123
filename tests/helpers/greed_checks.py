"""Assertions about Greed that go through the rules."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from solvent.exact import solve
from solvent.games.greed import rules
from solvent.games.greed.kernel import solve_greed
from solvent.games.greed.rules import Position
from solvent.model import compile_game


def branches(state: Position, dice: int, **parameters: int) -> dict[Position, Fraction]:
    """The positions that follow when the player on turn rolls so many dice."""
    game = rules.Greed(**parameters)
    joint = (dice, 0) if state.player == 0 else (0, dice)
    return {o.state: o.probability for o in game.transition(state, joint)}


def payoffs(state: Position, dice: int, **parameters: int) -> dict[Position, Fraction]:
    """What player 0 is paid on the way to each of them."""
    game = rules.Greed(**parameters)
    joint = (dice, 0) if state.player == 0 else (0, dice)
    return {o.state: o.reward for o in game.transition(state, joint)}


def check_the_sum_of_the_dice_is_added_to_the_score() -> None:
    sums = [sum(faces) for faces in product(range(1, 5), repeat=3)]
    for player, start in ((0, (2, 5)), (1, (5, 2))):
        expected = {
            Position(1 - player, (2 + t, 5) if player == 0 else (5, 2 + t), "play"): Fraction(
                sums.count(t), len(sums)
            )
            for t in set(sums)
        }
        assert branches(Position(player, start, "play"), 3, limit=20, sides=4) == expected


def check_a_score_above_the_limit_is_a_bust_and_loses() -> None:
    for phase in ("play", "last"):
        mine = branches(Position(0, (17, 3), phase), 2, limit=20, sides=6)
        assert mine[Position(0, (21, 3), "over")] == 1 - Fraction(3, 36)
        assert payoffs(Position(0, (17, 3), phase), 2, limit=20, sides=6)[
            Position(0, (21, 3), "over")
        ] == 0  # fmt: skip
        theirs = payoffs(Position(1, (3, 17), phase), 2, limit=20, sides=6)
        assert theirs[Position(0, (3, 21), "over")] == 1


def check_the_limit_itself_is_no_bust() -> None:
    after = branches(Position(0, (17, 3), "play"), 1, limit=20, sides=6)
    assert after[Position(1, (20, 3), "play")] == Fraction(1, 6)
    assert Position(0, (20, 3), "over") not in after


def check_a_stand_opens_the_last_turn_of_the_other_player() -> None:
    for player in (0, 1):
        state = Position(player, (4, 9), "play")
        last = Position(1 - player, (4, 9), "last")
        assert branches(state, 0) == {last: 1}
        assert payoffs(state, 0) == {last: 0}


def check_play_is_over_after_the_last_turn_whatever_is_rolled() -> None:
    game = rules.Greed()
    for dice in (0, 3):
        for state in branches(Position(1, (40, 35), "last"), dice):
            assert state.phase == "over"
            assert game.is_terminal(state)


def check_the_higher_score_wins_and_equal_scores_are_a_tie() -> None:
    paid = payoffs(Position(0, (5, 7), "last"), 1, limit=20, sides=3)
    assert paid == {
        Position(0, (6, 7), "over"): 0,
        Position(0, (7, 7), "over"): Fraction(1, 2),
        Position(0, (8, 7), "over"): 1,
    }
    paid = payoffs(Position(1, (7, 5), "last"), 1, limit=20, sides=3)
    assert paid == {
        Position(0, (7, 6), "over"): 1,
        Position(0, (7, 7), "over"): Fraction(1, 2),
        Position(0, (7, 8), "over"): 0,
    }


def check_the_game_is_worth_what_the_recursion_says() -> None:
    """The rules and the kernel, which knows nothing of them, agree on the value."""
    value = solve(compile_game(rules.Greed(9, 3), reference=True)).value
    assert abs(value - solve_greed(9, 3).value) < 1e-12


RULE_CHECKS = (
    check_the_sum_of_the_dice_is_added_to_the_score,
    check_a_score_above_the_limit_is_a_bust_and_loses,
    check_the_limit_itself_is_no_bust,
    check_a_stand_opens_the_last_turn_of_the_other_player,
    check_play_is_over_after_the_last_turn_whatever_is_rolled,
    check_the_higher_score_wins_and_equal_scores_are_a_tie,
    check_the_game_is_worth_what_the_recursion_says,
)
