"""Values of policies under which episodes never end: finite, infinite, or none at all."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rational_tables import END, Row, table_of, truth

from solvent.exact import (
    ImproperGameError,
    exploitability,
    policy_value,
    score,
    solve,
)
from solvent.exact.components import can_reach
from solvent.exact.scoring import comparable_score, costs_for_ever, cross_play_matrix
from solvent.model import TabularGame, TabularPolicy


def chain(rows: Iterable[Row]) -> tuple[TabularGame, tuple[TabularPolicy, TabularPolicy]]:
    """A table with one row a state, and the policies that are left to its players."""
    game = table_of([[row] for row in rows])
    return game, (TabularPolicy.uniform(game), TabularPolicy.uniform(game, player=1))


def value_of(*rows: Row) -> float:
    game, policies = chain(rows)
    return game.at_start(policy_value(game, *policies))


def test_a_loop_is_worth_what_it_gains_in_the_long_run() -> None:
    assert value_of([(1.0, 0, -1.0)]) == -np.inf
    assert value_of([(1.0, 0, 1.0)]) == np.inf
    # Rewards of both signs: what is left of them decides.
    assert value_of([(1.0, 1, 3.0)], [(1.0, 0, -4.0)]) == -np.inf
    assert value_of([(1.0, 1, 3.0)], [(1.0, 0, -2.0)]) == np.inf
    assert value_of([(0.5, 0, 3.0), (0.5, 0, -4.0)]) == -np.inf
    # What is collected on the way does not count beside that.
    assert value_of([(1.0, 1, 1e6)], [(1.0, 1, -1e-6)]) == -np.inf
    # Nothing is collected any more.
    assert value_of([(1.0, 1, 7.0)], [(1.0, 1, 0.0)]) == 7


@pytest.mark.parametrize(
    "rows",
    [
        ([(1.0, 1, 1.0)], [(1.0, 0, -1.0)]),
        ([(0.5, 0, 1.0), (0.5, 0, -1.0)],),
        # One third is no float, so that what is left is rounding.
        ([(1 / 3, 0, 2.0), (2 / 3, 0, -1.0)],),
        ([(0.5, END, 0.0), (0.5, 1, 0.0)], [(1.0, 2, 1.0)], [(1.0, 1, -1.0)]),
        # Half of the episodes gain for ever and half of them pay.
        ([(0.5, 1, 0.0), (0.5, 2, 0.0)], [(1.0, 1, 1.0)], [(1.0, 2, -1.0)]),
    ],
)
def test_rewards_that_cancel_for_ever_leave_no_value(rows: tuple[Row, ...]) -> None:
    with pytest.raises(ImproperGameError, match="never ends"):
        value_of(*rows)
    # Elsewhere they do not matter.
    moved: list[Row] = [[(p, t if t == END else t + 1, r) for p, t, r in row] for row in rows]
    game, policies = chain([[(1.0, END, 5.0)], *moved])
    values = policy_value(game, *policies)
    assert game.at_start(values) == 5
    assert np.isnan(values[1])


def test_from_some_starts_only_an_episode_may_pay_for_ever() -> None:
    game, policies = chain([[(0.25, 1, -2.0), (0.75, END, 4.0)], [(1.0, 1, -1.0)]])
    assert policy_value(game, *policies)[:2].tolist() == [-np.inf, -np.inf]


small = st.integers(-2, 2).map(float)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(-1, 4), small), min_size=1, max_size=3),
        min_size=5,
        max_size=5,
    )
)
def test_the_value_is_where_discounted_values_go(moves: list[list[tuple[int, float]]]) -> None:
    """As the discount goes to 1 they go there, if there is a limit (Abel); in exact arithmetic."""
    rows = [[(1 / len(own), t, r) for t, r in own] for own in moves]
    try:
        found = value_of(*rows)
    except ImproperGameError:
        found = np.nan
    near, nearer = (discounted_value(moves, 1 - Fraction(1, 10**k)) for k in (9, 12))
    if np.isinf(found):
        assert np.sign(near) == np.sign(found)
        assert nearer / near > 500
    elif not np.isnan(found):
        assert float(near) == pytest.approx(found, abs=1e-5)
    else:
        # Some loop that may be come to collects rewards, and either cancels or is not the only one.
        assert any(r for own in moves for _, r in own)


def discounted_value(moves: list[list[tuple[int, float]]], discount: Fraction) -> Fraction:
    """The value from state 0 by Gaussian elimination, each of a state's moves equally likely."""
    n = len(moves)
    a = [[Fraction(int(i == j)) for j in range(n)] + [Fraction(0)] for i in range(n)]
    for s, own in enumerate(moves):
        for target, reward in own:
            a[s][n] += Fraction(reward) / len(own)
            if target != END:
                a[s][target] -= discount / len(own)
    for i in range(n):
        pivot = next(j for j in range(i, n) if a[j][i])
        a[i], a[pivot] = a[pivot], a[i]
        for j in range(n):
            if j != i and a[j][i]:
                factor = a[j][i] / a[i][i]
                a[j] = [x - factor * y for x, y in zip(a[j], a[i], strict=True)]
    return a[0][n] / a[0][0]


