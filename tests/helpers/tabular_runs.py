"""Small games for the algorithms of ``solvent.tabular``, and runs of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from random_games import RandomGame

from solvent.envs import Env
from solvent.model import GameInfo, Outcome, TabularGame, compile_game
from solvent.model.gymnasium_table import GymnasiumTable
from solvent.tabular import Estimate

ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def random_table(seed: int, kind: str = "single", *, cyclic: bool = True) -> TabularGame:
    return compile_game(RandomGame(seed, kind, cyclic=cyclic))


def environment(game: TabularGame) -> Env:
    """In which an action that is not legal is an error."""
    return Env(game, observation="index", illegal="raise")


def after(estimates: Iterator[Estimate], n: int) -> Estimate:
    """What an algorithm knows after so many sweeps or episodes."""
    return next(islice(estimates, n - 1, None))


@dataclass(frozen=True)
class Finite:
    """A game for one that is written down: state -> action -> outcomes (p, next, reward)."""

    moves: dict[str, list[list[tuple[Fraction | int, str, Any]]]]
    start: str

    @property
    def info(self) -> GameInfo:
        return GameInfo(
            name="finite",
            players=1,
            actions=(tuple(map(str, range(max(map(len, self.moves.values()))))),),
            acyclic=False,
            reward_range=(-np.inf, np.inf),
            sources=(),
        )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), self.start),)

    def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
        return (tuple(range(len(self.moves[state]))),)

    def transition(self, state: str, joint_action: Sequence[int]) -> tuple[Outcome, ...]:
        return tuple(
            Outcome(Fraction(p), s, Fraction(r)) for p, s, r in self.moves[state][joint_action[0]]
        )

    def is_terminal(self, state: str) -> bool:
        return state not in self.moves

    def observe(self, state: str, player: int) -> Any:
        return np.zeros(1, np.float32)

    def draw(self, state: str) -> str:
        return state


def cliff() -> TabularGame:
    """The cliff of Example 6.6, as Gymnasium has it."""
    import gymnasium as gym

    return compile_game(GymnasiumTable.from_env(gym.make("CliffWalking-v1")))


def random_walk() -> TabularGame:
    """The random walk of Example 6.2: five states, and 1 at the right end."""
    half, names = Fraction(1, 2), ["left end", "A", "B", "C", "D", "E", "right end"]
    moves = {
        names[k]: [[(half, names[k - 1], 0), (half, names[k + 1], int(k == 5))]]
        for k in range(1, 6)
    }
    return compile_game(Finite(moves, "C"))
