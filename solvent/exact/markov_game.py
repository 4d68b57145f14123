"""Zero-sum Markov games with cycles, solved by strategy iteration.

**Definition.** In state s, player 0 chooses action i and player 1 action j, at the same time. Row
k = (s, i, j) holds the outcomes, as in :mod:`solvent.exact.mdp`, with rewards to player 0. In a
state in turns, one player has a single action. Player 0's policy x gives the probability of each
action i, player 1's policy y that of each action j. Once x is fixed, player 1 faces a Markov
decision process, the *induced* component, whose rows are the pairs (s, j). So policy iteration
finds a best response to x, and it can be pure.

**Theorem** (Hoffman and Karp 1966, "On nonterminating stochastic games"; Shapley 1953 for the
matrix games). Let v be the values of x against a best response, and A_s the matrix of advantages
a(s, i, j). The value of A_s is at least 0, since x secures 0. If it is 0 in every state, x is
optimal and v is the value of the game. Otherwise let x' be an optimal mixed strategy of A_s where
its value is above 0, and x elsewhere. Against a best response, the values of x' are at least v, and
larger in some state.

**Algorithm.** Newton's method (:func:`newton`) alternates: solve all matrix games, evaluate the two
policies against each other, which gives new matrix games. It need not converge. Far from the
solution it fails where moves are local, so before each evaluation a few sweeps solve all matrix
games, starting from the supports found before, with cheaper sweeps under the current strategies in
between. A few rounds then usually suffice: all matrix games have value 0 up to rounding, so no
response that ends play gains anything. It remains to check that neither player does better by never
ending play.

If Newton's method fails, strategy iteration begins with a proper x: respond, improve, and repeat
until no state improves by more than rounding. Improvement is strict, so policies stay proper, as in
an MDP.

**Start.** A policy under which play *can* end may still be improper: player 1 may be able to
prevent the end. The game is then extended by an action *absorb* of player 0 in each state, which
ends play at a high price, whatever player 1 does. Absorbing everywhere is proper. Iteration
continues from there until no state absorbs, as the simplex method starts with artificial variables.
The probability of absorbing is what the strategy of a state lacks of 1: 1 at first, 0 once the
state has improved.

**Mixed strategies** of all states are stored one after the other: x is an array [X] with the
probabilities of player 0's actions in the first state, then in the second, and so on; y [Y] has
those of player 1.

**Both sides.** A best response to an optimal policy is not always optimal itself. Where player 0
could make it improper at no cost, player 1's policy is computed from player 1's side, with the
players exchanged. Both sides must arrive at the same values.

**Functions.** :func:`solve_component` calls :func:`best_strategies` with the result of
:func:`newton`, or :func:`ending_strategies`, which calls :func:`best_strategies` without one and
then excludes loops whose rewards cancel. Both call :func:`optimize` for one side at a time, which
calls :func:`iterate`, strategy iteration itself, from one start after another.

**A compiled loop** solves all matrix games of a component. State s has a row for each pair (i, j)
of actions, ordered by i, then j. Its actions in x begin at ``x_start[s]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solvent.exact.chain import sweep
from solvent.exact.compilation import Transitions, inner, keep_staying, kernel
from solvent.exact.matrix_game import LARGEST_GAP, ROUNDING, solve_in, solve_matrix_games, work_for
from solvent.exact.mdp import (
    GRAIN,
    LOOSEN,
    ROUNDS,
    TIE,
    Component,
    advantages,
    chain_of,
    evaluate,
    is_proper,
    likeliest_exit,
    policy_iteration,
    tie,
)
from solvent.exact.solution import WAY_OUT, CertificateError, ImproperGameError
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges, grouped_sum, members

# Largest difference between the values from both sides, in units of the largest value.
_APART = 1e-9

# The cost of absorbing to player 0, in units of the largest payoff.
_PRICE = 1e6

SWEEPS = 3
"""Sweeps of matrix games before an evaluation; twice as many after each round without progress."""

# Sweeps under the current strategies, up and down, after each sweep of matrix games.
_EVALUATIONS = 15

PATIENCE = 5
"""Newton's method stops after this many rounds without progress."""

# While a matrix game has a larger value than this, in units of the largest value of a state,
# strategies are evaluated only roughly.
_ROUGH = 1e-4


