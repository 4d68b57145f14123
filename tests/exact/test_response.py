"""The quick pass gives the values of the best response, in games of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from solvent.baselines import make_baseline
from solvent.exact import best_response
from solvent.exact.response import response_values
from solvent.games import Pig
from solvent.games.greed import Greed
from solvent.model import Game, TabularPolicy, compile_game


@pytest.mark.parametrize("rules", [Greed(7, 3), Greed(9, 1), Pig(8)])
@pytest.mark.parametrize("player", [0, 1])
def test_the_values_are_those_of_the_best_response(rules: Game, player: int) -> None:
    game = compile_game(rules)
    rng = np.random.default_rng(player)
    weights = rng.random(game.mask[player].shape) * game.mask[player]
    # Some actions are never played.
    weights *= rng.random(weights.shape) < 0.7
    weights[~weights.any(axis=1)] = game.mask[player][~weights.any(axis=1)]
    stochastic = TabularPolicy.of(
        game, weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300), player=player
    )
    for policy in (
        stochastic,
        stochastic.mode(),
        TabularPolicy.uniform(game, player=player),
        make_baseline("optimal", game, player),
    ):
        np.testing.assert_allclose(
            response_values(game, policy), best_response(game, policy).values, atol=1e-12
        )


def test_a_policy_for_another_game_is_refused() -> None:
    policy = TabularPolicy.uniform(compile_game(Greed(4, 2)))
    with pytest.raises(ValueError, match="was made for the model"):
        response_values(compile_game(Greed(5, 2)), policy)
