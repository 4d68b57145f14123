"""Archives: what a file states is compared with its schema before anything is unpacked."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import forge, overstate
from parlour_games import parlour

from solvent.exact import ArraySchema, Schema, StoreError, load_policy, save_policy
from solvent.exact.archive import LARGEST, read_archive, write_archive
from solvent.model import TabularGame, TabularPolicy, compile_game

SCHEMA = Schema(
    "test",
    {"name": str, "size": float, "count": int, "done": bool},
    {"numbers": ArraySchema("float64", 2), "part *": ArraySchema()},
)
HEADER = {"kind": "test", "name": "a", "size": 0.5, "count": 3, "done": True}


@pytest.fixture
def game() -> TabularGame:
    return compile_game(parlour().ThreeRolls())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.npz"
    arrays = {"numbers": np.ones((2, 3)), "part 0": np.arange(4), "part 1": np.array(True)}
    write_archive(path, HEADER, arrays)
    return path


@pytest.fixture
def policy_file(game: TabularGame, tmp_path: Path) -> Path:
    save_policy(tmp_path / "policy.npz", TabularPolicy.uniform(game))
    return tmp_path / "policy.npz"


def refusal(path: Path, **arguments: Any) -> str:
    with pytest.raises(StoreError) as caught:
        read_archive(path, SCHEMA, **arguments)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_what_fits_its_schema_is_read(file: Path) -> None:
    header, arrays = read_archive(file, SCHEMA, lambda header: {"numbers": (2, header["count"])})
    assert header == HEADER
    assert set(arrays) == {"numbers", "part 0", "part 1"}
    np.testing.assert_array_equal(arrays["part 0"], np.arange(4))


def test_numbers_of_another_machine_are_read(file: Path) -> None:
    forge(file, numbers=np.arange(6.0).reshape(2, 3).astype(">f8"))
    numbers = read_archive(file, SCHEMA)[1]["numbers"]
    assert numbers.dtype.isnative
    np.testing.assert_array_equal(numbers, np.arange(6.0).reshape(2, 3))
    forge(file, numbers=np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    np.testing.assert_array_equal(read_archive(file, SCHEMA)[1]["numbers"], numbers)


HEADERS: list[tuple[dict[str, Any], str]] = [
    ({"name": None}, "lacks name; expected a text"),
    ({"name": 3}, "name is 3; expected a text"),
    ({"size": "big"}, "size is 'big'; expected a finite number"),
    ({"size": float("nan")}, "size is nan; expected a finite number"),
    ({"size": True}, "size is True; expected a finite number"),
    ({"size": 10**400}, "expected a finite number"),
    ({"count": 3.0}, "count is 3.0; expected a whole number"),
    ({"count": True}, "count is True; expected a whole number"),
    ({"done": 1}, "done is 1; expected true or false"),
    ({"kind": "other"}, "holds a other, not a test"),
    ({"kind": ["test"]}, "kind is ['test']; expected a text"),
    ({"metadata": 3}, "metadata is 3; expected an object"),
]
ARRAYS: list[tuple[dict[str, Any], str]] = [
    ({"numbers": None}, "lacks numbers"),
    ({"numbers": np.ones((2, 3), np.float32)}, "numbers is float32; expected float64"),
    ({"numbers": np.ones((2, 3), np.int64)}, "numbers is int64; expected float64"),
    ({"numbers": np.ones(6)}, "numbers has the shape (6,); expected 2 dimensions"),
    ({"numbers": np.ones((3, 2))}, "numbers has the shape (3, 2); expected (2, 3)"),
    ({"other": np.ones(2)}, "has the array 'other', which no test has"),
    ({"part 2": np.array(["text"])}, "not a file of solvent's, or damaged"),
    ({"part 2": np.ones(2, [("a", float)])}, "not a file of solvent's, or damaged"),
    ({"part 2": np.ones(2, complex)}, "not a file of solvent's, or damaged"),
]


def test_a_wrong_header_or_array_is_named(file: Path) -> None:
    whole = file.read_bytes()
    for header, message in HEADERS:
        file.write_bytes(whole)
        assert message in refusal(forge(file, header))
    for arrays, message in ARRAYS:
        file.write_bytes(whole)
        wrong = forge(file, **arrays)
        assert message in refusal(wrong, expected=lambda _: {"numbers": (2, 3)})


def peak(read: Callable[[], object]) -> tuple[str, int]:
    """The error with which a file is refused, and the bytes that this took."""
    tracemalloc.start()
    try:
        with pytest.raises(StoreError) as caught:
            read()
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_file_that_would_fill_the_memory_is_not_unpacked(
    file: Path, policy_file: Path, game: TabularGame
) -> None:
    overstate(file, "part 0", (200_000_000, 2))
    message, taken = peak(lambda: read_archive(file, SCHEMA))
    assert f"bytes; at most {LARGEST:,} are read" in message
    assert taken < 2**20
    overstate(policy_file, "probabilities", (200_000_000, 2))
    message, taken = peak(lambda: load_policy(policy_file, game))
    assert "probabilities has the shape (200000000, 2); expected" in message
    assert taken < 2**20


@pytest.mark.parametrize("shape", [(-1, 2), (-1, -1), (2**40, 2**40), (10_000_000, 2)])
def test_a_size_that_does_not_agree_with_the_directory_is_not_unpacked(
    file: Path, shape: tuple[int, ...]
) -> None:
    overstate(file, "part 0", shape, alone=True)
    message, taken = peak(lambda: read_archive(file, SCHEMA))
    assert message.endswith("not a file of solvent's, or damaged")
    assert taken < 2**20
