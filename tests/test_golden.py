"""What version 0.1 did and wrote: environments, trainings and files give the same today."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from golden_streams import (
    CHANGED,
    CHANGED_IN_0_3,
    DRIVE,
    FF,
    FIGHT,
    GOLDEN,
    GREED,
    GREED_ID,
    STREAMS,
    TIMED,
    TRAININGS,
    TWO_MINUTES,
    Stream,
    Training,
    command,
    options,
    parameters_of,
    run_stream,
    self_play,
    train,
)

import solvent
from solvent.benchmark.records import read_bench

Figures = dict[str, Any]

NARROW = {"policy_kwargs": "dict(net_arch=[8])"}
PPO_RUN: dict[str, Any] = {
    "hyperparameters": {
        "n_envs": 8,
        "n_steps": 16,
        "batch_size": 64,
        "n_epochs": 2,
        "clip_range": "lin_0.2",
        **NARROW,
    }
}
DQN_RUN: dict[str, Any] = {
    "hyperparameters": {
        "n_envs": 8,
        "batch_size": 32,
        "buffer_size": 200,
        "learning_starts": 64,
        "train_freq": 1,
        "gradient_steps": 1,
        **NARROW,
    }
}
BOARD: dict[str, Any] = {"limit": 6, "sides": 3}
TWO_MINUTES_ID = "solvent/FootballTwoMinutes-v0"
TWO_MINUTES_RUN: dict[str, Any] = {
    "seed": 3,
    "timesteps": 512,
    "hyperparameters": {**PPO_RUN["hyperparameters"], "n_envs": 16},
    "snapshots": 2,
    "refresh": 128,
    "evaluations": 2,
}


class TrainedOnError(Exception):
    """A training that was finished has been begun again."""


def no_more(moment: Any) -> None:
    """Told of the progress of a training that has none to make."""
    raise TrainedOnError


def ppo(folder: Path, **arguments: Any) -> Any:
    """A training on combat."""
    return train(folder, FF, "ppo", FIGHT, **(PPO_RUN | arguments))


def dqn(folder: Path, **arguments: Any) -> Any:
    """One with a replay buffer."""
    return train(folder, FF, "masked_dqn", FIGHT, **(DQN_RUN | arguments))


def both_seats(folder: Path, **arguments: Any) -> Any:
    """A training by self-play."""
    return self_play(
        folder, GREED_ID, "maskable_ppo", BOARD, **(PPO_RUN | {"snapshots": 2} | arguments)
    )


def two_minutes(folder: Path, **arguments: Any) -> Any:
    """A training by self-play in football with a clock."""
    from solvent.training import train

    fixed = {"env_kwargs": {**TWO_MINUTES, "opponent": "self-play"}, "progress": False}
    return train(
        TWO_MINUTES_ID, "maskable_ppo", folder=folder, **(TWO_MINUTES_RUN | fixed | arguments)
    )


def bench_again(folder: Path) -> list[Figures]:
    """The agents of a small bench, each read back as the training that it was.

    A task of a bench had parameters of its own in 0.1; now it is an environment id, and these
    games have none.
    """
    from solvent.benchmark.records import figures

    tuned = {"hyperparameters": None, "evaluations": None, "progress": no_more, "seed": 0}
    # What was tuned in 0.1.
    combat = {
        "n_envs": 512, "n_steps": 32, "batch_size": 2048, "n_epochs": 5, "clip_range": "lin_0.2",
    }  # fmt: skip
    found = [
        train(
            folder / "bench" / "FFCombat-v0" / "ppo-0",
            FF,
            "ppo",
            FIGHT,
            **tuned | {"hyperparameters": combat},
        ),
        self_play(
            folder / "bench" / "Greed-v0" / "maskable_ppo-0",
            GREED_ID,
            "maskable_ppo",
            BOARD,
            **tuned | {"timesteps": 512, "refresh": None},
        ),
    ]
    return [
        {
            **figures(result.scores),
            **{f"mode_{name}": figure for name, figure in figures(result.mode_scores).items()},
            "timesteps": result.timesteps,
        }
        for result in found
    ]


def table(name: str, parameters: Mapping[str, Any]) -> Any:
    """A game's table."""
    return solvent.compile_game(solvent.make_game(name, **parameters))


def numbers(prefix: str, held: Any) -> Figures:
    """The numbers and texts in something of JSON, by the way that leads there."""
    if isinstance(held, Mapping):
        parts = held.items()
    elif isinstance(held, list):
        parts = enumerate(held)  # type: ignore[assignment]
    else:
        return {prefix: held}
    return {
        name: figure
        for key, part in parts
        for name, figure in numbers(f"{prefix} {key}".strip(), part).items()
    }


def policy_of_player(player: int, folder: Path) -> Figures:
    name, parameters = (("ff-combat", FIGHT), ("greed", GREED))[player]
    game = table(name, parameters)
    policy = solvent.load_policy(folder / f"policy_{player}.npz", game)
    score = solvent.score(game, policy)
    choices = game.mask[player].sum(axis=1) > 1
    return {
        "model_hash": policy.model_hash,
        "player": policy.player,
        "name": policy.name,
        "value": score.value,
        "gap": score.optimality_gap,
        "sum": float(policy.probabilities.sum()),
        **numbers("choice", policy.probabilities[choices][:3].tolist()),
    }


