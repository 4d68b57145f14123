"""How a position of football with a clock looks to a player of either kind.

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

from typing import Protocol

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
    """What a view reads of :class:`solvent.games.football_clock.rules.TimedFootball`."""

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
    def legal_actions(self, state: TimedPosition) -> tuple[tuple[int, ...], ...]: ...
    def who_decides(self, state: TimedPosition) -> int: ...


def observation_labels(game: Viewed) -> tuple[str, ...]:
    """The names of an observation's entries."""
    score = () if game.for_points else ("lead", "lead within a score")
    return (
        "over",
        *("down", "to go", "to goal", "punt formation", "my ball", "kickoff", "free kick"),
        *("second half", "time left", "time left at the end", "my time-outs", "its time-outs"),
        *("I receive the second half", *score),
        *("I am asked", "it is asked", "both are asked", "time saved", "untimed down"),
        *(f"choice {code}" for code in game.choices),
    )


def observation(game: Viewed, state: TimedPosition, player: int) -> NDArray[np.float32]:
    """What a player sees of a position."""
    rules, clock = game.loaded_ruleset, game.loaded_clock
    last = clock.stops[-1] // clock.tick if clock.stops else clock.half_ticks
    score = rules.touchdown + 1
    lead = state.margin if player == 0 else -state.margin
    live = state.phase != "over"
    comes = state.follows or state.phase
    seen = [
        float(not live),
        state.down / rules.downs,
        state.to_go / rules.field,
        state.to_goal / rules.field,
        float(state.punting),
        float(live and state.offence == player),
        float(comes == "kickoff"),
        float(comes == "free kick"),
        float(state.half == 2),
        state.ticks / clock.half_ticks,
        min(state.ticks, last) / last,
        state.timeouts[player] / max(1, clock.timeouts),
        state.timeouts[1 - player] / max(1, clock.timeouts),
        float(state.receiver == player),
    ]
    if not game.for_points:
        seen += [lead / clock.largest_margin, max(-score, min(score, lead)) / score]
    seen += [
        float(state.asked == player),
        float(state.asked == 1 - player),
        float(state.other_too),
        state.saved / clock.half_ticks,
        float(state.untimed),
    ]
    seen += [float(state.choice == code) for code in game.choices]
    return np.array(seen, np.float32)


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
    """Who leads, and by how much."""
    if margin == 0:
        return "tied"
    return f"player {0 if margin > 0 else 1} leads by {abs(margin)}"


def clock_text(game: Viewed, ticks: int) -> str:
    """Minutes and seconds."""
    minutes, seconds = divmod(ticks * game.loaded_clock.tick, 60)
    return f"{minutes}:{seconds:02d}"
