"""Players of football with a clock for environments: they are asked for many states at once."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from solvent.envs.kernels.timed_football import CALL, CHOICE, KICKOFF, TIMEOUT
from solvent.envs.kernels.timed_football_plays import TimedFootballPlays
from solvent.envs.simulation import Simulation
from solvent.exact.kernels.timed_football.solution import TimedSolution, layout_for
from solvent.exact.kernels.timed_football.solve import solve_layout
from solvent.exact.kernels.timed_football.state_mixes import (
    Solved,
    States,
    rate_kicks,
    rate_options,
    rate_timeouts,
    solve_calls,
    solved_from,
)
from solvent.exact.kernels.timed_football.store import SheetStore
from solvent.games.football.timed import TimedFootball
from solvent.model.arrays import Bools, Floats, Ints

SOLVED_ON_THE_SPOT = 5_000_000
"""The most states of a form that is solved when its optimal player is asked for."""


class OptimalPlayer:
    """Plays optimally: it solves the matrix of each state from the values of a solution.

    Args:
        solution: Of the game that is played; all of it is read into memory.
    """

    name = "optimal"

    def __init__(self, solution: TimedSolution) -> None:
        self.solution = solution
        self._solved: Solved = solved_from(solution)

    def mixes(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        """[k, A] the probabilities of its actions; see :class:`solvent.envs.simulation.Player`."""
        assert isinstance(simulation, TimedFootballPlays)
        mixes = np.zeros((len(chosen), simulation.n_actions))
        actions = simulation.sampler.rules.actions
        phase = simulation.plays.phase[chosen]
        calling = np.flatnonzero(phase == CALL)
        if len(calling):
            offence = np.zeros((len(calling), actions.plays + 3))
            defence = np.zeros((len(calling), self._solved.defences))
            at = chosen[calling]
            solve_calls(self._solved, self._states(simulation, at), offence, defence)
            attacks = simulation.plays.offence[at] == player[calling]
            mixes[calling[attacks], : actions.plays + 3] = offence[attacks]
            letters = slice(actions.defence, actions.defence + self._solved.defences)
            mixes[calling[~attacks], letters] = defence[~attacks]
        for kind, first in (
            (CHOICE, actions.choice),
            (KICKOFF, actions.kick),
            (TIMEOUT, actions.timeout),
        ):
            deciding = np.flatnonzero(phase == kind)
            if len(deciding):
                at = chosen[deciding]
                second = self._prefers_second(simulation, kind, at, player[deciding])
                mixes[deciding, first + second] = 1.0
        return mixes

    def _prefers_second(
        self, simulation: TimedFootballPlays, kind: int, chosen: Ints, player: Ints
    ) -> Bools:
        """[k] which of two actions is worth more to a player; the first on ties."""
        plays, states = simulation.plays, self._states(simulation, chosen)
        worth = np.empty((len(chosen), 2))
        mine = plays.offence[chosen] == player
        if kind == TIMEOUT:
            flags = plays.other_too[chosen] == 1, plays.untimed[chosen] == 1
            saved = plays.saved[chosen].astype(np.int64)
            rate_timeouts(self._solved, states, mine, saved, *flags, worth)
            # A time-out that changes nothing in the value is kept.
            return worth[:, 1] >= worth[:, 0]
        if kind == KICKOFF:
            rate_kicks(self._solved, states, worth)
        else:
            rate_options(self._solved, states, plays.choice[chosen].astype(np.int64), worth)
        gain = np.where(mine, 1.0, -1.0) * (worth[:, 1] - worth[:, 0])
        better: Bools = gain > 0
        return better

    def _states(self, simulation: TimedFootballPlays, chosen: Ints) -> States:
        """The chosen plays as the side with the ball or the kick sees them."""
        plays, layout = simulation.plays, self.solution.layout
        offence = plays.offence[chosen]
        half = plays.half[chosen].astype(np.int64)
        margin = np.where(offence == 0, plays.margin[chosen], -plays.margin[chosen])
        column = np.zeros(len(chosen), np.int64)
        if not layout.for_points:
            most = layout.clock.largest_margin
            receives = (half == 1) & (plays.receiver[chosen] == offence)
            column = margin + most + receives * (2 * most + 1)
        own, other = plays.left0[chosen], plays.left1[chosen]
        return States(
            half,
            plays.ticks[chosen].astype(np.int64),
            np.where(offence == 0, own, other).astype(np.int64),
            np.where(offence == 0, other, own).astype(np.int64),
            plays.row[chosen].astype(np.int64),
            column,
        )


def optimal_player(game: TimedFootball, solution: str | Path | None = None) -> OptimalPlayer:
    """The optimal player of a game.

    Args:
        game: Which.
        solution: The folder of its solution; without one the game is solved, if it is small.

    Raises:
        ValueError: If it is not.
        StoreError: If there is no solution in the folder, or it is one of another game.
    """
    if solution is not None:
        return _opened(game, Path(solution))
    layout = layout_for(game)
    if layout.states > SOLVED_ON_THE_SPOT:
        raise ValueError(
            f"form {game.form!r} has {layout.states:,} states, too many to be solved on the spot "
            f"for an optimal opponent (at most {SOLVED_ON_THE_SPOT:,}); solve it with "
            f"`solvent solve football-strategy --form {game.form} --out DIR` and give solution=DIR"
        )
    return _solved(game)


@lru_cache(maxsize=2)
def _opened(game: TimedFootball, folder: Path) -> OptimalPlayer:
    return OptimalPlayer(TimedSolution.open(folder, game))


@lru_cache(maxsize=2)
def _solved(game: TimedFootball) -> OptimalPlayer:
    store = SheetStore(layout_for(game))
    solve_layout(store.layout, store)
    return OptimalPlayer(TimedSolution(store, game))
