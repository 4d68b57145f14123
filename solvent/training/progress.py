"""A training of Stable-Baselines3 tells how far it has come."""

from __future__ import annotations

import time
from collections.abc import Sequence

from stable_baselines3.common.callbacks import BaseCallback

from solvent.benchmark.progress import Moment, Report
from solvent.exact.learning_curve import CurvePoint

INTERVAL = 0.2
"""Least time between two reports of a training, in seconds."""


class ReportCallback(BaseCallback):
    """Reports progress some times a second, and every evaluation.

    Args:
        report: Called with a :class:`Moment`. What it raises ends the training.
        total: Steps to be taken.
        curve: The learning curve, which others write.
    """

    def __init__(self, report: Report, total: int, curve: Sequence[CurvePoint]) -> None:
        super().__init__()
        self._report, self._total, self._curve = report, total, curve
        self._told: CurvePoint | None = None
        self._next = 0.0

    def _on_rollout_start(self) -> None:
        if time.monotonic() >= self._next or self._newest is not self._told:
            self._tell()
            self._next = time.monotonic() + INTERVAL

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self._tell()

    @property
    def _newest(self) -> CurvePoint | None:
        return self._curve[-1] if self._curve else None

    def _tell(self) -> None:
        self._told = self._newest
        self._report(Moment(min(self.num_timesteps, self._total), self._total, self._told))
