"""A football player who finds out the other side's tendencies and answers them.

It counts the other side's calls by class of situation (:func:`situation_classes`: down and
distance) and takes them for draws from fixed frequencies, with a Dirichlet prior whose mean is
the equilibrium's strategy and whose weight is that of a few calls. In a situation, calls that are
not legal there are left out of the counts of its class. The best response to the estimated
frequencies is exact (:func:`solvent.games.football.solver.best_response_drive`).

A best response to an estimate can itself be exploited. `trust` weighs it call by call with the
equilibrium: 1 answers the estimate in full, 0 never leaves the equilibrium.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvent.baselines.sampling import by_rank, draw_outcome, draw_start, draw_weighted
from solvent.exact.transitions import Transitions, transitions_of
from solvent.games.football.baselines.habits import situation_classes
from solvent.games.football.solver import best_response_drive
from solvent.games.football.solver.responses import Strategies, one_hot
from solvent.games.football.solver.solved import solved_by_kernels
from solvent.games.football.solver.table import FootballTable
from solvent.model import TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_integer, shown

PRIOR_CALLS = 10.0
"""How many calls the prior counts as, in every class."""

DISTANCES = 3


class TendencyLearner:
    """One side of a drive, learning from the calls of the other.

    Args:
        table: Of a drive.
        opponent: The other side's policy. Only its calls are seen.
        trust: How much of the answer to the estimate is played, from 0 to 1.
        seed: Of the drives.

    Attributes:
        calls: [classes, A] how often the opponent made each call; on the last down in punt
            formation it is a class of its own.
        drives: How many have been seen.

    Raises:
        ValueError: If `trust` is out of range, or the table is not one of a drive.
    """

    def __init__(
        self, table: FootballTable, opponent: TabularPolicy, *, trust: float = 1.0, seed: int = 0
    ) -> None:
        if not 0 <= trust <= 1:
            raise ValueError(f"trust is {shown(trust)}; allowed are numbers from 0 to 1")
        if table.strategy.form != "drive":
            raise ValueError(f"tendencies are learned in drives, not in {table.strategy.form!r}")
        opponent.check_is_for(table.game)
        self.table, self.opponent, self.trust = table, opponent, trust
        self.player = 1 - opponent.player
        down, distance = situation_classes(table.rules)
        punting = table.rules.situation[:, 3].astype(np.int64)
        self._class = (down + punting) * DISTANCES + distance
        self._equilibrium = solved_by_kernels(table.strategy).strategies
        known = self._equilibrium[opponent.player]
        self.calls = np.zeros((int(self._class.max()) + 1, known.shape[1]))
        self.drives = 0
        self._random = np.random.default_rng(seed)

    def watch(self, drives: int) -> None:
        """Play so many drives with the present policy, and count the other side's calls."""
        check_integer(drives, "drives", 1, 10**9)
        game, table = self.table.game, self.table
        pair = sorted((self.policy(), self.opponent), key=lambda policy: policy.player)
        strategies = [by_rank(p.probabilities, game.mask[p.player]) for p in pair]
        called = (table.situation >= 0) & (table.choice < 0)
        tally = np.zeros((game.n_states, strategies[self.opponent.player].shape[1]), np.int64)
        _watch(
            transitions_of(game), game.action_count[1], game.terminal, np.cumsum(game.initial),
            self._random, drives, self.opponent.player, strategies[0], strategies[1], tally,
        )  # fmt: skip
        for state in np.flatnonzero(called & tally.any(axis=1)).tolist():
            legal = np.flatnonzero(game.mask[self.opponent.player][state])
            kind = self._class[table.situation[state]]
            self.calls[kind, legal] += tally[state, : len(legal)]
        self.drives += drives

    def estimate(self) -> Floats:
        """The mean of the opponent's strategies after what was seen, [S, A] or [S, m]."""
        prior = self._equilibrium[self.opponent.player]
        legal = self.table.rules.legal if self.opponent.player == 0 else np.ones(1, bool)
        weight = PRIOR_CALLS * prior + self.calls[self._class] * legal
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def policy(self) -> TabularPolicy:
        """The best response to the estimate, as far as it is trusted."""
        name = "offence_strategy" if self.opponent.player == 0 else "defence_strategy"
        response = best_response_drive(
            self.table.rules, self.table.strategy.loaded_points, **{name: self.estimate()}
        )
        safe = self._equilibrium[self.player]
        answer = one_hot(response.actions, safe.shape[1])
        strategy = self.trust * answer + (1 - self.trust) * safe
        choices = self.trust * response.choices + (1 - self.trust) * self._equilibrium.choices
        both = (
            (strategy, self._equilibrium.defence)
            if self.player == 0
            else (self._equilibrium.offence, strategy)
        )
        return self.table.policy(Strategies(*both, choices), self.player, name="tendency-learner")


@njit(cache=True)
def _watch(
    transitions: Transitions,
    second_count: Ints,
    terminal: Bools,
    cumulative_start: Floats,
    random: np.random.Generator,
    plays: int,
    player: int,
    first_strategy: Floats,
    second_strategy: Floats,
    tally: Ints,
) -> None:
    """Add the actions that a player makes in so many plays to its tally, [S, most] by rank."""
    row_start, outcome_start, next_state, probability = transitions
    for _ in range(plays):
        state = draw_start(cumulative_start, random.random())
        while not terminal[state]:
            a = draw_weighted(first_strategy[state], random.random())
            b = draw_weighted(second_strategy[state], random.random())
            tally[state, a if player == 0 else b] += 1
            row = row_start[state] + a * second_count[state] + b
            outcome = draw_outcome(outcome_start, probability, row, random.random())
            state = next_state[outcome]
