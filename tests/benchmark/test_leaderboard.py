"""The report of a bench and the leaderboard show what was computed, and nothing of it runs."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import rewrite_json
from commands import run, said
from doc_pages import check_sentences
from leaderboard_tables import as_markdown
from scipy.stats import trim_mean
from submitted import NOISE, SUITE

import solvent
from solvent.benchmark.records import FailureRecord, read_bench, write_results
from solvent.benchmark.statistics import estimate
from solvent.benchmark.submissions import (
    PROVED,
    STATED,
    Submission,
    check_submission,
    read_submission,
)
from solvent.benchmark.suites import find_suite
from solvent.benchmark.summary import POLICIES, summarize
from solvent.exact import Score
from solvent.model.text import exact, four_decimals
from solvent.report import write_report
from solvent.report.leaderboard import (
    KINDS,
    render_leaderboard,
    write_leaderboard,
)
from solvent.report.page import render

ROOT = Path(__file__).parents[2]
GREED = SUITE.tasks[1].name

# An entry that is in the repository, by its folder.
packed_entry = cache(read_submission)


def test_the_page_has_the_numbers_of_the_policies_and_says_what_is_proved(
    submission: Path, wild_submission: Path, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    page = write_leaderboard([wild_submission, submission, submission], out, SUITE).read_text()
    checked = check_submission(submission, SUITE)
    expected = estimate([[agent.normalized for agent in t.agents] for t in checked.tasks])
    assert expected.is_interval
    [row] = re.findall(r'<tr data-place="steady">(.*?)</tr>', page, re.DOTALL)
    [table] = re.findall(rf'data-task="{GREED}">(.*?)</table>', page, re.DOTALL)
    worst = max(agent.worst_start_gap for agent in checked.tasks[1].agents)
    for text, part in (
        (f'data-value="{expected.mean}"', row),
        (f"[{four_decimals(expected.low)}, {four_decimals(expected.high)}]", row),
        (f'data-value="{worst}"', table),
        (f"<b>Proved</b>: {PROVED}", page),
        (f"<b>Stated</b> by the submitters: {STATED}", page),
    ):
        assert text in part
    assert page.count("<i>the seeds are not those of the suite, so they may be") == 3
    # Learners that use the model, or saw the solution, are apart.
    parts = re.split(r"<h3>(.*?)</h3>", page)
    tables = dict(zip(parts[1::2], parts[2::2], strict=True))
    places = {name: re.findall(r'data-place="([^"]+)"', tables[name]) for name in KINDS.values()}
    assert places == {KINDS[False]: ["steady", "steady (2)"], KINDS[True]: ["wild_one"]}
    assert "uses the model" in tables[KINDS[True]]


@pytest.mark.slow
def test_the_tables_of_the_documentation_are_those_of_the_packed_entries() -> None:
    folders = sorted(card.parent for card in (ROOT / "benchmarks/results").glob("*/*/card.json"))
    assert folders
    assert (ROOT / "benchmarks/results/tables.md").read_text() == as_markdown(
        [packed_entry(folder) for folder in folders]
    )
    for folder in folders:
        assert sum(file.stat().st_size for file in folder.rglob("*")) < 2**18 + 2**16, folder


def test_the_text_below_the_tables_is_what_the_tables_and_the_searches_say() -> None:
    pytest.importorskip("optuna")
    from tune import SPACES

    tables = (ROOT / "benchmarks/results/tables.md").read_text("utf-8")
    scores, _, overall = [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        for table in re.findall(
            r"^\|.*\n\| ---.*\n((?:\|.*\n)+)",
            re.split(r"^## ", tables, flags=re.MULTILINE)[2],
            re.MULTILINE,
        )
    ]
    order = [row[0] for row in overall]
    over_runs, over_tasks = (
        {row[0]: [float(end) for end in re.findall(r"[\d.]+", row[n])][1:] for row in overall}
        for n in (4, 5)
    )
    lows, highs = zip(*over_tasks.values(), strict=True)
    suite = find_suite("core-mini")
    found = {name: suite.algorithms[name].settings for name in order}
    differ = {n for n, values in SPACES["dqn"].items() if SPACES["qr_dqn"][n] is not values}
    shared, early = differ ^ SPACES["dqn"].keys(), set()
    # The hashes of the folder `solvent` at these commits.
    commits = {
        "9e0251bb8fbe": "3e6d700",
        "2039d2892273": "fd5ae6d",
        "20f0035a816d": "db6e15d",
        "2b29f1c9376d": "b1fd4b7",
    }
    entries = {name: packed_entry(ROOT / "benchmarks/results/core-mini" / name) for name in order}
    trained = {name: commits[entry.card.source] for name, entry in entries.items()}
    seconds = {name: cpu_seconds(entry) for name, entry in entries.items()}
    for name in order:
        trials, lines = tuning_log("core-mini", name)
        assert len(trials) == 30, name
        # The three best on the first seed are run with two more.
        whole = [line for line in trials if line["state"] == "complete"]
        gaps = {
            sum(one["objective"] for one in lines if one["settings"] == line["settings"]): line
            for line in sorted(whole, key=itemgetter("objective"))[:3]
        }
        assert gaps[min(gaps)]["settings"] == found[name], name
        if found[name] in [line["settings"] for line in trials[:12]]:
            early.add(name)
    named = {"ppo": "3e6d700", "trpo": "fd5ae6d", "qr_dqn": "fd5ae6d", "masked_dqn": "db6e15d"}
    least, most = min(seconds, key=seconds.__getitem__), max(seconds, key=seconds.__getitem__)
    check_sentences("leaderboard.md", {
        "intervals over runs of QR-DQN and TRPO lie above those of all others":
            set(order[:2]) == {"qr_dqn", "trpo"}
            and min(over_runs[name][0] for name in order[:2])
            > max(over_runs[name][1] for name in order[2:]),
        "When tasks are drawn as well, all intervals overlap: twelve tasks":
            max(lows) < min(highs) and len(suite.tasks) == len(scores) == 12,
        "DQN and QR-DQN were searched over the same ranges, except for the network":
            (differ, SPACES["qr_dqn"].keys()) == ({"policy_kwargs"}, SPACES["dqn"].keys())
            and any(found["dqn"][name] != found["qr_dqn"][name] for name in shared),
        "So did PPO and MaskablePPO, and DQN and masked DQN":
            found["maskable_ppo"] != found["ppo"] and found["masked_dqn"] != found["dqn"],
        "Each algorithm was searched with thirty trials, and no interval includes the luck of that "
        "search. For PPO, TRPO and QR-DQN the last eighteen trials found nothing better.":
            early == {"ppo", "trpo", "qr_dqn"},
        "PPO was trained by the code of commit `3e6d700`, TRPO and QR-DQN by that of `fd5ae6d`, "
        "masked DQN by that of `db6e15d`, and the others by that of `b1fd4b7`":
            trained == dict.fromkeys(order, "b1fd4b7") | named,
    })  # fmt: skip
    check_sentences("benchmark.md", {
        f"from {seconds[least]:.0f} seconds (Q-learning) to {seconds[most] / 60:.0f} minutes "
        "(masked DQN) of CPU time": (least, most) == ("q_learning", "masked_dqn"),
    })  # fmt: skip


# The entries on core, by the names on the page.
CORE = {
    "qr_dqn": "QR-DQN",
    "maskable_ppo": "MaskablePPO",
    "ppo": "PPO",
    "trpo": "TRPO",
    "a2c": "A2C",
    "dqn": "DQN",
    "q_learning": "Q-learning",
    "masked_dqn": "masked DQN",
}


def test_the_table_on_half_a_million_steps_is_what_the_entries_and_the_searches_say() -> None:
    page = (ROOT / "docs/leaderboard.md").read_text("utf-8")
    core, mini = core_entries()
    assert core.keys() == CORE.keys()
    # The hashes of the folder `solvent` at these commits.
    commits = {
        "cd861522d8ee": "093e1ddf",
        "f3aaafbd81f9": "4c510df0",
        "4e5741582c32": "0f4f7e26",
        "d387d973e7ec": "9957c7be",
        "536cbcda57fe": "15a6ff67",
        "b04ac314a94f": "9311e7a9",
    }
    rows = {}
    for name, shown in CORE.items():
        trials, lines = tuning_log("core", name)
        chosen = find_suite("core").algorithms[name].settings
        assert chosen in [line["settings"] for line in trials], name
        assert len(core[name].card.seeds) == 10
        scores = [
            trim_mean(np.concatenate([*by_task(entries[name]).values()]), 0.25)
            for entries in (core, mini)
        ]
        searched = sum(line["cpu_seconds"] for line in lines)
        cells = [f"{score:.3f}" for score in scores] + [str(len(trials))]
        cells += [f"{spent / 60:.1f}" for spent in (searched, cpu_seconds(core[name]))]
        rows[scores[0]] = f"| {shown} | {' | '.join(cells)} | `{commits[core[name].card.source]}` |"
    assert (
        "\n|---|---|---|---|---|---|---|\n"
        + "\n".join(row for _, row in sorted(rows.items(), reverse=True))
        in page
    )
    # Small batches were left out of the search, since they take longer.
    assert min(line["settings"]["batch_size"] for line in tuning_log("core", "ppo")[0]) == 256
    spent: dict[int, list[float]] = {64: [], 512: []}
    for line in tuning_log("core-mini", "ppo")[0]:
        own = line["settings"]
        alike = (own["n_envs"], own["n_steps"], own["n_epochs"]) == (16, 128, 8)
        if alike and "[128, 128]" in own["policy_kwargs"] and line["state"] == "complete":
            spent[own["batch_size"]].append(line["cpu_seconds"])
    check_sentences("benchmark.md", {
        f"ten seeds of PPO took {cpu_seconds(core['ppo']) / 60:.0f} minutes of CPU time": True,
        "small ones took some four times the CPU time on `core-mini`":
            round(np.mean(spent[64]) / np.mean(spent[512])) == 4,
    })  # fmt: skip


@pytest.mark.slow
def test_the_text_on_half_a_million_steps_is_what_the_entries_say() -> None:
    core, mini = core_entries()
    scores = {name: by_task(core[name]) for name in CORE}
    rows = [f"| task | {' | '.join(CORE.values())} |", f"|---{'|---' * len(CORE)}|"]
    for task in scores["ppo"]:
        missed = [sum(score < 1 - 1e-9 for score in own[task]) for own in scores.values()]
        if min(missed) == 0 < max(missed):
            rows.append(f"| `{task}` | {' | '.join(map(str, missed))} |")
    assert "\n".join(rows) in (ROOT / "docs/leaderboard.md").read_text("utf-8")
    settings = {name: find_suite("core").algorithms[name].settings for name in CORE}
    lost, share, never = {}, {}, constant_score("solvent/CarRental-v0", "move none").normalized
    for name in ("masked_dqn", "dqn", "qr_dqn"):
        [maze] = (task for task in core[name].tasks if task.env.startswith("MiniGrid"))
        lost[name] = [agent.mode_value for agent in maze.agents].count(0)
        share[name] = round(100 * settings[name]["exploration_fraction"])
    parked = {n for n in lost if scores[n]["solvent/CarRental-v0"] == pytest.approx([never] * 10)}
    punt, better, punting = constant_score("solvent/FootballDrive-v0", "punt").value, set(), set()
    for name, entry in core.items():
        [drive] = (task for task in entry.tasks if task.env == "solvent/FootballDrive-v0")
        assert drive.constant.value == pytest.approx(punt)
        found = [agent.mode_value for agent in drive.agents]
        if min(found) > punt + 0.1:
            better.add(name)
        if found == pytest.approx([punt] * 10):
            punting.add(name)
    drawn = [summarize(entry.tasks).row(name).iqm_over_tasks for name, entry in core.items()]
    networks = mini.keys() - {"q_learning"}
    check_sentences("leaderboard.md", {
        "Each run of DQN and of masked DQN is better than the best constant action, a punt on "
        "first down. All runs of the others end with that punt":
            (better, punting) == ({"dqn", "masked_dqn"}, CORE.keys() - better),
        "The score of each run of DQN and of masked DQN is that of never moving a car.":
            parked == {"dqn", "masked_dqn"},
        "In MiniGrid nine runs of masked DQN and five of DQN never reach the goal. Their searches "
        "ended with settings that explore for 15% and 21% of the steps; QR-DQN, whose runs all "
        "reach it, explores for 63%.":
            ([*lost.values()], [*share.values()]) == ([9, 5, 0], [15, 21, 63]),
        "Its tables score less in car rental and in combat from random starts than the "
        "interquartile mean of any network with 30,000 steps.": all(
            trim_mean(scores["q_learning"][task], 0.25)
            < min(trim_mean(by_task(mini[name])[task], 0.25) for name in networks)
            for task in ("solvent/CarRental-v0", "solvent/FFCombatRandom-v0")
        ),
        "Its entropy bonus is eleven times that of PPO":
            round(settings["maskable_ppo"]["ent_coef"] / settings["ppo"]["ent_coef"]) == 11,
        "When tasks are drawn as well, all intervals overlap here, too.":
            max(each.low for each in drawn) < min(each.high for each in drawn),
    })  # fmt: skip


def constant_score(env_id: str, action: str) -> Score:
    """The score of one action, by its name, in all states."""
    game = solvent.compile_game(env_id)
    number = game.info.actions[0].index(action)
    return solvent.score(game, solvent.TabularPolicy.constant(game, number))


def core_entries() -> Iterator[dict[str, Submission]]:
    """The packed entries on core and on core-mini, by algorithm."""
    for results in ("core", "core-mini"):
        cards = (ROOT / "benchmarks/results" / results).glob("*/card.json")
        yield {card.parent.name: packed_entry(card.parent) for card in cards}


def tuning_log(suite: str, algorithm: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The trials of a search, and all lines of its log."""
    log = ROOT / f"docs/evidence/{suite}-tuning/{algorithm}.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in lines if line["kind"] == "trial"], lines


