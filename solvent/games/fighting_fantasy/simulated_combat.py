"""How often combats are won when they are fought, for comparison with formulas and solvers.

Johnston 2022 sets 1,000 simulated combats beside each value of equations 6 and 13 (figures 1 and
2). Here they are fought in the vector environment of the game, by a rule of thumb.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np

from solvent.envs import TabularVectorEnv
from solvent.games.fighting_fantasy.baselines import combat_policy
from solvent.games.fighting_fantasy.rules import Combat, FightingFantasy
from solvent.model import compile_game


class Start(NamedTuple):
    """The statistics with which a combat begins."""

    difference: int
    hero: int
    opponent: int
    luck: int


class Tally(NamedTuple):
    """Combats from one start: how many were fought, and their scores added up."""

    fought: int
    score: float

    @property
    def mean(self) -> float:
        """The mean score, which is the share of victories unless what is kept counts."""
        return self.score / self.fought


def simulate(
    game: FightingFantasy, rule: str, combats: int, seed: int, *, num_envs: int = 1000
) -> Mapping[Start, Tally]:
    """Fight combats, each to its end, and count by start.

    Args:
        game: The combats; starts are drawn from its distribution.
        rule: When LUCK is tested, a name of :data:`solvent.games.fighting_fantasy.baselines.RULES`.
        combats: How many in each environment. All fight as many, however long they take, so that
            short combats are not counted more often.
        seed: Of all dice.
        num_envs: How many environments are stepped together.
    """
    table = compile_game(game)
    tests = combat_policy(rule, table).probabilities.argmax(axis=1)
    env = TabularVectorEnv(table, num_envs, rules=game, observation="index")
    fought, score = np.zeros(table.n_states, np.int64), np.zeros(table.n_states)
    left = np.full(num_envs, combats)
    state, _ = env.reset(seed=seed)
    begun, begins = state, np.zeros(num_envs, np.bool_)
    while left.any():
        state, reward, over, _, _ = env.step(tests[state])
        begun = np.where(begins, state, begun)
        counted = left > 0
        np.add.at(score, begun[counted], reward[counted])
        np.add.at(fought, begun[counted & over], 1)
        left -= counted & over
        begins = over
    env.close()
    tally: dict[Start, Tally] = {}
    for s in np.flatnonzero(fought).tolist():
        start = Start(*cast(Combat, table.states[s])[:4])
        so_far = tally.get(start, Tally(0, 0.0))
        tally[start] = Tally(so_far.fought + int(fought[s]), so_far.score + float(score[s]))
    return tally
