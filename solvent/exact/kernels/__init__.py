"""Compiled loops of the solvers, each module loaded when it is first used.

Numba takes half a second to import. ``import solvent``, the command's help and an environment do
without it, so nothing imports these modules at its top: ``kernels.chain`` loads one.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solvent.exact.kernels import (
        chain,
        cycles,
        graph,
        induction,
        markov_game,
        matrix_game,
        sweeps,
    )

__all__ = ["chain", "cycles", "graph", "induction", "markov_game", "matrix_game", "sweeps"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> ModuleType:
        """Import a module of this package when it is first asked for."""
        if name in __all__:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
