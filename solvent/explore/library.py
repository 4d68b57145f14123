"""All games in one explorer: each is solved when it is opened, with progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gymnasium as gym

from solvent.exact import SolvedGame, solve
from solvent.explore.drawing import drawn
from solvent.explore.explorer import Explorer, Page
from solvent.explore.subject import Jobs
from solvent.model import Game
from solvent.model.cache import OnProgress
from solvent.model.game import words
from solvent.model.gymnasium_table import DOCUMENTED
from solvent.model.parameters import shown
from solvent.model.registry import find_spec, game_specs, make_game
from solvent.model.scene import Prose, Scene

MOST_PARTS = 3
"""Parts of a scene that are shown in the gallery."""


@dataclass
class Library:
    """The games of an explorer.

    Args:
        explorers: The games that are open, by name.
        default: The game that an address without a name means; empty if there is none.
        open: Solves a game by its name, and tells its progress.
    """

    explorers: dict[str, Explorer] = field(default_factory=dict)
    default: str = ""
    open: Callable[[str, OnProgress], SolvedGame] = lambda name, tell: solve(name, progress=tell)
    jobs: Jobs = field(default_factory=Jobs)

    @classmethod
    def of(cls, explorer: Explorer) -> Library:
        """Return the library in which one game is open."""
        return cls({explorer.name: explorer}, explorer.name)

    @cached_property
    def games(self) -> Mapping[str, Game]:
        """The games that can be opened, by name."""
        published = (
            name
            for name, spec in gym.registry.items()
            if spec.entry_point in DOCUMENTED and spec.kwargs.get("map_name") != "8x8"
        )
        return {name: make_game(name) for name in (*published, *game_specs())}

    def explorer(self, name: str) -> Explorer | None:
        """Return the explorer of a game; None if it is not open.

        Args:
            name: The name of the game; the default one if empty.
        """
        return self.explorers.get(name or self.default)

    def opened(self, name: str) -> Explorer | Page:
        """Return the explorer of a game, or the page that waits for it.

        Args:
            name: The name of the game; the default one if empty.

        Raises:
            ValueError: If there is no such game, it cannot be solved, or too many computations are
                running.
        """
        found = self.explorer(name)
        if found is not None:
            return found
        if name not in self.games:
            raise ValueError(f"there is no game {shown(name)} in the gallery")
        job = self.jobs.of(name, lambda tell: self._ready(name, tell))
        if not job.done():
            values = {"job": job, "picture": drawn(self._scene(name))}
            return Page("opening.html.j2", f"Solving {name}", values)
        return self.explorers.setdefault(name, job.found())

    def _ready(self, name: str, tell: OnProgress) -> Explorer:
        """Solve a game, and prepare what its first page needs."""
        explorer = Explorer(self.open(name, tell), key=name, jobs=self.jobs)
        explorer.board({})
        return explorer

    def gallery(self) -> Page:
        """Return the page of all games."""
        return Page("gallery.html.j2", "All games", {"games": self.cards})

    @cached_property
    def cards(self) -> list[dict[str, str]]:
        """The games with the ``picture`` of their start and the first ``line`` of their rules."""
        found = []
        for name in self.games:
            spec = game_specs().get(name)
            rules = " ".join(spec.rules.split()) if spec else find_spec(name).make.__doc__ or ""
            scene = self._scene(name)
            shown_parts = tuple(one for one in scene if not isinstance(one, Prose))[:MOST_PARTS]
            line = rules.partition(". ")[0].rstrip(".") + "."
            found.append({"name": name, "picture": drawn(shown_parts), "line": line})
        return found

    def _scene(self, name: str) -> Scene:
        game: Any = self.games[name]
        start = max(game.initial(), key=lambda one: one.probability).state
        return words(game).scene(start)
