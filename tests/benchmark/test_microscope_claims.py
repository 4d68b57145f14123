"""The verdicts of benchmarks/microscope.py, on runs of which the statistics are known."""

from __future__ import annotations

import importlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from solvent.benchmark.suites import find_suite

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "docs" / "evidence" / "microscope.json"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("stable_baselines3")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("microscope")


def run(task: str, algorithm: str, seed: int, **numbers: Any) -> dict[str, Any]:
    """A run with two readings, the same but for their time."""
    reading = {"bias": 0.0, "bellman_residual": 1.0, "value_error": 1.0, "gradient": None}
    readings = [{**reading, **numbers, "timesteps": steps} for steps in (50, 100)]
    return {"task": task, "algorithm": algorithm, "seed": seed, "readings": readings}


def gradient(cosine: float) -> dict[str, float]:
    names = (
        "cosine", "first_cosine", "part_cosine", "exact_advantages", "exact_states", "unclipped",
        "no_entropy",
    )  # fmt: skip
    return dict.fromkeys(names, cosine)


@pytest.mark.parametrize(
    ("cosines", "verdict"),
    [((0.1, 0.3), "confirmed"), ((0.7, 0.9), "refuted"), ((0.1, 0.9), "undecided")],
)
def test_gradients(script: Any, cosines: tuple[float, ...], verdict: str) -> None:
    runs = [
        run(f"task {n}", "ppo", seed, gradient=gradient(cosine))
        for n, cosine in enumerate(cosines)
        for seed in range(3)
    ]
    found = script.gradients([*runs, run("task 0", "ppo", 9), run("task 0", "a2c", 0)])
    assert found.value == pytest.approx(sum(cosines) / 2)
    # With two tasks, half of the draws have each twice or one of each.
    assert found.like_these == (min(cosines), max(cosines))
    assert found.by_task == {"task 0": cosines[0], "task 1": cosines[1]}
    assert (found.like_these_verdict, found.runs, found.missing) == (verdict, 6, 1)
    # The runs of a task are equal, so that the interval for these tasks is a point.
    assert found.here == pytest.approx((found.value, found.value), abs=1e-3)


def test_overestimation_is_compared_by_seed(script: Any) -> None:
    runs = []
    for seed, (plain, double) in enumerate([(1.0, 0.5), (2.0, 1.5), (0.5, 0.4), (0.1, None)]):
        runs += [run("a", "dqn", seed, bias=plain), run("a", "double_dqn", seed, bias=double)]
    found = script.overestimation(runs)
    assert (found.value, found.here, found.like_these) == (1, (1, 1), (1, 1))
    assert (found.here_verdict, found.runs, found.missing) == ("confirmed", 3, 1)
    assert found.told["DQN overestimates"] == 1


def test_a_proxy_is_judged_by_pairs(script: Any) -> None:
    pairs = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 0.5)]
    runs = [
        run("a", "dqn", seed, bellman_residual=residual, value_error=error)
        for seed, (residual, error) in enumerate(pairs)
    ]
    # Of the six pairs the three without the last run agree.
    assert script.proxy(runs).value == 0.5
    assert script.proxy(runs[:3]).here_verdict == "refuted"
    assert script.proxy([*runs, run("a", "ppo", 0)]).runs == 4


def test_a_single_run_is_no_pair_and_counts_as_left_out(script: Any) -> None:
    pairs = [("a", 0, 1.0), ("a", 1, 2.0), ("b", 0, 1.0)]
    runs = [
        run(task, "dqn", seed, bellman_residual=number, value_error=number)
        for task, seed, number in pairs
    ]
    found = script.proxy(runs)
    # Half of the draws of two seeds have one of them twice, which is no pair either.
    assert (found.value, found.here, found.like_these) == (1, (1, 1), (1, 1))
    assert (found.by_task, found.runs, found.missing) == ({"a": 1}, 2, 1)
    assert script.proxy(runs[2:]) is None


def test_the_page_has_the_results_that_are_kept(script: Any) -> None:
    results = json.loads(EVIDENCE.read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "microscope-results.md").read_text(encoding="utf-8")
    lines = "\n".join(script.page_lines(results))
    assert f"{script.BEGIN}\n{lines}\n{script.END}" in page
    assert EVIDENCE.stat().st_size < 1_000_000
    # The verdicts follow from the numbers, which are kept in few digits.
    named = [
        {
            **one,
            "readings": [
                {
                    **dict(zip(script.READING, own, strict=True)),
                    "gradient": slope and dict(zip(script.GRADIENT, slope, strict=True)),
                }
                for own, slope in zip(
                    one["readings"], one["gradients"] or [None] * len(one["readings"]), strict=True
                )
            ],
        }
        for one in results["runs"]
    ]
    for found, kept in zip(script.verdicts(named), results["verdicts"], strict=True):
        for name in ("claim", "here_verdict", "like_these_verdict", "runs", "missing"):
            assert getattr(found, name) == kept[name], kept["claim"]
        for name in ("value", "here", "like_these", "by_task"):
            assert getattr(found, name) == pytest.approx(kept[name], abs=0.01), kept["claim"]
        assert found.told == pytest.approx(kept["told"], abs=0.01), kept["claim"]
    # The runs are those of the command, and the settings those of the suite.
    [(algorithms, seeds)] = re.findall(r"--algorithms ([\w ]+) --seeds (\d+)", page)
    assert Counter(one["algorithm"] for one in results["runs"]) == dict.fromkeys(
        algorithms.split(), len(script.TASKS) * int(seeds)
    )
    suite = find_suite(results["suite"])
    settings = {"double_dqn": suite.algorithms["dqn"], **suite.algorithms}
    for algorithm, used in results["settings"].items():
        assert used.items() >= settings[algorithm].settings.items(), algorithm
    gap = script.READING.index("greedy_gap")
    gaps = [one["readings"][-1][gap] for one in script.by_task(results)["FamilyGap-v0", "ppo"]]
    assert (sum(gap == 0 for gap in gaps), len(gaps)) == (9, 10)
    assert "greedy policy of nine runs in ten" in " ".join(page.split())
    # PPO's rate has fallen to 0 at its last update.
    assert results["settings"]["ppo"]["learning_rate"].startswith("lin_")
    place = script.READING.index("timesteps")
    for one in results["runs"]:
        if one["algorithm"] == "ppo":
            *_, last = (x for x, own in zip(one["readings"], one["gradients"], strict=True) if own)
            assert last[place] >= results["timesteps"][one["task"]]
