"""Baseline policies for Football Strategy.

``optimal``
    The equilibrium, by :mod:`solvent.games.football.solver` instead of the general solver, which
    gives the same value but takes several times as long.
``paper-agent``
    McCulloch's agent (:mod:`solvent.games.football.baselines.agent`).
``fitted-agent``
    The same with constants fitted to the exact values.
``run-heavy``, ``pass-heavy``, ``tendencies``
    Players with habits (:mod:`solvent.games.football.baselines.agent`).

All but the first kick off in the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

from solvent.baselines import Baseline
from solvent.baselines.named import optimal
from solvent.games.football.baselines.agent import (
    agent_strategies,
    fitted_strategies,
    habit_strategies,
    run_or_pass_strategies,
)
from solvent.games.football.packed import PackedRules
from solvent.games.football.solver.backup import Strategies
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
"""Strategies of all baselines except ``optimal``, by name."""


def suits_football(game: TabularGame, player: int = 0) -> bool:
    """Return True for a table of Football Strategy whose rules are known from its parameters.

    Args:
        game: Any table.
        player: Either player; both have the same baselines.
    """
    return football_table(game) is not None


def football_policy(name: str, game: TabularGame, player: int = 0) -> TabularPolicy:
    """One of :data:`STRATEGIES` as a policy of either player."""
    table = football_table(game)
    assert table is not None
    return table.policy(STRATEGIES[name](table.rules), player, name=name)


_solved: WeakKeyDictionary[TabularGame, tuple[TabularPolicy, TabularPolicy]] = WeakKeyDictionary()


def optimal_football(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return a player's equilibrium policy, from football's own solver where it applies.

    The general solver is used instead for a single play, for two charts until the next score, for a
    kickoff value that is not the endless game's, for a table that is not determined by its
    parameters or in which one side's policy is already fixed, and where football's own solver
    cannot prove a bracket. Each table is solved once.

    Args:
        game: A table of Football Strategy.
        player: 0 or 1.
    """
    folded = any(mask.shape[1] == 1 for mask in game.mask)
    table = None if folded else football_table(game)
    if game not in _solved:
        solved = None if table is None else solve_football(table.strategy)
        if table is None or solved is None:
            return optimal(game, player)
        first, second = (
            table.policy(solved.strategies, p, name="optimal", kick=solved.kick) for p in (0, 1)
        )
        _solved[game] = first, second
    return _solved[game][player]


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
