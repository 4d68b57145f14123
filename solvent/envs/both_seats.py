"""Both seats of the same episodes of a table for two: self-play."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Batch, TableSimulator
from solvent.envs.seat_table import bonus_of, check_alike
from solvent.envs.spaces import observation_space, observations
from solvent.model import Game, TabularGame
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_integer

SEATS = (0, 1)


class BothSeats(TableSimulator):
    """Episodes of a game for two with a learner in each seat.

    Of the ``2 * episodes`` environments, number i is seat 0 of episode i and number
    ``episodes + i`` is seat 1 of it. Both begin and end together. Whoever waits has one legal
    action. Rewards are as in :class:`solvent.envs.SeatEnv`.

    All episodes draw from one generator of NumPy's, which the first seed starts: learners are then
    trained with the same random numbers as ever.

    Args:
        game: The table of a game for two whose players have actions and observations of the same
            form.
        episodes: How many, m.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.
        rules: What draws the states, or None.

    Attributes:
        arrays: ``"state"`` [m] int64 and ``"stream"``, the generator's state as JSON in uint8.

    Raises:
        ValueError: If the players' actions or observations differ in form.
    """

    def __init__(
        self,
        game: TabularGame,
        episodes: int,
        observation: str = "vector",
        *,
        rules: Game | None = None,
    ) -> None:
        seen = [observations(game, seat, observation) for seat in SEATS]
        check_alike(game, game.mask, seen)
        check_integer(episodes, "episodes", 1, 2**30)
        super().__init__(game, rules, 2 * episodes)
        self._seen = np.concatenate(seen)
        self._mask = np.concatenate([mask | game.terminal[:, None] for mask in game.mask]).astype(
            np.int8
        )
        self._rank = [np.where(m, np.cumsum(m, axis=1) - 1, 0).astype(np.int16) for m in game.mask]
        self.observation_space = observation_space(self._seen)
        self.n_actions = game.mask[0].shape[1]
        self._bonus = bonus_of(game.info)
        self._starts = np.flatnonzero(game.initial)
        self._chances = np.cumsum(game.initial[self._starts])
        self._state: Ints = np.full(episodes, -1)
        self._over = np.ones(episodes, bool)
        self._generator = np.random.default_rng()

    @property
    def arrays(self) -> Mapping[str, Batch]:  # type: ignore[override]
        words = json.dumps(self._generator.bit_generator.state).encode()
        return {"state": self._state, "stream": np.frombuffer(words, np.uint8)}

    def seed(
        self, seeds: Sequence[int | None], chosen: Bools, generator: np.random.Generator
    ) -> None:
        """Start the generator anew if the first environment has a seed.

        Args:
            seeds: [n], of which the first is used.
            chosen: Not read.
            generator: Not read.
        """
        if seeds[0] is not None:
            self._generator = np.random.default_rng(seeds[0])

    def begin(self, chosen: Ints) -> None:
        self._begin(np.unique(chosen % len(self._state)))

    def _begin(self, chosen: Ints) -> None:
        drawn = self._generator.random(len(chosen))
        at = np.searchsorted(self._chances, drawn, side="right")
        self._state[chosen] = self._starts[np.minimum(at, len(self._starts) - 1)]
        self._over[chosen] = False

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: NDArray[np.int8],
        observation: Batch,
    ) -> int:
        wrong = int(((actions < 0) | (actions >= self.n_actions)).sum())
        if wrong:
            return wrong
        game, both = self.game, actions.reshape(2, -1)
        again, live = np.flatnonzero(self._over), np.flatnonzero(~self._over)
        state = self._state[live]
        chosen = [both[seat, live] for seat in SEATS]
        first, second = (self._rank[seat][state, chosen[seat]].astype(np.int64) for seat in SEATS)
        outcome = self._drawn(game.row_start[state] + first * game.action_count[1][state] + second)
        self._state[live] = game.next_state[outcome]
        ends = game.terminal[self._state[live]]
        self._over[live] = ends
        earned = game.outcome_reward[outcome].astype(np.float64)
        filled = (reward, terminated, illegal)
        for array in filled:
            array[:] = 0
        pairs = [array.reshape(2, -1) for array in filled]
        for seat, own in zip(SEATS, (earned, self._bonus * ends - earned), strict=True):
            pairs[0][seat, live], pairs[1][seat, live] = own, ends
            pairs[2][seat, live] = ~game.mask[seat][state, chosen[seat]]
        self._begin(again)
        observation[:], mask[:] = self.look()
        return 0

    def _drawn(self, row: Ints) -> Ints:
        """An outcome of each row."""
        at, last = self.game.outcome_start[row], self.game.outcome_start[row + 1] - 1
        left: Floats = self._generator.random(len(row))
        open_: Ints = np.flatnonzero(at < last)
        while len(open_):
            left[open_] -= self.game.probability[at[open_]]
            open_ = open_[left[open_] >= 0]
            at[open_] += 1
            open_ = open_[at[open_] < last[open_]]
        return at

    def look(self, chosen: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        everyone = np.arange(self.num_envs) if chosen is None else chosen
        seat, episode = np.divmod(everyone, len(self._state))
        row = seat * self.game.n_states + self._state[episode]
        return self._seen[row], self._mask[row]

    def over(self) -> Bools:
        return np.tile(self._over, 2)

    def told(self) -> dict[str, Batch]:
        return {"seat": np.repeat(SEATS, len(self._state))}

    def state(self, i: int) -> Any:
        return self.game.states[self._state.item(i % len(self._state))]

    def restore(self, saved: Mapping[str, Any]) -> None:
        given = self.check_form({**self.arrays, **saved, "stream": self.arrays["stream"]})
        self.check_values(given)
        self._generator.bit_generator.state = json.loads(np.asarray(saved["stream"]).tobytes())
        self._state[:] = given["state"]
        self._over[:] = self.game.terminal[self._state]
