"""Games in which both players choose at once, with and without cycles, through the solver."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from solvent.exact import (
    ImproperGameError,
    best_response,
    markov_game,
    nash_conv,
    policy_value,
    solve,
)
from solvent.exact.matrix_game import solve_matrix_games
from solvent.model import GameInfo, Outcome, TabularGame, TabularPolicy, compile_game


class Staircase:
    """Both call one of three; equal calls go down `width` ways a step, others end the game.

    On step n > 0 the calls (i, j) pay a random matrix; step 0 is the end, unless `again` leads
    from every step back to the top with that probability.
    """

    def __init__(self, steps: int, width: int, again: Fraction = Fraction(0)) -> None:
        rng = np.random.default_rng(steps)
        self.steps, self.width, self.again = steps, width, again
        self.pay = rng.integers(-4, 5, (steps + 1, width, 3, 3)).tolist()
        self.info = GameInfo(
            name="staircase",
            players=2,
            actions=(("a", "b", "c"),) * 2,
            acyclic=not again,
            reward_range=(-100, 100),
            sources=("none",),
            observation_labels=("none",),
        )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), (self.steps, 0), 0),)

    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        # Where the way is odd the matrix has another shape.
        return ((0, 1, 2), (0, 1) if state[1] % 2 else (0, 1, 2))

    def transition(self, state: Any, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        step, way = state
        i, j = joint_action
        reward = self.pay[step][way][i][j]
        if i != j or step == 1:
            return (Outcome(Fraction(1), (0, 0), reward),)
        down = (1 - self.again) / self.width
        after = [Outcome(down, (step - 1, w), reward) for w in range(self.width)]
        top = (self.steps, 0)
        return (*after, Outcome(self.again, top, reward)) if self.again else tuple(after)

    def is_terminal(self, state: Any) -> bool:
        return bool(state[0] == 0)

    def observe(self, state: Any, player: int) -> Any:
        return np.zeros(1, np.float32)

    def draw(self, state: Any) -> str:
        return str(state)


def check(game: Staircase) -> None:
    table = compile_game(game)
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


@pytest.mark.parametrize("again", [Fraction(1, 10), Fraction(2, 3)])
def test_cycles_of_matrix_games(again: Fraction) -> None:
    check(Staircase(4, 3, again))


@pytest.mark.parametrize("bet", [0, 3])
def test_a_war_of_attrition_is_refused(bet: int) -> None:
    """Who ends loses 1. While both stay they bet on a fair coin, which gains neither anything."""

    class War(Staircase):
        def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
            return ((0, 1), (0, 1))

        def transition(self, state: Any, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
            first, second = joint_action
            if first or second:
                return (Outcome(Fraction(1), (0, 0), second - first),)
            return tuple(Outcome(Fraction(1, 2), state, reward) for reward in (bet, -bet))

    with pytest.raises(ImproperGameError, match=r"who has to end it.* with a discount"):
        solve(compile_game(War(1, 1)))


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
    table = compile_game(Staircase(4, 3, Fraction(1, 2)))
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
