"""Players of football with a clock: by name, and any player as a policy that is scored exactly.

Of a player nothing is sampled: it is asked for its action probabilities in every state, a part of a
block of a layer at a time, as it is asked in an environment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from solvent.baselines.network import NetworkPlayer
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Block, WarmStart
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.football.situation import OFFENCE
from solvent.games.football_clock.agent import AgentPlayer
from solvent.games.football_clock.backup import RoleStrategies
from solvent.games.football_clock.evaluation import PairEvaluation, PairLayers, all_threads
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import (
    Asked,
    Layer,
    LayerStrategies,
    Players,
    block_rows,
)
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.simulation import (
    CALL,
    CHOICE,
    KICKOFF,
    TIMEOUT,
    TimedFootballSampler,
)
from solvent.games.football_clock.solution import OptimalPlayer, TimedSolution
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import as_options, check_choice

AT_ONCE = 2048
"""States in which a player is asked together, about; what is computed stays in the cache."""


class PlayerLayers:
    """A network that plays in environments, in both roles, a layer at a time.

    Args:
        game: The game.
        player: The network.
    """

    def __init__(self, game: TimedFootball, player: NetworkPlayer) -> None:
        self.name = player.name
        self.layout = FootballLayers.of(game)
        self.sampler = TimedFootballSampler(game)
        self.player = player

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        rows = block_rows(self.layout, block)
        return LayerStrategies(self._role(layer, rows, 0), self._role(layer, rows, 1))

    def _role(self, layer: Layer, rows: Ints, seat: int) -> RoleStrategies:
        """Return its strategies on offence, in seat 0, or on defence."""
        actions, arrays = self.sampler.rules.actions, self.layout.rules.arrays
        columns = self.layout.columns(layer.half)
        row, column = (part.reshape(-1) for part in np.indices((len(rows), columns)))
        first, last = (0, actions.plays + 3) if seat == 0 else (actions.defence, actions.choice)
        calls = self._asked(layer, seat, rows[row], column)[:, first:last]
        taken = np.zeros((len(row), len(arrays.chooser)))
        for c in np.flatnonzero((arrays.chooser == OFFENCE) == (seat == 0)).tolist():
            waits = {"phase": CHOICE, "choice": arrays.chosen_result[c]}
            taken[:, c] = self._asked(layer, seat, rows[row], column, **waits)[:, actions.choice]
        which = np.arange(len(row), dtype=np.int32).reshape(len(rows), columns)
        return RoleStrategies(calls, taken, which)

    def onside(self, layer: Layer) -> Floats:
        columns = np.arange(self.layout.columns(layer.half))
        kicks = np.full(len(columns), self.layout.kickoff_row)
        chances = self._asked(layer, 0, kicks, columns, phase=KICKOFF)
        return chances[:, self.sampler.rules.actions.kick + 1]

    def timeouts(self, asked: Asked) -> Floats:
        found = np.empty(asked.column.shape)
        for seat, mine in enumerate((asked.mine, ~asked.mine)):
            if not mine.any():
                continue
            column = asked.column[mine]
            row = np.repeat(asked.row[mine], column.shape[1])
            moment = {
                "phase": TIMEOUT,
                "asked": seat,
                "ticks": asked.after,
                "saved": asked.saved,
                "untimed": asked.untimed,
                "other_too": asked.first and asked.layer.other > 0,
            }
            # Columns of a state are the offence's, those of `asked` the asked side's.
            layer, last = asked.layer, column.shape[1] - 1
            if seat == 1:
                layer, column = layer.swapped, last - column
            chances = self._asked(layer, seat, row, column.reshape(-1), **moment)
            found[mine] = chances[:, self.sampler.rules.actions.timeout].reshape(column.shape)
        return found

    def _asked(
        self, layer: Layer, seat: int, row: Ints, column: Ints, phase: int = CALL, **moment: int
    ) -> Floats:
        """[n, A] its action probabilities in states of a layer.

        Args:
            layer: The layer, of player 0, who has the ball or kicks.
            seat: The seat of the player, 0 or 1.
            row: [n] the rows of the states in the layer.
            column: [n] their columns.
            phase: The phase of the states, a constant of :mod:`~.simulation`.
            moment: Other fields of an episode that are the same in all states.
        """
        layout, half = self.layout, layer.half
        plays, chances = self.sampler.plays(min(AT_ONCE, len(row))), []
        usual = {"half": half, "ticks": layer.ticks, "choice": -1, "asked": -1, "receiver": -1}
        usual |= {"phase": phase, "left0": layer.own, "left1": layer.other}
        for name, value in {**usual, **moment}.items():
            plays.records[name] = value
        for begin in range(0, len(row), AT_ONCE):
            at = column[begin : begin + AT_ONCE]
            everyone, records = np.arange(len(at)), plays.records[: len(at)]
            records["row"] = row[begin : begin + AT_ONCE]
            records["margin"] = layout.margin(half)[at]
            if layout.form == "full" and half == 1:
                records["receiver"] = 1 - layout.receives(1)[at]
            chances.append(self.player.mixes(plays, everyone, np.full(len(at), seat)))
        return np.concatenate(chances)


SOLVED_ON_THE_SPOT = 5_000_000
"""The most states of a form that is solved when its optimal player is asked for."""


@lru_cache(maxsize=2)
def optimal_player(game: TimedFootball, solution: str | Path | None = None) -> OptimalPlayer:
    """Return the optimal player of a game.

    Args:
        game: The game.
        solution: Folder of the solution; without one the game is solved, if it is small.

    Raises:
        ValueError: If it is not.
        StoreError: If there is no solution in the folder, or it is one of another game.
    """
    if solution is not None:
        return OptimalPlayer(TimedSolution.open(solution, game))
    if game.positions > SOLVED_ON_THE_SPOT:
        raise ValueError(
            f"form {game.form!r} has {game.positions:,} states, too many to be solved on the spot "
            f"for an optimal player (at most {SOLVED_ON_THE_SPOT:,}); solve it with "
            f"`solvent solve football-strategy {as_options(dict(game.info.parameters))} --out DIR` "
            f"and give solution=DIR"
        )
    return OptimalPlayer(TimedSolution.of(game))


@lru_cache(maxsize=2)
def agent_player(game: TimedFootball) -> AgentPlayer:
    """The paper's agent in a game."""
    return AgentPlayer(FootballLayers.of(game))


