"""Checkpoints: the complete state of a training, in one file that is never half written.

A killed training goes on from its last checkpoint as if nothing had happened, and ends with the
same network to the last bit. For that a checkpoint holds

- the networks' parameters and the optimizer's moments,
- how far learning has come (the schedules of learning rate and exploration follow from that),
- the state of every random generator: torch, NumPy, Python, the action space,
- the states and random streams of the environments and the agent's last observations,
- the replay buffer, for algorithms that have one,
- the learning curve so far.

All of these are numbers, so a checkpoint is plain arrays with a JSON header and a checksum, like
every other file of the project: nothing is unpickled when training goes on.

Most of a replay buffer is one-hot observations in float32. Arrays of zeros and ones are stored with
one bit per entry, which takes 1/32 of the memory and a fraction of the time.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from solvent.exact import ArraySchema, Schema, StoreError, read_archive, write_archive
from solvent.exact.archive import LARGEST
from solvent.exact.learning_curve import CurvePoint, Evaluation, Point, read_point
from solvent.model.parameters import is_number, shown

Arrays = dict[str, NDArray[Any]]

SCHEMA = Schema(
    "checkpoint",
    {
        "request": str,
        "counters": dict,
        "groups": list,
        "python": list,
        "numpy": list,
        "actions": dict,
        "curve": list,
    },
    {
        "torch": ArraySchema("uint8", 1),
        "numpy": ArraySchema("uint32", 1),
        **dict.fromkeys(("policy:*", "moments:*", "env:*", "replay:*", "_last_*"), ArraySchema()),
    },
)
"""Schema of a checkpoint's file."""

COUNTERS = (
    "num_timesteps",
    "_n_updates",
    "_current_progress_remaining",
    "_episode_num",
    "_n_calls",
    "exploration_rate",
)
"""Attributes of a learner that count or follow a schedule; each learner has some of them."""

LAST_SEEN = ("_last_obs", "_last_episode_starts")


def save_checkpoint(
    path: str | Path, model: BaseAlgorithm, curve: Sequence[CurvePoint], request: str
) -> None:
    """Save a learner between two collections of experience.

    Args:
        path: Output file.
        model: The learner, whose environment is a
            :class:`~solvent.training.environments.NativeVecEnv`.
        curve: The evaluations so far.
        request: Text that identifies the training.

    Raises:
        StoreError: If the file cannot be written.
    """
    optimizer = model.policy.optimizer.state_dict()
    tensors = {f"policy:{name}": value for name, value in model.policy.state_dict().items()}
    for parameter, state in optimizer["state"].items():
        tensors |= {f"moments:{parameter}/{name}": value for name, value in state.items()}
    env: Any = model.env
    # Stable-Baselines3 draws from NumPy's global generator.
    name, words, *position = np.random.get_state(legacy=True)  # noqa: NPY002
    header = {
        "kind": SCHEMA.kind,
        "request": request,
        "counters": {name: getattr(model, name) for name in COUNTERS if hasattr(model, name)},
        "groups": optimizer["param_groups"],
        "python": random.getstate(),
        "numpy": [name, *position],
        "actions": model.action_space.np_random.bit_generator.state,
        "curve": [astuple(point) for point in curve],
    }
    arrays: Arrays = {
        **{name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()},
        **{f"env:{name}": array for name, array in env.get_state().items()},
        "torch": torch.get_rng_state().numpy(),
        "numpy": np.asarray(words),
    }
    for last in LAST_SEEN:
        if getattr(model, last, None) is not None:
            arrays[last] = np.asarray(getattr(model, last))
    buffer = _replay_buffer(model)
    if buffer is not None:
        binary = []
        for name, held in _contents(buffer).items():
            array = held[: buffer.size()]
            if ((array == 0) | (array == 1)).all() and not np.signbit(array).any():
                binary.append(name)
                array = np.packbits(array.astype(bool))
            arrays[f"replay:{name}"] = array
        header["replay"] = [buffer.pos, buffer.full, binary]
    write_archive(path, header, arrays)


