"""Progress of a training and of a bench: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from solvent.benchmark.records import AgentRecord, FailureRecord
from solvent.exact.learning_curve import CurvePoint

PERIOD = 600.0
"""Seconds over which the speed of a training is averaged, for the time that is left."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The progress of a training at one moment.

    Attributes:
        timesteps: Steps taken.
        total: Steps to be taken.
        evaluation: Latest point of its learning curve.
        resumed: Whether it goes on from where an earlier bench was interrupted.
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

Outcome: TypeAlias = AgentRecord | FailureRecord
"""The outcome of a run."""


class Bars(Progress):
    """Progress bars that vanish at the end, and lines, each with the time since the first.

    Args:
        console: Console for the bars and lines.
        shown: Whether to show bars. Without, there are lines only.
    """

    def __init__(self, console: Console, *, shown: bool) -> None:
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[gap]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not shown,
            get_time=lambda: time.monotonic(),
            speed_estimate_period=PERIOD,
        )
        self._began = time.monotonic()

    def write(self, text: str) -> None:
        """Write a line; on a terminal a long one is broken between words.

        A closed output does not stop the work.
        """
        line = f"[{timedelta(seconds=round(time.monotonic() - self._began))}] {text}"
        # Rich leaves the program when its pipe is closed. In a thread that takes the reports of
        # workers, that would end the thread, and workers wait for ever for someone to take them.
        with suppress(SystemExit, BrokenPipeError):
            whole = not self.console.is_terminal
            self.console.print(line, markup=False, highlight=False, soft_wrap=whole)

    def left(self, row: TaskID) -> str:
        """Return the time left for a bar as a text; empty if unknown."""
        seconds = self._tasks[row].time_remaining
        return "" if seconds is None else f"{timedelta(seconds=round(seconds))} left"


def _has_bars(console: Console) -> bool:
    """Return whether a console can show moving bars: on a terminal or in a notebook."""
    return console.is_interactive or console.is_jupyter


def _joined(*parts: str) -> str:
    """Join the nonempty parts of a line with commas."""
    return ", ".join(part for part in parts if part)


@contextmanager
def bar_for(description: str) -> Iterator[Report]:
    """Show a bar, or a line at each tenth of a training; yield the function that moves it.

    Args:
        description: Description of the training.
    """
    console = Console(stderr=True)
    shown, tenths = _has_bars(console), -1
    with Bars(console, shown=shown) as bars:
        row = bars.add_task(description, total=None, gap="")

        def report(moment: Moment) -> None:
            nonlocal tenths
            done, total, gap = moment.timesteps, moment.total, moment.summary
            bars.update(row, completed=done, total=total, gap=gap)
            if not shown and done * 10 // total > tenths:
                tenths = done * 10 // total
                steps = f"{done / total:.0%} of {total:,} steps"
                bars.write(f"{description}: {_joined(steps, gap, bars.left(row))}")

        yield report


class BenchProgress:
    """Progress of several trainings.

    On a terminal there are a bar for each training under way and one for all of them, below the
    lines. Elsewhere there are lines only, on the standard output, which a log is made of.

    Args:
        totals: Steps of each training, by its name.
        shown: Whether to show anything.
    """

    def __init__(self, totals: Mapping[str, int], *, shown: bool = True) -> None:
        terminal, output = Console(stderr=True), Console()
        bars = shown and _has_bars(terminal) and _has_bars(output)
        console = terminal if bars else output
        console.quiet = not shown
        self._lines, self._bars = not bars, Bars(console, shown=bars)
        self._totals, self._done = dict(totals), dict.fromkeys(totals, 0)
        self._rows: dict[str, TaskID] = {}
        self._ended: set[str] = set()
        self._all = self._bars.add_task("", total=sum(totals.values()), gap="")

    def __enter__(self) -> BenchProgress:
        """Show the bars."""
        self._refresh()
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bars."""
        self._bars.stop()

    def write(self, text: str) -> None:
        """Report an event that belongs to no training."""
        self._bars.write(text)

    def move(self, name: str, moment: Moment) -> None:
        """Report the progress of a training; the first time, its beginning.

        Args:
            name: Name of the training.
            moment: The progress.
        """
        if name not in self._rows:
            self._rows[name] = self._bars.add_task(name, total=moment.total, gap="")
            # Steps of an earlier bench say nothing about the speed of this one.
            self._totals[name] = moment.total - moment.timesteps * moment.resumed
            if self._lines:
                steps = f"{moment.timesteps / moment.total:.0%} of {moment.total:,} steps"
                line = f"resumed   {name}: {_joined(steps, moment.summary)}"
                self.write(line if moment.resumed else f"started   {name}")
        self._bars.update(self._rows[name], completed=moment.timesteps, gap=moment.summary)
        self._refresh(name, self._totals[name] - moment.total + moment.timesteps)

    def finish(self, name: str, outcome: Outcome) -> None:
        """Report the end of a training; one that never moved was finished by an earlier bench.

        Args:
            name: Name of the training.
            outcome: Its result or its failure.
        """
        kept = name not in self._rows
        if kept:
            self._totals[name] = 0
        else:
            self._bars.remove_task(self._rows[name])
        self._ended.add(name)
        self._refresh(name, self._totals[name])
        if isinstance(outcome, FailureRecord):
            self.write(f"failed    {name}: {outcome.error}")
            return
        # By self-play it is the policy as it is that is judged, which may have to be mixed.
        gap = f"gap {outcome.gap if outcome.exploitability else outcome.mode_gap:.6f}"
        if kept:
            self.write(f"kept      {name}: finished, {gap}")
        else:
            seconds = f"{outcome.cpu_seconds:.1f} CPU-s"
            self.write(f"finished  {name}: {_joined(gap, seconds, self._bars.left(self._all))}")

    def _refresh(self, name: str | None = None, done: int = 0) -> None:
        """Move the bar for all trainings, of which one has taken so many steps."""
        if name is not None:
            self._done[name] = done
        self._bars.update(
            self._all,
            description=f"{len(self._ended)} of {len(self._totals)} trainings",
            total=max(sum(self._totals.values()), 1),
            completed=sum(self._done.values()),
        )
