"""Progress of long computations.

The caller of a computation passes a function, which is called with a :class:`Progress` at most ten
times a second.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

INTERVAL = 0.1
"""Least time between two calls within a phase, in seconds."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one phase of a computation.

    Attributes:
        done: Number of finished states.
        total: Number of all states; None if unknown.
        what: The phase: ``"compiling"``, ``"solving"`` or ``"proving"``.
    """

    done: int
    total: int | None
    what: str


OnProgress: TypeAlias = Callable[[Progress], None]
"""Receives the progress. An exception that it raises ends the computation."""


class ProgressReporter:
    """Reports the progress of a phase: at its beginning, ten times a second, and at its end.

    Args:
        progress: The function to call; None to report nothing.
        what: The phase.
        total: Number of all states; None if unknown.
        before: Number of states that were finished before this phase.
    """

    def __init__(
        self, progress: OnProgress | None, what: str, total: int | None = None, *, before: int = 0
    ) -> None:
        self._progress, self._what, self._total, self._before = progress, what, total, before
        self._next, self._reported = 0.0, -1
        self(0)

    def __call__(self, done: int) -> None:
        """Report, if a report is due.

        Args:
            done: Number of finished states, without those before.
        """
        if self._progress is None:
            return
        done += self._before
        now = time.monotonic()
        if (now >= self._next or done == self._total) and done != self._reported:
            self._next, self._reported = now + INTERVAL, done
            self._progress(Progress(done, self._total, self._what))
