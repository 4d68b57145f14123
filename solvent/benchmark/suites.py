"""Suites: sets of tasks for comparisons, as small data files that anyone can write.

A suite is a file of TOML::

    format = 1
    name = "quick"
    title = "A table of every kind, within minutes"

    [[tasks]]
    environment = "solvent/FFCombat-v0"
    timesteps = 300_000
    seeds = { ppo = 3, dqn = 3 }

    [[tasks]]
    environment = "solvent/GreedSmall-v0"
    self_play = true
    timesteps = 1_000_000
    seeds = { ppo = 1 }

The keys of a task are the attributes of :class:`Task`. A suite may have settings for algorithms,
the same for all of its tasks::

    [algorithms.ppo]
    tuning = "30 trials on this suite"
    settings = { n_envs = 16, learning_rate = "lin_0.002" }

A suite with the same tasks but another budget has ``tasks_of``, the name of the first suite,
instead of tasks, and ``timesteps``, the budget of each task. A package lists its suites among its
entry points, each with the package whose folder has ``<name>.toml``::

    [project.entry-points."solvent.suites"]
    nim = "nim_game.suites"

Results on two suites with the same :func:`suite_hash` can be compared. The hash covers the tasks,
their budgets, and the model hashes of the games that are scored, opponents included, so it changes
with the rules. It does not cover the default algorithms, seeds and settings. ``NAME@STEPS``, such
as ``core@20000``, is a suite with another budget.

:func:`task_game` makes the tables of a task: a :class:`TaskGame`, with the optimum for the scores.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from solvent.baselines.environments import make_vector_env
from solvent.benchmark.run_folder import validated
from solvent.envs.env import learned_seat
from solvent.envs.registration import ENVIRONMENTS, compiled_game, samples_table
from solvent.exact import Solution, cached_solution
from solvent.model import Game, TabularGame, cached_table
from solvent.model.files import find_data, read_data
from solvent.model.parameters import check_integer, shown
from solvent.model.registry import declared_names, game_specs, make_game, names_a_place

GROUP = "solvent.suites"
"""The group of entry points under which packages declare their suites."""

# Names that are allowed for a folder on every system.
_NAME = re.compile(r"[\w.-]{1,100}")


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task for an algorithm: an environment to learn and a budget.

    Attributes:
        environment: The Gymnasium id of an environment that has a table, one of Gymnasium's own
            such as ``"FrozenLake-v1"`` included.
        self_play: Whether both seats of a game for two are learned; otherwise one seat, against
            the environment's opponent, or the only one.
        env_kwargs: Arguments of the environment, such as ``opponent``, ``seat`` or a parameter of
            the game; JSON-able.
        timesteps: The budget in environment steps; None for a task that is not learned.
        seeds: Default number of seeds of each algorithm, by the algorithm's name.
        name: Name of the task, unique in its suite; also its folder. Default: the id without its
            namespace, with ``-self-play`` after it for self-play.

    Raises:
        ValueError: If one is not allowed.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    environment: str
    self_play: bool = False
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    timesteps: int | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        """Check the values; their types are checked where a file is read."""
        if not self.name:
            plain = re.sub(r"[^\w.-]", "-", self.environment.rpartition("/")[2])
            object.__setattr__(self, "name", plain + "-self-play" * self.self_play)
        if not _NAME.fullmatch(self.name) or "." in self.name[0]:
            raise ValueError(
                f"the name of a task is {shown(self.name)}; allowed are letters, digits, '.', '-' "
                f"and '_'"
            )
        try:
            json.dumps(self.env_kwargs)
        except TypeError as error:
            raise ValueError(f"{self.name}: env_kwargs has to be JSON-able: {error}") from None
        if self.timesteps is not None:
            check_integer(self.timesteps, f"{self.name}: timesteps", 1, 10**12)
        for algorithm, count in self.seeds.items():
            if names_a_place(str(algorithm)):
                raise ValueError(
                    f"{self.name}: seeds has {shown(algorithm)}; allowed are the names of "
                    f"algorithms that a package declares; run your own with --algorithm"
                )
            check_integer(count, f"{self.name}: the number of seeds of {algorithm}", 1, 10**6)

    def terms(self) -> dict[str, Any]:
        """The terms, as JSON, in which two results must agree to be compared."""
        return {
            "environment": self.environment,
            "self_play": self.self_play,
            "env_kwargs": dict(self.env_kwargs),
            "timesteps": self.timesteps,
            # Kept only so that hashes do not change.
            "cpu_seconds": None,
            "exploring_starts": 0.0,
        }


@dataclass(frozen=True)
class Setting:
    """The settings with which an algorithm is run on all tasks of a suite.

    Attributes:
        settings: Values of its hyperparameters by name; the others keep their defaults.
        tuning: Description of how they were chosen.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    settings: Mapping[str, Any] = field(default_factory=dict)
    tuning: str = ""


