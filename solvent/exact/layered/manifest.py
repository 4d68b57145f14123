"""The manifest of a folder of layers, which identifies the game that they solve.

The manifest holds everything that the values depend on, which is the game's
:attr:`~.game.LayeredGame.identity`, and nothing else: no time, no name of a machine. So two solves
of the same game write the same bytes. Its last entry is the SHA-256 of all others, as JSON with
sorted keys.

Format 1 had no SHA-256 and is no longer read. Format 3 is for folders that do not keep all values;
its entry ``keep`` names the values that they keep.

**Samples.** The manifest of a folder that does not keep all values has states chosen at random, at
full precision and with the values of their successors, so that anybody can solve these states again
from the rules alone (:mod:`~.spot_check`). They are taken while the layers are solved, since the
values are gone afterwards. Nobody can choose favourable states: state ``i`` of the sample is number
``SHA-256(kind of game, "", i) mod n`` of all ``n`` values, in the order of the layers. The initial
states are added to these.
"""

import gzip
import hashlib
import io
import json
import os
import zlib
from bisect import bisect
from itertools import accumulate, product
from math import prod
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from solvent.exact.layered.game import Layer, LayeredGame, LayerPlace, Read
from solvent.exact.layered.store import KEEPS, SLACK
from solvent.model.arrays import Floats
from solvent.model.files import StoreError, parse_json, read_file, reporting
from solvent.model.parameters import brief, shown

STATES = 300
"""Number of states chosen; folders with another number cannot be read."""

FORMAT = 2
# The format of folders that do not keep all values.
_PARTIAL = 3

READ = (FORMAT, _PARTIAL)
"""The formats that can be read."""

MOST_BYTES = 64 << 20
"""Largest size of a manifest, and of the records so far."""

DTYPE = "<f8"
"""The type of the values on disk: 8 bytes, little-endian."""

# The entries of a manifest besides the game's identity.
_ADDED = ("kind", "format", "keep", "dtype", "sheets", "sha256")


def describe(game: LayeredGame, keep: str = "all") -> dict[str, Any]:
    """Return everything that the values of a game depend on, and `keep`, JSON-able."""
    kept = {"format": FORMAT} if keep == "all" else {"format": _PARTIAL, "keep": keep}
    return {"kind": game.kind, **kept, **game.identity, "dtype": DTYPE}


def read_manifest(
    folder: Path, game: LayeredGame | type[LayeredGame]
) -> tuple[dict[str, Any], LayeredGame]:
    """Read the manifest of a folder.

    Args:
        folder: The folder.
        game: The game that it must describe, or a class of games, of which it describes one.

    Returns:
        The manifest, and the game.

    Raises:
        StoreError: If there is no manifest, this version cannot read it, it was changed since it
            was written, or it is that of another game; the message names the parameters that
            differ.
    """
    paths = (folder / "manifest.json", folder / "manifest.json.gz")
    path = next(filter(os.path.lexists, paths), None)
    if path is None:
        raise StoreError(f"{folder}: holds no solution; there is no manifest.json")
    with reporting(path):
        content = read_file(path, MOST_BYTES)
    try:
        if path == paths[1]:
            with gzip.open(io.BytesIO(content)) as file:
                content = file.read(MOST_BYTES)
        description = parse_json(content)
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise StoreError(f"{path}: is damaged ({error})") from error
    _check_form(description, game.kind, folder)
    found = {name: part for name, part in description.items() if name not in _ADDED}
    try:
        game = game.from_identity(description) if isinstance(game, type) else game
        there, here = game.compared(found), game.compared(game.identity)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else brief(str(error), 200)
        raise StoreError(f"{folder}: manifest.json is damaged ({reason})") from error
    others = sorted(n for n in {*there, *here} if there.get(n, ...) != here.get(n, ...))
    if others:
        raise StoreError(
            f"{folder}: is a solution with other values of {brief(', '.join(others), 200)}"
        )
    return description, game


def _check_form(description: Any, kind: str, folder: Path) -> None:
    """Raise unless a manifest is of a kind of game, and as this version wrote it."""
    if not isinstance(description, dict) or description.get("kind") != kind:
        raise StoreError(f"{folder}: manifest.json is not that of a solution of {kind}")
    version = description.get("format")
    if type(version) is not int or version not in READ:
        raise StoreError(
            f"{folder}: manifest.json has format {shown(version)}; this version reads formats "
            f"{READ[0]} to {READ[-1]}"
        )
    others = {name: part for name, part in description.items() if name != "sha256"}
    if description.get("sha256") != checksum_of(others):
        raise StoreError(
            f"{folder}: the checksum of manifest.json does not match; it was changed or damaged"
        )
    fits = {
        "sheets": isinstance(description.get("sheets", 0), (dict, type(None))),
        "keep": description.get("keep", "all") in (KEEPS[1:] if version == _PARTIAL else KEEPS[:1]),
        "dtype": description.get("dtype") == DTYPE,
    }
    for name in fits:
        if not fits[name]:
            raise StoreError(
                f"{folder}: manifest.json is damaged ({name} is {shown(description.get(name))})"
            )


