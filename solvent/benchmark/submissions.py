"""Submissions: what somebody's algorithm has learned, small, checkable, and nothing that runs.

A submission is a folder with three kinds of files and no others::

    card.json              who did what (solvent.benchmark.card)
    results.json           the figures claimed for every run (solvent.benchmark.records)
    policies/<task>.npz    the policies of a task's runs (solvent.benchmark.policy_arrays)

:func:`pack_submission` makes one from the folder of a bench. :func:`check_submission` believes
nothing of it. Each game of the suite is solved here, each policy is scored exactly, and what
differs from the claim is refused. Steps and CPU time cannot be recomputed; they are as stated. So
is whether a learner saw the model or the solution.

The figures are those of the policies in the submission, whose probabilities are rounded to
1/65535, and not of the networks that they were taken from.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite, isnan
from pathlib import Path
from typing import Any

from solvent.benchmark import card as cards
from solvent.benchmark.card import Card, read_card, write_card
from solvent.benchmark.policy_arrays import RunPolicies, read_policies, write_policies
from solvent.benchmark.records import (
    FILE,
    AgentRecord,
    BenchRecord,
    SuiteRecord,
    TaskRecord,
    figures,
    read_bench,
    write_results,
)
from solvent.benchmark.suites import Suite, find_suite, suite_hash, suite_points
from solvent.benchmark.task_game import TaskGame, task_game
from solvent.exact import Solution
from solvent.exact.policy_files import load_policy
from solvent.exact.scoring import LEARNED, comparable_score
from solvent.exact.store import StoreError
from solvent.model.parameters import brief, check_choice, shown

POLICIES = "policies"
"""The folder of the policies."""

LARGEST_FILE = 2**25
"""Bytes of a file of a submission."""

LARGEST_CLAIMS = 2**22
"""Bytes of its ``results.json``."""

LARGEST_SUBMISSION = 2**26
"""Bytes of all its files."""

TOLERANCE = 1e-7
"""How far a claimed figure may be from the computed one, in units of the computed one if that is
larger than 1: more than the rounding of another machine, and less than anybody is shown."""

LONGEST_ROLLOUT = 2**15
"""Steps that a run may state beyond its budget: many learners end with a whole rollout."""


@dataclass(frozen=True)
class Submission:
    """A submission.

    Attributes:
        folder: Where it is.
        card: What it says of itself.
        tasks: The records of its tasks; the figures are those claimed, or if it was checked those
            computed.
    """

    folder: Path
    card: Card
    tasks: tuple[TaskRecord, ...]


def read_submission(folder: str | Path) -> Submission:
    """Read a submission with the figures that it claims; no policy is looked at.

    Args:
        folder: Of the submission.

    Raises:
        StoreError: If a file is missing, damaged, too large or a link, does not belong to a
            submission, or the card and the claims contradict each other.
    """
    folder = Path(folder)
    _check_files(folder)
    card = read_card(folder)
    bench = read_bench(folder)
    where = str(folder / FILE)
    if bench.suite != SuiteRecord(card.suite, card.suite_hash):
        raise StoreError(
            f"{where}: suite is {shown(bench.suite)}; the card says {card.suite} "
            f"{card.suite_hash[:12]}"
        )
    if bench.failures:
        failure = bench.failures[0]
        raise StoreError(
            f"{where}: the run of seed {failure.seed} in {shown(failure.task)} failed; "
            f"every run has to be there"
        )
    for task in bench.tasks:
        _check_agents(task, card, where)
    expected = {f"{task.name}.npz" for task in bench.tasks}
    found = {path.name for path in (folder / POLICIES).iterdir()}
    if surplus := sorted(found - expected):
        raise StoreError(
            f"{folder / POLICIES}: has {shown(surplus[0])}, which is of no task of the results"
        )
    if missing := sorted(expected - found):
        raise StoreError(f"{folder / POLICIES}: lacks {missing[0]}")
    return Submission(folder, card, bench.tasks)


def check_submission(
    folder: str | Path,
    suite: Suite | None = None,
    *,
    sample: Mapping[str, Sequence[int]] | None = None,
) -> Submission:
    """Read a submission and compute all its figures from its policies.

    Args:
        folder: Of the submission.
        suite: That it is for; the installed one of the name on the card if left out.
        sample: The seeds that are looked at, by the name of a task; tasks that are not named are
            left out. Everything if left out.

    Returns:
        With the figures that were computed; of a sample, those tasks and runs alone.

    Raises:
        StoreError: As :func:`read_submission`; or if the suite, its hash or its tasks are others, a
            policy is none, or a claimed figure differs from the computed one. The message names the
            file, the task and the seed.
        ValueError: If there is no such suite.
    """
    stated = read_submission(folder)
    card, where = stated.card, str(Path(folder) / FILE)
    suite = _suite_of(card, where) if suite is None else suite
    if suite.name != card.suite:
        raise StoreError(f"{where}: is for the suite {card.suite}, not for {suite.name}")
    if [task.name for task in stated.tasks] != [task.name for task in suite.tasks]:
        raise StoreError(
            f"{where}: tasks are {shown([task.name for task in stated.tasks])}; those of "
            f"{suite.name} are {shown([task.name for task in suite.tasks])}"
        )
    games = [task_game(task) for task in suite.tasks]
    own = suite_hash(suite.tasks, [game.table.model_hash for game in games])
    if card.suite_hash != own:
        raise StoreError(
            f"{where}: was made for the suite {card.suite} {card.suite_hash[:12]}; this one is "
            f"{own[:12]}, so that their figures cannot be compared"
        )
    wanted = {task.name: list(card.seeds) for task in suite.tasks} if sample is None else sample
    checked = tuple(
        _checked(Path(folder), task, game, card, wanted[task.name])
        for task, game in zip(stated.tasks, games, strict=True)
        if task.name in wanted
    )
    return Submission(Path(folder), card, checked)


def pack_submission(
    results: str | Path,
    algorithm: str,
    out: str | Path,
    suite: Suite | None = None,
    **words: Any,
) -> Submission:
    """Make a submission of what an algorithm has learned in a bench.

    Args:
        results: The folder of the bench.
        algorithm: Whose runs; those of others are left out.
        out: The folder of the submission; new, or empty.
        suite: Whose tasks the bench did; the installed one that the results name if left out.
        words: What the card says besides, of :class:`solvent.benchmark.card.Card`: `authors`, and
            where it is not as the bench has recorded it, `code`, `budget`, `hardware`,
            `uses_model` and `saw_solution`.

    Returns:
        With the figures of the policies as they were packed.

    Raises:
        StoreError: If the results are not those of a bench of a whole suite with the same seeds of
            the algorithm in every task, or a file is missing, damaged, or cannot be written.
        ValueError: If there is no such suite or algorithm, or the card would not be allowed.
    """
    from solvent import __version__

    folder, out = Path(results), Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StoreError(f"{out}: is not an empty folder")
    bench, where = read_bench(folder), str(folder / FILE)
    if bench.suite is None:
        raise StoreError(f"{where}: names no suite; only runs of a whole suite can be compared")
    check_choice(algorithm, "algorithm", {a.algorithm for t in bench.tasks for a in t.agents})
    tasks = [
        replace(task, agents=tuple(a for a in task.agents if a.algorithm == algorithm))
        for task in bench.tasks
    ]
    by_name = {task.name: task for task in tasks}
    agents = [agent for task in tasks for agent in task.agents]
    stated = {
        "code": "",
        "budget": "as the suite says",
        "hardware": _hardware(agents),
        "uses_model": False,
        "saw_solution": False,
        **words,
    }
    # What the bench has recorded cannot be unsaid.
    stated["uses_model"] = stated["uses_model"] or any(agent.uses_model for agent in agents)
    card = Card(
        algorithm=algorithm,
        suite=bench.suite.name,
        suite_hash=bench.suite.hash,
        seeds=tuple(sorted({agent.seed for agent in agents})),
        solvent=__version__,
        **stated,
    )
    suite = _suite_of(card, where) if suite is None else suite
    packed = []
    for asked in suite.tasks:
        if asked.name not in by_name:
            raise StoreError(f"{where}: lacks the task {asked.name} of the suite {suite.name}")
        task = by_name[asked.name]
        seeds = sorted(agent.seed for agent in task.agents)
        if seeds != list(card.seeds):
            raise StoreError(
                f"{where}: {algorithm} has the seeds {shown(seeds)} in {task.name}; expected "
                f"{shown(list(card.seeds))}, the same in every task"
            )
        packed.append(_packed(folder, out, task, task_game(asked)))
    write_results(out, BenchRecord(tuple(packed), bench.suite))
    write_card(out, card)
    return read_submission(out)


def _packed(folder: Path, out: Path, task: TaskRecord, game: TaskGame) -> TaskRecord:
    """Write the policies of a task, and return what they are scored at."""
    place = out / POLICIES / f"{task.name}.npz"
    agents = sorted(task.agents, key=lambda agent: agent.seed)
    runs = {}
    for agent in agents:
        sampled, greedy = (
            tuple(
                load_policy(folder / agent.folder / f"{kind}{seat}.npz", game.table)
                for seat in (("_0", "_1") if len(game.seats) == 2 else ("",))
            )
            for kind in ("policy", "policy_mode")
        )
        runs[agent.seed] = RunPolicies(sampled, greedy)
    write_policies(place, task.name, game.table, runs)
    # What is scored is what the file gives back.
    seeds = [agent.seed for agent in agents]
    back = read_policies(place, task.name, game.table, game.seats, seeds)
    solution = game.solution
    optimum, low, high = game.optimum
    return replace(
        task,
        optimum=optimum,
        bracket=(low, high),
        agents=tuple(
            replace(
                agent,
                folder=f"{POLICIES}/{task.name}.npz",
                system={},
                **_scored(game, solution, back[agent.seed], f"{place}: seed {agent.seed}"),
            )
            for agent in agents
        ),
        baselines=(),
    )


def _checked(
    folder: Path, stated: TaskRecord, game: TaskGame, card: Card, wanted: Sequence[int]
) -> TaskRecord:
    """A task's record with the figures computed, where they are those stated."""
    where = f"{folder / FILE}: {stated.name}"
    if stated.task is not None and stated.task.terms() != game.task.terms():
        raise StoreError(f"{where}: was asked {shown(stated.task.terms())}; expected "
                         f"{shown(game.task.terms())}")  # fmt: skip
    if stated.env != game.task.environment or stated.model_hash != game.table.model_hash:
        raise StoreError(
            f"{where}: is of {shown(stated.env)}, model {shown(stated.model_hash)}; expected "
            f"{game.task.environment}, model {game.table.model_hash[:12]}"
        )
    solution = game.solution
    optimum, *bracket = game.optimum
    _compare("optimum", stated.optimum, optimum, where)
    for end, own in zip(stated.bracket, bracket, strict=True):
        _compare("bracket", end, own, where)
    place = folder / POLICIES / f"{stated.name}.npz"
    runs = read_policies(place, stated.name, game.table, game.seats, card.seeds, wanted)
    budget = game.task.timesteps
    agents = []
    for agent in stated.agents:
        if agent.seed not in runs:
            continue
        at = f"{where}, seed {agent.seed}"
        if budget is not None and agent.timesteps > budget + LONGEST_ROLLOUT:
            raise StoreError(f"{at}: took {agent.timesteps:,} steps; the suite allows {budget:,}")
        found = replace(agent, **_scored(game, solution, runs[agent.seed], at))
        for one in fields(AgentRecord):
            said, own_figure = getattr(agent, one.name), getattr(found, one.name)
            if isinstance(own_figure, tuple):
                for first, second in zip(said or (float("nan"),) * 2, own_figure, strict=True):
                    _compare(one.name, first, second, at)
            elif isinstance(own_figure, float):
                _compare(one.name, said, own_figure, at)
        agents.append(found)
    return replace(
        stated,
        optimum=optimum,
        bracket=(bracket[0], bracket[1]),
        agents=tuple(agents),
        task=game.task,
    )


