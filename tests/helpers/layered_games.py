"""A small layered game that leaves warm starts, and what tests do with the folders of any."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import (
    Block,
    BlockResult,
    Layer,
    LayeredGame,
    Place,
    Read,
    WarmStart,
)
from solvent.exact.layered.solve import solve_layers
from solvent.model import GameInfo, Outcome
from solvent.model.arrays import Floats
from solvent.model.files import StoreError

PIECES = 5
"""So many are sold in a period at the full price; what is sold beyond them brings nothing."""
DELIVERED = 3
LEVELS_IN_BLOCK = 64


class Stock(NamedTuple):
    """How many periods are left, and how many pieces."""

    left: int
    pieces: int


@dataclass(frozen=True)
class Sale:
    """Every period some pieces of a stock are sold, and then some are delivered, or none are."""

    horizon: int = 13
    capacity: int = 40
    price: int = 8
    stock: int = 0

    @property
    def info(self) -> GameInfo:
        return GameInfo(
            name="sale",
            players=1,
            actions=(tuple(f"sell {pieces}" for pieces in range(self.capacity + 1)),),
            acyclic=True,
            reward_range=(0.0, float(self.horizon * self.price * PIECES)),
            sources=(),
            parameters=tuple(vars(self).items()),
        )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), Stock(self.horizon, self.stock)),)

    def is_terminal(self, state: Stock) -> bool:
        return state.left == 0


class StartedLayers(LayeredGame):
    """The values of all stocks, by the periods left.

    Every layer leaves the numbers of its levels, to start the next and the third from.
    """

    kind = "sale"

    def __init__(self, game: Sale) -> None:
        self.game = game

    @property
    def layers(self) -> Sequence[int]:
        return range(1, self.game.horizon + 1)

    def reads(self, layer: int) -> Sequence[int]:
        return [layer - 1] if layer > 1 else []

    def shape(self, layer: int) -> tuple[int, ...]:
        return (self.game.capacity + 1,)

    def bound(self, layer: int) -> float:
        return float(layer * self.game.price * PIECES)

    def blocks(self, layer: int) -> Sequence[Block]:
        levels = self.game.capacity + 1
        return [
            (first, min(first + LEVELS_IN_BLOCK, levels))
            for first in range(0, levels, LEVELS_IN_BLOCK)
        ]

    def problem(self, layer: int, read: Read) -> Floats:
        """The expected value of what follows, by the pieces that are kept."""
        kept = np.arange(self.game.capacity + 1)
        after = read(layer - 1) if layer > 1 else np.zeros(len(kept))
        delivered = after[np.minimum(kept + DELIVERED, self.game.capacity)]
        return np.asarray((after + delivered) / 2)

    def solve_block(
        self, problem: Floats, block: Block, start: WarmStart | None = None
    ) -> BlockResult:
        levels = np.arange(*block, dtype=np.uint32)
        assert start is None or (start == levels).all()
        brings = self.game.price * np.minimum(np.arange(len(problem)), PIECES)
        values = [np.max(brings[: n + 1][::-1] + problem[: n + 1]) for n in range(*block)]
        return BlockResult(np.array(values), levels, games=len(values))

    def join(self, layer: int, results: Sequence[BlockResult]) -> tuple[Floats, WarmStart | None]:
        values, _ = super().join(layer, results)
        return values, np.concatenate([of.start for of in results if of.start is not None])

    def starts_from(self, layer: int) -> Sequence[int]:
        return layer - 1, layer - 3

    def start_shape(self, layer: int) -> tuple[int, ...]:
        return self.shape(layer)

    def place(self, state: Stock) -> Place:
        return Place(state.left, (state.pieces,))

    def rounding(self, layer: int, largest: Callable[[int], float]) -> float:
        return 4 * float(np.finfo(float).eps) * self.bound(layer)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The parameters, but for the last, which is the stock at the start."""
        return dict(self.game.info.parameters[:-1])

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> StartedLayers:
        return cls(Sale(**{name: identity[name] for name in ("horizon", "capacity", "price")}))


def shop(**parameters: Any) -> StartedLayers:
    """A sale whose periods are the layers."""
    return StartedLayers(Sale(**parameters))


class StoppedError(Exception):
    """Ends a solve before a layer is written."""


def solve_in(
    folder: Path, layers: Any, stop_before: int | None = None, keep: str | None = None
) -> int:
    """Solve what a folder lacks, and return how many layers were written."""
    written = 0

    class Counted(LayerFolder):
        def write(self, layer: Layer, *rest: Any) -> None:
            nonlocal written
            if layers.layers.index(layer) == stop_before:
                raise StoppedError
            super().write(layer, *rest)
            written += 1

    with Counted.create(folder, layers, keep) as store:
        try:
            solve_layers(layers, store)
        except StoppedError:
            assert stop_before is not None
    return written


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def any_values(layers: Any, layer: Layer, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Values and a warm start of a layer's shape."""
    rng = np.random.default_rng(seed)
    start = rng.integers(9, size=layers.start_shape(layer)).astype(np.uint32)
    return rng.random(layers.shape(layer)), start


def flip(path: Path, place: int, bit: int = 0) -> None:
    """Turn one bit of a file around."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None], *, version: int = 2) -> None:
    """Change what a manifest says, its own checksum included."""
    path = folder / "manifest.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    description.pop("sha256", None)
    description["format"] = version
    change(description)
    if version > 1:
        text = json.dumps(description, sort_keys=True)
        description["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(description), encoding="utf-8")


def refusal(attempt: Callable[[], object]) -> str:
    """The one line with which a folder is refused."""
    with pytest.raises(StoreError) as caught:
        attempt()
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 600
    return message
