"""The description of a game that is layered in time, so that it can be solved layer by layer.

The states of such a game fall into *layers*, and every move leads from a layer to others that are
solved before it: time goes down, or a resource does. So the values of a layer follow from those of
the layers that it *reads*, by one step of backward induction (Puterman 1994, section 4.5)::

    v(s)  =  max over actions, or the value of a matrix game, of  sum of p (reward + v(next state))

and no more is ever in memory than the layers that are still to be read. The layers may be kept in
a folder (:mod:`~.folder`), and their *blocks* solved by threads or on a cluster (:mod:`~.solve`,
:mod:`~.cluster`).

A game that only has to be solved says what its layers are, what each reads, and how a block is
solved; all methods that are not abstract have a default that will do. ``solvent/games/inventory``
is such a game.

**Values** of a layer are an array of any shape, as the game likes it. :meth:`LayeredGame.place`
says where a state's value stands, and :meth:`LayeredGame.value` what it is to player 0.

**Warm starts.** A solved layer may leave an array from which others are started, so that they are
solved sooner; it is kept until they are. The values may differ by their start in the last bits, so
that a solve that goes on in a folder starts from the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.model.arrays import Floats
from solvent.model.files import StoreError
from solvent.model.parameters import shown

Layer: TypeAlias = Any
"""The key of a layer: hashable and the same everywhere, such as a number or a named tuple."""

Block: TypeAlias = tuple[int, int]
"""A part of a layer that is solved in one piece: the first and the one after the last of whatever
the game cuts its layers into."""

WarmStart: TypeAlias = NDArray[np.uint32]
"""The start of a layer's solver, such as the supports of mixed strategies as bit masks."""

Read: TypeAlias = Callable[[Layer], Floats]
"""Returns the values of a layer that is solved."""


class BlockResult(NamedTuple):
    """A block that is solved.

    Attributes:
        values: The values of its states; any shape that :meth:`LayeredGame.join` can join.
        start: Its part of what the layer leaves to start others from; None if it leaves nothing.
        largest_gap: The largest duality gap of its matrix games.
        games: Matrix games solved; a maximum, with one player, counts as one.
        constant: Its states that needed none, since whatever is chosen has the same value there.
    """

    values: Floats
    start: WarmStart | None = None
    largest_gap: float = 0.0
    games: int = 0
    constant: int = 0


class Place(NamedTuple):
    """The position of a state's value.

    Attributes:
        layer: The layer.
        at: The index in the layer's values.
    """

    layer: Layer
    at: tuple[int, ...]


class LayerSample(NamedTuple):
    """Some blocks of a layer, by which the time of all layers is estimated.

    Attributes:
        layer: The layer.
        blocks: The blocks of it that are solved.
        share: The share of the layer's work in these blocks, above 0 and at most 1.
        stands_for: Number of layers that take as long as this one.
    """

    layer: Layer
    blocks: Sequence[Block]
    share: float
    stands_for: float


