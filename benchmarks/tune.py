"""Choose one setting of an algorithm for a whole suite, at the suite's own budget.

    python benchmarks/tune.py --suite core-mini --algorithm ppo --trials 30 --out tuned

Every trial draws a setting (Optuna's TPE) and runs the algorithm once on each task. Its score is
the mean over tasks of the normalized exact gap of the policy that plays: 0 is the optimum, 1 is
uniform play, and a gap counts as 2 at most, so that one run that never ends does not decide. A
trial whose mean over the first tasks is worse than the median of earlier ones there is given up,
and counts as one. At the end the best three settings are run with two more seeds on each task, and
the mean over all three seeds decides.

What this uses: exact scores of trained policies choose the settings. No learner sees them. The
seeds are 2^24 and above and follow from the suite's hash; those of the suite are below 2^24
(`solvent.benchmark.suites.tuning_seed`), so that no reported run was looked at.

DIR/ALGORITHM.jsonl has a line for each trial: its setting, its gap on each task and its CPU time.
The same command goes on after an interruption. DIR/ALGORITHM.toml has the winner, for
`solvent bench --settings DIR/ALGORITHM.toml` or for the `[algorithms]` of a suite's file.
"""

import argparse
import json
import math
import multiprocessing
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState

from solvent.benchmark.algorithms import Run, attempted, find_algorithm
from solvent.benchmark.suites import (
    Setting,
    Suite,
    Task,
    find_suite,
    suite_hash,
    task_game,
    tuning_seed,
)

# Largest normalized gap that counts.
WORST = 2.0
# Settings that are run again, and the number of their further seeds.
FINALISTS, MORE_SEEDS = 3, 2
# Trials that are drawn without a model.
STARTUP = 10

Draw = Callable[[optuna.Trial, str], Any]
Space = Mapping[str, Draw | Any]


def one_of(*values: Any) -> Draw:
    return lambda trial, name: trial.suggest_categorical(name, values)


def between(low: float, high: float, *, log: bool = False) -> Draw:
    return lambda trial, name: float(f"{trial.suggest_float(name, low, high, log=log):.3g}")


def falling(low: float, high: float) -> Draw:
    """A number that falls linearly to 0 during the training."""
    return lambda trial, name: f"lin_{trial.suggest_float(name, low, high, log=True):.3g}"


