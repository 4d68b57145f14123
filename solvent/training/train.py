"""Training a network on a game whose optimum is known.

A training writes everything into one folder:

==========================  ================================================================
``run.json``                what was asked for, with which versions, and the exact result
``curve.csv``               the learning curve (:mod:`solvent.training.callback`)
``model.zip``               the network as Stable-Baselines3 saves it
``tensorboard/``            the curve and the learner's own figures
``checkpoint.npz``          where to go on from, while the training is not finished
``policy.npz``              the network's policy as it is sampled, as a table
``policy_mode.npz``         its greedy policy, which takes the most probable actions, as a table
==========================  ================================================================

In self-play one network learns both seats, and each has its files: ``policy_0.npz`` and
``policy_1.npz``, ``policy_mode_0.npz`` and ``policy_mode_1.npz``, and the average policies,
``policy_average_0.npz`` and ``policy_average_1.npz``. A game that is too large for a table has
``network.npz`` and ``network_mode.npz`` instead of policies: the sampled and the greedy network,
without torch or pickles.

A training may be killed at any moment. Called again with the same arguments, it goes on from the
last checkpoint and ends with the same policy as if it had not been interrupted. A finished training
is read back, and its policies are scored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from math import nan
from pathlib import Path
from typing import Any, TypeVar

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from torch.utils.tensorboard.writer import SummaryWriter

from solvent.baselines.network import NetworkPlayer
from solvent.benchmark.progress import Report, bar_for
from solvent.benchmark.run_folder import GIVEN, UNIFORM, RunFolder, saw_solution, seen_of_solution
from solvent.envs.registration import ENVIRONMENTS, samples_table
from solvent.exact import Score, Solution, StoreError, write_atomically
from solvent.exact.learning_curve import CurvePoint
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.parameters import check_integer
from solvent.training.algorithms import (
    ALGORITHMS,
    SELF_PLAY_ALGORITHMS,
    EntropyCallback,
    Learner,
    find_algorithm,
)
from solvent.training.checkpoint import restore_checkpoint, save_checkpoint
from solvent.training.environments import NativeVecEnv, named_environment
from solvent.training.hyperparameters import Hyperparameters, prepare, requested
from solvent.training.kinds import OneSeat, SelfPlay, Training, TrainingRequest, WithoutTable
from solvent.training.learner_values import ExactAdvantages
from solvent.training.snapshots import SelfPlayEnv, SnapshotCallback

SELF_PLAY = "self-play"
"""The name of the opponent that stands for past versions of the learner."""

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A finished training.

    Policies and scores are tuples with an item for each learned seat: one item, or after self-play
    two, seat 0 first. In a game without a table they are empty, and `networks` has the result.

    Attributes:
        folder: Folder of the files.
        algorithm: Name of the algorithm.
        seed: Seed of everything random in the training.
        timesteps: Steps taken, in all environments together.
        cpu_seconds: CPU time spent, exact evaluations included.
        curve: The learning curve. Its callback in :mod:`solvent.training.callback` names the class
            of the points.
        policies: The sampled policies.
        modes: The greedy policies, which take the most probable actions.
        averages: The average policies, after self-play only.
        scores: Scores of `policies`; their `exploitability` is always that in the two-player game.
        mode_scores: Scores of `modes`.
        average_scores: Scores of `averages`.
        networks: The sampled and the greedy network, in a game without a table only.
        saw: Descriptions of everything that the learner was given from the solution
            (:mod:`solvent.benchmark.run_folder`); empty if nothing.
    """

    folder: Path
    algorithm: str
    seed: int
    timesteps: int
    cpu_seconds: float
    curve: list[Any]
    policies: tuple[TabularPolicy, ...] = ()
    modes: tuple[TabularPolicy, ...] = ()
    averages: tuple[TabularPolicy, ...] = ()
    scores: tuple[Score, ...] = ()
    mode_scores: tuple[Score, ...] = ()
    average_scores: tuple[Score, ...] = ()
    networks: tuple[NetworkPlayer, ...] = ()
    saw: tuple[str, ...] = ()

    @property
    def policy(self) -> TabularPolicy:
        """The sampled policy of the only learned seat."""
        return _only(self.policies)

    @property
    def mode(self) -> TabularPolicy:
        """The greedy policy of the only learned seat."""
        return _only(self.modes)

    @property
    def score(self) -> Score:
        """The score of `policy`."""
        return _only(self.scores)

    @property
    def mode_score(self) -> Score:
        """The score of `mode`."""
        return _only(self.mode_scores)

    @property
    def exploitability(self) -> float:
        """Mean exploitability of the sampled policies; after self-play, half of NashConv."""
        return _mean_exploitability(self.scores)

    @property
    def mode_exploitability(self) -> float:
        """Mean exploitability of the greedy policies over the seats."""
        return _mean_exploitability(self.mode_scores)

    @property
    def average_exploitability(self) -> float:
        """Mean exploitability of the average policies over the seats."""
        return _mean_exploitability(self.average_scores)


