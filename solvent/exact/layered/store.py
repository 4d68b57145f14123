"""The values of all layers of a game, as they are solved and when they are done.

A store holds, for every layer that is solved, its values and a record of how good they are, and
what others are started from until they are solved. :class:`LayerStore` keeps all of it in memory.
:class:`~.folder.LayerFolder` keeps it in a folder, goes on where a solve was interrupted, and opens
finished solutions; it is used in the same way::

    store = LayerStore(game)  # in memory
    store = LayerFolder.create("half", game)  # a new folder, or one to go on with
    store = LayerFolder.open("half", game)  # to read

    for layer in game.layers:
        if not store.has(layer):
            read = {needed: store.read(needed) for needed in game.reads(layer)}
            ...
            store.write(layer, values, start, LayerRecord(...))
    store.finish()

**What is kept.** All values, unless another of :data:`KEEPS` is chosen: then a layer is let go of
as soon as nothing that is still to be solved reads it, but for those in which the game may begin
(:attr:`~.game.LayeredGame.opening`). Records are kept of all, and with each its largest value, so
that the error of the start's value can be proved without the layers.

**Values in little room** (:func:`pack`) are fixed point at two bytes a value, compressed. A value v
of a layer whose largest is L is kept as the whole number nearest to 32767 v / L, so it is right but
for L / 65534 (:func:`rounded_off`), and 0, L and -L are exact. Numbers beside each other differ by
little: along every axis each is replaced by its difference from the one before (modulo 2^16), signs
go into the last bit, and the low bytes of all come before the high ones. zlib makes that a sixth of
a byte or so a value. All but the rounding is undone exactly.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from solvent.exact.layered.game import Layer, LayeredGame, Place, WarmStart
from solvent.model.arrays import Floats
from solvent.model.files import StoreError

SLACK = 1e-9
"""Values may be beyond what is possible by so much, as they come out of computations."""


KEEPS = ("all", "compact", "start")
"""The contents of a finished solution: ``"all"`` values; those of the layers in which the game may
begin, and of all others rounded ones (:func:`pack`); or those of the ``"start"`` only."""


class LayerRecord(NamedTuple):
    """The record of how a layer was solved.

    Attributes:
        largest_gap: The largest duality gap of its matrix games.
        games: Matrix games solved; a maximum, with one player, counts as one.
        constant: States that needed none, since whatever is chosen has the same value there.
    """

    largest_gap: float
    games: int
    constant: int


class LayerStore:
    """The layers of a game in memory.

    Args:
        game: All layers there are.
        keep: ``"all"`` or ``"start"``; ``"compact"`` is for folders.
    """

    def __init__(self, game: LayeredGame, keep: str = "all") -> None:
        self.game = game
        self.keep = keep
        self._values: dict[Layer, Floats] = {}
        self._starts: dict[Layer, WarmStart] = {}
        self._records: dict[Layer, LayerRecord] = {}
        self._largest: dict[Layer, float] = {}
        # The layers in which the game may begin, those that read each, and are started from each.
        self._opening = frozenset(game.opening)
        self._readers, self._started = self._users(game.reads), self._users(game.starts_from)

    def has(self, layer: Layer) -> bool:
        """Return whether a layer is solved."""
        return layer in self._records

    def read(self, layer: Layer) -> Floats:
        """The values of a layer that is solved, not to be written to.

        Raises:
            KeyError: If it is not.
            StoreError: If they were let go of.
        """
        self._check_read(layer)
        return self._values[layer]

    def value_at(self, place: Place) -> float:
        """The value that stands at a place.

        Raises:
            KeyError: If its layer is not solved.
            StoreError: If it was let go of.
        """
        return float(self.read(place.layer)[place.at])

    def needs(self, layer: Layer) -> bool:
        """Return whether a layer's values have to be there as they came out of its games.

        That is so while a layer that reads it is still to be solved, and always if all are kept or
        the game may begin in it.
        """
        if self.keep == "all" or layer in self._opening:
            return True
        return not all(map(self.has, self._readers[layer]))

    def needs_start(self, layer: Layer) -> bool:
        """Return whether a layer that is still to be solved is started from what one leaves."""
        return not all(map(self.has, self._started[layer]))

    def rounded_off(self, layer: Layer) -> float:
        """Return the largest error of values as they are read, compared with those solved."""
        return 0.0

    def largest(self, layer: Layer) -> float:
        """The largest value of a layer that is solved, whichever its sign.

        Raises:
            KeyError: If it is not.
        """
        if layer not in self._largest:
            self._largest[layer] = float(np.abs(self.read(layer)).max())
        return self._largest[layer]

    def record(self, layer: Layer) -> LayerRecord:
        """Return the record of how a layer was solved.

        Raises:
            KeyError: If it was not.
        """
        return self._records[layer]

    def start(self, layer: Layer) -> WarmStart | None:
        """Return a layer's array to start others from; None if there is none or it is forgotten."""
        return self._starts.get(layer)

    def write(
        self, layer: Layer, values: Floats, start: WarmStart | None, record: LayerRecord
    ) -> None:
        """Keep a solved layer, and forget what no other is started from any more.

        Args:
            layer: The layer.
            values: Its values, of the game's shape.
            start: The array that others are started from, or None if there is nothing.
            record: The record of how it was solved.

        Raises:
            ValueError: If a value is none that is possible.
        """
        self._check(layer, values, start)
        values = values.view()
        values.flags.writeable = False
        self._values[layer] = values
        if start is not None:
            self._starts[layer] = start
        self._records[layer] = record
        for passed in self._starts_passed_by(layer):
            self._starts.pop(passed, None)
        for passed in self._passed_by(layer):
            self._values.pop(passed, None)

    def finish(self) -> None:
        """Say that all layers are solved; what others are started from is forgotten.

        Raises:
            ValueError: If one is missing.
        """
        self.check_complete()
        self._starts.clear()

    def close(self) -> None:
        """Let go of what the store holds besides its values."""

    @property
    def finished(self) -> bool:
        """Return whether all layers are solved."""
        return len(self._records) == len(self.game.layers)

    @property
    def missing(self) -> Iterator[Layer]:
        """The layers still to be solved, in the order in which that is done."""
        return (layer for layer in self.game.layers if not self.has(layer))

    @property
    def largest_gap(self) -> float:
        """The largest duality gap of all matrix games solved so far."""
        return max((record.largest_gap for record in self._records.values()), default=0.0)

    @property
    def games(self) -> int:
        """The matrix games solved so far."""
        return sum(record.games for record in self._records.values())

    def check_complete(self) -> None:
        """Raise unless all layers are solved.

        Raises:
            ValueError: If one is missing.
        """
        missing = next(self.missing, None)
        if missing is not None:
            raise ValueError(f"the solution is not complete: {missing} is not solved")

    def _users(self, uses: Callable[[Layer], Sequence[Layer]]) -> dict[Layer, list[Layer]]:
        users: dict[Layer, list[Layer]] = {layer: [] for layer in self.game.layers}
        for layer in self.game.layers:
            for used in uses(layer):
                if used in users:
                    users[used].append(layer)
        return users

    def _starts_passed_by(self, layer: Layer) -> Sequence[Layer]:
        """The layers from which no other is started any more, now that one is solved."""
        at = (*self.game.starts_from(layer), layer)
        return [each for each in at if each in self._started and not self.needs_start(each)]

    def _passed_by(self, layer: Layer) -> Sequence[Layer]:
        """The layers whose values need not be there any more, now that one is solved."""
        return [at for at in (*self.game.reads(layer), layer) if not self.needs(at)]

    def _check_read(self, layer: Layer) -> None:
        """Raise unless the values of a layer are there.

        Raises:
            KeyError: If it is not solved.
            StoreError: If they were let go of.
        """
        if not self.has(layer):
            raise KeyError(layer)
        if self.keep == "start" and not self.needs(layer):
            raise StoreError(
                f"only the value of the start is kept, not {self.game.label(layer).strip()}; what "
                f"is needed for other positions is kept by --keep compact and --keep all"
            )

    def _check(self, layer: Layer, values: Floats, start: WarmStart | None) -> None:
        """Note the largest value of a layer that is written, and raise if it is impossible."""
        assert values.dtype == np.float64
        assert values.shape == self.game.shape(layer)
        assert start is None or start.dtype == np.uint32
        assert start is None or start.shape == self.game.start_shape(layer)
        impossible = self._impossible(layer, values)
        if impossible is not None:
            raise ValueError(f"{layer} has {impossible}")
        self._largest[layer] = float(np.abs(values).max())

    def _impossible(self, layer: Layer, values: Floats) -> str | None:
        """Describe an impossible extreme value of a layer, and the possible ones; None if none."""
        least, largest, most = float(values.min()), float(values.max()), self.game.bound(layer)
        if -most - SLACK <= least and largest <= most + SLACK:  # False if one is not a number.
            return None
        value = largest if largest + least > 0 else least
        return f"a value of {value:.3g}; possible are {-most:g} to {most:g}"


