"""Suites, the records of a bench, and the statistics over seeds with their files."""

import csv
import io
import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import rewrite_json
from refusals import assert_refused
from rich.console import Console
from scipy.stats import mannwhitneyu
from submitted import NOISE, SUITE

from solvent.benchmark.progress import BenchProgress, Moment
from solvent.benchmark.records import (
    AgentRecord,
    BaselineRecord,
    BenchRecord,
    FailureRecord,
    SuiteRecord,
    TaskRecord,
    figures,
    read_bench,
    write_results,
)
from solvent.benchmark.statistics import (
    curve_band,
    estimate,
    interquartile_mean,
    mean_over_tasks,
    median_over_tasks,
    performance_profile,
    probability_of_improvement,
)
from solvent.benchmark.suites import (
    Setting,
    Task,
    find_suite,
    read_settings,
    suite_hash,
    suite_seeds,
    tuning_seed,
)
from solvent.benchmark.summary import (
    Summary,
    as_csv,
    as_json,
    normalized_scores,
    summarize,
)
from solvent.exact import Score, StoreError
from solvent.exact.learning_curve import Evaluation
from solvent.model.registry import declared_names

# Suites: small files that say what is compared on


GOOD = """
format = 1
name = "mine"
title = "Two of my own"

[[tasks]]
environment = "solvent/GreedSmall-v0"
timesteps = 1_000
seeds = { ppo = 2 }

[[tasks]]
environment = "solvent/GreedSmall-v0"
self_play = true
env_kwargs = { limit = 10 }
timesteps = 2_000
"""


def test_a_file_says_what_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD)
    suite = find_suite(str(file))
    assert (suite.name, suite.title) == ("mine", "Two of my own")
    greed = "solvent/GreedSmall-v0"
    assert suite.tasks == (
        Task(environment=greed, timesteps=1_000, seeds={"ppo": 2}, name="GreedSmall-v0"),
        Task(
            environment=greed,
            self_play=True,
            env_kwargs={"limit": 10},
            timesteps=2_000,
            name="GreedSmall-v0-self-play",
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format = 1", "format = 2", "format is 2; this reads 1"),
        ("[[tasks]]", "[[tasks", "not TOML"),
        ('title = "Two of my own"', "title = 3", "title is 3; input should be a valid string"),
        ("timesteps = 1_000", "steps = 1_000", "tasks.0.steps is 1000; unexpected"),
        ("timesteps = 1_000", "timesteps = 0", "timesteps is 0"),
        ("timesteps = 2_000", "cpu_seconds = 1.5", "tasks.1.cpu_seconds is 1.5; unexpected"),
        ("self_play = true", "self_play = 1", "self_play is 1; input should be a valid boolean"),
        ("self_play = true", "", "two tasks are called GreedSmall-v0"),
        ("{ ppo = 2 }", "{ ppo = 0 }", "the number of seeds of ppo is 0"),
        ("self_play = true", 'name = "../mine"', "the name of a task is '../mine'"),
        ('environment = "solvent/GreedSmall-v0"', "", "lacks tasks.0.environment"),
    ],
)
def test_what_is_no_suite_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=r"mine\.toml") as caught:
        find_suite(str(file))
    assert message in str(caught.value)


def test_the_hash_covers_what_is_compared_and_no_more() -> None:
    one, two = Task(environment="A-v0", timesteps=100), Task(environment="B-v0", timesteps=100)
    known = suite_hash([one, two], ["a", "b"])
    assert suite_hash([two, one], ["b", "a"]) == known
    assert suite_hash([replace(one, seeds={"ppo": 3}), two], ["a", "b"]) == known
    changed = [
        suite_hash([one, two], ["a", "c"]),
        suite_hash([one], ["a"]),
        *(
            suite_hash([replace(one, **change), two], ["a", "b"])  # type: ignore[arg-type]
            for change in (
                {"timesteps": 101},
                {"self_play": True},
                {"env_kwargs": {"limit": 3}},
            )
        ),
    ]
    assert len({known, *changed}) == 6


