"""The cost of solving a game, before it is begun: disk, memory, traffic, and time.

Disk, memory and traffic follow from the shapes of the layers. The time, and how far values can be
compressed, are measured on a *sample*: a few blocks of some layers that the game names
(:meth:`~.game.LayeredGame.samples`) are solved as they will be, one thread at work. The values that
such a layer reads are not known yet, so the game makes them up (:meth:`~.game.LayeredGame.guess`).

Blocks are compressed by themselves, which takes some more room than a layer in one piece.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from solvent.exact.layered.compact import pack
from solvent.exact.layered.game import LayeredGame, LayerSample, WarmStart
from solvent.exact.layered.resources import disk_bytes, memory_bytes, start_bytes, values_bytes
from solvent.exact.layered.store import KEEPS


class Sample(NamedTuple):
    """The measurements.

    Attributes:
        games: Matrix games that were solved for it.
        seconds: Processor time that they took, in seconds.
        core_seconds: Processor time that the whole game will take, by that, in seconds.
        packed: Bytes that a value takes in a compact file, by that.
    """

    games: int
    seconds: float
    core_seconds: float
    packed: float


class Room(NamedTuple):
    """The disk and memory that a solve takes.

    Attributes:
        disk: Bytes of the folder, at most while it is solved.
        memory: Bytes of memory, on the machine that keeps the layers.
    """

    disk: int
    memory: int


@dataclass(frozen=True)
class Plan:
    """The cost of solving a game.

    Attributes:
        states: Number of states, as the game counts them.
        games: Matrix games at most; states in which nothing can change any more need none.
        layers: The last write of each is a point to go on from.
        disk: Bytes of the folder, at most while it is solved.
        memory: Bytes of memory, on the machine that keeps the layers.
        kept: Disk and memory for each of :data:`~.store.KEEPS` that can be chosen.
        sent: Bytes that each other machine of a cluster gets, all in all.
        returned: Bytes that all of them together give back.
        sample: The sample from which the time is estimated.
    """

    states: int
    games: int
    layers: int
    disk: int
    memory: int
    kept: dict[str, Room]
    sent: int
    returned: int
    sample: Sample


def make_plan(game: LayeredGame, *, in_folder: bool = True, keep: str = "all") -> Plan:
    """Count, and measure a sample, which takes some seconds.

    Args:
        game: The game to solve.
        in_folder: Whether layers are to be kept in a folder, not in memory.
        keep: The values to keep, one of :data:`~.store.KEEPS`.
    """
    sample = measure(game)
    kept = {
        each: Room(
            disk_bytes(game, keep=each, packed=sample.packed) if in_folder else 0,
            memory_bytes(game, in_folder=in_folder, keep=each),
        )
        for each in KEEPS
        if in_folder or each != "compact"
    }
    moved = values_bytes(game) + sum(start_bytes(game, layer) for layer in game.layers)
    return Plan(
        states=game.n_states,
        games=sum(game.states(layer) for layer in game.layers),
        layers=len(game.layers),
        disk=kept[keep].disk,
        memory=kept[keep].memory,
        kept=kept,
        sent=moved,
        returned=moved,
        sample=sample,
    )


def measure(game: LayeredGame) -> Sample:
    """Solve some blocks of some layers, and conclude from them what all will take."""
    games, seconds, core_seconds, values, packed = 0, 0.0, 0.0, 0.0, 0.0
    for sample in game.samples():
        once, of_blocks, solved, of_value = _cost(game, sample)
        core_seconds += sample.stands_for * (once + of_blocks / sample.share)
        games += solved
        seconds += once + of_blocks
        size = sample.stands_for * prod(game.shape(sample.layer))
        values += size
        packed += size * of_value
    return Sample(games, seconds, core_seconds, packed / values)


def _cost(game: LayeredGame, sample: LayerSample) -> tuple[float, float, int, float]:
    """Measure a layer's blocks when they start from those of the layers before.

    Returns:
        Seconds of processor time, once for the layer and for its blocks; the matrix games solved;
        and the bytes of a value when it is packed.
    """
    left: list[list[WarmStart | None]] = []  # Of each of those layers, the blocks' parts.
    for before in game.starts_from(sample.layer):
        if before in game.layers:
            warmed = game.problem(before, game.guess)
            near = left[-1] if left else [None] * len(sample.blocks)
            pairs = zip(sample.blocks, near, strict=True)
            left.append([game.solve_block(warmed, *pair).start for pair in pairs])
    starts = [
        game.start_of(sample.layer, [of[i] for of in left]) for i in range(len(sample.blocks))
    ]
    began = time.process_time()
    problem = game.problem(sample.layer, game.guess)
    prepared = time.process_time()
    pairs = zip(sample.blocks, starts, strict=True)
    solved = [game.solve_block(problem, *pair) for pair in pairs]
    seconds = time.process_time() - prepared
    largest = max(float(np.abs(block.values).max()) for block in solved)
    packed = sum(len(pack(block.values, largest)) for block in solved)
    values = sum(block.values.size for block in solved)
    games = sum(block.games for block in solved)
    return prepared - began, seconds, games, packed / values
