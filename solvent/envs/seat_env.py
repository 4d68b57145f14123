"""A Gymnasium environment for one seat of a game for two."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from gymnasium.error import ResetNeeded

from solvent.envs.base_env import BaseEnv
from solvent.envs.opponents import Opponents, opponent_pool
from solvent.envs.random_stream import DRAWS, RandomStream
from solvent.envs.seat_table import LEARNER, NOBODY, OPPONENT, seat_table
from solvent.envs.spaces import check_action, check_options
from solvent.model import Game, TabularGame, compile_game
from solvent.model.parameters import check_choice, shown

Seat = Literal[0, 1, "random"]


class SeatEnv(BaseEnv):
    """One seat of a game for two, the other being played by opponents from a pool.

    A reset draws an opponent, if there are several, and lets it play until it is the learner's
    turn. A step plays the learner's action and then the opponent's until the learner is on turn
    again or play has ended; where both act at once, the opponent's action is drawn along with
    the outcome. The opponent's actions are drawn from its policy by the environment's stream, so
    a seed decides everything. An opponent may end the play before the learner's first turn: the
    learner then sees the end, and its first action, whatever it is, collects the reward.

    Rewards are those of the learner's seat; from seat 1 a play pays the least plus the largest
    return of the game less what it pays player 0 (:mod:`solvent.envs.seat_table` says why).

    Illegal actions, masks and ends are those of :class:`~solvent.envs.TabularEnv`. Every
    ``info`` also has ``"seat"`` and ``"opponent"``, the latter's place in the pool.

    Args:
        game: The rules of a game for two, or their table.
        opponents: Policies for the other seat; see :data:`solvent.envs.opponents.Opponents`.
        weights: A positive number for each opponent, in proportion to which they are drawn;
            equal ones unless given.
        seat: The learner's: 0, 1, or ``"random"`` for one that is drawn at each reset, before
            the opponent.
        rules: As for :class:`~solvent.envs.TabularEnv`, like the next three. The observations of
            both seats have the same form, so one learner can take both.
        observation: As there.
        illegal: As there.
        render_mode: As there.

    Attributes:
        game: The table.
        rules: The rules, or None.

    Raises:
        ValueError: If an argument is none of these, the game is for one player, or an opponent
            is for another game or for the learner's own seat.
    """

    _shared: ClassVar[tuple[str, ...]] = (*BaseEnv._shared, "_table", "_pool")

    def __init__(
        self,
        game: Game | TabularGame,
        opponents: Opponents,
        *,
        weights: Sequence[float] | None = None,
        seat: Seat = 0,
        rules: Game | None = None,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(game, TabularGame):
            rules, game = game, compile_game(game)
        self._table = seat_table(game, seats_of(seat), observation)
        self._pool = opponent_pool(game, self._table, opponents, weights)
        super().__init__(
            game,
            rules,
            self._table,
            observation=observation,
            illegal=illegal,
            render_mode=render_mode,
        )
        self._of_view = 0
        self._opponent = 0
        self._owed = 0.0
        self._over = True

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None = None) -> None:
        """Replace the pool; a play that is under way draws its opponent anew and goes on.

        Args:
            opponents: As for the class, like `weights`.
            weights: As there.

        Raises:
            ValueError: As for the class.
        """
        self._pool = opponent_pool(self.game, self._table, opponents, weights)
        if self._stream is not None:
            self._draw_opponent(self._stream)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new play; the arguments are those of :meth:`TabularEnv.reset`.

        Args:
            seed: As there.
            options: As there.

        Raises:
            ValueError: As there.
        """
        check_options(options)
        stream = self._start_stream(seed)
        table = self._table
        if len(table.seats) > 1:
            self._of_view = int(stream.draw() >= DRAWS // 2)
        self._draw_opponent(stream)
        start = bisect_right(table.start_threshold, stream.draw())
        at = table.start_state.item(start)
        self._owed, self._over = 0.0, False
        if table.node.item(self._first + at, 5) == OPPONENT:
            self._owed, at = self._play(stream, at, 0, 0.0)
        self._at = at
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info(illegal=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action, and all that follows up to the learner's next turn.

        Raises:
            ResetNeeded: If play has ended or not begun.
            ValueError: If `action` is not an action, or illegal and ``illegal="raise"``.
        """
        table, at = self._table, self._at
        if self._stream is None or at is None or self._over:
            raise ResetNeeded("play has ended or not begun; call reset() first")
        action = check_action(action, table.mask.shape[1])
        reward, self._owed = self._owed, 0.0
        illegal = False
        if table.node.item(self._first + at, 5) == LEARNER:
            rank = table.rank.item(self._first + at, action)
            illegal = rank < 0
            if illegal and self._raises:
                self._check_legal(action)
            reward, at = self._play(self._stream, at, max(rank, 0), reward)
            self._at = at
        self._over = table.node.item(self._first + at, 5) == NOBODY
        if self._over:
            reward += table.bonus.item(self._of_view)
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, self._over, False, self._info(illegal)

    def _play(self, stream: RandomStream, at: int, rank: int, reward: float) -> tuple[float, int]:
        """Play the learner's legal action number `rank`, then the opponent's while it is on turn.

        Returns:
            `reward` and what the play has paid since, and the state it has come to.
        """
        table, policy, sign = self._table, self._pool.policy[self._opponent], self._sign
        while True:
            first, own, other, choice, choices, _ = table.node[self._first + at].tolist()
            reply = bisect_right(policy, stream.draw(), choice, choice + choices - 1) - choice
            outcome, count, cut = table.row[first + rank * own + reply * other].tolist()
            outcome += bisect_right(table.threshold, stream.draw(), cut, cut + count - 1) - cut
            reward += sign * table.reward.item(outcome)
            at, rank = table.next_state.item(outcome), 0
            if table.node.item(self._first + at, 5) != OPPONENT:
                return reward, at

    def _draw_opponent(self, stream: RandomStream) -> None:
        several = self._pool.size > 1
        self._opponent = bisect_right(self._pool.weight, stream.draw()) if several else 0

    @property
    def _first(self) -> int:
        """The row of the table that shows state 0 from the learner's seat."""
        return self._of_view * self._table.n_states

    @property
    def _sign(self) -> float:
        return self._table.sign.item(self._of_view)

    def _row(self) -> Any:
        return None if self._at is None else self._first + self._at

    def _info(self, illegal: bool) -> dict[str, Any]:
        seat = self._table.seats[self._of_view]
        return super()._info(illegal) | {"seat": seat, "opponent": self._opponent}


def seats_of(seat: Seat) -> tuple[int, ...]:
    """The seats that the learner may take.

    Raises:
        ValueError: If `seat` is not 0, 1 or ``"random"``.
    """
    if isinstance(seat, str):
        check_choice(seat, "seat", ("random",))
        return (0, 1)
    if isinstance(seat, bool) or seat not in (0, 1):
        raise ValueError(f"seat is {shown(seat)}; allowed are 0, 1 and 'random'")
    return (seat,)
