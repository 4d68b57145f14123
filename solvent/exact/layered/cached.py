"""Solutions of layered games that took long are kept on disk (:mod:`solvent.model.cache`).

Layers are made by code. So they are found by the parameters of the game and the files of its
package, and they lie there as ``solvent solve --out`` writes them.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import LayeredGame
from solvent.exact.layered.solution import LayeredSolution
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
        spec: Of the game.
        make: Solves it.
    """
    place = _place(layered)
    if place is None or spec.opened is None:
        return make()
    with contextlib.suppress(OSError, ValueError):
        LayerFolder.open(place, layered, verify=True).close()
        opened: Solved = spec.ask("opened", place, dict(game.info.parameters))
        os.utime(place)
        return opened
    began = time.process_time()
    solved = make()
    if time.process_time() - began > cache.LONG and isinstance(solved, LayeredSolution):
        # A disk that is full, or may not be written to, is no reason not to solve.
        with contextlib.suppress(OSError, ValueError):
            _keep(solved, place)
            cache.make_room(place.parent)
    return solved


def _place(layered: LayeredGame) -> Path | None:
    """The folder of a game's layers; None if they are not kept."""
    package = type(layered).__module__.partition(".")[0]
    try:
        text = json.dumps([layered.kind, dict(layered.identity)], sort_keys=True)
    except (TypeError, ValueError):  # Objects have no text that tells them from each other.
        return None
    return cache.entry_path({"what": "layers", "of": text}, [package])


def _keep(solved: LayeredSolution, place: Path) -> None:
    """Write the layers of a solution beside its place, then move them there."""
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
