"""Score any policy in one line, in any game that has a table.

The game may be rules, their table, or an environment, which also determines the player, the
opponent and the observation. The policy may come from any library. It is converted to action
probabilities for each state (:mod:`solvent.baselines.gate`), which are scored exactly
(:mod:`solvent.exact.scoring`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from solvent.baselines.gate import check_wrappers, layers, replay, singles, tabulated
from solvent.envs.env import learned_seat
from solvent.envs.sampling import observed
from solvent.exact import (
    Score,
    Solution,
    best_response,
    cached_solution,
    exploitability,
    policy_value,
    state_visitation,
)
from solvent.exact import score as score_table
from solvent.exact.hardness import LARGEST, Hardness, measure_hardness
from solvent.model import Game, TabularGame, TabularPolicy, against, cached_table, discounted
from solvent.model.arrays import Floats, grouped_sum
from solvent.model.gymnasium_table import numbers_of
from solvent.model.parameters import check_discount, check_integer, shown
from solvent.model.registry import game_of
from solvent.model.tabular import check_policy
from solvent.model.transforms import discounted_policy

if TYPE_CHECKING:
    from solvent.training.extract import Extraction

Played: TypeAlias = (
    "TabularGame | Game | gym.Env[Any, Any] | gym.vector.VectorEnv[Any, Any, Any] | str"
)
"""The game of a policy: a name, an environment or its id, rules, or their table."""


def score(
    game: Played,
    policy: Any,
    solution: Solution | None = None,
    *,
    outputs: str | None = None,
    observation: str | NDArray[Any] | None = None,
    illegal: str | None = None,
    takes_mask: bool = False,
    deterministic: bool = False,
    player: int | None = None,
    batch_size: int = 8192,
    name: str | None = None,
    tolerance: float = 1e-9,
    discount: float | str | None = None,
) -> Score:
    """Score a policy exactly.

    In an environment with one opponent, the value is against that opponent and the optimum is the
    value of a best response to it; exploitability is against the worst opponent. Otherwise, in a
    game for two, all figures are against a best response.

    The value to player 1 is minus the value to player 0. An environment adds the least and the
    largest return of the game to the return of seat 1: where a win counts 1 and a loss 0, the mean
    return of that seat is 1 more than the value.

    Args:
        game: A name, rules, their table, an environment of this package or of Gymnasium's toy-text
            ones, single or vector, or the id of such an environment. An environment also determines
            the player, the opponent and the observation.
        policy: The policy to score, as for :func:`policy_from`.
        solution: Solution of the table that the policy is scored on, if already available.
        outputs: Kind of output of a function, as for :func:`policy_from`.
        observation: Observations passed to a function, as for :func:`policy_from`.
        illegal: Treatment of illegal actions, as for :func:`policy_from`.
        takes_mask: Whether a function takes the legal actions too, as for :func:`policy_from`.
        deterministic: Whether to score the greedy policy, as for :func:`policy_from`.
        player: The player whose policy it is, as for :func:`policy_from`.
        batch_size: Number of states evaluated at once.
        name: Name of the policy in messages.
        tolerance: Widest accepted bracket of a best response, in units of the largest value or
            reward that can be met from the start, or of 1 if that is larger.
        discount: Discount of the objective, for a policy of the undiscounted game, such as one
            learned there with this gamma. Every move counts, those of an opponent, too. `solution`
            is then that of the discounted table (:func:`solvent.discounted`). Default: the
            objective of the game.

    Raises:
        ValueError: If the policy or the solution is for another game, the game has a discount
            already, or as for :func:`policy_from`.
        ImproperGameError: If the policy has no value, since rewards cancel for ever.
        CertificateError: If the bracket of a best response is wider than `tolerance`, or none could
            be proved.
    """
    subject = _subject(game, player)
    table, moved = _table(
        subject,
        policy,
        outputs=outputs,
        observation=observation,
        illegal=illegal,
        takes_mask=takes_mask,
        deterministic=deterministic,
        batch_size=batch_size,
        name=name,
    )
    own = replace(table, model_hash=subject.left.model_hash)
    left, whole = subject.left, subject.game
    against_one = left is not whole
    if discount is not None and check_discount(discount) != 1:
        left, whole = discounted(left, discount), discounted(whole, discount)
        own, table = discounted_policy(own, left), discounted_policy(table, whole)
        moved = None if moved is None else np.append(moved, 0.0)
    if solution is None and not isinstance(game, TabularGame):
        solution = cached_solution(left)
    result = score_table(left, own, solution, illegal=moved, tolerance=tolerance)
    if not against_one:
        return result
    # The gap is to the best response to one opponent, exploitability to the worst opponent.
    worst = exploitability(whole, table, cached_solution(whole), tolerance=tolerance)
    return replace(result, exploitability=worst)


@dataclass(frozen=True, eq=False)
class PolicyEvaluation:
    """Exact values of a policy by state; nothing is sampled.

    Values are to the player whose policy it is, S is the number of states of `table`, and A that of
    the player's actions. Sums of rewards, and visits, are discounted where `table` is.

    Attributes:
        table: The table, with the other player's policy folded into chance.
        policy: The policy, for `table`.
        v: [S] value of each state, V.
        q: [S, A] value of each action, if the policy is followed afterwards; NaN where illegal.
        advantage: [S, A] ``q - v``.
        occupancy: [S] expected number of visits in an episode.
        policy_gradient: [S, A] derivative of the value at the start by the logits of a softmax over
            the legal actions: occupancy times probability times advantage (Sutton et al. 2000,
            *Policy gradient methods for reinforcement learning with function approximation*,
            theorem 1).
        critic: [S] the critic's values, if one was given.
        bellman_residual: [S] the policy's expected reward and next critic value, less the critic's
            value; 0 where the episode has ended.
    """

    table: TabularGame
    policy: TabularPolicy
    v: Floats
    q: Floats
    occupancy: Floats
    critic: Floats | None = None
    bellman_residual: Floats | None = None

    @property
    def value(self) -> float:
        """The value at the start."""
        return self.table.at_start(self.v)

    @property
    def advantage(self) -> Floats:
        """[S, A] by how much each action is better than the policy."""
        return self.q - self.v[:, None]

    @property
    def policy_gradient(self) -> Floats:
        """[S, A] the exact gradient by the logits of each state."""
        chances = self.policy.probabilities
        weighted = np.where(chances > 0, chances * np.nan_to_num(self.advantage), 0.0)
        return self.occupancy[:, None] * weighted

    @property
    def critic_error(self) -> Floats:
        """[S] the critic's value less the true one; 0 where the episode has ended.

        Raises:
            ValueError: If no critic was given.
        """
        if self.critic is None:
            raise ValueError("critic is None; give the critic of the policy to solvent.evaluate")
        return np.where(self.table.terminal, 0.0, self.critic - self.v)


def evaluate(
    game: Played,
    policy: Any,
    *,
    opponent: TabularPolicy | None = None,
    critic: Any = None,
    player: int | None = None,
    discount: float | str | None = None,
    **how: Any,
) -> PolicyEvaluation:
    """Evaluate a policy exactly in every state.

    Args:
        game: The game or the environment, as for :func:`score`.
        policy: The policy, as for :func:`policy_from`.
        opponent: The other player's policy in a game for two. Default: the opponent of the
            environment; without one, a best response.
        critic: The value function to compare with the true one: an array of values with the same
            rows as an array for the policy, or a function from a batch of observations to their
            values. Values of seat 1 are without what an environment adds to its return, as for
            :func:`score`.
        player: The player whose policy it is, as for :func:`policy_from`.
        discount: The discount of the objective, as for :func:`score`.
        how: The other arguments of :func:`policy_from`.

    Returns:
        An object with arrays by state: ``v`` and ``occupancy`` [S], ``q``, ``advantage`` and
        ``policy_gradient`` [S, A]; with a critic ``critic_error`` and ``bellman_residual`` [S]; and
        ``value``, the value at the start.

    Raises:
        ValueError: As for :func:`policy_from`, or if the opponent's policy is for another game or
            the same player, or the critic does not have a value for each state.
        ImproperGameError: If an episode may never end under the policy.
    """
    subject = _subject(game, player)
    own, _ = _table(subject, policy, **how)
    if opponent is not None:
        check_policy(opponent, subject.game)
    whole, left, me = subject.game, subject.left, own.player
    if discount is not None and check_discount(discount) != 1:
        own = discounted_policy(own, discounted(whole, discount))
        opponent = opponent and discounted_policy(opponent, discounted(whole, discount))
        whole, left = discounted(whole, discount), discounted(left, discount)
    if opponent is not None or left.action_count[1 - me].max() > 1:
        response = opponent or best_response(whole, own).policies[1 - me]
        if response.player == me:
            raise ValueError(f"opponent is of player {me}, whose policy is evaluated")
        left = against(whole, response)
    own = replace(own, model_hash=left.model_hash)
    sign = 1 if me == 0 else -1
    values = policy_value(left, own)
    seen: Floats | None = None
    residual: Floats | None = None
    if critic is not None:
        seen = _criticized(subject, critic, me, left, how.get("observation"))
        chances = own.probabilities[left.row_state, left.row_action[me]]
        ahead = chances * sign * left.expectation(sign * seen)
        residual = grouped_sum(left.row_state, ahead, left.n_states) - seen
    q = np.full(own.probabilities.shape, np.nan)
    q[left.row_state, left.row_action[me]] = sign * left.expectation(values)
    occupancy = state_visitation(left, own)
    return PolicyEvaluation(left, own, sign * values, q, occupancy, seen, residual)


def hardness(game: Played, *, player: int | None = None, largest: int = LARGEST) -> Hardness:
    """Measure exactly how hard a game is to learn.

    Among the measures are the action gaps on optimal trajectories, the effective horizon,
    concentrability and the diameter; :mod:`solvent.exact.hardness` defines them.

    Args:
        game: The game or the environment, as for :func:`score`. In a game for two it has to be an
            environment, which has an opponent.
        player: The player who learns, as for :func:`policy_from`.
        largest: Number of states times number of outcomes up to which diameter and reach are
            computed; one game is solved for each state.

    Raises:
        ValueError: If the game has no table, or two players have a choice.
        ImproperGameError: If an episode under the optimum need not end.
    """
    subject = _subject(game, player)
    learner = subject.player or 0
    return measure_hardness(
        subject.left, cached_solution(subject.left), player=learner, largest=largest
    )


def _criticized(
    subject: _Subject, critic: Any, player: int, table: TabularGame, observation: Any
) -> Floats:
    """Return a critic's value of each state of a table, 0 where the episode has ended."""
    given = critic(_seen(subject, player, observation)) if callable(critic) else critic
    given = given.detach().cpu() if hasattr(given, "detach") else given
    values = np.asarray(given, float).reshape(-1)
    # An array has the same rows as an array for the policy.
    numbers = None if callable(critic) else subject.numbers
    rows = subject.game.n_states if numbers is None else subject.rows
    if len(values) != rows:
        raise ValueError(
            f"critic has {len(values)} values; {table.info.name} has {rows} states, of which each "
            f"has one"
        )
    values = values if numbers is None else values[numbers]
    values = np.pad(values, (0, table.n_states - len(values)))
    return np.where(table.terminal, 0.0, values)


