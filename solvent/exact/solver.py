"""The optimum of any finite zero-sum game, with a certificate.

Values and policies come from :mod:`solvent.exact.decomposition`, component by component; the
bracket around the value at the start is proved by :mod:`solvent.exact.certificate`, which trusts
neither of them.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from solvent.exact.certificate import NARROW, bracket
from solvent.exact.components import components, reached
from solvent.exact.decomposition import optimum
from solvent.exact.solution import CertificateError, ImproperGameError, Solution
from solvent.model import TabularGame
from solvent.model.arrays import Floats
from solvent.model.progress import OnProgress, Teller

SHARE = 0.01
"""The share of a tolerance below which either bound needs no closer look."""


def solve_table(
    game: TabularGame, *, tolerance: float = 1e-9, progress: OnProgress | None = None
) -> Solution:
    """Solve a table as it is, with a certificate.

    Args:
        game: Any game for one player or two, with or without cycles.
        tolerance: Widest bracket accepted, in units of the largest value or reward that can be met
            from the start, or of 1 if that is larger. Policies of large cycles are evaluated anew
            only where the bracket is wider. With 0 they always are, and any bracket is accepted:
            it is as narrow as floats allow.
        progress: Called with the states solved so far, and then with those of the proof
            (:class:`~solvent.model.Progress`, phases ``"solving"`` and ``"proving"``).

    Raises:
        ImproperGameError: If from some state no end can be reached, or a player does best by never
            ending.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
    """
    cyclic = bool(components(game).cyclic.any())
    both = cyclic and all((count > 1).any() for count in game.action_count)
    refusals: list[CertificateError | ImproperGameError] = []
    # Sweeps and Newton's method may end in a wrong place where values are large beside their
    # differences, and rounding may hide from one player's side what the other one shows.
    nears = ((True, False) if tolerance else (False,)) if cyclic else (True,)
    for near, swap in product(nears, (False, True)[: 1 + both]):
        try:
            return _solve(game, tolerance, progress, near=near, swap=swap)
        except (CertificateError, ImproperGameError) as refused:
            refusals.append(refused)
    raise refusals[0]


def _solve(
    game: TabularGame, tolerance: float, progress: OnProgress | None, *, near: bool, swap: bool
) -> Solution:
    """The solution by one way to solve cycles; see :func:`~solvent.exact.decomposition.optimum`."""
    values, policies, method = optimum(
        game, near=near, swap=swap, tell=Teller(progress, "solving", game.n_states)
    )
    narrow = min(NARROW, SHARE * tolerance)
    lower, upper = bracket(game, values, policies, narrow=narrow, progress=progress)
    if lower > upper:
        # Each policy secures more than the other one leaves, against whoever ends play.
        raise ImproperGameError(
            f"{game.info.name}: both players do best by never ending (ending, player 0 can be sure "
            f"of {lower:.6g}, and player 1 of {upper:.6g})"
        )
    if (
        tolerance
        and not upper - lower <= tolerance
        and not upper - lower <= tolerance * (scale := _scale(game, values))
    ):
        raise CertificateError(
            f"{game.info.name}: the value lies in [{lower!r}, {upper!r}], which is wider than "
            f"{tolerance * scale:.1e}; a larger tolerance= accepts it"
        )
    return Solution(
        # The proof can be tighter than the iteration was: a value outside the bracket is wrong.
        value=min(max(float(game.initial @ values), lower), upper),
        values=values,
        action_values=game.expectation(values),
        policies=policies,
        lower=lower,
        upper=upper,
        method=method,
        model_hash=game.model_hash,
    )


def _scale(game: TabularGame, values: Floats) -> float:
    """The largest value or reward that play from the start can meet, at least 1."""
    met = reached(game)
    rewards = np.abs(game.outcome_reward[met[game.row_state[game.outcome_row]]]).max(initial=0)
    return max(1.0, float(rewards), float(np.abs(values[met]).max()))
