"""Pieces of text with which games draw their states."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice


def gauge(value: int, maximum: int, width: int = 24) -> str:
    """A bar of `width` characters that is filled as far as `value` goes, and the numbers.

    A value above 0 always shows. Environments paint the bar in colour.
    """
    filled = -(-min(value, maximum) * width // maximum) if maximum else 0
    return f"{'█' * filled}{'░' * (width - filled)} {value:2d}/{maximum}"


def board(rows: Sequence[str], here: int) -> str:
    """A board with a character for each cell, one of them in brackets.

    Args:
        rows: The board's rows, from the top.
        here: The cell in brackets; cells are counted row by row.
    """
    cells = enumerate("".join(rows))
    drawn = (f"[{cell}]" if i == here else f" {cell} " for i, cell in cells)
    return "\n".join("".join(islice(drawn, len(row))).rstrip() for row in rows)
