"""Algorithms for a benchmark: their form and their arguments.

An algorithm is a function ``(make, seed, budget, callback) -> policy``:

``make``
    makes environments of the task (:class:`MakeEnv`);
``seed``
    decides all that is random in the run;
``budget``
    says how long it may learn (:class:`Budget`);
``callback(policy, timesteps)``
    is called from time to time: it scores a policy exactly and puts it on the learning curve
    (:class:`solvent.benchmark.run.RunCallback`).

It returns, and passes to ``callback``, any policy that can be scored
(:mod:`solvent.benchmark.policies`). Its further parameters, which need defaults, are its
hyperparameters and are recorded.

A package lists its algorithms among its entry points::

    [project.entry-points."solvent.algorithms"]
    mine = "my_package.learning:mine"

One that no package declares is named by its place: ``"my_package.learning:mine"`` or
``"folder/file.py:mine"``. The abilities of an algorithm are declared by an :class:`Algorithm`
instead of the function, or by attributes of the function with the names of its fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from solvent.benchmark.suites import Task, TaskGame
from solvent.envs.env import Env
from solvent.envs.registration import ENVIRONMENTS, aec_env, parallel_env
from solvent.exact.layered.cluster import source_hash
from solvent.model import TabularGame
from solvent.model.parameters import brief, check_choice, shown
from solvent.model.registry import declared_names, load_place, names_a_place
from solvent.registration import register_envs

if TYPE_CHECKING:
    from solvent.envs.vector_env import VectorEnv

GROUP = "solvent.algorithms"
"""The group of entry points under which packages declare their algorithms."""

GIVEN = ("make", "seed", "budget", "callback")
"""The arguments of every algorithm."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The training budget of an algorithm.

    Attributes:
        timesteps: Environment steps, in all environments together. For one that uses the table,
            each update of a state counts as one step.
        cpu_seconds: Seconds of CPU; None if unlimited.
    """

    timesteps: int
    cpu_seconds: float | None = None


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and the facts about it that a benchmark needs.

    Attributes:
        run: The function.
        one_seat: Whether it can learn a game for one player, or one seat against an opponent who
            does not learn.
        self_play: Whether it can learn both seats of a game for two.
        uses_model: Whether it needs the table of the game, ``make.table``: its results are
            marked apart from those of algorithms that only learn from episodes.
        masked: Whether it is told the legal actions.
        observation: Default observation type of environments, and that of a policy that it returns
            as a function: ``"vector"``, ``"onehot"`` or ``"index"``.
        refuses: A function from a :class:`solvent.benchmark.suites.TaskGame` to the reason why
            it cannot be learned, or to None if it can.
        timesteps: A function from a task to the steps that it is tuned for, for tasks without a
            budget; None if it is tuned for none.
    """

    run: Callable[..., Any]
    one_seat: bool = True
    self_play: bool = False
    uses_model: bool = False
    masked: bool = False
    observation: str = "vector"
    refuses: Callable[[TaskGame], str | None] | None = None
    timesteps: Callable[[Task], int] | None = None

    @property
    def source(self) -> str:
        """A short hash of the source of the function's file, or of the package that it is part of.

        A run belongs to the code that made it.
        """
        run = self.run
        while isinstance(run, partial):
            run = run.func
        return source_hash(run.__module__)

    def hyperparameters(self) -> dict[str, Any]:
        """The parameters of the function besides those of every algorithm.

        Raises:
            ValueError: If it cannot be called so; the message says how it has to be.
        """
        parameters = list(inspect.signature(self.run).parameters.values())
        first, others = parameters[: len(GIVEN)], parameters[len(GIVEN) :]
        fits = len(first) == len(GIVEN) and all(
            one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in first
        )
        own = [one for one in others if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        # The signature of a partial function does not show what went into its **settings.
        given = self.run.keywords if isinstance(self.run, partial) else {}
        if not fits or any(one.default is one.empty for one in own):
            raise ValueError(
                f"an algorithm is a function of {', '.join(GIVEN)} and of parameters with "
                f"defaults, not of {inspect.signature(self.run)}"
            )
        return {one.name: one.default for one in own} | given

    def with_settings(self, settings: Mapping[str, Any]) -> Algorithm:
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
        """Return why it cannot learn a task; None if it can."""
        if game.task.self_play and not self.self_play:
            return "it does not learn by self-play"
        if not game.task.self_play and not self.one_seat:
            return "it learns by self-play only"
        return None if self.refuses is None else self.refuses(game)

    def budget(self, task: Task) -> Budget:
        """Return its budget for a task.

        Raises:
            ValueError: If neither the task nor the algorithm says so.
        """
        steps = task.timesteps
        if steps is None and self.timesteps is not None:
            steps = self.timesteps(task)
        if steps is None:
            raise ValueError(f"task {task.name} has no budget; say how many timesteps")
        return Budget(steps, task.cpu_seconds)


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
                f"{', '.join(GIVEN)} and an Algorithm"
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
    """

    def __init__(self, game: TaskGame, algorithm: Algorithm) -> None:
        self._game, self._uses_model = game, algorithm.uses_model
        self.task = game.task
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
        from solvent.envs.vector_env import VectorEnv

        own = {"num_envs": num_envs, **arguments}
        made: VectorEnv = self._one_seat("make.vector()", gym.make_vec, VectorEnv, own)
        return made

    def aec(self, **arguments: Any) -> Any:
        """Make a PettingZoo environment in which one agent acts after the other, for self-play.

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
        """The same arrays for a compiled loop that draws episodes from them, and reads no more."""
        return self._game.table

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
        return by_id(self.task.environment, **own)
