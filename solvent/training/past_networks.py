"""Opponents that are the learner itself as it was, in games without a table.

What :mod:`solvent.training.past_selves` does with tables of action probabilities is done here with
the networks themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from solvent.baselines.network import Network, NetworkPlayer
from solvent.envs.simulated_vector_env import SimulatedSeatVectorEnv
from solvent.training.self_play_env import saved_counts
from solvent.training.vec_env import NativeVecEnv


class PastNetworksEnv(NativeVecEnv):
    """An environment in which the learner meets its past selves, all equally often.

    Until the first of them is remembered it plays with the opponents that it was made with.

    Args:
        env: The environment.
        most: How many past selves are kept; the oldest one goes first.

    Attributes:
        selves: The past selves in the pool, the latest last.
        remembered: The steps that the learner had taken when it was remembered last; -1 if it
            was not.
    """

    def __init__(self, env: SimulatedSeatVectorEnv, most: int) -> None:
        super().__init__(env)
        self.selves: list[NetworkPlayer] = []
        self.remembered = -1
        self._most = most

    def remember(self, player: NetworkPlayer, timesteps: int) -> None:
        """Put the present self of a learner into the pool."""
        self.remembered = timesteps
        self._meet([*self.selves, player][-self._most :])

    def get_state(self) -> dict[str, NDArray[Any]]:
        """What the environment needs to go on from here, the pool included."""
        state = super().get_state()
        state["remembered"] = np.array([self.remembered, len(self.selves)])
        for k, past in enumerate(self.selves):
            for name in ("weights", "biases"):
                for layer, array in enumerate(getattr(past.network, name)):
                    state[f"past {k} {name} {layer}"] = array
        return state

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`get_state` returned; a learner must have been remembered."""
        like = self.selves[-1]
        self.remembered, count = saved_counts(state["remembered"])
        layers = range(len(like.network.weights))
        selves = []
        for k in range(count):
            weights, biases = (
                tuple(state[f"past {k} {name} {layer}"] for layer in layers)
                for name in ("weights", "biases")
            )
            network = Network(weights, biases, like.network.activation)
            selves.append(
                NetworkPlayer(network, like.rule, like.masked, like.observation, like.name)
            )
        self._meet(selves)
        super().set_state(state)

    def _meet(self, selves: list[NetworkPlayer]) -> None:
        self.selves = selves
        self._native.set_opponents(selves)


class PastNetworksCallback(BaseCallback):
    """Has the environment remember the learner every so many steps.

    Args:
        venv: The learner's environment, in which it has been remembered once.
        player: Makes a player of the learner as it is.
        every: Steps between one self and the next.
    """

    def __init__(
        self, venv: PastNetworksEnv, player: Callable[[BaseAlgorithm], NetworkPlayer], every: int
    ) -> None:
        super().__init__()
        self._venv, self._player, self._every = venv, player, every

    def _on_rollout_start(self) -> None:
        if self.num_timesteps // self._every > self._venv.remembered // self._every:
            self._venv.remember(self._player(self.model), self.num_timesteps)

    def _on_step(self) -> bool:
        return True
