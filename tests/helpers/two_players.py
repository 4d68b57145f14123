"""Policies and a game in which everything shows, for tests of environments for two."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from solvent.model import GameInfo, Outcome, TabularGame, TabularPolicy


def random_policy(game: TabularGame, player: int, seed: int) -> TabularPolicy:
    """A policy with many different probabilities, and some that are 0."""
    rng = np.random.default_rng(seed)
    mask = game.mask[player]
    weights = rng.random(mask.shape) * (rng.random(mask.shape) < 0.8) * mask
    lowest = mask.argmax(axis=1)
    weights[np.arange(len(mask)), lowest] += 0.1 * mask.any(axis=1)
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    return TabularPolicy.of(game, weights / total, player=player, name=f"random-{seed}")


def random_pool(game: TabularGame, size: int) -> list[tuple[TabularPolicy, TabularPolicy]]:
    """Opponents that can take either seat."""
    return [(random_policy(game, 0, 2 * k), random_policy(game, 1, 2 * k + 1)) for k in range(size)]


@dataclass(frozen=True)
class OneShot:
    """Both players choose one of four actions at once, and the end tells what they chose."""

    @property
    def info(self) -> GameInfo:
        return GameInfo(
            name="one-shot",
            players=2,
            actions=(tuple("abcd"),) * 2,
            acyclic=True,
            reward_range=(-3.0, 3.0),
            sources=("made up",),
            observation_labels=("mine", "other"),
        )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), (-1, -1)),)

    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        return (0, 1, 3), (0, 1, 2, 3)

    def transition(self, state: Any, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), joint_action, joint_action[0] - joint_action[1]),)

    def is_terminal(self, state: Any) -> bool:
        return bool(state[0] >= 0)

    def observe(self, state: Any, player: int) -> Any:
        return np.array([state[player] / 4, state[1 - player] / 4], np.float32)

    def draw(self, state: Any) -> str:
        return str(state)
