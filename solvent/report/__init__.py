"""The report: one HTML page, complete in itself, about the results of a bench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solvent.report.page import write_report

__all__ = ["write_report"]


def __getattr__(name: str) -> Any:
    """Load the page only when it is asked for: the rest of this room needs no template engine."""
    if name == "write_report":
        from solvent.report.page import write_report

        return write_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
