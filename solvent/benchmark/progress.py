"""How a training tells how far it has come: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

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


class EventLog:
    """Lines about what happens, each with the time since the first.

    Args:
        console: Where they are written.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._began = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self._began

    def write(self, text: str) -> None:
        """Write a line; on a terminal a long one is broken between words.

        Work goes on if nobody reads it any more.
        """
        line = f"[{_clock(self.elapsed)}] {text}"
        whole = not self.console.is_terminal
        # Rich leaves the program when its pipe is closed. In a thread that takes the reports of
        # workers, that would end the thread, and workers wait for ever for someone to take them.
        with suppress(SystemExit, BrokenPipeError):
            self.console.print(line, markup=False, highlight=False, soft_wrap=whole)

    def left(self, done: float, todo: float, since: float = 0.0) -> str:
        """The time that is left, as a text; empty if nothing is known of it.

        Args:
            done: The work done, in any unit.
            todo: The work that is left, in the same unit.
            since: When it was begun, in seconds after the log was made.
        """
        return f"{_clock((self.elapsed - since) * todo / done)} left" if done > 0 else ""


def _clock(seconds: float) -> str:
    """Such as ``0:04:10``."""
    return str(timedelta(seconds=round(seconds)))


def shows_bars(console: Console) -> bool:
    """Whether bars can move where a console writes: on a terminal or in a notebook."""
    return console.is_interactive or console.is_jupyter


def progress_bars(console: Console, *, disable: bool = False) -> Progress:
    """Bars that vanish at the end; each has the fields ``gap`` and ``left``.

    Args:
        console: Where they are shown.
        disable: True for none.
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
    """The latest figure."""
    return "" if evaluation is None else evaluation.summary


def joined(*parts: str) -> str:
    """Those parts of a line that are not empty, with commas."""
    return ", ".join(part for part in parts if part)


@contextmanager
def bar_for(description: str) -> Iterator[Report]:
    """A bar on the terminal, or a line at each tenth of a training; and the function that moves it.

    Args:
        description: What is trained.
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
