"""What a training reads is verified, and one process at a time writes into its folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bad_files import CONTENTS, forge, no_files, read_raw
from handed_in import pickles

from solvent.benchmark.bench import bench
from solvent.benchmark.suites import Task
from solvent.exact import StoreError
from solvent.exact.layered.lock import NAME, FolderLock
from solvent.model import TabularGame
from solvent.training import load_model, train, train_self_play

SMALL = {
    "ppo": {"n_envs": 8, "n_steps": 32, "batch_size": 64, "n_epochs": 2},
    "dqn": {"n_envs": 8, "learning_starts": 64, "batch_size": 32, "buffer_size": 1024},
}


class Interrupted(Exception):  # noqa: N818  # Not an error.
    pass


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
        lambda: train_self_play(
            "solvent/Greed-v0", folder=folder, env_kwargs={"limit": 4, "sides": 2}, progress=False
        ),
        lambda: train("solvent/FootballHalf-v0", folder=folder, progress=False),
        lambda: bench(
            folder,
            [Task(environment="solvent/FFCombat-v0", seeds={"ppo": 1})],
            progress=False,
        ),
    ]
    with FolderLock(folder):
        for call in calls:
            with pytest.raises(StoreError, match=rf"^{folder}: another process is at work"):
                call()
        assert [path.name for path in folder.iterdir()] == [NAME]


def test_a_finished_training_is_read_back_without_the_lock(
    folder: Path, small: TabularGame
) -> None:
    with FolderLock(folder):
        before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        assert start(small, folder).timesteps == 512
        assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
        with pytest.raises(StoreError, match="is at work on it"):
            start(small, folder, resume=False)


def test_a_checkpoint_beside_a_result_is_removed(folder: Path, small: TabularGame) -> None:
    (folder / "checkpoint.npz").touch()
    with FolderLock(folder), pytest.raises(StoreError, match="is at work on it"):
        start(small, folder)
    start(small, folder)
    assert not (folder / "checkpoint.npz").exists()


def test_what_a_killed_training_left_is_cleared_away(waiting: Path, small: TabularGame) -> None:
    left = waiting / f".solvent-{'0a' * 8}"
    left.write_bytes(b"half")
    start(small, waiting, name="dqn")
    names = {path.name for path in waiting.iterdir()}
    assert names.isdisjoint({left.name, NAME, "checkpoint.npz"})


def test_a_folder_of_another_training_is_left_as_it_is(folder: Path, small: TabularGame) -> None:
    left = folder / f".solvent-{'0a' * 8}"
    left.write_bytes(b"half")
    with pytest.raises(ValueError, match="holds another training"):
        train(small, "ppo", seed=7, timesteps=512, folder=folder, progress=False)
    assert left.read_bytes() == b"half"


# The record


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["result"]["score"].pop("illegal_mass"),
        lambda record: record["result"]["score"].update(illegal_mass=-0.1),
        lambda record: record["result"]["score"].update(illegal_mass=1.1),
        lambda record: record["result"].update(score=3),
        lambda record: record["result"].update(timesteps="many"),
        lambda record: record["result"].update(timesteps=True),
        lambda record: record["result"].update(cpu_seconds=float("nan")),
        lambda record: record.update(result=[]),
        lambda record: record.update(result="done"),
        lambda record: record.update(request=[]),
    ],
)
def test_a_record_is_not_believed(change: Any, folder: Path, small: TabularGame) -> None:
    record = json.loads((folder / "run.json").read_text())
    change(record)
    (folder / "run.json").write_text(json.dumps(record))
    message = refusal(small, folder)
    assert message == f"{folder / 'run.json'}: not the record of a training, or damaged"


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("file", ["run.json", "curve.csv", "policy.npz"])
def test_other_content_is_one_line(name: str, file: str, folder: Path, small: TabularGame) -> None:
    (folder / file).write_bytes(CONTENTS[name])
    assert refusal(small, folder).startswith(f"{folder / file}: ")


@pytest.mark.parametrize("file", ["run.json", "curve.csv"])
def test_what_is_no_file_is_one_line(
    file: str, folder: Path, small: TabularGame, tmp_path: Path
) -> None:
    for path in no_files(tmp_path, ""):
        if os.path.exists(path):  # noqa: PTH110  # The other one raises for a name too long.
            (folder / file).unlink()
            (folder / file).symlink_to(path)
            assert refusal(small, folder).startswith(f"{folder / file}: cannot be read (")


@pytest.mark.parametrize(
    "line",
    [
        "512,inf,0,0,0,1",
        "512,0,0,0,0,nan",
        "512,0,0,0,0",
        "512,0,0,0,0,1,2",
        "-1,0,0,0,0,1",
        "1.5,0,0,0,0,1",
        "512,<script>,0,0,0,1",
        f"{'9' * 5000},0,0,0,0,1",
        f"512,{'9' * 200_000},0,0,0,1",
    ],
)
def test_a_curve_is_not_believed(line: str, folder: Path, small: TabularGame) -> None:
    path = folder / "curve.csv"
    path.write_text(path.read_text() + line + "\n")
    assert refusal(small, folder) == f"{path}: not a learning curve, or damaged"


def test_another_training_is_told_apart_by_the_entry_that_differs(
    folder: Path, small: TabularGame
) -> None:
    with pytest.raises(ValueError, match=r"its hyperparameters\['n_timesteps'\] is 512, not 600$"):
        train(
            small, "ppo", timesteps=600, folder=folder, hyperparameters=SMALL["ppo"],
            evaluations=2, progress=False,
        )  # fmt: skip


# Checkpoints


def interrupted(game: TabularGame, folder: Path, name: str) -> Path:
    def stop(moment: Any) -> None:
        if moment.timesteps > 300:  # A checkpoint is at 256.
            raise Interrupted

    with pytest.raises(Interrupted):
        start(game, folder, name, progress=stop)
    return folder / "checkpoint.npz"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"counters": {"learn": 3}}, "counter learn is 3"),
        ({"counters": {"num_timesteps": "many"}}, "counter num_timesteps is 'many'"),
        ({"counters": []}, "counters is []; expected an object"),
        ({"curve": None}, "lacks curve"),
        ({"curve": [[1, 2]]}, "not a checkpoint of this training"),
        ({"curve": [["a", 0, 0, 0, 0, 0]]}, "timesteps is 'a'"),
        ({"groups": []}, "not a checkpoint of this training"),
        ({"python": [1]}, "not a checkpoint of this training"),
        ({"python": [3, [2**70] * 625, None]}, "not a checkpoint of this training"),
        ({"replay": [9999, False, {}]}, "the replay buffer is filled up to 9999"),
        ({"replay": None}, "not a checkpoint of this training"),
    ],
)
def test_a_checkpoint_is_not_believed(
    header: dict[str, Any], message: str, waiting: Path, small: TabularGame
) -> None:
    forge(waiting / "checkpoint.npz", header)
    assert message in refusal(small, waiting, name="dqn")


@pytest.fixture(scope="module")
def unfinished(small: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unfinished") / "run"
    interrupted(small, folder, "dqn")
    return folder


@pytest.fixture
def waiting(unfinished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(unfinished, tmp_path / "waiting"))


@pytest.mark.parametrize(
    ("kind", "change"),
    [(k, "half") for k in ("policy:", "moments:", "env:", "replay:", "_last_obs")]
    + [("policy:", "gone"), ("env:", "gone")],
)
def test_an_array_of_a_checkpoint_is_not_believed(
    kind: str, change: str, waiting: Path, small: TabularGame
) -> None:
    path = waiting / "checkpoint.npz"
    arrays = read_raw(path)[1]
    name = max((n for n in arrays if n.startswith(kind)), key=lambda n: arrays[n].size)
    half = arrays[name][: len(arrays[name]) // 2]
    forge(path, **{name: half if change == "half" else None})
    assert str(path) in refusal(small, waiting, name="dqn")


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


def test_a_network_of_another_algorithm_is_one_line(folder: Path, tmp_path: Path) -> None:
    for name in ("dqn", "masked_dqn", "mirror_descent"):
        with pytest.raises(ValueError, match=f"not a network of {name}") as caught:
            load_model(folder / "model.zip", name, trust=True)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < len(str(folder)) + 200
    for path in no_files(tmp_path, ".zip"):
        with pytest.raises(ValueError, match="cannot be read"):
            load_model(path, "ppo", trust=True)