def policy_from(
    game: Played,
    policy: Any,
    *,
    outputs: str | None = None,
    observation: str | NDArray[Any] | None = None,
    illegal: str | None = None,
    takes_mask: bool = False,
    deterministic: bool = False,
    player: int | None = None,
    batch_size: int = 8192,
    name: str | None = None,
) -> TabularPolicy:
    """Convert any policy to a table of action probabilities.

    Repeated outputs may differ by rounding: by 1e-4, or 0.01 in half precision, in units of the
    largest output (for probabilities, of 1).

    An environment may be wrapped in ``ActionMasker``, ``Autoreset``, ``ClipReward``,
    ``DictInfoToList``, ``DummyVecEnv``, ``HumanRendering``, ``Monitor``, ``NativeVecEnv``,
    ``NormalizeReward``, ``OrderEnforcing``, ``PassiveEnvChecker``, ``RecordEpisodeStatistics``,
    ``RecordVideo``, ``RenderCollection``, ``SyncVectorEnv``, ``TimeLimit``, ``TransformReward``,
    ``VecCheckNan``, ``VecMonitor`` or ``VecVideoRecorder``, but not in subclasses of these. A
    model of Stable-Baselines3 may use ``VecNormalize``. Native vector environments are not
    replayed.

    Args:
        game: A name, rules, their table, an environment of this package or of Gymnasium's toy-text
            ones, or the id of such an environment. An environment also determines the player, the
            opponent and the observation.
        policy: The policy to convert, one of

            - a function of a batch of observations, [n, D] float32 or [n] int64, that returns a row
              for each, as an array of NumPy, PyTorch or JAX; a ``torch.nn.Module`` gets tensors;
            - an array with a row for each state of the table, or for each number of a toy-text
              environment: [S, A], or [S] actions;
            - a model of Stable-Baselines3 or sb3-contrib
              (:func:`solvent.training.extract`);
            - a TabularPolicy.
        outputs: Kind of output of a function, or content of an array: ``"probabilities"``,
            ``"logits"`` or
            ``"action_values"``, [n, A], of which the largest is chosen, or ``"actions"``, [n]. If
            left out, [n] whole numbers are actions, and rows are probabilities. These have to sum
            to 1 within 1e-3, and are divided by their sum.
        observation: Observations passed to a function: ``"vector"`` as defined by the rules,
            ``"onehot"``, ``"index"``, the number of the state, or an array [S, ...] with the
            observation of each state. Default: those of the environment, or ``"vector"``. For a
            model of Stable-Baselines3, those that fit its observation space.
        illegal: Treatment of illegal actions of a function or in an array: ``"remap"``, the
            default, plays the lowest legal one instead, as the environments do; ``"mask"``
            chooses among the legal actions only, as algorithms with action masks do; ``"raise"``
            raises a ValueError.
        takes_mask: Whether a function is also given the legal actions, ``f(observations, mask)``
            with [n, A] bool.
        deterministic: Whether the most probable action is always played, the lowest on ties.
        player: The player whose policy it is, 0 or 1. Default: the learner of an environment, or 0.
        batch_size: Number of states evaluated at once.
        name: Name of the policy.

    Returns:
        A policy for the table of the game: with an environment for ``env.unwrapped.game``.

    Raises:
        ValueError: If the game has no table, a wrapper changes observations or actions, the
            policy has another form, depends on the past, draws its actions or does not fit the
            game, or an argument does not apply to such a policy.
    """
    return _table(
        _subject(game, player),
        policy,
        outputs=outputs,
        observation=observation,
        illegal=illegal,
        takes_mask=takes_mask,
        deterministic=deterministic,
        batch_size=batch_size,
        name=name,
    )[0]


