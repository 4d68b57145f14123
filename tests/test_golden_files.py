"""Files that version 0.1 wrote are read, and give the figures that 0.1 had from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from golden_files import READERS, bench_again
from golden_streams import CHANGED, GOLDEN

from solvent.benchmark.records import read_bench

FIGURES = json.loads((GOLDEN / "figures.json").read_text(encoding="utf-8"))
for reader, changed in json.loads((CHANGED / "figures.json").read_text(encoding="utf-8")).items():
    FIGURES[reader] |= changed

SLOW = {"bench"}
"""A page with all its pictures is drawn."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Of all files; some are gone on with."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "golden"))


def test_every_figure_has_its_reader() -> None:
    assert set(FIGURES) == set(READERS)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in READERS]
)
def test_a_file_of_0_1_gives_what_it_gave(name: str, copy: Path) -> None:
    found = READERS[name](copy)
    assert set(found) == set(FIGURES[name])
    for figure, expected in FIGURES[name].items():
        # What training goes on to compute differs in the last digits from processor to processor.
        near = {"rel": 1e-5, "abs": 1e-5} if "unfinished" in name else {"rel": 1e-9, "abs": 1e-9}
        wanted = (
            pytest.approx(expected, **near) if isinstance(expected, (float, list)) else expected
        )
        assert found[figure] == wanted, figure


def test_what_is_finished_is_only_read(copy: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    for name in ("layers", "training", "self-play", "two minutes"):
        READERS[name](copy)
    assert before == {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}


def test_layers_that_are_gone_on_with_end_as_they_would_have(copy: Path) -> None:
    """But for rounding: matrix games are started from other supports than version 0.1 had."""
    READERS["layers, unfinished"](copy)
    whole, parts = (
        {path.relative_to(copy / name): np.load(path) for path in (copy / name).rglob("*.npy")}
        for name in ("half", "half-unfinished")
    )
    assert whole.keys() == parts.keys()
    for path, values in whole.items():
        assert parts[path] == pytest.approx(values, rel=0, abs=1e-12), path


@pytest.mark.slow
def test_the_trainings_of_a_finished_bench_are_only_read(copy: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    stated = [agent for task in read_bench(copy / "bench").tasks for agent in task.agents]
    found = bench_again(copy)
    assert len(found) == len(stated)
    for agent, figures in zip(stated, found, strict=True):
        assert {name: getattr(agent, name) for name in figures} == figures
    assert before == {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
