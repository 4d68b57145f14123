"""The kinds of training: one seat, both seats by self-play, and networks in games without a table.

If a game has a table, policies are tables and every score is exact. A training without a table
never enumerates the states: its policies are networks, and its curve is a mean of returns.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from math import isnan
from pathlib import Path
from typing import Any, ClassVar, cast

from gymnasium.vector import AutoresetMode
from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.baselines.network import NetworkPlayer, load_network, save_network
from solvent.benchmark.run_folder import (
    IMPORTANCE,
    MET,
    OPPONENT,
    OPTIMAL,
    UNIFORM,
    meets_solution,
    seen_of_solution,
)
from solvent.envs import VectorEnv
from solvent.envs.batches import BothSeats
from solvent.envs.env import learned_seat
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import Score, Solution, cached_solution, load_policy, save_policy
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.exact.scoring import comparable_score, learned_exploitability
from solvent.model import Game, TabularGame, TabularPolicy, make_game
from solvent.model.arrays import Floats
from solvent.model.parameters import check_choice, check_integer, is_number, shown
from solvent.training.algorithms import Hyperparameters, Learner
from solvent.training.callback import (
    AveragePolicy,
    CurveCallback,
    ExactEvalCallback,
    ReturnCallback,
    ReturnSoFar,
    SelfPlayEnv,
    SelfPlayEvalCallback,
    SelfPlayEvaluation,
    policies_of_seats,
)
from solvent.training.environments import (
    NativeVecEnv,
    act_at_once,
    exploring_starts,
    free_choice,
    importance,
    make_vector_env,
    table_for_self_play,
    with_roles,
)
from solvent.training.extract import SEATS, Extraction, extract, extract_seats, network_player

# Default limit of tables in the average of a training whose learner takes both seats.
_MOST_AVERAGED = 125

# Probability of meeting the latest snapshot, in a game that has a table.
_LATEST = 0.7

KINDS = {
    "policies": ("scores", "policy"),
    "modes": ("mode_scores", "policy_mode"),
    "averages": ("average_scores", "policy_average"),
}
"""The name of the scores and the prefix of the file names, for each kind of policy."""

# The files of the sampled and of the greedy network.
_NETWORKS = ("network.npz", "network_mode.npz")

# A policy for each learned seat, with its probability of illegal actions, [S], if known.
_Policies = Sequence[tuple[TabularPolicy, Floats | None]]


@dataclass(eq=False)
class Training(ABC):
    """A kind of training: the learner's opponents, its scores, and its files.

    The kind decides those arguments that are None.

    Attributes:
        source: The id of an environment, or a game.
        learner: The algorithm.
        setup: Hyperparameters of the algorithm.
        env_kwargs: Arguments of the environment, without the opponent in self-play.
        request: Entries of the folder's record that every kind of training has, to which the
            other arguments are added.
        self_play: Whether the learner plays against itself.
        exploring_starts: Share of exploring starts.
        start_weights: Weights of exploring starts, ``"uniform"`` or ``"importance"``.
        snapshots: Largest number of snapshots in the pool.
        refresh: Steps between one snapshot and the next.
        evaluations: Number of points of the learning curve after the first.
        players: Number of players of the game.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    source: str | Game | TabularGame
    learner: Learner
    setup: Hyperparameters
    env_kwargs: Mapping[str, Any]
    request: dict[str, Any]
    self_play: bool
    exploring_starts: float | None
    start_weights: str
    snapshots: int | None
    refresh: int | None
    evaluations: int | None
    players: int = field(init=False)

    point: ClassVar[type[Any]]
    """The class of a point of the learning curve."""

    points: ClassVar[int] = 20
    """The default number of evaluations."""

    way: ClassVar[str] = ""
    """Words between the algorithm and the seed in the names of policies."""

    def __post_init__(self) -> None:
        """Check the arguments that do not depend on the game."""
        for share in (self.exploring_starts, self.setup.exploring_starts):
            if share is not None and not (is_number(share) and 0 <= share <= 1):
                raise ValueError(
                    f"exploring_starts is {shown(share)}; allowed are numbers from 0 to 1"
                )
        allowed = (UNIFORM,) if self.self_play else (UNIFORM, IMPORTANCE)
        check_choice(self.start_weights, "start_weights", allowed)
        for name, least, most in (
            ("snapshots", 0, 1000),
            ("refresh", 1, 10**12),
            ("evaluations", 1, 10**6),
        ):
            if getattr(self, name) is not None:
                check_integer(getattr(self, name), name, least, most)
        game = self.source
        self.request |= {
            "environment": game if isinstance(game, str) else game.info.name,
            "env_kwargs": self.env_kwargs,
            "evaluations": self.evaluations or self.points,
        }

    @property
    def observation(self) -> str:
        """The network's kind of observation."""
        return str(self.env_kwargs["observation"])

    @property
    def name(self) -> str:
        """The name of the learned policies."""
        return f"{self.request['algorithm']}{self.way} {self.request['seed']}"

    @abstractmethod
    def make_env(self) -> NativeVecEnv:
        """Return the learner's environment."""

    @abstractmethod
    def make_curve(self, *, every: int, path: Path) -> CurveCallback:
        """Return the callback that writes the learning curve.

        Args:
            every: Steps between evaluations.
            path: The curve's file.
        """

    @abstractmethod
    def save(self, folder: Path, model: BaseAlgorithm, origin: dict[str, Any]) -> dict[str, Any]:
        """Save the learned policies and return their entries in the record's result.

        Args:
            folder: Output folder.
            model: The learner.
            origin: Description of the files' origin, saved in them.
        """

    @abstractmethod
    def read(self, folder: Path, result: Mapping[str, Any]) -> dict[str, Any]:
        """Read arguments of :class:`~solvent.training.train.TrainingResult` that differ by kind.

        Args:
            folder: Folder of the training.
            result: The result in the folder's record.

        Raises:
            StoreError: If a file is missing or damaged.
            LookupError: If the record lacks an entry.
            TypeError: If an entry of the record has another type.
        """


