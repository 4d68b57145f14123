"""Suites: small files that say what is compared on."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from solvent.benchmark.suites import (
    Setting,
    Task,
    find_suite,
    read_settings,
    suite_hash,
    suite_seeds,
    task_game,
    tuning_seed,
)
from solvent.model.registry import declared_names

GOOD = """
format = 1
name = "mine"
title = "Two of my own"

[[tasks]]
environment = "solvent/GreedSmall-v0"
timesteps = 1_000
seeds = { ppo = 2 }

[[tasks]]
environment = "solvent/GreedSmall-v0"
self_play = true
env_kwargs = { limit = 10 }
timesteps = 2_000
"""


def test_a_file_says_what_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD)
    suite = find_suite(str(file))
    assert (suite.name, suite.title) == ("mine", "Two of my own")
    assert suite.tasks == (
        Task(environment="solvent/GreedSmall-v0", timesteps=1_000, seeds={"ppo": 2}),
        Task(
            environment="solvent/GreedSmall-v0",
            self_play=True,
            env_kwargs={"limit": 10},
            timesteps=2_000,
            name="GreedSmall-v0-self-play",
        ),
    )
    assert [task.name for task in suite.tasks] == ["GreedSmall-v0", "GreedSmall-v0-self-play"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format = 1", "format = 2", "format is 2; this reads 1"),
        ("[[tasks]]", "[[tasks", "not TOML"),
        ('title = "Two of my own"', "title = 3", "title is 3; input should be a valid string"),
        ("timesteps = 1_000", "steps = 1_000", "tasks.0.steps is 1000; unexpected"),
        ("timesteps = 1_000", "timesteps = 0", "timesteps is 0"),
        ("timesteps = 2_000", "cpu_seconds = 1.5", "tasks.1.cpu_seconds is 1.5; unexpected"),
        ("self_play = true", "self_play = 1", "self_play is 1; input should be a valid boolean"),
        ("self_play = true", "", "two tasks are called GreedSmall-v0"),
        ("{ ppo = 2 }", "{ ppo = 0 }", "the number of seeds of ppo is 0"),
        ("self_play = true", 'name = "../mine"', "the name of a task is '../mine'"),
        ('environment = "solvent/GreedSmall-v0"', "", "lacks tasks.0.environment"),
    ],
)
def test_what_is_no_suite_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=r"mine\.toml") as caught:
        find_suite(str(file))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"), [("my_game.py:Mine", "registered names"), ("nim", "solvent/Nim-v0")]
)
def test_a_task_without_a_registered_environment_says_what_to_name(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"environment is '{name}'.*{message}"):
        task_game(Task(environment=name, timesteps=1))


def test_the_hash_covers_what_is_compared_and_no_more() -> None:
    one, two = Task(environment="A-v0", timesteps=100), Task(environment="B-v0", timesteps=100)
    known = suite_hash([one, two], ["a", "b"])
    assert suite_hash([two, one], ["b", "a"]) == known
    assert suite_hash([replace(one, seeds={"ppo": 3}), two], ["a", "b"]) == known
    changed = [
        suite_hash([one, two], ["a", "c"]),
        suite_hash([one], ["a"]),
        *(
            suite_hash([replace(one, **change), two], ["a", "b"])  # type: ignore[arg-type]
            for change in (
                {"timesteps": 101},
                {"self_play": True},
                {"env_kwargs": {"limit": 3}},
            )
        ),
    ]
    assert len({known, *changed}) == 6


def test_the_suites_of_this_package_are_those_that_it_declares() -> None:
    folder = Path(__file__).parents[2] / "solvent" / "games" / "suites"
    declared = tomllib.loads((folder.parents[2] / "pyproject.toml").read_text())
    group = declared["project"]["entry-points"]["solvent.suites"]
    assert {file.stem for file in folder.glob("*.toml")} == set(group)
    assert set(group) <= set(declared_names("solvent.suites"))
    for name in group:
        suite = find_suite(name)
        assert all(task.timesteps and task.seeds for task in suite.tasks)


def test_seeds_follow_from_the_hash() -> None:
    """A longer list begins with the shorter one, each number is there once, all fit a learner."""
    seeds = suite_seeds("ab" * 32, 10_000)
    assert suite_seeds("ab" * 32, 3) == seeds[:3]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert not set(suite_seeds("ab" * 32, 10)) & set(suite_seeds("cd" * 32, 10))
    assert tuning_seed("ab" * 32, 0) != tuning_seed("ab" * 32, 1)
    assert all(max(seeds) < tuning_seed("ab" * 32, number) < 2**31 for number in range(100))


def test_a_tier_has_the_tasks_of_its_suite_and_settings_of_its_own(tmp_path: Path) -> None:
    core, mini = find_suite("core"), find_suite("core-mini")
    budgets = {task.timesteps for task in mini.tasks}
    assert len(budgets) == 1
    assert mini.tasks == core.with_timesteps(*budgets).tasks  # type: ignore[arg-type]
    assert find_suite("core@123") == core.with_timesteps(123)
    with pytest.raises(ValueError, match="'core@many'; its budget has to be a number of steps"):
        find_suite("core@many")
    file = tmp_path / "mine.toml"
    own = '[algorithms.ppo]\ntuning = "by hand"\nsettings = { n_envs = 4 }\n'
    file.write_text(GOOD + own)
    expected = {"ppo": Setting({"n_envs": 4}, "by hand")}
    assert find_suite(str(file)).algorithms == expected
    file.write_text("format = 1\n" + own)
    assert read_settings(file) == expected