def checksum_of(content: Any) -> str:
    """Return the SHA-256 of JSON-able content, as text with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class KeptSample(NamedTuple):
    """The stored values of a state and of its successors.

    Attributes:
        at: Place of the state in its layer.
        value: Stored value of the state.
        successors: The stored values of its successors, in the order of :func:`successors`.
    """

    at: tuple[int, ...]
    value: float
    successors: tuple[float, ...]


def random_places(game: LayeredGame, count: int, seed: str = "") -> list[LayerPlace]:
    """Choose places of states uniformly among all values of a game.

    Args:
        game: The game.
        count: Number of values to draw; those that belong to no state are left out.
        seed: Any text; another seed gives other places.
    """
    layers = list(game.layers)
    ends = list(accumulate(prod(game.shape(layer)) for layer in layers))
    places = []
    for i in range(count):
        number = int(checksum_of([game.kind, seed, i]), 16) % ends[-1]
        n = bisect(ends, number)
        layer, before = layers[n], ends[n - 1] if n else 0
        at = np.unravel_index(number - before, game.shape(layer))
        places.append(LayerPlace(layer, tuple(map(int, at))))
    return [place for place in places if game.state_at(place) is not None]


def sampled_places(game: LayeredGame, *, starts: bool) -> dict[Layer, list[tuple[int, ...]]]:
    """Return the places of a game's sample by layer; none if the game has no `state_at`.

    Args:
        game: The game.
        starts: Whether to add the initial states.
    """
    places = {*random_places(game, STATES)}
    if places and starts:
        begins = [game.place(outcome.state) for outcome in game.game.initial()]
        places.update(place for place in begins if place is not None)
    chosen: dict[Layer, list[tuple[int, ...]]] = {}
    for layer, at in sorted(places):
        chosen.setdefault(layer, []).append(at)
    return chosen


def successors(game: LayeredGame, state: Any) -> list[LayerPlace]:
    """Return the places of the states that follow a state, in the order of the layers.

    States between layers are passed through to those that have a place.

    Args:
        game: The layers.
        state: The state, which does not count as its own successor.
    """
    rules, found, seen, left = game.game, set(), {state}, [state]
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
        values: Values of the layer.
        read: Returns the values of a layer that this one reads.
    """
    layers = {needed: read(needed) for needed in game.reads(layer)} | {layer: values}
    samples = []
    for at in places:
        after = successors(game, game.state_at(LayerPlace(layer, at)))
        stored = tuple(float(layers[place.layer][place.at]) for place in after)
        samples.append(KeptSample(at, float(values[at]), stored))
    return samples


def read_samples(
    game: LayeredGame, places: list[tuple[int, ...]], layer: Layer, entries: Any
) -> list[KeptSample]:
    """Read the samples of a layer from its record.

    Args:
        game: The game.
        places: The places chosen at random in the layer, which must all have samples.
        layer: The layer.
        entries: The samples as JSON, from the record.

    Raises:
        ValueError: If a place has no sample, a sample has no state, or a value is impossible.
    """
    most = max(map(game.bound, (*game.reads(layer), layer))) + SLACK
    shape = game.shape(layer)
    try:
        samples = [
            KeptSample(tuple(map(index, at)), float(value), tuple(map(float, after)))
            for at, value, after in entries
        ]
    except (TypeError, ValueError) as error:
        raise ValueError(f"samples is {shown(entries)}") from error
    if not {*places} <= {sample.at for sample in samples}:
        raise ValueError("samples are of other states than those that are chosen")
    for sample in samples:
        inside = len(sample.at) == len(shape) and all(
            0 <= at < length for at, length in zip(sample.at, shape, strict=True)
        )
        if not inside or game.state_at(LayerPlace(layer, sample.at)) is None:
            raise ValueError(f"a sample is of {shown(sample.at)}, where no state stands")
        for value in (sample.value, *sample.successors):
            if not abs(value) <= most:
                raise ValueError(f"a sample has the value {value:g}; possible are ±{most:g}")
    return samples
