"""A model that was learned from samples: certainty equivalence.

Every legal joint action of every state is tried equally often, and the frequencies of what followed
are taken for the probabilities. A policy that is computed for the learned model, by whatever
method, is then scored in the game. There is no network, no exploration and nothing to tune: this is
what samples alone allow, given a simulator that can be put into any state. K. Zhang, S. Kakade,
T. Basar and L. Yang, "Model-Based Multi-Agent RL in Zero-Sum Markov Games with Near-Optimal Sample
Complexity", NeurIPS 2020, bound how many samples it needs in discounted games.
"""

from dataclasses import replace

import numpy as np

from solvent.model import TabularGame
from solvent.model.parameters import check_integer


def learned_model(game: TabularGame, samples: int, *, seed: int = 0) -> TabularGame:
    """Return the game with frequencies in place of probabilities.

    Args:
        game: The game that is sampled.
        samples: Number of samples of each legal joint action of each state, at least 1; in all,
            ``game.n_rows`` times as many.
        seed: Seed of the samples. Equal seeds give equal models.

    Returns:
        A table of the same states and actions. Its policies are for this model; give their
        probabilities to ``TabularPolicy.of(game, ...)`` to score them in `game`.

    Raises:
        ValueError: If `samples` is no whole number, or not positive.
    """
    check_integer(samples, "samples", 1, 10**9)
    random = np.random.default_rng(seed)
    count = np.zeros(len(game.probability))
    # A row's counts are multinomial. They are drawn outcome by outcome, each given those before.
    at, left, mass = game.outcome_start[:-1], np.full(game.n_rows, samples), np.ones(game.n_rows)
    last = game.outcome_start[1:] - 1
    while len(at):
        chance = game.probability[at]
        share = np.where(at < last, np.clip(chance / mass, 0, 1), 1)
        count[at] = drawn = random.binomial(left, share)
        left, mass = left - drawn, mass - chance
        more = left > 0
        at, last, left, mass = at[more] + 1, last[more], left[more], mass[more]
    return replace(game, probability=count / samples)
