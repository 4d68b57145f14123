"""Zero-sum Markov games: strategy iteration on states that can lead back to one another.

**Definition.** In state s player 0 chooses action i and player 1 action j, at the same time; a row
k = (s, i, j) says what follows, as in :mod:`solvent.exact.mdp`, with rewards to player 0. A state
in which one of them has a single action is the other's alone. Player 0's policy x gives each row
the probability of its action i, player 1's policy y that of its action j. Once x is fixed, player 1
faces a Markov decision process of one chooser, the *induced* component, whose rows are the pairs
(s, j). So a best response to x is found by policy iteration, and can be pure.

**Theorem** (Hoffman and Karp 1966, "On nonterminating stochastic games"; Shapley 1953 for the
matrix games). Let v be the values of x against a best response, and A_s the matrix of advantages
a(s, i, j). Its value is at least 0, which x secures. If it is 0 in every state, x is optimal and v
is the value. Otherwise let x' be an optimal mixed strategy of A_s where its value is above 0, and x
elsewhere: against a best response the values of x' are at least v, and above it in some state.

**Algorithm.** From a proper x: respond, improve, and repeat until no state improves by more than
rounding. Improvement is strict, so policies stay proper, as in an MDP.

**Start.** Where both choose at once, Newton's method comes close (:func:`newton`). But a policy
from which play *can* end may be a bad start: player 1 may keep it from ending. Then the game is
extended. In each state player 0 has one more action, *absorb*, which ends play at a high price,
whatever player 1 does. To absorb everywhere is proper. Iteration goes on from there until no state
absorbs, as the simplex method starts with artificial variables. What the weights x of a state lack
of 1 is the probability of absorbing: 1 at first, 0 once the state has improved.

**Both sides.** A best response to an optimal policy is not always optimal itself: where player 0
could make it improper for free, player 1's policy is found from its own side, with the players
exchanged. Both sides have to arrive at the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from solvent.exact.matrix_game import MatrixGames, solve_matrix_games
from solvent.exact.mdp import (
    LOOSEN,
    ROUNDS,
    TIE,
    Component,
    advantages,
    best_rows,
    can_stay_for_free,
    evaluate,
    is_proper,
    likeliest_exit,
    members,
    policy_iteration,
    tie,
)
from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum

APART = 1e-9
"""How far the values found from both sides may differ, in units of the component's largest."""

PRICE = 1e6
"""What absorbing costs player 0, in units of the largest payoff."""

PATIENCE = 3
"""Rounds of Newton's method without progress after which it is left."""


