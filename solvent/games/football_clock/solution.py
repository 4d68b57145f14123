"""The solution of a form: the value of the start, and of every other position.

In stores the chance of winning and half that of a tie stand less one half, which makes them
antisymmetric; here they are as one says them, between 0 and 1. Points are the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solution import LayeredSolution, solve_in_memory
from solvent.games.football.rules import FORMS
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.games.football_clock.backup import payoffs_of
from solvent.games.football_clock.forms import football_strategy
from solvent.games.football_clock.layers import FootballLayers, equilibrium
from solvent.games.football_clock.layout import FormLayout, place_of
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.model.arrays import Floats
from solvent.model.game import Game
from solvent.model.parameters import as_options
from solvent.model.progress import OnProgress

SOLVED_IN_MEMORY = 150_000_000
"""Most states of a form that is solved on the spot; more take too long."""

NEGLIGIBLE = 1e-9
"""Decisions that differ by less are as good as each other."""


@dataclass(frozen=True, eq=False)
class TimedSolution(LayeredSolution):
    """A form of football with a clock, solved.

    Of decisions that are equally good its policies take the plain one: no time-out, the ordinary
    kickoff.

    Args:
        store: All its layers, in memory or in a folder.
        game: Game of the same form, with the start that is meant.

    Raises:
        ValueError: If a layer is not solved.
    """

    @classmethod
    def open(
        cls, folder: str | Path, game: TimedFootball | None = None, *, verify: bool = False
    ) -> TimedSolution:
        """Open a solution in a folder.

        Args:
            folder: Folder of the solution.
            game: The game that it must solve, with the start that is meant; any game, from its
                usual start, if None.
            verify: Whether to check all layers now, not each when it is first read.

        Raises:
            StoreError: If there is none, it is of another game, not finished, or damaged.
        """
        layered = FootballLayers if game is None else FootballLayers.of(game)
        solution = cls(LayerFolder.open(folder, layered, verify=verify), game)
        if game is None:
            rules, clock = solution.layout.rules, solution.layout.clock
            game = TimedFootball(rules.chart, solution.layout.form, rules.ruleset, clock)
        return cls(solution.store, game)

    @classmethod
    def of(cls, game: TimedFootball, *, progress: OnProgress | None = None) -> TimedSolution:
        """Solve a form in memory.

        Args:
            game: The rules, with the start that is meant.
            progress: Called with the states solved so far.

        Raises:
            ResourceError: If it takes more memory than there is.
        """
        return cls(solve_in_memory(FootballLayers.of(game), progress=progress), game)

    @property
    def layout(self) -> FormLayout:
        """The layout of the states."""
        layered = self.layered
        assert isinstance(layered, FootballLayers)
        return layered.layout

    @cached_property
    def start(self) -> TimedPosition:
        """The position with which the game begins."""
        [outcome] = self.game.initial()
        start: TimedPosition = outcome.state
        return start

    def policy(self, state: TimedPosition, player: int) -> Mapping[int, float]:
        """Return the probability of every legal action in an optimal strategy of a player."""
        if state.phase == "call":
            return super().policy(state, player)
        sign = 1 if player == 0 else -1
        values = {a: sign * value for a, value in self.action_values(state, player).items()}
        good = [a for a, value in values.items() if value > max(values.values()) - NEGLIGIBLE]
        chosen = good[-1 if state.phase == "time-out" else 0]
        return {action: float(action == chosen) for action in values}

    def _payoffs(self, state: TimedPosition) -> Floats:
        if state.phase != "call":
            return super()._payoffs(state)
        layout, (layer, row, column, side) = self.layout, place_of(self.layout, state)
        only = slice(column, column + 1)
        values = equilibrium(layout, layer, self.values, only).values()
        declared = np.zeros(1)
        if state.down == layout.rules.ruleset.downs and not state.punting:
            declared = self.values(layer)[row + layout.lines, only]
        [contested], [certain] = payoffs_of(layout.rules, values, row, declared)
        alike = np.repeat(certain[:, None], contested.shape[1], axis=1)
        payoffs = np.concatenate((contested, alike))
        even = 0.0 if layout.for_points else 0.5
        return payoffs + even if side == 0 else even - payoffs.T


def opened_football(folder: Path, parameters: Mapping[str, Any]) -> TimedSolution:
    """Return the solution in a folder, with the start that is asked for.

    Args:
        folder: Folder of the solution.
        parameters: Parameters of the game; those left out are as it was solved.

    Raises:
        ValueError: If a parameter is not allowed.
        StoreError: If there is none in the folder, or it is one of another game.
    """
    solution = TimedSolution.open(folder)
    solved = {**dict(solution.game.info.parameters), "chart": solution.game.loaded_chart}
    asked = {**solved, **parameters}
    form = asked["form"]
    # Asked first, since such a form would refuse the clock of the solution, which nobody wrote.
    if form in FORMS or not isinstance(game := football_strategy(**asked), TimedFootball):
        raise ValueError(f"--solution is for football with a clock, not for form {form!r}")
    return TimedSolution.open(folder, game)


def solved_football(
    game: Game, *, progress: OnProgress | None = None
) -> TimedSolution | SolvedFootball | None:
    """Solve a form of football by its kernels; None if its table is the better way.

    Args:
        game: The rules.
        progress: Called with the states solved so far, if there is a clock.

    Raises:
        ValueError: If the form is too large for that.
        ResourceError: If it takes more memory than there is.
    """
    if not isinstance(game, TimedFootball):
        return solve_football(game)
    if game.positions > SOLVED_IN_MEMORY:
        options = as_options(dict(game.info.parameters))
        raise ValueError(
            f"form {game.form!r} has {game.positions:,} states, which takes a while; solve it with "
            f"`solvent solve football-strategy {options} --out DIR`, then play it or report it "
            f"with --solution DIR and the same parameters"
        )
    return TimedSolution.of(game, progress=progress)
