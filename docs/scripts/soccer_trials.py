"""The trials of soccer on the page on games for two.

    python docs/scripts/soccer_trials.py

prints the rows of its tables. Many policies are optimal, and they do not all win as often and as
soon; the range over all of them is found by policy iteration on a ratio of two expected counts.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from solvent import best_response, compile_game, make_game, policy_value, solve
from solvent.exact import state_visitation
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats

WON, LOST, STEPS = np.eye(3)
"""Unit vectors that count the goals of player 0, those of player 1, and the steps."""


def maximin_corners(payoffs: Floats, value: float) -> Floats:
    """[V, A] the corners of the set of all maximin strategies of a matrix with a value."""
    size = len(payoffs)
    sides = np.concatenate((np.eye(size), payoffs.T))
    least = np.concatenate((np.zeros(size), np.full(payoffs.shape[1], value)))
    met = np.array(list(combinations(range(len(sides)), size - 1)))
    systems = np.concatenate((sides[met], np.ones((len(met), 1, size))), axis=1)
    known = np.concatenate((least[met], np.ones((len(met), 1))), axis=1)
    regular = np.abs(np.linalg.det(systems)) > 1e-9
    points = np.linalg.solve(systems[regular], known[regular][..., None])[..., 0]
    inside = points[(points @ sides.T >= least - 1e-9).all(axis=1)]
    return np.unique(inside.round(9), axis=0)


class Counts:
    """Episodes of a game in which player 0 chooses against a fixed policy.

    Args:
        table: The game; every action is legal everywhere, and a reward is a goal.
        opponent: The policy of player 1.
    """

    def __init__(self, table: TabularGame, opponent: TabularPolicy) -> None:
        self.live = np.flatnonzero(~table.terminal)
        place = np.full(table.n_states, -1)
        place[self.live] = np.arange(len(self.live))
        rows = np.repeat(np.arange(table.n_rows), np.diff(table.outcome_start))
        state, own = table.row_state[rows], table.row_action[0][rows]
        chance = table.probability * opponent.probabilities[state, table.row_action[1][rows]]
        shape = len(self.live), table.mask[0].shape[1]
        self.next = np.zeros((*shape, table.n_states))
        np.add.at(self.next, (place[state], own, table.next_state), chance)
        self.next = self.next[:, :, self.live]
        self.counted = np.zeros((*shape, 3))
        self.counted[:, :, 2] = 1
        for kind, sign in enumerate((1, -1)):
            goal = chance * (table.outcome_reward * sign > 0)
            np.add.at(self.counted[:, :, kind], (place[state], own), goal)
        self.start = table.initial[self.live]

    def totals(self, strategies: Floats) -> Floats:
        """[S, 3] the expected counts from each state on; `strategies` is [S, A]."""
        move = (strategies[:, None] @ self.next)[:, 0]
        now = (strategies[:, None] @ self.counted)[:, 0]
        return np.asarray(np.linalg.solve(np.eye(len(move)) - move, now))

    def extreme(self, corners: Sequence[Floats], top: Floats, bottom: Floats, sign: int) -> float:
        """The largest (`sign` 1) or least (-1) ratio of two sums of counts.

        Args:
            corners: [V, A] of each state, the corners of its optimal choices.
            top: The weights of the numerator.
            bottom: Those of the denominator.
            sign: 1 or -1.
        """
        every = np.concatenate(corners)
        state = np.repeat(np.arange(len(corners)), [len(one) for one in corners])
        first = np.searchsorted(state, np.arange(len(corners)))
        chosen, ratio = first, np.inf
        while True:
            totals = self.totals(every[chosen])
            begun = self.start @ totals
            before, ratio = ratio, float((begun @ top) / (begun @ bottom))
            gain = sign * (top - ratio * bottom)
            value = (every * ((self.counted + self.next @ totals) @ gain)[state]).sum(axis=1)
            better = np.maximum.reduceat(value, first) > value[chosen] + 1e-13
            if not better.any() or abs(ratio - before) < 1e-14:
                return ratio
            ranked = np.lexsort((-value, state))
            chosen = np.where(better, ranked[first], chosen)


def odds(game: TabularGame, first: TabularPolicy, second: TabularPolicy) -> tuple[float, float]:
    """The share of decided games that are won, and how many are decided in 100,000 steps."""
    chances = []
    for sign in (1, -1):
        counted = replace(game, outcome_reward=1.0 * (game.outcome_reward * sign > 0))
        both = [
            TabularPolicy.of(counted, policy.probabilities, player=k)
            for k, policy in enumerate((first, second))
        ]
        chances.append(counted.at_start(policy_value(counted, *both)))
    steps = float(state_visitation(game, first, second)[~game.terminal].sum())
    return chances[0] / sum(chances), 1e5 * sum(chances) / steps


class Trials:
    """The policies of the trials, and the corners of all optimal choices in each state."""

    def __init__(self) -> None:
        self.table = compile_game(make_game("soccer"))
        solution = solve(self.table)
        live = ~self.table.terminal
        self.random = TabularPolicy.uniform(self.table, player=1)
        self.optimum = solution.policies[0]
        self.response = best_response(self.table, self.random).policies[0]
        self.episodes = Counts(self.table, self.random)
        matrices = solution.action_values.reshape(-1, 5, 5)
        self.optimal = list(map(maximin_corners, matrices, solution.values[live]))
        after = np.zeros((self.table.n_states, 3))
        after[live] = self.episodes.totals(self.response.probabilities[live])
        goals = (self.episodes.counted + self.episodes.next @ after[live]) @ (WON - LOST)
        self.responses = [np.eye(5)[values >= values.max() - 1e-9] for values in goals]

    def printed(self, corners: Sequence[Floats]) -> list[str]:
        """Return the share of games won and the games decided in 100,000 steps, as ranges.

        Args:
            corners: [V, A] of each state, the corners of the choices.
        """
        played = WON + LOST
        shares = [self.episodes.extreme(corners, WON, played, sign) for sign in (-1, 1)]
        counts = [self.episodes.extreme(corners, 1e5 * played, STEPS, sign) for sign in (-1, 1)]
        texts = [f"{share:.2%}" for share in shares], [f"{count:,.0f}" for count in counts]
        return [" to ".join(dict.fromkeys(pair)) for pair in texts]

    def challenged(self) -> str:
        """Return the share of games that our optimal policy wins against its best response."""
        other = best_response(self.table, self.optimum).policies[1]
        return f"{odds(self.table, self.optimum, other)[0]:.2%}"


if __name__ == "__main__":
    trials = Trials()
    print("optimal:", *trials.printed(trials.optimal))
    print("best responses:", *trials.printed(trials.responses))
    print("against the best response:", trials.challenged())
