"""A network's file is not believed: what is no network is refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import bad_files, forge

from solvent.baselines.network import Network, NetworkPlayer, load_network, save_network
from solvent.exact import StoreError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    shapes = ((3, 4), (4, 2))
    weights = tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    biases = tuple(np.zeros(outputs, np.float32) for _, outputs in shapes)
    player = NetworkPlayer(Network(weights, biases, "tanh"), "sampled", True, "onehot", "mine")
    save_network(tmp_path / "network.npz", player, {"seed": 7})
    return tmp_path / "network.npz"


def test_a_network_comes_back(file: Path) -> None:
    again = load_network(file)
    assert (again.rule, again.masked, again.observation, again.name) == (
        "sampled", True, "onehot", "mine",
    )  # fmt: skip
    assert [weight.shape for weight in again.network.weights] == [(3, 4), (4, 2)]


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"layers": 10**9}, {}, "layers is 1000000000; there are 4 arrays"),
        ({"layers": -1}, {}, "layers is -1; there are 4 arrays"),
        ({"layers": "two"}, {}, "layers is 'two'; expected a whole number"),
        ({"layers": 1}, {}, "layers is 1; there are 4 arrays"),
        ({"masked": "yes"}, {}, "masked is 'yes'; expected true or false"),
        ({"rule": "best"}, {}, "rule is 'best'; allowed are"),
        ({"activation": "x" * 100_000}, {}, "activation is 'xxx"),
        ({"name": None}, {}, "lacks name"),
        ({}, {"weight 0": np.ones((3, 4))}, "weight 0 is float64; expected float32"),
        ({}, {"weight 0": np.ones(3, np.float32)}, "expected 2 dimensions"),
        ({}, {"bias 0": np.full(4, np.nan, np.float32)}, "bias 0 has an entry that is not"),
        ({}, {"bias 0": np.ones(3, np.float32)}, "do not fit"),
        ({}, {"weight 1": np.ones((5, 2), np.float32)}, "do not fit"),
        ({"layers": 2}, {"bias 1": None, "bias 7": np.ones(2, np.float32)}, "not a network"),
    ],
)
def test_what_is_no_network_is_named(
    header: dict[str, Any], arrays: dict[str, Any], message: str, file: Path
) -> None:
    with pytest.raises(StoreError) as caught:
        load_network(forge(file, header, **arrays))
    assert message in str(caught.value)
    assert len(str(caught.value)) < len(str(file)) + 250


def test_other_files_are_one_line(tmp_path: Path) -> None:
    for path in bad_files(tmp_path, ".npz"):
        with pytest.raises(StoreError, match="bad/"):
            load_network(path)
