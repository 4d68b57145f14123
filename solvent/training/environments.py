"""Environments of a training: vector environments for SB3, exploring starts, and roles.

Stable-Baselines3 has its own vector interface, older than Gymnasium's. It resets an environment in
the step that ends its episode, which is Gymnasium's ``SAME_STEP`` mode. It expects one dictionary
of infos for each environment, which holds the last observation of an episode that has ended.

**Exploring starts.** A policy may be good on average and bad in states that episodes hardly ever
reach. Beginning a share of the training episodes there lets a network meet such states often enough
to learn them. It is still scored from the game's own start (Sutton and Barto 2018, *Reinforcement
Learning*, section 5.3). The starts are drawn by a weight for each state. There are two kinds of
weights:

- :func:`free_choice`, the default: all states alike, or where both players act at once, all states
  in which both have a choice. It needs only the list of states. A policy that is hard to exploit
  must be right where its own episodes never go, since a best response leads it there.
- :func:`importance`, for one player and only if asked for by name: how much the choice in a state
  matters if later choices are optimal. It is computed from the solution, so a learner with these
  starts has been given information from the solution (:mod:`solvent.benchmark.run_folder`).

**Roles.** If both players have the same actions and see the game from their own side, one network
can play either seat. Attack and defence have *roles*: each has its own actions. Then the network
chooses from both players' actions, of which only those of one role are legal at a time, and the
role is added to the player's observation. A learner that keeps the seats apart has roles in every
game, even in rock-paper-scissors, where both players have the same actions.

States and rows keep their numbers, so values, occupancies and distributions over states mean the
same in all forms.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import (
    VecEnvIndices,
    VecEnvObs,
    VecEnvStepReturn,
)

from solvent.baselines import environments
from solvent.envs import VectorEnv
from solvent.envs.env import check_options
from solvent.envs.registration import ENVIRONMENTS, compiled_game
from solvent.exact import Solution
from solvent.model import Game, TabularGame, TabularPolicy, cached_table
from solvent.model.arrays import Bools, Floats
from solvent.model.parameters import check_choice, shown
from solvent.model.registry import make_game, register_plugin
from solvent.registration import find_environment


class NativeVecEnv(VecEnv):
    """A Gymnasium vector environment behind the interface of Stable-Baselines3.

    If the environment reports ``info["action_mask"]``, each environment's info holds its row as
    a bool array, and ``env_method("action_masks")`` returns all of them, as sb3-contrib's
    MaskablePPO and :class:`~solvent.training.MaskedDQN` ask for.

    Args:
        env: The environment.

    Raises:
        ValueError: If it does not reset itself in the step that ends an episode.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        mode = env.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(
                f"autoreset_mode is {mode}; Stable-Baselines3 needs AutoresetMode.SAME_STEP"
            )
        self.env = env
        self._actions: NDArray[Any] | None = None
        self._masks: NDArray[np.bool_] | None = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> VecEnvObs:
        """Begin new episodes, with the seeds of :meth:`seed` if it was called since the last time.

        Raises:
            ValueError: If :meth:`set_options` has set any.
        """
        for options in self._options:
            check_options(options)
        # Typed for one seed, but Gymnasium's vector environments take one per environment, or None.
        observation, infos = self.env.reset(seed=self._seeds)  # type: ignore[arg-type]
        self._reset_seeds()
        self._reset_options()
        self._remember_masks(infos)
        return observation  # type: ignore[no-any-return]

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        observation, reward, terminated, truncated, infos = self.env.step(self._actions)
        self._remember_masks(infos)
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if self._masks is not None:
            each = [{"action_mask": mask} for mask in self._masks]
        done = terminated | truncated
        for i in np.flatnonzero(done).tolist():
            each[i]["terminal_observation"] = infos["final_obs"][i]
            each[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
        return observation, reward.astype(np.float32), done, each

    def _remember_masks(self, infos: dict[str, Any]) -> None:
        if "action_mask" in infos:
            self._masks = infos["action_mask"].astype(bool)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Return the environment's complete state, if it supports this.

        Returns:
            Arrays by name; see :meth:`solvent.envs.VectorEnv.get_state`.
        """
        return dict(self._native.get_state())

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore a state that :meth:`get_state` returned."""
        self._native.set_state(state)
        if hasattr(self._native, "action_masks"):
            self._masks = self._native.action_masks()

    @property
    def _native(self) -> Any:
        """The environment itself, without wrappers."""
        return self.env.unwrapped

    def close(self) -> None:
        self.env.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return the same value for each environment, since they are one object."""
        if attr_name == "action_masks":
            return self.env_method(attr_name, indices=indices)
        return [getattr(self._native, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of all environments at once."""
        assert indices is None, "a native environment is set as a whole"
        setattr(self._native, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method; only ``action_masks`` is supported.

        Raises:
            AttributeError: If the method is another, or no masks are known.
        """
        if method_name != "action_masks" or self._masks is None:
            raise AttributeError(f"a native vector environment has no method {method_name!r} each")
        return [self._masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))


def named_environment(
    game: str | Game | TabularGame, env_kwargs: Mapping[str, Any] | None
) -> tuple[str | None, dict[str, Any]]:
    """Return the id of the environment to train in, and its arguments.

    Args:
        game: A name of a game, the id of an environment, or a game.
        env_kwargs: Arguments of the environment. ``observation`` is ``"onehot"`` by default.

    Returns:
        The id, None for a game of one's own, and the arguments.

    Raises:
        ValueError: If there is nothing of that name, or `game` is something else.
    """
    if not isinstance(game, (str, TabularGame, Game)):
        raise ValueError(f"game is {shown(game)}; allowed are a name, rules and a table")
    kwargs = dict(env_kwargs or {})
    env_id = game.partition(":")[2] or game if isinstance(game, str) else None
    if env_id is not None:
        register_plugin(env_id)
    if env_id is not None and env_id not in gym.registry:
        env_id, kwargs = find_environment(str(game), kwargs)
    return env_id, {"observation": "onehot", **kwargs}


def make_vector_env(
    game: str | Game | TabularGame, num_envs: int, env_kwargs: Mapping[str, Any]
) -> gym.vector.VectorEnv[Any, Any, Any]:
    """Make a native vector environment, in the mode that training needs.

    Args:
        game: The id of an environment, one of Gymnasium's that publishes its table of transitions
            and one of MiniGrid's included, or a game in which only one player has a choice.
        num_envs: Number of environments.
        env_kwargs: Arguments of the environment.

    Raises:
        ValueError: If there is no such environment, it has no table, or an argument is not one
            of its own.
    """
    own: dict[str, Any] = {"num_envs": num_envs, "autoreset_mode": AutoresetMode.SAME_STEP.value}
    if not isinstance(game, str):
        return VectorEnv(game, **own, **env_kwargs)
    if game in ENVIRONMENTS:
        return environments.make_vector_env(**{**ENVIRONMENTS[game].kwargs, **own, **env_kwargs})
    # An environment of Gymnasium's: its table is sampled by a vector environment of ours.
    parameters = dict(env_kwargs)
    of_env = parameters.keys() & {"observation", "illegal", "render_mode"}
    own |= {name: parameters.pop(name) for name in of_env}
    return VectorEnv(make_game(game, **parameters), **own)


def table_for_self_play(
    game: str | Game | TabularGame, parameters: Mapping[str, Any]
) -> TabularGame:
    """Return the table of a two-player game.

    Args:
        game: The id of an environment, or the game.
        parameters: Parameters of the game that differ from the environment's, with an id.

    Raises:
        ValueError: If the game is not for two, there is no such environment, or a parameter is
            unknown or not allowed.
    """
    if isinstance(game, str):
        entry = ENVIRONMENTS[check_choice(game, "environment", ENVIRONMENTS)]
        table = compiled_game(entry.game, {**entry.parameters, **parameters})[1]
    elif parameters:
        raise ValueError(f"env_kwargs has {', '.join(parameters)}; a game has its parameters")
    else:
        table = cached_table(game)
    if table.info.players != 2:
        raise ValueError(f"{table.info.name} is a game for one; self-play needs one for two")
    return table


def exploring_starts(game: TabularGame, share: float, weights: Floats | Bools) -> TabularGame:
    """Return the same game with a share of its starts drawn in proportion to weights.

    Args:
        game: The game.
        share: Share of these episodes, within 0..1; the others begin as they do in `game`.
        weights: [S] weight of each state, at least 0, not all of them 0.
    """
    return replace(game, initial=(1 - share) * game.initial + share * weights / weights.sum())


def importance(game: TabularGame, solution: Solution) -> Floats:
    """Return the difference between the best and the worst legal action in each state, [S].

    Args:
        game: A game in which only one player has a choice.
        solution: Solution of `game`.

    Raises:
        ValueError: If no choice makes a difference anywhere.
    """
    q, live = solution.action_values, np.flatnonzero(~game.terminal)
    begins, found = game.row_start[live], np.zeros(game.n_states)
    found[live] = np.maximum.reduceat(q, begins) - np.minimum.reduceat(q, begins)
    if not found.any():
        raise ValueError(f"in {game.info.name} no choice makes a difference, wherever it begins")
    return found


def free_choice(game: TabularGame) -> Bools:
    """Return the states in which both players choose, or if none, the nonterminal states, [S]."""
    both = act_at_once(game)
    return both if both.any() else ~game.terminal


def act_at_once(game: TabularGame) -> Bools:
    """Return a mask of the states in which both of two players have a choice, [S]."""
    first, second = game.action_count
    return np.asarray((first > 1) & (second > 1))


def with_roles(game: TabularGame, *, apart: bool = False) -> TabularGame:
    """Return the same game in a form in which one network can play both seats.

    Args:
        game: A two-player game.
        apart: Whether players have roles even if their actions are the same.

    Returns:
        `game` itself if its players have no roles. Otherwise the actions of both players
        are those of player 0 and then those of player 1, and each player's observation, if there
        are any, ends with the number of the player.

    Raises:
        ValueError: If the players' observations differ in length.
    """
    names = game.info.actions
    if names[0] == names[1] and not apart:
        return game
    lengths = [seen.shape[1] for seen in game.observation]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"the players of {game.info.name} see {lengths[0]} and {lengths[1]} numbers; one "
            f"network for both needs as many"
        )
    first, second = game.mask
    both = tuple(
        np.column_stack((seen, np.full(game.n_states, player, np.float32)))
        for player, seen in enumerate(game.observation)
    )
    # The names of a player's actions are distinct.
    others = tuple(f"{name} (player 1)" if name in names[0] else name for name in names[1])
    return replace(
        game,
        info=replace(game.info, actions=(names[0] + others,) * 2),
        mask=(
            np.column_stack((first, np.zeros_like(second))),
            np.column_stack((np.zeros_like(first), second)),
        ),
        observation=both,
    )


def without_roles(policy: TabularPolicy, game: TabularGame) -> TabularPolicy:
    """Convert a policy of the game with roles into one of the game itself.

    Args:
        policy: A policy for ``with_roles(game)`` from any start, `apart` or not.
        game: The game.
    """
    first, second = (mask.shape[1] for mask in game.mask)
    own = slice(first) if policy.player == 0 else slice(first, None)
    if policy.probabilities.shape[1] < first + second:
        own = slice(None)
    return TabularPolicy.of(
        game, policy.probabilities[:, own], player=policy.player, name=policy.name
    )
