"""No file runs code: every reader is given files that leave a mark if anything in them runs."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from commands import refusal, said
from gamebooks import changed
from handed_in import pickles
from layered_games import shop, solve_in
from refusals import assert_refused
from submitted import SUITE, write_bench

from solvent.baselines.network import load_network
from solvent.benchmark.policies import read_policies
from solvent.benchmark.submissions import check_submission, pack_submission
from solvent.benchmark.suites import find_suite, task_game
from solvent.cli.parameters import game_of_training
from solvent.exact import StoreError, load_policy, load_solution, save_policy, write_archive
from solvent.exact.layered.folder import LayerFolder
from solvent.games import Pig
from solvent.games.gamebook.loader import BookError, check_book, load_book
from solvent.grading import grade, grade_files
from solvent.model import TabularGame, TabularPolicy, compile_game, make_game, registry
from solvent.model.cache import read_entry
from solvent.report import write_report

GAME = """
from fractions import Fraction
from pathlib import Path
import numpy as np
from solvent.model import GameInfo, Outcome

Path({mark!r}).touch()

class Coin:
    info = GameInfo("coin", 1, (("stop", "go"),), True, (0, 1), ("a coin",), (), ("heads",))
    def initial(self): return (Outcome(Fraction(1), 0),)
    def is_terminal(self, state): return state == 1
    def legal_actions(self, state): return ((0, 1),)
    def transition(self, state, joint): return (Outcome(Fraction(1), 1, joint[0]),)
    def observe(self, state, player): return np.array([state], np.float32)
    def draw(self, state): return str(state)

