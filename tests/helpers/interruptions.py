"""Trainings and programs that end before their end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from solvent.benchmark.progress import Moment, Report

if TYPE_CHECKING:
    from solvent.training import TrainingResult


class Interrupted(Exception):  # noqa: N818  # Not an error.
    """The end of an interrupted training."""


def stop_at(timesteps: int) -> Report:
    """A report that interrupts a training once it has been evaluated after so many steps."""

    def report(moment: Moment) -> None:
        last = moment.evaluation
        if last is not None and last.timesteps >= timesteps:
            raise Interrupted

    return report


def assert_same(a: TrainingResult, b: TrainingResult) -> None:
    """Two trainings learned the same, and have recorded it alike."""
    for kind in ("policies", "modes", "averages"):
        for one, other in zip(getattr(a, kind), getattr(b, kind), strict=True):
            np.testing.assert_array_equal(one.probabilities, other.probabilities)
    for mine, theirs in zip(a.networks, b.networks, strict=True):
        for one, other in zip(mine.network.weights, theirs.network.weights, strict=True):
            np.testing.assert_array_equal(one, other)
    assert (a.scores, a.mode_scores, a.average_scores) == (
        b.scores,
        b.mode_scores,
        b.average_scores,
    )
    assert [replace(p, seconds=0) for p in a.curve] == [replace(p, seconds=0) for p in b.curve]


def assert_goes_on(run: Callable[..., TrainingResult], folder: Path, *stops: int) -> TrainingResult:
    """A training that is stopped after some numbers of steps ends as one that is not.

    Args:
        run: The training, which takes a folder and perhaps a report of its progress.
        folder: For both trainings, that with stops in ``parts``.
        stops: The numbers of steps.
    """
    whole = run(folder=folder / "whole")
    for steps in stops:
        with pytest.raises(Interrupted):
            run(folder=folder / "parts", progress=stop_at(steps))
        assert json.loads((folder / "parts" / "run.json").read_text())["result"] is None
    assert_same(whole, run(folder=folder / "parts"))
    return whole


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
