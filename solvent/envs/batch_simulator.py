"""Episodes that run in parallel: the base of every vector environment.

A :class:`BatchSimulator` begins episodes, makes a step in all of them at once, and returns what the
learners observe. Subclasses sample a table for one player, a seat of a two-player table against
opponents, both seats of such a table, or a game without a table
(:mod:`solvent.envs.batches`). :class:`solvent.envs.vector_env.VectorEnv` turns any of them into an
environment.

A two-player game without a table is sampled by a :class:`Simulation`: a number of running episodes
that reports who has a choice, what is legal, and what a player sees, and makes the moves. A
:class:`Sampler` creates simulations, and for one player batch simulators.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray

from solvent.envs.sampling import first_state
from solvent.model import Game, TabularGame
from solvent.model.arrays import Bools, Floats, Ints

Batch = NDArray[Any]
"""An array with an entry or a row for each environment."""


class RunningEpisodes(ABC):
    """Episodes that run in parallel, all of one game.

    Attributes:
        arrays: The complete mutable state, arrays [n] by name, changed in place. ``"stream"`` holds
            the states of the random generators, as uint64 (:mod:`solvent.envs.sampling`).
        observation_space: Observation space of one learner, or of one player of one episode.
        n_actions: Number of actions of a learner or of either player, A.
    """

    arrays: Mapping[str, Batch]
    observation_space: gym.Space[Any]
    n_actions: int

    @abstractmethod
    def begin(self, chosen: Ints) -> None:
        """Begin the chosen episodes; with learners, up to the learner's first turn."""

    @abstractmethod
    def over(self) -> Bools:
        """Return whether an episode has ended and the next one has not begun, [n]."""

    @abstractmethod
    def state(self, i: int) -> Any:
        """Return the state of episode `i`, in the form of the rules."""

    def check_values(self, saved: Mapping[str, Batch]) -> None:
        """Raise a ValueError if a value of a saved array is out of range."""
        for name, allowed in self.index_ranges().items():
            array = saved[name]
            if ((array < allowed.start) | (array >= allowed.stop)).any():
                raise ValueError(
                    f"saved {name} goes from {array.min()} to {array.max()}; allowed are "
                    f"{allowed.start} to {allowed.stop - 1}"
                )

    def index_ranges(self) -> dict[str, range]:
        """Return the values that saved arrays of whole numbers may have, by name."""
        return {}


