"""Matrix games: known values, outside solvers, many at once, families that go wrong elsewhere."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import assert_refused
from scipy import optimize

from solvent.exact import MatrixGames, iterated_dominance, solve_matrix_game, solve_matrix_games


@pytest.mark.parametrize(
    ("payoff", "value"),
    [
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0),  # rock, paper, scissors
        ([[1, -1], [-1, 1]], 0),  # matching pennies
        ([[3, 1], [4, 2]], 2),  # a saddle point
        ([[2, 0], [-1, 3]], 1),  # 2x2 by the formula (ad - bc) / (a + d - b - c)
        ([[5]], 5),
        ([[2, 2], [2, 2]], 2),
        ([[1e8, -1e8], [-1e8, 1e8]], 0),
        ([[1, 2, 3]], 1),
    ],
)
def test_known_games(payoff: list[list[float]], value: float) -> None:
    solution = solve_matrix_game(np.array(payoff))
    scale = max(1, np.abs(payoff).max())
    assert solution.value == pytest.approx(value, abs=1e-9 * scale)
    assert 0 <= solution.duality_gap <= 1e-9 * scale
    [many] = solve_matrix_games(np.array([payoff]))
    assert many.value == pytest.approx(value, abs=1e-9 * scale)


def test_nashpy_agrees() -> None:
    nashpy = pytest.importorskip("nashpy")
    rng = np.random.default_rng(0)
    for _ in range(50):
        payoff = rng.integers(-5, 6, size=rng.integers(1, 6, size=2)).astype(float)
        ours = solve_matrix_game(payoff)
        x, y = nashpy.Game(payoff).linear_program()
        assert ours.value == pytest.approx(float(x @ payoff @ y), abs=1e-7)
        assert ours.duality_gap <= 1e-9
        for mix in (ours.row_strategy, ours.column_strategy):
            assert mix.sum() == pytest.approx(1)
            assert (mix >= 0).all()


# Many small matrix games at once: certificates, families that go wrong elsewhere, HiGHS


PLAYS, DEFENCES = 20, 10

Family = Callable[[np.random.Generator, int], Any]


def whole_numbers(low: int, high: int, *shape: int) -> Family:
    """Whole numbers from `low` to `high`, which tie often."""
    return lambda rng, n: rng.integers(low, high + 1, (n, *shape)).astype(float)


def yards(rng: np.random.Generator, n: int) -> Any:
    """Whole yards with many ties, and now and then a touchdown or the ball lost."""
    gained = np.rint(rng.normal(4, 6, (n, PLAYS, DEFENCES)))
    luck = rng.random(gained.shape)
    return np.where(luck < 0.03, -40, np.where(luck > 0.97, 45, gained))


def saddle_points(rng: np.random.Generator, n: int) -> Any:
    """A row that is best against a column that is best against it."""
    payoff = rng.normal(size=(n, PLAYS, DEFENCES))
    payoff[:, 7] = np.abs(payoff[:, 7])
    payoff[:, :, 4] = -np.abs(payoff[:, :, 4])
    payoff[:, 7, 4] = 0.0
    return payoff


def many_scales(rng: np.random.Generator, n: int) -> Any:
    """Payoffs from 1e-7 to 1e7 in one matrix."""
    signs, sizes = rng.normal(size=(2, n, PLAYS, DEFENCES))
    return np.sign(signs) * np.exp(5 * sizes)


# Matrix games that solvers get wrong elsewhere.
FAMILIES: dict[str, Family] = {
    "normal": lambda rng, n: rng.normal(size=(n, PLAYS, DEFENCES)),
    "yards": yards,
    "small whole numbers": whole_numbers(-1, 1, PLAYS, DEFENCES),
    "ties up to rounding": lambda rng, n: (
        whole_numbers(-1, 1, PLAYS, DEFENCES)(rng, n)
        + 1e-12 * rng.normal(size=(n, PLAYS, DEFENCES))
    ),
    "each column twice": lambda rng, n: np.tile(whole_numbers(0, 2, PLAYS, 5)(rng, n), 2),
    "each row twice": lambda rng, n: np.tile(whole_numbers(0, 2, 10, DEFENCES)(rng, n), (2, 1)),
    "rank one": lambda rng, n: rng.normal(size=(n, PLAYS, 1)) * rng.normal(size=(n, 1, DEFENCES)),
    "constant": lambda rng, n: np.tile(rng.normal(size=(n, 1, 1)), (PLAYS, DEFENCES)),
    "zeros and ones": lambda rng, n: (
        rng.random((n, PLAYS, DEFENCES)) < rng.random((n, 1, 1))
    ).astype(float),
    "saddle points": saddle_points,
    "skew-symmetric": lambda rng, n: (
        (half := whole_numbers(-2, 2, 11, 11)(rng, n)) - half.transpose(0, 2, 1)
    ),
    # The row player wins where both call the same; the value is 1/12.
    "matching pennies": lambda rng, n: np.tile(np.eye(12), (n, 1, 1)),
    "one row": whole_numbers(-3, 3, 1, DEFENCES),
    "one column": whole_numbers(-3, 3, PLAYS, 1),
    "wide": whole_numbers(-3, 3, DEFENCES, PLAYS),
    "large": lambda rng, n: whole_numbers(-2, 2, 40, 40)(rng, n // 50),
    "huge payoffs": lambda rng, n: 1e8 * yards(rng, n),
    "tiny payoffs": lambda rng, n: 1e-8 * yards(rng, n),
    "far from zero": lambda rng, n: 1e6 + yards(rng, n),
    "many scales": many_scales,
}


def spread_of(payoffs: np.ndarray) -> np.ndarray:
    """The range of each game's payoffs, 1 where all are equal, [G]."""
    spread = np.ptp(payoffs, axis=(1, 2))
    return np.where(spread == 0, 1.0, spread)


