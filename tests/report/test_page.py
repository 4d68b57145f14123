"""The page: its numbers are those of the results, recomputed, and it needs nothing but itself."""

import csv
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from math import inf
from pathlib import Path
from typing import Any

import pytest
from bad_files import no_files, rewrite_json
from refusals import assert_refused
from submitted import write_tasks

from solvent import compile_game, make_game
from solvent.baselines import baseline_policies
from solvent.benchmark.policies import task_record
from solvent.benchmark.records import BenchRecord, read_bench, write_results
from solvent.benchmark.suites import Task, task_game
from solvent.exact import StoreError, score, solve
from solvent.exact.learning_curve import read_curve
from solvent.model.text import interval
from solvent.report import write_report
from solvent.report.page import render
from solvent.report.solved import SolvedTask, solve_task

# The page: its numbers are those of the results, and it needs nothing but itself


VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """The attributes of every element, and the texts and data-values inside table rows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: dict[tuple[str, str], list[float]] = {}
        self._row: list[float] | None = None
        self.task = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        self.open += {tag} - VOID
        if tag == "section":
            self.task = given.get("id") or ""
        if tag == "tr":
            kinds = ("data-agent", "data-baseline", "data-summary")
            name = next((given[kind] for kind in kinds if kind in given), None)
            self._row = self.rows.setdefault((self.task, name), []) if name else None
        if tag == "td" and self._row is not None and given.get("data-value"):
            self._row.append(float(given["data-value"] or "nan"))

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag

    def having(self, attribute: str) -> list[dict[str, str | None]]:
        return [given for _, given in self.elements if attribute in given]


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_every_element_is_closed_and_links_lead_somewhere(page: Page) -> None:
    assert page.open == []
    ids = {f"#{given['id']}" for given in page.having("id")}
    assert {given["href"] for given in page.having("href")} <= ids


def test_the_numbers_of_agents_are_those_of_the_results(
    page: Page, tasks: list[dict[str, Any]]
) -> None:
    for task in tasks:
        for one in (*task["agents"], *task["baselines"]):
            expected = numbers(task, one)
            if "timesteps" in one:
                expected[:0] = *numbers(task, one, "mode_"), one["timesteps"], one["cpu_seconds"]
            shown = page.rows[task["env"].partition("/")[2], one["name"]]
            assert shown == pytest.approx(expected, abs=1e-15)


def numbers(task: dict[str, Any], record: dict[str, Any], prefix: str = "") -> list[float]:
    """Value, gap, normalized and worst start; for two the value and the gap of each seat."""
    gap, normalized = record[f"{prefix}gap"], record[f"{prefix}normalized"]
    pair = record.get(f"{prefix}exploitability")
    if pair is None:
        return [record[f"{prefix}value"], gap, normalized, record[f"{prefix}worst_start_gap"]]
    optimum = task["optimum"]
    # Pig and Greed are won or lost, so that the second seat has what is left of 1.
    return [optimum - pair[0], 1 - optimum - pair[1], gap, *pair, normalized]


def test_a_learner_of_the_second_seat_has_chances_of_winning(tmp_path: Path) -> None:
    own = {"opponent": "uniform", "seat": 1}
    record = task_record(task_game(Task(environment="solvent/GreedSmall-v0", env_kwargs=own)))
    write_results(tmp_path, BenchRecord((record,)))
    text = render(tmp_path)
    assert f'data-value="{1 + record.optimum}"' in text
    for baseline in record.baselines:
        assert Page(text).rows[record.name, baseline.name][0] == 1 + baseline.value


def test_optimum_and_bracket_are_those_of_the_results(
    text: str, page: Page, tasks: list[dict[str, Any]]
) -> None:
    shown = [float(given["data-value"] or "nan") for tag, given in page.elements
             if tag == "p" and "data-value" in given]  # fmt: skip
    assert shown == [task["optimum"] for task in tasks]
    for task in tasks:
        assert interval(*task["bracket"]) in text


def test_the_written_number_is_the_exact_one_rounded(text: str) -> None:
    cells = re.findall(r'data-value="([^"]+)">([^<]+)</td>', text)
    assert len(cells) > 50
    for exact, shown in cells:
        plain = shown.replace("−", "-").replace("\N{NARROW NO-BREAK SPACE}", "").strip()
        if plain != "–" and "×" not in plain:
            assert float(plain) == pytest.approx(float(exact), rel=6e-3, abs=1e-6)


def test_the_page_needs_nothing_but_itself(text: str, page: Page) -> None:
    assert [given for given in page.having("src") if given["src"]] == []
    assert "link" not in {tag for tag, _ in page.elements}
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", text)
    # The name of SVG's elements is an address, but nothing is loaded from it.
    assert set(re.findall(r"https?://[^\s\"'<>]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_the_attribution_of_every_agent_sums_to_its_gap(
    page: Page, tasks: list[dict[str, Any]]
) -> None:
    attributions = page.having("data-attribution")
    gaps = [
        gap
        for task in tasks
        for agent in task["agents"]
        for gap in agent.get("mode_exploitability", [agent["mode_gap"]])
    ]
    assert len(attributions) == len(gaps) == 4 + 2 * 3
    assert sorted(float(a["data-gap"] or "nan") for a in attributions) == pytest.approx(
        sorted(gaps)
    )
    for entry in attributions:
        gap, total, given_up = (
            float(entry[f"data-{name}"] or "nan") for name in ("gap", "total", "given-up")
        )
        assert abs(gap - (total - given_up)) < 1e-9
        assert given_up > -1e-12
        assert gap > 1e-4


def test_the_summary_has_the_best_of_the_tables(page: Page, text: str, tasks: Any) -> None:
    """The best have the least gaps; by self-play those of the sampled policies count."""
    rows = re.findall(r'<tr data-summary="([^"]+)">(.*?)</tr>', text, re.DOTALL)
    assert [anchor for anchor, _ in rows] == [task["env"].partition("/")[2] for task in tasks]
    for (anchor, row), task in zip(rows, tasks, strict=True):
        place = 2 if len(page.rows[anchor, "uniform"]) == 6 else 1
        gaps = {
            one["name"]: page.rows[anchor, one["name"]][place]
            for one in task["baselines"]
            if one["name"] != "optimal"
        }
        baseline, its_gap = min(gaps.items(), key=lambda pair: pair[1])
        prefix = "" if "exploitability" in task["agents"][0] else "mode_"
        best = min(task["agents"], key=lambda agent: agent[prefix + "gap"])
        own = [best[prefix + figure] for figure in ("gap", "worst_start_gap")]
        assert re.findall(r'data-best="([^"]+)"', row) == [best["name"]]
        assert re.findall(r'data-best-baseline="([^"]+)"', row) == [baseline]
        assert page.rows["", anchor] == [task["optimum"], *own, its_gap]
        assert f'href="#{anchor}"' in row


def test_names_cannot_break_the_page(copied: Callable[[str], Path]) -> None:
    folder, wicked = copied("one"), "</script><script>alert(1)</script>"
    rewrite_json(folder / "results.json", lambda c: c["tasks"][0]["agents"][0].update(name=wicked))
    text = render(folder)
    assert ("<script>alert" in text, "alert(1)" in text) == (False, True)


def test_the_page_is_written_where_it_is_asked_for(
    results: Path, text: str, tmp_path: Path
) -> None:
    game = make_game("pig", target=5)
    for subject, expected in ((results, text), (game, render(game))):
        out = tmp_path / "new" / "page.html"
        assert write_report(subject, out) == out
        assert out.read_text("utf-8") == expected
    # Before any work: there are no results.
    with pytest.raises(StoreError, match=r"html/page\.html: cannot be written"):
        write_report(tmp_path / "none", out / "page.html")


def test_a_baseline_that_never_ends_is_in_the_table_and_the_chart(tmp_path: Path) -> None:
    """Up, for ever against the wall of the cliff, at a cost of 1 a step."""
    cliff = task_game(Task(environment="CliffWalking-v1"))
    task = replace(task_record(cliff, ["first-legal", "optimal"]), constant=None)
    write_results(tmp_path, BenchRecord((task,)))
    assert read_bench(tmp_path).tasks == (task,)
    text = render(tmp_path)
    page = Page(text)
    assert page.rows["CliffWalking-v1", "first-legal"] == [-inf, inf, -inf, inf]
    assert page.rows["CliffWalking-v1", "optimal"][:2] == [-13, 0]
    row = text.partition('data-baseline="first-legal"')[2].partition("</tr>")[0]
    assert re.findall(r">([^<]+)</td>", row) == ["−∞", "unbounded", "−∞", "unbounded"]
    chart = text.partition('class="chart distances"')[2].partition("</svg>")[0]
    assert "unbounded: play need not end</text>" in chart
    assert chart.count("data-gap") == 1


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("pig", {"target": 8}, "When to hold"),
        ("ff-combat", {"stamina": 4, "opponent_stamina": 4, "luck": 3}, "Strategy maps"),
        ("greed", {"limit": 9, "sides": 4}, "Optimal play at every pair of scores"),
    ],
)
def test_a_game_has_a_page_without_any_training(
    name: str, parameters: dict[str, Any], words: str
) -> None:
    game = make_game(name, **parameters)
    text, table = render(game), compile_game(game)
    page, solution = Page(text), solve(table)
    assert page.open == []
    assert f'data-value="{solution.value}"' in text
    seats = [baseline_policies(table, player=p) for p in range(game.info.players)]
    for baseline in seats[0]:
        gaps = [score(table, own[baseline], solution).optimality_gap for own in seats]
        expected = [sum(gaps) / 2, *gaps] if len(gaps) == 2 else gaps
        shown = page.rows[name, baseline][len(gaps) :][: len(expected)]
        assert shown == pytest.approx(expected, abs=1e-15)
    assert (words in text, "Learning curves" in text) == (True, False)
    test_the_page_needs_nothing_but_itself(text, page)


# What the page calls exact is computed from the policies, and what contradicts them is refused


GAMES: dict[str, tuple[str, bool, dict[str, Any], list[tuple[str, int]]]] = {
    "one": (
        "solvent/FFCombat-v0",
        False,
        {"skill_difference": [-1, 1], "stamina": 5, "opponent_stamina": 3, "luck": 2},
        [("ppo", 3), ("dqn", 1)],
    ),
    "two": ("solvent/Greed-v0", True, {"limit": 5, "sides": 3}, [("ppo", 2)]),
}
FOUR = ("value", "gap", "normalized", "worst_start_gap")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: write_tasks(tmp_path_factory.mktemp(name), task) for name, task in GAMES.items()}


@pytest.fixture
def copied(written: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copytree(written[name], tmp_path / name))


def solved(folder: Path) -> SolvedTask:
    [task] = read_bench(folder).tasks
    return solve_task(task, folder)


def refused(folder: Path, message: str) -> None:
    assert_refused([(folder, message)], solved, StoreError)


@pytest.mark.parametrize("name", GAMES)
def test_every_number_of_the_results_is_checked(
    name: str, written: dict[str, Path], copied: Callable[[str], Path]
) -> None:
    solved(written[name])
    folder = copied(name)
    good = (folder / "results.json").read_text()
    records = [
        (kind, number, figure)
        for kind in ("agents", "baselines")
        for number, record in enumerate(json.loads(good)["tasks"][0][kind])
        for figure in record
    ]
    places: list[tuple[Any, ...]] = [
        *(("optimum",), ("bracket", 0), ("bracket", 1)),
        *(place for place in records if place[2].removeprefix("mode_") in FOUR),
        *((*place, seat) for place in records if "exploitability" in place[2] for seat in (0, 1)),
    ]
    assert len(places) == {"one": 3 + 4 * 8 + 3 * 4, "two": 3 + 2 * 12 + 3 * 6}[name]
    for place in places:
        content = json.loads(good)
        [within] = content["tasks"]
        for step in place[:-1]:
            within = within[step]
        within[place[-1]] -= 1e-4
        (folder / "results.json").write_text(json.dumps(content))
        refused(folder, f"{'.'.join(map(str, place))} is stated as")


def test_what_the_policies_contradict_is_refused_by_its_name(
    copied: Callable[[str], Path],
) -> None:
    rows: tuple[tuple[str, str, int, dict[str, Any], str], ...] = (
        ("one", "agents", 3, {"mode_gap": 1e-9}, "agents.3.mode_gap is stated as 1e-09, but comp"),
        ("one", "agents", 1, {"name": "ppo 0"}, "two agents have the name"),
        ("one", "agents", 1, {"folder": "FFCombat-v0/ppo-0"}, "two agents have the folder"),
        ("one", "baselines", 0, {"name": "genius"}, "baseline of ff-combat is 'genius'"),
        ("two", "agents", 0, {"exploitability": None}, "agents.0.exploitability is stated as None"),
    )
    folders = {name: copied(name) for name in GAMES}
    good = {name: (folder / "results.json").read_text() for name, folder in folders.items()}
    for name, kind, number, wrong, message in rows:
        (folders[name] / "results.json").write_text(good[name])
        rewrite_json(
            folders[name] / "results.json",
            lambda c, k=kind, n=number, w=wrong: c["tasks"][0][k][n].update(w),
        )
        refused(folders[name], message)


def tampered_curve(folder: Path, change: Callable[[list[dict[str, str]]], object]) -> None:
    path = folder / "FFCombat-v0" / "ppo-1" / "curve.csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    change(rows)
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def test_a_curve_that_does_not_end_at_its_policies_says_so(copied: Callable[[str], Path]) -> None:
    folder = copied("one")

    def flatter(rows: list[dict[str, str]]) -> None:
        optimum = float(rows[-1]["mode_value"]) + float(rows[-1]["mode_gap"])
        rows[-1] |= {"mode_gap": "1e-05", "mode_value": repr(optimum - 1e-5)}

    for change, told in (
        (flatter, r"1\W000 steps at gaps of 1.00×10⁻⁵"),
        (lambda rows: rows.pop(), "500 steps"),
    ):
        tampered_curve(folder, change)
        [shown] = re.findall("<b>The curve of ppo 1 ends after .*", render(folder))
        assert re.search(told, shown)


@pytest.mark.parametrize("name", ["policy.npz", "policy_mode.npz", "curve.csv"])
def test_a_missing_or_truncated_file_of_an_agent(copied: Callable[[str], Path], name: str) -> None:
    folder = copied("one")
    path = folder / "FFCombat-v0" / "ppo-1" / name
    path.write_bytes(path.read_bytes()[:40])
    refused(folder, re.escape(str(path)))
    path.unlink()
    refused(folder, "cannot be read")


def test_a_curve_is_not_believed(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("one")
    path = folder / "FFCombat-v0" / "ppo-0" / "curve.csv"
    good = path.read_text()
    for line in (
        "9,inf,0,0,0,1",
        "9,0,0,0,0,nan",
        "-9,0,0,0,0,1",
        "9,0,0,0",
        f"9,{'9' * 200_000},0,0,0,1",
        '9,"0\n,0,0,0,1',
    ):
        path.write_text(f"{good}{line}\n")
        refused(folder, "not a learning curve, or damaged")
    path.write_text(good.partition("\n")[0] + "\n")
    refused(folder, "holds no point")
    missing = ((file, "cannot be read") for file in no_files(tmp_path, ".csv"))
    assert_refused(missing, read_curve, StoreError)