def policy_by_command(folder: Path) -> Figures:
    words = ["score", str(folder / "policy_0.npz"), "ff-combat", *options(FIGHT), "--json"]
    said = json.loads(command(*words))
    return {name: said[name] for name in ("value", "optimality_gap", "optimum", "exploitability")}


def solution(folder: Path) -> Figures:
    from solvent.exact import load_solution

    found = load_solution(folder / "solution.npz", table("greed", BOARD))
    return {
        "value": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "values": float(np.abs(found.values).sum()),
        "action values": float(np.abs(found.action_values).sum()),
        "policies": [float((p.probabilities**2).sum()) for p in found.policies],
    }


def normalization(folder: Path) -> Figures:
    from solvent.training import Normalization

    found = Normalization.load(folder / "normalization.npz")
    return {"normalized": found(np.arange(4.0)).tolist(), "epsilon": found.epsilon}


def chart(folder: Path) -> Figures:
    said = command("chart", "check", str(folder / "mine.csv"))
    return {"hash": re.search(r"\b[0-9a-f]{64}\b", said)[0]}  # type: ignore[index]


def expected_points(folder: Path) -> Figures:
    drive = {**DRIVE, "expected_points": str(folder / "points.json")}
    return {"value": solvent.solve(table("football-strategy", drive)).value}


def half(name: str, folder: Path) -> Figures:
    """A solution of football with a clock, and if it is not finished, the rest of it."""
    words = ["solve", "football-strategy", "--form", "half", *options(TIMED)]
    said = json.loads(command(*words, "--out", str(folder / name), "--json"))
    names = ("states", "value", "lower", "upper", "matrix_games")
    # Layers were called sheets.
    counts = {"sheets": said["layers"], "sheets_solved_now": said["layers_solved_now"]}
    return {**{key: said[key] for key in names}, **counts}


def players_of_half(folder: Path) -> Figures:
    given = ("--solution", str(folder / "half"), "--json")
    return {
        **numbers("agent", json.loads(command("score", "paper-agent", *given))),
        "optimal": json.loads(command("score", "optimal", *given))["exploitability"],
    }


def training(run: Callable[..., Any], name: str, folder: Path, *, finished: bool = True) -> Figures:
    """A training, read back or brought to its end."""
    found = run(folder / name, **({"progress": no_more} if finished else {}))
    # As the records of 0.1 name them: one score of one seat, pairs of self-play.
    results = {1: ("score", "mode_score"), 2: ("scores", "mode_scores", "average_scores")}
    scores = {part: getattr(found, part) for part in results.get(len(found.scores), ())}
    pairs = {part: of if isinstance(of, tuple) else (of,) for part, of in scores.items()}
    last = found.curve[-1]
    names = [key for key in last.__dataclass_fields__ if key != "seconds"]
    return {
        "timesteps": found.timesteps,
        **{f"{part} value": [score.value for score in of] for part, of in pairs.items()},
        **{f"{part} gap": [score.optimality_gap for score in of] for part, of in pairs.items()},
        "points": len(found.curve),
        **{f"curve {key}": getattr(last, key) for key in names},
        **network_figures(folder / name),
    }


def network_figures(folder: Path) -> Figures:
    """The parameters of a trained network."""
    figures = parameters_of(folder)
    del figures["bits"]
    return figures


def policy_of_training(folder: Path) -> Figures:
    """The game is read from the file."""
    said = json.loads(command("score", str(folder / "ppo" / "policy.npz"), "--json"))
    return {"value": said["value"], "gap": said["optimality_gap"]}


def zip_of_training(folder: Path) -> Figures:
    words = ("score", str(folder / "ppo" / "model.zip"), "ff-combat", *options(FIGHT))
    said = json.loads(command(*words, "--trust", "--json"))
    return {"value": said["value"], "gap": said["optimality_gap"]}


def network(name: str, folder: Path) -> Figures:
    file = folder / "two-minutes" / f"{name}.npz"
    return numbers("", json.loads(command("score", str(file), "--json")))


def results(folder: Path) -> Figures:
    """The results of a bench, and whether its page, which computes them again, says the same."""
    out = folder / "report.html"
    command("report", "--in", str(folder / "bench"), "--out", str(out))
    held = json.loads((folder / "bench" / "results.json").read_text())
    page = out.read_text()
    agents = [agent for task in held["tasks"] for agent in task["agents"]]
    return {
        **numbers("", held),
        "shown": all(
            f"{agent[figure]:.6f}".replace("-", "−") in page
            for agent in agents
            for figure in ("normalized", "mode_normalized")
        ),
    }