def test_the_suites_of_this_package_are_those_that_it_declares() -> None:
    folder = Path(__file__).parents[2] / "solvent" / "games" / "suites"
    declared = tomllib.loads((folder.parents[2] / "pyproject.toml").read_text())
    group = declared["project"]["entry-points"]["solvent.suites"]
    assert {file.stem for file in folder.glob("*.toml")} == set(group)
    assert set(group) <= set(declared_names("solvent.suites"))
    for name in group:
        assert all(task.timesteps and task.seeds for task in find_suite(name).tasks)


def test_seeds_follow_from_the_hash() -> None:
    """A longer list begins with the shorter one, each number is there once, all fit a learner."""
    seeds = suite_seeds("ab" * 32, 10_000)
    assert suite_seeds("ab" * 32, 3) == seeds[:3]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert not set(suite_seeds("ab" * 32, 10)) & set(suite_seeds("cd" * 32, 10))
    assert tuning_seed("ab" * 32, 0) != tuning_seed("ab" * 32, 1)
    assert all(max(seeds) < tuning_seed("ab" * 32, number) < 2**31 for number in range(100))


def test_a_tier_has_the_tasks_of_its_suite_and_settings_of_its_own(tmp_path: Path) -> None:
    core, mini = find_suite("core"), find_suite("core-mini")
    budgets = {task.timesteps for task in mini.tasks}
    assert len(budgets) == 1
    assert mini.tasks == core.with_timesteps(*budgets).tasks  # type: ignore[arg-type]
    assert find_suite("core@123") == core.with_timesteps(123)
    file = tmp_path / "mine.toml"
    own = '[algorithms.ppo]\ntuning = "by hand"\nsettings = { n_envs = 4 }\n'
    file.write_text(GOOD + own)
    expected = {"ppo": Setting({"n_envs": 4}, "by hand")}
    assert find_suite(str(file)).algorithms == expected
    file.write_text("format = 1\n" + own)
    assert read_settings(file) == expected
    file.write_text(f'format = 1\nname = "mine"\ntasks_of = "{file}"\ntimesteps = 5\n')
    rows = (
        ("core@many", "'core@many'; its budget has to be a number of steps"),
        (str(file), "tasks_of leads back to the suite itself"),
    )
    assert_refused(rows, find_suite)


# What a bench writes and what it tells as it goes on


AGENT = AgentRecord(
    name="mine 0",
    algorithm="mine",
    seed=0,
    value=-inf,
    gap=inf,
    normalized=-inf,
    worst_start_gap=inf,
    mode_value=-13.0,
    mode_gap=0.0,
    mode_normalized=1.0,
    mode_worst_start_gap=0.0,
    timesteps=1_000,
    cpu_seconds=1.5,
    folder="CliffWalking-v1/mine-0",
    uses_model=True,
    hyperparameters={"learning_rate": 0.1, "schedule": None, "layers": [64, 64]},
    system={"versions": {"solvent": "0.2.0"}, "processors": 2},
)
BENCH = BenchRecord(
    tasks=(
        TaskRecord(
            env="CliffWalking-v1",
            game="CliffWalking-v1",
            parameters={},
            optimum=-13.0,
            bracket=(-13.0, -13.0),
            agents=(AGENT,),
            baselines=(BaselineRecord("uniform", -inf, inf, 0.0, inf),),
            task=Task(environment="CliffWalking-v1", timesteps=1_000, seeds={"mine": 1}),
            model_hash="ab",
        ),
    ),
    suite=SuiteRecord("textbook", "cd"),
    failures=(FailureRecord("CliffWalking-v1", "mine", 1, "ValueError: no"),),
)


