"""Many learners in seats of a game for two that is sampled without a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Batch, Player, Sampler, SeatSimulator
from solvent.envs.kernels import draw_actions, draw_entries
from solvent.envs.opponents import check_weights, evenly
from solvent.envs.random_stream import inverse_cdf
from solvent.envs.sampling_table import bonus_of
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_integer

LEARNER = np.dtype(
    [
        ("owed", np.float64),
        ("side", np.int32),
        ("opponent", np.int32),
        ("over", np.bool_),
        ("opens", np.bool_),
        ("action", np.int16),
    ],
    align=True,
)
"""The learner of an episode.

``owed`` are rewards that no step has reported, ``side`` is which of the learner's seats it has,
``opponent`` who of the pool has the other, and ``over`` whether the end has been reported. While a
compiled turn waits for an opponent's reply, ``action`` is what the learner plays and ``opens`` is
whether the episode has just begun.
"""


class SimulatedSeatBatch(SeatSimulator):
    """Learners in seats of a game without a table, each against an opponent from a pool.

    A turn of the learner draws an action for the opponent, if that has a choice at the same time,
    and what follows; the episode then goes on until the learner has a choice again or it has ended.

    Args:
        sampler: The game.
        num_envs: Number of environments.
        opponents: The pool, from which each episode draws who takes the other seat.
        weights: A positive number for each of them, in proportion to which they are drawn; equal
            ones if None.
        seats: The seats that the learner may have, one or both.
        observation: Form of the observations that the game's simulations offer.

    Attributes:
        sampler: The game.
        simulation: The episodes, seen from both seats.
        opponents: The pool.
        seats: The learner's.

    Raises:
        ValueError: If there are no opponents, the weights are not as above, or `num_envs` is not
            positive.
    """

    def __init__(
        self,
        sampler: Sampler,
        num_envs: int,
        opponents: Sequence[Player],
        weights: Sequence[float] | None,
        seats: tuple[int, ...],
        observation: str,
    ) -> None:
        self.num_envs = check_integer(num_envs, "num_envs", 1, 2**31 - 1)
        self.simulation = simulation = sampler.plays(num_envs, observation)
        self.game, self.rules = None, sampler.rules
        self.sampler, self.shared, self.seats = sampler, (sampler.rules, sampler), seats
        self.observation_space = simulation.observation_space
        self.n_actions = simulation.n_actions
        self._stream: NDArray[np.uint64] = simulation.arrays["stream"]
        self._learners = learners = np.zeros(num_envs, LEARNER)
        learners["over"] = True
        own = {name: learners[name] for name in ("side", "opponent", "owed", "over")}
        self._side, self._opponent, self._owed, self._over = own.values()
        self.arrays = {**simulation.arrays, **own}
        self._everyone = np.arange(num_envs)
        self._reply = np.zeros(num_envs, np.int64)
        self._seats = np.array(seats)
        self._either = evenly(len(seats))
        self._bonus = bonus_of(sampler.rules.info)
        self._set_pool(opponents, weights)

    def set_opponents(self, opponents: Sequence[Player], weights: Sequence[float] | None) -> None:
        """Replace the pool; episodes that are under way draw their opponents anew and go on.

        Args:
            opponents: The pool, from which each episode draws who takes the other seat.
            weights: A positive number for each of them, in proportion to which they are drawn;
                equal ones if None.

        Raises:
            ValueError: If there are no opponents, or the weights are not as above.
        """
        self._set_pool(opponents, weights)
        begun = np.flatnonzero(self._stream)
        draw_entries(begun, self._weight, self._stream, self._opponent)

    def _set_pool(self, opponents: Sequence[Player], weights: Sequence[float] | None) -> None:
        self.opponents = tuple(opponents)
        chances = check_weights(weights, len(self.opponents))
        self._weight = inverse_cdf(chances, np.array([0, len(chances)]))

    @property
    def _seat(self) -> Ints:
        """[n] the learner's seat."""
        seat: Ints = self._seats[self._side]
        return seat

    def begin(self, chosen: Ints) -> None:
        draw_entries(chosen, self._either, self._stream, self._side)
        draw_entries(chosen, self._weight, self._stream, self._opponent)
        self.simulation.begin(chosen)
        self._owed[chosen] = 0.0
        self._over[chosen] = False
        waiting = chosen[~self.simulation.acts(chosen, self._seat[chosen])]
        self._play_on(waiting, np.zeros(self.num_envs, np.int64), self._owed)

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: NDArray[np.int8],
        observation: Batch,
    ) -> int:
        simulation = self.simulation
        wrong = int(((actions < 0) | (actions >= self.n_actions)).sum())
        if wrong:
            return wrong
        again = np.flatnonzero(self._over)
        # Where an episode ended before the learner's first turn, there is nothing to play.
        acts = ~simulation.over()
        legal = simulation.legal(self._everyone, self._seat)
        allowed = legal[self._everyone, actions] == 1
        illegal[:] = acts & ~allowed
        reward[:] = self._owed
        self._owed[:] = 0.0
        played = np.where(allowed, actions, legal.argmax(axis=1))
        self._play_on(np.flatnonzero(acts), played, reward)
        ends = simulation.over()
        terminated[:] = ends & ~self._over
        reward[terminated] += self._bonus * self._seat[terminated]
        self._over[:] = ends
        self.begin(again)
        observation[:], mask[:] = self.look()
        return 0

    def _play_on(self, chosen: Ints, action: Ints, earned: Floats) -> None:
        """Make a move in the chosen episodes, and more where the learner then has no choice.

        Args:
            chosen: [k] indices of episodes that are not over.
            action: [n] the learner's, legal.
            earned: [n], to which the learner's rewards are added.
        """
        simulation, seat = self.simulation, self._seat
        first_seat = seat == 0
        while len(chosen):
            other = 1 - seat[chosen]
            replies = simulation.acts(chosen, other)
            replying = chosen[replies]
            reply = np.zeros(len(seat), np.int64)
            self._ask(replying, other[replies], reply)
            scored = np.zeros(len(seat))
            first = np.where(first_seat, action, reply)
            second = np.where(first_seat, reply, action)
            simulation.move(chosen, first, second, scored)
            earned[chosen] += np.where(first_seat, scored, -scored)[chosen]
            chosen = chosen[~simulation.over()[chosen]]
            chosen = chosen[~simulation.acts(chosen, seat[chosen])]

    def _ask(self, chosen: Ints, player: Ints, reply: Ints) -> None:
        """Draw the actions of the opponents in some episodes.

        Args:
            chosen: [k] indices of episodes in which they have a choice.
            player: [k] their seats.
            reply: [n], filled in those episodes.
        """
        for k, opponent in enumerate(self.opponents):
            mine = slice(None) if len(self.opponents) == 1 else self._opponent[chosen] == k
            if len(asked := chosen[mine]):
                probabilities = opponent.mixes(self.simulation, asked, player[mine])
                draw_actions(asked, probabilities, self._stream, reply)

    def look(self, chosen: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        chosen = self._everyone if chosen is None else chosen
        seat = self._seat[chosen]
        return self.simulation.observe(chosen, seat), self.simulation.legal(chosen, seat)

    def over(self) -> Bools:
        return self._over

    def state(self, i: int) -> Any:
        return self.simulation.state(i)

    def examples(self) -> Iterable[Any]:
        return self.sampler.examples()
