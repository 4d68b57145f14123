"""Strategy iteration on states that can lead back to one another.

Player 0 fixes a policy, player 1 answers with a best response found by policy iteration with
linear solves, and player 0 improves where that gives strictly more (Howard 1960, *Dynamic
Programming and Markov Processes*; Hoffman and Karp 1966, "On nonterminating stochastic games").

Strict improvement keeps policies proper. Suppose an improved policy could go round for ever in a
set of states without gain. Averaged over its stay there no value rises, so nothing was strictly
better there, so the old policy would have gone round as well. It did not.

Where both players choose, a policy from which play *can* end may be a bad start: the other player
may keep it from ending. If it does, player 0 starts again by giving up in every state, at a
price, and improves from that, as the simplex method starts with artificial variables. Nor is
player 1's answer to an optimal policy always optimal itself: if player 0 could hold it up, player
1's policy is found from its own side. Both sides have to arrive at the same values.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

from solvent.exact.certificate import TIGHT
from solvent.exact.matrix_game import solve_matrix_game
from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges, grouped_sum

TIE = 1e-13
"""Rows whose values differ by less than this, in units of the largest payoff, count as equal."""

PRICE = 1e6
"""What player 0 pays for giving up while it looks for a start, in units of the largest payoff."""

ROUNDS = 1000
"""Rounds of iteration before giving up; a few dozen are many."""

DENSE = 400
"""Components of up to so many states are solved with dense matrices."""


class Cycle:
    """Strategy iteration on one strongly connected component of n states and k rows.

    Player 0's policy is held as a weight per row (the probability of its action), player 1's as
    one action per state; the best response to a fixed policy need not mix.
    """

    def __init__(self, game: TabularGame, states: Ints, values: Floats) -> None:
        self.game, self.states, self.values = game, states, values
        row_count = game.row_start[states + 1] - game.row_start[states]
        self.rows = concatenated_ranges(game.row_start[states], row_count)
        outcome_count = game.outcome_start[self.rows + 1] - game.outcome_start[self.rows]
        outcomes = concatenated_ranges(game.outcome_start[self.rows], outcome_count)
        row = np.repeat(np.arange(len(self.rows)), outcome_count)
        # States of a component ascend, so a search finds their places without a map of all states.
        target = np.minimum(np.searchsorted(states, game.next_state[outcomes]), len(states) - 1)
        stays = states[target] == game.next_state[outcomes]
        # q = inside @ v + outside, for the values v of the component.
        self.edge_row, self.edge_target = row[stays], target[stays]
        self.inside = csr_array(
            (game.probability[outcomes][stays], (self.edge_row, self.edge_target)),
            shape=(len(self.rows), len(states)),
        )
        if len(states) <= DENSE:
            self.inside = self.inside.toarray()
        outer = np.where(stays, 0.0, values[game.next_state[outcomes]])
        self.outside = grouped_sum(
            row,
            game.probability[outcomes] * (game.outcome_reward[outcomes] + outer),
            len(self.rows),
        )
        self.leaves = np.bincount(row, ~stays, minlength=len(self.rows)) > 0
        self.paid = np.bincount(row, game.outcome_reward[outcomes] != 0, len(self.rows)) > 0
        self.state = np.repeat(np.arange(len(states)), row_count)
        self.first_row = np.cumsum(row_count) - row_count
        self.action = tuple(a[self.rows] for a in game.row_action)
        self.count = tuple(c[states] for c in game.action_count)
        self.names = ("player 0", "player 1")
        # Where player 0 gives up, at `price`; its weights are 0 there. No price: it never did.
        self.given_up, self.price = np.zeros(len(states), bool), 0.0

    def solve(self, weights: tuple[Floats, Floats], tie: float) -> None:
        """Iterate to the optimum; write the component's values and row weights."""
        v, first, answer = self._optimize(tie)
        second = self._second_mix(v, answer)
        order = np.lexsort((self.action[0], self.action[1], self.state))
        mirrored = self._mirrored(order)
        if self.price or mirrored._is_held_up(-v, second[order]):
            theirs, second[order], _ = mirrored._optimize(tie)
            apart = np.abs(v + theirs)
            if apart.max() > TIGHT * max(1.0, float(np.abs(v).max())):
                raise ImproperGameError(
                    f"{self._name(int(apart.argmax()))}: a player does best by never ending"
                )
        self.values[self.states] = v
        weights[0][self.rows] = first
        weights[1][self.rows] = second

    def _optimize(self, tie: float) -> tuple[Floats, Floats, Ints]:
        """The values, player 0's optimal weights, and player 1's answer to them."""
        way_out = self._way_out(np.ones(len(self.rows), bool))
        first = self._as_weight(self.action[0], self.action[0][way_out])
        answer = self.action[1][way_out]
        refusal: ImproperGameError | None = None
        try:
            v, optimal, reply = self._iterate(first, answer, tie)
            if not self._is_held_up(v, optimal):
                return v, optimal, reply
        except ImproperGameError as error:
            if not all((count > 1).any() for count in self.count):
                raise
            refusal = error
        self.given_up[:] = True
        self.price = PRICE * max(1.0, float(np.abs(self.outside).max()))
        _, start, answer = self._iterate(np.zeros(len(first)), answer, TIE * self.price)
        if self.given_up.any():
            if refusal is not None:
                raise refusal
            return v, optimal, reply
        return self._iterate(start, answer, tie)

    def _iterate(self, first: Floats, answer: Ints, tie: float) -> tuple[Floats, Floats, Ints]:
        """Strategy iteration from given weights of player 0, until nobody gives up if some do."""
        starting = self.given_up.any()
        best: Floats | None = None
        for _ in range(ROUNDS):
            v, answer = self._best_response(first, answer, tie)
            # Mixes come from linear programs and improve by ever less; stop at rounding.
            if best is not None and not (v > best + tie).any():
                break
            best = v
            if starting and not self.given_up.any():
                break
            improved = self._improve(first, v, tie)
            if improved is None:
                break
            first = improved
        else:
            raise CertificateError(
                f"{self._name(0)}: strategy iteration did not settle in {ROUNDS} rounds; "
                f"perhaps no policy is optimal"
            )
        return v, first, answer

    def _mirrored(self, order: Ints) -> Cycle:
        """The same component with the players' roles exchanged; its row i is row `order[i]`."""
        other = copy(self)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        other.edge_row = place[self.edge_row]
        other.inside, other.outside = self.inside[order], -self.outside[order]
        other.leaves, other.paid = self.leaves[order], self.paid[order]
        other.action = tuple(a[order] for a in reversed(self.action))
        other.count = tuple(reversed(self.count))
        other.names = (self.names[1], self.names[0])
        other.given_up, other.price = np.zeros_like(self.given_up), 0.0
        return other

    def _is_held_up(self, v: Floats, first: Floats) -> bool:
        """Whether player 1 can go round for ever, at no cost, where ending costs it something."""
        width = int(self.action[1].max()) + 1
        pair = self.state * width + self.action[1]
        used = first > 0
        usable = np.zeros(len(v) * width, bool)
        usable[pair] = True
        usable[pair[used & (self.leaves | self.paid)]] = False
        usable[pair[(v <= TIGHT * max(1.0, float(np.abs(v).max())))[self.state]]] = False
        edge = used[self.edge_row]
        source, target = pair[self.edge_row[edge]], self.edge_target[edge]
        while True:
            held = np.asarray(usable.reshape(-1, width).any(axis=1))
            lost = source[~held[target]]
            if not usable[lost].any():
                return bool(held.any())
            usable[lost] = False

    def _best_response(self, first: Floats, answer: Ints, tie: float) -> tuple[Floats, Ints]:
        """Player 1's best response to row weights of player 0, by policy iteration."""
        width = int(self.action[1].max()) + 1
        pair = self.state * width + self.action[1]
        possible = np.bincount(pair, minlength=len(self.states) * width).reshape(-1, width) > 0
        for _ in range(ROUNDS):
            used = (first > 0) & (self.action[1] == answer[self.state])
            if not self._is_proper(used):
                answer = self.action[1][self._way_out(first > 0)]
                used = (first > 0) & (self.action[1] == answer[self.state])
            v = self._evaluate(np.where(used, first, 0.0))
            q = grouped_sum(pair, first * self._row_values(v), possible.size)
            q = np.where(possible, q.reshape(possible.shape), np.inf)
            current = q[np.arange(len(answer)), answer]
            better = q.min(axis=1) < current - tie
            if not better.any():
                return v, answer
            answer = np.where(better, q.argmin(axis=1), answer)
            distance, _ = self._distance((first > 0) & (self.action[1] == answer[self.state]))
            if (distance < 0).any():
                raise ImproperGameError(
                    f"{self._name(int(np.argmax(distance < 0)))}: {self.names[1]} does best by "
                    f"never ending"
                )
        raise CertificateError(
            f"{self._name(0)}: policy iteration did not settle in {ROUNDS} rounds"
        )

    def _improve(self, first: Floats, v: Floats, tie: float) -> Floats | None:
        """Player 0's weights where they can be strictly better; None if nowhere."""
        q = self._row_values(v)
        improved = first.copy()
        changed = False
        alone = self.count[1] == 1
        top = np.full(len(v), -np.inf)
        np.maximum.at(top, self.state, q)
        choosing = (self.count[0] > 1) | self.given_up
        for s in np.flatnonzero(choosing & (~alone | (top > v + tie))):
            mine = np.flatnonzero(self.state == s)
            if alone[s]:
                mix = (np.arange(len(mine)) == q[mine].argmax()).astype(float)
            else:
                game = solve_matrix_game(q[mine].reshape(self.count[0][s], self.count[1][s]))
                if game.value <= v[s] + tie:
                    continue
                mix = np.repeat(game.row_mix, self.count[1][s])
            improved[mine] = mix
            self.given_up[s] = False
            changed = True
        return improved if changed else None

    def _second_mix(self, v: Floats, answer: Ints) -> Floats:
        """Player 1's weights: its answer, or where both choose, its mix in the matrix game."""
        second = self._as_weight(self.action[1], answer)
        q = self._row_values(v)
        for s in np.flatnonzero((self.count[0] > 1) & (self.count[1] > 1)):
            mine = np.flatnonzero(self.state == s)
            game = solve_matrix_game(q[mine].reshape(self.count[0][s], self.count[1][s]))
            second[mine] = np.tile(game.column_mix, self.count[0][s])
        return second

    def _as_weight(self, action: Ints, choice: Ints) -> Floats:
        return np.asarray(action == choice[self.state], float)

    def _row_values(self, v: Floats) -> Floats:
        return np.asarray(self.inside @ v + self.outside, float)

    def _evaluate(self, weight: Floats) -> Floats:
        """Values of the component when each row is played with the given weight."""
        n = len(self.states)
        right = grouped_sum(self.state, weight * self.outside, n) - self.price * self.given_up
        try:
            if n <= DENSE:
                chain = np.add.reduceat(weight[:, None] * self.inside, self.first_row, axis=0)
                return np.asarray(np.linalg.solve(np.eye(n) - chain, right))
            rows = np.arange(len(weight))
            choice = csr_array((weight, (self.state, rows)), shape=(n, len(weight)))
            return np.asarray(splu((eye_array(n) - choice @ self.inside).tocsc()).solve(right))
        except (np.linalg.LinAlgError, RuntimeError) as error:
            raise CertificateError(
                f"{self._name(0)}: play ends so rarely that floats cannot tell it from never"
            ) from error

    def _distance(self, rows: Bools) -> tuple[Ints, Ints]:
        """For each state, the least number of the given rows to leave, and the row to take."""
        n = len(self.states)
        distance = np.full(n, -1)
        distance[self.given_up] = 1
        way = np.zeros(n, np.int64)
        usable = np.flatnonzero(rows & self.leaves)
        distance[self.state[usable]] = 1
        way[self.state[usable[::-1]]] = usable[::-1]
        steps = 1
        while True:
            steps += 1
            near = rows[self.edge_row] & (distance[self.edge_target] == steps - 1)
            candidates = np.unique(self.edge_row[near])
            candidates = candidates[distance[self.state[candidates]] < 0]
            if not len(candidates):
                return distance, way
            distance[self.state[candidates]] = steps
            way[self.state[candidates[::-1]]] = candidates[::-1]

    def _is_proper(self, rows: Bools) -> bool:
        return bool((self._distance(rows)[0] > 0).all())

    def _way_out(self, rows: Bools) -> Ints:
        """A row for each state that together lead out of the component."""
        distance, way = self._distance(rows)
        if (distance < 0).any():
            raise ImproperGameError(
                f"{self._name(int(np.argmax(distance < 0)))}: {self.names[0]} does best by "
                f"never ending"
            )
        return way

    def _name(self, local: int) -> str:
        return f"{self.game.info.name}, state {self.game.states[int(self.states[local])]!r}"
