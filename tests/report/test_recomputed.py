"""What the page calls exact is computed from the policies, and what contradicts them is refused."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import no_files
from submitted import write_tasks

from solvent import make_game
from solvent.benchmark.records import read_bench
from solvent.exact import StoreError, load_policy, save_policy, solve
from solvent.exact.learning_curve import read_curve
from solvent.model import TabularPolicy, compile_game
from solvent.report.page import render
from solvent.report.solved import SolvedTask, solve_task

GAMES: dict[str, tuple[str, str, dict[str, Any], list[tuple[str, int]]]] = {
    "one": (
        "solvent/Combat-v0",
        "ff-combat",
        {"skill_difference": [-1, 1], "stamina": 5, "opponent_stamina": 3, "luck": 2},
        [("ppo", 3), ("dqn", 1)],
    ),
    "two": ("solvent/Greed-v0", "greed", {"limit": 5, "sides": 3}, [("ppo", 2)]),
}
FOUR = ("value", "gap", "normalized", "worst_start_gap")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of results for a game for one and one for a game for two."""
    return {name: write_tasks(tmp_path_factory.mktemp(name), task) for name, task in GAMES.items()}


@pytest.fixture
def copied(written: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copytree(written[name], tmp_path / name))


def solved(folder: Path) -> SolvedTask:
    [task] = read_bench(folder).tasks
    return solve_task(task, folder)


def edit(folder: Path, change: Callable[[Any], object]) -> None:
    path = folder / "results.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def refused(folder: Path, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        solved(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", GAMES)
def test_every_number_of_the_results_is_checked(
    name: str, written: dict[str, Path], copied: Callable[[str], Path]
) -> None:
    solved(written[name])
    folder = copied(name)
    good = (folder / "results.json").read_text()
    task = json.loads(good)["tasks"][0]
    places: list[tuple[Any, ...]] = [("optimum",), ("bracket", 0), ("bracket", 1)]
    for kind, prefixes in (("agents", ("", "mode_")), ("baselines", ("",))):
        for number in range(len(task[kind])):
            for prefix in prefixes:
                places += [(kind, number, prefix + figure) for figure in FOUR]
                if name == "two":
                    pair = f"{prefix}exploitability"
                    places += [(kind, number, pair, seat) for seat in (0, 1)]
    assert len(places) == {"one": 3 + 4 * 8 + 3 * 4, "two": 3 + 2 * 12 + 3 * 6}[name]
    for place in places:

        def tamper(content: Any, place: tuple[Any, ...] = place) -> None:
            [task] = content["tasks"]
            for step in place[:-1]:
                task = task[step]
            task[place[-1]] -= 1e-4

        (folder / "results.json").write_text(good)
        edit(folder, tamper)
        what = next(step for step in reversed(place) if isinstance(step, str))
        refused(folder, f"{what} is stated as")


def test_what_the_policies_contradict_is_refused_by_its_name(
    copied: Callable[[str], Path],
) -> None:
    rows: tuple[tuple[str, str, int, dict[str, Any], str], ...] = (
        ("one", "agents", 3, {"mode_gap": 1e-9}, "dqn 0: mode_gap is stated as 1e-09, but compute"),
        ("one", "agents", 1, {"name": "ppo 0"}, "two agents have the name"),
        ("one", "agents", 1, {"folder": "Combat-v0/ppo-0"}, "two agents have the folder"),
        ("one", "baselines", 0, {"name": "genius"}, "ff-combat has no baseline 'genius'"),
        ("two", "agents", 0, {"exploitability": None}, "ppo 0: exploitability is stated as nan"),
    )
    folders = {name: copied(name) for name in GAMES}
    good = {name: (folder / "results.json").read_text() for name, folder in folders.items()}
    for name, kind, number, wrong, message in rows:
        (folders[name] / "results.json").write_text(good[name])
        edit(folders[name], lambda c, k=kind, n=number, w=wrong: c["tasks"][0][k][n].update(w))
        refused(folders[name], message)


def test_the_mode_has_to_be_the_most_probable_actions(copied: Callable[[str], Path]) -> None:
    folder = copied("one")
    [task] = read_bench(folder).tasks
    table = compile_game(make_game(task.game, **task.parameters))
    place = folder / task.agents[3].folder
    for wrong in (solve(table).policies[0], load_policy(place / "policy.npz", table)):
        save_policy(place / "policy_mode.npz", wrong)
        refused(folder, "dqn 0: the mode of player 0 is not the most probable action of the policy")