NETWORK = one_of(
    "dict(activation_fn=nn.ReLU, net_arch=[64, 64])",
    "dict(activation_fn=nn.Tanh, net_arch=[64, 64])",
    "dict(activation_fn=nn.ReLU, net_arch=[128, 128])",
)
ON_POLICY: Space = {
    "n_envs": one_of(8, 16, 32, 64),
    "n_steps": one_of(8, 16, 32, 64, 128),
    "gae_lambda": between(0.3, 1.0),
    "learning_rate": falling(3e-4, 1e-2),
    "policy_kwargs": NETWORK,
}
PPO: Space = {
    **ON_POLICY,
    "batch_size": one_of(64, 128, 256, 512),
    "n_epochs": one_of(3, 5, 8, 12),
    "clip_range": between(0.1, 0.4),
    "ent_coef": between(1e-4, 0.1, log=True),
}
DQN: Space = {
    "n_envs": one_of(4, 8, 16),
    "gradient_steps": one_of(1, 2),
    "batch_size": one_of(32, 64, 128, 256),
    "learning_rate": falling(3e-4, 1e-2),
    "learning_starts": one_of(200, 1000, 3000),
    "buffer_size": 100_000,
    "target_update_interval": one_of(100, 300, 1000, 3000),
    "exploration_fraction": between(0.1, 0.9),
    "exploration_final_eps": between(0.01, 0.3, log=True),
    "policy_kwargs": NETWORK,
}
# The settings that are searched, by algorithm; all others keep their defaults.
SPACES: Mapping[str, Space] = {
    "ppo": PPO,
    "maskable_ppo": PPO,
    "a2c": {**ON_POLICY, "n_steps": one_of(4, 8, 16, 32), "ent_coef": PPO["ent_coef"]},
    "trpo": {
        **ON_POLICY,
        "batch_size": PPO["batch_size"],
        "target_kl": between(0.003, 0.1, log=True),
    },
    "dqn": DQN,
    "masked_dqn": DQN,
    "qr_dqn": {
        **DQN,
        "policy_kwargs": one_of(
            "dict(n_quantiles=10, net_arch=[64, 64])",
            "dict(n_quantiles=25, net_arch=[64, 64])",
            "dict(n_quantiles=25, net_arch=[128, 128])",
        ),
    },
    "q_learning": {
        "epsilon": between(0.02, 0.8, log=True),
        "exponent": between(0.5, 1.0),
        "initial": one_of(-1.0, 0.0, 1.0, 10.0),
    },
    "minimax_q": {
        "epsilon": between(0.02, 0.8, log=True),
        "exponent": between(0.5, 1.0),
        "exploration": between(1e-4, 0.1, log=True),
    },
    "mirror_descent": {
        "n_envs": one_of(64, 256, 1024),
        "n_steps": one_of(2, 4, 8),
        "batch_size": one_of(64, 128, 256),
        "learning_rate": between(3e-4, 1e-2, log=True),
        "step_size": between(0.05, 1.0, log=True),
        "temperature": between(0.02, 0.5, log=True),
        "last_temperature": between(0.003, 0.05, log=True),
    },
}
LONG_SIZES: Space = {
    "n_envs": one_of(16, 32, 64),
    "n_steps": one_of(32, 64, 128, 256),
    "batch_size": one_of(256, 512, 1024),
}
LONG_PPO: Space = {**PPO, **LONG_SIZES}
LONG_DQN: Space = {
    **DQN,
    "n_envs": one_of(16, 32, 64),
    "gradient_steps": 1,
    "batch_size": one_of(64, 128, 256),
    "learning_starts": one_of(1000, 3000, 10_000),
    "target_update_interval": one_of(1000, 3000, 10_000),
}
# Those on suites with more than 100,000 steps for a task. Batches of 64 took PPO some four times
# the CPU time of batches of 512 on core-mini, where all trials took 15 minutes. With 4
# environments, as most settings of DQN there, its search would take some 16 hours.
LONG: Mapping[str, Space] = {
    "ppo": LONG_PPO,
    "maskable_ppo": LONG_PPO,
    "a2c": {**SPACES["a2c"], "n_envs": one_of(16, 32, 64), "n_steps": one_of(8, 16, 32)},
    "trpo": {**SPACES["trpo"], **LONG_SIZES},
    "dqn": LONG_DQN,
    "masked_dqn": LONG_DQN,
    "qr_dqn": {**LONG_DQN, "policy_kwargs": SPACES["qr_dqn"]["policy_kwargs"]},
}


def space_of(algorithm: str, suite: Suite) -> Space:
    """The settings that are searched on a suite."""
    long = max(task.timesteps for task in suite.tasks) > 100_000
    return LONG.get(algorithm, SPACES[algorithm]) if long else SPACES[algorithm]


def drawn(algorithm: str, space: Space, trial: optuna.Trial) -> dict[str, Any]:
    """The setting of a trial."""
    chosen = {name: own(trial, name) if callable(own) else own for name, own in space.items()}
    if "n_steps" in chosen and "batch_size" in chosen and algorithm != "mirror_descent":
        chosen["batch_size"] = min(chosen["batch_size"], chosen["n_envs"] * chosen["n_steps"])
    return chosen


