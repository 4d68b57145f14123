"""A training from its last checkpoint to its end, whatever is learned and however it is scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from torch.utils.tensorboard.writer import SummaryWriter

from solvent.exact import write_atomically
from solvent.exact.learning_curve import CurvePoint
from solvent.training.algorithms import Algorithm
from solvent.training.callback import CurveCallback
from solvent.training.checkpoint import restore_checkpoint, save_checkpoint
from solvent.training.hyperparameters import Hyperparameters
from solvent.training.progress import Report, ReportCallback
from solvent.training.run_folder import RunFolder
from solvent.training.vec_env import NativeVecEnv


def new_model(
    algorithm: Algorithm, setup: Hyperparameters, venv: NativeVecEnv, seed: int
) -> BaseAlgorithm:
    """A learner that has learned nothing yet, on environments with seeds of their own."""
    model = algorithm.model(setup.policy, venv, seed=seed, device="cpu", **setup.arguments)
    # Seeds of their own for the environments of each run: seed + i, as is the custom, would
    # give runs with neighbouring seeds almost the same environments.
    venv.seed(seed * setup.n_envs)
    return model


def learn(
    run: RunFolder,
    model: BaseAlgorithm,
    evaluation: CurveCallback,
    timesteps: int,
    report: Report | None,
    *,
    before: Sequence[BaseCallback] = (),
) -> None:
    """Go on from the run's checkpoint, if there is one, to the end of training.

    A checkpoint is written at each evaluation.

    Args:
        run: The folder.
        model: A new learner.
        evaluation: What scores it; its curve and `after` are set here.
        timesteps: Steps in all environments together, those before the checkpoint included.
        report: Called as training goes on, if given.
        before: Callbacks whose turn comes before the evaluation's.
    """
    if run.checkpoint.exists():
        evaluation.curve = restore_checkpoint(run.checkpoint, model, run.identity, evaluation.kind)

    def keep(_: CurvePoint) -> None:
        save_checkpoint(run.checkpoint, model, evaluation.curve, run.identity)
        save_model(run.folder, model)

    evaluation.after = keep
    callbacks: list[Any] = [*before, evaluation]
    if report is not None:
        callbacks.append(ReportCallback(report, timesteps, evaluation.curve))
    logger = Logger(None, [_TensorBoard(run.folder / "tensorboard", model.num_timesteps)])
    model.set_logger(logger)
    remaining = timesteps - model.num_timesteps
    if remaining > 0:
        model.learn(
            remaining,
            callback=callbacks,
            log_interval=None,  # type: ignore[arg-type]  # The evaluations write the log.
            reset_num_timesteps=not evaluation.curve,
        )
    logger.close()


def save_model(folder: Path, model: BaseAlgorithm) -> None:
    """Save the network as Stable-Baselines3 does.

    Raises:
        StoreError: If the file cannot be written.
    """
    buffer = BytesIO()
    model.save(buffer)
    write_atomically(folder / "model.zip", buffer.getvalue())


class _TensorBoard(TensorBoardOutputFormat):
    """TensorBoard's log, less what was written after the checkpoint that training goes on from."""

    def __init__(self, folder: Path, purge_step: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=purge_step)
        self._is_closed = False


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute with one thread.

    Networks this small are slower with more, and sums in a fixed order make runs repeatable.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
