"""The algorithms of this package by name, as their signatures and docstrings describe them.

Pages that offer all algorithms, such as the explorer's page Watch, read this table. A generator of
estimates that is added to a module of this package appears in it automatically: its first parameter
is the problem that it runs on, parameters ``pi`` and ``b`` are given policies, and the keyword
parameters are its settings.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvent.model import TabularGame
from solvent.tabular import (
    bandits,
    dynamic_programming,
    monte_carlo,
    temporal_difference,
    two_players,
)
from solvent.tabular.interface import Estimate

TABLE, ENVIRONMENT, BOTH_PLAYERS = "table", "environment", "table for two"
"""The kind of problem that an algorithm runs on: a table in which one player chooses, an
environment that samples such a table, or a table in which both players choose."""


@dataclass(frozen=True, slots=True)
class TabularAlgorithm:
    """An algorithm and what it needs.

    Attributes:
        name: Name of the function.
        title: Name in words.
        run: The function.
        takes: :data:`TABLE`, :data:`ENVIRONMENT` or :data:`BOTH_PLAYERS`.
        policies: Names of the policies that it is given: ``pi`` is evaluated, ``b`` acts.
        settings: Its other keyword parameters with their defaults.
        seeded: Whether it draws random numbers, from a parameter ``rng``.
        one_step: Whether it is for bandits, whose episodes have one step.
    """

    name: str
    title: str
    run: Callable[..., Iterator[Estimate]]
    takes: str
    policies: tuple[str, ...]
    settings: Mapping[str, Any]
    seeded: bool
    one_step: bool

    @property
    def unit(self) -> str:
        """The unit of time between two estimates: ``"episodes"`` or ``"sweeps"``."""
        return "episodes" if self.seeded else "sweeps"

    def fits(self, game: TabularGame) -> bool:
        """Return whether the algorithm can run on a game.

        To run a one-player algorithm on a two-player game, fold the other player's policy into it
        first (:func:`solvent.model.against`).

        Args:
            game: The table.
        """
        if self.takes == BOTH_PLAYERS:
            return game.info.players == 2
        if not self.one_step:
            return True
        live = np.where(game.terminal, 0.0, 1.0)
        continues = game.expectation(live) - game.expectation(np.zeros(game.n_states))
        return not continues.any()


def _described(run: Callable[..., Iterator[Estimate]], one_step: bool) -> TabularAlgorithm:
    """Describe an algorithm by the signature and docstring of its function."""
    parameters = inspect.signature(run).parameters
    first, *others = parameters.values()
    takes = ENVIRONMENT
    if first.name != "env":
        takes = TABLE if first.annotation is TabularGame else BOTH_PLAYERS
    headline = (inspect.getdoc(run) or "").partition("\n")[0]
    headline = headline.removeprefix("Tabular ").replace("lambda", "λ")
    title = re.split("[:,.]| with ", headline)[0]
    keyword = {one.name: one.default for one in others if one.kind is one.KEYWORD_ONLY}
    return TabularAlgorithm(
        name=run.__name__,
        title=title,
        run=run,
        takes=takes,
        policies=tuple(one.name for one in others if one.name not in keyword),
        settings={name: default for name, default in keyword.items() if name != "rng"},
        seeded="rng" in keyword,
        one_step=one_step,
    )


def _algorithms() -> Iterator[TabularAlgorithm]:
    for module in (dynamic_programming, monte_carlo, temporal_difference, bandits, two_players):
        for value in vars(module).values():
            own = inspect.isfunction(value) and value.__module__ == module.__name__
            if own and value.__annotations__.get("return") == Iterator[Estimate]:
                yield _described(value, module is bandits)


ALGORITHMS: Mapping[str, TabularAlgorithm] = {one.name: one for one in _algorithms()}
"""All algorithms by name: planning, learning from samples, bandits, two-player games."""
