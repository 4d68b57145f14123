"""Spot checks: states of a solution, solved again from the rules without the code for layers.

The successors of a state are enumerated from the rules with their probabilities. Their recorded
values give the payoffs of its matrix game, which a general linear program solves
(:func:`~solvent.exact.solve_matrix_game`). Evaluating both of its strategies gives a bracket of the
value.

**Allowed differences.** The recorded value of a state may be off by the largest duality gap of its
layer and by rounding, and so may the bracket. If values are stored rounded, this adds to the error
of the state and of its successors. A larger difference proves that the record is wrong.

**Undetected errors.** The states are drawn at random, so errors in a share p of all states escape a
check of n states with probability (1 - p)^n.
"""

import random
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import LayeredGame, LayerPlace
from solvent.exact.layered.manifest import random_places, successors
from solvent.exact.matrix_game import solve_matrix_game
from solvent.model.arrays import Floats
from solvent.model.files import StoreError
from solvent.model.parameters import shown

KINDS = ("start", "sample", "layer")
"""A sample of an initial state, a sample of a random state, and a random state in the files of the
layers."""


class CheckedState(NamedTuple):
    """A state that was solved again.

    Attributes:
        kind: Origin of the state, one of :data:`KINDS`.
        place: Place of the state.
        state: The state.
        value: Recorded value, to player 0.
        again: Bounds of the value, computed again from the rules.
        allowed: Largest distance of the recorded value from these bounds.
    """

    kind: str
    place: LayerPlace
    state: Any
    value: float
    again: tuple[float, float]
    allowed: float

    @property
    def difference(self) -> float:
        """The largest distance of the recorded value from the bounds."""
        return max(self.again[1] - self.value, self.value - self.again[0])

    @property
    def agrees(self) -> bool:
        """Whether the recorded value is as close to the bounds as it has to be."""
        return self.again[0] - self.allowed <= self.value <= self.again[1] + self.allowed


def spot_check(store: LayerFolder, count: int, seed: str = "") -> list[CheckedState]:
    """Solve random states of a folder again.

    Args:
        store: A finished solution, or only its manifest.
        count: Number of states to draw from the samples, besides the initial states, and from all
            values if the files of all layers are there.
        seed: Any text; it determines the choice.

    Raises:
        StoreError: If there are neither samples nor layers to check, or a file is damaged.
    """
    drawn = {LayerPlace(layer, at) for layer, places in store.chosen.items() for at in places}
    starts = [place for place in store.samples if place not in drawn]
    samples = [place for place in store.samples if place in drawn]
    samples = random.Random(seed).sample(samples, min(count, len(samples)))
    checked = [
        _check(store, place, kind, _kept_values(store, place).__getitem__)
        for kind, places in (("start", starts), ("sample", samples))
        for place in places
    ]
    if store.keep != "start" and not any(map(store.missing_file, store.game.layers)):
        # Twice as many, since values that belong to no state are left out.
        places = random_places(store.game, 2 * count, f"spot check {seed}")[:count]
        checked += [
            _check(store, place, "layer", lambda at: float(store.read(at.layer)[at.at]))
            for place in places
        ]
    if not checked:
        raise StoreError(f"{store.folder}: there is nothing to check, no samples and no layers")
    return checked


def _kept_values(store: LayerFolder, place: LayerPlace) -> dict[LayerPlace, float]:
    """Return the values of a sample and its successors by their places."""
    sample, state = store.samples[place], store.game.state_at(place)
    after = successors(store.game, state)
    if len(after) != len(sample.successors):
        raise StoreError(
            f"{store.folder}: the sample of {shown(state)} has {len(sample.successors)} "
            f"successors; by the rules there are {len(after)}"
        )
    return {place: sample.value, **dict(zip(after, sample.successors, strict=True))}


def _check(
    store: LayerFolder, place: LayerPlace, kind: str, stored: Callable[[LayerPlace], float]
) -> CheckedState:
    """Solve a state again, and bound how far its recorded value may be off."""
    game, layer = store.game, place.layer
    state = game.state_at(place)
    again = solved_again(game, state, stored)
    # Both solutions are rounded.
    allowed = store.record(layer).largest_gap + 2 * game.rounding(layer, store.largest)
    if kind == "layer":
        allowed += store.rounded_off(layer)
        allowed += max(map(store.rounded_off, (*game.reads(layer), layer)))
    return CheckedState(kind, place, state, game.value(state, stored(place)), again, allowed)


def solved_again(
    game: LayeredGame, state: Any, stored: Callable[[LayerPlace], float]
) -> tuple[float, float]:
    """Return bounds of the value of a state to player 0, given the values of its successors.

    Args:
        game: The layered game, which knows the place of each state's value.
        state: The state.
        stored: Returns the recorded value at a successor's place.
    """
    rules = game.game

    @cache
    def after(reached: Any) -> Floats:
        if rules.is_terminal(reached):
            return np.zeros(2)
        place = game.place(reached)
        if place is None:
            return backed_up(reached)
        return np.full(2, game.value(reached, stored(place)))

    def backed_up(at: Any) -> Floats:
        legal = rules.legal_actions(at)
        payoffs = np.array(
            [
                sum(
                    float(outcome.probability) * (float(outcome.reward) + after(outcome.state))
                    for outcome in rules.transition(at, joint)
                )
                for joint in product(*legal)
            ]
        )
        least, most = (solve_matrix_game(bound.reshape(len(legal[0]), -1)) for bound in payoffs.T)
        return np.array([least.value, most.value + most.duality_gap])

    lower, upper = backed_up(state).tolist()
    return lower, upper
