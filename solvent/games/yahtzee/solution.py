"""The solution of a form of Yahtzee: the value of every card, and of all that a turn leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solution import LayeredSolution, solve_in_memory
from solvent.games.yahtzee.arrays import ROLLS
from solvent.games.yahtzee.layers import YahtzeeLayers
from solvent.games.yahtzee.rules import KEEP_NONE, Turn, Yahtzee
from solvent.games.yahtzee.turn_kernel import TIE, best_actions, box_values, turn_values
from solvent.model.arrays import Floats
from solvent.model.parameters import shown
from solvent.model.progress import OnProgress


class TurnValues(NamedTuple):
    """The values of one turn, for L cards with the same filled boxes.

    Attributes:
        value: [B, V, L] of filling each box (:func:`~.turn_kernel.box_values`).
        rolled: [N, R, L] of the rolls, by the rolls that are left.
        kept: [N, K, L] of the keeps, by the rolls that are left after theirs.
    """

    value: Floats
    rolled: Floats
    kept: Floats


def values_of_turn(
    layers: YahtzeeLayers, filled: int, bonus: int, totals: NDArray[np.int64], after: Floats
) -> TurnValues:
    """The values of the turns from some cards with the same filled boxes.

    Args:
        layers: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        totals: [L] points of the upper section.
        after: [sets, U, 2] values of the cards with a box more.
    """
    rules, lanes = layers.rules, len(totals)
    keeps, rolls, turns = len(rules.size), len(rules.face), int(rules.number[ROLLS])
    value = np.zeros((len(rules.face_of), max(rules.dice.shape[1] + 1, 2), lanes))
    rolled, kept = np.empty((turns, rolls, lanes)), np.empty((turns, keeps, lanes))
    box_values(rules, filled, bonus, totals, after, layers.position, value)
    best = np.empty((keeps - rolls, lanes))
    turn_values(rules, filled, bonus, value, best, rolled, kept)
    return TurnValues(value, rolled, kept)


def actions_of_turn(
    layers: YahtzeeLayers, filled: int, bonus: int, turn: TurnValues
) -> NDArray[np.int16]:
    """[N, R, L] the best actions of a turn, by the rolls that are left.

    Args:
        layers: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        turn: The turn's values.
    """
    action = np.empty(turn.rolled.shape, np.int16)
    best_actions(layers.rules, filled, bonus, *turn, action)
    return action


@dataclass(frozen=True, eq=False)
class YahtzeeSolution(LayeredSolution):
    """A form of Yahtzee, solved.

    Args:
        store: All its layers, in memory or in a folder.
        game: The same form.

    Raises:
        ValueError: If a layer is not solved.
    """

    game: Yahtzee

    @property
    def layers(self) -> YahtzeeLayers:
        """How its states are laid out."""
        layered = self.layered
        assert isinstance(layered, YahtzeeLayers)
        return layered

    def after(self, layer: int) -> Floats:
        """[sets, U, 2] values of the cards with a box more than a layer's; zeros after the last."""
        if layer + 1 < len(self.game.scorecard):
            return np.ascontiguousarray(self.values(layer + 1))
        return np.zeros((1, *self.layers.shape(0)[1:]))

    def value_of(self, state: Turn) -> float:
        """The expected points from a state on.

        Args:
            state: Any of the game.

        Raises:
            ValueError: If it is none of its states.
        """
        if not state.dice:
            return super().value_of(state)
        turn, roll = self._turn(state)
        return float(turn.rolled[state.rolls, roll, 0])

    def error_of(self, state: Turn) -> float:
        """Proved bound of the error of :meth:`value_of` in a state."""
        if not state.dice:
            return super().error_of(state)
        layer = len(self.game.scorecard) - len(state.open)
        off = self.store.rounded_off(layer + 1) if layer + 1 < len(self.game.scorecard) else 0.0
        return self.errors[layer] + off

    def action_values(self, state: Turn, player: int) -> Mapping[int, float]:
        """What each legal action leads to, by action.

        Args:
            state: One in which the episode has not ended.
            player: 0.
        """
        if not state.dice:
            return {KEEP_NONE: self.value_of(state)}
        turn, roll = self._turn(state)
        values = {}
        for action in self.game.legal_actions(state)[0]:
            if action < self.game.keeps:
                keep = self.layers.rules.kept[roll, action]
                values[action] = float(turn.kept[state.rolls - 1, keep, 0])
            else:
                [outcome] = self.game.transition(state, (action,))
                values[action] = float(outcome.reward) + self.value_of(outcome.state)
        return values

    def policy(self, state: Turn, player: int) -> Mapping[int, float]:
        """An optimal choice in a state.

        Of those that are equally good it takes the first box, and else the keep with the most dice.

        Args:
            state: One in which the episode has not ended.
            player: 0.

        Returns:
            The probability of every legal action.
        """
        values = self.action_values(state, player)
        best = max(values.values()) - TIE
        good = [action for action, value in values.items() if value >= best]
        keeps = self.game.keeps

        def first(action: int) -> tuple[bool, int, int]:
            return (action < keeps, -action.bit_count() if action < keeps else 0, action)

        chosen = min(good, key=first)
        return {action: float(action == chosen) for action in values}

    def _turn(self, state: Turn) -> tuple[TurnValues, int]:
        """The values of the turn that a state is in, and the number of its roll."""
        card = Turn((), self.game.rolls, state.open, state.upper, state.bonus)
        try:
            roll = self._rolls[state.dice]
            if not (0 <= state.rolls < self.game.rolls and self.layers.is_card(card)):
                raise KeyError
            return self._values(card), roll
        except (KeyError, TypeError, IndexError):
            raise ValueError(f"{shown(state)} is no state of {self.game.info.name}") from None

    @cached_property
    def _rolls(self) -> Mapping[tuple[int, ...], int]:
        dice = self.layers.rules.dice.tolist()
        return {tuple(roll): number for number, roll in enumerate(dice)}

    @cached_property
    def _values(self) -> Any:
        """Gives the values of a card's turn; those of a few cards are kept."""

        def found(card: Turn) -> TurnValues:
            filled = self.layers.filled(card)
            after = self.after(filled.bit_count())
            return values_of_turn(
                self.layers, filled, int(card.bonus), np.array([card.upper]), after
            )

        return lru_cache(maxsize=64)(found)


def solved_yahtzee(game: Yahtzee, *, progress: OnProgress | None = None) -> YahtzeeSolution:
    """A form of Yahtzee, solved in memory.

    Args:
        game: The rules.
        progress: Called with the cards solved so far.
    """
    return YahtzeeSolution(solve_in_memory(YahtzeeLayers(game), progress=progress), game)


def opened_yahtzee(folder: Path, parameters: Mapping[str, Any]) -> YahtzeeSolution:
    """The solution in a folder.

    Args:
        folder: That ``solvent solve --out`` has written.
        parameters: Of the game; what is left out is as it is solved.

    Raises:
        ValueError: If a parameter is not allowed.
        StoreError: If there is none in the folder, or it is one of another form.
    """
    solved = LayerFolder.open(folder, YahtzeeLayers)
    layers = solved.game
    assert isinstance(layers, YahtzeeLayers)
    game = Yahtzee(**{**layers.identity, **parameters})
    return YahtzeeSolution(LayerFolder.open(folder, YahtzeeLayers(game)), game)
