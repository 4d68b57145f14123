"""The reference of the documentation is complete, and no link of the built site is broken."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import markdown
import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "docs" / "scripts"
PACKAGES = ["model", "exact", "envs", "baselines", "training", "report", "grading", "play", "games"]
PACKAGES += ["tabular", "explore"]


def _module(name: str) -> ast.Module:
    path = ROOT / name.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if (stub := path / "__init__.pyi").is_file():
        file = stub
    return ast.parse(file.read_text(encoding="utf-8"))


def _listed(module: ast.Module) -> list[str]:
    """The names in a stub, or in ``__all__``."""
    for node in module.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    imports = [node for node in module.body if isinstance(node, ast.ImportFrom)]
    return [alias.name for node in imports for alias in node.names]


def _docstring(module: ast.Module, name: str, package: str = "") -> str | None:
    """The docstring of a name where it is defined; of a function with overloads, the last."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            home = f"{package}.{node.module}" if node.level else node.module
            return _docstring(_module(home), name)
    for node, following in reversed(list(pairwise([*module.body, None]))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return ast.get_docstring(node)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if name in [getattr(target, "id", None) for target in targets]:
            text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            return following.value.value if text else None
    raise AssertionError(f"{name} is defined nowhere")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_has_every_public_name(package: str) -> None:
    page = (ROOT / "docs" / "reference" / f"{package}.md").read_text(encoding="utf-8")
    assert f"::: solvent.{package}\n" in page
    assert "members:" not in page, "the page shows all that the package lists"
    module = _module(f"solvent.{package}")
    # mkdocstrings leaves out what has no docstring.
    assert [
        name for name in _listed(module) if not _docstring(module, name, f"solvent.{package}")
    ] == []


def test_the_reference_has_every_name_at_the_top() -> None:
    page = (ROOT / "docs" / "reference" / "solvent.md").read_text(encoding="utf-8")
    names = set(_listed(_module("solvent"))) - {"__version__"}
    assert {name for name in names if f"[`{name}`][solvent.{name}]" not in page} == set()


def test_what_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.svg").write_text("<svg/>")
    (tmp_path / "other.html").write_text('<h2 id="here">x</h2>')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here"><img src="there.svg"></a> <a href="https://example.org/x">'
        '<a href="other.html#away"> <img src="gone.png"> <iframe src="gone.html"></iframe>'
        '<a href="#nothing"> <a href="folder/">'
    )
    run = subprocess.run(
        [sys.executable, SCRIPTS / "links.py", tmp_path], capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stderr.splitlines() == [
        "index.html: other.html#away: no such anchor",
        "index.html: gone.png: no such file",
        "index.html: gone.html: no such file",
        "index.html: #nothing: no such anchor",
        "index.html: folder/: no such file",
    ]


def test_a_formula_is_set_and_a_price_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    text = "Of $V^*(s)$ and `$x$`, between 5$ and 10$.\n\n$$\nx \\in [0, 1]\n$$\n"
    html = markdown.markdown(text, extensions=["formulas"])
    assert html.count("<math") == 2
    assert "<code>$x$</code>, between 5$ and 10$." in html
    assert '<div class="formula"><math' in html
    with pytest.raises(ValueError, match="not known"):
        markdown.markdown(r"Misspelt: $\fracc{1}{2}$.", extensions=["formulas"])


@pytest.mark.slow
def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    # Pages include what stands in the last four.
    included = ("benchmarks/results", "examples", "tests/golden", "tests/tools")
    for name in ("docs", "solvent", *included):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    if not (tmp_path / "docs" / "maps").is_dir():
        pytest.skip("the embedded pages are not written; make docs writes them")
    environment = {**os.environ, "PYTHONPATH": "docs/scripts"}
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    subprocess.run(build, cwd=tmp_path, env=environment, check=True)
    subprocess.run([sys.executable, SCRIPTS / "links.py", "site"], cwd=tmp_path, check=True)
    for package in PACKAGES:
        page = (tmp_path / "site" / "reference" / f"{package}.html").read_text(encoding="utf-8")
        for name in _listed(_module(f"solvent.{package}")):
            assert f'.{name}"' in page