def cpu_seconds(entry: Submission) -> float:
    return sum(agent.cpu_seconds for task in entry.tasks for agent in task.agents)


def by_task(entry: Submission) -> dict[str, list[float]]:
    """The normalized scores of an entry's runs by the environment of their task."""
    return {task.env: [agent.mode_normalized for agent in task.agents] for task in entry.tasks}


def test_the_text_on_games_for_two_is_what_the_entries_and_the_searches_say() -> None:
    results, suite = ROOT / "benchmarks/results/two-player", find_suite("two-player")
    entries = {card.parent.name: packed_entry(card.parent) for card in results.glob("*/card.json")}
    for name in ("minimax_q", "mirror_descent"):
        trials, _ = tuning_log("two-player", name)
        assert len(trials) == 30
        assert suite.algorithms[name].settings in [line["settings"] for line in trials], name
    evidence = ROOT / "docs/evidence/two-player-tuning"
    scores = json.loads((evidence / "mirror_descent-ten-seeds.json").read_text())["normalized"]
    own = {
        task.name: [agent.normalized for agent in task.agents]
        for task in entries["minimax_q"].tasks
    }
    learned, others = (
        [trim_mean([*runs[f"{game}-v0{ending}"]], 0.25) for game in ("Goofspiel", "Soccer")]
        for runs, ending in (({g: r.values() for g, r in scores.items()}, ""), (own, "-self-play"))
    )
    check_sentences("leaderboard.md", {
        "Minimax-Q learns from episodes; the other three sweep over all states and are told":
            {n for n, entry in entries.items() if not entry.card.uses_model} == {"minimax_q"},
        "trained by the code of commit `7c65075a`":
            {entry.card.source for entry in entries.values()} == {"5b77d9664f9a"},
        "reaches {:.2f} in Goofspiel and {:.2f} in soccer".format(*learned):
            [len(runs) for runs in scores.values()] == [10, 10],
        "(minimax-Q: {:.2f} and {:.2f})".format(*others): True,
    })  # fmt: skip


