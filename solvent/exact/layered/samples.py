"""States chosen at random, kept at full precision with the values of the states that follow them.

A folder that does not keep all values keeps these, so that anybody can solve the states again by
the rules alone (:mod:`~.spot_check`). They are written while the layers are solved, since the
values that they need are gone afterwards.

The choice follows from the game's identity: state ``i`` of the sample is number
``SHA-256(identity, i) mod n`` of all ``n`` values, in the order of the layers. The states in which
the game begins are added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import accumulate, product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from solvent.exact.layered.game import Layer, LayeredGame, Place, Read
from solvent.exact.layered.manifest import checksum_of
from solvent.exact.store import StoreError
from solvent.model.arrays import Floats
from solvent.model.files import parse_json

STATES = 300
"""States that are chosen."""


class KeptSample(NamedTuple):
    """A state and the values that stand at its place and at those of its successors.

    Attributes:
        at: Its place in its layer.
        value: Its value as it is stored.
        successors: The stored values of its successors, in the order of :func:`successors`.
    """

    at: tuple[int, ...]
    value: float
    successors: tuple[float, ...]


def random_places(game: LayeredGame, count: int, seed: str = "") -> list[Place]:
    """Choose places among all values of a game, uniformly.

    Args:
        game: The game.
        count: Number of places.
        seed: Any text; another seed gives other places.
    """
    layers, identity = list(game.layers), checksum_of(dict(game.identity))
    ends = list(accumulate(prod(game.shape(layer)) for layer in layers))
    places = []
    for i in range(count):
        number = int(checksum_of([identity, seed, i]), 16) % ends[-1]
        n = int(np.searchsorted(ends, number, side="right"))
        at = np.unravel_index(number - (ends[n - 1] if n else 0), game.shape(layers[n]))
        places.append(Place(layers[n], tuple(map(int, at))))
    return places


def sampled_places(game: LayeredGame) -> dict[Layer, list[tuple[int, ...]]]:
    """Return the places of a game's sample by layer; none if it does not say what stands there."""
    places = random_places(game, STATES)
    found = game.state_at(places[0])
    if found is None:
        return {}
    starts = [game.place(outcome.state) for outcome in found[0].initial()]
    chosen: dict[Layer, set[tuple[int, ...]]] = {}
    for layer, at in (*places, *(place for place in starts if place is not None)):
        chosen.setdefault(layer, set()).add(at)
    return {layer: sorted(ats) for layer, ats in chosen.items()}


def successors(game: LayeredGame, rules: Any, state: Any) -> list[Place]:
    """Return the places of the states that follow a state, in the order of the layers.

    States between layers are passed through to those that have a place.

    Args:
        game: The layers.
        rules: The rules of the game.
        state: The state; its own place does not count unless play returns there.
    """
    found, seen, left = set(), {state}, [state]
    while left:
        at = left.pop()
        for joint in product(*rules.legal_actions(at)):
            for outcome in rules.transition(at, joint):
                after = outcome.state
                if after in seen or rules.is_terminal(after):
                    continue
                seen.add(after)
                place = game.place(after)
                if place is None:
                    left.append(after)
                else:
                    found.add(place)
    order = {layer: n for n, layer in enumerate(game.layers)}
    return sorted(found, key=lambda place: (order[place.layer], place.at))


def take_samples(
    game: LayeredGame, places: list[tuple[int, ...]], layer: Layer, values: Floats, read: Read
) -> list[KeptSample]:
    """Return the samples of a layer that has just been solved.

    Args:
        game: The game.
        places: The chosen places in the layer.
        layer: The layer.
        values: Its values.
        read: Gives the values of the layers that it reads.
    """
    layers = {needed: read(needed) for needed in game.reads(layer)} | {layer: values}
    samples = []
    for at in places:
        described = game.state_at(Place(layer, at))
        assert described is not None
        after = successors(game, *described)
        known = tuple(float(layers[place.layer][place.at]) for place in after)
        samples.append(KeptSample(at, float(values[at]), known))
    return samples


def samples_text(game: LayeredGame, samples: Mapping[Layer, list[KeptSample]]) -> str:
    """Return the content of ``samples.json``, with a SHA-256 of all the rest.

    Args:
        game: The game.
        samples: The samples of each layer, in the order of the layers.
    """
    content: dict[str, Any] = {
        "kind": game.kind,
        "identity": checksum_of(dict(game.identity)),
        "samples": {game.name(layer): kept for layer, kept in samples.items()},
    }
    return json.dumps({**content, "sha256": checksum_of(content)}, indent=None) + "\n"


def read_samples(
    game: LayeredGame, content: bytes, name: str
) -> Iterator[tuple[Layer, KeptSample]]:
    """Read ``samples.json``.

    Args:
        game: What the samples have to be of.
        content: The file's content.
        name: What messages call it.

    Raises:
        StoreError: If it is damaged, or of another game.
    """
    try:
        description = parse_json(content)
        checksum = description.pop("sha256")
        if checksum != checksum_of(description):
            raise StoreError(f"{name}: the checksum does not match; it was changed or damaged")
        if description["identity"] != checksum_of(dict(game.identity)):
            raise StoreError(f"{name}: is of another game")
        layers = {game.name(layer): layer for layer in game.layers}
        for layer, kept in description["samples"].items():
            for at, value, after in kept:
                yield layers[layer], KeptSample(tuple(at), float(value), tuple(map(float, after)))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{name}: is damaged ({error})") from error
