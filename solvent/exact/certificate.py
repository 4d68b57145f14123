"""Bounds of a game's value that do not trust the iteration that found it.

Let V be supposed values and a(k) = sum of p (r + V(t) - V(s)) the *advantage* of row k of state s,
the expected rise of the value along it. Advantages are computed from differences, so their rounding
is proportional to the rewards and differences along the row: large values elsewhere neither widen a
bracket here nor hide a loss.

**Lower bound.** If the advantages of the policy's rows average at least -e(s) in every
state s, its value is at least V - u for every u >= 0 whose expected fall in a move from s is at
least e(s) (u - P u >= e: u bounds the sum of the errors that play can still meet).

**Upper bound.** U bounds the value from above if no row rises under it (U is
*excessive*; Puterman 1994, theorem 7.2.2). This holds for U = V + w if w falls along every row k by
at least a(k) and its rounding. The optimum of the game whose rewards are a(k) plus twice their
rounding is such a w. Multiples of 1 and, in a game for one player, of the expected numbers of moves
under its policy, which are computed once to a factor of 2, are tried for both u and w before.

Both conditions are checked in floats for every state and row, including their rounding, wherever
the values, u and w came from.

**Loops.** All states of a loop without rewards have the same value, so the loop is treated as one
state, with the largest of its values. If that bound is below 0, never ending is better than any way
to end, and the game is refused. If the rewards of a loop cancel exactly on every way round it, the
values of its states differ by the rewards between them, and it is treated as one state as well.
Only the rows of such loops are exempt from the check, which they satisfy with equality. Every other
loop has to lose under U, so a loop that gains, however little, has no bound.

**Scope.** A bracket holds for every game whose rewards and probabilities of
changing the state equal those of the table up to relative rounding. The probability of changing a
state is the sum over its moves, so what a row lacks of 1 counts as staying.

**Two players.** The value lies between the value of player 0's policy against a best response and
the value of player 1's policy against one. Each is a one-player problem, whose optimum is bounded
as above, first from the game's own supposed values. Staying in a loop whose rewards cancel has no
value, so the responding player has to leave it. That is right only if the other player cannot.
Otherwise the game is refused, since its value would depend on which player is called player 0
(:func:`refuse_cancelling_loops`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import fsum
from typing import TypeAlias

import numpy as np

from solvent.exact.chain import Chain
from solvent.exact.compilation import (
    induce,
    row_advantages,
    transitions_of,
)
from solvent.exact.components import (
    can_reach,
    components,
    end_components,
    free_rows,
    staying_rows,
)
from solvent.exact.decomposition import optimum, solve_values
from solvent.exact.evaluation import chain_solver, nonterminating, row_weights
from solvent.exact.solution import WAY_OUT, CertificateError, ImproperGameError
from solvent.model import GameInfo, TabularGame, TabularPolicy, against
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.progress import OnProgress, ProgressReporter

# A row that falls by less than this, in units of the size of the changes along it, may be part of a
# loop whose rewards cancel. Whether they do is checked exactly.
_TIGHT = 1e-9

LEVELS = 8
"""Largest number of arrays whose sum is a bound."""

SMALL = 2000
"""Games of at most this many states get narrower bounds, which take longer."""

NARROW = 1e-11
"""A bound this close, in units of the value at the start or of 1, is not improved unless a narrower
one is requested."""

# The same for a small game.
_NARROWER = 1e-13

# The bounds of a two-player game are computed again if they are farther apart than this, in units
# of the value or of 1.
_CLOSE = 1e-9

EPSILON = float(np.finfo(float).eps)

BLOCK = 16
"""Number of terms of a start value that are added in floats; sums of blocks are added exactly."""

Total: TypeAlias = Callable[[Floats, Floats], Floats]
"""Maps gains of states or rows, and their tolerances, to the total gain of play, [S]."""

Change: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""Maps an array [S] to its rise in each state or along each row, and the rounding of that."""


