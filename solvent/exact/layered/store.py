"""The store of a game's layers, during and after solving.

A store holds the values of every solved layer, and a record of how accurate they are.
:class:`LayerStore` keeps all of it in memory. :class:`~.folder.LayerFolder` keeps it in a folder,
resumes interrupted solves, and opens finished solutions; it is used in the same way::

    store = LayerStore(game)  # in memory
    store = LayerFolder.create("half", game)  # a new folder, or one to resume
    store = LayerFolder.open("half", game)  # to read

    for layer in game.layers:
        if not store.has(layer):
            read = {needed: store.read(needed) for needed in game.reads(layer)}
            ...
            store.write(layer, values, LayerRecord(...))
    store.finish()

**Kept values.** By default all values are kept. With another choice of :data:`KEEPS` the values of
a layer are dropped as soon as no unsolved layer reads them, except for layers in which the game may
begin (:attr:`~.game.LayeredGame.opening`). The records of all layers are kept, each with its
largest value, so that the error of the start's value can be proved without the layers.

**Compact values** (:func:`pack`) are 16-bit fixed-point numbers, compressed. A value v of a layer
whose largest absolute value is L is kept as the integer nearest to 32767 v / L, so its error is at
most L / 65534 (:func:`rounded_off`), and 0, L and -L are exact. Neighbouring numbers differ little:
along every axis, each is replaced by its difference from the one before (modulo 2^16), signs move
to the last bit, and the low bytes of all numbers come before the high ones. zlib compresses that to
about a sixth of a byte per value. Everything but the rounding is undone exactly.
"""

import zlib
from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from solvent.exact.layered.game import Layer, LayeredGame, LayerPlace
from solvent.model.arrays import Floats
from solvent.model.files import StoreError

SLACK = 1e-9
"""Rounding may take values out of the possible range by this much."""


KEEPS = ("all", "compact", "start")
"""The values that a finished solution keeps: ``"all"``; ``"compact"``, exact values of layers in
which the game may begin and rounded values of all others (:func:`pack`); or ``"start"``, only those
of layers in which the game may begin."""


class LayerRecord(NamedTuple):
    """The record of how a layer was solved.

    Attributes:
        largest_gap: Largest duality gap of the layer's matrix games.
        games: Number of matrix games solved; a maximum, with one player, counts as one.
    """

    largest_gap: float
    games: int


