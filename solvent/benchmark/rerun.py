"""Training some runs of a submission again.

A check of scores does not tell where policies come from. Whoever has the code of an algorithm can
train a few runs anew, with the same seeds and budgets, and compare. The code is run because the
person names it or has installed it. A submission names no code, only a hash that it has to have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

import numpy as np

from solvent.benchmark.algorithms import algorithm_points, find_algorithm
from solvent.benchmark.policies import Learned
from solvent.benchmark.policy_arrays import decisions_of, read_policies
from solvent.benchmark.privilege import MARK
from solvent.benchmark.run import Run, perform, run_policies
from solvent.benchmark.submissions import POLICIES, Submission, suite_of
from solvent.benchmark.suites import Suite
from solvent.benchmark.task_game import TaskGame, task_game
from solvent.exact.store import StoreError
from solvent.model.parameters import check_choice, check_integer


def train_again(
    submission: Submission,
    number: int,
    algorithm: str | None = None,
    suite: Suite | None = None,
) -> Iterator[tuple[str, int]]:
    """Train runs that are drawn at random, and compare their policies with those submitted.

    Args:
        submission: A checked submission.
        number: Number of runs; all of them if the submission has fewer.
        algorithm: The algorithm or its place, as for
            :func:`solvent.benchmark.algorithms.find_algorithm`. If left out, the one that an
            installed package declares under the name on the card.
        suite: The suite of the submission; the installed one of the name on the card if left out.

    Yields:
        The task and the seed of each run whose policies are those submitted.

    Raises:
        StoreError: If the algorithm is not of the source on the card, or a run ends with other
            policies.
        ValueError: If there is no such algorithm, or `number` is below 1.
    """
    check_integer(number, "number", 1, 10**6)
    card, folder = submission.card, submission.folder
    name = card.algorithm.removesuffix(MARK) if algorithm is None else algorithm
    if algorithm is None:
        check_choice(name, "algorithm", algorithm_points())
    found = find_algorithm(name)
    if found.source != card.source:
        raise StoreError(
            f"{folder}: was made by code of the source {card.source or 'not recorded'}; {name} has "
            f"the source {found.source}"
        )
    tasks = {task.name: task for task in suite_of(card, str(folder), suite).tasks}
    runs = [(task.name, agent) for task in submission.tasks for agent in task.agents]
    for task_name, agent in SystemRandom().sample(runs, min(number, len(runs))):
        task, game = tasks[task_name], task_game(tasks[task_name])
        path = folder / POLICIES / f"{task_name}.npz"
        submitted = read_policies(
            path, task_name, game.table, game.seats, card.seeds, [agent.seed]
        )[agent.seed]
        with TemporaryDirectory() as place:
            budget = found.budget(task)
            run = Run(task, card.algorithm, name, agent.seed, budget, agent.setting)
            record = perform(Path(place), run)
            trained = run_policies(Path(place) / run.folder, game)
        if record.timesteps != agent.timesteps or not _equal(game, trained, submitted):
            raise StoreError(
                f"{path}: seed {agent.seed}: trained again, it ends with other policies or steps: "
                f"value {record.value:.6g} after {record.timesteps:,} steps; submitted are "
                f"{agent.value:.6g} after {agent.timesteps:,}"
            )
        yield task_name, agent.seed


def _equal(game: TaskGame, trained: Sequence[Learned], submitted: Sequence[Learned]) -> bool:
    """Return whether policies are equal up to the rounding of packed policies."""
    decided = decisions_of(game.table, game.seats)
    for own, one, other in zip(decided, trained, submitted, strict=True):
        back = own.unpacked(*own.packed(one))
        apart = np.abs(back.sampled.probabilities - other.sampled.probabilities)
        if apart.max() > 1.5 / own.unit:
            return False
        if (back.mode.probabilities != other.mode.probabilities).any():
            return False
    return True