def bracket(
    game: TabularGame,
    values: Floats,
    policies: tuple[TabularPolicy, TabularPolicy],
    *,
    narrow: float = NARROW,
    progress: OnProgress | None = None,
) -> tuple[float, float]:
    """Return a lower and an upper bound of the game's value at its start.

    The bounds hold whatever the values and policies are; good ones only make them narrow.

    Args:
        game: The game.
        values: [S] supposed values.
        policies: Supposedly optimal policies of both players.
        narrow: If one player chooses, a bound this close, in units of the value at the start or of
            1, is not improved.
        progress: Called with the number of states done, if both players choose: each state counts
            twice for each policy.

    Raises:
        CertificateError: If no bound could be proved.
        ImproperGameError: If a player does best by never ending play, play under a policy need not
            end, or the value depends on who has to end it.
    """
    chooses = [bool((count > 1).any()) for count in game.action_count]
    if all(chooses):
        return _two_player_bracket(game, values, policies, progress)
    if not np.isfinite(values).all():
        raise CertificateError(f"{game.info.name}: the value of a state is not a finite number")
    values = np.where(game.terminal, 0.0, values)
    side = -1 if chooses[1] else 1
    value, rounding = _at_start(game, side * values)
    weight = _proper_weights(game, policies)
    lengths = cache(lambda: _lengths(game, weight))
    if game.n_states <= SMALL:
        narrow = min(narrow, _NARROWER)
    achieved = value - rounding - _shortfall(game, values, weight, side, lengths, narrow)
    beyond = _upper_bound(game, values, side, lengths, narrow)
    low, high = (achieved, beyond) if side > 0 else (-beyond, -achieved)
    return float(low), float(high)


def _two_player_bracket(
    game: TabularGame,
    values: Floats,
    policies: tuple[TabularPolicy, TabularPolicy],
    progress: OnProgress | None,
) -> tuple[float, float]:
    """Return the bounds of :func:`bracket` if both players choose."""
    # The game that each policy leaves to the other player, and a bound of that player's rewards.
    lefts, bounds, supposed = [], [], [values, values]
    for player, policy in enumerate(policies):
        before = 2 * player * game.n_states
        report = ProgressReporter(progress, "proving", 4 * game.n_states, before=before)
        lefts.append(against(game, policy))
        report(game.n_states)
        bounds.append(_response_bound(lefts[-1], values, 2 * player - 1))
        report(2 * game.n_states)
    # If they are far apart, values or policies are wrong: solve for the values of the responses.
    if not (np.isfinite(bounds).all() and sum(bounds) <= _CLOSE * max(1.0, abs(bounds[1]))):
        for player, left in enumerate(lefts):
            supposed[player] = optimum(left)[0]
            own = _upper_bound(left, supposed[player], 2 * player - 1)
            bounds[player] = min(bounds[player], own)
    for policy, left, own_values in zip(policies, lefts, supposed, strict=True):
        refuse_cancelling_loops(game, policy, left, own_values)
    return -bounds[0], bounds[1]


def _response_bound(game: TabularGame, values: Floats, side: int) -> float:
    """Bound the rewards of the player who chooses; infinite if the values do not prove a bound.

    Args:
        game: The game in which the other player's policy is folded into chance.
        values: [S] its supposed values.
        side: 1 if the player who chooses is player 0, else -1; that player's rewards are bounded.
    """
    if not np.isfinite(values).all():
        return np.inf
    try:
        return _upper_bound(game, np.where(game.terminal, 0.0, values), side)
    except (CertificateError, ImproperGameError):
        return np.inf


def refuse_cancelling_loops(
    game: TabularGame, policy: TabularPolicy, left: TabularGame, values: Floats
) -> None:
    """Refuse a policy if its value depends on who has to leave a loop whose rewards cancel.

    The bounds of a best response assume that the responding player leaves such a loop. If the other
    player could leave it too, or both have to agree, the policy may owe its value to that.

    Args:
        game: A two-player game.
        policy: The policy of either player.
        left: The game that it leaves to the other player.
        values: [S] the values of the best response.

    Raises:
        ImproperGameError: If there is such a loop.
    """
    if not components(left).cyclic.any():
        return
    rewarded = ~free_rows(left) & staying_rows(left, np.ones(left.n_rows, bool))[1]
    if not rewarded.any():
        return
    other = 1 - policy.player
    side = 1 - 2 * other
    label, inside, _, _ = _merge_loops(left, side * np.where(left.terminal, 0.0, values), side)
    loops = np.isin(label, label[left.row_state[rewarded & inside]])
    alone = _can_stay(game, other, ~game.terminal) & ~_can_stay(game, policy.player, loops)
    shared = loops & ~alone
    if shared.any():
        raise ImproperGameError(
            f"{game.info.name}: from state {game.states[int(np.argmax(shared))]!r} play can go on "
            f"for ever while its rewards cancel, and the value depends on who has to end it; "
            f"{WAY_OUT}"
        )


