"""Callbacks that write the learning curve of a training and report its progress.

The usual learning curve is a mean over evaluation episodes, with an error bar. If a game has a
table, the network becomes one at every evaluation, and its value and gap are computed exactly: the
only noise in such a curve is that of learning itself.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from solvent.benchmark.policies import learned_exploitability, recorded_score
from solvent.benchmark.progress import Moment, Report
from solvent.exact import Solution, cached_solution
from solvent.exact.learning_curve import Evaluation, write_curve
from solvent.model import TabularGame
from solvent.model.arrays import Floats
from solvent.model.parameters import check_integer
from solvent.training.algorithms import Watcher
from solvent.training.extract import extract, extract_seats
from solvent.training.snapshots import AveragePolicy

INTERVAL = 0.2
"""Least time between two reports of a training, in seconds."""


@dataclass(frozen=True, slots=True)
class SelfPlayEvaluation(Evaluation):
    """One point of a learning curve of self-play.

    The figures inherited from :class:`~solvent.exact.learning_curve.Evaluation` are means over both
    seats: `gap` is the mean exploitability, half of NashConv, and `value` the mean of the policies'
    values against best responses, which is 0 for a pair of optimal policies.

    Attributes:
        exploitability_0: Exact exploitability of the sampled policy in seat 0.
        exploitability_1: Exact exploitability of the sampled policy in seat 1.
        mode_exploitability_0: Exact exploitability of the greedy policy in seat 0.
        mode_exploitability_1: Exact exploitability of the greedy policy in seat 1.
        average_exploitability_0: Exact exploitability of the average policy in seat 0.
        average_exploitability_1: Exact exploitability of the average policy in seat 1.
    """

    exploitability_0: float
    exploitability_1: float
    mode_exploitability_0: float
    mode_exploitability_1: float
    average_exploitability_0: float
    average_exploitability_1: float


@dataclass(frozen=True, slots=True)
class ReturnSoFar:
    """One point of a learning curve in a game without a table: returns with exploration.

    Attributes:
        timesteps: Steps taken so far, in all environments together.
        plays: Number of episodes that have ended since the last point.
        mean: The learner's mean return in these episodes; 0 if there are none.
        seconds: CPU time spent so far.
    """

    timesteps: int
    plays: float
    mean: float
    seconds: float

    @property
    def summary(self) -> str:
        """The mean return."""
        return f"mean {self.mean:z.3f}"


class CurveCallback(Watcher, ABC):
    """Evaluates the network at regular intervals and when training ends.

    Evaluations happen between a learning step and the next collection of transitions.

    Args:
        every: Steps between evaluations.
        path: CSV file of the curve, rewritten at every evaluation; None to write no file.

    Attributes:
        curve: All points so far. They are also logged, under `section`.
        after: Function to call after each evaluation.
        report: Function that is called with the progress of training a few times a second, and
            after each evaluation. An exception in it ends training.
        saw: Whether the learner was given anything from the solution, as the file then notes.
    """

    kind: ClassVar[type[Any]]
    """The class of the points."""

    section: ClassVar[str]
    """Prefix of the points in the log."""

    def __init__(self, *, every: int, path: str | Path | None = None) -> None:
        super().__init__()
        self.every = check_integer(every, "every", 1, 10**12)
        self.path = path
        self.curve: list[Any] = []
        self.after: Callable[[Any], None] | None = None
        self.report: Report | None = None
        self.saw = False
        self._clock = self._next_report = 0.0

    def _on_training_start(self) -> None:
        earlier = self.curve[-1].seconds if self.curve else 0.0
        self._clock = time.process_time() - earlier

    def _on_rollout_start(self) -> None:
        last = self.curve[-1].timesteps if self.curve else None
        if last is None or self.num_timesteps // self.every > last // self.every:
            self._evaluate()
        elif time.monotonic() >= self._next_report:
            self._report()

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
            write_curve(self.path, self.curve, self.kind, saw=self.saw)
        for name, figure in asdict(point).items():
            if name != "timesteps":
                self.logger.record(f"{self.section}/{name}", figure)
        self.logger.dump(self.num_timesteps)
        if self.after is not None:
            self.after(point)
        self._report()

    def _report(self) -> None:
        if self.report is not None:
            total = self.model._total_timesteps
            self.report(Moment(min(self.num_timesteps, total), total, self.curve[-1]))
            self._next_report = time.monotonic() + INTERVAL

    @abstractmethod
    def _measure(self) -> dict[str, Any]:
        """Return the figures of a point by name, without steps and time; may log others."""


class ExactEvalCallback(CurveCallback):
    """Scores the network exactly at regular intervals and when training ends.

    It works for any learner of Stable-Baselines3 whose network
    :func:`~solvent.training.extract.extract` accepts. Under ``VecNormalize`` it uses the present
    statistics. Evaluations happen between a learning step and the next collection of transitions
    and draw no random numbers: training is the same with and without them. At the first evaluation
    the network has to pass the gate (:mod:`solvent.baselines.gate`).

    Args:
        game: The table that the training environments sample.
        every: Steps between evaluations.
        observation: The network's kind of observation, as for ``extract``.
        player: The player whose policy is learned.
        solution: Solution of `game`, if available; otherwise the game is solved once.
        path: CSV file of the curve, rewritten at every evaluation; None to write no file.

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
        observation: str | None = None,
        player: int = 0,
        solution: Solution | None = None,
        path: str | Path | None = None,
    ) -> None:
        super().__init__(every=every, path=path)
        self.game, self.player, self.observation = game, player, observation
        self.solution = solution or cached_solution(game)
        self._gate = True

    def _measure(self) -> dict[str, Any]:
        policies = extract(
            self.model,
            self.game,
            observation=self.observation,
            player=self.player,
            gate=self._gate,
        )
        self._gate = False
        sampled = recorded_score(self.game, policies.sampled, self.solution)
        mode = recorded_score(self.game, policies.mode, self.solution)
        self.logger.record("exact/worst_start_gap", sampled.worst_start_gap)
        self.logger.record("exact/mode_worst_start_gap", mode.worst_start_gap)
        return {
            "value": sampled.value,
            "gap": sampled.optimality_gap,
            "mode_value": mode.value,
            "mode_gap": mode.optimality_gap,
        }


