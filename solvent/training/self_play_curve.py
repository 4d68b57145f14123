"""Exact learning curves of self-play: how exploitable a network is in either seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.exact.learning_curve import Evaluation
from solvent.model import TabularGame
from solvent.training.average import AveragePolicy
from solvent.training.callback import ExactEvalCallback
from solvent.training.extract import Extraction, extract
from solvent.training.learned_score import learned_exploitability
from solvent.training.roles import with_roles, without_roles
from solvent.training.self_play_env import SEATS


@dataclass(frozen=True, slots=True)
class SelfPlayEvaluation(Evaluation):
    """One point of a learning curve of self-play.

    The figures that it shares with :class:`~solvent.exact.learning_curve.Evaluation` are means over
    both seats: `gap` is the mean exploitability, half of NashConv, and `value` the mean of what
    the policies get against best responses, which is 0 for a pair of optimal ones.

    Attributes:
        exploitability_0: Exact exploitability of the policy in seat 0, sampled.
        exploitability_1: In seat 1.
        mode_exploitability_0: Of its most probable actions in seat 0.
        mode_exploitability_1: In seat 1.
        average_exploitability_0: Of the average of what it played in seat 0.
        average_exploitability_1: In seat 1.
    """

    exploitability_0: float
    exploitability_1: float
    mode_exploitability_0: float
    mode_exploitability_1: float
    average_exploitability_0: float
    average_exploitability_1: float


def extract_seats(
    model: BaseAlgorithm, game: TabularGame, *, observation: str = "onehot", name: str | None = None
) -> tuple[Extraction, Extraction]:
    """What a network plays in seat 0 and in seat 1; the arguments are those of ``extract``.

    Args:
        model: See :func:`~solvent.training.extract.extract`.
        game: See there.
        observation: See there.
        name: See there.
    """
    learned = with_roles(game)
    first, second = (
        extract(model, learned, observation=observation, player=p, name=name) for p in SEATS
    )
    return _own(first, game), _own(second, game)


def _own(found: Extraction, game: TabularGame) -> Extraction:
    """What was extracted with roles, in the game itself."""
    return replace(
        found, sampled=without_roles(found.sampled, game), mode=without_roles(found.mode, game)
    )


class SelfPlayEvalCallback(ExactEvalCallback):
    """Computes at each evaluation how exploitable the network is in either seat.

    Args:
        game: As for :class:`~solvent.training.callback.ExactEvalCallback`.
        averages: Of what it played in both seats, as they grow.
        arguments: The others of ``ExactEvalCallback``.
    """

    kind: ClassVar[type[Any]] = SelfPlayEvaluation
    curve: list[SelfPlayEvaluation]

    def __init__(
        self, game: TabularGame, *, averages: Sequence[AveragePolicy], **arguments: Any
    ) -> None:
        super().__init__(game, **arguments)
        self._averages = averages

    def _measure(self) -> dict[str, Any]:
        figures: dict[str, Any] = {"value": 0, "gap": 0, "mode_value": 0, "mode_gap": 0}
        seats = extract_seats(self.model, self.game, observation=self.observation)
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
