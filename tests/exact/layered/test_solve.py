"""Games solved layer by layer, by threads: what is computed, in which order, and what it takes."""

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from layered_games import refusal, rewrite, shop, solve_each, solve_in
from refusals import assert_refused
from tree_checks import assert_solved_as_table

from solvent.exact import SolvedGame, StoreError
from solvent.exact.layered import plan as plans
from solvent.exact.layered import solve as solving
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.manifest import STATES, random_places
from solvent.exact.layered.plan import ResourceError, check_disk, check_memory, disk_bytes
from solvent.exact.layered.solve import (
    LayeredSolution,
    Workers,
    is_kept,
    solve_in_memory,
    solve_layers,
)
from solvent.exact.layered.spot_check import CheckedState, spot_check
from solvent.exact.layered.store import KEEPS, LayerStore
from solvent.games.inventory.layers import InventoryLayers, InventorySolution
from solvent.games.inventory.rules import Inventory, Shop
from solvent.model import cache
from solvent.model.cache import Packed, read_entry, write_entry


def solved(game: Inventory) -> LayeredSolution:
    return LayeredSolution(solve_in_memory(InventoryLayers(game)), game)


@pytest.mark.parametrize("stock", [-1, 4])
def test_a_state_outside_its_layer_has_no_value(stock: int) -> None:
    with pytest.raises(ValueError, match="is not a state of inventory"):
        solved(Inventory()).value_of(Shop(2, stock))


def test_every_value_is_that_of_the_table() -> None:
    game = Inventory(horizon=5, capacity=30)
    solution = solved(game)
    assert isinstance(solution, SolvedGame)
    assert 0 < solution.upper - solution.lower < 1e-10
    assert_solved_as_table(solution, game)


def test_neither_blocks_nor_threads_nor_the_folder_change_a_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    layers = shop()
    solve_in(tmp_path / "x", layers)
    monkeypatch.setattr("solvent.games.inventory.layers.LEVELS_IN_BLOCK", 7)
    assert len(layers.blocks(1)) == 6
    store = LayerStore(layers)
    solve_layers(layers, store, workers=Workers(1))
    with LayerFolder.open(tmp_path / "x", layers) as kept:
        for layer in layers.layers:
            assert store.read(layer).tobytes() == kept.read(layer).tobytes()


def test_states_between_layers_are_a_step_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the layers of an even number of periods left were none."""
    solution = solved(Inventory())
    wanted = {stock: solution.value_of(Shop(2, stock)) for stock in range(4)}
    place = InventoryLayers.place
    monkeypatch.setattr(
        InventoryLayers, "place", lambda self, at: place(self, at) if at.left % 2 else None
    )
    for stock, value in wanted.items():
        assert solution.value_of(Shop(2, stock)) == pytest.approx(value, abs=1e-12)


# Plans


def test_a_disk_or_memory_that_is_too_small_is_said_with_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = shop()
    needed = disk_bytes(layers)
    monkeypatch.setattr(plans, "free_disk", lambda _: needed)
    check_disk(layers, tmp_path)
    monkeypatch.setattr(plans, "free_disk", lambda _: needed - 1)
    monkeypatch.setattr(plans, "free_memory", lambda: 2_000_000_000)
    check_memory(2_000_000_000)
    rows = (
        (lambda: check_disk(layers, tmp_path), r"the solution takes \d.* and .* are free"),
        (lambda: check_memory(2_500_000_000), r"takes 2\.5 GB of memory, and 2\.0 GB are availab"),
    )
    assert_refused(rows, error=ResourceError)


def test_files_that_a_container_keeps_in_memory_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("9000\n")
    (tmp_path / "memory.current").write_text("8000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\ninactive_file 4000\nactive_file 3000\n")
    assert plans._container_memory(tmp_path) == 8000
    (tmp_path / "memory.max").write_text("max\n")
    assert plans._container_memory(tmp_path) is None
    assert plans._container_memory(tmp_path / "none") is None


# Folders and the command


def test_the_solution_of_another_game_is_refused(tmp_path: Path) -> None:
    solve_in(tmp_path, shop(stock=3))
    LayerFolder.open(tmp_path, shop(stock=5)).close()
    assert LayerFolder.open(tmp_path, type(shop())).game.identity == shop().identity
    rows = (
        (shop(price=9), "is a solution with other values of price$"),
        (shop(horizon=14, capacity=41), "other values of capacity, horizon$"),
        (InventoryLayers(Inventory()), "is not that of a solution of inventory"),
    )
    for attempt in (LayerFolder.open, LayerFolder.create):
        assert_refused(rows, partial(attempt, tmp_path), StoreError)


BRACKET = ("value", "lower", "upper")


def run(*words: str) -> Any:
    return commands.run("solve", "inventory", *words)


def test_the_command_solves_plans_keeps_what_is_asked_for_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run().stdout
    assert "4.1875  (units of profit)" in shown
    assert shown.split()[-2:] == ["order", "3"]
    whole = json.loads(run("--json").stdout)
    for keep in KEEPS:
        out = ["--out", str(tmp_path / keep)]
        plan = run("--plan", "--keep", keep, *out).stdout.split()
        assert plan[plan.index("layers") + 1] == "3"
        assert not (tmp_path / keep).exists()
        first = json.loads(run("--keep", keep, *out, "--json", "--stock", "2").stdout)
        again = json.loads(run(*out, "--json", "--threads", "1").stdout)
        assert first["keep"] == again["keep"] == keep
        assert first["value"] == 194 / 16
        assert [whole[name] for name in BRACKET] == [again[name] for name in BRACKET]
        assert (first["layers_solved_now"], again["layers_solved_now"]) == (3, 0)
        opened = InventorySolution.open(tmp_path / keep)
        found = InventorySolution.open(tmp_path / keep, opened.game_with({"stock": 1}))
        assert (found.value, found.game.stock) == (129 / 16, 1)
    assert "values of other positions than the start are kept within" in " ".join(
        run("--out", str(tmp_path / "compact")).stdout.split()
    )
    assert json.loads(run("--keep", "start", "--json").stdout)["value"] == whole["value"] == 67 / 16
    assert "--keep is 'some'; allowed are all, compact, start" in run("--keep", "some").stderr
    assert "--keep compact is for a folder; give --out DIR" in run("--keep", "compact").stderr
    monkeypatch.setattr(plans, "free_memory", lambda: 1000)
    assert "--force begins all the same" in run().stderr
    assert run("--force").exit_code == 0


# Solutions in layers are kept by what tells a game from every other, or not at all


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


# Random states of a kept solution, solved again from the rules


@pytest.fixture(scope="module")
def layers() -> InventoryLayers:
    """Twice as many states as samples, so that the start is not among the random ones."""
    return InventoryLayers(Inventory(horizon=40, capacity=14, demand=[1, 2, 1], stock=3))


@pytest.fixture(scope="module")
def originals(layers: InventoryLayers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished solution of each kind, not to be changed."""
    return solve_each(tmp_path_factory.mktemp("solutions"), layers)


