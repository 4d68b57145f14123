"""All layers of a game, one after another, each cut into blocks that are solved side by side.

The driver asks its *workers* to solve the blocks of one layer, has the game join the results, and
gives the layer to the store. Layers that the store has are passed over, so an interrupted solve
goes on where it was.

**Certificate.** A value is right but for an error that is proved layer by layer. A maximum, and the
value of a matrix game, moves no more than its largest entry, so

    error(layer)  <=  largest error of the layers it reads  +  largest duality gap  +  rounding

where the game bounds the rounding (:meth:`~.game.LayeredGame.rounding`). Bounds are not kept:
whoever needs one computes it from the layers and their gaps (:func:`proved_errors`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from solvent.exact.layered.game import Block, BlockResult, Layer, LayeredGame, Read, WarmStart
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.model.arrays import Floats

OnLayer = Callable[[Layer, LayerRecord], None]
"""Called with every layer when the store has it."""


class LayerTask(NamedTuple):
    """A layer that is to be solved, those that it reads being solved.

    Attributes:
        game: The game to which it belongs.
        layer: The layer.
        blocks: All its blocks.
        starts: The warm start of each block.
        read: Returns the values of the layers that it reads.
    """

    game: LayeredGame
    layer: Layer
    blocks: Sequence[Block]
    starts: Sequence[WarmStart | None]
    read: Read


class Workers(Protocol):
    """A solver of blocks: threads, or the processes of a cluster."""

    def keep(self, layer: Layer, values: Floats) -> None:
        """A layer is solved, or was found solved, and will be read by others."""

    def forget(self, layer: Layer) -> None:
        """A layer will be read no more."""

    def solve(self, task: LayerTask) -> Iterator[tuple[Block, BlockResult]]:
        """Solve the blocks of a layer; they may come in any order, each once."""


class Local:
    """Threads of this process.

    Args:
        threads: Number of threads.
    """

    def __init__(self, threads: int = 2) -> None:
        self.threads = threads

    def keep(self, layer: Layer, values: Floats) -> None:
        """Threads read the store's own array."""

    def forget(self, layer: Layer) -> None:
        """Do nothing, since nothing was kept."""

    def solve(self, task: LayerTask) -> Iterator[tuple[Block, BlockResult]]:
        problem = task.game.problem(task.layer, task.read)
        with ThreadPoolExecutor(self.threads) as pool:
            results = pool.map(
                lambda block, start: task.game.solve_block(problem, block, start),
                task.blocks,
                task.starts,
            )
            yield from zip(task.blocks, results, strict=True)


def solve_layers(
    game: LayeredGame,
    store: LayerStore,
    *,
    workers: Workers | None = None,
    on_layer: OnLayer | None = None,
) -> None:
    """Solve every layer that a store does not have, in the game's order.

    Args:
        game: The game.
        store: The store to write layers to, and to read those that were solved before from.
        workers: Pool that solves blocks; two threads by default.
        on_layer: Called with every layer that was solved.
    """
    workers = workers or Local()
    last_reader = {needed: layer for layer in game.layers for needed in game.reads(layer)}
    kept: set[Layer] = set()
    for layer in game.layers:
        if store.has(layer):
            continue
        for needed in game.reads(layer):
            if needed not in kept:
                workers.keep(needed, store.read(needed))
                kept.add(needed)
        record = _solve_layer(game, layer, store, workers)
        for passed in [at for at in kept if last_reader[at] == layer]:
            workers.forget(passed)
            kept.remove(passed)
        if on_layer is not None:
            on_layer(layer, record)
    store.finish()


def _solve_layer(
    game: LayeredGame, layer: Layer, store: LayerStore, workers: Workers
) -> LayerRecord:
    """Solve one layer, those that it reads being in the store, and write it."""
    blocks = game.blocks(layer)
    start = game.start_of(layer, [store.start(at) for at in game.starts_from(layer)])
    starts = [None if start is None else game.part_of(start, block) for block in blocks]
    solved = dict(workers.solve(LayerTask(game, layer, blocks, starts, store.read)))
    results = [solved[block] for block in blocks]
    record = LayerRecord(
        largest_gap=max(result.largest_gap for result in results),
        games=sum(result.games for result in results),
        constant=sum(result.constant for result in results),
    )
    store.write(layer, *game.join(layer, results), record)
    return record


def proved_errors(store: LayerStore) -> dict[Layer, float]:
    """A bound of the error of the values of every layer, from the layers and their gaps.

    Args:
        store: The store with all solved. All are read, if the game needs their largest values.
    """
    game = store.game
    errors: dict[Layer, float] = {}
    for layer in game.layers:
        before = max((errors[at] for at in game.reads(layer)), default=0.0)
        rounding = game.rounding(layer, store.largest)
        errors[layer] = before + store.record(layer).largest_gap + rounding
    return errors
