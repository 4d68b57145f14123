"""A bracket holds the value even where the numbers below it are wrong.

A bracket is proved from values and policies that somebody else has found. Here they err on purpose,
by far more than rounding does: then a bracket has to hold the truth all the same, or be refused.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from random_games import RandomGame
from rational_tables import END, table_of

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    Solution,
    exploitability,
    policy_value,
    solve,
)
from solvent.exact.certificate import bracket
from solvent.model import TabularGame, TabularPolicy, compile_game

ERROR = 1e-7


def exact_value(game: RandomGame) -> Fraction:
    """The value at the start where one player chooses, over all pure policies, in rationals."""
    states = range(game.size)
    own = 1 if game.kind == "opponent" else 0
    found = []
    for actions in product(*(game.legal_actions(s)[own] for s in states)):
        rows = [game.rows[(s, a, 0) if own == 0 else (s, 0, a)] for s, a in enumerate(actions)]
        # Gauss-Jordan elimination on (I - P) v = r.
        system = [[Fraction(int(i == s)) for i in states] + [Fraction(0)] for s in states]
        for s, outcomes in enumerate(rows):
            for outcome in outcomes:
                if outcome.state < game.size:
                    system[s][outcome.state] -= outcome.probability
                system[s][-1] += outcome.probability * outcome.reward
        for s in states:
            system[s] = [x / system[s][s] for x in system[s]]
            for other in states:
                if other != s:
                    factor = system[other][s]
                    system[other] = [
                        x - factor * y for x, y in zip(system[other], system[s], strict=True)
                    ]
        found.append(sum(o.probability * system[o.state][-1] for o in game.initial()))
    return min(found) if own else max(found)


def solved(kind: str, cyclic: bool) -> list[tuple[Fraction, TabularGame, Solution]]:
    games = [RandomGame(seed, kind, cyclic, size=4) for seed in range(3)]
    tables = [compile_game(game) for game in games]
    return [
        (exact_value(game), table, solve(table)) for game, table in zip(games, tables, strict=True)
    ]


def assert_holds(bounds: tuple[float, float], truth: Fraction) -> None:
    # The probabilities of the table are rounded, the truth is that of those that are not.
    assert bounds[0] - 1e-15 <= truth <= bounds[1] + 1e-15


@pytest.mark.parametrize("error", [ERROR, -ERROR])
@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("kind", ["single", "opponent"])
def test_the_bracket_of_values_that_err_holds_the_truth(
    kind: str, cyclic: bool, error: float
) -> None:
    given = 0
    for truth, table, right in solved(kind, cyclic):
        assert_holds((right.lower, right.upper), truth)
        live = ~table.terminal
        for wrong in (live, live & (np.arange(table.n_states) % 2 == 0)):
            with suppress(CertificateError):
                assert_holds(bracket(table, right.values + error * wrong, right.policies), truth)
                given += 1
    assert given > 0


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("kind", ["single", "opponent"])
def test_a_policy_that_errs_makes_the_bracket_wide(kind: str, cyclic: bool) -> None:
    """As wide as what the policy loses, whatever the values are that come with it."""
    player = 1 if kind == "opponent" else 0
    for truth, table, right in solved(kind, cyclic):
        policy = TabularPolicy.uniform(table, player=player)
        pair = tuple(policy if p == player else right.policies[p] for p in (0, 1))
        loses = abs(exploitability(table, policy, right))
        assert loses > 0.01
        low, high = bracket(table, right.values, pair)
        assert_holds((low, high), truth)
        assert high - low == pytest.approx(loses, abs=1e-9)
        with suppress(CertificateError):
            assert_holds(bracket(table, policy_value(table, *pair), pair), truth)


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
    assert_holds((low, high), Fraction(1))
    assert high - low < 1e-12
    later = replace(game, initial=np.eye(4)[1])
    message = "^dyadic: play by this policy from state 1 need not end$"
    with pytest.raises(ImproperGameError, match=message):
        bracket(later, right.values, (replace(keeping, model_hash=later.model_hash),))  # type: ignore[arg-type]
