"""Exact learning curves of all algorithms: no number in them is an average over test episodes.

An algorithm yields arrays of values or probabilities, which can be measured exactly: the distance
of V from the true values, the value of the policy, its gap to the optimum, or, in a two-player
game, the gain of a best response against it. Runs differ in the samples that they learned from;
each point of each run is exact.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.exact.evaluation import policy_value
from solvent.exact.scoring import nash_conv
from solvent.exact.solution import ImproperGameError
from solvent.exact.solver import solve_table
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.gymnasium_table import numbers_of
from solvent.model.parameters import check_choice, check_integer
from solvent.model.text import signed
from solvent.report.panel import (
    ALGORITHMS,
    LEVELS,
    SHAPES,
    STYLE,
    Axis,
    Panel,
    gap_axis,
    value_axis,
)
from solvent.tabular.dynamic_programming import chooser
from solvent.tabular.interface import Estimate, epsilon_greedy
from solvent.tabular.two_players import as_table

Algorithm: TypeAlias = Callable[[np.random.Generator], Iterator[Estimate]]
"""A function that starts a run of an algorithm, given its only source of randomness."""

Measure: TypeAlias = Callable[[Estimate], float]

QUANTITIES = {
    "rms": "RMS error of V",
    "value": "value",
    "gap": "optimality gap",
    "exploitability": "exploitability",
}
"""Quantities that curves may show, with the names of their axes."""

POLICIES = ("greedy", "behaviour")


@dataclass(frozen=True, eq=False)
class Curves:
    """Learning curves of some algorithms.

    Attributes:
        quantity: The measured quantity, a key of :data:`QUANTITIES`.
        at: [P] number of sweeps, episodes or rounds at each point.
        numbers: [runs, P] measurements of each algorithm. If a policy's episodes never end, at a
            cost or with rewards that cancel, its value is minus infinity and its gap infinity.
        optimum: The best possible number.
        along: The unit of `at`, such as ``"episodes"``.
    """

    quantity: str
    at: Ints
    numbers: Mapping[str, Floats]
    optimum: float
    along: str = "episodes"

    @property
    def means(self) -> dict[str, Floats]:
        """Mean over the runs of each algorithm, [P]; infinite where a run is."""
        return {name: numbers.mean(axis=0) for name, numbers in self.numbers.items()}

    @property
    def medians(self) -> dict[str, Floats]:
        """Median over the runs of each algorithm, [P]; infinite where half of them are."""
        # Of the two middle runs, take the lower, since infinities have no mean.
        return {
            name: np.quantile(numbers, 0.5, axis=0, method="lower")
            for name, numbers in self.numbers.items()
        }

    def svg(
        self, title: str = "", *, logarithmic: bool = False, lowest: float | None = None
    ) -> str:
        """Draw the mean of each algorithm's runs as a line, and one line for the optimum.

        Infinite values, of policies that never end, are drawn in a band at the end of the axis.

        Args:
            title: Title of the chart. Default: the name of the quantity.
            logarithmic: Use a logarithmic axis, with a separate band for 0 below it.
            lowest: Lower end of the axis of values; smaller values are drawn there. Default: the
                least value.

        Returns:
            A self-contained SVG.

        Raises:
            ValueError: If `logarithmic` is True and the quantity is ``"value"``.
        """
        if logarithmic and self.quantity == "value":
            raise ValueError("logarithmic is True; a value may be negative, allowed is False")
        drawn = np.concatenate(list(self.means.values()))
        if lowest is not None:
            drawn = np.append(np.where(np.isinf(drawn), drawn, np.maximum(drawn, lowest)), lowest)
        y = value_axis([self.optimum, *drawn.tolist()])
        if logarithmic:
            y = gap_axis(drawn.tolist(), unbounded=True)
        name = QUANTITIES[self.quantity]
        panel = Panel(title or name, name, Axis(0.0, float(max(self.at[-1], 1))), y, self.along)
        if not logarithmic:
            panel.level(self.optimum, signed(f"optimum {self.optimum:.4g}"), "optimum")
        styles = zip(cycle(ALGORITHMS), cycle(SHAPES), strict=False)
        for (algorithm, line), (colour, shape) in zip(self.means.items(), styles, strict=False):
            text = f"{algorithm}: {line[-1]:.4g} in the end"
            panel.line(self.at.tolist(), line.tolist(), colour, text, dashed=False, shape=shape)
            panel.key(algorithm, colour, shape)
        return panel.alone(STYLE + LEVELS)

    def _repr_svg_(self) -> str:
        """Return the picture for notebooks."""
        return self.svg()


def curves(
    game: TabularGame | NDArray[Any],
    algorithms: Mapping[str, Algorithm],
    quantity: str = "gap",
    *,
    until: int,
    runs: int = 1,
    points: int = 100,
    seed: int = 0,
    policy: str = "greedy",
    values: Floats | TabularPolicy | None = None,
    states: Bools | Ints | None = None,
    along: str = "episodes",
) -> Curves:
    """Run algorithms and measure their estimates exactly on the way.

    Args:
        game: The table used for measuring, or a matrix of payoffs. It may be a discounted form of
            the game that they learn in, with the same states in the same order. Estimates from
            Gymnasium's own environments are brought into the order of their table.
        algorithms: Functions that start a run, by the algorithm's name, such as
            ``lambda rng: q_learning(env, rng=rng)``.
        quantity: ``"rms"``, the root mean squared error of V; ``"value"``, the policy's value at
            the start; ``"gap"``, the optimum minus that value; or ``"exploitability"``, the mean
            gain of best responses against both players of a two-player game.
        until: Number of sweeps, episodes or rounds of a run. A run that ends earlier keeps its last
            measurement.
        runs: Number of runs of each algorithm.
        points: Approximate number of points on a curve, evenly spread.
        seed: Seed of all runs. Equal seeds give equal curves; run k of each algorithm has the same
            generator.
        policy: ``"greedy"``, the greedy policy of Q, or pi if there is no Q; or ``"behaviour"``,
            the policy by which the algorithm acts.
        values: True values for ``"rms"``: [S] to the learner, or the policy whose values are
            estimated. Default: the optimum.
        states: [S] bool or numbers, the states in which V is compared. Default: all nonterminal
            states.
        along: The unit of `until`, used as the label of the axis.

    Raises:
        ValueError: If an argument is not one of these, or an algorithm does not estimate what the
            quantity measures.
    """
    check_integer(until, "until", 1, 10**9)
    check_integer(runs, "runs", 1, 10**6)
    check_integer(points, "points", 1, 10**6)
    game = as_table(game)
    measured = measure(game, quantity, policy=policy, values=values, states=states)
    at = np.unique(np.linspace(1, until, min(points, until)).round().astype(int))
    numbers = {
        name: np.array(
            [_run(begin(np.random.default_rng([seed, k])), at, measured) for k in range(runs)]
        )
        for name, begin in algorithms.items()
    }
    return Curves(quantity, at, numbers, _optimum(game, quantity), along)


def _run(estimates: Iterator[Estimate], at: Ints, measured: Measure) -> list[float]:
    """Return the measurements of a run at some of its points."""
    numbers: list[float] = []
    for n, estimate in enumerate(islice(estimates, int(at[-1])), 1):
        if n == at[len(numbers)]:
            numbers.append(measured(estimate))
        last = estimate
    # A run that ends earlier keeps its last estimate.
    return [*numbers, *[measured(last)] * (len(at) - len(numbers))]


def measure(
    game: TabularGame,
    quantity: str = "gap",
    *,
    policy: str = "greedy",
    values: Floats | TabularPolicy | None = None,
    states: Bools | Ints | None = None,
) -> Measure:
    """Return a function that measures how good an estimate is.

    Args:
        game: The table used for measuring.
        quantity: ``"rms"``, ``"value"``, ``"gap"`` or ``"exploitability"``, as for :func:`curves`.
        policy: ``"greedy"`` or ``"behaviour"``, as for :func:`curves`.
        values: True values for ``"rms"``, as for :func:`curves`.
        states: States in which V is compared, as for :func:`curves`.

    Returns:
        A function from an :class:`~solvent.tabular.interface.Estimate` to a number.

    Raises:
        ValueError: If an argument is not one of these. The function itself raises one if an
            estimate lacks the array that it measures.
    """
    check_choice(quantity, "quantity", QUANTITIES)
    check_choice(policy, "policy", POLICIES)
    if quantity == "rms":
        return _rms(game, values, states)
    if quantity == "exploitability":
        return lambda estimate: _exploitability(game, estimate)
    optimum = _optimum(game, quantity) if quantity == "gap" else 0.0
    sign = -1 if quantity == "gap" else 1
    return lambda estimate: sign * (_value(game, estimate, policy) - optimum)


def _optimum(game: TabularGame, quantity: str) -> float:
    """Return the best possible number; for a gap, the optimal value to the player who chooses."""
    if quantity not in ("value", "gap"):
        return 0.0
    return float((1 - 2 * chooser(game)) * solve_table(game).value)


def _rms(
    game: TabularGame, values: Floats | TabularPolicy | None, states: Bools | Ints | None
) -> Measure:
    if values is None or isinstance(values, TabularPolicy):
        both = all((count > 1).any() for count in game.action_count)
        sign = 1 if both else 1 - 2 * chooser(game)
        own = solve_table(game).values if values is None else policy_value(game, values)
        values = sign * own
    true = np.asarray(values)
    where = ~game.terminal & np.isfinite(true) if states is None else states

    def rms(estimate: Estimate) -> float:
        V = estimate.values
        if V is None:
            raise ValueError("the algorithm has no values; its policy has a 'value' and a 'gap'")
        V = _rows(game, estimate, V)
        return float(np.sqrt(((V - true)[where] ** 2).mean()))

    return rms


def _value(game: TabularGame, estimate: Estimate, kind: str) -> float:
    """Return the value of a policy at the start, to the player who chooses."""
    Q = estimate.Q if kind == "greedy" else None
    pi = estimate.pi if Q is None else epsilon_greedy(Q)
    if pi is None or isinstance(pi, tuple):
        have = "no policy" if pi is None else "two policies, which have an 'exploitability'"
        raise ValueError(f"the algorithm has {have}")
    player = chooser(game)
    try:
        values = policy_value(game, _policy(game, estimate, pi, player))
    except ImproperGameError:
        return -np.inf
    return (1 - 2 * player) * game.at_start(values)


def _exploitability(game: TabularGame, estimate: Estimate) -> float:
    """Return the mean gain of best responses against both players."""
    if not isinstance(estimate.pi, tuple):
        raise ValueError("the algorithm is for one player; its policy has a 'value' and a 'gap'")
    first, second = (_policy(game, estimate, pi, player) for player, pi in enumerate(estimate.pi))
    try:
        return nash_conv(game, first, second) / 2
    except ImproperGameError:
        return np.inf


def _policy(game: TabularGame, estimate: Estimate, pi: Floats, player: int) -> TabularPolicy:
    """Return a policy for the game used for measuring."""
    return TabularPolicy.of(game, _rows(game, estimate, pi), player=player)


def _rows(game: TabularGame, estimate: Estimate, array: Floats) -> Floats:
    """Return an array in the order of the table for measuring, which may have more ends."""
    numbers = numbers_of(game) if estimate.by_number else None
    if numbers is not None:
        return array[numbers]
    return np.concatenate([array, np.zeros((game.n_states - len(array), *array.shape[1:]))])
