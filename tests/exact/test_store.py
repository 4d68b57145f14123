"""Files: what is saved comes back, and nothing else is accepted."""

import json
import os
import re
import stat
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import forge, overstate, read_raw
from random_games import RandomGame
from refusals import assert_refused

from solvent.exact import (
    ArraySchema,
    Schema,
    StoreError,
    load_policy,
    load_solution,
    read_header,
    save_policy,
    save_solution,
    solve,
    write_atomically,
)
from solvent.exact.archive import LARGEST, read_archive, write_archive
from solvent.games import FightingFantasy, Pig
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
    again, uniform = load_policy(file, table), TabularPolicy.uniform(table)
    np.testing.assert_array_equal(again.probabilities, uniform.probabilities)
    assert (again.player, again.name, again.model_hash) == (0, "uniform", table.model_hash)
    assert read_header(file)["metadata"] == {"seed": 7}


def test_a_policy_for_another_model_is_refused(file: Path, tmp_path: Path, table: Any) -> None:
    other = compile_game(FightingFantasy(stamina=5, opponent_stamina=4, luck=3))
    saved, rules = tmp_path / "s.npz", Pig(target=4)
    save_solution(saved, solve(table))
    assert_refused((
        (lambda: load_policy(file, other), r"policy\.npz: policy 'uniform' was made for the model"),
        (lambda: load_solution(saved, other), r"s\.npz: the solution was made for the model"),
        (lambda: load_solution(saved, rules), r"s\.npz: game is Pig.*; expected is its table"),
        (lambda: save_solution(saved, solve(rules)), "solution is SolvedTable.*; expected is a So"),
    ))  # fmt: skip


def test_a_truncated_file_is_refused_at_any_length_and_a_changed_byte_is_noticed(
    file: Path, table: Any
) -> None:
    whole, right = file.read_bytes(), load_policy(file, table).probabilities
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        assert_refused([(file, table, r"policy\.npz")], load_policy, StoreError)
    for place in range(0, len(whole), 3):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            policy = load_policy(file, table)
        except StoreError:
            continue
        # A byte that holds no content, such as a time stamp of the archive.
        np.testing.assert_array_equal(policy.probabilities, right)


