"""A game solved layer by layer, the blocks of each layer in parallel.

The driver asks its *workers* to solve the blocks of a layer, has the game join the results, and
writes the layer to the store. Layers that the store has are skipped, so an interrupted solve
continues where it stopped.

**Certificate.** The error of values is bounded layer by layer. A maximum, or the value of a matrix
game, changes by no more than the largest change of an entry, so

    error(layer)  <=  largest error of the layers it reads  +  largest duality gap  +  rounding

where the game bounds the rounding (:meth:`~.game.LayeredGame.rounding`). Bounds are not stored:
:func:`proved_errors` computes them from the layers and their gaps.

**The solution** (:class:`LayeredSolution`) is a :class:`~solvent.exact.solver.SolvedGame`. Layers
hold values only. The action values of a state, and an optimal strategy in it, follow from the
values of its successors, by one step of expectation and one matrix game.

If layers are stored rounded (:func:`~.store.pack`), the value of the start is as accurate as
without rounding, and the error of every other value grows by that of the rounding
(:meth:`LayeredSolution.error_of`). Values that are computed from rounded ones are no worse, since a
maximum or a matrix game changes by no more than its entries.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import (
    Block,
    BlockResult,
    Layer,
    LayeredGame,
    Read,
)
from solvent.exact.layered.plan import check_memory, memory_bytes
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.exact.matrix_game import solve_matrix_games
from solvent.model.arrays import Floats
from solvent.model.cache import Packed, entry_path, kept
from solvent.model.parameters import as_options, shown
from solvent.model.progress import OnProgress, ProgressReporter

OnLayer = Callable[[Layer, LayerRecord], None]
"""Called with every layer once the store has it."""


class Workers:
    """A pool that solves blocks, by threads of this process unless a subclass does otherwise.

    Args:
        threads: Number of threads.
    """

    def __init__(self, threads: int = 2) -> None:
        self.threads = threads

    def solve(
        self, game: LayeredGame, layer: Layer, blocks: Sequence[Block], read: Read
    ) -> Iterator[tuple[Block, BlockResult]]:
        """Solve the blocks of a layer; yield each once with its result, in any order.

        Args:
            game: The game.
            layer: The layer.
            blocks: Its blocks.
            read: Returns the values of a layer that this one reads.
        """
        problem = game.problem(layer, read)
        with ThreadPoolExecutor(self.threads) as pool:
            yield from zip(
                blocks, pool.map(partial(game.solve_block, problem), blocks), strict=True
            )


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
        store: The store that layers are written to, and solved ones are read from.
        workers: The pool that solves blocks; two threads by default.
        on_layer: Called with every layer that is solved now.
    """
    workers = workers or Workers()
    for layer in game.layers:
        if store.has(layer):
            continue
        blocks = game.blocks(layer)
        solved = dict(workers.solve(game, layer, blocks, store.read))
        results = [solved[block] for block in blocks]
        record = LayerRecord(
            largest_gap=max(result.largest_gap for result in results),
            games=sum(result.games for result in results),
        )
        store.write(layer, game.join(layer, results), record)
        if on_layer is not None:
            on_layer(layer, record)
    store.finish()


def proved_errors(store: LayerStore) -> dict[Layer, float]:
    """Return a bound of the error of the values of every layer, from the layers and their gaps.

    Args:
        store: A complete store. Its layers are read if the game needs their largest values.
    """
    game = store.game
    errors: dict[Layer, float] = {}
    for layer in game.layers:
        before = max((errors[at] for at in game.reads(layer)), default=0.0)
        rounding = game.rounding(layer, store.largest)
        errors[layer] = before + store.record(layer).largest_gap + rounding
    return errors


