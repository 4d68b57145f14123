"""Policies on the table of a drive as football's own solver scores them."""

import numpy as np

from solvent.games.football.solver.backup import Strategies, backup_of
from solvent.games.football.solver.solved import FootballTable
from solvent.model import TabularPolicy


def strategies_of(football: FootballTable, policy: TabularPolicy) -> Strategies:
    """Return a policy as strategies; uniform where the table has no state, and no penalty taken."""
    found = backup_of(football.rules).uniform
    found.choices[:] = 0.0
    for states, columns, part in football.parts(found, policy.player):
        part[football.situation[states]] = policy.probabilities[np.ix_(states, columns)]
    chosen = football.choices_of(policy.player)
    taken = policy.probabilities[chosen, football.strategy.actions[policy.player].choice]
    found.choices[football.situation[chosen], football.choice[chosen]] = taken
    return found
