"""Games declare themselves; what is wrong with a declaration is one line and harms no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from solvent.model import registry
from solvent.model.registry import (
    Environment,
    GameSpec,
    find_spec,
    load,
    make_game,
    register_game,
)

GAME = """
from fractions import Fraction
import numpy as np
from solvent.model import GameInfo, Outcome
from solvent.model.registry import GameSpec

class Coin:
    def __init__(self, title="coin"):
        self.info = GameInfo(title, 1, (("stop", "go"),), True, (0, 1), ("a coin",), (), ("heads",))
    def initial(self): return (Outcome(Fraction(1), 0),)
    def is_terminal(self, state): return state == 1
    def legal_actions(self, state): return ((0, 1),)
    def transition(self, state, joint): return (Outcome(Fraction(1), 1, joint[0]),)
    def observe(self, state, player): return np.array([state], np.float32)
    def draw(self, state): return str(state)

class State: pass
broken = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "coin_game.py"
    path.write_text(GAME, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"environments": ("x",)}, "environments of the game mine is"),
        ({"environments": {"mine/Bad Name-v0": Environment()}}, "has 'mine/Bad Name-v0'"),
        ({"environments": {"mine/B-v0": {}}}, "mine/B-v0 of the game mine is {}"),
        ({"environments": {"mine/B-v0": Environment(parameters=[1])}}, "allowed is an Environment"),  # type: ignore[arg-type]
        ({"pettingzoo": True}, "pettingzoo of the game mine is True"),
        ({"commands": ["x"]}, "commands of the game mine"),
    ],
)
def test_a_field_that_cannot_be_registered_is_refused_at_once(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        GameSpec(name="mine", make="mine:Mine", **fields)


def test_nobody_takes_a_word_of_another_game() -> None:
    first = GameSpec(name="test-first", make="a:A", environments={"first/A-v0": Environment()})
    register_game(first)
    register_game(first)
    for other in (
        GameSpec(name="test-first", make="b:B"),
        GameSpec(name="test-second", make="b:B", environments={"first/A-v0": Environment()}),
        GameSpec(name="test-second", make="b:B", shorthands={"test-first": {}}),
    ):
        with pytest.raises(ValueError, match=r"is taken by the game test-first$"):
            register_game(other)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nocolon", "a reference is 'nocolon'; allowed is 'module:name'"),
        ("no_such_module:X", "no_such_module:X cannot be loaded: No module named"),
        ("solvent.model:Absent", "solvent.model:Absent cannot be loaded: .* no attribute 'Absent'"),
    ],
)
def test_a_reference_to_nothing_names_itself(reference: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(reference)


def test_a_game_is_found_by_its_file_and_class(file: Path) -> None:
    assert make_game(str(file)).info.name == "coin"
    assert make_game(f"{file}:Coin", title="penny").info.name == "penny"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.py", r"^absent.py: there is no such file$"),
        ("{file}:State", "allowed are a GameSpec, a class of games"),
        ("{file}:broken", "is 3; allowed are a GameSpec"),
        ("{file}:Absent", "cannot be loaded: AttributeError"),
        ("no_such_module:Game", "cannot be loaded: ModuleNotFoundError"),
        (":Game", "the game ':Game' cannot be loaded"),
        ("coin", "game is 'coin'; allowed are"),
    ],
)
def test_what_is_no_game_is_refused_in_one_line(name: str, message: str, file: Path) -> None:
    with pytest.raises(ValueError, match=message):
        find_spec(name.format(file=file))


def test_a_game_and_its_spec_have_one_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is registered here is forgotten again.
    monkeypatch.setattr(registry._registry(), "specs", dict(registry._registry().specs))
    register_game(GameSpec(name="test-named", make=find_spec(str(file)).maker()))
    with pytest.raises(ValueError, match="'test-named' calls itself 'coin'"):
        make_game("test-named")
    register_game(GameSpec(name="test-other", make="solvent.test:A"))
    with pytest.raises(ValueError, match="calls itself 'test-other', which is the name of another"):
        make_game(f"{file}:Coin", title="test-other")


def test_files_of_one_name_are_two_modules(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / file.name
    other.parent.mkdir()
    other.write_text(GAME.replace('"coin"', '"other"'), encoding="utf-8")
    assert make_game(str(file)).info.name == "coin"
    assert make_game(str(other)).info.name == "other"
