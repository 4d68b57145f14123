"""Players of football with a clock: by name, and any player as a policy that is scored exactly.

Of a player nothing is sampled: it is asked for its action probabilities in every state, a part of a
block of a layer at a time, as it is asked in an environment.

Two players, X and Y, differ, so a layer has two arrays of values: W[0] where X has the ball and
W[1] where Y has it, each to the side that has the ball. Changing sides goes from one to the other::

    value to the other side of column c  =  -W[other][.., C - 1 - c]

A layer is rated like one that is solved: first the values of everything that may follow a play,
with the time-outs that the players call, and then the states, each the expectation over both
strategies.

**Best responses.** In the place of a policy may stand None: that player answers the other one's in
the best way, with calls, choices, kicks and time-outs. It knows the strategies, not what is drawn
from them. Backward in time the answer in one state is a maximum of sums, since states of a layer
lead to other layers only.

**Several at once.** Asking a policy for its strategies may cost far more than what is done with
them, as with a network. So pairs of players are rated side by side, and each policy is asked once.

**Layer by layer.** Pairs are rated as a layered game is solved (:class:`PairLayers`), in memory or
in a folder, in which an interrupted score goes on. Memory: the layers that others still need, for
every pair twice as many as for solving.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from solvent.baselines.network import NetworkPlayer
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Block, BlockResult, LayerPlace, Read
from solvent.exact.layered.solve import Workers, solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.football.situation import OFFENCE
from solvent.games.football_clock.agent import AgentPlayer
from solvent.games.football_clock.backup import RoleStrategies, backup, blocks_of
from solvent.games.football_clock.layers import (
    Answers,
    Asked,
    FootballLayers,
    Layer,
    LayerContext,
    LayerStrategies,
    Players,
)
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
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

# States in which a player is asked together, about; what is computed stays in the cache.
_AT_ONCE = 2048


class PlayerLayers:
    """A network that plays in environments, in both roles, a layer at a time.

    Args:
        game: The game.
        player: The network.
    """

    def __init__(self, game: TimedFootball, player: NetworkPlayer) -> None:
        self.name = player.name
        self.layout = FootballLayers(game)
        self.sampler = TimedFootballSampler(game)
        self.player = player

    def strategies(self, layer: Layer, block: Block) -> LayerStrategies:
        rows = self.layout.block_rows(block)
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
        simulation, chances = self.sampler.simulation(min(_AT_ONCE, len(row))), []
        usual = {"half": half, "ticks": layer.ticks, "choice": -1, "asked": -1, "receiver": -1}
        usual |= {"phase": phase, "left0": layer.own, "left1": layer.other}
        for name, value in {**usual, **moment}.items():
            simulation.records[name] = value
        for begin in range(0, len(row), _AT_ONCE):
            at = column[begin : begin + _AT_ONCE]
            everyone, records = np.arange(len(at)), simulation.records[: len(at)]
            records["row"] = row[begin : begin + _AT_ONCE]
            records["margin"] = layout.margin(half)[at]
            if half == 1:
                records["receiver"] = 1 - layout.receives()[at]
            chances.append(
                self.player.action_probabilities(simulation, everyone, np.full(len(at), seat))
            )
        return np.concatenate(chances)


# Approximate maximum of states per block; each state may have strategies of its own.
_STATES_AT_ONCE = 100_000

# Most lines per block, so that there is work for all threads.
_LINES_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class PairEvaluation:
    """Values of X against Y: chances of winning with half of those of a tie, or points.

    Attributes:
        first: Value if X is player 0, who in most forms receives the opening kickoff.
        second: Value if X is player 1.
    """

    first: float
    second: float

    @property
    def average(self) -> float:
        """Over both seats."""
        return (self.first + self.second) / 2


PairProblem = tuple[Layer, Sequence[Sequence[Floats]], Floats]
"""The data that the blocks of a layer share: the layer; [U, C] the values of the successors, by
pair and by the side that was on offence or kicked; and [pairs, 2, 2, C] those of being about to
kick off, and to kick freely."""


@dataclass(frozen=True, eq=False)
class PairLayers(FootballLayers):
    """Values of X against Y, for some pairs of them, as a game that is layered in time.

    The values of a layer are an array [pairs, 2, S + 2, C].

    Args:
        start: Start position, with a call or a kick to come.
        pairs: X and Y of each, by name; None stands for a best response to the other. A policy
            that is in several is asked once.
        players: Description of the policies, JSON-able, to tell a folder from others.
    """

    start: TimedPosition = field(kw_only=True)
    pairs: Mapping[str, Players] = field(kw_only=True)
    players: Mapping[str, Any] = field(kw_only=True, default_factory=dict)

    kind = "solvent score in football with a clock"

    @cached_property
    def _begins(self) -> LayerPlace:
        return cast(LayerPlace, self.place(self.start))

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """Return all layers up to that of the start."""
        every = super().layers
        return every[: every.index(self._begins.layer) + 1]

    def shape(self, layer: Layer) -> tuple[int, ...]:
        return len(self.pairs), 2, *super().shape(layer)

    def states(self, layer: Layer) -> int:
        return 2 * len(self.pairs) * super().states(layer)

    def state_at(self, place: LayerPlace) -> None:
        """The value of two given players in a state does not follow from the rules alone."""

    def problem(self, layer: Layer, read: Read) -> PairProblem:
        known: dict[Layer, Floats] = {at: read(at) for at in self.reads(layer)}
        answers: Answers = {}

        def values_of(k: int, at: Layer, side: int) -> Floats:
            return np.asarray(known[at][k, side])

        contexts = [
            LayerContext(self, layer, partial(values_of, k), players, answers)
            for k, players in enumerate(self.pairs.values())
        ]
        values = [[context.values(side) for side in (0, 1)] for context in contexts]
        kicks = [
            [context.kicks(own[side], side) for side in (0, 1)]
            for context, own in zip(contexts, values, strict=True)
        ]
        return layer, values, np.array(kicks)

    def blocks(self, layer: Layer) -> Sequence[Block]:
        states = self.columns(layer.half) * (self.rules.ruleset.downs + 1)
        size = max(1, min(_STATES_AT_ONCE // states, _LINES_AT_ONCE))
        return [*blocks_of(self.lines, size), self._kicks]

    def solve_block(self, problem: Any, block: Block) -> BlockResult:
        layer, following, kicks = problem
        if block == self._kicks:
            return BlockResult(kicks)
        pairs = list(self.pairs.values())
        every = {id(player): player for pair in pairs for player in pair if player is not None}
        asked = {at: player.strategies(layer, block) for at, player in every.items()}
        found = []
        for pair, values in zip(pairs, following, strict=True):
            for side in (0, 1):
                attack, defend = asked.get(id(pair[side])), asked.get(id(pair[1 - side]))
                result = backup(
                    self.rules,
                    values[side],
                    block,
                    attack and attack.attack,
                    defend and defend.defend,
                )
                found.append(result.values)
        values = np.stack(found)
        return BlockResult(
            values,
            max(found.gap for found in asked.values()),
            games=values.size,
        )

    @property
    def identity(self) -> Mapping[str, Any]:
        scored = {"start": list(self.start), "pairs": [*self.pairs], "players": dict(self.players)}
        return {**super().identity, "scored": json.loads(json.dumps(scored))}

    def results(self, store: LayerStore) -> dict[str, PairEvaluation]:
        """Return the values of X against Y in each pair, once all layers are rated.

        Args:
            store: The store with the layers.
        """
        even, begins = 0.0 if self.game.for_points else 0.5, self._begins
        row, column = begins.at
        # To the side that has the ball or kicks in the beginning, if it is X and if it is Y.
        values = store.read(begins.layer)[:, :, row, column]
        if self.start.offence == 1:
            values = -values[:, ::-1]
        return {
            name: PairEvaluation(first=even + of_x, second=even - of_y)
            for name, (of_x, of_y) in zip(self.pairs, values.tolist(), strict=True)
        }


# The most states of a form that is solved when its optimal player is asked for.
_SOLVED_ON_THE_SPOT = 5_000_000


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
    if game.positions > _SOLVED_ON_THE_SPOT:
        raise ValueError(
            f"form {game.form!r} has {game.positions:,} states, too many to be solved on the spot "
            f"for an optimal player (at most {_SOLVED_ON_THE_SPOT:,}); solve it with "
            f"`solvent solve football-strategy {as_options(dict(game.info.parameters))} --out DIR` "
            f"and give solution=DIR"
        )
    return OptimalPlayer(TimedSolution.of(game))


@lru_cache(maxsize=2)
def agent_player(game: TimedFootball, solution: str | Path | None = None) -> AgentPlayer:
    """The paper's agent in a game, which needs no solution."""
    return AgentPlayer(FootballLayers(game))


