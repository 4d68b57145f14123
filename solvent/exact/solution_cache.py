"""Solutions of tables that took long are kept on disk (:mod:`solvent.model.cache`).

A table has all that its rules say, and a hash of that, by which its solution is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.model import TabularPolicy
from solvent.model.cache import Packed, kept
from solvent.model.progress import OnProgress

if TYPE_CHECKING:
    from solvent.exact.solution import Solution
    from solvent.model import TabularGame


def cached_solution(
    game: TabularGame, *, tolerance: float = 1e-9, progress: OnProgress | None = None
) -> Solution:
    """The solution of a table: one that was found before, or else one that is found now.

    Args:
        game: The table.
        tolerance: The same as for :func:`solvent.exact.solve`.
        progress: Called as solving goes on, as by :func:`solvent.exact.solve`.

    Raises:
        ImproperGameError: As :func:`solvent.exact.solve`.
        CertificateError: As :func:`solvent.exact.solve`.
    """

    def solved() -> Solution:
        # Compiled loops take a while to import.
        from solvent.exact.solver import solve_table

        return solve_table(game, tolerance=tolerance, progress=progress)

    identity = {"what": "solution", "model": game.model_hash, "tolerance": tolerance}
    return kept(identity, solved, _packed, lambda packed: _unpacked(game, packed))


FIGURES = ("value", "lower", "upper", "method")


def _packed(solution: Solution) -> Packed:
    first, second = solution.policies
    return Packed(
        {name: getattr(solution, name) for name in FIGURES},
        {
            "values": solution.values,
            "action_values": solution.action_values,
            "policy_0": first.probabilities,
            "policy_1": second.probabilities,
        },
    )


def _unpacked(game: TabularGame, packed: Packed) -> Solution:
    from solvent.exact.solution import Solution

    header, arrays = packed
    first, second = (
        TabularPolicy(arrays[f"policy_{player}"], game.model_hash, player, "optimal")
        for player in (0, 1)
    )
    return Solution(
        **{name: header[name] for name in FIGURES},
        values=arrays["values"],
        action_values=arrays["action_values"],
        policies=(first, second),
        model_hash=game.model_hash,
    )
