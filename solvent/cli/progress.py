"""Progress of work on the error output, with the time that is left.

On a terminal that is a bar, which appears when the work has taken a second. Elsewhere, as in a pipe
or a log, it is a line every ten seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeAlias

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
from solvent.model.progress import Progress as Step

PATIENCE = 1.0
"""Seconds that work takes before its bar appears."""

PERIOD = 10.0
"""Seconds between two lines where there is no terminal."""

SPEED_PERIOD = 120.0
"""Seconds of the past from which the remaining time is concluded."""

COMPILING = "compiling, only the first time"
"""The message while Numba compiles; the compiled code is kept on disk."""

Tell: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is done now, how much of it is done, and how much there is, if known."""


class _Now(ProgressColumn):
    """The description of the work; while Numba compiles, that it does."""

    def render(self, task: Task) -> Text:
        """Return the description."""
        return Text(COMPILING if is_compiling() else task.description)


class _Left(TimeRemainingColumn):
    """The time that is left, with that word; nothing while it is unknown."""

    def render(self, task: Task) -> Text:
        """Return the time that is left, such as ``0:00:07 left``."""
        left = super().render(task)
        return Text() if task.time_remaining is None else left.append(" left")


@contextmanager
def working(description: str, *, done: int = 0, total: int | None = None) -> Iterator[Tell]:
    """Show the progress of some work.

    Args:
        description: The description of the work, until it tells more.
        done: The amount of work that was done before.
        total: The total amount of work; None while that is unknown.

    Yields:
        The function for the work to call as it goes on.
    """
    console = Console(stderr=True)
    bar = Progress(
        _Now(),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[share]}"),
        TimeElapsedColumn(),
        _Left(),
        console=console,
        speed_estimate_period=SPEED_PERIOD,
        transient=True,
    )
    task = bar.add_task(description, total=total, completed=done, share="")
    ended = Event()

    def show() -> None:
        if console.is_terminal:
            if not ended.wait(PATIENCE):
                bar.start()
            return
        while not ended.wait(PERIOD):
            console.print(_line(bar), markup=False, highlight=False, soft_wrap=True)

    def tell(what: str, done: int, total: int | None) -> None:
        one = bar.tasks[task]
        if total != one.total or done < one.completed:
            # Another phase: its speed has nothing to do with that of the last one.
            bar.reset(task, total=total, completed=done)
        share = f"{done:,}" if not total else f"{100 * done / total:.1f}%"
        bar.update(task, description=what, completed=done, share=share)

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        ended.set()
        thread.join()
        # A bar that did not begin would still end with an empty line.
        if bar.live.is_started:
            bar.stop()


def _line(bar: Progress) -> str:
    """Return the content of the bar as a line."""
    [task] = bar.tasks
    left = task.time_remaining
    description = COMPILING if is_compiling() else task.description
    parts = [f"{description} {task.fields['share']}".rstrip()]
    parts += [f"{task.elapsed or 0:.0f} s"]
    parts += [] if left is None else [f"about {left:.0f} s left"]
    return ", ".join(parts)


@contextmanager
def solving(description: str) -> Iterator[OnProgress]:
    """Show the progress of solving.

    Args:
        description: The description of the game that is solved.

    Yields:
        The argument for ``solvent.solve(game, progress=...)``.
    """
    with working(f"solving {description}") as tell:

        def progress(step: Step) -> None:
            states = "" if step.total else " states"
            tell(f"{step.what} {description}{states}", step.done, step.total)

        yield progress
