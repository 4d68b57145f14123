"""The example book with a weaker hero and a weaker miller, so that there are few states."""

from __future__ import annotations

from gamebooks import changed

from solvent.games.gamebook.loader import parse_book
from solvent.games.gamebook.rules import Gamebook

TEXT = changed(
    ("endurance: {initial: 1d6 + 6, max: 14", "endurance: {initial: 1d2 + 4, max: 6"),
    ("gold: {initial: 6, max: 20}", "gold: {initial: 3, max: 4}"),
    ("luck: {initial: 7", "luck: {initial: 4"),
    ("endurance: 9}, {name: Shadow", "endurance: 5}, {name: Shadow"),
)
"""Eleven thousand states."""


def small_mill(name: str = "") -> Gamebook:
    return Gamebook(parse_book(TEXT.encode()), name=name)
