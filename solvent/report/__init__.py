"""The report: one HTML page, complete in itself, about a game or the results of a bench."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solvent.report.page import write_report

__all__ = ["write_report"]


def __getattr__(name: str) -> Any:
    """Load the page only when it is asked for: the rest of this room needs no template engine."""
    if name not in ("write_report", "write_game_report"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from solvent.report.page import write_report

    if name == "write_game_report":
        warnings.warn("write_game_report is write_report now", DeprecationWarning, stacklevel=2)
    return write_report
