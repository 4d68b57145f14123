"""Yahtzee as a game that is layered in time: a layer has all cards with the same number of boxes.

The values of layer n are an array [sets, U, 2]: which n boxes are filled, the points of the upper
section up to those of the bonus, and whether another Yahtzee has one. Cards that cannot be reached
have the value 0. A layer reads the one with a box more. Within a turn nothing is kept: its values
follow from those of the next cards (:mod:`~.turn_kernel`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from solvent.exact.layered.game import Block, BlockResult, LayeredGame, LayerPlace, Read
from solvent.exact.layered.solve import LayeredSolution
from solvent.games.yahtzee.arrays import RuleArrays, reachable_totals, rules_arrays
from solvent.games.yahtzee.rules import KEEP_NONE, LARGEST_POINTS, YAHTZEE, Turn, Yahtzee
from solvent.games.yahtzee.turn_kernel import ENDS, TIE, solve_sets, turn_values
from solvent.model.arrays import Floats
from solvent.model.parameters import shown

# Number of sets of filled boxes that are solved in one piece.
_SETS_IN_BLOCK = 64


class Cards(NamedTuple):
    """Some cards with the same filled boxes.

    Attributes:
        filled: Bit mask of the filled boxes.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        totals: [L] points in the upper section of each card.
    """

    filled: int
    bonus: int
    totals: NDArray[np.int64]


class TurnValues(NamedTuple):
    """The values of one turn, for L cards with the same filled boxes.

    Attributes:
        value: [B, ENDS, L] value of each end of the turn that some roll leads to.
        held: [N, K, L] value with a roll on the table, by the rolls left.
        kept: [N, K, L] value of keeping a hand, by the rolls left after the next one.
    """

    value: Floats
    held: Floats
    kept: Floats


def _read_only(values: Floats) -> Floats:
    """A view that cannot be written: arrays that can are another type, compiled once more."""
    view = values.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class YahtzeeLayers(LayeredGame):
    """The layers of a form of Yahtzee, by the number of filled boxes.

    Args:
        game: The rules.
    """

    game: Yahtzee

    kind = "yahtzee"

    @cached_property
    def rules(self) -> RuleArrays:
        """Return the rules as arrays."""
        return rules_arrays(self.game)

    @cached_property
    def reach(self) -> NDArray[np.bool_]:
        """Return [2^B, U] the upper-section points possible with each set of filled boxes."""
        return reachable_totals(self.game)

    @property
    def layers(self) -> Sequence[int]:
        return range(len(self.game.scorecard) - 1, -1, -1)

    def reads(self, layer: int) -> Sequence[int]:
        return [layer + 1] if layer + 1 < len(self.game.scorecard) else []

    def shape(self, layer: int) -> tuple[int, ...]:
        return comb(len(self.game.scorecard), layer), self.game.bonus_at + 1, 2

    def bound(self, layer: int) -> float:
        return float(self.game.most)

    def states(self, layer: int) -> int:
        """Return the number of reachable cards of a layer."""
        return self._cards(self.sets[layer])

    def _cards(self, sets: NDArray[np.int32]) -> int:
        """Return the number of reachable cards with some sets of filled boxes."""
        flags = 1 + (sets & self.rules.tracked != 0)
        return int((self.reach[sets].sum(axis=1) * flags).sum())

    def name(self, layer: int) -> str:
        return f"filled{layer:02}"

    @cached_property
    def sets(self) -> list[NDArray[np.int32]]:
        """Return the bit masks of all sets of filled boxes, by their number."""
        boxes = range(len(self.game.scorecard))
        return [
            np.array([sum(1 << b for b in chosen) for chosen in combinations(boxes, n)], np.int32)
            for n in range(len(boxes) + 1)
        ]

    @cached_property
    def position(self) -> NDArray[np.int32]:
        """Return [2^B] the index of each bit mask among the sets of its layer."""
        position = np.empty(1 << len(self.game.scorecard), np.int32)
        for sets in self.sets:
            position[sets] = np.arange(len(sets))
        return position

    @cached_property
    def hand_of(self) -> Mapping[tuple[int, ...], int]:
        """Return the number of each roll among the hands."""
        rules = self.rules
        return {tuple(roll): k for k, roll in enumerate(rules.dice.tolist()) if k >= rules.base}

    def after(self, layer: int, read: Read) -> Floats:
        """Return [sets, U, 2] the values of the layer with one more box; zeros after the last.

        Args:
            layer: The number of filled boxes.
            read: Returns the values of a layer.
        """
        last = layer + 1 == len(self.game.scorecard)
        return np.zeros(self.shape(layer + 1)) if last else np.ascontiguousarray(read(layer + 1))

    def problem(self, layer: int, read: Read) -> tuple[NDArray[np.int32], Floats]:
        """Return the bit masks of a layer's sets, and the values of the next layer."""
        return self.sets[layer], self.after(layer, read)

    def solve_block(self, problem: tuple[NDArray[np.int32], Floats], block: Block) -> BlockResult:
        """Solve all turns from some sets of filled boxes."""
        sets, after = problem[0][slice(*block)], problem[1]
        out = np.zeros((len(sets), *self.shape(0)[1:]))
        solve_sets(self.rules, sets, self.reach, _read_only(after), self.position, out)
        return BlockResult(out, games=self._cards(sets))

    def turn(self, cards: Cards, after: Floats) -> TurnValues:
        """Return the values of the turns from some cards.

        Args:
            cards: The cards from which the turns start.
            after: [sets, U, 2] values of the cards with one more filled box.
        """
        rules, lanes = self.rules, len(cards.totals)
        value = np.zeros((len(rules.plain), ENDS, lanes))
        held, kept = np.empty((2, rules.rolls, len(rules.dice), lanes))
        turn_values(rules, *cards, _read_only(after), self.position, value, held, kept)
        return TurnValues(value, held, kept)

    def blocks(self, layer: int) -> Sequence[Block]:
        sets, size = self.shape(layer)[0], _SETS_IN_BLOCK
        return [(first, min(first + size, sets)) for first in range(0, sets, size)]

    def place(self, state: Turn) -> LayerPlace | None:
        """Return the place of a card; None once dice lie on the table.

        Raises:
            ValueError: If the card cannot be reached.
        """
        if state.dice or not state.open:
            return None
        if not self.is_card(state):
            raise ValueError(f"{shown(state)} is not a state of {self.game.info.name}")
        filled = self.filled(state)
        at = int(self.position[filled]), state.upper, int(state.bonus)
        return LayerPlace(filled.bit_count(), at)

    def is_card(self, state: Turn) -> bool:
        """Return whether a state is a reachable card, from which a turn starts.

        Other states have no value, although the arrays have an entry for them.
        """
        game = self.game
        boxes = tuple(box for box in game.scorecard if box in state.open)
        begun = (state.open, state.rolls) == (boxes, game.rolls)
        if not (begun and 0 <= state.upper <= game.bonus_at):
            return False
        again = bool(self.rules.tracked) and YAHTZEE not in boxes
        return bool(self.reach[self.filled(state), state.upper]) and (again or not state.bonus)

    def filled(self, state: Turn) -> int:
        """Return the filled boxes of a state as a bit mask."""
        return sum(1 << b for b, box in enumerate(self.game.scorecard) if box not in state.open)

    def rounding(self, layer: int, largest: Callable[[int], float]) -> float:
        """Bound the rounding of rewards plus values, and of means over faces for each die.

        A mean of F numbers is F - 1 additions and a division. No intermediate number exceeds
        the largest value of the next layer plus the points of a box and its bonuses.
        """
        game = self.game
        after = max(map(largest, self.reads(layer)), default=0.0)
        met = after + LARGEST_POINTS + game.yahtzee_bonus + game.upper_bonus
        roundings = 1 + game.rolls * game.dice * game.faces
        # Numbers that have been rounded may be a little larger.
        return 1.01 * roundings * float(np.finfo(float).eps) / 2 * met

    @property
    def identity(self) -> Mapping[str, Any]:
        return dict(self.game.info.parameters)

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> Self:
        return cls(Yahtzee(**{field.name: identity[field.name] for field in fields(Yahtzee)}))