@dataclass(eq=False)
class GameComponent(Component):
    """A component in which each state has a row for every pair of actions (i, j), by i, then j.

    =========  ==============================  ==================================================
    ``count``  2 x [n] int64                   how many actions each player has
    =========  ==============================  ==================================================
    """

    count: tuple[Ints, Ints]

    @cached_property
    def start(self) -> tuple[Ints, Ints]:
        """2 x [n+1] slices of x and of y."""
        first, second = (np.concatenate(([0], np.cumsum(count))) for count in self.count)
        return first, second

    @cached_property
    def largest_game(self) -> tuple[int, int]:
        """The largest number of actions of player 0 in a state, and of player 1."""
        return int(self.count[0].max()), int(self.count[1].max())

    @property
    def width(self) -> Ints:
        """[X] how many rows each action of player 0 has: one for each of player 1."""
        return np.repeat(self.count[1], self.count[0])

    @cached_property
    def pair(self) -> Ints:
        """[k] which action of player 1 a row belongs to: an index into y."""
        return concatenated_ranges(np.repeat(self.start[1][:-1], self.count[0]), self.width)


def component_of(game: TabularGame, states: Ints, values: Floats, player: int = 0) -> GameComponent:
    """Extract a strongly connected component of a game, or several that do not reach each other.

    Args:
        game: The game.
        states: [n] the states of the component, ascending.
        values: [S] values of the game's states, known wherever the component leads.
        player: The player who receives rewards and values; 1 only where player 0 has no choice.
    """
    sign = 1 - 2 * player
    row_count = np.diff(game.row_start)[states]
    rows, _ = members(game.row_start, states)
    outcomes, outcome_count = members(game.outcome_start, rows)
    target = game.next_state[outcomes]
    # Entries of other states are arbitrary, so the state found is compared with the target.
    place = np.empty(game.n_states, np.int64)
    place[states] = np.arange(len(states))
    next_state = np.clip(place[target], 0, len(states) - 1)
    outside = np.flatnonzero(states[next_state] != target)
    beyond, number = np.unique(target[outside], return_inverse=True)
    next_state[outside] = len(states) + number
    return GameComponent(
        game=game,
        states=states,
        transitions=Transitions(
            row_start=np.concatenate(([0], np.cumsum(row_count))),
            outcome_start=np.concatenate(([0], np.cumsum(outcome_count))),
            next_state=next_state,
            probability=game.probability[outcomes],
        ),
        reward=sign * game.outcome_reward[outcomes].astype(float),
        boundary=sign * values[beyond],
        players=(f"player {player}", f"player {1 - player}"),
        count=(game.action_count[0][states], game.action_count[1][states]),
    )


def exchanged(c: GameComponent) -> GameComponent:
    """Return the component with the players exchanged, and its rewards and values negated."""
    before = c.transitions
    outcomes, count = members(before.outcome_start, np.argsort(c.pair, kind="stable"))
    return GameComponent(
        game=c.game,
        states=c.states,
        transitions=Transitions(
            row_start=before.row_start,
            outcome_start=np.concatenate(([0], np.cumsum(count))),
            next_state=before.next_state[outcomes],
            probability=before.probability[outcomes],
        ),
        reward=-c.reward[outcomes],
        boundary=-c.boundary,
        players=(c.players[1], c.players[0]),
        count=(c.count[1], c.count[0]),
    )


def induced(c: GameComponent, fixed: Floats, player: int = 0, price: float = 0.0) -> Component:
    """Return the Markov decision process that one player faces, with rows (s, j) or (s, i).

    Args:
        c: The component.
        fixed: x or y, the fixed strategies of the other player; all 0 in a state that absorbs.
        player: The player whose strategies are fixed.
        price: Reward of the player who faces the process in a state that absorbs.
    """
    _, outcome_start, _, probability = c.transitions
    x, y = np.repeat(np.arange(len(c.width)), c.width), c.pair
    own, other = (x, y) if player == 0 else (y, x)
    rows = np.flatnonzero(fixed[own] > 0)
    if player == 0:
        rows = rows[np.argsort(other[rows], kind="stable")]
    # In a state that absorbs, the other player's actions have no outcomes yet.
    source, length = members(outcome_start, rows)
    count = np.bincount(other[rows], minlength=c.start[1 - player][-1])
    ends = np.concatenate(([0], np.cumsum(length)))
    start = ends[np.concatenate(([0], np.cumsum(count)))]
    probability = np.repeat(fixed[own[rows]], length) * probability[source]
    sign = -1 if player == 0 else 1
    next_state, boundary = c.transitions.next_state[source], sign * c.boundary
    reward = sign * c.reward[source]
    absorbing = np.flatnonzero(np.diff(start) == 0)
    if len(absorbing):
        place = start[absorbing]
        next_state = np.insert(next_state, place, c.n + len(boundary))
        probability = np.insert(probability, place, 1.0)
        reward = np.insert(reward, place, 0.0)
        boundary = np.append(boundary, price)
        length = np.diff(start)
        length[absorbing] = 1
        start = np.concatenate(([0], np.cumsum(length)))
    return Component(
        game=c.game,
        states=c.states,
        transitions=Transitions(c.start[1 - player], start, next_state, probability),
        reward=reward,
        boundary=boundary,
        players=(c.players[1 - player], c.players[player]),
    )