def coin(make, seed, budget, callback): ...
"""

# Ways to say where code is, or a model in somebody else's format.
PLACES = (
    "hostile.py",
    "hostile.py:Coin",
    "./hostile.py:coin",
    "{folder}/hostile.py",
    "{folder}/hostile.py:Coin",
    "hostile:Coin",
    "hostile:Coin-v0",
    "here/hostile:Coin-v0",
    "MiniGrid-hostile:Coin-v0",
    "hostile.prism",
    "openspiel:tic_tac_toe",
)


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where code that runs leaves a file; beside it, in the current folder, is such code."""
    found = tmp_path / "mark"
    (tmp_path / "hostile.py").write_text(GAME.format(mark=str(found)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "hostile", raising=False)
    return found


# Files that name code


def report(folder: Path, **task: Any) -> None:
    asked = {"environment": "solvent/Pig-v0", **task}
    known = {"env": "Pig-v0", "game": "pig", "parameters": {}, "optimum": 1.0, "bracket": [1, 1]}
    about = {**known, "agents": [], "baselines": [], "task": asked}
    (folder / "results.json").write_text(json.dumps({"format": 2, "tasks": [about]}))
    write_report(folder, folder / "page.html")


def exercise(folder: Path, **keys: Any) -> Path:
    known = {"format": 1, "name": "coin", "title": "A coin", "asks": "values", "points": [[1, 1]]}
    lines = (f"{key} = {toml(value)}" for key, value in {**known, **keys}.items())
    (folder / "coin.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder / "coin.toml"


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(k)} = {toml(v)}' for k, v in value.items())} }}"
    return json.dumps(value)


def asked(folder: Path, **keys: Any) -> None:
    grade(exercise(folder, **keys), [0.0, 0.0])


def suite(folder: Path, **keys: Any) -> None:
    task = {"environment": "solvent/Pig-v0", **keys}
    lines = ["format = 1", 'name = "mine"', 'title = "Mine"', "[[tasks]]"]
    lines += [f"{key} = {toml(value)}" for key, value in task.items()]
    (folder / "mine.toml").write_text("\n".join(lines), encoding="utf-8")
    for one in find_suite(str(folder / "mine.toml")).tasks:
        task_game(one)


def policy(folder: Path, environment: str, **kwargs: Any) -> None:
    uniform = TabularPolicy.uniform(compile_game(Pig(target=4)))
    request = {"environment": environment, "env_kwargs": kwargs}
    save_policy(folder / "policy.npz", uniform, {"request": request})
    game_of_training(folder / "policy.npz")


GREED = "solvent/GreedSmall-v0"

# By reader: what writes a file in which a name stands, and reads it.
NAMED: Mapping[str, Callable[[Path, str], Any]] = {
    "results: environment": lambda f, p: report(f, environment=p),
    "results: argument": lambda f, p: report(f, env_kwargs={"game": p}),
    "results: opponent": lambda f, p: report(f, environment=GREED, env_kwargs={"opponent": p}),
    "results: algorithm": lambda f, p: report(f, seeds={p: 1}),
    "suite: environment": lambda f, p: suite(f, environment=p),
    "suite: self-play": lambda f, p: suite(f, environment=p, self_play=True),
    "suite: argument": lambda f, p: suite(f, env_kwargs={"game": p}),
    "suite: opponent": lambda f, p: suite(f, environment=GREED, env_kwargs={"opponent": p}),
    "suite: algorithm": lambda f, p: suite(f, seeds={p: 1}),
    "exercise: game": lambda f, p: asked(f, game=p),
    "exercise: parameter": lambda f, p: asked(f, game="pig", parameters={"name": p}),
    "exercise: environment": lambda f, p: asked(f, environment=p),
    "exercise: argument": lambda f, p: asked(
        f, environment="solvent/Pig-v0", env_kwargs={"game": p}
    ),
    "policy: environment": policy,
    "policy: argument": lambda f, p: policy(f, "nothing", game=p, name=p),
}


@pytest.mark.parametrize("reader", NAMED)
def test_no_name_in_a_file_leads_to_code(reader: str, tmp_path: Path, mark: Path) -> None:
    for number, place in enumerate(PLACES):
        folder = tmp_path / str(number)
        folder.mkdir()
        name = place.format(folder=tmp_path)
        with pytest.raises(ValueError, match=r"\w") as refused:
            NAMED[reader](folder, name)
        told = str(refused.value)
        assert "\n" not in told
        assert any(part in told for part in (Path(name).name, "'name'", "'nothing'")), (name, told)
        assert not mark.exists(), name


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    write_bench(folder / "bench", 1)
    pack_submission(folder / "bench", "steady", folder / "steady", SUITE, authors="A. Author")
    return folder / "steady"


@pytest.mark.parametrize("what", ["suite", "algorithm"])
def test_no_name_in_a_submission_leads_to_code(
    what: str, packed: Path, tmp_path: Path, mark: Path
) -> None:
    submission = Path(shutil.copytree(packed, tmp_path / "submission"))
    card, claims = submission / "card.json", submission / "results.json"
    says, claimed = json.loads(card.read_text()), json.loads(claims.read_text())
    for place in PLACES:
        name = place.format(folder=tmp_path)
        if what == "suite":
            says["suite"] = claimed["suite"]["name"] = name
        else:
            claimed["tasks"][0]["task"]["seeds"] = {name: 1}
        card.write_text(json.dumps(says))
        claims.write_text(json.dumps(claimed))
        with pytest.raises(StoreError) as refused:
            check_submission(submission)
        assert Path(name).name in str(refused.value)
        assert not mark.exists(), name


def test_a_person_may_trust_exercises(tmp_path: Path, mark: Path) -> None:
    for place in ("hostile.py:Coin", f"{tmp_path}/hostile.py:Coin", "hostile:Coin"):
        words = ["grade", str(exercise(tmp_path, game=place))]
        mark.unlink(missing_ok=True)
        assert "pass --trust" in refusal(*words)
        assert not mark.exists()
        # It is imported anew when it is asked for next.
        sys.modules.pop("hostile", None)
        registry._file.cache_clear()
        said(*words, "--trust")
        assert mark.exists()
    assert grade(exercise(tmp_path, game="hostile:Coin"), [1.0, 0.0], trust=True).points == 1


def test_no_text_in_a_file_commands_the_terminal(tmp_path: Path) -> None:
    clear, told, pig = "\x1b[2J", r"\x1b[2J", ("pig", "--target", "4")
    policy, other = str(tmp_path / "policy.npz"), str(tmp_path / "other.npz")
    save_policy(policy, replace(TabularPolicy.uniform(table()), name=f"{clear}mine"))
    write_archive(other, {"kind": clear}, {})
    asked = exercise(tmp_path, game="pig", parameters={"target": 4}, title=f"{clear}A coin")
    for output in (
        said("score", policy, *pig),
        said("grade", str(asked)),
        refusal("score", other, *pig),
    ):
        assert told in output
        assert clear not in output


# Files that are code


def table() -> TabularGame:
    return compile_game(Pig(target=4))


def answer(path: Path) -> None:
    lake = {"environment": "FrozenLake-v1", "asks": "policy"}
    [graded] = grade_files(exercise(path.parent, **lake), [path])
    raise ValueError(graded.problem)


def cached(path: Path) -> None:
    assert read_entry(path) is None
    raise ValueError("no entry")


# By reader: what reads a file.
PICKLED: Mapping[str, Callable[[Path], Any]] = {
    "policy": lambda path: load_policy(path, table()),
    "what a policy says": game_of_training,
    "solution": lambda path: load_solution(path, table()),
    "network": load_network,
    "opponent": lambda path: gym.make(GREED, opponent=str(path)),
    "policies of a submission": lambda path: read_policies(path, "x", table(), (0,), [0]),
    "answer": answer,
    "entry of the cache": cached,
}


@pytest.mark.parametrize("reader", PICKLED)
def test_no_archive_is_unpickled(reader: str, tmp_path: Path, mark: Path) -> None:
    path = tmp_path / "file.npz"
    for _ in pickles(path, mark):
        assert_refused([(path, "damaged|plain numbers|header|entry")], PICKLED[reader])
        assert not mark.exists()


def test_no_layer_of_a_solution_is_unpickled(tmp_path: Path, mark: Path) -> None:
    layers = shop()
    solve_in(tmp_path / "solution", layers)
    folder = LayerFolder.open(tmp_path / "solution", layers)
    path = folder.path(layers.layers[0])
    size = path.stat().st_size
    for _ in pickles(path, mark):
        path.write_bytes(path.read_bytes()[:size].ljust(size, b"."))
        with pytest.raises(StoreError, match="damaged"):
            LayerFolder.open(tmp_path / "solution", layers).read(layers.layers[0])
        assert not mark.exists()


def test_no_book_runs_code(tmp_path: Path, mark: Path) -> None:
    path, call = tmp_path / "book.yaml", f"__import__('pathlib').Path('{mark}').touch()"
    for text in (
        changed(("title: The Mill", f"title: !!python/object/apply:pathlib.Path.touch [{mark}]")),
        changed(("title: The Mill", f'title: !!python/object/new:eval ["{call}"]')),
        changed(("when: gold >= toll", f'when: "{call}"')),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BookError):
            load_book(path)
        assert check_book(path)
        assert not mark.exists()
    with pytest.raises(ValueError, match=r"book is '.*hostile.py'"):
        make_game("gamebook", book=str(tmp_path / "hostile.py"))


def test_no_hyperparameter_is_evaluated(mark: Path) -> None:
    pytest.importorskip("torch")
    from stable_baselines3 import PPO

    from solvent.training.algorithms import prepare

    call = f"__import__('pathlib').Path('{mark}').touch()"
    rows = (
        ("policy_kwargs", f"dict(net_arch={call})"),
        ("policy_kwargs", f"dict(**{{'a': {call}}})"),
        ("policy_kwargs", call),
        ("learning_rate", f"lin_{call}"),
        ("learning_rate", call),
    )
    assert_refused(
        ((name, text, f"{name} is ") for name, text in rows),
        lambda name, text: prepare({"n_timesteps": 1, name: text}, PPO),
    )
    assert not mark.exists()
