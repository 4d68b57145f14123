"""docs/adding-a-game.md, followed literally: a package from outside has everything ours have."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from doc_pages import DOCS
from interpreters import fresh
from parlour_games import PACKAGE

from solvent.model.registry import GameSpec

SOURCE = Path(__file__).parents[1]

# Runs commands in one process, which imports torch once.
RUN = """
import sys
from typer.testing import CliRunner
from solvent.cli.app import app

for words in {commands!r}:
    done = CliRunner().invoke(app, words, input="q\\n")
    print("$", *words)
    print(done.output)
    if done.exit_code:
        sys.exit(f"{{words}} ended with {{done.exit_code}}: {{done.exception!r}}")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page's files, with what was installed from it in ``installed``."""
    folder = tmp_path_factory.mktemp("parlour")
    shutil.copytree(PACKAGE, folder, dirs_exist_ok=True)
    # Nothing is fetched.
    install = "-m pip install --quiet --disable-pip-version-check --no-index --no-deps"
    words = [*install.split(), "--no-build-isolation", "--target", "installed", "."]
    subprocess.run([sys.executable, *words], cwd=folder, check=True, timeout=300)
    return folder


def blocks(kind: str) -> list[tuple[str, str]]:
    """The titles and contents of the page's blocks of a kind."""
    page = (DOCS / "adding-a-game.md").read_text(encoding="utf-8")
    fenced = rf'^( *)```{kind}(?: title="([^"]*)")?\n(.*?)^\1```'
    found = re.findall(fenced, page, re.MULTILINE | re.DOTALL)
    return [(title, textwrap.dedent(text)) for _, title, text in found]


def commands(*beginnings: str) -> list[str]:
    """The commands of the page that begin so, in their order, each without its prompt."""
    lines = [line for _, text in blocks("console") for line in text.splitlines()]
    assert all(line.startswith("$ ") for line in lines)
    return [line[2:] for line in lines if line[2:].startswith(beginnings)]


def run(code: str, folder: Path, *paths: Path) -> str:
    """What a fresh Python prints, with the package installed and perhaps other paths before it."""
    before = os.pathsep.join(str(path) for path in [*paths, folder / "installed", SOURCE])
    return fresh(code, cwd=folder, env={**os.environ, "PYTHONPATH": before, "COLUMNS": "100"})


def solvent(folder: Path, commands: Sequence[str], *paths: Path) -> str:
    """What commands print, each written as on the page."""
    words = [shlex.split(command)[1:] for command in commands]
    return run(RUN.format(commands=words), folder, *paths)


@pytest.mark.slow
def test_all_commands_of_the_page_in_their_order(package: Path) -> None:
    shown = solvent(package, commands("solvent "))
    assert "parlour/ThreeRolls-v0" in shown
    assert "4.666667" in shown
    assert (package / "rolls" / "policy.npz").is_file()
    assert "parlour-nim" in (package / "nim.html").read_text(encoding="utf-8")
    assert "three-rolls" in (package / "bench" / "report.html").read_text(encoding="utf-8")


def test_each_python_block_of_the_page_runs_alone(package: Path) -> None:
    alone = [text for title, text in blocks("python") if title == "in Python"]
    assert len(alone) == 2
    run(f"for block in {alone!r}: exec(block, {{}})", package)


def test_the_reference_names_every_field_of_a_spec() -> None:
    unnamed = [f.name for f in fields(GameSpec) if f"\n        {f.name}: " not in GameSpec.__doc__]
    assert unnamed == []


def test_the_tests_of_the_page(package: Path) -> None:
    run(
        "import sys, pytest; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', "
        "'test_parlour_games.py']))",
        package,
    )


EVERY_WAY = """
import gymnasium as gym
import pettingzoo
import solvent
from solvent.model.registry import game_specs

env = gym.make("parlour/ThreeRolls-v0")
assert env.spec.reward_threshold == 14 / 3
env.reset(seed=1)
envs = gym.make_vec("parlour/ThreeRolls-v0", num_envs=3)
envs.reset(seed=1)
seat = gym.make("parlour/Nim-v0", opponent="optimal", heaps=[1, 2, 3])
seat.reset(seed=1)
seats = gym.make_vec("parlour/Nim-v0", num_envs=3, opponent="optimal")
seats.reset(seed=1)
two = pettingzoo.make("aec", "solvent/parlour-nim-v0")
two.reset(seed=1)

# Bouton's theorem: whoever is to move loses exactly if the exclusive or of all heaps is 0.
lost = solvent.solve(solvent.make_game("parlour-nim", heaps=[1, 2, 3]))
won = solvent.solve(solvent.make_game("parlour-nim", heaps=[1, 2, 2]))
assert (lost.value, won.value) == (-1, 1)
print(sorted(game_specs()))
"""


