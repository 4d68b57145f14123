"""Bounds of a game's value that do not trust the iteration that found it.

**What a policy achieves.** Its value is recomputed by one sparse linear solve. If the residual of
that solution is at most e in every state, the error is at most e times the expected number of
moves, since errors add up along a play.

**What no policy can beat.** Let q(k) be the value of row k given values V, and write
gap(k) = V(s) - q(k). A function U with U(s) >= q_U(k) for all rows k of s bounds the value from
above (it is excessive; Puterman 1994, theorem 7.2.2). Take U = V + h w with a small h > 0 and

* without cycles, w = the most moves that can be left;
* with cycles, w = the largest expected number of moves when only *tight* rows are played, those
  with a gap below 1e-9. The condition is then checked for every row, tight or not.

Tight rows inside an end component (a loop that can be kept up for ever without losing anything)
are left out of w. Where such a loop pays nothing, V is first raised to its largest value in the
loop, which makes the condition hold there with equality. Where its rewards cancel, they
telescope to V(last) - V(first), so going round it neither gains nor loses, whatever rounding
says; there alone ties closer than 1e-9 are taken for ties.

**Two players.** The value lies between what player 0's policy gets against a best response and
what player 1's policy concedes to one. Each is a one-player problem, bounded as above.
"""

from __future__ import annotations

import numpy as np

from solvent.exact.components import components, end_components
from solvent.exact.evaluation import expectation, expected_length, policy_value, row_weights
from solvent.exact.solution import CertificateError, ImproperGameError
from solvent.model import GameInfo, TabularGame, TabularPolicy, against
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum

TIGHT = 1e-9
"""Rows this close to optimal, in units of the largest payoff, may be played in a tie."""


def bracket(
    game: TabularGame, values: Floats, policies: tuple[TabularPolicy, TabularPolicy]
) -> tuple[float, float]:
    """A lower and an upper bound of the game's value at its start.

    Args:
        game: The game.
        values: [S] its supposed values.
        policies: Its supposed optimal policies.

    Raises:
        CertificateError: If no bound could be proved.
        ImproperGameError: If a player does best by never ending.
    """
    from solvent.exact.solve import solve

    chooses = [bool((count > 1).any()) for count in game.action_count]
    if all(chooses):
        # However wide the two brackets are, the caller judges the one that they make.
        return (
            solve(against(game, policies[0]), tolerance=np.inf).lower,
            solve(against(game, policies[1]), tolerance=np.inf).upper,
        )
    sign = -1 if chooses[1] else 1
    evaluated = policy_value(game, *policies)
    achieved = sign * float(game.initial @ evaluated) - _evaluation_error(game, policies, evaluated)
    beyond = _upper_bound(game, sign * values, sign * expectation(game, values))
    low, high = (achieved, beyond) if sign > 0 else (-beyond, -achieved)
    return low, high


def _rounding(game: TabularGame, values: Floats) -> float:
    """A bound of the rounding error of one row's expectation."""
    widest = int(np.diff(game.outcome_start).max(initial=1))
    largest = np.abs(values).max() + np.abs(game.outcome_reward).max(initial=0)
    return float((widest + 2) * np.finfo(float).eps * max(largest, 1.0))


def _evaluation_error(
    game: TabularGame, policies: tuple[TabularPolicy, ...], values: Floats
) -> float:
    """How far the `values` that `policy_value` found may be from the truth, at the start."""
    weight = row_weights(game, *policies)
    again = grouped_sum(game.row_state, weight * expectation(game, values), game.n_states)
    residual = float(np.abs(again - values).max()) + _rounding(game, values)
    starts = game.initial > 0
    length = expected_length(game, *policies)[starts]
    return residual * float(game.initial[starts] @ length)


