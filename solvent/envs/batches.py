"""Batches of running episodes, of a game with or without a table.

:class:`OnePlayerBatch` and :class:`SeatBatch` sample a table in compiled loops,
:class:`BothSeats` samples one with NumPy, and :class:`SimulatedSeatBatch` samples a two-player game
that has no table.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from solvent.envs import kernels
from solvent.envs.batch_simulator import (
    Batch,
    BatchSimulator,
    Player,
    Sampler,
    SeatSimulator,
    Simulation,
)
from solvent.envs.kernels import draw_actions, draw_entries
from solvent.envs.sampling import (
    FIRST_BITS,
    Opponents,
    OutcomeTable,
    SeatTable,
    bonus_of,
    observation_space,
    opponent_pool,
    outcome_table,
    seat_table,
    unpacked_row,
    weighted_thresholds,
)
from solvent.model import Game, TabularGame
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_integer


class TableSimulator(BatchSimulator):
    """A simulator that samples a table; its array ``"state"`` [n] has the numbers of the states.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.
        table: The game as the learners see it.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.
        num_envs: Number of environments, n.

    Attributes:
        table: The game as the learners see it.

    Raises:
        ValueError: If `num_envs` is not positive.
    """

    game: TabularGame

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        table: SeatTable,
        observation: str,
        num_envs: int,
    ) -> None:
        self.game, self.rules, self.table = game, rules, table
        self.shared = (game, rules, table)
        self.num_envs = check_integer(num_envs, "num_envs", 1, 2**31 - 1)
        self.seats, self.observation = table.seats, observation
        self.observation_space = observation_space(table.observation)
        self.n_actions = table.mask.shape[1]

    def _rows(self) -> Ints | NDArray[np.int32]:
        """Return the row of the learners' table for each environment, [n]."""
        raise NotImplementedError

    def look(self, chosen: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        rows = self._rows() if chosen is None else self._rows()[chosen]
        return self.table.observation[rows], self.table.mask[rows]

    def state(self, i: int) -> Any:
        return self.game.states[self.arrays["state"].item(i)]

    def index_ranges(self) -> dict[str, range]:
        return {**super().index_ranges(), "state": range(self.game.n_states)}


class OnePlayerBatch(TableSimulator):
    """A batch of episodes in which one player chooses.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.
        table: The game as the player sees it.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.
        num_envs: Number of environments.

    Raises:
        ValueError: If `num_envs` is not positive.
    """

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        table: SeatTable,
        observation: str,
        num_envs: int,
    ) -> None:
        super().__init__(game, rules, table, observation, num_envs)
        outcomes = outcome_table(game)
        self._state = np.full(num_envs, -1, np.int32)
        self._stream = np.zeros(num_envs, np.uint64)
        self.arrays = {"state": self._state, "stream": self._stream}
        self._start = outcomes.row, outcomes.threshold, outcomes.to, outcomes.shift
        # Adding 0 turns -0 into 0.
        rewards = outcomes.reward * table.sign + 0.0
        packed = outcomes.threshold, outcomes.to, rewards, outcomes.shift
        self._inputs = *cells(game, table, outcomes), *packed, table.mask, table.observation

    def _rows(self) -> NDArray[np.int32]:
        return self._state

    def begin(self, chosen: Ints) -> None:
        kernels.restart(chosen, self._state, self._stream, *self._start)

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: NDArray[np.int8],
        observation: Batch,
    ) -> None:
        outputs = reward, terminated, illegal, mask, observation
        kernels.step_alone(self._state, self._stream, actions, *self._inputs, *outputs)

    def over(self) -> Bools:
        return self.game.terminal[self._state]


def cells(
    game: TabularGame, table: SeatTable, outcomes: OutcomeTable
) -> tuple[NDArray[np.uint64], int, int, int]:
    """Return the packed rows of a one-player game, and how to search them.

    A terminal state has the row of the start, since the next step begins a new episode. If the
    start has more outcomes than the other rows are searched for, it is searched separately. It is
    then marked by thresholds that begin at 0, a place that no row has.

    Args:
        game: The table of the game.
        table: The game as its player sees it.
        outcomes: The outcomes of the game.

    Returns:
        The packed row of each state and action, [S, A], with bit 31 set if the action is illegal;
        the number of halvings that find an outcome in it; the first threshold of a start that is
        searched separately, or 0; and the number of the start's thresholds.
    """
    node, illegal = table.node, (table.rank < 0) & ~game.terminal[:, None]
    number = node[:, :1] + np.maximum(table.rank, 0).astype(np.int64) * node[:, 1:2]
    number[game.terminal] = len(outcomes.row) - 1
    last, cut, places = unpacked_row(outcomes.row.item(-1))
    deepest = int(outcomes.row[:-1].max()) >> 59
    row = outcomes.row
    if places <= 1 << deepest:
        cut = 0
    else:
        row = np.append(row[:-1], np.uint64(last))
    cell = row[number] | illegal.astype(np.uint64) << np.uint64(FIRST_BITS)
    return cell, deepest, cut, places


