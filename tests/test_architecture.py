"""The rooms of the package and who may import whom.

Every import statement under ``solvent/`` is read from its source, wherever it stands: an import
inside a function or under ``TYPE_CHECKING`` is an arrow like any other. No arrow runs upwards,
sampling and expectation never meet, and only the rooms that need a third-party package name it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "solvent"
FILES = sorted(PACKAGE.rglob("*.py"))


@dataclass(frozen=True)
class Room:
    """What the files of one room may import: other rooms, and third-party packages."""

    rooms: frozenset[str]
    packages: frozenset[str]
    packages_inside_functions: frozenset[str] = frozenset()


def room(rooms: str, packages: str, inside_functions: str = "") -> Room:
    return Room(
        frozenset(rooms.split()), frozenset(packages.split()), frozenset(inside_functions.split())
    )


ROOMS = {
    "model": room("", "numpy", inside_functions="pytest"),
    "games": room("model", "numpy"),
    "exact": room("model", "numpy scipy numba", inside_functions="ray"),
    "envs": room("model", "numpy gymnasium pettingzoo numba", inside_functions="pygame"),
    "baselines": room(
        "model games exact envs", "numpy scipy gymnasium pettingzoo numba", "sklearn"
    ),
    "training": room(
        "model games exact envs baselines",
        "numpy scipy gymnasium pettingzoo numba torch stable_baselines3 sb3_contrib tensorboard "
        "yaml rich",
    ),
    "report": room("model games exact baselines", "numpy jinja2", "scipy"),
    "play": room("model games exact baselines", "numpy"),
    "cli": room(
        "model games exact envs baselines training report play", "numpy gymnasium typer rich yaml"
    ),
    "__init__": room("model games exact envs baselines training report play", "numpy"),
    "__main__": room("cli", ""),
}

# Only where gamebook files are read: the games themselves need none of it.
PACKAGES_OF_FILES = {
    "games/gamebook/schema.py": "pydantic",
    "games/gamebook/source.py": "yaml",
    "games/gamebook/validation.py": "pydantic",
}

# Generic rooms do not know the games, except where a game is registered or made fast.
MAY_NAME_A_GAME = {
    "exact": ("exact/kernels/", "exact/formulas/"),
    "envs": ("envs/kernels/", "envs/registration.py"),
}


@dataclass(frozen=True)
class Import:
    """One imported module, with the line it stands on and whether a call must come first."""

    module: str
    line: int
    inside_function: bool


def imports(package: Path, file: Path) -> Iterator[Import]:
    """Every import of a file, absolute; relative ones are resolved against its folder."""
    folder = (package.name, *file.relative_to(package).parent.parts)
    return _imports(ast.parse(file.read_text(encoding="utf-8"), str(file)), folder, False)


def _imports(node: ast.AST, folder: tuple[str, ...], inside_function: bool) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield Import(alias.name, node.lineno, inside_function)
        case ast.ImportFrom(module=module, names=names, level=level):
            start = folder[: len(folder) - level + 1] if level else ()
            base = ".".join((*start, *([module] if module else [])))
            for alias in names:
                yield Import(f"{base}.{alias.name}", node.lineno, inside_function)
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(module)), *_],
        ):
            yield Import(module, node.lineno, inside_function)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            inside_function = True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            # Never executed, so as good as inside a function.
            inside_function = True
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, folder, inside_function)


def violations(package: Path) -> Iterator[str]:
    """Every import of a package's source tree that its room does not allow, one line each."""
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package).as_posix()
        name = path.split("/")[0].removesuffix(".py")
        if name not in ROOMS:
            yield f"{path}: {name} is not a room"
            continue
        for found in imports(package, file):
            reason = _forbidden(package.name, path, name, found)
            if reason:
                yield f"{path}:{found.line}: {reason}"


def _forbidden(root: str, path: str, name: str, found: Import) -> str | None:
    top, *rest = found.module.split(".")
    allowed = ROOMS[name]
    if top == root:
        target = rest[0] if rest else ""
        if target == "games" and path.startswith(MAY_NAME_A_GAME.get(name, ())):
            return None
        if target == name or target in allowed.rooms:
            return None
        if target == "__version__" and name in ("cli", "report", "training"):
            return None
        return f"{name} may not import {target or root}"
    if top in sys.stdlib_module_names or top in allowed.packages:
        return None
    if PACKAGES_OF_FILES.get(path) == top:
        return None
    if top in allowed.packages_inside_functions:
        return None if found.inside_function else f"{top} may be imported in functions only"
    return f"{name} may not import {top}"