@pytest.mark.slow
def test_the_packed_entries_are_what_they_claim() -> None:
    for card in (ROOT / "benchmarks/results").glob("*/*/card.json"):
        # In a game of eight states several seeds learn the same policy, and some the optimum.
        doubts = check_submission(card.parent).doubts
        assert [d for d in doubts if not d.endswith(("are equal", "are optimal"))] == [], card


def test_a_hostile_card_is_harmless(submission: Path, tmp_path: Path) -> None:
    hostile = "</span><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}"
    folder = Path(shutil.copytree(submission, tmp_path / "hostile"))
    words: dict[str, Any] = dict.fromkeys(("authors", "budget", "hardware"), hostile)
    rewrite_json(folder / "card.json", lambda card: card.update(words))

    def change(claims: Any) -> None:
        """Names that no table shows, and numbers that fill a page."""
        for agent in claims["tasks"][0]["agents"]:
            agent |= {"name": hostile, "cpu_seconds": 1e300, "folder": "x"}
            agent["hyperparameters"] = {hostile: hostile}
        claims["tasks"][0] |= {"game": hostile, "parameters": {hostile: hostile}}

    rewrite_json(folder / "results.json", change)
    text = render_leaderboard([check_submission(folder, SUITE)])
    tags = re.findall(r"<[a-z][^>]*>", text)
    assert sum(tag.startswith("<script") for tag in tags) == 1
    assert not [tag for tag in tags if tag.startswith("<img") or re.search(r"\son\w+=", tag)]
    links = {link for tag in tags for link in re.findall(r' (?:href|src)="([^"]*)"', tag)}
    assert links == {"https://example.org/code"}
    assert "&lt;script&gt;alert(1)" in text
    assert "{{ 7 * 7 }}" in text
    assert run("submit", "check", folder).exit_code == 2


