"""With roles it is the same game: the same values, and policies go there and back."""

from __future__ import annotations

import numpy as np
import pytest
from reduced_football import reduced
from two_players import random_policy

from solvent.exact import policy_value
from solvent.games.greed.rules import Greed
from solvent.model import TabularGame, compile_game
from solvent.training.forms import with_roles, without_roles


@pytest.fixture(scope="module")
def football() -> TabularGame:
    return compile_game(reduced())


@pytest.mark.parametrize("apart", [False, True])
def test_policies_have_the_same_values_with_roles(apart: bool, football: TabularGame) -> None:
    """Players who are kept apart have roles in any game, also where their actions are the same."""
    game = compile_game(Greed(6, 2)) if apart else football
    learned = with_roles(game, apart=apart)
    first, second = learned.mask
    assert first.shape == second.shape
    assert not (first & second).any()
    pair = [random_policy(learned, player, player) for player in (0, 1)]
    back = [without_roles(policy, game) for policy in pair]
    assert [policy.probabilities.shape for policy in back] == [m.shape for m in game.mask]
    np.testing.assert_allclose(policy_value(learned, *pair), policy_value(game, *back), atol=1e-12)
