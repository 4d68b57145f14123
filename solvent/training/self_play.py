"""Training by self-play: one network learns both seats of a game for two.

Where the observation of a player is relative (my score, the other's score), one network can play
either seat as it is; where the players have different actions it is told its role
(:mod:`solvent.training.roles`). Whom it meets depends on the game:

- One acts after the other: it takes a seat drawn at each play, and its past selves take the other
  one (:mod:`solvent.training.past_selves`).
- Both act at once: it takes both seats of every play (:mod:`solvent.training.both_seats`). There
  :mod:`solvent.training.mirror_descent` learns from both seats' actions together.

The average of what it played is kept as well (:mod:`solvent.training.average`).

**Exploring starts.** A policy that is hard to exploit must be right where its own play never goes,
since that is where a best response leads it. So a share of the plays begins in a state drawn
evenly from all in which both have a choice at once, or if there are none, from all in which play
goes on. Scores are of the game from its own start.

A training writes everything into one folder:

==========================  ================================================================
``run.json``                what was asked for, with which versions, and the exact result
``curve.csv``               the exact learning curve
                            (:class:`~solvent.training.self_play_curve.SelfPlayEvaluation`)
``policy_0.npz``            the network's policy in seat 0 as it is sampled, as a table
``policy_1.npz``            the same in seat 1
``policy_mode_0.npz``       its most probable actions in seat 0, as a table
``policy_mode_1.npz``       the same in seat 1
``policy_average_0.npz``    the average of what it played in seat 0, as a table
``policy_average_1.npz``    the same in seat 1
``model.zip``               the network as Stable-Baselines3 saves it
``tensorboard/``            the curve and the learner's own figures
``checkpoint.npz``          where to go on from, while the training is not finished
==========================  ================================================================

It goes on after being killed as :func:`~solvent.training.train.train` does, past selves and
averages included.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gymnasium.vector import AutoresetMode

from solvent.envs import SeatVectorEnv
from solvent.exact import Score, Solution, StoreError, load_policy, save_policy, solve
from solvent.exact.layered.lock import FolderLock
from solvent.exact.learning_curve import read_curve
from solvent.model import Game, TabularGame, TabularPolicy, compile_game
from solvent.model.arrays import Bools
from solvent.model.parameters import check_integer, shown
from solvent.training.algorithms import SELF_PLAY_ALGORITHMS, Algorithm, find_algorithm
from solvent.training.both_seats import BothSeatsVectorEnv
from solvent.training.entropy import EntropyCallback
from solvent.training.environments import table_named
from solvent.training.hyperparameters import Hyperparameters, prepare, requested
from solvent.training.learned_score import learned_score
from solvent.training.learning import learn, new_model, one_thread, save_model
from solvent.training.past_selves import PastSelvesEnv
from solvent.training.plain_score import checked, from_plain, plain
from solvent.training.progress import Report, bar_for
from solvent.training.roles import with_roles
from solvent.training.run_folder import RunFolder
from solvent.training.self_play_curve import (
    SelfPlayEvalCallback,
    SelfPlayEvaluation,
    extract_seats,
)
from solvent.training.self_play_env import SEATS, RememberCallback, SelfPlayEnv

TABLES = 125
"""Most tables in the average of a training in which the learner takes both seats, if not told."""


@dataclass(frozen=True, eq=False)
class SelfPlayResult:
    """A finished training by self-play. Pairs are of seat 0 and seat 1.

    Attributes:
        folder: Where its files are.
        algorithm: Its name.
        seed: Of everything random in it.
        timesteps: Steps taken, in all environments together.
        cpu_seconds: CPU time spent, exact evaluations included.
        policies: As they are sampled.
        modes: Their most probable actions.
        averages: The averages of what was played.
        scores: Of `policies`.
        mode_scores: Of `modes`.
        average_scores: Of `averages`.
        curve: The exact learning curve.
    """

    folder: Path
    algorithm: str
    seed: int
    timesteps: int
    cpu_seconds: float
    policies: tuple[TabularPolicy, TabularPolicy]
    modes: tuple[TabularPolicy, TabularPolicy]
    averages: tuple[TabularPolicy, TabularPolicy]
    scores: tuple[Score, Score]
    mode_scores: tuple[Score, Score]
    average_scores: tuple[Score, Score]
    curve: list[SelfPlayEvaluation]

    @property
    def exploitability(self) -> float:
        """Of the sampled policies, mean over both seats: half of NashConv."""
        return sum(result.optimality_gap for result in self.scores) / 2

    @property
    def mode_exploitability(self) -> float:
        """Of their most probable actions, mean over both seats."""
        return sum(result.optimality_gap for result in self.mode_scores) / 2

    @property
    def average_exploitability(self) -> float:
        """Of the averages, mean over both seats."""
        return sum(result.optimality_gap for result in self.average_scores) / 2


def train_self_play(
    game: str | Game | TabularGame,
    algorithm: str = "ppo",
    *,
    seed: int = 0,
    timesteps: int | None = None,
    folder: str | Path,
    env_kwargs: Mapping[str, Any] | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    past_selves: int | None = None,
    latest: float = 0.7,
    refresh: int | None = None,
    exploring: float | None = None,
    evaluations: int = 10,
    solution: Solution | None = None,
    progress: bool | Report = True,
    resume: bool = True,
) -> SelfPlayResult:
    """Train one network for both seats by self-play and compute how exploitable it is.

    Args:
        game: The id of an environment such as ``"solvent/Greed-v0"``, or a game for two of your
            own.
        algorithm: A key of :data:`~solvent.training.algorithms.SELF_PLAY_ALGORITHMS`;
            ``"mirror_descent"`` only where the learner takes both seats.
        seed: Of networks, exploration and environments.
        timesteps: Steps in all environments together; as tuned if left out.
        folder: Where the module's table of files is written.
        env_kwargs: ``observation`` (``"onehot"`` unless it says otherwise), and with an id the
            game's own parameters.
        hyperparameters: To use instead of the tuned ones of the same name.
        past_selves: How many of them are in the pool at most; with 0 the learner takes both
            seats of every play. If left out, 0 where both ever act at once and otherwise 3.
        latest: The chance of meeting the latest of them, in (0, 1].
        refresh: Steps after which the present self joins the pool and the average. If left out,
            50,000, or where the learner takes both seats a 125th of the training if that is more.
        exploring: The share of plays with an exploring start, in [0, 1]. If left out, 0.1, or
            where the learner takes both seats 0.5.
        evaluations: As for :func:`~solvent.training.train.train`, like what follows.
        solution: As there.
        progress: As there.
        resume: As there.

    Raises:
        ValueError: If an argument is not one of those allowed, or the folder holds another
            training.
        StoreError: If a file in the folder is damaged or cannot be written, or another process is
            at work in it.
    """
    chosen = find_algorithm(algorithm, SELF_PLAY_ALGORITHMS)
    env_id = game.partition(":")[2] or game if isinstance(game, str) else None
    raw = requested(chosen.hyperparameters, env_id, hyperparameters, timesteps)
    setup = prepare(raw, chosen.model)
    env_kwargs = {"observation": "onehot", **(env_kwargs or {})}
    table = _table(env_id or game, {k: v for k, v in env_kwargs.items() if k != "observation"})
    if past_selves is None:
        past_selves = 0 if _act_at_once(table).any() else 3
    if refresh is None:
        refresh = 50_000 if past_selves else max(50_000, setup.n_timesteps // TABLES)
    if exploring is None:
        exploring = 0.1 if past_selves else 0.5
    run = RunFolder(
        Path(folder),
        {
            "environment": env_id or table.info.name,
            "model_hash": table.model_hash,
            "algorithm": algorithm,
            "seed": check_integer(seed, "seed", 0, 2**31 - 1),
            "env_kwargs": env_kwargs,
            "hyperparameters": raw,
            "past_selves": check_integer(past_selves, "past_selves", 0, 1000),
            "latest": _check_share(latest, "latest", positive=True),
            "refresh": check_integer(refresh, "refresh", 1, 10**12),
            "exploring": _check_share(exploring, "exploring"),
            "evaluations": check_integer(evaluations, "evaluations", 1, 10**6),
        },
    )
    env = _self_play_env(table, setup.n_envs, run.request)
    try:
        if resume and run.can_be_read_back():
            return _scored_again(_read_back(run, table), run, table, solution)
        with FolderLock(run.folder):
            finished = run.open(resume)
            if not finished:
                bar = bar_for(f"{env_id or table.info.name} {algorithm} self-play seed {seed}")
                with bar if progress is True else nullcontext(progress or None) as report:
                    _learn(run, chosen, setup, env, table, solution or solve(table), report)
            found = _read_back(run, table)
            return _scored_again(found, run, table, solution) if finished else found
    finally:
        env.close()


def _table(game: str | Game | TabularGame, parameters: Mapping[str, Any]) -> TabularGame:
    """The table of a game for two."""
    if isinstance(game, str):
        table = table_named(game, parameters)
    elif parameters:
        raise ValueError(f"env_kwargs has {', '.join(parameters)}; a game has its parameters")
    else:
        table = game if isinstance(game, TabularGame) else compile_game(game)
    if table.info.players != 2:
        raise ValueError(f"{table.info.name} is a game for one; solvent.training.train trains it")
    return table


def _check_share(value: float, name: str, *, positive: bool = False) -> float:
    if not isinstance(value, (int, float)) or not 0 <= value <= 1 or (positive and value == 0):
        allowed = "above 0 and up to 1" if positive else "from 0 to 1"
        raise ValueError(f"{name} is {shown(value)}; allowed are numbers {allowed}")
    return float(value)


def _act_at_once(game: TabularGame) -> Bools:
    """Where both players have a choice, [S]."""
    first, second = game.action_count
    both: Bools = (first > 1) & (second > 1)
    return both


def _self_play_env(table: TabularGame, num_envs: int, request: Mapping[str, Any]) -> SelfPlayEnv:
    """The environment of a training."""
    observation = request["env_kwargs"]["observation"]
    begun = with_roles(exploring_starts(table, request["exploring"]))
    if request["past_selves"] == 0:
        plays = BothSeatsVectorEnv(begun, _even(num_envs) // 2, observation=observation)
        return SelfPlayEnv(plays, table, observation=observation)
    # Past selves take the place of the uniform opponents.
    first, second = (TabularPolicy.uniform(begun, player=p) for p in SEATS)
    env = SeatVectorEnv(
        begun,
        [(first, second)],
        num_envs,
        seat="random",
        observation=observation,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    return PastSelvesEnv(
        env,
        table,
        observation=observation,
        most=request["past_selves"],
        latest=request["latest"],
    )


def _even(num_envs: int) -> int:
    """Return the number of environments if both seats of some plays make so many.

    Raises:
        ValueError: If it is odd.
    """
    if num_envs % 2:
        raise ValueError(f"n_envs is {num_envs}; both seats of a play need an even number")
    return num_envs


def exploring_starts(game: TabularGame, share: float) -> TabularGame:
    """The same game, a share of its plays beginning in any state in which there is most to choose.

    Those are the states in which both players have a choice; if there are none, all in which play
    goes on.

    Args:
        game: The game.
        share: In [0, 1]; the other plays begin as they do in `game`.
    """
    both = _act_at_once(game)
    begun = both if both.any() else ~game.terminal
    return replace(game, initial=(1 - share) * game.initial + share * begun / begun.sum())


def _learn(
    run: RunFolder,
    algorithm: Algorithm,
    setup: Hyperparameters,
    venv: SelfPlayEnv,
    table: TabularGame,
    solution: Solution,
    report: Report | None,
) -> None:
    """Train from the checkpoint, if there is one, to the end, and write all results."""
    request = run.request
    observation = request["env_kwargs"]["observation"]
    with one_thread():
        model = new_model(algorithm, setup, venv, request["seed"])
        venv.remember(model)
        evaluation = SelfPlayEvalCallback(
            table,
            every=max(setup.n_timesteps // request["evaluations"], 1),
            observation=observation,
            solution=solution,
            averages=venv.averages,
            path=run.folder / "curve.csv",
        )
        # It is remembered first, so that a checkpoint has the self of its own step.
        remember = RememberCallback(venv, request["refresh"])
        before = [remember, EntropyCallback()]
        learn(run, model, evaluation, setup.n_timesteps, report, before=before)
        name = f"{request['algorithm']} self-play {request['seed']}"
        seats = extract_seats(model, table, observation=observation, name=name)
    averages = [average.policy(f"{name} (average)") for average in venv.averages]
    origin = {"request": request, "timesteps": model.num_timesteps}
    for seat, policies in enumerate(seats):
        save_policy(run.folder / f"policy_{seat}.npz", policies.sampled, origin)
        save_policy(run.folder / f"policy_mode_{seat}.npz", policies.mode, origin)
        save_policy(run.folder / f"policy_average_{seat}.npz", averages[seat], origin)
    save_model(run.folder, model)
    run.write(
        {
            "timesteps": model.num_timesteps,
            "cpu_seconds": evaluation.curve[-1].seconds,
            "scores": [
                plain(learned_score(table, p.sampled, solution, illegal=p.illegal)) for p in seats
            ],
            "mode_scores": [
                plain(learned_score(table, p.mode, solution, illegal=p.illegal_mode)) for p in seats
            ],
            "average_scores": [plain(learned_score(table, p, solution)) for p in averages],
        }
    )


def _read_back(run: RunFolder, table: TabularGame) -> SelfPlayResult:
    """The result of a finished run, from its files."""
    result = run.read()["result"]
    try:
        policies, modes, averages = (
            (
                load_policy(run.folder / f"{name}_0.npz", table),
                load_policy(run.folder / f"{name}_1.npz", table),
            )
            for name in ("policy", "policy_mode", "policy_average")
        )
        scores, mode_scores, average_scores = (
            (from_plain(result[name][0], table), from_plain(result[name][1], table))
            for name in ("scores", "mode_scores", "average_scores")
        )
        return SelfPlayResult(
            folder=run.folder,
            algorithm=run.request["algorithm"],
            seed=run.request["seed"],
            timesteps=result["timesteps"],
            cpu_seconds=result["cpu_seconds"],
            policies=policies,
            modes=modes,
            averages=averages,
            scores=scores,
            mode_scores=mode_scores,
            average_scores=average_scores,
            curve=read_curve(run.folder / "curve.csv", SelfPlayEvaluation),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise StoreError(f"{run.record}: not the record of a training, or damaged") from error


def _scored_again(
    found: SelfPlayResult, run: RunFolder, table: TabularGame, solution: Solution | None
) -> SelfPlayResult:
    """A result with scores that are computed from its policies, if they are those it states."""
    known = solution or solve(table)

    def again(
        stated: tuple[Score, Score], policies: tuple[TabularPolicy, TabularPolicy]
    ) -> tuple[Score, Score]:
        first, second = (
            checked(said, learned_score(table, policy, known), run.record)
            for said, policy in zip(stated, policies, strict=True)
        )
        return first, second

    return replace(
        found,
        scores=again(found.scores, found.policies),
        mode_scores=again(found.mode_scores, found.modes),
        average_scores=again(found.average_scores, found.averages),
    )