def _upper_bound(game: TabularGame, values: Floats, row_values: Floats) -> float:
    """A bound that no policy of a player who maximises can exceed."""
    noise = _rounding(game, values)
    parts = components(game)
    if not parts.cyclic.any():
        excess = float((row_values - values[game.row_state]).max(initial=0.0)) + noise
        return float(game.initial @ (values + excess * parts.depth))

    scale = max(1.0, float(np.abs(values).max()))
    tight = row_values >= values[game.row_state] - TIGHT * scale
    loops = end_components(game, tight)
    inside = tight & (loops[game.row_state] >= 0) & (_leaving(game, loops) == 0)
    _refuse_endless_play(game, values, scale)
    lift = _lift_in_free_loops(game, values, loops, inside)
    values = values + lift
    row_values = row_values + grouped_sum(
        game.outcome_row, game.probability * lift[game.next_state], game.n_rows
    )
    rising = np.where(inside, 0.0, row_values - values[game.row_state])
    height = 2 * (float(rising.max(initial=0.0)) + noise)
    moves = _most_moves(game, tight & ~inside, loops)
    drop = moves[game.row_state] - grouped_sum(
        game.outcome_row, game.probability * moves[game.next_state], game.n_rows
    )
    if (np.where(inside, 0.0, rising - height * drop) > 0).any():
        row = int(np.argmax(np.where(inside, -np.inf, rising - height * drop)))
        raise CertificateError(
            f"{game.info.name}: no upper bound could be proved at state "
            f"{game.states[int(game.row_state[row])]!r}"
        )
    return float(game.initial @ (values + height * moves))


def _leaving(game: TabularGame, label: Ints) -> Ints:
    """How many outcomes of each row lead to another label than its state's, [K]."""
    leaves = label[game.row_state[game.outcome_row]] != label[game.next_state]
    return np.bincount(game.outcome_row[leaves], minlength=game.n_rows)


def _lift_in_free_loops(game: TabularGame, values: Floats, loops: Ints, inside: Bools) -> Floats:
    """How far each state of a loop without rewards is below the best state of the loop, [S]."""
    paid = inside[game.outcome_row] & (game.outcome_reward != 0)
    count = int(loops.max()) + 1
    free = np.ones(count, bool)
    free[loops[game.row_state[game.outcome_row[paid]]]] = False
    best = np.full(count, -np.inf)
    looping = np.flatnonzero(loops >= 0)
    np.maximum.at(best, loops[looping], values[looping])
    looping = looping[free[loops[looping]]]
    lift = np.zeros(game.n_states)
    lift[looping] = best[loops[looping]] - values[looping]
    return lift


def _refuse_endless_play(game: TabularGame, values: Floats, scale: float) -> None:
    """Raise if a player could go round for ever at no cost where ending costs something."""
    free = np.ones(game.n_rows, bool)
    free[game.outcome_row[game.outcome_reward != 0]] = False
    worse = (end_components(game, free) >= 0) & (values < -TIGHT * scale)
    if worse.any():
        raise ImproperGameError(
            f"{game.info.name}: from state {game.states[int(np.argmax(worse))]!r} it is best "
            f"never to end (to the player who chooses, ending is worth {values[worse][0]:.6g} and "
            f"going on for ever 0)"
        )


def _most_moves(game: TabularGame, rows: Bools, loops: Ints) -> Floats:
    """The largest expected number of the given rows, each loop merged into one state, [S]."""
    from solvent.exact.solve import solve_values

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
    initial = np.zeros(count)
    initial[0] = 1.0
    quotient = TabularGame(
        info=GameInfo(game.info.name, 1, (("move",),), False, (0.0, np.inf), game.info.sources),
        states=range(count),
        row_start=np.concatenate(([0], np.cumsum(choices))),
        outcome_start=np.concatenate(([0], np.cumsum(counts))),
        next_state=place[game.next_state[used]],
        probability=game.probability[used],
        outcome_reward=np.ones(len(used)),
        mask=(
            np.arange(max(int(choices.max()), 1)) < choices[:, None],
            (choices > 0)[:, None],
        ),
        initial=initial,
    )
    return solve_values(quotient)[place]