def solve_component(c: GameComponent, *, near: bool, swap: bool) -> tuple[Floats, Floats, Floats]:
    """Solve a component in which both players choose.

    Args:
        c: The component.
        near: Whether to begin with the result of Newton's method. Otherwise iteration begins with
            the most probable path to an end, and looks for strategies that end play.
        swap: Whether to exchange the players: rounding may hide from one side what the other sees.

    Returns:
        Values [n], and the probability of player 0's and of player 1's action in each row, [k].

    Raises:
        ImproperGameError: If a player does best by never ending play, or the value depends on who
            has to end it.
        CertificateError: If iteration does not converge, or play ends too rarely for floats.
    """
    side = exchanged(c) if swap else c
    v, x, y = best_strategies(side, newton(side)) if near else ending_strategies(side)
    if swap:
        v, x, y = -v, y, x
    return v.sum(axis=0), np.repeat(x, c.width), y[c.pair]


def best_strategies(c: GameComponent, near: Near | None) -> tuple[Floats, Floats, Floats]:
    """Return the values [2, n] of a component, and optimal strategies x and y.

    The result of Newton's method is returned if it passes the checks. Otherwise player 0's side is
    solved by :func:`optimize`, and player 1's side, too, if the response to x is not optimal.

    Args:
        c: The component.
        near: The result of Newton's method; None to begin with the most probable path to an end.

    Raises:
        ImproperGameError: If a player does best by never ending play.
        CertificateError: If iteration does not converge, or play ends too rarely for floats.
    """
    if near is not None and near.converged:
        large = max(float(np.abs(near.v[0]).max()), float(near.change.max()))
        sides = enumerate((near.x, near.y))
        if not any(has_improper_response(c, near.v, own, player, large) for player, own in sides):
            return near.v, near.x, near.y
    v, x, response, extended = optimize(c, None if near is None else near.x)
    y = second_strategies(c, v, x, response)
    if extended or has_improper_response(c, v, y, 1, _largest(c, v)):
        theirs, y, _, _ = optimize(exchanged(c), None if near is None else near.y)
        _check_same(c, v, -theirs)
    return v, x, y


def ending_strategies(c: GameComponent) -> tuple[Floats, Floats, Floats]:
    """Return what :func:`best_strategies` does, for a component whose loops' rewards may cancel.

    If the opponent could stay in such a loop, both sides are solved again, if need be in their
    extended games. There iteration begins by absorbing everywhere, which leaves the opponent no
    loop, and an improved strategy leaves none either. So each player's best strategies have the
    value of the game in which that player loses such loops.

    Args:
        c: The component.

    Raises:
        ImproperGameError: If the value depends on who has to end play, or a player does best by
            never ending it.
        CertificateError: If iteration does not converge, or play ends too rarely for floats.
    """
    v, x, y = best_strategies(c, None)
    if any(has_cancelling_response(c, v, own, player) for player, own in enumerate((x, y))):
        v, x, _, _ = optimize(c, x, ending=True)
        theirs, y, _, _ = optimize(exchanged(c), y, ending=True)
        _check_same(c, v, -theirs)
    return v, x, y


def _check_same(c: GameComponent, v: Floats, other: Floats) -> None:
    """Refuse a component whose values differ between the two sides.

    Args:
        c: The component.
        v: [2, n] what player 0's strategies secure.
        other: [2, n] what player 1's strategies leave to player 0.

    Raises:
        ImproperGameError: If they differ by more than rounding.
    """
    apart = np.abs((v - other).sum(axis=0))
    if apart.max() > _APART * _largest(c, v):
        s = int(apart.argmax())
        raise ImproperGameError(
            f"{c.name(s)}: play can go on for ever, and it depends on who has to end it whether "
            f"the value is {v[0, s] + 0.0:.6g} or {other[0, s] + 0.0:.6g}; {WAY_OUT}"
        )