def _scored(
    game: TaskGame, solution: Solution, policies: RunPolicies, where: str
) -> dict[str, Any]:
    """The figures of a run, as :class:`AgentRecord` names them."""
    found: dict[str, Any] = {}
    for prefix, own in (("", policies.sampled), ("mode_", policies.greedy)):
        scores = [
            comparable_score(game.table, policy, solution, tolerance=LEARNED) for policy in own
        ]
        if any(isnan(score.value) for score in scores):
            raise StoreError(f"{where}: a policy has no value: rewards cancel for ever")
        found |= {f"{prefix}{name}": figure for name, figure in figures(scores).items()}
    return found


def _suite_of(card: Card, where: str) -> Suite:
    """The installed suite of a card, which may name no file."""
    try:
        check_choice(card.suite, "suite", suite_points())
    except ValueError as error:
        raise StoreError(f"{where}: {error}") from error
    return find_suite(card.suite)


def _check_files(folder: Path) -> None:
    """Refuse a folder in which anything but the files of a submission is."""
    try:
        names = _names(folder)
        for name in (cards.FILE, FILE, POLICIES):
            if name not in names:
                raise StoreError(f"{folder}: lacks {name}")
        total = 0
        for name, entry in names.items():
            if name == POLICIES:
                if not entry.is_dir(follow_symlinks=False):
                    raise StoreError(f"{folder}: {name} is not a folder")
                total += sum(
                    _size(own, folder / name, LARGEST_FILE)
                    for own in _names(folder / name).values()
                )
            elif name == FILE:
                total += _size(entry, folder, LARGEST_CLAIMS)
            elif name == cards.FILE:
                total += _size(entry, folder, cards.LARGEST_CARD)
            else:
                raise StoreError(
                    f"{folder}: has {shown(name)}; a submission has {cards.FILE}, {FILE} and "
                    f"{POLICIES}/ alone"
                )
    except OSError as error:
        raise StoreError(f"{folder}: cannot be read ({error.strerror or error})") from error
    if total > LARGEST_SUBMISSION:
        raise StoreError(f"{folder}: has {total:,} bytes; at most {LARGEST_SUBMISSION:,} are read")


