"""Submissions: learned policies of an algorithm, in a small folder that anyone can check.

A submission is a folder with three kinds of files; no others are read::

    card.json              authors and methods, in words and numbers (Card)
    results.json           the figures claimed for every run (solvent.benchmark.records)
    policies/<task>.npz    the policies of a task's runs (solvent.benchmark.policies)

:func:`pack_submission` makes one from the folder of a bench. :func:`check_submission` solves each
game of the suite, scores each policy exactly, and refuses a claim that differs. This proves only
the scores: the optimum itself can be packed as if it had been learned. So a checked submission also
lists facts that deserve a question (`doubts`), and anyone who has the code of the algorithm can
train a few runs again with the same seeds and budgets, and compare (:func:`train_again`). This runs
only code that the person names or has installed; a submission contains only the hash of its code.

A submission has only the policies by which runs are judged, and its figures are theirs: with one
seat the greedy policy, so that the figures of the sampled policy are the same, and in self-play the
sampled policy with rounded probabilities (:mod:`solvent.benchmark.policies`).
"""

import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import inf, isnan
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from solvent.benchmark import algorithms
from solvent.benchmark.algorithms import Run, find_algorithm, perform
from solvent.benchmark.policies import (
    Learned,
    decisions_of,
    figures_of_run,
    read_policies,
    recomputed,
    run_policies,
    task_record,
    write_policies,
)
from solvent.benchmark.records import (
    FILE,
    AgentRecord,
    BenchRecord,
    SuiteRecord,
    TaskRecord,
    read_bench,
    write_results,
)
from solvent.benchmark.run_folder import MARK, read_json, request_beside, saw_solution, validated
from solvent.benchmark.suites import (
    GROUP,
    Setting,
    Suite,
    TaskGame,
    find_suite,
    suite_hash,
    suite_seeds,
    task_game,
    with_budget,
)
from solvent.benchmark.summary import UNTUNED, all_of
from solvent.model.files import StoreError, named_folder, reporting, write_atomically
from solvent.model.parameters import brief, check_choice, check_integer, shown
from solvent.model.registry import declared_names

POLICIES = "policies"
"""The folder of the policies."""

LARGEST_FILE = 2**26
"""Largest size of a file of a submission, in bytes."""

TOLERANCE = 1e-7
"""Largest difference between a claimed and the computed figure, in units of the computed one if
that is larger than 1: more than rounding on another machine, and too small to be displayed."""

# Largest number of steps beyond its budget that a run may state, since many learners finish a whole
# rollout.
_LONGEST_ROLLOUT = 2**15

# The distance of a normalized score from 1 below which a policy counts as optimal: the optimum
# itself, rounded as policies are here, is as far away.
_NEAR_OPTIMAL = 1e-4

MOST_STEPS = 1.1
"""Steps of a run, in units of its budget, above which there is a doubt; rollouts are finished."""


# The name of the file in the folder of a submission.
_CARD = "card.json"

PROVED = "The policies of this folder are for the games of the suite and have the scores claimed."
STATED = (
    "Who learned them, by which algorithm, from how many steps, in what time, on which machine, "
    "and what the learner was given."
)
SAME = {"format": 3, "proved": PROVED, "stated": STATED}
"""Entries that are the same on every card."""

# Largest size of a file that is read, in bytes.
_LARGEST_CARD = 2**16

# Largest number of seeds of a submission.
_MOST_SEEDS = 1_000

# Largest length of a text, in characters.
_LONGEST_TEXT = 300

_NAME = r"[\w.+@-]{1,60}"
_NAMES = "up to 60 letters, digits, '.', '+', '@', '-' and '_'"
_TEXT = rf"(?=.*\S).{{1,{_LONGEST_TEXT}}}"
_TEXTS = f"a text of up to {_LONGEST_TEXT} characters that can be printed"
# The forms of texts that are not any :data:`_TEXT`.
_FORMS = {
    "algorithm": (_NAME, _NAMES),
    "suite": (_NAME, _NAMES),
    "suite_hash": ("[0-9a-f]{64}", "64 hexadecimal digits"),
    "source": ("([0-9a-f]{12})?", "12 hexadecimal digits, or nothing"),
    "code": (r"(https?://[^\s\"'<>\\^`{|}]{1,290})?", "a link, https://…, or nothing"),
}


