"""What environments of self-play share: they remember what their learner has played."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from solvent.model import TabularGame, TabularPolicy
from solvent.model.parameters import shown
from solvent.training.average import AveragePolicy
from solvent.training.extract import extract
from solvent.training.roles import without_roles
from solvent.training.vec_env import NativeVecEnv

SEATS = (0, 1)


class SelfPlayEnv(NativeVecEnv):
    """A native environment for both seats, and the average of what the learner plays in it.

    Args:
        env: The environment, over ``with_roles(game)``; its plays may begin elsewhere.
        game: The game.
        observation: What the learner sees in it.

    Attributes:
        averages: Of the learner's policies in seat 0 and in seat 1, for `game`, over all its
            selves that were remembered.
        remembered: The steps that the learner had taken when it was remembered last; -1 if it
            was not.
    """

    def __init__(
        self, env: VectorEnv[Any, Any, Any], game: TabularGame, *, observation: str
    ) -> None:
        super().__init__(env)
        self.averages = tuple(AveragePolicy(game, seat) for seat in SEATS)
        self.remembered = -1
        self._game, self._observation = game, observation

    def remember(self, learner: BaseAlgorithm) -> None:
        """Take what a learner plays now into the averages."""
        self.remembered = learner.num_timesteps
        policies = self._played(learner, self.remembered)
        for average, policy in zip(self.averages, policies, strict=True):
            average.add(without_roles(policy, self._game))
        self._meet(learner, policies)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """What the environment needs to go on from here, the averages included."""
        state = super().get_state()
        state["remembered"] = np.array([self.remembered, self.averages[0].count])
        return state | {f"average {k}": one.mean for k, one in enumerate(self.averages)}

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`get_state` returned.

        Raises:
            ValueError: If an array is not of that form.
            KeyError: If one is missing.
        """
        self.remembered, count = saved_counts(state["remembered"])
        for k, one in enumerate(self.averages):
            one.restore(count, state[f"average {k}"])
        super().set_state(state)

    def _meet(self, learner: BaseAlgorithm, policies: tuple[TabularPolicy, TabularPolicy]) -> None:
        """What else is to be done with a learner that is remembered; nothing here."""

    def _played(
        self, learner: BaseAlgorithm, timesteps: int
    ) -> tuple[TabularPolicy, TabularPolicy]:
        """What a learner plays in both seats, sampled, in the game that the environment has."""
        game, name = self._native.game, f"self at {timesteps}"
        first, second = (
            extract(learner, game, observation=self._observation, player=seat, name=name).sampled
            for seat in SEATS
        )
        return first, second


def saved_counts(saved: NDArray[Any]) -> tuple[int, int]:
    """The steps at which a learner was remembered last, -1 if it was not, and how many selves are.

    Args:
        saved: Both, as an environment saved them.

    Raises:
        ValueError: If they are not two such numbers.
    """
    if saved.shape != (2,) or saved.dtype.kind != "i" or saved[0] < -1 or saved[1] < 0:
        raise ValueError(
            f"saved remembered is {shown(saved.tolist())}; expected whole numbers from -1 and 0"
        )
    return int(saved[0]), int(saved[1])


class RememberCallback(BaseCallback):
    """Has the environment remember the learner every so many steps.

    Args:
        venv: The learner's environment, in which it has been remembered once.
        every: Steps between one self and the next.
    """

    def __init__(self, venv: SelfPlayEnv, every: int) -> None:
        super().__init__()
        self._venv, self._every = venv, every

    def _on_rollout_start(self) -> None:
        if self.num_timesteps // self._every > self._venv.remembered // self._every:
            self._venv.remember(self.model)

    def _on_step(self) -> bool:
        return True
