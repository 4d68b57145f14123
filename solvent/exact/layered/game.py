"""Games that are layered in time, so that they can be solved layer by layer.

The states of such a game fall into *layers*, and every move leads from a layer to layers that are
solved before it: time runs out, or a resource does. So the values of a layer follow from those of
the layers that it *reads*, by one step of backward induction (Puterman 1994, section 4.5)::

    v(s)  =  max over actions, or the value of a matrix game, of  sum of p (reward + v(next state))

and memory has to hold only the layers that are still to be read. The layers may be kept in a folder
(:mod:`~.folder`), and their *blocks* solved by threads or on a cluster (:mod:`~.solve`,
:mod:`~.cluster`).

To be solved, a game needs only the abstract methods, such as its layers, what each reads, and how a
block is solved. All other methods have defaults. ``solvent/games/inventory`` is an example.

**Values** of a layer are an array of any shape. :meth:`LayeredGame.place` returns where a state's
value is stored, and :meth:`LayeredGame.value` the value to player 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from solvent.model.arrays import Floats
from solvent.model.files import StoreError

Layer: TypeAlias = Any
"""The key of a layer: hashable and the same everywhere, such as a number or a named tuple."""

Block: TypeAlias = tuple[int, int]
"""A part of a layer that is solved in one piece: its first index and the index after its last, in
units that the game chooses."""

Read: TypeAlias = Callable[[Layer], Floats]
"""Returns the values of a solved layer."""


class BlockResult(NamedTuple):
    """A solved block.

    Attributes:
        values: Values of the block's states, in any shape that :meth:`LayeredGame.join` can join.
        largest_gap: Largest duality gap of the block's matrix games.
        games: Number of matrix games solved; a maximum, with one player, counts as one.
    """

    values: Floats
    largest_gap: float = 0.0
    games: int = 0


class LayerPlace(NamedTuple):
    """The position of a state's value.

    Attributes:
        layer: The layer.
        at: The index in the layer's values.
    """

    layer: Layer
    at: tuple[int, ...]


class LayerSample(NamedTuple):
    """Some blocks of a layer, from which the time of all layers is estimated.

    Attributes:
        layer: The layer.
        blocks: The blocks to solve.
        share: The share of the layer's work in these blocks, above 0 and at most 1.
        stands_for: Number of layers that take as long as this one.
    """

    layer: Layer
    blocks: Sequence[Block]
    share: float
    stands_for: float


class LayeredGame(ABC):
    """A game in layers. Its objects can be pickled, to be sent to the machines of a cluster."""

    kind: ClassVar[str]
    """The name of games of this class in a folder's manifest, such as ``"inventory"``."""

    game: Any
    """The rules, with any start; needed only if :meth:`state_at` is overridden."""

    # Layers

    @property
    @abstractmethod
    def layers(self) -> Sequence[Layer]:
        """All layers, in an order in which each comes after those that it reads."""

    @abstractmethod
    def reads(self, layer: Layer) -> Sequence[Layer]:
        """Return the layers to which moves lead from a layer."""

    @abstractmethod
    def shape(self, layer: Layer) -> tuple[int, ...]:
        """Return the shape of a layer's values."""

    @abstractmethod
    def bound(self, layer: Layer) -> float:
        """Return the largest possible absolute value in a layer, apart from rounding."""

    def states(self, layer: Layer) -> int:
        """Return the number of states with a choice in a layer; by default of all its values."""
        return int(np.prod(self.shape(layer)))

    @property
    def n_states(self) -> int:
        """The number of states with a choice in all layers."""
        return sum(self.states(layer) for layer in self.layers)

    @property
    def opening(self) -> Sequence[Layer]:
        """The layers in which the game may begin; by default those that no other reads."""
        read = {needed for layer in self.layers for needed in self.reads(layer)}
        return [layer for layer in self.layers if layer not in read]

    def name(self, layer: Layer) -> str:
        """Return the name of a layer, such as ``"a"`` or ``"a/b"``: that of its file, too."""
        return str(layer)

    # Solving

    @abstractmethod
    def problem(self, layer: Layer, read: Read) -> Any:
        """Compute the data that the blocks of a layer have in common.

        Args:
            layer: The layer.
            read: Returns the values of a layer that this one reads.

        Returns:
            The data for :meth:`solve_block`, which several threads may read at once.
        """

    @abstractmethod
    def solve_block(self, problem: Any, block: Block) -> BlockResult:
        """Solve a block. The result must not depend on where it is solved, or on other blocks.

        Args:
            problem: Problem of the layer, from :meth:`problem`.
            block: The block, one of :meth:`blocks`.
        """

    def blocks(self, layer: Layer) -> Sequence[Block]:
        """Return the blocks of a layer; by default one, its whole first axis."""
        return [(0, self.shape(layer)[0])]

    def join(self, layer: Layer, results: Sequence[BlockResult]) -> Floats:
        """Return a layer's values.

        Args:
            layer: The layer.
            results: The results of all its blocks, in their order.
        """
        return np.concatenate([result.values for result in results])

    # States

    @abstractmethod
    def place(self, state: Any) -> LayerPlace | None:
        """Return where a state's value is stored; None for states between layers."""

    def value(self, state: Any, stored: float) -> float:
        """Return the value of a state to player 0.

        Args:
            state: A state that has a place.
            stored: The value stored there.
        """
        return stored

    def state_at(self, place: LayerPlace) -> Any | None:
        """Return the state whose value is stored at a place: the inverse of `place`.

        With this and the rules, as `game`, solutions can be checked state by state
        (:mod:`~.spot_check`).

        Args:
            place: A place in the values of any layer.

        Returns:
            The state; None where the value of no state is stored, and by default everywhere.
        """
        return None

    # Certificate

    @abstractmethod
    def rounding(self, layer: Layer, largest: Callable[[Layer], float]) -> float:
        """Return a bound of the error that rounding adds in one layer.

        Args:
            layer: The layer.
            largest: Returns the largest absolute value in a solved layer.
        """

    # Identity in a folder

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """The parameters that the values depend on, JSON-able."""

    @classmethod
    def of(cls, game: Any) -> LayeredGame | None:
        """Return the layers of a game; None for a form of it that is not layered in time.

        Args:
            game: The rules; by default the only argument of the class.
        """
        kind: Any = cls
        layered: LayeredGame = kind(game)
        return layered

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> LayeredGame:
        """Return the game whose solution a folder holds.

        Args:
            identity: The identity that the folder states, which is not to be trusted.

        Raises:
            StoreError: If this kind of game cannot be made from its identity.
            ValueError, KeyError, TypeError, AttributeError: If the identity is damaged.
        """
        raise StoreError(f"a solution of {cls.kind} can be opened only with its game")

    @classmethod
    def compared(cls, identity: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the entries of an identity that are the same in all solutions of a game.

        Args:
            identity: An identity, which is not to be trusted; by default all of it counts.

        Raises:
            KeyError, TypeError: If the identity is damaged.
        """
        return identity

    # Cost of solving

    @property
    def problem_bytes(self) -> int:
        """Largest size of a problem in bytes, besides the values that it reads."""
        return 0

    def samples(self) -> Sequence[LayerSample]:
        """Return blocks from which the time is estimated; by default those of three layers."""
        layers = self.layers
        chosen = dict.fromkeys(layers[len(layers) * place // 6] for place in (1, 3, 5))
        each = len(layers) / len(chosen)
        return [LayerSample(layer, self.blocks(layer), 1.0, each) for layer in chosen]

    def guess(self, layer: Layer) -> Floats:
        """Return values that stand in for a layer's when time is estimated; by default zeros.

        They may have one column where the layer has many, if :meth:`problem` can read that.
        """
        return np.zeros(self.shape(layer))