def check(payoffs: np.ndarray, games: MatrixGames) -> None:
    """Both mixes are distributions, and the gap that is stated is theirs and small."""
    spread = spread_of(payoffs)
    for mix in (games.row_strategy, games.column_strategy):
        assert (mix >= 0).all()
        np.testing.assert_allclose(mix.sum(axis=1), 1, rtol=0, atol=1e-12)
    most = np.einsum("gij,gj->gi", payoffs, games.column_strategy).max(axis=1)
    assured = np.einsum("gi,gij->gj", games.row_strategy, payoffs).min(axis=1)
    gap = most - assured
    rounding = 1e-14 * np.abs(payoffs).max(axis=(1, 2))
    assert (gap <= 1e-9 * spread + rounding).all()
    assert (np.abs(games.duality_gap - gap) <= rounding + 1e-14 * spread).all()
    assert (np.abs(games.value - assured) <= rounding).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family: str) -> None:
    rng = np.random.default_rng(1)
    payoffs = FAMILIES[family](rng, 1000)
    games = solve_matrix_games(payoffs)
    check(payoffs, games)
    spread = spread_of(payoffs)
    for g in range(0, len(payoffs), 50):
        assert abs(games.value[g] - solve_matrix_game(payoffs[g]).value) <= 1e-9 * spread[g]

    # From its own solutions, from those of other games, and from what is no solution at all.
    check(payoffs, solve_matrix_games(payoffs, start=games))
    near = payoffs + 0.01 * spread[:, None, None] * rng.normal(size=payoffs.shape)
    warm = solve_matrix_games(near, start=games)
    check(near, warm)
    assert (np.abs(warm.value - solve_matrix_games(near).value) <= 1e-9 * spread_of(near)).all()


def test_a_game_that_needs_small_pivots_is_solved_to_rounding() -> None:
    """Out of football: the optimal probabilities differ by ten orders of magnitude."""
    payoff = 1e-3 * np.array([
        [0, 0, 0, 0, 0, 1], [0, 0, 0, 15, 0, 0], [0, -5133, 0, 0, 10, 0], [0, 13, 0, 0, 0, -5133],
        [0, 0, 0, -3933, -2434, 10], [0, 10, -2434, 0, 0, 0], [123, 0, 22, 0, -2434, 0],
    ])  # fmt: skip
    assert solve_matrix_games(payoff[None]).duality_gap[0] < 1e-14