OUTSIDE = "elsewhere'; expected one within that of the results"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_results(tmp_path, BENCH)
    assert read_bench(tmp_path) == BENCH
    assert json.loads((tmp_path / "results.json").read_text())["format"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(format=3), "format is 3; this version reads 2"),
        (lambda c: c.pop("format"), "format is none, as in version 0.1; this version reads 2"),
        (lambda c: c["tasks"][0].pop("task"), "lacks tasks.0.task"),
        (lambda c: c.update(format="2"), "format is '2'"),
        (lambda c: c["failures"][0].pop("error"), "lacks failures.0.error"),
        (lambda c: c["suite"].update(hash=3), "suite.hash is 3; input should be a valid string"),
        (
            lambda c: c["tasks"][0]["task"].update(steps=3),
            "tasks.0.task.steps is 3; unexpected keyword argument",
        ),
        (lambda c: c["tasks"][0]["task"].update(timesteps=-1), "tasks.0.task: CliffWalking-v1: "),
        (lambda c: c["tasks"][0].update(model_hash=None), "tasks.0.model_hash is None"),
        (
            lambda c: c["tasks"][0]["agents"][0].update(hyperparameters=[]),
            "agents.0.hyperparameters is []; input should be an object",
        ),
        (
            lambda c: c["tasks"][0]["agents"][0].update(uses_model=1),
            "agents.0.uses_model is 1; input should be a valid boolean",
        ),
        (
            lambda c: c["tasks"][0]["agents"][0].update(timesteps=1.5),
            "agents.0.timesteps is 1.5; input should be a valid integer",
        ),
        (lambda c: c.pop("tasks"), "lacks tasks"),
        (lambda c: c["tasks"].clear(), "holds no task"),
        (lambda c: c["tasks"].__setitem__(0, 3), "tasks.0 is 3; input should be an object"),
        (lambda c: c["tasks"][0].update(bracket=[1]), "lacks tasks.0.bracket.1"),
        (lambda c: c["tasks"][0]["agents"][0].update(value="<script>"), "agents.0.value is '<scr"),
        (lambda c: c["tasks"][0]["agents"][0].update(name=["x" * 100_000]), "name is ['xxx"),
        (lambda c: c["tasks"][0]["agents"][0].update(folder="../../elsewhere"), OUTSIDE),
        (lambda c: c["tasks"][0]["agents"][0].update(folder="/elsewhere"), OUTSIDE),
    ],
)
def test_what_is_not_of_the_format_is_refused(
    change: Callable[[Any], object], message: str, tmp_path: Path
) -> None:
    write_results(tmp_path, BENCH)
    rewrite_json(tmp_path / "results.json", change)
    with pytest.raises(StoreError) as caught:
        read_bench(tmp_path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("error", [SystemExit(1), OSError(28, "No space left on device")])
def test_work_goes_on_when_its_output_is_closed_or_full(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise error  # Rich leaves the program when a pipe is closed.

    with BenchProgress({"A-v0 ppo 0": 1000}) as told:
        monkeypatch.setattr(Console, "print", closed)
        point = Evaluation(500, 0.5, 0.2, 0.6, 0.1, 20.0)
        told.move("A-v0 ppo 0", Moment(500, 1000, point, False))
        told.finish("A-v0 ppo 0", AGENT)


# The statistics over seeds, and the files of a bench that say them


def test_the_three_means_by_hand() -> None:
    tasks = [np.array([0.0, 0.4, 0.6, 1.0]), np.array([0.9, 1.0, 1.0, 0.7]), np.array([0.1] * 4)]
    # Of 12 runs, 3 are left out at either end: 0 .1 .1 and 1 1 1.
    assert interquartile_mean(*tasks) == pytest.approx((0.1 + 0.1 + 0.4 + 0.6 + 0.7 + 0.9) / 6)
    # The tasks' means are .5, .9 and .1.
    assert median_over_tasks(*tasks) == pytest.approx(0.5)
    assert mean_over_tasks(*tasks) == pytest.approx(0.5)
    assert median_over_tasks(*tasks[:2]) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("statistic", "over_tasks"),
    [(interquartile_mean, False), (median_over_tasks, False), (mean_over_tasks, True)],
)
def test_an_interval_is_that_of_a_bootstrap_within_tasks_or_of_them_too(
    statistic: Any, over_tasks: bool
) -> None:
    random = np.random.default_rng(7)
    tasks = [random.random(12), 0.5 + random.random(10), 0.1 * random.random(11)]
    if over_tasks:
        tasks = [level + 0.1 * random.random(10) for level in (0.0, 0.3, 0.8, 0.9)]
    scores = [own.tolist() for own in tasks]
    found = estimate(scores, statistic, over_tasks=over_tasks)
    assert found.is_interval
    assert estimate(scores, statistic, over_tasks=over_tasks) == found
    assert found.mean == pytest.approx(statistic(*tasks))
    # Drawn here once more, in a loop, task by task.
    drawn = []
    for _ in range(4_000):
        numbers = random.integers(len(tasks), size=len(tasks)) if over_tasks else range(len(tasks))
        drawn.append(statistic(*(random.choice(tasks[n], len(tasks[n])) for n in numbers)))
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.1 * (high - low))
    if over_tasks:
        within = estimate(scores, statistic)
        assert high - low > 5 * (within.high - within.low)
        assert not estimate([*scores[:3], scores[3] * 2], over_tasks=True).is_interval


