"""The tabular learners as a benchmark runs them: no network, and no table but to draw from."""

from __future__ import annotations

from solvent.baselines.minimax_q import MinimaxQ
from solvent.baselines.q_learning import QLearning
from solvent.benchmark.algorithms import Algorithm, Budget, MakeEnv
from solvent.benchmark.run import RunCallback
from solvent.model import TabularPolicy

EVALUATIONS = 20
"""How many points a learning curve has."""


def learn_q(
    make: MakeEnv, seed: int, budget: Budget, callback: RunCallback, evaluations: int = EVALUATIONS
) -> TabularPolicy:
    """Tabular Q-learning (:mod:`solvent.baselines.q_learning`)."""
    learner = QLearning(make.simulator, make.player, seed=seed)
    for done in _points(budget.timesteps, evaluations):
        learner.learn(done - learner.moves)
        callback(learner.policy(), done)
    return learner.policy()


def learn_minimax_q(
    make: MakeEnv,
    seed: int,
    budget: Budget,
    callback: RunCallback,
    evaluations: int = EVALUATIONS,
    exploration: float = 0.001,
) -> tuple[TabularPolicy, ...]:
    """Minimax-Q (:mod:`solvent.baselines.minimax_q`) for both seats.

    A little exploration stays in the policies that are scored, so that episodes end.
    """
    learner = MinimaxQ(make.simulator, seed=seed)

    def policies() -> tuple[TabularPolicy, ...]:
        return tuple(learner.policy(player, exploration=exploration) for player in (0, 1))

    for done in _points(budget.timesteps, evaluations):
        learner.learn(done - learner.moves)
        callback(policies(), done)
    return policies()


def _points(timesteps: int, evaluations: int) -> list[int]:
    """The steps at which there is a point of the learning curve."""
    points = {max(1, timesteps * k // evaluations) for k in range(1, evaluations + 1)}
    return sorted(points)


Q_LEARNING = Algorithm(learn_q, observation="index")
MINIMAX_Q = Algorithm(learn_minimax_q, one_seat=False, self_play=True, observation="index")
