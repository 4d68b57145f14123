"""Measure the gain of a football player who finds out the other side's tendencies and answers them.

    python benchmarks/football_tendencies.py

prints, for both sides of a drive, the points per drive that a learner gets from the player with
``tendencies``, after so many drives.

The learner counts the other side's calls by class of situation (:func:`situation_classes`: down and
distance) and takes them for draws from fixed frequencies, with a Dirichlet prior whose mean is
the equilibrium's strategy and whose weight is that of a few calls. In a situation, calls that are
not legal there are left out of the counts of its class. The best response to the estimated
frequencies is exact (:func:`solvent.games.football.solver.backup.respond`).

A best response to an estimate can itself be exploited. `trust` weighs it call by call with the
equilibrium: 1 answers the estimate in full, 0 never leaves the equilibrium.
"""

import numpy as np
from football_policies import strategies_of
from numba import njit

from solvent.baselines.q_learning import draw_outcome, draw_start, draw_weighted
from solvent.baselines.stage_games import by_rank
from solvent.exact import best_response, policy_value
from solvent.exact.compilation import Transitions, transitions_of
from solvent.games.football.baselines import habit_strategies, situation_classes
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import (
    BY_VALUE,
    FootballLosses,
    Strategies,
    against_defence,
    against_offence,
    backup_of,
    offence_view,
    respond,
)
from solvent.games.football.solver.points import solve_points
from solvent.games.football.solver.solved import FootballTable, solve_football
from solvent.model import TabularPolicy, compile_game
from solvent.model.arrays import Bools, Floats, Ints

# Number of calls that the prior counts as, in every class.
PRIOR_CALLS = 10.0

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
    """

    def __init__(
        self, table: FootballTable, opponent: TabularPolicy, *, trust: float = 1.0, seed: int = 0
    ) -> None:
        self.table, self.opponent, self.trust = table, opponent, trust
        self.player = 1 - opponent.player
        down, distance = situation_classes(table.rules)
        punting = table.rules.situation[:, 3].astype(np.int64)
        self._class = (down + punting) * DISTANCES + distance
        solved = solve_football(table.strategy)
        assert solved is not None
        self._equilibrium = solved.strategies
        known = self._equilibrium[opponent.player]
        self.calls = np.zeros((int(self._class.max()) + 1, known.shape[1]))
        self.drives = 0
        self._random = np.random.default_rng(seed)

    def watch(self, drives: int) -> None:
        """Play so many drives with the present policy, and count the other side's calls."""
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
        known = self._equilibrium
        estimate = self.estimate()
        theirs = (estimate, known.defence) if self.player else (known.offence, estimate)
        # The other side's choices are not counted: it is taken to make them by value.
        by_value = np.full(known.choices.shape, BY_VALUE)
        rules = self.table.rules
        points, player = self.table.strategy.loaded_points, self.player
        response = respond(rules, points, Strategies(*theirs, by_value), player)
        backup, safe = backup_of(rules), known[player]
        results, made = backup.results(offence_view(response.view, player))
        payoffs = backup.payoffs(results)
        values = -against_offence(payoffs, estimate)
        if player == 0:
            values = np.where(rules.legal, against_defence(payoffs, estimate), -np.inf)
        answer = np.eye(safe.shape[1])[values.argmax(axis=1)]
        strategy = self.trust * answer + (1 - self.trust) * safe
        choices = self.trust * made + (1 - self.trust) * known.choices
        both = (
            (strategy, self._equilibrium.defence)
            if self.player == 0
            else (self._equilibrium.offence, strategy)
        )
        return self.table.policy(Strategies(*both, choices), self.player, name="tendency-learner")


@njit
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


def main() -> None:
    strategy = FootballStrategy("standard")
    football = FootballTable.of(compile_game(strategy), strategy)
    rules = football.rules
    solution = solve_points(rules)
    losses = FootballLosses(rules, solution.expected_points(rules), solution.values)
    start = rules.index(Situation(1, 10, 80))
    for player, side in enumerate(("offence", "defence")):
        opponent = football.policy(habit_strategies(rules), 1 - player)

        def value(policy: TabularPolicy, opponent: TabularPolicy = opponent) -> float:
            pair = sorted((policy, opponent), key=lambda one: one.player)
            gain = football.game.at_start(policy_value(football.game, *pair))
            return gain if policy.player == 0 else -gain

        print(f"as {side}")
        safe = TendencyLearner(football, opponent, trust=0).policy()
        print(f"  the equilibrium      {value(safe):6.2f}")
        learner = TendencyLearner(football, opponent)
        for drives in (10, 100, 1000, 10000):
            learner.watch(drives - learner.drives)
            print(f"  after {drives:6,} drives  {value(learner.policy()):6.2f}")
        best = (1 - 2 * player) * best_response(football.game, opponent).value
        print(f"  the best response    {best:6.2f}")
        for trust in (0.1, 0.5):
            careful = TendencyLearner(football, opponent, trust=trust)
            careful.watch(1000)
            policy = careful.policy()
            lost = (losses.of_defence if player else losses.of_offence)(
                strategies_of(football, policy)
            )
            print(
                f"  trust {trust}            {value(policy):6.2f}, exploitable by {lost[start]:.2f}"
            )


if __name__ == "__main__":
    main()
