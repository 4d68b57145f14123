"""What took long to compute is kept, found only if it is the same, and never believed unchecked."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from refusals import assert_refused

from solvent.exact.solver import cached_solution, solve_table
from solvent.games import FightingFantasy, FootballStrategy, Greed, Pig
from solvent.model import Game, cache, cached_table, compile_game, compiled, make_game, table_cache
from solvent.model.cache import Packed, kept, read_entry, write_entry
from solvent.model.table_cache import (
    UnpackableError,
    find_class,
    pack_states,
    unpack_states,
)

GAME = FightingFantasy(stamina=4, opponent_stamina=4, luck=3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which everything is kept, however soon it was computed."""
    monkeypatch.setenv("SOLVENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "LONG", -1.0)
    return tmp_path / "cache"


class Counted:
    """Numbers that are made as often as nobody has kept them."""

    def __init__(self) -> None:
        self.made = 0

    def make(self) -> NDArray[Any]:
        self.made += 1
        return np.arange(1000.0)

    def get(self, **identity: Any) -> NDArray[Any]:
        return kept(
            {"what": "numbers", **identity},
            self.make,
            lambda numbers: Packed({"unit": "none"}, {"numbers": numbers, "empty": np.empty(0)}),
            lambda packed: packed.arrays["numbers"],
        )


def test_it_is_made_once(folder: Path) -> None:
    counted = Counted()
    for _ in range(3):
        np.testing.assert_array_equal(counted.get(), np.arange(1000.0))
    assert counted.made == 1
    assert len(list(folder.iterdir())) == 1
    counted.get(other=1)
    assert counted.made == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "header", "another's", "empty"])
