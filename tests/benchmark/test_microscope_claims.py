"""The verdicts of benchmarks/microscope.py, on runs of which the statistics are known."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

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
    assert (found.low, found.high) == (min(cosines), max(cosines))
    assert (found.verdict, found.runs, found.missing, found.tasks) == (verdict, 6, 1, 2)


def test_overestimation_is_compared_by_seed(script: Any) -> None:
    runs = []
    for seed, (plain, double) in enumerate([(1.0, 0.5), (2.0, 1.5), (0.5, 0.4), (0.1, None)]):
        runs += [run("a", "dqn", seed, bias=plain), run("a", "double_dqn", seed, bias=double)]
    found = script.overestimation(runs)
    assert (found.value, found.low, found.high) == (1, 1, 1)
    assert (found.verdict, found.runs, found.missing) == ("confirmed", 3, 1)
    assert found.told["DQN overestimates"] == 1


def test_a_proxy_is_judged_by_pairs(script: Any) -> None:
    pairs = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 0.5)]
    runs = [
        run("a", "dqn", seed, bellman_residual=residual, value_error=error)
        for seed, (residual, error) in enumerate(pairs)
    ]
    # Of the six pairs the three without the last run agree.
    assert script.proxy(runs).value == 0.5
    assert script.proxy(runs[:3]).verdict == "refuted"
    assert script.proxy([*runs, run("a", "ppo", 0)]).runs == 4


def test_the_page_has_the_results_that_are_kept(script: Any) -> None:
    results = json.loads(EVIDENCE.read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "microscope-results.md").read_text(encoding="utf-8")
    lines = "\n".join(script.page_lines(results))
    assert f"{script.BEGIN}\n{lines}\n{script.END}" in page
    assert EVIDENCE.stat().st_size < 1_000_000
    assert {one["verdict"] for one in results["verdicts"]} <= {"confirmed", "refuted", "undecided"}
