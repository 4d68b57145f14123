"""The results of a bench: what ``results.json`` holds, written and read.

The file holds ``{"tasks": [...]}``: a :class:`TaskRecord` as an object with its fields as keys, in
it an :class:`AgentRecord` for each agent and a :class:`BaselineRecord` for each baseline; what is
None is left out. Its folder has one for every agent, with the files of
:mod:`solvent.training.train`: among them ``policy.npz``, ``policy_mode.npz`` (read by
:func:`solvent.exact.load_policy`) and ``curve.csv`` (read by
:func:`solvent.exact.learning_curve.read_curve`).

In a game for two, an agent is one network for both seats, and its folder has the policies of each
seat, ``policy_0.npz``, ``policy_1.npz``, ``policy_mode_0.npz`` and ``policy_mode_1.npz``.
:func:`figures` says which figures such a pair has.

The form of everything is checked on reading, so that what comes later can rely on it. The figures
are what a file states; :mod:`solvent.report.solved` computes them from the policies.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path, PurePath
from typing import Any

from solvent.exact.scoring import Score
from solvent.exact.store import StoreError, write_atomically
from solvent.model.files import parse_json, read_file
from solvent.model.parameters import is_number, shown

FILE = "results.json"
"""The name of the file in the folder of a bench."""

LARGEST_RESULTS = 2**28
"""Bytes of a file that is read."""


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """A trained network.

    Numbers that begin with ``mode`` are of the policy that takes the most probable action, the
    others of the policy as it is sampled. In a game for two they are means over both seats, and a
    gap is an exploitability.

    Attributes:
        name: For tables, such as ``"ppo 0"``.
        algorithm: That trained it, a key of :data:`solvent.training.ALGORITHMS`.
        seed: Of the training.
        value: Exact value at the start.
        gap: The optimum minus `value`.
        normalized: 0 for uniform play, 1 for the optimum.
        worst_start_gap: Largest gap from a single start.
        mode_value: Exact value at the start.
        mode_gap: The optimum minus `mode_value`.
        mode_normalized: 0 for uniform play, 1 for the optimum.
        mode_worst_start_gap: Largest gap from a single start.
        timesteps: Environment steps of the training, as recorded.
        cpu_seconds: CPU time of the training, as recorded.
        folder: Of its files, relative to that of the results.
        exploitability: In seat 0 and in seat 1 of a game for two, else None.
        mode_exploitability: In seat 0 and in seat 1 of a game for two, else None.
    """

    name: str
    algorithm: str
    seed: int
    value: float
    gap: float
    normalized: float
    worst_start_gap: float
    mode_value: float
    mode_gap: float
    mode_normalized: float
    mode_worst_start_gap: float
    timesteps: int
    cpu_seconds: float
    folder: str
    exploitability: tuple[float, float] | None = None
    mode_exploitability: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """A policy known without learning; the numbers are as for an agent."""

    name: str
    value: float
    gap: float
    normalized: float
    worst_start_gap: float
    exploitability: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A game, the agents trained on it and the baselines.

    Attributes:
        env: Id of the environment.
        game: Name of the game.
        parameters: The game's own; ``make_game(game, **parameters)`` is that game.
        optimum: Its value.
        bracket: Certified lower and upper bound of the optimum.
        agents: In the order of the results.
        baselines: In the order of the results.
    """

    env: str
    game: str
    parameters: Mapping[str, Any]
    optimum: float
    bracket: tuple[float, float]
    agents: tuple[AgentRecord, ...]
    baselines: tuple[BaselineRecord, ...]

    @property
    def for_two(self) -> bool:
        """Whether its figures are of both seats of a game for two."""
        pairs = [agent.exploitability for agent in self.agents]
        pairs += [baseline.exploitability for baseline in self.baselines]
        return any(pairs)


def figures(scores: Sequence[Score]) -> dict[str, Any]:
    """The figures of a policy, or of one for each seat, as records of agents and baselines have.

    Of a pair, a gap is an exploitability and a value is a policy's security level, its value
    against a best response, so that those of two optimal policies have the mean 0. Figures are
    means over both seats but `worst_start_gap`, which is the larger of the two.

    Args:
        scores: Of the policy, or of that in seat 0 and that in seat 1.
    """
    count = len(scores)
    gaps = [result.optimality_gap for result in scores]
    return {
        "value": sum(result.value for result in scores) / count,
        "gap": sum(gaps) / count,
        "normalized": sum(result.normalized for result in scores) / count,
        "worst_start_gap": max(result.worst_start_gap for result in scores),
        "exploitability": (gaps[0], gaps[1]) if count == 2 else None,
    }


