"""The pages on other tools: their recipes are what `make tools` runs, at the versions named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
PAGES = PAGE + (ROOT / "docs" / "score-your-own.md").read_text(encoding="utf-8")
RECIPES = re.findall(r'^```{.python title="(.+?)"}\n--8<-- "(.+?)"\n```', PAGES, re.MULTILINE)
TOOLS = ROOT / "tests" / "tools"

# What a row calls its tool, and the package and the environment of it.
PACKAGES = {
    "Stable-Baselines3": ("stable-baselines3", "tools"),
    "sb3-contrib": ("sb3-contrib", "tools"),
    "RL Zoo": ("rl-zoo3", "tools"),
    "a loop of one's own": ("torch", "tools"),
    "TorchRL": ("torchrl", "tools"),
    "Tianshou": ("tianshou", "tools"),
    "RLlib": ("ray", "tools-rllib"),
    "SuperSuit": ("supersuit", "tools"),
    "AgileRL": ("agilerl", "tools-agilerl"),
    "Gymnasium's RecordVideo": ("moviepy", "tools"),
}


def pins(extra: str) -> dict[str, str]:
    files = (ROOT / "constraints.txt", TOOLS / f"constraints-{extra}.txt")
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return dict(line.split("==") for line in lines if "==" in line and line[0] != "#")


def test_every_recipe_is_included_on_one_page_and_run() -> None:
    files = sorted({*TOOLS.glob("*.py")} - {*TOOLS.glob("test_*.py"), TOOLS / "conftest.py"})
    names = [file.relative_to(ROOT).as_posix() for file in files]
    assert sorted(RECIPES) == [(name, name) for name in names]
    tests = "".join(file.read_text("utf-8") for file in TOOLS.glob("test_*.py"))
    assert [file.stem for file in files if f'"{file.stem}' not in tests] == []


@pytest.mark.parametrize("tool", PACKAGES)
def test_the_versions_are_those_that_are_pinned(tool: str) -> None:
    [version] = re.findall(rf"^\| \[?{tool}(?:\]|,).*?\| ([\d.]+) \|", PAGE, re.MULTILINE)
    package, extra = PACKAGES[tool]
    assert version == pins(extra)[canonicalize_name(package)]