@dataclass(frozen=True)
class Suite:
    """Tasks with a name.

    Attributes:
        name: Name of the suite.
        title: Purpose of the suite, in a line.
        tasks: The tasks, in the order of the results.
        algorithms: Settings of algorithms, by the algorithm's name.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    name: str
    title: str
    tasks: tuple[Task, ...]
    algorithms: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the names of the tasks differ."""
        names = [task.name for task in self.tasks]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two tasks are called {name}; give one of them another name")

    def with_timesteps(self, timesteps: int) -> Self:
        """Return the suite with another budget, called ``NAME@STEPS``.

        Args:
            timesteps: Environment steps of every task.
        """
        tasks = tuple(replace(task, timesteps=timesteps) for task in self.tasks)
        return replace(self, name=f"{self.name.partition('@')[0]}@{timesteps}", tasks=tasks)


def find_suite(name: str) -> Suite:
    """Find a suite by its name, or read it from a file.

    Args:
        name: Name of a suite that a package declares, also with another budget (``core@20000``),
            or a path that ends in ``.toml``.

    Raises:
        ValueError: If there is no such suite, or its file is not one of a suite.
    """
    if name.endswith(".toml"):
        return _suite(read_data(Path(name)), name)
    plain = name.partition("@")[0]
    return with_budget(_suite(*find_data(plain, declared_names(GROUP), "suite")), name)


def with_budget(suite: Suite, name: str) -> Suite:
    """Return a suite with the budget that a name such as ``core@20000`` states, if it does.

    Args:
        suite: The suite.
        name: Name of the suite, with or without a budget.

    Raises:
        ValueError: If the budget is not a whole number from 1.
    """
    base, mark, steps = name.partition("@")
    if not mark or base != suite.name:
        return suite
    if not re.fullmatch("[1-9][0-9]{0,11}", steps):
        raise ValueError(f"the suite is {shown(name)}; its budget has to be a number of steps")
    return suite.with_timesteps(int(steps))


def read_settings(path: Path) -> Mapping[str, Setting]:
    """Read the ``[algorithms]`` of a file, which has the form that they have in a suite.

    Args:
        path: Path of the file.

    Raises:
        ValueError: If it cannot be read or is not a file of settings.
    """

    @dataclass(frozen=True)
    class Settings:
        algorithms: Mapping[str, Setting]

    return validated(Settings, read_data(path), path).algorithms


def _suite(held: Mapping[str, Any], where: str) -> Suite:
    own = {key: held[key] for key in held if key != "format"}
    if "tasks_of" in own:
        # Another tier of a suite: the same tasks with another budget.
        try:
            base = find_suite(str(own.pop("tasks_of"))).with_timesteps(own.pop("timesteps", 0))
        except RecursionError:
            raise ValueError(f"{where}: tasks_of leads back to the suite itself") from None
        return replace(validated(Suite, {"tasks": [], **own}, where), tasks=base.tasks)
    suite = validated(Suite, own, where)
    if not suite.tasks or not suite.name:
        raise ValueError(f"{where}: a suite has a name and at least one of [[tasks]]")
    return suite


def suite_hash(tasks: Sequence[Task], model_hashes: Sequence[str]) -> str:
    """Return the hash in which two suites must agree for their results to be compared.

    Args:
        tasks: Tasks of the suite.
        model_hashes: Hash of the table on which each task's policies are scored.

    Returns:
        A SHA-256 in hexadecimal digits; the order of the tasks does not matter.
    """
    terms = sorted(
        json.dumps({**task.terms(), "model_hash": model_hash}, sort_keys=True)
        for task, model_hash in zip(tasks, model_hashes, strict=True)
    )
    return hashlib.sha256("\n".join(terms).encode()).hexdigest()


