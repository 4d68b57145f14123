"""``solvent solve`` for games that are solved layer by layer: plan, solve, go on, open."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class SolveOptions:
    """How a game is to be solved layer by layer.

    Attributes:
        out: The solution's folder; in memory if None.
        threads: Of this machine; as many as it has processors if None.
        on: The address of a Ray cluster that is to do the work.
        plan: Whether only to say what it will take.
        verify: Whether to compare the checksums of a finished solution.
        force: Whether to begin although there seems to be too little disk or memory.
    """

    out: Path | None = None
    threads: int | None = None
    on: str | None = None
    plan: bool = False
    verify: bool = False
    force: bool = False

    @property
    def threads_here(self) -> int:
        """How many threads that makes."""
        return self.threads or os.cpu_count() or 1

    def refuse(self) -> None:
        """Raise if any of them is given.

        Raises:
            ValueError: Naming the first.
        """
        for option in fields(self):
            if getattr(self, option.name):
                raise ValueError(f"--{option.name} is for games that are solved layer by layer")


def solve_layered(game: Any, options: SolveOptions, *, save: Path | None, as_json: bool) -> bool:
    """Solve a game layer by layer, or go on with it, and print its value.

    Args:
        game: Its rules.
        options: How it is to be solved.
        save: Where the solution of a table would be saved, which this has none of.
        as_json: Whether to print JSON.

    Returns:
        False if the game is not one that is solved so; then nothing was done.

    Raises:
        ValueError: If an option is given that belongs to the other kind of game.
    """
    from solvent.games import TimedFootball

    if not isinstance(game, TimedFootball):
        options.refuse()
        return False
    from solvent.games.football_clock.commands import solve_timed

    if save is not None:
        raise ValueError("--save is for games that fit in a table; use --out DIR")
    solve_timed(game, options, as_json=as_json)
    return True
