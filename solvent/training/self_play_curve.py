"""Exact learning curves of self-play: how exploitable a network is in either seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.exact.response import response_values
from solvent.model import TabularGame
from solvent.training.callback import Evaluation, ExactEvalCallback
from solvent.training.extract import Extraction, extract

SEATS = (0, 1)


@dataclass(frozen=True, slots=True)
class SelfPlayEvaluation(Evaluation):
    """One point of a learning curve of self-play.

    The figures that it shares with :class:`~solvent.training.callback.Evaluation` are means over
    both seats: `gap` is the mean exploitability, half of NashConv, and `value` the mean of what
    the policies get against best responses, which is 0 for a pair of optimal ones.

    Attributes:
        exploitability_0: Exact exploitability of the policy in seat 0, sampled.
        exploitability_1: In seat 1.
        mode_exploitability_0: Of its most probable actions in seat 0.
        mode_exploitability_1: In seat 1.
    """

    exploitability_0: float
    exploitability_1: float
    mode_exploitability_0: float
    mode_exploitability_1: float


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
    first, second = (
        extract(model, game, observation=observation, player=p, name=name) for p in SEATS
    )
    return first, second


class SelfPlayEvalCallback(ExactEvalCallback):
    """Computes at each evaluation how exploitable the network is in either seat.

    The arguments are those of :class:`~solvent.training.callback.ExactEvalCallback`.
    """

    kind: ClassVar[type[Evaluation]] = SelfPlayEvaluation
    curve: list[SelfPlayEvaluation]  # type: ignore[assignment]

    def _measure(self) -> dict[str, Any]:
        # `score` would tell more than is asked for here, and takes many times as long.
        figures: dict[str, Any] = {"value": 0, "gap": 0, "mode_value": 0, "mode_gap": 0}
        seats = extract_seats(self.model, self.game, observation=self.observation)
        for seat, policies in enumerate(seats):
            for prefix, policy in (("", policies.sampled), ("mode_", policies.mode)):
                sign = 1 - 2 * seat
                value = sign * float(self.game.initial @ response_values(self.game, policy))
                gap = sign * self.solution.value - value
                figures[f"{prefix}value"] += value / 2
                figures[f"{prefix}gap"] += gap / 2
                figures[f"{prefix}exploitability_{seat}"] = gap
        return figures
