"""Iterated dominance: textbook examples, and properties against the value of the game."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from solvent.exact import iterated_dominance, solve_matrix_game


def test_a_mix_dominates_where_no_pure_action_does() -> None:
    payoff = np.array([[3.0, 0], [0, 3], [1, 1]])
    report = iterated_dominance(payoff)
    assert (report.rows, report.columns) == ((0, 1), (0, 1))
    assert str(report) == ("round 1: row 2 by 0.5 x 0 + 0.5 x 1\nleft: rows [0, 1], columns [0, 1]")
    assert iterated_dominance(payoff, mixed=False).rows == (0, 1, 2)


def test_rounds_follow_one_another() -> None:
    """Row 2 falls only when column 2, the only one against which it is good, has fallen."""
    report = iterated_dominance(np.array([[1.0, 2, 3], [2, 3, 4], [0, 0, 9]]))
    found = [(r.round, r.player, r.action, r.by) for r in report.removals]
    assert found == [
        (1, 0, 0, ((1, 1.0),)),
        (1, 1, 2, ((0, 1.0),)),
        (2, 0, 2, ((1, 1.0),)),
        (3, 1, 1, ((0, 1.0),)),
    ]
    assert (report.rows, report.columns) == ((1,), (0,))


def test_weak_dominance_is_an_option() -> None:
    payoff = np.array([[4.0, 0, 1], [0, 4, 1], [2, 2, 0]])
    assert iterated_dominance(payoff).rows == (0, 1, 2)
    weak = iterated_dominance(payoff, weak=True)
    assert weak.rows == (0, 1)
    assert dict(weak.removals[0].by) == pytest.approx({0: 0.5, 1: 0.5})
    assert iterated_dominance(payoff, weak=True, mixed=False).rows == (0, 1, 2)


@settings(max_examples=examples(60), deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        elements=st.integers(-3, 3).map(float),
    ),
    st.booleans(),
    st.booleans(),
)
def test_the_value_survives_and_dominators_dominate(
    payoff: np.ndarray, weak: bool, mixed: bool
) -> None:
    report = iterated_dominance(payoff, weak=weak, mixed=mixed)
    left = payoff[np.ix_(report.rows, report.columns)]
    assert solve_matrix_game(left).value == pytest.approx(solve_matrix_game(payoff).value, abs=1e-8)

    alive = [list(range(n)) for n in payoff.shape]
    for number in sorted({removal.round for removal in report.removals}):
        now = [removal for removal in report.removals if removal.round == number]
        gone = {(removal.player, removal.action) for removal in now}
        for removal in now:
            gains = payoff if removal.player == 0 else -payoff.T
            against = alive[1 - removal.player]
            assert sum(p for _, p in removal.by) == pytest.approx(1)
            assert not {(removal.player, action) for action, _ in removal.by} & gone
            mix = sum(p * gains[action, against] for action, p in removal.by)
            ahead = mix - gains[removal.action, against]
            assert ahead.min() > (-1e-8 if weak else 0)
            assert ahead.max() > 0
        for removal in now:
            alive[removal.player].remove(removal.action)
    assert (report.rows, report.columns) == tuple(map(tuple, alive))
