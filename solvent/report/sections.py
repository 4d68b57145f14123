"""What a game adds to the page beyond what every game has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from solvent.model import Game
from solvent.report.solved import SolvedTask


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes:
        title: Its heading.
        html: Its content.
        script: JavaScript that it needs; equal scripts are put into the page once.
    """

    title: str
    html: str
    script: str = ""


@dataclass(frozen=True, slots=True)
class Untabled:
    """What is known of a game that is too large for a table.

    Attributes:
        optimum: Its value.
        bracket: Certified lower and upper bound of the optimum.
        method: How it was found.
        sections: The game's own.
    """

    optimum: float
    bracket: tuple[float, float]
    method: str
    sections: tuple[Section, ...]


MakeSections = Callable[[SolvedTask], list[Section]]


def sections_of(task: SolvedTask) -> list[Section]:
    """The sections that a task's game adds; none for a game that adds nothing."""
    make = makers().get(task.task.game)
    return make(task) if make else []


def makers() -> Mapping[str, MakeSections]:
    """The games that add sections."""
    from solvent.report.fighting_fantasy_maps import combat_sections
    from solvent.report.greed_maps import greed_sections

    return {"ff-combat": combat_sections, "greed": greed_sections}


def untabled(game: Game) -> Untabled | None:
    """What is known of a game without its table, None if nothing is."""
    from solvent.games import Greed
    from solvent.report.greed_maps import untabled_greed

    return untabled_greed(game) if isinstance(game, Greed) else None
