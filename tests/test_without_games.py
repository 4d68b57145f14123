"""With ``games/`` deleted the toolkit still works, on the games of a package from outside."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from parlour_games import install, write_package

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"


NAMES_A_GAME = re.compile(
    r"solvent\.games|solvent/[A-Z]\w+-v0|make_game\(\"(?!parlour-nim|three-rolls)"
)


def modules(file: Path) -> Iterator[str]:
    """The modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def needs_a_game(file: Path) -> bool:
    """Whether a test, or a helper or fixture that it uses, takes one of this package's games."""
    fixtures = [
        conftest for folder in file.parents if (conftest := folder / "conftest.py").exists()
    ]
    left, seen = [file], set()
    used = set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    for conftest in fixtures:
        named = set(re.findall(r"fixture[^\n]*\ndef (\w+)", conftest.read_text(encoding="utf-8")))
        if conftest != file and named & used:
            left.append(conftest)
    while left:
        one = left.pop()
        seen.add(one)
        if NAMES_A_GAME.search(one.read_text(encoding="utf-8")):
            return True
        for module in modules(one):
            helper = TESTS / "helpers" / f"{module}.py"
            if helper.exists() and helper not in seen:
                left.append(helper)
    return False


def generic_tests() -> list[Path]:
    """The files of tests that take no game of this package."""
    packages = ("model", "exact", "envs", "baselines", "training", "report", "tabular")
    files = [file for package in packages for file in sorted((TESTS / package).rglob("test_*.py"))]
    return [file for file in files if not needs_a_game(file)]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for ``PYTHONPATH``: the package without games, and the parlour games."""
    folder = tmp_path_factory.mktemp("bare")
    # Kernels that are compiled already come along; what is just being written does not.
    shutil.copytree(
        ROOT / "solvent",
        folder / "solvent",
        ignore=shutil.ignore_patterns("games", "*.tmp.*", "*.pyc.*"),
    )
    write_package(folder)
    install(folder, folder)
    return folder


def run(bare: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=bare,
        env={**os.environ, "PYTHONPATH": str(bare)},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


ALONE = """
import importlib, pkgutil, pathlib
import solvent

assert str(pathlib.Path(solvent.__file__).parent.parent) == {bare!r}
for module in pkgutil.walk_packages(solvent.__path__, "solvent."):
    assert not module.name.startswith("solvent.games")
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
import gymnasium as gym
import pettingzoo
from solvent.training import train

table = solvent.compile_game(solvent.make_game("three-rolls"))
assert abs(solvent.solve(table).value - 14 / 3) < 1e-12
gym.make_vec("parlour/ThreeRolls-v0", num_envs=2).reset(seed=0)
gym.make("parlour/Nim-v0").reset(seed=0)
pettingzoo.make("aec", "solvent/parlour-nim-v0").reset(seed=0)
result = train("parlour/ThreeRolls-v0", timesteps=256, folder="rolls", progress=False)
assert result.score.optimality_gap >= 0
both = train("parlour/Nim-v0", self_play=True, timesteps=256, folder="nim", progress=False)
assert min(score.optimality_gap for score in both.scores) >= 0
print(sorted(solvent.GAMES))
"""


def test_it_imports_solves_plays_and_trains(bare: Path) -> None:
    assert run(bare, "-c", ALONE.format(bare=str(bare))) == "['parlour-nim', 'three-rolls']\n"


def test_most_packages_have_generic_tests() -> None:
    packages = [file.relative_to(TESTS).parts[0] for file in generic_tests()]
    assert len(packages) >= 20
    assert {"model", "exact", "envs", "tabular"} <= set(packages)


@pytest.mark.slow
def test_the_generic_tests_pass(bare: Path) -> None:
    files = [str(file) for file in generic_tests()]
    config = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(TESTS)]
    # The installed package still declares the games.
    config += ["-W", "ignore:the game:UserWarning"]
    run(bare, "-m", "pytest", "-q", "-p", "no:cacheprovider", *config, *files)
