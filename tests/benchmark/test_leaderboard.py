"""The leaderboard shows what was computed, in order, and nothing of it runs."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from submitted import SUITE
from typer.testing import CliRunner

from solvent.benchmark.card import PROVED, STATED
from solvent.benchmark.statistics import estimate
from solvent.benchmark.submissions import check_submission, read_submission
from solvent.cli.app import app
from solvent.model.text import brief
from solvent.report.leaderboard import (
    KINDS,
    as_markdown,
    render_leaderboard,
    write_leaderboard,
)

ROOT = Path(__file__).parents[2]
GREED = SUITE.tasks[1].name


@pytest.fixture(scope="module")
def page(submission: Path, wild_submission: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("page") / "page.html"
    folders = [wild_submission, submission, submission]
    return write_leaderboard(folders, out, SUITE).read_text()


def test_the_numbers_are_those_of_the_policies(page: str, submission: Path) -> None:
    checked = check_submission(submission, SUITE)
    scores = [[agent.mode_normalized for agent in task.agents] for task in checked.tasks]
    expected = estimate(scores)
    assert expected is not None
    assert expected.is_interval
    [row] = re.findall(r'<tr data-place="steady">(.*?)</tr>', page, re.DOTALL)
    assert f'data-value="{expected.mean}"' in row
    assert f"[{brief(expected.low)}, {brief(expected.high)}]" in row
    [table] = re.findall(rf'data-task="{GREED}">(.*?)</table>', page, re.DOTALL)
    worst = max(agent.mode_worst_start_gap for agent in checked.tasks[1].agents)
    assert f'data-value="{worst}"' in table


def test_the_model_and_the_solution_are_apart(page: str) -> None:
    parts = re.split(r"<h3>(.*?)</h3>", page)
    tables = dict(zip(parts[1::2], parts[2::2], strict=True))
    places = {name: re.findall(r'data-place="([^"]+)"', tables[name]) for name in KINDS.values()}
    assert places == {KINDS[False]: ["steady", "steady (2)"], KINDS[True]: ["wild_one"]}
    assert "uses the model" in tables[KINDS[True]]


def test_the_page_says_what_is_proved_and_what_is_stated(page: str) -> None:
    assert f"<b>Proved</b>: {PROVED}" in page
    assert f"<b>Stated</b> by who submitted it: {STATED}" in page
    assert page.count("<i>the seeds are not those of the suite, so they may be") == 3


def test_the_tables_of_the_documentation_are_those_of_the_packed_entries() -> None:
    folders = sorted(card.parent for card in (ROOT / "benchmarks/results").glob("*/*/card.json"))
    assert (ROOT / "benchmarks/results/tables.md").read_text() == as_markdown(
        [read_submission(folder) for folder in folders]
    )
    for folder in folders:
        assert sum(file.stat().st_size for file in folder.rglob("*")) < 2**20, folder


@pytest.mark.slow
def test_the_packed_entries_are_what_they_claim() -> None:
    for card in (ROOT / "benchmarks/results").glob("*/*/card.json"):
        # In a game of eight states several seeds learn the same policy, and some the optimum.
        doubts = check_submission(card.parent).doubts
        assert [d for d in doubts if not d.endswith(("are equal", "are optimal"))] == [], card


def test_texts_of_a_card_are_plain_text_in_tables(submission: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(submission, tmp_path / "hostile"))
    path = folder / "card.json"
    hostile = {"tuning": "a | <b>b</b>"}
    path.write_text(json.dumps(json.loads(path.read_text()) | hostile))
    text = as_markdown([read_submission(folder)])
    assert "| samples | a &#124; &lt;b&gt;b&lt;/b&gt; | 10 |" in text


class Seen(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(text)
    return parser


def test_a_hostile_card_is_harmless(submission: Path, page: str, tmp_path: Path) -> None:
    hostile = "</span><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}"
    folder = Path(shutil.copytree(submission, tmp_path / "hostile"))
    words: dict[str, Any] = dict.fromkeys(("authors", "budget", "hardware"), hostile)
    path = folder / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | words))
    # Names that no table shows, and numbers that fill a page, in the claims.
    claims = folder / "results.json"
    content = json.loads(claims.read_text())
    for agent in content["tasks"][0]["agents"]:
        agent |= {"name": hostile, "cpu_seconds": 1e300, "folder": "x"}
        agent["hyperparameters"] = {hostile: hostile}
    content["tasks"][0] |= {"game": hostile, "parameters": {hostile: hostile}}
    claims.write_text(json.dumps(content))
    text = render_leaderboard([check_submission(folder, SUITE)])
    own, plain = seen(text), seen(page)
    assert own.tags.count("script") == plain.tags.count("script") == 1
    assert "img" not in own.tags
    assert own.handlers == []
    assert set(own.links) == {"https://example.org/code"}
    assert "&lt;script&gt;alert(1)" in text
    assert "{{ 7 * 7 }}" in text
    shown = CliRunner().invoke(app, ["submit", "check", str(folder)])
    assert shown.exit_code == 2


TOML = """
format = 1
name = "small"
title = "Two"
[[tasks]]
environment = "solvent/FFCombat-v0"
timesteps = 1_000
[[tasks]]
environment = "solvent/GreedSmall-v0"
self_play = true
env_kwargs = { limit = 9, sides = 4 }
timesteps = 2_000
"""


def test_the_commands(bench_folder: Path, tmp_path: Path) -> None:
    suite = tmp_path / "small.toml"
    suite.write_text(TOML)
    out, page = tmp_path / "steady", tmp_path / "page.html"
    words = ["--authors", "[red]A", "--code", "https://example.org", "--suite", str(suite)]
    packed = CliRunner().invoke(
        app,
        ["submit", "pack", str(bench_folder), "--algorithm", "steady", "--out", str(out), *words],
    )
    assert packed.exit_code == 0, packed.output
    assert re.search(r"^authors +\[red\]A", packed.stdout, re.M)
    checked = CliRunner().invoke(app, ["submit", "check", str(out), "--suite", str(suite)])
    assert checked.exit_code == 0, checked.output
    assert re.search(
        r"^proved +The policies of this folder are for the games", checked.stdout, re.M
    )
    assert re.search(r"^stated +Who learned them, by which algorithm", checked.stdout, re.M)
    assert "note: the seeds are not those of the suite" in checked.stdout
    made = CliRunner().invoke(
        app, ["leaderboard", str(out), "--out", str(page), "--suite", str(suite)]
    )
    assert made.exit_code == 0, made.output
    assert 'data-place="steady"' in page.read_text()
    (out / "policies" / f"{GREED}.npz").unlink()
    refused = CliRunner().invoke(app, ["submit", "check", str(out), "--suite", str(suite)])
    assert refused.exit_code == 2
    assert f"lacks 'policies/{GREED}.npz'" in refused.stderr.replace("\n", " ")