def evaluated(asked: tuple[Task, str, dict[str, Any], int]) -> dict[str, Any]:
    """The normalized gap of one run, and its CPU time."""
    warnings.simplefilter("ignore")
    task, algorithm, setting, seed = asked
    # The points of a learning curve are not looked at, and cost time.
    run = Run(task, algorithm, algorithm, seed, Setting({**setting, "evaluations": 1}))
    with tempfile.TemporaryDirectory(prefix="tune-") as place:
        found = attempted(Path(place), run)
    if not hasattr(found, "normalized"):
        return {"gap": WORST, "cpu_seconds": 0.0, "error": found.error}
    gap = 1 - (found.normalized if task.self_play else found.mode_normalized)
    gap = min(gap, WORST) if not math.isnan(gap) else WORST
    return {"gap": gap, "cpu_seconds": found.cpu_seconds}


class Search:
    """The search of an algorithm's setting on a suite, with its log.

    Args:
        suite: The suite.
        tasks: Those of its tasks that are used.
        algorithm: Name of the algorithm.
        log: File of the log.
    """

    def __init__(self, suite: Suite, tasks: Sequence[Task], algorithm: str, log: Path) -> None:
        self.algorithm, self.log = algorithm, log
        self.space = space_of(algorithm, suite)
        games = {task.name: task_game(task) for task in suite.tasks}
        self.hash = suite_hash(suite.tasks, [one.table.model_hash for one in games.values()])
        able = find_algorithm(algorithm)
        self.tasks = [task for task in tasks if able.refusal(games[task.name]) is None]
        for task in self.tasks:
            _ = games[task.name].solution  # Solved once, for all processes.
        self.terms = {
            "suite": suite.name,
            "suite_hash": self.hash,
            "tasks": [task.name for task in self.tasks],
        }
        self.study = optuna.create_study(
            pruner=optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=2)
        )
        self.lines: list[dict[str, Any]] = []
        for line in log.read_text().splitlines() if log.exists() else ():
            self._take(json.loads(line))

    def _take(self, line: dict[str, Any]) -> None:
        """Take over a trial of an earlier call."""
        if any(line[name] != value for name, value in self.terms.items()):
            raise SystemExit(f"{self.log}: is of another suite or other tasks")
        self.lines.append(line)
        if line["kind"] == "trial":
            # Asking again with the same seed draws the same setting.
            trial = self._ask()
            assert self._drawn(trial) == line["settings"], "another search space"
            for number, mean in enumerate(means(line["gaps"].values())):
                trial.report(mean, number)
            self._tell(trial, line)

    def _ask(self) -> optuna.Trial:
        # A sampler for each trial, so that a search that went on ends as one that did not stop.
        self.study.sampler = optuna.samplers.TPESampler(
            seed=len(self.study.trials), n_startup_trials=STARTUP, multivariate=True
        )
        return self.study.ask()

    def _drawn(self, trial: optuna.Trial) -> dict[str, Any]:
        return drawn(self.algorithm, self.space, trial)

    def _tell(self, trial: optuna.Trial, line: Mapping[str, Any]) -> None:
        whole = line["state"] == "complete"
        self.study.tell(
            trial,
            line["objective"] if whole else None,
            state=TrialState.COMPLETE if whole else TrialState.PRUNED,
        )

    def run(self, pool: ProcessPoolExecutor, setting: dict[str, Any], seed: int,
            trial: optuna.Trial | None = None) -> dict[str, Any]:  # fmt: skip
        """Run a setting on each task, in their order, until the trial is given up."""
        gaps: dict[str, float] = {}
        line = {**self.terms, "kind": "trial" if trial else "again", "number": len(self.lines),
                "algorithm": self.algorithm, "seed": seed, "settings": setting,
                "state": "complete", "gaps": gaps, "cpu_seconds": 0.0}  # fmt: skip
        asked = [(task, self.algorithm, setting, seed) for task in self.tasks]
        under_way = [pool.submit(evaluated, one) for one in asked]
        for number, (task, future) in enumerate(zip(self.tasks, under_way, strict=True)):
            found = future.result()
            gaps[task.name] = found["gap"]
            line["cpu_seconds"] = round(line["cpu_seconds"] + found["cpu_seconds"], 1)
            line |= {"error": found["error"]} if "error" in found else {}
            if trial is not None:
                trial.report(sum(gaps.values()) / len(gaps), number)
                if number + 1 < len(self.tasks) and trial.should_prune():
                    line["state"] = "pruned"
                    for one in under_way:
                        one.cancel()
                    break
        line["objective"] = sum(gaps.values()) / len(gaps)
        self.lines.append(line)
        with self.log.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{self.algorithm} {line['kind']} {line['number']}: {line['state']}, "
              f"gap {line['objective']:.4f}, {line['cpu_seconds']} CPU-s", flush=True)  # fmt: skip
        return line

    def search(self, pool: ProcessPoolExecutor, trials: int) -> dict[str, Any]:
        """Return the setting of the least gap."""
        while len(self.study.trials) < trials:
            trial = self._ask()
            line = self.run(pool, self._drawn(trial), tuning_seed(self.hash, 0), trial)
            self._tell(trial, line)
        whole = (one for one in self.lines if (one["kind"], one["state"]) == ("trial", "complete"))
        best = sorted(whole, key=lambda line: line["objective"])[:FINALISTS]
        scores = []
        for line in best:
            gaps = [line["objective"]]
            for number in range(1, 1 + MORE_SEEDS):
                seed = tuning_seed(self.hash, number)
                done = (one for one in self.lines if one["kind"] == "again" and one["seed"] == seed
                        and one["settings"] == line["settings"])  # fmt: skip
                again = next(done, None) or self.run(pool, line["settings"], seed)
                gaps.append(again["objective"])
            scores.append((sum(gaps) / len(gaps), line))
        return min(scores, key=lambda pair: pair[0])[1]


