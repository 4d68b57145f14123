"""What the quickstart and the page about the command show is what happens."""

from __future__ import annotations

import re
import shlex
import shutil
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from solvent.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ["quickstart.md", "cli.md", "gamebook-format.md"]


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(body) for _, body in found]


@pytest.mark.parametrize(
    "block", [pytest.param(b, id=b.splitlines()[0]) for p in PAGES for b in blocks(p, "console")]
)
def test_the_command_prints_what_the_page_shows(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The example of the pages about gamebooks.
    shutil.copy(DOCS.parent / "tests" / "golden" / "mill.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    prompt, *expected = block.splitlines()
    program, *words = shlex.split(prompt.removeprefix("$ "))
    assert program == "solvent"
    result = CliRunner().invoke(app, words, prog_name="solvent")
    # What tells how far long work is depends on the machine; it is on the error output, too.
    output = result.stderr if result.exit_code else result.stdout
    # The last digits of a bracket depend on the machine's arithmetic.
    shown = [_without_last_digits(line.rstrip()) for line in output.rstrip().splitlines()]
    assert shown == [_without_last_digits(line) for line in expected]


def _without_last_digits(line: str) -> str:
    return re.sub(r"(\d\.\d{12})\d+", r"\1", line)


def test_the_review_of_the_quickstart_is_one_that_play_gives() -> None:
    page = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    shown = re.search(r"^    Decision 6: .*\n(?:    .*\n)+", page, re.MULTILINE)
    assert shown is not None
    answers = "1\n0\n1\n0\n0\n0\n0\n"
    words = ["play", "ff-combat", "--seed", "3"]
    output = CliRunner().invoke(app, words, prog_name="solvent", input=answers).stdout
    assert output.endswith(textwrap.dedent(shown[0]))


def test_every_command_is_described() -> None:
    described = re.findall(r"^\| `solvent (\w+)", (DOCS / "cli.md").read_text("utf-8"), re.M)
    shown = CliRunner().invoke(app, ["--help"], prog_name="solvent").output.partition("Commands")[2]
    assert sorted(described) == sorted(re.findall(r"^│ (\w+) ", shown, re.M))
