"""Games in which both players choose at once, with and without cycles, through the solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rational_tables import END, Row, table_of

from solvent.exact import (
    ImproperGameError,
    best_response,
    markov_game,
    nash_conv,
    policy_value,
    solve,
)
from solvent.exact.matrix_game import solve_matrix_games
from solvent.model import GameInfo, TabularGame, TabularPolicy


def local_game(m: int, gamma: float, in_turn: bool) -> TabularGame:
    """Moves on a square of m x m places with random probabilities, three actions or four."""
    rng, n = np.random.default_rng(3), m * m
    owner = rng.integers(0, 2, n)[:, None]
    count = np.where(owner == [0, 1], 4, 1) if in_turn else np.full((n, 2), 3)
    state = np.repeat(np.arange(n), count.prod(axis=1))
    y, x = np.divmod(state, m)
    around = [(0, 0), (0, -1), (1, 0), (0, 1), (-1, 0)]
    target = [np.clip(y + b, 0, m - 1) * m + np.clip(x + a, 0, m - 1) for a, b in around]
    end = np.full(len(state), n)
    chance = gamma * rng.dirichlet(np.ones(5), len(state))
    rows = len(state)
    width = range(count.max())
    mask = np.append(count, [[0, 0]], axis=0)[:, :, None] > width
    names = tuple(map(str, width))
    return TabularGame(
        info=GameInfo("square", 2, (names, names), False, (-np.inf, np.inf), ()),
        states=range(n + 1),
        row_start=np.append(np.searchsorted(state, np.arange(n + 1)), rows),
        outcome_start=np.arange(rows + 1) * 6,
        next_state=np.stack((*target, end), 1).ravel(),
        probability=np.column_stack((chance, np.full(rows, 1 - gamma))).ravel(),
        outcome_reward=np.repeat(rng.normal(size=rows), 6),
        mask=(mask[:, 0], mask[:, 1]),
        initial=np.eye(n + 1)[0],
    )


def test_cycles_of_matrix_games() -> None:
    for gamma in (0.9, 0.3):
        table = local_game(4, gamma, in_turn=False)
        solution = solve(table)
        assert solution.upper - solution.lower <= 1e-9
        assert solution.lower <= solution.value <= solution.upper
        assert nash_conv(table, *solution.policies) == pytest.approx(0, abs=1e-9)
        for player, policy in enumerate(solution.policies):
            answer = best_response(table, policy)
            assert answer.value == pytest.approx(solution.value, abs=1e-9)
            uniform = TabularPolicy.uniform(table, player=1 - player)
            pair = (policy, uniform) if player == 0 else (uniform, policy)
            sign = 1 - 2 * player
            kept = sign * (table.at_start(policy_value(table, *pair)) - solution.value)
            assert kept >= -1e-9


def test_a_war_of_attrition_is_refused() -> None:
    """Who ends loses 1. While both stay they bet on a fair coin, which gains neither anything."""
    both = np.array([[True, True], [False, False]])
    for bet in (0.0, 3.0):
        stay: Row = [(0.5, 0, bet), (0.5, 0, -bet)]
        war = table_of([[stay, [(1.0, END, 1.0)], [(1.0, END, -1.0)], [(1.0, END, 0.0)]]])
        with pytest.raises(ImproperGameError, match=r"who has to end it.* with a discount"):
            solve(replace(war, mask=(both, both)))


@pytest.mark.parametrize("in_turn", [False, True])
def test_games_of_local_moves_need_no_strategy_iteration(
    in_turn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markov_game, "optimize", None)
    table = local_game(40, 0.9999, in_turn)
    solution = solve(table)
    assert solution.upper - solution.lower < 1e-8
    # Shapley's equations hold in every state.
    q = solution.action_values
    if in_turn:
        q = q.reshape(-1, 4)
        value = np.where(table.action_count[0][:-1] > 1, q.max(axis=1), q.min(axis=1))
    else:
        value = solve_matrix_games(q.reshape(-1, 3, 3)).value
    np.testing.assert_allclose(value, solution.values[:-1], rtol=0, atol=1e-10)


def test_where_newtons_method_ends_in_a_wrong_place_iteration_begins_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = local_game(4, 0.5, in_turn=False)
    values = solve(table).values
    newton, wrong = markov_game.newton, []

    def mistaken(component: markov_game.GameComponent) -> markov_game.Near | None:
        near = newton(component)
        assert near is not None
        x, y = (np.repeat(1.0 / count, count) for count in component.count)
        wrong.append(replace(near, x=x, y=y, converged=True))
        return wrong[-1]

    monkeypatch.setattr(markov_game, "newton", mistaken)
    assert solve(table).values == pytest.approx(values, abs=1e-9)
    # From the side of either player.
    assert len(wrong) == 2
