"""Four algorithms under the microscope, and three published claims tested against exact numbers.

    python benchmarks/microscope.py --out runs/microscope --processes 2

Trains PPO, A2C, DQN and QR-DQN, and double DQN for comparison, on eight tasks of the suite
`core-mini` with ten seeds each and the budget of the suite. Settings are those of the suite, of
--settings, or else of this file. Every run is read exactly (`solvent.microscope`) and writes
DIR/TASK/ALGORITHM-SEED.json; run again, the command goes on where it was. At the end it writes
DIR/microscope.json, prints a table, and tests three claims:

(a) The gradients of PPO point far from the true gradient late in training (Ilyas et al. 2020,
    *A closer look at deep policy gradients*). Statistic: the cosine between the mean gradient of
    the last update and the true policy gradient. Far is more than 60 degrees, a cosine below 0.5.
(b) The overestimation of DQN shrinks with double Q-learning (van Hasselt, Guez and Silver 2016).
    Statistic: the share of pairs of runs with the same seed in which the mean bias over the second
    half of training is smaller with double DQN. It is 0.5 if nothing changes.
(c) The Bellman error is a poor proxy for the value error (Fujimoto et al. 2022, *Why should I trust
    you, Bellman?*). Statistic: of two networks of action values that were trained on the same task,
    the share of pairs in which the one with the smaller Bellman residual also has the smaller value
    error. It is 0.5 for a coin and 1 for a perfect proxy; poor is below 0.75, in the middle.

Each statistic is the mean over tasks of the mean over runs. Its interval is the 95% percentile
interval of a bootstrap that draws tasks, and then seeds within a task. A draw of seeds without a
pair is drawn again, and a task without one is left out. A claim is confirmed or refuted if the
whole interval is on one side of the threshold, and undecided otherwise. The thresholds are ours,
not those of the papers.
"""

import argparse
import json
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from stable_baselines3 import DQN
from torch import Tensor

from solvent import microscope
from solvent.benchmark.suites import Task, find_suite, read_settings, task_game
from solvent.envs.registration import ENVIRONMENTS
from solvent.training.algorithms import Learner, find_learner, tuned


class DoubleDQN(DQN):
    """DQN whose targets take the action that the learning network prefers.

    The largest of several noisy estimates is too large on average. If one network chooses the
    action and the other, the target network, says its value, that bias shrinks (van Hasselt, Guez
    and Silver 2016, *Deep reinforcement learning with double Q-learning*).
    """

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        target = self.q_net_target

        def of_preferred(seen: Tensor) -> Tensor:
            """Return the target network's value of the action that the other prefers, [n, 1]."""
            value: Tensor = target(seen).gather(1, self.q_net(seen).argmax(dim=1, keepdim=True))
            return value

        # The maximum that DQN takes is over this one action.
        self.q_net_target = of_preferred  # type: ignore[assignment]
        try:
            super().train(gradient_steps, batch_size)
        finally:
            self.q_net_target = target


