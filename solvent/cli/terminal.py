"""Tables and progress on a terminal.

Tables fit the terminal: no number is broken or cut, and no text within a word. A table that does
not fit is laid out in another way, each of its rows as a list of its entries.

Progress of long work is on the error output, with the time that is left. On a terminal that is a
bar, which appears when the work has taken a second. Elsewhere, as in a pipe or a log, it is a line
every ten seconds.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from solvent.exact.compilation import is_compiling
from solvent.model.cache import OnProgress
from solvent.model.cache import Progress as Step

LEAST_TEXT = 16
"""A column of text that would have to be narrower, in characters, does not fit."""

_SHARE = re.compile(r" (?=[\d.]+%)")
_NARROW = "\N{NO-BREAK SPACE}"


Facts: TypeAlias = Mapping[str, "str | Facts"]
"""Texts by name; in the place of a text there may be further ones."""


def facts(rows: Facts, *, style: str = "bold") -> Table:
    """Return a table of two columns without lines.

    Args:
        rows: The names and the texts.
        style: The style of the names.
    """
    table = Table.grid(padding=(0, 2), pad_edge=False)
    table.add_column(style=style, no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows.items():
        inner = escape(text) if isinstance(text, str) else facts(text, style="")
        table.add_row(escape(name), inner)
    return table


def note(console: Console, text: str) -> None:
    """Print a remark on what is above it."""
    console.print(escape(text), style="dim", highlight=False)


def show_rows(
    console: Console,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
) -> None:
    """Print a table without lines, or where it is too wide each row as a list of its entries.

    Args:
        console: The console to print on; its width is the largest width of the table.
        names: The names of the columns.
        rows: The cells of each row as texts, as many as there are names.
        numbers: The columns of numbers, which are flushed right. The others are wrapped between
            words where that is necessary.
    """
    layout = _layout(console, names, rows, numbers)
    if layout is None:
        for number, row in enumerate(rows):
            if number:
                console.print()
            entries = zip(names, row, strict=True)
            console.print(facts({name: cell for name, cell in entries if cell}))
        return
    widths, gap = layout
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    for name, width in zip(names, widths, strict=True):
        justify = "right" if name in numbers else "left"
        table.add_column(_wrapped(name, width), justify=justify, width=width)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(_wrapped(cell, w) for cell, w in zip(row, widths, strict=True)))
    console.print(table)


def show_columns(
    console: Console, columns: Mapping[str, Sequence[str]], *, numbers: Collection[str] = ()
) -> None:
    """Print columns of equal length as :func:`show_rows` does.

    Args:
        console: The console to print on.
        columns: The cells by the name of their column.
        numbers: The columns of numbers.
    """
    show_rows(console, list(columns), [*zip(*columns.values(), strict=True)], numbers=numbers)


def show_blocks(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of many columns in as few blocks of them below each other as fit.

    Args:
        console: The console to print on; its width is the largest width of a block.
        names: The names of the columns; the first one begins every block.
        rows: The cells of each row as texts, as many as there are names.
    """
    count = len(names) - 1
    for blocks in range(1, count + 1):
        size = -(-count // blocks)
        chosen = [[0, *range(1, count + 1)[at : at + size]] for at in range(0, count, size)]
        tables = [
            ([names[k] for k in own], [[row[k] for k in own] for row in rows]) for own in chosen
        ]
        if all(_layout(console, *table) for table in tables):
            break
    for number, table in enumerate(tables):
        if number:
            console.print()
        show_rows(console, *table)


def _layout(
    console: Console,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[str] = (),
) -> tuple[list[int], int] | None:
    """The widths of columns and the gap between them; None if they do not fit the terminal."""
    gap = 2 if console.width >= 100 else 1
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    widths = _widths(names, columns, numbers, console.width - gap * (len(names) - 1))
    return None if widths is None else (widths, gap)


def _widths(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    numbers: Collection[str],
    room: int,
) -> list[int] | None:
    """Return the width of each column; None if they do not fit."""
    wanted, least = [], []
    for name, cells in zip(names, columns, strict=True):
        widest = max((cell_len(cell) for cell in cells), default=0)
        wanted.append(max(widest, cell_len(name)))
        words = max(map(_longest_word, (name, *cells)))
        floor = min(widest, LEAST_TEXT)
        least.append(max(_longest_word(name), widest) if name in numbers else max(words, floor))
    while sum(wanted) > room:
        # The widest of those that can give way.
        free = [place for place, width in enumerate(wanted) if width > least[place]]
        if not free:
            return None
        wanted[max(free, key=wanted.__getitem__)] -= 1
    return wanted


def _longest_word(text: str) -> int:
    return max(map(cell_len, _SHARE.sub(_NARROW, text).split(" ")), default=0)


def _wrapped(text: str, width: int) -> str:
    """A text in lines of a width; a name stays with the share that follows it."""
    lines = textwrap.wrap(
        _SHARE.sub(_NARROW, text), max(width, 1), break_long_words=False, break_on_hyphens=False
    )
    return escape("\n".join(lines).replace(_NARROW, " "))


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