def test_what_is_not_what_was_kept_is_made_anew_and_replaced(folder: Path, damage: str) -> None:
    counted = Counted()
    counted.get()
    [file] = folder.iterdir()
    whole = file.read_bytes()
    if damage == "another's":
        counted.get(other=1)
        [other] = set(folder.iterdir()) - {file}
        other.replace(file)
        counted.made = 1
    else:
        file.write_bytes(
            {
                "cut": whole[: len(whole) // 2],
                "changed": whole[:2000] + bytes(8) + whole[2008:],
                "header": whole.replace(b'"unit": "none"', b'"unit": "nine"'),
                "empty": b"",
            }[damage]
        )
        assert file.read_bytes() != whole
    np.testing.assert_array_equal(counted.get(), np.arange(1000.0))
    assert counted.made == 2
    counted.get()
    assert counted.made == 2


@pytest.mark.parametrize("word", ["off", "OFF", "0"])
def test_it_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("SOLVENT_CACHE", word)
    Counted().get()
    assert cache.cache_folder() is None
    assert not folder.exists()


def test_the_folder_may_be_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLVENT_CACHE", "~/kept")
    assert cache.cache_folder() == Path.home() / "kept"


def test_several_may_write_and_read_at_the_same_time(folder: Path) -> None:
    path, numbers = folder / ("0" * 64), np.arange(50_000)

    def used(k: int) -> bool:
        if k % 2:
            write_entry(path, Packed({}, {"numbers": numbers}))
        read = read_entry(path)
        return read is None or np.array_equal(read.arrays["numbers"], numbers)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(used, range(40)))
    assert read_entry(path) is not None
    assert list(folder.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_to_does_no_harm(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write_text("mine")
    assert len(Counted().get()) == 1000
    monkeypatch.setenv("SOLVENT_CACHE", str(folder / "below"))
    assert len(Counted().get()) == 1000
    assert folder.read_text() == "mine"


def test_other_code_has_other_entries(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted()
    counted.get()
    [(name, size, when), *files] = cache.code_version()
    monkeypatch.setattr(cache, "code_version", lambda: [(name, size, when + 1), *files])
    counted.get()
    assert counted.made == 2


# NumPy 2.1 leaves the archive for Python to close.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk_does_no_harm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Any, *_: Any, **__: Any) -> None:
        file.write(b"solvent")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    assert len(Counted().get()) == 1000
    assert list(folder.iterdir()) == []


def test_the_longest_unused_make_room_and_other_files_stay(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted()
    counted.get()
    [old] = folder.iterdir()
    counted.get(other=1)
    notes, left = folder / "notes.txt", folder / f".solvent-{'0' * 16}"
    notes.write_text("mine")
    left.write_text("of a writer that was killed")
    for path in (old, left):
        os.utime(path, (1, 1))
    monkeypatch.setattr(cache, "MOST_BYTES", 3 * old.stat().st_size)
    counted.get()
    assert old.stat().st_mtime > 1  # It was used again.
    counted.get(other=2)
    assert len(list(folder.iterdir())) == 4
    os.utime(old, (1, 1))
    counted.get(other=3)
    assert not old.exists()
    kept = set(folder.iterdir()) - {notes}
    assert sum(path.stat().st_size for path in kept) <= cache.MOST_BYTES


SMALL: list[Game] = [GAME, Pig(target=6), Greed(limit=9, sides=4), make_game("gamebook")]


@pytest.mark.parametrize("game", SMALL, ids=lambda game: game.info.name)
def test_a_table_that_was_kept_is_the_one_that_is_compiled(
    folder: Path, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_table(game)
    made = compile_game(game)
    with monkeypatch.context() as patched:
        patched.setattr(table_cache, "compile_game", never)
        read = cached_table(game)
    assert repr(read.states[-1]) == repr(made.states[-1])
    assert list(map(repr, read.states)) == list(map(repr, made.states))
    assert read.info == made.info
    assert tuple(read.states) == tuple(made.states)
    names = (*table_cache.ARRAYS, "turn")
    parts = [(*(getattr(t, n) for n in names), *t.mask, *t.observation) for t in (read, made)]
    for own, other in zip(*parts, strict=True):
        np.testing.assert_array_equal(own, other, strict=True)
    stated = read.model_hash
    del vars(read)["model_hash"]
    assert read.model_hash == stated == made.model_hash


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("solved again")


def test_a_solution_that_was_kept_is_the_one_that_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = compile_game(GAME)
    first, found = cached_solution(table), solve_table(table)
    monkeypatch.setattr("solvent.exact.solver.solve_table", never)
    for own in (first, cached_solution(table)):
        for name in ("value", "lower", "upper", "method", "model_hash"):
            assert getattr(own, name) == getattr(found, name)
        np.testing.assert_array_equal(own.values, found.values)
        np.testing.assert_array_equal(own.action_values, found.action_values)
        for policy, other in zip(own.policies, found.policies, strict=True):
            assert (policy.player, policy.name) == (other.player, other.name)
            np.testing.assert_array_equal(policy.probabilities, other.probabilities)
    others = ((table, 1e-6, "solved again"), (compile_game(Pig(target=6)), None, "solved again"))
    assert_refused(
        others, lambda game, tolerance: cached_solution(game, tolerance=tolerance), AssertionError
    )


@dataclass(frozen=True)
class OfATest(Pig):
    """Rules of a module that is in no package."""


def test_what_nothing_tells_for_certain_is_not_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert table_cache.game_identity(Pig(target=6)) is not None
    assert table_cache.game_identity(Pig(target=6)) != table_cache.game_identity(Pig(target=7))
    cached_table(OfATest(target=6))
    monkeypatch.chdir(tmp_path)
    chart = FootballStrategy()
    assert table_cache.game_identity(chart) is not None
    (tmp_path / "standard").write_text("the name of a file, from now on")
    assert table_cache.game_identity(chart) is None
    assert not folder.exists()


PACKAGE = __name__.partition(".")[0]


class Spot(NamedTuple):
    """A state with some of everything."""

    name: str
    way: tuple[Any, ...]
    chance: Fraction | None = None
    open: bool = False
    height: float = 0.5


@dataclass(frozen=True)
class Room:
    number: int
    spot: Spot


STATES = [
    Spot("a", (1, -2)),
    Spot("b", (), Fraction(1, 3), True),
    Room(10**12, Spot("é", ("x", (None,)))),
    "over",
    7,
    True,
    (1, (2, (3,))),
    None,
]


def test_states_are_what_they_were() -> None:
    names, text = pack_states(STATES)
    classes = [find_class(name, PACKAGE) for name in names]
    states = unpack_states(classes, np.frombuffer(text.encode(), np.uint8))
    assert list(map(repr, states)) == list(map(repr, STATES))


@pytest.mark.parametrize("state", [np.int64(3), frozenset({1}), object()])
def test_states_of_other_kinds_are_not_stored(state: Any) -> None:
    with pytest.raises(UnpackableError):
        pack_states([(1, state), (2, state)])


def test_a_file_names_no_class_of_another_package() -> None:
    names = ("subprocess:Popen", f"{__name__}:Counted", f"{__name__}:Nobody")
    rows = [(name, PACKAGE, "not a class of") for name in names]
    assert_refused(rows, find_class, UnpackableError)


def test_where_compiled_code_cannot_be_kept_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a container whose user has no home and may not write to the package."""
    assert compiled.cached
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    monkeypatch.setattr(compiled, "cached", True)
    assert compiled.njit()(abs_of)(-2) == 2
    assert not compiled.cached


def abs_of(number: int) -> int:
    return abs(number)
