"""What a training reads is verified, and one process at a time writes into its folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bad_files import CONTENTS, forge, read_raw
from handed_in import pickles
from interruptions import Interrupted, stop_at

from solvent.benchmark.bench import bench
from solvent.benchmark.suites import Task
from solvent.exact import StoreError
from solvent.exact.store import LOCK, locked
from solvent.model import TabularGame
from solvent.training import train

SMALL = {
    "ppo": {"n_envs": 8, "n_steps": 32, "batch_size": 64, "n_epochs": 2},
    "dqn": {"n_envs": 8, "learning_starts": 64, "batch_size": 32, "buffer_size": 1024},
}


def start(
    game: TabularGame,
    folder: Path,
    name: str = "ppo",
    progress: Any = False,
    resume: bool = True,
) -> Any:
    return train(
        game,
        name,
        timesteps=512,
        folder=folder,
        hyperparameters=SMALL[name],
        evaluations=2,
        progress=progress,
        resume=resume,
    )


@pytest.fixture(scope="module")
def finished(small: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    start(small, folder)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def refusal(game: TabularGame, folder: Path, **arguments: Any) -> str:
    with pytest.raises(StoreError) as caught:
        start(game, folder, **arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < len(str(folder)) + 200
    return message


# The lock


def test_a_second_training_in_a_folder_is_told_so(tmp_path: Path, small: TabularGame) -> None:
    folder = tmp_path / "run"
    calls: list[Callable[[], Any]] = [
        lambda: start(small, folder),
        lambda: train("solvent/GreedSmall-v0", self_play=True, folder=folder, progress=False),
        lambda: train("solvent/FootballHalf-v0", folder=folder, progress=False),
        lambda: bench(
            folder,
            [Task(environment="solvent/FFCombat-v0", seeds={"ppo": 1})],
            progress=False,
        ),
    ]
    with locked(folder):
        for call in calls:
            with pytest.raises(StoreError, match=rf"^{folder}: another process is at work"):
                call()
        assert [path.name for path in folder.iterdir()] == [LOCK]


def test_a_finished_training_is_read_back_without_the_lock(
    folder: Path, small: TabularGame
) -> None:
    with locked(folder):
        before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        assert start(small, folder).timesteps == 512
        assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
        with pytest.raises(StoreError, match="is at work on it"):
            start(small, folder, resume=False)


def test_a_checkpoint_beside_a_result_is_removed(folder: Path, small: TabularGame) -> None:
    (folder / "checkpoint.npz").touch()
    with locked(folder), pytest.raises(StoreError, match="is at work on it"):
        start(small, folder)
    start(small, folder)
    assert not (folder / "checkpoint.npz").exists()


# The record


def test_what_is_read_back_is_not_believed(folder: Path, small: TabularGame) -> None:
    record, curve = folder / "run.json", folder / "curve.csv"
    held, points = json.loads(record.read_text()), curve.read_text()
    for change in (
        {"result": {**held["result"], "score": {**held["result"]["score"], "illegal_mass": 1.1}}},
        {"result": {**held["result"], "score": 3}},
        {"result": {**held["result"], "timesteps": "many"}},
        {"result": {**held["result"], "cpu_seconds": float("nan")}},
        {"result": "done"},
        {"request": []},
    ):
        record.write_text(json.dumps(held | change))
        assert refusal(small, folder) == f"{record}: not the record of a training, or damaged"
    record.write_text(json.dumps(held))
    for line in (
        "512,inf,0,0,0,1",
        "512,0,0,0,0",
        "512,0,0,0,0,1,2",
        "-1,0,0,0,0,1",
        "512,<script>,0,0,0,1",
        f"{'9' * 5000},0,0,0,0,1",
        f"512,{'9' * 200_000},0,0,0,1",
    ):
        curve.write_text(f"{points}{line}\n")
        assert refusal(small, folder) == f"{curve}: not a learning curve, or damaged"
    curve.write_text(points)
    for path in (folder / "policy.npz", curve, record):
        for content in CONTENTS.values():
            path.write_bytes(content)
            assert refusal(small, folder).startswith(f"{path}: ")


# Checkpoints


def interrupted(game: TabularGame, folder: Path, name: str) -> Path:
    with pytest.raises(Interrupted):
        start(game, folder, name, progress=stop_at(256))
    return folder / "checkpoint.npz"


@pytest.fixture(scope="module")
def unfinished(small: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unfinished") / "run"
    interrupted(small, folder, "dqn")
    return folder


@pytest.fixture
def waiting(unfinished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(unfinished, tmp_path / "waiting"))


def test_a_checkpoint_is_not_believed(waiting: Path, small: TabularGame) -> None:
    path = waiting / "checkpoint.npz"
    whole, arrays = path.read_bytes(), read_raw(path)[1]
    rows: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"request": "other"}, {}, "is of another training than the one in this folder"),
        ({"counters": {"learn": 3}}, {}, "counter learn is 3"),
        ({"counters": {"num_timesteps": "many"}}, {}, "counter num_timesteps is 'many'"),
        ({"curve": None}, {}, "lacks curve"),
        ({"curve": [["a", 0, 0, 0, 0, 0]]}, {}, "timesteps is 'a'"),
        ({"groups": []}, {}, "not a checkpoint of this training"),
        ({"python": [3, [2**70] * 625, None]}, {}, "not a checkpoint of this training"),
        ({"replay": [9999, False]}, {}, "not a checkpoint of this training"),
    ]
    for kind in ("policy:", "moments:", "env:", "bits:", "_last_obs"):
        name = max((n for n in arrays if n.startswith(kind)), key=lambda n: arrays[n].size)
        rows.append(({}, {name: arrays[name][: len(arrays[name]) // 2]}, str(path)))
        if kind in ("policy:", "env:"):
            rows.append(({}, {name: None}, str(path)))
    for header, changed, message in rows:
        path.write_bytes(whole)
        forge(path, header, **changed)
        assert message in refusal(small, waiting, name="dqn")


def test_nothing_in_the_folder_of_a_training_is_unpickled(
    folder: Path, waiting: Path, small: TabularGame, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    for _ in pickles(folder / "model.zip", mark):
        assert start(small, folder).timesteps == 512
    for _ in pickles(waiting / "checkpoint.npz", mark):
        assert "damaged" in refusal(small, waiting, name="dqn")
    assert not mark.exists()


# Other people's networks
