"""Whatever file the command is given, it answers in one line, and never reads without end."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest
from bad_files import CONTENTS, bad_files, forge
from gamebooks import changed, mill
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.exact import save_policy
from solvent.games import Pig
from solvent.games.gamebook.loader import check_book
from solvent.model import TabularPolicy, compile_game

DEEP = "[" * 100_000


def line(*words: object) -> str:
    """The one line with which a command refuses."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    [told] = result.stderr.splitlines()
    assert told.startswith("solvent: ")
    longest = max((len(str(word)) for word in words if Path(str(word)).is_absolute()), default=0)
    assert len(told) < 600 + longest
    return told


@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        ("score FILE", ".npz"),
        ("score FILE pig --target 4", ".npz"),
        ("play pig --target 4 --against FILE", ".npz"),
        ("chart check FILE", ".csv"),
        ("chart points FILE", ".json"),
        ("solve football-drive --chart FILE", ".json"),
        ("solve football-strategy --expected-points FILE", ".json"),
        ("book import FILE --out OUT", ".twee"),
        ("book import FILE --out OUT", ".json"),
        ("report --in FILE", ""),
        ("report --solution FILE", ""),
        ("score optimal --solution FILE", ""),
    ],
)
def test_a_bad_file_is_one_line(command: str, suffix: str, tmp_path: Path) -> None:
    for path in bad_files(tmp_path, suffix):
        # A line of text is a story of one passage, and so on: what is read without an error.
        if (command.split()[0], suffix) == ("book", ".twee") and path.stem in CONTENTS:
            continue
        line(*command.replace("FILE", str(path)).replace("OUT", str(tmp_path / "out")).split())


def test_a_book_of_faults_is_not_read_to_the_end(tmp_path: Path) -> None:
    """Neither one of 300,000 unknown keys at one place, which took a minute, nor at many."""
    keys = [f"unknown{number}: 1" for number in range(300_000)]
    flags = [f"  x{number}: {{{', '.join(keys[:10])}}}" for number in range(2_000)]
    path = tmp_path / "book.yaml"
    for text, least in (
        ("\n".join([mill(), *keys]), 1),
        (changed(("flags:\n", "\n".join(["flags:", *flags, ""]))), 1_000),
    ):
        path.write_text(text, encoding="utf-8")
        began = process_time()
        found = check_book(path)
        assert process_time() - began < 2
        assert least <= len(found) <= 1_000
        assert f"{path} has " in line("book", "check", path)


def test_bad_results_are_one_line(tmp_path: Path) -> None:
    for content in CONTENTS.values():
        (tmp_path / "results.json").write_bytes(content)
        line("report", "--in", tmp_path)


@pytest.mark.parametrize(
    "metadata",
    [
        {"request": 3},
        {"request": {"environment": ["a"]}},
        {"request": {"environment": "solvent/Pig-v0", "env_kwargs": [1]}},
        {"request": {"environment": "nothing"}},
        {"request": {}},
    ],
)
def test_metadata_is_not_believed(metadata: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    save_policy(path, TabularPolicy.uniform(compile_game(Pig(target=4))))
    forge(path, {"metadata": metadata})
    assert str(path) in line("score", path)
    forge(path, {"kind": "network"})
    assert str(path) in line("score", path)
    forge(path, {"kind": "checkpoint"})
    assert "holds a checkpoint, not a policy" in line("score", path)


@pytest.mark.parametrize(
    "asked",
    [
        {"environment": ["a"]},
        {"environment": {}},
        {"environment": None},
        {"environment": "solvent/FFCombat-v0", "env_kwargs": []},
        {"environment": "solvent/FFCombat-v0", "env_kwargs": "luck"},
        {"environment": "solvent/FFCombat-v0", "env_kwargs": {"luck": {}}},
        {"environment": "solvent/FFCombat-v0"},
        {"env_kwargs": None},
        {},
        3,
    ],
)
def test_the_record_beside_a_network_is_not_believed(asked: object, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "model.zip").write_bytes(b"")
    record = {"request": asked, "result": None}
    (tmp_path / "run.json").write_text(json.dumps(record))
    line("score", tmp_path / "model.zip", "ff-combat", "--luck", "3", "--trust")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "FrozenLake-v1", "--map-name", "x"], "FrozenLake-v1 cannot be made (KeyError"),
        (["solve", "FrozenLake-v1", "--desc", '["x"]'], "FrozenLake-v1"),
        (["solve", "FrozenLake-v1", "--desc", DEEP], "nested too deeply"),
        (["solve", "ff-combat", "--luck", DEEP], "nested too deeply"),
        (["solve", "ff-combat", "--luck", "9" * 5000], "luck is '999"),
        (["solve", "ff-combat", "--luck", "x" * 100_000], "luck is 'xxx"),
        (["solve", "ff-combat", "--modifiers", "3"], "modifiers is 3; allowed is a mapping"),
        (["solve", "ff-combat", "--luck", json.dumps({"1": "1e999999999"})], "has weight '1e99"),
        (["solve", "football-strategy", "--expected-points", "3"], "expected_points is 3; allowed"),
        (["solve", "x" * 100_000], "no game or environment 'xxx"),
        (["list", "x" * 100_000], "no game or environment 'xxx"),
        (["solve", "pig", "y" * 100_000], "the word 'yyy"),
        (["solve", "pig", f"--{'z' * 100_000}"], "zzz"),
        (["play", "pig", "--target", "4", "--against", "x" * 100_000], "baseline of pig is 'xxx"),
    ],
)
def test_a_bad_parameter_is_one_line(words: list[str], message: str) -> None:
    assert message in line(*words)
