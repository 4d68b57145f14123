"""Exact learning curves of all algorithms: no number in them is an average over test episodes.

What an algorithm yields is a table of values or of probabilities, of which the error is known
exactly: the distance of V from the true values, the value of the policy, its gap to the optimum, or
in a game for two how much a best response wins against it. The runs of an algorithm differ in what
they have learned from; each point of each run is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.exact.evaluation import policy_value
from solvent.exact.response import nash_conv
from solvent.exact.solution import ImproperGameError
from solvent.exact.solver import solve_table
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_choice, check_integer
from solvent.report.colours import ALGORITHMS, SHAPES
from solvent.report.panel import LEVELS, STYLE, Axis, Panel, gap_axis
from solvent.tabular.dynamic_programming import chooser
from solvent.tabular.estimate import Estimate, epsilon_greedy
from solvent.tabular.payoffs import matrix_game

Algorithm: TypeAlias = Callable[[np.random.Generator], Iterator[Estimate]]
"""What begins a run of an algorithm, of which all luck comes from the generator."""

Measure: TypeAlias = Callable[[Estimate], float]

QUANTITIES = {
    "rms": "RMS error of V",
    "value": "value",
    "gap": "optimality gap",
    "exploitability": "exploitability",
}
"""What curves may show, and the name of the axis."""

POLICIES = ("greedy", "behaviour")

MARGIN = 0.06
"""Room above and below the curves, as a share of the axis."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Learning curves of some algorithms.

    Attributes:
        quantity: What they show, a key of :data:`QUANTITIES`.
        at: [P] after how many sweeps, episodes or rounds.
        numbers: [runs, P] for each algorithm. The value of a policy that never ends, at a cost for
            ever or with rewards that cancel, is minus infinity, and its gap infinity.
        optimum: The best number there can be.
        along: What is counted in `at`.
    """

    quantity: str
    at: Ints
    numbers: Mapping[str, Floats]
    optimum: float
    along: str = "episodes"

    @property
    def means(self) -> dict[str, Floats]:
        """[P] for each algorithm, the mean over its runs; infinite where a run is."""
        return {name: numbers.mean(axis=0) for name, numbers in self.numbers.items()}

    @property
    def medians(self) -> dict[str, Floats]:
        """[P] for each algorithm, the median over its runs; infinite where half of them are."""
        # The lower one of two in the middle, since infinities have no mean.
        return {
            name: np.quantile(numbers, 0.5, axis=0, method="lower")
            for name, numbers in self.numbers.items()
        }

    def svg(
        self,
        title: str = "",
        *,
        median: bool = False,
        logarithmic: bool = False,
        lowest: float | None = None,
    ) -> str:
        """The runs of each algorithm as one line of a picture, with the optimum as another.

        Policies that never end are at the edge of the chart, with minus infinity beside it.

        Args:
            title: What it shows; the quantity unless given.
            median: Whether the line is the median of the runs, not their mean.
            logarithmic: Whether errors are in decades, below which there is a lane for 0.
            lowest: Where the axis of values begins, at which all that is less is drawn; with the
                least of them unless given.

        Returns:
            An SVG that needs nothing else.

        Raises:
            ValueError: If values are to be in decades.
        """
        if logarithmic and self.quantity == "value":
            raise ValueError("logarithmic is True; a value may be negative, allowed is False")
        lines = self.medians if median else self.means
        drawn = np.concatenate(list(lines.values()))
        finite = np.append(drawn[np.isfinite(drawn)], self.optimum)
        if lowest is not None:
            finite = np.append(finite[finite > lowest], lowest)
        margin = MARGIN * (np.ptp(finite) or 1.0)
        y = Axis(float(finite.min() - margin), float(finite.max() + margin))
        if logarithmic:
            y = gap_axis(drawn.tolist())
        x = Axis(0.0, float(max(self.at[-1], 1)))
        name = QUANTITIES[self.quantity]
        panel = Panel(title or name, name, x, y, self.along)
        if not logarithmic:
            optimum = f"optimum {self.optimum:.4g}".replace("-", "−")
            panel.level(self.optimum, optimum, "optimum")
        if np.isneginf(drawn).any():
            panel.level(y.low, "−∞, never ends", "baseline")
        if np.isposinf(drawn).any():
            panel.level(y.high, "∞, never ends", "baseline")
        for n, (algorithm, line) in enumerate(lines.items()):
            colour, shape = ALGORITHMS[n % len(ALGORITHMS)], SHAPES[n % len(SHAPES)]
            text = f"{algorithm}: {line[-1]:.4g} in the end"
            panel.line(self.at.tolist(), line.tolist(), colour, text, dashed=False, shape=shape)
            panel.key(algorithm, colour, shape)
        return panel.alone(STYLE + LEVELS)

    def _repr_svg_(self) -> str:
        """The picture, which a notebook shows."""
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
    """Run algorithms and measure exactly what they know on the way.

    Args:
        game: The table for which they are measured, or a matrix of payoffs. It may be a discounted
            form of the one they learn in, with the same states in the same order.
        algorithms: What begins a run of each, by name, such as
            ``lambda rng: q_learning(env, rng=rng)``.
        quantity: ``"rms"``, the root of the mean squared error of V; ``"value"``, of the policy at
            the start; ``"gap"``, how much less that is than the optimum; or ``"exploitability"``,
            the mean of what best responses gain against both players of a game for two.
        until: How many sweeps, episodes or rounds a run has. One that has ended before stays as it
            is.
        runs: How many runs each algorithm has.
        points: About how many points a curve has, evenly spread.
        seed: Equal seeds give equal curves; run k of each algorithm has the same generator.
        policy: ``"greedy"``, the greedy policy of Q, or pi where there is no Q; or
            ``"behaviour"``, by which the algorithm acts.
        values: What V is compared with: [S] to the one who learns, or the policy whose values are
            estimated; the optimum unless given.
        states: [S] bool or numbers, the states in which V is compared; all that can go on unless
            given.
        along: What a run counts, as the axis says it.

    Raises:
        ValueError: If an argument is none of these, or an algorithm does not learn what the
            quantity is about.
    """
    check_integer(until, "until", 1, 10**9)
    check_integer(runs, "runs", 1, 10**6)
    game = game if isinstance(game, TabularGame) else matrix_game(game)
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
    """The numbers of a run at some of its points."""
    numbers: list[float] = []
    wanted, number = iter(at.tolist()), 0.0
    due = next(wanted)
    for n, estimate in enumerate(estimates, 1):
        if n == due:
            number = measured(estimate)
            numbers.append(number)
            due = next(wanted, 0)
            if not due:
                return numbers
        last = estimate
    # It has converged, and knows what it knew in the end.
    return [*numbers, *[measured(last)] * (len(at) - len(numbers))]


def measure(
    game: TabularGame,
    quantity: str = "gap",
    *,
    policy: str = "greedy",
    values: Floats | TabularPolicy | None = None,
    states: Bools | Ints | None = None,
) -> Measure:
    """What says how good an estimate is.

    Args:
        game: The table for which it is measured.
        quantity: ``"rms"``, ``"value"``, ``"gap"`` or ``"exploitability"``, as for :func:`curves`.
        policy: ``"greedy"`` or ``"behaviour"``, as for :func:`curves`.
        values: What V is compared with, as for :func:`curves`.
        states: In which V is compared, as for :func:`curves`.

    Returns:
        A function from an :class:`~solvent.tabular.estimate.Estimate` to a number.

    Raises:
        ValueError: If an argument is none of these; the function raises one if an estimate has
            not what it measures.
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
    """The best number there can be; a gap is measured from the optimal value to the chooser."""
    if quantity not in ("value", "gap"):
        return 0.0
    return float((1 - 2 * chooser(game)) * solve_table(game).value)


