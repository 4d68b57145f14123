"""What policies of football with a clock are worth, exactly, layer by layer.

Two players, X and Y, differ, so a layer has two arrays of values: W[0] where X has the ball and
W[1] where Y has it, each to the side that has the ball. Changing sides goes from one to the other::

    value to the other side of column c  =  -W[other][.., C - 1 - c]

A layer is rated like one that is solved: first what everything is worth that may follow a play,
with the time-outs that the players call, and then the states, each the expectation over both
strategies.

**Best responses.** In the place of a policy may stand None: that player answers the other one's in
the best way, with calls, choices, kicks and time-outs. It knows the strategies, not what is drawn
from them. Backward in time the answer in one state is a maximum of sums, since states of a layer
lead to other layers only.

**Several at once.** Asking a policy for its strategies may cost far more than what is done with
them, as with a network. So pairs of players are rated side by side, and each policy is asked once.

Memory: the layers that others still need, for every pair twice as many as for solving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.solver.block_kernel import blocks_of, kick_values
from solvent.games.football_clock.solver.continuations import Continuations
from solvent.games.football_clock.solver.expected_values import rate_block
from solvent.games.football_clock.solver.layout import FormLayout, Layer, place_of
from solvent.games.football_clock.solver.policies import (
    Block,
    LayerPolicy,
    LayerStrategies,
    Players,
    RoleStrategies,
    block_rows,
)
from solvent.games.football_clock.solver.tables import timed_tables
from solvent.model.arrays import Floats

OnLayer = Callable[[Layer, Floats], None]
"""Is given every layer when it is done, and its values [2, S + 2, C]."""

STATES_AT_ONCE = 100_000
"""A block has about so many at most, each of which may have strategies of its own."""

LINES_AT_ONCE = 256
"""And it has so many lines at most, so that there is work for all threads."""


@dataclass(frozen=True, eq=False)
class PairEvaluation:
    """What X gets against Y: chances of winning with half of those of a tie, or points.

    Attributes:
        first: If X is player 0, who in most forms receives the opening kickoff.
        second: If X is player 1.
    """

    first: float
    second: float

    @property
    def average(self) -> float:
        """Over both seats."""
        return (self.first + self.second) / 2


def evaluate(
    layout: FormLayout,
    start: TimedPosition,
    x: LayerPolicy | None,
    y: LayerPolicy | None,
    *,
    threads: int = 2,
    on_layer: OnLayer | None = None,
) -> PairEvaluation:
    """What X gets against Y from a position; None stands for a best response.

    Args:
        layout: The form.
        start: Where, with a call or a kick to come.
        x: One policy.
        y: The other.
        threads: How many work on a layer.
        on_layer: See :data:`OnLayer`.

    Raises:
        ValueError: If neither is given, or the position has no call and no kick to come.
    """

    def tell(layer: Layer, values: Sequence[Floats]) -> None:
        if on_layer is not None:
            on_layer(layer, values[0])

    [result] = evaluate_pairs(layout, start, [(x, y)], threads=threads, on_layer=tell)
    return result


def evaluate_pairs(
    layout: FormLayout,
    start: TimedPosition,
    pairs: Iterable[Players],
    *,
    threads: int = 2,
    on_layer: Callable[[Layer, Sequence[Floats]], None] | None = None,
) -> list[PairEvaluation]:
    """What X gets against Y, as :func:`evaluate` says, for some pairs of them.

    Args:
        layout: The form.
        start: Where, with a call or a kick to come.
        pairs: X and Y of each. A policy that is in several is asked once.
        threads: How many work on a layer.
        on_layer: Is given every layer when it is done, and its values [2, S + 2, C] of every pair.

    Raises:
        ValueError: If neither of a pair is given, or the position has no call and no kick to come.
    """
    raters = [_Rater(layout, pair) for pair in pairs]
    begins = place_of(layout, start)
    last_reader = {needed: layer for layer in layout.layers for needed in layout.reads(layer)}
    with ThreadPoolExecutor(threads) as pool:
        for layer in layout.layers:
            _rate_layer(layout, layer, raters, pool)
            if on_layer is not None:
                on_layer(layer, [rater.values[layer] for rater in raters])
            if layer == begins.layer:
                break
            for rater in raters:
                for passed in [at for at in rater.values if last_reader.get(at) == layer]:
                    del rater.values[passed]
    even = 0.0 if layout.for_points else 0.5
    results = []
    for rater in raters:
        # To the side that has the ball or kicks in the beginning, if it is X and if it is Y.
        of_x, of_y = rater.values[begins.layer][:, begins.row, begins.column].tolist()
        if begins.player == 1:
            of_x, of_y = -of_y, -of_x
        results.append(PairEvaluation(first=even + of_x, second=even - of_y))
    return results


def _rate_layer(
    layout: FormLayout, layer: Layer, raters: Sequence[_Rater], pool: ThreadPoolExecutor
) -> None:
    """Give every rater the values of a layer."""
    for _ in pool.map(lambda rater: rater.begin(layer), raters):
        pass
    states = layout.columns(layer.half) * (layout.rules.ruleset.downs + 1)
    size = max(1, min(STATES_AT_ONCE // states, LINES_AT_ONCE))
    players = [player for rater in raters for player in rater.players]

    def rate(block: Block) -> None:
        asked: dict[int, LayerStrategies | None] = {}
        for player in players:
            if id(player) not in asked:
                asked[id(player)] = None if player is None else player.strategies(layer, block)
        for rater in raters:
            first, second = (asked[id(player)] for player in rater.players)
            rater.rate_block(layer, block, (first, second))

    for _ in pool.map(rate, blocks_of(layout.lines, size)):
        pass


class _Rater:
    """Rates layers in their order; `values` are those that are begun and not yet taken away.

    Args:
        layout: The form.
        players: X and Y.

    Raises:
        ValueError: If both are best responses.
    """

    def __init__(self, layout: FormLayout, players: Players) -> None:
        if players == (None, None):
            raise ValueError("a best response needs a policy to respond to; both are None")
        self.layout = layout
        self.players = players
        self.tables = timed_tables(layout.rules)
        self.values: dict[Layer, Floats] = {}
        self.following = Continuations(layout, self.tables, players, self.values)
        self._worth: list[Floats] = []

    def begin(self, layer: Layer) -> None:
        """Add the values [2, S + 2, C] of a layer, so far only of its kicks."""
        columns = self.layout.columns(layer.half)
        values = np.empty((2, self.layout.rows, columns))
        self._worth = [self.following.rate(layer, side) for side in (0, 1)]
        for side in (0, 1):
            values[side, self.layout.kickoff_row :] = self._kicks(layer, side, self._worth[side])
        self.values[layer] = values

    def rate_block(
        self,
        layer: Layer,
        block: Block,
        strategies: tuple[LayerStrategies | None, LayerStrategies | None],
    ) -> None:
        """Write the values of a block of a layer that is begun, from what X and Y do there."""
        rows, values = block_rows(self.layout, block), self.values[layer]
        rated = np.empty((len(rows), values.shape[2]))
        for side in (0, 1):
            attack, defend = strategies[side], strategies[1 - side]
            rate_block(
                self.tables.loops,
                rows,
                block[1] - block[0],
                self._worth[side],
                self._checked(attack and attack.attack, rated.shape),
                self._checked(defend and defend.defend, rated.shape),
                attack is None,
                defend is None,
                rated,
            )
            values[side, rows] = rated

    def _checked(self, strategies: RoleStrategies | None, shape: tuple[int, ...]) -> RoleStrategies:
        """Strategies in the form that the loops read; anything where none are given."""
        if strategies is None:
            return RoleStrategies(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(shape, np.int32))
        if strategies.which.shape != shape:
            raise ValueError(
                f"a policy's `which` has shape {strategies.which.shape}; expected {shape}"
            )
        return RoleStrategies(
            np.ascontiguousarray(strategies.calls, np.float64),
            np.ascontiguousarray(strategies.choices, np.float64),
            np.ascontiguousarray(strategies.which, np.int32),
        )

    def _kicks(self, layer: Layer, side: int, worth: Floats) -> Floats:
        """[2, C] what being about to kick off and to kick freely are worth to a side."""
        if layer.ticks == 0:
            return np.stack([self.following.final(layer.half, side)] * 2)
        kicks = kick_values(self.tables.loops, worth)
        player = self.players[side]
        if player is None:
            kickoff = np.maximum(kicks[NORMAL_KICK], kicks[ONSIDE_KICK])
        else:
            chance = player.onside(layer)
            kickoff = chance * kicks[ONSIDE_KICK] + (1 - chance) * kicks[NORMAL_KICK]
        return np.stack((kickoff, kicks[SAFETY_KICK]))
