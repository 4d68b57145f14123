"""Solutions of layered games that took long are kept on disk (:mod:`solvent.model.cache`).

Layers are made by code. So only games of this package are kept, found by their parameters and the
version of the code. They lie there as ``solvent solve --out`` writes them, and are read into
memory: the folder may be removed, or another process need its room, while they are used. What takes
more than the whole cache is not kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import LayeredGame
from solvent.exact.layered.resources import check_memory, values_bytes
from solvent.exact.layered.solution import LayeredSolution
from solvent.exact.layered.store import LayerStore
from solvent.model import Game, cache
from solvent.model.registry import GameSpec

Solved = TypeVar("Solved")


def cached_layers(
    game: Game, layered: LayeredGame, spec: GameSpec, make: Callable[[], Solved]
) -> Solved:
    """The solution of a game in layers: one that was found before, or else one that is found now.

    Args:
        game: The rules.
        layered: Its layers.
        spec: The spec of the game.
        make: Solves it.
    """
    place = _place(layered)
    if place is None or spec.opened is None:
        return make()
    with contextlib.suppress(OSError, ValueError):
        store = _in_memory(place, layered)
        opened: Any = spec.ask("opened", place, dict(game.info.parameters))
        if isinstance(opened, LayeredSolution):
            opened = replace(opened, store=store)
        os.utime(place)
        return opened  # type: ignore[no-any-return]
    began = time.process_time()
    solved = make()
    if time.process_time() - began > cache.LONG and isinstance(solved, LayeredSolution):
        # A disk that is full, or may not be written to, is no reason not to solve.
        with contextlib.suppress(OSError, ValueError):
            _keep(solved, place)
    return solved


def is_kept(layered: LayeredGame) -> bool:
    """Return whether the solution of a game in layers was kept before."""
    place = _place(layered)
    return place is not None and place.exists()


def _place(layered: LayeredGame) -> Path | None:
    """The folder of a game's layers; None if they are not kept."""
    if values_bytes(layered) > cache.MOST_BYTES:
        return None
    if not type(layered).__module__.startswith("solvent."):
        return None
    try:
        text = json.dumps([layered.kind, dict(layered.identity)], sort_keys=True)
    except (TypeError, ValueError):  # Objects have no text that tells them from each other.
        return None
    return cache.entry_path({"what": "layers", "of": text})


def _in_memory(place: Path, layered: LayeredGame) -> LayerStore:
    """The layers that lie in a folder, each checked."""
    check_memory(values_bytes(layered))
    store = LayerStore(layered)
    with LayerFolder.open(place, layered) as kept:
        for layer in layered.layers:
            store.write(layer, np.array(kept.read(layer)), None, kept.record(layer))
    return store


def _keep(solved: LayeredSolution, place: Path) -> None:
    """Write the layers of a solution beside its place, then move them there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    cache.make_room(place.parent, values_bytes(solved.layered))
    beside = place.with_name(f".solvent-{secrets.token_hex(8)}")
    try:
        with LayerFolder.create(beside, solved.layered) as store:
            for layer in solved.layered.layers:
                store.write(layer, solved.values(layer), None, solved.store.record(layer))
            store.finish()
        shutil.rmtree(place, ignore_errors=True)
        beside.rename(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
