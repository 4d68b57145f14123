"""What a solve takes, said before it begins: counts that come true, and refusals with figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from timed_football import SMALL, tiny

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.plan import make_plan
from solvent.exact.layered.resources import (
    values_bytes,
)
from solvent.exact.layered.solve import solve_layers
from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import FormLayout

FORMS = [
    ("two-minutes", {"stops": [30], "timeouts": 1}),
    ("half", {}),
    ("second-half", {"half": 30, "timeouts": 2}),
    ("full", {"half": 30, "timeouts": 1}),
]


@pytest.mark.parametrize(("form", "clock"), FORMS)
def test_a_plan_counts_what_is_then_solved(
    form: str, clock: dict[str, object], tmp_path: Path
) -> None:
    layers = FootballLayers.of(tiny(form, SMALL, **clock))
    plan = make_plan(layers)
    largest = 0

    def measure(*_: object) -> None:
        nonlocal largest
        sizes = [path.stat().st_size for path in (tmp_path / "x").rglob("*") if path.is_file()]
        largest = max(largest, sum(sizes))

    with LayerFolder.create(tmp_path / "x", layers) as store:
        solve_layers(layers, store, on_layer=measure)
    constant = sum(store.record(layer).constant for layer in layers.layers)
    assert plan.games == store.games + constant
    assert plan.layers == len(layers.layers)
    assert plan.states == layers.layout.states
    assert plan.disk >= largest - 20_000  # What the manifest has besides records.
    assert values_bytes(layers) < plan.disk
    assert plan.sent >= values_bytes(layers)
    assert 0 < plan.sample.games <= plan.games * 3
    assert plan.sample.core_seconds > 0


def test_a_plan_knows_how_far_values_can_be_compressed(tmp_path: Path) -> None:
    """It said 2 bytes a value, whatever the game: for the whole game 26 GB, where it takes 3.4."""
    rules, clock = pack_rules(load_chart("standard"), Ruleset()), ClockRules(timeouts=0)
    layers = FootballLayers(FormLayout(rules, clock, "half", 30))
    kept = make_plan(layers).kept
    with LayerFolder.create(tmp_path, layers, "compact") as store:
        solve_layers(layers, store)
    taken = sum(path.stat().st_size for path in tmp_path.rglob("*.zlib"))
    planned = kept["compact"].disk - kept["start"].disk
    assert taken < planned < 1.6 * taken
