"""Both seats of the same plays: every player is the learner as it is now.

Where both act at once, learners that answer a fixed opponent for long go round in circles, and the
circles grow wider the longer it stays the same. Here nobody stays the same: a play has a learner
in each seat, and each step gives both an experience. With a bonus for entropy that is large at
first, both then come together instead of chasing each other (magnetic mirror descent: Sokota et
al. 2023).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from solvent.envs.spaces import (
    action_space,
    check_actions,
    check_options,
    observation_space,
    observations,
)
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints

SEATS = (0, 1)


class BothSeatsVectorEnv(VectorEnv[NDArray[Any], NDArray[Any], NDArray[Any]]):
    """Plays of a game for two, seen from both seats.

    Of the ``2 * plays`` environments, number i is seat 0 of play i and number ``plays + i`` is
    seat 1 of it. Both seats of a play begin and end together, in ``SAME_STEP`` mode. Whoever waits
    has one legal action, and an illegal action counts as the lowest legal one.

    Rewards are as in :class:`solvent.envs.SeatEnv`.

    Args:
        game: A game for two whose players have actions and observations of the same form
            (:func:`~solvent.training.roles.with_roles`).
        plays: How many.
        observation: As for :class:`solvent.envs.TabularEnv`.

    Raises:
        ValueError: If the players' actions or observations differ in form.
    """

    def __init__(self, game: TabularGame, plays: int, *, observation: str = "vector") -> None:
        seen = [observations(game, seat, observation) for seat in SEATS]
        for name, arrays in (("actions", game.mask), ("entries in an observation", seen)):
            widths = [array.shape[1] for array in arrays]
            if widths[0] != widths[1]:
                raise ValueError(
                    f"the seats of {game.info.name} have {widths[0]} and {widths[1]} {name}; "
                    f"one learner for both needs as many"
                )
        self.game, self.plays, self.num_envs = game, plays, 2 * plays
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self._seen = seen
        self._rank = [np.where(m, np.cumsum(m, axis=1) - 1, 0).astype(np.int16) for m in game.mask]
        self.single_observation_space = observation_space(np.concatenate([s[:2] for s in seen]))
        self.single_action_space = action_space(game.mask[0].view(np.int8))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        low, high = game.info.reward_range
        self._bonus = low + high if np.isfinite(low) and np.isfinite(high) else 0.0
        starts = np.flatnonzero(game.initial)
        self._starts, self._chances = starts, np.cumsum(game.initial[starts])
        self._rng = np.random.default_rng()
        self._state: Ints = np.full(plays, -1)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all plays anew.

        Args:
            seed: One for all; of several the first is used.
            options: Allowed are none.

        Raises:
            ValueError: If there are any.
        """
        check_options(options)
        first = seed[0] if isinstance(seed, Sequence) else seed
        if first is not None:
            self._rng = np.random.default_rng(first)
        self._state = self._begun(self.plays)
        return self._observation(), {"action_mask": self.action_masks()}

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], Bools, Bools, dict[str, Any]]:
        """Play both players' actions in every play."""
        game, state = self.game, self._state
        both = check_actions(actions, self.num_envs).reshape(2, self.plays)
        first, second = (self._rank[seat][state, both[seat]].astype(np.int64) for seat in SEATS)
        outcome = self._drawn(game.row_start[state] + first * game.action_count[1][state] + second)
        self._state = game.next_state[outcome].astype(np.int64)
        over = game.terminal[self._state]
        reward = game.outcome_reward[outcome].astype(np.float64)
        infos: dict[str, Any] = {}
        if over.any():
            infos["final_obs"] = self._observation()
            self._state[over] = self._begun(int(over.sum()))
        infos["action_mask"] = self.action_masks()
        return (
            self._observation(),
            np.concatenate((reward, self._bonus * over - reward)),
            np.concatenate((over, over)),
            np.zeros(self.num_envs, bool),
            infos,
        )

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions of each environment, [2 * plays, A]."""
        return np.concatenate([mask[self._state] for mask in self.game.mask]).astype(np.int8)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """What the environment needs to go on from here."""
        words = json.dumps(self._rng.bit_generator.state).encode()
        return {"state": self._state.copy(), "stream": np.frombuffer(words, np.uint8)}

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`get_state` returned.

        Raises:
            ValueError: If the states are not of that form, or of another number of plays or states.
            KeyError: If an array is missing, or the stream is of no generator.
        """
        saved, count = state["state"], self.game.n_states
        if saved.shape != (self.plays,) or saved.dtype != np.int64:
            raise ValueError(
                f"saved state has shape {saved.shape} and type {saved.dtype}; "
                f"expected ({self.plays},) and int64"
            )
        if ((saved < 0) | (saved >= count)).any():
            raise ValueError(
                f"saved states go from {saved.min()} to {saved.max()}; allowed are 0 to {count - 1}"
            )
        self._state = saved.copy()
        self._rng.bit_generator.state = json.loads(state["stream"].tobytes())

    def _observation(self) -> NDArray[Any]:
        return np.concatenate([seen[self._state] for seen in self._seen])

    def _begun(self, count: int) -> Ints:
        """States in which plays begin."""
        at = np.searchsorted(self._chances, self._rng.random(count), side="right")
        return self._starts[np.minimum(at, len(self._starts) - 1)]

    def _drawn(self, row: Ints) -> Ints:
        """An outcome of each row."""
        at, last = self.game.outcome_start[row], self.game.outcome_start[row + 1] - 1
        left: Floats = self._rng.random(len(row))
        open_: Ints = np.flatnonzero(at < last)
        while len(open_):
            left[open_] -= self.game.probability[at[open_]]
            open_ = open_[left[open_] >= 0]
            at[open_] += 1
            open_ = open_[at[open_] < last[open_]]
        return at
