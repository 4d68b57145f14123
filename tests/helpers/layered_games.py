"""A small layered game that leaves warm starts, and what tests do with the folders of any."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Layer
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import KEEPS
from solvent.games.inventory.layers import InventoryLayers
from solvent.games.inventory.rules import Inventory
from solvent.model.files import StoreError


class Sale(InventoryLayers):
    """An inventory under a name of its own."""

    kind = "sale"


def shop(**parameters: Any) -> Sale:
    """An inventory of 13 periods and up to 40 goods, if the parameters do not say otherwise."""
    return Sale(Inventory(**{"horizon": 13, "capacity": 40, **parameters}))


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


def solve_each(folder: Path, layers: Any) -> dict[str, Path]:
    """Finished solutions below a folder, one of each kind of what is kept."""
    folders = {keep: folder / "below" / keep for keep in KEEPS}
    for keep, place in folders.items():
        solve_in(place, layers, keep=keep)
    return folders


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def any_values(layers: Any, layer: Layer, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(layers.shape(layer))


def flip(path: Path, place: int, bit: int = 0) -> None:
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