def optimize(
    c: GameComponent, x: Floats | None = None, *, ending: bool = False
) -> tuple[Floats, Floats, Ints, bool]:
    """Compute player 0's side of the solution.

    Strategy iteration (:func:`iterate`) is run from `x`, then from the most probable path to an
    end, then in the extended game, until the result is proper.

    Args:
        c: The component.
        x: [X] strategies to begin with. If they are left out or player 1 can prevent an end, the
            most probable path to an end is tried next.
        ending: Whether loops whose rewards cancel must be impossible for player 1, too.

    Returns:
        The values [2, n], player 0's optimal strategies x [X], player 1's best response to them [n]
        as indices into y, and whether the game had to be extended.
    """
    start = likeliest_exit(c)
    action, column = np.divmod(start - c.transitions.row_start[:-1], c.count[1])
    begin = c.start[1][:-1] + column
    out = np.zeros(c.start[0][-1])
    out[c.start[0][:-1] + action] = 1.0
    for first in (out,) if x is None else (x, out):
        refusal: ImproperGameError | None = None
        try:
            v, optimal, response = iterate(c, first, begin)
            if not has_improper_response(c, v, optimal, 0, _largest(c, v)) and not (
                ending and has_cancelling_response(c, v, optimal, 0)
            ):
                return v, optimal, response, False
        except ImproperGameError as error:
            refusal = error
    price = _PRICE * max(1.0, float(np.abs(c.r).max()))
    _, x, begin = iterate(c, np.zeros(len(out)), begin, price)
    if not absorbs(c, x).any():
        return *iterate(c, x, begin), True
    if refusal is not None:
        raise refusal
    return v, optimal, response, True


