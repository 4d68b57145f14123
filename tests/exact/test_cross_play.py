"""The cross-play matrix."""

from __future__ import annotations

import pytest

from solvent import make_game
from solvent.exact import cross_play_matrix, policy_value, solve
from solvent.model import TabularGame, TabularPolicy, compile_game


@pytest.fixture(
    scope="module", params=[("greed", {"limit": 9, "sides": 4}), ("pig", {"target": 6})]
)
def game(request: pytest.FixtureRequest) -> TabularGame:
    name, parameters = request.param
    return compile_game(make_game(name, **parameters))


def policies(game: TabularGame) -> tuple[list[TabularPolicy], list[TabularPolicy]]:
    optimal = solve(game).policies
    uniform = [TabularPolicy.uniform(game, player=p) for p in (0, 1)]
    return [optimal[0], uniform[0]], [uniform[1], optimal[1]]


def test_each_cell_is_the_value_of_its_pair(game: TabularGame) -> None:
    first, second = policies(game)
    table = cross_play_matrix(game, first, second[:1])
    assert table.shape == (2, 1)
    for row, policy in zip(table, first, strict=True):
        assert row[0] == game.at_start(policy_value(game, policy, second[0]))


def test_an_optimal_pair_is_a_saddle_point(game: TabularGame) -> None:
    value = solve(game).value
    table = cross_play_matrix(game, *policies(game))
    assert table[0, 1] == pytest.approx(value, abs=1e-12)
    assert (table[0] >= value - 1e-12).all()
    assert (table[:, 1] <= value + 1e-12).all()
    assert table[0, 0] > value + 0.01
    assert table[1, 1] < value - 0.01


def test_policies_in_the_wrong_seat_and_games_for_one_are_refused(game: TabularGame) -> None:
    first, second = policies(game)
    with pytest.raises(ValueError, match="is a policy of player 1; player 0's are expected"):
        cross_play_matrix(game, second, first)
    combat = compile_game(make_game("ff-combat", stamina=4, opponent_stamina=4, luck=3))
    with pytest.raises(ValueError, match="ff-combat is a game for one"):
        cross_play_matrix(combat, [], [])
