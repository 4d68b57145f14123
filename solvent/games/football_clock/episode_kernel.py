"""Many episodes of football with a clock at once, compiled.

There are too many states to tabulate, so the episodes read the packed rules
(:class:`solvent.games.football.packed.PackedRules`) and the clock. Everything here agrees with the
rules in :mod:`solvent.games.football_clock.rules`.

An episode is in one of the *phases*

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


class Episodes(NamedTuple):
    """Where n episodes are; arrays [n] that are changed in place.

    Attributes:
        stream: uint64, the state of the random numbers. What follows is int32.
        phase: One of the module's table.
        half: 1 or 2; 2 in every form but ``"full"``.
        ticks: Left in the half; when a time-out may be called, what will be left without it.
        margin: Player 0's points less player 1's, as far as they count; 0 where points count.
        receiver: The player who receives the kickoff of the second half, in the first; else -1.
        offence: The player who has the ball, is about to kick it, or will after a time-out.
        left0: Time-outs of player 0.
        left1: Time-outs of player 1.
        row: See the module; 0 when it is over.
        choice: The number of the result that waits for a choice, -1 if none does.
        asked: The player who may call a time-out, else -1.
        other_too: 1 if the other player is asked when this one declines, else 0.
        saved: Ticks left in the half if a time-out is called.
        untimed: 1 if an untimed down follows when none is called, else 0.
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
    def of(cls, n: int) -> Episodes:
        """`n` episodes that have not begun."""
        others = {name: np.zeros(n, np.int32) for name in cls._fields[1:]}
        return cls(np.zeros(n, np.uint64), **others)


