"""The rules of time as arrays, beside those of :mod:`solvent.games.football.packed`.

A play of seconds takes whole ticks; what is left of a half after it, and how many of them a
time-out saves, is looked up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.packed import PackedRules
from solvent.games.football_clock.clock import ClockRules


class ClockArrays(NamedTuple):
    """What compiled loops read of the clock; T ticks in a half, L in the longest play.

    Attributes:
        taken: [N] ticks that a branch takes.
        kick_taken: [F] ticks that a branch of a kick takes.
        after: [T+1, L+1] ticks left when, of so many, so many are taken.
        saved: [L+1] ticks taken with a time-out instead of so many.
        untimed_down: Whether a half may end with one.
        for_points: Whether points are what counts.
    """

    taken: NDArray[np.int32]
    kick_taken: NDArray[np.int32]
    after: NDArray[np.int32]
    saved: NDArray[np.int32]
    untimed_down: bool
    for_points: bool


def pack_clock(rules: PackedRules, clock: ClockRules, *, for_points: bool) -> ClockArrays:
    """The arrays of a clock.

    Args:
        rules: Chart and ruleset.
        clock: The rules of time.
        for_points: Whether points are what counts.
    """
    taken, kick_taken = (
        (seconds // clock.tick).astype(np.int32) for seconds in (rules.seconds, rules.kick_seconds)
    )
    longest = int(max(taken.max(), kick_taken.max()))
    lengths = [ticks * clock.tick for ticks in range(longest + 1)]
    after = [
        [clock.after(left, seconds) if left else 0 for seconds in lengths]
        for left in range(clock.half_ticks + 1)
    ]
    return ClockArrays(
        taken=taken,
        kick_taken=kick_taken,
        after=np.array(after, np.int32),
        saved=np.array([clock.with_timeout(s) // clock.tick for s in lengths], np.int32),
        untimed_down=clock.untimed_down,
        for_points=for_points,
    )
