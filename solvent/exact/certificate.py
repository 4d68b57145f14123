"""Bounds of a game's value that do not trust the iteration that found it.

Let V be supposed values and a(k) = sum of p (r + V(t) - V(s)) the *advantage* of row k of state s,
by how much the value rises along it. Advantages are computed by differences, so that their rounding
is in proportion to the rewards and differences beside them: what is large elsewhere does not widen
a bracket here, nor hide a loss.

**What a policy achieves.** If the policy's rows rise by at least -e(s) on the average in every
state s, its value is at least V - u for every u >= 0 that falls by e(s) or more in every move
(u - P u >= e: the errors that play can still meet).

**What no policy can beat.** U bounds the value from above if no row rises under it (it is
excessive; Puterman 1994, theorem 7.2.2). U = V + w is, if w falls along every row k by a(k) and its
rounding or more. The optimum of the game with the rewards a(k) and twice their rounding is such a
w. In a large game with one player, the expected numbers of moves under its policy, to a factor of
2, are found once: a multiple of them is tried for both u and w.

Both conditions are checked in floats for every state and row, with their rounding, whatever the
values, u and w came from.

**Loops.** In a loop that can be kept up for ever without any reward, every state has the same
value, so it is taken for one state, with the best of its values. If that bound is below 0, never to
end is better than what was found, and the game is refused. Where the rewards of a loop cancel,
exactly and on every way round it, its values differ by what is collected on the way, and it is one
state likewise. These rows alone are exempt from the check, which they satisfy with equality. Every
other loop has to fall under U, so one that gains, however little, has no bound.

**What the floats stand for.** A bracket holds for every game whose rewards and probabilities to
change the state are those of the table but for a relative rounding; a state is left with what its
moves sum to, so what a row lacks of 1 counts as staying.

**Two players.** The value lies between what player 0's policy gets against a best response and
what player 1's policy yields to a best response. Each is a one-player problem, and what no response
can beat is bounded as above, from the game's own supposed values. To stay in a loop whose rewards
cancel has no value, so the one who responds has to leave it. That is right only if the other one
could not. Otherwise the game is refused, since its value would depend on which of the two is called
player 0 (:func:`refuse_cancelling_loops`).
"""

from __future__ import annotations

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
    raise_values,
    row_advantages,
    substitute_back,
    transitions_of,
)
from solvent.exact.components import (
    can_reach,
    components,
    end_components,
    free_rows,
    leaving_rows,
)
from solvent.exact.decomposition import optimum, solve_values
from solvent.exact.evaluation import nonterminating, row_weights
from solvent.exact.solution import WAY_OUT, CertificateError, ImproperGameError
from solvent.model import GameInfo, TabularGame, TabularPolicy, against
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.cache import OnProgress, Teller

TIGHT = 1e-9
"""A row that falls by less than this, in units of what changes along it, may be part of a loop
whose rewards cancel; whether they do is then looked at exactly."""

LEVELS = 8
"""The largest number of arrays that a bound may be the sum of."""

SMALL = 2000
"""Bounds of games of up to so many states are narrower, which takes longer."""

SLACK = 8.0
"""The factor by which such a bound is wider where the least one cannot be raised so far."""

LATER = 16
"""Sweeps after which a bound that still rises along some row is not raised further."""

NARROW = 1e-11
"""A bound that is so near, in units of the start's value or of 1, needs no closer look unless a
narrower one is asked for."""

NARROWER = 1e-13
"""The same for a small game."""

CLOSE = 1e-9
"""Bounds of a game for two that are farther apart, in units of the value or of 1, are looked for
again."""

EPSILON = float(np.finfo(float).eps)

BLOCK = 16
"""Number of terms of a start value that are added before their sums are added exactly."""


