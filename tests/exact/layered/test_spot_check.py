"""Random states of a kept solution, solved again from the rules."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layered_games import refusal, rewrite, solve_in
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.manifest import STATES, random_places
from solvent.exact.layered.solve import LayeredSolution
from solvent.exact.layered.spot_check import CheckedState, spot_check
from solvent.exact.layered.store import KEEPS
from solvent.games.inventory.layers import InventoryLayers
from solvent.games.inventory.rules import Inventory


@pytest.fixture(scope="module")
def layers() -> InventoryLayers:
    """Twice as many states as samples, so that the start is not among the random ones."""
    return InventoryLayers(Inventory(horizon=40, capacity=14, demand=[1, 2, 1], stock=3))


@pytest.fixture(scope="module")
def originals(layers: InventoryLayers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished solution of each kind, not to be changed."""
    folders = {keep: tmp_path_factory.mktemp("solutions") / keep for keep in KEEPS}
    for keep, folder in folders.items():
        solve_in(folder, layers, keep=keep)
    return folders


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


def forge(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the records of a folder that does not keep all values, with the right checksum."""
    rewrite(folder, lambda content: change(content["sheets"]), version=3)


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


def test_a_damaged_archive_of_a_manifest_is_refused(
    evidence: Path, layers: InventoryLayers
) -> None:
    path = evidence / "manifest.json"
    content = gzip.compress(path.read_bytes())
    path.unlink()
    for damaged in (content[:-9], content[5:]):
        path.with_name("manifest.json.gz").write_bytes(damaged)
        assert "manifest.json.gz: " in refusal(lambda: checked(evidence, layers))


def first_sample(records: dict[str, Any]) -> list[Any]:
    """The first sample of layer 20, as its manifest has it."""
    sample: list[Any] = records["20"]["samples"][0]
    return sample


def change_value(records: dict[str, Any]) -> None:
    first_sample(records)[1] += 1e-9


def change_successor(records: dict[str, Any]) -> None:
    after = first_sample(records)[2]
    after[:] = [value + 1e-9 for value in after]


def lose_samples(records: dict[str, Any]) -> None:
    for record in records.values():
        record.pop("samples", None)


@pytest.mark.parametrize("change", [change_value, change_successor])
def test_a_planted_error_is_found_though_its_checksum_is_right(
    change: Callable[[dict[str, Any]], None], evidence: Path, layers: InventoryLayers
) -> None:
    forge(evidence, change)
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
        (lose_samples, "there is nothing to check, no samples and no layers"),
    ],
)
def test_samples_that_cannot_be_are_refused(
    change: Callable[[dict[str, Any]], None],
    message: str,
    evidence: Path,
    layers: InventoryLayers,
) -> None:
    forge(evidence, change)
    assert message in refusal(lambda: checked(evidence, layers))


def test_an_error_in_the_files_of_the_layers_is_found(
    layers: InventoryLayers, tmp_path: Path
) -> None:
    """The file of a layer is written again, with its checksum in the manifest."""
    solve_in(tmp_path, layers)
    path = tmp_path / "sheets" / "20.npy"
    values = np.load(path)
    values += 1e-9
    np.save(path, values)

    def change(content: dict[str, Any]) -> None:
        content["sheets"]["20"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()

    rewrite(tmp_path, change)
    wrong = {state.place.layer for state in checked(tmp_path, layers) if not state.agrees}
    assert wrong == {20, 21}


def test_a_solution_by_other_rules_is_found(evidence: Path, layers: InventoryLayers) -> None:
    """The independent path reads the rules, not what the solver made of them."""
    other = InventoryLayers(layers.game)
    store = LayerFolder.open(evidence, other, manifest_only=True)
    parameters = {**dict(layers.game.info.parameters), "holding": 2}
    other.game = Inventory(**parameters)
    states = spot_check(store, 1000)
    assert sum(not state.agrees for state in states) > 0.9 * len(states)


def test_the_command_finds_a_planted_error(tmp_path: Path) -> None:
    words = ["solve", "inventory", "--horizon", "20", "--out", str(tmp_path)]
    check = [*words, "--spot-check", "300"]
    assert CliRunner().invoke(app, [*words, "--keep", "compact"]).exit_code == 0
    assert "agree" in CliRunner().invoke(app, check).stdout

    def change(content: dict[str, Any]) -> None:
        content["sheets"]["7"]["samples"][0][1] += 1e-6

    rewrite(tmp_path, change, version=3)
    result = CliRunner().invoke(app, check, env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert "1 DISAGREE" in result.stdout
    assert json.loads(CliRunner().invoke(app, [*check, "--json"]).stdout)["wrong"] == 1