def test_every_import_follows_the_arrows() -> None:
    assert list(violations(PACKAGE)) == []


def test_every_room_is_checked() -> None:
    # Guards against a checker that looks in the wrong place and finds nothing to complain about.
    seen = {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in FILES}
    assert seen >= set(ROOMS) - {"__main__"}


@pytest.mark.parametrize(
    ("path", "source", "reason"),
    [
        ("model/game.py", "from solvent.games import pig", "model may not import games"),
        ("model/game.py", "import scipy", "model may not import scipy"),
        ("model/game.py", "import solvent", "model may not import solvent"),
        ("model/game.py", "from solvent import solve", "model may not import solve"),
        ("games/pig.py", "from ..exact import solve", "games may not import exact"),
        ("games/pig.py", "def f():\n    import solvent.envs", "games may not import envs"),
        ("games/gamebook/book.py", "import pydantic", "games may not import pydantic"),
        ("games/gamebook/schema.py", "import yaml", "games may not import yaml"),
        ("exact/solve.py", "import solvent.envs.vector", "exact may not import envs"),
        ("exact/solve.py", "from solvent.games import pig", "exact may not import games"),
        ("exact/solve.py", "import gymnasium", "exact may not import gymnasium"),
        ("envs/single.py", "from solvent import exact", "envs may not import exact"),
        ("envs/single.py", "from solvent.games.pig.rules import Pig", "envs may not import games"),
        ("envs/single.py", "import pygame", "pygame may be imported in functions only"),
        ("baselines/pig.py", "from solvent.training import train", "may not import training"),
        ("baselines/pig.py", "import torch", "baselines may not import torch"),
        ("report/page.py", "from solvent.training import train", "may not import training"),
        ("report/page.py", "import solvent.envs", "report may not import envs"),
        ("training/train.py", "from ..report import page", "training may not import report"),
        (
            "training/train.py",
            "from importlib import import_module\nimport_module('solvent.cli')",
            "training may not import cli",
        ),
        (
            "model/game.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import solvent.exact",
            "model may not import exact",
        ),
        ("cli.py", "import stable_baselines3", "cli may not import stable_baselines3"),
        ("utils/things.py", "", "utils is not a room"),
    ],
)
def test_a_broken_arrow_is_found(tmp_path: Path, path: str, source: str, reason: str) -> None:
    file = tmp_path / "solvent" / path
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    [violation] = violations(tmp_path / "solvent")
    assert violation.startswith(path)
    assert violation.endswith(reason)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("games/pig.py", "import math\nimport numpy as np\nfrom solvent.model import Outcome"),
        ("games/__init__.py", "from .pig import Pig"),
        ("exact/kernels/greed.py", "import numba\nfrom solvent.games.greed.rules import Greed"),
        ("exact/formulas/pig.py", "from ...games.pig import Pig"),
        ("envs/registration.py", "from solvent.games import pig"),
        ("envs/kernels/pig.py", "from solvent.games.pig.rules import Pig"),
        ("envs/render.py", "def render():\n    import pygame"),
        ("baselines/pig.py", "def fit():\n    from sklearn.tree import DecisionTreeClassifier"),
        ("training/train.py", "import torch\nfrom solvent.baselines import pig"),
        ("report/page.py", "import jinja2\nfrom solvent import __version__"),
        ("cli.py", "import typer\nfrom solvent.training import train"),
    ],
)
def test_an_allowed_arrow_passes(tmp_path: Path, path: str, source: str) -> None:
    file = tmp_path / "solvent" / path
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    assert list(violations(tmp_path / "solvent")) == []


def test_import_solvent_loads_nothing_heavy() -> None:
    heavy = ["torch", "stable_baselines3", "sb3_contrib", "numba", "pygame", "matplotlib"]
    heavy += ["pydantic", "yaml"]
    code = f"import sys, solvent; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert run.stdout.strip() == "[]"
