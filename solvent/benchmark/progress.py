"""Progress of long work: a bar on a terminal or in a notebook, lines elsewhere.

A bar appears when the work has taken a second, and vanishes at its end. In a pipe or a log there
are lines on the error output instead: the first after ten seconds, and each later one after twice
the time of the one before, at most ten minutes. Both show the time that is left.

A bench has one bar for all of its runs, and a line for each of its events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from solvent.exact.compilation import is_compiling
from solvent.model.progress import OnProgress

if TYPE_CHECKING:
    from solvent.benchmark.records import Outcome
    from solvent.exact.learning_curve import CurvePoint

PATIENCE = 1.0
"""Seconds that work takes before its bar appears."""

PERIODS = (10.0, 600.0)
"""Seconds before the first line where there is no terminal, and most seconds between two."""

# Seconds of past work from which the remaining time is estimated.
_SPEED_PERIOD = 600.0


def _now(description: str) -> str:
    """Return the description of the work, or a note while Numba compiles."""
    if not is_compiling():
        return description
    from solvent.model.compiled import cached

    return "compiling, only the first time" if cached else "compiling"


class _Now(ProgressColumn):
    """The description of the work, or a note while Numba compiles."""

    def render(self, task: Task) -> Text:
        """Return the description."""
        return Text(_now(task.description))


class _Left(TimeRemainingColumn):
    """The remaining time, such as ``0:00:07 left``; empty while it is unknown."""

    def render(self, task: Task) -> Text:
        """Return the time that is left, such as ``0:00:07 left``."""
        left = super().render(task)
        return Text() if task.time_remaining is None else left.append(" left")


class Bar:
    """The progress of some work, shown while this context lasts.

    To show progress, call it with a description of the present work, the amount done, and the total
    amount, None if that is unknown.

    Args:
        description: The description of the work until the first call.
        done: The amount of work that was done before.
        total: The total amount of work; None while that is unknown.
        shown: Whether to show anything.
    """

    def __init__(
        self, description: str, *, done: int = 0, total: int | None = None, shown: bool = True
    ) -> None:
        self.console = Console(stderr=True, quiet=not shown)
        self._bar = Progress(
            _Now(),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[share]}"),
            TimeElapsedColumn(),
            _Left(),
            console=self.console,
            speed_estimate_period=_SPEED_PERIOD,
            get_time=lambda: time.monotonic(),
            transient=True,
        )
        self._bar.add_task(description, total=total, completed=done, share="")
        self._ended = Event()
        self._thread = Thread(target=self._show, daemon=True)

    def __enter__(self) -> Self:
        """Start to wait for the time at which the bar appears."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        self._ended.set()
        self._thread.join()
        # A bar that did not begin would still end with an empty line.
        if self._bar.live.is_started:
            self._bar.stop()

    def __call__(self, description: str, done: int, total: int | None) -> None:
        """Show another amount of work."""
        [task] = self._bar.tasks
        if done < task.completed or (task.total is None) != (total is None):
            # Another phase: its speed has nothing to do with that of the last one.
            self._bar.reset(task.id, total=total, completed=done)
        share = f"{done:,}" if not total else f"{100 * done / total:.1f}%"
        self._bar.update(task.id, description=description, completed=done, total=total, share=share)

    @property
    def is_live(self) -> bool:
        """Whether the console can show a bar that moves."""
        return self.console.is_interactive or self.console.is_jupyter

    @property
    def left(self) -> str:
        """The time that is left, in words; empty if unknown."""
        [task] = self._bar.tasks
        seconds = task.time_remaining
        return "" if seconds is None else f"{timedelta(seconds=round(seconds))} left"

    def _show(self) -> None:
        if self.is_live:
            if not self._ended.wait(PATIENCE):
                self._bar.start()
            return
        period, longest = PERIODS
        while not self._ended.wait(period):
            [task] = self._bar.tasks
            now = f"{_now(task.description)} {task.fields['share']}".rstrip()
            line = _joined(now, f"{task.elapsed or 0:.0f} s", self.left)
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)
            period = min(2 * period, longest)


def _joined(*parts: str) -> str:
    """Join the nonempty parts of a line with commas."""
    return ", ".join(part for part in parts if part)


