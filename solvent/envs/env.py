"""The environment for one learner.

**Episodes.** With a table (:class:`TableEpisode`) an episode is plain Python. A step takes 2 µs;
calling a compiled loop would take longer. The compiled loops are tested against this class. A game
without a table has a simulator of many episodes, which :class:`OnlyEpisode` runs with a single one.

**The environment** (:class:`Env`) steps such an episode.

**The source** of an environment, a table or a simulator, is made by :func:`sampled` from
the user's arguments. Vector environments use the same function.

**The model** of a one-player environment is published in the form of Gymnasium's toy-text
environments (:func:`transition_dict`).

**The learning problem** (:func:`learned_seat`) is the game on which a policy learned in an
environment is scored.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

import gymnasium as gym
import numpy as np
from gymnasium import logger, spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from solvent.envs.batch_simulator import (
    BatchSimulator,
    Player,
    Sampler,
)
from solvent.envs.sampling import (
    DRAWS,
    NOBODY,
    OPPONENT,
    Opponents,
    Pool,
    RandomStream,
    SeatTable,
    first_state,
    observation_space,
    opponent_pool,
    outcome_table,
    seat_table,
    unpacked_row,
)
from solvent.model import Game, TabularGame, TabularPolicy, against, cached_table
from solvent.model.arrays import Bools, Floats
from solvent.model.parameters import check_choice, check_integer, shown
from solvent.model.tabular import remembered

if TYPE_CHECKING:
    from solvent.envs.rendering import Screen

RENDER_MODES = ("ansi", "rgb_array", "human")

ILLEGAL = ("remap", "raise")

_INT64 = np.dtype(np.int64)

Seat: TypeAlias = Literal[0, 1, "random"]


def check_action(action: Any, n_actions: int) -> int:
    """Return `action` as an int within 0..n_actions-1.

    Raises:
        ValueError: If `action` is not a whole number in this range.
    """
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < n_actions:
        raise ValueError(
            f"action is {shown(action)}; allowed are whole numbers from 0 to {n_actions - 1}"
        )
    return number


def check_action_array(actions: Any, n_envs: int) -> NDArray[np.int64]:
    """Return the actions of `n_envs` environments as an array [n_envs]; their range is unchecked.

    Raises:
        ValueError: If they are not whole numbers, or not one per environment.
    """
    array = np.asarray(actions)
    if array.dtype is _INT64 and array.shape == (n_envs,) and array.flags.c_contiguous:
        return array
    if array.shape != (n_envs,) or array.dtype.kind not in "iu":
        raise ValueError(
            f"actions have shape {array.shape} and type {array.dtype}; "
            f"expected whole numbers of shape ({n_envs},)"
        )
    return np.ascontiguousarray(array, np.int64)


def check_options(
    options: Any, allowed: tuple[str, ...] = (), *, ignored: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """Return the `options` of a ``reset``, empty if there are none.

    Args:
        options: The options that were passed.
        allowed: Options that have an effect.
        ignored: Options that are accepted but have none.

    Raises:
        ValueError: If there is any other option.
    """
    given: Mapping[str, Any] = options or {}
    for key in given:
        if key not in (*allowed, *ignored):
            known = ", ".join(allowed) or "none"
            raise ValueError(f"options has {shown(key)}; allowed are: {known}")
    return given


def check_render_mode(mode: str | None, allowed: Sequence[str], rules: Game | None) -> str | None:
    """Return `mode` if it is None or one of `allowed`.

    Raises:
        ValueError: If `mode` is neither, or there are no rules to draw the states.
    """
    if mode is None:
        return None
    check_choice(mode, "render_mode", allowed)
    if rules is None:
        raise ValueError(
            f"render_mode is {shown(mode)}, but a table cannot be drawn; pass its game as rules="
        )
    return mode


class EnvironmentBase:
    """Base class of environments: opponents, rendering and copies.

    Attributes:
        episode: The episode or the episodes to sample.
        rules: The rules that draw the states, or None.
        render_mode: None, or one of :data:`RENDER_MODES`.
        metadata: Has ``"render_fps"``.
    """

    episode: Any
    rules: Game | None
    render_mode: str | None
    metadata: dict[str, Any]
    _begun = False
    _screen: Screen | None = None

    def _check_begun(self) -> None:
        if not self._begun:
            raise ResetNeeded("the episode has not begun; call reset() first")

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that the learner may take."""
        return cast(tuple[int, ...], self.episode.seats)

    @property
    def opponents(self) -> tuple[Any, ...]:
        """The opponents in the pool: each a policy against each of the seats, or a player."""
        return cast(tuple[Any, ...], self.episode.opponents)

    def set_opponents(self, opponents: Any, weights: Sequence[float] | None = None) -> None:
        """Replace the pool; running episodes continue against an opponent from the new pool.

        Args:
            opponents: Policies or players for the other seat, as for :class:`solvent.envs.Env`.
            weights: A positive number for each opponent, in proportion to which it is drawn; None
                draws uniformly.

        Raises:
            ValueError: If the learner has no opponents, one is for another game or for the
                learner's own seat, or the weights are not as above.
        """
        if not self.opponents:
            raise ValueError("the learner has no opponents to replace")
        self.episode.set_opponents(opponents, weights)

    def render(self) -> Any:
        """Draw the state: text, an RGB array [height, width, 3] of uint8, or a window.

        Returns:
            A vector environment returns a tuple with a drawing for each environment.

        Raises:
            ResetNeeded: If the episode has not begun.
        """
        if self.render_mode is None or self.rules is None:
            logger.warn("render() was called, but no render_mode was given to the environment")
            return None
        self._check_begun()
        return self._drawn(self.episode.state)

    def _drawn(self, state: Any) -> Any:
        """Return the drawing of a state; None if it is shown in the window."""
        assert self.rules is not None
        text = self.rules.draw(state)
        if self.render_mode == "ansi":
            return text
        if self._screen is None:
            from solvent.envs.rendering import Screen, measured_states

            self._screen = Screen(self.rules, measured_states(self.rules, self.episode.game))
        if self.render_mode == "rgb_array":
            return self._screen.picture(text)
        return self._screen.show(text, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        if self.render_mode == "human":
            import pygame

            pygame.display.quit()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an independent copy; it shares immutable data."""
        memo.update((id(shared), shared) for shared in self.episode.shared)
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(deepcopy(self.__dict__, memo))
        return twin


class TableState:
    """A state of a table, with the random stream that draws the next one.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling.outcome_table`.
    """

    def __init__(self, game: TabularGame, rules: Game | None) -> None:
        self.game, self.rules = game, rules
        self._outcomes = outcome_table(game)
        self._stream: RandomStream | None = None
        self._at = -1

    def seed(self, first: int) -> None:
        """Start the random stream from a state of 64 bits, not 0."""
        self._stream = RandomStream(first)

    def _transition(self, row: int) -> float:
        """Draw an outcome of a row, move to its state, and return player 0's reward."""
        outcomes = self._outcomes
        assert self._stream is not None
        entry, cut, places = unpacked_row(outcomes.row.item(row))
        entry += bisect_right(outcomes.threshold, self._stream.draw(), cut, cut + places - 1) - cut
        self._at, reward = outcomes.outcome(entry)
        return reward

    @property
    def state(self) -> Any:
        """The state of the rules."""
        return self.game.states[self._at]


class TableEpisode(TableState):
    """An episode of a learner in a table, alone or against an opponent from a pool.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.
        table: The game as the learner sees it.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Attributes:
        table: The game as the learner sees it.
        pool: The opponents as arrays, or None if no other player has a choice.
        opponents: The opponents in the pool, each a policy against each of the learner's seats.
        seats: The seats that the learner may take.
        over: Whether the end has been reported; True before the first episode.
        observation_space: Observation space of the learner.
        n_actions: Number of actions of the learner, A.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling.outcome_table`.
    """

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        table: SeatTable,
        observation: str,
    ) -> None:
        super().__init__(game, rules)
        self.table, self.seats, self.over = table, table.seats, True
        self.pool: Pool | None = None
        self.opponents: tuple[tuple[TabularPolicy, ...], ...] = ()
        self.n_actions: int = table.mask.shape[1]
        self.observation_space = observation_space(table.observation)
        self.observation = observation
        self._index = observation == "index"
        self._side = self._opponent = self._base = 0
        self._owed = 0.0

    @property
    def shared(self) -> tuple[Any, ...]:
        """Immutable data that copies can share."""
        return self.game, self.rules, self._outcomes, self.pool, self.opponents, self.table

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None) -> None:
        """Replace the pool; a running episode continues against an opponent from the new pool.

        Args:
            opponents: See :func:`solvent.envs.sampling.opponent_pool`.
            weights: Weights with which the opponents are drawn; None draws uniformly.

        Raises:
            ValueError: As :func:`~solvent.envs.sampling.opponent_pool`.
        """
        self.pool, self.opponents = opponent_pool(self.game, self.table, opponents, weights)
        if self._stream is not None:
            self._draw_opponent(self.pool, self._stream)

    def begin(self) -> None:
        """Begin an episode, up to the learner's first turn."""
        if self.pool is not None:
            assert self._stream is not None
            if len(self.seats) > 1:
                self._side = int(self._stream.draw() >= DRAWS // 2)
                self._base = self._side * self.game.n_states
            self._draw_opponent(self.pool, self._stream)
        self._transition(-1)
        self._owed, self.over = 0.0, False
        if self.pool is not None and self._actor() == OPPONENT:
            self._owed = self._play(0, 0.0)

    def step(self, action: int) -> tuple[float, bool]:
        """Play an action within 0..A-1, then the opponent's until the learner's next turn.

        Returns:
            The reward, and whether the action was illegal and another was played.
        """
        reward, self._owed = self._owed, 0.0
        illegal = False
        if self._actor() != NOBODY:
            rank = self.table.rank.item(self._base + self._at, action)
            illegal = rank < 0
            reward = self._play(0 if illegal else rank, reward)
        self.over = self._actor() == NOBODY
        if self.over and self.pool is not None:
            reward += self.table.bonus.item(self._side)
        return reward, illegal

    def _play(self, rank: int, reward: float) -> float:
        """Play the learner's legal action number `rank`, then the opponent's while it is on turn.

        Returns:
            The sum of `reward` and the rewards of these moves.
        """
        table, pool, stream = self.table, self.pool, self._stream
        base, sign = self._base, table.sign.item(self._side)
        while True:
            first, own, other, choice, choices, _ = table.node[base + self._at].tolist()
            row = first + rank * own
            if pool is None:
                return reward + sign * self._transition(row)
            assert stream is not None
            policy = pool.policy[self._opponent]
            reply = bisect_right(policy, stream.draw(), choice, choice + choices - 1) - choice
            reward += sign * self._transition(row + reply * other)
            if self._actor() != OPPONENT:
                return reward
            rank = 0

    def _actor(self) -> int:
        """Return the code of the player to act."""
        return self.table.node.item(self._base + self._at, 5)

    def _draw_opponent(self, pool: Pool, stream: RandomStream) -> None:
        self._opponent = bisect_right(pool.weight, stream.draw()) if len(pool.weight) > 1 else 0

    def look(self) -> tuple[Any, NDArray[np.int8]]:
        """Return the observation and the mask [A] of legal actions, as new arrays."""
        table, row = self.table, self._base + self._at
        seen = self._at if self._index else table.observation[row].copy()
        return seen, table.mask[row].copy()

    def extra_info(self) -> dict[str, Any]:
        """Return the further entries of an info."""
        return {"seat": self.seats[self._side], "opponent": self._opponent} if self.pool else {}


class OnlyEpisode:
    """The only episode of a simulator, with the methods of :class:`TableEpisode`.

    Args:
        simulator: A simulator with ``num_envs == 1``.
    """

    def __init__(self, simulator: BatchSimulator) -> None:
        self.simulator, self.over = simulator, True

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the simulator."""
        if name == "simulator":  # A copy does not have it yet.
            raise AttributeError(name)
        return getattr(self.simulator, name)

    def seed(self, first: int) -> None:
        self.simulator.arrays["stream"][0] = first

    def begin(self) -> None:
        self.simulator.begin(np.zeros(1, np.int64))
        self._seen, self._mask = self.simulator.look()
        self.over = False

    def step(self, action: int) -> tuple[float, bool]:
        reward, terminated, illegal = np.empty(1), np.empty(1, bool), np.empty(1, bool)
        self._seen, self._mask = np.empty_like(self._seen), np.empty_like(self._mask)
        self.simulator.step(np.array([action]), reward, terminated, illegal, self._mask, self._seen)
        self.over = terminated.item()
        return reward.item(), illegal.item()

    def look(self) -> tuple[Any, NDArray[np.int8]]:
        return self._seen[0].copy(), self._mask[0].copy()

    def extra_info(self) -> dict[str, Any]:
        return {name: array.item() for name, array in self.simulator.extra_info().items()}

    @property
    def state(self) -> Any:
        return self.simulator.state(0)


class Env(EnvironmentBase, gym.Env[Any, np.int64]):
    """A Gymnasium environment of a one-player game, or of one seat in a two-player game.

    A step draws one number and picks the first outcome at which the distribution function of the
    table's row exceeds it; :meth:`reset` draws the start in the same way. So the environment
    samples the table whose expectation the solver takes.

    An illegal action is not punished: the lowest legal action is played instead, and
    ``info["illegal_action"]`` is set. Every ``info`` also has ``"action_mask"``, an int8 array as
    ``action_space.sample(mask)`` takes it (all 1 after the episode, when no action has an effect).
    Episodes end by the rules and are never truncated.

    **One seat of a two-player game.** With `opponents`, a reset draws one of them and lets it play
    until it is the learner's turn. A step plays the learner's action and then the opponent's until
    the learner is on turn again or the episode ends. If both act at once, the opponent's action is
    drawn along with the outcome. All opponents' actions are drawn by the environment's stream, so a
    seed decides the whole episode. An opponent may end the episode before the learner's first turn:
    the learner then sees the terminal state, and receives the reward with its first action,
    whatever it is. The return of seat 1 is the lowest plus the highest return of the game minus the
    return of player 0 (for the reason see :mod:`solvent.envs.sampling`). Every ``info`` also has
    ``"seat"``, and ``"opponent"``, the index of the opponent in the pool.

    Args:
        game: The rules, their table, or a sampler of a game that has too many states for a
            table. Without `opponents`, the other player of a two-player game must be folded into
            chance by :func:`solvent.model.against`.
        opponents: Policies for the other seat (:data:`solvent.envs.sampling.Opponents`); without
            a table, players (:class:`solvent.envs.batch_simulator.Player`).
        weights: A positive number for each opponent, in proportion to which it is drawn; None
            draws uniformly.
        seat: The learner's seat: 0, or 1, which receives the negative rewards. With opponents also
            ``"random"``, which draws the seat at each reset, before the opponent.
        rules: The rules that draw the states, if `game` is a table.
        observation: ``"vector"`` as :meth:`solvent.model.Game.observe` gives it, ``"onehot"``
            as :func:`solvent.model.one_hot` does, or ``"index"``, the number of the state; without
            a table, a form that the game's simulations offer. The observations of both seats have
            the same form, so one learner can take both.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one instead,
            ``"raise"`` raises a ValueError.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.

    Attributes:
        episode: The episode to sample.
        game: The table that is sampled; ``states[i]`` is the state that ``observation="index"``
            shows as i. None for a game without a table.
        rules: The rules, or None.

    Raises:
        ValueError: If an argument is not allowed, the other player has a choice but there are no
            opponents, or an opponent is for another game or for the learner's own seat.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        game: Source,
        opponents: Opponents | Sequence[Player] | None = None,
        *,
        weights: Sequence[float] | None = None,
        seat: Seat = 0,
        rules: Game | None = None,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
    ) -> None:
        self.episode: TableEpisode | OnlyEpisode
        source = sampled(game, rules, 1, opponents, weights, seat, observation)
        if isinstance(source, BatchSimulator):
            self.episode = OnlyEpisode(source)
        else:
            self.episode = TableEpisode(*source)
            if opponents is not None:
                self.episode.set_opponents(cast(Any, opponents), weights)
        self.game, self.rules = self.episode.game, self.episode.rules
        self.render_mode = check_render_mode(render_mode, RENDER_MODES, self.rules)
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self.observation_space = self.episode.observation_space
        self.action_space = spaces.Discrete(self.episode.n_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode; with a seed, also start a new random stream.

        Args:
            seed: Seed of ``np_random``, which starts the stream. Without a seed the stream
                continues; the first time, it starts from an arbitrary seed.
            options: Must be None or empty.

        Raises:
            ValueError: If `options` is not empty.
        """
        check_options(options)
        super().reset(seed=seed)
        if seed is not None or not self._begun:
            self.episode.seed(first_state(self.np_random))
        self.episode.begin()
        self._begun = True
        if self.render_mode == "human":
            self.render()
        observation, mask = self.episode.look()
        return observation, self._info(mask, illegal=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action, then the opponent's until the learner's next turn.

        Raises:
            ResetNeeded: If the episode has ended or not begun.
            ValueError: If `action` is not an action, or illegal and ``illegal="raise"``.
        """
        episode = self.episode
        if episode.over:
            raise ResetNeeded("the episode has ended or not begun; call reset() first")
        action = check_action(action, episode.n_actions)
        if self._raises and not (mask := episode.look()[1])[action]:
            raise ValueError(illegal_action(episode.state, action, mask))
        reward, illegal = episode.step(action)
        if self.render_mode == "human":
            self.render()
        observation, mask = episode.look()
        return observation, reward, episode.over, False, self._info(mask, illegal=illegal)

    def _info(self, mask: NDArray[np.int8], *, illegal: bool) -> dict[str, Any]:
        return {"illegal_action": illegal, "action_mask": mask, **self.episode.extra_info()}

    @property
    def state(self) -> Any:
        """The current state of the rules.

        Raises:
            ResetNeeded: If the episode has not begun.
        """
        self._check_begun()
        return self.episode.state

    def action_masks(self) -> Bools:
        """Return the legal actions as booleans, under the name that sb3-contrib expects.

        Raises:
            ResetNeeded: If the episode has not begun.
        """
        self._check_begun()
        return cast(Bools, self.episode.look()[1].astype(bool))

    @property
    def P(self) -> dict[int, dict[int, list[Branch]]]:  # noqa: N802
        """The model in the form of toy-text environments, ``P[s][a]``.

        Environments of one game share it, so copy it before you change it.

        Raises:
            AttributeError: If there are opponents, or the game has no table.
        """
        return transition_dict(self._alone(), cast(TableEpisode, self.episode).table)

    @property
    def initial_state_distrib(self) -> Floats:
        """The probability of each state at the start, [S]; toy-text environments have the name."""
        return self._alone().initial

    def _alone(self) -> TabularGame:
        if self.opponents or self.game is None:
            raise AttributeError("P is for one player's table; fold opponents in with against()")
        return self.game


Source: TypeAlias = Game | TabularGame | Sampler | BatchSimulator
"""The source of an environment: rules, a table, or a sampler of a game without one."""


def sampled(
    game: Source,
    rules: Game | None,
    n: int,
    opponents: Any,
    weights: Sequence[float] | None,
    seat: Seat,
    observation: str,
) -> BatchSimulator | tuple[TabularGame, Game | None, SeatTable, str]:
    """Return the simulator of an environment, or the table that it samples.

    Args:
        game: The rules, a table, or a sampler of a game without a table.
        rules: The rules, if `game` is a table.
        n: Number of episodes.
        opponents: The pool, or None.
        weights: Weights of the opponents, or None.
        seat: The learner's seat.
        observation: The form of the observations.

    Returns:
        A simulator; or a table, the rules that draw its states or None, the game as the learner
        sees it, and `observation`.

    Raises:
        ValueError: If there are weights without opponents, opponents or a seat for a game or a
            simulator that takes none, the seat or the observation is not allowed, or another player
            has a choice although there are no opponents.
    """
    if opponents is None and weights is not None:
        raise ValueError(f"weights is {shown(weights)}, but there are no opponents")
    if isinstance(game, BatchSimulator):
        if opponents is not None:
            raise ValueError("a simulator has its own opponents; do not pass any")
        return game
    if isinstance(game, Sampler) and game.rules.info.players == 2:
        from solvent.envs.batches import SimulatedSeatBatch

        seats = seats_of(seat)
        return SimulatedSeatBatch(game, n, opponents or (), weights, seats, observation)
    if isinstance(game, Sampler):
        if opponents is not None:
            raise ValueError(f"{game.rules.info.name} is a game for one; it has no opponents")
        check_integer(seat, "seat", 0, 0)
        return cast(BatchSimulator, game.simulation(n, observation))
    alone = opponents is None
    table, rules = table_and_rules(game, rules)
    seats = (check_integer(seat, "seat", 0, 1),) if alone else seats_of(seat)
    return table, rules, seat_table(table, seats, observation, alone), observation


def table_and_rules(
    game: Game | TabularGame, rules: Game | None
) -> tuple[TabularGame, Game | None]:
    """Return a game's table, compiled if necessary, and the rules that draw its states."""
    return (game, rules) if isinstance(game, TabularGame) else (cached_table(game), game)


def seats_of(seat: Seat) -> tuple[int, ...]:
    """Return the seats that the learner may take.

    Raises:
        ValueError: If `seat` is not 0, 1 or ``"random"``.
    """
    if isinstance(seat, str):
        check_choice(seat, "seat", ("random",))
        return (0, 1)
    if isinstance(seat, bool) or not isinstance(seat, Integral) or seat not in (0, 1):
        raise ValueError(f"seat is {shown(seat)}; allowed are 0, 1 and 'random'")
    return (seat,)


def illegal_action(state: Any, action: int, mask: NDArray[np.int8]) -> str:
    """Return the error message for an illegal action in a state of the rules."""
    return (
        f"action {action} is not legal in state {state!r}; "
        f"legal are {np.flatnonzero(mask).tolist()}"
    )


Branch: TypeAlias = tuple[float, int, float, bool]


@remembered
def transition_dict(game: TabularGame, table: SeatTable) -> dict[int, dict[int, list[Branch]]]:
    """Return a model in the form of Gymnasium's toy-text environments; built once for a game.

    ``P[s][a]`` is a list of ``(probability, next_state, reward, terminated)``, as textbook value
    iteration reads it. As in toy-text, every state has every action, and a terminal state leads to
    itself without reward. An illegal action has the branches of the legal one that the environment
    plays instead, so ``P`` describes the environment and not only the rules.

    Args:
        game: The table of the game.
        table: The game as its player sees it.
    """
    reward, ends = table.sign * game.outcome_reward, game.terminal[game.next_state]
    columns = game.probability, game.next_state, reward, ends
    branches = list(zip(*(column.tolist() for column in columns), strict=True))
    rows = [
        [branch for branch in branches[first:last] if branch[0]]
        for first, last in pairwise(game.outcome_start.tolist())
    ]
    number = table.node[:, :1] + np.maximum(table.rank, 0) * table.node[:, 1:2]
    number[game.terminal] = -1
    return {
        s: {a: rows[row] if row >= 0 else [(1.0, s, 0.0, True)] for a, row in enumerate(played)}
        for s, played in enumerate(number.tolist())
    }


@dataclass(frozen=True, eq=False)
class LearnedSeat:
    """The learning problem of an environment whose opponents do not change.

    Attributes:
        game: The game that is played.
        left: The game on which a policy is scored. With one opponent, this is the one-player game
            that remains when the opponent is folded into chance. With several, the learner does
            not know which one it meets, so it is `game` itself: against the worst opponent.
        player: The player whose policy is learned.
        observation: Form of the observations: ``"vector"``, ``"onehot"`` or ``"index"``.
    """

    game: TabularGame
    left: TabularGame
    player: int
    observation: str


def learned_seat(env: Any, player: int | None = None) -> LearnedSeat:
    """Return the learning problem of an environment of this package.

    Args:
        env: A single environment or a vector environment that samples a table.
        player: Player whose policy is learned; needed only if the learner takes either seat.

    Raises:
        ValueError: If the environment samples no table, the learner takes either seat and `player`
            is None, or `player` is not the learner.
    """
    native = env.unwrapped
    if not isinstance(native.game, TabularGame):
        raise ValueError(
            f"{shown(env)} has too many states for a table; only a network can be scored there, "
            f"layer by layer (`solvent score network.npz --solution DIR`)"
        )
    seats: tuple[int, ...] = native.seats
    if player is None and len(seats) > 1:
        raise ValueError(
            "seat is 'random'; a policy is learned for 0 or 1 here, and for both by self-play: "
            "pass player=0 or player=1"
        )
    player = seats[0] if player is None else player
    if player not in seats:
        raise ValueError(f"player is {shown(player)}; the learner of {shown(env)} is {seats[0]}")
    left: TabularGame = native.game
    if len(native.opponents) == 1:
        left = against(left, native.opponents[0][seats.index(player)])
    return LearnedSeat(native.game, left, player, native.episode.observation)
