"""The results of a bench, read from its folder.

The folder holds ``results.json`` and a folder for every agent; `solvent.training.bench` says what
is in them. Everything is checked here, so that what comes later can rely on it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any


class ResultsError(ValueError):
    """A folder does not hold the results of a bench; the message is one line and says where."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A trained network.

    All numbers are exact. Those that begin with ``mode`` are of the policy that takes the most
    probable action, the others of the policy as it is sampled. In a game for two they are means
    over both seats, and a gap is an exploitability.

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
        timesteps: Environment steps of the training.
        cpu_seconds: CPU time of the training.
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
    """A point of an exact learning curve."""

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
        content = json.loads(path.read_text(encoding="utf-8"))
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
        with path.open(newline="", encoding="utf-8") as file:
            points = tuple(
                CurvePoint(int(row["timesteps"]), *(float(row[name]) for name in names[1:]))
                for row in csv.DictReader(file)
            )
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path}: not a learning curve, or damaged") from error
    if not points:
        raise ResultsError(f"{path}: holds no point")
    return points


def _task(item: Any, where: str) -> Task:
    _list(item, "bracket", where)
    bracket = _pair(item, "bracket", where)
    assert bracket is not None
    parameters = item.get("parameters")
    if not isinstance(parameters, dict):
        raise ResultsError(f"{where}: parameters is {parameters!r}; expected an object")
    return Task(
        env=_entry(item, "env", str, where),
        game=_entry(item, "game", str, where),
        parameters=parameters,
        optimum=_entry(item, "optimum", float, where),
        bracket=bracket,
        agents=tuple(
            _record(Agent, agent, f"{where}, agent {number}")
            for number, agent in enumerate(_list(item, "agents", where))
        ),
        baselines=tuple(
            _record(Baseline, baseline, f"{where}, baseline {number}")
            for number, baseline in enumerate(_list(item, "baselines", where))
        ),
    )


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
        raise ResultsError(f"{where}: {key} is {value!r}; expected two numbers")
    return float(value[0]), float(value[1])


def _entry(item: Any, key: str, kind: type, where: str) -> Any:
    value: Any = item.get(key) if isinstance(item, dict) else None
    if kind is float and _is_number(value):
        return float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ResultsError(f"{where}: {key} is {value!r}; expected {_ENGLISH[kind]}")
    return value


_ENGLISH = {str: "a text", int: "a whole number", float: "a number"}


def _list(item: Any, key: str, where: str) -> list[Any]:
    value = item.get(key) if isinstance(item, dict) else None
    if not isinstance(value, list):
        raise ResultsError(f"{where}: {key} is {value!r}; expected a list")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