@dataclass(frozen=True, kw_only=True)
class Card:
    """The description of a submission by its authors.

    Attributes:
        algorithm: Name of the algorithm, as in the results.
        suite: Name of the suite whose tasks were learned.
        suite_hash: Hash of the suite (:func:`solvent.benchmark.suites.suite_hash`).
        seeds: Seeds of the runs, the same in every task, in ascending order.
        authors: Authors of the submission.
        code: Link to the code; empty if it is not available.
        source: A hash of the code (:attr:`solvent.benchmark.algorithms.Algorithm.source`); empty if
            the runs have no record of it.
        budget: Budget of a run, in words.
        tuning: Description of how the settings of the algorithm were chosen.
        settings: Hyperparameters that replaced the algorithm's defaults in every run, by name.
        hardware: Hardware of the runs, in words.
        uses_model: Whether a learner was given the probabilities and rewards of its game, instead
            of samples alone.
        saw_solution: Whether a learner, or the person who tuned it, was given values or policies of
            the solution.
        solvent: The version of this package that made the submission.

    Raises:
        ValueError: If one is not allowed.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    algorithm: str
    suite: str
    suite_hash: str
    seeds: tuple[int, ...]
    authors: str
    code: str
    source: str
    budget: str
    tuning: str
    settings: Mapping[str, Any]
    hardware: str
    uses_model: bool
    saw_solution: bool
    solvent: str

    def __post_init__(self) -> None:
        """Check the values; their types are checked where a file is read."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type is str:
                form, expected = _FORMS.get(one.name, (_TEXT, _TEXTS))
                # No control characters, and none that change the direction of writing.
                if not value.isprintable() or not re.fullmatch(form, value):
                    raise ValueError(f"{one.name} is {shown(value)}; expected {expected}")
        ordered = list(self.seeds) == sorted({seed for seed in self.seeds if 0 <= seed < 2**63})
        if not ordered or not 0 < len(self.seeds) <= _MOST_SEEDS:
            raise ValueError(
                f"seeds is {shown(self.seeds)}; expected 1 to {_MOST_SEEDS} whole numbers from 0 "
                f"to 2^63 - 1, in ascending order"
            )
        if self.saw_solution and not self.algorithm.endswith(MARK):
            raise ValueError(
                f"algorithm is {self.algorithm}; the name of one that saw the solution ends in "
                f"{MARK}"
            )


def write_card(folder: str | Path, card: Card) -> None:
    """Write ``card.json``.

    Args:
        folder: Folder of the submission.
        card: The card to write.

    Raises:
        StoreError: If the file cannot be written.
    """
    text = json.dumps({**SAME, **asdict(card)}, indent=2, ensure_ascii=False) + "\n"
    write_atomically(Path(folder) / _CARD, text.encode())


def read_card(folder: str | Path) -> Card:
    """Read ``card.json``.

    Args:
        folder: Folder of the submission.

    Raises:
        StoreError: If it is missing or damaged, has an entry that no card has, lacks one, or one is
            not allowed.
    """
    path = Path(folder) / _CARD
    content = read_json(path, _LARGEST_CARD, "JSON of a card")
    if not isinstance(content, dict):
        raise StoreError(f"{path}: not JSON of a card, or damaged")
    if "settings" not in content:
        raise StoreError(
            f"{path}: lacks settings, and cards of earlier versions are not read; pack the runs "
            f"again with this version"
        )
    for name, expected in SAME.items():
        if (found := content.pop(name, None)) != expected:
            raise StoreError(f"{path}: {name} is {shown(found)}; expected {shown(expected)}")
    return validated(Card, content, path)


@dataclass(frozen=True)
class Submission:
    """A submission.

    Attributes:
        folder: Folder of the submission.
        card: Card of the submission.
        tasks: Records of the tasks. The figures are those claimed, or those computed if the
            submission was checked.
        doubts: Sentences about facts that can be honest but deserve a question; none if the
            submission was not checked.
    """

    folder: Path
    card: Card
    tasks: tuple[TaskRecord, ...]
    doubts: tuple[str, ...] = ()


def read_submission(folder: str | Path) -> Submission:
    """Read a submission with its claimed figures, without reading any policy.

    Args:
        folder: Folder of the submission.

    Raises:
        StoreError: If a file is missing, damaged, too large or a link, or the card and the claims
            contradict each other.
    """
    folder = Path(folder)
    card, bench = read_card(folder), read_bench(folder)
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
    setting = Setting(card.settings, card.tuning)
    tasks = tuple(
        replace(task, agents=tuple(replace(agent, setting=setting) for agent in task.agents))
        for task in bench.tasks
    )
    policies = (f"{POLICIES}/{task.name}.npz" for task in bench.tasks)
    _check_files(folder, (_CARD, FILE, *policies))
    return Submission(folder, card, tasks)