def write_results(folder: str | Path, tasks: Sequence[TaskRecord]) -> None:
    """Write ``results.json``.

    Args:
        folder: Of the bench.
        tasks: In the order in which the file is to have them.

    Raises:
        StoreError: If the file cannot be written.
    """
    content = {"tasks": [asdict(task, dict_factory=_stated) for task in tasks]}
    write_atomically(Path(folder) / FILE, (json.dumps(content, indent=2) + "\n").encode())


def _stated(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in items if value is not None}


def read_results(folder: str | Path) -> tuple[TaskRecord, ...]:
    """Read ``results.json``.

    Args:
        folder: Of the bench.

    Raises:
        StoreError: If it is missing, damaged or incomplete.
    """
    path = Path(folder) / FILE
    try:
        # What could not be proved is NaN; a policy that never ends may lose without bound.
        content = parse_json(read_file(path, LARGEST_RESULTS), nan=True, infinite=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise StoreError(f"{path}: not JSON, or damaged") from error
    tasks = tuple(
        _task(item, f"{path}: task {number}")
        for number, item in enumerate(_list(content, "tasks", str(path)))
    )
    if not tasks:
        raise StoreError(f"{path}: holds no task")
    return tasks


def _task(item: Any, where: str) -> TaskRecord:
    _list(item, "bracket", where)
    bracket = _pair(item, "bracket", where)
    assert bracket is not None
    parameters = item.get("parameters")
    if not isinstance(parameters, dict):
        raise StoreError(f"{where}: parameters is {shown(parameters)}; expected an object")
    return TaskRecord(
        env=_entry(item, "env", str, where),
        game=_entry(item, "game", str, where),
        parameters=parameters,
        optimum=_entry(item, "optimum", float, where),
        bracket=bracket,
        agents=tuple(
            _agent(agent, f"{where}, agent {number}")
            for number, agent in enumerate(_list(item, "agents", where))
        ),
        baselines=tuple(
            _record(BaselineRecord, baseline, f"{where}, baseline {number}")
            for number, baseline in enumerate(_list(item, "baselines", where))
        ),
    )


def _agent(item: Any, where: str) -> AgentRecord:
    agent: AgentRecord = _record(AgentRecord, item, where)
    folder = PurePath(agent.folder)
    if folder.is_absolute() or folder.drive or ".." in folder.parts:
        raise StoreError(
            f"{where}: folder is {shown(agent.folder)}; expected one within that of the results"
        )
    return agent


_KINDS: dict[Any, type] = {"str": str, "int": int, "float": float}


def _record(kind: Any, item: Any, where: str) -> Any:
    """A dataclass of texts, numbers and optional pairs from an object with the same keys."""
    return kind(
        **{
            f.name: _entry(item, f.name, _KINDS[f.type], where)
            if f.type in _KINDS
            else _pair(item, f.name, where)
            for f in fields(kind)
        }
    )


def _pair(item: Any, key: str, where: str) -> tuple[float, float] | None:
    """Two numbers, or None if the key is absent."""
    value = item.get(key) if isinstance(item, dict) else None
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)):
        raise StoreError(f"{where}: {key} is {shown(value)}; expected two numbers")
    return float(value[0]), float(value[1])


def _entry(item: Any, key: str, kind: type, where: str) -> Any:
    value: Any = item.get(key) if isinstance(item, dict) else None
    if kind is float and _is_number(value):
        return float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise StoreError(f"{where}: {key} is {shown(value)}; expected {_ENGLISH[kind]}")
    return value


_ENGLISH = {str: "a text", int: "a whole number", float: "a number"}


def _list(item: Any, key: str, where: str) -> list[Any]:
    value = item.get(key) if isinstance(item, dict) else None
    if not isinstance(value, list):
        raise StoreError(f"{where}: {key} is {shown(value)}; expected a list")
    return value


def _is_number(value: Any) -> bool:
    """Whether it is a number, NaN or infinite."""
    return is_number(value) or (isinstance(value, float) and not math.isfinite(value))
