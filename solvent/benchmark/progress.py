"""Progress of a training and of a bench: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from solvent.exact.learning_curve import CurvePoint, Evaluation


@dataclass(frozen=True, slots=True)
class Moment:
    """The progress of a training at one moment.

    Attributes:
        timesteps: Steps taken.
        total: Steps to be taken.
        evaluation: Latest point of its learning curve.
    """

    timesteps: int
    total: int
    evaluation: CurvePoint | None


Report = Callable[[Moment], None]


class EventLog:
    """A log of events, one a line, each with the time since the first.

    Args:
        console: Console for the lines.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._began = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the log was made."""
        return time.monotonic() - self._began

    def write(self, text: str) -> None:
        """Write a line; on a terminal a long one is broken between words.

        A closed output does not stop the work.
        """
        line = f"[{_clock(self.elapsed)}] {text}"
        whole = not self.console.is_terminal
        # Rich leaves the program when its pipe is closed. In a thread that takes the reports of
        # workers, that would end the thread, and workers wait for ever for someone to take them.
        with suppress(SystemExit, BrokenPipeError):
            self.console.print(line, markup=False, highlight=False, soft_wrap=whole)

    def left(self, done: float, todo: float, since: float = 0.0) -> str:
        """Return the time left as a text; empty if unknown.

        Args:
            done: The work done, in any unit.
            todo: The work that is left, in the same unit.
            since: Time when the work began, in seconds after the log was made.
        """
        return f"{_clock((self.elapsed - since) * todo / done)} left" if done > 0 else ""


def _clock(seconds: float) -> str:
    """Return a time such as ``0:04:10``."""
    return str(timedelta(seconds=round(seconds)))


def shows_bars(console: Console) -> bool:
    """Return whether a console can show moving bars: on a terminal or in a notebook."""
    return console.is_interactive or console.is_jupyter


def progress_bars(console: Console, *, disable: bool = False) -> Progress:
    """Return bars that vanish at the end; each has the fields ``gap`` and ``left``.

    Args:
        console: Console for the bars.
        disable: Whether to show no bars.
    """
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[gap]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
        disable=disable,
    )


def gap_text(evaluation: CurvePoint | None) -> str:
    """Return the latest figure as a text."""
    return "" if evaluation is None else evaluation.summary


def joined(*parts: str) -> str:
    """Join the nonempty parts of a line with commas."""
    return ", ".join(part for part in parts if part)


@contextmanager
def bar_for(description: str) -> Iterator[Report]:
    """Show a bar, or a line at each tenth of a training; yield the function that moves it.

    Args:
        description: Description of the training.
    """
    console = Console(stderr=True)
    bar = shows_bars(console)
    log = EventLog(console)
    first: int | None = None
    tenths = -1

    with progress_bars(console, disable=not bar) as bars:
        row = bars.add_task(description, total=None, gap="", left="")

        def report(moment: Moment) -> None:
            nonlocal first, tenths
            done, total = moment.timesteps, moment.total
            first = done if first is None else first
            gap, left = gap_text(moment.evaluation), log.left(done - first, total - done)
            bars.update(row, completed=done, total=total, gap=gap, left=left)
            if not bar and done * 10 // total > tenths:
                tenths = done * 10 // total
                steps = f"{done / total:.0%} of {total:,} steps"
                log.write(f"{description}: {joined(steps, gap, left)}")

        yield report


class Finished(NamedTuple):
    """The end of a run.

    Attributes:
        gap: Exact gap of the greedy policy; None if the run failed, which is reported elsewhere.
        cpu_seconds: CPU time of the run.
    """

    gap: float | None
    cpu_seconds: float = 0.0


@dataclass(eq=False)
class _Account:
    """The progress of one training of a bench.

    Attributes:
        kind: Name without the seed. Trainings of one kind are assumed to take equally long.
        total: Steps to be taken.
        done: Steps taken.
        kept: Steps that were taken before this bench began.
        resumes: Whether it resumes a training of an earlier bench.
        evaluated: Steps up to the latest evaluation.
        seconds: CPU time up to it.
        row: The bar, once the training has begun.
        since: Time of that beginning, in seconds after the bench began.
        finished: Whether it has come to its end.
    """

    kind: str
    total: int
    done: int = 0
    kept: int = 0
    resumes: bool = False
    evaluated: int = 0
    seconds: float = 0.0
    row: TaskID | None = None
    since: float = 0.0
    finished: bool = False

    @property
    def share(self) -> str:
        """Return its progress as a text."""
        return f"{self.done / self.total:.0%} of {self.total:,} steps"

    def measure(self, last: CurvePoint | None) -> None:
        """Record the time that it has taken.

        Args:
            last: Its latest evaluation.
        """
        if last is not None:
            self.evaluated, self.seconds = last.timesteps, last.seconds


class BenchProgress:
    """Progress of several trainings.

    On a terminal there are a bar for each training under way and one for all of them, below the
    lines. Elsewhere there are lines only, on the standard output, which a log is made of.

    Args:
        totals: Steps of each training, by its name, which ends with a space and the seed.
        shown: Whether to show anything.
    """

    def __init__(self, totals: Mapping[str, int], *, shown: bool = True) -> None:
        terminal, output = Console(stderr=True), Console()
        self._has_bars = shown and shows_bars(terminal) and shows_bars(output)
        console = terminal if self._has_bars else output
        console.quiet = not shown
        self._log = EventLog(console)
        self._bars = progress_bars(console, disable=not self._has_bars)
        self._all = {
            name: _Account(kind=name.rpartition(" ")[0], total=total)
            for name, total in totals.items()
        }
        self._since: float | None = None
        self._overall = self._bars.add_task("", total=1.0, gap="", left="")

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
        self._log.write(text)

    def keep(self, name: str, last: Evaluation) -> None:
        """Report a training that an earlier bench has finished.

        Args:
            name: Name of the training.
            last: Its last evaluation.
        """
        one = self._all[name]
        one.finished = True
        one.measure(last)
        one.done = one.kept = one.total
        self._log.write(f"kept      {name}: finished, gap {last.mode_gap:.6f}")
        self._refresh()

    def resume(self, name: str) -> None:
        """Record that a training resumes that of an earlier bench.

        Args:
            name: Name of the training.
        """
        self._all[name].resumes = True

    def move(self, name: str, moment: Moment) -> None:
        """Report the progress of a training; the first time, its beginning.

        Args:
            name: Name of the training.
            moment: The progress.
        """
        one = self._all[name]
        one.done = moment.timesteps
        one.measure(moment.evaluation)
        gap = gap_text(moment.evaluation)
        if one.row is None:
            one.kept, one.since = one.done if one.resumes else 0, self._log.elapsed
            self._since = one.since if self._since is None else self._since
            one.row = self._bars.add_task(name, total=one.total, gap="", left="")
            if not self._has_bars:
                resumed = joined(f"resumed   {name}: {one.share}", gap)
                self._log.write(resumed if one.kept else f"started   {name}")
        left = self._log.left(one.done - one.kept, one.total - one.done, one.since)
        self._bars.update(one.row, completed=one.done, gap=gap, left=left)
        self._refresh()

    def finish(self, name: str, end: Finished) -> None:
        """Report the end of a training, unless it is known to have ended before.

        Args:
            name: Name of the training.
            end: The end of the training.
        """
        one = self._all[name]
        if one.finished:
            return
        one.done, one.finished = one.total, True
        if one.row is not None:
            self._bars.remove_task(one.row)
        left = self._refresh()
        if end.gap is None:
            return
        text = joined(f"gap {end.gap:.6f}", f"{end.cpu_seconds:.1f} CPU-s", left)
        self._log.write(f"finished  {name}: {text}")

    def _refresh(self) -> str:
        """Move the bar for all trainings and return the time left as a text."""
        kept, done, todo = self._work()
        left = self._log.left(done, todo, self._since or 0.0)
        count = sum(one.finished for one in self._all.values())
        self._bars.update(
            self._overall,
            description=f"{count} of {len(self._all)} trainings",
            completed=(kept + done) / max(kept + done + todo, 1e-9),
            left=left,
        )
        return left

    def _work(self) -> tuple[float, float, float]:
        """Return CPU-seconds of trainings: kept from earlier benches, spent by this one, and left.

        A step of a training takes as long as it took up to its latest evaluation. Of a training
        without one it takes as long as in others of its kind; if there is none, as in all.
        """
        known = [one for one in self._all.values() if one.evaluated]
        kept = done = todo = 0.0
        for one in self._all.values() if known else ():
            like = [other for other in known if other.kind == one.kind] or known
            like = [one] if one.evaluated else like
            rate = sum(other.seconds for other in like) / sum(other.evaluated for other in like)
            kept += rate * one.kept
            done += rate * (one.done - one.kept)
            todo += rate * (one.total - one.done)
        return kept, done, todo
