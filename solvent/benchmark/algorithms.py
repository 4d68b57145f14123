"""Algorithms for a benchmark: their form, their arguments, and their runs.

An algorithm is a function ``(make, seed, budget, callback) -> policy``:

``make``
    makes environments of the task (:class:`MakeEnv`);
``seed``
    is the seed of everything random in the run;
``budget``
    is the number of environment steps (:class:`Budget`);
``callback(policy, timesteps)``
    is to be called regularly: it scores a policy exactly and adds a point to the learning curve
    (:class:`RunCallback`).

The algorithm returns, and passes to ``callback``, any policy that can be scored
(:mod:`solvent.benchmark.policies`). Its further parameters are its hyperparameters. They need
defaults and are recorded.

A package lists its algorithms among its entry points::

    [project.entry-points."solvent.algorithms"]
    mine = "my_package.learning:mine"

An algorithm that no package declares is named by its place: ``"my_package.learning:mine"`` or
``"folder/file.py:mine"``. To declare what an algorithm supports, use an :class:`Algorithm` instead
of the function, or give the function attributes with the names of its fields.

**A run** has a folder, ``<task>/<algorithm>-<seed>`` within that of the bench:

============================  ================================================================
``run.json``                  the request, the versions, the machine, and the result
``curve.csv``                 the learning curve (:mod:`solvent.exact.learning_curve`)
``policy.npz``                the policy that was returned, as a table
``policy_mode.npz``           its greedy policy
``own/``                      the algorithm's own files, such as checkpoints
============================  ================================================================

In self-play each seat has its own files, ``policy_0.npz`` and so on.

An interrupted run is called again, and finds the files of its earlier call in ``own/``. With or
without such files, equal seeds have to give equal policies. An algorithm without files of its own
starts again from the beginning. A finished run is read back, and its policies are scored again. If
the source of the algorithm has changed, the folder is refused.

If an algorithm saw the solution of its game, its name gets a suffix
(:mod:`solvent.benchmark.run_folder`).
"""

import gc
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import gymnasium as gym

from solvent.benchmark.policies import (
    Learned,
    figures_of_run,
    learned_policies,
    policy_files,
    run_policies,
)
from solvent.benchmark.progress import Moment, Report
from solvent.benchmark.records import AgentRecord, FailureRecord, Outcome
from solvent.benchmark.run_folder import (
    GIVEN,
    OPPONENT,
    RECORD,
    RunFolder,
    meets_solution,
    named,
    request_beside,
    saw_solution,
    seen_of_solution,
)
from solvent.benchmark.suites import Setting, Task, TaskGame, task_game
from solvent.envs.env import Env
from solvent.envs.registration import ENVIRONMENTS, aec_env, parallel_env
from solvent.envs.vector_env import VectorEnv
from solvent.exact import StoreError, save_policy
from solvent.exact.layered.cluster import source_hash
from solvent.exact.learning_curve import CurvePoint, Evaluation, read_curve, write_curve
from solvent.model import TabularGame
from solvent.model.parameters import brief, check_choice, check_integer, is_number, shown
from solvent.model.registry import declared_names, load_place, names_a_place
from solvent.registration import register_envs

GROUP = "solvent.algorithms"
"""The group of entry points under which packages declare their algorithms."""

# The arguments of every algorithm.
_ARGUMENTS = ("make", "seed", "budget", "callback")


@dataclass(frozen=True, slots=True)
class Budget:
    """The training budget of an algorithm.

    Attributes:
        timesteps: Environment steps, in all environments together. For an algorithm that uses the
            table, each update of a state counts as one step.
    """

    timesteps: int