def check_submission(folder: str | Path, suite: Suite | None = None) -> Submission:
    """Read a submission and compute all its figures from its policies.

    Args:
        folder: Folder of the submission.
        suite: Suite of the submission. Default: the installed one of the name on the card.

    Returns:
        The submission with the figures that were computed.

    Raises:
        StoreError: As :func:`read_submission`; or if the suite, its hash or its tasks differ, a
            policy is invalid, or a claimed figure differs from the computed one. The message names
            the file, the task and the seed.
        ValueError: If there is no such suite.
    """
    stated = read_submission(folder)
    card, where = stated.card, str(Path(folder) / FILE)
    suite = suite_of(card, where, suite)
    games = [task_game(task) for task in suite.tasks]
    own = suite_hash(suite.tasks, [game.table.model_hash for game in games])
    names = [task.name for task in suite.tasks], [task.name for task in stated.tasks]
    if (card.suite, card.suite_hash) != (suite.name, own) or names[0] != names[1]:
        raise StoreError(
            f"{where}: was made for the suite {card.suite} {card.suite_hash[:12]} with the tasks "
            f"{shown(names[1])}; this one is {suite.name} {own[:12]} with {shown(names[0])}, so "
            f"that their figures cannot be compared"
        )
    checked, doubts = [], []
    if card.seeds != tuple(sorted(suite_seeds(card.suite_hash, len(card.seeds)))):
        doubts.append("the seeds are not those of the suite, so they may be the best of many")
    for task, game in zip(stated.tasks, games, strict=True):
        path = stated.folder / POLICIES / f"{task.name}.npz"
        runs = read_policies(path, task.name, game.table, game.seats, card.seeds)
        checked.append(_checked(stated.folder, task, game, runs))
        doubts += _doubts(checked[-1], runs)
    return Submission(stated.folder, card, tuple(checked), tuple(doubts))


def pack_submission(
    results: str | Path,
    algorithm: str,
    out: str | Path,
    suite: Suite | None = None,
    **words: Any,
) -> Submission:
    """Make a submission from an algorithm's runs in a bench.

    Args:
        results: Folder of the bench.
        algorithm: Name of the algorithm; runs of others are left out.
        out: Folder of the submission; new or empty. It is written completely or not at all.
        suite: Suite of the bench. Default: the installed one that the results name.
        words: Further fields of the :class:`Card`: `authors`, and if they
            differ from the records of the bench, `code`, `budget`, `tuning`, `hardware`,
            `uses_model` and `saw_solution`.

    Returns:
        The submission with the figures of the packed policies.

    Raises:
        StoreError: If the results are not those of a bench of a whole suite with the same seeds of
            the algorithm in every task, its runs are of different code or settings, or a file is
            missing, damaged, or cannot be written.
        ValueError: If there is no such suite or algorithm, or the card would not be allowed.
    """
    from solvent import __version__

    folder, out = Path(results), named_folder(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StoreError(f"{out}: is not an empty folder")
    bench, where = read_bench(folder), str(folder / FILE)
    if bench.suite is None:
        raise StoreError(f"{where}: names no suite; only runs of a whole suite can be compared")
    check_choice(algorithm, "algorithm", {a.algorithm for t in bench.tasks for a in t.agents})
    by_name = {
        task.name: replace(
            task,
            agents=tuple(a for a in task.agents if a.algorithm == algorithm),
            baselines=(),
        )
        for task in bench.tasks
    }
    agents = [agent for task in by_name.values() for agent in task.agents]
    tuning = all_of(agent.setting.tuning or UNTUNED for agent in agents)
    given = {
        "code": "",
        "budget": "as the suite says",
        "tuning": brief(tuning, _LONGEST_TEXT),
        "hardware": _hardware(agents),
        **words,
        # Recorded privileges cannot be denied.
        "uses_model": words.get("uses_model", False) or any(a.uses_model for a in agents),
        "saw_solution": words.get("saw_solution", False)
        or any(saw_solution(agent.hyperparameters) for agent in agents),
    }
    told = not given["saw_solution"] or algorithm.endswith(MARK)
    card = Card(
        algorithm=algorithm if told else algorithm + MARK,
        suite=bench.suite.name,
        suite_hash=bench.suite.hash,
        seeds=tuple(sorted({agent.seed for agent in agents})),
        source=_same(folder, agents, "code", lambda agent: _source(folder, agent)),
        settings=json.loads(_same(folder, agents, "settings", _settings)),
        solvent=__version__,
        **given,
    )
    suite = suite_of(card, where, suite)
    with reporting(out, "written"):
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".solvent-", dir=out.parent) as beside:
            place = Path(beside) / out.name
            place.mkdir()
            packed = tuple(_all_packed(folder, place, suite, by_name, card))
            write_results(place, BenchRecord(packed, bench.suite), indent=0)
            write_card(place, card)
            found = replace(read_submission(place), folder=out)
            place.replace(out)
    return found


