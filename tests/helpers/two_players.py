"""Policies of many different probabilities, for tests of environments for two."""

import numpy as np

from solvent.model import TabularGame, TabularPolicy


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