STEPS = 2**15 - 1
"""The number of steps from 0 to the largest value."""


def rounded_off(largest: float) -> float:
    """Return the largest error of the kept values of a layer.

    Args:
        largest: Largest absolute value in the layer.
    """
    # Half a step, and three roundings of float64.
    return largest * (0.5 / STEPS + 4 * float(np.finfo(float).eps))


def pack(values: Floats, largest: float) -> bytes:
    """The values of a layer, rounded and compressed.

    Args:
        values: The values, of any shape.
        largest: The largest of them, whichever its sign.
    """
    scaled = values * (STEPS / largest) if largest else np.zeros_like(values)
    numbers = np.rint(scaled).astype(np.int16)
    for axis in range(numbers.ndim):
        numbers = np.diff(numbers, axis=axis, prepend=np.int16(0))
    signs_last = ((numbers << 1) ^ (numbers >> 15)).astype("<i2")
    low_then_high = signs_last.reshape(-1).view(np.uint8).reshape(-1, 2).T.tobytes()
    compressor = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_RLE)
    return compressor.compress(low_then_high) + compressor.flush()


def unpack(content: bytes, shape: tuple[int, ...], largest: float) -> Floats:
    """The values that were packed, but for the rounding.

    Args:
        content: The result of :func:`pack`.
        shape: The shape of the values.
        largest: Largest value, as given to :func:`pack`.

    Raises:
        ValueError: If the content is not what it should be.
    """
    size = 2 * prod(shape)
    try:
        stream = zlib.decompressobj()
        low_then_high = stream.decompress(content, size + 1)
    except zlib.error as error:
        raise ValueError(f"it cannot be decompressed ({error})") from error
    if len(low_then_high) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"it does not hold {size} bytes")
    pairs = np.frombuffer(low_then_high, np.uint8).reshape(2, -1).T
    signs_last = np.ascontiguousarray(pairs).view("<u2").reshape(shape)
    numbers = ((signs_last >> 1) ^ -(signs_last & 1)).astype(np.int16)
    for axis in range(numbers.ndim):
        numbers = np.cumsum(numbers, axis=axis, dtype=np.int16)
    # In this order, so that the largest comes out as it was.
    return numbers / STEPS * largest