class Rules(NamedTuple):
    """What the episodes read.

    With n plays and m defences of the chart, S situations, and distributions as thresholds
    (:mod:`solvent.envs.random_stream`). Arrays of the same name as in
    :mod:`solvent.games.football.packed` are the packed rules' own.

    Attributes:
        cell_start: [(n+4)*m+1] int64, where the entries of a cell begin.
        cell_threshold: [C] int64.
        cell_result: [C] the result of an entry of a cell.
        branch_start: [S*(R+2)+1] int64, where the branches of a situation's result begin.
        threshold: [N] int64, of branches.
        points: [N] to the offence; negative ones go to the defence.
        next: [N] int32, the situation that follows, of whoever has the ball.
        same_side: [N] bool, whether the offence has the ball in what follows.
        taken: [N] ticks.
        option: [R+2, 2] int32, the results a choice is between, penalty first; -1 if it is none.
        chooser: [R+2] int8, who takes a choice: 0 the offence, 1 the defence; -1 if it is none.
        by_defence: [R+2] whether a result is a penalty of the defence.
        kick_start: [4] int64, where the branches of a kick begin: kickoff, onside, free kick.
        kick_threshold: [F] int64.
        kick_points: [F] to the kicker.
        kick_next: [F] int32, the situation that follows, of whoever has the ball.
        kick_same_side: [F] bool, whether the kicker has the ball, or kicks again.
        kick_taken: [F] ticks.
        legal: [S, n+3] bool, the offence's legal actions; every defence is legal.
        situation: [S, 4] down, yards to go, yards to the goal, and whether punt formation is on.
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
def begin(chosen: NDArray[np.int64], episodes: Episodes, starts: Episodes, rules: Rules) -> None:
    """Begin the chosen episodes in one of the `starts`."""
    for i in chosen:
        x = advance(episodes.stream[i])
        episodes.stream[i] = x
        k = pick(draw_of(x), rules.start_threshold, 0, len(rules.start_threshold))
        copy(starts, k, episodes, i)


@njit(cache=True, inline="always")
def copy(source: Episodes, k: int, episodes: Episodes, i: int) -> None:
    """Make episode `i` like episode `k` of the source, but for its random numbers."""
    episodes.phase[i] = source.phase[k]
    episodes.half[i] = source.half[k]
    episodes.ticks[i] = source.ticks[k]
    episodes.margin[i] = source.margin[k]
    episodes.receiver[i] = source.receiver[k]
    episodes.offence[i] = source.offence[k]
    episodes.left0[i] = source.left0[k]
    episodes.left1[i] = source.left1[k]
    episodes.row[i] = source.row[k]
    episodes.choice[i] = source.choice[k]
    episodes.asked[i] = source.asked[k]
    episodes.other_too[i] = source.other_too[k]
    episodes.saved[i] = source.saved[k]
    episodes.untimed[i] = source.untimed[k]


@njit(cache=True)
def step(
    chosen: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    episodes: Episodes,
    rules: Rules,
    paid: NDArray[np.float64],
) -> None:
    """Play the players' legal actions in the chosen episodes, none of which is over.

    Args:
        chosen: [k] indices of episodes.
        first: [n] of player 0, not read where that player has no choice.
        second: [n] of player 1, likewise.
        episodes: Changed.
        rules: Of the game.
        paid: [n], to which the rewards of player 0 are added.
    """
    for i in chosen:
        phase = episodes.phase[i]
        offence = episodes.offence[i]
        own = first[i] if offence == 0 else second[i]
        other = second[i] if offence == 0 else first[i]
        if phase == CALL:
            paid[i] += _called(i, own, other - rules.first[0], episodes, rules)
        elif phase == CHOICE:
            chooser = offence if rules.chooser[episodes.choice[i]] == 0 else 1 - offence
            action = first[i] if chooser == 0 else second[i]
            result = rules.option[episodes.choice[i], action - rules.first[1]]
            episodes.choice[i] = -1
            paid[i] += _result(i, result, episodes, rules)
        elif phase == TIMEOUT:
            action = first[i] if episodes.asked[i] == 0 else second[i]
            paid[i] += _answered(i, action == rules.first[3], episodes, rules)
        elif phase == KICKOFF:
            paid[i] += _kicked(i, own - rules.first[2], episodes, rules)
        else:
            paid[i] += _kicked(i, 2, episodes, rules)


@njit(cache=True, inline="always")
def _drawn(i: int, episodes: Any, threshold: Any, start: int, end: int) -> int:
    """An entry of ``threshold[start : end]``, drawn."""
    x = advance(episodes.stream[i])
    episodes.stream[i] = x
    return int(start + pick(draw_of(x), threshold, start, end - start))


@njit(cache=True)
def _called(i: int, action: int, defence: int, episodes: Any, rules: Any) -> float:
    """The calls meet."""
    row = episodes.row[i]
    call = action + (action == rules.plays + 2 and rules.situation[row, 3])
    cell = call * rules.defences + defence
    entry = _drawn(
        i, episodes, rules.cell_threshold, rules.cell_start[cell], rules.cell_start[cell + 1]
    )
    result = rules.cell_result[entry]
    if rules.chooser[result] >= 0:
        episodes.phase[i] = CHOICE
        episodes.choice[i] = result
        return 0.0
    return _result(i, result, episodes, rules)


@njit(cache=True)
def _result(i: int, result: int, episodes: Any, rules: Any) -> float:
    """A result that is no choice, in the situation of an episode."""
    k = episodes.row[i] * len(rules.chooser) + result
    j = _drawn(i, episodes, rules.threshold, rules.branch_start[k], rules.branch_start[k + 1])
    return _follows(
        i,
        rules.points[j],
        rules.next[j],
        rules.same_side[j],
        rules.taken[j],
        rules.by_defence[result],
        episodes,
        rules,
    )


@njit(cache=True)
def _kicked(i: int, kick: int, episodes: Any, rules: Any) -> float:
    """A kick of one of the three kinds."""
    j = _drawn(
        i, episodes, rules.kick_threshold, rules.kick_start[kick], rules.kick_start[kick + 1]
    )
    return _follows(
        i,
        rules.kick_points[j],
        rules.kick_next[j],
        rules.kick_same_side[j],
        rules.kick_taken[j],
        False,
        episodes,
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
    episodes: Any,
    rules: Any,
) -> float:
    """What follows from a branch: the score, the ball, and who is asked for a time-out."""
    offence = episodes.offence[i]
    scored = points if offence == 0 else -points
    episodes.offence[i] = offence if same_side else 1 - offence
    episodes.row[i] = following if following >= 0 else rules.situations - 1 - following
    paid = 0.0
    if rules.for_points:
        paid = float(scored)
    else:
        m = rules.largest_margin
        episodes.margin[i] = max(-m, min(m, episodes.margin[i] + scored))
    if taken == 0:
        episodes.phase[i] = CALL
        return paid
    ticks = episodes.ticks[i]
    if ticks == 0:
        return paid + _half_over(i, episodes, rules)
    left, saved = rules.after[ticks, taken], rules.after[ticks, rules.saved[taken]]
    untimed = left == 0 and penalty and rules.untimed_down
    if saved != left:
        offence_has = (episodes.left0[i] if offence == 0 else episodes.left1[i]) > 0
        other_has = (episodes.left1[i] if offence == 0 else episodes.left0[i]) > 0
        if offence_has or other_has:
            episodes.phase[i] = TIMEOUT
            episodes.ticks[i] = left
            episodes.asked[i] = offence if offence_has else 1 - offence
            episodes.other_too[i] = offence_has and other_has
            episodes.saved[i] = saved
            episodes.untimed[i] = untimed
            return paid
    return paid + _goes_on(i, left, untimed, episodes, rules)


@njit(cache=True)
def _answered(i: int, calls: bool, episodes: Any, rules: Any) -> float:
    """A time-out is called or not."""
    asked = episodes.asked[i]
    if not calls and episodes.other_too[i] == 1:
        episodes.asked[i] = 1 - asked
        episodes.other_too[i] = 0
        return 0.0
    left, untimed = episodes.ticks[i], episodes.untimed[i] == 1
    if calls:
        episodes.left0[i] -= asked == 0
        episodes.left1[i] -= asked == 1
        left, untimed = episodes.saved[i], False
    episodes.asked[i] = -1
    episodes.other_too[i] = 0
    episodes.saved[i] = 0
    episodes.untimed[i] = 0
    return _goes_on(i, left, untimed, episodes, rules)


@njit(cache=True)
def _goes_on(i: int, left: int, untimed: bool, episodes: Any, rules: Any) -> float:
    """The half goes on with what follows, or it is over."""
    episodes.ticks[i] = left
    if left == 0:
        if not untimed:
            return _half_over(i, episodes, rules)
        episodes.left0[i] = 0
        episodes.left1[i] = 0
    row = episodes.row[i]
    episodes.phase[i] = CALL if row < rules.situations else KICKOFF + (row - rules.situations)
    return 0.0


@njit(cache=True)
def _half_over(i: int, episodes: Any, rules: Any) -> float:
    """The second half begins, or the game is over and is paid."""
    first_half = episodes.half[i] == 1
    episodes.phase[i] = KICKOFF if first_half else OVER
    episodes.ticks[i] = len(rules.after) - 1 if first_half else 0
    episodes.offence[i] = 1 - episodes.receiver[i] if first_half else 0
    episodes.left0[i] = rules.timeouts if first_half else 0
    episodes.left1[i] = rules.timeouts if first_half else 0
    episodes.row[i] = rules.situations if first_half else 0
    episodes.half[i] = 2
    episodes.receiver[i] = -1
    if first_half or rules.for_points:
        return 0.0
    margin = episodes.margin[i]
    return 0.5 * float((margin > 0) + (margin >= 0))


@njit(cache=True, inline="always")
def chooses(i: int, player: int, episodes: Any, rules: Any) -> bool:
    """Whether a player has a choice."""
    phase = episodes.phase[i]
    if phase == CALL:
        return True
    if phase == CHOICE:
        return bool((rules.chooser[episodes.choice[i]] == 0) == (episodes.offence[i] == player))
    if phase == TIMEOUT:
        return bool(episodes.asked[i] == player)
    return bool(phase == KICKOFF and episodes.offence[i] == player)


@njit(cache=True)
def acting(
    chosen: NDArray[np.int64],
    player: NDArray[np.int64],
    episodes: Episodes,
    rules: Rules,
    acts: NDArray[np.bool_],
) -> None:
    """Fill `acts` [k] with whether a player of each of the chosen episodes has a choice."""
    for e in range(len(chosen)):
        acts[e] = chooses(chosen[e], player[e], episodes, rules)


@njit(cache=True)
def legal(
    chosen: NDArray[np.int64],
    player: NDArray[np.int64],
    episodes: Episodes,
    rules: Rules,
    mask: NDArray[np.int8],
) -> None:
    """Fill the legal actions of a player of each chosen episode.

    Args:
        chosen: [k] indices of episodes.
        player: [k] which player of each.
        episodes: Where they are.
        rules: Of the game.
        mask: [k, A], filled with 1 or 0. Who has no choice has action 0, and when play is over
            all are legal, since none counts.
    """
    for e in range(len(chosen)):
        i, who = chosen[e], player[e]
        phase = episodes.phase[i]
        mask[e] = phase == OVER
        if phase == OVER:
            continue
        if not chooses(i, who, episodes, rules):
            mask[e, 0] = 1
        elif phase == CALL and episodes.offence[i] == who:
            for action in range(rules.plays + 3):
                mask[e, action] = rules.legal[episodes.row[i], action]
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
    episodes: Episodes,
    rules: Rules,
    seen: NDArray[np.int32],
) -> None:
    """Fill what a player of each chosen episode sees, in whole numbers.

    Args:
        chosen: [k] indices of episodes.
        player: [k] which player of each.
        episodes: Where they are.
        rules: Of the game.
        seen: [k, D], filled with what stands in an observation of the rules, before it is divided
            by the most there is.
    """
    for e in range(len(chosen)):
        i, who = chosen[e], player[e]
        phase, row, ticks = episodes.phase[i], episodes.row[i], episodes.ticks[i]
        live = phase != OVER
        seen[e] = 0
        seen[e, 0] = not live
        if live and row < rules.situations:
            for d in range(4):
                seen[e, 1 + d] = rules.situation[row, d]
        seen[e, 5] = live and episodes.offence[i] == who
        seen[e, 6] = live and row == rules.situations
        seen[e, 7] = live and row == rules.situations + 1
        seen[e, 8] = episodes.half[i] == 2
        seen[e, 9] = ticks
        seen[e, 10] = min(ticks, rules.last_ticks)
        seen[e, 11] = episodes.left0[i] if who == 0 else episodes.left1[i]
        seen[e, 12] = episodes.left1[i] if who == 0 else episodes.left0[i]
        seen[e, 13] = episodes.receiver[i] == who
        at = 14
        if not rules.for_points:
            lead = episodes.margin[i] if who == 0 else -episodes.margin[i]
            seen[e, 14] = lead
            seen[e, 15] = max(-rules.score, min(rules.score, lead))
            at = 16
        seen[e, at] = episodes.asked[i] == who
        seen[e, at + 1] = episodes.asked[i] == 1 - who
        seen[e, at + 2] = episodes.other_too[i]
        seen[e, at + 3] = episodes.saved[i]
        seen[e, at + 4] = episodes.untimed[i]
        if episodes.choice[i] >= 0:
            seen[e, at + 5 + rules.choice_number[episodes.choice[i]]] = 1


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
