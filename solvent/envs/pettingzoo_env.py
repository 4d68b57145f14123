"""PettingZoo environments for two-player games.

A game in turns has an AEC environment. A simultaneous game has a parallel environment, which
``pettingzoo.utils.parallel_to_aec`` converts to AEC.

Agents are ``player_0`` and ``player_1``. An observation is a dictionary of ``"observation"`` and
``"action_mask"``, as in PettingZoo's own games. With ``mask="info"`` there is no dictionary, and
the mask is in the agent's info, for tools that do not read dictionaries. The mask is never in both
places, since some tools remove one and then fail on the other. An agent's info also has
``"illegal_action"``: whether its last action was illegal and was replaced, as in
:class:`solvent.envs.Env`. An agent's mask is all 0 when another is to act, and all 1 once the
episode has ended, when actions do not count. Rewards are those of :class:`solvent.envs.Env`: the
two players' returns have a constant sum, which is 0 if the game's returns are symmetric.

Random numbers are drawn as in the other environments: ``reset(seed=…)`` starts a stream, and later
resets continue it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from solvent.envs.batch_simulator import Sampler, Simulation
from solvent.envs.env import (
    ILLEGAL,
    RENDER_MODES,
    EnvironmentBase,
    TableState,
    check_action,
    check_options,
    check_render_mode,
    illegal_action,
    table_and_rules,
)
from solvent.envs.sampling import (
    LEARNER,
    NOBODY,
    bonus_of,
    first_state,
    observation_space,
    seat_table,
)
from solvent.model import Game, TabularGame
from solvent.model.game import Alternating
from solvent.model.parameters import check_choice

AGENTS = ("player_0", "player_1")

MASKS = ("info", "obs")

# Reset options that are ignored: PettingZoo's own test passes this one to every environment.
_IGNORED_OPTIONS = ("options",)


class JointEpisode(TableState):
    """An episode of a two-player table in which the caller chooses both players' actions.

    Each move draws one random number.

    Args:
        game: The table of the game.
        rules: The rules that draw the states, or None.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Attributes:
        alternating: Whether the players take turns.
        observation_spaces: Observation space of each player.
        n_actions: Number of actions of each player.

    Raises:
        ValueError: As :func:`~solvent.envs.sampling.seat_table`.
    """

    def __init__(self, game: TabularGame, rules: Game | None, observation: str) -> None:
        self._tables = tuple(seat_table(game, (player,), observation) for player in (0, 1))
        super().__init__(game, rules)
        self.alternating = game.turn is not None
        self.observation_spaces = tuple(observation_space(t.observation) for t in self._tables)
        self.n_actions = tuple(table.mask.shape[1] for table in self._tables)
        self._index = observation == "index"

    @property
    def shared(self) -> tuple[Any, ...]:
        """Immutable data that copies can share."""
        return self.game, self.rules, self._outcomes, self._tables

    def begin(self) -> None:
        """Begin a new episode and stop at the first choice of a player."""
        self._transition(-1)

    def move(self, actions: tuple[int, int]) -> tuple[float, float]:
        """Play a legal action of each player, and go on to the next choice.

        Args:
            actions: Action of each player, ignored for a player without a choice.

        Returns:
            The reward of each player.
        """
        first, own, other, *_ = self._tables[0].node[self._at].tolist()
        # The ignored action of a player without a choice has rank 0 or, if it is illegal, -1.
        one, two = (
            max(table.rank.item(self._at, action), 0)
            for table, action in zip(self._tables, actions, strict=True)
        )
        reward = self._transition(first + one * own + two * other)
        return reward, -reward + (self._tables[1].bonus.item(0) if self.over() else 0.0)

    def over(self) -> bool:
        """Return whether the episode has ended."""
        return self._tables[0].node.item(self._at, 5) == NOBODY

    def acts(self, player: int) -> bool:
        """Return whether a player has a choice."""
        return self._tables[player].node.item(self._at, 5) == LEARNER

    def mask(self, player: int) -> NDArray[np.int8]:
        """The legal actions [A] of a player; all 1 once the episode has ended. A new array."""
        return np.array(self._tables[player].mask[self._at])

    def observe(self, player: int) -> Any:
        """Return a player's observation; a new array."""
        at = self._at
        return np.int64(at) if self._index else self._tables[player].observation[at].copy()


_ONE = np.zeros(1, np.int64)
_PLAYER = (np.zeros(1, np.int64), np.ones(1, np.int64))