@dataclass(frozen=True)
class Algorithm:
    """An algorithm, and what it supports.

    Attributes:
        run: The function.
        one_seat: Whether it can learn a one-player game, or one seat against an opponent who does
            not learn.
        self_play: Whether it can learn both seats of a two-player game.
        uses_model: Whether it needs the table of the game, ``make.table``. Its results are then
            marked, to distinguish it from algorithms that learn only from episodes.
        masked: Whether it uses action masks.
        observation: Default observation type of its environments, and of the policies that it
            returns as functions: ``"vector"``, ``"onehot"`` or ``"index"``.
        refuses: A function from a :class:`solvent.benchmark.suites.TaskGame` to the reason why the
            algorithm cannot learn it, or to None if it can.
    """

    run: Callable[..., Any]
    one_seat: bool = True
    self_play: bool = False
    uses_model: bool = False
    masked: bool = False
    observation: str = "vector"
    refuses: Callable[[TaskGame], str | None] | None = None

    @property
    def source(self) -> str:
        """A short hash of the source of the function's file, or of its package if it has one."""
        run = self.run
        while isinstance(run, partial):
            run = run.func
        return source_hash(run.__module__)

    def hyperparameters(self) -> dict[str, Any]:
        """Return the parameters of the function that are its own, with their values.

        Raises:
            ValueError: If the function does not have the parameters of an algorithm.
        """
        parameters = list(inspect.signature(self.run).parameters.values())
        first, others = parameters[: len(_ARGUMENTS)], parameters[len(_ARGUMENTS) :]
        fits = len(first) == len(_ARGUMENTS) and all(
            one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in first
        )
        own = [one for one in others if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        # The signature of a partial function does not show the values in its **settings.
        given = self.run.keywords if isinstance(self.run, partial) else {}
        if not fits or any(one.default is one.empty for one in own):
            raise ValueError(
                f"an algorithm is a function of {', '.join(_ARGUMENTS)} and of parameters with "
                f"defaults, not of {inspect.signature(self.run)}"
            )
        return {one.name: one.default for one in own} | given

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return the algorithm with other values of hyperparameters.

        Args:
            settings: The values by name.

        Raises:
            ValueError: If the function has no such parameter.
        """
        kinds = {one.kind for one in inspect.signature(self.run).parameters.values()}
        for name in settings if inspect.Parameter.VAR_KEYWORD not in kinds else ():
            check_choice(name, "hyperparameter", self.hyperparameters())
        return replace(self, run=partial(self.run, **settings)) if settings else self

    def refusal(self, game: TaskGame) -> str | None:
        """Return the reason why the algorithm cannot learn a task; None if it can."""
        if game.task.self_play and not self.self_play:
            return "it does not learn by self-play"
        if not game.task.self_play and not self.one_seat:
            return "it learns by self-play only"
        return None if self.refuses is None else self.refuses(game)


def as_algorithm(found: Any, name: str) -> Algorithm:
    """Return an algorithm in the form of an :class:`Algorithm`.

    Args:
        found: An :class:`Algorithm`, or a function.
        name: Name in messages.

    Raises:
        ValueError: If it is something else.
    """
    algorithm = found if isinstance(found, Algorithm) else None
    if algorithm is None:
        if not callable(found) or inspect.isclass(found):
            raise ValueError(
                f"the algorithm {name} is {shown(found)}; allowed are a function of "
                f"{', '.join(_ARGUMENTS)} and an Algorithm"
            )
        known = [one.name for one in fields(Algorithm) if one.name != "run"]
        stated = {field: getattr(found, field) for field in known if hasattr(found, field)}
        algorithm = Algorithm(found, **stated)
    try:
        algorithm.hyperparameters()
    except ValueError as error:
        raise ValueError(f"the algorithm {name}: {error}") from error
    return algorithm


def find_algorithm(name: str) -> Algorithm:
    """Find an algorithm by its name or its place.

    Args:
        name: Name that a package declares, ``"module:function"`` or ``"file.py:function"``.

    Raises:
        ValueError: If nothing is found, or it is not an algorithm.
        ModuleNotFoundError: If it needs a package that is not installed.
    """
    if names_a_place(name):
        _, found = load_place(name, "algorithm")
        if found is None:
            raise ValueError(f"{name}: write {name}:NAME for one function of the file")
        return as_algorithm(found, name)
    points = declared_names(GROUP)
    point = points[check_choice(name, "algorithm", points)]
    try:
        found = point.load()
    except ModuleNotFoundError:
        raise
    except Exception as error:  # Somebody else's package may raise anything.
        what = f"{type(error).__name__}: {brief(str(error))}"
        raise ValueError(
            f"the algorithm {name} of {point.value} cannot be loaded: {what}"
        ) from error
    return as_algorithm(found, name)


def plain_name(name: str) -> str:
    """Return the name in tables and folders; for a place, the name after the colon."""
    return name.rpartition(":")[2] if names_a_place(name) else name


class MakeEnv:
    """Makes environments of a task.

    A call makes one Gymnasium environment, with the arguments of the task unless others are
    given. Its episodes end by the rules, without a time limit.

    Args:
        game: The game of the task.
        algorithm: The algorithm that learns.

    Attributes:
        task: The task: the id of the environment, whether it is self-play and so on.
        player: The player that learns, 0 or 1; 0 in self-play, where both do.
        observation: Default observation type of the environments.
        given: Descriptions of what the environments made so far give from the solution.
    """

    def __init__(self, game: TaskGame, algorithm: Algorithm) -> None:
        self._game, self._uses_model = game, algorithm.uses_model
        self.task, self.given = game.task, set[str]()
        self.player = game.seats[0]
        self.observation = algorithm.observation

    def __call__(self, **arguments: Any) -> Any:
        """Make a Gymnasium environment.

        Args:
            arguments: Arguments of the environment, instead of the task's.

        Raises:
            ValueError: If the task is self-play.
        """
        return self._one_seat("make()", gym.make, Env, arguments)

    def vector(self, num_envs: int, **arguments: Any) -> VectorEnv:
        """Make a vector environment.

        Args:
            num_envs: Number of environments.
            arguments: Arguments of the environment, instead of the task's.

        Raises:
            ValueError: If the task is self-play.
        """
        own = {"num_envs": num_envs, **arguments}
        return cast(VectorEnv, self._one_seat("make.vector()", gym.make_vec, VectorEnv, own))

    def aec(self, **arguments: Any) -> Any:
        """Make a PettingZoo environment in which the agents take turns, for self-play.

        Args:
            arguments: Arguments of the environment, instead of the task's.

        Raises:
            ValueError: If the task is not self-play.
        """
        return self._of_two(aec_env, "make.aec()", arguments)

    def parallel(self, **arguments: Any) -> Any:
        """Make a PettingZoo environment in which both agents act at once, for self-play.

        Args:
            arguments: Arguments of the environment, instead of the task's.

        Raises:
            ValueError: If the task is not self-play, or players of the game take turns.
        """
        return self._of_two(parallel_env, "make.parallel()", arguments)

    @property
    def table(self) -> TabularGame:
        """The game as arrays, on which policies are scored; one opponent is folded into chance.

        Raises:
            ValueError: If the algorithm does not say that it uses the model.
        """
        if not self._uses_model:
            raise ValueError(
                "make.table is for an algorithm that says that it uses the model (uses_model=True)"
            )
        return self._game.table

    @property
    def simulator(self) -> TabularGame:
        """The same table, for a compiled loop that uses it only to draw episodes."""
        return self._game.table

    def has_opponent(self, env_kwargs: Mapping[str, Any]) -> bool:
        """Return whether arguments name the task's opponent, the same for every algorithm.

        Args:
            env_kwargs: Arguments of an environment.
        """
        own = self.task.env_kwargs.get("opponent")
        return not self.task.self_play and env_kwargs.get("opponent") == own

    def _of_env(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        published = self.task.environment not in ENVIRONMENTS
        own = {} if published else self.task.env_kwargs
        return {"observation": self.observation, **own, **arguments}

    def _of_two(self, made: Callable[..., Any], what: str, arguments: Mapping[str, Any]) -> Any:
        if not self.task.self_play:
            raise ValueError(f"{what} is for self-play; task {self.task.name} has make()")
        entry = ENVIRONMENTS[self.task.environment]
        return made(entry.game, **{**entry.parameters, **self._of_env(arguments)})

    def _one_seat(
        self,
        what: str,
        by_id: Callable[..., Any],
        of_table: Callable[..., Any],
        arguments: Mapping[str, Any],
    ) -> Any:
        if self.task.self_play:
            raise ValueError(
                f"{what} is for one seat; task {self.task.name} is self-play and has make.aec() "
                f"and make.parallel()"
            )
        own = self._of_env(arguments)
        if self.task.environment not in ENVIRONMENTS:
            return of_table(self._game.table, rules=self._game.rules, **own)
        register_envs()
        made = by_id(self.task.environment, **own)
        if not self.has_opponent(own) and meets_solution(made):
            self.given.add(OPPONENT)
        return made


# The folder of an algorithm's own files, inside the folder of the run.
_OWN = "own"

# The entries of a training's request besides its settings.
_IDENTITY = {
    "algorithm", "seed", "hyperparameters", "environment", "model_hash", "env_kwargs", "opponent",
}  # fmt: skip

# Largest number of characters of an exception's message in a record.
_LONGEST_ERROR = 1000


@dataclass(frozen=True)
class Run:
    """A task, an algorithm and a seed.

    Attributes:
        task: The task to learn.
        algorithm: Name of the algorithm in tables and folders.
        source: The algorithm, or its name or place as :func:`find_algorithm` takes it.
        seed: Seed of everything random in the run.
        setting: Settings of the algorithm.
    """

    task: Task
    algorithm: str
    source: str | Callable[..., Any] | Algorithm = field(compare=False)
    seed: int
    setting: Setting = field(default_factory=Setting, compare=False)

    @property
    def budget(self) -> Budget:
        """Budget for learning, which the task must have."""
        assert self.task.timesteps is not None
        return Budget(self.task.timesteps)

    @property
    def folder(self) -> str:
        """Folder of the run, relative to that of the bench."""
        return f"{self.task.name}/{self.algorithm}-{self.seed}"

    @property
    def name(self) -> str:
        """Name of the run in progress displays."""
        return f"{self.task.name} {self.algorithm} {self.seed}"

    def found(self) -> Algorithm:
        """The algorithm with its settings.

        Raises:
            ValueError: If there is none, or it has no such settings.
        """
        found = (
            find_algorithm(self.source)
            if isinstance(self.source, str)
            else as_algorithm(self.source, self.algorithm)
        )
        return found.with_settings(self.setting.settings)


class RunCallback:
    """The callback that an algorithm calls regularly.

    It returns nothing, so that the learner does not see the exact scores.

    Args:
        game: The game of the task.
        algorithm: The algorithm that learns.
        budget: Budget for learning.
        folder: Folder of the run.
        name: Name of the policies in tables and figures.
        report: A function called with the progress of the run. Its exceptions end the run.

    Attributes:
        folder: Folder for the algorithm's own files, such as checkpoints.
        curve: The learning curve so far, including the points before an interruption.
        hyperparameters: Hyperparameters of the algorithm.
        make: Makes the environments of the run.
    """

    def __init__(
        self,
        game: TaskGame,
        algorithm: Algorithm,
        budget: Budget,
        folder: Path,
        name: str,
        report: Report | None = None,
    ) -> None:
        self._game, self._algorithm, self._budget = game, algorithm, budget
        self.make = MakeEnv(game, algorithm)
        self._path, self._name, self._report = folder / "curve.csv", name, report
        self.folder = folder / _OWN
        self.folder.mkdir(parents=True, exist_ok=True)
        self._resumed = any(self.folder.iterdir())
        self.hyperparameters = algorithm.hyperparameters()
        self.curve: list[Evaluation] = (
            list(read_curve(self._path, Evaluation)) if self._path.exists() else []
        )
        self._began, self._before = _cpu_seconds(), 0.0
        self._reported: int | None = None

    @property
    def seconds(self) -> float:
        """CPU time of the run so far, including evaluations and the time before an interruption."""
        return self._before + _cpu_seconds() - self._began

    @property
    def settings(self) -> dict[str, Any]:
        """The hyperparameters, with the request of a :func:`solvent.training.train` in `folder`.

        So an algorithm that trains with it need not :meth:`note` its hyperparameters. What an
        opponent other than the task's gave from the solution is an entry of its own, and so is what
        an earlier one of several trainings was given.
        """
        found, given = dict(self.hyperparameters), set(self.make.given)
        for path in sorted(self.folder.rglob(RECORD)):
            asked = request_beside(path) or {}
            same = self.make.has_opponent(asked.get("env_kwargs", {}))
            given.update(seen_of_solution(asked | {"env_kwargs": None} if same else asked))
            found |= asked.get("hyperparameters", {})
            found |= {key: value for key, value in asked.items() if key not in _IDENTITY}
        if given.difference(seen_of_solution(found)):
            found[GIVEN] = ", ".join(sorted(given))
        return found

    def __call__(self, policy: Any, timesteps: int) -> None:
        """Score a policy exactly and add a point to the learning curve.

        Args:
            policy: A policy in a form that :mod:`solvent.benchmark.policies` allows.
            timesteps: Environment steps taken so far.

        Raises:
            ValueError: If it is no policy for the game, or `timesteps` is no number of steps.
        """
        check_integer(timesteps, "timesteps", 0, 10**15)
        self._resume_at(timesteps, timesteps - 1)
        self._evaluate(policy, timesteps)
        self.progress(timesteps)

    def progress(self, timesteps: int, latest: CurvePoint | None = None) -> None:
        """Report the progress of the run, without a score.

        Args:
            timesteps: Environment steps taken so far.
            latest: The last point of the learning curve, if the algorithm makes its own. Default:
                the last point of `curve`.
        """
        check_integer(timesteps, "timesteps", 0, 10**15)
        self._resume_at(timesteps, timesteps)
        self._reported = timesteps
        if self._report is not None:
            total = self._budget.timesteps
            if latest is None and self.curve:
                latest = self.curve[-1]
            self._report(Moment(timesteps, max(timesteps, total), latest, self._resumed))

    def note(self, **hyperparameters: Any) -> None:
        """Record hyperparameters that are not parameters of the function.

        Args:
            hyperparameters: Further hyperparameters by name; JSON-able.
        """
        self.hyperparameters |= hyperparameters

    def adopt(self, curve: Iterable[Evaluation]) -> None:
        """Use the learning curve of an algorithm that scores its policies itself.

        Args:
            curve: The whole curve, with the CPU time of the whole run.
        """
        self.curve = [
            Evaluation(at.timesteps, at.value, at.gap, at.mode_value, at.mode_gap, at.seconds)
            for at in curve
        ]
        self._reported = self.curve[-1].timesteps
        self._before, self._began = self.curve[-1].seconds, _cpu_seconds()

    def end(self, policy: Any) -> tuple[Learned, ...]:
        """Score the returned policy, at the last step that was reported.

        Args:
            policy: A policy in a form that :mod:`solvent.benchmark.policies` allows.
        """
        steps = self._reported
        if steps is None:
            # A run that is resumed after its last step reports nothing.
            done = self.curve[-1:] if self._resumed else []
            steps = done[0].timesteps if done else self._budget.timesteps
        self._resume_at(steps, steps)
        policies = self._evaluate(policy, steps)
        self.progress(steps)
        return policies

    def _evaluate(self, policy: Any, timesteps: int) -> tuple[Learned, ...]:
        seen = self._algorithm.observation
        policies = learned_policies(self._game, policy, name=self._name, observation=seen)
        found = figures_of_run(self._game, policies)
        exact = {name: found[name] for name in ("value", "gap", "mode_value", "mode_gap")}
        point = Evaluation(timesteps=timesteps, seconds=self.seconds, **exact)
        self.curve = [one for one in self.curve if one.timesteps < timesteps] + [point]
        write_curve(self._path, self.curve, Evaluation, saw=saw_solution(self.settings))
        return policies

    def _resume_at(self, timesteps: int, last: int) -> None:
        """At the first report, drop the points of an interrupted run's curve after `last`."""
        if self._reported is None:
            self._reported = timesteps
            self.curve = [one for one in self.curve if one.timesteps <= last]
            self._before = self.curve[-1].seconds if self.curve else 0.0


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def perform(out: Path, run: Run, report: Report | None = None) -> AgentRecord:
    """Do a run, continue it, or read it back if it is finished.

    Args:
        out: The folder of the bench.
        run: The run to do.
        report: A function called with the progress of the run. Its exceptions end the run.

    Raises:
        ValueError: If the folder holds another run, or the algorithm returns no policy.
        CertificateError, ImproperGameError: If the task has no optimum that can be proved.
        StoreError: If a file in the folder is damaged or cannot be written, or another process
            uses the folder.
    """
    algorithm, game = run.found(), task_game(run.task)
    # All of this has to be equal for a run to be resumed.
    request = {
        "task": run.task.terms(),
        "model_hash": game.table.model_hash,
        "algorithm": run.algorithm,
        "source": algorithm.source,
        "seed": run.seed,
        "timesteps": run.budget.timesteps,
        "hyperparameters": as_json(algorithm.hyperparameters()),
    }
    folder = RunFolder(out / run.folder, request)
    held = folder.finish(lambda: _learn(folder, run, algorithm, game, report))
    return _read_back(folder, held, run, algorithm, game)


def _learn(
    folder: RunFolder, run: Run, algorithm: Algorithm, game: TaskGame, report: Report | None
) -> None:
    """Do or continue a run in its folder."""
    _ = game.solution  # Raises now if the game has none.
    place, name = folder.folder, f"{run.algorithm} {run.seed}"
    callback = RunCallback(game, algorithm, run.budget, place, name, report)
    try:
        returned = algorithm.run(callback.make, run.seed, run.budget, callback)
        policies = callback.end(returned)
    except (Exception, SystemExit):
        # Without files of its own, the run may start again with a corrected algorithm.
        if not any(callback.folder.iterdir()):
            folder.record.unlink(missing_ok=True)
            (place / "curve.csv").unlink(missing_ok=True)
        raise
    for paths, policy in zip(policy_files(place, game), policies, strict=True):
        save_policy(paths[0], policy.sampled)
        save_policy(paths[1], policy.mode)
    last = callback.curve[-1]
    settings = {"hyperparameters": as_json(callback.settings)}
    folder.write({"timesteps": last.timesteps, "cpu_seconds": last.seconds, **settings})


def attempted(out: Path, run: Run, report: Report | None = None) -> Outcome:
    """Do a run, and return its record or its failure.

    Args:
        out: The folder of the bench.
        run: The run to do.
        report: A function called with the progress of the run.
    """
    try:
        return perform(out, run, report)
    # An algorithm may raise anything, and one that was a script may call sys.exit().
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {brief(str(error), _LONGEST_ERROR)}"
        return FailureRecord(run.task.name, run.algorithm, run.seed, what)
    finally:
        # Models of Stable-Baselines3 refer to themselves, and a replay buffer has gigabytes.
        gc.collect()


def as_json(value: Any) -> Any:
    """Return hyperparameters as JSON; values that JSON cannot express become text."""
    match value:
        case None | bool() | str():
            return value
        case list() | tuple():
            return [as_json(item) for item in value]
        case dict():
            return {str(key): as_json(item) for key, item in value.items()}
        case _ if is_number(value):
            return value
    # The address in memory differs between processes.
    return getattr(value, "__qualname__", None) or re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _read_back(
    folder: RunFolder, held: dict[str, Any], run: Run, algorithm: Algorithm, game: TaskGame
) -> AgentRecord:
    """Return the record of a finished run, its figures computed from its policies."""
    result = held["result"]
    hyperparameters = result.get("hyperparameters")
    system = {"versions": held.get("versions"), "hardware": held.get("hardware")}
    for what in (hyperparameters, *system.values()):
        if not isinstance(what, dict):
            raise StoreError(f"{folder.record}: not the record of a run, or damaged")
    shown_as = named(run.algorithm, hyperparameters)
    return AgentRecord(
        name=f"{shown_as} {run.seed}",
        algorithm=shown_as,
        seed=run.seed,
        **figures_of_run(game, run_policies(folder.folder, game)),
        timesteps=result["timesteps"],
        cpu_seconds=round(result["cpu_seconds"], 1),
        folder=run.folder,
        uses_model=algorithm.uses_model,
        masked=algorithm.masked,
        hyperparameters=hyperparameters,
        system=system,
        setting=run.setting,
    )