def test_tampering_and_a_future_format_are_named(file: Path, table: Any) -> None:
    with np.load(file) as archive:
        arrays = dict(archive)
    header = {**json.loads(arrays["header"].tobytes()), "format": 99}
    for changed, message in (
        ({"probabilities": arrays["probabilities"][:, ::-1]}, "checksum"),
        ({"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}, "format 99"),
    ):
        np.savez(file, **(arrays | changed))
        assert_refused([(file, table, message)], load_policy, StoreError)


def test_a_missing_file_and_an_unwritable_folder_are_named(tmp_path: Path, table: Any) -> None:
    (tmp_path / "file").write_text("in the way")
    below, policy = tmp_path / "file" / "policy.npz", TabularPolicy.uniform(table)
    rows = (
        (lambda: load_policy(tmp_path / "gone.npz", table), r"gone\.npz: cannot be read"),
        (lambda: save_policy(below, policy), r"policy\.npz: cannot be written"),
    )
    assert_refused(rows, error=StoreError)


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


# Nothing in a file is believed, even if its checksum matches.


def moved(array: Any, by: Any) -> Any:
    """An array with something added in a state in which play goes on."""
    changed = array.copy()
    changed[np.flatnonzero(array.reshape(len(array), -1).any(axis=1))[0]] += by
    return changed


NO_DISTRIBUTION = ".*(is no distribution|has an|sum to 1)"
# Entries of the header, changes of arrays, and what is said.
NO_POLICIES: list[tuple[dict[str, Any], str | None, Any, str]] = [
    # Who has no choice would have no gap.
    ({"player": 1}, None, None, "is a policy of player 1, not of 0"),
    ({"player": 2}, None, None, "is a policy of player 2, not of 0"),
    ({"player": -1}, None, None, "is a policy of player -1, not of 0"),
    ({"player": "0"}, None, None, "player is '0'; expected a whole number"),
    ({"player": True}, None, None, "player is True; expected a whole number"),
    ({"name": ["a"]}, None, None, r"name is \['a'\]; expected a text"),
    ({"name": None}, None, None, "lacks name"),
    ({"model_hash": None}, None, None, "lacks model_hash"),
    ({"model_hash": 7}, None, None, "model_hash is 7; expected a text"),
    ({"metadata": []}, None, None, r"metadata is \[\]; expected an object"),
    ({}, "probabilities", lambda array: 2 * array, NO_DISTRIBUTION),
    ({}, "probabilities", lambda array: moved(array, np.nan), NO_DISTRIBUTION),
    ({}, "probabilities", lambda array: moved(array, np.inf), NO_DISTRIBUTION),
    ({}, "probabilities", lambda array: moved(array, [2, -2]), NO_DISTRIBUTION),
]


NO_SOLUTIONS: list[tuple[dict[str, Any], str | None, Any, str]] = [
    ({"value": float("nan")}, None, None, "value is nan; expected a finite number"),
    ({"value": "<script>"}, None, None, "value is '<script>'; expected a finite number"),
    ({"upper": None}, None, None, "lacks upper"),
    ({"method": 3}, None, None, "method is 3; expected a text"),
    ({}, "values", lambda array: moved(array, np.nan), ".*is off by nan"),
    ({}, "policy_0", lambda array: 2 * array, NO_DISTRIBUTION),
    ({}, "policy_1", lambda array: 2 * array, NO_DISTRIBUTION),
]


def test_what_is_no_policy_or_no_solution_is_named(file: Path, tmp_path: Path, table: Any) -> None:
    solution_file = tmp_path / "solution.npz"
    save_solution(solution_file, solve(table))
    kinds: tuple[Any, ...] = (
        (file, load_policy, NO_POLICIES),
        (solution_file, load_solution, NO_SOLUTIONS),
    )
    for path, load, rows in kinds:
        content, arrays = path.read_bytes(), read_raw(path)[1]
        for header, name, change, message in rows:
            path.write_bytes(content)
            forge(path, header, **({name: change(arrays[name])} if name else {}))
            assert_refused([(path, table, f"^{re.escape(str(path))}: {message}")], load, StoreError)


GAMES: list[Any] = [
    Pig(target=4),
    RandomGame(0, "simultaneous", cyclic=True),
    RandomGame(2, "alternating", cyclic=True),
    RandomGame(4, "single", cyclic=False),
]


@pytest.mark.parametrize("game", GAMES)
def test_a_solution_is_proved_again_and_a_wrong_number_noticed(game: Any, tmp_path: Path) -> None:
    table = compile_game(game)
    solution = solve(table)
    path = tmp_path / "s.npz"
    save_solution(path, solution)
    again = load_solution(path, table)
    for name in ("value", "lower", "upper"):
        assert getattr(again, name) == getattr(solution, name)
    for policy, other in zip(again.policies, solution.policies, strict=True):
        np.testing.assert_array_equal(policy.probabilities, other.probabilities)

    # What follows from the values is found anew.
    save_solution(path, solution)
    away = {name: getattr(solution, name) + 1 for name in ("value", "lower", "upper")}
    forge(path, away, action_values=0 * solution.action_values)
    found = load_solution(path, table)
    assert (found.value, found.lower, found.upper) == (again.value, again.lower, again.upper)
    np.testing.assert_array_equal(found.action_values, solution.action_values)
    # One of the values, wherever it is; all moved alike, so that only play's end tells; and another
    # policy, which is one, but does not get the value.
    values, alike = solution.values.copy(), solution.values + 0.01 * ~table.terminal
    values[np.random.default_rng(1).integers(len(values))] += 0.01
    player = 0 if (table.action_count[0] > 1).any() else 1
    for arrays in (
        {"values": values},
        {"values": alike, "action_values": table.expectation(alike)},
        {f"policy_{player}": TabularPolicy.uniform(table, player=player).probabilities},
    ):
        save_solution(path, solution)
        forge(path, {}, **arrays)
        assert_refused([(path, table, r"s\.npz: .*off by")], load_solution, StoreError)


# Writing a file harms nothing: not a link, not a device, not who may read it


UNIX = pytest.mark.skipif(sys.platform == "win32", reason="has links and permissions of Unix")


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@UNIX
@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("given", [0o600, 0o644, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions_and_is_no_secret_meanwhile(
    tmp_path: Path, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen, chmod = tmp_path / "file", [], Path.chmod
    path.write_text("before")
    path.chmod(given)

    def noted(beside: Path, now: int) -> None:
        seen.append((mode(beside), now))
        chmod(beside, now)

    monkeypatch.setattr(Path, "chmod", noted)
    write_atomically(path, b"after")
    assert (path.read_text(), mode(path), seen) == ("after", given, [(0o600, given)])
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@UNIX
def test_the_target_of_a_link_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "target").write_text("before")
    for link, to, target in (
        ("link", "data/target", "target"),
        ("second", tmp_path / "link", "target"),
        ("dangling", "data/new", "new"),
    ):
        (tmp_path / link).symlink_to(to)
        write_atomically(tmp_path / link, link.encode())
        assert (tmp_path / link).is_symlink()
        written = tmp_path / "data" / target
        assert (written.is_symlink(), written.read_text()) == (False, link)
    assert (tmp_path / "link").is_symlink()


@UNIX
def test_what_is_no_regular_file_is_refused_and_stays(tmp_path: Path) -> None:
    # A pipe for a device: were it replaced, as /dev/full once was, nothing would be lost.
    pipe, link, folder, loop = (tmp_path / name for name in ("pipe", "link", "folder", "loop"))
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    folder.mkdir()
    loop.symlink_to("loop")
    irregular = {pipe: r" \(it is not a regular", link: r" \(it is not a regular"}
    assert_refused(
        (
            (path, rf"^{path}: cannot be written{irregular.get(path, '')}")
            for path in (pipe, link, folder, loop)
        ),
        lambda path: write_atomically(path, b"content"),
        StoreError,
    )
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()
    assert loop.is_symlink()
    assert {p.name for p in tmp_path.iterdir()} == {"folder", "link", "loop", "pipe"}


# Archives: what a file states is compared with its schema before anything is unpacked


SCHEMA = Schema(
    "test",
    {"name": str, "size": float, "count": int, "done": bool},
    {"numbers": ArraySchema("float64", 2), "part *": ArraySchema()},
)
HEADER = {"kind": "test", "name": "a", "size": 0.5, "count": 3, "done": True}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "file.npz"
    arrays = {"numbers": np.ones((2, 3)), "part 0": np.arange(4), "part 1": np.array(True)}
    write_archive(path, HEADER, arrays)
    return path


def test_what_fits_its_schema_is_read_whatever_machine_wrote_its_numbers(stored: Path) -> None:
    header, arrays = read_archive(stored, SCHEMA, lambda header: {"numbers": (2, header["count"])})
    assert header == HEADER
    assert set(arrays) == {"numbers", "part 0", "part 1"}
    np.testing.assert_array_equal(arrays["part 0"], np.arange(4))
    right = np.arange(6.0).reshape(2, 3)
    for written in (right.astype(">f8"), np.asfortranarray(right)):
        numbers = read_archive(forge(stored, numbers=written), SCHEMA)[1]["numbers"]
        assert numbers.dtype.isnative
        np.testing.assert_array_equal(numbers, right)


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


def test_a_wrong_header_or_array_is_named(stored: Path) -> None:
    whole = stored.read_bytes()

    def read(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        stored.write_bytes(whole)
        read_archive(forge(stored, header, **arrays), SCHEMA, lambda _: {"numbers": (2, 3)})

    rows = (
        *((header, {}, message) for header, message in HEADERS),
        *(({}, arrays, message) for arrays, message in ARRAYS),
    )
    told = f"^{re.escape(str(stored))}: .*"
    assert_refused(
        ((header, arrays, told + re.escape(message)) for header, arrays, message in rows),
        read,
        StoreError,
    )


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
    stored: Path, file: Path, table: Any
) -> None:
    overstate(file, "probabilities", (200_000_000, 2))
    whole = stored.read_bytes()
    refusals = [
        (lambda: load_policy(file, table), "probabilities has the shape (200000000, 2); expected")
    ]
    for shape, alone, message in (
        ((200_000_000, 2), False, f"bytes; at most {LARGEST:,} are read"),
        # Sizes that do not agree with the archive's directory.
        *(
            (shape, True, "not a file of solvent's, or damaged")
            for shape in ((-1, 2), (-1, -1), (2**40, 2**40), (10_000_000, 2))
        ),
    ):
        other = stored.with_name(f"{shape}-{alone}.npz")
        other.write_bytes(whole)
        overstate(other, "part 0", shape, alone=alone)
        refusals.append((partial(read_archive, other, SCHEMA), message))
    for read, message in refusals:
        said, taken = peak(read)
        assert message in said
        assert taken < 2**20
