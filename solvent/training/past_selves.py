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
from stable_baselines3.common.callbacks import BaseCallback

from solvent.envs import SeatVectorEnv
from solvent.model import TabularPolicy
from solvent.training.extract import extract
from solvent.training.vec_env import NativeVecEnv


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


class PastSelvesEnv(NativeVecEnv):
    """A native environment for both seats of a game in which the learner meets its past selves.

    Until :meth:`remember` is called for the first time it plays with the opponents that it was
    made with.

    Args:
        env: The environment, with ``seat="random"``.
        observation: What the learner sees in it.
        most: How many past selves are kept; the oldest one goes first.
        latest: The chance of meeting the latest; the others share the rest evenly.

    Attributes:
        selves: The past selves in the pool, the latest last.
    """

    def __init__(self, env: SeatVectorEnv, *, observation: str, most: int, latest: float) -> None:
        super().__init__(env)
        self.selves: list[PastSelf] = []
        self._observation, self._most, self._latest = observation, most, latest
        self._learner: BaseAlgorithm | None = None

    def remember(self, learner: BaseAlgorithm) -> None:
        """Put the present self of a learner into the pool.

        Plays that are under way go on against an opponent that is drawn from the new pool.
        """
        self._learner = learner
        self._replace([*self.selves, self._self(learner, learner.num_timesteps)][-self._most :])

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
            selves.append(self._self(self._learner, timesteps))
        policy.load_state_dict(present)
        self._replace(selves)
        super().set_state(state)

    def _self(self, learner: BaseAlgorithm, timesteps: int) -> PastSelf:
        game = self._native.game
        first, second = (
            extract(
                learner, game, observation=self._observation, player=p, name=f"self at {timesteps}"
            ).sampled
            for p in (0, 1)
        )
        return PastSelf(timesteps, _parameters(learner), (first, second))

    def _replace(self, selves: list[PastSelf]) -> None:
        self.selves = selves
        self._native.set_opponents([past.policies for past in selves], self.weights)


def _parameters(learner: BaseAlgorithm) -> dict[str, torch.Tensor]:
    """A copy of what the learner's network consists of."""
    return {name: tensor.clone() for name, tensor in learner.policy.state_dict().items()}


class RememberCallback(BaseCallback):
    """Puts the learner into the pool every so many steps.

    Args:
        venv: The learner's environment, in which it has been remembered once.
        every: Steps between one self and the next.
    """

    def __init__(self, venv: PastSelvesEnv, every: int) -> None:
        super().__init__()
        self._venv, self._every = venv, every

    def _on_rollout_start(self) -> None:
        last = self._venv.selves[-1].timesteps
        if self.num_timesteps // self._every > last // self._every:
            self._venv.remember(self.model)

    def _on_step(self) -> bool:
        return True