PLAYERS: Mapping[str, Callable[[TimedFootball, str | Path | None], OptimalPlayer | AgentPlayer]] = {
    "optimal": optimal_player,
    "paper-agent": agent_player,
}
"""Opponents by name, from the game and the folder of its solution."""

Scored: TypeAlias = PlayerLayers | OptimalPlayer | AgentPlayer

SCORED_AGAINST = tuple(PLAYERS)
"""The players that others are scored against."""


BEST_RESPONSE = "best response"


@dataclass(frozen=True, eq=False)
class TimedScore:
    """The score of a player.

    Attributes:
        name: Name of the player.
        against: The player's value against each opponent, by name; one is :data:`BEST_RESPONSE`.
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

    policy: Scored
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
    layers = PairLayers(
        game,
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
            threads = Workers(os.cpu_count() or 1)
            solve_layers(layers, store, workers=threads, on_layer=lambda layer, _: tell(layer))
        against = layers.results(store)
        bounds = {} if solved is None else _bounds(solved, store)
    return TimedScore(policy.name, against, even=0.0 if game.for_points else 0.5, bounds=bounds)


def _identity(policy: Scored, solved: TimedSolution | None) -> dict[str, Any]:
    """Return the data that a score depends on besides the game."""
    parts: list[Any] = [policy.name]
    if isinstance(policy, PlayerLayers):
        player, network = policy.player, policy.player.network
        parts += player.rule, player.masked, player.observation, network.activation
        parts += (array.tolist() for array in (*network.weights, *network.biases))
    elif isinstance(policy, AgentPlayer):
        parts += policy.constants, policy.management
    identity: dict[str, Any] = {"scored": hashlib.sha256(repr(parts).encode()).hexdigest()}
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
