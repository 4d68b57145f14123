"""``solvent book check``, ``solvent book solve`` and ``solvent book import``."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from commands import answer, refusal, run, said
from gamebooks import MILL, changed, line_of

from solvent.games.gamebook.loader import load_book

PAGE = (Path(__file__).parents[3] / "docs" / "gamebook-format.md").read_text(encoding="utf-8")


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty.yaml"
    path.write_text(
        changed(("leave: 2", "leave: 20"), ("goto: 6", "goto: 66")),
        encoding="utf-8",
    )
    return path


def test_every_fault_is_a_line(faulty: Path) -> None:
    result = run("book", "check", faulty)
    assert result.exit_code == 2
    text, missing = faulty.read_text("utf-8"), "write it, or lead somewhere else"
    first, second = line_of(text, "leave: 20"), line_of(text, "goto: 66")
    assert result.stdout.splitlines() == [
        f"{faulty}:{first}, section 1: error: shop.leave.goto: there is no section 20; {missing}",
        f"{faulty}:{second}, section 5: error: branch.1.goto: there is no section 66; {missing}",
    ]
    assert result.stderr == f"solvent: {faulty} has 2 errors\n"
    told = json.loads(run("book", "check", faulty, "--json").stdout)
    assert [(one["line"], one["section"]) for one in told] == [(first, 1), (second, 5)]


FERRY = """\
format: solvent-gamebook
version: 1
title: The Ferry
endings: {over: {score: 1}, drowned: {score: 0}}
sections:
  1:
    choices:
      - {label: Row., chances: [{probability: 1/6, ending: drowned},
          {probability: 1/6, text: A rock., ending: drowned}, {probability: 2/3, goto: 2}]}
      - {label: Swim., chances: [{probability: 1/2, ending: drowned}, {probability: 1/2, goto: 2}]}
  2: {ending: over}
"""


@pytest.fixture
def ferry(tmp_path: Path) -> Path:
    path = tmp_path / "ferry.yaml"
    path.write_text(FERRY, encoding="utf-8")
    return path


def test_a_book_is_solved(ferry: Path) -> None:
    assert said("book", "solve", ferry, "--exact").splitlines() == [
        "The Ferry: 6 states",
        "Winning probability: 0.6666666666666666 [2 / 3]",
        "0.6667  over (score 1)",
        "    0.6667  section 2",
        "0.3333  drowned (score 0)",
        "    0.3333  section 1",
        "Most important decisions (visits x loss by the second best choice):",
        "0.1667  section 1, visited 1.0000 times: Row. 100%",
    ]


def test_a_book_is_solved_in_floats_for_programs(ferry: Path) -> None:
    found = answer("book", "solve", ferry, "--json")
    assert found["value"] == pytest.approx(2 / 3)
    assert "value_exact" not in found
    assert found["ends"][0] == {"ending": "over", "section": 2, "probability": found["value"]}
    [decision] = found["decisions"]
    assert (decision["section"], decision["choices"]) == (1, {"Row.": 1.0})
    assert decision["stake"] == pytest.approx(1 / 6)
    exact = answer("book", "solve", ferry, "--json", "--exact", "--decisions", "0")
    assert (exact["value_exact"], exact["decisions"]) == ("2 / 3", [])


@pytest.mark.slow
@pytest.mark.parametrize("block", re.findall(r"^```console\n(.*?)^```", PAGE, re.M | re.S))
def test_the_page_on_the_format_shows_what_the_command_prints(
    block: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(MILL.parent)
    prompt, *shown = block.splitlines()
    result = run(*shlex.split(prompt.removeprefix("$ solvent ")))
    # The last digit of the value depends on the machine's arithmetic.
    assert [re.sub(r"(\.\d{14})\d+$", r"\1", line) for line in result.stdout.splitlines()] == [
        re.sub(r"(\.\d{14})\d+$", r"\1", line) for line in shown
    ]


def test_import_makes_a_book(tmp_path: Path) -> None:
    story, out = tmp_path / "s.twee", tmp_path / "new" / "s.yaml"
    story.write_text(":: Start\n(set: $x to 1)Here. [[On]]\n:: On\nDone.\n", encoding="utf-8")
    assert said("book", "import", story, "--out", out) == f"{out}: 2 sections\n"
    assert load_book(out).targets[1] == (2,)


def test_import_overwrites_nothing(tmp_path: Path) -> None:
    story, out = tmp_path / "s.twee", tmp_path / "s.yaml"
    story.write_text(":: Start\nDone.\n", encoding="utf-8")
    out.write_text("mine", encoding="utf-8")
    refusal("book", "import", story, "--out", out)
    assert out.read_text(encoding="utf-8") == "mine"
