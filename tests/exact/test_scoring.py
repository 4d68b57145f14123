"""Scores, best responses, the cross-play matrix, visits and the location of the gap."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import RandomGame
from rational_tables import END, table_of
from refusals import assert_refused
from two_players import random_policy

from solvent.baselines import make_baseline
from solvent.exact import (
    CertificateError,
    ImproperGameError,
    best_response,
    exploitability,
    locate_gap,
    nash_conv,
    policy_value,
    score,
    solve,
    state_visitation,
)
from solvent.exact.scoring import (
    Score,
    comparable_score,
    response_values,
    solve_with_nonterminating_play,
)
from solvent.games import FightingFantasy, Greed, Pig
from solvent.model import Game, TabularPolicy, against, compile_game, from_arrays, make_game


@pytest.fixture(scope="module")
def combat() -> Any:
    table = compile_game(FightingFantasy(stamina=[2, 6], opponent_stamina=6, luck=[0, 5]))
    return table, solve(table)


@pytest.fixture(scope="module")
def pig() -> Any:
    table = compile_game(Pig(target=10))
    return table, solve(table)


@settings(max_examples=30)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["single", "alternating", "simultaneous"]),
    st.booleans(),
    st.sampled_from([0, 1]),
)
def test_each_player_is_charged_with_its_own_states_only(
    seed: int, kind: str, cyclic: bool, player: int
) -> None:
    """What is lost is by definition: the value, less what the worst answer to the policy leaves.

    In a game for one nothing is given up by an answer.
    """
    table = compile_game(RandomGame(seed, kind, cyclic))
    solution = solve(table)
    policy = random_policy(table, player, seed)
    where = locate_gap(table, policy, solution)
    sign = 1 - 2 * player
    assert where.gap == pytest.approx(score(table, policy, solution).optimality_gap, abs=1e-12)
    assert where.contribution.sum() - where.given_up == pytest.approx(where.gap, abs=1e-8)
    assert -1e-9 <= where.given_up < (1e-9 if kind == "single" else np.inf)
    np.testing.assert_allclose(where.contribution, where.visits * where.loss, atol=1e-12)
    for s in np.flatnonzero(~table.terminal):
        if table.action_count[player][s] == 1:
            assert where.loss[s] == 0
            continue
        left = {}
        for k in range(table.row_start[s], table.row_start[s + 1]):
            mine, other = (int(table.row_action[p][k]) for p in (player, 1 - player))
            share = policy.probabilities[s, mine] * sign * solution.action_values[k]
            left[other] = left.get(other, 0.0) + share
        loss = sign * solution.values[s] - min(left.values())
        assert where.loss[s] == pytest.approx(loss, abs=1e-9)
        assert where.loss[s] >= -1e-9


def test_the_ten_states_that_cost_most_are_listed_and_none_that_costs_nothing() -> None:
    table = compile_game(FightingFantasy(stamina=5, opponent_stamina=6, luck=4))
    where = locate_gap(table, random_policy(table, 0, 0))
    costly = np.flatnonzero(where.contribution > 0)
    assert len(costly) > 11
    in_order = costly[np.argsort(-where.contribution[costly], kind="stable")].tolist()
    assert (where.ranked(), where.ranked(most=table.n_states)) == (in_order[:10], in_order)
    # Of equal ones the first.
    ties = replace(where, contribution=np.resize([1.0, 2.0, 0.0], 300))
    assert ties.ranked() == list(range(1, 30, 3))


def test_the_optimum_scores_one_and_uniform_play_zero(combat: Any, pig: Any) -> None:
    for table, solution in (combat, pig):
        for player in range(table.info.players):
            best = score(table, solution.policies[player], solution)
            assert best.normalized == pytest.approx(1, abs=1e-9)
            assert [best.optimality_gap, best.worst_start_gap] == pytest.approx([0, 0], abs=1e-9)
            floor = score(table, TabularPolicy.uniform(table, player=player), solution)
            assert floor.normalized == pytest.approx(0, abs=1e-12)
            assert floor.optimality_gap > 0.01


def test_where_no_action_matters_nothing_is_normalized_however_large_rewards_are() -> None:
    chances = np.full((2, 2, 2), 0.5)
    chances[:, 0] = 0.1, 0.9
    for scale in (1, 1e4, 1e6, 1e9):
        for reward in np.random.default_rng(0).normal(size=(20, 2)) * scale:
            game = from_arrays(chances, reward, discount=0.95, actions_first=True)
            assert np.isnan(score(game, TabularPolicy.uniform(game)).normalized), (scale, reward)


def test_exploitability_is_the_gap_of_a_game_for_two(combat: Any, pig: Any) -> None:
    table, solution = pig
    for player in (0, 1):
        mine = score(table, TabularPolicy.uniform(table, player=player), solution)
        gap = mine.optimality_gap
        assert mine.exploitability == mine.worst_start_gap == gap > 0
        assert str(mine).endswith(f"gap {gap:.6g}, exploitability {gap:.6g}")
        assert mine.optimum == (solution.value if player == 0 else -solution.value)
        assert (mine.worst_start, mine.illegal_mass, mine.discount) == (table.states[0], 0, 1)
    alone = score(combat[0], TabularPolicy.uniform(combat[0]), combat[1])
    assert alone.exploitability is None
    assert (
        str(alone)
        == f"value {alone.value:.6g}, optimum {alone.optimum:.6g}, gap {alone.optimality_gap:.6g}"
    )


def test_rounding_is_no_loss_of_a_state() -> None:
    table = compile_game(Pig(target=8))
    optimal = TabularPolicy.deterministic(table, [int(np.argmax(m)) for m in table.mask[0]])
    assert abs(score(table, optimal).optimality_gap) < 1e-12
    assert locate_gap(table, optimal).ranked() == []


def test_the_worst_start_is_the_start_with_the_largest_gap(combat: Any) -> None:
    table, solution = combat
    policy = TabularPolicy.uniform(table)
    gaps = solution.values - policy_value(table, policy)
    starts = np.flatnonzero(table.initial > 0)
    result = score(table, policy, solution)
    assert result.worst_start_gap == gaps[starts].max()
    assert gaps[table.index[result.worst_start]] == gaps[starts].max()
    assert result.optimality_gap == pytest.approx(table.initial @ gaps, abs=1e-12)


def test_illegal_mass_is_weighed_by_visits(combat: Any, pig: Any) -> None:
    table, solution = combat
    policy = TabularPolicy.uniform(table)
    visits = state_visitation(table, policy) * ~table.terminal
    illegal = np.where(table.action_count[0] == 1, 0.5, 0.0)
    expected = (visits @ illegal) / visits.sum()
    assert 0 < expected < 0.5
    assert score(table, policy, solution, illegal=illegal).illegal_mass == pytest.approx(expected)
    # Where the other player acts, the policy chooses nothing.
    table, solution = pig
    policy, illegal = TabularPolicy.uniform(table), 0.5 * table.on_turn(0)
    assert score(table, policy, solution, illegal=illegal).illegal_mass == pytest.approx(0.5)


def test_visits_obey_the_flow_equation(combat: Any, pig: Any) -> None:
    for (table, _), cycles in ((combat, False), (pig, True)):
        policies = [TabularPolicy.uniform(table, player=p) for p in (0, 1)]
        visits = state_visitation(table, *policies)
        share = np.prod(
            [
                p.probabilities[table.row_state, a]
                for p, a in zip(policies, table.row_action, strict=True)
            ],
            axis=0,
        )
        flow = (visits[table.row_state] * share)[table.outcome_row] * table.probability
        arriving = np.bincount(table.next_state, flow, minlength=table.n_states)
        np.testing.assert_allclose(visits, table.initial + arriving, atol=1e-12)
        # Everybody arrives somewhere: visits of the ends sum to one play.
        assert visits[table.terminal].sum() == pytest.approx(1, abs=1e-12)
        assert (visits.max() > 1) == cycles


def test_a_policy_that_never_ends_pays_without_bound_and_has_no_visits() -> None:
    cliff, lake = (
        compile_game(make_game(name, **parameters))
        for name, parameters in (("CliffWalking-v1", {}), ("FrozenLake-v1", {"is_slippery": False}))
    )
    # Half of the time play gets caught in a state that the policy never leaves.
    trap = table_of([[[(0.5, 1, 0.0), (0.5, END, 1.0)]], [[(1.0, 1, 0.0)], [(1.0, END, 1.0)]]])
    # On the frozen lake going round costs nothing: such play is worth exactly 0.
    for table, action, value in ((cliff, 3, -np.inf), (lake, 3, 0), (trap, 0, 0.5)):
        policy = TabularPolicy.deterministic(table, np.full(table.n_states, action))
        assert table.at_start(policy_value(table, policy)) == value
        measures = (
            (partial(of, table, policy), "never ends") for of in (state_visitation, locate_gap)
        )
        assert_refused(measures, error=ImproperGameError)
    left, solution = TabularPolicy.deterministic(cliff, np.full(cliff.n_states, 3)), solve(cliff)
    start = cliff.states[int(np.argmax(cliff.initial))]
    expected = Score(-np.inf, -13, np.inf, None, -np.inf, 0.0, np.inf, start)
    assert score(cliff, left, solution) == expected == comparable_score(cliff, left, solution)
    assert exploitability(cliff, left, solution) == np.inf


def test_a_loop_that_play_never_comes_to_does_not_matter() -> None:
    """The best way along the cliff, with one square elsewhere where the policy runs into a wall."""
    table = compile_game(make_game("CliffWalking-v1"))
    solution = solve(table)
    actions = solution.policies[0].probabilities.argmax(axis=1)
    corner = next(i for i, cell in enumerate(table.states) if cell.number == 0)
    actions[corner] = 0  # Up, into the wall.
    policy = TabularPolicy.deterministic(table, actions)
    values = policy_value(table, policy)
    assert values[corner] == -np.inf
    assert table.at_start(values) == solution.value == -13
    assert score(table, policy, solution).optimality_gap == 0
    assert locate_gap(table, policy, solution).gap == 0


def test_a_solution_of_another_game_is_refused(pig: Any, combat: Any) -> None:
    policy = TabularPolicy.uniform(pig[0])
    rows: list[tuple[Any, ...]] = [
        *((measure, combat[1], "the solution was made") for measure in (score, exploitability)),
        (locate_gap, combat[1], "the solution was made for the model"),
        # A second policy of the same player would be an equilibrium with it.
        (nash_conv, policy, "of player 0 and player 0; expected are one of player 0 and one of"),
    ]
    assert_refused(rows, lambda measure, other: measure(pig[0], policy, other))


# The quick pass gives the values of the best response, in games of every kind


@pytest.mark.parametrize("rules", [Greed(7, 3), Greed(9, 1), Pig(8)])
@pytest.mark.parametrize("player", [0, 1])
def test_the_values_are_those_of_the_best_response_which_says_what_it_answers(
    rules: Game, player: int
) -> None:
    game = compile_game(rules)
    stochastic = random_policy(game, player, 0)
    for policy in (
        stochastic,
        stochastic.mode(),
        TabularPolicy.uniform(game, player=player),
        make_baseline("optimal", game, player),
    ):
        found = best_response(game, policy)
        np.testing.assert_allclose(response_values(game, policy), found.values, atol=1e-12)
        answer = found.policies[1 - player]
        assert (answer.name, answer.player) == (f"best response to {policy.name}", 1 - player)
        answer.check_is_for(game)
        with pytest.raises(ValueError, match="pig"):
            best_response(compile_game(Pig(target=5)), policy)


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
