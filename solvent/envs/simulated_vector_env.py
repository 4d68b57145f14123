"""Many learners in seats of a game for two that is sampled without a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from solvent.envs.plays_vector_env import Batch, PlaysVectorEnv
from solvent.envs.rendering import Screen
from solvent.envs.seat_env import Seat, seats_of
from solvent.envs.seat_plays import SeatPlays
from solvent.envs.simulation import Player, Sampler
from solvent.model.arrays import Bools, Ints


class SimulatedSeatVectorEnv(PlaysVectorEnv):
    """`num_envs` copies of :class:`solvent.envs.simulated_seat_env.SimulatedSeatEnv`.

    Equal to ``SyncVectorEnv`` around as many single environments, if a player's answer does not
    depend on how many it is asked for at once.

    Args:
        sampler: The game.
        opponents: Who takes the other seat.
        num_envs: As for :class:`~solvent.envs.TabularVectorEnv`, like `autoreset_mode`.
        weights: As for :class:`~solvent.envs.SeatEnv`, like the next.
        seat: As there.
        observation: What the game's simulations offer.
        illegal: As for :class:`~solvent.envs.TabularEnv`, like the next.
        render_mode: As there.
        autoreset_mode: As above.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    def __init__(
        self,
        sampler: Sampler,
        opponents: Sequence[Player],
        num_envs: int,
        *,
        weights: Sequence[float] | None = None,
        seat: Seat = 0,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        simulation = sampler.plays(num_envs, observation)
        super().__init__(
            sampler.rules,
            num_envs,
            simulation.observation_space,
            spaces.Discrete(simulation.n_actions),
            illegal=illegal,
            render_mode=render_mode,
            autoreset_mode=autoreset_mode,
        )
        self.sampler = sampler
        self.plays = SeatPlays(simulation, opponents, weights, seats_of(seat))
        self._stream = self.plays.stream
        self._arrays = dict(self.plays.arrays)

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that the learner may take."""
        return self.plays.seats

    @property
    def opponents(self) -> tuple[Player, ...]:
        """The players in the pool."""
        return self.plays.players

    def set_opponents(
        self, opponents: Sequence[Player], weights: Sequence[float] | None = None
    ) -> None:
        """Replace the pool; plays that are under way draw their opponents anew and go on.

        Args:
            opponents: As for the class, like `weights`.
            weights: As there.

        Raises:
            ValueError: As for the class.
        """
        self.plays.set_players(opponents, weights)

    def _play(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: Batch,
        observation: Batch,
    ) -> int:
        wrong = self.plays.step(actions, reward, terminated, illegal)
        if not wrong:
            observation[:], mask[:] = self._look()
        return wrong

    def _begin(self, indices: Ints) -> None:
        self.plays.begin(indices)

    def _look(self, indices: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        return self.plays.look(np.arange(self.num_envs) if indices is None else indices)

    def _empty(self) -> tuple[Batch, NDArray[np.int8]]:
        shape = self.plays.simulation.observation_space.shape
        return (
            np.empty((self.num_envs, *shape), np.float32),
            np.empty((self.num_envs, self._n_actions), np.int8),
        )

    def _over(self) -> Bools:
        return self.plays.over.copy()

    def _tell(self) -> dict[str, Batch]:
        return {"seat": self.plays.seat, "opponent": self.plays.opponent}

    def _state_of_rules(self, i: int) -> Any:
        return self.plays.simulation.state(i)

    def _new_screen(self) -> Screen:
        return Screen.for_states(self.sampler.rules, self.sampler.examples())
