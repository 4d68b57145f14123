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

Rows are compared by their *advantages*, by how much the value rises along them. Rounding in an
advantage is in proportion to the rewards and the differences of values beside it, so a gain of
1e-4 is seen in a component whose values are 1e9. For that, values are held as two arrays of floats,
[2, n]: the second has what floats as large as the first cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np

from solvent.exact.chain import Chain
from solvent.exact.matrix_game import MatrixGames, solve_matrix_games
from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges, grouped_sum

TIE = 1e-13
"""Rows whose advantages differ by less than this, in units of what changes along them, tie."""

GRAIN = 8 * float(np.finfo(float).eps)
"""Differences below this, in units of the smaller part of a state's value, are its rounding."""

APART = 1e-9
"""How far the values found from both sides may differ, in units of the component's largest."""

PRICE = 1e6
"""What player 0 pays for giving up while it looks for a start, in units of the largest payoff."""

ROUNDS = 1000
"""Rounds of iteration before giving up; a few dozen are many."""

LOOSEN = 50
"""Rounds after which what counts as equal is doubled: rounding may go round in circles."""

PATIENCE = 3
"""Rounds of Newton's method without progress after which it is left."""


class Cycle:
    """Strategy iteration on one strongly connected component of n states and k rows.

    Player 0's policy is held as a weight per row (the probability of its action), player 1's as
    one action per state; the best response to a fixed policy need not mix.
    """

    def __init__(self, game: TabularGame, states: Ints, values: Floats) -> None:
        self.game, self.states, self.values = game, states, values
        # Player 0's side: 1, or -1 where the players' roles are exchanged.
        self.side = 1
        row_count = game.row_start[states + 1] - game.row_start[states]
        self.rows = concatenated_ranges(game.row_start[states], row_count)
        outcome_count = game.outcome_start[self.rows + 1] - game.outcome_start[self.rows]
        outcomes = concatenated_ranges(game.outcome_start[self.rows], outcome_count)
        row = np.repeat(np.arange(len(self.rows)), outcome_count)
        # States of a component ascend, so a search finds their places without a map of all states.
        target = np.minimum(np.searchsorted(states, game.next_state[outcomes]), len(states) - 1)
        stays = states[target] == game.next_state[outcomes]
        # Edges, row by row: the outcomes that stay in the component.
        self.edge_row, self.edge_target = row[stays], target[stays]
        self.edge_probability = game.probability[outcomes][stays]
        edge_count = np.bincount(self.edge_row, minlength=len(self.rows))
        self.edge_start = np.concatenate(([0], np.cumsum(edge_count)))
        outer = np.where(stays, 0.0, values[game.next_state[outcomes]])
        self.outside = grouped_sum(
            row,
            game.probability[outcomes] * (game.outcome_reward[outcomes] + outer),
            len(self.rows),
        )
        leaving = game.probability[outcomes] * ~stays
        self.leaving = np.bincount(row, leaving, minlength=len(self.rows))
        self.paid = np.bincount(row, game.outcome_reward[outcomes] != 0, len(self.rows)) > 0
        self.state = np.repeat(np.arange(len(states)), row_count)
        self.row_start = np.concatenate(([0], np.cumsum(row_count)))
        self.action = tuple(a[self.rows] for a in game.row_action)
        self.count = tuple(c[states] for c in game.action_count)
        self.names = ("player 0", "player 1")
        # Where player 0 gives up, at `price`; its weights are 0 there. No price: it never did.
        self.given_up, self.price = np.zeros(len(states), bool), 0.0
        self.solved: dict[tuple[int, int], tuple[Ints, MatrixGames]] = {}

    def solve(self, weights: tuple[Floats, Floats], *, greedy: bool = False) -> None:
        """Iterate to the optimum; write the component's values and row weights.

        Args:
            weights: [K] of each player, written.
            greedy: Whether to begin with the rows of the largest reward, in a game in which only
                player 0 chooses, if these lead out.

        Raises:
            ImproperGameError: If a player does best by never ending.
            CertificateError: If iteration does not settle, or play ends too rarely for floats.
        """
        v, first, answer = self._optimize(greedy)
        second = self._second_mix(v, answer)
        order = np.lexsort((self.action[0], self.action[1], self.state))
        mirrored = self._mirrored(order)
        if self.price or mirrored._is_held_up(-v, second[order]):
            theirs, second[order], _ = mirrored._optimize()
            apart = np.abs((v + theirs).sum(axis=0))
            if apart.max() > APART * self._largest(v):
                raise ImproperGameError(
                    f"{self._name(int(apart.argmax()))}: a player does best by never ending"
                )
        self.values[self.states] = v.sum(axis=0)
        weights[0][self.rows] = first
        weights[1][self.rows] = second

    def _optimize(self, greedy: bool = False) -> tuple[Floats, Floats, Ints]:
        """The values, player 0's optimal weights, and player 1's answer to them."""
        way_out = self._best_rows(self.outside, np.ones(len(self.states), bool))
        if not (greedy and self._is_proper(np.bincount(way_out, minlength=len(self.rows)) > 0)):
            way_out = self._way_out(np.ones(len(self.rows)))
        first = self._as_weight(self.action[0], self.action[0][way_out])
        answer = self.action[1][way_out]
        if ((self.count[0] > 1) & (self.count[1] > 1)).any():
            first = self._approach(first)
        refusal: ImproperGameError | None = None
        try:
            v, optimal, reply = self._iterate(first, answer)
            if not self._is_held_up(v, optimal):
                return v, optimal, reply
        except ImproperGameError as error:
            if not all((count > 1).any() for count in self.count):
                raise
            refusal = error
        self.given_up[:] = True
        self.price = PRICE * max(1.0, float(np.abs(self.outside).max()))
        _, start, answer = self._iterate(np.zeros(len(first)), answer)
        if self.given_up.any():
            if refusal is not None:
                raise refusal
            return v, optimal, reply
        return self._iterate(start, answer)

    def _approach(self, first: Floats) -> Floats:
        """Weights of player 0 from which strategy iteration has little left to do.

        Newton's method for the values: play by both mixes of all matrix games is evaluated, and
        gives new matrix games (Pollatschek and Avi-Itzhak 1969, "Algorithms for Stochastic Games
        with Geometrical Interpretation"). It need not converge; what came nearest is returned,
        `first` if nothing did.
        """
        weight = 1.0 / (self.count[0] * self.count[1])[self.state]
        mixes, nearest, stalled = first, np.inf, 0
        while stalled < PATIENCE and nearest > 1 and self._is_proper(weight > 0):
            try:
                v = self._evaluate(weight)
            except CertificateError:
                break
            advantage, magnitude = self._advantages(v)
            mixes, _ = self._improve(mixes, v, -np.inf)
            answer = np.zeros(len(self.states), np.int64)
            alone = self.count[0] == 1
            answer[alone] = self.action[1][self._best_rows(-advantage, alone)]
            weight = mixes * self._second_mix(v, answer)
            risen = np.abs(grouped_sum(self.state, weight * advantage, len(self.states)))
            tie = self._tie(v, np.maximum.reduceat(magnitude, self.row_start[:-1]))
            residual = float((risen / tie).max())
            stalled += 1
            if residual < nearest:
                first, nearest, stalled = mixes, residual, 0
        return first

    def _iterate(self, first: Floats, answer: Ints) -> tuple[Floats, Floats, Ints]:
        """Strategy iteration from given weights of player 0, until nobody gives up if some do."""
        starting = self.given_up.any()
        best: Floats | None = None
        for turn in range(ROUNDS):
            loose = 2.0 ** (turn // LOOSEN)
            v, answer = self._best_response(first, answer)
            # Mixes come from linear programs and improve by ever less; stop at rounding.
            if best is not None:
                higher = ((v - best).sum(axis=0)) > loose * self._tie(v, self._spread(v))
                if not higher.any():
                    break
            best = v
            if starting and not self.given_up.any():
                break
            first, changed = self._improve(first, v, loose)
            if not changed:
                break
        else:
            raise CertificateError(
                f"{self._name(0)}: strategy iteration did not settle in {ROUNDS} rounds; "
                f"perhaps no policy is optimal"
            )
        return v, first, answer

    def _mirrored(self, order: Ints) -> Cycle:
        """The same component with the players' roles exchanged; its row i is row `order[i]`."""
        other = copy(self)
        count = np.diff(self.edge_start)[order]
        edges = concatenated_ranges(self.edge_start[order], count)
        other.edge_row = np.repeat(np.arange(len(order)), count)
        other.edge_start = np.concatenate(([0], np.cumsum(count)))
        other.edge_target, other.edge_probability = (
            self.edge_target[edges], self.edge_probability[edges],
        )  # fmt: skip
        other.side, other.rows = -self.side, self.rows[order]
        other.outside = -self.outside[order]
        other.leaving, other.paid = self.leaving[order], self.paid[order]
        other.action = tuple(a[order] for a in reversed(self.action))
        other.count = tuple(reversed(self.count))
        other.names = (self.names[1], self.names[0])
        other.given_up, other.price = np.zeros_like(self.given_up), 0.0
        other.solved = {}
        return other

    def _is_held_up(self, v: Floats, first: Floats) -> bool:
        """Whether player 1 can go round for ever, at no cost, where ending costs it something."""
        width = int(self.action[1].max()) + 1
        pair = self.state * width + self.action[1]
        used = first > 0
        usable = np.zeros(len(self.states) * width, bool)
        usable[pair] = True
        usable[pair[used & ((self.leaving > 0) | self.paid)]] = False
        usable[pair[(v.sum(axis=0) <= TIE * self._largest(v))[self.state]]] = False
        edge = used[self.edge_row]
        source, target = pair[self.edge_row[edge]], self.edge_target[edge]
        while True:
            held = np.asarray(usable.reshape(-1, width).any(axis=1))
            lost = source[~held[target]]
            if not usable[lost].any():
                return bool(held.any())
            usable[lost] = False

    def _best_response(self, first: Floats, answer: Ints) -> tuple[Floats, Ints]:
        """Player 1's best response to row weights of player 0, by policy iteration."""
        width = int(self.action[1].max()) + 1
        pair = self.state * width + self.action[1]
        size = len(self.states) * width
        possible = (np.bincount(pair, minlength=size) > 0).reshape(-1, width)
        each = np.arange(len(answer))
        for turn in range(ROUNDS):
            used = (first > 0) & (self.action[1] == answer[self.state])
            if not self._is_proper(used):
                answer = self.action[1][self._way_out(first)]
                used = (first > 0) & (self.action[1] == answer[self.state])
            v = self._evaluate(np.where(used, first, 0.0))
            risen, changing = (
                grouped_sum(pair, first * part, size).reshape(-1, width)
                for part in self._advantages(v)
            )
            risen = np.where(possible, risen, np.inf)
            best = risen.argmin(axis=1)
            tie = self._tie(v, np.maximum(changing[each, best], changing[each, answer]))
            better = risen[each, best] < risen[each, answer] - 2.0 ** (turn // LOOSEN) * tie
            if not better.any():
                return v, answer
            answer = np.where(better, best, answer)
            distance = self._distance((first > 0) & (self.action[1] == answer[self.state]))
            if (distance < 0).any():
                raise ImproperGameError(
                    f"{self._name(int(np.argmax(distance < 0)))}: {self.names[1]} does best by "
                    f"never ending"
                )
        raise CertificateError(
            f"{self._name(0)}: policy iteration did not settle in {ROUNDS} rounds"
        )

    def _improve(self, first: Floats, v: Floats, loose: float) -> tuple[Floats, bool]:
        """Player 0's weights, changed where they can be strictly better, and whether any were.

        Args:
            first: Its weights.
            v: Values against player 1's best response to them.
            loose: What counts as strictly better, in units of rounding; -inf takes the best.
        """
        advantage, magnitude = self._advantages(v)
        improved = first.copy()
        choosing = (self.count[0] > 1) | self.given_up
        alone = self.count[1] == 1
        # Where player 0 alone chooses, what it does now rises by nothing but rounding.
        now, changing = (
            grouped_sum(self.state, first * part, len(self.states))
            for part in (advantage, magnitude)
        )
        best = self._best_rows(advantage, np.ones(len(self.states), bool))
        tie = self._tie(v, np.maximum(magnitude[best], changing))
        better = choosing & alone & (advantage[best] > now + loose * tie)
        improved[better[self.state]] = 0.0
        improved[best[better]] = 1.0
        tie = self._tie(v, np.maximum.reduceat(magnitude, self.row_start[:-1]))
        for states, rows, games in self._matrix_games(advantage, choosing & ~alone):
            gains = games.value > loose * tie[states]
            columns = self.count[1][states[0]]
            improved[rows[gains]] = np.repeat(games.row_mix[gains], columns, axis=1)
            better[states] = gains
        self.given_up &= ~better
        return improved, bool(better.any())

    def _best_rows(self, q: Floats, states: Bools) -> Ints:
        """The first row of largest value in each of the given states."""
        top = np.maximum.reduceat(q, self.row_start[:-1])
        best = np.flatnonzero(states[self.state] & (q == top[self.state]))
        return np.asarray(best[np.unique(self.state[best], return_index=True)[1]])

    def _second_mix(self, v: Floats, answer: Ints) -> Floats:
        """Player 1's weights: its answer, or where both choose, its mix in the matrix game."""
        second = self._as_weight(self.action[1], answer)
        both = (self.count[0] > 1) & (self.count[1] > 1)
        for states, rows, games in self._matrix_games(self._advantages(v)[0], both):
            second[rows] = np.tile(games.column_mix, self.count[0][states[0]])
        return second

    def _matrix_games(self, q: Floats, wanted: Bools) -> Iterator[tuple[Ints, Ints, MatrixGames]]:
        """The matrix games of the wanted states given their rows' advantages, shape by shape.

        Yields:
            G states, their rows [G, m n], and the solutions.
        """
        if not wanted.any():
            return
        shapes = np.column_stack(self.count)
        for m, n in np.unique(shapes[wanted], axis=0).tolist():
            states = np.flatnonzero(wanted & (shapes == (m, n)).all(axis=1))
            rows = self.row_start[states][:, None] + np.arange(m * n)
            # The same games a round ago are the best start.
            before = self.solved.get((m, n))
            start = before[1] if before and np.array_equal(before[0], states) else None
            games = solve_matrix_games(q[rows].reshape(-1, m, n), start=start)
            self.solved[m, n] = states, games
            yield states, rows, games

    def _as_weight(self, action: Ints, choice: Ints) -> Floats:
        return np.asarray(action == choice[self.state], float)

    def _advantages(self, v: Floats) -> tuple[Floats, Floats]:
        """By how much the value rises along each row, and the sum of what changes there, [k]."""
        from solvent.exact.kernels.induction import advantages

        self.values[self.states] = self.side * v[0]
        risen, changing = advantages(
            self.rows, self.states[self.state], self.game.outcome_start, self.game.next_state,
            self.game.probability, self.game.outcome_reward, self.values, 1,
        )  # fmt: skip
        rest = v[1][self.edge_target] - v[1][self.state[self.edge_row]]
        rest = grouped_sum(self.edge_row, self.edge_probability * rest, len(self.rows))
        return self.side * risen + (rest - self.leaving * v[1][self.state]), changing

    def _spread(self, v: Floats) -> Floats:
        """The most that changes along a row of each state, [n]."""
        changing: Floats = np.maximum.reduceat(self._advantages(v)[1], self.row_start[:-1])
        return changing

    def _tie(self, v: Floats, changing: Floats) -> Floats:
        """Up to which difference rises are equal in each state, given what changes there, [n]."""
        tie: Floats = TIE * changing + GRAIN * np.abs(v[1]) + np.finfo(float).tiny
        return tie

    def _largest(self, v: Floats) -> float:
        """The largest value or change in the component."""
        return max(float(np.abs(v[0]).max()), float(self._spread(v).max()))

    def _evaluate(self, weight: Floats) -> Floats:
        """Values of the component when each row is played with the given weight, [2, n]."""
        n = len(self.states)
        chain = Chain(
            self._name(0), self.row_start, self.edge_start, self.edge_target,
            self.edge_probability, weight,
            grouped_sum(self.state, weight * self.leaving, n),
        )  # fmt: skip
        right = grouped_sum(self.state, weight * self.outside, n)
        v = chain.solve(right - self.price * self.given_up)
        rest = grouped_sum(self.state, weight * self._advantages(np.stack((v, 0 * v)))[0], n)
        return np.stack((v, chain.solve(rest)))

    def _distance(self, rows: Bools) -> Ints:
        """For each state, the least number of the given rows to leave; -1 if they do not lead out.

        A state that is given up has 1.
        """
        from solvent.exact.kernels.chain import distances_out

        return distances_out(
            self.row_start, self.edge_start, self.edge_target, rows, self.leaving > 0, self.given_up
        )

    def _is_proper(self, rows: Bools) -> bool:
        return bool((self._distance(rows) > 0).all())

    def _way_out(self, weight: Floats) -> Ints:
        """A row for each state that together lead out of the component.

        Each begins the most probable path from its state, where a row is played with a given
        weight. The shortest path would do in exact arithmetic; where it depends on luck of 1e-100,
        no float tells play that leaves from play that does not.
        """
        from solvent.exact.kernels.chain import likeliest_ways_out

        distance = self._distance(weight > 0)
        if (distance < 0).any():
            raise ImproperGameError(
                f"{self._name(int(np.argmax(distance < 0)))}: {self.names[0]} does best by "
                f"never ending"
            )
        # Never above 1, by rounding either: a path would gain by going round.
        with np.errstate(divide="ignore"):
            played = np.log(weight)
            chance = np.minimum(played[self.edge_row] + np.log(self.edge_probability), 0.0)
            leaving = np.minimum(played + np.log(self.leaving), 0.0)
        _, way = likeliest_ways_out(
            self.row_start, self.edge_start, self.edge_target, chance, leaving, self.given_up
        )
        if (way < 0).any():
            raise CertificateError(
                f"{self._name(int(np.argmax(way < 0)))}: play ends so rarely that floats cannot "
                f"tell it from never"
            )
        return way

    def _name(self, local: int) -> str:
        return f"{self.game.info.name}, state {self.game.states[int(self.states[local])]!r}"