@contextmanager
def solving(description: str) -> Iterator[OnProgress]:
    """Show the progress of solving.

    Args:
        description: The description of the game that is solved.

    Yields:
        The argument for ``solvent.solve(game, progress=...)``.
    """
    with Bar(f"solving {description}") as tell:
        yield lambda step: tell(
            f"{step.what} {description}{'' if step.total else ' states'}", step.done, step.total
        )


@dataclass(frozen=True, slots=True)
class Moment:
    """The progress of a training at one moment.

    Attributes:
        timesteps: Steps taken.
        total: Steps to be taken.
        evaluation: Latest point of its learning curve.
        resumed: Whether it continues a training of an interrupted bench.
    """

    timesteps: int
    total: int
    evaluation: CurvePoint | None
    resumed: bool = False

    @property
    def summary(self) -> str:
        """The gap at the latest point in words; empty before the first."""
        return "" if self.evaluation is None else self.evaluation.summary


Report = Callable[[Moment], None]


@contextmanager
def training_bar(description: str) -> Iterator[Report]:
    """Show the progress of a training.

    Args:
        description: Description of the training.

    Yields:
        The function to call with each of its moments.
    """
    with Bar(description) as tell:
        yield lambda moment: tell(
            _joined(description, moment.summary), moment.timesteps, moment.total
        )


class BenchProgress(Bar):
    """Progress of several trainings: a bar for all of them, and a line for each event.

    The lines are on the standard output, which a log is made of.

    Args:
        totals: Steps of each training, by its name.
        shown: Whether to show anything.
    """

    def __init__(self, totals: Mapping[str, int], *, shown: bool = True) -> None:
        self._began = time.monotonic()
        # Steps of an earlier bench count neither as done nor as left.
        self._totals, self._done = dict(totals), dict.fromkeys(totals, 0)
        self._begun, self._finished = set[str](), set[str]()
        # Each training may report from a thread of its own.
        self._lock = Lock()
        super().__init__("trainings", total=sum(totals.values()), shown=shown)
        output = Console(quiet=not shown)
        # On one terminal, lines and the bar take turns.
        self._output = self.console if self.is_live and output.is_terminal else output

    def write(self, text: str) -> None:
        """Write a line with the time; on a terminal a long one is broken between words.

        An output that is closed, or on a full disk, does not stop the work.
        """
        line = f"[{timedelta(seconds=round(time.monotonic() - self._began))}] {text}"
        # Rich leaves the program when its pipe is closed. In a thread that takes the reports of
        # workers, that would end the thread, and workers wait for ever for someone to take them.
        with suppress(SystemExit, OSError):
            whole = not self._output.is_terminal
            self._output.print(line, markup=False, highlight=False, soft_wrap=whole)

    def move(self, name: str, moment: Moment) -> None:
        """Report the progress of a training; the first time, its beginning.

        Args:
            name: Name of the training.
            moment: The progress.
        """
        if name not in self._begun:
            self._begun.add(name)
            self._totals[name] = moment.total - moment.timesteps * moment.resumed
            steps = f"{moment.timesteps / moment.total:.0%} of {moment.total:,} steps"
            line = f"resumed   {name}: {_joined(steps, moment.summary)}"
            self.write(line if moment.resumed else f"started   {name}")
        self._done[name] = self._totals[name] - moment.total + moment.timesteps
        self._tell()

    def finish(self, name: str, outcome: Outcome) -> None:
        """Report the end of a training; one that never moved was finished by an earlier bench.

        Args:
            name: Name of the training.
            outcome: Result or failure of the training.
        """
        from solvent.benchmark.records import FailureRecord

        if kept := name not in self._begun:
            self._totals[name] = 0
        self._done[name] = self._totals[name]
        self._finished.add(name)
        self._tell()
        if isinstance(outcome, FailureRecord):
            self.write(f"failed    {name}: {outcome.error}")
            return
        # In self-play the sampled policy is judged, since an optimal one may have to be mixed.
        gap = f"gap {outcome.gap if outcome.exploitability else outcome.mode_gap:.6f}"
        if kept:
            self.write(f"kept      {name}: finished, {gap}")
        else:
            seconds = f"{outcome.cpu_seconds:.1f} CPU-s"
            self.write(f"finished  {name}: {_joined(gap, seconds, self.left)}")

    def _tell(self) -> None:
        with self._lock:
            description = f"{len(self._finished)} of {len(self._totals)} trainings"
            self(description, sum(self._done.values()), max(sum(self._totals.values()), 1))