def _only(items: tuple[Item, ...]) -> Item:
    """Return the only item of a tuple.

    Raises:
        ValueError: If the tuple has several items, or none.
    """
    if len(items) != 1:
        raise ValueError(
            f"the training has {len(items)} policies as tables, not one: two after self-play "
            f"(policies, modes, scores), none in a game without a table (networks)"
        )
    return items[0]


def _mean_exploitability(scores: tuple[Score, ...]) -> float:
    """Return the mean over some scores; NaN in a one-player game or without scores."""
    found = [score.exploitability for score in scores if score.exploitability is not None]
    return sum(found) / len(found) if found else nan


def train(
    game: str | Game | TabularGame,
    algorithm: str = "ppo",
    *,
    self_play: bool = False,
    seed: int = 0,
    timesteps: int | None = None,
    folder: str | Path,
    env_kwargs: Mapping[str, Any] | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    exploring_starts: float | None = None,
    start_weights: str = UNIFORM,
    snapshots: int | None = None,
    latest: float | None = None,
    refresh: int | None = None,
    evaluations: int | None = None,
    solution: Solution | None = None,
    progress: bool | Report = True,
    resume: bool = True,
    callback: BaseCallback | None = None,
) -> TrainingResult:
    """Train a network and score it exactly.

    **Against opponents**, or alone, the network learns one seat. In an environment for one seat of
    a two-player game with a single opponent, scores are against that opponent, and the optimum is
    the best response to it. With several, scores are against the worst possible opponent.

    **In self-play** one network learns both seats. It can, since each player sees the game from its
    own side; if the players have different actions, the network is told its role
    (:mod:`solvent.training.forms`). If one player acts after the other, the learner
    takes a seat drawn at each episode, and snapshots of it take the other seat
    (:mod:`solvent.training.snapshots`). If both act at once, it takes both seats of every episode;
    there :mod:`solvent.training.mirror_descent` learns from both seats' actions together.

    **Without a table**, in a game that is too large for one, the network learns alone, against an
    opponent, or against snapshots of itself. The curve is then a mean of returns, with exploration:
    an exact score means evaluating the network everywhere, which is done once, afterwards.

    Args:
        game: A name or the id of an environment, as for :func:`solvent.make_game`: ``"ff-combat"``,
            ``"solvent/Greed-v0"``, ``"CliffWalking-v1"``; or a game of your own.
            Without self-play, only one player of your own game may have a choice.
        algorithm: A key of :data:`~solvent.training.algorithms.ALGORITHMS`, or in self-play of
            :data:`~solvent.training.algorithms.SELF_PLAY_ALGORITHMS`. ``"mirror_descent"`` is
            allowed only if the learner takes both seats.
        self_play: Learn both seats of a two-player game.
        seed: Seed of networks, exploration and environments.
        timesteps: Steps in all environments together. Default: the tuned number.
        folder: Output folder for the files in the module's table.
        env_kwargs: Arguments of the environment, in self-play also the game's own parameters.
            ``observation`` is ``"onehot"`` by default. ``opponent="self-play"`` is the same as
            `self_play`. In a two-player game without a table ``seat`` is ``"random"`` by default.
        hyperparameters: Values that replace the tuned ones of the same name.
        exploring_starts: Share of the episodes, within 0..1, that begin elsewhere
            (:mod:`solvent.training.forms`). Default: the tuned share, if there is one,
            otherwise 0 for one seat, 0.1 in self-play, or 0.5 if the learner takes both seats.
            It has to be 0 against several opponents and without a table. Scores are from the
            game's own start.
        start_weights: Weights of exploring starts. With ``"uniform"``, the default, all nonterminal
            states are equally likely; if both players act at once, all states in which both have a
            choice. With ``"importance"``, for one seat only, states are drawn in proportion to how
            much the choice matters there. These weights are computed from the solution, so the
            run's record and every table of it say that the learner saw the solution.
        snapshots: Largest number of snapshots in the pool, in self-play. With 0 the learner takes
            both seats of every episode. Default: 0 if both ever act at once or the algorithm needs
            both seats, otherwise 3; without a table 5.
        latest: Probability of meeting the latest snapshot, in (0, 1], in self-play. Default: 0.7;
            without a table all are met equally often.
        refresh: Steps after which a snapshot joins the pool and the average, in self-play.
            Default: 50,000, or if the learner takes both seats, a 125th of the training if that is
            more; without a table 100,000.
        evaluations: Number of points of the learning curve after the first, each with a
            checkpoint. Default: 20, or 10 for self-play in a game that has a table.
        solution: Solution of the game that is played, if available.
        progress: True to show a progress bar, or a function to report to instead.
        resume: Go on from the files in the folder; otherwise the training starts again.
        callback: A further callback of Stable-Baselines3, such as a
            :class:`~solvent.training.microscope.Microscope`. After an interruption it is called
            for the remaining steps only, and for a finished training not at all. The record says
            if it gives the learner exact values.

    Raises:
        ValueError: If an argument is not one of those allowed, or the folder holds another
            training.
        StoreError: If a file in the folder is damaged or cannot be written, or another process is
            at work in it.
    """
    env_id, env_kwargs = named_environment(game, env_kwargs)
    if env_kwargs.get("opponent") == SELF_PLAY:
        del env_kwargs["opponent"]
        self_play = True
    chosen = find_algorithm(algorithm, SELF_PLAY_ALGORITHMS if self_play else ALGORITHMS)
    raw = requested(chosen.hyperparameters, env_id, hyperparameters, timesteps)
    asked = TrainingRequest(
        game=env_id or game,
        learner=chosen,
        setup=prepare(raw, chosen.model),
        env_kwargs=env_kwargs,
        record={
            "algorithm": algorithm,
            "seed": check_integer(seed, "seed", 0, 2**31 - 1),
            # The share that is used has its own entry.
            "hyperparameters": {k: v for k, v in raw.items() if k != "exploring_starts"},
        },
        self_play=self_play,
        exploring_starts=exploring_starts,
        start_weights=start_weights,
        snapshots=snapshots,
        latest=latest,
        refresh=refresh,
        evaluations=evaluations,
        solution=solution,
    )
    kind: type[Training] = SelfPlay if self_play else OneSeat
    if env_id is not None and env_id in ENVIRONMENTS and not samples_table(env_id):
        kind = WithoutTable
    training = kind(asked)
    for one in getattr(callback, "callbacks", [callback]):
        if isinstance(one, ExactAdvantages):
            training.request[GIVEN] = one.suffix.removeprefix("+")
    try:
        run = RunFolder(Path(folder), training.request)

        def work() -> None:
            bar = bar_for(f"{training.title} seed {seed}")
            with bar if progress is True else nullcontext(progress or None) as report:
                _learn(run, training, report, callback)

        result = run.finish(work, resume)["result"]
        try:
            found = training.read(run.folder, result)
            found |= {name: result[name] for name in ("timesteps", "cpu_seconds")}
        except (KeyError, TypeError, IndexError) as error:
            raise StoreError(f"{run.record}: not the record of a training, or damaged") from error
        found |= {name: run.request[name] for name in ("algorithm", "seed")}
        return TrainingResult(folder=run.folder, saw=seen_of_solution(run.request), **found)
    finally:
        training.close()