def test_the_mode_of_a_network_that_chose_illegal_actions_passes(
    copied: Callable[[str], Path],
) -> None:
    """Two illegal choices together may make the lowest legal action the most probable one."""
    folder = copied("two")
    [task] = read_bench(folder).tasks
    table = compile_game(make_game(task.game, **task.parameters))
    mask = table.mask[0]
    state = int(np.flatnonzero(mask.sum(axis=1) == 3)[0])
    first, second, third = np.flatnonzero(mask[state])
    chances = TabularPolicy.uniform(table).probabilities.copy()
    chances[state] = 0
    chances[state, [first, second, third]] = [0.5, 0.2, 0.3]
    place = folder / task.agents[0].folder
    sampled = TabularPolicy.of(table, chances)
    save_policy(place / "policy_0.npz", sampled)
    for action, passes in ((first, True), (second, False), (third, True)):
        mode = TabularPolicy.uniform(table).mode().probabilities.copy()
        mode[state] = np.eye(len(mode[0]))[action]
        save_policy(place / "policy_mode_0.npz", TabularPolicy.of(table, mode))
        refused(folder, "value is stated as" if passes else "the mode of player 0 is not the most")


def tampered_curve(folder: Path, change: Callable[[list[dict[str, str]]], None]) -> None:
    path = folder / "Combat-v0" / "ppo-1" / "curve.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_curve_that_does_not_end_at_its_policies_says_so(copied: Callable[[str], Path]) -> None:
    folder = copied("one")

    def flatter(rows: list[dict[str, str]]) -> None:
        optimum = float(rows[-1]["mode_value"]) + float(rows[-1]["mode_gap"])
        rows[-1] |= {"mode_gap": "1e-05", "mode_value": repr(optimum - 1e-5)}

    tampered_curve(folder, flatter)
    text = render(folder)
    assert re.search(r"<b>The curve of ppo 1 ends after 1\W000 steps at gaps of 1.00×10⁻⁵", text)
    assert text.count("The curve of") == 1
    tampered_curve(folder, lambda rows: rows.pop())
    assert "The curve of ppo 1 ends after 500 steps" in render(folder)


def test_a_curve_above_the_optimum_is_refused(copied: Callable[[str], Path]) -> None:
    folder = copied("one")
    good = (folder / "Combat-v0" / "ppo-1" / "curve.csv").read_text()
    for column in ("value", "gap", "mode_value", "mode_gap"):

        def raise_it(rows: list[dict[str, str]], column: str = column) -> None:
            rows[1][column] = repr(float(rows[1][column]) + 1e-4)

        (folder / "Combat-v0" / "ppo-1" / "curve.csv").write_text(good)
        tampered_curve(folder, raise_it)
        refused(folder, r"curve\.csv: value \+ gap at 500 steps is ")


def test_a_missing_folder_and_a_truncated_file(tmp_path: Path) -> None:
    for folder, content, message in (
        (tmp_path / "nowhere", None, "cannot be read"),
        (tmp_path, b"", "not JSON, or damaged"),
        (tmp_path, b'{"tasks": [', "not JSON, or damaged"),
        (tmp_path, b"\x80", "not JSON, or damaged"),
    ):
        if content is not None:
            (folder / "results.json").write_bytes(content)
        with pytest.raises(StoreError, match=message):
            render(folder)


def test_a_wrong_entry_is_refused(copied: Callable[[str], Path]) -> None:
    folder = copied("one")
    good = (folder / "results.json").read_text()
    agent = {"folder": "../../elsewhere"}, {"folder": "/elsewhere"}
    outside = "expected one within that of the results"
    rows: tuple[tuple[Callable[[Any], object], str], ...] = (
        (lambda c: c.clear(), "lacks tasks"),
        (lambda c: c["tasks"].clear(), "holds no task"),
        (lambda c: c["tasks"].__setitem__(0, 3), "tasks.0 is 3; input should be an object"),
        (lambda c: c["tasks"][0].update(bracket=[1]), "lacks tasks.0.bracket.1"),
        (lambda c: c["tasks"][0]["agents"][0].update(value="<script>"), "agents.0.value is '<scr"),
        (lambda c: c["tasks"][0]["agents"][0].update(name=["x" * 100_000]), "name is .'xxx"),
        (lambda c: c["tasks"][0]["agents"][0].update(agent[0]), f"elsewhere'; {outside}"),
        (lambda c: c["tasks"][0]["agents"][0].update(agent[1]), f"elsewhere'; {outside}"),
    )
    for change, message in rows:
        (folder / "results.json").write_text(good)
        edit(folder, change)
        with pytest.raises(StoreError, match=message) as caught:
            read_bench(folder)
        assert len(str(caught.value)) < 400 + len(str(folder)), message


@pytest.mark.parametrize("name", ["policy.npz", "policy_mode.npz", "curve.csv"])
def test_a_missing_or_truncated_file_of_an_agent(copied: Callable[[str], Path], name: str) -> None:
    folder = copied("one")
    path = folder / "Combat-v0" / "ppo-1" / name
    path.write_bytes(path.read_bytes()[:40])
    refused(folder, re.escape(str(path)))
    path.unlink()
    refused(folder, "cannot be read")


def test_a_curve_is_not_believed(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("one")
    path = folder / "Combat-v0" / "ppo-0" / "curve.csv"
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
    refused(folder, "holds no point")
    for missing in no_files(tmp_path, ".csv"):
        with pytest.raises(StoreError, match="cannot be read"):
            read_curve(missing)
