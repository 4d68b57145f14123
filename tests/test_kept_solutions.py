"""What took long to solve is kept, checked when it is opened, and never more than is allowed."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest

from solvent.exact import solve
from solvent.games import FightingFantasy, Pig
from solvent.play import kept
from solvent.play.kept import kept_folder, solve_or_open

GAME = FightingFantasy(stamina=4, opponent_stamina=4, luck=3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which everything is kept, however soon it was solved."""
    monkeypatch.setenv("SOLVENT_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(kept, "LONG", -1.0)
    return tmp_path / "kept"


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("solved again")


def test_a_table_is_solved_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = solve_or_open(GAME)
    assert [path.suffix for path in folder.iterdir()] == [".npz"]
    monkeypatch.setattr(kept, "solve", never)
    second = solve_or_open(GAME)
    assert (second.value, second.lower, second.upper) == (first.value, first.lower, first.upper)
    state = GAME.initial()[0].state
    assert second.action_values(state, 0) == first.action_values(state, 0)
    with pytest.raises(AssertionError, match="solved again"):
        solve_or_open(FightingFantasy(stamina=4, opponent_stamina=4, luck=2))


@pytest.mark.parametrize("damage", ["cut", "changed", "another game's"])
def test_a_file_that_is_not_what_was_kept_is_replaced(folder: Path, damage: str) -> None:
    value = solve_or_open(GAME).value
    [file] = folder.iterdir()
    content = file.read_bytes()
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        file.write_bytes(content[:-200] + bytes(100) + content[-100:])
    else:
        solve_or_open(Pig(target=6))
        [other] = set(folder.iterdir()) - {file}
        other.replace(file)
    assert solve_or_open(GAME).value == value
    assert file.stat().st_size == len(content)


def test_what_is_solved_soon_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LONG", 1e9)
    solve_or_open(GAME)
    assert not folder.exists()


def test_it_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLVENT_CACHE", "off")
    assert kept_folder() is None
    assert solve_or_open(GAME).value == solve(GAME).value
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_to_is_no_reason_not_to_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("SOLVENT_CACHE", str(tmp_path / "file" / "kept"))
    monkeypatch.setattr(kept, "LONG", -1.0)
    assert solve_or_open(GAME).value == solve(GAME).value


def test_the_oldest_make_room_and_other_files_stay(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve_or_open(GAME)
    [old] = folder.iterdir()
    os.utime(old, (1, 1))
    mine = folder / "notes.txt"
    mine.write_text("mine")
    solve_or_open(Pig(target=6))
    assert old.exists()
    room = sum(path.stat().st_size for path in folder.glob("*.npz"))
    monkeypatch.setattr(kept, "MOST_BYTES", room)
    solve_or_open(FightingFantasy(stamina=4, opponent_stamina=4, luck=2))
    assert not old.exists()
    assert mine.exists()
    assert len(list(folder.glob("*.npz"))) == 2


def test_layers_of_other_code_have_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers are made by code, so that a rule that is changed there is solved again."""
    package = tmp_path / "own_layers"
    package.mkdir()
    (package / "__init__.py").write_text("class Layers:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    layers: Any = importlib.import_module("own_layers").Layers()
    before = kept._code(layers)
    assert kept._code(layers) == before
    (package / "rules.py").write_text("YARDS = 10\n")
    assert kept._code(layers) != before