@dataclass(frozen=True, eq=False)
class LayeredSolution:
    """The solution of a game in layers.

    Args:
        store: The complete store, in memory or in a folder.
        game: The rules, with the start whose value is wanted.
    """

    layered_game: ClassVar[type[LayeredGame]]
    """The class of the layers. A subclass sets it, and the spec of the game names that subclass."""

    store: LayerStore
    game: Any

    @classmethod
    def of(cls, game: Any, *, progress: OnProgress | None = None) -> Self:
        """Solve a game in memory.

        Args:
            game: The rules, with the start that is meant.
            progress: Called with the states solved so far.

        Raises:
            ValueError: If this form of the game is not layered in time.
            ResourceError: If it takes more memory than there is.
        """
        return cls(solve_in_memory(cls._layers_of(game), progress=progress), game)

    @classmethod
    def open(cls, folder: str | Path, game: Any = None) -> Self:
        """Open a solution in a folder.

        Args:
            folder: Folder of the solution.
            game: The game that it must solve, with the start that is meant; any game, from its
                usual start, if None.

        Raises:
            ValueError: If this form of the game is not layered in time.
            StoreError: If there is none, it is of another game, not finished, or damaged.
        """
        layered = cls.layered_game if game is None else cls._layers_of(game)
        store = LayerFolder.open(folder, layered)
        return cls(store, store.game.game if game is None else game)

    @classmethod
    def _layers_of(cls, game: Any) -> LayeredGame:
        layered = cls.layered_game.of(game)
        if layered is None:
            options = as_options(dict(game.info.parameters))
            raise ValueError(f"{game.info.name} {options} is not solved layer by layer")
        return layered

    def game_with(self, parameters: Mapping[str, Any]) -> Any:
        """Return the rules with other parameters, such as another start.

        Args:
            parameters: The parameters; those left out are as they were solved.

        Raises:
            ValueError: If a parameter is not allowed.
        """
        return type(self.game)(**{**dict(self.game.info.parameters), **parameters})

    @property
    def layered(self) -> LayeredGame:
        """The game in layers."""
        return self.store.game

    @cached_property
    def value(self) -> float:
        """The value of the start to player 0."""
        return sum(
            float(outcome.probability) * self.value_of(outcome.state)
            for outcome in self.game.initial()
        )

    @property
    def method(self) -> str:
        """The method of the solver, and which values are kept if not all are."""
        off = max(map(self.store.rounded_off, self.layered.layers))
        note = {
            "compact": f"; values of other positions than the start are kept within {off:.2g}",
            "start": "; the value of the start alone is kept",
        }
        return f"backward induction layer by layer{note.get(self.store.keep, '')}"

    @cached_property
    def error(self) -> float:
        """Proved bound of the error of `value`."""
        starts = self.game.initial()
        error = max(self.error_of(outcome.state) for outcome in starts)
        if len(starts) == 1:
            return error
        unit = float(np.finfo(float).eps) / 2
        largest = max(abs(self.value_of(outcome.state)) for outcome in starts)
        return error + 2 * (len(starts) + 2) * unit * largest

    @cached_property
    def errors(self) -> dict[Layer, float]:
        """Proved bound of the error of the values of every layer."""
        return proved_errors(self.store)

    @property
    def lower(self) -> float:
        """A proved lower bound of the value."""
        return self.value - self.error

    @property
    def upper(self) -> float:
        """A proved upper bound of the value."""
        return self.value + self.error

    def values(self, layer: Layer) -> Floats:
        """Return the values of a layer as they are stored."""
        return self.store.read(layer)

    def value_of(self, state: Any) -> float:
        """Return the expected return to player 0 from a state on, which is 0 in a terminal state.

        Raises:
            ValueError: If the state's place is outside its layer, so that there is no such state.
        """
        if self.game.is_terminal(state):
            return 0.0
        place = self.layered.place(state)
        if place is not None:
            shape = self.layered.shape(place.layer)
            # A negative index would read the value of another state.
            if not all(0 <= at < length for at, length in zip(place.at, shape, strict=True)):
                raise ValueError(f"{shown(state)} is not a state of {self.game.info.name}")
            return self.layered.value(state, self.store.value_at(place))
        return float(solve_matrix_games(self._payoffs(state)[None]).value[0])

    def error_of(self, state: Any) -> float:
        """Return a proved bound of the error of :meth:`value_of` in a state.

        Args:
            state: Any state of the game.
        """
        if self.game.is_terminal(state):
            return 0.0
        place = self.layered.place(state)
        if place is not None:
            return self.errors[place.layer] + self.store.rounded_off(place.layer)
        outcomes = [
            outcome
            for joint in product(*self.game.legal_actions(state))
            for outcome in self.game.transition(state, joint)
        ]
        largest = max(
            abs(float(outcome.reward)) + abs(self.value_of(outcome.state)) for outcome in outcomes
        )
        rounding = (2 * len(outcomes) + 8) * float(np.finfo(float).eps) * largest
        return max(self.error_of(outcome.state) for outcome in outcomes) + rounding

    def action_values(self, state: Any, player: int) -> Mapping[int, float]:
        """Return the value of each legal action of a player against optimal play of the other.

        Args:
            state: A state that is not terminal.
            player: 0 or 1.

        Returns:
            Values to player 0, by action.
        """
        payoffs = self._payoffs(state)
        solved = solve_matrix_games(payoffs[None])[0]
        values = payoffs @ solved.column_strategy if player == 0 else solved.row_strategy @ payoffs
        return self._by_action(state, player, values)

    def policy(self, state: Any, player: int) -> Mapping[int, float]:
        """Return an optimal strategy of a player in a state.

        Args:
            state: A state that is not terminal.
            player: 0 or 1.

        Returns:
            The probability of every legal action.
        """
        solved = solve_matrix_games(self._payoffs(state)[None])[0]
        return self._by_action(state, player, (solved.row_strategy, solved.column_strategy)[player])

    def _payoffs(self, state: Any) -> Floats:
        """Return the value to player 0 of each joint action: [m, n], or [m, 1] for one player."""
        legal = self.game.legal_actions(state)
        payoffs = [
            sum(
                float(after.probability) * (float(after.reward) + self.value_of(after.state))
                for after in self.game.transition(state, joint)
            )
            for joint in product(*legal)
        ]
        return np.array(payoffs, float).reshape(len(legal[0]), -1)

    def _by_action(self, state: Any, player: int, numbers: Floats) -> Mapping[int, float]:
        legal = self.game.legal_actions(state)[player]
        return dict(zip(legal, numbers.tolist(), strict=True))


