"""A folder that is not what it should be is refused in one line that says where."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from bad_files import CONTENTS, no_files

from solvent.benchmark.records import read_bench
from solvent.exact import StoreError
from solvent.exact.learning_curve import read_curve
from solvent.report.page import render


@pytest.fixture
def copy(results: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(results, tmp_path / "results"))


def edit(folder: Path, change: Callable[[Any], None]) -> None:
    path = folder / "results.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def refused(folder: Path) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # Each caller checks the message.
        render(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400 + len(str(folder))
    assert str(folder) in message or "game" in message
    return message


def test_results_are_read(results: Path) -> None:
    combat, pig, greed = read_bench(results).tasks
    assert (combat.game, pig.game, greed.game) == ("ff-combat", "pig", "greed")
    assert (combat.for_two, pig.for_two, greed.for_two) == (False, True, True)
    assert [agent.name for agent in combat.agents] == ["ppo 0", "ppo 1", "ppo 2", "dqn 0"]
    assert combat.bracket[0] <= combat.optimum <= combat.bracket[1]


def test_a_missing_folder_and_a_truncated_file(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "nowhere")
    for content in (b"", b"{", b'{"tasks": [', b"\x80"):
        (tmp_path / "results.json").write_bytes(content)
        assert "not JSON, or damaged" in refused(tmp_path)


def shifted(by: Any, *path: Any) -> Callable[[Any], None]:
    """Move a number of the tasks by an amount, or remove it if that is None."""

    def change(content: Any) -> None:
        place = content["tasks"]
        for step in path[:-1]:
            place = place[step]
        if by is None:
            del place[path[-1]]
        else:
            place[path[-1]] += by

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.clear(), "lacks tasks"),
        (lambda c: c["tasks"].clear(), "holds no task"),
        (lambda c: c["tasks"].__setitem__(0, 3), "tasks.0 is 3; input should be an object"),
        (lambda c: c["tasks"][0].pop("optimum"), "lacks tasks.0.optimum"),
        (lambda c: c["tasks"][0].update(bracket=[1]), "lacks tasks.0.bracket.1"),
        (
            lambda c: c["tasks"][0].update(parameters=[]),
            "tasks.0.parameters is []; input should be an object",
        ),
        (
            lambda c: c["tasks"][1].update(env=None),
            "tasks.1.env is None; input should be a valid string",
        ),
        (
            lambda c: c["tasks"][0]["agents"][2].update(gap="0.1"),
            "tasks.0.agents.2.gap is '0.1'; input should be a valid number",
        ),
        (
            lambda c: c["tasks"][0]["agents"][1].update(seed=True),
            "agents.1.seed is True; input should be a valid integer",
        ),
        (
            lambda c: c["tasks"][1]["agents"][0].update(exploitability=[0.1]),
            "lacks tasks.1.agents.0.exploitability.1",
        ),
        (lambda c: c["tasks"][0]["baselines"].append({}), "lacks tasks.0.baselines.3.name"),
        (
            lambda c: c["tasks"][0]["agents"][0].update(value="<script>"),
            "agents.0.value is '<script>'; input should be a valid number",
        ),
        (
            lambda c: c["tasks"][0]["agents"][0].update(name=["x" * 100_000]),
            "agents.0.name is ['xxx",
        ),
        (
            lambda c: c["tasks"][0]["agents"][0].update(folder="../../elsewhere"),
            "task 0: folder is '../../elsewhere'; expected one within that of the results",
        ),
        (
            lambda c: c["tasks"][0]["agents"][0].update(folder="/elsewhere"),
            "task 0: folder is '/elsewhere'; expected one within that of the results",
        ),
    ],
)
def test_a_wrong_entry(copy: Path, change: Callable[[Any], None], message: str) -> None:
    edit(copy, change)
    with pytest.raises(StoreError):
        read_bench(copy)
    assert message in refused(copy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            (shifted(by, 2, "agents", 0, key, *place), f"ppo 0: {key} is {said}")
            for key in ("exploitability", "mode_exploitability")
            for by, place, said in ((-1e-6, (1,), "stated as"), (None, (), "missing"))
        ),
        (shifted(1e-6, 0, "agents", 1, "value"), "ppo 1: value is stated as"),
        (shifted(1e-6, 0, "agents", 1, "mode_value"), "ppo 1: mode_value is stated as"),
        (
            lambda c: c["tasks"][0].update(optimum=0.9),
            "optimum is stated as 0.9, but computed as",
        ),
        (lambda c: c["tasks"][0].update(game="chess"), "no game or environment 'chess'"),
        (
            lambda c: c["tasks"][1]["agents"][0].update(folder="Greed-v0/ppo-0"),
            "was made for the model",
        ),
    ],
)
def test_what_the_game_or_the_policies_contradict(
    copy: Path, change: Callable[[Any], None], message: str
) -> None:
    edit(copy, change)
    assert message in refused(copy)


@pytest.mark.parametrize("name", ["policy.npz", "policy_mode.npz", "curve.csv"])
def test_a_missing_or_truncated_file_of_an_agent(copy: Path, name: str) -> None:
    path = copy / "Combat-v0" / "ppo-1" / name
    path.write_bytes(path.read_bytes()[:40])
    assert str(path) in refused(copy)
    path.unlink()
    assert "cannot be read" in refused(copy)


def test_other_content_is_one_line(copy: Path) -> None:
    for name, file in product(CONTENTS, ("results.json", "Combat-v0/ppo-0/curve.csv")):
        before = (copy / file).read_bytes()
        (copy / file).write_bytes(CONTENTS[name])
        with pytest.raises(StoreError) as caught:
            read_curve(copy / file) if file.endswith(".csv") else read_bench(copy)
        assert str(caught.value).startswith(f"{copy / file}: ")
        assert len(str(caught.value)) < len(str(copy / file)) + 150
        (copy / file).write_bytes(before)


def test_a_curve_is_not_believed(copy: Path, tmp_path: Path) -> None:
    path = copy / "Combat-v0" / "ppo-0" / "curve.csv"
    good = path.read_text()
    for line in (
        "9,inf,0,0,0,1",
        "9,0,0,0,0,nan",
        "-9,0,0,0,0,1",
        "9,0,0,0",
        f"9,{'9' * 200_000},0,0,0,1",
        '9,"0\n,0,0,0,1',
    ):
        path.write_text(f"{good}{line}\n")
        with pytest.raises(StoreError, match="not a learning curve, or damaged"):
            read_curve(path)
    path.write_text(good.partition("\n")[0] + "\n")
    assert "holds no point" in refused(copy)
    for missing in no_files(tmp_path, ".csv"):
        with pytest.raises(StoreError, match="cannot be read"):
            read_curve(missing)
