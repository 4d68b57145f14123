"""What the policies for Greed do, and what they are worth."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from solvent.baselines import make_baseline
from solvent.games import Greed
from solvent.games.greed.baselines import PLANS, SAMPLE_GAME
from solvent.games.greed.kernel import solve_greed
from solvent.games.greed.rules import Position
from solvent.model import TabularGame, compile_game, dice_sum, probability_at_most

SMALL = (20, 4)


@cache
def table(limit: int, sides: int) -> TabularGame:
    return compile_game(Greed(limit, sides))




def dice(name: str, player: int, scores: tuple[int, int], phase: str = "play") -> int:
    """What a policy rolls at (20, 4)."""
    game = table(*SMALL)
    policy = make_baseline(name, game, player)
    row = policy.probabilities[game.index[Position(player, scores, phase)]]
    assert row.max() == 1
    return int(row.argmax())




def test_the_expected_score_maximiser_counts_a_bust_as_0() -> None:
    game = table(*SMALL)
    policy = make_baseline("expected-score", game)
    for own in (1, 9, 14, 17, 20):
        expected = [
            sum(float(p) * (own + t) for t, p in dice_sum(n, 4).items() if own + t <= 20)
            for n in range(Greed(*SMALL).most_dice(own) + 1)
        ]
        rolled = policy.probabilities[game.index[Position(0, (own, 3), "play")]].argmax()
        assert expected[rolled] == pytest.approx(max(expected), abs=1e-12)


def test_one_in_twenty_rolls_the_most_dice_that_go_bust_at_most_once_in_20() -> None:
    game = table(30, 5)
    policy = make_baseline("one-in-twenty", game)
    rules = Greed(30, 5)
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


@pytest.mark.parametrize(
    ("own", "other", "rolled", "why"),
    [
        (20, 19, 0, "ahead"),
        (10, 15, 3, "18 is the middle of 16 to 20, and three dice lead to 17.5"),
        (18, 18, 1, "level, and 19.5 is a die away"),
        (20, 20, 0, "level at the limit"),
        (16, 19, 1, "no more points left than a die has sides"),
        (5, 20, 6, "only a tie can be had"),
    ],
)
def test_one_in_twenty_aims_at_the_middle_in_the_last_turn(
    own: int, other: int, rolled: int, why: str
) -> None:
    assert dice("one-in-twenty", 0, (own, other), "last") == rolled, why


def test_one_step_lookahead_is_optimal_in_the_last_turn_and_best_of_single_rolls_before() -> None:
    game, ratings = table(*SMALL), solve_greed(*SMALL)
    policy = make_baseline("one-step-lookahead", game, 1)
    for index in np.flatnonzero(game.on_turn(1)).tolist():
        (other, own), phase = game.states[index].scores, game.states[index].phase
        rolled = int(policy.probabilities[index].argmax())
        if phase == "last":
            assert rolled in ratings.optimal_rolls(own, other, last=True)
            continue
        rated = [
            sum(
                float(p) * (1 - ratings.last[other, own + t])
                for t, p in dice_sum(n, 4).items()
                if own + t <= 20
            )
            for n in range(Greed(*SMALL).most_dice(own) + 1)
        ]
        assert rated[rolled] == pytest.approx(max(rated), abs=1e-12)


def test_the_published_moves_are_a_game_of_the_rules() -> None:
    """74, 89, 90, 95, 100 and 104 are reached by the dice that were rolled."""
    scores, player = [0, 0], 0
    for (own, other), after in zip(SAMPLE_GAME, (74, 89, 90, 95, 100, 104), strict=True):
        assert (scores[player], scores[1 - player]) == (own, other)
        assert after - own in dice_sum(SAMPLE_GAME[own, other])
        scores[player], player = after, 1 - player


def test_what_the_published_moves_cost() -> None:
    ratings = solve_greed(100, 6)
    losses = {
        at: ratings.normal[at] - ratings.ratings(*at)[rolled] for at, rolled in SAMPLE_GAME.items()
    }
    assert losses[0, 0] == pytest.approx(0.513841733041 - 0.505256, abs=5e-7)
    optimal = [at for at, loss in losses.items() if abs(loss) < 1e-12]
    assert optimal == [(74, 89), (89, 90)]
    assert max(losses, key=losses.__getitem__) == (90, 95)