def solve_in_memory(game: LayeredGame, *, progress: OnProgress | None = None) -> LayerStore:
    """Return the cached solution of a game, or solve it in memory with two threads.

    A solution that took long is cached on disk (:mod:`solvent.model.cache`), if the game is one of
    this package, by its identity and the version of the code.

    Args:
        game: The game.
        progress: Called with the states solved so far (:class:`~solvent.model.Progress`, phase
            ``"solving"``).

    Raises:
        ResourceError: If there is too little memory.
    """
    check_memory(memory_bytes(game, in_folder=False))

    def solved() -> LayerStore:
        store = LayerStore(game)
        report = ProgressReporter(progress, "solving", sum(map(game.states, game.layers)))
        done = 0

        def on_layer(layer: Layer, record: LayerRecord) -> None:
            nonlocal done
            done += game.states(layer)
            report(done)

        solve_layers(game, store, on_layer=on_layer)
        return store

    def packed(store: LayerStore) -> Packed:
        arrays = {str(n): store.read(layer) for n, layer in enumerate(game.layers)}
        return Packed({"records": [store.record(layer) for layer in game.layers]}, arrays)

    def unpacked(content: Packed) -> LayerStore:
        store = LayerStore(game)
        records = zip(game.layers, content.header["records"], strict=True)
        for n, (layer, record) in enumerate(records):
            store.write(layer, content.arrays[str(n)], LayerRecord(*record))
        return store

    identity = _identity(game)
    return solved() if identity is None else kept(identity, solved, packed, unpacked)


def is_kept(game: LayeredGame) -> bool:
    """Return whether the solution of a game in layers is cached."""
    identity = _identity(game)
    path = None if identity is None else entry_path(identity)
    return path is not None and path.exists()


def _identity(game: LayeredGame) -> dict[str, Any] | None:
    """Return the JSON-able identity of a game's layers; None if the game cannot be cached."""
    identity = {"what": "layers", "kind": game.kind, "of": dict(game.identity)}
    try:
        json.dumps(identity)
    except (TypeError, ValueError):  # Objects have no text that identifies them.
        return None
    return identity if type(game).__module__.startswith("solvent.") else None