def iterate(
    c: GameComponent, x: Floats, response: Ints, price: float = 0.0
) -> tuple[Floats, Floats, Ints]:
    """Run strategy iteration until nothing improves or, in an extended game, no state absorbs.

    Args:
        c: The component.
        x: [X] player 0's strategies to begin with.
        response: [n] player 1's response to begin with, as indices into y.
        price: The price of absorbing; 0 if no state absorbs.

    Returns:
        Values [2, n], player 0's strategies [X], and player 1's best response to them [n].
    """
    before: Floats | None = None
    y = np.zeros(c.start[1][-1])
    for turn in range(ROUNDS):
        loose = 2.0 ** (turn // LOOSEN)
        u, response = policy_iteration(induced(c, x, price=price), response)
        v = -u
        improved = x.copy()
        rise, change, *_ = solve_stages(c, v, improved, y)
        # Mixed strategies improve in ever smaller steps; stop at rounding.
        equal = loose * tie(v, change)
        if before is not None and not ((v - before).sum(axis=0) > equal).any():
            break
        before = v
        if price and not absorbs(c, x).any():
            break
        changes = ((c.count[0] > 1) | absorbs(c, x)) & (rise > equal)
        if not changes.any():
            break
        x = np.where(np.repeat(changes, c.count[0]), improved, x)
    else:
        raise CertificateError(
            f"{c.name()}: strategy iteration did not converge in {ROUNDS} rounds; "
            f"perhaps no policy is optimal"
        )
    return v, x, response


def solve_stages(
    c: GameComponent, v: Floats, x: Floats, y: Floats
) -> tuple[Floats, Floats, Floats]:
    """Solve the matrix games A_s of all states.

    Args:
        c: The component.
        v: [2, n] values.
        x: [X] strategies whose supports are tried first; player 0's optimal ones are written here.
        y: [Y] the same for player 1.

    Returns:
        value: [n] the value of each game.
        change: [n] size of the changes along the best row, or the largest size if both choose.
        largest: [n] the largest size of any row.
    """
    a, changes = advantages(c, v)
    value, change, solved = solve_all_stages(*c.start, a, changes, x, y, c.largest_game)
    starts = c.transitions.row_start
    for s in np.flatnonzero(~solved).tolist():
        own, other = (slice(*start[s : s + 2].tolist()) for start in c.start)
        payoff = a[slice(*starts[s : s + 2])].reshape(1, c.count[0][s], c.count[1][s])
        game = solve_matrix_games(payoff)[0]
        value[s], x[own], y[other] = game.value, game.row_strategy, game.column_strategy
    return value, change, np.maximum.reduceat(changes, starts[:-1])


def second_strategies(c: GameComponent, v: Floats, x: Floats, response: Ints) -> Floats:
    """Return player 1's y, [Y]: its response or, where both choose, its side of the matrix game.

    Args:
        c: The component.
        v: [2, n] values of x against its best response.
        x: [X] player 0's strategies.
        response: [n] player 1's response, as indices into y.
    """
    y = np.zeros(c.start[1][-1])
    y[response] = 1.0
    mixed = y.copy()
    solve_stages(c, v, x.copy(), mixed)
    both = (c.count[0] > 1) & (c.count[1] > 1)
    return np.where(np.repeat(both, c.count[1]), mixed, y)


@dataclass(frozen=True, eq=False)
class Near:
    """The result of Newton's method.

    Attributes:
        v: [2, n] values.
        x: [X] player 0's optimal strategies of the matrix games at these values.
        y: [Y] the same for player 1.
        change: [n] the largest size of the changes along a row of each state.
        converged: Whether these games have value 0 up to rounding.
    """

    v: Floats
    x: Floats
    y: Floats
    change: Floats
    converged: bool


def newton(c: GameComponent) -> Near | None:
    """Return strategies that strategy iteration rarely has to improve.

    Newton's method evaluates the optimal strategies of all matrix games against each other, which
    gives new matrix games (Pollatschek and Avi-Itzhak 1969, "Algorithms for Stochastic Games with
    Geometrical Interpretation"). Until these are nearly solved, sweeps of modified policy iteration
    come before each evaluation. The method need not converge: the nearest point is returned, or
    None if no strategies could be evaluated.

    Args:
        c: The component.
    """
    near: Near | None = None
    nearest, stalled = np.inf, 0
    x, y = (np.zeros(start[-1]) for start in c.start)
    v = np.zeros((2, c.n))
    payoff = max(float(np.abs(part).max(initial=0.0)) for part in (c.reward, c.boundary))
    while stalled < PATIENCE and not (near and near.converged):
        x, y, rough = x.copy(), y.copy(), nearest >= _ROUGH
        try:
            if rough:
                v = approach_values(c, v, x, y, SWEEPS << stalled)
            weight = pair_weights(c, x, y)
            proper = is_proper(c, weight > 0)
            if not (proper or rough):
                break
            if proper:
                v = evaluate(c, weight, v[0], rough=_ROUGH / 1000 if rough else None)
        except CertificateError:
            break
        value, _, change = solve_stages(c, v, x, y)
        residual = np.abs(value)
        equal = np.maximum(tie(v, change), GRAIN * payoff)
        converged = not rough and bool((residual <= equal).all())
        stalled += 1
        share = float(residual.max() / max(np.abs(v).max(), TIE))
        if converged or (proper and share < nearest):
            nearest, stalled = share, 0
            near = Near(v, x, y, change, converged)
    return near or from_uniform(c)


def from_uniform(c: GameComponent) -> Near | None:
    """Return one round of Newton's method from uniform strategies; None if it fails.

    Args:
        c: The component.
    """
    x, y = (np.repeat(1.0 / count, count) for count in c.count)
    try:
        v = evaluate(c, pair_weights(c, x, y))
    except CertificateError:
        return None
    _, _, change = solve_stages(c, v, x, y)
    return Near(v, x, y, change, False)


def approach_values(c: GameComponent, v: Floats, x: Floats, y: Floats, rounds: int) -> Floats:
    """Move values [2, n] towards those of a component by sweeps of matrix games.

    Each sweep that solves all matrix games is followed by cheaper ones under its strategies
    (van der Wal 1978, "Discounted Markov Games: Generalized Policy Iteration Method").

    Args:
        c: The component.
        v: [2, n] values to begin with.
        x: [X] strategies whose supports are tried first; the last ones found are written.
        y: [Y] the same for player 1.
        rounds: Number of sweeps of matrix games.

    Raises:
        CertificateError: If the strategies never leave a state, or values become too large for
            floats.
    """
    for _ in range(rounds):
        rise, *_ = solve_stages(c, v, x, y)
        chain, right = chain_of(c, pair_weights(c, x, y))
        values = v.sum(axis=0) + rise / chain.changing
        for _ in range(_EVALUATIONS):
            sweep(chain.start, chain.target, chain.flow, chain.changing, right, values)
        if not np.isfinite(values).all():
            raise CertificateError(f"{c.name()}: values are too large for floats")
        v = np.stack((values, 0 * values))
    return v


def pair_weights(c: GameComponent, x: Floats, y: Floats) -> Floats:
    """Return the probability of each pair of actions under strategies x and y, [k].

    Args:
        c: The component.
        x: [X] player 0's strategies.
        y: [Y] player 1's.
    """
    return np.asarray(np.repeat(x, c.width) * y[c.pair])


def absorbs(c: GameComponent, x: Floats) -> Bools:
    """Return whether strategies x ([X]) of player 0 absorb in each state, [n]."""
    state = np.repeat(np.arange(c.n), c.count[0])
    return np.asarray(grouped_sum(state, x, c.n) == 0)


def has_improper_response(
    c: GameComponent, v: Floats, fixed: Floats, player: int, large: float
) -> bool:
    """Return whether the other player can prevent the end at no cost where ending is a loss.

    Args:
        c: The component.
        v: [2, n] values.
        fixed: x or y, strategies of a player.
        player: The player whose strategies these are.
        large: The largest value or change in the component.
    """
    left = induced(c, fixed, player)
    staying = (1 - 2 * player) * v.sum(axis=0) > TIE * large
    keep_staying(left.transitions, _rewarded(left), staying)
    return bool(staying.any())


def has_cancelling_response(c: GameComponent, v: Floats, fixed: Floats, player: int) -> bool:
    """Return whether the other player can stay for ever in a loop whose rewards may cancel.

    Args:
        c: The component.
        v: [2, n] values.
        fixed: x or y, strategies of a player.
        player: The player whose strategies these are.
    """
    left = induced(c, fixed, player)
    inside = _rewarded(left) & (left.leaving == 0)
    if not inside.any():
        return False
    # No value is lost along the rows of such a loop.
    rise, change = advantages(left, (2 * player - 1) * v)
    gone = rise < -_APART * change
    keep_staying(left.transitions, gone, np.ones(left.n, bool))
    return bool((inside & ~gone).any())


def _rewarded(c: Component) -> Bools:
    """Return whether each row has a reward, [k]."""
    rewarded = np.zeros(c.k, bool)
    rewarded[c.outcome_row[c.reward != 0]] = True
    return rewarded


def _largest(c: GameComponent, v: Floats) -> float:
    """Return the largest value or change in the component."""
    return max(float(np.abs(v[0]).max()), float(advantages(c, v)[1].max()))


@kernel(largest=2000, allocates=True)
def solve_all_stages(
    x_start: Ints,
    y_start: Ints,
    a: Floats,
    changes: Floats,
    x: Floats,
    y: Floats,
    largest_game: tuple[int, int],
) -> tuple[Floats, Floats, Bools]:
    """Solve the matrix game of advantages in every state.

    Args:
        x_start: [n+1] slices of player 0's actions.
        y_start: [n+1] slices of player 1's actions.
        a: [k] the advantage of each row.
        changes: [k] the size of the changes along each row.
        x: [X] strategies whose supports are tried first; optimal ones are written.
        y: [Y] the same for player 1.
        largest_game: The largest number of actions of player 0 in a state, and of player 1.

    Returns:
        value: [n] the value of each game.
        change: [n] size of the changes along the best row, or the largest size if both choose.
        solved: [n] whether the duality gap is accepted.
    """
    n, end = len(x_start) - 1, 0
    work = work_for(*largest_game)
    value, change, solved = np.zeros(n), np.zeros(n), np.ones(n, np.bool_)
    for s in range(n):
        own, other = x[x_start[s] : x_start[s + 1]], y[y_start[s] : y_start[s + 1]]
        first, end = end, end + len(own) * len(other)
        payoff = a[first:end]
        if len(own) > 1 and len(other) > 1:
            game = payoff.reshape((len(own), len(other)))
            value[s], gap = solve_in(work, game, own, other)
            low, high = payoff.min(), payoff.max()
            solved[s] = gap <= LARGEST_GAP * (high - low) + ROUNDING * max(abs(low), abs(high))
            change[s] = changes[first:end].max()
        else:
            chooser, sign = (own, 1) if len(own) > 1 else (other, -1)
            best = _choose(chooser, sign, payoff)
            own[:] = 0.0
            other[:] = 0.0
            own[0] = other[0] = 1.0
            chooser[0] = 0.0
            chooser[best] = 1.0
            value[s], change[s] = payoff[best], changes[first + best]
    return value, change, solved


@inner
def _choose(chooser: Floats, sign: int, payoff: Floats) -> int:
    """Return the best action of the player who chooses; ties go to the current one."""
    best = now = 0
    for k in range(len(chooser)):
        best = k if sign * payoff[k] > sign * payoff[best] else best
        now = k if chooser[k] > chooser[now] else now
    return best if sign * payoff[best] > sign * payoff[now] else now