class LayerStore:
    """The layers of a game in memory.

    Args:
        game: The game.
        keep: ``"all"`` or ``"start"``; ``"compact"`` is for folders.
    """

    def __init__(self, game: LayeredGame, keep: str = "all") -> None:
        self.game = game
        self.keep = keep
        self._values: dict[Layer, Floats] = {}
        self._records: dict[Layer, LayerRecord] = {}
        self._largest: dict[Layer, float] = {}
        # The layers in which the game may begin, and for each layer the layers that read it.
        self._opening = frozenset(game.opening)
        self._readers: dict[Layer, list[Layer]] = {layer: [] for layer in game.layers}
        for reader in game.layers:
            for needed in game.reads(reader):
                self._readers[needed].append(reader)

    def has(self, layer: Layer) -> bool:
        """Return whether a layer is solved."""
        return layer in self._records

    def read(self, layer: Layer) -> Floats:
        """Return the values of a solved layer, which must not be written to.

        Raises:
            KeyError: If the layer is not solved.
            StoreError: If its values are not kept.
        """
        self._check_read(layer)
        return self._values[layer]

    def value_at(self, place: LayerPlace) -> float:
        """Return the value that is stored at a place.

        Raises:
            KeyError: If its layer is not solved.
            StoreError: If the value is not kept.
        """
        return float(self.read(place.layer)[place.at])

    def needs(self, layer: Layer) -> bool:
        """Return whether a layer's values have to be stored without rounding.

        They do while an unsolved layer reads them, and always if all values are kept or the game
        may begin in the layer.
        """
        if self.keep == "all" or layer in self._opening:
            return True
        return not all(map(self.has, self._readers[layer]))

    def rounded_off(self, layer: Layer) -> float:
        """Return the largest error that rounding adds to the values of a layer when stored."""
        return 0.0

    def largest(self, layer: Layer) -> float:
        """Return the largest absolute value in a solved layer.

        Raises:
            KeyError: If the layer is not solved.
        """
        if layer not in self._largest:
            self._largest[layer] = float(np.abs(self.read(layer)).max())
        return self._largest[layer]

    def record(self, layer: Layer) -> LayerRecord:
        """Return the record of a solved layer.

        Raises:
            KeyError: If the layer is not solved.
        """
        return self._records[layer]

    def write(self, layer: Layer, values: Floats, record: LayerRecord) -> None:
        """Store a solved layer, and drop values that are no longer needed.

        Args:
            layer: The layer.
            values: The layer's values, of the game's shape.
            record: The record of how the layer was solved.

        Raises:
            ValueError: If a value is impossible.
        """
        self._check(layer, values)
        values = values.view()
        values.flags.writeable = False
        self._values[layer] = values
        self._records[layer] = record
        self._drop_unneeded((*self.game.reads(layer), layer))

    def drop(self, layer: Layer) -> None:
        """Drop the values of a layer as they are for solving others."""
        self._values.pop(layer, None)

    def finish(self) -> None:
        """Drop what is not to be kept, once all layers are solved."""
        self._drop_unneeded(self.game.layers)

    @property
    def finished(self) -> bool:
        """Whether all layers are solved."""
        return len(self._records) == len(self.game.layers)

    @property
    def missing(self) -> Iterator[Layer]:
        """The unsolved layers, in the order of solving."""
        return (layer for layer in self.game.layers if not self.has(layer))

    @property
    def largest_gap(self) -> float:
        """The largest duality gap of all matrix games solved so far."""
        return max((record.largest_gap for record in self._records.values()), default=0.0)

    @property
    def games(self) -> int:
        """The number of matrix games solved so far."""
        return sum(record.games for record in self._records.values())

    def _drop_unneeded(self, layers: Iterable[Layer]) -> None:
        """Drop the values of some layers that no unsolved layer needs."""
        for layer in layers:
            if not self.needs(layer):
                self.drop(layer)

    def _check_read(self, layer: Layer) -> None:
        """Raise a StoreError if the values of a solved layer are not kept."""
        if self.keep == "start" and not self.needs(layer):
            raise StoreError(
                f"only the value of the start is kept, not {self.game.name(layer)}; solve "
                f"with --keep compact or --keep all to keep other positions"
            )

    def _check(self, layer: Layer, values: Floats) -> None:
        """Note the largest absolute value of a layer; raise if one is impossible."""
        assert values.dtype == np.float64
        assert values.shape == self.game.shape(layer)
        largest, most = float(np.abs(values).max()), self.game.bound(layer)
        if not largest <= most + SLACK:  # Also for a NaN.
            raise ValueError(f"{layer} has a value of ±{largest:.3g}; possible are ±{most:g}")
        self._largest[layer] = largest


STEPS = 2**15 - 1
"""The number of steps from 0 to the largest value."""


def rounded_off(largest: float) -> float:
    """Return the largest error of the compact values of a layer.

    Args:
        largest: Largest absolute value in the layer.
    """
    # Half a step, and three roundings of float64.
    return largest * (0.5 / STEPS + 4 * float(np.finfo(float).eps))


def pack(values: Floats, largest: float) -> bytes:
    """Round and compress the values of a layer.

    Args:
        values: The values, of any shape.
        largest: Largest absolute value.
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
    """Return the values that :func:`pack` compressed, up to rounding.

    Args:
        content: The result of :func:`pack`.
        shape: The shape of the values.
        largest: Largest absolute value, as given to :func:`pack`.

    Raises:
        ValueError: If the content is damaged, or not of this shape.
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
    # In this order, the largest value comes out exactly.
    return numbers / STEPS * largest
