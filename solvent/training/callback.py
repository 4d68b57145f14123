"""Callbacks of a training: its learning curve, its progress, and snapshots of its learner.

The usual learning curve is a mean over evaluation episodes, with an error bar. If a game has a
table, the network becomes one at every evaluation, and its value and gap are computed exactly: the
only noise in such a curve is that of learning itself.

**Snapshots.** A learner that plays only against its present self can go in circles: it learns to
beat its present policy, forgets the policies that it beat before, and returns to them. So a
snapshot of it regularly joins a *pool* of opponents, from which each episode draws one (fictitious
self-play: Heinrich, Lanctot and Silver 2015). If the game has a table, a snapshot plays as a table
of action probabilities for each seat, otherwise as a network. After an interruption, either is made
again from the learner's saved parameters.

**The average policy.** If both players act at once, optimal policies usually mix actions. Learners
that respond to each other circle around them. In a single matrix game, the average of their
policies approaches the mixed strategy, while their last policies need not: this is the theorem of
fictitious play (Robinson 1951) and of no-regret learning. Here the average is taken in each state
of a larger game. Early policies are poor, so the k-th policy has the weight k^2 (quadratic
averaging, as in discounted regret minimization: Brown and Sandholm 2019).
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.benchmark.progress import Moment, Report
from solvent.exact import Solution, cached_solution
from solvent.exact.learning_curve import Evaluation, write_curve
from solvent.exact.scoring import comparable_score, learned_exploitability
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import check_integer
from solvent.training.algorithms import Watcher
from solvent.training.environments import NativeVecEnv, without_roles
from solvent.training.extract import SEATS, extract, extract_seats

Arrays = dict[str, NDArray[Any]]


class AveragePolicy:
    """The mean of a player's policies in each state, in which the k-th has the weight k^2.

    Args:
        game: The game.
        player: The player whose policies are averaged.

    Attributes:
        game: The game.
        count: Number of policies in the mean.
        mean: [S, A] mean of the policies; uniform while there are none.
    """

    def __init__(self, game: TabularGame, player: int) -> None:
        self.game, self._player = game, player
        self.count = 0
        self.mean: Floats = TabularPolicy.uniform(game, player=player).probabilities

    def add(self, policy: TabularPolicy) -> None:
        """Add a policy to the mean.

        Args:
            policy: A policy of the player for the game.
        """
        self.count += 1
        # The weights of 1..k sum to k (k + 1) (2 k + 1) / 6, of which the last has k^2.
        share = 6 * self.count / ((self.count + 1) * (2 * self.count + 1))
        self.mean += share * (policy.probabilities - self.mean)

    def policy(self, name: str = "average") -> TabularPolicy:
        """Return the mean so far as a policy.

        Args:
            name: Name of the policy.
        """
        # Rounding leaves sums that are off by some units in the last place.
        total = self.mean.sum(axis=1, keepdims=True)
        mean = self.mean / np.where(total > 0, total, 1.0)
        return TabularPolicy.of(self.game, mean, player=self._player, name=name)


class Snapshot(NamedTuple):
    """A past state of a learner.

    Attributes:
        parameters: The parameters of its networks, by name.
        opponent: Its policy for the other seat, in the environment's form for opponents.
    """

    parameters: Arrays
    opponent: Any


class SelfPlayEnv(NativeVecEnv):
    """A native environment in which a learner meets snapshots of itself.

    Until the first call of :meth:`remember` the opponents are those of the given environment.

    Args:
        env: The environment. Unless `size` is 0 it has ``set_opponents``.
        policy_of: Function from a learner to its present policy, in the environment's form for
            opponents.
        averages: The average policies of both seats, which each remembered policy joins; none in a
            game without a table.
        size: Largest number of snapshots in the pool; the oldest is dropped first. With 0 there is
            no pool: the learner takes every seat.
        latest: Probability of meeting the latest snapshot; the others share the rest evenly. By
            default all are met equally often.

    Attributes:
        averages: The average policies.
        snapshots: The snapshots in the pool, the latest last.
        remembered: Number of steps that the learner had taken when it was last remembered; -1 if
            it was not.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        policy_of: Callable[[BaseAlgorithm], Any],
        *,
        averages: Sequence[AveragePolicy] = (),
        size: int = 0,
        latest: float | None = None,
    ) -> None:
        super().__init__(env)
        self.averages = averages
        self.snapshots: list[Snapshot] = []
        self.remembered = -1
        self._policy_of, self._size, self._latest = policy_of, size, latest
        self._learner: BaseAlgorithm | None = None

    @property
    def weights(self) -> list[float] | None:
        """Probability of meeting each snapshot; None if all are equal."""
        if self._latest is None:
            return None
        others = len(self.snapshots) - 1
        return [(1 - self._latest) / others] * others + [self._latest] if others else [1.0]

    def remember(self, learner: BaseAlgorithm) -> None:
        """Add a learner's present policy to the pool and the averages.

        Running episodes continue against an opponent drawn from the new pool.
        """
        self._learner, self.remembered = learner, learner.num_timesteps
        snapshot = self._snapshot(learner)
        if self.averages:
            for average, policy in zip(self.averages, snapshot.opponent, strict=True):
                average.add(without_roles(policy, average.game))
        if self._size:
            self._set_pool([*self.snapshots, snapshot][-self._size :])

    def get_state(self) -> Arrays:
        """Return the environment's complete state, including snapshots and averages."""
        state = super().get_state()
        count = self.averages[0].count if self.averages else len(self.snapshots)
        state["remembered"] = np.array([self.remembered, count])
        for k, snapshot in enumerate(self.snapshots):
            state |= {f"past {k}:{name}": array for name, array in snapshot.parameters.items()}
        return state | {f"average {k}": one.mean for k, one in enumerate(self.averages)}

    def set_state(self, state: Arrays) -> None:
        """Restore a state that :meth:`get_state` returned; a learner must have been remembered.

        Raises:
            ValueError: If an array is not of that form.
            KeyError: If an array is missing.
        """
        self.remembered, count = map(int, state["remembered"])
        for k, average in enumerate(self.averages):
            average.count, average.mean = count, state[f"average {k}"].copy()
        if self._size:
            self._set_pool(self._restored(state, min(count, self._size)))
        super().set_state(state)

    def _set_pool(self, snapshots: list[Snapshot]) -> None:
        self.snapshots = snapshots
        self._native.set_opponents([one.opponent for one in snapshots], self.weights)

    def _snapshot(self, learner: BaseAlgorithm) -> Snapshot:
        weights = learner.policy.state_dict()
        copies = {name: tensor.numpy(force=True).copy() for name, tensor in weights.items()}
        return Snapshot(copies, self._policy_of(learner))

    def _restored(self, state: Arrays, count: int) -> list[Snapshot]:
        """Return the saved snapshots; equal parameters give equal policies."""
        assert self._learner is not None
        policy = self._learner.policy
        present = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
        if not state.keys() >= {f"past {k}:{name}" for k in range(count) for name in present}:
            raise ValueError("its snapshots are of a version before 0.3; --fresh starts again")
        snapshots = []
        for k in range(count):
            policy.load_state_dict(
                {name: torch.from_numpy(state[f"past {k}:{name}"]) for name in present}
            )
            snapshots.append(self._snapshot(self._learner))
        policy.load_state_dict(present)
        return snapshots