def restore_checkpoint(
    path: str | Path,
    model: BaseAlgorithm,
    request: str,
    kind: type[Point] = Evaluation,  # type: ignore[assignment]
) -> list[Point]:
    """Restore a saved state into a new learner.

    Args:
        path: File that :func:`save_checkpoint` wrote.
        model: A learner made with the same arguments, on a new environment.
        request: The text that was saved with it.
        kind: The class of the evaluations.

    Returns:
        The evaluations so far.

    Raises:
        StoreError: If the file is missing, damaged, or of another training.
    """
    buffer, env = _replay_buffer(model), cast(Any, model.env)
    contents = {} if buffer is None else _contents(buffer)
    largest = LARGEST + sum(array.nbytes for array in contents.values())
    header, arrays = read_archive(path, SCHEMA, largest=largest)
    if header["request"] != request:
        raise StoreError(f"{path}: is of another training than the one in this folder")
    try:
        curve = [read_point(kind, figures) for figures in header["curve"]]
        _restore_learner(model, header, arrays)
        if buffer is not None:
            _restore_replay(buffer, header["replay"], arrays)
        env.set_state(_of("env", arrays))
        _restore_generators(model, header, arrays)
    except (
        KeyError, IndexError, TypeError, ValueError, OverflowError, RuntimeError, AttributeError,
    ) as error:  # fmt: skip
        raise StoreError(f"{path}: not a checkpoint of this training ({shown(error)})") from error
    return curve


def _restore_learner(model: BaseAlgorithm, header: dict[str, Any], arrays: Arrays) -> None:
    """Restore the network, the optimizer, the counters and the last observations."""
    weights, moments = (
        {name: torch.from_numpy(array) for name, array in _of(kind, arrays).items()}
        for kind in ("policy", "moments")
    )
    model.policy.load_state_dict(weights)
    states: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in moments.items():
        parameter, name = key.split("/")
        states.setdefault(int(parameter), {})[name] = tensor
    optimizer = model.policy.optimizer
    optimizer.load_state_dict({"state": states, "param_groups": header["groups"]})
    for weight, state in optimizer.state.items():
        for name, tensor in state.items():
            if tensor.shape not in ((), weight.shape):
                raise ValueError(f"{name} of the optimizer has the shape {tuple(tensor.shape)}")
    for name, value in header["counters"].items():
        if name not in COUNTERS or not is_number(value):
            raise ValueError(f"counter {name} is {shown(value)}")
        setattr(model, name, value)
    for name in LAST_SEEN:
        if name in arrays:
            if len(arrays[name]) != model.n_envs:
                raise ValueError(f"{name} is of {len(arrays[name])} environments")
            setattr(model, name, arrays[name])


def _restore_replay(buffer: ReplayBuffer, held: Any, arrays: Arrays) -> None:
    """Restore the replay buffer."""
    position, full, binary = held
    if type(full) is not bool or type(position) is not int:
        raise TypeError(f"the replay buffer is filled up to {shown(position)}")
    if not 0 <= position < buffer.buffer_size:
        raise ValueError(f"the replay buffer is filled up to {shown(position)}")
    buffer.pos, buffer.full = position, full
    for name, array in _contents(buffer).items():
        target, kept = array[: buffer.size()], arrays[f"replay:{name}"]
        if name in binary:
            kept = np.unpackbits(kept)[: target.size]
        target[:] = kept.reshape(target.shape)


def _restore_generators(model: BaseAlgorithm, header: dict[str, Any], arrays: Arrays) -> None:
    """Restore the random generators."""
    model.action_space.np_random.bit_generator.state = header["actions"]
    version, words, gauss = header["python"]
    random.setstate((version, tuple(words), gauss))
    name, *rest = header["numpy"]
    np.random.set_state((name, arrays["numpy"], *rest))  # noqa: NPY002
    torch.set_rng_state(torch.from_numpy(arrays["torch"]))


def _replay_buffer(model: BaseAlgorithm) -> ReplayBuffer | None:
    return model.replay_buffer if isinstance(model, OffPolicyAlgorithm) else None


def _contents(buffer: ReplayBuffer) -> Arrays:
    """Return the arrays of a replay buffer of any class that have a row for each time step."""
    return {
        name: value
        for name, value in vars(buffer).items()
        if isinstance(value, np.ndarray) and value.shape[:1] == (buffer.buffer_size,)
    }


def _of(kind: str, arrays: Arrays) -> Arrays:
    """Return the arrays of a kind, by the names after it."""
    start = f"{kind}:"
    return {n.removeprefix(start): v for n, v in arrays.items() if n.startswith(start)}
