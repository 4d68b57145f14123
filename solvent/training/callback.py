"""Exact learning curves.

The usual learning curve is a mean over evaluation episodes, with an error bar. Here the network
becomes a table at every evaluation and its value and gap are computed: the curve has no noise
but that of learning itself.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from stable_baselines3.common.callbacks import BaseCallback

from solvent.exact import Solution, solve
from solvent.exact.learning_curve import Evaluation, write_curve
from solvent.model import TabularGame
from solvent.model.parameters import shown
from solvent.training.extract import extract
from solvent.training.learned_score import learned_score


class CurveCallback(BaseCallback, ABC):
    """Evaluates the network every so many steps and when training ends.

    Evaluations happen between a learning step and the next collection of experience. Args and
    attributes are those of :class:`ExactEvalCallback`.
    """

    kind: ClassVar[type[Any]]
    """The class of the points."""

    section: ClassVar[str]
    """Where the points are logged."""

    def __init__(
        self,
        *,
        every: int,
        path: str | Path | None = None,
        curve: Sequence[Any] = (),
        after: Callable[[Any], None] | None = None,
    ) -> None:
        super().__init__()
        if every < 1:
            raise ValueError(f"every is {shown(every)}; allowed are whole numbers from 1")
        self.every = every
        self.path = path
        self.curve = list(curve)
        self.after = after
        self._clock = 0.0

    def _on_training_start(self) -> None:
        earlier = self.curve[-1].seconds if self.curve else 0.0
        self._clock = time.process_time() - earlier

    def _on_rollout_start(self) -> None:
        last = self.curve[-1].timesteps if self.curve else None
        if last is None or self.num_timesteps // self.every > last // self.every:
            self._evaluate()

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        if not self.curve or self.curve[-1].timesteps < self.num_timesteps:
            self._evaluate()

    def _evaluate(self) -> None:
        figures = self._measure()
        point = self.kind(
            timesteps=self.num_timesteps, seconds=time.process_time() - self._clock, **figures
        )
        self.curve.append(point)
        if self.path is not None:
            write_curve(self.path, self.curve, self.kind)
        for name, figure in asdict(point).items():
            if name != "timesteps":
                self.logger.record(f"{self.section}/{name}", figure)
        self.logger.dump(self.num_timesteps)
        if self.after is not None:
            self.after(point)

    @abstractmethod
    def _measure(self) -> dict[str, Any]:
        """The figures of a point, but for steps and time, by name; others may be logged."""


class ExactEvalCallback(CurveCallback):
    """Scores the network exactly every so many steps and when training ends.

    For any learner of Stable-Baselines3 whose network :func:`~solvent.training.extract.extract`
    takes, under ``VecNormalize`` with its statistics of the moment. Evaluations happen between a
    learning step and the next collection of experience, and draw no random numbers: training is
    the same with and without them.

    Args:
        game: The table that the training environments sample.
        every: Steps between evaluations.
        observation: What the network sees, as for ``extract``.
        player: Whose policy is learned.
        solution: Of `game`, if it is at hand; otherwise it is solved once.
        path: A CSV file for the curve, rewritten at every evaluation; None for none.
        curve: Points of an earlier part of the same training.
        after: Called after each evaluation.

    Attributes:
        curve: All points so far. They are also logged, under ``exact/``.
    """

    kind: ClassVar[type[Any]] = Evaluation
    section = "exact"

    def __init__(
        self,
        game: TabularGame,
        *,
        every: int,
        observation: str = "onehot",
        player: int = 0,
        solution: Solution | None = None,
        path: str | Path | None = None,
        curve: Sequence[Evaluation] = (),
        after: Callable[[Evaluation], None] | None = None,
    ) -> None:
        super().__init__(every=every, path=path, curve=curve, after=after)
        self.game = game
        self.observation = observation
        self.player = player
        self.solution = solution or solve(game)

    def _measure(self) -> dict[str, Any]:
        policies = extract(self.model, self.game, observation=self.observation, player=self.player)
        sampled = learned_score(self.game, policies.sampled, self.solution)
        mode = learned_score(self.game, policies.mode, self.solution)
        self.logger.record("exact/worst_start_gap", sampled.worst_start_gap)
        self.logger.record("exact/mode_worst_start_gap", mode.worst_start_gap)
        return {
            "value": sampled.value,
            "gap": sampled.optimality_gap,
            "mode_value": mode.value,
            "mode_gap": mode.optimality_gap,
        }
