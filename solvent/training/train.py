"""Training a network on a game whose optimum is known.

A training writes everything into one folder:

====================  =====================================================================
``run.json``          what was asked for, with which versions, and the exact result
``curve.csv``         the exact learning curve (:class:`~solvent.exact.learning_curve.Evaluation`)
``policy.npz``        the network's policy as it is sampled, as a table
``policy_mode.npz``   its most probable actions, as a table
``model.zip``         the network as Stable-Baselines3 saves it
``tensorboard/``      the curve and the learner's own figures
``checkpoint.npz``    where to go on from, while the training is not finished
====================  =====================================================================

It may be killed at any moment. Called again with the same arguments it goes on from the last
checkpoint and ends with the same policy as if it had not been interrupted; a finished training
is read back, and its policies are scored again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gymnasium.vector import VectorEnv

from solvent.envs import TabularVectorEnv
from solvent.exact import (
    Score,
    Solution,
    StoreError,
    load_policy,
    save_policy,
    solve,
)
from solvent.exact.layered.lock import FolderLock
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import check_integer, shown
from solvent.training.algorithms import Algorithm, find_algorithm
from solvent.training.callback import ExactEvalCallback
from solvent.training.entropy import EntropyCallback
from solvent.training.environments import Task, make_vector_env, task_of
from solvent.training.extract import extract
from solvent.training.hyperparameters import Hyperparameters, prepare, requested
from solvent.training.learned_score import learned_exploitability, learned_score
from solvent.training.learning import learn, new_model, one_thread, save_model
from solvent.training.plain_score import checked, from_plain, plain
from solvent.training.progress import Report, bar_for
from solvent.training.run_folder import RunFolder
from solvent.training.starts import begin_at_stakes
from solvent.training.vec_env import NativeVecEnv


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A finished training.

    Attributes:
        folder: Where its files are.
        algorithm: Its name.
        seed: Of everything random in it.
        timesteps: Steps taken, in all environments together.
        cpu_seconds: CPU time spent, exact evaluations included.
        policy: As it is sampled.
        mode: Its most probable actions.
        score: Of `policy`; its `exploitability` is always that in the game for two.
        mode_score: Of `mode`.
        curve: The exact learning curve.
    """

    folder: Path
    algorithm: str
    seed: int
    timesteps: int
    cpu_seconds: float
    policy: TabularPolicy
    mode: TabularPolicy
    score: Score
    mode_score: Score
    curve: list[Evaluation]


def train(
    game: str | Game | TabularGame,
    algorithm: str = "ppo",
    *,
    seed: int = 0,
    timesteps: int | None = None,
    folder: str | Path,
    env_kwargs: Mapping[str, Any] | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    stakes: float = 0.0,
    evaluations: int = 20,
    solution: Solution | None = None,
    progress: bool | Report = True,
    resume: bool = True,
) -> TrainingResult:
    """Train a network and score it exactly.

    Args:
        game: The id of an environment such as ``"solvent/FFCombat-v0"``, or a game of your own,
            in which only one player has a choice. In an environment for one seat of a game for
            two, scores are against its opponent, if it has one only, and the optimum is the best
            answer to that one; among several, scores are against the worst opponent there is.
        algorithm: A key of :data:`~solvent.training.algorithms.ALGORITHMS`.
        seed: Of networks, exploration and environments.
        timesteps: Steps in all environments together; as tuned if left out.
        folder: Where the module's table of files is written.
        env_kwargs: Of the environment; ``observation`` is ``"onehot"`` unless it says otherwise.
        hyperparameters: To use instead of the tuned ones of the same name.
        stakes: Share of the plays of training, within 0..1, that begin in any state, in
            proportion to what is at stake there (:mod:`solvent.training.starts`), against one
            opponent as in a game for one. Against several it has to be 0. Scores are from the
            game's own start.
        evaluations: How many points the learning curve has besides the first; there is a
            checkpoint at each.
        solution: Of the game that is played, if it is at hand.
        progress: Whether to show a bar, or what to report to instead.
        resume: Whether to go on with what is in the folder; otherwise it is begun again.

    Raises:
        ValueError: If an argument is not one of those allowed, or the folder holds another
            training.
        StoreError: If a file in the folder is damaged or cannot be written, or another process is
            at work in it.
    """
    chosen = find_algorithm(algorithm)
    seed = check_integer(seed, "seed", 0, 2**31 - 1)
    evaluations = check_integer(evaluations, "evaluations", 1, 10**6)
    if isinstance(stakes, bool) or not isinstance(stakes, (int, float)) or not 0 <= stakes <= 1:
        raise ValueError(f"stakes is {shown(stakes)}; allowed are numbers from 0 to 1")
    env_kwargs = {"observation": "onehot", **(env_kwargs or {})}
    env_id = game.partition(":")[2] or game if isinstance(game, str) else None
    raw = requested(chosen.hyperparameters, env_id, hyperparameters, timesteps)
    setup = prepare(raw, chosen.model)
    env = make_vector_env(game, setup.n_envs, env_kwargs)
    try:
        task = task_of(env, env_kwargs.get("player", 0))
        table = task.left
        run = RunFolder(
            Path(folder),
            {
                "environment": env_id or table.info.name,
                "model_hash": table.model_hash,
                "algorithm": algorithm,
                "seed": seed,
                "env_kwargs": env_kwargs,
                "hyperparameters": raw,
                "stakes": stakes,
                "evaluations": evaluations,
            },
        )
        if resume and run.can_be_read_back():
            return _read_back(run, task, solution, again=True)
        with FolderLock(run.folder):
            finished = run.open(resume)
            if not finished:
                bar = bar_for(f"{env_id or table.info.name} {algorithm} seed {seed}")
                solution = solution or solve(task.game)
                optimum = solution if task.left is task.game else solve(task.left)
                if stakes > 0:
                    env = _at_stakes(env, task, optimum, stakes, env_kwargs)
                with bar if progress is True else nullcontext(progress or None) as report:
                    _learn(run, chosen, setup, env, task, solution, optimum, report)
            return _read_back(run, task, solution, again=finished)
    finally:
        env.close()


