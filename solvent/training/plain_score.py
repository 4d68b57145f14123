"""Scores as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from solvent.exact import Score
from solvent.model import TabularGame


def plain(result: Score) -> dict[str, Any]:
    """A score as JSON, its state as text."""
    return {**asdict(result), "worst_start": repr(result.worst_start)}


def from_plain(held: dict[str, Any], game: TabularGame) -> Score:
    """A score from what :func:`plain` returned.

    Raises:
        KeyError: If the game has no such start.
        TypeError: If it is not a score.
    """
    named = {repr(game.states[s]): game.states[s] for s in np.flatnonzero(game.initial).tolist()}
    return Score(**{**held, "worst_start": named[held["worst_start"]]})
