"""Trainings in games that have a table: policies are tables, and every score is exact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from gymnasium.vector import AutoresetMode
from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.benchmark.policies import recorded_score
from solvent.benchmark.privilege import IMPORTANCE, UNIFORM
from solvent.envs import SeatVectorEnv, VectorEnv
from solvent.envs.env import learned_seat
from solvent.envs.table_batch import BothSeats
from solvent.exact import Score, Solution, cached_solution, load_policy, save_policy
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import shown
from solvent.training.callback import (
    CurveCallback,
    ExactEvalCallback,
    SelfPlayEvalCallback,
    SelfPlayEvaluation,
)
from solvent.training.environments import make_vector_env, table_for_self_play
from solvent.training.exploring_starts import (
    act_at_once,
    exploring_starts,
    free_choice,
    importance,
)
from solvent.training.extract import SEATS, Extraction, extract, extract_seats
from solvent.training.learning import Training, TrainingRequest
from solvent.training.role_conditioning import with_roles
from solvent.training.scores import (
    checked,
    from_plain,
    learned_exploitability,
    plain,
)
from solvent.training.snapshots import TableSelfPlayEnv
from solvent.training.vec_env import NativeVecEnv

MOST_AVERAGED = 125
"""Most tables in the average of a training in which the learner takes both seats, if not told."""

Policies = Sequence[tuple[TabularPolicy, Floats | None]]
"""A policy for each seat that is learned, each with what it gave to illegal actions, if known."""


class WithTable(Training):
    """One seat or both seats of a game that has a table.

    Attributes:
        game: The game that is played.
        left: The game that a policy is scored on.
        observation: What the network sees.
    """

    game: TabularGame
    left: TabularGame

    point: ClassVar[type[Evaluation]]
    """The class of a point of the learning curve."""

    kinds: ClassVar[Mapping[str, tuple[str, str, str]]]
    """For each kind of policy the name of its scores, the name of these in the record, and the
    name of its file without its ending."""

    endings: ClassVar[tuple[str, ...]]
    """What the names of the files of each seat end in."""

    @property
    def observation(self) -> str:
        """What the network sees."""
        seen: str = self.asked.env_kwargs["observation"]
        return seen

    @cached_property
    def solution(self) -> Solution:
        """Of the game that is played."""
        return self.asked.solution or cached_solution(self.game)

    @cached_property
    def optimum(self) -> Solution:
        """Of the game that a policy is scored on."""
        return self.solution if self.left is self.game else cached_solution(self.left)

    def score(self, policy: TabularPolicy, illegal: Floats | None = None) -> Score:
        """The score of a policy, as :class:`~solvent.training.train.TrainingResult` has it.

        Args:
            policy: For the game that is played.
            illegal: [S] what it gave to illegal actions, if known.
        """
        own = replace(policy, model_hash=self.left.model_hash)
        result = recorded_score(self.left, own, self.optimum, illegal=illegal)
        if self.left is self.game:
            return result
        # The gap is to the best response to one opponent, exploitability to the worst opponent.
        worst = learned_exploitability(self.game, policy, self.solution)
        return replace(result, exploitability=worst)

    @abstractmethod
    def learned(self, model: BaseAlgorithm, venv: NativeVecEnv) -> dict[str, Policies]:
        """The policies of each kind.

        Args:
            model: The learner.
            venv: Its environment.
        """

    def save(
        self, folder: Path, model: BaseAlgorithm, venv: NativeVecEnv, origin: dict[str, Any]
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for kind, policies in self.learned(model, venv).items():
            _, stated, _ = self.kinds[kind]
            scores = []
            for path, (policy, illegal) in zip(self._files(folder, kind), policies, strict=True):
                own = replace(policy, model_hash=self.game.model_hash)
                scores.append(plain(self.score(own, illegal)))
                save_policy(path, own, origin)
            result[stated] = scores if len(self.endings) > 1 else scores[0]
        return result

    def read(self, folder: Path, result: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for kind, (scores, stated, _) in self.kinds.items():
            found[kind] = tuple(load_policy(path, self.game) for path in self._files(folder, kind))
            held = result[stated] if len(self.endings) > 1 else [result[stated]]
            found[scores] = tuple(from_plain(held[k], self.game) for k in range(len(self.endings)))
        return {**found, "curve": read_curve(folder / "curve.csv", self.point)}

    def scored_again(self, found: Mapping[str, Any], record: Path) -> dict[str, Any]:
        return {
            scores: tuple(
                checked(stated, self.score(policy), record)
                for stated, policy in zip(found[scores], found[kind], strict=True)
            )
            for kind, (scores, *_) in self.kinds.items()
        }

    def _files(self, folder: Path, kind: str) -> Iterator[Path]:
        """The files of a kind of policy, one for each seat that is learned."""
        return (folder / f"{self.kinds[kind][2]}{ending}.npz" for ending in self.endings)


class OneSeat(WithTable):
    """A game for one, or one seat of a game for two against opponents who do not change."""

    point = Evaluation
    kinds: ClassVar[Mapping[str, tuple[str, str, str]]] = {
        "policies": ("scores", "score", "policy"),
        "modes": ("mode_scores", "mode_score", "policy_mode"),
    }
    endings = ("",)

    def __init__(self, asked: TrainingRequest) -> None:
        super().__init__(asked)
        for name in ("snapshots", "latest", "refresh"):
            if (value := getattr(asked, name)) is not None:
                raise ValueError(f"{name} is {shown(value)}; it is for self-play only")
        self._env = make_vector_env(asked.game, asked.setup.n_envs, asked.env_kwargs)
        self._seat = learned_seat(self._env)
        self.game, self.left = self._seat.game, self._seat.left
        self.players = self.game.info.players
        name = asked.name(self.left)
        self.title = f"{name} {asked.record['algorithm']}"
        share = asked.exploring_starts
        several = self.left is self.game and isinstance(self._env.unwrapped, SeatVectorEnv)
        if share and several:
            raise ValueError(
                f"exploring_starts is {shown(share)}; it has to be 0 against several opponents"
            )
        if share is None and not several:
            share = asked.setup.exploring_starts
        self._share = share or 0.0
        if asked.start_weights == IMPORTANCE and not share:
            raise ValueError(
                "start_weights is 'importance', but no episode is an exploring start; "
                "say which share with exploring_starts"
            )
        self.request = {
            **asked.record,
            "environment": name,
            "model_hash": self.left.model_hash,
            "env_kwargs": asked.env_kwargs,
            "stakes": self._share,
            "evaluations": 20 if asked.evaluations is None else asked.evaluations,
        }
        # A share without weights is by importance, as in the records of earlier versions.
        if share and asked.start_weights == UNIFORM:
            self.request["start_weights"] = UNIFORM

    def make_env(self) -> NativeVecEnv:
        """The environment; with exploring starts one opponent is folded into chance."""
        if not self._share:
            return NativeVecEnv(self._env)
        kwargs, by_importance = self.asked.env_kwargs, self.asked.start_weights == IMPORTANCE
        weights = importance(self.left, self.optimum) if by_importance else free_choice(self.left)
        begun = exploring_starts(self.left, self._share, weights)
        own = {name: kwargs[name] for name in ("observation", "illegal") if name in kwargs}
        return NativeVecEnv(
            make_vector_env(begun, self.asked.setup.n_envs, {**own, "player": self._seat.player})
        )

    def make_curve(self, venv: NativeVecEnv, *, every: int, path: Path) -> CurveCallback:
        return ExactEvalCallback(
            self.left,
            every=every,
            observation=self.observation,
            player=self._seat.player,
            solution=self.optimum,
            path=path,
        )

    def learned(self, model: BaseAlgorithm, venv: NativeVecEnv) -> dict[str, Policies]:
        found = extract(
            model,
            self.left,
            observation=self.observation,
            player=self._seat.player,
            name=f"{self.request['algorithm']} {self.request['seed']}",
        )
        return _both_kinds([found])


class SelfPlay(WithTable):
    """Both seats of a game for two, against snapshots of the learner or the learner as it is."""

    _env: TableSelfPlayEnv
    point = SelfPlayEvaluation
    kinds: ClassVar[Mapping[str, tuple[str, str, str]]] = {
        "policies": ("scores", "scores", "policy"),
        "modes": ("mode_scores", "mode_scores", "policy_mode"),
        "averages": ("average_scores", "average_scores", "policy_average"),
    }
    endings = ("_0", "_1")

    def __init__(self, asked: TrainingRequest) -> None:
        super().__init__(asked)
        parameters = {k: v for k, v in asked.env_kwargs.items() if k != "observation"}
        self.game = self.left = table_for_self_play(asked.game, parameters)
        self.players = self.game.info.players
        name = asked.name(self.game)
        self.title = f"{name} {asked.record['algorithm']} self-play"
        snapshots, refresh, share = asked.snapshots, asked.refresh, asked.exploring_starts
        if snapshots is None:
            both = asked.algorithm.seats_apart or act_at_once(self.game).any()
            snapshots = 0 if both else 3
        if refresh is None:
            steps = asked.setup.n_timesteps // MOST_AVERAGED
            refresh = 50_000 if snapshots else max(50_000, steps)
        if share is None:
            share = asked.setup.exploring_starts
        if share is None:
            share = 0.1 if snapshots else 0.5
        self.request = {
            **asked.record,
            "environment": name,
            "model_hash": self.game.model_hash,
            "env_kwargs": asked.env_kwargs,
            "past_selves": snapshots,
            "latest": float(0.7 if asked.latest is None else asked.latest),
            "refresh": refresh,
            "exploring": float(share),
            "evaluations": 10 if asked.evaluations is None else asked.evaluations,
        }
        self._env = self._make_env()

    def make_env(self) -> NativeVecEnv:
        return self._env

    def _make_env(self) -> TableSelfPlayEnv:
        game, size, n_envs = self.game, self.request["past_selves"], self.asked.setup.n_envs
        starts = exploring_starts(game, self.request["exploring"], free_choice(game))
        begun = with_roles(starts, apart=self.asked.algorithm.seats_apart)
        env: VectorEnv
        if size == 0:
            if n_envs % 2:
                raise ValueError(
                    f"n_envs is {n_envs}; both seats of an episode need an even number"
                )
            env = VectorEnv(
                BothSeats(begun, n_envs // 2, self.observation),
                autoreset_mode=AutoresetMode.SAME_STEP,
            )
        else:
            # Snapshots take the place of the uniform opponents.
            first, second = (TabularPolicy.uniform(begun, player=p) for p in SEATS)
            env = SeatVectorEnv(
                begun,
                [(first, second)],
                n_envs,
                seat="random",
                observation=self.observation,
                autoreset_mode=AutoresetMode.SAME_STEP,
            )
        return TableSelfPlayEnv(
            env, game, observation=self.observation, size=size, latest=self.request["latest"]
        )

    def make_curve(self, venv: NativeVecEnv, *, every: int, path: Path) -> CurveCallback:
        return SelfPlayEvalCallback(
            self.game,
            every=every,
            observation=self.observation,
            solution=self.solution,
            averages=self._env.averages,
            path=path,
        )

    def learned(self, model: BaseAlgorithm, venv: NativeVecEnv) -> dict[str, Policies]:
        name = f"{self.request['algorithm']} self-play {self.request['seed']}"
        seats = extract_seats(model, self.game, observation=self.observation, name=name)
        averages = [(one.policy(f"{name} (average)"), None) for one in self._env.averages]
        return {**_both_kinds(seats), "averages": averages}


def _both_kinds(seats: Sequence[Extraction]) -> dict[str, Policies]:
    """The policies of a network as they are sampled, and the greedy ones."""
    return {
        "policies": [(one.sampled, one.illegal) for one in seats],
        "modes": [(one.mode, one.illegal_mode) for one in seats],
    }