@dataclass(frozen=True, eq=False)
class YahtzeeSolution(LayeredSolution):
    """A form of Yahtzee, solved.

    Args:
        store: All layers of the form, in memory or in a folder.
        game: The rules of the form.

    Raises:
        ValueError: If a layer is not solved.
    """

    layered_game = YahtzeeLayers
    game: Yahtzee

    @property
    def layers(self) -> YahtzeeLayers:
        """Return the layers of the states."""
        return cast(YahtzeeLayers, self.layered)

    def after(self, layer: int) -> Floats:
        """Return [sets, U, 2] the values of the cards with one more box than a layer's."""
        return self.layers.after(layer, self.values)

    def value_of(self, state: Turn) -> float:
        """Return the expected points from a state on.

        Args:
            state: Any state of the game.

        Raises:
            ValueError: If the game has no such state.
        """
        if not state.dice:
            return super().value_of(state)
        turn, hand = self._turn(state)
        return float(turn.held[state.rolls, hand, 0])

    def error_of(self, state: Turn) -> float:
        """Return a proved bound on the error of :meth:`value_of` in a state."""
        if not state.dice:
            return super().error_of(state)
        layer = len(self.game.scorecard) - len(state.open)
        return self.errors[layer] + sum(map(self.store.rounded_off, self.layers.reads(layer)))

    def action_values(self, state: Turn, player: int) -> Mapping[int, float]:
        """Return the value of each legal action, by action.

        Args:
            state: A nonterminal state.
            player: The only player, 0.
        """
        if not state.dice:
            return {KEEP_NONE: self.value_of(state)}
        turn, hand = self._turn(state)
        values = {}
        for action in self.game.legal_actions(state)[0]:
            if action < self.game.keeps:
                keep = self.layers.rules.kept[hand, action]
                values[action] = float(turn.kept[state.rolls - 1, keep, 0])
            else:
                [outcome] = self.game.transition(state, (action,))
                values[action] = float(outcome.reward) + self.value_of(outcome.state)
        return values

    def policy(self, state: Turn, player: int) -> Mapping[int, float]:
        """Return an optimal action of a state, the first in the game's order if several tie.

        Args:
            state: A nonterminal state.
            player: The only player, 0.

        Returns:
            The probability of every legal action.
        """
        values = self.action_values(state, player)
        best = max(values.values()) - TIE
        good = {action for action, value in values.items() if value >= best}
        chosen = next(action for action in self.game.order if action in good)
        return {action: float(action == chosen) for action in values}

    def _turn(self, state: Turn) -> tuple[TurnValues, int]:
        """Return the values of a state's turn, and the number of its roll."""
        layers, card = self.layers, Turn((), self.game.rolls, *state[2:])
        hand = layers.hand_of.get(state.dice)
        if hand is None or not 0 <= state.rolls < self.game.rolls or not layers.is_card(card):
            raise ValueError(f"{shown(state)} is not a state of {self.game.info.name}")
        filled = layers.filled(card)
        cards = Cards(filled, int(card.bonus), np.array([card.upper]))
        return layers.turn(cards, self.after(filled.bit_count())), hand
