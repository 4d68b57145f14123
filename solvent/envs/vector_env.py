"""The environment for many learners, whose episodes are stepped together."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from gymnasium import spaces, vector
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Batch, BatchSimulator, Player
from solvent.envs.batches import OnePlayerBatch, SeatBatch
from solvent.envs.env import (
    ILLEGAL,
    RENDER_MODES,
    EnvironmentBase,
    Seat,
    Source,
    check_action_array,
    check_options,
    check_render_mode,
    illegal_action,
    sampled,
)
from solvent.envs.sampling import Opponents
from solvent.model import Game
from solvent.model.arrays import Bools, Ints
from solvent.model.parameters import check_choice, shown

# NumPy looks dtypes up faster than Python types.
_BOOL, _UINT64 = np.dtype(bool), np.dtype(np.uint64)

VECTOR_RENDER_MODES = tuple(mode for mode in RENDER_MODES if mode != "human")


class VectorEnv(EnvironmentBase, vector.VectorEnv[Batch, Batch, Batch]):
    """Environments of one game, stepped together at compiled speed.

    Equal, bit for bit and in every ``info``, to ``SyncVectorEnv`` around as many single
    environments with the same arguments and seeds, in each of Gymnasium's autoreset modes. In a
    game without a table this holds if a player's action probabilities do not depend on the number
    of episodes in a call. Every call returns new arrays.

    Args:
        game: The game, as for :class:`solvent.envs.Env`, or a simulator of its episodes.
        num_envs: Number of environments; ignored for a simulator, which has its own.
        opponents: Policies or players for the other seat of a game for two, as for
            :class:`solvent.envs.Env`.
        weights: A positive number for each opponent, in proportion to which it is drawn; None
            draws uniformly.
        seat: The learner's seat: 0, 1, or with opponents ``"random"``, which draws the seat for
            each episode.
        rules: The rules that draw the states, if `game` is a table.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for :class:`solvent.envs.Env`.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one in its
            place, ``"raise"`` raises a ValueError.
        render_mode: None, ``"ansi"`` or ``"rgb_array"``.
        autoreset_mode: Behavior at the end of an episode: it is begun again by the next step
            (``AutoresetMode.NEXT_STEP``) or by the same one (``SAME_STEP``, with the last
            observation in ``infos["final_obs"]``), or by
            ``reset(options={"reset_mask": …})`` only (``DISABLED``).

    Attributes:
        simulator: The simulator of the episodes.
        game: The table that is sampled, or None.
        rules: The rules that draw the states, or None.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    def __init__(
        self,
        game: Source,
        num_envs: int = 1,
        opponents: Opponents | Sequence[Player] | None = None,
        *,
        weights: Sequence[float] | None = None,
        seat: Seat = 0,
        rules: Game | None = None,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        source = sampled(game, rules, num_envs, opponents, weights, seat, observation)
        if isinstance(source, BatchSimulator):
            simulator = source
        elif opponents is None:
            simulator = OnePlayerBatch(*source, num_envs)
        else:
            simulator = SeatBatch(*source, num_envs, cast(Any, opponents), weights)
        self.simulator: BatchSimulator = simulator
        self.episode = simulator
        self.game, self.rules = simulator.game, simulator.rules
        self.num_envs = simulator.num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode, VECTOR_RENDER_MODES, simulator.rules)
        self.metadata = {
            "render_modes": list(VECTOR_RENDER_MODES),
            "render_fps": 4,
            "autoreset_mode": self.autoreset_mode,
        }
        self._raises = check_choice(illegal, "illegal", ILLEGAL) == "raise"
        self.single_observation_space = seen = simulator.observation_space
        self.single_action_space = spaces.Discrete(simulator.n_actions)
        self.observation_space = batch_space(seen, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._index = isinstance(seen, spaces.Discrete)
        self._form = (self.num_envs, *(seen.shape or (1,))), seen.dtype
        self._masks = (self.num_envs, simulator.n_actions), np.dtype(np.int8)
        self._all, self._none = np.ones(self.num_envs, bool), np.zeros(self.num_envs, bool)
        self._disabled = self.autoreset_mode is AutoresetMode.DISABLED
        self._same_step = self.autoreset_mode is AutoresetMode.SAME_STEP

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Batch, dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: An int for the seeds ``seed + i``, or one seed or None per environment. An
                environment without a seed goes on with its stream.
            options: ``{"reset_mask": …}``, a bool array [num_envs] with at least one True,
                resets only the environments where it is True; the others keep their observations.

        Raises:
            ValueError: If there are not as many seeds as environments, the mask is not such an
                array, or there is another option.
            ResetNeeded: If the mask leaves out an environment that has never been reset.
        """
        chosen = self._chosen(options)
        if not self._begun and not chosen.all():
            raise ResetNeeded("no episode has begun yet; reset all environments first")
        self._seed(seed, chosen)
        self.simulator.begin(np.flatnonzero(chosen))
        self._begun = True
        observation, mask = self.simulator.look()
        infos = _infos(chosen, np.zeros(self.num_envs, bool), mask, self.simulator.extra_info())
        return self._shown(observation), infos

    def step(self, actions: Any) -> tuple[Batch, Batch, Batch, Batch, dict[str, Any]]:
        """Play an action in every environment.

        Raises:
            ResetNeeded: If an environment has never been reset, or with autoreset disabled if an
                episode has ended.
            ValueError: If there is not one action for each environment, one is out of range, or
                one is illegal and ``illegal="raise"``.
        """
        n, simulator = self.num_envs, self.simulator
        actions = check_action_array(actions, n)
        self._check_begun()
        if self._disabled and simulator.over().any():
            raise ResetNeeded("some episodes have ended; reset them with options={'reset_mask': …}")
        # As an unsigned number, a negative action is out of range, too.
        codes = actions.view(_UINT64)
        i = codes.argmax()
        if codes.item(i) >= simulator.n_actions:
            raise ValueError(
                f"action of environment {i} is {actions[i]}; "
                f"allowed are whole numbers from 0 to {simulator.n_actions - 1}"
            )
        if self._raises:
            self._check_legal(actions)

        observation, mask = np.empty(*self._form), np.empty(*self._masks)
        reward, terminated, illegal = np.empty(n), np.empty(n, _BOOL), np.empty(n, _BOOL)
        simulator.step(actions, reward, terminated, illegal, mask, observation)
        observation = self._shown(observation)
        ended: dict[str, Any] | None = None
        if self._same_step and terminated.any():
            ended = self._begin_again(terminated, observation, illegal, mask)
        infos: dict[str, Any] = {
            "illegal_action": illegal,
            "_illegal_action": self._all.copy(),
            "action_mask": mask,
            "_action_mask": self._all.copy(),
        }
        for name, entry in simulator.extra_info().items():
            infos[name], infos[f"_{name}"] = entry, self._all.copy()
        if ended is not None:
            infos |= ended
        return observation, reward, terminated, self._none.copy(), infos

    def _begin_again(
        self,
        ended: Bools,
        observation: Batch,
        illegal: Bools,
        mask: NDArray[np.int8],
    ) -> dict[str, Any]:
        """Reset the environments whose episodes have just ended.

        Args:
            ended: [n] flags of the environments whose episode has ended.
            observation: Observations of all environments, updated in place.
            illegal: Flags of illegal actions of all environments, updated in place.
            mask: Legal actions in all environments, updated in place.

        Returns:
            The entries of ``infos`` about the ends of these episodes.
        """
        indices = np.flatnonzero(ended)
        final_obs = np.full(self.num_envs, None, object)
        last = observation[indices]
        for i, seen in zip(indices.tolist(), last.tolist() if self._index else last, strict=True):
            final_obs[i] = seen
        final_info = _infos(ended, illegal, mask, self.simulator.extra_info())
        self.simulator.begin(indices)
        seen, mask[indices] = self.simulator.look(indices)
        observation[indices] = self._shown(seen)
        illegal[indices] = False
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": final_info,
            "_final_info": ended.copy(),
        }

    def _shown(self, observation: Batch) -> Batch:
        """Return observations [n, D] in the form of the batch: state numbers without an axis."""
        return observation[:, 0] if self._index else observation

    def _chosen(self, options: Mapping[str, Any] | None) -> Bools:
        """Return the environments to reset."""
        options = check_options(options, ("reset_mask",))
        if "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        mask = options["reset_mask"]
        if (
            not isinstance(mask, np.ndarray)
            or mask.shape != (self.num_envs,)
            or mask.dtype != np.bool_
            or not mask.any()
        ):
            raise ValueError(
                f"reset_mask is {shown(mask)}; allowed are bool arrays of shape ({self.num_envs},) "
                f"with at least one True"
            )
        return mask.copy()

    def _seed(self, seed: int | Sequence[int | None] | None, chosen: Bools) -> None:
        """Start the random numbers of the chosen environments."""
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
            seeds: Sequence[int | None] = range(int(seed), int(seed) + self.num_envs)
        else:
            seeds = [None] * self.num_envs if seed is None else seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds were given for {self.num_envs} environments")
        self.simulator.seed(seeds, chosen, self.np_random)

    def _check_legal(self, actions: Ints) -> None:
        mask = self.simulator.look()[1]
        illegal = mask[np.arange(self.num_envs), actions] == 0
        if illegal.any():
            i = int(np.argmax(illegal))
            message = illegal_action(self.simulator.state(i), int(actions[i]), mask[i])
            raise ValueError(f"environment {i}: {message}")

    def action_masks(self) -> Bools:
        """The legal actions of every environment, [num_envs, A].

        Raises:
            ResetNeeded: If the episode has not begun.
        """
        self._check_begun()
        return self.simulator.look()[1].astype(bool)

    def get_state(self) -> dict[str, Batch]:
        """Return the complete state, on which all later steps depend.

        Returns:
            Copies of arrays by name; ``"stream"`` holds the random streams.

        Raises:
            ResetNeeded: If the episode has not begun.
        """
        self._check_begun()
        return self.simulator.saved()

    def set_state(self, saved: dict[str, Batch]) -> None:
        """Restore a state that :meth:`get_state` of an environment with equal arguments returned.

        Raises:
            ValueError: If `saved` has another form, or is for another number of environments or
                states.
        """
        self.simulator.restore(saved)
        self._begun = True

    def _drawn(self, state: Any) -> tuple[Any, ...]:
        # In a vector environment, `state` is a function of an environment's number.
        drawn = super()._drawn
        return tuple(drawn(state(i)) for i in range(self.num_envs))

    def close(self, **kwargs: Any) -> None:
        """Close the environment; see Gymnasium's vector environments."""
        vector.VectorEnv.close(self, **kwargs)


def _infos(
    chosen: Bools, illegal: Bools, mask: NDArray[np.int8], told: dict[str, Batch]
) -> dict[str, Any]:
    """Return the infos of the chosen environments as new arrays, with zeros for the others."""
    infos = {"illegal_action": illegal, "action_mask": mask, **told}
    result: dict[str, Any] = {}
    for name, array in infos.items():
        result[name] = np.zeros_like(array)
        result[name][chosen] = array[chosen]
        result[f"_{name}"] = chosen.copy()
    return result
