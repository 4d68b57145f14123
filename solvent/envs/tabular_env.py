"""A Gymnasium environment that samples the table of a game."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Any, ClassVar

from gymnasium.error import ResetNeeded

from solvent.envs.base_env import BaseEnv
from solvent.envs.sampling_table import sampling_table
from solvent.envs.spaces import check_action, check_options
from solvent.envs.transition_dict import TransitionDict
from solvent.model import Game, TabularGame, compile_game
from solvent.model.arrays import Floats


class TabularEnv(BaseEnv):
    """One player's game as a Gymnasium environment.

    A step draws one number and picks the outcome at which the distribution function of the
    table's row first exceeds it; :meth:`reset` draws the start in the same way. The environment
    thus samples the very table that a solver takes the expectation of.

    An illegal action is not punished: the lowest legal action is played in its place and
    ``info["illegal_action"]`` says so. Every ``info`` also has ``"action_mask"``, an int8 array
    as ``action_space.sample(mask)`` takes it (all 1 once play has ended, when no action counts).
    Episodes end by the rules and are never truncated.

    Args:
        game: The rules, or their table. In a game for two, the other player must be folded into
            chance by :func:`solvent.model.against`; :class:`~solvent.envs.SeatEnv` draws the
            other player's actions instead.
        rules: What draws the states, if `game` is a table.
        player: The player who chooses; player 1 receives the negative rewards.
        observation: ``"vector"`` as :meth:`solvent.model.Game.observe` gives it, ``"onehot"``
            as :func:`solvent.model.one_hot` does, or ``"index"``, the number of the state.
        illegal: ``"remap"`` as above, or ``"raise"``: a ValueError, for finding mistakes.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.

    Attributes:
        game: The table, whose ``states[i]`` is what ``observation="index"`` calls i.
        rules: The rules, or None.

    Raises:
        ValueError: If an argument is none of these, or the other player still has a choice.
    """

    _shared: ClassVar[tuple[str, ...]] = (*BaseEnv._shared, "_table")

    def __init__(
        self,
        game: Game | TabularGame,
        *,
        rules: Game | None = None,
        player: int = 0,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(game, TabularGame):
            rules, game = game, compile_game(game)
        self._table = sampling_table(game, player, observation)
        super().__init__(
            game,
            rules,
            self._table,
            observation=observation,
            illegal=illegal,
            render_mode=render_mode,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new play; with a seed, also begin a new stream of random numbers.

        Args:
            seed: For ``np_random``, from which the stream is started; without one, the stream
                goes on (or is started from an arbitrary seed the first time).
            options: Allowed are none.

        Raises:
            ValueError: If there are any.
        """
        check_options(options)
        stream = self._start_stream(seed)
        table = self._table
        outcome = bisect_right(table.threshold, stream.draw(), table.start)
        self._at = table.next_state.item(outcome)
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info(illegal=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action.

        Raises:
            ResetNeeded: If play has ended or not begun.
            ValueError: If `action` is not an action, or illegal and ``illegal="raise"``.
        """
        table = self._table
        if self._stream is None or self._at is None or table.terminal[self._at]:
            raise ResetNeeded("play has ended or not begun; call reset() first")
        action = check_action(action, table.mask.shape[1])
        first, last = table.span.item(self._at, action, 0), table.span.item(self._at, action, 1)
        illegal = first < 0
        if illegal:
            if self._raises:
                self._check_legal(action)
            first = ~first
        outcome = bisect_right(table.threshold, self._stream.draw(), first, last)
        self._at = table.next_state.item(outcome)
        if self.render_mode == "human":
            self.render()
        reward, terminated = table.reward.item(outcome), table.terminal.item(self._at)
        return self._observation(), reward, terminated, False, self._info(illegal)

    def _row(self) -> Any:
        return self._at

    @cached_property
    def P(self) -> TransitionDict:  # noqa: N802
        """The model as toy-text environments publish it, ``P[s][a]``."""
        return TransitionDict(self._table)

    @property
    def initial_state_distrib(self) -> Floats:
        """The probability of each state at the start, [S], as toy-text environments name it."""
        return self.game.initial