def suite_of(card: Card, where: str, suite: Suite | None = None) -> Suite:
    """Return the suite of a card, with the budget that the card names.

    Args:
        card: The card.
        where: The file to name in a message.
        suite: The suite without that budget; if left out, the installed one of that name.

    Raises:
        StoreError: If no such suite is installed.
    """
    try:
        if suite is not None:
            return with_budget(suite, card.suite)
        # A name with an ending would be that of a file.
        name = check_choice(card.suite.partition("@")[0], "suite", declared_names(GROUP))
        return with_budget(find_suite(name), card.suite)
    except ValueError as error:
        raise StoreError(f"{where}: {error}") from error


def _all_packed(
    folder: Path, out: Path, suite: Suite, by_name: Mapping[str, TaskRecord], card: Card
) -> Iterator[TaskRecord]:
    """Write the policies of all tasks, and yield their records."""
    for asked in suite.tasks:
        task = by_name.get(asked.name)
        seeds = sorted(agent.seed for agent in task.agents) if task else []
        if task is None or seeds != list(card.seeds):
            raise StoreError(
                f"{folder / FILE}: {card.algorithm} has the seeds {shown(seeds)} in {asked.name}; "
                f"expected {shown(list(card.seeds))}, the same in every task"
            )
        yield _packed(folder, out, task, task_game(asked), card.algorithm)


def _packed(
    folder: Path, out: Path, task: TaskRecord, game: TaskGame, algorithm: str
) -> TaskRecord:
    """Write the policies of a task, and return its record with their scores."""
    path = out / POLICIES / f"{task.name}.npz"
    agents = sorted(task.agents, key=lambda agent: agent.seed)
    runs = {agent.seed: run_policies(folder / agent.folder, game) for agent in agents}
    write_policies(path, task.name, game.table, runs)
    # The policies are scored as they are read back from the file.
    back = read_policies(path, task.name, game.table, game.seats, list(runs))
    scored = (
        replace(
            agent,
            algorithm=algorithm,
            name=f"{algorithm} {agent.seed}",
            folder=f"{POLICIES}/{task.name}.npz",
            # What tells that a learner saw the solution stays.
            hyperparameters=agent.hyperparameters if saw_solution(agent.hyperparameters) else {},
            setting=Setting(),
            system={},
            **figures_of_run(game, back[agent.seed]),
        )
        for agent in agents
    )
    return _with_values(replace(task_record(game, ()), agents=tuple(scored)), str(folder))


def _checked(
    folder: Path, stated: TaskRecord, game: TaskGame, runs: Mapping[int, Sequence[Learned]]
) -> TaskRecord:
    """Return a task's record with computed figures, which must agree with those stated."""
    where = f"{folder / FILE}: {stated.name}"
    told = stated.env, stated.model_hash, stated.task and stated.task.terms()
    expected = game.task.environment, game.table.model_hash, game.task.terms()
    if told != expected:
        raise StoreError(f"{where}: is of {shown(told)}; expected {shown(expected)}")
    budget = game.task.timesteps or inf
    for agent in stated.agents:
        if agent.timesteps > budget + _LONGEST_ROLLOUT:
            raise StoreError(
                f"{where}, seed {agent.seed}: took {agent.timesteps:,} steps; the suite allows "
                f"{budget:,}"
            )
    own = [runs[agent.seed] for agent in stated.agents]
    return _with_values(recomputed(stated, game, own, where, TOLERANCE), where)