class SelfPlayEvalCallback(ExactEvalCallback):
    """Computes the network's exploitability in each seat at every evaluation.

    Args:
        game: The table of a two-player game.
        averages: The average policies of both seats, which training updates.
        arguments: The other arguments of :class:`ExactEvalCallback`.
    """

    kind = SelfPlayEvaluation

    def __init__(
        self, game: TabularGame, *, averages: Sequence[AveragePolicy], **arguments: Any
    ) -> None:
        super().__init__(game, **arguments)
        self._averages = averages

    def _measure(self) -> dict[str, Any]:
        figures: dict[str, Any] = {"value": 0, "gap": 0, "mode_value": 0, "mode_gap": 0}
        seats = extract_seats(self.model, self.game, observation=self.observation, gate=self._gate)
        self._gate = False
        for seat, policies in enumerate(seats):
            for prefix, policy in (("", policies.sampled), ("mode_", policies.mode)):
                gap = learned_exploitability(self.game, policy, self.solution)
                figures[f"{prefix}exploitability_{seat}"] = gap
                figures[f"{prefix}value"] += ((1 - 2 * seat) * self.solution.value - gap) / 2
                figures[f"{prefix}gap"] += gap / 2
            average = self._averages[seat].policy()
            gap = learned_exploitability(self.game, average, self.solution)
            figures[f"average_exploitability_{seat}"] = gap
        return figures


class ReturnCallback(CurveCallback):
    """Records the returns of the training's episodes, with exploration.

    Args:
        arguments: Arguments of :class:`CurveCallback`.
    """

    kind = ReturnSoFar
    section = "plays"

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._episodes, self._total = 0, 0.0
        self._return: Floats | None = None

    def _on_step(self) -> bool:
        rewards, dones = self.locals["rewards"], self.locals["dones"]
        if self._return is None:
            self._return = np.zeros(len(rewards))
        self._return += rewards
        self._episodes += int(dones.sum())
        self._total += float(self._return[dones].sum())
        self._return[dones] = 0.0
        return True

    def _measure(self) -> dict[str, Any]:
        figures = {"plays": self._episodes, "mean": self._total / max(self._episodes, 1)}
        self._episodes, self._total = 0, 0.0
        return figures
