"""Opponents that are the learner itself, as it was.

A learner that plays only its present self can go round in circles: it learns to beat what it does
now, forgets what it beat before, and comes back to it. So it meets a pool of its past selves, the
latest most often (fictitious self-play: Heinrich, Lanctot and Silver 2015). A past self is kept as
the parameters of its network; as an opponent it is the table of action probabilities that
:func:`~solvent.training.extract.extract` makes of them, one for each seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.envs import SeatVectorEnv
from solvent.model import TabularGame, TabularPolicy
from solvent.training.self_play_env import SelfPlayEnv


@dataclass(frozen=True, eq=False)
class PastSelf:
    """A learner as it was.

    Attributes:
        timesteps: The steps that it had taken.
        parameters: Of its network, by name.
        policies: What it plays in seat 0 and in seat 1, sampled.
    """

    timesteps: int
    parameters: dict[str, torch.Tensor]
    policies: tuple[TabularPolicy, TabularPolicy]


class PastSelvesEnv(SelfPlayEnv):
    """An environment for either seat in which the learner meets its past selves.

    Until :meth:`remember` is called for the first time it plays with the opponents that it was
    made with.

    Args:
        env: The environment, with ``seat="random"``.
        game: As for :class:`~solvent.training.self_play_env.SelfPlayEnv`.
        observation: As there.
        most: How many past selves are kept; the oldest one goes first.
        latest: The chance of meeting the latest; the others share the rest evenly.

    Attributes:
        selves: The past selves in the pool, the latest last.
    """

    def __init__(
        self, env: SeatVectorEnv, game: TabularGame, *, observation: str, most: int, latest: float
    ) -> None:
        super().__init__(env, game, observation=observation)
        self.selves: list[PastSelf] = []
        self._most, self._latest = most, latest
        self._learner: BaseAlgorithm | None = None

    @property
    def weights(self) -> list[float]:
        """The chances of meeting each of the selves."""
        others = len(self.selves) - 1
        return [(1 - self._latest) / others] * others + [self._latest] if others else [1.0]

    def get_state(self) -> dict[str, NDArray[Any]]:
        """What the environment needs to go on from here, the pool included."""
        state = super().get_state()
        state["past"] = np.array([past.timesteps for past in self.selves])
        for k, past in enumerate(self.selves):
            state |= {f"past {k}:{name}": p.numpy() for name, p in past.parameters.items()}
        return state

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`get_state` returned; a learner must have been remembered."""
        assert self._learner is not None
        policy = self._learner.policy
        present = _parameters(self._learner)
        selves = []
        for k, timesteps in enumerate(state["past"].tolist()):
            # The tables are made again: the same parameters give the same ones.
            policy.load_state_dict(
                {name: torch.from_numpy(state[f"past {k}:{name}"]) for name in present}
            )
            selves.append(
                PastSelf(
                    timesteps, _parameters(self._learner), self._played(self._learner, timesteps)
                )
            )
        policy.load_state_dict(present)
        self._replace(selves)
        super().set_state(state)

    def _meet(self, learner: BaseAlgorithm, policies: tuple[TabularPolicy, TabularPolicy]) -> None:
        """Put the present self of a learner into the pool.

        Plays that are under way go on against an opponent that is drawn from the new pool.
        """
        self._learner = learner
        present = PastSelf(learner.num_timesteps, _parameters(learner), policies)
        self._replace([*self.selves, present][-self._most :])

    def _replace(self, selves: list[PastSelf]) -> None:
        self.selves = selves
        self._native.set_opponents([past.policies for past in selves], self.weights)


def _parameters(learner: BaseAlgorithm) -> dict[str, torch.Tensor]:
    """A copy of what the learner's network consists of."""
    return {name: tensor.clone() for name, tensor in learner.policy.state_dict().items()}
