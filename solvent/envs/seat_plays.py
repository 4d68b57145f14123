"""Learners in seats of simulated plays, whose other seats are taken by players from a pool.

This is what :class:`solvent.envs.SeatEnv` does over a table, for games that have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.envs.kernels.drawing import draw_actions, draw_entries
from solvent.envs.random_stream import inverse_cdf
from solvent.envs.simulation import Player, Simulation
from solvent.model.arrays import Bools, Ints
from solvent.model.parameters import shown


class SeatPlays:
    """Plays in which learners meet players.

    A turn of the learner draws an action for the player, if that has a choice at the same time, and
    what follows; play then goes on until the learner has a choice again or play has ended.

    Args:
        simulation: The plays, not begun.
        players: The pool.
        weights: A positive number for each of them, in proportion to which they are drawn; equal
            ones unless given.
        seats: Those that the learner may have, one or both.

    Attributes:
        simulation: The plays.
        players: The pool.
        seats: The learner's.
        arrays: All that what follows depends on, [n] by name: those of the simulation, and
            ``"side"``, the place in `seats` of the learner's, ``"opponent"``, whom it meets,
            ``"owed"``, what was paid before its first turn, and ``"over"``, whether the end of the
            play has been reported.

    Raises:
        ValueError: If there are no players, or the weights are not as above.
    """

    def __init__(
        self,
        simulation: Simulation,
        players: Sequence[Player],
        weights: Sequence[float] | None = None,
        seats: tuple[int, ...] = (0,),
    ) -> None:
        self.simulation = simulation
        self.seats = seats
        self.stream: NDArray[np.uint64] = simulation.arrays["stream"]
        n = len(self.stream)
        self._side, self._opponent = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self._owed, self._over = np.zeros(n), np.ones(n, bool)
        self.arrays: Mapping[str, NDArray[Any]] = {
            **simulation.arrays,
            "side": self._side,
            "opponent": self._opponent,
            "owed": self._owed,
            "over": self._over,
        }
        self._seats = np.array(seats)
        self._either = inverse_cdf(np.full(len(seats), 1 / len(seats)), np.array([0, len(seats)]))
        low, high = simulation.rules.info.reward_range
        self._bonus = low + high if np.isfinite(low) and np.isfinite(high) else 0.0
        self._set_pool(players, weights)

    def set_players(self, players: Sequence[Player], weights: Sequence[float] | None) -> None:
        """Replace the pool; plays that are under way draw their players anew and go on.

        Args:
            players: As for the class, like `weights`.
            weights: As there.

        Raises:
            ValueError: As for the class.
        """
        self._set_pool(players, weights)
        begun = np.flatnonzero(self.stream)
        draw_entries(begun, self._weight, self.stream, self._opponent)

    def _set_pool(self, players: Sequence[Player], weights: Sequence[float] | None) -> None:
        self.players = tuple(players)
        if not self.players:
            raise ValueError("opponents is empty; at least one is needed")
        chances = np.ones(len(self.players)) if weights is None else np.asarray(weights, float)
        if (
            chances.shape != (len(self.players),)
            or not ((chances > 0) & np.isfinite(chances)).all()
        ):
            raise ValueError(
                f"weights is {shown(weights)}; allowed is a positive number for each of "
                f"{len(self.players)} opponents"
            )
        self._weight = inverse_cdf(chances / chances.sum(), np.array([0, len(chances)]))

    @property
    def seat(self) -> Ints:
        """[n] the learner's seat in each play."""
        seat: Ints = self._seats[self._side]
        return seat

    @property
    def opponent(self) -> Ints:
        """[n] the place in the pool of the player that the learner meets."""
        return self._opponent.astype(np.int64)

    @property
    def over(self) -> Bools:
        """[n] whether the end of the play has been reported."""
        return self._over

    def look(self, chosen: Ints) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """What the learners of the chosen plays see, and their legal actions."""
        seat = self.seat[chosen]
        return self.simulation.observe(chosen, seat), self.simulation.legal(chosen, seat)

    def begin(self, chosen: Ints) -> None:
        """Begin the chosen plays, up to the learner's first turn."""
        draw_entries(chosen, self._either, self.stream, self._side)
        draw_entries(chosen, self._weight, self.stream, self._opponent)
        self.simulation.begin(chosen)
        self._owed[chosen] = 0.0
        self._over[chosen] = False
        waiting = chosen[~self.simulation.acts(chosen, self.seat[chosen])]
        self._play_on(waiting, np.zeros(len(self._over), np.int64), self._owed)

    def step(
        self, actions: Ints, reward: NDArray[np.float64], terminated: Bools, illegal: Bools
    ) -> int:
        """Play an action in each play, up to the learner's next turn, or begin it again.

        Args:
            actions: [n]; not read where play has ended.
            reward: [n], filled.
            terminated: [n], filled.
            illegal: [n], filled.

        Returns:
            How many actions are out of range; unless it is 0, nothing has been changed or filled.
        """
        simulation = self.simulation
        wrong = int(((actions < 0) | (actions >= simulation.n_actions)).sum())
        if wrong:
            return wrong
        everyone = np.arange(len(actions))
        again = np.flatnonzero(self._over)
        # Where play ended before the learner's first turn, there is nothing to play.
        acts = ~simulation.over()
        legal = simulation.legal(everyone, self.seat)
        allowed = legal[everyone, actions] == 1
        illegal[:] = acts & ~allowed
        reward[:] = self._owed
        self._owed[:] = 0.0
        played = np.where(allowed, actions, legal.argmax(axis=1))
        self._play_on(np.flatnonzero(acts), played, reward)
        ends = simulation.over()
        terminated[:] = ends & ~self._over
        reward[terminated] += self._bonus * self.seat[terminated]
        self._over[:] = ends
        self.begin(again)
        return 0

    def _play_on(self, chosen: Ints, action: Ints, paid: NDArray[np.float64]) -> None:
        """Make a move in the chosen plays, and more where the learner then has no choice.

        Args:
            chosen: [k] indices of plays that are not over.
            action: [n] the learner's, legal.
            paid: [n], to which the learner's rewards are added.
        """
        simulation, seat = self.simulation, self.seat
        first_seat = seat == 0
        while len(chosen):
            other = 1 - seat[chosen]
            replies = simulation.acts(chosen, other)
            replying, other = chosen[replies], other[replies]
            reply = np.zeros(len(seat), np.int64)
            for k, player in enumerate(self.players):
                mine = slice(None) if len(self.players) == 1 else self._opponent[replying] == k
                if len(asked := replying[mine]):
                    mixes = player.mixes(simulation, asked, other[mine])
                    draw_actions(asked, mixes, self.stream, reply)
            scored = np.zeros(len(seat))
            first = np.where(first_seat, action, reply)
            second = np.where(first_seat, reply, action)
            simulation.move(chosen, first, second, scored)
            paid[chosen] += np.where(first_seat, scored, -scored)[chosen]
            chosen = chosen[~simulation.over()[chosen]]
            chosen = chosen[~simulation.acts(chosen, seat[chosen])]
