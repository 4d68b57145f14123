"""Many plays of football with a clock at once, compiled.

There are too many states to tabulate, so the plays read the packed rules
(:class:`solvent.games.football.packed.PackedRules`) and the clock. Everything here agrees with the
rules in :mod:`solvent.games.football_clock.rules`.

A play is in one of the *phases*

=========== ========================================================================================
CALL        Both sides call, in the situation ``row``.
CHOICE      The side that was offended takes the penalty or the play; ``choice`` is the result.
TIMEOUT     A result has been seen, and ``row`` and ``offence`` are what follows it. ``asked`` may
            call a time-out: ``saved`` ticks are left with it and ``ticks`` without.
KICKOFF     ``offence`` chooses its kick.
FREE_KICK   ``offence`` kicks; nobody has a choice.
OVER        Play has ended.
=========== ========================================================================================

Rows are those of a layer: the situations, then a kickoff and a free kick. A call draws two numbers,
one if it leads to a choice; a choice and a kick draw one, and a time-out none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.tabular import advance, draw_of
from solvent.envs.kernels.two_player import pick

CALL, CHOICE, TIMEOUT, KICKOFF, FREE_KICK, OVER = range(6)


class Plays(NamedTuple):
    """Where n plays are; arrays [n] that are changed in place.

    Attributes:
        stream: uint64, the state of the random numbers. What follows is int32.
        phase: One of the module's table.
        half: 1 or 2, as in :class:`solvent.games.football_clock.position.TimedPosition`.
        ticks: Left in the half; when a time-out may be called, without it.
        margin: Player 0's points less player 1's, as far as they count.
        receiver: Who receives the kickoff of the second half, in the first; else -1.
        offence: Who has the ball or is about to kick it; when a time-out may be called, who will.
        left0: Time-outs of player 0.
        left1: Time-outs of player 1.
        row: See the module; 0 when play is over.
        choice: The number of the result that waits for a choice, -1 if none does.
        asked: Who may call a time-out, else -1.
        other_too: 1 if the other player is asked when this one declines, else 0.
        saved: Ticks left in the half if a time-out is called.
        untimed: 1 if an untimed down follows when no time-out is called, else 0.
    """

    stream: NDArray[np.uint64]
    phase: NDArray[np.int32]
    half: NDArray[np.int32]
    ticks: NDArray[np.int32]
    margin: NDArray[np.int32]
    receiver: NDArray[np.int32]
    offence: NDArray[np.int32]
    left0: NDArray[np.int32]
    left1: NDArray[np.int32]
    row: NDArray[np.int32]
    choice: NDArray[np.int32]
    asked: NDArray[np.int32]
    other_too: NDArray[np.int32]
    saved: NDArray[np.int32]
    untimed: NDArray[np.int32]

    @classmethod
    def of(cls, n: int) -> Plays:
        """`n` plays that have not begun."""
        others = {name: np.zeros(n, np.int32) for name in cls._fields[1:]}
        return cls(np.zeros(n, np.uint64), **others)


class Rules(NamedTuple):
    """What the plays read.

    With n plays and m defences of the chart, S situations, and distributions as thresholds
    (:mod:`solvent.envs.random_stream`); those of the packed rules keep their names.

    Attributes:
        cell_start: [(n+4)*m+1] the first entry of each cell of the chart.
        cell_threshold: [C] int64.
        cell_result: [C] int32, a result.
        branch_start: [S*(R+2)+1] the first branch of each result in each situation.
        threshold: [N] int64, of branches.
        points: [N] int16, to the offence; negative ones go to the defence.
        next: [N] int32, the situation that follows, or a kickoff or a free kick.
        same_side: [N] whether it is still the offence's ball, or whether the offence kicks.
        taken: [N] ticks.
        option: [R+2, 2] int32, the results a choice is between, penalty first; -1 if it is none.
        chooser: [R+2] int8, who takes a choice: 0 the offence, 1 the defence; -1 if it is none.
        by_defence: [R+2] whether a result is a penalty of the defence.
        kick_start: [4] the first branch of a kickoff, an onside kick and a free kick, and the end.
        kick_threshold: [F] int64.
        kick_points: [F] int16, to the kicker.
        kick_next: [F] int32, as `next`.
        kick_same_side: [F] whether the kicker has the ball, or kicks again.
        kick_taken: [F] ticks.
        legal: [S, n+3] the offence's legal actions.
        situation: [S, 4] int16: down, to_go, to_goal, punting.
        after: [T+1, L+1] ticks left when, of so many, so many are taken.
        saved: [L+1] ticks taken with a time-out instead of so many.
        start_threshold: [K] int64, of the states in which an episode begins.
        plays: n.
        defences: m.
        situations: S.
        first: The numbers of the first defence, of taking the penalty, of the kickoff, and of
            calling a time-out; [4].
        choice_number: [R+2] the place of a result among the chart's choices, -1 if it is none.
        last_ticks: Left at the last stop of the clock.
        score: A touchdown with its extra point.
        largest_margin: Beyond which a lead does not count.
        timeouts: In a half.
        untimed_down: Whether a half may end with one.
        for_points: Whether points are what counts.
    """

    cell_start: NDArray[np.int64]
    cell_threshold: NDArray[np.int64]
    cell_result: NDArray[np.int32]
    branch_start: NDArray[np.int64]
    threshold: NDArray[np.int64]
    points: NDArray[np.int16]
    next: NDArray[np.int32]
    same_side: NDArray[np.bool_]
    taken: NDArray[np.int32]
    option: NDArray[np.int32]
    chooser: NDArray[np.int8]
    by_defence: NDArray[np.bool_]
    kick_start: NDArray[np.int64]
    kick_threshold: NDArray[np.int64]
    kick_points: NDArray[np.int16]
    kick_next: NDArray[np.int32]
    kick_same_side: NDArray[np.bool_]
    kick_taken: NDArray[np.int32]
    legal: NDArray[np.bool_]
    situation: NDArray[np.int16]
    after: NDArray[np.int32]
    saved: NDArray[np.int32]
    start_threshold: NDArray[np.int64]
    plays: int
    defences: int
    situations: int
    first: NDArray[np.int64]
    choice_number: NDArray[np.int32]
    last_ticks: int
    score: int
    largest_margin: int
    timeouts: int
    untimed_down: bool
    for_points: bool


@njit(cache=True)
def begin(chosen: NDArray[np.int64], plays: Plays, starts: Plays, rules: Rules) -> None:
    """Begin the chosen plays in one of the `starts`."""
    for i in chosen:
        x = advance(plays.stream[i])
        plays.stream[i] = x
        k = pick(draw_of(x), rules.start_threshold, 0, len(rules.start_threshold))
        copy(starts, k, plays, i)


@njit(cache=True, inline="always")
def copy(source: Plays, k: int, plays: Plays, i: int) -> None:
    """Make play `i` like play `k` of the source, but for its random numbers."""
    plays.phase[i] = source.phase[k]
    plays.half[i] = source.half[k]
    plays.ticks[i] = source.ticks[k]
    plays.margin[i] = source.margin[k]
    plays.receiver[i] = source.receiver[k]
    plays.offence[i] = source.offence[k]
    plays.left0[i] = source.left0[k]
    plays.left1[i] = source.left1[k]
    plays.row[i] = source.row[k]
    plays.choice[i] = source.choice[k]
    plays.asked[i] = source.asked[k]
    plays.other_too[i] = source.other_too[k]
    plays.saved[i] = source.saved[k]
    plays.untimed[i] = source.untimed[k]


@njit(cache=True)
def step(
    chosen: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    plays: Plays,
    rules: Rules,
    paid: NDArray[np.float64],
) -> None:
    """Play the players' legal actions in the chosen plays, none of which is over.

    Args:
        chosen: [k] indices of plays.
        first: [n] of player 0, not read where that player has no choice.
        second: [n] of player 1, likewise.
        plays: Changed.
        rules: Of the game.
        paid: [n], to which the rewards of player 0 are added.
    """
    for i in chosen:
        phase = plays.phase[i]
        offence = plays.offence[i]
        own = first[i] if offence == 0 else second[i]
        other = second[i] if offence == 0 else first[i]
        if phase == CALL:
            paid[i] += _called(i, own, other - rules.first[0], plays, rules)
        elif phase == CHOICE:
            chooser = offence if rules.chooser[plays.choice[i]] == 0 else 1 - offence
            action = first[i] if chooser == 0 else second[i]
            result = rules.option[plays.choice[i], action - rules.first[1]]
            plays.choice[i] = -1
            paid[i] += _result(i, result, plays, rules)
        elif phase == TIMEOUT:
            action = first[i] if plays.asked[i] == 0 else second[i]
            paid[i] += _answered(i, action == rules.first[3], plays, rules)
        elif phase == KICKOFF:
            paid[i] += _kicked(i, own - rules.first[2], plays, rules)
        else:
            paid[i] += _kicked(i, 2, plays, rules)


@njit(cache=True, inline="always")
def _drawn(i: int, plays: Any, threshold: Any, start: int, end: int) -> int:
    """An entry of ``threshold[start : end]``, drawn."""
    x = advance(plays.stream[i])
    plays.stream[i] = x
    return int(start + pick(draw_of(x), threshold, start, end - start))


@njit(cache=True)
def _called(i: int, action: int, defence: int, plays: Any, rules: Any) -> float:
    """The calls meet."""
    row = plays.row[i]
    call = action + (action == rules.plays + 2 and rules.situation[row, 3])
    cell = call * rules.defences + defence
    entry = _drawn(
        i, plays, rules.cell_threshold, rules.cell_start[cell], rules.cell_start[cell + 1]
    )
    result = rules.cell_result[entry]
    if rules.chooser[result] >= 0:
        plays.phase[i] = CHOICE
        plays.choice[i] = result
        return 0.0
    return _result(i, result, plays, rules)


@njit(cache=True)
def _result(i: int, result: int, plays: Any, rules: Any) -> float:
    """A result that is no choice, in the situation of a play."""
    k = plays.row[i] * len(rules.chooser) + result
    j = _drawn(i, plays, rules.threshold, rules.branch_start[k], rules.branch_start[k + 1])
    return _follows(
        i,
        rules.points[j],
        rules.next[j],
        rules.same_side[j],
        rules.taken[j],
        rules.by_defence[result],
        plays,
        rules,
    )


@njit(cache=True)
def _kicked(i: int, kick: int, plays: Any, rules: Any) -> float:
    """A kick of one of the three kinds."""
    j = _drawn(i, plays, rules.kick_threshold, rules.kick_start[kick], rules.kick_start[kick + 1])
    return _follows(
        i,
        rules.kick_points[j],
        rules.kick_next[j],
        rules.kick_same_side[j],
        rules.kick_taken[j],
        False,
        plays,
        rules,
    )


@njit(cache=True)
def _follows(
    i: int,
    points: int,
    following: int,
    same_side: bool,
    taken: int,
    penalty: bool,
    plays: Any,
    rules: Any,
) -> float:
    """What follows from a branch: the score, the ball, and who is asked for a time-out."""
    offence = plays.offence[i]
    scored = points if offence == 0 else -points
    plays.offence[i] = offence if same_side else 1 - offence
    plays.row[i] = following if following >= 0 else rules.situations - 1 - following
    paid = 0.0
    if rules.for_points:
        paid = float(scored)
    else:
        m = rules.largest_margin
        plays.margin[i] = max(-m, min(m, plays.margin[i] + scored))
    if taken == 0:
        plays.phase[i] = CALL
        return paid
    ticks = plays.ticks[i]
    if ticks == 0:
        return paid + _half_over(i, plays, rules)
    left, saved = rules.after[ticks, taken], rules.after[ticks, rules.saved[taken]]
    untimed = left == 0 and penalty and rules.untimed_down
    if saved != left:
        offence_has = (plays.left0[i] if offence == 0 else plays.left1[i]) > 0
        other_has = (plays.left1[i] if offence == 0 else plays.left0[i]) > 0
        if offence_has or other_has:
            plays.phase[i] = TIMEOUT
            plays.ticks[i] = left
            plays.asked[i] = offence if offence_has else 1 - offence
            plays.other_too[i] = offence_has and other_has
            plays.saved[i] = saved
            plays.untimed[i] = untimed
            return paid
    return paid + _goes_on(i, left, untimed, plays, rules)


@njit(cache=True)
def _answered(i: int, calls: bool, plays: Any, rules: Any) -> float:
    """A time-out is called or not."""
    asked = plays.asked[i]
    if not calls and plays.other_too[i] == 1:
        plays.asked[i] = 1 - asked
        plays.other_too[i] = 0
        return 0.0
    left, untimed = plays.ticks[i], plays.untimed[i] == 1
    if calls:
        plays.left0[i] -= asked == 0
        plays.left1[i] -= asked == 1
        left, untimed = plays.saved[i], False
    plays.asked[i] = -1
    plays.other_too[i] = 0
    plays.saved[i] = 0
    plays.untimed[i] = 0
    return _goes_on(i, left, untimed, plays, rules)


@njit(cache=True)
def _goes_on(i: int, left: int, untimed: bool, plays: Any, rules: Any) -> float:
    """The half goes on with what follows, or it is over."""
    plays.ticks[i] = left
    if left == 0:
        if not untimed:
            return _half_over(i, plays, rules)
        plays.left0[i] = 0
        plays.left1[i] = 0
    row = plays.row[i]
    plays.phase[i] = CALL if row < rules.situations else KICKOFF + (row - rules.situations)
    return 0.0


@njit(cache=True)
def _half_over(i: int, plays: Any, rules: Any) -> float:
    """The second half begins, or the game is over and is paid."""
    first_half = plays.half[i] == 1
    plays.phase[i] = KICKOFF if first_half else OVER
    plays.ticks[i] = len(rules.after) - 1 if first_half else 0
    plays.offence[i] = 1 - plays.receiver[i] if first_half else 0
    plays.left0[i] = rules.timeouts if first_half else 0
    plays.left1[i] = rules.timeouts if first_half else 0
    plays.row[i] = rules.situations if first_half else 0
    plays.half[i] = 2
    plays.receiver[i] = -1
    if first_half or rules.for_points:
        return 0.0
    margin = plays.margin[i]
    return 0.5 * float((margin > 0) + (margin >= 0))


@njit(cache=True, inline="always")
def chooses(i: int, player: int, plays: Any, rules: Any) -> bool:
    """Whether a player has a choice."""
    phase = plays.phase[i]
    if phase == CALL:
        return True
    if phase == CHOICE:
        return bool((rules.chooser[plays.choice[i]] == 0) == (plays.offence[i] == player))
    if phase == TIMEOUT:
        return bool(plays.asked[i] == player)
    return bool(phase == KICKOFF and plays.offence[i] == player)


@njit(cache=True)
def acting(
    chosen: NDArray[np.int64],
    player: NDArray[np.int64],
    plays: Plays,
    rules: Rules,
    acts: NDArray[np.bool_],
) -> None:
    """Fill `acts` [k] with whether a player of each of the chosen plays has a choice."""
    for e in range(len(chosen)):
        acts[e] = chooses(chosen[e], player[e], plays, rules)


@njit(cache=True)
def legal(
    chosen: NDArray[np.int64],
    player: NDArray[np.int64],
    plays: Plays,
    rules: Rules,
    mask: NDArray[np.int8],
) -> None:
    """Fill the legal actions of a player of each chosen play.

    Args:
        chosen: [k] indices of plays.
        player: [k] which player of each.
        plays: Where they are.
        rules: Of the game.
        mask: [k, A], filled with 1 or 0. Who has no choice has action 0, and when play is over
            all are legal, since none counts.
    """
    for e in range(len(chosen)):
        i, who = chosen[e], player[e]
        phase = plays.phase[i]
        mask[e] = phase == OVER
        if phase == OVER:
            continue
        if not chooses(i, who, plays, rules):
            mask[e, 0] = 1
        elif phase == CALL and plays.offence[i] == who:
            for action in range(rules.plays + 3):
                mask[e, action] = rules.legal[plays.row[i], action]
        elif phase == CALL:
            for action in range(rules.first[0], rules.first[0] + rules.defences):
                mask[e, action] = 1
        else:
            # The penalty or the play, the kicks, or a time-out or none.
            kind = 1 if phase == CHOICE else 2 if phase == KICKOFF else 3
            mask[e, rules.first[kind]] = 1
            mask[e, rules.first[kind] + 1] = 1


@njit(cache=True)
def observe(
    chosen: NDArray[np.int64],
    player: NDArray[np.int64],
    plays: Plays,
    rules: Rules,
    seen: NDArray[np.int32],
) -> None:
    """Fill what a player of each chosen play sees, in whole numbers.

    Args:
        chosen: [k] indices of plays.
        player: [k] which player of each.
        plays: Where they are.
        rules: Of the game.
        seen: [k, D], filled with what stands in an observation of the rules, before it is divided
            by the most there is.
    """
    for e in range(len(chosen)):
        i, who = chosen[e], player[e]
        phase, row, ticks = plays.phase[i], plays.row[i], plays.ticks[i]
        live = phase != OVER
        seen[e] = 0
        seen[e, 0] = not live
        if live and row < rules.situations:
            for d in range(4):
                seen[e, 1 + d] = rules.situation[row, d]
        seen[e, 5] = live and plays.offence[i] == who
        seen[e, 6] = live and row == rules.situations
        seen[e, 7] = live and row == rules.situations + 1
        seen[e, 8] = plays.half[i] == 2
        seen[e, 9] = ticks
        seen[e, 10] = min(ticks, rules.last_ticks)
        seen[e, 11] = plays.left0[i] if who == 0 else plays.left1[i]
        seen[e, 12] = plays.left1[i] if who == 0 else plays.left0[i]
        seen[e, 13] = plays.receiver[i] == who
        at = 14
        if not rules.for_points:
            lead = plays.margin[i] if who == 0 else -plays.margin[i]
            seen[e, 14] = lead
            seen[e, 15] = max(-rules.score, min(rules.score, lead))
            at = 16
        seen[e, at] = plays.asked[i] == who
        seen[e, at + 1] = plays.asked[i] == 1 - who
        seen[e, at + 2] = plays.other_too[i]
        seen[e, at + 3] = plays.saved[i]
        seen[e, at + 4] = plays.untimed[i]
        if plays.choice[i] >= 0:
            seen[e, at + 5 + rules.choice_number[plays.choice[i]]] = 1


@njit(cache=True)
def indicate(
    seen: NDArray[np.int32],
    lowest: NDArray[np.int32],
    first: NDArray[np.int64],
    indicators: NDArray[np.float32],
) -> None:
    """Write whole numbers as indicators of their values.

    Args:
        seen: [k, D].
        lowest: [D] the least value of each entry.
        first: [D] the indicator of that value; -1 for an entry that is left out.
        indicators: [k, D'], zeros, in which ones are set.
    """
    for e in range(len(seen)):
        for d in range(seen.shape[1]):
            if first[d] >= 0:
                indicators[e, first[d] + seen[e, d] - lowest[d]] = 1.0