@dataclass(frozen=True, eq=False)
class _Subject:
    """The player whose policy is scored, and its game.

    Attributes:
        game: The table of the game.
        left: The table that the policy is scored on, where an opponent is folded into chance.
        player: The player whose policy it is, or None for the game's only or first player.
        observation: Observation type of the environment; None if unknown.
        numbers: [S] numbers of the states in an environment of Gymnasium's.
        rows: Number of states that it numbers.
        env: The environment, if one was named.
    """

    game: TabularGame
    left: TabularGame
    player: int | None
    observation: str | None = None
    numbers: NDArray[np.int64] | None = None
    rows: int = 0
    env: Any = None


def _subject(game: Any, player: int | None) -> _Subject:
    if isinstance(game, str) and game in gym.registry:
        game = gym.make(game)
    # Vector environments of Gymnasium and of Stable-Baselines3 have no base class in common.
    if isinstance(game, gym.Env) or hasattr(game, "num_envs"):
        subject = _of_env(game, player)
    else:
        table = cached_table(game)
        subject = _Subject(table, table, player)
    if player is not None:
        check_integer(player, "player", 0, subject.game.info.players - 1)
    return subject


def _of_env(env: Any, player: int | None) -> _Subject:
    check_wrappers(env)
    # A native vector environment holds no single ones.
    parts = [_of_single(one, player) for one in singles(env) or [*layers(env)][-1:]]
    kinds = {
        (
            one.game.model_hash,
            one.left.model_hash,
            one.player,
            one.observation,
            tuple([] if one.numbers is None else one.numbers),
        )
        for one in parts
    }
    if len(kinds) > 1:
        raise ValueError(
            f"the environments of {shown(env)} differ in their games, seats, opponents or "
            f"observations; pass one of them"
        )
    return parts[0] if parts[0].env is None else replace(parts[0], env=env)