def choice() -> tuple[TabularGame, TabularPolicy]:
    """Stay at 1 a move, or at nothing on the average, or leave; and a policy that stays."""
    game = table_of(
        [[[(1.0, 0, -1.0)], [(1.0, 1, 1.0)], [(1.0, END, 2.0)]], [[(1.0, 0, -1.0)]]], player=0
    )
    stays = TabularPolicy.deterministic(game, np.array([0, 0, 0]), name="stays")
    return game, stays


def test_who_goes_round_for_nothing_is_not_scored_but_among_others() -> None:
    game, _ = choice()
    solution = solve(game)
    round_ = TabularPolicy.deterministic(game, np.array([1, 0, 0]))
    with pytest.raises(ImproperGameError):
        score(game, round_, solution)
    found = comparable_score(game, round_, solution)
    assert np.isnan([found.value, found.optimality_gap, found.normalized]).all()
    assert found.optimum == 2


@pytest.mark.parametrize("owner", [0, 1])
@pytest.mark.parametrize(("back", "value"), [(-2.0, -np.inf), (-0.5, 4.0)])
def test_a_class_that_the_other_player_can_keep_a_policy_in_counts_by_its_average_reward(
    owner: int, back: float, value: float
) -> None:
    """+1 on the way out; there the other player goes back, for `back` or for 5, or ends for 3."""
    sign = 1 - 2 * owner
    rows: list[list[Row]] = [
        [[(1.0, 1, sign)], [(1.0, END, 0.0)]],
        [[(1.0, 0, sign * back)], [(1.0, 0, sign * 5.0)], [(1.0, END, sign * 3.0)]],
    ]
    game = table_of(rows, owners=[owner, 1 - owner])
    goes = TabularPolicy.deterministic(game, np.array([0, 0, 0]), player=owner)
    assert score(game, goes).value == value
    assert exploitability(game, goes) == (np.inf if value < 0 else 0)


def held_in_a_loop(unit: float) -> tuple[TabularGame, TabularPolicy]:
    """Player 1 may lead out and back at a cost, beside ways to stay or go back with a gain."""
    rows: list[list[Row]] = [
        [[(1.0, 0, 2 * unit)], [(1.0, 1, unit)], [(1.0, END, 0.0)]],
        [[(1.0, 2, 0.0)], [(1.0, END, 0.0)]],
        [[(1.0, 0, -3 * unit)], [(1.0, 0, 2 * unit)], [(1.0, END, 3 * unit)]],
    ]
    game = table_of(rows, owners=[1, 0, 1])
    return game, TabularPolicy.deterministic(game, np.array([0, 0, 0, 0]))


@pytest.mark.parametrize("unit", [1.0, 1e-8, 2.0**-40, 2.0**40])
def test_the_unit_of_reward_does_not_matter(unit: float) -> None:
    assert score(*held_in_a_loop(unit)).value == -np.inf


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_what_may_cost_for_ever_is_known_in_any_unit(data: st.DataObject) -> None:
    """Against all deterministic policies of the other player, in exact arithmetic."""
    blocks = [([0, 1, 2], 3), ([3, 4], END)]
    rows: list[list[Row]] = []
    for block, onwards in blocks:
        unit = 2.0 ** data.draw(st.integers(-60, 20))
        outcomes = st.tuples(
            st.sampled_from([*block, *block, onwards]),
            st.sampled_from([r * unit for r in range(-3, 4)]),
        )
        row = st.tuples(st.sampled_from([0.25, 0.5, 1.0]), outcomes, outcomes).map(split)
        rows += [data.draw(st.lists(row, min_size=1, max_size=2)) for _ in block]
    game = table_of(rows, player=1)
    lost = [[[(p, t, -r) for p, t, r in row] for row in own] for own in rows]
    pays = np.array([*(truth(lost, s).infinite for s in range(len(rows))), False])
    expected = can_reach(game, np.ones(game.n_rows, bool), pays)
    assert costs_for_ever(game, 0).tolist() == expected.tolist()
    mirrored = table_of(lost, player=0)
    assert costs_for_ever(mirrored, 1).tolist() == expected.tolist()


def split(drawn: tuple[float, tuple[int, float], tuple[int, float]]) -> Row:
    p, first, second = drawn
    return [(p, *first)] if p == 1 else [(p, *first), (1 - p, *second)]


def test_a_uniform_policy_that_pays_for_ever_normalizes_nothing() -> None:
    """The other player may hold a player who stays with any probability at all, at a toll."""
    game = table_of(
        [[[(1.0, 1, 0.0)], [(1.0, END, 0.0)]], [[(1.0, 0, -1.0)], [(1.0, END, 3.0)]]],
        owners=[0, 1],
    )
    solution = solve(game)
    stays = TabularPolicy.deterministic(game, np.array([0, 0, 0]))
    leaves = TabularPolicy.deterministic(game, np.array([1, 0, 0]))
    assert score(game, stays, solution).value == -np.inf
    assert score(game, leaves, solution).value == 0
    held = TabularPolicy.deterministic(game, np.array([0, 0, 0]), player=1)
    assert cross_play_matrix(game, [stays, leaves], [held]).tolist() == [[-np.inf], [0]]