class SimulatedJointEpisode:
    """A joint episode of a game without a table, with the methods of :class:`JointEpisode`.

    Moves made by chance alone are part of the move before them.

    Args:
        sampler: The game.
        observation: Form of the observations that the game's simulations offer.
    """

    def __init__(self, sampler: Sampler, observation: str) -> None:
        self._sampler = sampler
        self._simulation = cast(Simulation, sampler.simulation(1, observation))
        self.game, self.rules = None, sampler.rules
        self.alternating = isinstance(sampler.rules, Alternating)
        self.observation_spaces = (self._simulation.observation_space,) * 2
        self.n_actions = (self._simulation.n_actions,) * 2
        self._bonus = bonus_of(sampler.rules.info)

    @property
    def shared(self) -> tuple[Any, ...]:
        return self._sampler, self.rules

    def seed(self, first: int) -> None:
        self._simulation.arrays["stream"][0] = first

    def begin(self) -> None:
        self._simulation.begin(_ONE)
        self._make_moves_of_chance(np.zeros(1))

    def move(self, actions: tuple[int, int]) -> tuple[float, float]:
        earned = np.zeros(1)
        self._simulation.move(_ONE, np.array(actions[:1]), np.array(actions[1:]), earned)
        self._make_moves_of_chance(earned)
        reward = earned.item()
        return reward, -reward + (self._bonus if self.over() else 0.0)

    def _make_moves_of_chance(self, earned: NDArray[np.float64]) -> None:
        """Move until a player has a choice or the episode has ended."""
        while not (self.over() or self.acts(0) or self.acts(1)):
            self._simulation.move(_ONE, _ONE, _ONE, earned)

    def over(self) -> bool:
        return bool(self._simulation.over()[0])

    def acts(self, player: int) -> bool:
        return bool(self._simulation.acts(_ONE, _PLAYER[player])[0])

    def mask(self, player: int) -> NDArray[np.int8]:
        return np.array(self._simulation.legal(_ONE, _PLAYER[player])[0])

    def observe(self, player: int) -> Any:
        return self._simulation.observe(_ONE, _PLAYER[player])[0]

    @property
    def state(self) -> Any:
        return self._simulation.state(0)


