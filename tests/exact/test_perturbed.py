"""A bracket holds the value even where the numbers below it are wrong.

A bracket is proved from values and policies that somebody else has found. Here they err on purpose,
by far more than rounding does: then a bracket has to hold the truth all the same, or be refused.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from random_games import RandomGame
from rational_tables import END, table_of

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    exploitability,
    policy_value,
    solve,
)
from solvent.exact.certificate import bracket
from solvent.model import TabularPolicy, compile_game


def test_a_policy_that_errs_makes_the_bracket_wide() -> None:
    """As wide as what the policy loses, whatever the values are that come with it."""
    for seed, kind, cyclic in product(range(3), ("single", "opponent"), (False, True)):
        table = compile_game(RandomGame(seed, kind, cyclic, size=4))
        right = solve(table)
        player = 1 if kind == "opponent" else 0
        policy = TabularPolicy.uniform(table, player=player)
        pair = tuple(policy if p == player else right.policies[p] for p in (0, 1))
        loses = abs(exploitability(table, policy, right))
        assert loses > 0.01
        low, high = bracket(table, right.values, pair)
        assert low <= right.value <= high
        assert high - low == pytest.approx(loses, abs=1e-9)
        with suppress(CertificateError):
            low, high = bracket(table, policy_value(table, *pair), pair)
            assert low <= right.value <= high


@pytest.mark.parametrize("kind", ["alternating", "simultaneous"])
def test_in_a_game_for_two_either_policy_makes_it_wide(kind: str) -> None:
    table = compile_game(RandomGame(3, kind, cyclic=True))
    right = solve(table)
    for player in (0, 1):
        policy = TabularPolicy.uniform(table, player=player)
        pair = tuple(policy if p == player else right.policies[p] for p in (0, 1))
        low, high = bracket(table, right.values, pair)
        loses = exploitability(table, policy, right)
        assert loses > 0.01
        sides = (loses, 0.0) if player == 0 else (0.0, loses)
        assert (right.value - low, high - right.value) == pytest.approx(sides, abs=1e-9)


def test_a_policy_that_need_not_end_has_no_bracket_where_play_comes_to_that() -> None:
    """State 2 can be kept up for ever for nothing; state 1 leads there half the time."""
    game = table_of(
        [
            [[(1.0, END, 1.0)]],
            [[(0.5, 2, 0.0), (0.5, END, 1.0)]],
            [[(1.0, 2, 0.0)], [(1.0, END, 1.0)]],
        ]
    )
    right = solve(game)
    assert [policy.name for policy in right.policies] == ["optimal", "optimal"]
    keeping = TabularPolicy.deterministic(game, np.zeros(4, int))
    # From where play begins it is never met.
    low, high = bracket(game, right.values, (keeping, right.policies[1]))
    assert low <= 1 <= high
    assert high - low < 1e-12
    later = replace(game, initial=np.eye(4)[1])
    message = "^dyadic: play by this policy from state 1 need not end$"
    with pytest.raises(ImproperGameError, match=message):
        bracket(later, right.values, (replace(keeping, model_hash=later.model_hash),))  # type: ignore[arg-type]
