"""Trainings and programs that end before their end."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable

from solvent.benchmark.progress import Moment, Report


class Interrupted(Exception):  # noqa: N818  # Not an error.
    """The end of an interrupted training."""


def stop_at(timesteps: int) -> Report:
    """A report that interrupts a training once it has been evaluated after so many steps."""

    def report(moment: Moment) -> None:
        last = moment.evaluation
        if last is not None and last.timesteps >= timesteps:
            raise Interrupted

    return report


def stopped(code: str, ready: Callable[[], object], sent: int = signal.SIGKILL) -> tuple[str, str]:
    """Run a program until something is ready, send it a signal, and return both its outputs."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 300
    try:
        while not ready():
            assert process.poll() is None, "it ended before it could be stopped"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(sent)
        return process.communicate(timeout=60)
    finally:
        process.kill()