def _learn(
    run: RunFolder,
    training: Training,
    report: Report | None,
    callback: BaseCallback | None,
) -> None:
    """Train from the last checkpoint, if any, to the end, and write all results.

    A checkpoint is written at each evaluation.

    Args:
        run: The folder.
        training: The kind of training, with its environment and its scores.
        report: Function that is called with the progress of training, if given.
        callback: A further callback, if given.
    """
    request, setup = run.request, training.asked.setup
    venv = training.make_env()
    with one_thread():
        model = make_model(training.asked.learner, setup, venv, request["seed"])
        callbacks: list[Any] = [EntropyCallback()] if training.players == 2 else []
        if isinstance(venv, SelfPlayEnv):
            venv.remember(model)
            # Before the evaluation, so that a checkpoint has the snapshot of its own step.
            callbacks.append(SnapshotCallback(venv, request["refresh"]))
        evaluation = training.make_curve(
            every=max(setup.n_timesteps // request["evaluations"], 1),
            path=run.folder / "curve.csv",
        )
        if run.checkpoint.exists():
            evaluation.curve = restore_checkpoint(
                run.checkpoint, model, run.identity, evaluation.kind
            )

        def keep(_: CurvePoint) -> None:
            save_checkpoint(run.checkpoint, model, evaluation.curve, run.identity)
            save_model(run.folder, model)

        evaluation.after, evaluation.report = keep, report
        evaluation.saw = saw_solution(request)
        callbacks += [evaluation] if callback is None else [evaluation, callback]
        logger = Logger(None, [_TensorBoard(run.folder / "tensorboard", model.num_timesteps)])
        model.set_logger(logger)
        remaining = setup.n_timesteps - model.num_timesteps
        if remaining > 0:
            model.learn(
                remaining,
                callback=callbacks,
                log_interval=None,  # type: ignore[arg-type]  # The evaluations write the log.
                reset_num_timesteps=not evaluation.curve,
            )
        logger.close()
        origin = {"request": request, "timesteps": model.num_timesteps}
        result = training.save(run.folder, model, origin)
        save_model(run.folder, model)
    seconds = evaluation.curve[-1].seconds
    run.write({"timesteps": model.num_timesteps, "cpu_seconds": seconds, **result})


def make_model(
    learner: Learner, setup: Hyperparameters, venv: NativeVecEnv, seed: int
) -> BaseAlgorithm:
    """Make an untrained learner, and seed it and its environments.

    Args:
        learner: The algorithm.
        setup: Its hyperparameters.
        venv: The environments.
        seed: Seed of networks, exploration and environments.
    """
    model = learner.model(setup.policy, venv, seed=seed, device="cpu", **setup.arguments)
    # Separate seeds for the environments of each run: the customary seed + i would give runs
    # with neighbouring seeds almost the same environments.
    venv.seed(seed * setup.n_envs)
    return model


def save_model(folder: Path, model: BaseAlgorithm) -> None:
    """Save the network as Stable-Baselines3 does.

    Args:
        folder: Output folder; the file is ``model.zip``.
        model: The learner.

    Raises:
        StoreError: If the file cannot be written.
    """
    buffer = BytesIO()
    model.save(buffer)
    write_atomically(folder / "model.zip", buffer.getvalue())


class _TensorBoard(TensorBoardOutputFormat):
    """TensorBoard's log, without entries that are later than the restored checkpoint."""

    def __init__(self, folder: Path, purge_step: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=purge_step)
        self._is_closed = False


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute with one thread.

    Small networks are slower with more threads, and a fixed order of sums makes runs repeatable.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
