"""Solutions of tables that took long are kept on disk (:mod:`solvent.model.cache`).

A table has all that its rules say, and a hash of that, by which its solution is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        tolerance: Largest width of the bracket, as for :func:`solvent.exact.solve`.
        progress: Called as solving goes on, as by :func:`solvent.exact.solve`.

    Raises:
        ImproperGameError: As :func:`solvent.exact.solve`.
        CertificateError: As :func:`solvent.exact.solve`.
    """

    def solved() -> Solution:
        # Compiled loops take a while to import.
        from solvent.exact.solver import solve_table

        return solve_table(game, tolerance=tolerance, progress=progress)

    def unpacked(packed: Packed) -> Solution:
        from solvent.exact.solution import Solution

        return Solution.unpacked(*packed)

    identity = {"what": "solution", "model": game.model_hash, "tolerance": tolerance}
    return kept(identity, solved, lambda solution: Packed(*solution.packed()), unpacked)