def _can_stay(game: TabularGame, player: int, states: Bools) -> Bools:
    """Return the states from which a player can keep play within given states for ever, [S].

    Args:
        game: The game.
        player: 0 or 1; the other player may do anything.
        states: [S] bool, no terminal states among them.
    """
    width = game.mask[player].shape[1]
    pair = game.row_state * width + game.row_action[player]
    while True:
        leaves = np.zeros(game.n_rows, bool)
        leaves[game.outcome_row[~states[game.next_state]]] = True
        barred = np.zeros(game.n_states * width, bool)
        barred[pair[leaves]] = True
        kept = states & (game.mask[player] & ~barred.reshape(-1, width)).any(axis=1)
        if (kept == states).all():
            return states
        states = kept


def _rises(game: TabularGame, values: Floats, sign: int) -> tuple[Floats, Floats]:
    """Return the advantages of all rows, [K], and bounds of their rounding, [K].

    Args:
        game: The game.
        values: [S].
        sign: The factor of rewards: 1, -1 or 0.
    """
    rise, magnitude = row_advantages(transitions_of(game), game.outcome_reward, values, sign)
    return rise, (np.diff(game.outcome_start) + 4) * EPSILON * magnitude


def _at_start(game: TabularGame, *parts: Floats) -> tuple[float, float]:
    """Return the expected value of a sum of arrays at the start, and a bound of its rounding."""
    starts = np.flatnonzero(game.initial)
    chance = game.initial[starts]
    lacking = abs(1 - fsum(chance))
    terms = [chance * part[starts] for part in parts]
    rounding = sum(float(np.abs(part[starts]).max()) * lacking for part in parts)
    # Only sums within a block are rounded, in any order less than BLOCK times each.
    every = np.concatenate(terms)
    rounding += (4 + min(BLOCK, len(every))) * EPSILON * float(np.abs(every).sum())
    return fsum(np.add.reduceat(every, np.arange(0, len(every), BLOCK))), rounding


def _proper_weights(game: TabularGame, policies: tuple[TabularPolicy, ...]) -> Floats:
    """Return the probability of each row, [K]; 0 in states from which play need not end.

    Raises:
        ImproperGameError: If play need not end from a possible initial state.
    """
    weight = row_weights(game, *policies)
    lost = nonterminating(game, weight)
    lost = can_reach(game, weight > 0, lost) if lost.any() else lost
    if (lost & (game.initial > 0)).any():
        raise ImproperGameError(
            f"{game.info.name}: play by this policy from state "
            f"{game.states[int(np.argmax(lost & (game.initial > 0)))]!r} need not end"
        )
    return np.where(lost[game.row_state], 0.0, weight)


def _lengths(game: TabularGame, weight: Floats) -> Floats | None:
    """Return expected numbers of moves under a policy, [S], to a factor of 2; None if unknown."""
    if not components(game).cyclic.any():
        return None  # One pass over the states finds the bounds.
    try:
        lengths = Chain(game.info.name, transitions_of(game), weight).lengths
    except CertificateError:
        return None
    return None if lengths is None else np.where(game.terminal, 0.0, lengths)


