"""Training a network on a game whose optimum is known, with checkpoints.

A training writes everything into one folder:

==========================  ================================================================
``run.json``                arguments, versions and the exact result
``curve.csv``               the learning curve (:mod:`solvent.training.callback`)
``model.zip``               the network as Stable-Baselines3 saves it
``tensorboard/``            the curve and the learner's own figures
``checkpoint.npz``          the state of an unfinished training
``policy.npz``              the network's sampled policy, as a table
``policy_mode.npz``         its greedy policy, which takes the most probable actions, as a table
==========================  ================================================================

In self-play one network learns both seats, and each has its files: ``policy_0.npz`` and
``policy_1.npz``, ``policy_mode_0.npz`` and ``policy_mode_1.npz``, and the average policies,
``policy_average_0.npz`` and ``policy_average_1.npz``. A game that is too large for a table has
``network.npz`` and ``network_mode.npz`` instead of policies: the sampled and the greedy network,
without torch or pickles.

A training may be killed at any moment. Called again with the same arguments, it continues from the
last checkpoint. A finished training is read back, and its policies are scored again.

**Checkpoints** hold the complete state of a training, in one file that is written atomically. So a
killed training ends with the same network as an uninterrupted one, to the last bit. A checkpoint
has

- the networks' parameters and the optimizer's moments,
- the progress of learning (which determines the learning rate and the exploration),
- the state of every random generator: torch, NumPy, Python, the action space,
- the states and random streams of the environments and the agent's last observations,
- the replay buffer, for algorithms that have one,
- the learning curve so far.

All of these are numbers, so a checkpoint is plain arrays with a JSON header and a checksum, like
every other file of the project. Nothing is unpickled when training continues.

Most of a replay buffer is one-hot observations in float32. Arrays of zeros and ones are stored with
one bit per entry, which takes 1/32 of the memory and a fraction of the time.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import astuple, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from solvent.baselines.network import NetworkPlayer
from solvent.benchmark.progress import Report, training_bar
from solvent.benchmark.run_folder import GIVEN, UNIFORM, RunFolder, saw_solution, seen_of_solution
from solvent.envs.registration import ENVIRONMENTS, samples_table
from solvent.exact import (
    ArraySchema,
    Schema,
    Score,
    StoreError,
    read_archive,
    write_archive,
    write_atomically,
)
from solvent.exact.archive import LARGEST
from solvent.exact.learning_curve import CurvePoint, Evaluation, Point, read_point
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.files import named_folder
from solvent.model.parameters import check_integer, shown
from solvent.training.algorithms import (
    ALGORITHMS,
    SELF_PLAY_ALGORITHMS,
    EntropyCallback,
    Hyperparameters,
    Learner,
    find_learner,
    prepare,
    requested,
)
from solvent.training.callback import SelfPlayEnv, SnapshotCallback
from solvent.training.environments import NativeVecEnv, named_environment
from solvent.training.kinds import OneSeat, SelfPlay, Training, WithoutTable
from solvent.training.learner_values import ExactAdvantages, ExactTargets

Arrays = dict[str, NDArray[Any]]

# Schema of a checkpoint's file.
_SCHEMA = Schema(
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

# Attributes of a learner that count or follow a schedule; each learner has some of them.
_COUNTERS = (
    "num_timesteps",
    "_n_updates",
    "_current_progress_remaining",
    "_episode_num",
    "_n_calls",
    "exploration_rate",
)

LAST_SEEN = ("_last_obs", "_last_episode_starts", "_last_returns")


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
        "kind": _SCHEMA.kind,
        "request": request,
        "counters": {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)},
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
    header, arrays = read_archive(path, _SCHEMA, largest=largest)
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
    model.policy.optimizer.load_state_dict({"state": states, "param_groups": header["groups"]})
    kept = {name: header["counters"].get(name) for name in _COUNTERS}
    kept |= {name: arrays.get(name) for name in LAST_SEEN}
    for name, value in kept.items():
        if value is not None:
            setattr(model, name, value)


def _restore_replay(buffer: ReplayBuffer, held: Any, arrays: Arrays) -> None:
    """Restore the replay buffer."""
    buffer.pos, buffer.full, binary = held
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
    """Return the arrays whose names begin with ``kind:``, by the rest of their names."""
    start = f"{kind}:"
    return {n.removeprefix(start): v for n, v in arrays.items() if n.startswith(start)}


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
    refresh: int | None = None,
    evaluations: int | None = None,
    progress: bool | Report = True,
    resume: bool = True,
    callback: BaseCallback | None = None,
) -> TrainingResult:
    """Train a network and score it exactly.

    **Against opponents**, or alone, the network learns one seat. In an environment for one seat of
    a two-player game with a single opponent, scores are against that opponent, and the optimum is
    the best response to it. With several, scores are against the worst possible opponent.

    **In self-play** one network learns both seats, since each player sees the game from its own
    side. If the players have different actions, the network's observation includes its role
    (:mod:`solvent.training.environments`). In turn-based games, the learner takes a random seat in
    each episode, and a snapshot of it takes the other seat (:mod:`solvent.training.callback`). If
    both act at once, the learner takes both seats of every episode, and
    :mod:`solvent.training.mirror_descent` learns from both seats' actions together.

    **Without a table**, in a game that is too large for one, the network learns alone, against an
    opponent, or against snapshots of itself. The curve is then a mean of returns, with exploration,
    since an exact score would evaluate the network in every state at each point.

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
            (:mod:`solvent.training.environments`). Default: the tuned share, if there is one,
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
        refresh: Steps after which a snapshot joins the pool and the average, in self-play.
            Default: 50,000, or if the learner takes both seats, a 125th of the training if that is
            more; without a table 100,000.
        evaluations: Number of points of the learning curve after the first, each with a
            checkpoint. Default: 20, or 10 for self-play in a game that has a table.
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
    chosen = find_learner(algorithm, SELF_PLAY_ALGORITHMS if self_play else ALGORITHMS)
    raw = requested(chosen.hyperparameters, env_id, hyperparameters, timesteps)
    kind: type[Training] = SelfPlay if self_play else OneSeat
    if env_id is not None and env_id in ENVIRONMENTS and not samples_table(env_id):
        kind = WithoutTable
    training = kind(
        source=env_id or game,
        learner=chosen,
        setup=prepare(raw, chosen.model),
        env_kwargs=env_kwargs,
        request={
            "algorithm": algorithm,
            "seed": check_integer(seed, "seed", 0, 2**31 - 1),
            # The share that is used has its own entry.
            "hyperparameters": {k: v for k, v in raw.items() if k != "exploring_starts"},
        },
        self_play=self_play,
        exploring_starts=exploring_starts,
        start_weights=start_weights,
        snapshots=snapshots,
        refresh=refresh,
        evaluations=evaluations,
    )
    for one in _every(callback):
        if isinstance(one, (ExactAdvantages, ExactTargets)):
            training.request[GIVEN] = one.suffix.removeprefix("+")
    run = RunFolder(named_folder(folder), training.request)

    def work() -> None:
        both = " self-play" if self_play else ""
        bar = training_bar(f"{training.request['environment']} {algorithm}{both} seed {seed}")
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