MOST_FILES = 1_000
"""In a folder of a submission."""


def _names(folder: Path) -> dict[str, os.DirEntry[str]]:
    found: dict[str, os.DirEntry[str]] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) == MOST_FILES:
                raise StoreError(f"{folder}: has more than {MOST_FILES:,} files")
            if entry.is_symlink():
                raise StoreError(f"{folder}: {shown(entry.name)} is a link; expected a file")
            found[entry.name] = entry
    return found


def _size(entry: os.DirEntry[str], folder: Path, largest: int) -> int:
    """Bytes of a regular file that is not too large."""
    about = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(about.st_mode):
        raise StoreError(f"{folder}: {shown(entry.name)} is no regular file")
    if about.st_size > largest:
        raise StoreError(
            f"{folder}: {shown(entry.name)} has {about.st_size:,} bytes; at most {largest:,} are "
            f"read"
        )
    return about.st_size


def _hardware(agents: Sequence[AgentRecord]) -> str:
    """What runs were on, as recorded."""
    about = [agent.system.get("hardware") for agent in agents]
    machines = dict.fromkeys(
        f"{one['processor']}, {one.get('processors', '?')} processors"
        for one in about
        if isinstance(one, dict) and "processor" in one
    )
    text = "; ".join(machines) or "not recorded"
    return brief(text, cards.LONGEST["hardware"])


