"""Newton's method for the equilibrium of football: fix the strategies, then fix the values.

With all strategies fixed, values are the solution of a linear system, the chain of
:mod:`solvent.games.football.solver.situation_chain`. With all values fixed, every situation is a
matrix game. Alternating the two is Newton's method for the equilibrium (Pollatschek and Avi-Itzhak
1969, "Algorithms for Stochastic Games with Geometrical Interpretation"). It takes a few rounds
where it converges, which it need not: where the residual does not fall by half, the next evaluation
is cut to one sweep, which makes the round one of value iteration.

**Discounts.** Where whoever has the ball is sure to score, all situations are worth the same, and
every call is as good as any other, those included that never score; the chain of such calls has no
values. If what follows a play counts for a little less than it is worth, the sooner score is the
better one, and play that goes on for ever is worth nothing. So :meth:`Iteration.run_discounted`
solves games with ever smaller discounts, each from the one before, and takes the calls of the
last. They are optimal without a discount too, but for an error of its size times the number of
plays, which a certificate has to bound as it has to bound everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from solvent.exact.solution import CertificateError
from solvent.games.football.solver.calls import Calls, solve_calls
from solvent.games.football.solver.responses import DEFEND, offence_view
from solvent.games.football.solver.situation_chain import both_halves, mixed_chain, settle
from solvent.games.football.solver.values import Tables, all_by_value, choices_by_value
from solvent.model.arrays import Floats

Progress: TypeAlias = Callable[[int, float, float], None]
"""Told after each round: its number, the largest residual in points, and the kickoff's value."""

MOST_ROUNDS = 500
MOST_SWEEPS = 20_000

FEW_ROUNDS = 40
"""Rounds after which to try something else; where Newton's method converges it takes ten or so."""

UNSETTLED = 5
"""Rounds in a row whose values did not settle in so many sweeps, after which it is given up."""
CONVERGED = 1e-13
"""A residual, in points, that counts as rounding."""

STALLED, PATIENCE = 1e-10, 5
"""A residual that will do if so many rounds have not halved it; a certificate has the say."""

DISCOUNTS = tuple(10.0**-k for k in range(1, 12))
"""The last is small beside any tolerance, and large beside what rounding does to ties."""


class NotConvergedError(CertificateError):
    """The iteration went on and on."""


@dataclass(eq=False)
class Iteration:
    """Where the iteration stands.

    Attributes:
        tables: The rules where the viewer has the ball and, if they are others and both halves of
            the view are looked for, those where the other side has it.
        pair: [2(S+2), 2]: the view is ``pair[:, 0] + kickoff * pair[:, 1]``.
        calls: Equilibria of the calls at the view, for each of the tables.
        kickoff: The value K of receiving a kickoff.
        mirror: With one table, whether the second half of the view follows the first, or stays as
            it is.
        residual: Largest difference between the calls' values and the view.
        rounds: How often all calls were solved.
        discount: How much less counts what follows a play, as a share of what it is worth.
    """

    tables: tuple[Tables, ...]
    pair: Floats
    calls: tuple[Calls, ...]
    kickoff: float
    mirror: bool
    residual: float = np.inf
    rounds: int = 0
    discount: float = 0.0

    @property
    def view(self) -> Floats:
        """What everything is worth to the offence, [2(S+2)]."""
        return np.asarray(self.pair @ (1.0, self.kickoff))

    def run(
        self,
        kickoff_from: Callable[[Floats], float] | None = None,
        progress: Progress | None = None,
        *,
        most: int = MOST_ROUNDS,
    ) -> None:
        """Iterate until nothing changes.

        Args:
            kickoff_from: Finds K from the pair; None keeps it.
            progress: Called after each round.
            most: Rounds after which to give up.

        Raises:
            NotConvergedError: If the iteration does not converge.
            CertificateError: If play is so long that values do not settle.
        """
        half = len(self.pair) // 2
        least, stalled, unsettled = np.inf, 0, 0
        for _ in range(most):
            settled = self._evaluate(1 if stalled else MOST_SWEEPS)
            unsettled = 0 if settled or stalled else unsettled + 1
            if unsettled == UNSETTLED:
                raise CertificateError(
                    f"play is so long that its value does not settle: after {self.rounds} rounds "
                    f"the residual is {self.residual:.1e} points"
                )
            if kickoff_from is not None:
                self.kickoff = kickoff_from(self.pair)
            view = self.view
            self.calls = tuple(
                solve_calls(tables, (1 - self.discount) * offence_view(view, role), calls)
                for role, (tables, calls) in enumerate(zip(self.tables, self.calls, strict=True))
            )
            changes = [
                calls.values - offence_view(view, role)[: half - 2]
                for role, calls in enumerate(self.calls)
            ]
            self.residual = float(np.abs(changes).max())
            self.rounds += 1
            if progress is not None:
                progress(self.rounds, self.residual, self.kickoff)
            stalled = 0 if self.residual < least / 2 else stalled + 1
            least = min(least, self.residual)
            if self.residual <= (CONVERGED if stalled < PATIENCE else STALLED):
                return
            self.pair[: half - 2, 0] += changes[0]
            if self.mirror or len(changes) == 2:
                self.pair[half:-2, 0] -= changes[-1]
        raise NotConvergedError(
            f"the iteration did not converge: after {self.rounds} rounds the residual is "
            f"{self.residual:.1e} points"
        )

    def run_discounted(
        self, kickoff_from: Callable[[Floats], float], progress: Progress | None = None
    ) -> None:
        """Iterate with :data:`DISCOUNTS`, then find the values of the last calls without one.

        Args:
            kickoff_from: Finds K from the pair.
            progress: Called after each round.

        Raises:
            CertificateError: If the iteration does not converge.
        """
        for self.discount in DISCOUNTS:
            self.residual = np.inf
            self.run(kickoff_from, progress, most=FEW_ROUNDS)
        self.discount = 0.0
        self._evaluate(MOST_SWEEPS)
        self.kickoff = kickoff_from(self.pair)

    def _evaluate(self, sweeps: int) -> bool:
        """Find the values of the calls that are at hand; whether they have settled."""
        counts = 1 - self.discount
        view = counts * self.view
        chains = []
        for role, (tables, calls) in enumerate(zip(self.tables, self.calls, strict=True)):
            seen = offence_view(view, role)
            chain = mixed_chain(
                tables,
                calls.offence_strategy,
                calls.defence_strategy,
                choices_by_value(tables, seen, 1.0, all_by_value(tables)),
                defending=role == DEFEND,
                free_kick=self.mirror or len(self.tables) == 2,
            )
            chains.append(chain)
        chain = chains[0] if len(chains) == 1 else both_halves(*chains)
        chain = chain._replace(weight=counts * chain.weight)
        tolerance = float(np.clip(self.residual / 100, CONVERGED / 100, 1e-3))
        return settle(chain, self.pair, self.mirror, tolerance, sweeps) <= tolerance