def _at_stakes(
    env: VectorEnv[Any, Any, Any],
    task: Task,
    optimum: Solution,
    share: float,
    env_kwargs: Mapping[str, Any],
) -> VectorEnv[Any, Any, Any]:
    """The same environment, a share of whose plays begins where something is at stake.

    Against one opponent that opponent is folded into chance.

    Args:
        env: The environment.
        task: What is learned in it.
        optimum: The solution of `task.left`.
        share: Of the plays.
        env_kwargs: The environment's own arguments.

    Raises:
        ValueError: If there are several opponents.
    """
    if not isinstance(env.unwrapped, TabularVectorEnv) and task.left is task.game:
        raise ValueError(f"stakes is {shown(share)}; it has to be 0 against several opponents")
    own = {name: env_kwargs[name] for name in ("observation", "illegal") if name in env_kwargs}
    return make_vector_env(
        begin_at_stakes(task.left, optimum, share), env.num_envs, {**own, "player": task.player}
    )


def _learn(
    run: RunFolder,
    algorithm: Algorithm,
    setup: Hyperparameters,
    env: VectorEnv[Any, Any, Any],
    task: Task,
    solution: Solution,
    optimum: Solution,
    report: Report | None,
) -> None:
    """Train from the checkpoint, if there is one, to the end, and write all results.

    Args:
        run: The folder.
        algorithm: That learns.
        setup: Its hyperparameters.
        env: In which it learns.
        task: What is learned.
        solution: Of `task.game`.
        optimum: Of `task.left`.
        report: Called as training goes on, if given.
    """
    table, seed = task.left, run.request["seed"]
    view = {"observation": run.request["env_kwargs"]["observation"], "player": task.player}
    with one_thread():
        model = new_model(algorithm, setup, NativeVecEnv(env), seed)
        evaluation = ExactEvalCallback(
            table,
            every=max(setup.n_timesteps // run.request["evaluations"], 1),
            solution=optimum,
            path=run.folder / "curve.csv",
            **view,
        )
        before = [EntropyCallback()] if task.game.info.players == 2 else []
        learn(run, model, evaluation, setup.n_timesteps, report, before=before)
        policies = extract(model, table, name=f"{run.request['algorithm']} {seed}", **view)
    origin = {"request": run.request, "timesteps": model.num_timesteps}
    scores = {}
    for file, name, policy, illegal in (
        ("policy.npz", "score", policies.sampled, policies.illegal),
        ("policy_mode.npz", "mode_score", policies.mode, policies.illegal_mode),
    ):
        policy = replace(policy, model_hash=task.game.model_hash)
        scores[name] = plain(_score(task, policy, solution, optimum, illegal))
        save_policy(run.folder / file, policy, origin)
    save_model(run.folder, model)
    run.write(
        {
            "timesteps": model.num_timesteps,
            "cpu_seconds": evaluation.curve[-1].seconds,
            **scores,
        }
    )


def _score(
    task: Task,
    policy: TabularPolicy,
    solution: Solution,
    optimum: Solution,
    illegal: Floats | None = None,
) -> Score:
    """The score of a policy for the game that is played, as :class:`TrainingResult` has it."""
    own = replace(policy, model_hash=task.left.model_hash)
    result = learned_score(task.left, own, optimum, illegal=illegal)
    if task.left is task.game:
        return result
    # The gap is to the best answer to one opponent, exploitability to the worst opponent.
    worst = learned_exploitability(task.game, policy, solution)
    return replace(result, exploitability=worst)


def _read_back(
    run: RunFolder, task: Task, solution: Solution | None, *, again: bool
) -> TrainingResult:
    """The result of a finished run, from its files.

    Args:
        run: The folder.
        task: What was learned.
        solution: Of `task.game`, if it is at hand.
        again: Whether it was finished before, so that its scores are to be computed again.
    """
    table = task.game
    result = run.read()["result"]
    try:
        found = TrainingResult(
            folder=run.folder,
            algorithm=run.request["algorithm"],
            seed=run.request["seed"],
            timesteps=result["timesteps"],
            cpu_seconds=result["cpu_seconds"],
            policy=load_policy(run.folder / "policy.npz", table),
            mode=load_policy(run.folder / "policy_mode.npz", table),
            score=from_plain(result["score"], table),
            mode_score=from_plain(result["mode_score"], table),
            curve=read_curve(run.folder / "curve.csv"),
        )
    except (KeyError, TypeError) as error:
        raise StoreError(f"{run.record}: not the record of a training, or damaged") from error
    if not again:
        return found
    solution = solution or solve(table)
    optimum = solution if task.left is table else solve(task.left)
    score, mode_score = (
        checked(stated, _score(task, policy, solution, optimum), run.record)
        for stated, policy in ((found.score, found.policy), (found.mode_score, found.mode))
    )
    return replace(found, score=score, mode_score=mode_score)
