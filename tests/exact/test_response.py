"""The quick pass gives the values of the best response, in games of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rational_tables import END, table_of

from solvent.baselines import make_baseline
from solvent.exact import (
    CertificateError,
    best_response,
    exploitability,
    locate_gap,
    nash_conv,
    score,
    solve,
)
from solvent.exact.scoring import response_values, solve_with_nonterminating_play
from solvent.games import Pig
from solvent.games.greed.rules import Greed
from solvent.model import Game, TabularPolicy, against, compile_game


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


LUCK = 2.0**-30
# Player 1 may bet a fair coin until it is lucky; then player 0 pays 1 or nothing. Or it pays 5.
BETTING = table_of(
    [
        [[(0.5 - LUCK, 0, 1.0), (0.5 - LUCK, 0, -1.0), (2 * LUCK, 1, 0.0)], [(1.0, END, 5.0)]],
        [[(1.0, END, 0.0)], [(1.0, END, -1.0)]],
    ],
    owners=[1, 0],
)
GENEROUS, BET = (
    TabularPolicy.deterministic(BETTING, np.array(actions), player=player)
    for player, actions in enumerate(([0, 1, 0], [0, 0, 0]))
)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (lambda **how: solve(BETTING, **how).value, 0),
        (lambda **how: best_response(BETTING, GENEROUS, **how).value, -1),
        (lambda **how: response_values(BETTING, GENEROUS, **how)[0], -1),
        (
            lambda **how: (
                solve_with_nonterminating_play(against(BETTING, GENEROUS), 1, **how).value
            ),
            -1,
        ),
        (lambda **how: exploitability(BETTING, GENEROUS, BETTING_SOLVED, **how), 1),
        (lambda **how: nash_conv(BETTING, GENEROUS, BET, **how), 1),
        (lambda **how: score(BETTING, GENEROUS, BETTING_SOLVED, **how).optimality_gap, 1),
        (lambda **how: locate_gap(BETTING, GENEROUS, BETTING_SOLVED, **how).gap, 1),
    ],
)
def test_what_cannot_be_proved_to_a_billionth_is_accepted_on_demand_only(
    measure: Callable[..., Any], expected: float
) -> None:
    """Of 2^29 bets each may be rounded, so that the value is known to a millionth at best."""
    with pytest.raises(CertificateError, match="is wider than"):
        measure()
    assert measure(tolerance=1e-3) == pytest.approx(expected, abs=1e-3)


BETTING_SOLVED = solve(BETTING, tolerance=1e-3)