def bracket(
    game: TabularGame,
    values: Floats,
    policies: tuple[TabularPolicy, TabularPolicy],
    *,
    narrow: float = NARROW,
    progress: OnProgress | None = None,
) -> tuple[float, float]:
    """A lower and an upper bound of the game's value at its start.

    Args:
        game: The game.
        values: [S] the supposed values of the game.
        policies: Policies of the players that are supposed to be optimal.
        narrow: A bound that is so near, in units of the value at the start or of 1, needs no closer
            look, if one player chooses.
        progress: Called with the states done so far, if there are two policies to prove: each
            state counts twice for either.

    Returns:
        The bounds; they hold whatever the values and policies are, which only make them narrow.

    Raises:
        CertificateError: If no bound could be proved.
        ImproperGameError: If a player does best by never ending, a policy need not end, or the
            value depends on who has to end play.
    """
    chooses = [bool((count > 1).any()) for count in game.action_count]
    if all(chooses):
        # What no response to either policy can beat, each in a game for one.
        lefts, bounds, supposed = [], [], [values, values]
        for player, policy in enumerate(policies):
            before = 2 * player * game.n_states
            tell = Teller(progress, "proving", 4 * game.n_states, before=before)
            lefts.append(against(game, policy))
            tell(game.n_states)
            bounds.append(_gained_at_most(lefts[-1], values, 2 * player - 1))
            tell(2 * game.n_states)
        # They are apart if values or policies are wrong: the responses have values of their own.
        if not (np.isfinite(bounds).all() and sum(bounds) <= CLOSE * max(1.0, abs(bounds[1]))):
            for player, left in enumerate(lefts):
                supposed[player] = optimum(left)[0]
                own = _upper_bound(left, supposed[player], 2 * player - 1)
                bounds[player] = min(bounds[player], own)
        for policy, left, own_values in zip(policies, lefts, supposed, strict=True):
            refuse_cancelling_loops(game, policy, left, own_values)
        return -bounds[0], bounds[1]
    if not np.isfinite(values).all():
        raise CertificateError(f"{game.info.name}: the value of a state is not a finite number")
    # The value of an end is 0; all else is held against the rewards.
    values = np.where(game.terminal, 0.0, values)
    side = -1 if chooses[1] else 1
    value, rounding = _at_start(game, side * values)
    weight = _proper_weights(game, policies)
    lengths = cache(lambda: _lengths(game, weight))
    if game.n_states <= SMALL:
        narrow = min(narrow, NARROWER)
    achieved = value - rounding - _shortfall(game, values, weight, side, lengths, narrow)
    beyond = _upper_bound(game, values, side, lengths, np.flatnonzero(weight), narrow)
    low, high = (achieved, beyond) if side > 0 else (-beyond, -achieved)
    return float(low), float(high)


def _gained_at_most(game: TabularGame, values: Floats, side: int) -> float:
    """Bound the rewards of the player who chooses; infinite if the values do not show a bound.

    Args:
        game: The game in which the other player's policy is folded into chance.
        values: [S] its supposed values.
        side: 1 if the player who chooses is player 0, else -1; the bound is of its own rewards.
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
    """Refuse a policy against which both players could keep a loop going whose rewards cancel.

    The bounds of a best response take it that the player who responds ends such play. If the policy
    could end it too, or both have to agree, the policy may owe its value to that.

    Args:
        game: A game for two.
        policy: The policy of either player.
        left: The game that is left for the other player.
        values: [S] of the best response.

    Raises:
        ImproperGameError: If there is such a loop.
    """
    if not components(left).cyclic.any():
        return
    every, paid = np.ones(left.n_rows, bool), ~free_rows(left)
    label = end_components(left, every)
    paid &= (label[left.row_state] >= 0) & ~leaving_rows(left, label)
    if not paid.any():
        return
    other = 1 - policy.player
    side = 1 - 2 * other
    label, inside, _, _ = _merge_loops(left, side * np.where(left.terminal, 0.0, values), side)
    loops = np.isin(label, label[left.row_state[paid & inside]])
    alone = _can_stay(game, other, ~game.terminal) & ~_can_stay(game, policy.player, loops)
    shared = loops & ~alone
    if shared.any():
        raise ImproperGameError(
            f"{game.info.name}: from state {game.states[int(np.argmax(shared))]!r} play can go on "
            f"for ever while its rewards cancel, and the value depends on who has to end it; "
            f"{WAY_OUT}"
        )


def _can_stay(game: TabularGame, player: int, states: Bools) -> Bools:
    """The states from which a player can keep play within some states for ever, [S].

    Args:
        game: The game.
        player: 0 or 1; the other one may do anything.
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
    """The advantages of all rows, [K], and a bound of their rounding, [K].

    Args:
        game: The game.
        values: [S].
        sign: The factor of rewards: 1, -1 or 0.
    """
    rise, magnitude = row_advantages(transitions_of(game), game.outcome_reward, values, sign)
    return rise, (np.diff(game.outcome_start) + 4) * EPSILON * magnitude


