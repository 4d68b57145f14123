"""Learn football, scored in exact points: PPO, self-play, DQN, and tables.

Five parts, of the drive of Football Strategy; `--part` chooses among them.

- `agent`: MaskablePPO as offence against the published agent, which a best response beats by far.
- `equilibrium`: MaskablePPO as offence against the optimal defence, and how exploitable it is then.
- `self-play`: MirrorDescent in both seats. A line has the exploitability of offence and defence, in
  points per possession: of the network as it is sampled, of its most probable actions, which a
  deterministic player would call, and of the average of what it played.
- `dqn`: MaskedDQN as offence against the agent and against the optimal defence. Its policy is
  deterministic, and so exploitable by construction; the lines below it are the Boltzmann policies
  of the same action values.
- `tables`: regret matching+ by sweeps over the table of the drive, and of models of it that were
  learned from so many samples of every pair of calls. Only the latter have seeds.

Uniform play is the measure. All figures are exact; only the seeds differ. CPU seconds depend on the
machine, so compare them within one run.

Interrupted and run again with the same --out, it goes on where it was.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from football_policies import strategies_of
from learned_model import learned_model
from rich.console import Console
from rich.table import Table

from solvent.baselines import make_baseline
from solvent.baselines.stage_games import RegretMatching
from solvent.benchmark.run_folder import IMPORTANCE, UNIFORM
from solvent.benchmark.suites import Task, task_game
from solvent.exact import Solution, best_response, policy_value, solve
from solvent.exact.scoring import learned_exploitability
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import FootballLosses
from solvent.games.football.solver.points import solve_points
from solvent.games.football.solver.solved import FootballTable
from solvent.model import TabularGame, TabularPolicy
from solvent.scoring import policy_from
from solvent.training import MaskedDQN, TrainingResult, train
from solvent.training.algorithms import tuned

SELF_PLAY = OPTIMUM = "solvent/FootballStrategy-v0"
AGENT = "solvent/FootballAgent-v0"
# Share of the episodes of training against a fixed defence that are exploring starts.
SHARE = 0.5

# Steps against the optimal defence, with the other settings of training against the agent, but for
# gradients of up to 5, as where both seats learn.
EQUILIBRIUM_STEPS = 3_000_000

# Temperatures of the Boltzmann policies, in points.
TEMPERATURES = (0.05, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--evaluations", type=int, default=4)
    parser.add_argument("--sweeps", type=int, nargs="+", default=[100, 300], help="over tables")
    parser.add_argument("--samples", type=int, nargs="*", default=[4], help="of each pair of calls")
    parser.add_argument(
        "--start-weights", choices=(UNIFORM, IMPORTANCE), default=UNIFORM,
        help="how exploring starts against a fixed defence are drawn; importance is computed from "
        "the solution",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="keep the trainings in this folder")
    arguments = parser.parse_args()
    game = task_game(Task(environment=OPTIMUM, self_play=True)).table
    solution = solve(game)
    starts = arguments.start_weights
    if starts == IMPORTANCE:
        starts += ", which shows the solution to the learner"
    with tempfile.TemporaryDirectory(prefix="solvent-football-") as beside:
        for part in arguments.part:
            table = PARTS[part](arguments, game, solution, arguments.out or Path(beside))
            if part in AGAINST_A_DEFENCE:
                table.caption = f"exploring starts, {SHARE:.0%} of the episodes: {starts}"
            Console(width=120).print(table)


def against_the_agent(
    arguments: argparse.Namespace, game: TabularGame, solution: Solution, out: Path
) -> Table:
    agent = make_baseline("paper-agent", game, 1)
    best = best_response(game, agent).value
    table = Table(title=f"MaskablePPO against the agent; a best response gets {best:.4f}")
    for name in ("seed", "sampled", "mode", "mode / best response", "timesteps", "CPU s"):
        table.add_column(name, justify="right")
    table.add_row("uniform", f"{value(game, TabularPolicy.uniform(game), agent):.3f}")
    for seed in arguments.seeds:
        result = fixed(AGENT, "maskable_ppo", seed, arguments, out)
        mode = result.mode_score.value
        figures = (f"{result.score.value:.3f}", f"{mode:.3f}", f"{mode / best:.3f}")
        table.add_row(str(seed), *figures, *cost(result))
    return table


def against_the_equilibrium(
    arguments: argparse.Namespace, game: TabularGame, solution: Solution, out: Path
) -> Table:
    table = Table(title=f"MaskablePPO against the optimum; the drive is worth {solution.value:.4f}")
    for name in ("seed", "policy", "points against it", "exploitability", "timesteps", "CPU s"):
        table.add_column(name, justify="right")
    settings = tuned("ppo", AGENT) | {"n_timesteps": EQUILIBRIUM_STEPS}
    for seed in arguments.seeds:
        result = fixed(OPTIMUM, "maskable_ppo", seed, arguments, out, settings)
        for label, policy in (("sampled", result.policy), ("mode", result.mode)):
            figures = against_both(game, policy, solution.policies[1], solution)
            own = cost(result) if policy is result.policy else ()
            table.add_row(str(seed), label, *figures, *own)
    return table


def both_seats(
    arguments: argparse.Namespace, game: TabularGame, solution: Solution, out: Path
) -> Table:
    table = Table(title=f"self-play, value {solution.value:.4f}; exploitability of both seats")
    for name in ("seed", "sampled", "mode", "average", "timesteps", "CPU s"):
        table.add_column(name, justify="right")
    uniform = [lost(game, TabularPolicy.uniform(game, player=p), solution) for p in (0, 1)]
    table.add_row("uniform", pair(uniform))
    for seed in arguments.seeds:
        result = train(
            SELF_PLAY,
            "mirror_descent",
            self_play=True,
            seed=seed,
            timesteps=arguments.timesteps,
            evaluations=arguments.evaluations,
            folder=out / f"self-play-{seed}",
        )
        kinds = (result.scores, result.mode_scores, result.average_scores)
        gaps = [pair([score.optimality_gap for score in scores]) for scores in kinds]
        table.add_row(str(seed), *gaps, *cost(result))
    return table


def deterministic(
    arguments: argparse.Namespace, game: TabularGame, solution: Solution, out: Path
) -> Table:
    table = Table(title=f"MaskedDQN as offence; the drive is worth {solution.value:.4f}")
    table.add_column("against")
    for name in ("seed", "points against it", "exploitability", "timesteps", "CPU s"):
        table.add_column(name, justify="right")
    for env_id, name in ((AGENT, "paper-agent"), (OPTIMUM, "optimal")):
        defence = make_baseline(name, game, 1)
        for seed in arguments.seeds:
            result = fixed(env_id, "masked_dqn", seed, arguments, out)
            policies = {name: result.mode}
            model = MaskedDQN.load(result.folder / "model.zip")
            for temperature in TEMPERATURES:
                policies[f"at temperature {temperature:g}"] = policy_from(
                    game,
                    partial(preferences, model, temperature),
                    outputs="logits",
                    illegal="mask",
                    observation="onehot",
                )
            for label, policy in policies.items():
                figures = against_both(game, policy, defence, solution)
                own = cost(result) if policy is result.mode else ()
                table.add_row(label, str(seed), *figures, *own)
    return table


@torch.no_grad()
def preferences(model: Any, temperature: float, seen: Any) -> Any:
    """Return the logits of the Boltzmann policy of a network of action values, [n, A]."""
    return model.q_net(torch.as_tensor(seen)).double() / temperature


def tables(
    arguments: argparse.Namespace, game: TabularGame, solution: Solution, out: Path
) -> Table:
    table = Table(title="regret matching+ by sweeps: exploitability of both seats")
    for name in ("samples", "seed", "sweeps", "exploitability", "CPU s"):
        table.add_column(name, justify="right")
    football = FootballTable.of(game, FootballStrategy("standard"))
    endless = solve_points(football.rules)
    points = endless.expected_points(football.rules)
    losses = FootballLosses(football.rules, points, endless.values)
    start = football.rules.index(Situation(1, 10, 80))
    runs = [(samples, seed) for samples in arguments.samples for seed in arguments.seeds]
    for samples, seed in [(None, None), *runs]:
        begin = time.process_time()
        learner = RegretMatching(learned_model(game, samples, seed=seed) if samples else game)
        seconds = time.process_time() - begin
        for sweeps in arguments.sweeps:
            begin = time.process_time()
            learner.learn(sweeps - learner.sweeps)
            seconds += time.process_time() - begin
            first, second = (strategies_of(football, learner.policy(p)) for p in (0, 1))
            figures = pair([losses.of_offence(first)[start], losses.of_defence(second)[start]])
            total = f"{samples * game.n_rows:,}" if samples else "told the model"
            table.add_row(
                total, "" if seed is None else str(seed), f"{sweeps:,}", figures, f"{seconds:.0f}"
            )
    return table


PARTS: dict[str, Callable[[argparse.Namespace, TabularGame, Solution, Path], Table]] = {
    "agent": against_the_agent,
    "equilibrium": against_the_equilibrium,
    "self-play": both_seats,
    "dqn": deterministic,
    "tables": tables,
}


# The parts that train against a fixed defence, with exploring starts.
AGAINST_A_DEFENCE = ("agent", "equilibrium", "dqn")


def fixed(
    env_id: str,
    algorithm: str,
    seed: int,
    arguments: argparse.Namespace,
    out: Path,
    hyperparameters: dict[str, Any] | None = None,
) -> TrainingResult:
    """One training of the offence against the defence of an environment."""
    return train(
        env_id,
        algorithm,
        seed=seed,
        timesteps=arguments.timesteps,
        hyperparameters=hyperparameters,
        exploring_starts=SHARE,
        start_weights=arguments.start_weights,
        evaluations=arguments.evaluations,
        folder=out
        / f"{env_id.removeprefix('solvent/')}-{algorithm}-{arguments.start_weights}-{seed}",
    )


def value(game: TabularGame, offence: TabularPolicy, defence: TabularPolicy) -> float:
    return game.at_start(policy_value(game, offence, defence))


def against_both(
    game: TabularGame, offence: TabularPolicy, defence: TabularPolicy, solution: Solution
) -> tuple[str, str]:
    """Return the points of an offence against a defence, and its exploitability."""
    return f"{value(game, offence, defence):.3f}", f"{lost(game, offence, solution):.3f}"


def lost(game: TabularGame, policy: TabularPolicy, solution: Solution) -> float:
    """Exploitability; NaN if it cannot be proved."""
    return learned_exploitability(game, policy, solution)


def cost(result: TrainingResult | TrainingResult) -> tuple[str, str]:
    return f"{result.timesteps:,}", f"{result.cpu_seconds:.0f}"


def pair(gaps: list[float]) -> str:
    return " ".join(f"{gap:.3f}" for gap in gaps)


if __name__ == "__main__":
    main()
