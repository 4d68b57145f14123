"""The report: one HTML page, complete in itself, about a game or the results of a bench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solvent.report.page import write_game_report, write_report, write_solution_report

__all__ = ["write_game_report", "write_report", "write_solution_report"]


def __getattr__(name: str) -> Any:
    """Load the page only when it is asked for: the rest of this room needs no template engine."""
    if name in __all__:
        from solvent.report import page

        return getattr(page, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
