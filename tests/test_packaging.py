"""What the project installs, ships and reveals: versions, the wheel, and public names."""

import ast
import importlib
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from solvent.cli.groups import EXTRAS

# What the project installs, ships and reveals


ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# Extras with an environment of their own, made by `make tools`.
TOOLS = ("tools", "tools-agilerl", "tools-rllib")


def pins(file: str = "constraints.txt") -> dict[str, str]:
    """The version of each package in a file of constraints; a line of another form is an error."""
    result: dict[str, str] = {}
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([a-z0-9-]+)==([0-9][a-z0-9.]*)", line)
            assert match, f"{line!r} is not of the form name==version"
            assert match[1] not in result, f"{match[1]} is pinned twice"
            result[match[1]] = match[2]
    return result


def requirements(extras: Iterable[str] | None = None) -> list[Requirement]:
    """The requirements of extras; if none are named, all of one environment, the build included."""
    project = PYPROJECT["project"]
    lines = []
    if extras is None:
        lines = [*project["dependencies"], *PYPROJECT["build-system"]["requires"]]
        extras = sorted(project["optional-dependencies"].keys() - TOOLS)
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return [r for line in lines if (r := Requirement(line)).name != "solvent"]


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_requirement_is_pinned_at_a_version_it_allows(requirement: Requirement) -> None:
    assert pins()[canonicalize_name(requirement.name)] in requirement.specifier


@pytest.mark.parametrize("extra", sorted(TOOLS))
def test_tools_are_pinned_where_they_need_other_versions(extra: str) -> None:
    own = pins(f"tests/tools/constraints-{extra}.txt")
    assert own.items().isdisjoint(pins().items())
    together = pins() | own
    assert together["torch"] == pins()["torch"]
    needed = [*requirements([extra]), *map(Requirement, PYPROJECT["project"]["dependencies"])]
    for requirement in needed:
        assert together[canonicalize_name(requirement.name)] in requirement.specifier


# What a row calls its tool, and the package and the environment of it.
TOOL_PACKAGES = {
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


@pytest.mark.parametrize("tool", TOOL_PACKAGES)
def test_the_pages_name_the_versions_that_are_pinned(tool: str) -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    [version] = re.findall(rf"^\| \[?{tool}(?:\]|,).*?\| ([\d.]+) \|", page, re.MULTILINE)
    package, extra = TOOL_PACKAGES[tool]
    together = pins() | pins(f"tests/tools/constraints-{extra}.txt")
    assert version == together[canonicalize_name(package)]


def _installed_closure() -> Iterator[str]:
    """Every installed package that some requirement brings along, directly or not."""
    open_, seen = requirements(), set()
    while open_:
        requirement = open_.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key in seen:
            continue
        seen.add(key)
        try:
            needs = metadata.requires(requirement.name) or []
        except metadata.PackageNotFoundError:
            continue
        yield key[0]
        for need in map(Requirement, needs):
            extras = requirement.extras or {""}
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras):
                open_.append(need)


def test_everything_that_comes_along_is_pinned() -> None:
    assert sorted(set(_installed_closure()) - set(pins())) == []