def test_every_registry_has_the_games(package: Path) -> None:
    assert "'parlour-nim'" in run(EVERY_WAY, package)


def test_a_game_may_be_imported_before_solvent(package: Path) -> None:
    first = "import warnings; warnings.simplefilter('ignore'); import parlour_games, solvent\n"
    assert "'parlour-nim'" in run(f"{first}solvent.register_envs()\n{EVERY_WAY}", package)
    warned = run("import sys; sys.stderr = sys.stdout; import parlour_games", package)
    assert "import solvent first, or call solvent.register_envs()" in warned


ALONE = """
import importlib, pkgutil, pathlib
import solvent

assert pathlib.Path(solvent.__file__).parent.parent == pathlib.Path({bare!r})
for module in pkgutil.walk_packages(solvent.__path__, "solvent."):
    assert not module.name.startswith("solvent.games")
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
import gymnasium as gym
import pettingzoo
from solvent.model.registry import game_specs
from solvent.training import train

table = solvent.compile_game(solvent.make_game("three-rolls"))
assert abs(solvent.solve(table).value - 14 / 3) < 1e-12
gym.make_vec("parlour/ThreeRolls-v0", num_envs=2).reset(seed=0)
gym.make("parlour/Nim-v0").reset(seed=0)
pettingzoo.make("aec", "solvent/parlour-nim-v0").reset(seed=0)
result = train("parlour/ThreeRolls-v0", timesteps=256, folder="alone", progress=False)
assert result.score.optimality_gap >= 0
both = train("parlour/Nim-v0", self_play=True, timesteps=256, folder="seats", progress=False)
assert min(score.optimality_gap for score in both.scores) >= 0
print(sorted(game_specs()))
"""


@pytest.mark.slow
def test_without_the_games_of_this_package_all_works(package: Path, tmp_path: Path) -> None:
    # Kernels that are compiled already come along; what is just being written does not.
    left_out = shutil.ignore_patterns("games", "*.tmp.*", "*.pyc.*")
    shutil.copytree(SOURCE / "solvent", tmp_path / "solvent", ignore=left_out)
    told = run(ALONE.format(bare=str(tmp_path)), package, tmp_path)
    assert told == "['parlour-nim', 'three-rolls']\n"


WRONG = """
from dataclasses import dataclass
from solvent.model.registry import Environment, GameSpec

class Unread(dict):
    def __iter__(self):
        raise RuntimeError("these shorthands cannot be read")

@dataclass(frozen=True, kw_only=True)
class Noted(Environment):
    note: str = ""

unread = GameSpec(name="unread", make="m:f", shorthands=Unread())
taken = GameSpec(name="taken", make="m:f", environments={"Taken-v0": Environment()})
noted = GameSpec(name="noted", make="m:f", environments={"wrong/Noted-v0": Noted()})

def __getattr__(name):
    raise SystemExit(f"no licence for {name}")
"""

IMPORTED = """
import warnings
import gymnasium
gymnasium.register("Taken", entry_point="somebody:else")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import solvent
    import pettingzoo
for warning in caught:
    print(warning.category.__name__, warning.message)
print({"solvent/Pig-v0", "wrong/Noted-v0"} <= {*gymnasium.registry})
"""


def test_a_package_that_cannot_be_loaded_harms_nobody(package: Path, tmp_path: Path) -> None:
    info = tmp_path / "wrong-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 1.0\n")
    points = ["missing = no_such_module:SPEC", "unnamed = ???"]
    points += [f"{name} = wrong:{name}" for name in ("ends", "unread", "taken", "noted")]
    (info / "entry_points.txt").write_text("\n".join(["[solvent.games]", *points]))
    (tmp_path / "wrong.py").write_text(WRONG)
    shown = solvent(package, ["solvent list", "solvent solve parlour-nim"], tmp_path)
    causes = {
        "missing": "No module named 'no_such_module'",
        "unnamed": "AttributeError",
        "ends": "no licence for ends",
        "unread": "these shorthands cannot be read",
    }
    for name, cause in causes.items():
        [line] = [line for line in shown.splitlines() if line.startswith(f"{name} cannot be")]
        assert cause in line
    *warned, registered = run(IMPORTED, package, tmp_path).splitlines()
    assert registered == "True"
    for name, cause in {**causes, "taken": "Taken-v0"}.items():
        [line] = [line for line in warned if line.startswith(f"UserWarning the game {name} of")]
        assert cause in line
