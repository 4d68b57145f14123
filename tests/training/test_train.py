"""Training: interrupted or not, the same result; curves are exact, folders are not believed."""

import json
import shutil
from functools import partial
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import CONTENTS, forge, read_raw
from handed_in import pickles
from interruptions import Interrupted, assert_goes_on, assert_same, stop_at, stopped
from layered_games import refusal
from refusals import assert_refused
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from solvent import TabularGame, TabularPolicy, compile_game, discounted, make_game, solve
from solvent.benchmark.bench import bench
from solvent.benchmark.suites import Task
from solvent.exact import StoreError, score
from solvent.exact.scoring import comparable_score, learned_exploitability
from solvent.games import Pig
from solvent.model.files import LOCK, locked
from solvent.training import (
    ALGORITHMS,
    TrainingResult,
    read_curve,
    train,
)
from solvent.training.algorithms import EntropyCallback

STEPS = {name: 2_048 if name.endswith("dqn") else 4_096 for name in ALGORITHMS}


# Small enough for several evaluations in so few steps, whatever the tuned numbers are.
SMALL: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 32, "n_steps": 32, "batch_size": 256},
    "a2c": {"n_envs": 32, "n_steps": 16},
    "trpo": {"n_envs": 32, "n_steps": 32, "batch_size": 256},
    "dqn": {"n_envs": 32, "batch_size": 64, "learning_starts": 500, "buffer_size": 2_000},
}
SMALL["qr_dqn"] = {**SMALL["dqn"], "policy_kwargs": "dict(n_quantiles=5)"}