SCRIPTS = sorted(path for room in ("benchmarks", "examples") for path in (ROOT / room).glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_imports_what_there_is(script: Path) -> None:
    """Nobody runs these for weeks; what they import may have moved."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("solvent."):
            assert find_spec(str(node.module)) is not None, node.module


def test_the_extra_that_an_error_names_brings_the_module() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    packages = {"yaml": "pyyaml", "pyspiel": "open-spiel"}
    for module, extra in EXTRAS.items():
        package = packages.get(module, module.replace("_", "-"))
        assert package in {Requirement(line).name for line in extras[extra]}, module


def test_the_version_is_the_same_everywhere() -> None:
    version = PYPROJECT["project"]["version"]
    assert importlib.import_module("solvent").__version__ == version
    for file, stated in (("CITATION.cff", r"^version: (.+)$"), ("CHANGELOG.md", r"^## (\S+)")):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(stated, text, re.MULTILINE)[1] == version, file


def test_the_wheel_holds_the_package_and_its_data(tmp_path: Path) -> None:
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "solvent"
    shipped = ("*.py", "*.pyi", "py.typed", "training/hyperparameters/*.yml", "*.j2", "*.yaml")
    expected = {f.relative_to(ROOT).as_posix() for p in shipped for f in package.rglob(p)}
    assert {Path(name).suffix for name in expected} >= {".py", ".typed", ".yml", ".yaml", ".j2"}
    assert expected <= names
    info = f"solvent-{PYPROJECT['project']['version']}.dist-info"
    assert {name.split("/")[0] for name in names} == {"solvent", info}
    # An index shows the README, but has none of the files beside it.
    described = zipfile.ZipFile(wheel).read(f"{info}/METADATA").decode()
    assert "Description-Content-Type: text/markdown" in described
    assert re.findall(r"\]\((?!https?:)[^)]*\)", described) == []


def test_links_of_the_readme_lead_to_the_address_of_the_files() -> None:
    description = runpy.run_path(str(ROOT / "hatch_build.py"))["description"]
    readme = "![Gaps](docs/a.png) [Page](docs/b.md), [DOI](https://doi.org/1)"
    assert description(readme, "") == " Page, [DOI](https://doi.org/1)"
    assert description(readme, "https://host/files/") == (
        "![Gaps](https://host/files/docs/a.png) [Page](https://host/files/docs/b.md), "
        "[DOI](https://doi.org/1)"
    )


MACHINE = {
    "the host of a package index": r"pypi\.org|pypi\.python\.org|pythonhosted\.org"
    r"|download\.pytorch\.org|registry\.npmjs\.org|deb\.debian\.org",
    "an option naming a package index": r"--(?:extra-)?index-url|--find-link[s]",
    "an absolute path": r"(?<![\w./~<$})-])/(?:work|root|home|opt|Users)\b",
}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git work tree")
def test_no_file_names_a_package_index_or_a_path_of_some_machine() -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    found = []
    for file in filter(Path.is_file, map(ROOT.joinpath, run.stdout.split("\0"))):
        with suppress(UnicodeDecodeError):
            text = file.read_text(encoding="utf-8")
            for what, pattern in MACHINE.items():
                # The patterns themselves are written with a backslash and so do not match.
                found += [f"{file.name}: {what}: {m[0]}" for m in re.finditer(pattern, text)]
    assert found == []


# The public names have their types, although they are imported when they are first used


SNIPPET = """
from typing import assert_type

import solvent

game = solvent.make_game("some-game", size=3)
assert_type(game, solvent.Game)
assert_type(solvent.solve(game), solvent.SolvedGame)
table = solvent.compile_game(game)
assert_type(table, solvent.TabularGame)
solution = solvent.solve(table)
assert_type(solution.value, float)
assert_type(solution.policies, tuple[solvent.TabularPolicy, solvent.TabularPolicy])
assert_type(solvent.exploitability(table, solution.policies[0]), float)
solvent.slove(table)
solvent.exploitability("some-game", solution.policies[0])
"""


@pytest.mark.slow
def test_a_type_checker_knows_the_front_door(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text(SNIPPET, encoding="utf-8")
    cache = ["--cache-dir", str(tmp_path / "cache")]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *cache, str(file)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    errors = [line for line in run.stdout.splitlines() if "user.py" in line and "error" in line]
    assert len(errors) == 2, run.stdout
    assert "slove" in errors[0]
    assert "[arg-type]" in errors[1]


@pytest.mark.parametrize(
    "package", ["", ".envs", ".exact", ".games", ".model", ".tabular"], ids="solvent{}".format
)
def test_every_public_name_is_there(package: str) -> None:
    module = importlib.import_module(f"solvent{package}")
    assert len(module.__all__) == len(set(module.__all__)) > 0
    for name in module.__all__:
        assert getattr(module, name) is not None
