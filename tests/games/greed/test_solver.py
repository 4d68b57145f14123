"""Greed solved by its kernel as a solved game: the same as its table's, state by state."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from solvent.exact import (
    SolvedGame,
    SolvedTable,
    exploitability,
    nash_conv,
    policy_value,
    solve,
    with_table,
)
from solvent.games.greed.kernel import GreedSolution, solve_greed
from solvent.games.greed.rules import Greed
from solvent.model import TabularPolicy, compile_game


def test_the_kernel_agrees_with_the_table_in_every_state() -> None:
    game = Greed(9, 4)
    table = compile_game(game)
    solved, other = solve_greed(9, 4), SolvedTable(game, table, solve(table))
    assert isinstance(solved, SolvedGame)
    assert solved.lower <= other.value <= solved.upper
    for state in table.states:
        assert solved.value_of(state) == pytest.approx(other.value_of(state), abs=1e-12)
        if game.is_terminal(state):
            continue
        for player in (0, 1):
            values = solved.action_values(state, player)
            assert values == pytest.approx(other.action_values(state, player), abs=1e-12)
            policy = solved.policy(state, player)
            assert tuple(policy) == game.legal_actions(state)[player]
            own = sum(share * values[action] for action, share in policy.items())
            assert own == pytest.approx(solved.value_of(state), abs=1e-12)


def test_rules_are_solved_by_the_kernel_and_have_a_table_on_demand_if_it_is_small_enough() -> None:
    small, large = solve(Greed(9, 4)), solve(Greed(1000, 60))
    assert isinstance(small, GreedSolution)
    assert isinstance(large, GreedSolution)
    assert large.value == solve_greed(1000, 60).value
    assert with_table(large) is None
    tabled = with_table(small)
    assert tabled is not None
    assert with_table(tabled) is tabled
    assert tabled.game is small.game
    assert tabled.value == solve(compile_game(Greed(9, 4))).value
    assert small.lower <= tabled.lower <= tabled.upper <= small.upper


def test_best_responses_and_nash_conv_agree_with_every_strategy_of_a_small_game() -> None:
    game = compile_game(Greed(2, 2))
    uniform = TabularPolicy.uniform(game), TabularPolicy.uniform(game, player=1)
    best = []
    for seat in (0, 1):
        legal = [np.flatnonzero(row).tolist() or [0] for row in game.mask[seat]]
        replies = [
            TabularPolicy.deterministic(game, np.array(reply), player=seat)
            for reply in product(*legal)
        ]
        pairs = [(reply, uniform[1]) if seat == 0 else (uniform[0], reply) for reply in replies]
        values = [game.at_start(policy_value(game, *pair)) for pair in pairs]
        best.append(max(values) if seat == 0 else min(values))
    value = solve(game).value
    assert best[1] < value < best[0]
    for seat, gain in ((0, value - best[1]), (1, best[0] - value)):
        assert exploitability(game, uniform[seat]) == pytest.approx(gain, abs=1e-13)
    assert nash_conv(game, *uniform) == pytest.approx(best[0] - best[1], abs=1e-13)
