"""Views of a position of football with a clock, for a player of either kind.

A network sees numbers over the most there are, and flags. Time and lead are there twice, the second
time for what is near: as shares of the time after the clock's last stop, and of a touchdown with
its extra point, where a little more or less matters most. In the order of the observation:

=========================== =======================================================================
``over``                    whether play has ended
``down``                    over the ruleset's downs; 0 where there is no situation
``to go``, ``to goal``      over the length of the field
``punt formation``          whether it is declared
``my ball``                 whether the player has the ball, or kicks; while a time-out may be
                            called, whether it will
``kickoff``, ``free kick``  whether that comes, now or after the matter of time-outs
``second half``             whether it is
``time left``               over all of a half; while a time-out may be called, without it
``time left at the end``    over what is left at the last stop, at most 1
``my time-outs``            over those of a half
``its time-outs``           the same of the other side
``I receive the second half`` in the first half, else 0
``lead``                    over the largest margin; not in the form ``half``
``lead within a score``     over a touchdown with its extra point, from -1 to 1; likewise
``I am asked``              whether the player may call a time-out
``it is asked``             whether the other may
``both are asked``          whether the one who is not asked now will be
``time saved``              what is left after a time-out, over all of a half
``untimed down``            whether one follows if no time-out is called
``choice ...``              for each choice of the chart, whether it waits
=========================== =======================================================================
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.calls import Actions, call_sheet, situation_lines
from solvent.games.football.chart import Chart
from solvent.games.football.results import parse_result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import situation_text
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.position import TimedPosition


class Viewed(Protocol):
    """The part of :class:`solvent.games.football_clock.rules.TimedFootball` that a view reads."""

    @property
    def form(self) -> str: ...
    @property
    def for_points(self) -> bool: ...
    @property
    def loaded_chart(self) -> Chart: ...
    @property
    def loaded_ruleset(self) -> Ruleset: ...
    @property
    def loaded_clock(self) -> ClockRules: ...
    @property
    def actions(self) -> Actions: ...
    @property
    def choices(self) -> tuple[str, ...]: ...
    @property
    def entries(self) -> tuple[Entry, ...]: ...
    def legal_actions(self, state: TimedPosition) -> tuple[tuple[int, ...], ...]: ...
    def who_decides(self, state: TimedPosition) -> int: ...


class Entry(NamedTuple):
    """One entry of an observation.

    Attributes:
        label: Name of the entry.
        most: The largest whole number that it can be, by which it is divided.
        least: The smallest; leads may be negative.
    """

    label: str
    most: int = 1
    least: int = 0


def entries_of(game: Viewed) -> tuple[Entry, ...]:
    """The entries of an observation."""
    rules, clock = game.loaded_ruleset, game.loaded_clock
    score = rules.touchdown + 1
    margin = clock.largest_margin
    leads = Entry("lead", margin, -margin), Entry("lead within a score", score, -score)
    return (
        Entry("over"),
        Entry("down", rules.downs),
        Entry("to go", rules.field),
        Entry("to goal", rules.field),
        *map(Entry, ("punt formation", "my ball", "kickoff", "free kick", "second half")),
        Entry("time left", clock.half_ticks),
        Entry("time left at the end", clock.last_ticks),
        Entry("my time-outs", clock.timeouts),
        Entry("its time-outs", clock.timeouts),
        Entry("I receive the second half"),
        *(() if game.for_points else leads),
        *map(Entry, ("I am asked", "it is asked", "both are asked")),
        Entry("time saved", clock.half_ticks),
        Entry("untimed down"),
        *(Entry(f"choice {code}") for code in game.choices),
    )


def observation(game: Viewed, state: TimedPosition, player: int) -> NDArray[np.float32]:
    """Return a player's observation of a position."""
    score = game.loaded_ruleset.touchdown + 1
    lead = state.margin if player == 0 else -state.margin
    live = state.phase != "over"
    comes = state.follows or state.phase
    seen = [
        *(not live, state.down, state.to_go, state.to_goal, state.punting),
        *(live and state.offence == player, comes == "kickoff", comes == "free kick"),
        *(state.half == 2, state.ticks, min(state.ticks, game.loaded_clock.last_ticks)),
        *(state.timeouts[player], state.timeouts[1 - player], state.receiver == player),
        *(() if game.for_points else (lead, max(-score, min(score, lead)))),
        *(state.asked == player, state.asked == 1 - player, state.other_too),
        *(state.saved, state.untimed),
        *(state.choice == code for code in game.choices),
    ]
    most = [max(1, entry.most) for entry in game.entries]
    return (np.array(seen, float) / most).astype(np.float32)


def drawing(game: Viewed, state: TimedPosition) -> str:
    """Time and score, then the field from the offence's goal line on the left, and the call."""
    if state.phase == "over":
        won = score_text(state.margin).replace("leads", "has won")
        return "play is over" if game.for_points else f"play is over; {won}"
    lines = [scoreboard(game, state)]
    if state.down:
        lines += situation_lines(game.loaded_ruleset, state.offence, state.situation)
    else:
        lines.append(f"player {state.offence} is to kick: {state.follows or state.phase}")
    if state.phase == "time-out":
        without = "an untimed down" if state.untimed else clock_text(game, state.ticks)
        lines.append(
            f"player {state.asked} may call a time-out: {clock_text(game, state.saved)} left with "
            f"it, {without} without"
        )
    elif state.phase == "choice":
        penalty, play = parse_result(state.choice).options
        lines.append(f"player {game.who_decides(state)} takes {penalty.code} or {play.code}")
    elif state.phase == "call":
        legal = game.legal_actions(state)
        for player in (state.offence, 1 - state.offence):
            sheet = call_sheet(game.loaded_chart, game.actions, legal[player])
            lines.append(f"player {player} calls {sheet}")
    return "\n".join(lines)


def place_text(game: Viewed, state: TimedPosition) -> str:
    """Such as ``0:45 left, tied, player 0 has 3rd and 7 at the other's 34``."""
    if state.phase == "time-out":
        where = "a time-out or not"
    elif state.phase == "choice":
        where = f"a choice of {state.choice}"
    elif state.down:
        where = f"player {state.offence} has {situation_text(game.loaded_ruleset, state.situation)}"
    else:
        where = state.phase
    return f"{scoreboard(game, state)}, {where}"


def scoreboard(game: Viewed, state: TimedPosition) -> str:
    """Such as ``second half, 1:45 left, player 0 leads by 3, time-outs 2 and 0``."""
    parts = [f"{'first' if state.half == 1 else 'second'} half"] if game.form == "full" else []
    if state.phase != "time-out":
        left = f"{clock_text(game, state.ticks)} left"
        parts.append(left if state.ticks else "an untimed down")
    if not game.for_points:
        parts.append(score_text(state.margin))
    if game.loaded_clock.timeouts and (state.ticks or state.phase == "time-out"):
        parts.append("time-outs {} and {}".format(*state.timeouts))
    return ", ".join(parts)


def score_text(margin: int) -> str:
    """Describe the leader and the lead."""
    if margin == 0:
        return "tied"
    return f"player {0 if margin > 0 else 1} leads by {abs(margin)}"


def clock_text(game: Viewed, ticks: int) -> str:
    """Minutes and seconds."""
    minutes, seconds = divmod(ticks * game.loaded_clock.tick, 60)
    return f"{minutes}:{seconds:02d}"
