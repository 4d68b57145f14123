"""Estimates that all algorithms yield, and the environment of the boxes.

Symbols are those of R. S. Sutton and A. G. Barto, *Reinforcement Learning: An Introduction*, second
edition, 2018. V, Q and pi are arrays over states and actions, numbered as in the game's table. An
illegal action has the value minus infinity, so that no maximum takes it, and probability 0. In
terminal states V and Q are 0.

**The interface** is a state, an action, a reward and the next state. An environment is a Gymnasium
environment that observes the number of the state, such as one made with ``observation="index"``.
The algorithm's generator seeds its random numbers, so this generator alone determines the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from solvent.envs.sampling import bonus_of
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats
from solvent.model.parameters import check_rational, shown

Env: TypeAlias = gym.Env[Any, Any]

StepSize: TypeAlias = float | Callable[[int], float]
"""A constant, or a function of the number of updates of the entry, including the current one."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """An algorithm's estimates after a sweep, an episode or a round.

    The algorithm keeps changing these arrays in place: copy any that you want to keep. Arrays that
    the algorithm does not estimate are None.

    Attributes:
        V: [S] value of each state to the learner, or to player 0 in a two-player game.
        Q: [S, A] value of each action.
        pi: [S, A] action probabilities of the policy that acts. In a two-player game, a pair of
            such arrays, one per player.
        by_number: Whether states are numbered as by an environment without a table, such as
            Gymnasium's FrozenLake, whose table has another order.
    """

    V: Floats | None = None
    Q: Floats | None = None
    pi: Floats | tuple[Floats, Floats] | None = None
    by_number: bool = False

    @property
    def values(self) -> Floats | None:
        """[S]: V, or the largest entries of Q, or None."""
        return self.Q.max(axis=1) if self.V is None and self.Q is not None else self.V


def check_one_discount(game: Any, discount: float) -> None:
    """Check a discount, and that values are not discounted twice.

    Args:
        game: The game to learn; anything else if the environment has no table.
        discount: The requested discount of the next state's value, from 0 to 1.

    Raises:
        ValueError: If `discount` is not within 0..1, or the game is already discounted and
            `discount` is not 1.
    """
    check_rational(discount, "discount", 0, 1)
    if discount != 1 and isinstance(game, TabularGame) and game.info.discount != 1:
        raise ValueError(
            f"discount is {shown(discount)}, but {game.info.name} ends at random for a discount of "
            f"{float(game.info.discount):g} already; leave it at 1, or make the game with "
            f"discount=1"
        )


def epsilon_greedy(Q: Floats, epsilon: float = 0.0) -> Floats:
    """Return the action probabilities of the epsilon-greedy policy.

    Args:
        Q: [..., A] value of each action, minus infinity for illegal actions.
        epsilon: Probability of a uniformly random legal action. Zero gives the greedy policy.

    Returns:
        [..., A] probabilities; actions of equal value are equally probable.

    Raises:
        ValueError: If `epsilon` is outside 0..1.
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon is {epsilon!r}; allowed are numbers within 0..1")
    legal = Q > -np.inf
    best = Q == Q.max(axis=-1, keepdims=True)
    share = epsilon / legal.sum(-1, keepdims=True)
    rest = (1 - epsilon) / best.sum(-1, keepdims=True)
    return np.asarray(share * legal + rest * best)


