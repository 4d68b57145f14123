"""The package that docs/adding-a-game.md shows, copied, built and installed as the page says."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-game.md"
PACKAGE = ROOT / "examples" / "parlour-games"
BLOCK = re.compile(r'^( *)```(\w+)(?: title="([^"]*)")?\n(.*?)^\1```', re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """The page's blocks: language, title and content."""
    found = BLOCK.finditer(PAGE.read_text(encoding="utf-8"))
    return [(m[2], m[3] or "", textwrap.dedent(m[4])) for m in found]


def commands() -> list[str]:
    """The commands of the page in their order, each without its prompt."""
    lines = [line for kind, _, text in blocks() if kind == "console" for line in text.splitlines()]
    assert all(line.startswith("$ ") for line in lines)
    return [line.removeprefix("$ ") for line in lines]


def write_package(folder: Path) -> None:
    """Copy the package's files."""
    shutil.copytree(PACKAGE, folder, dirs_exist_ok=True)


def parlour() -> ModuleType:
    """The module of the package, without installing it."""
    module = ModuleType("parlour_games")
    exec((PACKAGE / "parlour_games.py").read_text(encoding="utf-8"), vars(module))
    return module


def install(folder: Path, target: Path) -> None:
    """``pip install .``, with nothing fetched, into a folder for ``PYTHONPATH``."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, *offline, str(folder)], check=True, timeout=300)
