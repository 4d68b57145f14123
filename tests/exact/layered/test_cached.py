"""Solutions in layers are kept by what tells a game from every other, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent.exact.layered import solve as solving
from solvent.exact.layered.solve import LayeredSolution, is_kept, solve_in_memory
from solvent.games.inventory.layers import InventoryLayers
from solvent.games.inventory.rules import Inventory
from solvent.model import cache
from solvent.model.cache import Packed, read_entry, write_entry


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every solution is kept."""
    monkeypatch.setattr(cache, "LONG", -1.0)
    monkeypatch.setenv("SOLVENT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Taxed(InventoryLayers):
    """Its values depend on a tax."""

    __module__ = "solvent.taxed"  # Only the package's own games are kept.
    tax: Any = 0.5

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**super().identity, "tax": self.tax}


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("solved again")


def test_a_kept_solution_is_the_one_that_was_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = Taxed(Inventory(horizon=4, capacity=5))
    first = LayeredSolution(solve_in_memory(layers), layers.game)
    assert is_kept(layers)
    monkeypatch.setattr(solving, "solve_layers", never)
    second = LayeredSolution(solve_in_memory(layers), layers.game)
    for layer in layers.layers:
        np.testing.assert_array_equal(second.values(layer), first.values(layer))
        assert second.store.record(layer) == first.store.record(layer)
    assert (second.lower, second.upper) == (first.lower, first.upper)
    # An entry that lacks a record is not believed.
    [entry] = folder.iterdir()
    header, arrays = read_entry(entry)  # type: ignore[misc]
    write_entry(entry, Packed({"records": header["records"][:-1]}, arrays))
    with pytest.raises(AssertionError, match="solved again"):
        solve_in_memory(layers)
    layers.tax = 0.6
    with pytest.raises(AssertionError, match="solved again"):
        solve_in_memory(layers)


def test_only_what_json_can_say_tells_a_game(folder: Path) -> None:
    """Objects of one text may be different ones, and a text with an address is never the same."""
    layers = Taxed(Inventory(horizon=2, capacity=3))
    for tax, kept in ((0.5, True), ("1/2", True), (Fraction(1, 2), False), (object(), False)):
        layers.tax = tax
        solve_in_memory(layers)
        assert is_kept(layers) == kept, tax