def _at_start(game: TabularGame, *parts: Floats) -> tuple[float, float]:
    """The expected value at the start of a sum of arrays, and a bound of its rounding."""
    starts = np.flatnonzero(game.initial)
    chance = game.initial[starts]
    lacking = abs(1 - fsum(chance))
    terms = [chance * part[starts] for part in parts]
    rounding = sum(float(np.abs(part[starts]).max()) * lacking for part in parts)
    # Only blocks are added with rounding, however many places there are to begin: whatever the
    # order in a block, each of its sums rounds less than BLOCK times.
    every = np.concatenate(terms)
    rounding += (4 + min(BLOCK, len(every))) * EPSILON * float(np.abs(every).sum())
    return fsum(np.add.reduceat(every, np.arange(0, len(every), BLOCK))), rounding


def _proper_weights(game: TabularGame, policies: tuple[TabularPolicy, ...]) -> Floats:
    """The probability of each row, [K]; 0 where play by the policies need not end.

    Raises:
        ImproperGameError: If an episode need not end.
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
    """Expected numbers of moves under a policy, [S], to a factor of 2; None if they are unknown."""
    try:
        lengths = Chain(game.info.name, transitions_of(game), weight).lengths
    except CertificateError:
        return None
    return None if lengths is None else np.where(game.terminal, 0.0, lengths)


def _in_proportion(gain: Floats, fall: Floats, lengths: Floats) -> Floats | None:
    """A multiple of lengths that falls by the gains, [S]; None if there is none.

    Args:
        gain: Amounts by which it has to fall, in each state or along each row.
        fall: Amounts by which the lengths fall there.
        lengths: [S].
    """
    gains = gain > 0
    if not (fall[gains] > 0).all():
        return None
    factor = float((gain[gains] / fall[gains]).max(initial=0.0))
    return (1 + 8 * EPSILON) * factor * lengths


def _shortfall(
    game: TabularGame,
    values: Floats,
    weight: Floats,
    side: int,
    lengths: Callable[[], Floats | None],
    narrow: float,
) -> float:
    """Bound how far a policy falls below `values` at the start, to the player who chooses.

    Args:
        game: The game.
        values: [S].
        weight: [K] the probability of each row.
        side: 1 if the player who chooses is player 0, else -1.
        lengths: The expected numbers of moves, if they are found.
        narrow: Width that needs no closer look, as for :func:`bracket`.

    Raises:
        CertificateError: If floats cannot tell.
    """
    rows = np.diff(game.row_start)[game.row_state]

    def mixed(rise: Floats, rounding: Floats) -> tuple[Floats, Floats]:
        # Mixing rounds once more.
        rounding = weight * (rounding + (rows + 4) * EPSILON * np.abs(rise))
        return (
            grouped_sum(game.row_state, weight * rise, game.n_states),
            grouped_sum(game.row_state, rounding, game.n_states),
        )

    rise, rounding = mixed(*_rises(game, -side * values, -side))
    for moves in _shapes(game, lengths):
        more, blur = mixed(*_rises(game, moves, 0))
        below = _in_proportion(rise + 2 * rounding, -more - blur, moves)
        if below is not None and _is_narrow(game, values, below, narrow):
            more, blur = mixed(*_rises(game, below, 0))
            if (rise + more + rounding + blur <= 0).all():
                return sum(_at_start(game, below))
    total = _expected_total(game, weight)
    short, unmet = _bound(rise, rounding, total, lambda debt: mixed(*_rises(game, debt, 0)))
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
    policy: Ints | slice = slice(None),
    narrow: float = NARROW,
) -> float:
    """A bound of the start's value that no policy of the player who chooses can exceed.

    Args:
        game: The game.
        values: [S] its supposed values.
        side: 1 if the player who chooses is player 0, else -1.
        lengths: The expected numbers of moves under a policy, if they are found.
        policy: The rows of that policy.
        narrow: Width that needs no closer look, as for :func:`bracket`.

    Raises:
        ImproperGameError: If the player does best by never ending.
        CertificateError: If some loop gains for ever, or floats cannot tell.
    """
    values = side * values
    name = game.info.name
    cyclic = bool(components(game).cyclic.any())
    rise, rounding = _rises(game, values, side)

    def found() -> Iterator[Floats]:
        gain = rise + 2 * rounding
        for moves in _shapes(game, lengths):
            more, blur = _rises(game, moves, 0)
            least = _in_proportion(gain[policy], (-more - blur)[policy], moves)
            # Other rows that are nearly as good may end later.
            for above in () if least is None else (least, SLACK * least):
                if raise_values(transitions_of(game), rise + 1.5 * rounding, above, LATER):
                    yield above

    # Without cycles one pass finds the most that rows can gain.
    for above in found() if cyclic else ():
        if _is_narrow(game, values, above, narrow):
            more, blur = _rises(game, above, 0)
            # Where every row loses, no loop is without a cost, and none has to be looked for.
            if (rise + more + rounding + blur < 0).all():
                return sum(_at_start(game, values, above))
    inside, blur, most = np.zeros(game.n_rows, bool), np.zeros(game.n_states), _climb(game)
    if cyclic:
        loops, inside, values, blur = _merge_loops(game, values, side)
        rise, rounding = _rises(game, values, side)
        most = _most_gained(game, ~inside, loops)
    if blur.any():
        rounding += blur[game.row_state] + game.expectation(blur, rewarded=False)
    rise[inside] = -np.inf
    try:
        added, unmet = _bound(rise, rounding, most, lambda extra: _rises(game, extra, 0))
    except ImproperGameError:
        # Some loop gains by more than nothing if its rounding is in its favour; and otherwise?
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


def _is_narrow(game: TabularGame, values: Floats, above: Floats, narrow: float) -> bool:
    """Return whether the addition to values is next to nothing at the start, where values count."""
    return _at_start(game, above)[0] <= narrow * max(1.0, abs(_at_start(game, values)[0]))


def _shapes(game: TabularGame, lengths: Callable[[], Floats | None]) -> Iterator[Floats]:
    """Arrays of which a multiple may be added to values: the same everywhere, and lengths, [S]."""
    yield np.where(game.terminal, 0.0, 1.0)
    moves = lengths() if components(game).cyclic.any() else None
    if moves is not None:
        yield moves


Total: TypeAlias = Callable[[Floats, Floats], Floats]
"""The total gain: gains of states or rows, and by how much each may be missed -> [S]."""

Change: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""The rise of an array [S] in each state or row, and the rounding of that."""