def softmax(preferences: Floats) -> Floats:
    """Return probabilities in proportion to exp of the preferences, [..., A] -> [..., A].

    Args:
        preferences: [..., A] preferences, minus infinity for illegal actions.
    """
    weights = np.exp(preferences - preferences.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def expected(pi: Floats, Q: Floats) -> Floats:
    """Return the mean of Q under pi, [..., A] -> [...], ignoring actions of probability 0.

    Args:
        pi: [..., A] probabilities.
        Q: [..., A] values.
    """
    return np.asarray((pi * np.where(pi > 0, Q, 0.0)).sum(axis=-1))


def draw(probabilities: Floats, rng: np.random.Generator) -> int:
    """Draw an index by its probability, using one random number.

    Args:
        probabilities: [n] probability of each index.
        rng: Generator of random numbers.
    """
    cumulative = probabilities.cumsum()
    return int(cumulative.searchsorted(rng.random() * cumulative[-1], side="right"))


def sample_average(n: int) -> float:
    """Return the step size 1/n, which makes an estimate the mean of all its samples."""
    return 1 / n


def step_size(alpha: StepSize) -> Callable[[int], float]:
    """Return a step size as a function of the number of updates.

    Args:
        alpha: A constant within 0..1 or such a function.

    Raises:
        ValueError: If `alpha` is a constant outside 0..1.
    """
    if callable(alpha):
        return alpha
    constant = float(check_rational(alpha, "alpha", 0, 1))
    return lambda n: constant


# Tolerance for the sum of a row of probabilities, which may be in single precision.
_ROUNDING = 1e-5


def probabilities_of(policy: Floats | TabularPolicy, env: Env | None = None) -> Floats:
    """Return the probabilities of a policy, [S, A].

    Args:
        policy: A :class:`~solvent.model.TabularPolicy` or its probabilities.
        env: The environment in which it is followed, if any.

    Returns:
        The probabilities, uniform in states of which the policy says nothing. An episode may end
        before the learner's first turn, and takes a last step from there.

    Raises:
        ValueError: If the policy is for a table, but the environment numbers states without one, or
            a row is neither a distribution nor, as in a terminal state, 0.
    """
    if isinstance(policy, TabularPolicy) and env is not None and _table(env) is None:
        raise ValueError(
            f"policy {policy.name!r} is for a table, whose order is not that of {env}; pass an "
            f"array with a row for each number, or learn in Env(game, observation='index')"
        )
    rows = policy.probabilities if isinstance(policy, TabularPolicy) else np.asarray(policy, float)
    sums = rows.sum(axis=-1)
    if not ((rows >= 0).all() and ((np.abs(sums - 1) < _ROUNDING) | (sums == 0)).all()):
        raise ValueError(
            f"the policy is {shown(rows.tolist())}; allowed are rows of probabilities that sum to 1"
        )
    return np.where((sums == 0)[..., None], 1 / rows.shape[-1], rows)


def _table(env: Env) -> TabularGame | None:
    """Return the table that an environment samples, if there is one."""
    game = getattr(env.unwrapped, "game", None)
    return game if isinstance(game, TabularGame) else None


class Indexed:
    """An environment of numbered states and actions.

    Args:
        env: A Gymnasium environment whose observations and actions are whole numbers.
        rng: Generator that seeds the environment's random numbers.
        discount: Discount of the next state's value, from 0 to 1.

    Attributes:
        legal: [S, A] bool, the legal actions; all True if the environment has no table.
        over: [S] bool, the terminal states; all False if the environment has no table.

    Raises:
        ValueError: If observations or actions are not whole numbers from 0 on, the seat in a
            two-player game is drawn at random, which the number of a state does not show, or the
            game is already discounted, or the discount is not within 0..1.
    """

    def __init__(self, env: Env, rng: np.random.Generator, discount: float = 1.0) -> None:
        seen, acts = env.observation_space, env.action_space
        for name, space in (("observation", seen), ("action", acts)):
            if not (isinstance(space, spaces.Discrete) and space.start == 0):
                raise ValueError(
                    f"the {name} space is {space}; allowed is Discrete(n), of which "
                    f"observation='index' makes an environment"
                )
        assert isinstance(seen, spaces.Discrete)
        assert isinstance(acts, spaces.Discrete)
        self._env, self._truncated, self._bonus = env, False, 0.0
        self._seed: int | None = int(rng.integers(2**31))
        self.legal: Bools = np.ones((int(seen.n), int(acts.n)), bool)
        self.over: Bools = np.zeros(len(self.legal), bool)
        game = _table(env)
        check_one_discount(game, discount)
        if game is not None:
            self.over = game.terminal
            seats: tuple[int, ...] = getattr(env.unwrapped, "seats", (0,))
            if len(seats) > 1:
                raise ValueError(
                    "the seat is drawn for each episode, of which the number of a state says "
                    "nothing; allowed are seat=0 and seat=1"
                )
            self.legal = game.mask[seats[0]] | self.over[:, None]
            # What an environment adds to seat 1's reward at the end is no part of the table.
            if getattr(env.unwrapped, "opponents", ()):
                self._bonus = seats[0] * bonus_of(game.info)
        self.known = game is not None

    def estimate(self, **arrays: Any) -> Estimate:
        """Return an estimate of the states as this environment numbers them.

        Args:
            arrays: The arrays of the estimate, by name.
        """
        return Estimate(**arrays, by_number=not self.known)

    def values(self, initial: float = 0.0) -> Floats:
        """Return a new array V, [S]: 0 in terminal states, `initial` elsewhere.

        Args:
            initial: Initial estimate of every value.

        Raises:
            ValueError: If `initial` is not 0 and no table shows which states are terminal.
        """
        if initial and not self.known:
            raise ValueError(
                f"initial is {initial!r}; allowed is 0 for an environment without a table, whose "
                f"terminal states are not known"
            )
        return np.where(self.over, 0.0, initial)

    def action_values(self, initial: float = 0.0) -> Floats:
        """Return a new array Q, [S, A]: as V, with minus infinity for illegal actions.

        Args:
            initial: Initial estimate of every value.

        Raises:
            ValueError: As for :meth:`values`.
        """
        return np.where(self.legal, self.values(initial)[:, None], -np.inf)

    def reset(self) -> int:
        """Begin an episode and return its first state."""
        seed, self._seed = self._seed, None  # Later episodes go on with the same random numbers.
        return int(self._env.reset(seed=seed)[0])

    def step(self, action: int) -> tuple[int, float, bool]:
        """Take an action.

        Args:
            action: Number of the action.

        Returns:
            The next state, the reward in the game's table, and whether the episode is over.
        """
        state, reward, terminated, self._truncated, _ = self._env.step(action)
        reward = float(reward) - terminated * self._bonus
        return int(state), reward, terminated or self._truncated

    def episode(
        self, pi: Floats, rng: np.random.Generator
    ) -> tuple[list[int], list[int], list[float]]:
        """Sample a whole episode under a policy.

        Args:
            pi: [S, A] action probabilities.
            rng: Generator from which the actions are drawn.

        Returns:
            S_0 … S_T-1, A_0 … A_T-1 and R_1 … R_T.

        Raises:
            ValueError: If the environment cuts the episode off, so that its return is unknown.
        """
        # Drawing takes most of the time, so the sums are computed once.
        cumulative = pi.cumsum(axis=1)
        states: list[int] = []
        actions: list[int] = []
        rewards: list[float] = []
        s, done = self.reset(), False
        while not done:
            sums = cumulative[s]
            a = int(sums.searchsorted(rng.random() * sums[-1], side="right"))
            states.append(s)
            actions.append(a)
            s, r, done = self.step(a)
            rewards.append(r)
        if self._truncated:
            raise ValueError(
                f"the environment cut an episode off after {len(rewards)} steps, so that its "
                f"return is not known; make it without a time limit, as with "
                f"max_episode_steps=-1, or use an algorithm that bootstraps, such as td or "
                f"q_learning"
            )
        return states, actions, rewards