def _multiples(
    game: TabularGame,
    values: Floats,
    rise: Floats,
    rounding: Floats,
    change: Change,
    lengths: Callable[[], Floats | None],
    narrow: float,
) -> Iterator[tuple[float, Floats]]:
    """Yield narrow additions to the values that are multiples of 1 and of lengths.

    Args:
        game: The game.
        values: [S].
        rise: The rise of the values, in each state under a policy or along each row.
        rounding: The rounding of that.
        change: The function that returns the rise of an array.
        lengths: A function that returns the expected numbers of moves, [S], or None.
        narrow: Largest addition at the start, in units of the value there or of 1.

    Returns:
        The largest rise that is left with each addition, rounding included, and the addition, [S].
    """
    most = narrow * max(1.0, abs(_at_start(game, values)[0]))
    gain = rise + 2 * rounding
    gains = gain > 0
    for shape in (lambda: np.where(game.terminal, 0.0, 1.0), lengths):
        moves = shape()
        if moves is None:
            return
        more, blur = change(moves)
        fall = -more - blur
        if (fall[gains] > 0).all():
            factor = float((gain[gains] / fall[gains]).max(initial=0.0))
            added = (1 + 8 * EPSILON) * factor * moves
            if _at_start(game, added)[0] <= most:
                more, blur = change(added)
                yield float((rise + more + rounding + blur).max()), added


def _shortfall(
    game: TabularGame,
    values: Floats,
    weight: Floats,
    side: int,
    lengths: Callable[[], Floats | None],
    narrow: float,
) -> float:
    """Bound how far a policy's value at the start falls below `values`.

    Args:
        game: The game.
        values: [S].
        weight: [K] the probability of each row under the policy.
        side: 1 if the player who chooses is player 0, else -1.
        lengths: A function that returns the expected numbers of moves, [S], or None.
        narrow: A bound this close is not improved, as for :func:`bracket`.

    Raises:
        CertificateError: If no bound could be proved.
    """
    rows = np.diff(game.row_start)[game.row_state]

    def averaged(rise: Floats, rounding: Floats) -> tuple[Floats, Floats]:
        # The average over a state's rows is rounded once more.
        rounding = weight * (rounding + (rows + 4) * EPSILON * np.abs(rise))
        return (
            grouped_sum(game.row_state, weight * rise, game.n_states),
            grouped_sum(game.row_state, rounding, game.n_states),
        )

    rise, rounding = averaged(*_rises(game, -side * values, -side))

    def change(debt: Floats) -> tuple[Floats, Floats]:
        return averaged(*_rises(game, debt, 0))

    for left, below in _multiples(game, values, rise, rounding, change, lengths, narrow):
        if left <= 0:
            return sum(_at_start(game, below))
    solve = chain_solver(game, weight)
    short, unmet = _bound(
        rise,
        rounding,
        lambda right, slack: solve(right, within=slack),
        change,
    )
    if unmet is not None:
        raise CertificateError(
            f"{game.info.name}: no lower bound could be proved at state {game.states[unmet]!r}; "
            f"play ends too rarely for floats"
        )
    return sum(_at_start(game, *short))


def _upper_bound(
    game: TabularGame,
    values: Floats,
    side: int,
    lengths: Callable[[], Floats | None] = lambda: None,
    narrow: float = NARROW,
) -> float:
    """Bound the value at the start under every policy of the player who chooses.

    Args:
        game: The game.
        values: [S] its supposed values.
        side: 1 if the player who chooses is player 0, else -1.
        lengths: A function that returns the expected numbers of moves under a policy, or None.
        narrow: A bound this close is not improved, as for :func:`bracket`.

    Raises:
        ImproperGameError: If the player does best by never ending play.
        CertificateError: If no bound could be proved.
    """
    values = side * values
    name = game.info.name
    cyclic = bool(components(game).cyclic.any())
    rise, rounding = _rises(game, values, side)

    def change(added: Floats) -> tuple[Floats, Floats]:
        return _rises(game, added, 0)

    # Without cycles, one backward pass finds the largest total gain.
    tried = _multiples(game, values, rise, rounding, change, lengths, narrow)
    for left, above in tried if cyclic else ():
        # If every row loses, so does every loop, and none has to be merged.
        if left < 0:
            return sum(_at_start(game, values, above))
    inside, blur, most = np.zeros(game.n_rows, bool), np.zeros(game.n_states), _acyclic_total(game)
    if cyclic:
        loops, inside, values, blur = _merge_loops(game, values, side)
        rise, rounding = _rises(game, values, side)
        most = _most_gained(game, ~inside, loops)
    if blur.any():
        rounding += blur[game.row_state] + game.expectation(blur, rewarded=False)
    rise[inside] = -np.inf
    try:
        added, unmet = _bound(rise, rounding, most, change)
    except ImproperGameError:
        # Some loop gains with rounding in its favour. Does one gain without?
        try:
            most(rise - rounding, 0 * rounding)
        except ImproperGameError:
            raise ImproperGameError(
                f"{name}: player {0 if side > 0 else 1} does best by never ending"
            ) from None
        raise CertificateError(
            f"{name}: no upper bound could be proved: some loop loses too little for floats to tell"
        ) from None
    if unmet is not None:
        raise CertificateError(
            f"{name}: no upper bound could be proved at state "
            f"{game.states[int(game.row_state[unmet])]!r}; play ends too rarely for floats"
        )
    if cyclic:
        _refuse_nonterminating_play(game, values + sum(added))
    return sum(_at_start(game, values, *added))