def test_a_run_that_loses_without_bound_counts() -> None:
    one = estimate([[-math.inf, *[0.5] * 11]])
    assert (one.mean, one.low, one.high, one.is_interval) == (0.5, -math.inf, 0.5, False)
    assert estimate([[-math.inf] * 4 + [0.5] * 8]).mean == -math.inf
    assert estimate([[math.nan, 0.5]]) is None


def test_a_profile_by_hand() -> None:
    profile = performance_profile([[0.1, 0.5], [0.5, 0.9, 0.9]], np.array([0.0, 0.1, 0.5, 0.9]))
    # Above .1 is one of two and all of three; above .5 none of two and two of three.
    assert profile.mean.tolist() == pytest.approx([1.0, 0.75, 1 / 3, 0.0])
    assert profile.low is None
    assert not profile.is_interval


def test_the_probability_of_improvement_is_that_of_mann_and_whitney() -> None:
    first, second = np.random.default_rng(3).integers(0, 6, (2, 4, 12)).astype(float)
    found, back = (
        probability_of_improvement(x.tolist(), y.tolist())
        for x, y in ((first, second), (second, first))
    )
    expected = [mannwhitneyu(x, y).statistic / 144 for x, y in zip(first, second, strict=True)]
    assert found.mean == pytest.approx(np.mean(expected))
    assert found.mean + back.mean == pytest.approx(1)
    assert found.is_interval
    assert 0 < found.low < found.mean < found.high < 1


def test_a_band_of_few_runs_is_their_range() -> None:
    curves = [[(0.0, 4.0), (10.0, 2.0)], [(0.0, 8.0), (20.0, 0.0)]]
    band = curve_band(curves, np.array([0.0, 9.0, 10.0, 25.0]))
    assert band.mean.tolist() == [6.0, 6.0, 5.0, 1.0]
    assert band.low.tolist() == [4.0, 4.0, 2.0, 0.0]
    assert band.high.tolist() == [8.0, 8.0, 8.0, 2.0]
    assert not band.is_interval
    # Of four runs the best and the worst are left out; of the others none ends at first.
    endless = [[(0.0, math.inf), (1.0, gap)] for gap in (math.inf, 4.0, 2.0, 1.0)]
    assert curve_band(endless, np.array([0.0, 1.0])).mean.tolist() == [math.inf, 3.0]


COMBAT, GREED = (task.name for task in SUITE.tasks)


@pytest.fixture(scope="module")
def read(bench_folder: Path) -> BenchRecord:
    return read_bench(bench_folder)


@pytest.fixture(scope="module")
def summary(read: BenchRecord) -> Summary:
    return summarize(read.tasks, read.suite)