def test_games_of_many_scales_are_solved_again_in_units_of_their_bracket() -> None:
    """Payoffs over twenty powers of ten, where the units of the entries lose the small ones."""
    payoffs = (
        np.sign(many_scales(np.random.default_rng(0), 1000))
        * np.abs(many_scales(np.random.default_rng(1), 1000)) ** 1.6
    )
    games = solve_matrix_games(payoffs)
    check(payoffs, games)
    # The first attempt alone leaves 56 of them with a larger gap.
    assert (games.duality_gap <= 1e-12 * spread_of(payoffs)).all()
    assert repr(games).startswith("<MatrixGames: 1000 of ")
    assert f"of {' x '.join(map(str, payoffs.shape[1:]))}, largest gap " in repr(games)


PAYOFFS = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    elements=st.integers(-4, 4).map(float) | st.floats(-1, 1).map(lambda x: round(x, 3)),
)


def value_of(payoff: np.ndarray) -> float:
    games = solve_matrix_games(payoff[None])
    check(payoff[None], games)
    return float(games.value[0])


@settings(max_examples=examples(150))
@given(PAYOFFS, st.randoms(), st.integers(-3, 3), st.sampled_from([1e-6, 0.5, 3.0, 1e6]))
def test_what_keeps_the_value(payoff: np.ndarray, random: object, shift: int, scale: float) -> None:
    value = value_of(payoff)
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    shuffled = rng.permutation(rng.permutation(payoff), axis=1)
    assert value_of(shuffled) == pytest.approx(value, abs=1e-9)
    assert value_of(-payoff.T) == pytest.approx(-value, abs=1e-9)
    assert value_of(scale * payoff + shift) == pytest.approx(
        scale * value + shift, abs=1e-9 * max(scale, 1)
    )
    # The value is 1-Lipschitz in the payoffs, and no lower with one more row to choose.
    moved = payoff + rng.uniform(-0.1, 0.1, payoff.shape)
    assert abs(value_of(moved) - value) <= 0.1 + 1e-9
    more = np.vstack((payoff, rng.normal(size=(1, payoff.shape[1]))))
    assert value_of(more) >= value - 1e-9


FARTHEST = np.finfo(float).max / 4
PENNIES = np.array([[1.0, -1], [-1, 1]])


def test_payoffs_may_be_as_far_apart_as_half_the_floats() -> None:
    for games in (
        solve_matrix_games(FARTHEST * PENNIES[None])[0],
        solve_matrix_game(FARTHEST * PENNIES),
    ):
        assert games.row_strategy == pytest.approx([0.5, 0.5], abs=1e-12)


FAR = np.array([np.eye(2), [[1e308, -1e308], [-1e308, 1e308]]])
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: solve_matrix_game(np.zeros((0, 3))), r"shape \[m, n\]; got \(0, 3\)"),
    (lambda: solve_matrix_game(np.array([[np.nan]])), "one of these is nan"),
    (lambda: solve_matrix_game(np.zeros(3)), r"got \(3,\)"),
    (lambda: solve_matrix_game(1.01 * FARTHEST * PENNIES), "too far apart"),
    (lambda: iterated_dominance(FAR[1]), "too far apart"),
    (lambda: iterated_dominance(np.array([[0, np.nan]])), "one of these is nan"),
    (lambda: solve_matrix_games(np.zeros((3, 2))), r"shape \[G, m, n\]"),
    (lambda: solve_matrix_games(np.zeros((1, 0, 2))), r"shape \[G, m, n\]"),
    (lambda: solve_matrix_games(np.zeros((1, 2, 0))), r"shape \[G, m, n\]"),
    (lambda: solve_matrix_games(np.full((1, 2, 2), np.inf)), "one of these is inf"),
    (lambda: solve_matrix_games(FAR), r"game 1: payoffs from -1e.308 to 1e.308 are too far"),
    (
        lambda: solve_matrix_games(
            np.zeros((2, 4, 3)), start=solve_matrix_games(np.zeros((2, 3, 4)))
        ),
        r"\(2, 3, 4\); the payoffs are \(2, 4, 3\)",
    ),
]


