"""Greed solved by its kernel as a solved game: the same as its table's, state by state."""

from __future__ import annotations

import pytest

from solvent.exact import SolvedGame, SolvedTable, solve
from solvent.games.greed.kernel import solve_greed
from solvent.games.greed.rules import Greed
from solvent.games.greed.solver import SolvedGreed, solved_greed
from solvent.model import compile_game


def test_the_kernel_agrees_with_the_table_in_every_state() -> None:
    game = Greed(9, 4)
    table = compile_game(game)
    solved, other = SolvedGreed(game, solve_greed(9, 4)), SolvedTable(game, table, solve(table))
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


def test_the_kernel_is_asked_where_there_is_no_table() -> None:
    assert solved_greed(Greed(100, 6)) is None
    game = Greed(1000, 60)
    solved = solve(game)
    assert isinstance(solved, SolvedGreed)
    assert solved.value == solve_greed(1000, 60).value
    assert solved.game is game