def test_a_largest_gap_is_unknown_if_one_of_them_is() -> None:
    known = Score(0.5, 1.0, 0.5, None, 0.5, 0.0, 0.5, "start")
    unknown = replace(known, worst_start_gap=math.nan)
    agents = (AGENT, replace(AGENT, seed=1, mode_worst_start_gap=math.nan, worst_start_gap=1.0))
    row = summarize([replace(BENCH.tasks[0], agents=agents)]).row("mine", "CliffWalking-v1")
    assert row is not None
    assert row.worst_start_gap is None
    assert math.isnan(figures([known, unknown])["worst_start_gap"])


def test_the_rows_are_the_statistics_of_the_records(read: BenchRecord, summary: Summary) -> None:
    for algorithm in NOISE:
        own = [[a for a in task.agents if a.algorithm == algorithm] for task in read.tasks]
        # The first task is for one, the second for two.
        for policy, prefixes in (
            ("judged", ("mode_", "")),
            ("greedy", ("mode_", "mode_")),
            ("sampled", ("", "")),
        ):
            scores = [
                [getattr(a, f"{prefix}normalized") for a in agents]
                for prefix, agents in zip(prefixes, own, strict=True)
            ]
            gaps, worst = (
                [getattr(a, f"{prefixes[1]}{name}") for a in own[1]]
                for name in ("gap", "worst_start_gap")
            )
            over_all = {
                "runs": 20,
                "iqm": estimate(scores),
                "median": estimate(scores, median_over_tasks),
                "mean": estimate(scores, mean_over_tasks),
                "gap": None,
                "iqm_over_tasks": estimate(scores, over_tasks=True),
            }
            constant = read.tasks[1].constant
            of_task = {
                "iqm": estimate(scores[1:]),
                "gap": estimate([gaps]),
                "worst_start_gap": max(worst),
                "log_gap": estimate([[math.log10(max(gap, 1e-9)) for gap in gaps]]),
                "over_constant": estimate([[1 - gap / constant.gap for gap in gaps]]),
            }
            for task, expected in ((None, over_all), (GREED, of_task)):
                row = summary.row(algorithm, task, policy)
                assert {name: getattr(row, name) for name in expected} == expected
    [one, other] = summary.improvements
    assert (one.first, one.second) == (other.second, other.first) == tuple(NOISE)
    both = [normalized_scores(read.tasks, name) for name in NOISE]
    assert one.probability == probability_of_improvement(*both)
    assert one.over_tasks == probability_of_improvement(*both, over_tasks=True)


def test_a_run_without_a_score_does_not_take_its_task_away(read: BenchRecord) -> None:
    """Left out, the task that went worst would make its algorithm the better."""
    first = read.tasks[0]
    unproved = replace(first.agents[0], mode_normalized=math.nan)
    tasks = [replace(first, agents=(unproved, *first.agents[1:])), *read.tasks[1:]]
    name = unproved.algorithm
    assert [len(own) for own in normalized_scores(tasks, name)] == [10, 10]
    assert summarize(tasks).row(name).iqm is None
    # On a task on which uniform play is optimal nobody has a score, and the others count.
    nothing = replace(
        first,
        agents=tuple(
            replace(a, normalized=math.nan, mode_normalized=-math.inf) for a in first.agents
        ),
        baselines=(),
    )
    assert normalized_scores([nothing, *read.tasks[1:]], name)[0] == []


def test_csv_and_json_have_every_row(summary: Summary) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(summary))))
    assert [row["task"] for row in rows] == [COMBAT] * 6 + [GREED] * 6 + [""] * 6
    last, found = rows[12], summary.rows[12].iqm
    told = [last[name] for name in ("algorithm", "policy", "told", "tuning", "iqm_ends", "gap")]
    assert told == ["steady", "judged", "samples", "default settings", "interval", ""]
    assert float(last["iqm"]) == found.mean

    def refuse(name: str) -> None:
        raise ValueError(name)

    content = json.loads(as_json(summary), parse_constant=refuse)
    assert len(content["rows"]) == len(rows)
    assert content["rows"][12]["iqm"]["mean"] == found.mean
    assert content["suite"]["name"] == summary.suite.name