def test_the_commands(bench_folder: Path, tmp_path: Path) -> None:
    suite = tmp_path / "small.toml"
    suite.write_text("""
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
""")
    out, page = tmp_path / "steady", tmp_path / "page.html"
    words = ["--authors", "[red]A :boom:", "--code", "https://example.org", "--suite", str(suite)]
    packed = said("submit", "pack", bench_folder, "--algorithm", "steady", "--out", out, *words)
    assert re.search(r"^authors +\[red\]A :boom:", packed, re.M)
    checked = said("submit", "check", out, "--suite", suite)
    found = summarize(read_submission(out).tasks).row("steady").iqm
    mean, *ends = (exact(number, 3) for number in (found.mean, found.low, found.high))
    for line in (
        r"^proved +The policies of this folder are for the games",
        r"^stated +Who learned them, by which algorithm",
        "note: the seeds are not those of the suite",
        rf"^all tasks\n.*\nsteady +{mean} \[{', '.join(ends)}\]",
    ):
        assert re.search(line, checked, re.M), line
    said("leaderboard", out, "--out", page, "--suite", suite)
    assert 'data-place="steady"' in page.read_text()
    (out / "policies" / f"{GREED}.npz").unlink()
    refused = run("submit", "check", out, "--suite", suite)
    assert refused.exit_code == 2
    assert f"{GREED}.npz: cannot be read" in refused.stderr.replace("\n", "")


