"""Work that takes longer than a request: each in a thread of its own, and its result is kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock, Thread
from typing import Any

from solvent.model.progress import OnProgress, Progress

PATIENCE = 0.1
"""Seconds that a request waits for a result."""

MOST_KEPT = 200
"""Results that are kept."""

MOST_RUNNING = 8
"""Jobs that run at the same time."""

Work = Callable[[OnProgress], Any]
"""Work that tells its progress and returns a result."""


class Job:
    """Work in a thread of its own.

    Attributes:
        result: The result; None until there is one.
        error: The reason why there will be none.
        now: The progress so far, in words.
        share: The progress so far, from 0 to 1.
    """

    def __init__(self, work: Work) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        self.now, self.share = "starting", 0.0
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def done(self, patience: float = PATIENCE) -> bool:
        """Wait for the end, and return whether it has come.

        Args:
            patience: The most seconds to wait.
        """
        self._thread.join(patience)
        return not self._thread.is_alive()

    def found(self) -> Any:
        """Return the result, once the work has ended.

        Raises:
            Exception: Whatever the work has raised.
        """
        if self.error is not None:
            # Raised again and again, it would otherwise keep the frames of every request.
            raise self.error.with_traceback(None)
        return self.result

    def _run(self, work: Work) -> None:
        try:
            self.result = work(self._told)
        except Exception as error:  # It is told on the page that waits for the result.
            self.error = error

    def _told(self, progress: Progress) -> None:
        self.now = progress.what
        self.share = progress.done / progress.total if progress.total else 0.0


class Jobs:
    """Jobs by what they are about."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, Job] = {}
        self._lock = Lock()

    def of(self, key: Hashable, work: Work) -> Job:
        """Return the job on a subject, which is started if there is none.

        Args:
            key: The subject.
            work: The work.

        Raises:
            ValueError: If too many others are running.
        """
        with self._lock:
            if key not in self._jobs:
                ended = [one for one, job in self._jobs.items() if job.done(0)]
                if len(self._jobs) - len(ended) >= MOST_RUNNING:
                    raise ValueError(
                        f"{MOST_RUNNING} computations are running; load this page again when one "
                        f"of them has ended"
                    )
                if len(self._jobs) >= MOST_KEPT:
                    self._jobs.pop(ended[0])
                self._jobs[key] = Job(work)
            return self._jobs[key]