def _doubts(task: TaskRecord, runs: Mapping[int, Sequence[Learned]]) -> Iterator[str]:
    """Yield doubts about the runs of a checked task."""
    equal: dict[bytes, list[int]] = {}
    for seed, run in runs.items():
        content = b"".join(policy.sampled.probabilities.tobytes() for policy in run)
        equal.setdefault(content, []).append(seed)
    optimal = [one.seed for one in task.agents if one.normalized > 1 - _NEAR_OPTIMAL]
    for seeds in equal.values():
        # Optimal policies may well be equal, and are named below.
        if len(seeds) > 1 and not set(seeds) <= set(optimal):
            yield f"{task.name}: the policies of the seeds {shown(seeds)} are equal"
    if optimal:
        yield f"{task.name}: {len(optimal)} of {len(task.agents)} policies are optimal"
    budget = inf if task.task is None else task.task.timesteps or inf
    steps = [agent.timesteps for agent in task.agents]
    if over := sum(taken > MOST_STEPS * budget for taken in steps):
        yield (
            f"{task.name}: {over} of {len(steps)} runs took more steps than the budget of "
            f"{budget:,}, up to {max(steps):,}"
        )


def _with_values(task: TaskRecord, where: str) -> TaskRecord:
    """Return a record in which every policy has a value."""
    for agent in task.agents:
        if isnan(agent.value) or isnan(agent.mode_value):
            raise StoreError(
                f"{where}, seed {agent.seed}: a policy has no value: rewards cancel for ever, or "
                f"none is proved"
            )
    return task


def _check_files(folder: Path, files: Iterable[str]) -> None:
    """Refuse a folder in which a file that is read is missing, a link or too large."""
    for name in (POLICIES, *files):
        with reporting(folder / name):
            about = (folder / name).lstat()
        if not (stat.S_ISDIR if name == POLICIES else stat.S_ISREG)(about.st_mode):
            raise StoreError(f"{folder}: {shown(name)} is no regular file or folder")
        if about.st_size > LARGEST_FILE:
            raise StoreError(f"{folder}: {shown(name)} has more than {LARGEST_FILE:,} bytes")


def _hardware(agents: Sequence[AgentRecord]) -> str:
    """Return the recorded hardware of the runs."""
    about = [agent.system.get("hardware") for agent in agents]
    machines = dict.fromkeys(
        f"{one['processor']}, {one.get('processors', '?')} processors"
        for one in about
        if isinstance(one, dict) and "processor" in one
    )
    return brief("; ".join(machines) or "not recorded", _LONGEST_TEXT)


def _same(
    folder: Path, agents: Sequence[AgentRecord], what: str, of: Callable[[AgentRecord], str]
) -> str:
    """Return what all runs have in common.

    Raises:
        StoreError: If they differ.
    """
    found: dict[str, str] = {}
    for agent in agents:
        found.setdefault(of(agent), agent.folder)
    if len(found) > 1:
        one, other, *_ = found.values()
        raise StoreError(
            f"{folder}: {one} and {other} were made by different {what}; train all runs with the "
            f"same"
        )
    return next(iter(found))


def _source(folder: Path, agent: AgentRecord) -> str:
    """Return the source of the algorithm of a run; empty if there is no record."""
    record = request_beside(folder / agent.folder / "policy.npz") or {}
    return str(record.get("source", ""))


def _settings(agent: AgentRecord) -> str:
    """Return the settings of a run as a text that equal ones share."""
    return json.dumps(agent.setting.settings, sort_keys=True)


def _check_agents(task: TaskRecord, card: Card, where: str) -> None:
    """Refuse a task that lacks or repeats a seed, or contradicts the card."""
    seeds = sorted(agent.seed for agent in task.agents)
    if seeds != list(card.seeds):
        raise StoreError(
            f"{where}: {shown(task.name)} has the seeds {shown(seeds)}; the card says "
            f"{shown(list(card.seeds))}"
        )
    for agent in task.agents:
        for wrong, what in (
            (saw_solution(agent.hyperparameters) and not card.saw_solution,
             "saw the solution; the card says that no learner did"),
            (agent.uses_model and not card.uses_model,
             "uses the model; the card says that no learner did"),
            (agent.algorithm != card.algorithm,
             f"is of {shown(agent.algorithm)}, not of {card.algorithm}"),
            (not 0 <= agent.timesteps < 2**63, f"timesteps is {shown(agent.timesteps)}"),
            (not 0 <= agent.cpu_seconds < inf,
             f"cpu_seconds is {shown(agent.cpu_seconds)}"),
        ):  # fmt: skip
            if wrong:
                raise StoreError(f"{where}: {shown(task.name)}, seed {agent.seed}: {what}")


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
        check_choice(name, "algorithm", declared_names(algorithms.GROUP))
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
            run = Run(task, card.algorithm, name, agent.seed, agent.setting)
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
    return all(
        np.allclose(own.packed(one), own.packed(other), rtol=0, atol=own.rounding)
        for own, one, other in zip(
            decisions_of(game.table, game.seats), trained, submitted, strict=True
        )
    )
