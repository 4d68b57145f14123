"""How a training tells how far it has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import BaseCallback

from solvent.exact.learning_curve import CurvePoint


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a training has come.

    Attributes:
        timesteps: Steps taken.
        total: Steps to be taken.
        evaluation: The latest point of its learning curve.
    """

    timesteps: int
    total: int
    evaluation: CurvePoint | None


Report = Callable[[Moment], None]


class ReportCallback(BaseCallback):
    """Reports progress some times a second.

    Args:
        report: Called with a :class:`Moment`. What it raises ends the training.
        total: Steps to be taken.
        curve: The learning curve, which others write.
        interval: Least time between reports, in seconds.
    """

    def __init__(
        self, report: Report, total: int, curve: Sequence[CurvePoint], interval: float = 0.2
    ) -> None:
        super().__init__()
        self._report, self._total, self._curve = report, total, curve
        self._interval, self._next = interval, 0.0

    def _on_rollout_start(self) -> None:
        if time.monotonic() >= self._next:
            self._tell()
            self._next = time.monotonic() + self._interval

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self._tell()

    def _tell(self) -> None:
        last = self._curve[-1] if self._curve else None
        self._report(Moment(min(self.num_timesteps, self._total), self._total, last))


def progress_bars(*, disable: bool = False) -> Progress:
    """Bars for one training or several, on the terminal's error output; none if disabled."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[gap]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=disable,
    )


def gap_text(evaluation: CurvePoint | None) -> str:
    """The latest figure, for the bar."""
    return "" if evaluation is None else evaluation.summary


@contextmanager
def bar_for(description: str) -> Iterator[Report]:
    """A bar on the terminal, and the function that moves it."""
    with progress_bars() as bars:
        task = bars.add_task(description, total=None, gap="")

        def report(moment: Moment) -> None:
            bars.update(
                task,
                completed=moment.timesteps,
                total=moment.total,
                gap=gap_text(moment.evaluation),
            )

        yield report
