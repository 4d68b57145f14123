"""The game of a task, and the table on which its policies are scored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from solvent.baselines.environments import make_vector_env
from solvent.benchmark.suites import Task
from solvent.envs.env import learned_seat
from solvent.envs.registration import ENVIRONMENTS, compiled_game, samples_table
from solvent.exact import Solution, cached_solution
from solvent.model import Game, TabularGame, cached_table
from solvent.model.parameters import shown
from solvent.model.registry import check_registered, make_game


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
        rules = make_game(check_registered(task.environment, "environment"), **task.env_kwargs)
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
        # A file may not put another game, whose code would run, in the place of the entry's.
        env = make_vector_env(entry.game, **{**own, **task.env_kwargs})
    except TypeError as error:
        raise ValueError(f"env_kwargs is {shown(task.env_kwargs)}: {error}") from error
    seat = learned_seat(env)
    env.close()
    assert env.rules is not None
    return TaskGame(task, env.rules, seat.left, seat.game, (seat.player,))
