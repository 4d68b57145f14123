"""Training in games that are too large for a table, such as football with a clock.

Nothing in such a training needs all states: it learns in a native vector environment against an
opponent, or against its own past selves. A folder holds what :mod:`solvent.training.train` writes,
but for policies as tables, in whose place there are networks:

====================  =====================================================================
``run.json``          what was asked for, with which versions, and the result
``curve.csv``         the learning curve (:class:`PlaysSoFar`)
``network.npz``       the network as it is sampled, without torch or pickles
``network_mode.npz``  the same, always taking its most probable action
``model.zip``         the network as Stable-Baselines3 saves it
``tensorboard/``      the curve and the learner's own figures
``checkpoint.npz``    where to go on from, while the training is not finished
====================  =====================================================================

The curve here is a mean over the plays of training, with their exploration: an exact score means
evaluating the network everywhere, which :mod:`solvent.games.football_clock.baselines.scores` does
once, afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from solvent.baselines.network import NetworkPlayer, load_network, save_network
from solvent.envs import register_envs
from solvent.envs.registration import SIMULATED
from solvent.envs.simulated_vector_env import SimulatedSeatVectorEnv
from solvent.exact import StoreError
from solvent.exact.layered.lock import FolderLock
from solvent.exact.learning_curve import read_curve
from solvent.model.parameters import check_choice, check_integer
from solvent.training.algorithms import find_algorithm
from solvent.training.callback import CurveCallback
from solvent.training.entropy import EntropyCallback
from solvent.training.hyperparameters import Hyperparameters, prepare, requested
from solvent.training.learning import learn, new_model, one_thread, save_model
from solvent.training.networks import network_player
from solvent.training.past_networks import PastNetworksCallback, PastNetworksEnv
from solvent.training.progress import Report, bar_for
from solvent.training.run_folder import RunFolder
from solvent.training.vec_env import NativeVecEnv

SELF_PLAY = "self-play"
"""The opponent that is the learner itself, as it was."""


@dataclass(frozen=True, slots=True)
class PlaysSoFar:
    """One point of a learning curve.

    Attributes:
        timesteps: Steps taken so far, in all environments together.
        plays: Plays that have ended since the last point.
        mean: What they paid the learner on average, as it explored; 0 if there are none.
        seconds: CPU time spent so far.
    """

    timesteps: int
    plays: float
    mean: float
    seconds: float

    @property
    def summary(self) -> str:
        """The mean return."""
        return f"mean {self.mean:.3f}"


class PlaysCallback(CurveCallback):
    """Notes what the plays of training pay."""

    kind = PlaysSoFar
    section = "plays"

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._plays, self._total = 0, 0.0
        self._return: NDArray[np.float64] | None = None

    def _on_step(self) -> bool:
        rewards, dones = self.locals["rewards"], self.locals["dones"]
        if self._return is None:
            self._return = np.zeros(len(rewards))
        self._return += rewards
        self._plays += int(dones.sum())
        self._total += float(self._return[dones].sum())
        self._return[dones] = 0.0
        return True

    def _measure(self) -> dict[str, Any]:
        figures = {"plays": self._plays, "mean": self._total / max(self._plays, 1)}
        self._plays, self._total = 0, 0.0
        return figures


@dataclass(frozen=True, eq=False)
class SimulatedResult:
    """A finished training.

    Attributes:
        folder: Where its files are.
        algorithm: Its name.
        seed: Of everything random in it.
        timesteps: Steps taken, in all environments together.
        cpu_seconds: CPU time spent.
        player: As it is sampled; a DQN always takes what it rates highest.
        mode: Its most probable actions.
        curve: The learning curve.
    """

    folder: Path
    algorithm: str
    seed: int
    timesteps: int
    cpu_seconds: float
    player: NetworkPlayer
    mode: NetworkPlayer
    curve: list[PlaysSoFar]


def train_simulated(
    env_id: str,
    algorithm: str = "maskable_ppo",
    *,
    seed: int = 0,
    timesteps: int | None = None,
    folder: str | Path,
    env_kwargs: Mapping[str, Any] | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    past_selves: int = 5,
    refresh: int = 100_000,
    evaluations: int = 20,
    progress: bool | Report = True,
    resume: bool = True,
) -> SimulatedResult:
    """Train a network in a game that has no table.

    Args:
        env_id: A key of :data:`solvent.envs.registration.SIMULATED`.
        algorithm: As for :func:`~solvent.training.train.train`, like what is not explained here.
        seed: As there.
        timesteps: As there.
        folder: Where the module's table of files is written.
        env_kwargs: Of the environment; ``opponent`` may also be ``"self-play"``: its past selves,
            with a seat drawn for each play. ``observation`` is ``"onehot"`` and ``seat``
            ``"random"`` unless they say otherwise.
        hyperparameters: As there.
        past_selves: With self-play, how many of them are kept.
        refresh: With self-play, steps after which the present self joins them.
        evaluations: How many points the learning curve has; there is a checkpoint at each.
        progress: As there.
        resume: As there.

    Raises:
        ValueError: If an argument is not one of those allowed, or the folder holds another
            training.
        StoreError: If a file in the folder is damaged or cannot be written, or another process is
            at work in it.
    """
    chosen = find_algorithm(algorithm)
    check_choice(env_id, "environment without a table", SIMULATED)
    env_kwargs = {"observation": "onehot", "seat": "random", **(env_kwargs or {})}
    raw = requested(chosen.hyperparameters, env_id, hyperparameters, timesteps)
    setup = prepare(raw, chosen.model)
    run = RunFolder(
        Path(folder),
        {
            "environment": env_id,
            "algorithm": algorithm,
            "seed": check_integer(seed, "seed", 0, 2**31 - 1),
            "env_kwargs": env_kwargs,
            "hyperparameters": raw,
            "past_selves": check_integer(past_selves, "past_selves", 1, 1000),
            "refresh": check_integer(refresh, "refresh", 1, 10**12),
            "evaluations": check_integer(evaluations, "evaluations", 1, 10**6),
        },
    )
    if resume and run.can_be_read_back():
        return _read_back(run)
    with FolderLock(run.folder):
        if not run.open(resume):
            venv = _environment(env_id, setup, env_kwargs, past_selves)
            try:
                bar = bar_for(f"{env_id} {algorithm} seed {seed}")
                with bar if progress is True else nullcontext(progress or None) as report:
                    _learn(run, setup, venv, report)
            finally:
                venv.close()
        return _read_back(run)


def _environment(
    env_id: str, setup: Hyperparameters, env_kwargs: Mapping[str, Any], past_selves: int
) -> NativeVecEnv:
    """The environment of a training."""
    register_envs()
    by_itself = env_kwargs.get("opponent") == SELF_PLAY
    arguments = {**env_kwargs, "opponent": "uniform"} if by_itself else dict(env_kwargs)
    env = gym.make_vec(
        env_id,
        num_envs=setup.n_envs,
        autoreset_mode=AutoresetMode.SAME_STEP.value,
        **arguments,
    )
    if not by_itself:
        return NativeVecEnv(env)
    assert isinstance(env.unwrapped, SimulatedSeatVectorEnv)
    return PastNetworksEnv(env.unwrapped, past_selves)


def _learn(
    run: RunFolder, setup: Hyperparameters, venv: NativeVecEnv, report: Report | None
) -> None:
    """Train from the checkpoint, if there is one, to the end, and write the results."""
    request = run.request
    algorithm = find_algorithm(request["algorithm"])
    observation = request["env_kwargs"]["observation"]

    def player(model: BaseAlgorithm, *, mode: bool = False) -> NetworkPlayer:
        name = f"{request['algorithm']} {request['seed']}" + (" (mode)" if mode else "")
        return network_player(
            model, masked=algorithm.masked, observation=observation, mode=mode, name=name
        )

    with one_thread():
        model = new_model(algorithm, setup, venv, request["seed"])
        evaluation = PlaysCallback(
            every=max(setup.n_timesteps // request["evaluations"], 1),
            path=run.folder / "curve.csv",
        )
        before: list[BaseCallback] = [EntropyCallback()]
        if isinstance(venv, PastNetworksEnv):
            venv.remember(player(model), 0)
            before.append(PastNetworksCallback(venv, player, request["refresh"]))
        learn(run, model, evaluation, setup.n_timesteps, report, before=before)
    origin = {"request": request, "timesteps": model.num_timesteps}
    save_network(run.folder / "network.npz", player(model), origin)
    save_network(run.folder / "network_mode.npz", player(model, mode=True), origin)
    save_model(run.folder, model)
    run.write(
        {"timesteps": model.num_timesteps, "cpu_seconds": evaluation.curve[-1].seconds},
    )


def _read_back(run: RunFolder) -> SimulatedResult:
    """The result of a finished run, from its files."""
    result = run.read()["result"]
    try:
        return SimulatedResult(
            folder=run.folder,
            algorithm=run.request["algorithm"],
            seed=run.request["seed"],
            timesteps=result["timesteps"],
            cpu_seconds=result["cpu_seconds"],
            player=load_network(run.folder / "network.npz"),
            mode=load_network(run.folder / "network_mode.npz"),
            curve=read_curve(run.folder / "curve.csv", PlaysSoFar),
        )
    except (KeyError, TypeError) as error:
        raise StoreError(f"{run.record}: not the record of a training, or damaged") from error
