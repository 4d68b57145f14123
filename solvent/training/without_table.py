"""Trainings in games that are too large for a table: policies are networks.

Nothing in such a training needs all states. It learns in a native vector environment, in a game for
two against an opponent, or against snapshots of itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.baselines.network import NetworkPlayer, load_network, save_network
from solvent.benchmark.privilege import IMPORTANCE
from solvent.exact.learning_curve import read_curve
from solvent.model.parameters import shown
from solvent.training.callback import CurveCallback, ReturnCallback, ReturnSoFar
from solvent.training.environments import make_registered_env, players_of
from solvent.training.extract import network_player
from solvent.training.learning import Training, TrainingRequest
from solvent.training.snapshots import NetworkSelfPlayEnv
from solvent.training.vec_env import NativeVecEnv

FILES = ("network.npz", "network_mode.npz")
"""Of the network as it is sampled, and as it is greedy."""


class WithoutTable(Training):
    """One network for whichever seats the environment gives it."""

    def __init__(self, asked: TrainingRequest) -> None:
        super().__init__(asked)
        assert isinstance(asked.game, str)
        if asked.exploring_starts or asked.start_weights == IMPORTANCE:
            raise ValueError(
                f"exploring_starts is {shown(asked.exploring_starts)}, drawn by "
                f"{asked.start_weights}; {asked.game} has no table, so that every episode begins "
                f"as the game does"
            )
        self.players = players_of(asked.game)
        if asked.self_play and self.players == 1:
            raise ValueError(f"{asked.game} is a game for one; self-play needs one for two")
        seat = {"seat": "random"} if self.players == 2 else {}
        kwargs = {**seat, **asked.env_kwargs}
        if asked.self_play:
            kwargs["opponent"] = "self-play"
        self.title = f"{asked.game} {asked.record['algorithm']}"
        self.request = {
            **asked.record,
            "environment": asked.game,
            "env_kwargs": kwargs,
            "past_selves": 5 if asked.snapshots is None else asked.snapshots,
            "refresh": 100_000 if asked.refresh is None else asked.refresh,
            "evaluations": 20 if asked.evaluations is None else asked.evaluations,
        }
        if self.request["past_selves"] == 0:
            raise ValueError("snapshots is 0; a game without a table needs at least 1")
        # Earlier records do not have it.
        if asked.latest is not None:
            self.request["latest"] = asked.latest

    def make_env(self) -> NativeVecEnv:
        kwargs = self.request["env_kwargs"]
        if self.asked.self_play:
            # Snapshots take the place of the uniform opponent.
            kwargs = {**kwargs, "opponent": "uniform"}
        env = self._env = make_registered_env(
            self.request["environment"], self.asked.setup.n_envs, kwargs
        )
        if not self.asked.self_play:
            return NativeVecEnv(env)
        return NetworkSelfPlayEnv(
            env, self._player, size=self.request["past_selves"], latest=self.request.get("latest")
        )

    def make_curve(self, venv: NativeVecEnv, *, every: int, path: Path) -> CurveCallback:
        return ReturnCallback(every=every, path=path)

    def save(
        self, folder: Path, model: BaseAlgorithm, venv: NativeVecEnv, origin: dict[str, Any]
    ) -> dict[str, Any]:
        for name, mode in zip(FILES, (False, True), strict=True):
            save_network(folder / name, self._player(model, mode=mode), origin)
        return {}

    def read(self, folder: Path, result: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "networks": tuple(load_network(folder / name) for name in FILES),
            "curve": read_curve(folder / "curve.csv", ReturnSoFar),
        }

    def _player(self, model: BaseAlgorithm, *, mode: bool = False) -> NetworkPlayer:
        """A learner as a player that needs no torch."""
        name = f"{self.request['algorithm']} {self.request['seed']}" + (" (mode)" if mode else "")
        return network_player(
            model,
            masked=self.asked.algorithm.masked,
            observation=self.request["env_kwargs"]["observation"],
            mode=mode,
            name=name,
        )
