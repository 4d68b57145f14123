"""The package of docs/adding-a-game.md, written, built and installed as the page says."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-game.md"
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
    """Write the files of the page; blocks of one title follow each other in one file."""
    files: dict[str, list[str]] = {}
    for _, title, text in blocks():
        if "." in title:
            files.setdefault(title, []).append(text)
    for name, parts in files.items():
        (folder / name).write_text("\n\n".join(parts), encoding="utf-8")


def parlour() -> ModuleType:
    """The module of the page, without installing it."""
    module = ModuleType("parlour_games")
    exec(
        "\n\n".join(text for _, title, text in blocks() if title == "parlour_games.py"),
        vars(module),
    )
    return module


def install(folder: Path, target: Path) -> None:
    """``pip install .``, with nothing fetched, into a folder for ``PYTHONPATH``."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, *offline, str(folder)], check=True, timeout=300)