def _check_agents(task: TaskRecord, card: Card, where: str) -> None:
    """Refuse a task that has not each seed once, or whose steps and times are no numbers."""
    seeds = [agent.seed for agent in task.agents]
    if missing := sorted(set(card.seeds) - set(seeds)):
        raise StoreError(f"{where}: {shown(task.name)} lacks seed {missing[0]} of the card")
    if len(seeds) != len(card.seeds):
        raise StoreError(
            f"{where}: {shown(task.name)} has the seeds {shown(seeds)}; the card says "
            f"{shown(list(card.seeds))}"
        )
    for agent in task.agents:
        at = f"{where}: {shown(task.name)}, seed {agent.seed}"
        if agent.algorithm != card.algorithm:
            raise StoreError(f"{at}: is of {shown(agent.algorithm)}, not of {card.algorithm}")
        if agent.uses_model and not card.uses_model:
            raise StoreError(f"{at}: uses the model; the card says that no learner did")
        if not 0 <= agent.timesteps < 2**63:
            raise StoreError(f"{at}: timesteps is {shown(agent.timesteps)}")
        if not 0 <= agent.cpu_seconds < float("inf"):
            raise StoreError(f"{at}: cpu_seconds is {shown(agent.cpu_seconds)}")


def _compare(name: str, stated: float, computed: float, where: str) -> None:
    if stated == computed or (isnan(stated) and isnan(computed)):
        return
    close = abs(stated - computed) <= TOLERANCE * max(1.0, abs(computed))
    if not (close and isfinite(computed)):
        raise StoreError(f"{where}: {name} is claimed as {stated!r}, but computed as {computed!r}")