class LayeredGame(ABC):
    """A game as its layers; it can be pickled, to be sent to the machines of a cluster."""

    kind: ClassVar[str]
    """The name of games of this class in a folder's manifest, such as ``"inventory"``."""

    game: Any
    """The rules, with a start that does not matter; needed beside :meth:`state_at` only."""

    # Its layers

    @property
    @abstractmethod
    def layers(self) -> Sequence[Layer]:
        """All layers, in an order in which each comes after those that it reads."""

    @abstractmethod
    def reads(self, layer: Layer) -> Sequence[Layer]:
        """The layers to which moves lead from a layer."""

    @abstractmethod
    def shape(self, layer: Layer) -> tuple[int, ...]:
        """The shape of a layer's values."""

    @abstractmethod
    def bound(self, layer: Layer) -> float:
        """No value of a layer is larger, whichever its sign; rounding aside."""

    def states(self, layer: Layer) -> int:
        """The states of a layer in which somebody chooses; all its values unless overridden."""
        return int(np.prod(self.shape(layer)))

    @property
    def n_states(self) -> int:
        """The states of all layers, as one counts them."""
        return sum(self.states(layer) for layer in self.layers)

    @property
    def opening(self) -> Sequence[Layer]:
        """The layers in which the game may begin; those that no other reads unless overridden."""
        read = {needed for layer in self.layers for needed in self.reads(layer)}
        return [layer for layer in self.layers if layer not in read]

    def name(self, layer: Layer) -> str:
        """The name of a layer's file, without its ending; it may stand in a folder, ``"a/b"``."""
        return str(layer)

    def label(self, layer: Layer) -> str:
        """Return the name of a layer in a progress bar."""
        return self.name(layer)

    # How they are solved

    @abstractmethod
    def problem(self, layer: Layer, read: Read) -> Any:
        """Compute the data that the blocks of a layer have in common.

        Args:
            layer: The layer.
            read: Returns the values of the layers that it reads.

        Returns:
            What :meth:`solve_block` takes; several threads may read it at once.
        """

    @abstractmethod
    def solve_block(
        self, problem: Any, block: Block, start: WarmStart | None = None
    ) -> BlockResult:
        """Solve a block; who solves it, and beside which others, changes nothing.

        Args:
            problem: Problem of the layer, from :meth:`problem`.
            block: The block, one of :meth:`blocks`.
            start: The block's part of that from which the layer is started; None if there is none.
        """

    def blocks(self, layer: Layer) -> Sequence[Block]:
        """The blocks of a layer; one, its whole first axis, unless overridden."""
        return [(0, self.shape(layer)[0])]

    def join(self, layer: Layer, results: Sequence[BlockResult]) -> tuple[Floats, WarmStart | None]:
        """A layer's values, and what is left to start others from.

        Args:
            layer: The layer.
            results: The results of all its blocks, in their order.
        """
        return np.concatenate([result.values for result in results]), None

    # Warm starts

    def starts_from(self, layer: Layer) -> Sequence[Layer]:
        """The layers from whose warm starts one is started; they need not exist."""
        return ()

    def start_of(self, layer: Layer, left: Sequence[WarmStart | None]) -> WarmStart | None:
        """Return the warm start of a layer; the first that there is unless overridden.

        Args:
            layer: The layer.
            left: Warm starts left by the layers of :meth:`starts_from`, None where there is none.
        """
        return next((start for start in left if start is not None), None)

    def start_shape(self, layer: Layer) -> tuple[int, ...] | None:
        """The shape of what a layer leaves to start others from; None if that is nothing."""
        return None

    def part_of(self, start: WarmStart, block: Block) -> WarmStart:
        """A block's part of what a layer is started from."""
        return start[slice(*block)]

    # Its states

    @abstractmethod
    def place(self, state: Any) -> Place | None:
        """Return where a state's value is; None for one between layers, one step before them."""

    def value(self, state: Any, stored: float) -> float:
        """The value of a state to player 0.

        Args:
            state: A state that has a place.
            stored: The value stored there.
        """
        return stored

    def state_at(self, place: Place) -> Any | None:
        """Return the state whose value stands at a place, the reverse of `place`.

        With this and the rules, as `game`, solutions can be checked state by state
        (:mod:`~.spot_check`).

        Args:
            place: A place in the values of any layer.

        Returns:
            None where the value of no state stands; everywhere unless overridden.
        """
        return None

    # Its certificate

    @abstractmethod
    def rounding(self, layer: Layer, largest: Callable[[Layer], float]) -> float:
        """A bound of the error that rounding adds in one layer.

        Args:
            layer: The layer.
            largest: Returns the largest value of a layer that is solved, whichever its sign.
        """

    # What a folder says of it

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """The parameters that the values depend on, JSON-able."""

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> LayeredGame:
        """The game of which a folder holds the solution.

        Args:
            identity: The identity that the folder states; nothing in it is certain.

        Raises:
            StoreError: If this kind of game cannot be made from its identity.
            ValueError, KeyError, TypeError, AttributeError: If the identity is damaged.
        """
        raise StoreError(f"a solution of {cls.kind} can be opened only with its game")

    def differences(self, found: Mapping[str, Any]) -> Iterable[str]:
        """Yield the differences of another game's solution from this one's.

        Args:
            found: The other's identity, of which nothing is certain.

        Returns:
            Differences in words, such as ``"horizon 3, not 4"``; none if it is the same game.
        """
        return changes(found, self.identity)

    # What solving takes

    @property
    def problem_bytes(self) -> int:
        """Bytes of memory that a problem takes besides the values that it reads, at most."""
        return 0

    def samples(self) -> Sequence[LayerSample]:
        """Blocks by which the time is estimated; those of three layers unless overridden."""
        layers = self.layers
        chosen = {layers[len(layers) * place // 6]: 0 for place in (1, 3, 5)}
        each = len(layers) / len(chosen)
        return [LayerSample(layer, self.blocks(layer), 1.0, each) for layer in chosen]

    def guess(self, layer: Layer) -> Floats:
        """Values that are like a layer's as far as time depends on them; zeros unless overridden.

        They may have one column where the layer has many, if :meth:`problem` can read them so.
        """
        return np.zeros(self.shape(layer))


def changes(
    found: Mapping[str, Any], wanted: Mapping[str, Any], missing: str = "unknown"
) -> Iterator[str]:
    """Yield the differences of two mappings, one for each entry.

    Args:
        found: The mapping found in a folder.
        wanted: The mapping that should be there.
        missing: The word for an entry that one of them lacks.
    """
    for name in sorted({*found, *wanted}):
        before, now = found.get(name, missing), wanted.get(name, missing)
        if before != now:
            yield f"{plain(name)} {plain(before)}, not {plain(now)}"


def plain(value: Any) -> str:
    """A value as text, short if it is long or has more than a line."""
    text = str(value)
    return text if len(text) <= 64 and text.isprintable() else shown(value)