def start(game: TabularGame, name: str, folder: Path, **kwargs: Any) -> TrainingResult:
    arguments = {
        "timesteps": STEPS[name],
        "hyperparameters": SMALL[ALGORITHMS[name].hyperparameters],
        "evaluations": 4,
        "progress": False,
    } | kwargs
    return train(game, name, seed=1, folder=folder, **arguments)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("ppo", "masked_dqn") else pytest.mark.slow)
        for name in ALGORITHMS
    ],
)
def test_an_interrupted_training_ends_as_an_uninterrupted_one(
    name: str, small: TabularGame, tmp_path: Path
) -> None:
    whole = assert_goes_on(partial(start, small, name), tmp_path, 0, STEPS[name] // 2)
    assert len(whole.curve) == 5
    assert not (tmp_path / "whole" / "checkpoint.npz").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo", "masked_dqn"])
def test_a_killed_training_goes_on(name: str, small: TabularGame, tmp_path: Path) -> None:
    folder, steps = tmp_path / "killed", 3 * STEPS[name]
    curve = folder / "curve.csv"
    stopped(
        "from solvent.games import FightingFantasy; from solvent.training import train\n"
        "train(FightingFantasy(stamina=4, opponent_stamina=[3, 5], luck=[0, 3]),"
        f"{name!r}, seed=1, timesteps={steps}, evaluations=4, folder={str(folder)!r},"
        f"hyperparameters={SMALL[ALGORITHMS[name].hyperparameters]}, progress=False)",
        lambda: curve.exists() and len(curve.read_text().splitlines()) > 2,
    )
    assert (folder / "checkpoint.npz").exists(), "it ended before it could be killed"
    whole = start(small, name, tmp_path / "whole", timesteps=steps)
    assert_same(whole, start(small, name, folder, timesteps=steps))


@pytest.mark.parametrize("env_kwargs", [None, {"limit": 6, "sides": 3, "opponent": "uniform"}])
def test_a_finished_training_is_read_back_with_the_scores_of_its_policies(
    env_kwargs: dict[str, Any] | None, small: TabularGame, tmp_path: Path
) -> None:
    def run(**arguments: Any) -> TrainingResult:
        return train(
            "solvent/Greed-v0" if env_kwargs else small,
            **{"seed": 1, "timesteps": 512, "evaluations": 1, **arguments},
            folder=tmp_path,
            env_kwargs=env_kwargs,
            hyperparameters={"n_envs": 8, "n_steps": 32, "batch_size": 64},
            progress=False,
        )

    first = run()
    log = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in log.Scalars("exact/mode_gap")] == [
        (point.timesteps, pytest.approx(point.mode_gap, abs=1e-6)) for point in first.curve
    ]
    files = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    again = run()
    assert_same(first, again)
    assert again.cpu_seconds == first.cpu_seconds
    assert files == {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert (first.score.exploitability is not None) is bool(env_kwargs)
    if not env_kwargs:
        assert first.score.value == score(small, first.policy).value
        assert first.mode_score.worst_start_gap == score(small, first.mode).worst_start_gap
        assert first.mode_score.worst_start in small.states
    assert first.curve[-1].mode_value == first.mode_score.value

    record = json.loads((tmp_path / "run.json").read_text())
    for name in ("score", "mode_score"):
        stated = record["result"][name]
        assert stated["value"] == getattr(first, name).value
        stated |= dict.fromkeys(stated.keys() - {"illegal_mass"}, 3.0)
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert_same(first, run())

    with pytest.raises(ValueError, match="holds another training: its algorithm is 'ppo'"):
        run(algorithm="maskable_ppo")
    other = run(seed=2, resume=False)
    assert (other.policy.probabilities != first.policy.probabilities).any()
    assert run(timesteps=256, resume=False).timesteps < first.timesteps


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bound"), [("ppo", 0.001), ("dqn", 0.006)])
def test_tuned_training_comes_close_to_the_optimum(name: str, bound: float, tmp_path: Path) -> None:
    results = [
        train("solvent/FFCombat-v0", name, seed=seed, folder=tmp_path / str(seed), progress=False)
        for seed in range(3)
    ]
    assert np.median([result.mode_score.optimality_gap for result in results]) < bound
    # What is sampled is hardly worse.
    assert np.median([result.score.optimality_gap for result in results]) < bound + 0.001


def test_bad_input_is_one_clear_line_and_makes_no_folder(tmp_path: Path) -> None:
    combat, greed = "solvent/FFCombat-v0", "solvent/GreedSmall-v0"
    rows: list[tuple[str, dict[str, Any], str]] = [
        (combat, {"algorithm": "pppo"}, "algorithm is 'pppo'; allowed are .* mean 'ppo'"),
        ("solvent/FFCombt-v0", {}, "no game or environment .* did you mean 'solvent/FFCombat-v0'"),
        ("CartPole-v1", {}, "CartPoleEnv has no P"),
        ("Blackjack-v1", {}, "publishes no|has no P"),
        (combat, {"seed": -1}, "seed is -1"),
        (combat, {"timesteps": 0}, "timesteps is 0"),
        (combat, {"evaluations": 0}, "evaluations is 0"),
        (combat, {"env_kwargs": {"observation": "pixels"}}, "observation is 'pixels'"),
        (combat, {"env_kwargs": {"stamna": 3}}, "'stamna'.* Did you mean 'stamina'"),
        (combat, {"hyperparameters": {"lerning_rate": 1}}, "Did you mean 'learning_rate'"),
        (combat, {"snapshots": 2}, "snapshots is 2; it is for self-play only"),
        (combat, {"start_weights": "importance"}, "no episode is an exploring start"),
        (combat, {"self_play": True}, "ff-combat is a game for one"),
        (greed, {"env_kwargs": {"seat": "random"}}, r"seat is 'random'.*self-play"),
        (greed, {"env_kwargs": {"opponent": "nobody"}}, "nobody"),
        (greed, {"self_play": True, "snapshots": -1}, "snapshots is -1"),
        (greed, {"self_play": True, "exploring_starts": 1.5}, "exploring_starts is 1.5; allowed"),
        (greed, {"self_play": True, "refresh": 0}, "refresh is 0"),
        (greed, {"self_play": True, "start_weights": "importance"}, "allowed are uniform"),
        ("solvent/Yahtzee-v0", {"exploring_starts": 0.5}, "Yahtzee-v0 has no table, so that"),
        (combat, {"folder": ""}, "^the folder to write to is ''; expected a path, or . for"),
        (combat, {"game": None}, "^game is None; allowed are a name, rules and a table$"),
    ]
    assert_refused(
        rows,
        lambda game, arguments: train(
            **{"game": game, "folder": tmp_path / "run", "progress": False, **arguments}
        ),
    )
    assert not (tmp_path / "run").exists()


OF_FOLDERS = {
    "ppo": {"n_envs": 8, "n_steps": 32, "batch_size": 64, "n_epochs": 2},
    "dqn": {"n_envs": 8, "learning_starts": 64, "batch_size": 32, "buffer_size": 1024},
}


def begin(game: TabularGame, folder: Path, name: str = "ppo", **kwargs: Any) -> TrainingResult:
    settings: dict[str, Any] = {"hyperparameters": OF_FOLDERS[name], "evaluations": 2, **kwargs}
    return start(game, name, folder, timesteps=512, **settings)


@pytest.fixture(scope="module")
def finished(small: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    begin(small, folder)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


# The lock


def test_a_second_training_in_a_folder_is_told_so(tmp_path: Path, small: TabularGame) -> None:
    folder = tmp_path / "run"
    task = Task(environment="solvent/FFCombat-v0", seeds={"ppo": 1}, timesteps=64)
    with locked(folder):
        calls = (
            lambda: begin(small, folder),
            lambda: train("solvent/GreedSmall-v0", self_play=True, folder=folder, progress=False),
            lambda: train("solvent/FootballHalf-v0", folder=folder, progress=False),
            lambda: bench(folder, [task], progress=False),
        )
        assert_refused((call, rf"^{folder}: another process is at work") for call in calls)
        assert [path.name for path in folder.iterdir()] == [LOCK]


def test_a_finished_training_is_read_back_without_the_lock(
    folder: Path, small: TabularGame
) -> None:
    with locked(folder):
        before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        assert begin(small, folder).timesteps == 512
        assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
        with pytest.raises(StoreError, match="is at work on it"):
            begin(small, folder, resume=False)
        # A checkpoint beside a result is to be removed, which needs the lock.
        (folder / "checkpoint.npz").touch()
        with pytest.raises(StoreError, match="is at work on it"):
            begin(small, folder)
    begin(small, folder)
    assert not (folder / "checkpoint.npz").exists()


# The record


def test_what_is_read_back_is_not_believed(folder: Path, small: TabularGame) -> None:
    record, curve = folder / "run.json", folder / "curve.csv"
    held = json.loads(record.read_text())
    result, scored = held["result"], held["result"]["score"]
    for change in (
        {"result": {**result, "score": {**scored, "illegal_mass": 1.1}}},
        {"result": {**result, "score": 3}},
        {"result": {**result, "timesteps": "many"}},
        {"result": {**result, "cpu_seconds": float("nan")}},
        {"result": "done"},
        {"request": []},
    ):
        record.write_text(json.dumps(held | change))
        told = refusal(partial(begin, small, folder))
        assert told == f"{record}: not the record of a training, or damaged"
    record.write_text(json.dumps(held))
    for path in (folder / "policy.npz", curve, record):
        for content in CONTENTS.values():
            path.write_bytes(content)
            assert refusal(partial(begin, small, folder)).startswith(f"{path}: ")
    record.unlink()
    kept = {path.name: path.read_bytes() for path in folder.glob("*.*")}
    for resume in (True, False):
        told = refusal(partial(begin, small, folder, resume=resume))
        assert "holds 'curve.csv', but no run.json" in told
    assert {path.name: path.read_bytes() for path in folder.glob("*.*")} == kept


# Checkpoints


@pytest.fixture
def waiting(small: TabularGame, tmp_path: Path) -> Path:
    """The folder of an unfinished training."""
    with pytest.raises(Interrupted):
        begin(small, tmp_path / "waiting", "dqn", progress=stop_at(256))
    return tmp_path / "waiting"


def test_a_checkpoint_is_not_believed(waiting: Path, small: TabularGame) -> None:
    path = waiting / "checkpoint.npz"
    whole, arrays = path.read_bytes(), read_raw(path)[1]
    rows: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"request": "other"}, {}, "is of another training than the one in this folder"),
        ({"curve": None}, {}, "lacks curve"),
        ({"curve": [["a", 0, 0, 0, 0, 0]]}, {}, "timesteps is 'a'"),
        ({"groups": []}, {}, "not a checkpoint of this training"),
        ({"python": [3, [2**70] * 625, None]}, {}, "not a checkpoint of this training"),
        ({"replay": [9999, False, []]}, {}, "not a checkpoint of this training"),
    ]
    for kind in ("policy:", "env:", "replay:"):
        name = max((n for n in arrays if n.startswith(kind)), key=lambda n: arrays[n].size)
        rows.append(({}, {name: arrays[name][: len(arrays[name]) // 2]}, str(path)))
        if kind in ("policy:", "env:"):
            rows.append(({}, {name: None}, str(path)))
    for header, changed, message in rows:
        path.write_bytes(whole)
        forge(path, header, **changed)
        assert message in refusal(partial(begin, small, waiting, "dqn"))


def test_nothing_in_the_folder_of_a_training_is_unpickled(
    folder: Path, waiting: Path, small: TabularGame, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    for _ in pickles(folder / "model.zip", mark):
        assert begin(small, folder).timesteps == 512
    for _ in pickles(waiting / "checkpoint.npz", mark):
        assert "damaged" in refusal(partial(begin, small, waiting, "dqn"))
    assert not mark.exists()


class Recorded(EntropyCallback):
    """The callback, with the bonus of each rollout."""

    def _on_rollout_end(self) -> None:
        self.seen = [*getattr(self, "seen", []), self.model.ent_coef]  # type: ignore[attr-defined]


def test_the_bonus_falls_to_nothing(small: TabularGame, make_model: Any) -> None:
    for name in ("ppo", "a2c", "maskable_ppo"):
        callback = Recorded()
        make_model(name, small, ent_coef=0.04).learn(512, callback=callback)
        assert callback.seen == pytest.approx([0.04, 0.03, 0.02, 0.01]), name


@pytest.mark.parametrize("player", [0, 1])
def test_without_a_proof_they_are_not_numbers(player: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pig = compile_game(Pig(8))
    # No bracket is as narrow as this.
    monkeypatch.setattr("solvent.exact.scoring.LEARNED", 1e-300)
    policy, solution = TabularPolicy.uniform(pig, player=player), solve(pig)
    illegal = np.zeros(pig.n_states)
    found = comparable_score(pig, policy, solution, illegal=illegal, tolerance=1e-300)
    unproved = learned_exploitability(pig, policy, solution)
    assert [isnan(x) for x in (found.value, found.optimality_gap, unproved)] == [True] * 3
    assert found.optimum == score(pig, policy, solution).optimum


CLIFF = make_game("CliffWalking-v1")
SHORTLY: dict[str, Any] = {"timesteps": 1024, "evaluations": 4, "progress": False}


def test_a_training_along_the_cliff_has_an_exact_curve_and_can_be_read_back(
    tmp_path: Path,
) -> None:
    """With every policy the value is a number: minus infinity until an episode ends."""
    result = train(CLIFF, "dqn", folder=tmp_path, **SHORTLY)
    assert len(result.curve) == 5
    for point in result.curve:
        for value, gap in ((point.value, point.gap), (point.mode_value, point.mode_gap)):
            assert (value, gap) == (-inf, inf) or value + gap == pytest.approx(-13)
    # A network that has seen no end yet walks into a wall.
    assert result.curve[0].mode_value == -inf
    assert read_curve(tmp_path / "curve.csv") == result.curve
    score = result.mode_score
    assert score.optimum == -13
    assert score.optimality_gap == score.optimum - score.value


def test_an_environment_of_gymnasium_s_is_trained_on_by_its_id(tmp_path: Path) -> None:
    by_id, by_rules = (
        train(game, "dqn", folder=tmp_path / name, env_kwargs={"observation": "index", **own},
              **SHORTLY)
        for name, game, own in (
            ("id", "CliffWalking-v1", {"discount": 0.9}),
            ("rules", discounted(CLIFF, 0.9), {}),
        )
    )  # fmt: skip
    assert by_id.mode_score == by_rules.mode_score
    assert by_id.mode.model_hash == by_rules.mode.model_hash