def policies_of_seats(
    game: TabularGame, observation: str, learner: BaseAlgorithm
) -> tuple[TabularPolicy, ...]:
    """Return a learner's present policies in both seats, as tables.

    Args:
        game: The game that its environment samples.
        observation: The kind of observation that the learner gets.
        learner: The learner.
    """
    return tuple(
        extract(learner, game, observation=observation, player=seat, gate=False).sampled
        for seat in SEATS
    )


class SnapshotCallback(Watcher):
    """Callback that makes the environment remember the learner at regular intervals.

    Args:
        venv: The learner's environment, whose ``remember`` has been called once.
        every: Steps between one snapshot and the next.
    """

    def __init__(self, venv: SelfPlayEnv, every: int) -> None:
        super().__init__()
        self._venv, self._every = venv, every

    def _on_rollout_start(self) -> None:
        if self.num_timesteps // self._every > self._venv.remembered // self._every:
            self._venv.remember(self.model)


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
        """The mean return in words."""
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
        saw: Whether the learner was given anything from the solution; the file notes it.
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
            # A rollout may have more steps than were asked for.
            steps, total = self.num_timesteps, self.model._total_timesteps
            self.report(Moment(steps, max(steps, total), self.curve[-1]))
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
        sampled = comparable_score(self.game, policies.sampled, self.solution)
        mode = comparable_score(self.game, policies.mode, self.solution)
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

    def _on_step(self) -> bool:
        rewards, dones = self.locals["rewards"], self.locals["dones"]
        # Returns of running episodes are the learner's, so that its checkpoints have them.
        model: Any = self.model
        returns = getattr(model, "_last_returns", np.zeros(len(rewards))) + rewards
        self._episodes += int(dones.sum())
        self._total += float(returns[dones].sum())
        returns[dones] = 0.0
        model._last_returns = returns
        return True

    def _measure(self) -> dict[str, Any]:
        figures = {"plays": self._episodes, "mean": self._total / max(self._episodes, 1)}
        self._episodes, self._total = 0, 0.0
        return figures
