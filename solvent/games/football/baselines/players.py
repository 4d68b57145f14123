"""Policies for Football Strategy, made of strategies over the calls in every situation.

``optimal``
    The equilibrium, by the kernels of :mod:`solvent.games.football.solver` instead of the general
    solver, which gives the same value but takes several times as long.
``paper-agent``
    McCulloch's agent (:mod:`solvent.games.football.baselines.agent`).
``fitted-agent``
    The same with constants fitted to the exact values
    (:mod:`solvent.games.football.baselines.fit`).
``run-heavy``, ``pass-heavy``, ``tendencies``
    Players with habits (:mod:`solvent.games.football.baselines.habits`).

All but the first kick off in the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from solvent.baselines.baseline import Baseline
from solvent.baselines.generic import optimal
from solvent.exact import policy_value
from solvent.exact.evaluation import expectation
from solvent.games.football.baselines.agent import agent_strategies
from solvent.games.football.baselines.fit import fitted_strategies
from solvent.games.football.baselines.habits import habit_strategies, run_or_pass_strategies
from solvent.games.football.packed import PackedRules
from solvent.games.football.solver.responses import Strategies
from solvent.games.football.solver.solved import solve_football
from solvent.games.football.solver.table import football_table
from solvent.model import TabularGame, TabularPolicy

Maker: TypeAlias = Callable[[PackedRules], Strategies]

STRATEGIES: Mapping[str, Maker] = {
    "paper-agent": agent_strategies,
    "fitted-agent": fitted_strategies,
    "run-heavy": partial(run_or_pass_strategies, 0.8),
    "pass-heavy": partial(run_or_pass_strategies, 0.2),
    "tendencies": habit_strategies,
}
"""Baselines by name, the optimum apart."""

LARGEST_MISS = 1e-7
"""Points that a player may gain by a single deviation from what counts as an equilibrium."""


def suits_football(game: TabularGame, player: int = 0) -> bool:
    """Whether a game is a table of Football Strategy whose rules are known from its parameters.

    Args:
        game: Any table.
        player: Either; both have all policies.
    """
    try:
        football_table(game)
    except (ValueError, OSError):
        return False
    return True


def football_policy(name: str, game: TabularGame, player: int = 0) -> TabularPolicy:
    """One of :data:`STRATEGIES` as a policy of either player."""
    table = football_table(game)
    return table.policy(STRATEGIES[name](table.rules), player, name=name)


_solved: WeakKeyDictionary[TabularGame, tuple[TabularPolicy, TabularPolicy]] = WeakKeyDictionary()


def optimal_football(game: TabularGame, player: int = 0) -> TabularPolicy:
    """An equilibrium's policy, by the kernels if these are for the table. A game is solved once.

    They are not for a single play, nor for a table whose parameters do not say all of what it is
    or whose kickoff has not its own value, nor for one into which a side's policy is folded; and
    there are charts on which they prove nothing.

    Args:
        game: A table of Football Strategy.
        player: 0 or 1.
    """
    folded = any(mask.shape[1] == 1 for mask in game.mask)
    if folded or not suits_football(game):
        return optimal(game, player)
    if game not in _solved:
        table = football_table(game)
        solved = solve_football(table.strategy)
        if solved is None:
            return optimal(game, player)
        first, second = (
            table.policy(solved.strategies, p, name="optimal", kick=solved.kick) for p in (0, 1)
        )
        if not largest_miss(game, first, second) <= LARGEST_MISS:
            return optimal(game, player)
        _solved[game] = first, second
    return _solved[game][player]


def largest_miss(game: TabularGame, first: TabularPolicy, second: TabularPolicy) -> float:
    """The most that one deviation in one state gains against both players' policies."""
    values = policy_value(game, first, second)
    row_value = expectation(game, values)
    miss = 0.0
    for player, other, sign in ((0, second, 1), (1, first, -1)):
        width = game.mask[player].shape[1]
        cell = game.row_state * width + game.row_action[player]
        weight = other.probabilities[game.row_state, game.row_action[other.player]]
        gains = np.bincount(cell, weight * row_value, minlength=game.n_states * width)
        better = sign * (gains.reshape(-1, width) - values[:, None])
        miss = max(miss, float(better[game.mask[player]].max()))
    return miss


def _any_table(game: TabularGame, player: int) -> bool:
    return True


BASELINES: Mapping[str, Baseline] = {
    "optimal": Baseline(optimal_football, _any_table, "An equilibrium, by the exact solver."),
    **{
        name: Baseline(partial(football_policy, name), suits_football, description)
        for name, description in {
            "paper-agent": "McCulloch's agent (2015): its calls solve a matrix game of yards.",
            "fitted-agent": "McCulloch's agent with constants fitted to the exact values.",
            "run-heavy": "Calls a run in 80% of normal downs.",
            "pass-heavy": "Calls a run in 20% of normal downs.",
            "tendencies": "Follows a coach's habits by down and distance.",
        }.items()
    },
}