PLAYERS: Mapping[str, Callable[[TimedFootball, str | Path | None], OptimalPlayer | AgentPlayer]] = {
    "optimal": optimal_player,
    "paper-agent": lambda game, _: agent_player(game),
}
"""Opponents by name, from the game and the folder of its solution."""

SCORED_AGAINST = tuple(PLAYERS)
"""The players that others are scored against."""


BEST_RESPONSE = "best response"


@dataclass(frozen=True, eq=False)
class TimedScore:
    """The score of a player.

    Attributes:
        name: Name of the player.
        against: Its value against each opponent, by name; among them :data:`BEST_RESPONSE`.
        even: An optimal player's average value over both seats: half of a win, or no points.
        bounds: Proved bounds of the score: a description in words, and the number within which it
            holds.
    """

    name: str
    against: dict[str, PairEvaluation]
    even: float = 0.5
    bounds: Mapping[str, float] = field(default_factory=dict)

    @property
    def exploitability(self) -> float:
        """Exploitability: half the sum of what the best response gains in either seat.

        A player that takes both seats, each half of the time, of a game in which the payoffs of
        both sum to a constant, has half of it for certain if it plays optimally.
        """
        return self.even - self.against[BEST_RESPONSE].average


def score_player(
    game: TimedFootball,
    player: NetworkPlayer | str,
    solution: str | Path | None = None,
    out: str | Path | None = None,
) -> TimedScore:
    """Score a player exactly, with progress, against opponents and a best response.

    The best response is computed from the player's strategies alone. The optimal opponent plays by
    the values of a solution; if those are rounded, it is not quite optimal, and what it gives away
    at most is said in the score's `bounds`.

    Args:
        game: The game, with its start.
        player: A network, which is scored against all of :data:`SCORED_AGAINST`, or the name of
            one of those, which is scored against those before it.
        solution: The folder of the game's solution, which a small form does not need.
        out: A folder for what is scored so far; a score that was begun there goes on. In memory if
            None.

    Raises:
        ValueError: If there is no player of that name, or it has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game, or `out` holds anything
            else, such as another score.
    """
    from solvent.cli.layered import layer_bar  # Playing needs no extra; its bar does.

    policy: PlayerLayers | OptimalPlayer | AgentPlayer
    if isinstance(player, str):
        policy = PLAYERS[check_choice(player, "opponent", PLAYERS)](game, solution)
        opponents = SCORED_AGAINST[: SCORED_AGAINST.index(player)]
    else:
        policy, opponents = PlayerLayers(game, player), SCORED_AGAINST
    pairs: dict[str, Players] = {one: (policy, PLAYERS[one](game, solution)) for one in opponents}
    pairs[BEST_RESPONSE] = policy, None
    everyone = [one for pair in pairs.values() for one in pair]
    solved = next((one.solution for one in everyone if isinstance(one, OptimalPlayer)), None)
    [begin] = game.initial()
    layers = PairLayers.of_pairs(
        FootballLayers.of(game),
        start=begin.state,
        pairs=pairs,
        players=_identity(policy, solved),
    )
    with ExitStack() as stack:
        store = LayerStore(layers, "start")
        if out is not None:
            store = stack.enter_context(LayerFolder.create(out, layers, "start"))
        if not store.finished:
            tell = stack.enter_context(layer_bar(store.game, store.missing, "scoring"))
            solve_layers(
                layers, store, workers=all_threads(), on_layer=lambda layer, _: tell(layer)
            )
        against = layers.results(store)
        bounds = {} if solved is None else _bounds(solved, store)
    return TimedScore(policy.name, against, even=0.0 if game.for_points else 0.5, bounds=bounds)


