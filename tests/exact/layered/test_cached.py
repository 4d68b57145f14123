"""Solutions in layers are kept by what tells a game from every other, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from inventory import Inventory
from layered_games import StartedLayers

from solvent.exact.layered.cached import cached_layers
from solvent.model import cache
from solvent.model.registry import GameSpec

SPEC = GameSpec(name="inventory", make=Inventory, opened="inventory:opened")


class Taxed(StartedLayers):
    """Its values depend on a tax."""

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
        cache, "entry_path", lambda identity, _: asked.append(identity) or tmp_path / "nothing"
    )
    layers = Taxed(Inventory(horizon=2, capacity=3))
    layers.tax = tax
    assert cached_layers(layers.game, layers, SPEC, lambda: "solved") == "solved"
    assert bool(asked) == kept