def _bound(
    rise: Floats, rounding: Floats, total: Total, change: Change
) -> tuple[list[Floats], int | None]:
    """Return the addition to values with which nothing rises under them.

    It is a sum of arrays, each for what is left after those before it, so that its differences are
    known far more precisely than floats of its size can say.

    Args:
        rise: The rise of the values, in each state under a policy or along each row.
        rounding: The rounding of that.
        total: The sum of gains that play collects.
        change: The function that gives the rise of an array.

    Returns:
        The arrays, and where something still rises, if anywhere.
    """
    added: list[Floats] = []
    for _ in range(LEVELS):
        # Where nothing rises and nothing is rounded, what is added has a rounding of its own.
        spare = float((rise + rounding).max()) if added else 0.0
        added.append(total(rise + 2 * rounding + spare, 0.5 * (rounding + spare)))
        more, blur = change(added[-1])
        rise, rounding = rise + more, rounding + blur
        falls = rise + rounding <= 0
        if falls.all():
            return added, None
    return added, int(np.argmin(falls))


def _expected_total(game: TabularGame, weight: Floats) -> Total:
    """The expected sum over the states that are visited, when rows have the given weights."""
    parts = components(game)
    if parts.cyclic.any():
        chain = Chain(game.info.name, transitions_of(game), weight)
        return lambda right, slack: chain.solve(right, within=slack)

    def total(right: Floats, _slack: Floats) -> Floats:
        found = right.copy()
        substitute_back(parts.order, transitions_of(game), weight, found)
        return found

    return total


