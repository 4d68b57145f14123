"""A model that was learned from samples: certainty equivalence.

Every legal joint action of every state is tried equally often, and the frequencies of what followed
are taken for the probabilities. A policy that is computed for the learned model, by whatever
method, is then scored in the game. There is no network, no exploration and nothing to tune: this is
what samples alone allow, given a simulator that can be put into any state. K. Zhang, S. Kakade,
T. Basar and L. Yang, "Model-Based Multi-Agent RL in Zero-Sum Markov Games with Near-Optimal Sample
Complexity", NeurIPS 2020, bound how many samples it needs in discounted games.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from solvent.baselines.sampling import draw_outcome
from solvent.model import TabularGame
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import check_integer


def learned_model(game: TabularGame, samples: int, *, seed: int = 0) -> TabularGame:
    """The game with frequencies in place of probabilities.

    Args:
        game: That is sampled.
        samples: Of each legal joint action of each state, at least 1; in all, ``game.n_rows`` times
            as many.
        seed: Equal seeds give equal models.

    Returns:
        A table of the same states and actions. Its policies are for this model; give their
        probabilities to ``TabularPolicy.of(game, ...)`` to score them in `game`.

    Raises:
        ValueError: If `samples` is no whole number, or not positive.
    """
    check_integer(samples, "samples", 1, 10**9)
    random = np.random.default_rng(seed)
    count = _count(game.outcome_start, game.probability, samples, random)
    return replace(game, probability=count / samples)


@njit(cache=True)
def _count(
    outcome_start: Ints, probability: Floats, samples: int, random: np.random.Generator
) -> Floats:
    """How often each outcome is drawn, [N]."""
    count = np.zeros(len(probability))
    for row in range(len(outcome_start) - 1):
        for _ in range(samples):
            count[draw_outcome(outcome_start, probability, row, random.random())] += 1
    return count
