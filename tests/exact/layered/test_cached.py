"""Solutions in layers are kept by what tells a game from every other, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent.exact.layered.cached import cached_layers
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solution import LayeredSolution
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.exact.store import StoreError
from solvent.games.inventory.layers import InventoryLayers
from solvent.games.inventory.rules import Inventory
from solvent.model import cache
from solvent.model.registry import GameSpec

SPEC = GameSpec(name="inventory", make=Inventory, opened="solvent.games.inventory.layers:opened")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every solution is kept, as if the shop stood in a package."""
    monkeypatch.setattr(cache, "LONG", -1.0)
    monkeypatch.setattr(cache, "entry_path", lambda *_: tmp_path / "cache" / ("0" * 64))
    return tmp_path / "cache"


def solved(layers: InventoryLayers) -> LayeredSolution:
    def make() -> LayeredSolution:
        store = LayerStore(layers)
        solve_layers(layers, store)
        return LayeredSolution(store, layers.game)

    return cached_layers(layers.game, layers, SPEC, make)


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("solved again")


def test_a_kept_solution_is_read_whole_so_that_it_may_be_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = InventoryLayers(Inventory(horizon=4, capacity=5))
    first = solved(layers)
    monkeypatch.setitem(globals(), "solve_layers", never)
    second = solved(layers)
    shutil.rmtree(folder)
    for layer in layers.layers:
        np.testing.assert_array_equal(second.values(layer), first.values(layer))
    assert (second.lower, second.upper) == (first.lower, first.upper)


def test_a_full_disk_is_no_reason_not_to_solve(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise StoreError("cannot be written (No space left on device)")

    monkeypatch.setattr(LayerFolder, "write", full)
    assert solved(InventoryLayers(Inventory(horizon=4, capacity=5))).value
    assert list(folder.iterdir()) == []


class Taxed(InventoryLayers):
    """Its values depend on a tax."""

    __module__ = "solvent.taxed"  # Only the package's own games are kept.
    tax: Any = 0.5

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**super().identity, "tax": self.tax}


@pytest.mark.parametrize(
    ("tax", "kept"), [(0.5, True), ("1/2", True), (Fraction(1, 2), False), (object(), False)]
)
def test_only_what_json_can_say_tells_a_game(
    tax: Any, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects of one text may be different ones, and a text with an address is never the same."""
    asked: list[Mapping[str, Any]] = []
    monkeypatch.setattr(
        cache, "entry_path", lambda identity: asked.append(identity) or tmp_path / "nothing"
    )
    layers = Taxed(Inventory(horizon=2, capacity=3))
    layers.tax = tax
    assert cached_layers(layers.game, layers, SPEC, lambda: "solved") == "solved"
    assert bool(asked) == kept
