"""The results of a bench, read from its folder.

The folder holds ``results.json`` and a folder for every agent; `solvent.training.bench` says what
is in them. The form of everything is checked here, so that what comes later can rely on it. The
figures are what a file states; :mod:`solvent.report.solved` computes them from the policies.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any

from solvent.model.files import parse_json, read_file
from solvent.model.parameters import is_number, shown

LARGEST_RESULTS = 2**28
"""Bytes of a file that is read."""


class ResultsError(ValueError):
    """A folder does not hold the results of a bench; the message is one line and says where."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A trained network.

    As it is read, what a file states. Numbers that begin with ``mode`` are of the policy that takes
    the most probable action, the others of the policy as it is sampled. In a game for two they are
    means over both seats, and a gap is an exploitability.

    Attributes:
        name: For tables.
        algorithm: That trained it.
        seed: Of the training.
        value: At the start.
        gap: The optimum minus `value`.
        normalized: 0 for uniform play, 1 for the optimum.
        worst_start_gap: Largest gap from a single start.
        mode_value: At the start.
        mode_gap: The optimum minus `mode_value`.
        mode_normalized: As above.
        mode_worst_start_gap: As above.
        timesteps: Environment steps of the training, as recorded.
        cpu_seconds: CPU time of the training, as recorded.
        folder: Of its files, relative to that of the results.
        exploitability: In either seat of a game for two, else None.
        mode_exploitability: As above.
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
class Baseline:
    """A policy known without learning; the numbers are as for an agent."""

    name: str
    value: float
    gap: float
    normalized: float
    worst_start_gap: float
    exploitability: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A game, the agents trained on it and the baselines.

    Attributes:
        env: Id of the environment.
        game: Name of the game.
        parameters: The game's.
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
    agents: tuple[Agent, ...]
    baselines: tuple[Baseline, ...]

    @property
    def for_two(self) -> bool:
        """Whether its figures are of both seats of a game for two."""
        figures = [item.exploitability for item in self.agents]
        figures += [item.exploitability for item in self.baselines]
        return any(figures)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a learning curve, as recorded."""

    timesteps: int
    value: float
    gap: float
    mode_value: float
    mode_gap: float
    seconds: float


def read_results(folder: str | Path) -> tuple[Task, ...]:
    """Read ``results.json``.

    Raises:
        ResultsError: If it is missing, damaged or incomplete.
    """
    path = Path(folder) / "results.json"
    try:
        # What could not be proved is NaN.
        content = parse_json(read_file(path, LARGEST_RESULTS), nan=True)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise ResultsError(f"{path}: not JSON, or damaged") from error
    tasks = tuple(
        _task(item, f"{path}: task {number}")
        for number, item in enumerate(_list(content, "tasks", str(path)))
    )
    if not tasks:
        raise ResultsError(f"{path}: holds no task")
    return tasks


def read_curve(path: Path) -> tuple[CurvePoint, ...]:
    """Read the learning curve of an agent.

    Raises:
        ResultsError: If the file is missing, damaged or empty.
    """
    names = [item.name for item in fields(CurvePoint)]
    try:
        lines = read_file(path, LARGEST_RESULTS).decode().splitlines()
        points = tuple(
            _point(int(row["timesteps"]), *(float(row[name]) for name in names[1:]))
            for row in csv.DictReader(lines)
        )
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise ResultsError(f"{path}: not a learning curve, or damaged") from error
    if not points:
        raise ResultsError(f"{path}: holds no point")
    return points


def _point(timesteps: int, *figures: float) -> CurvePoint:
    """A point of a curve; a ValueError if it is none. What could not be proved is NaN."""
    if timesteps < 0 or any(map(math.isinf, figures)) or math.isnan(figures[-1]):
        raise ValueError("not a point of a curve")
    return CurvePoint(timesteps, *figures)


def _task(item: Any, where: str) -> Task:
    _list(item, "bracket", where)
    bracket = _pair(item, "bracket", where)
    assert bracket is not None
    parameters = item.get("parameters")
    if not isinstance(parameters, dict):
        raise ResultsError(f"{where}: parameters is {shown(parameters)}; expected an object")
    return Task(
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
            _record(Baseline, baseline, f"{where}, baseline {number}")
            for number, baseline in enumerate(_list(item, "baselines", where))
        ),
    )


def _agent(item: Any, where: str) -> Agent:
    agent: Agent = _record(Agent, item, where)
    folder = PurePath(agent.folder)
    if folder.is_absolute() or folder.drive or ".." in folder.parts:
        raise ResultsError(
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
        raise ResultsError(f"{where}: {key} is {shown(value)}; expected two numbers")
    return float(value[0]), float(value[1])


def _entry(item: Any, key: str, kind: type, where: str) -> Any:
    value: Any = item.get(key) if isinstance(item, dict) else None
    if kind is float and _is_number(value):
        return float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ResultsError(f"{where}: {key} is {shown(value)}; expected {_ENGLISH[kind]}")
    return value


_ENGLISH = {str: "a text", int: "a whole number", float: "a number"}


def _list(item: Any, key: str, where: str) -> list[Any]:
    value = item.get(key) if isinstance(item, dict) else None
    if not isinstance(value, list):
        raise ResultsError(f"{where}: {key} is {shown(value)}; expected a list")
    return value


def _is_number(value: Any) -> bool:
    """Whether it is a number, or NaN."""
    return is_number(value) or (isinstance(value, float) and math.isnan(value))