def test_the_report_has_the_means_of_the_summary_and_the_runs_that_failed(
    bench_folder: Path, tmp_path: Path
) -> None:
    write_report(bench_folder, tmp_path / "page.html", summary=tmp_path / "summary")
    page, tasks = (tmp_path / "page.html").read_text(), [task.name for task in SUITE.tasks]
    names = {path.name for path in (tmp_path / "summary").iterdir()}
    assert names == {"summary.csv", "summary.json"}
    bench = read_bench(bench_folder)
    summary = summarize(bench.tasks, bench.suite)
    for algorithm in NOISE:
        [row] = re.findall(rf'<tr data-overall="{algorithm}">(.*?)</tr>', page, re.S)
        judged, greedy, sampled = (summary.row(algorithm, policy=name) for name in POLICIES)
        shown = [float(value) for value in re.findall(r'data-value="([^"]+)"', row)]
        expected = [judged.iqm, judged.iqm_over_tasks, judged.median, judged.mean]
        expected += [judged.over_constant, greedy.iqm, sampled.iqm]
        assert shown == pytest.approx([one.mean for one in expected if one is not None])
        for one in expected:
            assert f"[{four_decimals(one.low)}, {four_decimals(one.high)}]" in row
    [matrix] = re.findall(r'<table class="narrow improvement">(.*?)</table>', page, re.DOTALL)
    shown = [float(value) for value in re.findall(r'data-value="([^"]+)"', matrix)]
    assert shown == pytest.approx([one.probability.mean for one in summary.improvements])
    assert "<pre>@software{solvent,\n  title = {{Solvent: " in page
    assert f"suite {bench.suite.name} {bench.suite.hash[:16]}}}" in page
    assert "data-failure" not in page
    folder = Path(shutil.copytree(bench_folder, tmp_path / "bench"))
    lost = FailureRecord(tasks[0], "steady", 10, "ValueError: <b>no</b>")
    write_results(folder, replace(bench, failures=(lost,)))
    [row] = re.findall("<tr data-failure>.*?</tr>", render(folder))
    assert re.findall(">([^<>]+)</t", row) == [
        tasks[0], "steady", "10", "ValueError: &lt;b&gt;no&lt;/b&gt;",
    ]  # fmt: skip
