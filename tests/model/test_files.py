"""Files are read with a limit, JSON is what the standard says, and games are found by name."""

import math
import os
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from bad_files import CONTENTS, no_files
from refusals import assert_refused

import solvent
from solvent.baselines.named import own_baselines
from solvent.games import Pig
from solvent.model import cached_table, registry
from solvent.model.files import LOCK, StoreError, locked, parse_json, read_file
from solvent.model.registry import Environment, GameSpec, find_spec, load, make_game, register_game


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_file(path, 4)
    if sys.platform != "win32":
        link = tmp_path / "link"
        link.symlink_to(path)
        assert read_file(link, 5) == b"12345"


@pytest.mark.skipif(sys.platform == "win32", reason="has links and pipes of Unix")
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None  # noqa: PTH208
    # Each says its own.
    rows = ((path, "") for path in no_files(tmp_path, ".json"))
    assert_refused(rows, lambda path: read_file(path, 2**40), OSError)
    with pytest.raises(TypeError, match="not int"):
        read_file(1, 2**40)  # type: ignore[arg-type]  # The standard output, which stays open.
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_a_lock_that_is_a_link_empties_no_file(tmp_path: Path) -> None:
    """Somebody else's folder may have one; filelock followed it up to 3.20.0."""
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    (tmp_path / LOCK).symlink_to(kept)
    with pytest.raises(StoreError, match="cannot be written to"), locked(tmp_path):
        raise AssertionError
    assert kept.read_text() == "kept"


def test_json_is_what_the_standard_says() -> None:
    assert parse_json(b'{"a": [1, 2.5, null, true]}') == {"a": [1, 2.5, None, True]}
    wrong = ("NaN", "Infinity", "-Infinity", "[1e999]", '{"a": -1e400}', "[", "")
    assert_refused(((text, ".") for text in wrong), parse_json)
    assert math.isnan(parse_json('{"a": NaN}', nan=True)["a"])
    assert parse_json("[Infinity, -Infinity]", infinite=True) == [math.inf, -math.inf]
    rows = (
        ("Infinity", "nan", "Infinity is not allowed"),
        ("NaN", "infinite", "NaN is not allowed"),
        ("1e999", "infinite", "1e999 is too large"),
        *(
            (CONTENTS[name], "nan", "^it is nested too deeply$")
            for name in CONTENTS
            if "deep" in name
        ),
    )
    assert_refused(rows, lambda text, allowed: parse_json(text, **{allowed: True}))


# Games declare themselves; what is wrong with a declaration is one line and harms no other

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


NO_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"make": "mine"}, r"make of .* is 'mine'; expected a text 'module:name'"),
    ({"baselines": {"a": 1}}, r"baselines of .* is {'a': 1}; expected a text 'module:"),
    ({"solver": len}, r"solver of .* is <built-in function len>; expected a text 'module:"),
    ({"commands": ["x"]}, r"commands of .* is \['x'\]; expected a mapping"),
    ({"pettingzoo": True}, r"pettingzoo of .* is True; expected a mapping"),
    ({"environments": ("x",)}, r"environments of .* is \('x',\); expected a mapping"),
    ({"environments": {"mine/Bad Name-v0": Environment()}}, r"environments of .* has 'mine/Bad N"),
    ({"environments": {"mine/B-v0": {}}}, r"has 'mine/B-v0'; .* each with an Environment"),
]
NO_PLACES = [
    ("solvent.model:Absent", "solvent.model:Absent cannot be loaded: .*attribute.*Absent"),
]


def test_what_a_spec_cannot_have_is_refused_at_once_or_by_name() -> None:
    def spec(fields: dict[str, Any]) -> GameSpec:
        return GameSpec(**{"name": "test-bare", "make": "mine:Mine", **fields})

    assert_refused(NO_FIELDS, spec)
    assert_refused(NO_PLACES, load)
    bare = spec({"baselines": "string:digits"})
    assert_refused(
        [
            (own_baselines, bare, r"string:digits, the baselines of the game test-bare, is"),
            (register_game, {"name": "x"}, "spec of a game is {'name': 'x'}; expected a GameSpec"),
        ],
        lambda call, wrong: call(wrong),
    )


def test_nobody_takes_a_word_of_another_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry._registry(), "specs", dict(registry._registry().specs))
    first = GameSpec(name="test-first", make="a:A", environments={"first/A-v0": Environment()})
    register_game(first)
    register_game(first)
    others: tuple[dict[str, Any], ...] = (
        {"name": "test-first"},
        {"name": "test-second", "environments": {"first/A-v0": Environment()}},
        {"name": "test-second", "shorthands": {"test-first": {}}},
    )
    assert_refused(
        ((other, r"is taken by the game test-first$") for other in others),
        lambda other: register_game(GameSpec(make="b:B", **other)),
    )


NO_GAMES = [
    ("absent.py", r"^absent.py: there is no such file$"),
    ("{file}:State", "allowed are a GameSpec, a class of games"),
    ("{file}:broken", "is 3; allowed are a GameSpec"),
    ("{file}:Absent", "cannot be loaded: AttributeError"),
    ("no_such_module:Game", "cannot be loaded: ModuleNotFoundError"),
    (":Game", "the game ':Game' cannot be loaded"),
    ("{file.parent}/leaves.py", "cannot be loaded: SystemExit: 7$"),
    ("coin", "no game or environment 'coin'"),
]


def test_a_game_is_found_by_its_file_and_class_and_what_is_none_is_refused(file: Path) -> None:
    assert make_game(str(file)).info.name == "coin"
    assert make_game(f"{file}:Coin", title="penny").info.name == "penny"
    (file.parent / "leaves.py").write_text("raise SystemExit(7)")
    assert_refused(NO_GAMES, lambda name: find_spec(name.format(file=file)))


def test_a_game_and_its_spec_have_one_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is registered here is forgotten again.
    monkeypatch.setattr(registry._registry(), "specs", dict(registry._registry().specs))
    register_game(GameSpec(name="test-named", make=find_spec(str(file)).maker()))
    register_game(GameSpec(name="test-other", make="solvent.test:A"))
    other = "calls itself 'test-other', which is the name of another"
    assert_refused([
        (lambda: make_game("test-named"), "'test-named' calls itself 'coin'"),
        (lambda: make_game(f"{file}:Coin", title="test-other"), other),
    ])  # fmt: skip


def test_one_name_stands_for_a_game_everywhere() -> None:
    lake = gym.make("FrozenLake-v1")
    pig = {"target": 10}
    for subject, states in (
        ("FrozenLake-v1", 16),
        (lake, 16),
        (lake.unwrapped, 16),
        (solvent.make_game("FrozenLake-v1"), 16),
        (cached_table("FrozenLake-v1"), 16),
        ("random-walk", 7),
        ("solvent/RandomWalk-v0", 7),
        (gym.make("solvent/RandomWalk-v0"), 7),
        (solvent.make_game("pig", **pig), solvent.compile_game(Pig(**pig)).n_states),
    ):
        table = cached_table(subject)
        assert table.n_states == states, subject
        assert solvent.solve(subject).value == solvent.solve(table).value, subject
        first = solvent.TabularPolicy.uniform(table)
        assert solvent.score(subject, first).optimum == pytest.approx(solvent.solve(table).value)
    halves = (solvent.make_game(*name) for name in (("football",), ("solvent/FootballHalf-v0",)))
    assert len({half.info.name + str(half.info.parameters) for half in halves}) == 1
