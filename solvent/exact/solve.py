"""The optimum of any finite zero-sum game, component by component, with a certificate.

States are solved in an order in which every state comes after all that it can lead to
(:mod:`solvent.exact.components`).

* A state outside all cycles is solved by backward induction: the best row where one player
  chooses, a matrix game where both do.
* Inside a cycle, strategy iteration: player 0 fixes a policy, player 1 answers with a best
  response found by policy iteration with linear solves, player 0 improves where that gives
  strictly more (Howard 1960; Hoffman and Karp 1966). Value iteration is not used: that a sweep
  changes little does not bound the error.

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

from solvent.exact.certificate import TIGHT, bracket
from solvent.exact.components import Components, cannot_end, components
from solvent.exact.evaluation import expectation
from solvent.exact.matrix_game import solve_matrix_game
from solvent.exact.solution import CertificateError, ImproperGameError, Solution
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges, grouped_sum

TIE = 1e-13
"""Rows whose values differ by less than this, in units of the largest payoff, count as equal."""

PRICE = 1e6
"""What player 0 pays for giving up while it looks for a start, in units of the largest payoff."""

ROUNDS = 1000
"""Rounds of iteration before giving up; a few dozen are many."""

DENSE = 400
"""Components of up to so many states are solved with dense matrices."""


def solve(game: TabularGame, *, tolerance: float = 1e-9) -> Solution:
    """Find the value of every state and an optimal policy of each player, and prove it.

    Policies that end play for certain are compared. Where rewards cancel in a loop (+1, then -1)
    going round for ever has no value, so it is not among them.

    Args:
        game: Any game for one player or two, with or without cycles.
        tolerance: Widest bracket accepted, in units of the largest payoff.

    Returns:
        The solution with its bracket; where both players mix, the policies are optimal up to the
        accuracy of the linear programs.

    Raises:
        ImproperGameError: If from some state no end can be reached, or a player does best by
            never ending; the message names a state.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
    """
    parts = components(game)
    endless = cannot_end(game, np.ones(game.n_rows, bool)) if parts.cyclic.any() else np.zeros(1)
    if endless.any():
        state = game.states[int(np.argmax(endless))]
        raise ImproperGameError(
            f"{game.info.name}: from state {state!r} no end of the game can be reached"
        )
    values, weights, method = _solve_states(game, parts)
    policies = _policies(game, weights)
    lower, upper = bracket(game, values, policies)
    scale = _scale(game, values)
    if not upper - lower <= tolerance * scale:
        raise CertificateError(
            f"{game.info.name}: the value lies in [{lower!r}, {upper!r}], which is wider than "
            f"{tolerance * scale:.1e}; a larger tolerance= accepts it"
        )
    return Solution(
        value=float(game.initial @ values),
        values=values,
        action_values=expectation(game, values),
        policies=policies,
        lower=lower,
        upper=upper,
        method=method,
        model_hash=game.model_hash,
    )


def solve_values(game: TabularGame) -> Floats:
    """The values of all states, [S], without policies and without a certificate."""
    return _solve_states(game, components(game))[0]


def _solve_states(
    game: TabularGame, parts: Components
) -> tuple[Floats, tuple[Floats, Floats], str]:
    """Values [S], both players' probabilities of rows' actions (each [K]), and the method."""
    from solvent.exact.kernels.induction import induce

    both = (game.action_count[0] > 1) & (game.action_count[1] > 1)
    minimizing = game.action_count[1] > 1
    values = np.zeros(game.n_states)
    chosen = np.full(game.n_states, -1)
    weights = (np.zeros(game.n_rows), np.zeros(game.n_rows))
    tie = TIE * _scale(game, values)

    def run_induction(first: int, last: int) -> None:
        states = parts.order[parts.start[first] : parts.start[last]]
        states = states[~game.terminal[states]]
        induce(
            states, game.row_start, game.outcome_start, game.next_state, game.probability,
            game.outcome_reward, minimizing, values, chosen, tie,
        )  # fmt: skip

    # Runs of plain states go to the compiled loop; what is between them is solved here.
    plain = ~parts.cyclic & ~both[parts.order[parts.start[:-1]]]
    begin = 0
    for c in np.flatnonzero(~plain).tolist():
        run_induction(begin, c)
        states = parts.order[parts.start[c] : parts.start[c + 1]]
        if parts.cyclic[c]:
            _Cycle(game, states, values).solve(weights, tie)
        else:
            _solve_simultaneous(game, int(states[0]), values, weights)
        begin = c + 1
    run_induction(begin, len(plain))

    induced = chosen[chosen >= 0]
    for player in (0, 1):
        action = game.row_action[player]
        same = np.zeros(game.n_states, np.int64)
        same[game.row_state[induced]] = action[induced]
        solved_here = (chosen >= 0)[game.row_state]
        weights[player][solved_here] = (action == same[game.row_state])[solved_here]
    kinds = [
        name
        for name, present in (
            ("backward induction", plain.any()),
            ("matrix games", both.any()),
            ("strategy iteration", parts.cyclic.any()),
        )
        if present
    ]
    return values, weights, " + ".join(kinds)


def _solve_simultaneous(
    game: TabularGame, state: int, values: Floats, weights: tuple[Floats, Floats]
) -> None:
    first, last = (int(k) for k in game.row_start[state : state + 2])
    rows = slice(first, last)
    shape = (int(game.action_count[0][state]), int(game.action_count[1][state]))
    outcomes = slice(game.outcome_start[first], game.outcome_start[last])
    terms = game.probability[outcomes] * (
        game.outcome_reward[outcomes] + values[game.next_state[outcomes]]
    )
    q = grouped_sum(game.outcome_row[outcomes] - first, terms, last - first).reshape(shape)
    solution = solve_matrix_game(q)
    values[state] = solution.value
    weights[0][rows] = np.repeat(solution.row_mix, shape[1])
    weights[1][rows] = np.tile(solution.column_mix, shape[0])


class _Cycle:
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

    def _mirrored(self, order: Ints) -> _Cycle:
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


def _policies(
    game: TabularGame, weights: tuple[Floats, Floats]
) -> tuple[TabularPolicy, TabularPolicy]:
    pair = []
    for player in (0, 1):
        probabilities = np.zeros(game.mask[player].shape)
        # Rows that share an action carry the same weight, so any of them tells it.
        probabilities[game.row_state, game.row_action[player]] = weights[player]
        pair.append(TabularPolicy.of(game, probabilities, player=player, name="optimal"))
    return pair[0], pair[1]


def _scale(game: TabularGame, values: Floats) -> float:
    """The largest payoff in sight, at least 1."""
    return max(1.0, float(np.abs(game.outcome_reward).max(initial=0)), float(np.abs(values).max()))