class _TwoPlayerEnv(EnvironmentBase):
    """The common part of both environments: an episode, its spaces, observations and infos."""

    def __init__(
        self,
        game: Game | TabularGame | Sampler,
        *,
        rules: Game | None = None,
        observation: str = "vector",
        illegal: str = "remap",
        mask: str = "obs",
        render_mode: str | None = None,
    ) -> None:
        self.episode: JointEpisode | SimulatedJointEpisode
        if isinstance(game, Sampler):
            self.episode = SimulatedJointEpisode(game, observation)
        else:
            self.episode = JointEpisode(*table_and_rules(game, rules), observation)
        self.game, self.rules = self.episode.game, self.episode.rules
        self._name = (game.rules if isinstance(game, Sampler) else game).info.name
        if self.episode.alternating != isinstance(self, AECEnv):
            raise ValueError(
                f"the players of {self._name} take turns; TabularAECEnv plays that"
                if self.episode.alternating
                else f"the players of {self._name} act at the same time; TabularParallelEnv plays "
                f"that, and the spec of the game says simultaneous=True"
            )
        self.render_mode = check_render_mode(render_mode, RENDER_MODES, self.rules)
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self._mask_in_info = check_choice(mask, "mask", MASKS) == "info"
        self.metadata: dict[str, Any] = {
            "name": f"{self._name}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "is_parallelizable": not self.episode.alternating,
        }
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent, seen, width in zip(
            AGENTS, self.episode.observation_spaces, self.episode.n_actions, strict=True
        ):
            legal = spaces.Box(0, 1, (width,), np.int8)
            self.observation_spaces[agent] = (
                seen
                if self._mask_in_info
                else spaces.Dict({"observation": seen, "action_mask": legal})
            )
            self.action_spaces[agent] = spaces.Discrete(width)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Draw the start."""
        check_options(options, ignored=_IGNORED_OPTIONS)
        if seed is not None or not self._begun:
            self.episode.seed(first_state(seeding.np_random(seed)[0]))
        self.episode.begin()
        self._begun = True
        self.agents = list(AGENTS)

    def _legal_action(self, player: int, action: Any) -> tuple[int, bool]:
        """Return the action that is played, and whether the given one was illegal.

        Raises:
            ValueError: If it is not an action, or illegal with ``illegal="raise"``.
        """
        action = check_action(action, self.episode.n_actions[player])
        mask = self.episode.mask(player)
        if mask[action]:
            return action, False
        if self._raises:
            raise ValueError(illegal_action(self.episode.state, action, mask))
        return int(mask.argmax()), True

    def _mask(self, player: int) -> NDArray[np.int8]:
        acts = self.episode.acts(player) or self.episode.over()
        return self.episode.mask(player) * np.int8(acts)

    def _observation(self, player: int) -> Any:
        seen = self.episode.observe(player)
        if self._mask_in_info:
            return seen
        return {"observation": seen, "action_mask": self._mask(player)}

    def _infos(self, illegal: Iterable[bool]) -> dict[str, dict[str, Any]]:
        infos: dict[str, dict[str, Any]] = {
            agent: {"illegal_action": wrong} for agent, wrong in zip(AGENTS, illegal, strict=True)
        }
        if self._mask_in_info:
            for player, agent in enumerate(AGENTS):
                infos[agent]["action_mask"] = self._mask(player)
        return infos


class TabularAECEnv(_TwoPlayerEnv, AECEnv[str, Any, Any]):
    """An AEC environment for any two-player game in turns.

    Args:
        game: The rules, their table, or a sampler for a game with too many states for a table.
        rules: The rules that draw the states, if `game` is a table.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for
            :class:`solvent.envs.Env`; without a table, what the game's simulations offer.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one in its
            place, ``"raise"`` raises a ValueError.
        mask: Place of the legal actions: ``"obs"`` makes an observation a dictionary of
            ``"observation"`` and ``"action_mask"``, ``"info"`` leaves it plain and puts the mask
            into the agent's info.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.

    Raises:
        ValueError: If an argument is none of these, or the players act at the same time.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new episode; with a seed, also begin a new stream of random numbers.

        Args:
            seed: Seed of the random stream; without one, the stream continues.
            options: None; there are no options.

        Raises:
            ValueError: If options are given.
        """
        self._begin(seed, options)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._illegal = dict.fromkeys(AGENTS, False)
        self._pass_turn()

    def step(self, action: Any) -> None:
        """Play an action of the agent on turn.

        Args:
            action: The action; None once the episode has ended, which removes the agent.

        Raises:
            ResetNeeded: If the episode has not begun.
            ValueError: If it is not an action, or illegal with ``illegal="raise"``.
        """
        self._check_begun()
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        player = AGENTS.index(agent)
        played, self._illegal[agent] = self._legal_action(player, action)
        self._cumulative_rewards[agent] = 0.0
        rewards = self.episode.move((played, 0) if player == 0 else (0, played))
        self.rewards = dict(zip(AGENTS, rewards, strict=True))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(AGENTS, self.episode.over())
        self._pass_turn()

    def observe(self, agent: str) -> Any:
        """Return an agent's observation, even if it is not on turn.

        Raises:
            ResetNeeded: If the episode has not begun.
        """
        self._check_begun()
        return self._observation(AGENTS.index(agent))

    def _pass_turn(self) -> None:
        """Select the agent that has a choice; at the end the first, since agents leave in order."""
        self.agent_selection = AGENTS[self.episode.acts(1)]
        self.infos = self._infos(self._illegal.values())
        if self.render_mode == "human":
            self.render()


class TabularParallelEnv(_TwoPlayerEnv, ParallelEnv[str, Any, Any]):
    """A parallel environment for any simultaneous two-player game.

    Args:
        game: The rules, their table, or a sampler for a game with too many states for a table.
        rules: The rules that draw the states, if `game` is a table.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for
            :class:`solvent.envs.Env`; without a table, what the game's simulations offer.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one in its
            place, ``"raise"`` raises a ValueError.
        mask: Place of the legal actions: ``"obs"`` makes an observation a dictionary of
            ``"observation"`` and ``"action_mask"``, ``"info"`` leaves it plain and puts the mask
            into the agent's info.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.

    Raises:
        ValueError: If an argument is none of these, or the players take turns.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a new episode; with a seed, also begin a new stream of random numbers.

        Args:
            seed: Seed of the random stream; without one, the stream continues.
            options: None; there are no options.

        Raises:
            ValueError: If options are given.
        """
        self._begin(seed, options)
        return self._observations_and_infos((False, False))

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Play an action of each agent.

        Raises:
            ResetNeeded: If the episode has ended or not begun.
            ValueError: If an agent's action is missing or not allowed.
        """
        if not self.agents:
            raise ResetNeeded("the episode has ended or not begun; call reset() first")
        if set(actions) != set(AGENTS):
            raise ValueError(
                f"actions are for {', '.join(map(str, actions)) or 'nobody'}; "
                f"expected is one for each of {', '.join(AGENTS)}"
            )
        first, second = (self._legal_action(p, actions[agent]) for p, agent in enumerate(AGENTS))
        rewards = self.episode.move((first[0], second[0]))
        over = self.episode.over()
        if over:
            self.agents = []
        seen, infos = self._observations_and_infos((first[1], second[1]))
        return (
            seen,
            dict(zip(AGENTS, rewards, strict=True)),
            dict.fromkeys(AGENTS, over),
            dict.fromkeys(AGENTS, False),
            infos,
        )

    def _observations_and_infos(
        self, illegal: tuple[bool, bool]
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the observations and infos of both agents, after drawing if a window is open."""
        if self.render_mode == "human":
            self.render()
        return {agent: self._observation(p) for p, agent in enumerate(AGENTS)}, self._infos(illegal)