def _climb(game: TabularGame) -> Total:
    """The most that the rows of a game without cycles can gain."""

    def total(gain: Floats, _slack: Floats) -> Floats:
        most, chosen = np.zeros(game.n_states), np.empty(game.n_states, np.int64)
        nobody = np.zeros(game.n_states, bool)
        induce(
            components(game).order, transitions_of(game), gain[game.outcome_row], nobody, most,
            chosen, 0.0,
        )  # fmt: skip
        return most

    return total


def _merge_loops(
    game: TabularGame, values: Floats, side: int
) -> tuple[Ints, Bools, Floats, Floats]:
    """Find the loops whose states have the same value but for what is collected between them.

    Args:
        game: The game.
        values: [S] to the player who chooses.
        side: 1 if that is player 0, else -1.

    Returns:
        loops: [S] a label that the states of a loop share, -1 outside of all.
        inside: [K] the rows of the loops, which never leave them.
        values: [S] with those of each loop raised to its best.
        blur: [S] what rounding may have changed in them.
    """
    free = free_rows(game)
    loops = end_components(game, free)
    inside = free & (loops[game.row_state] >= 0) & ~leaving_rows(game, loops)
    rise, rounding = _rises(game, values, side)
    tight = inside | (rise >= -TIGHT / EPSILON * rounding)
    wide = end_components(game, tight)
    within = tight & (wide[game.row_state] >= 0) & ~leaving_rows(game, wide)
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
    # The free loops that no other loop has taken in.
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
    """Return the reward collected between the states of a loop, if it is the same on all ways.

    Returns:
        For each state what a way from there to the first of them collects on the average; None if
        in exact arithmetic some row gains or loses against that.
    """
    # Each row's outcomes as (probability, next state, reward), and where each state is led to from.
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
    """Raise if a player could go round for ever at no cost where ending is sure to cost."""
    worse = (end_components(game, free_rows(game)) >= 0) & (bound < 0)
    if worse.any():
        raise ImproperGameError(
            f"{game.info.name}: from state {game.states[int(np.argmax(worse))]!r} it is best "
            f"never to end (to the player who chooses, ending has the value "
            f"{bound[worse][0]:.6g}, going on for ever 0)"
        )


def _most_gained(game: TabularGame, rows: Bools, loops: Ints) -> Total:
    """The most that the given rows can gain, each loop merged into one state.

    When it is called, it raises ImproperGameError if some loop gains for ever.
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
        # Without masks: a merged loop may have a hundred thousand ways on, and no state as many.
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
