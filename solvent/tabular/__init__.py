"""The algorithms of the textbooks, written to be read.

Each algorithm is a generator that yields its estimates (:class:`Estimate`) after each sweep,
episode or round, so that you can watch it, stop it, and measure it exactly (:func:`curves`). Each
takes at most a page and reads like the box in its book or paper, in plain NumPy; the steps of
fictitious play, regret matching and mirror descent are in :mod:`solvent.baselines.stage_games`.
"""

from solvent.tabular.bandits import Bandit, gradient_bandit, simple_bandit, ucb
from solvent.tabular.dynamic_programming import (
    lookahead,
    modified_policy_iteration,
    policy_evaluation,
    policy_iteration,
    value_iteration,
)
from solvent.tabular.exact_curves import Curves, curves, measure
from solvent.tabular.interface import Estimate, draw, epsilon_greedy, sample_average, softmax
from solvent.tabular.monte_carlo import (
    importance_sampling,
    monte_carlo_control,
    monte_carlo_prediction,
    off_policy_control,
    off_policy_prediction,
    reinforce,
)
from solvent.tabular.registry import ALGORITHMS, TabularAlgorithm
from solvent.tabular.temporal_difference import (
    double_q_learning,
    dyna_q,
    expected_sarsa,
    n_step_sarsa,
    n_step_td,
    q_learning,
    sarsa,
    sarsa_lambda,
    td,
    td_lambda,
)
from solvent.tabular.two_players import (
    fictitious_play,
    matrix_game,
    minimax_q,
    mirror_descent,
    regret_matching,
    regret_matching_plus,
    replicator_dynamics,
    shapley_iteration,
)

__all__ = [
    "ALGORITHMS",
    "Bandit",
    "Curves",
    "Estimate",
    "TabularAlgorithm",
    "curves",
    "double_q_learning",
    "draw",
    "dyna_q",
    "epsilon_greedy",
    "expected_sarsa",
    "fictitious_play",
    "gradient_bandit",
    "importance_sampling",
    "lookahead",
    "matrix_game",
    "measure",
    "minimax_q",
    "mirror_descent",
    "modified_policy_iteration",
    "monte_carlo_control",
    "monte_carlo_prediction",
    "n_step_sarsa",
    "n_step_td",
    "off_policy_control",
    "off_policy_prediction",
    "policy_evaluation",
    "policy_iteration",
    "q_learning",
    "regret_matching",
    "regret_matching_plus",
    "reinforce",
    "replicator_dynamics",
    "sample_average",
    "sarsa",
    "sarsa_lambda",
    "shapley_iteration",
    "simple_bandit",
    "softmax",
    "td",
    "td_lambda",
    "ucb",
    "value_iteration",
]
