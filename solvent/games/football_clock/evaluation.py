"""Exact values of policies of football with a clock, layer by layer.

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

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from solvent.baselines.network import NetworkPlayer
from solvent.cli.layered import layer_bar
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Block, BlockResult, Place, Read, WarmStart, changes
from solvent.exact.layered.solve import Local, solve_layers
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.games.football_clock.agent import AgentLayers
from solvent.games.football_clock.backup import backup, blocks_of
from solvent.games.football_clock.layers import Answers, FootballLayers, Moment
from solvent.games.football_clock.layout import FormLayout, Layer, LayerPolicy, Players
from solvent.games.football_clock.players import (
    SCORED_AGAINST,
    NetworkLayers,
    layers_named,
    network_layers,
    solution_of,
)
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.solution import OptimalLayers, TimedSolution
from solvent.model.arrays import Floats

STATES_AT_ONCE = 100_000
"""Approximate maximum of states per block; each state may have strategies of its own."""

LINES_AT_ONCE = 1024
"""Most lines per block, so that there is work for all threads."""


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
        pairs: X and Y of each, by name; None stands for a best response. A policy that is in
            several is asked once.
        players: Description of the policies, JSON-able, to tell a folder from others.

    Raises:
        ValueError: If neither of a pair is given, or the position has no call and no kick to come.
    """

    start: TimedPosition = field(kw_only=True)
    pairs: Mapping[str, Players] = field(kw_only=True)
    players: Mapping[str, Any] = field(kw_only=True, default_factory=dict)

    kind = "solvent score in football with a clock"

    @classmethod
    def of_pairs(cls, layout: FormLayout, **given: Any) -> PairLayers:
        """The layers of pairs of players in a form; the other arguments are by name."""
        return cls(layout.rules, layout.clock, layout.form, layout.ticks, **given)

    def __post_init__(self) -> None:
        """Check the pairs and the start."""
        if (None, None) in self.pairs.values():
            raise ValueError("a best response needs a policy to respond to; both are None")
        if self.place(self.start) is None:
            raise ValueError(f"phase is {self.start.phase!r}; layers hold calls and kicks only")

    @cached_property
    def _begins(self) -> Place:
        place = self.place(self.start)
        assert place is not None
        return place

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """Return all layers up to that of the start."""
        every = super().layers
        return every[: every.index(self._begins.layer) + 1]

    def shape(self, layer: Layer) -> tuple[int, ...]:
        return len(self.pairs), 2, *super().shape(layer)

    def states(self, layer: Layer) -> int:
        return 2 * len(self.pairs) * super().states(layer)

    def state_at(self, place: Place) -> None:
        """The value of two given players in a state does not follow from the rules alone."""

    def problem(self, layer: Layer, read: Read) -> PairProblem:
        known: dict[Layer, Floats] = {at: read(at) for at in self.reads(layer)}
        answers: Answers = {}

        def values_of(k: int, at: Layer, side: int) -> Floats:
            values: Floats = known[at][k, side]
            return values

        moments = [
            Moment(self, layer, partial(values_of, k), players, answers)
            for k, players in enumerate(self.pairs.values())
        ]
        values = [[moment.values(side) for side in (0, 1)] for moment in moments]
        kicks = [
            [moment.kicks(own[side], side) for side in (0, 1)]
            for moment, own in zip(moments, values, strict=True)
        ]
        return layer, values, np.array(kicks)

    def blocks(self, layer: Layer) -> Sequence[Block]:
        states = self.columns(layer.half) * (self.rules.ruleset.downs + 1)
        size = max(1, min(STATES_AT_ONCE // states, LINES_AT_ONCE))
        return [*blocks_of(self.lines, size), self._kicks]

    def solve_block(
        self, problem: Any, block: Block, start: WarmStart | None = None
    ) -> BlockResult:
        layer, following, kicks = problem
        if block == self._kicks:
            return BlockResult(kicks)
        pairs = list(self.pairs.values())
        every = {id(player): player for pair in pairs for player in pair if player is not None}
        asked = {at: player.strategies(layer, block, start) for at, player in every.items()}
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
            next((found.start for found in asked.values() if found.start is not None), None),
            max(found.gap for found in asked.values()),
            games=values.size,
        )

    @property
    def identity(self) -> Mapping[str, Any]:
        scored = {"start": list(self.start), "pairs": [*self.pairs], "players": dict(self.players)}
        return {**super().identity, "scored": json.loads(json.dumps(scored))}

    def differences(self, found: Mapping[str, Any]) -> list[str]:
        """Return the differences from another score."""
        return super().differences(found) or [
            *changes({"scored": found.get("scored")}, {"scored": self.identity["scored"]})
        ]

    def results(self, store: LayerStore) -> dict[str, PairEvaluation]:
        """Return the values of X against Y in each pair, once all layers are rated.

        Args:
            store: The store with the layers.
        """
        even, begins = 0.0 if self.for_points else 0.5, self._begins
        row, column = begins.at
        values = store.read(begins.layer)[:, :, row, column].tolist()
        found = {}
        # To the side that has the ball or kicks in the beginning, if it is X and if it is Y.
        for name, (of_x, of_y) in zip(self.pairs, values, strict=True):
            if self.start.offence == 1:
                of_x, of_y = -of_y, -of_x
            found[name] = PairEvaluation(first=even + of_x, second=even - of_y)
        return found


def evaluate_pairs(
    layout: FormLayout,
    start: TimedPosition,
    pairs: Iterable[Players],
    *,
    on_layer: Callable[[Layer, Floats], None] | None = None,
) -> list[PairEvaluation]:
    """Return the values of X against Y from a position, for some pairs of them.

    Args:
        layout: The form.
        start: Start position, with a call or a kick to come.
        pairs: X and Y of each; None stands for a best response. A policy that is in several is
            asked once.
        on_layer: Is given every layer that others read, and that of the start, when it is done, and
            its values [pairs, 2, S + 2, C].

    Raises:
        ValueError: If neither of a pair is given, or the position has no call and no kick to come.
    """
    named = {str(k): pair for k, pair in enumerate(pairs)}
    layers = PairLayers.of_pairs(layout, start=start, pairs=named)
    store = LayerStore(layers, "start")

    def tell(layer: Layer, record: LayerRecord) -> None:
        if on_layer is not None and store.needs(layer):
            on_layer(layer, store.read(layer))

    solve_layers(layers, store, workers=_workers(), on_layer=tell)
    return [*layers.results(store).values()]


def _workers() -> Local:
    return Local(os.cpu_count() or 1)


OnBegun = Callable[[LayerStore], AbstractContextManager[Callable[[Layer], None]]]
"""A callback that gets the layers when rating begins, and yields a callback for finished ones."""

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


def score_timed(
    game: TimedFootball,
    policy: LayerPolicy,
    name: str = "player",
    *,
    opponents: Iterable[str] = SCORED_AGAINST,
    solution: str | Path | None = None,
    out: str | Path | None = None,
    begun: OnBegun = lambda store: nullcontext(lambda layer: None),
) -> TimedScore:
    """Score a policy exactly: against opponents, and against the best response to it.

    The best response is computed from the policy alone. The optimal opponent plays by the values of
    a solution; if those are rounded, it is not quite optimal, and what it gives away at most is
    said in the score's `bounds`.

    Args:
        game: The game, with its start.
        policy: The policy to score.
        name: Name of the policy.
        opponents: Opponents among :data:`SCORED_AGAINST`.
        solution: The folder of the game's solution, which the optimal opponent needs but in a
            small form.
        out: A folder for what is scored so far; a score that was begun there goes on. In memory if
            None.
        begun: See :data:`OnBegun`.

    Raises:
        ValueError: If an opponent is unknown, or has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game, or `out` holds anything
            else, such as another score.
    """
    [begin] = game.initial()
    pairs: dict[str, Players] = {
        one: (policy, layers_named(one, game, solution)) for one in opponents
    }
    pairs[BEST_RESPONSE] = policy, None
    by_values = any(isinstance(one, OptimalLayers) for pair in pairs.values() for one in pair)
    # Solved on the spot for an optimal player; what is solved once is not solved again.
    solved = solution_of(game, solution) if by_values else None
    layers = PairLayers.of_pairs(
        FootballLayers.of(game),
        start=begin.state,
        pairs=pairs,
        players=_identity(name, policy, solved),
    )
    with ExitStack() as stack:
        store = LayerStore(layers, "start")
        if out is not None:
            store = stack.enter_context(LayerFolder.create(out, layers, "start"))
        if not store.finished:
            tell = stack.enter_context(begun(store))
            solve_layers(layers, store, workers=_workers(), on_layer=lambda layer, _: tell(layer))
        against = layers.results(store)
        bounds = {} if solved is None else _bounds(solved, store)
    return TimedScore(name, against, even=0.0 if game.for_points else 0.5, bounds=bounds)


def score_player(
    game: TimedFootball, player: NetworkPlayer | str, solution: Path | None, out: Path | None
) -> TimedScore:
    """Score a player against those known by name and a best response, with progress.

    Args:
        game: The game, with its start.
        player: A network, or the name of a player.
        solution: The folder of the game's solution, which a small form does not need.
        out: A folder for what is scored so far, or None.

    Raises:
        ValueError: If there is no player of that name, or it has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game, or `out` holds anything
            else than this score.
    """
    if isinstance(player, str):
        name, policy = player, layers_named(player, game, solution)
        opponents = [] if player == "optimal" else ["optimal"]
    else:
        name, policy = player.name, network_layers(game, player)
        opponents = list(SCORED_AGAINST)
    return score_timed(
        game,
        policy,
        name,
        opponents=opponents,
        solution=solution,
        out=out,
        begun=lambda store: layer_bar(store.game, store.missing, "scoring"),
    )


def _identity(
    name: str, policy: LayerPolicy, solved: TimedSolution | None
) -> dict[str, str | dict[str, float | str]]:
    """Return the data that a score depends on besides the game."""
    parts: list[Any] = [name]
    if isinstance(policy, NetworkLayers):
        player, network = policy.player, policy.player.network
        parts += player.rule, player.masked, player.observation, network.activation
        parts += (array.tolist() for array in (*network.weights, *network.biases))
    elif isinstance(policy, AgentLayers):
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