class WithTable(Training):
    """One seat or both seats of a game that has a table.

    Attributes:
        game: The game that is played.
        left: The game on which policies are scored.
    """

    game: TabularGame
    left: TabularGame

    kinds: ClassVar[tuple[str, ...]] = ("policies", "modes")
    """The kinds of policies that are learned, keys of :data:`KINDS`."""

    endings: ClassVar[tuple[str, ...]]
    """Suffixes of the file names of each seat."""

    @cached_property
    def solution(self) -> Solution:
        """The solution of the game that is played."""
        return cached_solution(self.game)

    @cached_property
    def optimum(self) -> Solution:
        """The solution of the game on which policies are scored."""
        return self.solution if self.left is self.game else cached_solution(self.left)

    def score(self, policy: TabularPolicy, illegal: Floats | None = None) -> Score:
        """Return a policy's score, as in :class:`~solvent.training.train.TrainingResult`.

        Args:
            policy: A policy for the game that is played.
            illegal: [S] its probability of illegal actions, if known.
        """
        own = replace(policy, model_hash=self.left.model_hash)
        result = comparable_score(self.left, own, self.optimum, illegal=illegal)
        if self.left is self.game:
            return result
        # The gap is to the best response to one opponent, exploitability to the worst opponent.
        worst = learned_exploitability(self.game, policy, self.solution)
        return replace(result, exploitability=worst)

    @abstractmethod
    def learned(self, model: BaseAlgorithm) -> Sequence[Extraction]:
        """Return the policies of a learner in each learned seat.

        Args:
            model: The learner.
        """

    def policies(self, model: BaseAlgorithm) -> dict[str, _Policies]:
        """Return the policies of each kind.

        Args:
            model: The learner.
        """
        seats = self.learned(model)
        return {
            "policies": [(one.sampled, one.illegal) for one in seats],
            "modes": [(one.mode, one.illegal_mode) for one in seats],
        }

    def save(self, folder: Path, model: BaseAlgorithm, origin: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for kind, policies in self.policies(model).items():
            stated = []
            for path, (policy, illegal) in zip(self._files(folder, kind), policies, strict=True):
                policy = replace(policy, model_hash=self.game.model_hash)
                save_policy(path, policy, origin)
                score = self.score(policy, illegal)
                stated.append({**asdict(score), "worst_start": repr(score.worst_start)})
            scores = KINDS[kind][0]
            result |= {scores: stated} if len(stated) > 1 else {scores[:-1]: stated[0]}
        return result

    def read(self, folder: Path, result: Mapping[str, Any]) -> dict[str, Any]:
        """Read the policies and the curve, and compute the policies' scores."""
        found: dict[str, Any] = {"curve": read_curve(folder / "curve.csv", self.point)}
        for kind in self.kinds:
            scores = KINDS[kind][0]
            stated = result[scores] if len(self.endings) > 1 else [result[scores[:-1]]]
            # Only the record has the mass on illegal actions: tables have none of it.
            masses = [one["illegal_mass"] for one in stated]
            for mass in masses:
                if type(mass) is not float or not (isnan(mass) or -1e-9 <= mass <= 1 + 1e-9):
                    raise TypeError(f"illegal_mass is {shown(mass)}; expected a share")
            found[kind] = tuple(load_policy(path, self.game) for path in self._files(folder, kind))
            found[scores] = tuple(
                replace(self.score(policy), illegal_mass=mass)
                for policy, mass in zip(found[kind], masses, strict=True)
            )
        return found

    def _files(self, folder: Path, kind: str) -> Iterator[Path]:
        """Return the files of a kind of policy, one for each learned seat."""
        return (folder / f"{KINDS[kind][1]}{ending}.npz" for ending in self.endings)


class OneSeat(WithTable):
    """A one-player game, or one seat of a two-player game against fixed opponents."""

    point = Evaluation
    endings = ("",)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("snapshots", "refresh"):
            if (value := getattr(self, name)) is not None:
                raise ValueError(f"{name} is {shown(value)}; it is for self-play only")
        self._env = make_vector_env(self.source, self.setup.n_envs, self.env_kwargs)
        self._seat = learned_seat(self._env)
        self.game, self.left = self._seat.game, self._seat.left
        self.players = self.game.info.players
        share = self.exploring_starts
        if len(cast(Any, self._env.unwrapped).opponents) > 1:
            if share:
                raise ValueError(
                    f"exploring_starts is {shown(share)}; it has to be 0 against several opponents"
                )
        elif share is None:
            share = self.setup.exploring_starts
        self._share = share or 0.0
        if self.start_weights == IMPORTANCE and not share:
            raise ValueError(
                "start_weights is 'importance', but no episode is an exploring start; "
                "say which share with exploring_starts"
            )
        self.request |= {"model_hash": self.left.model_hash, "stakes": self._share}
        # A share without weights is by importance, as in the records of earlier versions.
        if share and self.start_weights == UNIFORM:
            self.request["start_weights"] = UNIFORM
        # Arguments do not say it of the default, nor of a file to which a solution was saved.
        if meets_solution(self._env) and OPPONENT not in seen_of_solution(self.request):
            self.request[MET] = OPTIMAL

    def make_env(self) -> NativeVecEnv:
        """Return the environment. With exploring starts one opponent is folded into chance."""
        if not self._share:
            return NativeVecEnv(self._env)
        kwargs, by_importance = self.env_kwargs, self.start_weights == IMPORTANCE
        weights = importance(self.left, self.optimum) if by_importance else free_choice(self.left)
        begun = exploring_starts(self.left, self._share, weights)
        own = {name: kwargs[name] for name in ("observation", "illegal") if name in kwargs}
        return NativeVecEnv(
            make_vector_env(begun, self.setup.n_envs, {**own, "seat": self._seat.player})
        )

    def make_curve(self, *, every: int, path: Path) -> CurveCallback:
        return ExactEvalCallback(
            self.left, every=every, observation=self.observation, player=self._seat.player,
            solution=self.optimum, path=path,
        )  # fmt: skip

    def learned(self, model: BaseAlgorithm) -> Sequence[Extraction]:
        seen, player = self.observation, self._seat.player
        return [extract(model, self.left, observation=seen, player=player, name=self.name)]


class SelfPlay(WithTable):
    """Both seats of a two-player game, against snapshots of the learner or its present self."""

    point = SelfPlayEvaluation
    points, way = 10, " self-play"
    kinds = ("policies", "modes", "averages")
    endings = ("_0", "_1")

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters = {k: v for k, v in self.env_kwargs.items() if k != "observation"}
        self.game = self.left = table_for_self_play(self.source, parameters)
        self.players = self.game.info.players
        snapshots, share = self.snapshots, self.exploring_starts
        if snapshots is None:
            both = self.learner.seats_apart or act_at_once(self.game).any()
            snapshots = 0 if both else 3
        if snapshots and self.learner.seats_apart:
            raise ValueError(
                f"snapshots is {snapshots}; {self.request['algorithm']} learns from both seats of "
                f"the same episodes, with snapshots=0"
            )
        rarely = 0 if snapshots else self.setup.n_timesteps // _MOST_AVERAGED
        if share is None:
            share = self.setup.exploring_starts
        if share is None:
            share = 0.1 if snapshots else 0.5
        self.request |= {
            "model_hash": self.game.model_hash,
            "past_selves": snapshots,
            "latest": _LATEST,
            "refresh": self.refresh or max(50_000, rarely),
            "exploring": float(share),
        }
        self._averages = tuple(AveragePolicy(self.game, seat) for seat in SEATS)
        self._env = self._make_env()

    def make_env(self) -> NativeVecEnv:
        return self._env

    def _make_env(self) -> SelfPlayEnv:
        game, size, n_envs = self.game, self.request["past_selves"], self.setup.n_envs
        starts = exploring_starts(game, self.request["exploring"], free_choice(game))
        begun = with_roles(starts, apart=self.learner.seats_apart)
        env: VectorEnv
        if size == 0:
            if n_envs % 2:
                raise ValueError(
                    f"n_envs is {n_envs}; both seats of an episode need an even number"
                )
            both = BothSeats(begun, n_envs // 2, self.observation)
            env = VectorEnv(both, autoreset_mode=AutoresetMode.SAME_STEP)
        else:
            # Snapshots take the place of the uniform opponents.
            first, second = (TabularPolicy.uniform(begun, player=p) for p in SEATS)
            env = VectorEnv(
                begun, n_envs, [(first, second)], seat="random", observation=self.observation,
                autoreset_mode=AutoresetMode.SAME_STEP,
            )  # fmt: skip
        policy_of = partial(policies_of_seats, begun, self.observation)
        return SelfPlayEnv(env, policy_of, averages=self._averages, size=size, latest=_LATEST)

    def make_curve(self, *, every: int, path: Path) -> CurveCallback:
        return SelfPlayEvalCallback(
            self.game, every=every, observation=self.observation, solution=self.solution,
            averages=self._averages, path=path,
        )  # fmt: skip

    def learned(self, model: BaseAlgorithm) -> Sequence[Extraction]:
        return extract_seats(model, self.game, observation=self.observation, name=self.name)

    def policies(self, model: BaseAlgorithm) -> dict[str, _Policies]:
        averages = [(one.policy(f"{self.name} (average)"), None) for one in self._averages]
        return {**super().policies(model), "averages": averages}


class WithoutTable(Training):
    """One network for whichever seats the environment gives it, in a game without a table."""

    point = ReturnSoFar

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.source, str)
        if self.exploring_starts or self.start_weights == IMPORTANCE:
            raise ValueError(
                f"exploring_starts is {shown(self.exploring_starts)}, drawn by "
                f"{self.start_weights}; {self.source} has no table, so that every episode begins "
                f"as the game does"
            )
        entry = ENVIRONMENTS[self.source]
        self.players = make_game(entry.game, **entry.parameters).info.players
        if self.self_play and self.players == 1:
            raise ValueError(f"{self.source} is a game for one; self-play needs one for two")
        if self.learner.seats_apart:
            raise ValueError(
                f"{self.request['algorithm']} needs a game with a table; {self.source} has none"
            )
        if self.snapshots == 0:
            raise ValueError("snapshots is 0; a game without a table needs at least 1")
        kwargs = {**({"seat": "random"} if self.players == 2 else {}), **self.env_kwargs}
        if self.self_play:
            kwargs["opponent"] = "self-play"
        self.request |= {
            "env_kwargs": kwargs,
            "past_selves": self.snapshots or 5,
            "refresh": self.refresh or 100_000,
        }

    def make_env(self) -> NativeVecEnv:
        kwargs, own = self.request["env_kwargs"], self.self_play
        # Snapshots take the place of the uniform opponent.
        kwargs = {**kwargs, "opponent": "uniform"} if own else kwargs
        env = make_vector_env(self.request["environment"], self.setup.n_envs, kwargs)
        if not own:
            return NativeVecEnv(env)
        size = self.request["past_selves"]
        return SelfPlayEnv(env, self._player, size=size)

    def make_curve(self, *, every: int, path: Path) -> CurveCallback:
        return ReturnCallback(every=every, path=path)

    def save(self, folder: Path, model: BaseAlgorithm, origin: dict[str, Any]) -> dict[str, Any]:
        for name, mode in zip(_NETWORKS, (False, True), strict=True):
            save_network(folder / name, self._player(model, mode=mode), origin)
        return {}

    def read(self, folder: Path, result: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "networks": tuple(load_network(folder / name) for name in _NETWORKS),
            "curve": read_curve(folder / "curve.csv", self.point),
        }

    def _player(self, model: BaseAlgorithm, *, mode: bool = False) -> NetworkPlayer:
        """Return a learner as a player that needs no torch."""
        name = f"{self.name} (mode)" if mode else self.name
        return network_player(model, observation=self.observation, mode=mode, name=name)