class BatchSimulator(RunningEpisodes):
    """Runs n episodes in parallel, each with a learner.

    All arrays have one entry, or one row, per episode and are updated in place.

    Attributes:
        num_envs: Number of episodes, n.
        game: The table being sampled, or None if the game has none.
        rules: The rules that draw the states, or None.
        shared: Immutable data that copies of the simulator can share.
        seats: The seats that the learners may take.
        opponents: The pool of opponents: each a tuple of policies, one per seat, or a player.
        observation: The form of the observations, such as ``"vector"``.
    """

    num_envs: int
    game: TabularGame | None
    rules: Game | None
    shared: tuple[Any, ...] = ()
    seats: tuple[int, ...] = (0,)
    opponents: tuple[Any, ...] = ()
    observation: str = "vector"

    @abstractmethod
    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: NDArray[np.int8],
        observation: Batch,
    ) -> None:
        """Play an action in each environment, or begin a new episode where the last one is over.

        Args:
            actions: [n] within 0..A-1; ignored where an episode is over.
            reward: [n] float64, filled.
            terminated: [n], filled.
            illegal: [n], filled: whether the action was illegal and another was played.
            mask: [n, A], filled with the legal actions.
            observation: [n, D], filled with the learners' observations.
        """

    @abstractmethod
    def look(self, chosen: Ints | None = None) -> tuple[Batch, NDArray[np.int8]]:
        """Return new arrays: observations [k, D] and masks [k, A] of chosen environments or all."""

    def extra_info(self) -> dict[str, Batch]:
        """Return additional entries of the info, arrays [n] by name."""
        return {}

    def seed(
        self, seeds: Sequence[int | None], chosen: Bools, generator: np.random.Generator
    ) -> None:
        """Start the streams of chosen environments, if they have a seed or no stream yet.

        Args:
            seeds: [n], None for an environment whose stream goes on.
            chosen: [n].
            generator: Source of randomness for streams without a seed.
        """
        stream = self.arrays["stream"]
        for i in np.flatnonzero(chosen).tolist():
            own = seeds[i]
            if own is not None:
                stream[i] = first_state(seeding.np_random(int(own))[0])
            elif stream[i] == 0:
                stream[i] = first_state(generator)

    def saved(self) -> dict[str, Batch]:
        """Return a copy of the complete mutable state."""
        return {name: array.copy() for name, array in self.arrays.items()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from a state that :meth:`saved` returned.

        Raises:
            ValueError: If it lacks arrays, or their shapes, types or values do not fit.
        """
        given = self.check_form(saved)
        if (given["stream"] == 0).any():
            raise ValueError(
                f"saved streams begin at {given['stream'].min()}; allowed are streams from 1"
            )
        self.check_values(given)
        for name, array in given.items():
            self.arrays[name][:] = array

    def check_form(self, saved: Mapping[str, Any]) -> dict[str, Batch]:
        """Return the saved arrays.

        Raises:
            ValueError: If an array is missing, or has another shape or type.
        """
        try:
            given = {name: np.asarray(saved[name]) for name in self.arrays}
        except (KeyError, TypeError, IndexError):
            names = [repr(name) for name in self.arrays]
            raise ValueError(
                f"the saved state needs the arrays {', '.join(names[:-1])} and {names[-1]}"
            ) from None
        for name, array in given.items():
            expected = self.arrays[name]
            if array.shape != expected.shape or array.dtype != expected.dtype:
                raise ValueError(
                    f"saved {name} has shape {array.shape} and type {array.dtype}; "
                    f"expected {expected.shape} and {expected.dtype}"
                )
        return given


class SeatSimulator(BatchSimulator):
    """A simulator of learners in seats of a two-player game, each against an opponent from a pool.

    In its arrays, ``"side"`` is an index into `seats`, and ``"opponent"`` one into `opponents`. An
    opponent is drawn from the thresholds `_weight`, [K].
    """

    _weight: Ints

    @abstractmethod
    def _set_pool(self, opponents: Any, weights: Sequence[float] | None) -> None:
        """Replace the pool; see :meth:`set_opponents`."""

    def set_opponents(self, opponents: Any, weights: Sequence[float] | None) -> None:
        """Replace the pool; episodes that are under way draw their opponents anew and go on.

        Args:
            opponents: Policies or players for the other seat.
            weights: Weights with which they are drawn; None draws uniformly.

        Raises:
            ValueError: If there are no opponents or one does not fit, or the weights are not
                positive numbers.
        """
        from solvent.envs.kernels import draw_entries

        self._set_pool(opponents, weights)
        stream = self.arrays["stream"]
        draw_entries(np.flatnonzero(stream), self._weight, stream, self.arrays["opponent"])

    def extra_info(self) -> dict[str, Batch]:
        seat = np.array(self.seats)[self.arrays["side"]]
        return {"seat": seat, "opponent": self.arrays["opponent"].astype(np.int64)}

    def index_ranges(self) -> dict[str, range]:
        return {"side": range(len(self.seats)), "opponent": range(len(self.opponents))}


class Simulation(RunningEpisodes):
    """Running episodes of a two-player game whose seats share action and observation spaces.

    Attributes:
        rules: The game.
    """

    rules: Game
    observation_space: spaces.Box

    @abstractmethod
    def move(self, chosen: Ints, first: Ints, second: Ints, reward: Floats) -> None:
        """Make a move in each of the chosen episodes, none of which is over.

        Args:
            chosen: [k] indices of episodes.
            first: [n] legal actions of player 0, ignored where that player has no choice.
            second: [n] legal actions of player 1, likewise.
            reward: [n]; player 0's rewards are added to it.
        """

    @abstractmethod
    def acts(self, chosen: Ints, player: Ints) -> Bools:
        """Return whether the given player of each chosen episode has a choice, [k].

        Where chance moves alone, neither player has one.
        """

    @abstractmethod
    def observe(
        self, chosen: Ints, player: Ints, observation: str | None = None
    ) -> NDArray[np.float32]:
        """Return the observations of the given players.

        Args:
            chosen: [k] indices of episodes.
            player: [k] the player of each.
            observation: Form of the observation; by default the simulation's.

        Returns:
            [k, D].
        """

    @abstractmethod
    def legal(self, chosen: Ints, player: Ints) -> NDArray[np.int8]:
        """Return 1 for each legal action of the given player of each chosen episode, [k, A].

        A player without a choice has action 0. All actions are legal once the episode has ended.
        """


@runtime_checkable
class Sampler(Protocol):
    """A source of episodes of a game without a table."""

    @property
    def rules(self) -> Game:
        """The game."""

    def simulation(self, n: int, observation: str = "vector") -> Simulation | BatchSimulator:
        """Return episodes that have not begun: a batch simulator if the game is for one player.

        Args:
            n: Number of episodes.
            observation: Form of the observations.

        Raises:
            ValueError: If the game has no observations of this form.
        """


class Player(Protocol):
    """A player of one seat of a simulation."""

    @property
    def name(self) -> str:
        """The name of the player."""

    def action_probabilities(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        """Return action probabilities in episodes in which the player has a choice, [k, A].

        Args:
            simulation: The episodes.
            chosen: [k] indices of episodes.
            player: [k] the player's seat in each.
        """


class Uniform:
    """A player that draws uniformly from the legal actions."""

    name = "uniform"

    def action_probabilities(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        legal = simulation.legal(chosen, player)
        return cast(Floats, legal / legal.sum(axis=1, keepdims=True))
