"""Learning in games for two: less and less to exploit, or cycles, as the theorems say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pytest
from tabular_runs import ROCK_PAPER_SCISSORS, after, random_table

from solvent.tabular import (
    Estimate,
    curves,
    fictitious_play,
    matrix_game,
    measure,
    minimax_q,
    mirror_descent,
    regret_matching,
    regret_matching_plus,
    replicator_dynamics,
)

Learn = Callable[..., Iterator[Estimate]]
SWEEPING: list[Learn] = [
    fictitious_play,
    regret_matching,
    regret_matching_plus,
    mirror_descent,
]
MATRICES = [np.random.default_rng(seed).integers(-3, 4, (4, 3)).astype(float) for seed in range(3)]
UNEVEN = np.array([[0.5, 0.3, 0.2], [0, 0, 0]]), np.array([[0.2, 0.3, 0.5], [0, 0, 0]])
"""Policies with which rock, paper, scissors does not begin in its equilibrium."""


def strategies(estimate: Estimate) -> tuple[np.ndarray, np.ndarray]:
    """Both players' in a matrix game."""
    assert isinstance(estimate.pi, tuple)
    return estimate.pi[0][0], estimate.pi[1][0]


@pytest.mark.parametrize("learn", [regret_matching, regret_matching_plus])
def test_regret_falls_with_the_root_of_time(learn: Learn) -> None:
    """The regret of each player is at most range * sqrt(actions * T), by Blackwell's theorem."""
    for payoffs in [*MATRICES, ROCK_PAPER_SCISSORS]:
        m, n = payoffs.shape
        exploit = measure(matrix_game(payoffs), "exploitability")
        for t, estimate in enumerate(islice(learn(payoffs), 400), 1):
            if t in (25, 100, 400):
                bound = np.ptp(payoffs) * (np.sqrt(m) + np.sqrt(n)) / 2 / np.sqrt(t)
                assert exploit(estimate) <= bound


def test_fictitious_play_converges() -> None:
    """Robinson (1951): whatever the matrix, though slowly."""
    for payoffs in [*MATRICES, ROCK_PAPER_SCISSORS]:
        exploit = measure(matrix_game(payoffs), "exploitability")
        for t, estimate in enumerate(islice(fictitious_play(payoffs), 1600), 1):
            if t in (100, 400, 1600):
                assert exploit(estimate) <= 2 * np.ptp(payoffs) / np.sqrt(t)


def test_the_plus_is_faster() -> None:
    drawn = curves(
        ROCK_PAPER_SCISSORS + np.diag([0, 0, 0.5]),
        {
            "plain": lambda rng: regret_matching(ROCK_PAPER_SCISSORS + np.diag([0, 0, 0.5])),
            "plus": lambda rng: regret_matching_plus(ROCK_PAPER_SCISSORS + np.diag([0, 0, 0.5])),
        },
        "exploitability",
        until=1000,
        points=10,
        along="rounds",
    ).means
    assert drawn["plus"][-1] < drawn["plain"][-1] / 4


def test_replicators_circle_round_the_equilibrium() -> None:
    """The product of all shares is kept, so that no orbit comes nearer; its average does."""
    run = replicator_dynamics(ROCK_PAPER_SCISSORS, h=0.05, start=UNEVEN)
    orbit = [strategies(estimate) for estimate in islice(run, 4000)]
    kept = [np.log(x).sum() + np.log(y).sum() for x, y in orbit]
    assert np.ptp(kept) < 1e-5
    away = [np.abs(x - 1 / 3).max() + np.abs(y - 1 / 3).max() for x, y in orbit]
    assert min(away) > 0.15
    average = np.mean([x for x, _ in orbit], axis=0)
    assert average == pytest.approx([1 / 3] * 3, abs=0.02)
    # It comes back to where it began.
    first = np.concatenate([pi[0] for pi in UNEVEN])
    distances = [np.abs(np.concatenate(pair) - first).max() for pair in orbit]
    assert max(distances) > 0.2
    assert min(distances[1000:]) < 0.1


def test_mirror_descent_needs_a_magnet() -> None:
    """Without, it spirals outwards; with one that weakens it comes to the equilibrium."""
    exploit = measure(matrix_game(ROCK_PAPER_SCISSORS), "exploitability")
    first = exploit(Estimate(pi=UNEVEN))
    free, held = (
        exploit(
            after(
                mirror_descent(
                    ROCK_PAPER_SCISSORS, step=0.4, start=UNEVEN, temperature=temperature
                ),
                2000,
            )
        )
        for temperature in (0.0, lambda t: 1 / t)
    )
    assert free > first / 2
    assert held < first / 10


@pytest.mark.parametrize("learn", SWEEPING)
def test_sweeps_over_a_game_leave_less_and_less_to_exploit(learn: Learn) -> None:
    game = random_table(0, "simultaneous")
    exploit = measure(game, "exploitability")
    run = learn(game)
    early, late = exploit(after(run, 3)), exploit(after(run, 1000))
    assert late < early / 4
    assert late < 0.05


def test_minimax_q_leaves_less_and_less_to_exploit() -> None:
    game = random_table(0, "simultaneous")
    exploit = measure(game, "exploitability")
    early, late = [], []
    for seed in range(3):
        run = minimax_q(game, alpha=lambda n: n**-0.8, rng=np.random.default_rng(seed))
        early.append(exploit(after(run, 2)))
        late.append(exploit(after(run, 300)))
    assert np.mean(late) < np.mean(early) / 3