@pytest.fixture
def evidence(originals: dict[str, Path], tmp_path: Path) -> Path:
    """A manifest without its layers."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "manifest.json").write_bytes((originals["compact"] / "manifest.json").read_bytes())
    return folder


def checked(folder: Path, layers: InventoryLayers, count: int = 300) -> list[CheckedState]:
    return spot_check(LayerFolder.open(folder, layers, manifest_only=True), count, "a seed")


def kinds(states: list[CheckedState]) -> dict[str, int]:
    return {
        kind: sum(state.kind == kind for state in states) for kind in {one.kind for one in states}
    }


@pytest.mark.parametrize("keep", KEEPS)
def test_every_state_of_a_right_solution_agrees(
    keep: str, originals: dict[str, Path], layers: InventoryLayers
) -> None:
    states = checked(originals[keep], layers)
    assert all(state.agrees for state in states)
    expected = {"start", "sample"} if keep != "all" else set()
    assert set(kinds(states)) == expected | ({"layer"} if keep != "start" else set())
    # Of the kept samples and of exact layers no more than rounding differs.
    exact = [state for state in states if keep == "all" or state.kind != "layer"]
    assert max(state.difference for state in exact) < 1e-11
    assert max(state.allowed for state in exact) < 1e-10


def test_so_many_states_are_checked_as_are_asked_for(
    originals: dict[str, Path], layers: InventoryLayers
) -> None:
    assert kinds(checked(originals["compact"], layers, 7)) == {"start": 1, "sample": 7, "layer": 7}
    store = LayerFolder.open(originals["compact"], layers)
    first, again, other = (
        [state.place for state in spot_check(store, 7, seed)] for seed in ("1", "1", "2")
    )
    assert first == again
    assert first != other


def test_the_samples_are_those_that_are_chosen_by_the_game(
    originals: dict[str, Path], layers: InventoryLayers
) -> None:
    chosen = {*random_places(layers, STATES)}
    assert len(chosen) > 200
    [start] = layers.game.initial()
    assert {*LayerFolder.open(originals["start"], layers).samples} == {
        *chosen,
        layers.place(start.state),
    }
    assert LayerFolder.open(originals["all"], layers).samples == {}


def test_random_places_are_uniform(layers: InventoryLayers) -> None:
    places = random_places(layers, 6000)
    counts = np.bincount([15 * (place.layer - 1) + place.at[0] for place in places], minlength=600)
    assert ((counts - 10) ** 2 / 10).sum() < 720  # Chi-squared with 599 degrees of freedom.


def test_the_manifest_alone_is_evidence(
    evidence: Path, originals: dict[str, Path], layers: InventoryLayers
) -> None:
    whole = LayeredSolution(LayerFolder.open(originals["all"], layers), layers.game)
    path = evidence / "manifest.json"
    for compressed in (False, True):
        if compressed:
            path.with_name("manifest.json.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
        assert kinds(checked(evidence, layers)) == kinds(checked(originals["start"], layers))
        store = LayerFolder.open(evidence, InventoryLayers, manifest_only=True)
        kept = LayeredSolution(store, layers.game)
        assert (kept.value, kept.error) == (whole.value, whole.error)
        assert "cannot be read" in refusal(lambda: kept.values(1))  # noqa: B023
        assert "is missing" in refusal(lambda: LayerFolder.open(evidence, layers))
    archive = evidence / "manifest.json.gz"
    content = archive.read_bytes()
    for damaged in (content[:-9], content[5:]):
        archive.write_bytes(damaged)
        assert "manifest.json.gz: " in refusal(lambda: checked(evidence, layers))


def first_sample(records: dict[str, Any]) -> list[Any]:
    """The first sample of layer 20, as its manifest has it."""
    sample: list[Any] = records["20"]["samples"][0]
    return sample


# Errors of a sample's value, and of the values of its successors.
PLANTED: list[Callable[[Any, float, list[float]], list[Any]]] = [
    lambda place, value, after: [place, value + 1e-9, after],
    lambda place, value, after: [place, value, [one + 1e-9 for one in after]],
]


@pytest.mark.parametrize("change", PLANTED, ids=["value", "successors"])
def test_a_planted_error_is_found_though_its_checksum_is_right(
    change: Callable[..., list[Any]], evidence: Path, layers: InventoryLayers
) -> None:
    def plant(content: dict[str, Any]) -> None:
        content["sheets"]["20"]["samples"][0] = change(*first_sample(content["sheets"]))

    rewrite(evidence, plant, version=3)
    [wrong] = [state for state in checked(evidence, layers) if not state.agrees]
    assert wrong.place.layer == 20
    assert wrong.difference == pytest.approx(1e-9, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda records: records["20"].update(samples=[]), "other states than those that are chos"),
        (lambda records: records["20"].update(samples=[[1]]), "(samples is [[1]])"),
        (lambda records: records["20"].update(samples=7), "(samples is 7)"),
        (lambda records: first_sample(records).__setitem__(1, "much"), "(samples is "),
        (lambda records: first_sample(records).__setitem__(1, 1e9), "a sample has the value 1e+09"),
        (lambda records: first_sample(records)[2].append(-1e9), "a sample has the value -1e+09"),
        (lambda records: records["20"]["samples"].append([[15], 0, []]), "no state stands"),
        (lambda records: records["20"]["samples"].append([[-1], 0, []]), "no state stands"),
        (lambda records: records["20"]["samples"].append([[1, 1], 0, []]), "no state stands"),
        (lambda records: records["20"]["samples"].append([[1.5], 0, []]), "(samples is "),
        (lambda records: first_sample(records)[2].pop(), "successors; by the rules there are "),
        (
            lambda records: [record.pop("samples", None) for record in records.values()],
            "there is nothing to check, no samples and no layers",
        ),
    ],
)
def test_samples_that_cannot_be_are_refused(
    change: Callable[[dict[str, Any]], None],
    message: str,
    evidence: Path,
    layers: InventoryLayers,
) -> None:
    rewrite(evidence, lambda content: change(content["sheets"]), version=3)
    assert message in refusal(lambda: checked(evidence, layers))


def test_an_error_in_the_files_of_the_layers_is_found(
    layers: InventoryLayers, tmp_path: Path
) -> None:
    """The file of a layer is written again, with its checksum in the manifest."""
    solve_in(tmp_path, layers)
    path = tmp_path / "sheets" / "20.npy"
    np.save(path, np.load(path) + 1e-9)

    def change(content: dict[str, Any]) -> None:
        content["sheets"]["20"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()

    rewrite(tmp_path, change)
    wrong = {state.place.layer for state in checked(tmp_path, layers) if not state.agrees}
    assert wrong == {20, 21}


def test_a_solution_by_other_rules_is_found(evidence: Path, layers: InventoryLayers) -> None:
    """The independent path reads the rules, not what the solver made of them."""
    other = InventoryLayers(layers.game)
    store = LayerFolder.open(evidence, other, manifest_only=True)
    other.game = Inventory(**{**dict(layers.game.info.parameters), "holding": 2})
    states = spot_check(store, 1000)
    assert sum(not state.agrees for state in states) > 0.9 * len(states)


def test_the_command_finds_a_planted_error(tmp_path: Path) -> None:
    words = ["solve", "inventory", "--horizon", "20", "--out", str(tmp_path)]
    check = [*words, "--spot-check", "300"]
    assert commands.run(*words, "--keep", "compact").exit_code == 0
    assert "agree" in commands.said(*check)

    def change(content: dict[str, Any]) -> None:
        content["sheets"]["7"]["samples"][0][1] += 1e-6

    rewrite(tmp_path, change, version=3)
    result = commands.run(*check, env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert "1 DISAGREE" in result.stdout
    assert commands.refusal(*check, "--json").startswith("--json is for solving")