class SeatBatch(TableSimulator, SeatSimulator):
    """A batch of learners in seats of a two-player game, against opponents from a pool.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.
        table: The game as the learner sees it.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.
        num_envs: Number of environments.
        opponents: See :func:`solvent.envs.sampling.opponent_pool`.
        weights: Weights with which the opponents are drawn; None draws uniformly.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling.opponent_pool`, or if `num_envs` is not
            positive.
    """

    def __init__(
        self,
        game: TabularGame,
        rules: Game | None,
        table: SeatTable,
        observation: str,
        num_envs: int,
        opponents: Opponents,
        weights: Sequence[float] | None,
    ) -> None:
        super().__init__(game, rules, table, observation, num_envs)
        sources = {**vars(outcome_table(game)), **vars(table)}
        self._table = kernels.Table(*(sources[name] for name in kernels.Table._fields))
        self._set_pool(opponents, weights)
        self._episodes = kernels.Episodes(
            state=np.full(num_envs, -1, np.int32),
            stream=np.zeros(num_envs, np.uint64),
            side=np.zeros(num_envs, np.int32),
            opponent=np.zeros(num_envs, np.int32),
            owed=np.zeros(num_envs),
            over=np.ones(num_envs, bool),
        )
        self.arrays = self._episodes._asdict()

    def _set_pool(self, opponents: Opponents, weights: Sequence[float] | None) -> None:
        self._pool, self.opponents = opponent_pool(self.game, self.table, opponents, weights)
        self._weight = self._pool.weight
        shown = self.table.mask, self.table.observation
        self._inputs: tuple[Any, ...] = (*self._table, *self._pool, *shown)

    def begin(self, chosen: Ints) -> None:
        rank = np.zeros(self.num_envs, np.int32)
        kernels.begin_seats(chosen.copy(), rank, self._episodes, self._table, self._pool)

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: NDArray[np.int8],
        observation: Batch,
    ) -> None:
        outputs = reward, terminated, illegal, mask, observation
        arrays: tuple[Any, ...] = (*self._episodes, *self._inputs, *outputs)
        kernels.step_seats(actions, *arrays)

    def _rows(self) -> NDArray[np.int32]:
        episodes = self._episodes
        return episodes.side * self.game.n_states + episodes.state

    def over(self) -> Bools:
        return self._episodes.over


class BothSeats(TableSimulator):
    """A batch of episodes of a two-player game with a learner in each seat, for self-play.

    Environment i is seat 0 of episode i, and environment ``episodes + i`` is seat 1 of the same
    episode. Both begin and end together. A player who waits has one legal action. Rewards are as in
    :class:`solvent.envs.Env`.

    All episodes draw from one NumPy generator, which is seeded by the first seed.

    Args:
        game: The table of a two-player game whose players have as many actions and observations
            of the same length.
        episodes: Number of episodes, m; there are 2m environments.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

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
    ) -> None:
        check_integer(episodes, "episodes", 1, 2**30)
        table = seat_table(game, (0, 1), observation)
        super().__init__(game, None, table, observation, 2 * episodes)
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
        """Seed the generator if the first environment has a seed.

        Args:
            seeds: [n] seeds, of which only the first is used.
            chosen: Ignored.
            generator: Ignored.
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
    ) -> None:
        game, table = self.game, self.table
        again, live = np.flatnonzero(self._over), np.flatnonzero(~self._over)
        rank = table.rank[self._rows(), actions].astype(np.int64).reshape(2, -1)[:, live]
        first, own, other, *_ = table.node[self._state[live]].T
        ranks = np.maximum(rank, 0)
        outcome = self._drawn(first + ranks[0] * own + ranks[1] * other)
        self._state[live] = game.next_state[outcome]
        ends = game.terminal[self._state[live]]
        self._over[live] = ends
        earned = game.outcome_reward[outcome].astype(np.float64)
        rewards = np.stack((earned, table.bonus[1] * ends - earned))
        for array, found in ((reward, rewards), (terminated, ends), (illegal, rank < 0)):
            array[:] = 0
            array.reshape(2, -1)[:, live] = found
        self._begin(again)
        observation[:], mask[:] = self.look()

    def _drawn(self, row: Ints) -> Ints:
        """Return a random outcome of each row."""
        at, last = self.game.outcome_start[row], self.game.outcome_start[row + 1] - 1
        left: Floats = self._generator.random(len(row))
        open_: Ints = np.flatnonzero(at < last)
        while len(open_):
            left[open_] -= self.game.probability[at[open_]]
            open_ = open_[left[open_] >= 0]
            at[open_] += 1
            open_ = open_[at[open_] < last[open_]]
        return at

    def _rows(self) -> Ints:
        return np.concatenate((self._state, self._state + self.game.n_states))

    def over(self) -> Bools:
        return np.tile(self._over, 2)

    def extra_info(self) -> dict[str, Batch]:
        return {"seat": np.repeat(self.seats, len(self._state))}

    def state(self, i: int) -> Any:
        return self.game.states[self._state.item(i % len(self._state))]

    def restore(self, saved: Mapping[str, Any]) -> None:
        given = self.check_form({**self.arrays, **saved, "stream": self.arrays["stream"]})
        self.check_values(given)
        self._generator.bit_generator.state = json.loads(np.asarray(saved["stream"]).tobytes())
        self._state[:] = given["state"]
        self._over[:] = self.game.terminal[self._state]


