"""Tabular learners as algorithms of a benchmark.

Q-learning and Minimax-Q only draw episodes from the table. The learners of stage games
(:mod:`solvent.baselines.stage_games`) use the whole table in sweeps, which update each nonterminal
state once. Each update of a state counts as one timestep, and so does a move of Minimax-Q, which
updates one state. An update of Minimax-Q or in a sweep reads all joint actions of the state, so
equal budgets take different CPU times.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from solvent.baselines.q_learning import (
    EPSILON,
    EXPLORATION,
    STEP_SIZE_EXPONENT,
    MinimaxQ,
    QLearning,
)
from solvent.baselines.stage_games import (
    FictitiousPlay,
    MirrorDescentSweeps,
    RegretMatching,
    StageLearner,
)
from solvent.benchmark.algorithms import Algorithm, Budget, MakeEnv, RunCallback
from solvent.benchmark.suites import TaskGame
from solvent.model import TabularGame, TabularPolicy

# Number of points of a learning curve.
_EVALUATIONS = 20

Policies = TypeVar("Policies")


def learn_q(
    make: MakeEnv,
    seed: int,
    budget: Budget,
    callback: RunCallback,
    evaluations: int = _EVALUATIONS,
    epsilon: float = EPSILON,
    exponent: float = STEP_SIZE_EXPONENT,
    initial: float = 0.0,
) -> TabularPolicy:
    """Learn by tabular Q-learning (:mod:`solvent.baselines.q_learning`)."""
    learner = QLearning(
        make.simulator, make.player, seed=seed, epsilon=epsilon, exponent=exponent, initial=initial
    )
    return _learn(learner.learn, learner.policy, budget, callback, evaluations)


def learn_minimax_q(
    make: MakeEnv,
    seed: int,
    budget: Budget,
    callback: RunCallback,
    evaluations: int = _EVALUATIONS,
    exploration: float = 0.001,
    epsilon: float = EXPLORATION,
    exponent: float = STEP_SIZE_EXPONENT,
) -> tuple[TabularPolicy, ...]:
    """Learn by Minimax-Q (:mod:`solvent.baselines.q_learning`) for both seats.

    The policies that are scored explore a little, so that episodes end.
    """
    learner = MinimaxQ(make.simulator, seed=seed, epsilon=epsilon, exponent=exponent)
    policies = partial(_of_both, partial(learner.policy, exploration=exploration))
    return _learn(learner.learn, policies, budget, callback, evaluations)


def learn_by_sweeps(
    learner: Callable[[TabularGame], StageLearner],
    make: MakeEnv,
    seed: int,
    budget: Budget,
    callback: RunCallback,
    evaluations: int = _EVALUATIONS,
) -> tuple[TabularPolicy, ...]:
    """Run a learner of stage games for both seats, in whole sweeps, without random numbers."""
    learning, size = learner(make.table), _sweep_size(make.table)
    policies = partial(_of_both, learning.policy)
    return _learn(learning.learn, policies, budget, callback, evaluations, size)


def _of_both(policy: Callable[[int], TabularPolicy]) -> tuple[TabularPolicy, ...]:
    return policy(0), policy(1)


def _learn(
    learn: Callable[[int], None],
    policies: Callable[[], Policies],
    budget: Budget,
    callback: RunCallback,
    evaluations: int,
    size: int = 1,
) -> Policies:
    """Learn by moves or sweeps that take `size` timesteps each, and return the last policies."""
    total, done = budget.timesteps // size, 0
    for point in sorted({max(1, total * k // evaluations) for k in range(1, evaluations + 1)}):
        learn(point - done)
        done = point
        callback(policies(), done * size)
    return policies()


def _sweep_size(game: TabularGame) -> int:
    """Return the number of states that a sweep updates."""
    return int((~game.terminal).sum())


def _no_sweep(game: TaskGame) -> str | None:
    """Return why a task's budget is too small for one sweep; None if it is not."""
    size, steps = _sweep_size(game.table), game.task.timesteps
    if steps is None or steps >= size:
        return None
    return f"a sweep takes {size:,} timesteps; the budget has {steps:,}"


def _sweeping(learner: Callable[[TabularGame], StageLearner]) -> Algorithm:
    return Algorithm(
        partial(learn_by_sweeps, learner),
        one_seat=False,
        self_play=True,
        uses_model=True,
        observation="index",
        refuses=_no_sweep,
    )


Q_LEARNING = Algorithm(learn_q, masked=True, observation="index")
MINIMAX_Q = Algorithm(
    learn_minimax_q, one_seat=False, self_play=True, masked=True, observation="index"
)
REGRET_MATCHING = _sweeping(RegretMatching)
FICTITIOUS_PLAY = _sweeping(FictitiousPlay)
TABULAR_MIRROR_DESCENT = _sweeping(MirrorDescentSweeps)
