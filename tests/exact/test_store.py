"""Files: what is saved comes back, and nothing else is accepted."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent.exact import (
    StoreError,
    load_policy,
    load_solution,
    read_metadata,
    save_policy,
    save_solution,
    solve,
)
from solvent.games import FightingFantasy
from solvent.model import TabularPolicy, compile_game


@pytest.fixture(scope="module")
def table() -> Any:
    return compile_game(FightingFantasy(stamina=4, opponent_stamina=4, luck=3))


@pytest.fixture
def file(table: Any, tmp_path: Path) -> Path:
    path = tmp_path / "deep" / "policy.npz"
    save_policy(path, TabularPolicy.uniform(table), {"seed": 7})
    return path


def test_a_policy_comes_back(table: Any, file: Path) -> None:
    again = load_policy(file, table)
    np.testing.assert_array_equal(again.probabilities, TabularPolicy.uniform(table).probabilities)
    assert (again.player, again.name, again.model_hash) == (0, "uniform", table.model_hash)
    assert read_metadata(file)["metadata"] == {"seed": 7}


def test_a_solution_comes_back(table: Any, tmp_path: Path) -> None:
    solution = solve(table)
    save_solution(tmp_path / "s.npz", solution)
    again = load_solution(tmp_path / "s.npz", table)
    assert (again.value, again.lower, again.upper) == (
        solution.value, solution.lower, solution.upper,
    )  # fmt: skip
    np.testing.assert_array_equal(again.action_values, solution.action_values)
    np.testing.assert_array_equal(
        again.policies[0].probabilities, solution.policies[0].probabilities
    )


def test_the_same_policy_makes_the_same_bytes(table: Any, file: Path, tmp_path: Path) -> None:
    save_policy(tmp_path / "again.npz", TabularPolicy.uniform(table), {"seed": 7})
    assert (tmp_path / "again.npz").read_bytes() == file.read_bytes()


def test_a_policy_for_another_model_is_refused(file: Path, tmp_path: Path, table: Any) -> None:
    other = compile_game(FightingFantasy(stamina=5, opponent_stamina=4, luck=3))
    with pytest.raises(StoreError, match=r"policy\.npz: policy 'uniform' was made for the model"):
        load_policy(file, other)
    save_solution(tmp_path / "s.npz", solve(table))
    with pytest.raises(StoreError, match="solves the model"):
        load_solution(tmp_path / "s.npz", other)


def test_a_truncated_file_is_refused_at_any_length(file: Path) -> None:
    whole = file.read_bytes()
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        with pytest.raises(StoreError, match=r"policy\.npz"):
            load_policy(file)


def test_a_changed_byte_is_noticed(file: Path, table: Any) -> None:
    whole = file.read_bytes()
    right = load_policy(file).probabilities
    for place in range(0, len(whole), 3):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            policy = load_policy(file, table)
        except StoreError:
            continue
        # A byte that holds no content, such as a time stamp of the archive.
        np.testing.assert_array_equal(policy.probabilities, right)


def test_tampering_with_the_numbers_is_noticed(file: Path) -> None:
    with np.load(file) as archive:
        arrays = dict(archive)
    arrays["probabilities"] = arrays["probabilities"][:, ::-1]
    np.savez(file, **arrays)
    with pytest.raises(StoreError, match="checksum"):
        load_policy(file)


def test_a_future_format_is_named(file: Path) -> None:
    with np.load(file) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    arrays["header"] = np.frombuffer(json.dumps({**header, "format": 99}).encode(), np.uint8)
    np.savez(file, **arrays)
    with pytest.raises(StoreError, match="format 99"):
        load_policy(file)


class Bomb:
    """Unpickling this would create a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return (Path.touch, (self.target,))


def test_a_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    target = tmp_path / "exploded"
    pickled = tmp_path / "policy.npz"
    pickled.write_bytes(pickle.dumps(Bomb(target)))
    inside = tmp_path / "inside.npz"
    np.savez(inside, header=np.array([Bomb(target)], object))
    for path in (pickled, inside):
        with pytest.raises(StoreError, match="not a file of solvent's"):
            load_policy(path)
    assert not target.exists()


def test_kinds_are_not_mixed_up(table: Any, file: Path) -> None:
    with pytest.raises(StoreError, match="holds a policy, not a solution"):
        load_solution(file)


def test_a_missing_file_and_an_unwritable_folder_are_named(tmp_path: Path, table: Any) -> None:
    with pytest.raises(StoreError, match=r"gone\.npz: cannot be read"):
        load_policy(tmp_path / "gone.npz")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"policy\.npz: cannot be written"):
        save_policy(tmp_path / "file" / "policy.npz", TabularPolicy.uniform(table))


def test_a_failed_write_leaves_the_old_file(
    file: Path, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        save_policy(file, solve(table).policies[0])
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == ["policy.npz"]