def test_what_is_no_matrix_game_is_refused() -> None:
    assert_refused(REFUSED)


SCISSORS = np.array([[0.0, -1, 2], [1, 0, -1], [-1, 3, 0]])


def test_rough_mixes_are_polished_and_refused_if_that_does_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = optimize.linprog

    def blurred(*args: Any, **kwargs: Any) -> Any:
        """HiGHS's mixes are off, by weights that are too large and by weights below 0."""
        program = right(*args, **kwargs)
        program.x[:2] += -1e-5, 2e-5
        program.ineqlin.marginals[-2:] += -3e-5, 1e-5
        return program

    monkeypatch.setattr(optimize, "linprog", blurred)
    polished, exact = solve_matrix_game(SCISSORS), solve_matrix_games(SCISSORS[None])[0]
    assert polished.duality_gap <= 1e-15
    assert polished.value == pytest.approx(exact.value, abs=1e-14)
    for name in ("row_strategy", "column_strategy"):
        assert getattr(polished, name) == pytest.approx(getattr(exact, name), abs=1e-14)

    def worse(a: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        x[:], y[:] = np.eye(3)[0], np.eye(3)[0]

    monkeypatch.setattr("solvent.exact.matrix_game.solve_games", worse)
    message = r"with a duality gap of \d\.\de-04; its payoffs range from -1 to 3$"
    assert_refused([(SCISSORS, message)], solve_matrix_game, ArithmeticError)


# Iterated dominance: textbook examples, and properties against the value of the game


# In the last, row 2 falls only when column 2, the only one against which it is good, has fallen.
DOMINATED: list[tuple[str, Any, str]] = [
    (
        "a mix dominates where no pure action does",
        [[3.0, 0], [0, 3], [1, 1]],
        "row 2 by 0.5 x 0 + 0.5 x 1\nleft: rows [0, 1], columns [0, 1]",
    ),
    (
        "weak dominance is none",
        [[4.0, 0, 1], [0, 4, 1], [2, 2, 0]],
        "left: rows [0, 1, 2], columns [0, 1, 2]",
    ),
    (
        "removals follow from one another",
        [[1.0, 2, 3], [2, 3, 4], [0, 0, 9]],
        "row 0 by 1\ncolumn 2 by 0\nrow 2 by 1\ncolumn 1 by 0\nleft: rows [1], columns [0]",
    ),
]


def test_dominated_actions_fall() -> None:
    for rule, payoff, said in DOMINATED:
        assert str(iterated_dominance(np.array(payoff))) == said, rule


@settings(max_examples=examples(60))
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        elements=st.integers(-3, 3).map(float),
    )
)
def test_the_value_survives_and_dominators_dominate(payoff: np.ndarray) -> None:
    report = iterated_dominance(payoff)
    left = payoff[np.ix_(report.rows, report.columns)]
    assert solve_matrix_game(left).value == pytest.approx(solve_matrix_game(payoff).value, abs=1e-8)

    alive = [list(range(n)) for n in payoff.shape]
    for removal in report.removals:
        gains = payoff if removal.player == 0 else -payoff.T
        against = alive[1 - removal.player]
        alive[removal.player].remove(removal.action)
        assert sum(p for _, p in removal.by) == pytest.approx(1)
        assert {action for action, _ in removal.by} <= {*alive[removal.player]}
        mix = sum(p * gains[action, against] for action, p in removal.by)
        assert (mix > gains[removal.action, against]).all()
    assert (report.rows, report.columns) == tuple(map(tuple, alive))
    assert not iterated_dominance(left).removals