def _every(callback: Any) -> Iterator[Any]:
    """Yield a callback and all callbacks that it calls."""
    yield callback
    for one in (*getattr(callback, "callbacks", ()), getattr(callback, "callback", None)):
        if one is not None:
            yield from _every(one)


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
    request, setup = run.request, training.setup
    venv = training.make_env()
    with one_thread():
        model = make_model(training.learner, setup, venv, request["seed"])
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
        logger = Logger(None, [TensorBoardOutputFormat(str(run.folder / "tensorboard"))])
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
        # Again, as a training may have been killed right after its last checkpoint.
        save_model(run.folder, model)
    seconds = evaluation.curve[-1].seconds
    run.write({"timesteps": model.num_timesteps, "cpu_seconds": seconds, **result})


def make_model(
    learner: Learner, setup: Hyperparameters, venv: NativeVecEnv, seed: int
) -> BaseAlgorithm:
    """Make an untrained learner, and seed it and its environments.

    Args:
        learner: The algorithm.
        setup: Hyperparameters of the algorithm.
        venv: The environments.
        seed: Seed of networks, exploration and environments.
    """
    model = learner.model(setup.policy, venv, seed=seed, device="cpu", **setup.arguments)
    # Separate seeds for the environments of each run: the customary seed + i would give runs
    # with neighbouring seeds almost the same environments.
    venv.seed(seed * setup.n_envs)
    # Without a logger, a learner would create a folder among the system's temporary files.
    model.set_logger(Logger(None, []))
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
