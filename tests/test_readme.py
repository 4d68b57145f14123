"""The README runs: its Python is a doctest, its figures are the solver's."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

import solvent
from solvent.cli.app import app
from solvent.envs.registration import ENVIRONMENTS
from solvent.games.greed.kernel import solve_greed

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
GAMES = (ROOT / "docs" / "games.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs() -> None:
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted >= 6
    assert results.failed == 0


def test_every_target_of_make_and_every_command_of_the_readme_is_one() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^    |`)make ([a-z-]+)", TEXT, re.MULTILINE))
    assert {"bench", "install", "test"} <= named <= targets
    shown = CliRunner().invoke(app, ["--help"], prog_name="solvent").output.partition("Commands")[2]
    used = set(re.findall(r"(?:^    |^\$ |`)solvent ([a-z]+)", TEXT, re.MULTILINE))
    assert {"solve", "play", "train", "score"} <= used
    assert used <= set(re.findall(r"^│ (\w+) ", shown, re.MULTILINE))


def test_the_version_of_torch_is_the_pinned_one() -> None:
    page = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    [version] = re.findall(r"torch==([\d.]+)", page)
    assert f"torch=={version}\n" in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_the_picture_is_what_its_script_draws_of_the_agent_of_the_readme() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "scripts" / "lake_picture.py"))
    [picture] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert (ROOT / picture).read_text(encoding="utf-8") == script["picture"]()
    [gap] = re.findall(r"^value .* gap ([\d.]+)$", TEXT, re.MULTILINE)
    assert TEXT.count(gap) == 2
    assert f"gap {gap}" in script["picture"]()
    assert f"steps={script['STEPS']:_}, seed={script['SEED']}" in TEXT




def optimum(row: str) -> str:
    """The figure in the column of optima of a row of the table of games."""
    [line] = [line for line in GAMES.splitlines() if line.startswith((f"| {row}", f"| [{row}"))]
    return line.split("|")[4].split()[0]


def test_the_optima_of_all_games_are_the_solvers() -> None:
    assert optimum("Fighting Fantasy") == f"{ENVIRONMENTS['solvent/FFCombat-v0'].optimum:.6f}"
    assert optimum("the same") == f"{ENVIRONMENTS['solvent/FFCombatRandom-v0'].optimum:.6f}"
    drive = ENVIRONMENTS["solvent/FootballDrive-v0"].optimum
    assert optimum("Football drive").replace("−", "-") == f"{drive:.6f}"
    yahtzee = ENVIRONMENTS["solvent/Yahtzee-v0"].optimum
    assert optimum("Yahtzee for one") == f"{yahtzee:.4f}"
    assert optimum("Puterman's problems") == f"{ENVIRONMENTS['solvent/Inventory-v0'].optimum:.4f}"
    assert optimum("Gamebooks") == f"{ENVIRONMENTS['solvent/Gamebook-v0'].optimum:.6f}"
    books = (README.parent / "docs" / "games" / "gamebook.md").read_text(encoding="utf-8")
    [row] = [line for line in GAMES.splitlines() if line.startswith("| [Gamebooks")]
    [states] = re.findall(r"([\d,]+) states", row)
    assert f"| `ninth-tide` | 173 | {states.replace(',', '')} |" in books
    assert f"{ENVIRONMENTS['solvent/NinthTide-v0'].optimum:.6f} (*The Ninth Tide*" in row
    strategy = ENVIRONMENTS["solvent/FootballStrategy-v0"].optimum
    assert optimum("Football Strategy") == f"{strategy:.6f}"
    assert optimum("Greed") == f"{solve_greed().value:.6f}"
    # The page of the game has the same figure; the slow test of that page solves for it.
    page = (README.parent / "docs" / "games" / "pig.md").read_text(encoding="utf-8")
    assert f"| 100 | false | 961092 | {optimum('Pig')} |" in page


@pytest.mark.parametrize(
    ("name", "env"),
    [("FrozenLake", "FrozenLake-v1"), ("Taxi", "Taxi-v4"), ("CliffWalking", "CliffWalking-v1")],
)
def test_the_optima_of_other_environments_are_the_solvers(name: str, env: str) -> None:
    found = re.search(rf"{name} (−?[\d./]+)", GAMES)
    assert found is not None
    numerator, _, denominator = found[1].replace("−", "-").rstrip(".").partition("/")
    stated = float(numerator) / float(denominator or 1)
    assert solvent.solve(env).value == pytest.approx(stated, abs=1e-9)


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert len(links) > 8
    assert [link for link in links if not (README.parent / link).is_file()] == []