def _of_single(env: Any, player: int | None) -> _Subject:
    if hasattr(env.unwrapped, "game"):
        learned = learned_seat(env, player)
        return _Subject(learned.game, learned.left, learned.player, learned.observation, env=env)
    rules = game_of(env)
    table = cached_table(rules)
    numbers = numbers_of(table)
    if numbers is None:
        return _Subject(table, table, player)
    return _Subject(table, table, player, numbers=numbers, rows=len(rules.transitions), env=env)


def _table(
    subject: _Subject,
    policy: Any,
    *,
    outputs: str | None = None,
    observation: str | NDArray[Any] | None = None,
    illegal: str | None = None,
    takes_mask: bool = False,
    deterministic: bool = False,
    batch_size: int = 8192,
    name: str | None = None,
) -> tuple[TabularPolicy, Floats | None]:
    """Return a policy as a table, and the probability moved from illegal actions, if known."""
    functions_only = {"outputs": outputs, "illegal": illegal, "takes_mask": takes_mask or None}
    if isinstance(policy, TabularPolicy):
        _refuse_given({**functions_only, "observation": observation}, "a TabularPolicy")
        if subject.player not in (None, policy.player):
            raise ValueError(
                f"policy {policy.name!r} is of player {policy.player}, but player "
                f"{subject.player} is scored here"
            )
        policy.check_is_for(subject.game)
        _replay(subject, policy)
        return policy.mode() if deterministic else policy, None
    player = subject.player or 0
    # The caller of a model has imported this already; others need not wait for its import.
    base: Any = sys.modules.get("stable_baselines3.common.base_class")
    if base is not None and isinstance(policy, base.BaseAlgorithm):
        _refuse_given(functions_only, "a model of Stable-Baselines3")
        both = _extracted(subject, policy, player, observation, batch_size, name)
        _replay(subject, both.sampled)
        return (both.mode, both.illegal_mode) if deterministic else (both.sampled, both.illegal)
    game = subject.game
    if callable(policy):
        function, seen = policy, _seen(subject, player, observation)
    else:
        _refuse_given({"observation": observation, "takes_mask": takes_mask or None}, "an array")
        seen, rows = np.arange(game.n_states), game.n_states
        if subject.numbers is not None:
            seen, rows = subject.numbers, subject.rows
        function = _lookup(policy, game, rows)
    return tabulated(
        game,
        function,
        seen,
        outputs=outputs,
        illegal="remap" if illegal is None else illegal,
        takes_mask=takes_mask,
        deterministic=deterministic,
        player=player,
        batch_size=batch_size,
        name=name or getattr(policy, "__name__", type(policy).__name__).strip("<>"),
        env=subject.env,
        rows=None if subject.env is None else _seen(subject, player, None),
    )