READERS: Mapping[str, Callable[[Path], Figures]] = {
    "policy of player 0": lambda at: policy_of_player(0, at),
    "policy of player 1": lambda at: policy_of_player(1, at),
    "policy, by command": policy_by_command,
    "solution": solution,
    "normalization": normalization,
    "chart.csv": chart,
    "expected points": expected_points,
    "layers": lambda at: half("half", at),
    "layers, unfinished": lambda at: half("half-unfinished", at),
    "layers, players": players_of_half,
    "training": lambda at: training(ppo, "ppo", at),
    "training, policy": policy_of_training,
    "training, zip": zip_of_training,
    "training, unfinished": lambda at: training(ppo, "ppo-unfinished", at, finished=False),
    "training with replay, unfinished": lambda at: training(
        dqn, "dqn-unfinished", at, finished=False
    ),
    "self-play": lambda at: training(both_seats, "self-play", at),
    "self-play, unfinished": lambda at: training(
        both_seats, "self-play-unfinished", at, finished=False
    ),
    "two minutes": lambda at: training(two_minutes, "two-minutes", at),
    "two minutes, unfinished": lambda at: training(
        two_minutes, "two-minutes-unfinished", at, finished=False
    ),
    "network": lambda at: network("network", at),
    "network, mode": lambda at: network("network_mode", at),
    "bench": results,
}


# Files that version 0.1 wrote are read, and give the figures that 0.1 had from them

FIGURES = json.loads((GOLDEN / "figures.json").read_text(encoding="utf-8"))
for reader, changed in json.loads((CHANGED / "figures.json").read_text(encoding="utf-8")).items():
    FIGURES[reader] |= changed

SLOW = {"bench"}
"""A page with all its pictures is drawn."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Of all files; some are gone on with."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "golden"))


def test_every_figure_has_its_reader() -> None:
    assert set(FIGURES) == set(READERS)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in READERS]
)
def test_a_file_of_0_1_gives_what_it_gave(name: str, copy: Path) -> None:
    found = READERS[name](copy)
    assert set(found) == set(FIGURES[name])
    for figure, expected in FIGURES[name].items():
        # What training goes on to compute differs in the last digits from processor to processor.
        near = {"rel": 1e-5, "abs": 1e-5} if "unfinished" in name else {"rel": 1e-9, "abs": 1e-9}
        wanted = (
            pytest.approx(expected, **near) if isinstance(expected, (float, list)) else expected
        )
        assert found[figure] == wanted, figure


def test_what_is_finished_is_only_read(copy: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    for name in ("layers", "training", "self-play", "two minutes"):
        READERS[name](copy)
    assert before == {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}


def test_layers_that_are_gone_on_with_end_as_they_would_have(copy: Path) -> None:
    """But for rounding: matrix games are started from other supports than version 0.1 had."""
    READERS["layers, unfinished"](copy)
    whole, parts = (
        {path.relative_to(copy / name): np.load(path) for path in (copy / name).rglob("*.npy")}
        for name in ("half", "half-unfinished")
    )
    assert whole.keys() == parts.keys()
    for path, values in whole.items():
        assert parts[path] == pytest.approx(values, rel=0, abs=1e-12), path


@pytest.mark.slow
def test_the_trainings_of_a_finished_bench_are_only_read(copy: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    stated = [agent for task in read_bench(copy / "bench").tasks for agent in task.agents]
    found = bench_again(copy)
    assert len(found) == len(stated)
    for agent, figures in zip(stated, found, strict=True):
        assert {name: getattr(agent, name) for name in figures} == figures
    assert before == {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}


# At equal seeds environments say, and trainings learn, what they did in version 0.1

SAID = {
    name: digests
    for folder in (GOLDEN, CHANGED, CHANGED_IN_0_3)
    for name, digests in json.loads((folder / "streams.json").read_text(encoding="utf-8")).items()
}
LEARNED = json.loads((GOLDEN / "trainings.json").read_text(encoding="utf-8"))


def marked(case: Stream | Training) -> object:
    return pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.slow else [])


def test_every_case_has_been_run_under_0_1() -> None:
    assert [case.name for case in STREAMS] == list(SAID)
    assert [case.name for case in TRAININGS] == list(LEARNED)


def test_every_environment_of_0_1_is_still_there() -> None:
    registries = {
        "gym": gym.registry,
        "aec": pettingzoo.aec_registry,
        "parallel": pettingzoo.parallel_registry,
    }
    assert all(case.id in registries[case.make] for case in STREAMS)


@pytest.mark.parametrize("case", [*map(marked, STREAMS)])
def test_an_environment_says_bit_for_bit_what_it_said(case: Stream) -> None:
    assert run_stream(case) == SAID[case.name]


@pytest.mark.parametrize("case", [*map(marked, TRAININGS)])
def test_a_training_ends_with_the_network_that_it_ended_with(
    case: Training, tmp_path: Path
) -> None:
    # With a tolerance, and not by the hash that is in the file too: torch and the matrix library
    # add up in an order that depends on the processor.
    case.run(tmp_path / "run")
    found, expected = parameters_of(tmp_path / "run"), dict(LEARNED[case.name])
    del found["bits"], expected["bits"]
    assert set(found) == set(expected)
    for name, figures in expected.items():
        # Self-play on football makes most of it: 2e-5 from one processor to another.
        near = 1e-4 if case.name.endswith("self-play on football") else 1e-5
        assert found[name] == pytest.approx(figures, rel=near, abs=near), name