@dataclass(frozen=True, eq=False)
class GameComponent(Component):
    """A component in which each state has a row for every pair of actions (i, j), row by row.

    =========  ==============================  ==================================================
    ``count``  2 x [n] int64                   how many actions each player has
    ``last``   {(m, n): (states, solutions)}   the matrix games solved last, of each shape: the
                                               next search begins with their supports
    =========  ==============================  ==================================================
    """

    count: tuple[Ints, Ints]
    last: dict[tuple[int, int], tuple[Ints, MatrixGames]] = field(default_factory=dict, init=False)

    @cached_property
    def action(self) -> Ints:
        """[k] which of player 0's actions i a row belongs to, counted in its state."""
        return np.asarray((np.arange(self.k) - self.row_start[self.state]) // self._width)

    @cached_property
    def pair(self) -> Ints:
        """[k] which pair (s, j) a row belongs to; pairs are counted state by state."""
        before = np.cumsum(self.count[1]) - self.count[1]
        column = (np.arange(self.k) - self.row_start[self.state]) % self._width
        return np.asarray(before[self.state] + column)

    @property
    def _width(self) -> Ints:
        return self.count[1][self.state]


def component_of(game: TabularGame, states: Ints, values: Floats) -> GameComponent:
    """A strongly connected component of a game.

    Args:
        game: The game.
        states: [n] the states of the component, ascending.
        values: [S] values of the game's states, known where the component leads to.
    """
    rows, row_count = members(game.row_start, states)
    outcomes, outcome_count = members(game.outcome_start, rows)
    # States of a component ascend, so a search finds their places without a map of all states.
    target = game.next_state[outcomes]
    next_state = np.minimum(np.searchsorted(states, target), len(states) - 1)
    outside = np.flatnonzero(states[next_state] != target)
    next_state[outside] = len(states) + np.arange(len(outside))
    return GameComponent(
        game=game,
        states=states,
        row_start=np.concatenate(([0], np.cumsum(row_count))),
        outcome_start=np.concatenate(([0], np.cumsum(outcome_count))),
        next_state=next_state,
        probability=game.probability[outcomes],
        reward=game.outcome_reward[outcomes],
        boundary=values[target[outside]],
        players=("player 0", "player 1"),
        count=(game.action_count[0][states], game.action_count[1][states]),
    )


def exchanged(c: GameComponent) -> tuple[GameComponent, Ints]:
    """The component as player 1 sees it, with the players' roles exchanged.

    Returns:
        The component, and for each of its rows which row of `c` it is, [k].
    """
    order = np.lexsort((c.action, c.pair))
    outcomes, count = members(c.outcome_start, order)
    other = GameComponent(
        game=c.game,
        states=c.states,
        row_start=c.row_start,
        outcome_start=np.concatenate(([0], np.cumsum(count))),
        next_state=c.next_state[outcomes],
        probability=c.probability[outcomes],
        reward=-c.reward[outcomes],
        boundary=-c.boundary,
        players=(c.players[1], c.players[0]),
        count=(c.count[1], c.count[0]),
    )
    return other, order


def induced(c: GameComponent, x: Floats, price: float = 0.0) -> Component:
    """The Markov decision process that player 1 faces: its rows are the pairs (s, j).

    Args:
        c: The component.
        x: [k] player 0's policy; it absorbs where all weights of a state are 0.
        price: Player 1's reward where player 0 absorbs.
    """
    used = np.flatnonzero(x > 0)
    used = used[np.argsort(c.pair[used], kind="stable")]
    outcomes, count = members(c.outcome_start, used)
    next_state = c.next_state[outcomes]
    probability = np.repeat(x[used], count) * c.probability[outcomes]
    reward = -c.reward[outcomes]
    boundary = -c.boundary

    row_start = np.concatenate(([0], np.cumsum(c.count[1])))
    length = np.bincount(c.pair[used], count, int(row_start[-1])).astype(np.int64)
    absorbing = np.flatnonzero(length == 0)
    if len(absorbing):
        place = (np.cumsum(length) - length)[absorbing]
        next_state = np.insert(next_state, place, c.n + len(boundary))
        probability = np.insert(probability, place, 1.0)
        reward = np.insert(reward, place, 0.0)
        boundary = np.append(boundary, price)
        length[absorbing] = 1
    return Component(
        game=c.game,
        states=c.states,
        row_start=row_start,
        outcome_start=np.concatenate(([0], np.cumsum(length))),
        next_state=next_state,
        probability=probability,
        reward=reward,
        boundary=boundary,
        players=(c.players[1], c.players[0]),
    )


def solve_component(c: GameComponent, *, greedy: bool = False) -> tuple[Floats, Floats, Floats]:
    """The values of a component, [n], and optimal policies x and y, [k] each.

    Args:
        c: The component.
        greedy: Whether to begin with the rows of the largest reward, if only one player chooses.

    Raises:
        ImproperGameError: If a player does best by never ending.
        CertificateError: If iteration does not settle, or play ends too rarely for floats.
    """
    first, second = (bool((count > 1).any()) for count in c.count)
    if first and second:
        return strategy_iteration(c)
    own, order = exchanged(c) if second else (c, np.arange(c.k))
    v, policy = policy_iteration(own, best_rows(own, own.r) if greedy else None)
    x, y = np.zeros(c.k), np.ones(c.k)
    x[order[policy]] = 1.0
    return (-v.sum(axis=0), y, x) if second else (v.sum(axis=0), x, y)


def strategy_iteration(c: GameComponent) -> tuple[Floats, Floats, Floats]:
    """The values of a component in which both players choose, [n], and both policies, [k] each.

    Args:
        c: The component.

    Raises:
        ImproperGameError: If a player does best by never ending.
        CertificateError: If iteration does not settle, or play ends too rarely for floats.
    """
    v, x, response, extended = optimize(c)
    y = second_policy(c, advantages(c, v)[0], response)
    other, order = exchanged(c)
    if extended or has_improper_response(other, -v, y[order]):
        theirs, y[order], _, _ = optimize(other)
        apart = np.abs((v + theirs).sum(axis=0))
        if apart.max() > APART * _largest(c, v):
            raise ImproperGameError(
                f"{c.name(int(apart.argmax()))}: a player does best by never ending"
            )
    return v.sum(axis=0), x, y


def optimize(c: GameComponent) -> tuple[Floats, Floats, Ints, bool]:
    """Player 0's side of the solution.

    Returns:
        The values [2, n], player 0's optimal policy x [k], player 1's best response to it [n] as
        pairs, and whether the game had to be extended.
    """
    start = likeliest_exit(c)
    x = (c.action == c.action[start][c.state]).astype(float)
    begin = c.pair[start]
    if ((c.count[0] > 1) & (c.count[1] > 1)).any():
        x = newton(c, x)
    refusal: ImproperGameError | None = None
    try:
        v, optimal, response = iterate(c, x, begin)
        if not has_improper_response(c, v, optimal):
            return v, optimal, response, False
    except ImproperGameError as error:
        refusal = error
    price = PRICE * max(1.0, float(np.abs(c.r).max()))
    _, x, begin = iterate(c, np.zeros(c.k), begin, price)
    if not absorbs(c, x).any():
        return *iterate(c, x, begin), True
    if refusal is not None:
        raise refusal
    return v, optimal, response, True


def iterate(
    c: GameComponent, x: Floats, response: Ints, price: float = 0.0
) -> tuple[Floats, Floats, Ints]:
    """Respond and improve until nothing improves or, in an extended game, no state absorbs.

    Args:
        c: The component.
        x: [k] player 0's policy to begin with.
        response: [n] player 1's, as pairs.
        price: Of absorbing; 0 if no state absorbs.

    Returns:
        Values [2, n], player 0's policy [k], and player 1's best response to it [n].
    """
    before: Floats | None = None
    for turn in range(ROUNDS):
        loose = 2.0 ** (turn // LOOSEN)
        u, response = policy_iteration(induced(c, x, price), response)
        v = -u
        a, change = advantages(c, v)
        # Mixed strategies come from linear programs and improve by ever less; stop at rounding.
        equal = loose * tie(v, np.maximum.reduceat(change, c.row_start[:-1]))
        if before is not None and not ((v - before).sum(axis=0) > equal).any():
            break
        before = v
        if price and not absorbs(c, x).any():
            break
        x, changed = improve(c, x, v, a, change, loose)
        if not changed:
            break
    else:
        raise CertificateError(
            f"{c.name()}: strategy iteration did not settle in {ROUNDS} rounds; "
            f"perhaps no policy is optimal"
        )
    return v, x, response


def improve(
    c: GameComponent, x: Floats, v: Floats, a: Floats, change: Floats, loose: float
) -> tuple[Floats, bool]:
    """Player 0's policy, changed where it can be strictly better, and whether it was.

    Args:
        c: The component.
        x: [k] the policy.
        v: [2, n] values of x against a best response.
        a: [k] advantages under v.
        change: [k] the sum of what changes along each row.
        loose: What counts as strictly better, in units of rounding; -inf takes the best.
    """
    improved = x.copy()
    choosing = (c.count[0] > 1) | absorbs(c, x)
    alone = c.count[1] == 1
    # Where player 0 alone chooses, what it does now rises by nothing but rounding.
    now, moved = (grouped_sum(c.state, x * part, c.n) for part in (a, change))
    best = best_rows(c, a)
    equal = loose * tie(v, np.maximum(change[best], moved))
    better = choosing & alone & (a[best] > now + equal)
    improved[better[c.state]] = 0.0
    improved[best[better]] = 1.0
    equal = loose * tie(v, np.maximum.reduceat(change, c.row_start[:-1]))
    for states, rows, games in stage_games(c, a, choosing & ~alone):
        gains = games.value > equal[states]
        columns = c.count[1][states[0]]
        improved[rows[gains]] = np.repeat(games.row_strategy[gains], columns, axis=1)
        better[states] = gains
    return improved, bool(better.any())


def stage_games(
    c: GameComponent, a: Floats, wanted: Bools
) -> Iterator[tuple[Ints, Ints, MatrixGames]]:
    """The matrix games A_s of the wanted states ([n]) given advantages ([k]), shape by shape.

    Yields:
        G states, their rows [G, m n], and the solutions.
    """
    if not wanted.any():
        return
    shapes = np.column_stack(c.count)
    for m, n in np.unique(shapes[wanted], axis=0).tolist():
        states = np.flatnonzero(wanted & (shapes == (m, n)).all(axis=1))
        rows = c.row_start[states][:, None] + np.arange(m * n)
        before = c.last.get((m, n))
        start = before[1] if before and np.array_equal(before[0], states) else None
        games = solve_matrix_games(a[rows].reshape(-1, m, n), start=start)
        c.last[m, n] = states, games
        yield states, rows, games


def second_policy(c: GameComponent, a: Floats, response: Ints) -> Floats:
    """Player 1's policy y, [k]: its response, or where both choose, its side of the matrix game.

    Args:
        c: The component.
        a: [k] advantages.
        response: [n] player 1's response, as pairs.
    """
    y: Floats = (c.pair == response[c.state]).astype(float)
    for states, rows, games in stage_games(c, a, (c.count[0] > 1) & (c.count[1] > 1)):
        y[rows] = np.tile(games.column_strategy, c.count[0][states[0]])
    return y


def newton(c: GameComponent, x: Floats) -> Floats:
    """A policy of player 0 from which strategy iteration has little left to do, [k].

    Newton's method for the values: both sides of all matrix games are evaluated against each
    other, which gives new matrix games (Pollatschek and Avi-Itzhak 1969, "Algorithms for Stochastic
    Games with Geometrical Interpretation"). It need not converge; what came nearest is returned.

    Args:
        c: The component.
        x: [k] the policy that is returned if nothing came near.
    """
    weight = 1.0 / (c.count[0] * c.count[1])[c.state]
    found, nearest, stalled = x, np.inf, 0
    while stalled < PATIENCE and nearest > 1 and is_proper(c, weight > 0):
        try:
            v = evaluate(c, weight)
        except CertificateError:
            break
        a, change = advantages(c, v)
        found, _ = improve(c, found, v, a, change, -np.inf)
        # Where player 0 has no choice, player 1 takes what is least; elsewhere this is not used.
        weight = found * second_policy(c, a, c.pair[best_rows(c, -a)])
        rise = np.abs(grouped_sum(c.state, weight * a, c.n))
        residual = float((rise / tie(v, np.maximum.reduceat(change, c.row_start[:-1]))).max())
        stalled += 1
        if residual < nearest:
            x, nearest, stalled = found, residual, 0
    return x


def absorbs(c: GameComponent, x: Floats) -> Bools:
    """The states in which a policy x ([k]) of player 0 absorbs, [n]."""
    return np.asarray(grouped_sum(c.state, x, c.n) == 0)


def has_improper_response(c: GameComponent, v: Floats, x: Floats) -> bool:
    """Whether player 1 can go on for ever at no cost, where ending costs it something.

    Args:
        c: The component.
        v: [2, n] values of x against its best proper response.
        x: [k] player 0's policy.
    """
    return can_stay_for_free(induced(c, x), v.sum(axis=0) > TIE * _largest(c, v))


def _largest(c: GameComponent, v: Floats) -> float:
    """The largest value or change in the component."""
    return max(float(np.abs(v[0]).max()), float(advantages(c, v)[1].max()))
