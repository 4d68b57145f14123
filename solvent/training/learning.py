"""Running any kind of training from its last checkpoint to its end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from torch.utils.tensorboard.writer import SummaryWriter

from solvent.benchmark.privilege import saw_solution
from solvent.benchmark.progress import Report
from solvent.benchmark.run_folder import RunFolder
from solvent.exact import write_atomically
from solvent.exact.learning_curve import CurvePoint
from solvent.training.algorithms import EntropyCallback, Learner
from solvent.training.callback import ReportCallback
from solvent.training.checkpoint import restore_checkpoint, save_checkpoint
from solvent.training.hyperparameters import Hyperparameters
from solvent.training.kinds import Training
from solvent.training.snapshots import SelfPlayEnv, SnapshotCallback
from solvent.training.vec_env import NativeVecEnv


def learn(
    run: RunFolder,
    training: Training,
    report: Report | None,
    callback: BaseCallback | None = None,
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
    with one_thread(), without_compiler():
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

        evaluation.after, evaluation.saw = keep, saw_solution(request)
        callbacks.append(evaluation)
        if callback is not None:
            callbacks.append(callback)
        if report is not None:
            callbacks.append(ReportCallback(report, setup.n_timesteps, evaluation.curve))
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


@contextmanager
def without_compiler() -> Iterator[None]:
    """Keep PyTorch from loading its compiler, which takes longer than a short training.

    Methods of optimizers are marked as not to be compiled, and the first call of one loads the
    compiler only to mark it. This sets the mark beforehand. If a later PyTorch ignores the mark,
    the compiler is loaded as before.
    """
    note, noted = "__dynamo_disable", []
    if "torch._dynamo" not in sys.modules:
        methods = (
            getattr(one, "__wrapped__", None) for one in vars(torch.optim.Optimizer).values()
        )
        noted = [method for method in methods if method is not None and note not in vars(method)]
    for method in noted:
        vars(method)[note] = method
    try:
        yield
    finally:
        for method in noted:
            vars(method).pop(note, None)
