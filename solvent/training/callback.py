"""Exact learning curves.

The usual learning curve is a mean over evaluation episodes, with an error bar. Here the network
becomes a table at every evaluation and its value and gap are computed: the curve has no noise
but that of learning itself.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from stable_baselines3.common.callbacks import BaseCallback

from solvent.exact import Solution, StoreError, solve, write_atomically
from solvent.model import TabularGame
from solvent.model.files import read_file
from solvent.model.parameters import is_number, shown
from solvent.training.extract import extract
from solvent.training.learned_score import learned_score


class CurvePoint(Protocol):
    """A point of a learning curve, a dataclass of numbers of which `timesteps` is the first."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def timesteps(self) -> int:
        """Steps taken so far, in all environments together."""
        ...

    @property
    def seconds(self) -> float:
        """CPU time spent so far, evaluations included."""
        ...

    @property
    def summary(self) -> str:
        """The figure that matters most, for a progress bar."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One point of a learning curve.

    Attributes:
        timesteps: Steps taken so far, in all environments together.
        value: Exact value of the policy as it is sampled.
        gap: Its exact optimality gap.
        mode_value: Exact value of the most probable actions.
        mode_gap: Their exact optimality gap.
        seconds: CPU time spent so far, evaluations included.
    """

    timesteps: int
    value: float
    gap: float
    mode_value: float
    mode_gap: float
    seconds: float

    @property
    def summary(self) -> str:
        """The exact gap of the most probable actions."""
        return f"gap {self.mode_gap:.4f}"


Point = TypeVar("Point", bound=CurvePoint)


def columns(kind: type[Any]) -> tuple[str, ...]:
    """The names of a point's figures, in the order in which a file has them."""
    return tuple(item.name for item in fields(kind))


def write_curve(
    path: str | Path,
    curve: Sequence[Point],
    kind: type[Point] = Evaluation,  # type: ignore[assignment]
) -> None:
    """Write a learning curve as CSV.

    Args:
        path: Where to.
        curve: Its points.
        kind: Their class; there is a column for each of its fields.

    Raises:
        StoreError: If the file cannot be written.
    """
    lines = [",".join(columns(kind)), *(",".join(map(repr, astuple(point))) for point in curve)]
    write_atomically(path, "\n".join([*lines, ""]).encode())


LARGEST_CURVE = 2**28
"""Bytes of a learning curve that is read."""


def read_curve(path: str | Path, kind: type[Point] = Evaluation) -> list[Point]:  # type: ignore[assignment]
    """Read a learning curve.

    Args:
        path: What :func:`write_curve` wrote.
        kind: The class of its points.

    Raises:
        StoreError: If the file is missing or is not one.
    """
    try:
        header, *lines = read_file(path, LARGEST_CURVE).decode().splitlines()
        if tuple(header.split(",")) != columns(kind):
            raise ValueError
        return [
            read_point(kind, [int(steps), *map(float, rest)])
            for steps, *rest in (line.split(",") for line in lines)
        ]
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise StoreError(f"{path}: not a learning curve of solvent's, or damaged") from error


def read_point(kind: type[Point], figures: Sequence[Any]) -> Point:
    """A point of a curve from figures that were read.

    Args:
        kind: Its class.
        figures: In the order of :func:`columns`. Steps are a whole number and time is finite; the
            others may be NaN, since not all can be proved.

    Raises:
        ValueError: If they are not such figures.
    """
    held = dict(zip(columns(kind), figures, strict=True))
    if type(held["timesteps"]) is not int or held["timesteps"] < 0:
        raise ValueError(f"timesteps is {shown(held['timesteps'])}")
    for name, figure in held.items():
        unknown = isinstance(figure, float) and math.isnan(figure) and name != "seconds"
        if not unknown and not is_number(figure):
            raise ValueError(f"{name} is {shown(figure)}")
    return kind(**held)


class CurveCallback(BaseCallback, ABC):
    """Evaluates the network every so many steps and when training ends.

    Evaluations happen between a learning step and the next collection of experience. Args and
    attributes are those of :class:`ExactEvalCallback`.
    """

    kind: ClassVar[type[Any]]
    """The class of the points."""

    section: ClassVar[str]
    """Where the points are logged."""

    def __init__(
        self,
        *,
        every: int,
        path: str | Path | None = None,
        curve: Sequence[Any] = (),
        after: Callable[[Any], None] | None = None,
    ) -> None:
        super().__init__()
        if every < 1:
            raise ValueError(f"every is {shown(every)}; allowed are whole numbers from 1")
        self.every = every
        self.path = path
        self.curve = list(curve)
        self.after = after
        self._clock = 0.0

    def _on_training_start(self) -> None:
        earlier = self.curve[-1].seconds if self.curve else 0.0
        self._clock = time.process_time() - earlier

    def _on_rollout_start(self) -> None:
        last = self.curve[-1].timesteps if self.curve else None
        if last is None or self.num_timesteps // self.every > last // self.every:
            self._evaluate()

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        if not self.curve or self.curve[-1].timesteps < self.num_timesteps:
            self._evaluate()

    def _evaluate(self) -> None:
        figures = self._measure()
        point = self.kind(
            timesteps=self.num_timesteps, seconds=time.process_time() - self._clock, **figures
        )
        self.curve.append(point)
        if self.path is not None:
            write_curve(self.path, self.curve, self.kind)
        for name, figure in asdict(point).items():
            if name != "timesteps":
                self.logger.record(f"{self.section}/{name}", figure)
        self.logger.dump(self.num_timesteps)
        if self.after is not None:
            self.after(point)

    @abstractmethod
    def _measure(self) -> dict[str, Any]:
        """The figures of a point, but for steps and time, by name; others may be logged."""


class ExactEvalCallback(CurveCallback):
    """Scores the network exactly every so many steps and when training ends.

    For any learner of Stable-Baselines3 whose network :func:`~solvent.training.extract.extract`
    takes, under ``VecNormalize`` with its statistics of the moment. Evaluations happen between a
    learning step and the next collection of experience, and draw no random numbers: training is
    the same with and without them.

    Args:
        game: The table that the training environments sample.
        every: Steps between evaluations.
        observation: What the network sees, as for ``extract``.
        player: Whose policy is learned.
        solution: Of `game`, if it is at hand; otherwise it is solved once.
        path: A CSV file for the curve, rewritten at every evaluation; None for none.
        curve: Points of an earlier part of the same training.
        after: Called after each evaluation.

    Attributes:
        curve: All points so far. They are also logged, under ``exact/``.
    """

    kind: ClassVar[type[Any]] = Evaluation
    section = "exact"

    def __init__(
        self,
        game: TabularGame,
        *,
        every: int,
        observation: str = "onehot",
        player: int = 0,
        solution: Solution | None = None,
        path: str | Path | None = None,
        curve: Sequence[Evaluation] = (),
        after: Callable[[Evaluation], None] | None = None,
    ) -> None:
        super().__init__(every=every, path=path, curve=curve, after=after)
        self.game = game
        self.observation = observation
        self.player = player
        self.solution = solution or solve(game)

    def _measure(self) -> dict[str, Any]:
        policies = extract(self.model, self.game, observation=self.observation, player=self.player)
        sampled = learned_score(self.game, policies.sampled, self.solution)
        mode = learned_score(self.game, policies.mode, self.solution)
        self.logger.record("exact/worst_start_gap", sampled.worst_start_gap)
        self.logger.record("exact/mode_worst_start_gap", mode.worst_start_gap)
        return {
            "value": sampled.value,
            "gap": sampled.optimality_gap,
            "mode_value": mode.value,
            "mode_gap": mode.optimality_gap,
        }