def _identity(
    policy: PlayerLayers | OptimalPlayer | AgentPlayer, solved: TimedSolution | None
) -> dict[str, str | dict[str, float | str]]:
    """Return the data that a score depends on besides the game."""
    parts: list[Any] = [policy.name]
    if isinstance(policy, PlayerLayers):
        player, network = policy.player, policy.player.network
        parts += player.rule, player.masked, player.observation, network.activation
        parts += (array.tolist() for array in (*network.weights, *network.biases))
    elif isinstance(policy, AgentPlayer):
        parts += policy.constants, policy.management
    identity: dict[str, str | dict[str, float | str]] = {
        "scored": hashlib.sha256(repr(parts).encode()).hexdigest()
    }
    if solved is not None:
        store = solved.store
        identity["solution"] = {"value": solved.value, "gap": store.largest_gap, "keep": store.keep}
    return identity


def _bounds(solved: TimedSolution, store: LayerStore) -> dict[str, float]:
    """Return the losses of an optimal player that plays by rounded values.

    In each layer it solves games whose entries are off by an error of those that it reads, and so
    loses twice that beside what is lost later.
    """
    if solved.store.keep == "all":
        return {}
    known, errors = solved.store, solved.errors
    lost: dict[Layer, float] = {}
    for layer in store.game.layers:
        reads = store.game.reads(layer)
        later = max((lost[at] for at in reads), default=0.0)
        off = max((errors[at] + known.rounded_off(at) for at in reads), default=0.0)
        own = store.record(layer).largest_gap + store.game.rounding(layer, known.largest)
        lost[layer] = later + 2 * off + own
    [opening] = store.game.opening
    return {"the optimal player gives away at most": lost[opening]}