def _rms(
    game: TabularGame, values: Floats | TabularPolicy | None, states: Bools | Ints | None
) -> Measure:
    true = np.asarray(_true_values(game, values))
    where = ~game.terminal & np.isfinite(true) if states is None else states

    def rms(estimate: Estimate) -> float:
        V = estimate.values
        if V is None:
            raise ValueError("the algorithm has no values; its policy has a 'value' and a 'gap'")
        V = np.concatenate([V, np.zeros(game.n_states - len(V))])
        return float(np.sqrt(((V - true)[where] ** 2).mean()))

    return rms


def _true_values(game: TabularGame, values: Floats | TabularPolicy | None) -> Floats:
    """The values that V is compared with, [S], to the one who learns."""
    if values is not None and not isinstance(values, TabularPolicy):
        return values
    both = all((count > 1).any() for count in game.action_count)
    sign = 1 if both else 1 - 2 * chooser(game)
    return sign * (solve_table(game).values if values is None else policy_value(game, values))


def _value(game: TabularGame, estimate: Estimate, kind: str) -> float:
    """The value of a policy at the start, to the player who chooses."""
    greedy = estimate.Q is not None and kind == "greedy"
    pi = epsilon_greedy(estimate.Q) if greedy and estimate.Q is not None else estimate.pi
    if pi is None or isinstance(pi, tuple):
        have = "no policy" if pi is None else "two policies, which have an 'exploitability'"
        raise ValueError(f"the algorithm has {have}")
    player = chooser(game)
    try:
        values = policy_value(game, _policy(game, pi, player))
    except ImproperGameError:
        return -np.inf
    return (1 - 2 * player) * game.at_start(values)


def _exploitability(game: TabularGame, estimate: Estimate) -> float:
    """The mean over both players of what a best response gains."""
    if not isinstance(estimate.pi, tuple):
        raise ValueError("the algorithm is for one player; its policy has a 'value' and a 'gap'")
    first, second = (_policy(game, pi, player) for player, pi in enumerate(estimate.pi))
    try:
        return nash_conv(game, first, second) / 2
    except ImproperGameError:
        return np.inf


def _policy(game: TabularGame, pi: Floats, player: int) -> TabularPolicy:
    """A policy of the game that is measured, which may have further states, all ends."""
    further = np.zeros((game.n_states - len(pi), pi.shape[1]))
    return TabularPolicy.of(game, np.concatenate([pi, further]), player=player)
