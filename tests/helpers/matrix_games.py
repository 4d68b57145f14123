"""Families of matrix games that solvers get wrong, and a textbook's simplex method that does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Family = Callable[[np.random.Generator, int], Floats]

PLAYS, DEFENCES = 20, 10


def normal(rng: np.random.Generator, games: int) -> Floats:
    return rng.normal(size=(games, PLAYS, DEFENCES))


def football(rng: np.random.Generator, games: int) -> Floats:
    """Whole yards with many ties, and now and then a touchdown or the ball lost."""
    yards = np.rint(rng.normal(4, 6, (games, PLAYS, DEFENCES)))
    luck = rng.random(yards.shape)
    return np.where(luck < 0.03, -40, np.where(luck > 0.97, 45, yards))


def small_integers(rng: np.random.Generator, games: int) -> Floats:
    return rng.integers(-1, 2, (games, PLAYS, DEFENCES)).astype(float)


def blurred_ties(rng: np.random.Generator, games: int) -> Floats:
    """Ties up to rounding, as they come out of computations."""
    return small_integers(rng, games) + 1e-12 * normal(rng, games)


def duplicated_columns(rng: np.random.Generator, games: int) -> Floats:
    half = rng.integers(0, 3, (games, PLAYS, DEFENCES // 2)).astype(float)
    return np.concatenate((half, half), axis=2)


def duplicated_rows(rng: np.random.Generator, games: int) -> Floats:
    half = rng.integers(0, 3, (games, PLAYS // 2, DEFENCES)).astype(float)
    return np.concatenate((half, half), axis=1)


def rank_one(rng: np.random.Generator, games: int) -> Floats:
    return rng.normal(size=(games, PLAYS, 1)) * rng.normal(size=(games, 1, DEFENCES))


def constant(rng: np.random.Generator, games: int) -> Floats:
    return np.broadcast_to(rng.normal(size=(games, 1, 1)), (games, PLAYS, DEFENCES)).copy()


def zeros_and_ones(rng: np.random.Generator, games: int) -> Floats:
    return (rng.random((games, PLAYS, DEFENCES)) < rng.random((games, 1, 1))).astype(float)


def saddle_points(rng: np.random.Generator, games: int) -> Floats:
    """A row that is best against a column that is best against it."""
    payoff = normal(rng, games)
    payoff[:, 7] = np.abs(payoff[:, 7])
    payoff[:, :, 4] = -np.abs(payoff[:, :, 4])
    payoff[:, 7, 4] = 0.0
    return payoff


def skew_symmetric(rng: np.random.Generator, games: int) -> Floats:
    half = rng.integers(-2, 3, (games, 11, 11)).astype(float)
    return half - half.transpose(0, 2, 1)


def matching_pennies(rng: np.random.Generator, games: int) -> Floats:
    """The row player wins where both call the same; value 1/n with n = 12."""
    return np.broadcast_to(np.eye(12), (games, 12, 12)).copy()


def one_row(rng: np.random.Generator, games: int) -> Floats:
    return rng.integers(-3, 4, (games, 1, DEFENCES)).astype(float)


def one_column(rng: np.random.Generator, games: int) -> Floats:
    return rng.integers(-3, 4, (games, PLAYS, 1)).astype(float)


def wide(rng: np.random.Generator, games: int) -> Floats:
    return rng.integers(-3, 4, (games, DEFENCES, PLAYS)).astype(float)


def large(rng: np.random.Generator, games: int) -> Floats:
    return rng.integers(-2, 3, (max(games // 50, 1), 40, 40)).astype(float)


def huge_payoffs(rng: np.random.Generator, games: int) -> Floats:
    return 1e8 * football(rng, games)


def tiny_payoffs(rng: np.random.Generator, games: int) -> Floats:
    return 1e-8 * football(rng, games)


def far_from_zero(rng: np.random.Generator, games: int) -> Floats:
    return 1e6 + football(rng, games)


def many_scales(rng: np.random.Generator, games: int) -> Floats:
    """Payoffs from 1e-7 to 1e7 in one matrix."""
    return np.sign(normal(rng, games)) * np.exp(5 * normal(rng, games))


FAMILIES: tuple[Family, ...] = (
    normal, football, small_integers, blurred_ties, duplicated_columns, duplicated_rows, rank_one,
    constant, zeros_and_ones, saddle_points, skew_symmetric, matching_pennies, one_row, one_column,
    wide, large, huge_payoffs, tiny_payoffs, far_from_zero, many_scales,
)  # fmt: skip


def spread_of(payoffs: Floats) -> Floats:
    """The range of each game's payoffs, 1 where all are equal, [G]."""
    spread = payoffs.max(axis=(1, 2)) - payoffs.min(axis=(1, 2))
    return np.where(spread == 0, 1.0, spread)


def gap_of(payoffs: Floats, row_strategy: Floats, column_strategy: Floats) -> Floats:
    """max(A y) - min(x A) of each game, by the definition, [G]."""
    most = np.einsum("gij,gj->gi", payoffs, column_strategy).max(axis=1)
    return np.asarray(most - np.einsum("gi,gij->gj", row_strategy, payoffs).min(axis=1))