def _bound(
    rise: Floats, rounding: Floats, total: Total, change: Change
) -> tuple[list[Floats], int | None]:
    """Return an addition to the values under which they rise nowhere.

    It is a sum of arrays, each of which bounds the rise that the arrays before it leave, so that
    its differences are known far more precisely than floats of its size can express.

    Args:
        rise: The rise of the values, in each state under a policy or along each row.
        rounding: The rounding of that.
        total: The function that returns the total gain of play.
        change: The function that returns the rise of an array.

    Returns:
        The arrays, and the first index at which the values still rise; None if there is none.
    """
    added: list[Floats] = []
    for _ in range(LEVELS):
        # Leave room everywhere for the rounding of the addition itself.
        spare = float((rise + rounding).max()) if added else 0.0
        added.append(total(rise + 2 * rounding + spare, 0.5 * (rounding + spare)))
        more, blur = change(added[-1])
        rise, rounding = rise + more, rounding + blur
        falls = rise + rounding <= 0
        if falls.all():
            return added, None
    return added, int(np.argmin(falls))


def _acyclic_total(game: TabularGame) -> Total:
    """Return a function for the largest total gain in a game without cycles."""

    def total(gain: Floats, _slack: Floats) -> Floats:
        most, chosen = np.zeros(game.n_states), np.empty(game.n_states, np.int64)
        minimizing = np.zeros(game.n_states, bool)
        induce(
            components(game).order, transitions_of(game), gain[game.outcome_row], minimizing,
            most, chosen, 0.0,
        )  # fmt: skip
        return most

    return total


def _merge_loops(
    game: TabularGame, values: Floats, side: int
) -> tuple[Ints, Bools, Floats, Floats]:
    """Find the loops whose states have the same value, up to the rewards between them.

    Args:
        game: The game.
        values: [S] to the player who chooses.
        side: 1 if that is player 0, else -1.

    Returns:
        loops: [S] a label that the states of a loop share, -1 outside all loops.
        inside: [K] the rows of the loops, which never leave them.
        values: [S] the values, with those of each loop raised to its best.
        blur: [S] a bound of their rounding.
    """
    free = free_rows(game)
    loops, inside = staying_rows(game, free)
    rise, rounding = _rises(game, values, side)
    tight = inside | (rise >= -_TIGHT / EPSILON * rounding)
    wide, within = staying_rows(game, tight)
    collected = np.zeros(game.n_states)
    for label in np.unique(wide[game.row_state[within & ~free]]).tolist():
        states = np.flatnonzero(wide == label)
        potential = _potential(game, states, within, side)
        if potential is None:
            wide[states] = -1
        else:
            collected[states] = potential
    if not within.any() and not (loops >= 0).any():
        return loops, within, values, np.zeros(game.n_states)
    # Loops without rewards that are not part of another loop.
    alone = (wide < 0) & (loops >= 0)
    wide[alone] = game.n_states + loops[alone]
    inside = np.where(alone[game.row_state], inside, within & (wide[game.row_state] >= 0))

    raised, blur = values.copy(), np.zeros(game.n_states)
    looping = np.flatnonzero(wide >= 0)
    _, loop = np.unique(wide[looping], return_inverse=True)
    best = np.full(loop.max(initial=-1) + 1, -np.inf)
    np.maximum.at(best, loop, (values - collected)[looping])
    raised[looping] = best[loop] + collected[looping]
    moved = looping[collected[looping] != 0]
    blur[moved] = 4 * EPSILON * (np.abs(raised[moved]) + np.abs(collected[moved]))
    return wide, inside, raised, blur