def _refuse_given(arguments: dict[str, Any], what: str) -> None:
    for argument, value in arguments.items():
        if value is not None:
            raise ValueError(f"{argument} is {shown(value)}; it is not for {what}")


def _replay(subject: _Subject, policy: TabularPolicy) -> None:
    """Replay episodes under a policy that is a table, if an environment was named."""
    if subject.env is not None:
        replay(subject.env, subject.game, policy, _seen(subject, policy.player, None))


def _seen(subject: _Subject, player: int, observation: str | NDArray[Any] | None) -> NDArray[Any]:
    """Return the observations passed to a function in each state, [S, ...]."""
    if observation is None and subject.numbers is not None:
        return subject.numbers
    kind = subject.observation or "vector" if observation is None else observation
    if isinstance(kind, str):
        return observed(subject.game, player, kind)
    rows = np.asarray(kind)
    if rows.shape[:1] != (subject.game.n_states,):
        raise ValueError(
            f"observation is an array of shape {rows.shape}; {subject.game.info.name} has "
            f"{subject.game.n_states} states, of which each has a row"
        )
    return rows


def _lookup(policy: Any, game: TabularGame, rows: int) -> Any:
    """Return a function that looks up the number of a state in an array."""
    if hasattr(policy, "detach"):
        policy = policy.detach().cpu()
    try:
        array = np.asarray(policy)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2):
        raise ValueError(
            f"policy is {shown(policy)}; allowed are a TabularPolicy, a function of observations "
            f"(such as the predict_proba of a classifier), an array [S, A] or [S], and a model of "
            f"Stable-Baselines3"
        )
    if len(array) != rows:
        raise ValueError(
            f"policy is an array of shape {array.shape}; {game.info.name} has {rows} states, of "
            f"which each has a row"
        )
    return array.__getitem__


def _extracted(
    subject: _Subject,
    model: Any,
    player: int,
    observation: str | NDArray[Any] | None,
    batch_size: int,
    name: str | None,
) -> Extraction:
    if not isinstance(observation, (str, type(None))):
        raise ValueError(
            "a model of Stable-Baselines3 with observations of another package has to be passed as "
            "a function: lambda seen: model.predict(seen, deterministic=True)[0]"
        )
    from solvent.training.extract import extract, fitting_observation

    if observation is None and subject.numbers is not None:
        observation = subject.numbers
    elif observation is None:
        shown_there = subject.observation or "vector"
        observation = fitting_observation(model, subject.game, player, shown_there)
    return extract(
        model,
        subject.game,
        observation=observation,
        player=player,
        batch_size=batch_size,
        name=name,
    )
