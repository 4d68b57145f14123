"""What a solve takes, said before it begins: counts that come true, and refusals with figures."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from timed_football import SMALL, tiny

from solvent.exact.layered import resources
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.plan import make_plan
from solvent.exact.layered.resources import (
    ResourceError,
    check_disk,
    check_memory,
    disk_bytes,
    free_disk,
    free_memory,
    gigabytes,
    memory_bytes,
    values_bytes,
)
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.football_clock.layers import FootballLayers

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


def test_the_sample_solves_the_games_of_the_form_not_constant_ones() -> None:
    layers = FootballLayers.of(tiny("full", timeouts=1))
    sample = make_plan(layers).sample
    store = LayerStore(layers)
    solve_layers(layers, store)
    layers = [at for at in layers.layers if (at.own, at.other) == (1, 1)]
    most = max(store.record(at).games for at in layers)
    assert sample.games > most


def test_only_what_is_missing_has_to_fit_on_the_disk(tmp_path: Path) -> None:
    layers = FootballLayers.of(tiny("half", SMALL))
    store = LayerStore(layers)
    before = disk_bytes(layers, store)
    assert before == disk_bytes(layers)
    needs = [before]
    solve_layers(layers, store, on_layer=lambda *_: needs.append(disk_bytes(layers, store)))
    assert needs == sorted(needs, reverse=True)
    assert needs[-1] == 0


def test_a_disk_that_is_too_small_is_said_with_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = FootballLayers.of(tiny("full", timeouts=1))
    needed = disk_bytes(layers)
    for free in (needed, needed - 1):
        monkeypatch.setattr(
            resources.shutil, "disk_usage", lambda folder, free=free: SimpleNamespace(free=free)
        )
        if free == needed:
            check_disk(layers, tmp_path / "not" / "there")
            continue
        with pytest.raises(ResourceError, match=r"there: the solution takes \d.* and .* are free"):
            check_disk(layers, tmp_path / "not" / "there")


def test_the_disk_is_that_of_the_folder_that_will_be_made(tmp_path: Path) -> None:
    real = shutil.disk_usage(tmp_path).total
    assert 0 < free_disk(tmp_path / "a" / "b") <= real


def test_too_little_memory_is_said_with_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "free_memory", lambda: 2_000_000_000)
    check_memory(2_000_000_000)
    with pytest.raises(ResourceError, match=r"takes 2\.5 GB of memory, and 2\.0 GB are available"):
        check_memory(2_500_000_000)
    monkeypatch.setattr(resources, "free_memory", lambda: None)
    check_memory(1 << 60)


def test_the_system_says_how_much_memory_it_has() -> None:
    free = free_memory()
    assert free is None or 0 < free < 1 << 50


def test_files_that_a_container_keeps_in_memory_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("9000\n")
    (tmp_path / "memory.current").write_text("8000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\ninactive_file 4000\nactive_file 3000\n")
    assert resources._of_control_group(tmp_path) == 8000
    (tmp_path / "memory.max").write_text("max\n")
    assert resources._of_control_group(tmp_path) is None
    assert resources._of_control_group(tmp_path / "none") is None


def test_in_memory_a_solve_takes_room_for_all_sheets() -> None:
    layers = FootballLayers.of(tiny("full", timeouts=2))
    kept = memory_bytes(layers, in_folder=False) - memory_bytes(layers, in_folder=True)
    assert kept > values_bytes(layers) / 2


@pytest.mark.parametrize(
    ("size", "text"),
    [(17, "17 bytes"), (2500, "2.5 kB"), (48_200_000, "48 MB"), (6.2e9, "6.2 GB"),
     (98.3e9, "98 GB"), (1.234e12, "1,234 GB")],
)  # fmt: skip
def test_sizes_are_said_in_decimal_units(size: float, text: str) -> None:
    assert gigabytes(size) == text