def _potential(game: TabularGame, states: Ints, rows: Bools, side: int) -> list[float] | None:
    """Return the rewards between the states of a loop, if they are the same on all ways.

    Returns:
        For each state, the mean reward on a way from there to the first state; None if in exact
        arithmetic some row gains or loses against that.
    """
    # Each row's outcomes as (probability, next state, reward), and each state's predecessors.
    outcomes: dict[int, list[list[tuple[Fraction, int, Fraction]]]] = {}
    into: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
    for s in states.tolist():
        outcomes[s] = []
        for k in np.flatnonzero(rows[slice(*game.row_start[s : s + 2])]) + game.row_start[s]:
            span = slice(*game.outcome_start[k : k + 2].tolist())
            row = [
                (Fraction(p), t, side * Fraction(r))
                for p, t, r in zip(
                    game.probability[span].tolist(), game.next_state[span].tolist(),
                    game.outcome_reward[span].tolist(), strict=True,
                )
            ]  # fmt: skip
            outcomes[s].append(row)
            if len({t for _, t, _ in row}) == 1:
                mean = sum((p * r for p, _, r in row), Fraction(0))
                into[row[0][1]].append((s, mean / sum((p for p, _, _ in row), Fraction(0))))
            else:
                for _, t, r in row:
                    into[t].append((s, r))
    collected: dict[int, Fraction] = {int(states[0]): Fraction(0)}
    waiting = [int(states[0])]
    while waiting:
        t = waiting.pop()
        for s, r in into[t]:
            if s not in collected:
                collected[s] = collected[t] + r
                waiting.append(s)
    for s, own in outcomes.items():
        if any(sum(p * (r + collected[t] - collected[s]) for p, t, r in row) for row in own):
            return None
    return [float(collected[s]) for s in states.tolist()]


def _refuse_nonterminating_play(game: TabularGame, bound: Floats) -> None:
    """Raise if a player can stay in a loop for ever at no cost where ending is a loss."""
    worse = (end_components(game, free_rows(game)) >= 0) & (bound < 0)
    if worse.any():
        raise ImproperGameError(
            f"{game.info.name}: from state {game.states[int(np.argmax(worse))]!r} it is best "
            f"never to end (to the player who chooses, ending has the value "
            f"{bound[worse][0]:.6g}, going on for ever 0)"
        )


def _most_gained(game: TabularGame, rows: Bools, loops: Ints) -> Total:
    """Return a function for the largest total gain along given rows, each loop merged into a state.

    The function raises ImproperGameError if some loop gains for ever.
    """

    def total(gain: Floats, _slack: Floats) -> Floats:
        merged = np.where(loops >= 0, game.n_states + loops, np.arange(game.n_states))
        _, place = np.unique(merged, return_inverse=True)
        count = int(place.max()) + 1
        kept = np.flatnonzero(rows)
        kept = kept[np.argsort(place[game.row_state[kept]], kind="stable")]
        choices = np.bincount(place[game.row_state[kept]], minlength=count)
        used = np.flatnonzero(rows[game.outcome_row])
        new_row = np.full(game.n_rows, -1)
        new_row[kept] = np.arange(len(kept))
        used = used[np.argsort(new_row[game.outcome_row[used]], kind="stable")]
        counts = np.bincount(new_row[game.outcome_row[used]], minlength=len(kept))
        # No masks: a merged loop may have a hundred thousand actions, far more than any state.
        quotient = TabularGame.trusted(
            "",
            info=GameInfo(game.info.name, 1, (("move",),), False, (0.0, np.inf), ()),
            states=range(count),
            row_start=np.concatenate(([0], np.cumsum(choices))),
            outcome_start=np.concatenate(([0], np.cumsum(counts))),
            next_state=place[game.next_state[used]],
            probability=game.probability[used],
            outcome_reward=gain[game.outcome_row[used]],
            action_count=(choices, np.minimum(choices, 1)),
        )
        return solve_values(quotient)[place]

    return total