ALGORITHMS = ("ppo", "a2c", "dqn", "qr_dqn", "double_dqn")
LEARNERS = {"double_dqn": Learner(DoubleDQN, "dqn", masked=False)}
_DQN = {
    "n_envs": 16, "gradient_steps": 2, "batch_size": 64, "learning_starts": 1000,
    "buffer_size": 100_000, "target_update_interval": 500, "exploration_fraction": 0.5,
    "exploration_final_eps": 0.05,
}  # fmt: skip
# Settings of an algorithm for which neither the suite nor --settings has any.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "ppo": {"n_envs": 16, "n_steps": 64, "batch_size": 256, "n_epochs": 8},
    "a2c": {"n_envs": 16, "n_steps": 16},
    "dqn": _DQN,
    "qr_dqn": _DQN,
}
BEGIN, END = "<!-- results -->", "<!-- end of results -->"
OF_VALUES = ("dqn", "qr_dqn", "double_dqn")
# Eight of the suite's twelve tasks.
TASKS = (
    "FrozenLake-v1", "RacetrackBend-v0", "FamilyHorizon-v0", "FamilyGap-v0", "FamilyActions-v0",
    "Gamebook-v0", "GreedSmall-v0", "Goofspiel-v0",
)  # fmt: skip
PARTS = ("approximation", "exploration", "estimation", "optimization")
DRAWS = 10_000
# Significant digits of the numbers that are kept.
DIGITS = 4
READING = (
    "timesteps", "value", "gap", "greedy_value", "greedy_gap", "length", "overlap", "bias",
    "optimal_bias", "value_error", "bellman_residual", "spread",
)  # fmt: skip
# The columns of the readings in the file of results.
GRADIENT = (
    "norm", "cosine", "first_cosine", "part_cosine", "noise", "exact_advantages", "exact_states",
    "unclipped", "no_entropy",
)  # fmt: skip

Run = Mapping[str, Any]
Numbers = Sequence[float]


