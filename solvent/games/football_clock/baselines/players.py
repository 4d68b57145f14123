"""Players of football with a clock for environments: they are asked for many states at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from solvent.envs.simulation import Player, Simulation
from solvent.games.football.solver import Strategies
from solvent.games.football_clock.baselines.agent import CLOCKLESS, AgentLayers
from solvent.games.football_clock.episode_kernel import CALL, CHOICE, KICKOFF, TIMEOUT, Episodes
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.simulation import TimedFootballPlays, TimedFootballSampler
from solvent.games.football_clock.solver.layout import FormLayout, Layer, layout_for
from solvent.games.football_clock.solver.policies import Asked
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.games.football_clock.solver.state_strategies import (
    Solved,
    States,
    rate_kicks,
    rate_options,
    rate_timeouts,
    solve_calls,
    solved_from,
)
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import as_options

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
        assert isinstance(simulation, TimedFootballPlays)
        strategies = np.zeros((len(chosen), simulation.n_actions))
        actions = simulation.sampler.rules.actions
        phase = simulation.plays.phase[chosen]
        calling = np.flatnonzero(phase == CALL)
        if len(calling):
            offence = np.zeros((len(calling), actions.plays + 3))
            defence = np.zeros((len(calling), self._solved.defences))
            at = chosen[calling]
            solve_calls(
                self._solved, states_of(simulation, self.solution.layout, at), offence, defence
            )
            attacks = simulation.plays.offence[at] == player[calling]
            strategies[calling[attacks], : actions.plays + 3] = offence[attacks]
            letters = slice(actions.defence, actions.defence + self._solved.defences)
            strategies[calling[~attacks], letters] = defence[~attacks]
        for kind, first in (
            (CHOICE, actions.choice),
            (KICKOFF, actions.kick),
            (TIMEOUT, actions.timeout),
        ):
            deciding = np.flatnonzero(phase == kind)
            if len(deciding):
                at = chosen[deciding]
                second = self._prefers_second(simulation, kind, at, player[deciding])
                strategies[deciding, first + second] = 1.0
        return strategies

    def _prefers_second(
        self, simulation: TimedFootballPlays, kind: int, chosen: Ints, player: Ints
    ) -> Bools:
        """[k] which of two actions is worth more to a player; the first on ties."""
        plays, states = simulation.plays, states_of(simulation, self.solution.layout, chosen)
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


class AgentPlayer:
    """The paper's agent.

    Args:
        layers: The agent, as it is scored. A strategy for every situation is kept for each way in
            which the time and the score make it call otherwise, once that has come up.
    """

    name = "paper-agent"

    def __init__(self, layers: AgentLayers) -> None:
        self.layers = layers
        self._known: dict[tuple[int, int, int, int, int], Strategies] = {}

    def mixes(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        assert isinstance(simulation, TimedFootballPlays)
        strategies = np.zeros((len(chosen), simulation.n_actions))
        states = states_of(simulation, self.layers.layout, chosen)
        moments, number = np.unique(np.stack(states[:4]), axis=1, return_inverse=True)
        for k, moment in enumerate(moments.T.tolist()):
            at = np.flatnonzero(number.ravel() == k)
            self._fill(simulation, Layer(*moment), states, chosen, player, at, strategies)
        return strategies

    def _fill(
        self,
        simulation: TimedFootballPlays,
        layer: Layer,
        states: States,
        chosen: Ints,
        player: Ints,
        members: Ints,
        strategies: Floats,
    ) -> None:
        """Fill the rows `members` of the strategies, which are all at one moment."""
        plays, actions = simulation.plays, simulation.sampler.rules.actions
        at = chosen[members]
        row, column = states.row[members], states.column[members]
        mine, phase = plays.offence[at] == player[members], plays.phase[at]
        kicks = phase == KICKOFF
        onside = self.layers.onside(layer)[column[kicks]]
        strategies[members[kicks], actions.kick] = 1 - onside
        strategies[members[kicks], actions.kick + 1] = onside
        calls = (phase == CALL) | (phase == CHOICE)
        standing = self.layers.standing(layer)[column]
        for number in np.unique(standing[calls]).tolist():
            offence, defence, choices = self._strategies_of(layer, number)
            same = calls & (standing == number)
            attacks, defends = same & mine & (phase == CALL), same & ~mine & (phase == CALL)
            strategies[members[attacks], : offence.shape[1]] = offence[row[attacks]]
            letters = slice(actions.defence, actions.defence + defence.shape[1])
            strategies[members[defends], letters] = defence[row[defends]]
            takes = same & (phase == CHOICE)
            result = simulation.sampler.arrays.result["number"][plays.choice[at[takes]]]
            penalty = choices[row[takes], result]
            strategies[members[takes], actions.choice] = penalty
            strategies[members[takes], actions.choice + 1] = 1 - penalty
        asked = np.flatnonzero(phase == TIMEOUT)
        for i in asked.tolist():
            chance = self._timeout(plays, at[i], bool(mine[i]), layer, states, members[i])
            strategies[members[i], actions.timeout] = chance
            strategies[members[i], actions.timeout + 1] = 1 - chance

    def _timeout(
        self, plays: Episodes, i: int, mine: bool, layer: Layer, states: States, member: int
    ) -> float:
        """The chance that it calls a time-out in a play in which it is asked."""
        layout = self.layers.layout
        column = states.column[member]
        if not mine:
            column = layout.columns(layer.half) - 1 - column
        saved = int(plays.saved[i])
        asked = Asked(
            # The time before the play is not known any more, nor does the agent ask for it.
            layer=Layer(layer.half, saved, *((layer.own, layer.other)[:: 1 if mine else -1])),
            seconds=0,
            after=layer.ticks,
            saved=saved,
            untimed=bool(plays.untimed[i]),
            first=bool(plays.other_too[i]),
            row=states.row[member : member + 1],
            mine=np.array([mine]),
            column=np.array([[column]]),
        )
        return float(np.broadcast_to(self.layers.timeouts(asked), (1, 1))[0, 0])

    def _strategies_of(self, layer: Layer, standing: int) -> Strategies:
        """Its strategies in all situations; the agent itself keeps those of one moment only."""
        key = (*layer, standing) if standing != CLOCKLESS else (0, 0, 0, 0, standing)
        if key not in self._known:
            self._known[key] = self.layers.standing_strategies(layer, standing)
        return self._known[key]


def strategy_of(
    sampler: TimedFootballSampler, player: Player
) -> Callable[[TimedPosition, int], dict[int, float]]:
    """A player as a function of one position, as transcripts ask.

    When it is asked for a time-out the play is over, and neither its length nor the time before it
    is known any more; a player goes by what is left with a time-out and without it.

    Args:
        sampler: Of the game.
        player: Who is asked.

    Returns:
        From a position and a seat to the actions taken there, with their probabilities.
    """
    episode, only = sampler.plays(1), np.zeros(1, np.int64)

    def strategy(position: TimedPosition, seat: int) -> dict[int, float]:
        legal = sampler.rules.legal_actions(position)[seat]
        if len(legal) == 1:
            return {legal[0]: 1.0}
        sampler.write(episode.plays, 0, position)
        [chances] = player.mixes(episode, only, only + seat)
        return {action: float(chances[action]) for action in legal if chances[action] > 0}

    return strategy


def states_of(simulation: TimedFootballPlays, layout: FormLayout, chosen: Ints) -> States:
    """The chosen plays as the side with the ball or the kick sees them."""
    plays = simulation.plays
    offence = plays.offence[chosen]
    half = plays.half[chosen].astype(np.int64)
    column = np.zeros(len(chosen), np.int64)
    if not layout.for_points:
        most = layout.clock.largest_margin
        margin = np.where(offence == 0, plays.margin[chosen], -plays.margin[chosen])
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


def solution_of(game: TimedFootball, folder: str | Path | None = None) -> TimedSolution:
    """The solution of a game.

    Args:
        game: Which.
        folder: Where it is; without one the game is solved, if it is small.

    Raises:
        ValueError: If it is not.
        StoreError: If there is no solution in the folder, or it is one of another game.
    """
    if folder is not None:
        return TimedSolution.open(folder, game)
    layout = layout_for(game)
    if layout.states > SOLVED_ON_THE_SPOT:
        raise ValueError(
            f"form {game.form!r} has {layout.states:,} states, too many to be solved on the spot "
            f"for an optimal player (at most {SOLVED_ON_THE_SPOT:,}); solve it with "
            f"`solvent solve football-strategy {as_options(dict(game.info.parameters))} --out DIR` "
            f"and give solution=DIR"
        )
    return _solved(game)


@lru_cache(maxsize=2)
def _solved(game: TimedFootball) -> TimedSolution:
    return TimedSolution.of(game)


@lru_cache(maxsize=2)
def optimal_player(game: TimedFootball, solution: str | Path | None = None) -> OptimalPlayer:
    """The optimal player of a game; the arguments are those of :func:`solution_of`."""
    return OptimalPlayer(solution_of(game, solution))


@lru_cache(maxsize=2)
def agent_player(game: TimedFootball) -> AgentPlayer:
    """The paper's agent in a game."""
    return AgentPlayer(AgentLayers(layout_for(game)))


def _agent(game: TimedFootball, solution: str | Path | None) -> AgentPlayer:
    return agent_player(game)


PLAYERS: Mapping[str, Callable[[TimedFootball, str | Path | None], Player]] = {
    "optimal": optimal_player,
    "paper-agent": _agent,
}
"""Opponents by name, from the game and the folder of its solution."""