def suite_seeds(hash_of_suite: str, count: int) -> tuple[int, ...]:
    """Return the seeds with which a suite is run; no one can choose them.

    Args:
        hash_of_suite: Hash of the suite, from :func:`suite_hash`.
        count: Number of seeds.
    """
    found: dict[int, None] = {}
    number = 0
    while len(found) < count:
        digest = hashlib.sha256(f"{hash_of_suite} {number}".encode()).digest()
        found[int.from_bytes(digest[:3])] = None
        number += 1
    return tuple(found)


def tuning_seed(hash_of_suite: str, number: int) -> int:
    """Return a seed for choosing settings on a suite; it is never one of :func:`suite_seeds`.

    Args:
        hash_of_suite: Hash of the suite, from :func:`suite_hash`.
        number: Number of the seed.
    """
    digest = hashlib.sha256(f"{hash_of_suite} tuning {number}".encode()).digest()
    # Seeds of a suite have three bytes, so that one above them is not among them.
    return 2**24 + int.from_bytes(digest[:3])


@dataclass(frozen=True, eq=False)
class TaskGame:
    """The tables of a task.

    Attributes:
        task: The task.
        rules: Rules of the game that is played.
        table: The table on which policies are scored; with one opponent, that opponent is folded
            into chance.
        played: The table of the game that is played.
        seats: The players that learn: one, or both in self-play.
    """

    task: Task
    rules: Game
    table: TabularGame
    played: TabularGame
    seats: tuple[int, ...]

    @cached_property
    def solution(self) -> Solution:
        """The optimum of `table`, solved once on each machine, and read once."""
        return cached_solution(self.table)

    @property
    def optimum(self) -> tuple[float, float, float]:
        """The value of `table` to the first learner, and its certified bracket."""
        found = self.solution
        if self.seats[0] == 1:
            return -found.value, -found.upper, -found.lower
        return found.value, found.lower, found.upper


def task_game(task: Task) -> TaskGame:
    """Return the tables of a task.

    Args:
        task: The task.

    Raises:
        ValueError: If there is no such environment, it has no table, or an argument is not one of
            its own; the message names the task.
    """
    try:
        return _task_game(task)
    except ValueError as error:
        raise ValueError(f"task {task.name}: {error}") from error


def _task_game(task: Task) -> TaskGame:
    if task.environment not in ENVIRONMENTS:
        if task.self_play:
            raise ValueError(
                f"environment is {shown(task.environment)}; self-play needs a game for two"
            )
        if names_a_place(task.environment) and task.environment not in game_specs():
            raise ValueError(
                f"environment is {shown(task.environment)}, the place of a game; allowed are "
                f"registered names: install the game with its spec (docs, Your own game)"
            )
        rules = make_game(task.environment, **task.env_kwargs)
        if rules.info.players == 2:
            known = [name for name, one in ENVIRONMENTS.items() if one.game == rules.info.name]
            raise ValueError(
                f"environment is {shown(task.environment)}, a game for two without an opponent; "
                f"allowed are its environments: {', '.join(known) or 'none'}"
            )
        table = cached_table(rules)
        return TaskGame(task, rules, table, table, (0,))
    entry = ENVIRONMENTS[task.environment]
    if not samples_table(task.environment):
        raise ValueError(
            f"environment is {shown(task.environment)}; allowed are those that sample a table"
        )
    if task.self_play:
        rules, table = compiled_game(entry.game, {**entry.parameters, **task.env_kwargs})
        if rules.info.players != 2:
            raise ValueError(f"{table.info.name} is a game for one; self-play needs one for two")
        return TaskGame(task, rules, table, table, (0, 1))
    own = {name: value for name, value in entry.kwargs.items() if name != "game"}
    try:
        # A file may not replace the entry's game by another one, whose code would run.
        env = make_vector_env(entry.game, 1, **{**own, **task.env_kwargs})
    except TypeError as error:
        raise ValueError(f"env_kwargs is {shown(task.env_kwargs)}: {error}") from error
    seat = learned_seat(env)
    assert env.rules is not None
    return TaskGame(task, env.rules, seat.left, seat.game, (seat.player,))