def means(gaps: Any) -> Iterator[float]:
    """Yield the mean of the first, of the first two and so on."""
    total = 0.0
    for number, gap in enumerate(gaps, 1):
        total += gap
        yield total / number


def as_toml(algorithm: str, setting: Setting) -> str:
    """A file of settings; plain values of JSON are values of TOML, too."""
    head = ["format = 1", "", f"[algorithms.{algorithm}]", f"tuning = {json.dumps(setting.tuning)}"]
    values = [f"{name} = {json.dumps(value)}" for name, value in setting.settings.items()]
    return "\n".join([*head, "", f"[algorithms.{algorithm}.settings]", *values, ""])


def main(arguments: list[str] | None = None) -> Setting:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="core-mini", help="name or file of the suite")
    parser.add_argument("--algorithm", required=True, choices=SPACES)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--tasks", help="names of some of the tasks, with commas; all if left out")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, required=True, help="folder of the log and the winner")
    asked = parser.parse_args(arguments)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore")
    suite = find_suite(asked.suite)
    known = {task.name: task for task in suite.tasks}
    names = asked.tasks.split(",") if asked.tasks else list(known)
    if unknown := set(names) - set(known):
        parser.error(f"tasks are {', '.join(known)}; not {', '.join(sorted(unknown))}")
    asked.out.mkdir(parents=True, exist_ok=True)
    log = asked.out / f"{asked.algorithm}.jsonl"
    search = Search(suite, [known[name] for name in names], asked.algorithm, log)
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.jobs, spawned) as pool:
        best = search.search(pool, asked.trials)
    which = "" if len(names) == len(known) else f" ({len(names)} of {len(known)} tasks)"
    tuning = f"{asked.trials} trials on {suite.name}{which}, one setting for all tasks"
    setting = Setting(best["settings"], tuning)
    (asked.out / f"{asked.algorithm}.toml").write_text(as_toml(asked.algorithm, setting))
    spent = sum(line["cpu_seconds"] for line in search.lines)
    print(f"{asked.algorithm}: {best['settings']}\n{spent:,.0f} CPU-s")
    return setting


if __name__ == "__main__":
    main()