class SimulatedSeatBatch(SeatSimulator):
    """A batch of learners in seats of a game without a table, against opponents from a pool.

    A step makes the learner's move, and the opponent's if it has a choice at the same time. It then
    continues the episode until the learner has a choice again or the episode ends.

    Args:
        sampler: The game.
        num_envs: Number of environments.
        opponents: The pool, from which each episode draws its opponent.
        weights: A positive number for each opponent, in proportion to which it is drawn; None
            draws uniformly.
        seats: The seats that the learner may take, one or both.
        observation: Form of the observations, one that the game's simulations offer.

    Attributes:
        sampler: The game.
        simulation: The episodes, seen from both seats.
        opponents: The pool.
        seats: The seats that the learner may take.

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
        self.simulation = simulation = cast(Simulation, sampler.simulation(num_envs, observation))
        self.game, self.rules = None, sampler.rules
        self.sampler, self.shared, self.seats = sampler, (sampler.rules, sampler), seats
        self.observation_space = simulation.observation_space
        self.n_actions = simulation.n_actions
        self._side, self._opponent = np.zeros(num_envs, np.int32), np.zeros(num_envs, np.int32)
        self._owed, self._over = np.zeros(num_envs), np.ones(num_envs, np.bool_)
        self._share_arrays()
        self._everyone = np.arange(num_envs)
        self._seats = np.array(seats)
        self._seat_thresholds = weighted_thresholds(None, len(seats))
        self._bonus = bonus_of(sampler.rules.info)
        self._set_pool(opponents, weights)

    def _share_arrays(self) -> None:
        """Share the arrays of the simulation, which may be views of one array."""
        self._stream: NDArray[np.uint64] = self.simulation.arrays["stream"]
        self.arrays = {
            **self.simulation.arrays,
            "side": self._side,
            "opponent": self._opponent,
            "owed": self._owed,
            "over": self._over,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled state and share the arrays again, since pickling copies views."""
        self.__dict__.update(state)
        self._share_arrays()

    def check_values(self, saved: Mapping[str, Batch]) -> None:
        super().check_values(saved)
        self.simulation.check_values(saved)

    def _set_pool(self, opponents: Sequence[Player], weights: Sequence[float] | None) -> None:
        self.opponents = tuple(opponents)
        self._weight = weighted_thresholds(weights, len(self.opponents))

    @property
    def _seat(self) -> Ints:
        """The learner's seat in each environment, [n]."""
        return cast(Ints, self._seats[self._side])

    def begin(self, chosen: Ints) -> None:
        draw_entries(chosen, self._seat_thresholds, self._stream, self._side)
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
    ) -> None:
        simulation = self.simulation
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

    def _play_on(self, chosen: Ints, action: Ints, earned: Floats) -> None:
        """Make a move in the chosen episodes, and further moves until the learner has a choice.

        Args:
            chosen: [k] indices of episodes that are not over.
            action: [n] the learner's legal actions.
            earned: [n] the learner's rewards so far; the new rewards are added.
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
            chosen: [k] indices of episodes in which the opponent has a choice.
            player: [k] the opponent's seat.
            reply: [n] the drawn actions, filled in these episodes.
        """
        for k, opponent in enumerate(self.opponents):
            mine = slice(None) if len(self.opponents) == 1 else self._opponent[chosen] == k
            if len(asked := chosen[mine]):
                probabilities = opponent.action_probabilities(self.simulation, asked, player[mine])
                draw_actions(asked, probabilities, self._stream, reply)

    def look(self, chosen: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        chosen = self._everyone if chosen is None else chosen
        seat = self._seat[chosen]
        return self.simulation.observe(chosen, seat), self.simulation.legal(chosen, seat)

    def over(self) -> Bools:
        return self._over

    def state(self, i: int) -> Any:
        return self.simulation.state(i)
