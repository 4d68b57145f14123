"""What a game adds to the page beyond what every game has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from solvent.exact.bench_records import BaselineRecord
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
    """What is known of a game of which no table was made.

    Attributes:
        optimum: Its value.
        bracket: Certified lower and upper bound of the optimum.
        method: How it was found.
        sections: The game's own.
        baselines: Scored; none if there is no way without a table.
    """

    optimum: float
    bracket: tuple[float, float]
    method: str
    sections: tuple[Section, ...]
    baselines: tuple[BaselineRecord, ...] = ()


MakeSections = Callable[[SolvedTask], list[Section]]


def sections_of(task: SolvedTask) -> list[Section]:
    """The sections that a task's game adds; none for a game that adds nothing."""
    make = makers().get(task.task.game)
    return make(task) if make else []


def makers() -> Mapping[str, MakeSections]:
    """The games that add sections."""
    from solvent.games.fighting_fantasy.report import combat_sections
    from solvent.games.football.report.page import football_sections
    from solvent.games.gamebook.report import gamebook_sections
    from solvent.games.greed.report import greed_sections

    return {
        "ff-combat": combat_sections,
        "football-strategy": football_sections,
        "gamebook": gamebook_sections,
        "greed": greed_sections,
    }


def untabled(game: Game, *, too_large: bool) -> Untabled | None:
    """What is known of a game without its table.

    Args:
        game: Any.
        too_large: Whether there can be no table. Otherwise it is left out only where all that it
            would say is known without it, sooner.

    Returns:
        What is known, None if a table is needed.
    """
    from solvent.games import FootballStrategy, Greed

    if isinstance(game, FootballStrategy):
        from solvent.games.football.report.page import untabled_football

        return untabled_football(game)
    if isinstance(game, Greed) and too_large:
        from solvent.games.greed.report import untabled_greed

        return untabled_greed(game)
    return None