@dataclass(frozen=True)
class Verdict:
    """The test of a claim.

    Attributes:
        claim: The claim in a sentence.
        statistic: What is measured.
        value: The statistic, a mean over tasks.
        by_task: The statistic of each task.
        threshold: The number that intervals are compared with.
        here: Lower and upper end of the 95% interval for these tasks; runs are drawn.
        here_verdict: ``"confirmed"``, ``"refuted"`` or ``"undecided"`` on these tasks.
        like_these: The interval for tasks like these; tasks are drawn as well.
        like_these_verdict: The verdict by that interval.
        runs: Number of runs, or of pairs of runs, that have the numbers.
        missing: Number of those that lack one, and are left out.
        told: Further numbers that explain it.
    """

    claim: str
    statistic: str
    value: float
    by_task: Mapping[str, float]
    threshold: float
    here: tuple[float, float]
    here_verdict: str
    like_these: tuple[float, float]
    like_these_verdict: str
    runs: int
    missing: int
    told: Mapping[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--suite", default="core-mini", help="suite of the tasks")
    parser.add_argument("--tasks", nargs="+", help="names of tasks of the suite")
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS, choices=ALGORITHMS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--settings", type=Path, nargs="+", default=(), help="files of tuned settings"
    )
    parser.add_argument("--timesteps", type=int, help="in place of the budget of the suite")
    parser.add_argument("--readings", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--page", type=Path, help="page of the documentation to bring up to date")
    parser.add_argument("--summarize", action="store_true", help="train nothing")
    given = parser.parse_args()
    console = Console(width=170)
    suite = find_suite(given.suite)
    names = given.tasks or TASKS
    tasks = [task for task in suite.tasks if task.name in names]
    if missing := set(names) - {task.name for task in tasks}:
        parser.error(f"{suite.name} has no {', '.join(sorted(missing))}")
    tuned_here = {**suite.algorithms}
    for file in given.settings:
        tuned_here |= read_settings(file)
    jobs = []
    for seed in range(given.seeds):
        for task in tasks:
            for name in given.algorithms:
                plain = "dqn" if name == "double_dqn" else name
                settings = dict(
                    tuned_here[plain].settings if plain in tuned_here else SETTINGS[plain]
                )
                file = given.out / task.name / f"{name}-{seed}.json"
                if not file.exists():
                    steps = given.timesteps or task.timesteps
                    jobs.append((file, task, name, seed, steps, settings, given.readings))
    if not given.summarize:
        run_all(console, jobs, given.processes)
    results = collect(given.out, suite.name, tasks)
    text = json.dumps(results, separators=(",", ":"), allow_nan=False)
    (given.out / "microscope.json").write_text(text + "\n", encoding="utf-8")
    console.print(f"{given.out / 'microscope.json'}: {len(text) / 1000:.0f} kB")
    print_table(console, results)
    print("\n".join(page_lines(results)))
    if given.page:
        write_page(given.page, results)


def run_all(console: Console, jobs: Sequence[tuple[Any, ...]], processes: int) -> None:
    """Train what is missing, several runs at a time."""
    begun = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for done, found in enumerate(pool.map(run, jobs), 1):
            left = (time.monotonic() - begun) / done * (len(jobs) - done)
            console.print(f"{done}/{len(jobs)}  {found}  {left / 60:.0f} minutes left")


def run(job: tuple[Path, Task, str, int, int, dict[str, Any], int]) -> str:
    """Train once under the microscope and keep the numbers."""
    file, task, name, seed, timesteps, settings, readings = job
    learner = LEARNERS.get(name) or find_learner(name)
    published = task.environment not in ENVIRONMENTS
    # The same for all tasks, in place of what is tuned for an environment.
    settings = tuned(learner.hyperparameters, None) | settings
    found = microscope(
        task_game(task).table if published else task.environment,
        learner,
        seed=seed,
        timesteps=timesteps,
        readings=readings,
        env_kwargs={} if published else task.env_kwargs,
        hyperparameters=settings,
        parts=name not in LEARNERS,
        name=name,
    )
    kept = {**found.as_dict(), "task": task.name, "settings": settings}
    file.parent.mkdir(parents=True, exist_ok=True)
    partial_file = file.with_suffix(".part")
    partial_file.write_text(json.dumps(kept, default=str, allow_nan=False), encoding="utf-8")
    partial_file.replace(file)
    gap = found.readings[-1].greedy_gap
    return f"{task.name:24} {name:10} seed {seed}: gap {gap:.4g}, {found.cpu_seconds:.1f} CPU-s"


def collect(folder: Path, suite: str, tasks: Sequence[Task]) -> dict[str, Any]:
    """Return the results of all runs in a folder, with the verdicts, in few digits."""
    files = sorted(file for task in tasks for file in (folder / task.name).glob("*-*.json"))
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {
        "suite": suite,
        "settings": {run["algorithm"]: run["settings"] for run in runs},
        "timesteps": {task.name: task.timesteps for task in tasks},
        "reading": READING,
        "gradient": GRADIENT,
        "parts": ("gap", *PARTS, "exact_gap"),
        "verdicts": [asdict(one) for one in verdicts(runs)],
        "runs": [_compact(run) for run in runs],
    }


def _compact(run: Run) -> dict[str, Any]:
    """Return the numbers of a run without their names."""
    parts = run["parts"]
    return {
        "task": run["task"],
        "algorithm": run["algorithm"],
        "seed": run["seed"],
        "optimum": _rounded(run["optimum"]),
        "cpu_seconds": _rounded(run["cpu_seconds"]),
        "reading_seconds": _rounded(run["reading_seconds"]),
        "parts": parts and [_rounded(parts[name]) for name in ("gap", *PARTS, "exact_gap")],
        "readings": [[_rounded(one[name]) for name in READING] for one in run["readings"]],
        "gradients": [
            one["gradient"] and [_rounded(one["gradient"][name]) for name in GRADIENT]
            for one in run["readings"]
        ]
        if any(one["gradient"] for one in run["readings"])
        else None,
    }


def _rounded(number: Any) -> Any:
    if isinstance(number, float):
        number = float(f"{number:.{DIGITS - 1}e}")
        return int(number) if number.is_integer() and abs(number) < 1e9 else number
    return number


def verdicts(runs: Sequence[Run]) -> list[Verdict]:
    """Test the three claims."""
    return [one for one in (gradients(runs), overestimation(runs), proxy(runs)) if one is not None]


def gradients(runs: Sequence[Run]) -> Verdict | None:
    """Test whether PPO's last update points far from the true gradient."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    told: dict[str, list[float | None]] = defaultdict(list)
    missing = 0
    for run in runs:
        if run["algorithm"] != "ppo":
            continue
        seen = [one["gradient"] for one in run["readings"] if one["gradient"]]
        last = seen[-1] if seen else {}
        if last.get("cosine") is None:
            missing += 1
            continue
        found[run["task"]][run["seed"]] = last["cosine"]
        told["first update"].append(seen[0]["cosine"])
        told["first minibatch"].append(last["first_cosine"])
        for name in ("exact_advantages", "exact_states", "unclipped", "no_entropy"):
            told[name.replace("_", " ")].append(last[name])
        told["eighth of the rollout"].append(last["part_cosine"])
    return _verdict(
        "The gradients of PPO point far from the true gradient late in training",
        "cosine of the last update with the true gradient",
        {task: _means(own) for task, own in found.items()},
        0.5,
        above=False,
        runs=sum(map(len, found.values())),
        missing=missing,
        # A cosine is undefined where one of the two gradients is 0.
        told={
            name: float(np.mean([cosine for cosine in cosines if cosine is not None]))
            for name, cosines in told.items()
        },
    )


def overestimation(runs: Sequence[Run]) -> Verdict | None:
    """Test whether double DQN overestimates less than DQN with the same seed."""
    late: dict[tuple[str, str, int], float | None] = {}
    for run in runs:
        half = run["readings"][-1]["timesteps"] / 2
        biases = [one["bias"] for one in run["readings"] if one["timesteps"] >= half]
        known = [bias for bias in biases if bias is not None]
        late[run["task"], run["algorithm"], run["seed"]] = (
            float(np.mean(known)) if len(known) == len(biases) else None
        )
    found: dict[str, dict[int, float]] = defaultdict(dict)
    missing, positive = 0, []
    for (task, algorithm, seed), plain in late.items():
        if algorithm != "dqn" or (task, "double_dqn", seed) not in late:
            continue
        double = late[task, "double_dqn", seed]
        if plain is None or double is None:
            missing += 1
            continue
        found[task][seed] = float(double < plain) + 0.5 * (double == plain)
        positive.append((plain > 0, double > 0))
    share = np.mean(positive, axis=0) if positive else (0.0, 0.0)
    return _verdict(
        "The overestimation of DQN shrinks with double Q-learning",
        "share of pairs in which double DQN has the smaller bias",
        {task: _means(own) for task, own in found.items()},
        0.5,
        above=True,
        runs=len(positive),
        missing=missing,
        told={"DQN overestimates": float(share[0]), "double DQN overestimates": float(share[1])},
    )


def proxy(runs: Sequence[Run]) -> Verdict | None:
    """Test whether the smaller Bellman residual means the smaller value error."""
    found: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    missing = 0
    for run in runs:
        last = run["readings"][-1]
        pair = last["bellman_residual"], last["value_error"]
        if run["algorithm"] not in OF_VALUES:
            continue
        if None in pair:
            missing += 1
            continue
        found[run["task"]][run["seed"]].append(pair)
    counts = {task: sum(map(len, own.values())) for task, own in found.items()}
    paired = {task: list(own.values()) for task, own in found.items() if counts[task] > 1}
    return _verdict(
        "The Bellman error is a poor proxy for the value error",
        "share of pairs with the smaller Bellman residual and the smaller value error",
        {task: _concordance(seeds) for task, seeds in paired.items()},
        0.75,
        above=False,
        runs=sum(counts[task] for task in paired),
        missing=missing + sum(count for count in counts.values() if count == 1),
        told={},
    )


# A task: its number of seeds, and its statistic by how often each is drawn, [D, n] -> [D].
#
# It is NaN for a draw that does not have it.
OfSeeds = tuple[int, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]]


def _means(own: Mapping[int, float]) -> OfSeeds:
    """Return the mean over seeds."""
    numbers = np.array(list(own.values()))
    return len(numbers), lambda drawn: drawn @ numbers / drawn.sum(axis=1)


def _concordance(seeds: Sequence[Sequence[tuple[float, float]]]) -> OfSeeds:
    """Return the share of concordant pairs of runs; a seed that is drawn twice has two of each."""
    n = len(seeds)
    agree, pairs = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for a, one in enumerate(seeds[i]):
                for b, other in enumerate(seeds[j]):
                    if i == j and b <= a:
                        continue
                    order = (one[0] - other[0]) * (one[1] - other[1])
                    agree[i, j] += float(order > 0) + 0.5 * (order == 0)
                    pairs[i, j] += 1

    def share(drawn: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        totals = []
        for matrix in (agree, pairs):
            inside = matrix.diagonal()
            between = np.einsum("di,ij,dj->d", drawn, matrix - np.diag(inside), drawn) / 2
            totals.append(between + drawn @ inside)
        # One run that is drawn several times is no pair.
        return np.where(totals[1] > 0, totals[0] / np.maximum(totals[1], 1), np.nan)

    return n, share


def _verdict(
    claim: str,
    statistic: str,
    tasks: Mapping[str, OfSeeds],
    threshold: float,
    *,
    above: bool,
    **counts: Any,
) -> Verdict | None:
    """Return the statistic with its interval; None if no task has it.

    Args:
        claim: The claim.
        statistic: What is measured.
        tasks: The statistic of each task.
        threshold: The number that the interval is compared with.
        above: Whether the claim is that the statistic is above it.
        counts: The other attributes of the verdict.
    """
    if not tasks:
        return None
    random = np.random.default_rng(0)
    own = list(tasks.values())

    def draws(k: int, number: int) -> np.ndarray[Any, Any]:
        """Return the statistic of a task for that many draws of its runs, [number]."""
        n, of = own[k]
        found = np.full(number, np.nan)
        while lacking := np.count_nonzero(at := np.isnan(found)):
            found[at] = of(random.multinomial(n, np.full(n, 1 / n), size=lacking).astype(float))
        return found

    here, like_these = np.zeros(DRAWS), np.zeros(DRAWS)
    for k in range(len(own)):
        here += draws(k, DRAWS)
        which = random.integers(len(own), size=DRAWS)
        for other in range(len(own)):
            like_these[which == other] += draws(other, np.count_nonzero(which == other))
    values = [float(of(np.ones((1, n)))[0]) for n, of in own]
    judged: dict[str, Any] = {}
    for name, drawn in (("here", here), ("like_these", like_these)):
        low, high = (round(float(end), 3) for end in np.percentile(drawn / len(own), [2.5, 97.5]))
        verdict = "undecided"
        if low > threshold or high < threshold:
            verdict = "confirmed" if (low > threshold) == above else "refuted"
        judged |= {name: (low, high), f"{name}_verdict": verdict}
    by_task = {task: round(value, 3) for task, value in zip(tasks, values, strict=True)}
    mean = round(float(np.mean(values)), 3)
    return Verdict(claim, statistic, mean, by_task, threshold, **judged, **counts)


def print_table(console: Console, results: Mapping[str, Any]) -> None:
    """Print the means over seeds for each task and algorithm."""
    table = Table()
    columns = ("gap", *PARTS, "cosine first", "last", "bias", "Bellman", "value error", "CPU s")
    for name in ("task", "algorithm", *columns):
        table.add_column(name, justify="left" if name in ("task", "algorithm") else "right")
    for (task, algorithm), runs in by_task(results).items():
        last = [dict(zip(READING, run["readings"][-1], strict=True)) for run in runs]
        cosines = [[one[1] for one in run["gradients"] or () if one] for run in runs]
        numbers = [
            [one["greedy_gap"] for one in last],
            *([run["parts"] and run["parts"][k] for run in runs] for k in range(1, 5)),
            [own[0] for own in cosines if own],
            [own[-1] for own in cosines if own],
            *([one[name] for one in last] for name in ("bias", "bellman_residual", "value_error")),
            [run["cpu_seconds"] for run in runs],
        ]
        table.add_row(task, algorithm, *map(_mean_text, numbers))
    console.print(table)


def by_task(results: Mapping[str, Any]) -> dict[tuple[str, str], list[Run]]:
    """Return the runs of each task and algorithm."""
    found: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in results["runs"]:
        found[run["task"], run["algorithm"]].append(run)
    order = {name: place for place, name in enumerate(ALGORITHMS)}
    return dict(sorted(found.items(), key=lambda item: (item[0][0], order[item[0][1]])))


def _mean_text(numbers: Sequence[float | None]) -> str:
    known = [number for number in numbers if number is not None]
    if not known:
        return "–"
    lost = len(numbers) - len(known)
    return f"{np.mean(known):.3g}" + (f" ({lost} lack it)" if lost else "")


def page_lines(results: Mapping[str, Any]) -> list[str]:
    """Return the results on their page: the verdicts, and the parts by algorithm."""
    runs = results["runs"]
    tasks = {run["task"]: None for run in runs}
    seeds = {run["seed"] for run in runs}
    lines = [
        f"{len(runs)} runs: {len(tasks)} tasks of `{results['suite']}`, {len(seeds)} seeds.",
        "",
        "| claim | statistic | threshold | on these tasks | on tasks like these "
        "| runs or pairs | left out |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, one in enumerate(results["verdicts"], 1):
        judged = (
            "**{}** [{:.2f}, {:.2f}]".format(one[f"{name}_verdict"], *one[name])
            for name in ("here", "like_these")
        )
        lines.append(
            f"| {number}. {one['claim']} | {one['value']:.2f} | {one['threshold']:g} "
            f"| {' | '.join(judged)} | {one['runs']} | {one['missing']} |"
        )
    statistics = [f"statistic {k + 1}" for k in range(len(results["verdicts"]))]
    lines += ["", f"| task | {' | '.join(statistics)} |", "|---" * (len(statistics) + 1) + "|"]
    for task in tasks:
        found = (one["by_task"].get(task) for one in results["verdicts"])
        cells = ("–" if number is None else f"{number:.2f}" for number in found)
        lines.append(f"| `{task}` | {' | '.join(cells)} |")
    told = {name: share for one in results["verdicts"] for name, share in one["told"].items()}
    if "DQN overestimates" in told:
        lines += [
            "",
            f"In {100 * told['DQN overestimates']:.0f}% of the pairs of the second claim the bias "
            f"of DQN is above 0, and in {100 * told['double DQN overestimates']:.0f}% that of "
            f"double DQN.",
        ]
    lines += [
        "",
        f"| | gap | {' | '.join(PARTS)} | runs |",
        "|---" * (len(PARTS) + 3) + "|",
    ]
    for algorithm in ALGORITHMS:
        own = [run for run in runs if run["algorithm"] == algorithm]
        lines += parts_line(algorithm, own, runs)
    return lines


def parts_line(name: str, own: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Return a line of a table with the mean parts of some runs; none if they have no parts.

    Args:
        name: The first cells of the line.
        own: The runs that the line is about.
        runs: All runs of their tasks; their mean gap before training is the unit.
    """
    known = [run for run in own if run["parts"] and None not in run["parts"]]
    if not known:
        return []
    shares = []
    for run in known:
        before = [one["readings"][0][2] for one in runs if one["task"] == run["task"]]
        shares.append(np.array(run["parts"][:5]) / np.mean(before))
    cells = " | ".join(f"{round(100 * share)}%" for share in np.mean(shares, axis=0))
    return [f"| {name} | {cells} | {len(known)} |"]


def write_page(path: Path, results: Mapping[str, Any]) -> None:
    """Replace the results on a page, which are between two comments."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = "\n".join(page_lines(results))
    path.write_text(f"{before}{BEGIN}\n{lines}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
