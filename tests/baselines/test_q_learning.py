"""Tabular Q-learning comes close to the optimum, and always the same way."""

from __future__ import annotations

import numpy as np
import pytest

from solvent.baselines.q_learning import q_learning
from solvent.exact import score, solve
from solvent.games import FightingFantasy, Pig
from solvent.model import TabularPolicy, against, compile_game


def test_more_moves_leave_a_smaller_gap_and_ten_million_less_than_a_thousandth() -> None:
    game = compile_game(FightingFantasy())
    solution = solve(game)
    gaps = [
        [
            score(game, q_learning(game, steps=steps, seed=seed), solution).optimality_gap
            for seed in range(3)
        ]
        for steps in (10_000, 300_000, 10_000_000)
    ]
    few, more, most = np.mean(gaps, axis=1)
    assert few > 3 * more > 9 * most
    assert max(gaps[-1]) < 0.001


def test_equal_seeds_give_equal_policies() -> None:
    game = compile_game(FightingFantasy())
    first, again, other = (q_learning(game, steps=20_000, seed=s).probabilities for s in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


def test_the_other_player_learns_to_minimize() -> None:
    game = compile_game(Pig(target=6))
    folded = against(game, TabularPolicy.uniform(game, player=0))
    learned = q_learning(folded, 1, steps=1_000_000)
    assert learned.player == 1
    result = score(folded, learned)
    assert result.optimality_gap < 0.01
    assert result.normalized > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"steps": 0}, "steps is 0"), ({"steps": 1.5}, "steps is 1.5")],
)
def test_wrong_arguments_are_named(arguments: dict[str, int], message: str) -> None:
    game = compile_game(FightingFantasy(stamina=2, opponent_stamina=2, luck=1))
    with pytest.raises(ValueError, match=message):
        q_learning(game, **arguments)


def test_a_second_player_with_a_choice_has_to_be_folded_in() -> None:
    with pytest.raises(ValueError, match=r"player 1 has a choice in pig; fold"):
        q_learning(compile_game(Pig(target=5)))
