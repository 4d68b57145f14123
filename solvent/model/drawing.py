"""Pieces of text with which games draw their states."""

from __future__ import annotations


def gauge(value: int, maximum: int, width: int = 24) -> str:
    """A bar of `width` characters that is filled as far as `value` goes, and the numbers.

    A value above 0 always shows. Environments paint the bar in colour.
    """
    filled = -(-min(value, maximum) * width // maximum) if maximum else 0
    return f"{'█' * filled}{'░' * (width - filled)} {value:2d}/{maximum}"
